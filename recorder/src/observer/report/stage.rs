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
    /// Takes secrets out of every text, those of notes too: a credential may have been read after a note
    /// that quotes it. This comes before any form, because a form may encode them.
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
        for text in texts.into_iter().chain(self.account.texts_mut()) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::report::junit::junit;
    use kubereel_redact::{Extra, KnownCredentials};

    #[test]
    fn a_credential_with_characters_of_markup_is_not_in_the_junit_file() {
        let known = "p&ss<\"w0rd\">'of-the-proxy'";
        let mut account = Account::default();
        let words = format!("no answer: {known}: 407");
        account.clusters.told.push(words.clone());
        account.not_covered.told.push(words.clone());
        account.not_covered.all = 1;
        let report = Report {
            stage: Stage::Failed(words.clone()),
            account,
            standing: Status::default(),
            at: RecordedAt::default(),
            reel: "run.reel".to_owned(),
            reel_bytes: 1,
            file_words: words,
        };
        let part = "p&amp;ss&lt;";
        assert!(junit(&report).contains(part), "it would be there");
        KnownCredentials::of_process().remember(known.as_bytes());
        let redactor = Redactor::new(Extra::default()).unwrap();
        let text = junit(&report.scrubbed(&redactor));
        assert!(!text.contains(part), "{text}");
        assert!(text.contains("redacted-by-kubereel-"), "{text}");
    }
}
