//! The certainty of a state at a moment, worded for an answer: the [`UnobservedSpan`] that contains
//! the moment, or that there is none. `as_of` reads the state itself.

use super::chain::{Coverage, CoveredFrom, RecorderEnd};
use super::damaged::DamagedSpan;
use super::gap::RecordedGap;
use super::unobserved::{UnobservedReason, UnobservedSpan};
use crate::moment::Cut;
use crate::select::ObjectFilter;
use crate::tables::ReelTables;
use kubereel_format::{Damage, NotCoveredReason, RecordedAt, ResourceId, Seq};

/// The certainty of an answer about a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// Every change up to the moment is in the reel.
    Known {
        /// The last known state of the resource, if no later data proves that no change was missed
        /// in between.
        silent_since: Option<RecordedAt>,
    },
    /// No watch ran at the moment, and all changes of that time are known: the state was this one.
    ReadBack {
        /// When the last watch ended.
        from: RecordedAt,
        /// When the next one began.
        to: RecordedAt,
    },
    /// Another tool recorded the state, so its completeness is not known.
    Imported {
        /// When the recording of the resource begins.
        since: RecordedAt,
    },
    /// Changes may be missing: the state is that before the gap, or a part of the list after it.
    InsideGap {
        /// The gap.
        gap: RecordedGap,
    },
    /// Changes may be missing since a moment, and no list has shown the state since; or they were received later,
    /// as the API server did not answer.
    Unobserved {
        /// The begin.
        from: RecordedAt,
        /// The end; `None` if no list has shown the state since.
        to: Option<RecordedAt>,
        /// The cause.
        reason: UnobservedReason,
    },
    /// No watch ran at the moment. No change is missing from the reel, but changes of that time
    /// were received later.
    Blind {
        /// When the last watch ended.
        from: RecordedAt,
        /// When the next one began; `None` if none did.
        to: Option<RecordedAt>,
        /// How much is known of the recorder at its begin.
        recorder: RecorderEnd,
    },
    /// The resource was not recorded at the moment.
    NotCovered {
        /// The cause.
        reason: NotCoveredReason,
        /// The server's message; may be empty.
        detail: String,
    },
    /// The moment is before the first complete list of the resource, or before its first event in
    /// another tool's recording.
    BeforeFirst {
        /// The first moment with a known state; `None` if there is none.
        first: Option<RecordedAt>,
    },
    /// Parts of the reel that the answer may need cannot be read.
    Damaged {
        /// The first of them.
        damage: Damage,
    },
    /// The moment is after the last known one.
    AfterLast {
        /// The last known moment.
        last: RecordedAt,
    },
}

impl Certainty {
    /// Returns whether the state is complete: it is the state of the cluster, or that of an
    /// imported recording.
    pub const fn is_known(&self) -> bool {
        self.is_proven() || matches!(self, Self::Imported { .. })
    }

    /// Returns whether an object that is not in the state did not exist: an imported recording does
    /// not prove that.
    pub const fn is_proven(&self) -> bool {
        matches!(self, Self::Known { .. } | Self::ReadBack { .. })
    }

    /// Returns whether damage hides the state, of this file or of the one that it was recovered from.
    pub const fn is_damage(&self) -> bool {
        match self {
            Self::Damaged { .. } => true,
            Self::Unobserved { reason, .. } => reason.is_damage(),
            _ => false,
        }
    }

    /// Returns whether the server no longer served the resource: there were no objects of it.
    pub const fn is_gone(&self) -> bool {
        matches!(
            self,
            Self::NotCovered {
                reason: NotCoveredReason::Gone,
                ..
            }
        )
    }

    /// Returns whether there is a state, even an old one.
    pub const fn has_state(&self) -> bool {
        !matches!(self, Self::NotCovered { .. } | Self::BeforeFirst { .. })
    }
}

impl Certainty {
    /// Judges a state of objects of a resource; `coverage` is that of the resource, `damaged` the
    /// damage of the reel; `place_of` finds the place of a resourceVersion, if it was reached.
    pub(crate) fn judge(
        tables: &ReelTables,
        damaged: &[DamagedSpan],
        (resource, coverage): (ResourceId, Option<&Coverage>),
        (cut, place_of): (Cut, impl FnOnce(u128) -> Option<(Seq, RecordedAt)>),
        filter: &ObjectFilter<'_>,
    ) -> Self {
        let place = match cut {
            Cut::Arrival { below, wall } => Some((below, wall)),
            Cut::Revision(_) => None,
        };
        let listed = || coverage.into_iter().flat_map(Coverage::listed);
        let hides = |span: &&DamagedSpan| span.hides(tables, resource, (place, filter), listed());
        if let Some(span) = damaged.iter().find(hides) {
            // This file is whole: what an earlier one lost was not observed.
            if span.is_recovered {
                let again = span.hidden(tables, resource, filter, listed());
                let again = again.and_then(|(_, again)| again);
                return Self::Unobserved {
                    from: span.from,
                    to: again.map(|again| tables.wall_of(again)),
                    reason: span.reason(),
                };
            }
            return Self::Damaged {
                damage: span.damage.clone(),
            };
        }
        let Some(coverage) = coverage else {
            return Self::BeforeFirst { first: None };
        };
        match cut {
            Cut::Arrival { below, wall } => {
                Self::at_arrival(tables, coverage, filter, (below, wall))
            }
            Cut::Revision(rv) => match Self::at_revision(tables, coverage, filter, rv) {
                // What other resources had then shows that this one had no later change.
                after @ Self::AfterLast { .. } => {
                    place_of(rv).map_or(after, |at| Self::at_arrival(tables, coverage, filter, at))
                }
                certainty => certainty,
            },
        }
    }

    /// Judges the state after all records below one, seen as of a wall-clock time.
    fn at_arrival(
        tables: &ReelTables,
        coverage: &Coverage,
        filter: &ObjectFilter<'_>,
        (cut, wall): (Seq, RecordedAt),
    ) -> Self {
        let last = tables.end();
        let is_after_last = wall > last;
        match coverage.first_ranked((tables, filter), |span| span.holds(cut, wall)) {
            Some((rank, span)) if rank < WATCHES || !is_after_last => {
                Self::of(span, coverage.first_after(tables, cut))
            }
            _ if is_after_last => Self::AfterLast { last },
            // The next list proves it.
            _ if coverage
                .unobserved
                .iter()
                .any(|span| span.holds(cut, wall) && span.is_passed_unchanged(tables, filter)) =>
            {
                Self::Known { silent_since: None }
            }
            _ => coverage.known_at(cut, wall),
        }
    }

    /// Judges the state after the change with a resourceVersion.
    fn at_revision(
        tables: &ReelTables,
        coverage: &Coverage,
        filter: &ObjectFilter<'_>,
        rv: u128,
    ) -> Self {
        let first = coverage.covered.first();
        let first = first.map(|span| tables.seen_from(span.begun_by));
        match coverage.first_ranked((tables, filter), |span| span.holds_revision(rv)) {
            // A missing state has precedence over one that may be wrong.
            Some((rank, span)) if rank == GAPS || coverage.span_at_revision(rv).is_some() => {
                Self::of(span, first)
            }
            _ => coverage.known_at_revision(rv, first),
        }
    }

    /// Words a span for an answer about a moment in it; `first` is when the state is first known
    /// after it.
    fn of(span: &UnobservedSpan, first: Option<RecordedAt>) -> Self {
        let to = (!span.is_open()).then_some(span.to);
        if let Some(gap) = span.open_gap() {
            let gap = gap.clone();
            return Self::InsideGap { gap };
        }
        let blind = |recorder: RecorderEnd| Self::Blind {
            from: span.from,
            to,
            recorder,
        };
        match &span.reason {
            UnobservedReason::NotRecorded { reason, detail } => Self::NotCovered {
                reason: *reason,
                detail: detail.clone(),
            },
            UnobservedReason::NotBegun
            | UnobservedReason::NotListedYet
            | UnobservedReason::NeverListed => Self::BeforeFirst { first },
            UnobservedReason::NoWatch { recorder } | UnobservedReason::WatchEnded { recorder } => {
                blind(*recorder)
            }
            UnobservedReason::Gap { gap } => blind(gap.recorder),
            reason @ (UnobservedReason::NotListedAgain
            | UnobservedReason::NoAnswer
            | UnobservedReason::RecorderPaused
            | UnobservedReason::LostChange { .. }
            | UnobservedReason::Unparsed { .. }
            | UnobservedReason::Damaged { .. }
            | UnobservedReason::LostBeforeRecovery { .. }) => Self::Unobserved {
                from: span.from,
                to,
                reason: reason.clone(),
            },
        }
    }
}

/// The rank of gaps in which changes may be missing.
const GAPS: u8 = 0;

/// The rank of times without a watch: after the end of the recording, an answer names that end.
const WATCHES: u8 = 6;

/// The precedence of several reasons at one moment: a missing state before one that may be wrong,
/// and a declaration of the server before a conclusion.
fn rank(span: &UnobservedSpan) -> Option<u8> {
    match &span.reason {
        UnobservedReason::Gap { .. } if span.open_gap().is_some() => Some(GAPS),
        UnobservedReason::NotRecorded { .. } => Some(1),
        UnobservedReason::NotListedYet | UnobservedReason::NeverListed => Some(2),
        UnobservedReason::NotBegun => Some(3),
        UnobservedReason::Unparsed { .. } => Some(4),
        UnobservedReason::LostChange { .. } => Some(5),
        UnobservedReason::NotListedAgain
        | UnobservedReason::WatchEnded { .. }
        | UnobservedReason::NoWatch { .. }
        | UnobservedReason::NoAnswer
        | UnobservedReason::RecorderPaused
        | UnobservedReason::Gap { .. } => Some(WATCHES),
        // Unreadable versions are missing at every later moment, too: the damage is reported
        // separately.
        UnobservedReason::Damaged { .. } | UnobservedReason::LostBeforeRecovery { .. } => None,
    }
}

impl Coverage {
    /// Returns the span to name among those that hide a state, with its rank; of equal ranks, the
    /// one that began last.
    fn first_ranked(
        &self,
        (tables, filter): (&ReelTables, &ObjectFilter<'_>),
        hides: impl Fn(&UnobservedSpan) -> bool,
    ) -> Option<(u8, &UnobservedSpan)> {
        let within = self
            .unobserved
            .iter()
            .filter(|span| hides(span) && span.concerns(tables, filter));
        let ranked = within.filter_map(|span| Some((rank(span)?, span)));
        ranked.rev().min_by_key(|(rank, _)| *rank)
    }

    /// Returns the records that completed a list.
    pub(crate) fn listed(&self) -> impl Iterator<Item = Seq> {
        self.spans().iter().map(|span| span.begun_by)
    }

    /// Returns when the state is first known after all records below one.
    fn first_after(&self, tables: &ReelTables, cut: Seq) -> Option<RecordedAt> {
        let after = self.covered.iter().find(|span| span.begun_by >= cut);
        let imported = self.imported.map(|imported| imported.since);
        after
            .map(|span| tables.seen_from(span.begun_by))
            .or(imported)
    }

    /// Returns the certainty of a state that no span hides.
    fn known_at(&self, cut: Seq, wall: RecordedAt) -> Certainty {
        if let Some(span) = self
            .read_back()
            .iter()
            .rev()
            .find(|span| span.holds(cut, wall))
        {
            return Certainty::ReadBack {
                from: span.from,
                to: span.to,
            };
        }
        let span = self.covered.iter().rev().find(|span| span.begun_by < cut);
        match (span, self.imported) {
            (None, Some(imported)) => Certainty::Imported {
                since: imported.since,
            },
            (span, _) => Certainty::Known {
                silent_since: span
                    .filter(|span| span.proven_by < cut && span.covered.to_time < wall)
                    .map(|span| span.covered.to_time),
            },
        }
    }

    /// Returns the certainty of the state at a resourceVersion that no span hides.
    fn known_at_revision(&self, rv: u128, first: Option<RecordedAt>) -> Certainty {
        if let Some(span) = self.span_at_revision(rv) {
            let covered = &span.covered;
            let is_proven = covered.to_rv.parse::<u128>().is_ok_and(|to| rv <= to);
            return if is_proven {
                Certainty::Known { silent_since: None }
            } else {
                Certainty::AfterLast {
                    last: covered.to_time,
                }
            };
        }
        match (&self.imported, self.excluded.last()) {
            _ if !self.covered.is_empty() => Certainty::BeforeFirst { first },
            (Some(imported), _) => {
                let since = imported.since;
                if imported.first_rv.is_none_or(|first| first <= rv) {
                    Certainty::Imported { since }
                } else {
                    Certainty::BeforeFirst { first: Some(since) }
                }
            }
            (None, Some(excluded)) => Certainty::NotCovered {
                reason: excluded.reason,
                detail: excluded.detail.clone(),
            },
            (None, None) => Certainty::BeforeFirst { first },
        }
    }

    /// Finds the covered span of a resourceVersion: the last one that begins at or before it.
    ///
    /// After a restore the versions start lower again, and the newer history has precedence.
    pub(crate) fn span_at_revision(&self, rv: u128) -> Option<&CoveredFrom> {
        let begun = |from: &str| from.parse::<u128>().is_ok_and(|from| from <= rv);
        self.covered
            .iter()
            .rev()
            .find(|span| begun(&span.covered.from_rv))
    }
}
