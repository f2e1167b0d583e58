//! Owns how often each rule replaced something. Refuses to know what.

use crate::edit::{Edit, Rule};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How often a rule replaced something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The rule.
    pub rule: String,
    /// How often.
    pub values: u64,
}

/// The counts of one run, shared by all who redact in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts(Arc<Mutex<BTreeMap<Rule, u64>>>);

impl Counts {
    /// Counts replacements.
    pub(crate) fn add(&self, edits: &[Edit]) {
        if edits.is_empty() {
            return;
        }
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for edit in edits {
            let count = counts.entry(edit.rule.clone()).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// Gives the counts, by rule.
    pub(crate) fn all(&self) -> Vec<Count> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts
            .iter()
            .map(|(rule, values)| Count {
                rule: rule.to_string(),
                values: *values,
            })
            .collect()
    }
}
