//! The identities of a reel's objects in memory. All names are one text, and each resource and
//! namespace is stored once: most objects of a recording are Events and Pods, whose names would
//! otherwise use more memory than all other data apart from bodies.
//!
//! Invariants:
//! * The identity of an object's number is the one that was pushed there.
//! * Names are split where they were joined, so each consists of whole characters.

use crate::event::ObjectKeyRef;
use crate::file::column::PackedColumn;
use crate::id::{ObjectId, ResourceId};
use crate::limits::{len64, place32};
use crate::uid::UidRef;
use std::collections::{BTreeMap, HashMap};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The identities of objects, by number.
#[derive(Debug, Default)]
pub(crate) struct ObjectNames {
    /// The resources and namespaces of objects, each once.
    scopes: Vec<(ResourceId, Box<str>)>,
    /// The scope of each object, as an index into `scopes`.
    scope_places: PackedColumn,
    /// All names, joined.
    text: String,
    /// The end of each object's name in `text`.
    ends: PackedColumn,
    /// Each object's uid; [`ODD_UID`] for those without one and those in another spelling.
    uids: Vec<u128>,
    odd_uids: BTreeMap<usize, Box<str>>,
    /// The index of each scope, by the hash of its resource and namespace; of the last one, should two hashes be
    /// equal, so that a scope may be stored again.
    known: HashMap<u64, usize>,
}

/// Marks a uid that is not a number, or that is this number.
const ODD_UID: u128 = 0;

impl ObjectNames {
    /// Returns the number of objects.
    pub(crate) fn len(&self) -> usize {
        self.uids.len()
    }

    /// Appends an object.
    pub(crate) fn push(&mut self, key: ObjectKeyRef<'_>) {
        let scope = self.scope(key.resource, key.namespace);
        self.scope_places.push(len64(scope));
        self.text.push_str(key.name);
        self.ends.push(len64(self.text.len()));
        let number = key.uid.number().unwrap_or(ODD_UID);
        if number == ODD_UID && !key.uid.is_empty() {
            self.odd_uids.insert(self.uids.len(), key.uid.text().into());
        }
        self.uids.push(number);
    }

    fn scope(&mut self, resource: ResourceId, namespace: &str) -> usize {
        let hash = xxh3_64_with_seed(namespace.as_bytes(), u64::from(resource.0));
        if let Some(place) = self.known.get(&hash)
            && let Some((known, name)) = self.scopes.get(*place)
            && (*known, &**name) == (resource, namespace)
        {
            return *place;
        }
        let place = self.scopes.len();
        self.known.insert(hash, place);
        self.scopes.push((resource, namespace.into()));
        place
    }

    /// Releases memory that is only needed for pushing.
    pub(crate) fn settle(&mut self) {
        self.known = HashMap::new();
        self.scopes.shrink_to_fit();
        self.text.shrink_to_fit();
        self.uids.shrink_to_fit();
    }

    /// Returns the identity of an object.
    pub(crate) fn get(&self, object: ObjectId) -> Option<ObjectKeyRef<'_>> {
        let place = place32(object.0);
        let uid = match *self.uids.get(place)? {
            ODD_UID => UidRef::new(self.odd_uids.get(&place).map_or("", |uid| uid)),
            number => UidRef::of_number(number),
        };
        let (resource, namespace) = self.scopes.get(number(&self.scope_places, place)?)?;
        let start = match place.checked_sub(1) {
            Some(before) => number(&self.ends, before)?,
            None => 0,
        };
        Some(ObjectKeyRef {
            resource: *resource,
            namespace,
            name: self.text.get(start..number(&self.ends, place)?)?,
            uid,
        })
    }

    /// Returns the resource of an object.
    pub(crate) fn resource(&self, object: ObjectId) -> Option<ResourceId> {
        let scope = number(&self.scope_places, place32(object.0))?;
        self.scopes.get(scope).map(|(resource, _)| *resource)
    }
}

fn number(column: &PackedColumn, place: usize) -> Option<usize> {
    usize::try_from(column.get(place)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::ObjectKey;
    use crate::uid::uuid_text;
    use proptest::prelude::*;

    fn keys() -> impl Strategy<Value = Vec<ObjectKey>> {
        let uid = prop_oneof![
            any::<u128>().prop_map(uuid_text),
            Just(uuid_text(ODD_UID)),
            ".{0,4}"
        ];
        let key = (0_u32..3, "[ab]?", "[a-zé]{0,8}", uid);
        let key = key.prop_map(|(resource, namespace, name, uid)| ObjectKey {
            resource: ResourceId(resource),
            namespace,
            name,
            uid,
        });
        prop::collection::vec(key, 0..2_100)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn every_object_keeps_its_identity(keys in keys()) {
            let mut names = ObjectNames::default();
            for key in &keys {
                names.push(key.view());
            }
            names.settle();
            prop_assert_eq!(names.len(), keys.len());
            for (number, key) in (0_u32..).zip(&keys) {
                let read = names.get(ObjectId(number));
                prop_assert_eq!(read, Some(key.view()));
                prop_assert_eq!(read.map(ObjectKeyRef::to_key), Some(key.clone()));
                prop_assert_eq!(names.resource(ObjectId(number)), Some(key.resource));
            }
            let end = u32::try_from(keys.len()).unwrap();
            prop_assert_eq!(names.get(ObjectId(end)), None);
        }
    }
}
