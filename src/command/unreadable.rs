//! The objects that a command cannot read. They hide none of the others: each is named on stderr, and the command ends
//! with the exit code of a damaged reel.

use crate::command_error::{CommandError, Exit};
use crate::screen::Console;
use kubereel_format::ResourceInfo;
use kubereel_history::{
    Cut, LabelSelector, ObjectVersion, QueryError, Timeline, harmless, name_of,
};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The objects that cannot be read, by their names, each with the first error.
#[derive(Debug, Default)]
pub(crate) struct UnreadableObjects {
    errors: RefCell<BTreeMap<String, String>>,
}

impl UnreadableObjects {
    /// Gives what was made of an object, and keeps the error of one that cannot be read.
    pub(crate) fn readable<T>(
        &self,
        resource: &ResourceInfo,
        held: &ObjectVersion,
        made: Result<T, QueryError>,
    ) -> Option<T> {
        made.inspect_err(|error| {
            let name = name_of(resource, &held.name);
            let place = if held.namespace.is_empty() {
                String::new()
            } else {
                format!(" in {}", held.namespace)
            };
            let mut errors = self.errors.borrow_mut();
            let first = errors.entry(format!("{name}{place}"));
            first.or_insert_with(|| error.to_string());
        })
        .ok()
    }

    /// Keeps the objects whose labels match. Whether one that cannot be read matches is not known.
    pub(crate) fn labelled(
        &self,
        timeline: &Timeline,
        resource: &ResourceInfo,
        objects: Vec<ObjectVersion>,
        cut: Cut,
        selector: &LabelSelector,
    ) -> Vec<ObjectVersion> {
        let are_labelled = timeline.are_labelled(&objects, cut, selector);
        self.selected(resource, objects, are_labelled)
    }

    /// Keeps the objects that are selected. Whether one that cannot be read is selected is not known.
    pub(crate) fn selected(
        &self,
        resource: &ResourceInfo,
        objects: Vec<ObjectVersion>,
        are_selected: impl IntoIterator<Item = Result<bool, QueryError>>,
    ) -> Vec<ObjectVersion> {
        let both = objects.into_iter().zip(are_selected);
        let is_selected = |(held, is): (ObjectVersion, _)| {
            let is_selected = self.readable(resource, &held, is) == Some(true);
            is_selected.then_some(held)
        };
        both.filter_map(is_selected).collect()
    }

    /// Tells whether every object was read.
    pub(crate) fn is_empty(&self) -> bool {
        self.errors.borrow().is_empty()
    }

    /// Names the objects on stderr, each once, and gives the exit code.
    pub(crate) fn report(&self, screen: &mut Console) -> Result<Exit, CommandError> {
        let errors = self.errors.borrow();
        for (name, error) in errors.iter() {
            screen.aside(harmless(&format!("error: cannot read {name}: {error}")))?;
        }
        Ok(if errors.is_empty() {
            Exit::Yes
        } else {
            Exit::Reel
        })
    }
}
