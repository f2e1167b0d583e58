//! Owners of objects and owned objects, at a moment. An owner is identified by its uid, never by
//! its name alone.

use crate::body_reader::QueryError;
use crate::moment::Cut;
use crate::object_version::{ObjectVersion, ResourceSnapshot};
use crate::select::ObjectFilter;
use crate::timeline::Timeline;
use kubereel_format::{ResourceId, Seq};
use serde::Deserialize;

/// The largest number of owners above an object: a cycle must end.
const MOST_OWNERS: usize = 16;

/// An owner reference.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerRef {
    /// Its group and version.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// The `controller` flag, if it is set.
    pub controller: Option<bool>,
    /// Whether the owner existed at that moment; `None` if its resource was not recorded
    /// completely.
    #[serde(skip)]
    pub exists: Option<bool>,
    /// Whether it existed but cannot be read, so that its own owners are not known.
    #[serde(skip)]
    pub is_unreadable: bool,
}

/// An owned object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// Its resource.
    pub resource: ResourceId,
    /// Its name and version.
    pub held: ObjectVersion,
    /// Whether the owner controls it.
    pub is_controlled: bool,
}

/// The owners of an object, and the objects that it owns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relatives {
    /// Its owners, then the owners of its controller, and so on.
    pub owners: Vec<OwnerRef>,
    /// The owned objects, by resource, namespace and name.
    pub children: Vec<Child>,
    /// What could not be searched for them.
    pub unsearched: UnsearchedCounts,
}

/// What was not searched for owned objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnsearchedCounts {
    /// The number of resources whose state is not known.
    pub resources: usize,
    /// The number of objects that cannot be read.
    pub objects: usize,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OwnedBody {
    metadata: OwnerMetadata,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct OwnerMetadata {
    uid: String,
    owner_references: Option<Vec<OwnerRef>>,
}

impl Relatives {
    /// Finds the owners of a version of an object, and the objects that it owned, at a moment.
    ///
    /// Every live object of the same namespace is read, or of all namespaces for a cluster-scoped
    /// one, without Events: the cost is that of a state, not of the reel.
    ///
    /// # Errors
    /// When the reel is damaged where the version is.
    pub fn of(
        timeline: &Timeline,
        seq: Seq,
        namespace: &str,
        cut: Cut,
    ) -> Result<Self, QueryError> {
        let body = metadata(&timeline.reel().body(seq)?);
        let mut relatives = Self::default();
        Self::climb(timeline, &body, namespace, cut, &mut relatives.owners);
        if body.uid.is_empty() {
            return Ok(relatives);
        }
        let children = &mut relatives.children;
        relatives.unsearched = search(timeline, namespace, cut, |state| {
            Self::children_among(timeline, state, &body.uid, cut, children)
        })?;
        Ok(relatives)
    }

    /// Finds the owners of a version of an object, then those of its controller, and so on.
    ///
    /// # Errors
    /// When the reel is damaged where the version is.
    pub fn owners_of(
        timeline: &Timeline,
        seq: Seq,
        namespace: &str,
        cut: Cut,
    ) -> Result<Vec<OwnerRef>, QueryError> {
        let body = metadata(&timeline.reel().body(seq)?);
        let mut owners = Vec::new();
        Self::climb(timeline, &body, namespace, cut, &mut owners);
        Ok(owners)
    }

    fn children_among(
        timeline: &Timeline,
        state: &ResourceSnapshot,
        uid: &str,
        cut: Cut,
        children: &mut Vec<Child>,
    ) -> Result<(), QueryError> {
        let found = timeline.read_all(&state.objects, cut, &mut |_| {}, |held, body| {
            // Most bodies do not contain the owner's uid: those need not be parsed.
            if !holds(body, uid) {
                return Ok(None);
            }
            let owners = metadata(body).owner_references.unwrap_or_default();
            let owner = owners.iter().find(|owner| owner.uid == uid);
            Ok(owner.map(|owner| Child {
                resource: state.resource,
                is_controlled: owner.controller == Some(true),
                held: held.clone(),
            }))
        })?;
        children.extend(found.into_iter().flatten());
        Ok(())
    }

    /// Follows the controllers upwards.
    fn climb(
        timeline: &Timeline,
        body: &OwnerMetadata,
        namespace: &str,
        cut: Cut,
        owners: &mut Vec<OwnerRef>,
    ) {
        let mut next = body.owner_references.clone().unwrap_or_default();
        while owners.len() < MOST_OWNERS && !next.is_empty() {
            let mut above = Vec::new();
            for mut owner in next {
                let found = Self::find_owner(timeline, &owner, namespace, cut);
                owner.exists = match found {
                    OwnerLookup::There(_) => Some(true),
                    OwnerLookup::Absent => Some(false),
                    OwnerLookup::Unknown => None,
                };
                let controls = owner.controller == Some(true);
                let is_new = owners.iter().all(|known| known.uid != owner.uid);
                if let (OwnerLookup::There(seq), true, true) = (found, controls, is_new) {
                    match timeline.reel().body(seq) {
                        Ok(body) => above = metadata(&body).owner_references.unwrap_or_default(),
                        Err(_) => owner.is_unreadable = true,
                    }
                }
                owners.push(owner);
            }
            next = above;
        }
        owners.truncate(MOST_OWNERS);
    }

    /// Finds an owner's version at a moment.
    fn find_owner(timeline: &Timeline, owner: &OwnerRef, namespace: &str, cut: Cut) -> OwnerLookup {
        let (group, _) = owner
            .api_version
            .split_once('/')
            .unwrap_or(("", &owner.api_version));
        let named = timeline
            .resources()
            .iter()
            .find(|info| info.group == group && info.kind == owner.kind);
        let Some(named) = named else {
            return OwnerLookup::Unknown;
        };
        let resource = timeline.resource_at(named, cut);
        let only = [owner.name.clone()];
        let filter = ObjectFilter {
            namespace: resource.namespaced.then_some(namespace),
            names: &only,
        };
        let state = timeline.as_of(resource.id, cut, &filter);
        let is_owner = |held: &&ObjectVersion| {
            timeline
                .key_of(held.object)
                .is_some_and(|key| key.uid == *owner.uid)
        };
        match state.objects.iter().find(is_owner) {
            Some(held) => OwnerLookup::There(held.seq),
            None if state.certainty.is_proven() => OwnerLookup::Absent,
            None => OwnerLookup::Unknown,
        }
    }
}

/// The result of searching an owner.
#[derive(Clone, Copy, Debug)]
enum OwnerLookup {
    /// It had this version.
    There(Seq),
    /// It did not exist.
    Absent,
    /// It is not known whether it existed.
    Unknown,
}

fn metadata(body: &[u8]) -> OwnerMetadata {
    // Owners of an object with unusual metadata cannot be followed.
    serde_json::from_slice::<OwnedBody>(body)
        .map(|body| body.metadata)
        .unwrap_or_default()
}

fn holds(body: &[u8], uid: &str) -> bool {
    memchr::memmem::find(body, uid.as_bytes()).is_some()
}

/// Visits the states of the resources whose objects may have owners in a namespace, or in any if it
/// is empty, without Events.
fn search(
    timeline: &Timeline,
    namespace: &str,
    cut: Cut,
    mut visit: impl FnMut(&ResourceSnapshot) -> Result<(), QueryError>,
) -> Result<UnsearchedCounts, QueryError> {
    let events = timeline.event_resources();
    let filter = ObjectFilter {
        namespace: (!namespace.is_empty()).then_some(namespace),
        names: &[],
    };
    let mut unsearched = UnsearchedCounts::default();
    for resource in timeline.resources().iter() {
        if events.contains(&resource.id) || (!namespace.is_empty() && !resource.namespaced) {
            continue;
        }
        let state = timeline.as_of(resource.id, cut, &filter);
        if state.certainty.has_state() {
            unsearched.objects += state.unreadable.len();
            visit(&state)?;
        } else {
            let is_there = !timeline.objects_of(resource.id).is_empty();
            unsearched.resources += usize::from(is_there);
        }
    }
    Ok(unsearched)
}

/// An object with owners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedObject {
    /// Its resource.
    pub resource: ResourceId,
    /// Its name and version.
    pub held: ObjectVersion,
    /// The uids of its owners.
    pub owner_uids: Vec<String>,
}

/// All objects with owners.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnedObjects {
    /// The objects, by resource, namespace and name.
    pub objects: Vec<OwnedObject>,
    /// What could not be searched for them.
    pub unsearched: UnsearchedCounts,
}

impl OwnedObjects {
    /// Finds every object of a namespace, or of all if it is empty, that has owners.
    ///
    /// Every live object is read once, without Events.
    ///
    /// # Errors
    /// When the reel is damaged there.
    pub fn of(timeline: &Timeline, namespace: &str, cut: Cut) -> Result<Self, QueryError> {
        let mut objects = Vec::new();
        let unsearched = search(timeline, namespace, cut, |state| {
            let found = timeline.read_all(&state.objects, cut, &mut |_| {}, |held, body| {
                // Most bodies have no owner: those need not be parsed.
                if !holds(body, "ownerReferences") {
                    return Ok(None);
                }
                let owners = metadata(body).owner_references.unwrap_or_default();
                let uids = owners.into_iter().map(|owner| owner.uid);
                let owner_uids: Vec<String> = uids.filter(|uid| !uid.is_empty()).collect();
                Ok((!owner_uids.is_empty()).then(|| OwnedObject {
                    resource: state.resource,
                    held: held.clone(),
                    owner_uids,
                }))
            })?;
            objects.extend(found.into_iter().flatten());
            Ok(())
        })?;
        Ok(Self {
            objects,
            unsearched,
        })
    }
}
