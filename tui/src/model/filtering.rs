//! Owns the filter: what holds, and what is wrong with what is being written. Refuses to apply it:
//! `update` and answers do.

use crate::filter::Query;
use kubereel_history::{ResourceTable, harmless};
use std::sync::Arc;

/// The filter; it is read when it is written, not when something is drawn.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filtering {
    query: Arc<Query>,
    deep: Arc<Query>,
    error: Option<String>,
}

impl Filtering {
    /// Takes a filter that is being written; one that cannot be read leaves the last one.
    pub(crate) fn write(&mut self, text: &str, resources: &ResourceTable) {
        match Query::parse(text, Some(resources)) {
            Ok(query) => self.set(query),
            Err(error) => self.error = Some(harmless(&error.to_string()).into_owned()),
        }
    }

    fn set(&mut self, query: Query) {
        self.deep = Arc::new(query.only_deep());
        self.query = Arc::new(query);
        self.error = None;
    }

    /// Lets everything through again.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Forgets what is wrong with what was written: what holds, holds.
    pub(crate) fn forgive(&mut self) {
        self.error = None;
    }

    /// Tells whether it lets everything through.
    pub(crate) fn is_empty(&self) -> bool {
        self.query.is_empty()
    }

    /// Gives what was written, of the filter that holds.
    pub(crate) fn text(&self) -> &str {
        self.query.text()
    }

    /// Gives what is wrong with what is being written.
    pub(crate) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Gives the filter.
    pub(crate) const fn query(&self) -> &Arc<Query> {
        &self.query
    }

    /// Gives the part of the filter that takes bodies.
    pub(crate) const fn deep(&self) -> &Arc<Query> {
        &self.deep
    }
}
