//! Bookmarks, and what is saved and copied. `runtime` writes it.

use super::{messages, moving, opening};
use crate::answer::{ScreenDocument, ScreenQuestion, suggested_name};
use crate::effect::Effect;
use crate::keep::{Bookmark, BookmarkChange, Bookmarks};
use crate::model::{ActiveScreen, List, Model, NoteInput, OpenReel, Pane, ReelState, SaveInput};
use crate::msg::KeyAction;
use crate::time::{CursorPlace, TimeDirection};
use kubereel_format::Seq;
use kubereel_history::{harmless, named};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Asks for the note of a bookmark that is to be set here, or of the one that is chosen.
pub(super) fn ask(model: &mut Model) {
    let ReelState::Open(open) = &model.reel else {
        return;
    };
    let of = match model.screen {
        ActiveScreen::Bookmarks(at) => match open.bookmarks.all.get(at) {
            Some(one) => Some(one.clone()),
            None => return,
        },
        _ => None,
    };
    let text = of.as_ref().map_or_else(String::new, |one| one.note.clone());
    model.screen = ActiveScreen::Note(NoteInput { text, of });
}

/// Takes the note; gives what is to be done, and the list of bookmarks where one of them was noted.
pub(super) fn take_note(open: &OpenReel, noting: NoteInput) -> (Effect, Option<ActiveScreen>) {
    let note = noting.text.trim().to_owned();
    let (change, screen) = match noting.of {
        Some(one) => {
            let at = open.bookmarks.all.iter().position(|own| *own == one);
            let change = BookmarkChange::Note(one, note);
            (change, Some(ActiveScreen::Bookmarks(at.unwrap_or(0))))
        }
        None => (BookmarkChange::Add(here(open, note)), None),
    };
    (Effect::Bookmark(open.shelf.clone(), change), screen)
}

/// Removes the bookmark that is chosen.
pub(super) fn remove(open: &OpenReel, at: usize) -> Option<Effect> {
    let one = open.bookmarks.all.get(at)?.clone();
    let change = BookmarkChange::Remove(one);
    Some(Effect::Bookmark(open.shelf.clone(), change))
}

/// Takes note of what the files hold now.
pub(super) fn changed(model: &mut Model, changed: Result<Bookmarks, String>) {
    let ReelState::Open(open) = &mut model.reel else {
        return;
    };
    match changed {
        Ok(bookmarks) => {
            let (before, now) = (open.bookmarks.all.len(), bookmarks.all.len());
            let word = match now.cmp(&before) {
                std::cmp::Ordering::Greater => "◆ set: ' lists bookmarks, { } go to them",
                std::cmp::Ordering::Less => "bookmark deleted",
                std::cmp::Ordering::Equal => "note saved",
            };
            model.word = Some(bookmarks.words.clone().unwrap_or_else(|| word.to_owned()));
            open.bookmarks = bookmarks;
            if let ActiveScreen::Bookmarks(at) = &mut model.screen {
                *at = (*at).min(now.saturating_sub(1));
            }
        }
        Err(error) => model.word = Some(format!("bookmarks not changed: {error}")),
    }
}

fn here(open: &OpenReel, note: String) -> Bookmark {
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
pub(super) fn go(open: &mut OpenReel, at: usize) -> Option<String> {
    let one = open.bookmarks.all.get(at)?.clone();
    let place = place_of(open, &one);
    moving::jump(open, place);
    let words = mark_words(open, at, &one);
    if one.select.is_empty() {
        return Some(words);
    }
    match opening::choose(open, &one.select, &one.namespace) {
        Ok(()) => {
            messages::reveal(open);
            Some(words)
        }
        Err(error) => Some(format!("{words}; {error}")),
    }
}

/// Gives the place of a bookmark in this reel.
pub(crate) fn place_of(open: &OpenReel, one: &Bookmark) -> CursorPlace {
    one.place(&open.timeline)
}

/// Finds the bookmark with a name, or says why there is not one.
pub(super) fn bookmarked<'a>(all: &'a [Bookmark], name: &str) -> Result<&'a Bookmark, String> {
    let places = named(name, all.iter().map(|one| one.note.as_str()));
    match places.as_slice() {
        [one] => all.get(*one).ok_or_else(String::new),
        [] => Err(format!("no bookmark {name:?}: ' lists them")),
        several => Err(format!(
            "{} bookmarks have {name:?}: ' lists them",
            several.len()
        )),
    }
}

/// Steps to the next or previous bookmark, or to where a stage of the cluster's life begins.
pub(super) fn step_mark(open: &mut OpenReel, way: TimeDirection) -> String {
    let key = |place: CursorPlace| (place.below, place.at);
    let here = key(open.place);
    let bookmarks = open.bookmarks.all.iter().enumerate();
    let mut marks: Vec<(CursorPlace, Result<usize, String>)> = bookmarks
        .map(|(at, one)| (place_of(open, one), Ok(at)))
        .collect();
    let stages = open.board().map_or(&[][..], |board| &board.stages);
    marks.extend(stages.iter().map(|stage| {
        let place = CursorPlace::at(&open.timeline, stage.span.start);
        (place, Err(format!("{} begins", stage.name)))
    }));
    marks.extend(open.marks.iter().map(|mark| {
        let place = CursorPlace::within(&open.timeline, mark.at);
        (place, Err(format!("◇ mark: {}", mark.text)))
    }));
    marks.sort_by_key(|(place, _)| key(*place));
    let found = match way {
        TimeDirection::Next => marks.into_iter().find(|(place, _)| key(*place) > here),
        TimeDirection::Previous => marks.into_iter().rfind(|(place, _)| key(*place) < here),
    };
    match found {
        Some((_, Ok(at))) => go(open, at).unwrap_or_default(),
        Some((place, Err(words))) => {
            moving::jump(open, place);
            words
        }
        None => {
            let word = way.word();
            format!("no {word} bookmark, mark or stage: m sets a bookmark")
        }
    }
}

fn mark_words(open: &OpenReel, at: usize, one: &Bookmark) -> String {
    let count = open.bookmarks.all.len();
    let note = harmless(&one.note);
    let gap = if note.is_empty() { "" } else { ": " };
    format!("◆ bookmark {} of {count}{gap}{note}", at + 1)
}

/// The largest text that is sent to a terminal: 74,994 bytes make the 100,000 letters at which many
/// stop listening.
const MOST_COPIED_BYTES: usize = 74_000;

/// Gives what is saved or copied of the main screen: the table, or the panel.
fn shown(open: &OpenReel) -> Option<ScreenQuestion> {
    let is_table = open.pane == Pane::List && matches!(open.list, List::Objects(_));
    if is_table {
        return whole_table(open);
    }
    let cells = open.density.as_ref().map_or(1, |(_, cells, _)| *cells);
    messages::panel(open, cells)
}

/// Copies the address, or asks for the document to copy; says what is done.
pub(super) fn copy(open: &OpenReel, act: KeyAction, path: &Path) -> (String, Option<Effect>) {
    if act == KeyAction::CopyAddress {
        let address = open.address(path);
        return (format!("copied: {address}"), Some(Effect::Copy(address)));
    }
    let Some(question) = shown(open) else {
        return ("nothing selected: nothing to copy".to_owned(), None);
    };
    let effect = Effect::Fetch(Arc::clone(&open.timeline), question);
    ("copying …".to_owned(), Some(effect))
}

/// Asks where to save what shows: bookmarks where they are listed.
pub(super) fn ask_save(model: &mut Model) {
    let ReelState::Open(open) = &model.reel else {
        return;
    };
    let question = if let ActiveScreen::Bookmarks(_) = model.screen {
        let text = exported(open, &model.request.path);
        Some(ScreenQuestion::Ready(text.into(), open.place))
    } else {
        shown(open)
    };
    let Some(question) = question else {
        model.word = Some("nothing selected: nothing to save".to_owned());
        return;
    };
    let text = suggested_name(&open.timeline, &question);
    let of = std::mem::take(&mut model.screen);
    model.screen = ActiveScreen::SaveAs(Box::new(SaveInput { text, question, of }));
}

/// Saves what was asked for at the path that was written.
pub(super) fn save(open: &OpenReel, saving: SaveInput) -> Effect {
    let path = PathBuf::from(saving.text.trim());
    Effect::Save(Arc::clone(&open.timeline), saving.question, path)
}

/// Writes the bookmarks as Markdown: time, note, object, and the command that leads there.
fn exported(open: &OpenReel, path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let zone = open.timeline.zone().name(open.place.at);
    let mut text = format!(
        "# Bookmarks of {}\n\nTimes are in {zone}.\n",
        harmless(&name)
    );
    let reel = kubereel_format::quoted(&path.display().to_string());
    for one in &open.bookmarks.all {
        let place = place_of(open, one);
        let at = place.written(&open.timeline);
        // A note is read later, when its day is not obvious.
        let whole = open.timeline.zone().rfc3339(place.at);
        let note = match one.note.as_str() {
            "" => "(no note)",
            note => note,
        };
        let mut command = format!("kubereel {reel} --at {at}");
        if !one.select.is_empty() {
            command.extend([" --select ", &kubereel_format::quoted(&one.select)]);
        }
        if !one.namespace.is_empty() {
            command.extend([" -n ", &kubereel_format::quoted(&one.namespace)]);
        }
        let object = match one.select.as_str() {
            "" => String::new(),
            select => format!(" · `{}`", harmless(select)),
        };
        text.extend([
            "
## ",
            &harmless(note),
            "

",
            &whole,
            &object,
        ]);
        text.extend([
            "

```console
$ ",
            &command,
            "
```
",
        ]);
    }
    text
}

/// Asks for the table with all of the filter.
fn whole_table(open: &OpenReel) -> Option<ScreenQuestion> {
    match messages::table(open)? {
        ScreenQuestion::Table(mut listing, place) => {
            listing.filter = Arc::clone(open.filter.query());
            Some(ScreenQuestion::Table(listing, place))
        }
        other => Some(other),
    }
}

/// Copies a document that a terminal can take; says what is done.
pub(super) fn copy_document(fetched: Result<ScreenDocument, String>) -> (String, Option<Effect>) {
    let document = match fetched {
        Ok(document) => document,
        Err(error) => return (format!("not copied: {error}"), None),
    };
    let bytes = document.bytes.len();
    if bytes > MOST_COPIED_BYTES {
        let words = format!(
            "not copied: {bytes} bytes exceed the terminal limit ({MOST_COPIED_BYTES}); S saves them"
        );
        return (words, None);
    }
    match String::from_utf8(document.bytes) {
        Ok(text) => {
            let words =
                format!("sent {bytes} bytes to the terminal's clipboard; S saves them to a file");
            (words, Some(Effect::Copy(text)))
        }
        Err(_) => ("not copied: not text; S saves it".to_owned(), None),
    }
}
