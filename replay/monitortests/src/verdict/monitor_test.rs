//! Owns the life of a monitortest: it watches one pass over a reel and then judges. Refuses to know
//! whether it is written in YAML or in Rust.

use super::about::{About, Needs};
use super::case::{Case, Dark};
use super::looked_at::LookedAt;
use crate::facts::FactsOverTime;
use crate::feed::Watcher;
use crate::interval::Intervals;
use std::collections::BTreeMap;

/// What a monitortest judges by, besides what it saw itself.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The intervals of the run, raw and computed: at least those that the monitortest looks at.
    pub intervals: &'a Intervals,
    /// What cluster it was, over time; nothing is known for a file of intervals.
    pub facts: &'a FactsOverTime,
    /// Where each resource, `plural` or `plural.group`, was not seen.
    pub dark: &'a BTreeMap<String, Vec<Dark>>,
}

/// A monitortest.
pub trait MonitorTest {
    /// Gives what it is.
    fn about(&self) -> &About;

    /// Gives what it does, in words, a line each; for a rule of the language made from its definition.
    /// Empty where the description says it all.
    fn in_words(&self) -> Vec<String> {
        Vec::new()
    }

    /// Gives what it needs.
    fn needs(&self) -> Needs;

    /// Gives which intervals it looks at when it judges; asked before the run. Intervals that nobody looks
    /// at may be missing then.
    fn looks_at(&self) -> LookedAt {
        LookedAt::All
    }

    /// Gives who of it watches objects, if someone does.
    fn watcher(&mut self) -> Option<&mut dyn Watcher>;

    /// Judges, after the pass. Asked once.
    fn judge(&mut self, scene: &Scene<'_>) -> Vec<Case>;
}
