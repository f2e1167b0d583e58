//! Owns which events a listed resource steps over. Refuses to sort them: each object's own are in
//! order already.

use kubereel_format::{ObjectId, ResourceId, Seq};
use kubereel_history::Timeline;

/// The events of a resource, of one namespace or of all.
#[derive(Clone, Copy)]
pub(crate) struct EventsOf<'a> {
    /// The reel.
    pub(crate) timeline: &'a Timeline,
    /// The resource.
    pub(crate) resource: ResourceId,
    /// The namespace; all of them if none.
    pub(crate) namespace: Option<&'a str>,
}

impl EventsOf<'_> {
    /// Gives the first event at or behind a record.
    pub(crate) fn next(&self, below: Seq) -> Option<Seq> {
        self.nearest(|versions| {
            let at = versions.partition_point(|seq| *seq < below);
            versions.get(at)
        })
        .min()
    }

    /// Gives the last event before a record.
    pub(crate) fn previous(&self, below: Seq) -> Option<Seq> {
        self.nearest(|versions| {
            let at = versions.partition_point(|seq| *seq < below);
            versions.get(at.checked_sub(1)?)
        })
        .max()
    }

    fn nearest(&self, pick: impl Fn(&[Seq]) -> Option<&Seq>) -> impl Iterator<Item = Seq> {
        let objects = self.timeline.objects_of(self.resource).iter();
        let is_asked = |object: &&ObjectId| {
            self.namespace.is_none_or(|only| {
                let key = self.timeline.key_of(**object);
                key.is_some_and(|key| key.namespace == only)
            })
        };
        let objects = objects.filter(is_asked);
        objects.filter_map(move |object| pick(self.timeline.reel().versions(*object)).copied())
    }
}
