//! Derives the states of the cluster in a reel up to a moment: from names to the content of their
//! versions. A query about one object costs as much as its versions, never its whole resource.

use crate::health::StateKind;
use crate::mark::RecordMark;
use crate::objects::created;
use crate::state::{StateTrack, StateTracker, StateVersion};
use kubereel_format::{
    BodyBuffer, EventType, Evidence, ObjectId, ObjectKeyRef, RecordedAt, ResourceId, ResourceInfo,
    Seq,
};
use kubereel_history::{Cut, QueryError, Timeline};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// Answers queries about the cluster of a reel.
#[derive(Clone, Copy)]
pub struct ClusterHistory<'t> {
    pub(crate) timeline: &'t Timeline,
    /// Where to note that a version cannot be read; `None` if that is an error.
    unread: Option<&'t UnreadVersions>,
}

/// Whether versions were skipped that cannot be read.
#[derive(Debug, Default)]
pub struct UnreadVersions(AtomicBool);

impl UnreadVersions {
    /// Returns whether any version was skipped.
    pub fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl<'t> ClusterHistory<'t> {
    /// Creates one for a reel.
    pub const fn of(timeline: &'t Timeline) -> Self {
        Self {
            timeline,
            unread: None,
        }
    }

    /// Creates one that skips versions which cannot be read, as if they had not been observed, and
    /// notes that in `unread`.
    pub const fn of_readable(timeline: &'t Timeline, unread: &'t UnreadVersions) -> Self {
        Self {
            timeline,
            unread: Some(unread),
        }
    }

    /// Returns whether versions were skipped: what they show may have ended in them.
    pub fn has_skipped(self) -> bool {
        self.unread.is_some_and(UnreadVersions::any)
    }

    /// Goes on after an error if versions that cannot be read are skipped.
    pub(crate) fn skip(self, error: QueryError) -> Result<(), QueryError> {
        let unread = self.unread.ok_or(error)?;
        unread.0.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Returns the reel.
    pub const fn timeline(self) -> &'t Timeline {
        self.timeline
    }
}

/// The records of each name, in order, of all objects that had it.
pub(crate) type Tracks = BTreeMap<(String, String), Vec<Seq>>;

/// The number of records whose deltas are in memory together, about 500 bytes each.
const TOGETHER: usize = 8192;

/// A parsed version.
#[derive(Clone, Debug)]
pub(crate) struct ParsedVersion<T> {
    pub(crate) mark: RecordMark,
    pub(crate) evidence: Evidence,
    pub(crate) object: ObjectId,
    /// Whether it shows only that its object existed when its resource was first observed.
    pub(crate) is_first_look: bool,
    /// Whether it is the deletion of the object.
    pub(crate) is_gone: bool,
    pub(crate) body: T,
}

impl ClusterHistory<'_> {
    /// Returns the recorded resources of a name, in any version.
    pub(crate) fn resources_named(self, group: &str, plural: &str) -> Vec<ResourceId> {
        let named = self.timeline.resources().iter();
        named
            .filter(|info| info.group == group && info.plural == plural)
            .map(|info| info.id)
            .collect()
    }

    /// Returns whether the states of some resources are known at a moment: otherwise what has not
    /// ended by then may have ended unobserved. A resource that was not recorded is not asked for.
    pub(crate) fn are_known(self, resources: &[(&str, &str)], cut: Cut) -> bool {
        let named = resources.iter();
        let mut ids = named.flat_map(|(group, plural)| self.resources_named(group, plural));
        ids.all(|id| self.timeline.certainty(id, cut).is_known())
    }

    /// Returns whether two recorded objects are one: a resource that was recorded in two API versions
    /// has each of its objects twice, with one uid.
    pub(crate) fn is_same_life(self, one: ObjectId, other: ObjectId) -> bool {
        let keys = self.timeline.key_of(one).zip(self.timeline.key_of(other));
        one == other || keys.is_some_and(|(one, other)| one.uid == other.uid)
    }

    /// Returns the records of the matching objects of a resource, up to a moment.
    pub(crate) fn tracks(
        self,
        (group, plural): (&str, &str),
        cut: Cut,
        is_wanted: impl Fn(ObjectKeyRef<'_>) -> bool,
    ) -> Tracks {
        let mut tracks = Tracks::new();
        for resource in self.resources_named(group, plural) {
            for &object in self.timeline.objects_of(resource) {
                let Some(key) = self.timeline.key_of(object).filter(|key| is_wanted(*key)) else {
                    continue;
                };
                let versions = self.timeline.reel().versions(object);
                let seqs: Vec<Seq> = versions
                    .iter()
                    .copied()
                    .filter(|seq| self.timeline.is_within(*seq, cut))
                    .collect();
                if !seqs.is_empty() {
                    let name = (key.namespace.to_owned(), key.name.to_owned());
                    tracks.entry(name).or_default().extend(seqs);
                }
            }
        }
        for seqs in tracks.values_mut() {
            seqs.sort_unstable();
        }
        tracks
    }

    /// Reads the records of several names, and gives those of each to `take`. Each block is decoded
    /// a few times at most, and not again for each name.
    pub(crate) fn read_tracks<T>(
        self,
        tracks: &Tracks,
        mut take: impl FnMut(
            &(String, String),
            Result<Vec<ParsedVersion<T>>, QueryError>,
        ) -> Result<(), QueryError>,
    ) -> Result<(), QueryError>
    where
        T: Default + for<'de> Deserialize<'de>,
    {
        let all = tracks.iter().flat_map(|(name, seqs)| {
            let last = seqs.last();
            seqs.iter().map(move |seq| (name, *seq, Some(seq) == last))
        });
        let all: Vec<_> = all.collect();
        let mut read = Ok(Vec::new());
        let mut buffer = BodyBuffer::default();
        for group in all.chunks(TOGETHER) {
            let seqs: Vec<Seq> = group.iter().map(|(_, seq, _)| *seq).collect();
            let bodies = self.timeline.reel().gather(&seqs, None, &mut |_| {});
            for (name, seq, is_last) in group {
                if let Ok(versions) = &mut read {
                    let body = bodies.body(*seq, &mut buffer).map_err(QueryError::from);
                    match body.and_then(|body| self.parsed(*seq, body)) {
                        Ok(version) => versions.push(version),
                        Err(error) => {
                            if let Err(error) = self.skip(error) {
                                read = Err(error);
                            }
                        }
                    }
                }
                if *is_last {
                    take(name, std::mem::replace(&mut read, Ok(Vec::new())))?;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn read_seq<T>(self, seq: Seq) -> Result<ParsedVersion<T>, QueryError>
    where
        T: Default + for<'de> Deserialize<'de>,
    {
        self.parsed(seq, &self.timeline.reel().body(seq)?)
    }

    fn parsed<T>(self, seq: Seq, bytes: &[u8]) -> Result<ParsedVersion<T>, QueryError>
    where
        T: Default + for<'de> Deserialize<'de>,
    {
        let is_gone = self.timeline.reel().kind_of(seq) == Some(EventType::Deleted);
        let body = match serde_json::from_slice(bytes) {
            Ok(body) => body,
            // A deleted object has no status.
            Err(_) if is_gone => T::default(),
            Err(source) => return Err(QueryError::Body { seq, source }),
        };
        #[expect(
            clippy::expect_used,
            reason = "only events have bodies, and each has a head"
        )]
        let head = self.timeline.reel().head(seq).expect("an event has a head");
        let is_first = self.timeline.reel().versions(head.object).first() == Some(&seq);
        let resource = self.timeline.key_of(head.object).map(|key| key.resource);
        Ok(ParsedVersion {
            mark: self.mark(seq),
            evidence: head.evidence,
            is_first_look: resource.filter(|_| is_first).is_some_and(|resource| {
                let created = created(bytes);
                let looks = self.timeline.first_looks();
                looks.has(resource, head.evidence, head.stamp.wall, created)
            }),
            object: head.object,
            is_gone,
            body,
        })
    }

    pub(crate) fn mark(self, seq: Seq) -> RecordMark {
        RecordMark {
            seq,
            at: self.timeline.wall_of(seq),
        }
    }
}

impl ClusterHistory<'_> {
    /// Derives the states of the conditions of one object from its parsed versions.
    pub(crate) fn condition_tracks<T>(
        self,
        kind: StateKind,
        name: &str,
        versions: &[ParsedVersion<T>],
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

/// A time in which an operator was degraded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DegradedSpell {
    /// The resource, `clusteroperators.config.openshift.io`.
    pub resource: ResourceId,
    /// The operator.
    pub object: ObjectId,
    /// Its name.
    pub name: String,
    /// Its last version before.
    pub before: Seq,
    /// The version that began it.
    pub began: Seq,
    /// When that version was received.
    pub from: RecordedAt,
    /// When the version that ended it was received; `None` if there is none.
    pub to: Option<RecordedAt>,
}

impl ClusterHistory<'_> {
    /// Finds the times in which operators became degraded, in order.
    ///
    /// An operator that is degraded from its first version on is starting, not failing.
    ///
    /// # Errors
    /// When the reel is damaged there.
    pub fn degraded_spells(self) -> Result<Vec<DegradedSpell>, QueryError> {
        let reel = self.timeline.reel();
        let mut spells = Vec::new();
        for track in self.states(StateKind::Operator, self.timeline.last_cut())? {
            if track.aspect().condition() != Some("Degraded") {
                continue;
            }
            let mut has_been_well = false;
            for (status, run) in track.runs(|state| state.status.clone()) {
                has_been_well |= &*status == "False";
                let (Some(first), Some(last)) = (run.first(), run.last()) else {
                    continue;
                };
                let began = first.from.seq;
                let is_spell = has_been_well && &*status == "True";
                let Some(head) = reel.head(began).filter(|_| is_spell) else {
                    continue;
                };
                let earlier = reel.versions(head.object).iter().copied();
                let before = earlier.take_while(|seq| *seq < began).last();
                spells.extend(before.map(|before| DegradedSpell {
                    resource: first.object.resource,
                    object: head.object,
                    name: first.object.name.clone(),
                    before,
                    began,
                    from: first.from.at,
                    to: last.to.map(|to| to.at),
                }));
            }
        }
        spells.sort_by_key(|spell| spell.began);
        Ok(spells)
    }
}

impl ClusterHistory<'_> {
    /// Derives the states of all objects of a kind, up to a moment.
    ///
    /// # Errors
    /// When the reel is damaged there, or a version is not an object.
    pub fn states(self, kind: StateKind, cut: Cut) -> Result<Vec<StateTrack>, QueryError> {
        let mut versions: Vec<(Seq, ResourceId, ObjectId)> = Vec::new();
        let resources = kind.resource();
        let resources = resources.map(|(group, plural)| self.resources_named(group, plural));
        for resource in resources.unwrap_or_default() {
            for &object in self.timeline.objects_of(resource) {
                let seqs = self.timeline.reel().versions(object).iter();
                let within = seqs.filter(|seq| self.timeline.is_within(**seq, cut));
                versions.extend(within.map(|seq| (*seq, resource, object)));
            }
        }
        versions.sort_unstable();
        self.derived(kind, &versions, StateTracker::default())
    }

    /// Derives every state of the objects of one name: as a whole, of conditions, of containers.
    ///
    /// # Errors
    /// When the reel is damaged there, or a version is not an object.
    pub fn states_of_object(
        self,
        resource: ResourceId,
        namespace: &str,
        name: &str,
    ) -> Result<Vec<StateTrack>, QueryError> {
        let info = self.timeline.resources().get(resource);
        let lives = self.timeline.lives(resource, namespace, name);
        let versions = lives.iter().flat_map(|life| {
            let versions = self.timeline.reel().versions(life.object).iter();
            versions.map(|seq| (*seq, resource, life.object))
        });
        let mut versions: Vec<(Seq, ResourceId, ObjectId)> = versions.collect();
        versions.sort_unstable();
        let kind = info.map_or(StateKind::UNKNOWN, StateKind::of_resource);
        self.derived(kind, &versions, StateTracker::with_parts())
    }

    /// Derives every state of an object over some of its versions, and counts those that cannot be
    /// read.
    pub fn states_over(
        self,
        resource: &ResourceInfo,
        object: ObjectId,
        versions: &[Seq],
    ) -> (Vec<StateTrack>, usize) {
        let kind = StateKind::of_resource(resource);
        let mut tracker = StateTracker::with_parts();
        let fed = versions
            .iter()
            .map(|seq| self.feed(kind, (*seq, resource.id, object), &mut tracker));
        let unread = fed.filter(Result::is_err).count();
        (tracker.into_tracks().collect(), unread)
    }

    fn derived(
        self,
        kind: StateKind,
        versions: &[(Seq, ResourceId, ObjectId)],
        mut tracker: StateTracker,
    ) -> Result<Vec<StateTrack>, QueryError> {
        for version in versions {
            self.feed(kind, *version, &mut tracker)?;
        }
        Ok(tracker.into_tracks().collect())
    }

    fn feed(
        self,
        kind: StateKind,
        (seq, resource, object): (Seq, ResourceId, ObjectId),
        tracker: &mut StateTracker,
    ) -> Result<(), QueryError> {
        let Some(key) = self.timeline.key_of(object) else {
            return Ok(());
        };
        let reel = self.timeline.reel();
        let version = StateVersion {
            kind,
            resource,
            object,
            namespace: key.namespace,
            name: key.name,
            mark: self.mark(seq),
            evidence: reel.head(seq).map_or(Evidence::Live, |head| head.evidence),
        };
        if reel.kind_of(seq) == Some(EventType::Deleted) {
            tracker.end(&version);
            return Ok(());
        }
        let body = serde_json::from_slice(&reel.body(seq)?);
        let body: Value = body.map_err(|source| QueryError::Body { seq, source })?;
        tracker.take(&version, &body);
        Ok(())
    }
}
