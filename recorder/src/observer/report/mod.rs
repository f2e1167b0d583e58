//! What an observer says of its own recording when it ends, and before: the cases, and the forms in which
//! CI reads them.

mod case;
mod junit;
mod metadata;
mod page;
mod summary;
mod words;

use case::{Verdict, cases};
pub(super) use junit::junit;
pub(super) use metadata::metadata;
pub(super) use page::page;
pub(super) use summary::summary;

use super::tally::Account;
use crate::health::Status;
use kubereel_format::RecordedAt;

/// How far a run has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It runs. If this is read after the job, it was killed.
    Running,
    /// It could not begin, in words.
    NotBegun(String),
    /// It ended in order: by what.
    Ended(String),
    /// It could not write any more, in words.
    Failed(String),
}

/// All that is said.
#[derive(Clone, Debug)]
pub(super) struct Report {
    /// How far the run has come.
    pub(super) stage: Stage,
    /// What its notes say.
    pub(super) account: Account,
    /// How it stood when it was told to end.
    pub(super) standing: Status,
    /// When it was told to end, or now.
    pub(super) at: RecordedAt,
    /// The reel, from the output folder on.
    pub(super) reel: String,
    /// Its size, in bytes.
    pub(super) reel_bytes: u64,
    /// What is to be known of the file itself.
    pub(super) file_words: String,
}

impl Report {
    /// Says in few words how it went; programs read them.
    pub(super) fn outcome(&self) -> &'static str {
        let cases = cases(self);
        let is_bad = |verdict: &Verdict| matches!(verdict, Verdict::Trouble { .. });
        match &self.stage {
            Stage::Running => "recording",
            Stage::NotBegun(_) => "not begun",
            Stage::Failed(_) => "stopped writing",
            Stage::Ended(_) if !self.account.is_reached => "no cluster",
            Stage::Ended(_) if cases.iter().any(|case| is_bad(&case.verdict)) => {
                "recorded, with findings"
            }
            Stage::Ended(_) => "recorded",
        }
    }
}
