//! Owns everything that names an owner at a moment, read once: the whole tree below an object needs no
//! more. Refuses to draw the tree.

use super::owners::{holds, metadata};
use crate::moment::Cut;
use crate::query_error::QueryError;
use crate::select::ObjectFilter;
use crate::snapshot::ObjectVersion;
use crate::timeline::Timeline;
use kubereel_format::ResourceId;

/// An object that names owners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedObject {
    /// Its resource.
    pub resource: ResourceId,
    /// Who it is, and its version.
    pub held: ObjectVersion,
    /// The uids of its owners.
    pub owner_uids: Vec<String>,
}

/// Everything that names an owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owned {
    /// The objects, by resource, namespace and name.
    pub objects: Vec<OwnedObject>,
    /// How many resources could not be searched, because they are not known whole then.
    pub unsearched: usize,
}

impl Timeline {
    /// Finds every object of a namespace, or of all for an empty one, that names an owner.
    ///
    /// Every object that lived then is read once, Events left out.
    ///
    /// # Errors
    /// When the reel is damaged there.
    pub fn owned_in(&self, namespace: &str, cut: Cut) -> Result<Owned, QueryError> {
        let events = self.event_resources();
        let filter = ObjectFilter {
            namespace: (!namespace.is_empty()).then_some(namespace),
            names: &[],
        };
        let mut owned = Owned::default();
        for resource in self.resources().iter() {
            if events.contains(&resource.id) || (!namespace.is_empty() && !resource.namespaced) {
                continue;
            }
            let state = self.as_of(resource.id, cut, &filter);
            if !state.certainty.has_state() {
                owned.unsearched += usize::from(!self.objects_of(resource.id).is_empty());
                continue;
            }
            let found = self.read_each(&state.objects, cut, &mut |_| {}, |held, body| {
                // Most bodies name no owner: those need not be understood.
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
            owned.objects.extend(found.into_iter().flatten());
        }
        Ok(owned)
    }
}
