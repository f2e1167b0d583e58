//! The recorded objects as they were at the first sign of a problem, and which of them own and select others.

use super::search::ExplainedReel;
use crate::collect::ControllerRef;
use crate::lookup::{labels, resources};
use kubereel_format::{ObjectId, ResourceId, ResourceInfo, Seq};
use kubereel_history::{LabelSelector, Timeline};
use serde_json::Value;
use std::collections::BTreeSet;
use std::rc::Rc;

/// More workloads of a namespace are not compared with a selector.
const MOST_WORKLOADS: usize = 500;
/// Controllers of controllers further away than this are not looked for.
const MOST_CONTROLLERS: usize = 4;

/// A reel at the first sign of a problem.
#[derive(Clone, Copy)]
pub(super) struct OnsetObjects<'a> {
    reel: ExplainedReel<'a>,
    from: Seq,
}

impl<'a> OnsetObjects<'a> {
    pub(super) const fn new(reel: ExplainedReel<'a>, from: Seq) -> Self {
        Self { reel, from }
    }

    pub(super) const fn reel(&self) -> ExplainedReel<'a> {
        self.reel
    }

    const fn timeline(&self) -> &'a Timeline {
        self.reel.timeline
    }

    /// Returns all recorded resources.
    pub(super) fn infos(&self) -> impl Iterator<Item = &'a ResourceInfo> {
        self.timeline().resources().iter()
    }

    /// Returns the kind of an object.
    pub(super) fn kind_of(&self, object: ObjectId) -> String {
        let timeline = self.timeline();
        let key = timeline.key_of(object);
        let info = key.and_then(|key| timeline.resources().get(key.resource));
        info.map(|info| info.kind.clone()).unwrap_or_default()
    }

    /// Returns all objects of a kind that had that name.
    pub(super) fn lives(&self, kind: &str, namespace: &str, name: &str) -> Vec<ObjectId> {
        let infos = self.infos().filter(|info| info.kind == kind);
        let lives = infos.flat_map(|info| self.timeline().lives(info.id, namespace, name));
        lives.map(|life| life.object).collect()
    }

    /// Returns the first body of an object.
    pub(super) fn first_body(&self, object: ObjectId) -> Option<Rc<Value>> {
        let first = self.timeline().reel().versions(object).first()?;
        self.reel.objects.body(*first)
    }

    /// Returns the last bodies of an object before the first sign, or its first one: a reference that was just removed
    /// or added counts too.
    pub(super) fn last_bodies(&self, object: ObjectId) -> Vec<Rc<Value>> {
        let versions = self.timeline().reel().versions(object);
        let before = versions.iter().filter(|seq| **seq <= self.from).rev();
        let mut seqs: Vec<Seq> = before.take(2).copied().collect();
        if seqs.is_empty() {
            seqs.extend(versions.first());
        }
        let bodies = seqs.into_iter();
        bodies
            .filter_map(|seq| self.reel.objects.body(seq))
            .collect()
    }

    /// Returns the body that an object had at the first sign.
    pub(super) fn body(&self, kind: &str, namespace: &str, name: &str) -> Option<Rc<Value>> {
        let object = self.lives(kind, namespace, name).pop()?;
        let versions = self.timeline().reel().versions(object);
        let before = versions.partition_point(|seq| *seq <= self.from);
        let last = versions.get(before.checked_sub(1)?)?;
        self.reel.objects.body(*last)
    }

    /// Returns the controller of an object, the controller of that, and so on.
    pub(super) fn controllers_above(
        &self,
        object: Option<ObjectId>,
    ) -> impl Iterator<Item = &'a ControllerRef> {
        let ExplainedReel { found, by_uid, .. } = self.reel;
        let above = move |object: Option<ObjectId>| found.controllers.get(&object?);
        let owners = std::iter::successors(above(object), move |owner| {
            above(by_uid.get(owner.uid.as_str()).copied())
        });
        owners.take(MOST_CONTROLLERS)
    }

    /// Returns whether a resource had an object of that name.
    pub(super) fn has(&self, resource: ResourceId, namespace: &str, name: &str) -> bool {
        !self.timeline().lives(resource, namespace, name).is_empty()
    }

    /// Returns the objects of a plural of the core group that had that name.
    pub(super) fn core_lives(
        &self,
        plural: &str,
        namespace: &str,
        name: &str,
    ) -> impl Iterator<Item = ObjectId> {
        let timeline = self.timeline();
        let resources = resources(timeline, "", plural).into_iter();
        let lives = resources.flat_map(move |resource| timeline.lives(resource, namespace, name));
        lives.map(|life| life.object)
    }

    /// Returns the kinds and names of what owns the Pods behind a Service, and of the workloads that its
    /// selector selects or selected.
    pub(super) fn owners_behind(&self, namespace: &str, name: &str) -> BTreeSet<(String, String)> {
        let mut owners: BTreeSet<(String, String)> = BTreeSet::new();
        for uid in self.reel.found.services.pods_of(namespace, name) {
            let above = self.controllers_above(self.reel.by_uid.get(uid).copied());
            owners.extend(above.map(|owner| (owner.kind.clone(), owner.name.clone())));
        }
        for service in self.core_lives("services", namespace, name) {
            // The selectors that it has and had.
            let versions = self.timeline().reel().versions(service).iter();
            for body in versions.filter_map(|seq| self.reel.objects.body(*seq)) {
                let selector = body.pointer("/spec/selector");
                if let Some(selector) = selector.and_then(LabelSelector::of_value) {
                    owners.extend(self.selected(namespace, &selector));
                }
            }
        }
        owners
    }

    /// Returns the workloads whose Pods a selector selects.
    pub(super) fn selected(
        &self,
        namespace: &str,
        selector: &LabelSelector,
    ) -> Vec<(String, String)> {
        let timeline = self.timeline();
        let is_workload = |info: &&ResourceInfo| {
            let plurals = ["deployments", "statefulsets", "daemonsets"];
            info.group == "apps" && plurals.contains(&info.plural.as_str())
        };
        let mut all = Vec::new();
        for info in self.infos().filter(is_workload) {
            let objects = timeline.objects_of(info.id).iter();
            let named = objects.filter_map(|&object| Some((object, timeline.key_of(object)?)));
            let here = named.filter(|(_, key)| key.namespace == namespace);
            for (object, key) in here.take(MOST_WORKLOADS) {
                let last = timeline.reel().versions(object).last();
                let body = last.and_then(|seq| self.reel.objects.body(*seq));
                let made = body.and_then(|body| labels(&body, "/spec/template/metadata/labels"));
                if made.is_some_and(|labels| selector.matches(&labels)) {
                    all.push((info.kind.clone(), key.name.to_owned()));
                }
            }
        }
        all
    }
}
