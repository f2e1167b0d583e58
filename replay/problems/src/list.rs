//! The list of problems: spans of signs that lasted, grouped by the topmost controller of their
//! objects; `rank` puts them in order.

use crate::birth::Installation;
use crate::cause;
use crate::collect::{Collected, SignCollector, merge_gap};
use crate::endpoints::ServiceHistory;
use crate::event_words::WarningEvent;
use crate::expected::ExpectedSpans;
use crate::lookup::{by_uid, mark_after, read, resources};
use crate::objects::{GroupedSpan, MOST_OWNERS, ProblemObjects, workload_above};
use crate::problem::{
    CheckedReel, InstallationNoise, MOST_SIGNS, NodeFailure, Problem, ProblemList, ProblemObject,
    ProblemSign, UnknownEnd,
};
use crate::rank::ProblemRanking;
use crate::refusal::Refusals;
use crate::sign::{Sign, SignKind};
use crate::signs::FULL;
use crate::span::{SLACK, SignEnd, SignSpan, between, is_same_but_for_numbers};
use kubereel_cluster::{ClusterHistory, RecordMark, Retrieval, StatusCondition};
use kubereel_format::{EventType, ObjectId, RecordedAt, Seq};
use kubereel_history::field::{is_being_deleted, text};
use kubereel_history::{LifetimeEnd, Timeline};
use kubereel_monitortests::{Fed, Interest, WatchedEvent, Watcher, feed};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Signs of one object that lie further apart than this are two problems.
const APART: Duration = Duration::from_mins(30);
/// An object that showed no sign for this long was well: what it shows of another kind later is another problem.
const WELL: Duration = Duration::from_mins(1);
/// Causes are looked for of this many problems, those of the highest rank.
const MOST_EXPLAINED: usize = 100;
/// The namespace that a cluster begins with.
const SYSTEM: &str = "kube-system";
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
        let objects = ProblemObjects::new(timeline, &found);
        let rollouts = found
            .rollouts
            .observed(timeline, |object| objects.object_of(object));
        let (problems, installation) = ListBuilder::new(&objects).build();
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
        ListBuilder::new(&ProblemObjects::new(timeline, &found))
            .build()
            .0
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
    objects: &'a ProblemObjects<'a>,
    expected: ExpectedSpans<'a>,
}

impl<'a> ListBuilder<'a> {
    fn new(objects: &'a ProblemObjects<'a>) -> Self {
        Self {
            timeline: objects.timeline,
            found: objects.found,
            objects,
            expected: ExpectedSpans::new(objects),
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
            by_uid: &self.objects.by_uid,
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
            is_of: &|uid, workload| self.objects.is_of(uid, workload),
        };
        let mut explained = ranking.rank(&mut problems);
        cause::explain(reel, &mut problems, MOST_EXPLAINED);
        // What comes later was not looked at for causes.
        let mut looked_at = 0..MOST_EXPLAINED;
        problems
            .retain(|problem| looked_at.next().is_none() || !self.expected.is_start_order(problem));
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
            let span = self.expected.with_end_seen(span);
            if self.expected.is_confirmed(&span)
                && let Some(object) = self.objects.object_of(span.object)
            {
                all.push((object, self.expected.recovered(span.into_owned())));
            }
        }
        let told = self.found.event_spans.iter();
        for (regarded, span) in told.filter(|(_, span)| self.expected.is_confirmed(span)) {
            all.push((self.objects.regarded(regarded), span.clone()));
        }
        let drains = self.expected.drained().held_drains();
        let add = |all: &mut Vec<(ProblemObject, SignSpan)>, spans: Vec<SignSpan>| {
            for span in spans
                .into_iter()
                .filter(|span| self.expected.is_confirmed(span))
            {
                let object = self.objects.object_of(span.object);
                all.extend(object.map(|object| (object, span)));
            }
        };
        add(&mut all, drains);
        let refusals = Refusals::of(self.found, &all, self.timeline.end());
        add(&mut all, refusals.webhook_spans(self.timeline));
        for (shown, mut span) in all {
            let is_going = terminating
                .iter()
                .any(|(namespace, going)| *namespace == shown.namespace && is_within(going, &span));
            if is_going && span.sign.kind != SignKind::DeletionStuck {
                continue;
            }
            // A quota may be used up for ever: what is wrong begins when more is wanted.
            if span.sign.kind == SignKind::QuotaExceeded && span.sign.part == FULL {
                match refusals.of_full_quota(&shown.namespace, &shown.name, &span) {
                    None => continue,
                    Some(refused) if refused > span.from => span.begin_at(refused),
                    Some(_) => {}
                }
            }
            let root = self.objects.root(&shown, span.object);
            if self.expected.is_awaited(&shown, &span) {
                continue;
            }
            if self.expected.is_of_installation(&span) {
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
            completed: match self.expected.installation {
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
            let to = problem.to.map(|at| mark_after(self.timeline, at));
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
            problem.object.namespace != Retrieval::NAMESPACE
                || !["Pod", "Job"].contains(&problem.object.kind.as_str())
                || !is_of(&problem.object.name)
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
        let of_plan = |one: &GroupedSpan| self.expected.is_of_plan(one);
        let is_other = |earlier: &GroupedSpan| {
            let (earlier, one) = (&earlier.2.sign, &one.2.sign);
            earlier.kind == SignKind::VersionFailing
                && one.kind == earlier.kind
                && !is_same_trouble(earlier, one)
        };
        let mut before = episode.iter().rev();
        before.any(|earlier| gap(earlier) < WELL && !is_other(earlier))
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
        let unknown: Option<Vec<UnknownEnd>> = open
            .map(|(_, _, span)| self.expected.unknown_end(span))
            .collect();
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
        // A back-off is the word for the failure before it.
        let is_back_off = reason.ends_with("BackOff");
        let reasons = own.clone().filter_map(|span| {
            let mark = span.reason_from(reason)?;
            Some(if is_back_off { span.from } else { mark })
        });
        let message = &telling.sign.message;
        let worded = own.filter(|span| is_same_but_for_numbers(&span.sign.message, message));
        let worded = worded.map(|span| span.message_from.unwrap_or(span.from));
        let is_older = spans
            .iter()
            .any(|(_, _, span)| span.is_older && span.from == from);
        let since = self.expected.own_begin(telling);
        let since = since.filter(|since| *since < from.at);
        Some(Problem {
            kind,
            class: kind.class(),
            reason: telling.sign.reason.clone(),
            message: self.worded(&root, shown, telling),
            from,
            to: if is_open { None } else { last },
            kind_from: kind_from.unwrap_or(telling.from),
            kind_to: ends.and_then(|ends| ends.into_iter().max()),
            reason_from: reasons.min().unwrap_or(telling.from),
            message_from: worded.min().unwrap_or(telling.from),
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
            nodes: self.failures_on_nodes(&root, telling, spans),
            is_planned: self.expected.is_planned(&root, spans)
                || spans
                    .iter()
                    .all(|(_, _, span)| self.expected.ends_with_plan(span)),
            consequence_of: None,
            causes: Vec::new(),
            score: 0,
            object: root,
        })
    }

    /// Returns the first failure of a Pod on each Node, of spans in order of time. An old Pod that does not go away says
    /// nothing of why new ones fail.
    fn failures_on_nodes(
        &self,
        root: &ProblemObject,
        telling: &SignSpan,
        spans: &[GroupedSpan],
    ) -> Vec<NodeFailure> {
        let mut nodes: Vec<NodeFailure> = Vec::new();
        let is_deletion = telling.sign.kind.is_deletion();
        for (_, _, span) in spans {
            if span.node.is_empty() || span.sign.kind.is_deletion() && !is_deletion {
                continue;
            }
            match nodes.iter_mut().find(|one| one.node == span.node) {
                Some(known) => known.is_open |= span.end == SignEnd::Open,
                None => nodes.push(NodeFailure {
                    node: span.node.clone(),
                    pod: span.object,
                    from: span.from,
                    is_open: span.end == SignEnd::Open,
                }),
            }
        }
        if nodes.is_empty() && telling.sign.kind.is_of_replicas() {
            let pods = self.objects.pods_of(root).iter();
            nodes.extend(pods.filter_map(|pod| self.lost_with_node(*pod, telling)));
        }
        nodes
    }

    /// Returns when a Pod stopped being ready because its Node was lost: its containers say nothing of it.
    fn lost_with_node(&self, pod: ObjectId, short: &SignSpan) -> Option<NodeFailure> {
        let versions = self.timeline.reel().versions(pod).iter().copied();
        let mut near = versions.filter(|seq| {
            let at = self.timeline.wall_of(*seq);
            between(at, short.from.at).max(between(short.from.at, at)) <= SLACK
        });
        near.find_map(|seq| {
            let body = read(self.timeline, seq)?;
            let at = self.timeline.wall_of(seq);
            let node = text(&body, "/spec/nodeName");
            let is_lost = |span: &SignSpan| {
                let key = self.timeline.key_of(span.object);
                span.sign.kind == SignKind::NodeNotReady
                    && key.is_some_and(|key| key.name == node)
                    && span.from.at <= at
                    && span.end.at().is_none_or(|to| to > at)
            };
            let is_ready =
                StatusCondition::all(&body).any(|one| one.kind == "Ready" && one.is("True"));
            (!is_ready && self.found.spans.iter().any(is_lost)).then(|| NodeFailure {
                node: node.to_owned(),
                pod,
                from: RecordMark { seq, at },
                is_open: short.end == SignEnd::Open,
            })
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
            own.partition(|(_, shown, span)| self.objects.is_named(span.object, shown));
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
        // Of one kind, the reason that lasted longest.
        let mut lasted: BTreeMap<(SignKind, &str), Duration> = BTreeMap::new();
        for (_, _, span) in spans
            .iter()
            .filter(|(_, _, span)| span.sign.kind.is_reported())
        {
            let key = (span.sign.kind, span.sign.reason.as_str());
            *lasted.entry(key).or_default() += span.lasted(self.timeline.end());
        }
        let order = |(_, _, span): &&GroupedSpan| {
            let lasted = lasted.get(&(span.sign.kind, span.sign.reason.as_str()));
            let has_ended = span.end.at().is_some();
            (
                span.sign.kind,
                Reverse(lasted.copied()),
                has_ended,
                span.from,
            )
        };
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
        let said = self.objects.pods_of(root).iter().filter_map(|pod| {
            let key = self.objects.object_of(*pod)?;
            let of = self.found.events.of(&key.kind, &key.namespace, &key.name);
            let mut of = of.iter();
            let event = of.find(|event| is_then(event) && self.is_wanted(*pod, event.to.seq))?;
            if self.was_gone(*pod, span.run_from) {
                return None;
            }
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

    /// Returns whether a Pod was deleted before a time: what comes later has another reason.
    fn was_gone(&self, pod: ObjectId, at: RecordedAt) -> bool {
        let reel = self.timeline.reel();
        let last = reel.versions(pod).last().copied();
        last.is_some_and(|last| {
            reel.kind_of(last) == Some(EventType::Deleted) && self.timeline.wall_of(last) < at
        })
    }

    /// Returns whether a Pod was not being deleted when a record was written: the probes of one that is may fail.
    fn is_wanted(&self, pod: ObjectId, until: Seq) -> bool {
        let mut versions = self.timeline.reel().versions(pod).iter().rev();
        let last = versions.find(|seq| **seq <= until);
        let body = last.and_then(|seq| read(self.timeline, *seq));
        body.is_some_and(|pod| !is_being_deleted(&pod))
    }

    /// Makes problems of the times in which the API server did not answer. That it refused the recorder is trouble of
    /// the recording.
    fn outages(&self) -> Vec<Problem> {
        let outages = self.timeline.outages().iter();
        let real = outages.filter(|outage| !outage.is_before_first_answer && !outage.is_refusal());
        real.map(|outage| {
            let message = kubereel_history::harmless(&outage.error).into_owned();
            let from = mark_after(self.timeline, outage.from);
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
                message_from: from,
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
}

/// Returns whether two signs of an object tell the same. A release that was accepted is not the one that fails later, a
/// drain that ended not the next one, and what fails for another reason is something else.
fn is_same_trouble(one: &Sign, other: &Sign) -> bool {
    one.kind == other.kind
        && match one.kind {
            SignKind::ReleaseNotAccepted => one.part == other.part,
            SignKind::DrainHeld => false,
            // It names the operators that it waits for.
            SignKind::VersionFailing => one.reason == other.reason && one.message == other.message,
            kind => !kind.is_reported() || one.reason == other.reason,
        }
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
