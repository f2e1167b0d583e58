//! The result of a run, and which monitor tests ran.

use crate::applies::{Inapplicability, RuleClass};
use crate::exception::{RunKind, Uses};
use crate::facts::FactsOverTime;
use crate::glob::Glob;
use crate::interval::Intervals;
use crate::outcome::{CaseOutcome, CaseVerdict};
use crate::verdict::MonitorTestInfo;
use kubereel_format::{RecordedAt, worded};
use std::sync::Arc;

worded! {
/// How far verdicts of a run can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunTrust {
    /// A recorder saw it; where it did not, verdicts are unknown.
    Recorded = "recorded",
    /// Another tool's recording, which does not tell what it leaves out.
    Imported = "imported",
    /// A file of intervals: objects were not seen.
    Intervals = "intervals",
    /// Parts of the reel cannot be read.
    Damaged = "damaged",
}
}

/// What a run did with the events of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunStats {
    /// The events of the recording; the intervals of a file.
    pub events: u64,
    /// Those of a resource that someone reads.
    pub read: u64,
    /// Those of which a field changed that someone reads.
    pub told: u64,
    /// How often the predicates of a rule were evaluated.
    pub asked: u64,
}

/// A rule that has no case in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OmittedRule {
    /// The rule.
    pub about: Arc<MonitorTestInfo>,
    /// Why it has none.
    pub why: Inapplicability,
}

/// The result of a run of monitor tests over one recording.
#[derive(Debug)]
pub struct RunReport {
    /// The first moment of the recording.
    pub start: RecordedAt,
    /// The last one.
    pub end: RecordedAt,
    /// Whether these are known: not if no record can be read.
    pub is_dated: bool,
    /// How far it can be trusted.
    pub trust: RunTrust,
    /// What was done with the cluster.
    pub kind: RunKind,
    /// What cluster it was.
    pub facts: FactsOverTime,
    /// The cases, in the order of the rules; no name occurs twice.
    pub outcomes: Vec<CaseOutcome>,
    /// The rules that do not apply to the cluster, in the order of the rules.
    pub omitted: Vec<OmittedRule>,
    /// The intervals that were judged: all, or those at which some monitor test looks.
    pub intervals: Intervals,
    /// All intervals by the monitor's own rules, for its tools, if they were asked for.
    pub upstream: Option<Intervals>,
    /// How often each exception was used.
    pub uses: Uses,
    /// What was done with the events of the recording.
    pub work: RunStats,
    /// What could not be read of it, the first few.
    pub unread: Vec<String>,
    /// Whether damage took records, here or before the reel was recovered.
    pub has_lost_records: bool,
}

impl RunReport {
    /// Returns the first and the last moment of the recording; `None` if no record can be read.
    pub fn span(&self) -> Option<(RecordedAt, RecordedAt)> {
        self.is_dated.then_some((self.start, self.end))
    }

    /// Lets go of the intervals, which take more memory than all else.
    pub fn forget_intervals(&mut self) {
        self.intervals = Intervals::default();
        self.upstream = None;
    }

    /// Counts the cases of a verdict.
    pub fn count(&self, verdict: CaseVerdict) -> u64 {
        let same = self.outcomes.iter().filter(|one| one.verdict == verdict);
        same.fold(0, |count, _| count + 1)
    }

    /// Returns the verdict of a rule: that of its worst case; `None` if it has no case.
    pub fn verdict_of(&self, rule: &str) -> Option<CaseVerdict> {
        let cases = self.outcomes.iter().filter(|one| one.about.id == rule);
        cases.map(|one| one.verdict).max()
    }
}

/// Which monitor tests are run: by class, and by id, by the monitor that they belong to, or by the name in
/// JUnit.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Only these; all if it is empty.
    pub only: Vec<Glob>,
    /// And of them not these.
    pub skip: Vec<Glob>,
    /// Of these classes; of all if it is empty.
    pub classes: Vec<RuleClass>,
}

impl Selection {
    /// Returns whether a pattern means a monitor test: by its id, its monitor or its name in JUnit.
    pub fn is_meant(glob: &Glob, about: &MonitorTestInfo) -> bool {
        glob.is_match(&about.id) || glob.is_match(&about.monitor) || glob.is_match(&about.junit)
    }

    /// Returns whether a monitor test is run.
    pub fn has(&self, about: &MonitorTestInfo) -> bool {
        let is_meant = |glob: &Glob| Self::is_meant(glob, about);
        (self.classes.is_empty() || self.classes.contains(&about.class))
            && (self.only.is_empty() || self.only.iter().any(is_meant))
            && !self.skip.iter().any(is_meant)
    }
}
