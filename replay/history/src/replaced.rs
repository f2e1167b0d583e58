//! The objects whose deletion was not observed before another one had their name: only one object has a name at a time.

use crate::select::ObjectFilter;
use crate::tables::ReelTables;
use kubereel_format::{EventType, ObjectId, ResourceId, Seq};
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::OnceLock;

/// Those objects by resource, each resource read when it is asked for first.
pub(crate) struct ReplacedObjects(BTreeMap<ResourceId, OnceLock<HashMap<ObjectId, Seq>>>);

impl ReplacedObjects {
    pub(crate) fn new(tables: &ReelTables) -> Self {
        let resources = tables.resources().iter();
        Self(resources.map(|info| (info.id, OnceLock::new())).collect())
    }

    fn of(&self, tables: &ReelTables, resource: ResourceId) -> Option<&HashMap<ObjectId, Seq>> {
        let all = || replaced_among(tables, tables.objects_of(resource).iter().copied());
        Some(self.0.get(&resource)?.get_or_init(all))
    }

    /// Returns all of them, with the first version of the object that replaced each.
    pub(crate) fn all(&self, tables: &ReelTables) -> impl Iterator<Item = (ObjectId, Seq)> {
        let resources = self.0.keys();
        let all = resources.filter_map(|resource| self.of(tables, *resource));
        all.flatten().map(|(object, by)| (*object, *by))
    }

    /// Returns the first version of the object that replaced another one.
    pub(crate) fn by(&self, tables: &ReelTables, object: ObjectId) -> Option<Seq> {
        let resource = tables.key_of(object)?.resource;
        self.of(tables, resource)?.get(&object).copied()
    }

    /// Answers [`Self::by`] for the objects that a filter takes. Names are few, and all objects of a resource many.
    pub(crate) fn within<'a>(
        &'a self,
        tables: &'a ReelTables,
        resource: ResourceId,
        filter: &'a ObjectFilter<'_>,
    ) -> impl Fn(ObjectId) -> Option<Seq> + 'a {
        let named = OnceCell::new();
        move |object| {
            if filter.names.is_empty() {
                return self.by(tables, object);
            }
            let named = named.get_or_init(|| {
                let is_asked = |object: &ObjectId| {
                    let key = tables.key_of(*object);
                    key.is_some_and(|key| filter.takes(key.namespace, key.name))
                };
                let objects = tables.objects_of(resource).iter().copied();
                replaced_among(tables, objects.filter(is_asked))
            });
            named.get(&object).copied()
        }
    }
}

/// Finds those among objects of one resource, of which there are all or none of a name.
fn replaced_among(
    tables: &ReelTables,
    objects: impl Iterator<Item = ObjectId>,
) -> HashMap<ObjectId, Seq> {
    let reel = tables.reel();
    let mut replaced = HashMap::new();
    let mut last: HashMap<(&str, &str), (ObjectId, Seq)> =
        HashMap::with_capacity(objects.size_hint().0);
    for object in objects {
        let (Some(key), Some(&first)) = (tables.key_of(object), reel.versions(object).first())
        else {
            continue;
        };
        let latest = last
            .entry((key.namespace, key.name))
            .or_insert((object, first));
        let (older, newer) = match *latest {
            (same, _) if same == object => continue,
            (before, since) if since < first => {
                *latest = (object, first);
                (before, first)
            }
            (_, since) => (object, since),
        };
        let gone = reel.versions(older).last().copied();
        let is_gone =
            gone.is_some_and(|seq| seq < newer && reel.kind_of(seq) == Some(EventType::Deleted));
        if !is_gone {
            replaced.insert(older, newer);
        }
    }
    replaced
}
