//! The one pass over a reel: signs become spans of time.
//!
//! - A span begins with the version that first shows the sign and ends with the first that does not, or
//!   with the object's deletion. It is ordered by record, as states are. A condition that is no longer bad and not
//!   good either ends no span: its end is not known.
//! - A sign that comes back shortly after it ended continues its span: a container that crashes runs in
//!   between.
//! - What began and ended between two versions is a span that begins and ends with the second one.
//! - What an object says about its own times stands beside a span and never moves its bounds.

use crate::birth::ClusterBirth;
use crate::deadline::{self, Deadline, ObservedTimes};
use crate::endpoints::{ServiceEndpoints, ServiceHistory};
use crate::event_words::{RegardedObject, WarningEvents};
use crate::lookup::resources;
use crate::rollout::{self, SeenRollouts};
use crate::sign::{Sign, SignKind};
use crate::signs::{self, Reading};
use crate::span::{ShownTime, SignEnd, SignSpan, between};
use kubereel_cluster::RecordMark;
use kubereel_format::{Evidence, ObjectId, RecordedAt, ResourceId, Seq};
use kubereel_history::field::{self, ObservedGeneration, at, is_being_deleted, number, text};
use kubereel_history::{FirstLooks, Timeline, timetext};
use kubereel_monitortests::{Action, Interest, WatchedEvent, Watcher};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// More spans are only counted.
const MOST_SPANS: usize = 50_000;
/// More turns of one workload are not kept.
const MOST_TURNS: usize = 1_000;
/// A controller counts the replicas of its workload at most this long after one failed.
const COUNTED: Duration = Duration::from_secs(10);
/// What is a part of the cluster reports its first conditions within this time after its creation.
const SET_UP: Duration = Duration::from_mins(1);
/// More changes of one holder are not kept.
const MOST_HANDOVERS: usize = 1_000;
/// The annotation of `ConfigMaps` and Endpoints by which leaders were elected before there were Leases.
const LOCK: &str = "control-plane.alpha.kubernetes.io/leader";
const LOCK_PATHS: &[&str] = &["metadata.annotations[control-plane.alpha.kubernetes.io/leader]"];
const LEASE_PATHS: &[&str] = &["spec.holderIdentity"];
/// The holder of a Lease that changes this often in [`FLAPPING`] is flapping.
const HANDOVERS: usize = 3;
/// The time in which changes of a Lease's holder are counted.
const FLAPPING: Duration = Duration::from_mins(10);

/// The controller of an object, as the object names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ControllerRef {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) uid: String,
}

#[derive(Debug, Default)]
struct TrackedSigns {
    spans: Vec<SignSpan>,
    was_well: bool,
    age: KnownAge,
    node: String,
}

/// What is known of the age of an object.
#[derive(Clone, Copy, Debug, Default)]
struct KnownAge {
    created: Option<RecordedAt>,
    /// Whether it was there when the recorder first looked, in a cluster that was not being installed.
    was_there: bool,
}

impl KnownAge {
    /// Returns whether the object was no longer new when its condition changed to what a sign tells. How it was
    /// before need not be recorded: what is normal of a new object is not normal of this one.
    fn is_settled(self, sign: &Sign) -> bool {
        let (Some(created), Some(since)) = (self.created, sign.since) else {
            return false;
        };
        let new_for = if self.was_there && sign.kind.is_of_cluster() {
            SET_UP
        } else {
            sign.kind.grace().starting
        };
        between(created, since) > new_for
    }
}

/// The deadline of an object's last version.
#[derive(Debug)]
struct KeptDeadline {
    deadline: Deadline,
    resource: ResourceId,
    /// The version.
    seq: Seq,
    /// Whether it counts although no version came after it: what an import lacks of a `CronJob` may be its run.
    is_proof: bool,
}

/// What the pass found.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    pub(crate) spans: Vec<SignSpan>,
    /// Spans that were too many.
    pub(crate) dropped: u64,
    pub(crate) controllers: BTreeMap<ObjectId, ControllerRef>,
    pub(crate) services: ServiceEndpoints,
    pub(crate) events: WarningEvents,
    /// What only Events tell, with the object that they are about.
    pub(crate) event_spans: Vec<(RegardedObject, SignSpan)>,
    /// The beginning of a cluster that began within the recording.
    pub(crate) birth: ClusterBirth,
    pub(crate) rollouts: SeenRollouts,
    /// Objects that ended well: Jobs that completed, and when.
    pub(crate) succeeded: BTreeMap<ObjectId, RecordedAt>,
    /// Until when Pods that are deleted may take to end, by namespace: the latest.
    pub(crate) grace_ends: BTreeMap<String, RecordedAt>,
    /// Jobs that try again after one failure.
    pub(crate) retried: BTreeSet<ObjectId>,
    /// When workloads had all that they want.
    pub(crate) wellness: BTreeMap<ObjectId, Wellness>,
}

/// The times at which an object became well or not, in order.
#[derive(Debug, Default)]
pub(crate) struct Wellness(Vec<(RecordedAt, bool)>);

impl Wellness {
    fn note(&mut self, at: RecordedAt, is_well: bool) {
        let last = self.0.last().map(|(_, was_well)| *was_well);
        if last != Some(is_well) && self.0.len() < MOST_TURNS {
            self.0.push((at, is_well));
        }
    }

    /// Returns when the object was well again after something of it failed: at once, if it never was not.
    pub(crate) fn back_after(&self, failed: RecordedAt) -> Option<RecordedAt> {
        let before = self.0.partition_point(|(at, _)| *at <= failed);
        let was_well = before
            .checked_sub(1)
            .and_then(|place| self.0.get(place))
            .is_some_and(|(_, is_well)| *is_well);
        let mut later = self.0.get(before..)?.iter();
        if was_well {
            // Its controller counts a little later.
            match later.next() {
                Some((at, _)) if between(failed, *at) <= COUNTED => {}
                _ => return Some(failed),
            }
        }
        later.find(|(_, is_well)| *is_well).map(|(at, _)| *at)
    }

    /// Returns when the object was no longer well: the last such time up to one, and all from there to another.
    fn losses(&self, from: RecordedAt, to: RecordedAt) -> Vec<RecordedAt> {
        let before = self.0.partition_point(|(at, _)| *at <= from);
        let (before, later) = self.0.split_at(before);
        let last = before.last().filter(|(_, is_well)| !is_well);
        let last = last.map_or(from, |(at, _)| *at);
        let later = later
            .iter()
            .filter(|(at, is_well)| !is_well && *at <= to)
            .map(|(at, _)| *at);
        std::iter::once(last).chain(later).collect()
    }
}

impl Collected {
    /// Returns when a workload no longer had all that it wants: for the sign of a span, and within it.
    pub(crate) fn turns_of(&self, span: &SignSpan, end: RecordedAt) -> Vec<RecordedAt> {
        match self.wellness.get(&span.object) {
            Some(well) => well.losses(span.from.at, span.end.at().unwrap_or(end)),
            None => vec![span.from.at],
        }
    }
}

/// The part of a workload's sign that it lacks only replicas that it never had.
const GROWING: &str = "growing";

/// Takes what a reel says, and makes spans of it.
#[derive(Debug)]
pub(crate) struct SignCollector {
    interests: Vec<Interest>,
    first_looks: FirstLooks,
    observed: ObservedTimes,
    tracked: BTreeMap<ObjectId, TrackedSigns>,
    deadlines: BTreeMap<ObjectId, KeptDeadline>,
    handovers: BTreeMap<ObjectId, LeaseHolders>,
    deployments: NamedDeployments,
    /// How many replicas workloads had to have before they were scaled up, until they have all.
    growing: BTreeMap<ObjectId, i64>,
    generations: ObservedGenerations,
    found: Collected,
}

/// Whether the generations of objects are those of their specs. Without the subresource `status`, each report of a
/// controller raises the generation that it is about, and no object of the resource has one that was observed.
#[derive(Debug, Default)]
struct ObservedGenerations {
    reached: BTreeSet<ResourceId>,
    behind: BTreeMap<ObjectId, ResourceId>,
}

impl ObservedGenerations {
    fn take(&mut self, seen: &WatchedEvent<'_>) {
        let is_reported = number(seen.now, "/status/observedGeneration").is_some();
        match ObservedGeneration::of_status(seen.now) {
            ObservedGeneration::Present if is_reported => {
                self.reached.insert(seen.resource.id);
            }
            ObservedGeneration::Older => {
                self.behind.insert(seen.object, seen.resource.id);
            }
            _ => {}
        }
    }

    /// Returns whether an object that was behind can be up to date: an object of its resource was.
    fn are_of_specs(&self, object: ObjectId) -> bool {
        let resource = self.behind.get(&object);
        resource.is_some_and(|resource| self.reached.contains(resource))
    }
}

/// The uids of the Deployments by namespace and name, in a reel without `ReplicaSets`.
#[derive(Debug, Default)]
struct NamedDeployments(BTreeMap<(String, String), String>);

impl NamedDeployments {
    fn of(timeline: &Timeline) -> Self {
        if !resources(timeline, "apps", "replicasets").is_empty() {
            return Self::default();
        }
        let resources = resources(timeline, "apps", "deployments").into_iter();
        let objects = resources.flat_map(|resource| timeline.objects_of(resource));
        let keys = objects.filter_map(|object| timeline.key_of(*object));
        Self(
            keys.map(|key| {
                let name = (key.namespace.to_owned(), key.name.to_owned());
                (name, key.uid.to_string())
            })
            .collect(),
        )
    }

    /// Returns the Deployment of a Pod whose `ReplicaSet` was not recorded: the `ReplicaSet` is called as the
    /// Deployment, with the hash of the Pod's template. Any other controller stays as it is.
    fn above(&self, pod: &WatchedEvent<'_>, controller: ControllerRef) -> ControllerRef {
        let hash = text(pod.now, "/metadata/labels/pod-template-hash");
        let name = controller.name.strip_suffix(hash);
        let name = name.and_then(|name| name.strip_suffix('-'));
        let Some(name) = name.filter(|_| controller.kind == "ReplicaSet" && !hash.is_empty())
        else {
            return controller;
        };
        let key = (pod.key.namespace.to_owned(), name.to_owned());
        match self.0.get(&key) {
            Some(uid) => ControllerRef {
                kind: "Deployment".to_owned(),
                name: key.1,
                uid: uid.clone(),
            },
            None => controller,
        }
    }
}

/// Who held the lock of a leader, one after the other.
#[derive(Debug, Default)]
struct LeaseHolders {
    /// Namespace and name of the lock.
    name: (String, String),
    is_lease: bool,
    last: String,
    /// Whether the last holder gave the lock back.
    is_released: bool,
    changes: Vec<LeaseHandover>,
}

/// A holder that followed another one.
#[derive(Debug)]
struct LeaseHandover {
    at: RecordMark,
    holder: String,
    /// Whether the holder before gave the lock back.
    is_released: bool,
}

/// How often a sign comes back within this time without having ended.
pub(crate) const fn merge_gap(kind: SignKind) -> Duration {
    match kind {
        // The kubelet resets the back-off of a container that ran for ten minutes.
        SignKind::OutOfMemory | SignKind::ContainerExit | SignKind::ImagePull => {
            Duration::from_mins(10)
        }
        SignKind::ReleaseNotAccepted => Duration::from_mins(30),
        _ => Duration::from_mins(1),
    }
}

impl SignCollector {
    /// Asks for what signs are read from, of every resource of a reel.
    pub(crate) fn new(timeline: &Timeline) -> Self {
        let mut interests = Vec::new();
        for info in timeline.resources().iter() {
            let of = |paths: &mut dyn Iterator<Item = &'static str>| {
                Interest::new(&info.group, &info.plural, paths)
            };
            interests.push(match (info.group.as_str(), info.plural.as_str()) {
                ("" | "events.k8s.io", "events") => {
                    of(&mut WarningEvents::PATHS.iter().copied()).without_ends()
                }
                ("discovery.k8s.io", "endpointslices") => {
                    of(&mut ServiceEndpoints::SLICE_PATHS.iter().copied())
                }
                ("", "services") => of(&mut ServiceEndpoints::SERVICE_PATHS.iter().copied()),
                ("coordination.k8s.io", "leases") => {
                    of(&mut LEASE_PATHS.iter().copied()).without_ends()
                }
                ("", "endpoints") => of(&mut LOCK_PATHS.iter().copied()).without_ends(),
                ("apps", "controllerrevisions") => continue,
                _ if deadline::is_kept(info) => {
                    let bundles = deadline::bundle_paths(info).iter();
                    let more = deadline::PATHS.iter().chain(bundles);
                    of(&mut signs::paths(info).chain(more.copied()))
                }
                _ => of(&mut signs::paths(info).chain(rollout::paths(info))),
            });
        }
        Self {
            interests,
            first_looks: timeline.first_looks().clone(),
            observed: ObservedTimes::of(timeline),
            tracked: BTreeMap::new(),
            deadlines: BTreeMap::new(),
            handovers: BTreeMap::new(),
            deployments: NamedDeployments::of(timeline),
            growing: BTreeMap::new(),
            generations: ObservedGenerations::default(),
            found: Collected {
                birth: ClusterBirth::of(timeline),
                ..Collected::default()
            },
        }
    }

    /// Returns the states of the Services; a second time there are none.
    pub(crate) fn take_services(&mut self) -> ServiceHistory {
        self.found.services.take_history()
    }

    /// Returns the controllers of the objects that were seen.
    pub(crate) const fn controllers(&self) -> &BTreeMap<ObjectId, ControllerRef> {
        &self.found.controllers
    }

    /// Ends the pass.
    pub(crate) fn finish(mut self, end: RecordedAt) -> Collected {
        let objects: Vec<ObjectId> = self.deadlines.keys().copied().collect();
        for object in objects {
            self.pass_deadline(object, end, true);
        }
        self.keep_flapping(end);
        let tracked = std::mem::take(&mut self.tracked);
        for span in tracked.into_values().flat_map(|tracked| tracked.spans) {
            self.keep(span);
        }
        let observed = self.generations;
        let spans = &mut self.found.spans;
        spans.retain(|span| {
            span.sign.kind != SignKind::Unreconciled || observed.are_of_specs(span.object)
        });
        self.found.event_spans = self.found.events.spans(end);
        self.found
    }

    /// Keeps the times in which leaders changed too often.
    fn keep_flapping(&mut self, end: RecordedAt) {
        let mut leases: BTreeSet<(String, String)> = BTreeSet::new();
        // Leases come first: a controller that goes over from one kind of lock to the other holds both, by the
        // same name.
        let (own, others): (Vec<_>, Vec<_>) = std::mem::take(&mut self.handovers)
            .into_iter()
            .partition(|(_, holders)| holders.is_lease);
        for (object, mut holders) in own.into_iter().chain(others) {
            let name = std::mem::take(&mut holders.name);
            let is_lease = holders.is_lease;
            if !is_lease && leases.contains(&name) {
                continue;
            }
            let spans = holders.flapping(object, end);
            if is_lease && !spans.is_empty() {
                leases.insert(name);
            }
            for span in spans {
                self.keep(span);
            }
        }
    }

    fn keep(&mut self, span: SignSpan) {
        // Most are: thousands of objects that started as they should.
        if span.is_passing() {
            return;
        }
        if self.found.spans.len() < MOST_SPANS {
            self.found.spans.push(span);
        } else {
            self.found.dropped += 1;
        }
    }

    /// Takes what a version says of an object.
    fn apply(&mut self, seen: &WatchedEvent<'_>, object: ObjectId, reading: Reading) {
        let mark = seen.mark();
        let is_older = self.is_first_look(seen);
        let end = |sign: &Sign, at| {
            if is_being_deleted(seen.now) {
                SignEnd::Deleted(at)
            } else if signs::is_over(seen.resource, seen.now, reading.is_well, sign) {
                SignEnd::Recovered(at)
            } else {
                SignEnd::Unreported(at)
            }
        };
        let tracked = self.track(seen, object, is_older);
        tracked.end_all_but(&reading.signs, mark, end);
        tracked.take(object, mark, is_older, reading);
    }

    /// Takes what went wrong since the version before. What this version does not show is over with it.
    fn pass(&mut self, seen: &WatchedEvent<'_>) {
        let passed = seen
            .before
            .map(|before| signs::passed(seen.resource, before, seen.now));
        let mark = seen.mark();
        for sign in passed.into_iter().flatten() {
            self.track(seen, seen.object, false)
                .show(seen.object, mark, false, sign);
        }
    }

    /// Returns what is kept of an object, with what a version says of its age and Node.
    fn track(
        &mut self,
        seen: &WatchedEvent<'_>,
        object: ObjectId,
        is_older: bool,
    ) -> &mut TrackedSigns {
        let is_installed = !self.found.birth.is_under_way(seen.at);
        let tracked = self.tracked.entry(object).or_default();
        if object == seen.object && is_installed {
            let created = timetext::parsed(text(seen.now, "/metadata/creationTimestamp"));
            tracked.age.created = created;
            tracked.age.was_there |= is_older;
        }
        let node = text(seen.now, "/spec/nodeName");
        if !node.is_empty() {
            node.clone_into(&mut tracked.node);
        }
        tracked
    }

    fn is_first_look(&self, seen: &WatchedEvent<'_>) -> bool {
        // A tool that leaves the creation out may keep the start of a Pod.
        let begins = ["/metadata/creationTimestamp", "/status/startTime"];
        let created = begins.iter().find_map(|begin| field::time(seen.now, begin));
        self.first_looks
            .has(seen.resource.id, seen.evidence, seen.at, created)
    }

    /// Returns whether a change happened when the reel shows it: those that a list of an import shows happened at any
    /// time after the list before.
    fn shows_change(&self, seen: &WatchedEvent<'_>) -> bool {
        let is_imported = self.first_looks.is_imported(seen.resource.id);
        !is_imported || seen.evidence != Evidence::Listed
    }

    /// Shows the sign of an object whose deadline passed before a time, while it was observed.
    fn pass_deadline(
        &mut self,
        object: ObjectId,
        until: RecordedAt,
        is_observed: bool,
    ) -> Option<Deadline> {
        let kept = self.deadlines.remove(&object)?;
        let passed = self.observed.passed(&kept.deadline, kept.resource, until);
        if let Some(passed) = passed.filter(|_| kept.is_proof && is_observed) {
            let mark = RecordMark {
                seq: kept.seq,
                at: passed.from,
            };
            let tracked = self.tracked.entry(object).or_default();
            tracked.show(object, mark, false, passed.sign.clone());
        }
        Some(kept.deadline)
    }

    /// Takes the deadline of a version; gives its sign if it has passed already.
    fn take_deadline(&mut self, seen: &WatchedEvent<'_>) -> Option<Sign> {
        if !deadline::is_kept(seen.resource) {
            return None;
        }
        let before = self.pass_deadline(seen.object, seen.at, self.shows_change(seen));
        let deadline = Deadline::of(seen.resource, seen.now, seen.at, before.as_ref())?;
        let is_past = deadline.has_passed(seen.at);
        let is_imported = self.first_looks.is_imported(seen.resource.id);
        // The moment of a file that says none is that of its last change: often years later.
        if is_past && is_imported && self.is_first_look(seen) {
            return None;
        }
        let sign = is_past.then(|| deadline.sign.clone());
        let is_run = deadline.sign.kind == SignKind::RunMissed;
        self.deadlines.insert(
            seen.object,
            KeptDeadline {
                deadline,
                resource: seen.resource.id,
                seq: seen.seq,
                is_proof: !is_run || !is_imported,
            },
        );
        sign
    }

    fn end(&mut self, seen: &WatchedEvent<'_>, object: ObjectId) {
        self.pass_deadline(object, seen.at, self.shows_change(seen));
        let Some(tracked) = self.tracked.remove(&object) else {
            return;
        };
        for mut span in tracked.spans {
            if span.end.at().is_none() {
                span.close(SignEnd::Deleted(seen.at.max(span.from.at)));
            }
            self.keep(span);
        }
    }

    /// Sets apart that a workload lacks replicas which it never had: it was scaled up, and they start.
    fn regard_growth(&mut self, seen: &WatchedEvent<'_>, reading: &mut Reading) {
        let wanted = |object: &Value| number(object, "/spec/replicas");
        let before = seen.before.and_then(wanted);
        if let (Some(before), Some(now)) = (before, wanted(seen.now))
            && before < now
        {
            self.growing.entry(seen.object).or_insert(before);
        }
        if reading.is_well {
            self.growing.remove(&seen.object);
        }
        let counts = ["/status/availableReplicas", "/status/readyReplicas"];
        let mut there = counts.iter().filter_map(|count| number(seen.now, count));
        let there = there.next().unwrap_or(0);
        let has_grown = self.growing.get(&seen.object);
        if has_grown.is_some_and(|before| there >= *before) {
            let signs = reading.signs.iter_mut();
            let of_growth =
                |kind| matches!(kind, SignKind::Unavailable | SignKind::ReplicasMissing);
            for sign in signs.filter(|sign| of_growth(sign.kind)) {
                GROWING.clone_into(&mut sign.part);
            }
        }
    }

    fn take_holder(&mut self, seen: &WatchedEvent<'_>, holder: &str, is_lease: bool) {
        if holder.is_empty() && !self.handovers.contains_key(&seen.object) {
            return;
        }
        let holders = self
            .handovers
            .entry(seen.object)
            .or_insert_with(|| LeaseHolders {
                name: (seen.key.namespace.to_owned(), seen.key.name.to_owned()),
                is_lease,
                ..LeaseHolders::default()
            });
        let is_released = std::mem::replace(&mut holders.is_released, holder.is_empty());
        if holder.is_empty() || holders.last == holder {
            return;
        }
        if !holders.last.is_empty() && holders.changes.len() < MOST_HANDOVERS {
            holders.changes.push(LeaseHandover {
                at: seen.mark(),
                holder: holder.to_owned(),
                is_released,
            });
        }
        holder.clone_into(&mut holders.last);
    }

    fn take_lease(&mut self, seen: &WatchedEvent<'_>) {
        if seen.key.namespace != "kube-node-lease" {
            self.take_holder(seen, text(seen.now, "/spec/holderIdentity"), true);
        }
    }

    /// Takes the holder of a lock in an annotation, as leaders were elected before there were Leases.
    fn take_lock(&mut self, seen: &WatchedEvent<'_>) {
        let noted = at(seen.now, "/metadata/annotations").and_then(|all| all.get(LOCK));
        let Some(noted) = noted.and_then(Value::as_str) else {
            return;
        };
        // What is no JSON is the lock of nobody.
        if let Ok(lock) = serde_json::from_str::<Value>(noted) {
            self.take_holder(seen, text(&lock, "/holderIdentity"), false);
        }
    }
}

impl Watcher for SignCollector {
    fn interests(&self) -> Vec<Interest> {
        self.interests.clone()
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        match (seen.resource.group.as_str(), seen.resource.plural.as_str()) {
            ("" | "events.k8s.io", "events") => {
                return self.found.events.take(seen, self.is_first_look(seen));
            }
            ("coordination.k8s.io", "leases") => return self.take_lease(seen),
            ("", "endpoints") => return self.take_lock(seen),
            ("", "configmaps") => self.take_lock(seen),
            ("discovery.k8s.io", "endpointslices") | ("", "services") => {
                if let Some((service, reading)) = self.found.services.take(seen) {
                    self.apply(seen, service, reading);
                }
                if seen.resource.plural != "services" {
                    return;
                }
                if seen.action == Action::Gone {
                    self.end(seen, seen.object);
                } else if is_being_deleted(seen.now) {
                    self.apply(seen, seen.object, signs::read(seen.resource, seen.now));
                }
                return;
            }
            _ => {}
        }
        self.found.rollouts.take(seen);
        if seen.action == Action::Gone {
            self.found.birth.end(seen);
            self.end(seen, seen.object);
            return;
        }
        if seen.action == Action::Appeared
            && let Some(controller) = ControllerRef::of(seen.now)
        {
            let controller = self.deployments.above(seen, controller);
            self.found.controllers.insert(seen.object, controller);
        }
        let mut reading = signs::read(seen.resource, seen.now);
        let tracked = self.tracked.get(&seen.object);
        if tracked.is_some_and(TrackedSigns::is_well) {
            let lost = signs::lost(seen.resource, seen.now);
            reading.signs.extend(lost);
        }
        reading.signs.extend(self.take_deadline(seen));
        self.found.birth.take(seen, &reading);
        self.generations.take(seen);
        let info = seen.resource;
        match (info.group.as_str(), info.plural.as_str()) {
            ("", "pods") => {
                if let Some(ends) = field::time(seen.now, "/metadata/deletionTimestamp") {
                    let namespace = seen.key.namespace.to_owned();
                    let known = self.found.grace_ends.entry(namespace).or_insert(ends);
                    *known = ends.max(*known);
                }
            }
            ("batch", "jobs") => {
                if reading.is_well {
                    self.found.succeeded.entry(seen.object).or_insert(seen.at);
                }
                let count = |field| number(seen.now, field).unwrap_or(0);
                let is_retried = count("/status/active") > 0 && count("/status/failed") <= 1;
                if is_retried && reading.signs.is_empty() {
                    self.found.retried.insert(seen.object);
                } else {
                    self.found.retried.remove(&seen.object);
                }
            }
            ("apps", "deployments" | "statefulsets" | "daemonsets" | "replicasets")
            | ("", "replicationcontrollers")
                if !signs::leaves_status_out(info, seen.now) =>
            {
                let well = self.found.wellness.entry(seen.object).or_default();
                well.note(seen.at, reading.is_well);
                self.regard_growth(seen, &mut reading);
            }
            _ => {}
        }
        self.pass(seen);
        if !reading.signs.is_empty() || reading.is_well || self.tracked.contains_key(&seen.object) {
            self.apply(seen, seen.object, reading);
        }
    }
}

impl TrackedSigns {
    /// Returns whether the last version was well, or has lost only what says so. Of what was bad and is no longer
    /// reported, the end is not known.
    fn is_well(&self) -> bool {
        let mut open = self.spans.iter().filter(|span| span.end.at().is_none());
        self.was_well && open.all(|span| signs::is_loss(&span.sign))
    }

    /// Ends the signs that a version does not show.
    fn end_all_but(
        &mut self,
        shown: &[Sign],
        mark: RecordMark,
        end: impl Fn(&Sign, RecordedAt) -> SignEnd,
    ) {
        for span in &mut self.spans {
            let mut same = shown
                .iter()
                .filter(|sign| (sign.kind, &sign.part) == (span.sign.kind, &span.sign.part));
            if span.end.at().is_none() && same.next().is_none() {
                span.close(end(&span.sign, mark.at.max(span.from.at)));
                span.closed_by = Some(mark.seq);
            }
        }
    }

    fn take(&mut self, object: ObjectId, mark: RecordMark, is_older: bool, reading: Reading) {
        for sign in reading.signs {
            self.show(object, mark, is_older, sign);
        }
        self.was_well |= reading.is_well;
    }

    /// Takes a sign that the object shows from a moment on.
    fn show(&mut self, object: ObjectId, mark: RecordMark, is_older: bool, sign: Sign) {
        let was_well = sign.part != GROWING && (self.was_well || self.age.is_settled(&sign));
        let known = self
            .spans
            .iter_mut()
            .rfind(|span| (span.sign.kind, &span.sign.part) == (sign.kind, &sign.part))
            // What was well in between is another time.
            .filter(|span| match span.end.at() {
                None => true,
                Some(to) => {
                    let is_same =
                        sign.kind != SignKind::VersionFailing || span.sign.message == sign.message;
                    is_same
                        && span.was_well == was_well
                        && between(to, mark.at) <= merge_gap(sign.kind)
                }
            });
        let new = |sign, node: &str| SignSpan {
            object,
            sign,
            from: mark,
            is_older,
            end: SignEnd::Open,
            shown: ShownTime::default(),
            run_from: mark.at,
            seen: mark.at,
            was_well,
            count: 1,
            node: node.to_owned(),
            reasons: Vec::new(),
            message_from: None,
            began: None,
            closed_by: None,
        };
        let Some(span) = known else {
            self.spans.push(new(sign, &self.node));
            return;
        };
        if span.reopen(mark.at) {
            span.seen = mark.at;
            span.update(sign, mark);
            self.node.clone_into(&mut span.node);
        } else if span.is_passing() {
            // What passed is not kept: an object may be short of Pods for a moment thousands of times.
            *span = new(sign, &self.node);
        } else {
            self.spans.push(new(sign, &self.node));
        }
    }
}

impl Sign {
    /// Takes a later reading of the same sign. A back-off says less than the error before it.
    pub(crate) fn update(&mut self, later: Self) {
        let is_back_off = later.reason.ends_with("BackOff") && self.kind == SignKind::ImagePull;
        if is_back_off && !self.message.is_empty() {
            return;
        }
        // The words of another reason do not describe this one.
        if !later.message.is_empty() || later.reason != self.reason {
            self.message = later.message;
        }
        self.reason = later.reason;
        self.is_failure |= later.is_failure;
    }
}

impl ControllerRef {
    pub(crate) fn of(object: &Value) -> Option<Self> {
        let owner = field::controller(object)?;
        Some(Self {
            kind: text(owner, "/kind").to_owned(),
            name: text(owner, "/name").to_owned(),
            uid: text(owner, "/uid").to_owned(),
        })
    }
}

/// Returns the Pod of a holder, without the suffix that a new process makes anew.
fn instance(holder: &str) -> &str {
    holder.split_once('_').map_or(holder, |(name, _)| name)
}

/// Returns whether each holder of a Lease follows once, as the Pods of a rollout do. One that nobody else follows was only
/// started again.
fn is_turn(handovers: &[LeaseHandover]) -> bool {
    let names: BTreeSet<&str> = handovers.iter().map(|one| instance(&one.holder)).collect();
    names.len() == handovers.len() || names.len() == 1
}

/// Returns whether processes gave the lock back one after the other, as those of static Pods do that are replaced: each
/// holds it once, and of each Pod there is the old one and the new one.
fn is_rollout(handovers: &[&LeaseHandover]) -> bool {
    let mut processes: BTreeMap<&str, usize> = BTreeMap::new();
    for one in handovers {
        *processes.entry(instance(&one.holder)).or_default() += 1;
    }
    let mut holders = BTreeSet::new();
    handovers
        .iter()
        .all(|one| one.is_released && holders.insert(&one.holder))
        && processes.values().all(|count| *count <= 2)
}

impl LeaseHolders {
    /// Makes spans of the times in which the holder changed too often.
    fn flapping(self, object: ObjectId, end: RecordedAt) -> Vec<SignSpan> {
        let mut spans: Vec<SignSpan> = Vec::new();
        for (place, window) in self.changes.windows(HANDOVERS).enumerate() {
            let (Some(first), Some(last)) = (window.first(), window.last()) else {
                continue;
            };
            let before = self.changes.get(..place).unwrap_or_default().iter();
            let recent = before.filter(|one| between(one.at.at, last.at.at) <= FLAPPING);
            let recent: Vec<&LeaseHandover> = recent.chain(window).collect();
            if between(first.at.at, last.at.at) > FLAPPING || is_turn(window) || is_rollout(&recent)
            {
                continue;
            }
            let (first, last, holder) = (first.at, last.at, &last.holder);
            let is_over = between(last.at, end) > FLAPPING;
            let to = if is_over {
                SignEnd::Recovered(last.at)
            } else {
                SignEnd::Open
            };
            if let Some(span) = spans.last_mut().filter(|span| {
                between(span.from.at, first.at) <= FLAPPING || span.end.at() >= Some(first.at)
            }) {
                span.count += 1;
                span.end = to;
                span.sign.message =
                    format!("the holder changed {} times, last to {holder}", span.count);
                continue;
            }
            let count = u64::try_from(HANDOVERS).unwrap_or_default();
            let message = format!("the holder changed {count} times, last to {holder}");
            spans.push(SignSpan {
                object,
                sign: Sign::new(SignKind::LeaderFlapping, "", &message),
                from: first,
                is_older: false,
                end: to,
                shown: ShownTime::of(between(first.at, last.at)),
                run_from: last.at,
                seen: last.at,
                was_well: true,
                count,
                node: String::new(),
                reasons: Vec::new(),
                message_from: None,
                began: None,
                closed_by: None,
            });
        }
        spans
    }
}
