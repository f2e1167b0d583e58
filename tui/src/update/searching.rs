//! Owns what is looked for in many bodies: when it begins, when it ends, and what becomes of what is
//! found. Refuses to wait: whoever presses another key goes on with that.

use super::{moving, panel};
use crate::effect::Effect;
use crate::model::{FieldSearch, Found, Model, Open, Reel, Screen, Search};
use crate::msg::Way;
use kubereel_history::harmless;
use std::sync::Arc;

/// Looks for a change of the field that is followed.
pub(super) fn field(open: &mut Open, way: Way) -> Result<Effect, String> {
    let Some(subject) = open.selected.clone() else {
        return Err("nothing is selected".to_owned());
    };
    let Some(field) = panel::followed(open) else {
        return Err("no field is chosen: y shows the fields, tab and ↓ choose one".to_owned());
    };
    let word = if way == Way::Next { "next" } else { "previous" };
    let words = format!("the {word} change of .{}", harmless(&field.to_string()));
    open.field = Some(field.clone());
    let search = Search::Field(FieldSearch {
        subject,
        field,
        from: open.place,
        way,
    });
    let number = open.searches.begin(words);
    Ok(Effect::Search(Arc::clone(&open.timeline), number, search))
}

/// Stops looking, if something is looked for.
pub(super) fn stop(model: &mut Model) -> Option<Effect> {
    let Reel::Open(open) = &mut model.reel else {
        return None;
    };
    open.searches.now.take().map(|_| Effect::StopSearch)
}

/// Takes what was found.
pub(super) fn found(model: &mut Model, number: u64, found: Found) {
    let Reel::Open(open) = &mut model.reel else {
        return;
    };
    if !open.searches.end(number) {
        return;
    }
    match found {
        Found::Difference(difference) => {
            open.compared.difference = Some(difference);
            model.screen = Screen::Compare(0);
        }
        Found::Field(found) => {
            if let Some(place) = found.place {
                moving::jump(open, place);
            }
            model.word = Some(found.words);
        }
    }
}
