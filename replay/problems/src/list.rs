//! The list of problems: spans of signs that lasted, grouped by the topmost controller of their
//! objects; `rank` puts them in order.

use crate::birth::Installation;
use crate::cause;
use crate::collect::{Collected, ControllerRef, SignCollector, merge_gap};
use crate::drain::{DrainedNodes, REBOOT};
use crate::endpoints::ServiceHistory;
use crate::event_words::{RegardedObject, WarningEvent};
use crate::lookup::{by_uid, read, resources};
use crate::problem::{
    Cause, CheckedReel, InstallationNoise, MOST_SIGNS, NodeFailure, Problem, ProblemList,
    ProblemObject, ProblemSign, UnknownEnd,
};
use crate::rank::{ProblemRanking, WORKLOADS};
use crate::refusal::Refusals;
use crate::sign::{Sign, SignKind};
use crate::signs::{FULL, is_killed_by_signal};
use crate::span::{SLACK, ShownTime, SignEnd, SignSpan, between, is_creation};
use kubereel_cluster::{ClusterHistory, DrainHold, MarkSpan, RecordMark, Retrieval};
use kubereel_format::{Evidence, ObjectId, RecordedAt, Seq};
use kubereel_history::field::{is_being_deleted, number, text};
use kubereel_history::{ChangeKind, Cut, EventText, LifetimeEnd, ObjectFilter, Timeline};
use kubereel_monitortests::{Fed, Interest, WatchedEvent, Watcher, feed};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Signs of one object that lie further apart than this are two problems.
const APART: Duration = Duration::from_mins(30);
/// An object that showed no sign for this long was well: what it shows of another kind later is another problem.
const WELL: Duration = Duration::from_mins(1);
/// Causes are looked for of this many problems, those of the highest rank.
const MOST_EXPLAINED: usize = 100;
/// What is wrong shortly after the installation began with it.
const AFTER_INSTALLATION: Duration = Duration::from_mins(5);
/// A container that came up within this time after its first end waited for what it needs.
const SETTLED: Duration = Duration::from_secs(90);
/// The cluster autoscaler waits this long for a Node that it added, by default.
const PROVISIONED: Duration = Duration::from_mins(15);
/// A workload is new for this long.
const NEW: Duration = Duration::from_mins(5);
/// The namespace that a cluster begins with.
const SYSTEM: &str = "kube-system";
/// What an Event says to fail is normal no longer than this at the end of the recording.
const FAILING: Duration = Duration::from_secs(5);
/// The same of a container that was never ready, whose probe failed this often.
const FAILING_START: Duration = Duration::from_secs(20);
const FAILURES: u64 = 3;
/// What Events say of a Pod that does not start.
const NOT_STARTED: [&str; 7] = [
    "FailedMount",
    "FailedAttachVolume",
    "FailedMapVolume",
    "FailedCreatePodSandBox",
    "NetworkNotReady",
    "Failed",
    "Unhealthy",
];
/// More owners than this are a loop.
const MOST_OWNERS: usize = 8;

/// The resources without which most problems cannot be seen.
const USUAL: [(&[&str], &str, &str); 5] = [
    (&[""], "pods", "Pods"),
    (&[""], "nodes", "Nodes"),
    // A recording has them in one of their groups.
    (&["", "events.k8s.io"], "events", "Events"),
    (&["apps"], "deployments", "Deployments"),
    (&["discovery.k8s.io"], "endpointslices", "EndpointSlices"),
];

/// Finds what was wrong in a reel, in one pass over it.
///
/// `progress` gets each record that is done.
pub fn problems(timeline: &Timeline, progress: impl FnMut(Seq)) -> ProblemList {
    let mut watcher = ProblemWatcher::new(timeline);
    let fed = feed(timeline, &mut [&mut watcher], progress);
    watcher.finish(timeline, &fed)
}

/// Reads problems in a pass that others share.
#[derive(Debug)]
pub struct ProblemWatcher(SignCollector);

impl Watcher for ProblemWatcher {
    fn interests(&self) -> Vec<Interest> {
        self.0.interests()
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        self.0.seen(seen);
    }
}

impl ProblemWatcher {
    /// Prepares for a pass over a reel.
    pub fn new(timeline: &Timeline) -> Self {
        Self(SignCollector::new(timeline))
    }

    /// Returns the states of the Services by their ready endpoints; a second time there are none.
    pub fn take_services(&mut self) -> ServiceHistory {
        self.0.take_services()
    }

    /// Returns the topmost recorded workload of each Pod that has one.
    pub fn workloads_of_pods(&self, timeline: &Timeline) -> BTreeMap<ObjectId, ObjectId> {
        let controllers = self.0.controllers();
        let wanted = controllers.values().map(|owner| owner.uid.as_str());
        let by_uid = by_uid(timeline, wanted);
        let pods = resources(timeline, "", "pods");
        let is_pod = |object: &ObjectId| {
            let key = timeline.key_of(*object);
            key.is_some_and(|key| pods.contains(&key.resource))
        };
        let mut all = BTreeMap::new();
        for pod in controllers.keys().filter(|object| is_pod(object)) {
            let mut at = *pod;
            for _ in 0..MOST_OWNERS {
                let owner = workload_above(controllers, at);
                match owner.and_then(|owner| by_uid.get(owner.uid.as_str())) {
                    Some(above) => at = *above,
                    None => break,
                }
            }
            if at != *pod {
                all.insert(*pod, at);
            }
        }
        all
    }

    /// Lists the problems, after the pass, and says what was looked at.
    pub fn finish(self, timeline: &Timeline, fed: &Fed) -> ProblemList {
        let found = self.0.finish(timeline.end());
        let unobserved = timeline.resources().iter();
        let unobserved = unobserved.filter(|info| !timeline.is_fully_observed(info.id));
        let checked = CheckedReel {
            has_lost_records: timeline.has_lost_records(),
            events: fed.events,
            resources: timeline.resources().iter().count(),
            unreadable: fed.unread_events,
            unobserved: unobserved
                .map(kubereel_format::ResourceInfo::qualified)
                .collect(),
            absent: USUAL
                .iter()
                .filter(|(groups, plural, _)| {
                    let mut groups = groups.iter();
                    groups.all(|group| resources(timeline, group, plural).is_empty())
                })
                .map(|(_, _, words)| *words)
                .collect(),
            dropped: found.dropped,
        };
        let builder = ListBuilder::new(timeline, &found);
        let rollouts = found
            .rollouts
            .observed(timeline, |object| builder.object_of(object));
        let (problems, installation) = builder.build();
        ProblemList {
            problems,
            installation,
            rollouts,
            checked,
        }
    }

    /// Lists the problems alone.
    pub(crate) fn problems(self, timeline: &Timeline) -> Vec<Problem> {
        let found = self.0.finish(timeline.end());
        ListBuilder::new(timeline, &found).build().0
    }
}

/// Namespaces and names of the Services that the containers of problems call.
type CalledServices = BTreeMap<(ProblemObject, SignKind, Seq), BTreeSet<(String, String)>>;

/// Returns what the containers of problems call, if a Service without endpoints is among the problems.
fn called_services(reel: cause::ExplainedReel<'_>, problems: &[Problem]) -> CalledServices {
    if problems.iter().all(|one| one.kind != SignKind::NoEndpoints) {
        return CalledServices::new();
    }
    let callers = problems.iter().filter(|problem| {
        matches!(
            problem.kind,
            SignKind::ContainerExit | SignKind::JobFailed | SignKind::Probe | SignKind::PodPending
        )
    });
    callers
        .take(MOST_EXPLAINED)
        .map(|problem| {
            let key = (problem.object.clone(), problem.kind, problem.from.seq);
            (key, cause::called_services(reel, problem))
        })
        .collect()
}

/// Returns the controller of an object, if it is a workload.
fn workload_above(
    controllers: &BTreeMap<ObjectId, ControllerRef>,
    object: ObjectId,
) -> Option<&ControllerRef> {
    let owner = controllers.get(&object)?;
    WORKLOADS.contains(&owner.kind.as_str()).then_some(owner)
}

/// A span, with the object of its problem and the object that showed it.
type GroupedSpan = (ProblemObject, ProblemObject, SignSpan);

/// Spans that one problem may be made of: the object, and what family of signs.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ProblemGroup {
    kind: String,
    namespace: String,
    name: String,
    family: u8,
}

impl ProblemGroup {
    fn of(root: &ProblemObject, kind: SignKind) -> Self {
        Self {
            kind: root.kind.clone(),
            namespace: root.namespace.clone(),
            name: root.name.clone(),
            family: family(kind),
        }
    }
}

/// Builds the list.
struct ListBuilder<'a> {
    timeline: &'a Timeline,
    found: &'a Collected,
    installation: Installation,
    /// The objects of the uids that controllers and endpoints name.
    by_uid: BTreeMap<&'a str, ObjectId>,
    drained: DrainedNodes<'a>,
    /// The Pods of each workload, if they were needed.
    pods: OnceCell<BTreeMap<ProblemObject, Vec<ObjectId>>>,
}

impl<'a> ListBuilder<'a> {
    fn new(timeline: &'a Timeline, found: &'a Collected) -> Self {
        let controllers = found.controllers.values();
        let controllers = controllers.map(|controller| controller.uid.as_str());
        let wanted = controllers.chain(found.services.pods());
        Self {
            timeline,
            found,
            installation: found.birth.installation(timeline.end()),
            by_uid: by_uid(timeline, wanted),
            drained: DrainedNodes::of(timeline, found),
            pods: OnceCell::new(),
        }
    }

    fn build(&self) -> (Vec<Problem>, Option<InstallationNoise>) {
        let (groups, noise) = self.groups();
        let mut problems: Vec<Problem> = Vec::new();
        for group in groups.into_values() {
            problems.extend(self.episodes(group));
        }
        self.fold_retrievals(&mut problems);
        // Repeated Events are listed only if their object has no other problem.
        let with_problem: BTreeSet<ProblemObject> = problems
            .iter()
            .filter(|problem| problem.kind != SignKind::Events)
            .map(|problem| problem.object.clone())
            .collect();
        problems.retain(|problem| {
            problem.kind != SignKind::Events || !with_problem.contains(&problem.object)
        });
        problems.extend(self.outages());
        let reel = cause::ExplainedReel {
            timeline: self.timeline,
            found: self.found,
            by_uid: &self.by_uid,
            objects: &cause::SharedObjects::of(self.timeline),
        };
        let called = called_services(reel, &problems);
        let ranking = ProblemRanking {
            timeline: self.timeline,
            found: self.found,
            calls: &|problem, service| {
                let key = (problem.object.clone(), problem.kind, problem.from.seq);
                let services = called.get(&key);
                let named = (service.namespace.clone(), service.name.clone());
                services.is_some_and(|services| services.contains(&named))
            },
            is_of: &|uid, workload| self.is_of(uid, workload),
        };
        let mut explained = ranking.rank(&mut problems);
        cause::explain(reel, &mut problems, MOST_EXPLAINED);
        // What comes later was not looked at for causes.
        let mut looked_at = 0..MOST_EXPLAINED;
        problems.retain(|problem| looked_at.next().is_none() || !self.is_start_order(problem));
        ranking.lower_planned(&mut problems, &mut explained);
        (problems, noise)
    }

    /// Groups the signs that lasted by the object and family of the problem that they belong to.
    fn groups(
        &self,
    ) -> (
        BTreeMap<ProblemGroup, Vec<GroupedSpan>>,
        Option<InstallationNoise>,
    ) {
        let mut noise: Option<InstallationNoise> = None;
        let mut groups: BTreeMap<ProblemGroup, Vec<GroupedSpan>> = BTreeMap::new();
        let terminating = self.terminating_namespaces();
        let mut all: Vec<(ProblemObject, SignSpan)> = Vec::new();
        // Most spans are too short to be a problem: those are not copied.
        for span in &self.found.spans {
            let span = self.with_end_seen(span);
            if self.is_confirmed(&span)
                && let Some(object) = self.object_of(span.object)
            {
                all.push((object, self.recovered(span.into_owned())));
            }
        }
        let told = self.found.event_spans.iter();
        for (regarded, span) in told.filter(|(_, span)| self.is_confirmed(span)) {
            all.push((self.regarded(regarded), span.clone()));
        }
        let drains = self.held_drains().into_iter();
        all.extend(drains.filter(|(_, span)| self.is_confirmed(span)));
        let refusals = Refusals::of(self.found, &all, self.timeline.end());
        let webhooks = refusals.webhook_spans(self.timeline).into_iter();
        for span in webhooks.filter(|span| self.is_confirmed(span)) {
            all.extend(self.object_of(span.object).map(|object| (object, span)));
        }
        for (shown, span) in all {
            let is_going = terminating
                .iter()
                .any(|(namespace, going)| *namespace == shown.namespace && is_within(going, &span));
            if is_going && span.sign.kind != SignKind::DeletionStuck {
                continue;
            }
            // A quota may be used up for ever, if nobody wants more.
            let is_free = span.sign.kind == SignKind::QuotaExceeded
                && span.sign.part == FULL
                && !refusals.name_quota(&shown.namespace, &shown.name);
            if is_free {
                continue;
            }
            let root = self.root(&shown, span.object);
            if self.is_retried_job(&shown, &span)
                || self.is_waiting_claim(&shown, &span)
                || self.is_stopped_by_drain(&shown, &span)
                || self.awaits_pods(&shown, &span)
                || self.awaits_node(&shown, &span)
            {
                continue;
            }
            if self.is_of_installation(&span) {
                let own = noise.get_or_insert_with(|| self.noise(span.from.at));
                own.count += 1;
                own.from = own.from.min(span.from.at);
                continue;
            }
            let key = match span.sign.kind {
                // Each attempt is a request of another name.
                SignKind::SigningRequest => ProblemGroup {
                    name: span.sign.part.clone(),
                    ..ProblemGroup::of(&root, span.sign.kind)
                },
                // The same certificate authority is in every namespace, and in the webhooks that it serves.
                SignKind::Certificate if !span.sign.part.is_empty() => ProblemGroup {
                    kind: String::new(),
                    namespace: String::new(),
                    name: span.sign.part.clone(),
                    family: family(span.sign.kind),
                },
                kind => ProblemGroup::of(&root, kind),
            };
            groups.entry(key).or_default().push((root, shown, span));
        }
        (groups, noise)
    }

    /// Begins the row of what is normal while the cluster is being installed.
    fn noise(&self, from: RecordedAt) -> InstallationNoise {
        let (group, plural, kind, name) = if self.found.birth.is_openshift() {
            (
                "config.openshift.io",
                "clusterversions",
                "ClusterVersion",
                "version",
            )
        } else {
            ("", "namespaces", "Namespace", SYSTEM)
        };
        InstallationNoise {
            object: ProblemObject {
                kind: kind.to_owned(),
                namespace: String::new(),
                name: name.to_owned(),
                resource: resources(self.timeline, group, plural).first().copied(),
            },
            count: 0,
            from,
            completed: match self.installation {
                Installation::Done(at) => Some(at),
                _ => None,
            },
        }
    }

    /// Makes one row of all attempts to retrieve a release: it counts those that failed, and their Pods are
    /// part of it.
    fn fold_retrievals(&self, problems: &mut Vec<Problem>) {
        let is_retrieval = |problem: &Problem| problem.kind == SignKind::ReleaseNotAccepted;
        if !problems.iter().any(is_retrieval) {
            return;
        }
        let history = ClusterHistory::of(self.timeline);
        // Where the reel is damaged, the rows stay apart.
        let Ok(all) = history.retrievals(self.timeline.last_cut()) else {
            return;
        };
        let mut pods: BTreeSet<String> = BTreeSet::new();
        for problem in problems.iter_mut().filter(|problem| is_retrieval(problem)) {
            let to = problem.to.map(|at| self.mark_after(at));
            let own = all.clone().within(problem.from, to);
            let failed: Vec<&Retrieval> =
                own.attempts.iter().filter(|one| one.has_failed()).collect();
            let seen = u64::try_from(failed.len()).unwrap_or_default();
            match seen + own.counted_only() {
                0 => {}
                attempts => problem.count = attempts,
            }
            let named = failed.iter().filter_map(|one| one.pod.as_ref());
            pods.extend(named.map(|pod| pod.name.clone()));
        }
        // An older release has a Job make the Pod.
        let is_of = |name: &str| {
            pods.iter().any(|pod| {
                let rest = pod.strip_prefix(name);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            })
        };
        problems.retain(|problem| {
            problem.object.namespace != Retrieval::NAMESPACE || !is_of(&problem.object.name)
        });
    }

    /// Makes a problem of each run of spans that belong together.
    fn episodes(&self, mut group: Vec<GroupedSpan>) -> Vec<Problem> {
        group.sort_by_key(|(_, _, span)| span.from);
        let mut episodes: Vec<Vec<GroupedSpan>> = Vec::new();
        for one in group {
            let mut known = episodes.iter_mut().rev();
            match known.find(|episode| self.is_continued(episode, &one)) {
                Some(episode) => episode.push(one),
                None => episodes.push(vec![one]),
            }
        }
        let problems = episodes.iter().filter_map(|spans| self.problem(spans));
        problems.collect()
    }

    /// Returns whether a span continues what others began: the same came back, or the object was not well for long in
    /// between.
    fn is_continued(&self, episode: &[GroupedSpan], one: &GroupedSpan) -> bool {
        let gap = |earlier: &GroupedSpan| {
            let until = earlier.2.end.at().unwrap_or(self.timeline.end());
            between(until, one.2.from.at)
        };
        let of_plan = |one: &GroupedSpan| self.is_planned(&one.0, std::slice::from_ref(one));
        episode.iter().rev().any(|earlier| gap(earlier) < WELL)
            || episode.iter().rev().any(|earlier| {
                is_same_trouble(&earlier.2.sign, &one.2.sign)
                    && gap(earlier) <= APART
                    && of_plan(earlier) == of_plan(one)
            })
    }

    /// Returns the namespaces that were being deleted, and when.
    fn terminating_namespaces(&self) -> Vec<(&'a str, &'a SignSpan)> {
        let spans = self.found.spans.iter();
        spans
            .filter(|span| span.sign.kind == SignKind::NamespaceStuck)
            .filter_map(|span| Some((self.timeline.key_of(span.object)?.name, span)))
            .collect()
    }

    fn object_of(&self, object: ObjectId) -> Option<ProblemObject> {
        let key = self.timeline.key_of(object)?;
        let infos = self.timeline.resources().iter();
        let info = infos.into_iter().find(|info| info.id == key.resource)?;
        Some(ProblemObject {
            kind: info.kind.clone(),
            namespace: key.namespace.to_owned(),
            name: key.name.to_owned(),
            resource: Some(info.id),
        })
    }

    fn regarded(&self, regarded: &RegardedObject) -> ProblemObject {
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
    fn root(&self, shown: &ProblemObject, object: ObjectId) -> ProblemObject {
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
    fn is_named(&self, object: ObjectId, named: &ProblemObject) -> bool {
        let key = self.timeline.key_of(object);
        key.is_some_and(|key| key.name == named.name && key.namespace == named.namespace)
    }

    /// Finds the last object of a name.
    fn live_object(&self, named: &ProblemObject) -> Option<ObjectId> {
        let lives = self
            .timeline
            .lives(named.resource?, &named.namespace, &named.name);
        lives.last().map(|life| life.object)
    }

    /// Returns how long a sign that nothing ended is normal if an Event says that what is awaited fails: a probe, a
    /// volume. Probes of what was never ready fail a few times until it has started.
    fn normal_if_said_to_fail(&self, span: &SignSpan) -> Option<Duration> {
        let (reason, times, normal) = match span.sign.kind {
            SignKind::Probe if !span.was_well => ("Unhealthy", FAILURES, FAILING_START),
            SignKind::Probe => ("Unhealthy", 0, FAILING),
            SignKind::ClaimPending => ("ProvisioningFailed", 0, FAILING),
            _ => return None,
        };
        let object = self.object_of(span.object)?;
        let of = self
            .found
            .events
            .of(&object.kind, &object.namespace, &object.name);
        let is_said = |event: &WarningEvent| event.reason == reason && event.count >= times;
        of.iter().any(is_said).then_some(normal)
    }

    /// Returns since when it is not known whether a sign ended.
    fn unknown_end(&self, span: &SignSpan) -> Option<UnknownEnd> {
        match span.end {
            SignEnd::Unreported(at) => return Some(UnknownEnd::Unreported(at)),
            SignEnd::Unobserved(at) => return Some(UnknownEnd::Unobserved(at)),
            _ => {}
        }
        let unobserved = self.unobserved_after(span);
        unobserved.map(|(since, _)| UnknownEnd::Unobserved(since))
    }

    /// Returns the first time after the last version that showed a sign in which what shows it was not observed, and
    /// whether that lasts to the end.
    ///
    /// The object itself is as its last version shows it if its state at the end is known: a list after a gap has
    /// no other version of it.
    fn unobserved_after(&self, span: &SignSpan) -> Option<(RecordedAt, bool)> {
        if span.end != SignEnd::Open {
            return None;
        }
        let key = self.timeline.key_of(span.object)?;
        let name = (key.namespace, key.name);
        let own = self.timeline.unknown_since(key.resource, Some(name));
        let own = own.map(|since| (since.max(span.seen), true));
        let mut shown_in = Vec::new();
        let others: &[(&str, &str)] = match span.sign.kind {
            SignKind::NoEndpoints => &[("discovery.k8s.io", "endpointslices")],
            SignKind::DrainHeld => &[("", "nodes"), ("", "pods")],
            _ => &[],
        };
        for (group, plural) in others {
            shown_in.extend(resources(self.timeline, group, plural));
        }
        let later = shown_in
            .into_iter()
            .flat_map(|resource| self.timeline.may_miss_after(resource, span.seen));
        let later = later.map(|one| (one.from.max(span.seen), one.is_open()));
        own.into_iter().chain(later).min()
    }

    /// Returns whether a sign lasted longer than is normal.
    fn is_confirmed(&self, span: &SignSpan) -> bool {
        let mut normal = span.normal();
        let unknown_since = self.unknown_end(span).map(UnknownEnd::since);
        // Also what the last list of an import shows is not known to go on.
        let unobserved = self.unobserved_after(span);
        let is_open = span.end == SignEnd::Open && unobserved.is_none_or(|(_, is_open)| is_open);
        let end = unknown_since.unwrap_or(self.timeline.end());
        let mut lasting = span.lasted(end);
        match span.sign.since {
            // What was there at the beginning has its own word for its age.
            Some(since) if span.is_older => lasting += between(since, span.from.at),
            // The time that a deletion may take has not begun to run out before its deadline.
            Some(since) if span.sign.kind.is_deletion() => {
                lasting = between(since.max(span.from.at), span.end.at().unwrap_or(end));
            }
            _ => {}
        }
        if is_open {
            normal = (normal / 6).min(span.sign.kind.most_at_end());
            let said = self.normal_if_said_to_fail(span);
            normal = said.map_or(normal, |said| normal.min(said));
        }
        lasting >= normal
    }

    /// Ends the sign of an object that was missing in a list where the object was last observed.
    fn with_end_seen<'s>(&self, span: &'s SignSpan) -> Cow<'s, SignSpan> {
        let mut seen = Cow::Borrowed(span);
        let reel = self.timeline.reel();
        let last = reel.versions(span.object).last().copied();
        let missing = last.filter(|last| {
            reel.evidence_of(*last) == Some(Evidence::Inferred)
                && span.end == SignEnd::Deleted(self.timeline.wall_of(*last))
        });
        if let Some(since) = missing.and_then(|last| self.timeline.unseen_before(last)) {
            seen.to_mut().end_unobserved(since);
        }
        seen
    }

    /// Ends the sign of an object that stays as it is, a failed Pod or Job, when its controller had what it wants
    /// again: by another Pod, or by a later run.
    fn recovered(&self, mut span: SignSpan) -> SignSpan {
        let is_final = span.sign.is_final || span.sign.kind == SignKind::JobFailed;
        if !is_final || span.end != SignEnd::Open {
            return span;
        }
        let controllers = &self.found.controllers;
        let mut top = span.object;
        for _ in 0..MOST_OWNERS {
            let owner = workload_above(controllers, top);
            match owner.and_then(|owner| self.by_uid.get(owner.uid.as_str())) {
                Some(above) => top = *above,
                None => break,
            }
        }
        let well = self.found.wellness.get(&top);
        let at = well.and_then(|well| well.back_after(span.from.at));
        let run = || {
            let key = self.timeline.key_of(top)?;
            let runs = self.found.succeeded.iter();
            let own = runs.filter(|(job, at)| {
                let controller = controllers.get(job);
                **at > span.from.at && controller.is_some_and(|owner| key.uid == *owner.uid)
            });
            own.map(|(_, at)| *at).min()
        };
        if let Some(at) = at.or_else(|| (top != span.object).then(run).flatten()) {
            span.end = SignEnd::Recovered(at);
        }
        span
    }

    /// Finds the object that an Event is about: another one may have its name later.
    fn regarded_object(&self, regarded: &ProblemObject, event: Seq) -> Option<ObjectId> {
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

    /// Returns whether an attempt of a Job failed that succeeded in the end, or that tries again at the end after this one
    /// failure. Another Job of its name is no attempt of it.
    fn is_retried_job(&self, shown: &ProblemObject, span: &SignSpan) -> bool {
        let owner_of = |object: &ObjectId| {
            let owner = self.found.controllers.get(object)?;
            self.by_uid.get(owner.uid.as_str()).copied()
        };
        let first = if self.is_named(span.object, shown) {
            Some(span.object)
        } else {
            self.regarded_object(shown, span.from.seq)
        };
        std::iter::successors(first, owner_of)
            .take(MOST_OWNERS)
            .any(|object| {
                self.found.succeeded.contains_key(&object) || self.found.retried.contains(&object)
            })
    }

    /// Returns whether a container of a new workload ended only because what it needs was not there yet: it came up
    /// by itself, and nothing was changed but that the workload was made.
    fn is_start_order(&self, problem: &Problem) -> bool {
        let is_settled = problem.kind == SignKind::ContainerExit
            && problem.object.kind != "Job"
            && problem
                .to
                .is_some_and(|to| between(problem.from.at, to) <= SETTLED);
        let is_creation_of_it = |cause: &Cause| {
            cause.object == problem.object
                && cause.field.is_empty()
                && cause.change == ChangeKind::Added
        };
        let is_killed = |sign: &ProblemSign| {
            read(self.timeline, sign.from.seq).is_some_and(|pod| is_killed_by_signal(&pod))
        };
        if !is_settled
            || !problem.causes.iter().all(is_creation_of_it)
            || problem.signs.iter().any(is_killed)
        {
            return false;
        }
        let reel = self.timeline.reel();
        let object = self.live_object(&problem.object);
        let first = object.and_then(|object| reel.versions(object).first().copied());
        first.is_some_and(|first| {
            is_creation(self.timeline, first)
                && between(self.timeline.wall_of(first), problem.from.at) <= NEW
        })
    }

    /// Returns whether a Node was rebooted after its drain, or a container was only started again because of that.
    fn is_stopped_by_drain(&self, shown: &ProblemObject, span: &SignSpan) -> bool {
        let at = span.from.at;
        let stopped = span.sign.since.map_or(at, |since| since.min(at));
        match span.sign.kind {
            SignKind::NodeRebooted => self.drained.had_cordoned(&shown.name, span),
            SignKind::ContainerExit => {
                span.end.at() == Some(at) && self.drained.was_cordoned(&span.node, stopped, at)
            }
            _ => false,
        }
    }

    /// Returns whether a namespace that is deleted waited only for Pods within the time that they may take to end.
    fn awaits_pods(&self, shown: &ProblemObject, span: &SignSpan) -> bool {
        let ends = self.found.grace_ends.get(&shown.name);
        let gone = span.end.at().unwrap_or(self.timeline.end());
        span.sign.kind == SignKind::NamespaceStuck
            && ends.is_some_and(|ends| between(*ends, gone) <= span.normal())
    }

    /// Returns whether a Pod waited only for the Node that the cluster autoscaler added for it.
    fn awaits_node(&self, shown: &ProblemObject, span: &SignSpan) -> bool {
        let until = span.end.at().unwrap_or(self.timeline.end());
        span.sign.kind == SignKind::Unschedulable
            && between(span.from.at, until) <= PROVISIONED
            && self
                .found
                .events
                .has_scaled_up(&shown.namespace, &shown.name)
    }

    /// Returns whether a claim waits for its first Pod, as its class wants it.
    fn is_waiting_claim(&self, shown: &ProblemObject, span: &SignSpan) -> bool {
        if span.sign.kind != SignKind::ClaimPending {
            return false;
        }
        let events = self
            .found
            .events
            .of(&shown.kind, &shown.namespace, &shown.name);
        if events
            .iter()
            .any(|event| ["ProvisioningFailed", "FailedBinding"].contains(&event.reason.as_str()))
        {
            return false;
        }
        let Some(claim) = read(self.timeline, span.from.seq) else {
            return false;
        };
        let class = text(&claim, "/spec/storageClassName");
        // An empty name wants a volume without a class; one that is absent wants the default class.
        if class.is_empty() && claim.pointer("/spec/storageClassName").is_some() {
            return false;
        }
        let cut = Cut::Arrival {
            below: self.timeline.reel().end(),
            wall: self.timeline.end(),
        };
        let mut classes = resources(self.timeline, "storage.k8s.io", "storageclasses").into_iter();
        classes.any(|resource| {
            let state = self.timeline.as_of(resource, cut, &ObjectFilter::default());
            state.objects.iter().any(|held| {
                let body = read(self.timeline, held.seq);
                let mode = body.as_ref().map(|body| text(body, "/volumeBindingMode"));
                (class.is_empty() || held.name == class) && mode == Some("WaitForFirstConsumer")
            })
        })
    }

    /// Returns whether something is normal because the cluster was being installed.
    fn is_of_installation(&self, span: &SignSpan) -> bool {
        match self.installation {
            Installation::None => false,
            Installation::Running => span.end != SignEnd::Open || span.sign.is_final,
            Installation::Done(at) => {
                let is_over = span.sign.is_final
                    || span
                        .end
                        .at()
                        .is_some_and(|to| between(at, to) <= AFTER_INSTALLATION);
                span.from.at < at && is_over
            }
        }
    }

    /// Makes one problem of spans that belong together.
    fn problem(&self, spans: &[GroupedSpan]) -> Option<Problem> {
        let (root, ..) = spans.first()?;
        let root = root.clone();
        let (_, shown, telling) = self.telling(spans)?;
        let from = spans.iter().map(|(_, _, span)| span.from).min()?;
        let is_open = spans.iter().any(|(_, _, span)| span.end.at().is_none());
        let last = spans.iter().filter_map(|(_, _, span)| span.end.at()).max();
        let open = spans.iter().filter(|(_, _, span)| span.end.at().is_none());
        // One whose end cannot have been missed is enough.
        let unknown: Option<Vec<UnknownEnd>> =
            open.map(|(_, _, span)| self.unknown_end(span)).collect();
        let unknown_end = unknown.and_then(|all| all.into_iter().max_by_key(|one| one.since()));
        let mut shown_by: Vec<ObjectId> = Vec::new();
        for (_, _, span) in spans {
            if !shown_by.contains(&span.object) && shown_by.len() < MOST_SIGNS {
                shown_by.push(span.object);
            }
        }
        let kind = telling.sign.kind;
        let own = spans.iter().map(|(_, _, span)| span);
        let own = own.filter(|span| span.sign.kind == kind);
        let kind_from = own.clone().map(|span| span.from).min();
        let count = self.count_of(&root, spans, kind);
        let ends: Option<Vec<RecordedAt>> = own.clone().map(|span| span.end.at()).collect();
        let reason = &telling.sign.reason;
        let reasons = own.filter_map(|span| span.reason_from(reason));
        let is_older = spans
            .iter()
            .any(|(_, _, span)| span.is_older && span.from == from);
        let since = telling
            .sign
            .since
            .filter(|since| is_older && *since < from.at);
        Some(Problem {
            kind,
            class: kind.class(),
            reason: telling.sign.reason.clone(),
            message: self.worded(&root, shown, telling),
            from,
            to: if is_open { None } else { last },
            kind_from: kind_from.unwrap_or(telling.from),
            kind_to: ends.and_then(|ends| ends.into_iter().max()),
            // A back-off is the word for the failure before it.
            reason_from: reasons
                .min()
                .filter(|_| !reason.ends_with("BackOff"))
                .unwrap_or(telling.from),
            unknown_end,
            is_older,
            since,
            ends_by_deletion: self.ends_by_deletion(&root, spans),
            count,
            shown_by,
            signs: spans
                .iter()
                .take(MOST_SIGNS)
                .map(|(_, shown, span)| ProblemSign {
                    kind: span.sign.kind,
                    object: shown.clone(),
                    reason: span.sign.reason.clone(),
                    message: span.sign.message.clone(),
                    began: span.began.clone(),
                    from: span.from,
                    to: span.end.at(),
                })
                .collect(),
            nodes: failures_on_nodes(spans),
            is_planned: self.is_planned(&root, spans),
            consequence_of: None,
            causes: Vec::new(),
            score: 0,
            object: root,
        })
    }

    /// Returns whether the last sign ended because its object was deleted, and the topmost object is there no more.
    /// A Pod that fails is deleted by a rollout that mends it: its workload stays.
    fn ends_by_deletion(&self, root: &ProblemObject, spans: &[GroupedSpan]) -> bool {
        let mut ends = spans.iter().map(|(_, _, span)| span.end);
        let last = spans.iter().filter_map(|(_, _, span)| span.end.at()).max();
        let is_deleted = ends.clone().all(|end| end.at().is_some())
            && ends.any(|end| matches!(end, SignEnd::Deleted(at) if Some(at) == last));
        let Some(resource) = root.resource.filter(|_| is_deleted) else {
            return false;
        };
        let lives = self.timeline.lives(resource, &root.namespace, &root.name);
        let last = lives.last().map(|life| life.end);
        matches!(
            last,
            Some(LifetimeEnd::Deleted(_) | LifetimeEnd::Missing(_))
        )
    }

    /// Returns how often a problem was so. Conditions and Events report the same: a controller writes both, and that of
    /// a Deployment repeats what its `ReplicaSet` says.
    fn count_of(&self, root: &ProblemObject, spans: &[GroupedSpan], kind: SignKind) -> u64 {
        let own = spans.iter().filter(|(_, _, span)| span.sign.kind == kind);
        let (states, events): (Vec<_>, Vec<_>) =
            own.partition(|(_, shown, span)| self.is_named(span.object, shown));
        let is_by_root =
            kind == SignKind::CreateFailed && states.iter().any(|(_, shown, _)| shown == root);
        let states = states
            .iter()
            .filter(|(_, shown, _)| !is_by_root || shown == root);
        let states: u64 = states.map(|(_, _, span)| span.count).sum();
        let events: u64 = events.iter().map(|(_, _, span)| span.count).sum();
        states.max(events)
    }

    /// Finds the span that names a problem: the most telling one, and of a problem that is open one that is not over.
    fn telling<'s>(&self, spans: &'s [GroupedSpan]) -> Option<&'s GroupedSpan> {
        let order = |(_, _, span): &&GroupedSpan| (span.sign.kind, span.from);
        let open = spans.iter().filter(|(_, _, span)| span.end.at().is_none());
        let Some((_, _, open)) = open.min_by_key(order) else {
            return spans.iter().min_by_key(order);
        };
        let is_current = |span: &SignSpan| match span.end.at() {
            None => true,
            Some(to) => {
                // A workload lacks its Pods for some time after what they failed for.
                let is_reported_later = open.sign.kind.is_of_replicas()
                    && span.object != open.object
                    && to >= open.from.at;
                // What comes and goes is not over in between.
                let is_recurring =
                    span.count > 1 && between(to, self.timeline.end()) <= merge_gap(span.sign.kind);
                is_reported_later || is_recurring
            }
        };
        let current = spans.iter().filter(|(_, _, span)| is_current(span));
        current.min_by_key(order)
    }

    /// Adds what Events say where the object itself says less.
    fn worded(&self, root: &ProblemObject, shown: &ProblemObject, span: &SignSpan) -> String {
        if span.sign.kind.is_of_replicas() {
            return self.worded_by_pods(root, span);
        }
        let reasons: &[&str] = match span.sign.kind {
            SignKind::Probe | SignKind::ContainerExit => &["Unhealthy"],
            SignKind::ClaimPending => &["ProvisioningFailed", "FailedBinding"],
            SignKind::PodPending => &["FailedMount", "FailedCreatePodSandBox", "Failed"],
            SignKind::PodTerminating => &["FailedKillPod", "FailedPreStopHook"],
            _ => &[],
        };
        let events = self
            .found
            .events
            .of(&shown.kind, &shown.namespace, &shown.name);
        let is_near = |event: &&WarningEvent| {
            reasons.contains(&event.reason.as_str())
                && !span.sign.message.contains(&event.message)
                && between(event.to.at, span.from.at) <= SLACK
        };
        match events.iter().find(is_near) {
            None => span.sign.message.clone(),
            Some(event) if span.sign.message.is_empty() => event.message.clone(),
            Some(event) => format!("{}; {}", span.sign.message, event.message),
        }
    }

    /// Adds what an Event says of a Pod that a workload lacks. What fails for a short time need not be a sign.
    fn worded_by_pods(&self, root: &ProblemObject, span: &SignSpan) -> String {
        let until = span.end.at().unwrap_or(self.timeline.end());
        let is_then = |event: &WarningEvent| {
            NOT_STARTED.contains(&event.reason.as_str())
                && between(event.to.at, span.from.at) <= SLACK
                && event.from.at <= until
        };
        let pods = self.pods.get_or_init(|| self.pods_of_workloads());
        let pods = pods.get(root).into_iter().flatten();
        let said = pods.filter_map(|pod| {
            let key = self.object_of(*pod)?;
            let of = self.found.events.of(&key.kind, &key.namespace, &key.name);
            let mut of = of.iter();
            let event = of.find(|event| is_then(event) && self.is_wanted(*pod, event.to.seq))?;
            let words = format!("{} {}: {}", key.label(), event.reason, event.message);
            Some((event.from, words))
        });
        let own = span.sign.message.trim_end_matches('.');
        match said.min() {
            None => span.sign.message.clone(),
            Some((_, words)) if own.is_empty() => words,
            Some((_, words)) => format!("{own}; {words}"),
        }
    }

    /// Returns whether a Pod was not being deleted when a record was written: the probes of one that is may fail.
    fn is_wanted(&self, pod: ObjectId, until: Seq) -> bool {
        let mut versions = self.timeline.reel().versions(pod).iter().rev();
        let last = versions.find(|seq| **seq <= until);
        let body = last.and_then(|seq| read(self.timeline, *seq));
        body.is_some_and(|pod| !is_being_deleted(&pod))
    }

    /// Returns whether a Node went away because somebody drained and rebooted it, or a Service or a workload was
    /// short of Pods only while that was done. What the recording does not show the end of may still end in time.
    fn is_planned(&self, root: &ProblemObject, spans: &[GroupedSpan]) -> bool {
        spans.iter().all(|(_, shown, span)| {
            let since = span.sign.since.filter(|_| span.is_older);
            let from = since.map_or(span.from.at, |since| since.min(span.from.at));
            let to = span.end.at().unwrap_or(self.timeline.end());
            between(from, to) <= REBOOT
                && match span.sign.kind {
                    SignKind::NodeNotReady | SignKind::NodeRebooted => {
                        self.drained.is_reboot(&shown.name, span)
                    }
                    SignKind::OperatorUnavailable | SignKind::OperatorDegraded => {
                        self.drained.took_node(self.found, span)
                    }
                    SignKind::NoEndpoints => {
                        let services = &self.found.services;
                        let losses = services.losses_of(&shown.namespace, &shown.name);
                        self.drained.took_endpoints(losses, span, &self.by_uid)
                    }
                    SignKind::Unavailable | SignKind::ReplicasMissing => {
                        let pods = self.pods.get_or_init(|| self.pods_of_workloads());
                        let pods = pods.get(root).map_or(&[][..], Vec::as_slice);
                        let turns = self.found.turns_of(span, self.timeline.end());
                        self.drained.took_pods(&shown.kind, pods, &turns, span)
                    }
                    _ => false,
                }
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

    /// Finds disruption budgets that allowed no eviction while a cordoned Node had their Pods.
    fn held_drains(&self) -> Vec<(ProblemObject, SignSpan)> {
        let drains: Vec<(&str, MarkSpan)> = self
            .drained
            .cordons()
            .iter()
            .map(|(node, cordon)| {
                let from = cordon.from;
                let to = cordon.end.at().map(|at| self.mark_after(at));
                (*node, MarkSpan { from, to })
            })
            .collect();
        let history = ClusterHistory::of(self.timeline);
        // A damaged reel does not tell.
        let holds = history.drain_holds(&drains, self.timeline.last_cut());
        let mut held = Vec::new();
        for ((node, _), holds) in drains.iter().zip(holds.unwrap_or_default()) {
            let mut by_budget: BTreeMap<(String, String), Vec<DrainHold>> = BTreeMap::new();
            for hold in holds {
                let key = (hold.namespace.clone(), hold.budget.clone());
                by_budget.entry(key).or_default().push(hold);
            }
            for ((namespace, name), holds) in by_budget {
                held.extend(self.held_drain(&namespace, &name, node, &holds));
            }
        }
        held
    }

    /// Makes a span of the time in which a budget kept Pods on a cordoned Node.
    fn held_drain(
        &self,
        namespace: &str,
        name: &str,
        node: &str,
        holds: &[DrainHold],
    ) -> Option<(ProblemObject, SignSpan)> {
        let from = holds.iter().map(|hold| hold.span.from).min()?;
        let ends: Option<Vec<RecordedAt>> =
            holds.iter().map(|hold| Some(hold.span.to?.at)).collect();
        let to = ends.and_then(|ends| ends.into_iter().max());
        let until = to.unwrap_or(self.timeline.end());
        let mut named = resources(self.timeline, "policy", "poddisruptionbudgets").into_iter();
        let budget = named.find_map(|resource| {
            let lives = self.timeline.lives(resource, namespace, name);
            lives.last().map(|life| life.object)
        })?;
        let versions = self.timeline.reel().versions(budget).iter().rev();
        let mut before = versions.filter(|seq| **seq <= from.seq);
        let body = before.next().and_then(|seq| read(self.timeline, *seq));
        // It allows an eviction once all its Pods are healthy again.
        let waits = body.as_ref().is_some_and(|budget| {
            let of = |field: &str| number(budget, &format!("/status/{field}"));
            let counts = of("desiredHealthy").zip(of("expectedPods"));
            counts.is_some_and(|(healthy, all)| healthy < all)
        });
        let allowed = ["minAvailable", "maxUnavailable"]
            .into_iter()
            .find_map(|field| {
                let value = body.as_ref()?.pointer(&format!("/spec/{field}"))?;
                Some(format!(" ({field} {value})"))
            });
        let pods: BTreeSet<&str> = holds.iter().map(|hold| hold.pod.as_str()).collect();
        let message = format!(
            "no disruption is allowed{} while Node {node} is cordoned with {} of its Pods",
            allowed.unwrap_or_default(),
            pods.len()
        );
        let mut sign = Sign::new(SignKind::DrainHeld, "", &message);
        sign.is_under_way = waits;
        let span = SignSpan {
            object: budget,
            sign,
            from,
            is_older: false,
            end: to.map_or(SignEnd::Open, SignEnd::Recovered),
            shown: ShownTime::of(between(from.at, until)),
            run_from: until,
            seen: from.at,
            was_well: true,
            count: 1,
            node: node.to_owned(),
            reasons: Vec::new(),
            began: None,
        };
        Some((self.object_of(budget)?, span))
    }

    /// Returns the first record after a time.
    fn mark_after(&self, at: RecordedAt) -> RecordMark {
        RecordMark {
            seq: self.timeline.reel().seq_after(at),
            at,
        }
    }

    /// Makes problems of the times in which the API server did not answer. That it refused the recorder is trouble of
    /// the recording.
    fn outages(&self) -> Vec<Problem> {
        let outages = self.timeline.outages().iter();
        let real = outages.filter(|outage| !outage.is_before_first_answer && !outage.is_refusal());
        real.map(|outage| {
            let message = kubereel_history::harmless(&outage.error).into_owned();
            let from = self.mark_after(outage.from);
            let to = Some(outage.to).filter(|to| *to < self.timeline.end());
            Problem {
                object: ProblemObject {
                    kind: "APIServer".to_owned(),
                    namespace: String::new(),
                    name: String::new(),
                    resource: None,
                },
                kind: SignKind::ApiOutage,
                class: SignKind::ApiOutage.class(),
                reason: SignKind::ApiOutage.as_str().to_owned(),
                message,
                from,
                to,
                kind_from: from,
                kind_to: to,
                reason_from: from,
                unknown_end: None,
                is_older: false,
                since: None,
                ends_by_deletion: false,
                count: 1,
                shown_by: Vec::new(),
                signs: Vec::new(),
                nodes: Vec::new(),
                is_planned: false,
                consequence_of: None,
                causes: Vec::new(),
                score: 0,
            }
        })
        .collect()
    }

    /// Returns whether a Pod, by its uid, is one of a workload.
    fn is_of(&self, uid: &str, workload: &ProblemObject) -> bool {
        let Some(pod) = self.by_uid.get(uid).copied() else {
            return false;
        };
        self.object_of(pod)
            .is_some_and(|shown| self.root(&shown, pod) == *workload)
    }
}

/// Returns the first failure of a Pod on each Node, of spans in order of time.
fn failures_on_nodes(spans: &[GroupedSpan]) -> Vec<NodeFailure> {
    let mut nodes: Vec<NodeFailure> = Vec::new();
    for (_, _, span) in spans {
        let known = nodes.iter_mut().find(|one| one.node == span.node);
        if let Some(known) = known {
            known.is_open |= span.end == SignEnd::Open;
        } else if !span.node.is_empty() {
            nodes.push(NodeFailure {
                node: span.node.clone(),
                pod: span.object,
                from: span.from,
                is_open: span.end == SignEnd::Open,
            });
        }
    }
    nodes
}

/// Returns whether two signs of an object tell the same. A release that was accepted is not the one that fails later.
fn is_same_trouble(one: &Sign, other: &Sign) -> bool {
    one.kind == other.kind && (one.kind != SignKind::ReleaseNotAccepted || one.part == other.part)
}

/// Returns whether a sign came while its namespace was being deleted: one of the same name may be made again.
fn is_within(going: &SignSpan, span: &SignSpan) -> bool {
    span.from.at.micros_since(going.from.at) > -5_000_000
        && going.end.at().is_none_or(|gone| span.from.at <= gone)
}

/// Returns the family of a sign: signs of different families are separate problems of one object.
const fn family(kind: SignKind) -> u8 {
    match kind {
        SignKind::NodeCordoned => 1,
        SignKind::ReleaseNotAccepted => 2,
        SignKind::DrainHeld => 3,
        SignKind::Events => 4,
        _ => 0,
    }
}
