//! Owns what a wait over a recording answers. Refuses to find it: `walk` does.

use super::span::Instant;
use crate::writers::Authors;
use kubereel_format::{RecordedAt, Seq};

/// What came of a wait for one object.
#[derive(Clone, Debug, PartialEq)]
pub struct Waited {
    /// The answer.
    pub verdict: WaitVerdict,
    /// What was met, in order; the last one is what the answer hangs on.
    pub steps: Vec<WaitStep>,
    /// Where the wait for the next object begins, if one is waited for after the other.
    pub reached: Instant,
    /// The times before the answer of which it is not known what held.
    pub missed: Vec<Missed>,
    /// How many gaps the object passed unchanged.
    pub bridged_gaps: usize,
    /// Whether another tool recorded, which does not tell what it leaves out.
    pub is_imported: bool,
    /// Whether a version could not be read.
    pub has_unreadable: bool,
}

/// How a wait ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitVerdict {
    /// Everything was met.
    Met,
    /// Something was not, and nothing is missing from that time.
    NotMet,
    /// Nothing shows that it was met, but it may have been unseen.
    Unknown,
    /// kubectl would have stopped with an error.
    Refused {
        /// When.
        at: RecordedAt,
        /// Why.
        problem: String,
    },
    /// What must not be met first was.
    Failed {
        /// What.
        goal: String,
        /// When.
        at: RecordedAt,
    },
}

/// Something that was waited for and met.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitStep {
    /// What was waited for, as it was written.
    pub goal: String,
    /// When the wait was over.
    pub at: RecordedAt,
    /// Since when it held; earlier than `at` if it had to hold for some time.
    pub since: RecordedAt,
    /// When it was last seen not to hold, if it came to hold unseen.
    pub not_before: Option<RecordedAt>,
    /// The event that brought the version which met it, if there is one.
    pub seq: Option<Seq>,
    /// That version's resourceVersion; empty if there is none.
    pub rv: String,
    /// Who wrote that version.
    pub authors: Authors,
    /// When it was first seen not to hold any more.
    pub until: Option<RecordedAt>,
    /// Whether it held to the end of the time that was searched.
    pub lasts_to_end: bool,
    /// For how many microseconds it is known to have held, in the whole time.
    pub met_micros: u64,
    /// The longest of these times without interruption.
    pub longest_micros: u64,
}

/// A time of which it is not known what held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missed {
    /// Its begin.
    pub from: RecordedAt,
    /// Its end.
    pub to: RecordedAt,
    /// Why.
    pub why: MissedWhy,
}

/// Why it is not known what held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissedWhy {
    /// The recording has a gap, and the object changed in it.
    Gap,
    /// The resource was not observed yet, or not any more.
    NotObserved,
    /// The recording was over.
    RecordingEnded,
    /// The version cannot be read.
    Unreadable,
    /// The value was taken out before it was recorded.
    Redacted,
}

impl MissedWhy {
    /// Gives the word that programs read.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gap => "gap",
            Self::NotObserved => "not observed",
            Self::RecordingEnded => "recording ended",
            Self::Unreadable => "unreadable",
            Self::Redacted => "redacted",
        }
    }
}
