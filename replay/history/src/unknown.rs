//! From when on the state of an object is not known: damage hides its last versions, or a time in which changes may be
//! missing does not end; and the times after a version in which its changes may be missing.

use crate::coverage::{Certainty, UnobservedReason, UnobservedSpan};
use crate::moment::Cut;
use crate::select::ObjectFilter;
use crate::timeline::Timeline;
use kubereel_format::{RecordedAt, ResourceId, Seq};

impl Timeline {
    /// Returns from when on it is not known up to the end whether the object of a name, or any if it is `None`, is as
    /// its last version shows it; `None` if that is known.
    ///
    /// After lost records nothing shows whether an object was changed or deleted in them, up to its next version or
    /// the next list.
    pub fn unknown_since(
        &self,
        resource: ResourceId,
        object: Option<(&str, &str)>,
    ) -> Option<RecordedAt> {
        let names: Vec<String> = object.iter().map(|(_, name)| (*name).to_owned()).collect();
        let filter = ObjectFilter {
            namespace: object.map(|(namespace, _)| namespace),
            names: &names,
        };
        let hidden = self.hidden_by_damage(resource, &filter);
        let hidden = hidden.filter(|(_, _, again)| again.is_none());
        let hidden = hidden.map(|(damaged, _, _)| damaged.from);
        let open = self.unobserved(resource).filter(|span| {
            span.is_open() && !span.reason.is_damage() && self.concerns(span, &filter)
        });
        let unknown = hidden.chain(open.map(|span| span.from)).min();
        if object.is_none() {
            return unknown;
        }
        self.unknown_after_versions(unknown, resource, &filter, self.last_cut())
    }

    /// Returns from when on it is not known up to a moment whether the object of a name is as its last readable version
    /// before that shows it; `None` if that is known.
    pub fn unknown_since_at(
        &self,
        resource: ResourceId,
        (namespace, name): (&str, &str),
        cut: Cut,
    ) -> Option<RecordedAt> {
        let names = [name.to_owned()];
        let filter = ObjectFilter {
            namespace: Some(namespace),
            names: &names,
        };
        let since = match self.certainty_of(resource, cut, &filter) {
            Certainty::InsideGap { gap } => Some(gap.from),
            Certainty::Unobserved { from, .. } | Certainty::Blind { from, .. } => Some(from),
            Certainty::AfterLast { last } => Some(last),
            Certainty::Damaged { damage } => {
                let mut damaged = self.damaged().iter();
                damaged
                    .find(|span| span.damage == damage)
                    .map(|span| span.from)
            }
            Certainty::Known { .. } | Certainty::ReadBack { .. } | Certainty::Imported { .. } => {
                None
            }
            Certainty::NotCovered { .. } | Certainty::BeforeFirst { .. } => return None,
        };
        self.unknown_after_versions(since, resource, &filter, cut)
    }

    /// Returns the times in which changes of objects may be missing that were made after versions of them were
    /// received.
    pub fn may_miss_after(
        &self,
        resource: ResourceId,
        filter: &ObjectFilter<'_>,
        from: RecordedAt,
    ) -> impl Iterator<Item = &UnobservedSpan> {
        self.unobserved(resource).filter(move |span| {
            // Between two versions of one object, neither its creation nor its deletion can be
            // lost.
            let is_of_all = !matches!(span.reason, UnobservedReason::LostChange { .. });
            is_of_all && span.to > from && self.concerns(span, filter)
        })
    }

    /// Returns whether changes of an object may be missing between a version of it and an earlier one, received at
    /// these times.
    pub fn may_miss_changes(&self, seq: Seq, from: RecordedAt, to: RecordedAt) -> bool {
        let object = self.reel().object_of(seq);
        let Some(key) = object.and_then(|object| self.key_of(object)) else {
            return false;
        };
        let names = [key.name.to_owned()];
        let filter = ObjectFilter {
            namespace: Some(key.namespace),
            names: &names,
        };
        let mut after = self.may_miss_after(key.resource, &filter, from);
        after.any(|span| span.from < to)
    }

    /// Returns from when on objects are not known, by when their resource is not, and by which of their versions can
    /// be read.
    fn unknown_after_versions(
        &self,
        unknown: Option<RecordedAt>,
        resource: ResourceId,
        filter: &ObjectFilter<'_>,
        cut: Cut,
    ) -> Option<RecordedAt> {
        if unknown.is_none() && !self.reel().has_losses() {
            return None;
        }
        let objects = self.objects_of(resource).iter().filter(|object| {
            let key = self.key_of(**object);
            key.is_some_and(|key| filter.takes(key.namespace, key.name))
        });
        let versions = objects.flat_map(|object| self.reel().versions(*object));
        let versions = versions.copied().filter(|seq| self.is_within(*seq, cut));
        let mut versions: Vec<Seq> = versions.collect();
        versions.sort_unstable();
        let mut unreadable = None;
        // Damage hides also later versions that are stored as differences from a lost one.
        while self.reel().has_losses()
            && let Some(last) = versions.pop_if(|last| self.meta(*last).is_err())
        {
            let damaged = self.damage().of_body(last);
            unreadable = Some(damaged.map_or(self.wall_of(last), |damaged| damaged.from));
        }
        let since = unknown.into_iter().chain(unreadable).min()?;
        // Of damage that may be anywhere, not more is known than that the last version came before what is missing.
        let last = versions.last().map(|seq| self.wall_of(*seq));
        Some(last.map_or(since, |last| last.max(since)))
    }
}
