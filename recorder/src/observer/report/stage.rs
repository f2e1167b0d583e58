//! Owns what a report is made of, and the outcome in few words. Refuses to look at the cluster: notes and
//! counters tell.

use super::{Verdict, cases};
use crate::health::Status;
use crate::observer::tally::Account;
use kubereel_format::RecordedAt;
use kubereel_redact::Redactor;

/// How far a run has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::observer) enum Stage {
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
pub(in crate::observer) struct Report {
    /// How far the run has come.
    pub(in crate::observer) stage: Stage,
    /// What its notes say.
    pub(in crate::observer) account: Account,
    /// How it stood when it was told to end.
    pub(in crate::observer) standing: Status,
    /// When it was told to end, or now.
    pub(in crate::observer) at: RecordedAt,
    /// The reel, from the output folder on.
    pub(in crate::observer) reel: String,
    /// Its size, in bytes.
    pub(in crate::observer) reel_bytes: u64,
    /// What is to be known of the file itself.
    pub(in crate::observer) file_words: String,
}

impl Report {
    /// Takes secrets out of the words that are not those of notes: those have passed the queue. It comes
    /// before any form: a form may encode them.
    pub(in crate::observer) fn scrubbed(mut self, redactor: &Redactor) -> Self {
        let standing = &mut self.standing;
        let mut texts = vec![
            &mut self.file_words,
            &mut self.reel,
            &mut standing.trouble,
            &mut standing.write_trouble,
            &mut standing.budget,
        ];
        match &mut self.stage {
            Stage::Running => {}
            Stage::NotBegun(words) | Stage::Ended(words) | Stage::Failed(words) => {
                texts.push(words);
            }
        }
        for text in texts {
            *text = redactor.words(text).into_owned();
        }
        self
    }

    /// Says in few words how it went; programs read them.
    pub(in crate::observer) fn outcome(&self) -> &'static str {
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
