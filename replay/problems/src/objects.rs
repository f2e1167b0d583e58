//! The objects that problems are about: of a sign, of an Event, and the topmost controller above them.

use crate::collect::{Collected, ControllerRef};
use crate::event_words::RegardedObject;
use crate::lookup::{by_uid, read, resources};
use crate::problem::ProblemObject;
use crate::rank::WORKLOADS;
use crate::span::SignSpan;
use kubereel_format::{ObjectId, Seq};
use kubereel_history::{EventText, Timeline};
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// More owners than this are a loop.
pub(crate) const MOST_OWNERS: usize = 8;

/// A span, with the object of its problem and the object that showed it.
pub(crate) type GroupedSpan = (ProblemObject, ProblemObject, SignSpan);

/// Finds objects and their controllers in a reel.
pub(crate) struct ProblemObjects<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) found: &'a Collected,
    /// The objects of the uids that controllers and endpoints name.
    pub(crate) by_uid: BTreeMap<&'a str, ObjectId>,
    /// The Pods of each workload, if they were needed.
    pods: OnceCell<BTreeMap<ProblemObject, Vec<ObjectId>>>,
}

impl<'a> ProblemObjects<'a> {
    pub(crate) fn new(timeline: &'a Timeline, found: &'a Collected) -> Self {
        let controllers = found.controllers.values();
        let controllers = controllers.map(|controller| controller.uid.as_str());
        let wanted = controllers.chain(found.services.pods());
        Self {
            timeline,
            found,
            by_uid: by_uid(timeline, wanted),
            pods: OnceCell::new(),
        }
    }

    pub(crate) fn object_of(&self, object: ObjectId) -> Option<ProblemObject> {
        let key = self.timeline.key_of(object)?;
        let info = self.timeline.resources().get(key.resource)?;
        Some(ProblemObject {
            kind: info.kind.clone(),
            namespace: key.namespace.to_owned(),
            name: key.name.to_owned(),
            resource: Some(info.id),
        })
    }

    pub(crate) fn regarded(&self, regarded: &RegardedObject) -> ProblemObject {
        let infos = self.timeline.resources().iter();
        let info = infos.into_iter().find(|info| info.kind == regarded.kind);
        ProblemObject {
            kind: regarded.kind.clone(),
            namespace: regarded.namespace.clone(),
            name: regarded.name.clone(),
            resource: info.map(|info| info.id),
        }
    }

    /// Finds the topmost controller of an object among the workloads.
    pub(crate) fn root(&self, shown: &ProblemObject, object: ObjectId) -> ProblemObject {
        // The object of an Event's span is the Event: go on from the object that it is about.
        let mut at = if self.is_named(object, shown) {
            Some(object)
        } else {
            self.live_object(shown)
        };
        let mut root = shown.clone();
        for _ in 0..MOST_OWNERS {
            let Some(owner) = at.and_then(|at| workload_above(&self.found.controllers, at)) else {
                break;
            };
            at = self.by_uid.get(owner.uid.as_str()).copied();
            root = at
                .and_then(|at| self.object_of(at))
                .unwrap_or_else(|| ProblemObject {
                    kind: owner.kind.clone(),
                    namespace: root.namespace.clone(),
                    name: owner.name.clone(),
                    resource: None,
                });
        }
        root
    }

    /// Returns whether an object has a name: that of an Event's span is the Event, not what it is about.
    pub(crate) fn is_named(&self, object: ObjectId, named: &ProblemObject) -> bool {
        let key = self.timeline.key_of(object);
        key.is_some_and(|key| key.name == named.name && key.namespace == named.namespace)
    }

    /// Finds the last object of a name.
    pub(crate) fn live_object(&self, named: &ProblemObject) -> Option<ObjectId> {
        let lives = self
            .timeline
            .lives(named.resource?, &named.namespace, &named.name);
        lives.last().map(|life| life.object)
    }

    /// Finds the object that an Event is about: another one may have its name later.
    pub(crate) fn regarded_object(&self, regarded: &ProblemObject, event: Seq) -> Option<ObjectId> {
        let event = read(self.timeline, event);
        let uid = event
            .as_ref()
            .map_or("", |event| EventText::of(event).uid());
        if uid.is_empty() {
            return self.live_object(regarded);
        }
        let lives = self
            .timeline
            .lives(regarded.resource?, &regarded.namespace, &regarded.name);
        let mut objects = lives.iter().map(|life| life.object);
        objects.find(|object| {
            let key = self.timeline.key_of(*object);
            key.is_some_and(|key| key.uid == *uid)
        })
    }

    /// Returns the Pods of each workload.
    fn pods_of_workloads(&self) -> BTreeMap<ProblemObject, Vec<ObjectId>> {
        let pods = resources(self.timeline, "", "pods");
        let mut all: BTreeMap<ProblemObject, Vec<ObjectId>> = BTreeMap::new();
        for object in self.found.controllers.keys().copied() {
            let key = self.timeline.key_of(object);
            if key.is_some_and(|key| pods.contains(&key.resource))
                && let Some(shown) = self.object_of(object)
            {
                all.entry(self.root(&shown, object))
                    .or_default()
                    .push(object);
            }
        }
        all
    }

    /// Returns whether a Pod, by its uid, is one of a workload.
    pub(crate) fn is_of(&self, uid: &str, workload: &ProblemObject) -> bool {
        let Some(pod) = self.by_uid.get(uid).copied() else {
            return false;
        };
        self.object_of(pod)
            .is_some_and(|shown| self.root(&shown, pod) == *workload)
    }

    /// Returns the Pods of a workload.
    pub(crate) fn pods_of(&self, workload: &ProblemObject) -> &[ObjectId] {
        let pods = self.pods.get_or_init(|| self.pods_of_workloads());
        pods.get(workload).map_or(&[], Vec::as_slice)
    }
}

/// Returns the controller of an object, if it is a workload.
pub(crate) fn workload_above(
    controllers: &BTreeMap<ObjectId, ControllerRef>,
    object: ObjectId,
) -> Option<&ControllerRef> {
    let owner = controllers.get(&object)?;
    WORKLOADS.contains(&owner.kind.as_str()).then_some(owner)
}
