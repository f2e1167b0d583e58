//! Owns the way from names to what their versions say, up to a moment. Refuses whole resources where
//! one object is asked for: the cost is that of the objects concerned.

use crate::health::StateKind;
use crate::history::ClusterHistory;
use crate::state::{StateTrack, StateTracker, StateVersion};
use crate::story::Mark;
use kubereel_format::{EventType, Evidence, ObjectId, ObjectKey, ResourceId, Seq};
use kubereel_history::Cut;
use kubereel_history::QueryError;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The records of each name, in order, whatever objects bore it.
pub(crate) type Tracks = BTreeMap<(String, String), Vec<Seq>>;

/// A version, read.
#[derive(Clone, Debug)]
pub(crate) struct ReadVersion<T> {
    pub(crate) mark: Mark,
    /// How it is known: one that was there when the recorder first looked is `Initial`.
    pub(crate) evidence: Evidence,
    pub(crate) object: ObjectId,
    /// Whether the object was deleted with it.
    pub(crate) is_gone: bool,
    pub(crate) body: T,
}

impl ClusterHistory<'_> {
    /// Gives the recorded resources of a name, in whatever versions.
    pub(crate) fn resources_named(&self, group: &str, plural: &str) -> Vec<ResourceId> {
        let named = self.timeline.resources().iter();
        named
            .filter(|info| info.group == group && info.plural == plural)
            .map(|info| info.id)
            .collect()
    }

    /// Gives the records of the objects of a resource that are wanted, up to a moment.
    pub(crate) fn tracks(
        &self,
        (group, plural): (&str, &str),
        cut: Cut,
        is_wanted: impl Fn(&ObjectKey) -> bool,
    ) -> Tracks {
        let mut tracks = Tracks::new();
        for resource in self.resources_named(group, plural) {
            for &object in self.timeline.objects_of(resource) {
                let Some(key) = self.timeline.key_of(object).filter(|key| is_wanted(key)) else {
                    continue;
                };
                let versions = self.timeline.reel().versions(object);
                let seqs: Vec<Seq> = versions
                    .iter()
                    .copied()
                    .filter(|seq| cut.includes(self.timeline.reel(), *seq))
                    .collect();
                if !seqs.is_empty() {
                    let name = (key.namespace.clone(), key.name.clone());
                    tracks.entry(name).or_default().extend(seqs);
                }
            }
        }
        for seqs in tracks.values_mut() {
            seqs.sort_unstable();
        }
        tracks
    }

    /// Reads records, in order.
    pub(crate) fn read_seqs<T>(&self, seqs: &[Seq]) -> Result<Vec<ReadVersion<T>>, QueryError>
    where
        T: Default + for<'de> Deserialize<'de>,
    {
        seqs.iter().map(|&seq| self.read_seq(seq)).collect()
    }

    pub(crate) fn read_seq<T>(&self, seq: Seq) -> Result<ReadVersion<T>, QueryError>
    where
        T: Default + for<'de> Deserialize<'de>,
    {
        let is_gone = self.timeline.reel().kind_of(seq) == Some(EventType::Deleted);
        let bytes = self.timeline.reel().body(seq)?;
        let body = match serde_json::from_slice(&bytes) {
            Ok(body) => body,
            // What is gone says nothing any more.
            Err(_) if is_gone => T::default(),
            Err(source) => return Err(QueryError::Body { seq, source }),
        };
        #[expect(
            clippy::expect_used,
            reason = "only events have bodies, and each has a head"
        )]
        let head = self.timeline.reel().head(seq).expect("an event has a head");
        Ok(ReadVersion {
            mark: self.mark(seq),
            evidence: head.evidence,
            object: head.object,
            is_gone,
            body,
        })
    }

    pub(crate) fn mark(&self, seq: Seq) -> Mark {
        Mark {
            seq,
            at: self.timeline.wall_of(seq),
        }
    }
}

impl<T> ReadVersion<T> {
    pub(crate) fn is_initial(&self) -> bool {
        self.evidence == Evidence::Initial
    }
}

impl ClusterHistory<'_> {
    /// Derives the states of the conditions of one object from its versions, which are read already.
    pub(crate) fn condition_tracks<T>(
        &self,
        kind: StateKind,
        name: &str,
        versions: &[ReadVersion<T>],
        conditions: impl Fn(&T) -> &[Value],
    ) -> Vec<StateTrack> {
        let mut tracker = StateTracker::default();
        for seen in versions {
            let Some(key) = self.timeline.key_of(seen.object) else {
                continue;
            };
            let version = StateVersion {
                kind,
                resource: key.resource,
                object: seen.object,
                namespace: "",
                name,
                mark: seen.mark,
                evidence: seen.evidence,
            };
            if seen.is_gone {
                tracker.end(&version);
            } else {
                tracker.take_conditions(&version, conditions(&seen.body));
            }
        }
        tracker.into_tracks().collect()
    }
}
