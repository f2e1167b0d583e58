//! Owns the state at a moment: which version of each object held, and how sure that is. Refuses
//! bodies: whoever needs them reads the version that this names.

use crate::coverage::Certainty;
use crate::resolve::Cut;
use crate::timeline::Timeline;
use kubereel_format::{
    Damage, EventType, Evidence, ObjectId, RecordedAt, ResourceId, ResourceInfo, Seq,
};
use std::collections::BTreeMap;
use std::ops::Range;

/// Which objects of a resource are asked for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter<'a> {
    /// Only those of this namespace.
    pub namespace: Option<&'a str>,
    /// Only those of these names; all if empty.
    pub names: &'a [String],
}

impl Filter<'_> {
    /// Tells whether an object is asked for.
    pub fn takes(&self, namespace: &str, name: &str) -> bool {
        self.namespace.is_none_or(|only| namespace == only)
            && (self.names.is_empty() || self.names.iter().any(|asked| asked == name))
    }
}

/// The objects of a resource at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The resource.
    pub resource: ResourceId,
    /// The wall-clock time of the moment.
    pub at: RecordedAt,
    /// The highest resourceVersion of the resource that was received by then.
    pub rv: Option<u128>,
    /// How far the answer can be trusted.
    pub certainty: Certainty,
    /// The objects that existed, by namespace and name.
    pub objects: Vec<Held>,
}

/// An object and the version of it that held at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The object.
    pub object: ObjectId,
    /// Its namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The event that brought the version.
    pub seq: Seq,
}

/// One life of a name: from an object's first event to its deletion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// The object.
    pub object: ObjectId,
    /// Its first event.
    pub first: Seq,
    /// When that was received.
    pub from: RecordedAt,
    /// Whether it was there already when the recorder first looked.
    pub is_older_than_reel: bool,
    /// When its deletion was received; `None` if it outlived the recording.
    pub to: Option<RecordedAt>,
}

impl Timeline {
    /// Picks, of all recorded resources of the same group and plural, the one that best answers for
    /// a moment.
    pub fn resource_at<'a>(&'a self, named: &'a ResourceInfo, cut: Cut) -> &'a ResourceInfo {
        let namesakes = self.resources().namesakes(named);
        let best = |wanted: fn(&Certainty) -> bool| {
            let fits = |info: &&&ResourceInfo| wanted(&self.certainty(info.id, cut));
            namesakes.iter().find(fits).copied()
        };
        best(Certainty::is_known)
            .or_else(|| best(Certainty::has_state))
            .or_else(|| best(|certainty| matches!(certainty, Certainty::NotCovered { .. })))
            .or_else(|| namesakes.last().copied())
            .unwrap_or(named)
    }

    /// Judges how far an answer about all objects of a resource at a moment can be trusted.
    pub fn certainty(&self, resource: ResourceId, cut: Cut) -> Certainty {
        self.certainty_of(resource, cut, &Filter::default())
    }

    /// Judges how far an answer about some objects of a resource at a moment can be trusted.
    pub fn certainty_of(&self, resource: ResourceId, cut: Cut, filter: &Filter<'_>) -> Certainty {
        // Damage before the moment may have taken versions; damage at no place in particular, any.
        let is_touched = |damage: &&Damage| match cut {
            Cut::Arrival { below, .. } => damage.first.is_none_or(|first| first < below),
            Cut::Revision(_) => true,
        };
        if let Some(damage) = self.reel().damage().iter().find(is_touched) {
            return Certainty::Damaged {
                damage: damage.clone(),
            };
        }
        let Some(coverage) = self.coverage(resource) else {
            return Certainty::BeforeFirst { first: None };
        };
        match cut {
            Cut::Arrival { below, wall } => {
                self.at_arrival(resource, coverage, filter, (below, wall))
            }
            Cut::Revision(rv) => coverage.at_revision(rv),
        }
    }

    /// Gives the state of a resource at a moment.
    ///
    /// At a time or a record, each object has the last version that was received. At a
    /// resourceVersion, each has the last version up to that one, whenever it was received.
    pub fn as_of(&self, resource: ResourceId, cut: Cut, filter: &Filter<'_>) -> State {
        let certainty = self.certainty_of(resource, cut, filter);
        let mut held: BTreeMap<String, Held> = BTreeMap::new();
        let mut newest = Newest::default();
        let epoch = match cut {
            Cut::Arrival { .. } => Seq(0)..self.reel().end(),
            Cut::Revision(rv) => self.epoch_of_revision(resource, rv),
        };
        for &object in self.objects_of(resource) {
            let Some(seq) = self.version_at(object, cut, &epoch) else {
                continue;
            };
            newest.take(seq, self.reel().rv_of(seq));
            let Some(key) = usize::try_from(object.0)
                .ok()
                .and_then(|at| self.reel().objects().get(at))
                .map(|object| &object.key)
            else {
                continue;
            };
            let is_asked = filter.takes(&key.namespace, &key.name);
            let is_alive = self.reel().kind_of(seq) != Some(EventType::Deleted);
            if !is_asked || !is_alive {
                continue;
            }
            let new = Held {
                object,
                namespace: key.namespace.clone(),
                name: key.name.clone(),
                seq,
            };
            // The order of a list is that of the server's keys, in which a namespace ends in a slash.
            let place = format!("{}/{}", key.namespace, key.name);
            // A name has one object at a time: where a deletion was never seen, the newer one holds.
            let is_newer = held.get(&place).is_none_or(|old| old.seq < seq);
            if is_newer {
                held.insert(place, new);
            }
        }
        let at = match cut {
            Cut::Arrival { wall, .. } => wall,
            Cut::Revision(_) => newest.seq.map_or(self.start(), |seq| self.wall_of(seq)),
        };
        let objects = if certainty.has_state() {
            held.into_values().collect()
        } else {
            Vec::new()
        };
        State {
            resource,
            at,
            rv: newest.rv,
            certainty,
            objects,
        }
    }

    /// Gives the lives of a name in the order of first sight.
    pub fn lives(&self, resource: ResourceId, namespace: &str, name: &str) -> Vec<Life> {
        let reel = self.reel();
        let mut lives = Vec::new();
        for object in reel.objects() {
            let key = &object.key;
            if key.resource != resource || key.namespace != namespace || key.name != name {
                continue;
            }
            let versions = reel.versions(object.id);
            let (Some(&first), Some(&last)) = (versions.first(), versions.last()) else {
                continue;
            };
            let is_deleted = reel.kind_of(last) == Some(EventType::Deleted);
            lives.push(Life {
                object: object.id,
                first,
                from: self.wall_of(first),
                is_older_than_reel: reel
                    .head(first)
                    .is_some_and(|head| head.evidence == Evidence::Initial),
                to: is_deleted.then(|| self.wall_of(last)),
            });
        }
        lives.sort_by_key(|life| life.first);
        lives
    }

    /// Gives a namespace in which an object of that name was ever seen.
    pub fn namespace_of(&self, resource: ResourceId, name: &str) -> Option<&str> {
        self.reel()
            .objects()
            .iter()
            .map(|object| &object.key)
            .find(|key| key.resource == resource && key.name == name)
            .map(|key| key.namespace.as_str())
    }

    /// Finds the version of an object that held at a moment.
    fn version_at(&self, object: ObjectId, cut: Cut, epoch: &Range<Seq>) -> Option<Seq> {
        let versions = self.reel().versions(object);
        match cut {
            Cut::Arrival { below, .. } => {
                let count = versions.partition_point(|&seq| seq < below);
                count
                    .checked_sub(1)
                    .and_then(|last| versions.get(last))
                    .copied()
            }
            Cut::Revision(rv) => versions
                .iter()
                .filter(|seq| epoch.contains(seq))
                .filter_map(|&seq| Some((self.reel().rv_of(seq)?, seq)))
                .filter(|(version, _)| *version <= rv)
                .max()
                .map(|(_, seq)| seq),
        }
    }

    /// Gives the records of the cluster epoch that a resourceVersion belongs to: a restored cluster
    /// counts its versions again.
    fn epoch_of_revision(&self, resource: ResourceId, rv: u128) -> Range<Seq> {
        let begun_by = self
            .coverage(resource)
            .and_then(|coverage| coverage.span_at_revision(rv))
            .map_or(Seq(0), |span| span.begun_by);
        let clusters = self.clusters();
        let from = clusters
            .iter()
            .skip(1)
            .map(|cluster| cluster.first)
            .rfind(|&first| first <= begun_by)
            .unwrap_or(Seq(0));
        let to = clusters
            .iter()
            .skip(1)
            .map(|cluster| cluster.first)
            .find(|&first| first > begun_by)
            .unwrap_or(self.reel().end());
        from..to
    }
}

#[derive(Default)]
struct Newest {
    seq: Option<Seq>,
    rv: Option<u128>,
}

impl Newest {
    fn take(&mut self, seq: Seq, rv: Option<u128>) {
        self.seq = self.seq.max(Some(seq));
        self.rv = self.rv.max(rv);
    }
}
