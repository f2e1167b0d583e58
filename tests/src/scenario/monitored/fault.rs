//! Owns a fault and what a run must say of it. Refuses to judge: the tests compare.

use serde::Deserialize;

use super::file::Entry;

/// Something that goes wrong, and how it is found.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Its name; unique in the file.
    pub name: String,
    /// Labels of entries of the base that do not happen when it does.
    #[serde(default)]
    pub(super) instead_of: Vec<String>,
    /// What happens.
    pub(super) entries: Vec<Entry>,
    /// What a run says that it does not say without the fault.
    pub expected: Vec<Expected>,
}

impl Fault {
    /// When it begins, in seconds from the scenario's begin.
    pub fn begins_secs(&self) -> f64 {
        let begins = self.entries.iter().map(|entry| entry.at_secs);
        begins.fold(f64::INFINITY, f64::min)
    }
}

/// What a run says of a fault.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The short name of the monitortest.
    pub test: String,
    /// The case's name in `JUnit`, without `[Monitor:…]` and `[Jira:…]`.
    pub case: String,
    /// What the case is then.
    pub verdict: Verdict,
    /// When the finding begins, in seconds from the scenario's begin.
    pub at_secs: f64,
    /// How much later it may be found: a cluster takes its time for some things.
    #[serde(default = "one")]
    pub within_secs: f64,
    /// A part of what is said.
    #[serde(default)]
    pub says: Option<String>,
}

const fn one() -> f64 {
    1.0
}

/// What a case is that found something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It fails the run.
    Fail,
    /// It fails and passes.
    Flake,
}
