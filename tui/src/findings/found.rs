//! Owns what monitortests found. Refuses to rank it.

use kubereel_format::{RecordedAt, Seq};

/// What became of the case that a finding belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// It failed.
    Fail,
    /// It flaked, or is known to go wrong.
    Flake,
}

/// Something that a monitortest found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The rule's id.
    pub(crate) rule: String,
    /// The case's name, as reports have it.
    pub(crate) test: String,
    /// What became of the case.
    pub(crate) verdict: Verdict,
    /// When it began.
    pub(crate) from: RecordedAt,
    /// When it ended; `None` if it did not.
    pub(crate) to: Option<RecordedAt>,
    /// A word for it; may be empty.
    pub(crate) reason: String,
    /// What is wrong, line by line; at least one.
    pub(crate) message: Vec<String>,
    /// The resource, with its group; empty if it is no object.
    pub(crate) resource: String,
    /// The namespace; may be empty.
    pub(crate) namespace: String,
    /// The name; may be empty.
    pub(crate) name: String,
    /// The record that shows it.
    pub(crate) seq: Option<Seq>,
}

/// All that a run of the monitortests found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// The findings, in the order of the rules; their texts are harmless to a terminal.
    pub(crate) all: Vec<Finding>,
    /// How many more there are, which are not held.
    pub(crate) rest: usize,
    /// How many cases were judged.
    pub(crate) judged: u64,
    /// How many cases failed.
    pub(crate) failed: u64,
    /// How many cases flaked.
    pub(crate) flaked: u64,
    /// How many cases cannot be known, or could not be judged.
    pub(crate) unknown: u64,
    /// How many cases were skipped, for what they need was not recorded.
    pub(crate) skipped: u64,
    /// Whether parts of the reel could not be read.
    pub(crate) is_damaged: bool,
}
