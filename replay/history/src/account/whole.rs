//! The account of a sequence: the number of revisions, the explained and the unexplained ones. It
//! begins after every resource was listed, and ends while the streams still had time to deliver.

use super::probes::AccountExclusion;
use super::probes::{RevisionProbe, SteadyTime, session_of};
use super::sequence::RevisionSequence;
use crate::coverage::Coverage;
use crate::tables::ReelTables;
use kubereel_format::worded;
use kubereel_format::{EndCause, EpochId, Note, RecordedAt, ResourceId, Seq};
use std::collections::BTreeMap;

/// The number of unexplained runs that an account lists.
pub const MAX_RANGES: usize = 1000;

/// How long after the first probe the first list of a resource counts as one of the begin, in
/// microseconds: 60 s.
const FIRST_LISTS_MICROS: i64 = 60_000_000;

/// The time that a stream may need to deliver a change before the recording ends, in microseconds:
/// 1 s.
const DELIVERY_MICROS: u64 = 1_000_000;

/// The account of a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct RevisionAccount {
    /// The number of the cluster.
    pub epoch: EpochId,
    /// The revision up to which every resource was listed; the account begins behind it.
    pub from_rv: u64,
    /// The last revision of a probe that the streams had time to deliver.
    pub to_rv: u64,
    /// When the last of the first lists was complete.
    pub from: RecordedAt,
    /// When the last probe succeeded.
    pub to: RecordedAt,
    /// The revisions of the account with a recorded event.
    pub explained: u64,
    /// The first runs of revisions without one, in order; at most [`MAX_RANGES`].
    pub unexplained: Vec<UnexplainedRange>,
    /// The number of all runs.
    pub ranges: u64,
    /// The resources that share the sequence.
    pub members: u64,
    /// The recorded resources that are left out, and why.
    pub left_out: Vec<(ResourceId, AccountExclusion)>,
    /// The number of revisions with several objects, which no etcd has: above 0 the account proves
    /// nothing.
    pub shared: u64,
}

/// A run of revisions without a recorded event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnexplainedRange {
    /// The first of them.
    pub first: u64,
    /// The last of them.
    pub last: u64,
    /// After when the first was committed; `None` beyond the probes.
    pub after: Option<RecordedAt>,
    /// By when the last was committed; `None` beyond the probes.
    pub before: Option<RecordedAt>,
}

worded! {
/// Why there is no account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountError {
    /// The recorder sent no probes.
    NoProbes = "the recorder did not probe the cluster's revision",
    /// There are no revisions between the first complete lists and the last probe.
    TooShort = "no probe was answered after all resources had been listed",
}
}

impl RevisionAccount {
    /// Returns the number of revisions.
    pub const fn total(&self) -> u64 {
        self.to_rv.saturating_sub(self.from_rv)
    }

    /// Returns the number of unexplained revisions.
    pub const fn unexplained_total(&self) -> u64 {
        self.total().saturating_sub(self.explained)
    }

    /// Returns the explained share, from 0 to 1; `None` if there was no revision, or if the account
    /// proves nothing.
    pub fn share(&self) -> Option<f64> {
        if self.shared > 0 {
            return None;
        }
        let millionths = self
            .explained
            .saturating_mul(1_000_000)
            .checked_div(self.total());
        let millionths = millionths.and_then(|share| u32::try_from(share).ok());
        Some(millionths.map_or(1.0, |share| f64::from(share) / 1e6))
    }
}

impl RevisionAccount {
    /// Accounts for the revisions of each epoch that has probes.
    ///
    /// # Errors
    /// When there is nothing to account for, with the reason.
    pub(crate) fn of_all(
        sequences: &[RevisionSequence],
        tables: &ReelTables,
        coverage: &BTreeMap<ResourceId, Coverage>,
    ) -> Result<Vec<Self>, AccountError> {
        if sequences.is_empty() {
            return Err(AccountError::NoProbes);
        }
        let accounts = sequences.iter();
        let accounts: Vec<Self> = accounts
            .filter_map(|sequence| sequence.account(tables, coverage))
            .collect();
        if accounts.is_empty() {
            return Err(AccountError::TooShort);
        }
        Ok(accounts)
    }
}

impl RevisionSequence {
    fn account(
        &self,
        tables: &ReelTables,
        coverage: &BTreeMap<ResourceId, Coverage>,
    ) -> Option<RevisionAccount> {
        let (from_rv, from) = self.first_lists(coverage)?;
        let last = self.last_delivered(tables)?;
        // A probe before the lists proves nothing for the time after them.
        if last.revision < from_rv || (last.revision == from_rv && last.answered.1 < from) {
            return None;
        }
        let to_rv = last.revision;
        let revisions = self.revisions(tables);
        let mut ranges = 0u64;
        let mut unexplained = Vec::new();
        for run in revisions.ranges(from_rv, to_rv) {
            ranges = ranges.saturating_add(1);
            if unexplained.len() < MAX_RANGES {
                unexplained.push(self.dated(*run.start(), *run.end()));
            }
        }
        Some(RevisionAccount {
            epoch: self.epoch(),
            from_rv,
            to_rv,
            from,
            to: last.answered.1,
            explained: revisions.explained(from_rv, to_rv),
            unexplained,
            ranges,
            members: self
                .members()
                .filter(|(id, _)| self.has_member(*id))
                .fold(0, |count, _| count + 1),
            left_out: self.left_out().collect(),
            shared: revisions.shared(),
        })
    }

    fn dated(&self, first: u64, last: u64) -> UnexplainedRange {
        let probes = self.probes();
        let below = probes.partition_point(|probe| probe.revision < first);
        let after = below.checked_sub(1).and_then(|place| probes.get(place));
        let reached = probes.partition_point(|probe| probe.revision < last);
        UnexplainedRange {
            first,
            last,
            after: after.map(|probe| probe.sent.1),
            before: probes.get(reached).map(|probe| probe.answered.1),
        }
    }

    /// Finds the revision up to which the resources of the begin were listed, and the time.
    fn first_lists(&self, coverage: &BTreeMap<ResourceId, Coverage>) -> Option<(u64, RecordedAt)> {
        let begin = self.probes().first()?.answered.1;
        let firsts = self.members().filter_map(|(resource, _)| {
            if !self.has_member(resource) {
                return None;
            }
            let spans = coverage.get(&resource)?.spans().iter();
            let mut of_epoch = spans.filter(|span| self.is_of(span.begun_by));
            let covered = &of_epoch.next()?.covered;
            let late = covered.from_time.micros_since(begin);
            let rv = covered.from_rv.parse::<u64>().ok()?;
            (late <= FIRST_LISTS_MICROS).then_some((rv, covered.from_time))
        });
        firsts.reduce(|one, other| (one.0.max(other.0), one.1.max(other.1)))
    }

    /// Finds the last probe that the streams outlived by long enough.
    fn last_delivered(&self, tables: &ReelTables) -> Option<&RevisionProbe> {
        let (session, end) = self.streams_end(tables)?;
        self.probes().iter().rev().find(|probe| {
            let (asked_in, at) = probe.answered.0;
            asked_in < session || at.saturating_add(DELIVERY_MICROS) <= end
        })
    }

    /// Finds when the epoch's streams ended: at its last record, or when they were stopped.
    fn streams_end(&self, tables: &ReelTables) -> Option<SteadyTime> {
        let reel = tables.reel();
        let mut session = 0;
        let mut stopped = None;
        for (number, entry) in session_of(reel.notes()) {
            if entry.seq >= self.end() {
                break;
            }
            if number != session {
                (session, stopped) = (number, None);
            }
            if let Note::Disconnected {
                cause: EndCause::Stopped,
                ..
            } = entry.note
            {
                stopped.get_or_insert(entry.stamp.elapsed.micros);
            }
        }
        let last = Seq(self.end().0.checked_sub(1)?);
        let end = match stopped {
            Some(stopped) => stopped,
            None => reel.stamp(last)?.elapsed.micros,
        };
        Some((session, end))
    }
}
