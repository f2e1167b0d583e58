//! Whether the state at a moment is known, in words for an answer: the [`UnobservedSpan`] that the moment
//! lies in, or that there is none. The state itself is read by `as_of`.

use super::chain::{Coverage, CoveredFrom, ImportedFrom};
use super::{UnobservedReason, UnobservedSpan};
use crate::as_of::Filter;
use crate::timeline::Timeline;
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
        /// Why.
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
        /// Why.
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
    /// Tells whether the state shown is all that there is to know: the state that was, or what an
    /// imported recording says it was.
    pub const fn is_known(&self) -> bool {
        matches!(self, Self::Known { .. } | Self::Imported { .. })
    }

    /// Tells whether what the state shown does not hold was not there: an imported recording does not
    /// tell what it leaves out.
    pub const fn is_proven(&self) -> bool {
        matches!(self, Self::Known { .. })
    }

    /// Tells whether there is a state to show, be it an old one.
    pub const fn has_state(&self) -> bool {
        !matches!(self, Self::NotCovered { .. } | Self::BeforeFirst { .. })
    }
}

impl Certainty {
    /// Words a span for an answer about a moment in it.
    fn of(span: &UnobservedSpan, coverage: &Coverage, cut: Seq) -> Self {
        let to = (!span.is_open()).then_some(span.to);
        match &span.reason {
            UnobservedReason::Gap { gap } => Self::InsideGap { gap: gap.clone() },
            UnobservedReason::NotRecorded { reason, detail } => Self::NotCovered {
                reason: *reason,
                detail: detail.clone(),
            },
            UnobservedReason::NotBegun
            | UnobservedReason::NotListedYet
            | UnobservedReason::NeverListed => {
                let after = coverage.spans.iter().find(|span| span.begun_by >= cut);
                let imported = coverage.imported.map(|imported| imported.since);
                Self::BeforeFirst {
                    first: after.map(|span| span.covered.from_time).or(imported),
                }
            }
            UnobservedReason::NoWatch | UnobservedReason::WatchEnded => Self::Blind {
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

/// Which of several reasons at one moment an answer names: a state that is missing comes before one that may
/// be wrong, and what the server declared before what was concluded.
const fn rank(reason: &UnobservedReason) -> Option<u8> {
    match reason {
        UnobservedReason::Gap { .. } => Some(0),
        UnobservedReason::NotRecorded { .. } => Some(1),
        UnobservedReason::NotListedYet | UnobservedReason::NeverListed => Some(2),
        UnobservedReason::NotBegun => Some(3),
        UnobservedReason::Unparsed { .. } => Some(4),
        UnobservedReason::LostChange { .. } => Some(5),
        UnobservedReason::WatchEnded | UnobservedReason::NoWatch => Some(6),
        // Versions that cannot be read are missing at every later moment, too: the reel's damage tells.
        UnobservedReason::Damaged { .. } => None,
    }
}

impl Timeline {
    /// Judges the state of some objects of a resource after all records below `cut`, seen as of the
    /// wall-clock time `wall`.
    pub(crate) fn at_arrival(
        &self,
        resource: ResourceId,
        coverage: &Coverage,
        filter: &Filter<'_>,
        (cut, wall): (Seq, RecordedAt),
    ) -> Certainty {
        let spans = self.unobserved_spans(resource).iter();
        let within = spans.filter(|span| span.holds(cut, wall) && span.concerns(filter));
        let ranked = within.filter_map(|span| Some((rank(&span.reason)?, span)));
        // Of equals the one that began last.
        let first = ranked.rev().min_by_key(|(rank, _)| *rank);
        let is_after_last = wall > self.end();
        match first {
            Some((rank, span)) if rank < WATCHES || !is_after_last => {
                Certainty::of(span, coverage, cut)
            }
            _ if is_after_last => Certainty::AfterLast { last: self.end() },
            _ => coverage.known_at(cut, wall),
        }
    }
}

/// The rank of times without a watch: after the end of the recording, an answer names that end.
const WATCHES: u8 = 6;

impl Coverage {
    /// Says how a state is known that no span hides.
    fn known_at(&self, cut: Seq, wall: RecordedAt) -> Certainty {
        let span = self.spans.iter().rev().find(|span| span.begun_by < cut);
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

    /// Judges a state that an import may know of.
    fn imported_at(
        &self,
        is_begun: impl Fn(&ImportedFrom) -> bool,
        is_after_last: bool,
        last: RecordedAt,
    ) -> Option<Certainty> {
        let imported = self.imported.as_ref()?;
        let since = imported.since;
        Some(if !is_begun(imported) {
            Certainty::BeforeFirst { first: Some(since) }
        } else if is_after_last {
            Certainty::AfterLast { last }
        } else {
            Certainty::Imported { since }
        })
    }

    /// Finds the span that a resourceVersion belongs to: the last one that begins at or before it.
    ///
    /// After a restore the versions count up again from below, and the newer history wins.
    pub(crate) fn span_at_revision(&self, rv: u128) -> Option<&CoveredFrom> {
        let begun = |from: &str| from.parse::<u128>().is_ok_and(|from| from <= rv);
        self.spans
            .iter()
            .rev()
            .find(|span| begun(&span.covered.from_rv))
    }

    /// Judges the state after the change with resourceVersion `rv`.
    pub(crate) fn at_revision(&self, rv: u128) -> Certainty {
        let number = |text: &str| text.parse::<u128>().ok();
        let inside = |hole: &&super::Hole| {
            let is_after = hole.gap.from_rv.as_deref().and_then(number);
            let is_before = number(&hole.gap.to_rv);
            is_after.is_some_and(|from| rv > from) && is_before.is_some_and(|to| rv < to)
        };
        if let Some(hole) = self.holes.iter().find(inside) {
            return Certainty::InsideGap {
                gap: hole.gap.clone(),
            };
        }
        let Some(span) = self.span_at_revision(rv) else {
            let begun = |imported: &ImportedFrom| imported.first_rv.is_none_or(|first| first <= rv);
            if self.spans.is_empty()
                && let Some(certainty) = self.imported_at(begun, false, RecordedAt::default())
            {
                return certainty;
            }
            if let (true, Some(excluded)) = (self.spans.is_empty(), self.excluded.last()) {
                return Certainty::NotCovered {
                    reason: excluded.reason,
                    detail: excluded.detail.clone(),
                };
            }
            return Certainty::BeforeFirst {
                first: self.spans.first().map(|span| span.covered.from_time),
            };
        };
        let mut unparsed = self.unparsed.iter();
        if let Some(unparsed) = unparsed.find(|span| span.holds_revision(rv)) {
            return Certainty::Unobserved {
                from: unparsed.from,
                to: unparsed.to,
                reason: unparsed.reason(),
            };
        }
        if number(&span.covered.to_rv).is_some_and(|to| rv <= to) {
            Certainty::Known { silent_since: None }
        } else {
            Certainty::AfterLast {
                last: span.covered.to_time,
            }
        }
    }
}
