//! The damage of a reel as a whole: which of it may concern an answer.

use crate::coverage::DamagedSpan;
use crate::moment::{Moment, ResolveError};
use crate::select::ObjectFilter;
use crate::tables::ReelTables;
use kubereel_format::{Loss, RecordedAt, ResourceId, Seq};

/// A moment in the order of arrival, as the record behind it and its time; `None` for one whose place may be lost, and
/// for the ends of the recording.
pub(crate) type DamageBound = Option<(Seq, RecordedAt)>;

/// All damaged spans of a reel.
#[derive(Clone, Copy)]
pub(crate) struct ReelDamage<'a> {
    tables: &'a ReelTables,
    spans: &'a [DamagedSpan],
}

impl<'a> ReelDamage<'a> {
    pub(crate) const fn new(tables: &'a ReelTables, spans: &'a [DamagedSpan]) -> Self {
        Self { tables, spans }
    }

    /// Returns the damage of this file between two moments.
    pub(crate) fn between(
        self,
        from: DamageBound,
        to: DamageBound,
    ) -> impl Iterator<Item = &'a DamagedSpan> {
        self.spans.iter().filter(move |span| {
            let loss = span.damage.loss;
            let after = from.zip(loss.last());
            let before = to.zip(loss.first());
            let is_after = after.is_some_and(|((from, _), last)| last < from);
            // A lost end has no later record whose time would tell, a lost begin no earlier one.
            let is_before = before.is_some_and(|((to, wall), first)| {
                to <= first && wall <= self.tables.wall_of(first)
            }) && !span.is_of_begin(self.tables);
            !span.is_recovered && loss != Loss::Nothing && !is_after && !is_before
        })
    }

    /// Returns whether damage between two moments took records, or versions of objects that a filter takes, of one of
    /// some resources.
    pub(crate) fn concerns_between(
        self,
        resources: &[ResourceId],
        filter: &ObjectFilter<'_>,
        (from, to): (DamageBound, DamageBound),
    ) -> bool {
        self.between(from, to).any(|span| {
            let mut resources = resources.iter();
            resources.any(|resource| span.concerns_any(self.tables, *resource, filter))
        })
    }

    /// Returns whether it took records, here or before the reel was recovered.
    pub(crate) fn took_records(self) -> bool {
        let mut losses = self.spans.iter().map(|span| span.damage.loss);
        losses.any(|loss| !matches!(loss, Loss::Nothing | Loss::Bodies { .. }))
    }

    /// Returns whether it hides the end of the recording, so that it went on behind the last readable record.
    pub(crate) fn took_end(self) -> bool {
        self.spans.iter().any(|span| span.is_of_end(self.tables))
    }

    /// Returns whether it hides the begin of the recording, so that it began before the first readable record.
    pub(crate) fn took_begin(self) -> bool {
        self.spans.iter().any(|span| span.is_of_begin(self.tables))
    }

    /// Returns why a time that is counted from the start or the end of the recording has no place: that is lost. Of
    /// damage that may be anywhere, each answer says so by itself.
    pub(crate) fn refusal(self, moment: Moment) -> Option<ResolveError> {
        let spans = self.spans.iter();
        let known = spans.filter(|span| span.damage.loss != Loss::Unknown);
        let mut times = known.map(|span| span.times(self.tables));
        let first = self.tables.start();
        let last = self.tables.end();
        match moment {
            Moment::AfterStart { .. } => times
                .any(|(from, _)| from.is_none())
                .then_some(ResolveError::StartLost { first }),
            Moment::BeforeEnd { .. } => times
                .any(|(_, to)| to.is_none())
                .then_some(ResolveError::EndLost { last }),
            _ => None,
        }
    }

    /// Returns the damage that took the object of a record.
    pub(crate) fn of_body(self, seq: Seq) -> Option<&'a DamagedSpan> {
        self.spans.iter().find(|span| match span.damage.loss {
            Loss::Bodies { first, last } => (first..=last).contains(&seq),
            _ => false,
        })
    }
}
