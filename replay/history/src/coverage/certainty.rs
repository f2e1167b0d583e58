//! Whether the state at a moment is known, in words for an answer: the [`UnobservedSpan`] that the moment
//! lies in, or that there is none. The state itself is read by `as_of`.

use super::chain::{Coverage, CoveredFrom};
use super::damaged::DamagedSpan;
use super::unobserved::{UnobservedReason, UnobservedSpan};
use crate::moment::Cut;
use crate::select::ObjectFilter;
use crate::tables::ReelTables;
use kubereel_format::{Damage, Gap, NotCoveredReason, RecordedAt, ResourceId, Seq};

/// How far an answer about a moment can be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// Every change up to the moment is in the reel.
    Known {
        /// The server's last word on the resource, if nothing came after the moment to prove that
        /// nothing was missed in between.
        silent_since: Option<RecordedAt>,
    },
    /// No watch ran at the moment, and all that happened in that time is known: the state was this.
    ReadBack {
        /// When the last watch ended.
        from: RecordedAt,
        /// When the next one began.
        to: RecordedAt,
    },
    /// The state comes from another tool's recording, which does not tell what it leaves out.
    Imported {
        /// When the recording first speaks of the resource.
        since: RecordedAt,
    },
    /// Changes may be missing: the state shown is that before the gap, or parts of the list after it.
    InsideGap {
        /// The gap.
        gap: Gap,
    },
    /// Changes may be missing since a moment, and no list has shown the state since.
    Unobserved {
        /// Since when.
        from: RecordedAt,
        /// Up to when; `None` if nothing has shown the state since.
        to: Option<RecordedAt>,
        /// The cause.
        reason: UnobservedReason,
    },
    /// No watch ran at the moment. Nothing is missing from the reel, but changes of that time were
    /// received later.
    Blind {
        /// When the last watch ended.
        from: RecordedAt,
        /// When the next one began; `None` if none did.
        to: Option<RecordedAt>,
    },
    /// The resource was not recorded at the moment.
    NotCovered {
        /// The cause.
        reason: NotCoveredReason,
        /// The server's words; may be empty.
        detail: String,
    },
    /// The moment lies before the first complete list of the resource, or before the first event of it
    /// in another tool's recording.
    BeforeFirst {
        /// The first moment at which the state is known; `None` if there never was one.
        first: Option<RecordedAt>,
    },
    /// Parts of the reel that the answer may need cannot be read.
    Damaged {
        /// The first of them.
        damage: Damage,
    },
    /// The moment lies after the last one that the reel knows of.
    AfterLast {
        /// The last moment known.
        last: RecordedAt,
    },
}

impl Certainty {
    /// Returns whether the state shown is all that there is to know: the state that was, or what an
    /// imported recording says it was.
    pub const fn is_known(&self) -> bool {
        self.is_proven() || matches!(self, Self::Imported { .. })
    }

    /// Returns whether what the state shown does not hold was not there: an imported recording does not
    /// tell what it leaves out.
    pub const fn is_proven(&self) -> bool {
        matches!(self, Self::Known { .. } | Self::ReadBack { .. })
    }

    /// Returns whether there is a state to show, be it an old one.
    pub const fn has_state(&self) -> bool {
        !matches!(self, Self::NotCovered { .. } | Self::BeforeFirst { .. })
    }
}

impl Certainty {
    /// Judges a state of objects of a resource; `coverage` is what is known of the resource, `damaged` what damage
    /// took of the reel.
    pub(crate) fn judge(
        tables: &ReelTables,
        damaged: &[DamagedSpan],
        (resource, coverage): (ResourceId, Option<&Coverage>),
        cut: Cut,
        filter: &ObjectFilter<'_>,
    ) -> Self {
        let below = match cut {
            Cut::Arrival { below, .. } => Some(below),
            Cut::Revision(_) => None,
        };
        let listed = || {
            let covered = coverage.map_or(&[][..], Coverage::spans).iter();
            covered.map(|span| span.begun_by)
        };
        let hides = |span: &&DamagedSpan| span.hides(tables, resource, (below, filter), listed());
        if let Some(span) = damaged.iter().find(hides) {
            return Self::Damaged {
                damage: span.damage.clone(),
            };
        }
        let Some(coverage) = coverage else {
            return Self::BeforeFirst { first: None };
        };
        match cut {
            Cut::Arrival { below, wall } => {
                Self::at_arrival(coverage, filter, (below, wall), tables.end())
            }
            Cut::Revision(rv) => Self::at_revision(coverage, filter, rv),
        }
    }

    /// Judges the state after all records below one, seen as of a wall-clock time.
    fn at_arrival(
        coverage: &Coverage,
        filter: &ObjectFilter<'_>,
        (cut, wall): (Seq, RecordedAt),
        last: RecordedAt,
    ) -> Self {
        let is_after_last = wall > last;
        match coverage.first_ranked(filter, |span| span.holds(cut, wall)) {
            Some((rank, span)) if rank < WATCHES || !is_after_last => {
                Self::of(span, coverage.first_after(cut))
            }
            _ if is_after_last => Self::AfterLast { last },
            _ => coverage.known_at(cut, wall),
        }
    }

    /// Judges the state after the change with a resourceVersion.
    fn at_revision(coverage: &Coverage, filter: &ObjectFilter<'_>, rv: u128) -> Self {
        let first = coverage.covered.first();
        let first = first.map(|span| span.covered.from_time);
        match coverage.first_ranked(filter, |span| span.holds_revision(rv)) {
            // A state that is missing comes before one that may be wrong.
            Some((rank, span)) if rank == GAPS || coverage.span_at_revision(rv).is_some() => {
                Self::of(span, first)
            }
            _ => coverage.known_at_revision(rv, first),
        }
    }

    /// Words a span for an answer about a moment in it; `first` is when the state is known first after it.
    fn of(span: &UnobservedSpan, first: Option<RecordedAt>) -> Self {
        let to = (!span.is_open()).then_some(span.to);
        if let Some(gap) = span.open_gap() {
            let gap = gap.gap.clone();
            return Self::InsideGap { gap };
        }
        match &span.reason {
            UnobservedReason::NotRecorded { reason, detail } => Self::NotCovered {
                reason: *reason,
                detail: detail.clone(),
            },
            UnobservedReason::NotBegun
            | UnobservedReason::NotListedYet
            | UnobservedReason::NeverListed => Self::BeforeFirst { first },
            UnobservedReason::NoWatch
            | UnobservedReason::WatchEnded
            | UnobservedReason::Gap { .. } => Self::Blind {
                from: span.from,
                to,
            },
            reason @ (UnobservedReason::LostChange { .. }
            | UnobservedReason::Unparsed { .. }
            | UnobservedReason::Damaged { .. }) => Self::Unobserved {
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

/// Which of several reasons at one moment an answer names: a state that is missing comes before one that may
/// be wrong, and what the server declared before what was concluded.
fn rank(span: &UnobservedSpan) -> Option<u8> {
    match &span.reason {
        UnobservedReason::Gap { .. } if span.open_gap().is_some() => Some(GAPS),
        UnobservedReason::NotRecorded { .. } => Some(1),
        UnobservedReason::NotListedYet | UnobservedReason::NeverListed => Some(2),
        UnobservedReason::NotBegun => Some(3),
        UnobservedReason::Unparsed { .. } => Some(4),
        UnobservedReason::LostChange { .. } => Some(5),
        UnobservedReason::WatchEnded | UnobservedReason::NoWatch | UnobservedReason::Gap { .. } => {
            Some(WATCHES)
        }
        // Versions that cannot be read are missing at every later moment, too: the reel's damage tells.
        UnobservedReason::Damaged { .. } => None,
    }
}

impl Coverage {
    /// Returns the span to name of those that hide a state, with its rank; of equals, the one that began last.
    fn first_ranked(
        &self,
        filter: &ObjectFilter<'_>,
        hides: impl Fn(&UnobservedSpan) -> bool,
    ) -> Option<(u8, &UnobservedSpan)> {
        let within = self
            .unobserved
            .iter()
            .filter(|span| hides(span) && span.concerns(filter));
        let ranked = within.filter_map(|span| Some((rank(span)?, span)));
        ranked.rev().min_by_key(|(rank, _)| *rank)
    }

    /// Returns when the state is known first after all records below one.
    fn first_after(&self, cut: Seq) -> Option<RecordedAt> {
        let after = self.covered.iter().find(|span| span.begun_by >= cut);
        let imported = self.imported.map(|imported| imported.since);
        after.map(|span| span.covered.from_time).or(imported)
    }

    /// Says how a state is known that no span hides.
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

    /// Says how the state at a resourceVersion is known that no span hides.
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

    /// Finds the span that a resourceVersion belongs to: the last one that begins at or before it.
    ///
    /// After a restore the versions count up again from below, and the newer history wins.
    pub(crate) fn span_at_revision(&self, rv: u128) -> Option<&CoveredFrom> {
        let begun = |from: &str| from.parse::<u128>().is_ok_and(|from| from <= rv);
        self.covered
            .iter()
            .rev()
            .find(|span| begun(&span.covered.from_rv))
    }
}
