//! What is saved to a file or copied to the clipboard: a list or a panel in a form that other tools read,
//! and a file name. `runtime` writes it.

use super::line::PanelLine;
use super::object_at::here;
use super::question::{ScreenAnswer, ScreenQuestion, answer};
use super::table::ObjectTable;
use crate::subject::NamedObject;
use crate::time::CursorPlace;
use kubereel_history::{ObjectForm, Timeline, timetext, write_yaml};
use unicode_width::UnicodeWidthStr as _;

/// The longest file name before the time, in letters.
const LONGEST_NAME: usize = 120;

/// What is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ScreenDocument {
    /// The name of a file, without a folder; nothing in it means anything to a system.
    pub(crate) name: String,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
}

/// Gives the name that a file of what a question shows has unless the user wants another one.
pub(crate) fn suggested_name(timeline: &Timeline, question: &ScreenQuestion) -> String {
    let (place, stem, form) = match question {
        ScreenQuestion::Yaml(subject, place) => (*place, stem(timeline, subject, ""), "yaml"),
        ScreenQuestion::Raw(subject, place) => (*place, stem(timeline, subject, ""), "json"),
        ScreenQuestion::Problem(_, place) => (*place, "problem".to_owned(), "txt"),
        ScreenQuestion::Ready(_, place) => (*place, "bookmarks".to_owned(), "md"),
        ScreenQuestion::PlainLane(_, place) => (*place, "lane".to_owned(), "txt"),
        ScreenQuestion::Parts(subject) => {
            let place = CursorPlace::at(timeline, timeline.end());
            (place, stem(timeline, subject, "-parts"), "txt")
        }
        ScreenQuestion::Writers(_) => {
            let place = CursorPlace::at(timeline, timeline.end());
            (place, "writers".to_owned(), "txt")
        }
        ScreenQuestion::Nearby(_, place) | ScreenQuestion::Standing(_, place) => {
            (*place, "changes".to_owned(), "txt")
        }
        ScreenQuestion::Between(subject, _, place) => {
            (*place, stem(timeline, subject, "-between"), "txt")
        }
        ScreenQuestion::Kinds(_, place) => (*place, "resources".to_owned(), "txt"),
        ScreenQuestion::Namespaces(_, place) => (*place, "namespaces".to_owned(), "txt"),
        ScreenQuestion::Table(listing, place) => {
            let info = timeline.resources().get(listing.resource);
            let plural = info.map_or("objects", |info| info.plural.as_str());
            let within = listing.namespace.iter().map(|only| format!("-{only}"));
            let stem = within.fold(plural.to_owned(), |stem, more| stem + &more);
            (*place, stem, "txt")
        }
        ScreenQuestion::Diff(subject, place, _) => (*place, stem(timeline, subject, ""), "diff"),
        ScreenQuestion::History(subject, place) => {
            (*place, stem(timeline, subject, "-history"), "txt")
        }
        ScreenQuestion::Events(subject, place) => {
            (*place, stem(timeline, subject, "-events"), "txt")
        }
        ScreenQuestion::Blame(subject, place) => (*place, stem(timeline, subject, "-blame"), "txt"),
        ScreenQuestion::Owners(subject, place) => {
            (*place, stem(timeline, subject, "-owners"), "txt")
        }
        ScreenQuestion::Conditions(subject, place) => {
            (*place, stem(timeline, subject, "-conditions"), "txt")
        }
    };
    file_name(timeline, &stem, place, form)
}

/// Makes the document of what a question shows; else says why there is none.
pub(crate) fn document(
    timeline: &Timeline,
    question: ScreenQuestion,
) -> Result<ScreenDocument, String> {
    let name = suggested_name(timeline, &question);
    match &question {
        ScreenQuestion::Yaml(subject, place) => {
            return yaml(timeline, subject, *place).map(|bytes| ScreenDocument { name, bytes });
        }
        ScreenQuestion::Raw(subject, place) => {
            return raw(timeline, subject, *place).map(|bytes| ScreenDocument { name, bytes });
        }
        ScreenQuestion::Ready(text, _) => {
            let bytes = text.as_bytes().to_vec();
            return Ok(ScreenDocument { name, bytes });
        }
        _ => {}
    }
    let text = match answer(timeline, question) {
        ScreenAnswer::Table(_, table) => columns(&table),
        ScreenAnswer::Lines(_, lines, _) => {
            let mut text = String::new();
            for line in lines.iter() {
                text.push_str(line.text().trim_end());
                if !line.aside.is_empty() {
                    text.extend(["  ", &line.aside]);
                }
                text.push('\n');
            }
            text
        }
        _ => return Err("nothing to save here".to_owned()),
    };
    Ok(ScreenDocument {
        name,
        bytes: text.into_bytes(),
    })
}

fn yaml(timeline: &Timeline, subject: &NamedObject, place: CursorPlace) -> Result<Vec<u8>, String> {
    let here = here(timeline, subject, place).map_err(|why| first_words(&why))?;
    let object = timeline.object(here.held.seq, here.info, ObjectForm::default());
    let object = object.map_err(|error| error.to_string())?;
    let mut text = String::new();
    write_yaml(&mut text, &object).map_err(|error| error.to_string())?;
    Ok(text.into_bytes())
}

fn raw(timeline: &Timeline, subject: &NamedObject, place: CursorPlace) -> Result<Vec<u8>, String> {
    let here = here(timeline, subject, place).map_err(|why| first_words(&why))?;
    let body = timeline.reel().body(here.held.seq);
    body.map(|body| body.to_vec())
        .map_err(|error| error.to_string())
}

/// Gives the first of the lines that say why there is no version: what is not known of the moment, or that there is none.
fn first_words(why: &[PanelLine]) -> String {
    why.first().map(PanelLine::text).unwrap_or_default()
}

/// Writes a table as kubectl does.
fn columns(table: &ObjectTable) -> String {
    let mut widths: Vec<usize> = table.columns.iter().map(|name| name.width()).collect();
    for row in &table.rows {
        for (width, cell) in widths.iter_mut().zip(&row.cells) {
            *width = (*width).max(cell.width());
        }
    }
    let mut text = String::new();
    let rows = table.rows.iter().map(|row| &row.cells);
    for cells in std::iter::once(&table.columns).chain(rows) {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(&widths) {
            let gap = " ".repeat(width.saturating_sub(cell.width()) + 3);
            line.extend([cell.as_str(), &gap]);
        }
        text.extend([line.trim_end(), "\n"]);
    }
    if table.rest > 0 {
        text.extend(["and ", &table.rest.to_string(), " more\n"]);
    }
    if let Some(words) = &table.trust {
        text.extend([words.as_str(), "\n"]);
    }
    text
}

fn stem(timeline: &Timeline, subject: &NamedObject, more: &str) -> String {
    let gap = if subject.namespace.is_empty() {
        ""
    } else {
        "-"
    };
    let kind = subject.kind(timeline);
    format!("{}{gap}{}-{kind}{more}", subject.namespace, subject.name)
}

/// Makes a file's name that says what and when, of letters that every system takes.
fn file_name(timeline: &Timeline, stem: &str, place: CursorPlace, form: &str) -> String {
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "-_.".contains(*letter);
    let plain = |text: &str| -> String {
        let letters = text.chars();
        letters
            .map(|letter| if is_plain(&letter) { letter } else { '-' })
            .collect()
    };
    let stem: String = plain(stem).chars().take(LONGEST_NAME).collect();
    let stem = stem.trim_start_matches(['.', '-']);
    let at = plain(&timetext::rfc3339(place.at));
    let seq = place.record(timeline);
    let seq = seq.map_or_else(String::new, |seq| format!("-seq{seq}"));
    format!("{stem}-{at}{seq}.{form}")
}
