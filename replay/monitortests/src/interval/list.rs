//! The intervals of a run, in the order in which rules see them. It does not make any.

use super::span::Interval;
use kubereel_format::RecordedAt;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The intervals of a run.
#[derive(Clone, Debug, Default)]
pub struct Intervals {
    sorted: Vec<Interval>,
    start: RecordedAt,
    end: RecordedAt,
    /// Nodes that only intervals tell of which are not held.
    other_nodes: BTreeSet<Arc<str>>,
}

impl Intervals {
    /// Takes intervals in any order, and the first and last moment of the run.
    pub fn new(mut all: Vec<Interval>, start: RecordedAt, end: RecordedAt) -> Self {
        // In place: a run may have a million of them.
        all.sort_unstable_by(Interval::order);
        // Most of them may have been left out.
        all.shrink_to_fit();
        Self {
            sorted: all,
            start,
            end,
            other_nodes: BTreeSet::new(),
        }
    }

    /// Adds nodes of intervals that are not kept.
    pub(crate) fn with_nodes(mut self, nodes: BTreeSet<Arc<str>>) -> Self {
        self.other_nodes = nodes;
        self
    }

    /// Returns all of them.
    pub fn all(&self) -> &[Interval] {
        &self.sorted
    }

    /// Returns those of one source.
    pub fn of<'a>(&'a self, source: &'a str) -> impl Iterator<Item = &'a Interval> {
        self.sorted
            .iter()
            .filter(move |interval| interval.source.as_str() == source)
    }

    /// Returns all nodes that an interval of the run was about.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &str> {
        let told = self.sorted.iter();
        let told = told.filter_map(|interval| interval.locator.get("node"));
        told.chain(self.other_nodes.iter().map(AsRef::as_ref))
    }

    /// Returns the first moment of the run.
    pub const fn start(&self) -> RecordedAt {
        self.start
    }

    /// Returns the last moment of the run.
    pub const fn end(&self) -> RecordedAt {
        self.end
    }
}
