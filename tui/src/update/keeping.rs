//! Owns what is saved and copied: what the pane shows in which the keys move. Refuses to write it:
//! `runtime` does.

use super::refresh;
use crate::answer::{Document, Question};
use crate::effect::Effect;
use crate::model::{List, Open, Pane};
use crate::msg::Act;
use std::sync::Arc;

/// A terminal takes a text of so many bytes, at least: 74,994 make the 100,000 letters at which many
/// stop listening.
const MOST_COPIED_BYTES: usize = 74_000;

/// Asks for the document; says what is done.
pub(super) fn asked(open: &Open, act: Act) -> (String, Option<Effect>) {
    let is_table = open.pane == Pane::List && matches!(open.list, List::Objects(_));
    let question = if is_table {
        whole(open)
    } else {
        let cells = open.density.as_ref().map_or(1, |(_, cells, _)| *cells);
        refresh::panel(open, cells)
    };
    let Some(question) = question else {
        return (
            "nothing is selected: there is nothing to write".to_owned(),
            None,
        );
    };
    let timeline = Arc::clone(&open.timeline);
    if act == Act::Save {
        (
            "saving …".to_owned(),
            Some(Effect::Save(timeline, question)),
        )
    } else {
        (
            "copying …".to_owned(),
            Some(Effect::Fetch(timeline, question)),
        )
    }
}

/// Asks for the table with all of the filter.
fn whole(open: &Open) -> Option<Question> {
    match refresh::table(open)? {
        Question::Table(mut listing, place) => {
            listing.filter = Arc::clone(open.filter.query());
            Some(Question::Table(listing, place))
        }
        other => Some(other),
    }
}

/// Copies a document that a terminal can take; says what is done.
pub(super) fn fetched(fetched: Result<Document, String>) -> (String, Option<Effect>) {
    let document = match fetched {
        Ok(document) => document,
        Err(error) => return (format!("not copied: {error}"), None),
    };
    let bytes = document.bytes.len();
    if bytes > MOST_COPIED_BYTES {
        let words = format!(
            "not copied: {bytes} bytes are more than terminals take ({MOST_COPIED_BYTES}); S saves them"
        );
        return (words, None);
    }
    match String::from_utf8(document.bytes) {
        Ok(text) => {
            let words = format!("copied {bytes} bytes, if the terminal listens; S saves them");
            (words, Some(Effect::Copy(text)))
        }
        Err(_) => ("not copied: it is no text; S saves it".to_owned(), None),
    }
}
