//! Owns bookmarks: setting, listing, going to them. Refuses files: an effect changes those, and what
//! it reports is what holds.

use super::{moving, opening};
use crate::effect::Effect;
use crate::keep::{Bookmark, BookmarkChange, Bookmarks};
use crate::model::{Model, Noting, Open, Place, Reel, Screen};
use crate::msg::Way;
use kubereel_format::Seq;
use kubereel_history::harmless;

/// Asks for the note of a bookmark that is to be set here, or of the one that is chosen.
pub(super) fn ask(model: &mut Model) {
    let Reel::Open(open) = &model.reel else {
        return;
    };
    let of = match model.screen {
        Screen::Bookmarks(at) => match open.bookmarks.all.get(at) {
            Some(one) => Some(one.clone()),
            None => return,
        },
        _ => None,
    };
    let text = of.as_ref().map_or_else(String::new, |one| one.note.clone());
    model.screen = Screen::Note(Noting { text, of });
}

/// Takes the note; gives what is to be done and which screen comes.
pub(super) fn take(open: &Open, noting: Noting) -> (Effect, Screen) {
    let note = noting.text.trim().to_owned();
    let (change, screen) = match noting.of {
        Some(one) => {
            let at = open.bookmarks.all.iter().position(|own| *own == one);
            let change = BookmarkChange::Note(one, note);
            (change, Screen::Bookmarks(at.unwrap_or(0)))
        }
        None => (BookmarkChange::Add(here(open, note)), Screen::Main),
    };
    (Effect::Bookmark(open.shelf.clone(), change), screen)
}

/// Removes the bookmark that is chosen.
pub(super) fn remove(open: &Open, at: usize) -> Option<Effect> {
    let one = open.bookmarks.all.get(at)?.clone();
    let change = BookmarkChange::Remove(one);
    Some(Effect::Bookmark(open.shelf.clone(), change))
}

/// Takes note of what the files hold now.
pub(super) fn changed(model: &mut Model, changed: Result<Bookmarks, String>) {
    let Reel::Open(open) = &mut model.reel else {
        return;
    };
    match changed {
        Ok(bookmarks) => {
            let (before, now) = (open.bookmarks.all.len(), bookmarks.all.len());
            let word = match now.cmp(&before) {
                std::cmp::Ordering::Greater => "◆ set: ' lists the bookmarks, { } go to them",
                std::cmp::Ordering::Less => "the bookmark is removed",
                std::cmp::Ordering::Equal => "the note is written",
            };
            model.word = Some(bookmarks.words.clone().unwrap_or_else(|| word.to_owned()));
            open.bookmarks = bookmarks;
            if let Screen::Bookmarks(at) = &mut model.screen {
                *at = (*at).min(now.saturating_sub(1));
            }
        }
        Err(error) => model.word = Some(format!("bookmarks are as they were: {error}")),
    }
}

fn here(open: &Open, note: String) -> Bookmark {
    let (select, namespace) = open.chosen();
    Bookmark {
        seq: open.place.below.0.checked_sub(1).map(Seq),
        at: open.place.at,
        note,
        select,
        namespace,
    }
}

/// Goes to a bookmark and to what was selected there; gives the words.
pub(super) fn go(open: &mut Open, at: usize) -> Option<String> {
    let one = open.bookmarks.all.get(at)?.clone();
    let place = place_of(open, &one);
    moving::jump(open, place);
    let words = told(open, at, &one);
    if one.select.is_empty() {
        return Some(words);
    }
    match opening::choose(open, &one.select, &one.namespace) {
        Ok(()) => Some(words),
        Err(error) => Some(format!("{words}; {error}")),
    }
}

/// Gives the place of a bookmark in this reel: by its record, or by its time where that has none.
pub(crate) fn place_of(open: &Open, one: &Bookmark) -> Place {
    let timeline = &open.timeline;
    let by_time = Place::at(timeline, opening::within(timeline, one.at));
    match one.seq {
        Some(seq) if seq < timeline.reel().end() && by_time.below.0 != seq.0 + 1 => {
            Place::behind(timeline, seq)
        }
        _ => by_time,
    }
}

/// Steps to the next or previous bookmark, or to where a stage of the cluster's life begins.
pub(super) fn step(open: &mut Open, way: Way) -> String {
    let key = |place: Place| (place.below, place.at);
    let here = key(open.place);
    let bookmarks = open.bookmarks.all.iter().enumerate();
    let mut marks: Vec<(Place, Result<usize, String>)> = bookmarks
        .map(|(at, one)| (place_of(open, one), Ok(at)))
        .collect();
    let stages = open.board().map_or(&[][..], |board| &board.stages);
    marks.extend(stages.iter().map(|stage| {
        let place = Place::at(&open.timeline, stage.span.start);
        (place, Err(format!("{} begins", stage.name)))
    }));
    marks.sort_by_key(|(place, _)| key(*place));
    let found = match way {
        Way::Next => marks.into_iter().find(|(place, _)| key(*place) > here),
        Way::Previous => marks.into_iter().rfind(|(place, _)| key(*place) < here),
    };
    match found {
        Some((_, Ok(at))) => go(open, at).unwrap_or_default(),
        Some((place, Err(words))) => {
            moving::jump(open, place);
            words
        }
        None => {
            let word = if way == Way::Next { "later" } else { "earlier" };
            format!("no {word} bookmark or stage: m sets a bookmark")
        }
    }
}

fn told(open: &Open, at: usize, one: &Bookmark) -> String {
    let count = open.bookmarks.all.len();
    let note = harmless(&one.note);
    let gap = if note.is_empty() { "" } else { ": " };
    format!("◆ bookmark {} of {count}{gap}{note}", at + 1)
}
