//! Owns the judgement whether the state at a moment is known. Refuses the state itself: `as_of`
//! reads that.

use super::UnobservedReason;
use super::chain::{Coverage, CoveredFrom, ImportedFrom};
use kubereel_format::{Damage, Gap, NotCoveredReason, RecordedAt, Seq};

/// A reconnect shorter than this, in microseconds, is no blindness of its own: 1 s.
///
/// What happens in it is received when the watch goes on, late by no more than deliveries can be
/// late on a busy server anyway.
const SHORTEST_BLINDNESS_MICROS: i64 = 1_000_000;

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
    /// Changes may be missing since a moment, and no list has told the state anew.
    Unobserved {
        /// Since when.
        from: RecordedAt,
        /// Up to when; `None` if nothing told the state again.
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

impl Coverage {
    /// Judges the state after all records below `cut`, seen as of the wall-clock time `wall`.
    pub(crate) fn at_arrival(&self, cut: Seq, wall: RecordedAt, reel_end: RecordedAt) -> Certainty {
        if let Some(hole) = self
            .holes
            .iter()
            .find(|hole| wall > hole.gap.from_time && cut <= hole.closed_by)
        {
            return Certainty::InsideGap {
                gap: hole.gap.clone(),
            };
        }
        let span = self.spans.iter().rev().find(|span| span.begun_by < cut);
        let excluded = self.excluded.iter().rev().find(|entry| entry.since < cut);
        let first_after = || {
            let after = self.spans.iter().find(|span| span.begun_by >= cut);
            let first = after.map(|span| span.covered.from_time);
            Certainty::BeforeFirst { first }
        };
        if let Some(excluded) = excluded
            && span.is_none_or(|span| span.begun_by < excluded.since)
        {
            if self.is_announced_between(excluded.since, cut) {
                return first_after();
            }
            return Certainty::NotCovered {
                reason: excluded.reason,
                detail: excluded.detail.clone(),
            };
        }
        let Some(span) = span else {
            return self
                .imported_at(
                    |imported| imported.begun_by < cut,
                    wall > reel_end,
                    reel_end,
                )
                .unwrap_or_else(first_after);
        };
        if let Some(unobserved) = self.unobserved_at(cut, wall) {
            return unobserved;
        }
        if wall > reel_end {
            return Certainty::AfterLast { last: reel_end };
        }
        let is_long = |from: RecordedAt, to: Option<RecordedAt>| {
            to.is_none_or(|to| to.micros_since(from) >= SHORTEST_BLINDNESS_MICROS)
        };
        if let Some(blind) = self.blind.iter().find(|blind| {
            wall > blind.from
                && blind.to.is_none_or(|to| wall < to)
                && is_long(blind.from, blind.to)
        }) {
            return Certainty::Blind {
                from: blind.from,
                to: blind.to,
            };
        }
        Certainty::Known {
            silent_since: (span.proven_by < cut && span.covered.to_time < wall)
                .then_some(span.covered.to_time),
        }
    }

    /// Finds what hides changes beside gaps: objects that were not parsed, and those whose lives prove
    /// that something was lost.
    fn unobserved_at(&self, cut: Seq, wall: RecordedAt) -> Option<Certainty> {
        let unparsed = self.unparsed.iter().find(|span| span.holds(cut));
        let lost = || {
            let mut lost = self.lost.iter();
            lost.find(|lost| lost.from < wall && wall < lost.to)
        };
        unparsed
            .map(|span| Certainty::Unobserved {
                from: span.from,
                to: span.to,
                reason: span.reason(),
            })
            .or_else(|| {
                lost().map(|lost| Certainty::Unobserved {
                    from: lost.from,
                    to: Some(lost.to),
                    reason: lost.reason(),
                })
            })
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
