//! Owns the way from names to what their versions say, up to a moment. Refuses whole resources where
//! one object is asked for: the cost is that of the objects concerned.

use super::super::story::Mark;
use crate::moment::Cut;
use crate::timeline::QueryError;
use crate::timeline::Timeline;
use kubereel_format::{EventType, Evidence, ObjectKey, ResourceId, Seq};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The records of each name, in order, whatever objects bore it.
pub(crate) type Tracks = BTreeMap<(String, String), Vec<Seq>>;

/// A version, read.
#[derive(Clone, Debug)]
pub(crate) struct Seen<T> {
    pub(crate) mark: Mark,
    /// Whether it was there when the recorder first looked.
    pub(crate) is_initial: bool,
    /// Whether the object was deleted with it.
    pub(crate) is_gone: bool,
    pub(crate) body: T,
}

impl Timeline {
    /// Gives the recorded resources of a name, in whatever versions.
    pub(crate) fn resources_named(&self, group: &str, plural: &str) -> Vec<ResourceId> {
        let named = self.resources().iter();
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
            for &object in self.objects_of(resource) {
                let Some(key) = self.key_of(object).filter(|key| is_wanted(key)) else {
                    continue;
                };
                let versions = self.reel().versions(object);
                let seqs: Vec<Seq> = versions
                    .iter()
                    .copied()
                    .filter(|seq| self.is_within(*seq, cut))
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
    pub(crate) fn read_seqs<T>(&self, seqs: &[Seq]) -> Result<Vec<Seen<T>>, QueryError>
    where
        T: Default + for<'de> Deserialize<'de>,
    {
        seqs.iter().map(|&seq| self.read_seq(seq)).collect()
    }

    pub(crate) fn read_seq<T>(&self, seq: Seq) -> Result<Seen<T>, QueryError>
    where
        T: Default + for<'de> Deserialize<'de>,
    {
        let is_gone = self.reel().kind_of(seq) == Some(EventType::Deleted);
        let bytes = self.reel().body(seq)?;
        let body = match serde_json::from_slice(&bytes) {
            Ok(body) => body,
            // What is gone says nothing any more.
            Err(_) if is_gone => T::default(),
            Err(source) => return Err(QueryError::Body { seq, source }),
        };
        let head = self.reel().head(seq);
        Ok(Seen {
            mark: self.mark(seq),
            is_initial: head.is_some_and(|head| head.evidence == Evidence::Initial),
            is_gone,
            body,
        })
    }

    pub(crate) fn mark(&self, seq: Seq) -> Mark {
        Mark {
            seq,
            at: self.wall_of(seq),
        }
    }
}
