//! Which signs are normal: too short, part of an installation, of a drain or of a start that goes well.

use crate::birth::Installation;
use crate::drain::{DrainedNodes, REBOOT, RESTARTED};
use crate::event_words::WarningEvent;
use crate::lookup::{read, resources};
use crate::objects::{GroupedSpan, MOST_OWNERS, ProblemObjects, workload_above};
use crate::problem::{Cause, Problem, ProblemObject, ProblemSign, UnknownEnd};
use crate::sign::SignKind;
use crate::signs::{FULL, is_killed_by_signal, lacks_more_than_update};
use crate::span::{SLACK, SignEnd, SignSpan, between, is_creation};
use kubereel_format::{Evidence, ObjectId, RecordedAt};
use kubereel_history::field::{text, time};
use kubereel_history::{ChangeKind, Cut, ObjectFilter};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::time::Duration;

/// What is wrong shortly after the installation began with it.
const AFTER_INSTALLATION: Duration = Duration::from_mins(5);
/// A container that came up within this time after its first end waited for what it needs.
const SETTLED: Duration = Duration::from_secs(90);
/// The cluster autoscaler waits this long for a Node that it added, by default.
const PROVISIONED: Duration = Duration::from_mins(15);
/// A workload is new for this long.
const NEW: Duration = Duration::from_mins(5);
/// What an Event says to fail is normal no longer than this at the end of the recording.
const FAILING: Duration = Duration::from_secs(5);
/// The same of a container that was never ready, whose probe failed this often.
const FAILING_START: Duration = Duration::from_secs(20);
const FAILURES: u64 = 3;

/// Decides which spans of signs are problems, and which problems were planned.
pub(crate) struct ExpectedSpans<'a> {
    objects: &'a ProblemObjects<'a>,
    pub(crate) installation: Installation,
    drained: DrainedNodes<'a>,
    /// The planned outages of Nodes, if they were needed: the name of the Node, and from when to when.
    outages: OnceCell<Vec<(&'a str, RecordedAt, RecordedAt)>>,
}

impl<'a> ExpectedSpans<'a> {
    pub(crate) fn new(objects: &'a ProblemObjects<'a>) -> Self {
        let (timeline, found) = (objects.timeline, objects.found);
        Self {
            objects,
            installation: found.birth.installation(timeline.end()),
            drained: DrainedNodes::of(timeline, found),
            outages: OnceCell::new(),
        }
    }

    pub(crate) const fn drained(&self) -> &DrainedNodes<'a> {
        &self.drained
    }

    /// Returns whether a sign is only about something that was awaited, and came or can still come by itself.
    pub(crate) fn is_awaited(&self, shown: &ProblemObject, span: &SignSpan) -> bool {
        self.is_retried_job(shown, span)
            || self.is_waiting_claim(shown, span)
            || self.is_stopped_by_drain(shown, span)
            || self.awaits_pods(shown, span)
            || self.awaits_node(shown, span)
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
        let object = self.objects.object_of(span.object)?;
        let of = self
            .objects
            .found
            .events
            .of(&object.kind, &object.namespace, &object.name);
        let is_said = |event: &WarningEvent| event.reason == reason && event.count >= times;
        of.iter().any(is_said).then_some(normal)
    }

    /// Returns since when it is not known whether a sign ended.
    pub(crate) fn unknown_end(&self, span: &SignSpan) -> Option<UnknownEnd> {
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
        let key = self.objects.timeline.key_of(span.object)?;
        let name = (key.namespace, key.name);
        let own = self
            .objects
            .timeline
            .unknown_since(key.resource, Some(name));
        let own = own.map(|since| (since.max(span.seen), true));
        let mut shown_in = Vec::new();
        let others: &[(&str, &str)] = match span.sign.kind {
            SignKind::NoEndpoints => &[("discovery.k8s.io", "endpointslices")],
            SignKind::DrainHeld => &[("", "nodes"), ("", "pods")],
            _ => &[],
        };
        for (group, plural) in others {
            shown_in.extend(resources(self.objects.timeline, group, plural));
        }
        let all = ObjectFilter::default();
        let timeline = self.objects.timeline;
        let later = shown_in.into_iter();
        let later = later.flat_map(|resource| timeline.may_miss_after(resource, &all, span.seen));
        let later = later.map(|one| (one.from.max(span.seen), one.is_open()));
        own.into_iter().chain(later).min()
    }

    /// Returns whether a sign lasted longer than is normal.
    pub(crate) fn is_confirmed(&self, span: &SignSpan) -> bool {
        let mut normal = span.normal();
        let unknown_since = self.unknown_end(span).map(UnknownEnd::since);
        // Also what the last list of an import shows is not known to go on.
        let unobserved = self.unobserved_after(span);
        let is_open = span.end == SignEnd::Open && unobserved.is_none_or(|(_, is_open)| is_open);
        let end = unknown_since.unwrap_or(self.objects.timeline.end());
        let mut lasting = span.lasted(end);
        let begin = self.own_begin(span);
        match (begin, span.sign.since) {
            (Some(begin), _) => lasting += between(begin, span.from.at),
            // The time that a deletion may take has not begun to run out before its deadline.
            (None, Some(since)) if span.sign.kind.is_deletion() => {
                lasting = between(since.max(span.from.at), span.end.at().unwrap_or(end));
            }
            _ => {}
        }
        let may_be_shorter = begin.is_some() && span.sign.kind.is_since_at_earliest();
        if is_open && !may_be_shorter {
            normal = (normal / 6).min(span.sign.kind.most_at_end());
            let said = self.normal_if_said_to_fail(span);
            normal = said.map_or(normal, |said| normal.min(said));
        }
        lasting >= normal || lasting.is_zero() && is_open && self.is_wrong_at_once(span)
    }

    /// Returns since when a sign has lasted by its object's own word, if no version could show it before: it was there
    /// at the beginning, or came between two lists of an import.
    pub(crate) fn own_begin(&self, span: &SignSpan) -> Option<RecordedAt> {
        let own = span.sign.since.filter(|since| *since < span.from.at);
        own.filter(|since| {
            let before = || self.objects.timeline.listed_before(span.from.seq);
            span.is_older || before().is_some_and(|before| *since > before)
        })
    }

    /// Returns whether a sign of unknown age that only one moment shows is a problem: it states a failure, or
    /// more is missing than an update or a lost Node takes away. What is new may still come by itself.
    fn is_wrong_at_once(&self, span: &SignSpan) -> bool {
        let timeline = self.objects.timeline;
        let is_listed = span.is_older || timeline.listed_before(span.from.seq).is_some();
        if !is_listed || span.is_older && span.sign.since.is_some() {
            return false;
        }
        let Some(object) = read(timeline, span.from.seq) else {
            return false;
        };
        let created = time(&object, "/metadata/creationTimestamp");
        let is_settled = created.is_some_and(|at| between(at, span.from.at) >= span.normal());
        is_settled
            && match span.sign.kind {
                SignKind::ImagePull
                | SignKind::ContainerConfig
                | SignKind::ContainerStart
                | SignKind::Volume => true,
                SignKind::QuotaExceeded => span.sign.part != FULL,
                SignKind::ReplicasMissing => lacks_more_than_update(&object),
                _ => span.sign.is_failure,
            }
    }

    /// Ends the sign of an object that was missing in a list where the object was last observed. Of one that a version
    /// ended, the time counts in which the object was observed.
    pub(crate) fn with_end_seen<'s>(&self, span: &'s SignSpan) -> Cow<'s, SignSpan> {
        let mut seen = Cow::Borrowed(span);
        let timeline = self.objects.timeline;
        let reel = timeline.reel();
        if let Some(since) = span.closed_by.and_then(|seq| timeline.unseen_before(seq)) {
            seen.to_mut().doubt_since(since);
        }
        let last = reel.versions(span.object).last().copied();
        let missing = last.filter(|last| {
            reel.evidence_of(*last) == Some(Evidence::Inferred)
                && span.end == SignEnd::Deleted(timeline.wall_of(*last))
        });
        if let Some(since) = missing.and_then(|last| timeline.unseen_before(last)) {
            seen.to_mut().end_unobserved(since);
        }
        seen
    }

    /// Ends the sign of an object that stays as it is, a failed Pod or Job, when its controller had what it wants
    /// again: by another Pod, or by a later run.
    pub(crate) fn recovered(&self, mut span: SignSpan) -> SignSpan {
        let is_final = span.sign.is_final || span.sign.kind == SignKind::JobFailed;
        if !is_final || span.end != SignEnd::Open {
            return span;
        }
        let controllers = &self.objects.found.controllers;
        let mut top = span.object;
        for _ in 0..MOST_OWNERS {
            let owner = workload_above(controllers, top);
            match owner.and_then(|owner| self.objects.by_uid.get(owner.uid.as_str())) {
                Some(above) => top = *above,
                None => break,
            }
        }
        let well = self.objects.found.wellness.get(&top);
        let at = well.and_then(|well| well.back_after(span.from.at));
        let run = || {
            let key = self.objects.timeline.key_of(top)?;
            let runs = self.objects.found.succeeded.iter();
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

    /// Returns whether an attempt of a Job failed that succeeded in the end, or that tries again at the end after this one
    /// failure. Another Job of its name is not an attempt of it.
    fn is_retried_job(&self, shown: &ProblemObject, span: &SignSpan) -> bool {
        let owner_of = |object: &ObjectId| {
            let owner = self.objects.found.controllers.get(object)?;
            self.objects.by_uid.get(owner.uid.as_str()).copied()
        };
        let first = if self.objects.is_named(span.object, shown) {
            Some(span.object)
        } else {
            self.objects.regarded_object(shown, span.from.seq)
        };
        std::iter::successors(first, owner_of)
            .take(MOST_OWNERS)
            .any(|object| {
                self.objects.found.succeeded.contains_key(&object)
                    || self.objects.found.retried.contains(&object)
            })
    }

    /// Returns whether a container of a new workload ended only because what it needs was not there yet: it came up
    /// by itself, and nothing was changed but that the workload was made.
    pub(crate) fn is_start_order(&self, problem: &Problem) -> bool {
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
            read(self.objects.timeline, sign.from.seq).is_some_and(|pod| is_killed_by_signal(&pod))
        };
        if !is_settled
            || !problem.causes.iter().all(is_creation_of_it)
            || problem.signs.iter().any(is_killed)
        {
            return false;
        }
        let reel = self.objects.timeline.reel();
        let object = self.objects.live_object(&problem.object);
        let first = object.and_then(|object| reel.versions(object).first().copied());
        first.is_some_and(|first| {
            is_creation(self.objects.timeline, first)
                && between(self.objects.timeline.wall_of(first), problem.from.at) <= NEW
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
        let ends = self.objects.found.grace_ends.get(&shown.name);
        let gone = span.end.at().unwrap_or(self.objects.timeline.end());
        span.sign.kind == SignKind::NamespaceStuck
            && ends.is_some_and(|ends| between(*ends, gone) <= span.normal())
    }

    /// Returns whether a Pod waited only for the Node that the cluster autoscaler added for it.
    fn awaits_node(&self, shown: &ProblemObject, span: &SignSpan) -> bool {
        let until = span.end.at().unwrap_or(self.objects.timeline.end());
        span.sign.kind == SignKind::Unschedulable
            && between(span.from.at, until) <= PROVISIONED
            && self
                .objects
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
            .objects
            .found
            .events
            .of(&shown.kind, &shown.namespace, &shown.name);
        if events
            .iter()
            .any(|event| ["ProvisioningFailed", "FailedBinding"].contains(&event.reason.as_str()))
        {
            return false;
        }
        let Some(claim) = read(self.objects.timeline, span.from.seq) else {
            return false;
        };
        let class = text(&claim, "/spec/storageClassName");
        // An empty name wants a volume without a class; one that is absent wants the default class.
        if class.is_empty() && claim.pointer("/spec/storageClassName").is_some() {
            return false;
        }
        let cut = Cut::Arrival {
            below: self.objects.timeline.reel().end(),
            wall: self.objects.timeline.end(),
        };
        let mut classes =
            resources(self.objects.timeline, "storage.k8s.io", "storageclasses").into_iter();
        classes.any(|resource| {
            let state = self
                .objects
                .timeline
                .as_of(resource, cut, &ObjectFilter::default());
            state.objects.iter().any(|held| {
                let body = read(self.objects.timeline, held.seq);
                let mode = body.as_ref().map(|body| text(body, "/volumeBindingMode"));
                (class.is_empty() || held.name == class) && mode == Some("WaitForFirstConsumer")
            })
        })
    }

    /// Returns whether something is normal because the cluster was being installed.
    pub(crate) fn is_of_installation(&self, span: &SignSpan) -> bool {
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

    /// Returns whether a span is part of what was planned: by itself, or because its Pod was on a Node that was rebooted.
    pub(crate) fn is_of_plan(&self, one: &GroupedSpan) -> bool {
        let (root, _, span) = one;
        let outages = self.outages.get_or_init(|| self.planned_outages());
        let mut of_node = outages.iter().filter(|(node, ..)| *node == span.node);
        of_node.any(|(_, from, to)| {
            between(span.from.at, *from) <= SLACK && between(*to, span.from.at) <= RESTARTED
        }) || self.is_planned(root, std::slice::from_ref(one))
    }

    /// Returns whether what a Pod showed began and ended with a planned outage of its Node.
    pub(crate) fn ends_with_plan(&self, span: &SignSpan) -> bool {
        let end = self.objects.timeline.end();
        let (until, most) = match span.end.at() {
            Some(to) => (to, RESTARTED),
            None => (end, SLACK),
        };
        let outages = self.outages.get_or_init(|| self.planned_outages());
        let mut of_node = outages.iter().filter(|(node, ..)| *node == span.node);
        !matches!(
            span.sign.kind,
            SignKind::ImagePull | SignKind::OutOfMemory | SignKind::DrainHeld
        ) && of_node.any(|(_, from, to)| {
            between(span.from.at, *from) <= SLACK && between(*to, until) <= most
        })
    }

    fn planned_outages(&self) -> Vec<(&'a str, RecordedAt, RecordedAt)> {
        let end = self.objects.timeline.end();
        let of_nodes = self.objects.found.spans.iter().filter(|span| {
            matches!(
                span.sign.kind,
                SignKind::NodeNotReady | SignKind::NodeRebooted
            )
        });
        let planned = of_nodes.filter_map(|span| {
            let name = self.objects.timeline.key_of(span.object)?.name;
            let to = span.end.at().unwrap_or(end);
            let is_short = between(span.from.at, to) <= REBOOT;
            (is_short && self.drained.is_reboot(name, span)).then_some((name, span.from.at, to))
        });
        planned.collect()
    }

    /// Returns whether a Node went away because somebody drained and rebooted it, or a Service or a workload was
    /// short of Pods only while that was done. What the recording does not show the end of may still end in time.
    pub(crate) fn is_planned(&self, root: &ProblemObject, spans: &[GroupedSpan]) -> bool {
        spans.iter().all(|(_, shown, span)| {
            let since = span.sign.since.filter(|_| span.is_older);
            let from = since.map_or(span.from.at, |since| since.min(span.from.at));
            let to = span.end.at().unwrap_or(self.objects.timeline.end());
            between(from, to) <= REBOOT
                && match span.sign.kind {
                    SignKind::NodeNotReady | SignKind::NodeRebooted => {
                        self.drained.is_reboot(&shown.name, span)
                    }
                    SignKind::OperatorUnavailable | SignKind::OperatorDegraded => {
                        self.drained.took_node(self.objects.found, span)
                    }
                    SignKind::NoEndpoints => {
                        let services = &self.objects.found.services;
                        let losses = services.losses_of(&shown.namespace, &shown.name);
                        self.drained
                            .took_endpoints(losses, span, &self.objects.by_uid)
                    }
                    SignKind::Unavailable | SignKind::ReplicasMissing => {
                        let pods = self.objects.pods_of(root);
                        let turns = self
                            .objects
                            .found
                            .turns_of(span, self.objects.timeline.end());
                        self.drained.took_pods(&shown.kind, pods, &turns, span)
                    }
                    _ => false,
                }
        })
    }
}
