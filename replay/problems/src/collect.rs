//! The one pass over a reel: signs become spans of time.
//!
//! - A span begins with the version that first shows the sign and ends with the first that does not, or
//!   with the object's deletion. It is ordered by record, as states are.
//! - A sign that comes back shortly after it ended continues its span: a container that crashes runs in
//!   between.
//! - What an object says about its own times stands beside a span and never moves its bounds.

use crate::endpoints::ServiceEndpoints;
use crate::event_words::{RegardedObject, WarningEvents};
use crate::sign::{Sign, SignKind, items, text};
use crate::signs::{self, Reading};
use crate::span::{SignEnd, SignSpan, between, is_creation};
use kubereel_cluster::RecordMark;
use kubereel_format::{Evidence, ObjectId, RecordedAt};
use kubereel_history::{Timeline, timetext};
use kubereel_monitortests::{Action, Interest, Seen, Watcher};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// More spans are only counted.
const MOST_SPANS: usize = 50_000;
/// More changes of one holder are not kept.
const MOST_HANDOVERS: usize = 1_000;
/// The holder of a Lease that changes this often in [`FLAPPING`] is flapping.
const HANDOVERS: usize = 3;
/// The time in which changes of a Lease's holder are counted.
const FLAPPING: Duration = Duration::from_mins(10);
/// A certificate that lives no longer than this, and is not renewed, is about to expire.
const EXPIRING: Duration = Duration::from_hours(24);

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
    node: String,
}

/// How far the installation of an OpenShift cluster is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Installation {
    /// The reel does not show one.
    #[default]
    None,
    /// It goes on until the end of the reel.
    Running,
    /// It was complete then.
    Done(RecordedAt),
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
    /// When the first installation of an OpenShift cluster was complete.
    pub(crate) installed: Installation,
    /// The controllers' uids of `ReplicaSets`, with how often a new one came to replace another.
    pub(crate) rollouts: Vec<(ObjectId, RecordedAt)>,
    /// The Nodes that ran Pods of each namespace: node and namespace.
    pub(crate) pods_on: BTreeSet<(String, String)>,
    /// Objects that ended well: Jobs that completed.
    pub(crate) succeeded: BTreeSet<ObjectId>,
}

/// Takes what a reel says, and makes spans of it.
#[derive(Debug)]
pub(crate) struct SignCollector {
    interests: Vec<Interest>,
    /// When the recording began: what an import has from then may be older.
    start: RecordedAt,
    tracked: BTreeMap<ObjectId, TrackedSigns>,
    handovers: BTreeMap<ObjectId, LeaseHolders>,
    /// The uids of the Deployments that have a `ReplicaSet`.
    deployed: BTreeSet<String>,
    found: Collected,
}

#[derive(Debug, Default)]
struct LeaseHolders {
    last: String,
    changes: Vec<(RecordMark, String)>,
}

/// How often a sign comes back within this time without having ended.
const fn merge_gap(kind: SignKind) -> Duration {
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
                    of(&mut ["spec.holderIdentity"].into_iter()).without_ends()
                }
                ("", "endpoints") | ("apps", "controllerrevisions") => continue,
                _ => of(&mut signs::paths(info)),
            });
        }
        Self {
            interests,
            start: timeline.start(),
            tracked: BTreeMap::new(),
            handovers: BTreeMap::new(),
            deployed: BTreeSet::new(),
            found: Collected::default(),
        }
    }

    /// Ends the pass.
    pub(crate) fn finish(mut self, end: RecordedAt) -> Collected {
        for (object, holders) in std::mem::take(&mut self.handovers) {
            for span in holders.flapping(object, end) {
                self.keep(span);
            }
        }
        let tracked = std::mem::take(&mut self.tracked);
        for span in tracked.into_values().flat_map(|tracked| tracked.spans) {
            self.keep(span);
        }
        self.found.event_spans = self.found.events.spans(end);
        self.found
    }

    fn keep(&mut self, span: SignSpan) {
        if self.found.spans.len() < MOST_SPANS {
            self.found.spans.push(span);
        } else {
            self.found.dropped += 1;
        }
    }

    /// Takes what a version says of an object.
    fn apply(&mut self, seen: &Seen<'_>, object: ObjectId, reading: Reading) {
        let mark = RecordMark {
            seq: seen.seq,
            at: seen.at,
        };
        let is_older = match seen.evidence {
            Evidence::Initial => true,
            Evidence::Imported => seen.at <= self.start,
            _ => false,
        };
        let tracked = self.tracked.entry(object).or_default();
        tracked.take(object, mark, is_older, reading);
    }

    fn end(&mut self, seen: &Seen<'_>, object: ObjectId) {
        let Some(tracked) = self.tracked.remove(&object) else {
            return;
        };
        for mut span in tracked.spans {
            if span.end == SignEnd::Open {
                span.close(SignEnd::Deleted(seen.at.max(span.from.at)));
            }
            self.keep(span);
        }
    }

    fn take_version(&mut self, seen: &Seen<'_>) {
        let mut history = items(seen.now, "/status/history").iter();
        let is_done = history.any(|entry| text(entry, "/state") == "Completed");
        let is_first = self.found.installed == Installation::None;
        self.found.installed = match self.found.installed {
            Installation::Running if is_done => Installation::Done(seen.at),
            // It was complete before the recording.
            Installation::None if is_done => Installation::Done(RecordedAt::from_micros(i64::MIN)),
            Installation::None if is_first => Installation::Running,
            installed => installed,
        };
    }

    fn take_lease(&mut self, seen: &Seen<'_>) {
        if seen.key.namespace == "kube-node-lease" {
            return;
        }
        let holder = text(seen.now, "/spec/holderIdentity");
        let holders = self.handovers.entry(seen.object).or_default();
        if holder.is_empty() || holders.last == holder {
            return;
        }
        if !holders.last.is_empty() && holders.changes.len() < MOST_HANDOVERS {
            let mark = RecordMark {
                seq: seen.seq,
                at: seen.at,
            };
            holders.changes.push((mark, holder.to_owned()));
        }
        holder.clone_into(&mut holders.last);
    }
}

impl Watcher for SignCollector {
    fn interests(&self) -> Vec<Interest> {
        self.interests.clone()
    }

    fn seen(&mut self, seen: &Seen<'_>) {
        match (seen.resource.group.as_str(), seen.resource.plural.as_str()) {
            ("" | "events.k8s.io", "events") => return self.found.events.take(seen),
            ("coordination.k8s.io", "leases") => return self.take_lease(seen),
            ("discovery.k8s.io", "endpointslices") | ("", "services") => {
                if let Some((service, reading)) = self.found.services.take(seen) {
                    self.apply(seen, service, reading);
                }
                if seen.resource.plural == "services" && seen.action == Action::Gone {
                    self.end(seen, seen.object);
                }
                return;
            }
            _ => {}
        }
        if seen.action == Action::Gone {
            self.end(seen, seen.object);
            return;
        }
        if seen.action == Action::Appeared
            && let Some(controller) = ControllerRef::of(seen.now)
        {
            let is_rollout = seen.resource.plural == "replicasets"
                && !self.deployed.insert(controller.uid.clone())
                && is_creation(seen.evidence);
            if is_rollout && self.found.rollouts.len() < MOST_SPANS {
                self.found.rollouts.push((seen.object, seen.at));
            }
            self.found.controllers.insert(seen.object, controller);
        }
        let mut reading = signs::read(seen.resource, seen.now);
        if seen.resource.group == "cert-manager.io" && seen.resource.plural == "certificates" {
            reading.signs.extend(expiring(seen.now, seen.at));
        }
        let info = seen.resource;
        if info.plural == "clusterversions" && info.group == "config.openshift.io" {
            self.take_version(seen);
        }
        if info.plural == "jobs" && info.group == "batch" && reading.is_well {
            self.found.succeeded.insert(seen.object);
        }
        if !reading.signs.is_empty() || reading.is_well || self.tracked.contains_key(&seen.object) {
            let node = text(seen.now, "/spec/nodeName").to_owned();
            if !node.is_empty() {
                let place = (node.clone(), seen.key.namespace.clone());
                self.found.pods_on.insert(place);
            }
            self.apply(seen, seen.object, reading);
            if let Some(tracked) = self.tracked.get_mut(&seen.object)
                && !node.is_empty()
            {
                tracked.node = node;
            }
        }
    }
}

impl TrackedSigns {
    fn take(&mut self, object: ObjectId, mark: RecordMark, is_older: bool, reading: Reading) {
        for span in &mut self.spans {
            let is_shown = reading
                .signs
                .iter()
                .any(|sign| (sign.kind, &sign.part) == (span.sign.kind, &span.sign.part));
            if span.end == SignEnd::Open && !is_shown {
                span.close(SignEnd::Recovered(mark.at.max(span.from.at)));
            }
        }
        for sign in reading.signs {
            let known = self
                .spans
                .iter_mut()
                .rfind(|span| (span.sign.kind, &span.sign.part) == (sign.kind, &sign.part));
            match known {
                Some(span)
                    // What was well in between is another time.
                    if span.was_well == self.was_well
                        && span
                        .end
                        .at()
                        .is_none_or(|to| between(to, mark.at) <= merge_gap(sign.kind)) =>
                {
                    if span.end != SignEnd::Open {
                        span.count += 1;
                        span.run_from = mark.at;
                        span.end = SignEnd::Open;
                    }
                    span.seen = mark.at;
                    span.sign.update(sign);
                    self.node.clone_into(&mut span.node);
                }
                _ => self.spans.push(SignSpan {
                    object,
                    sign,
                    from: mark,
                    is_older,
                    end: SignEnd::Open,
                    shown: Duration::ZERO,
                    run_from: mark.at,
                    seen: mark.at,
                    was_well: self.was_well,
                    count: 1,
                    node: self.node.clone(),
                }),
            }
        }
        self.was_well |= reading.is_well;
    }
}

impl Sign {
    /// Takes a later reading of the same sign. A back-off says less than the error before it.
    fn update(&mut self, later: Self) {
        let is_back_off = later.reason.ends_with("BackOff") && self.kind == SignKind::ImagePull;
        if is_back_off && !self.message.is_empty() {
            return;
        }
        self.reason = later.reason;
        self.is_failure |= later.is_failure;
        if !later.message.is_empty() {
            self.message = later.message;
        }
    }
}

impl ControllerRef {
    fn of(object: &Value) -> Option<Self> {
        let owners = items(object, "/metadata/ownerReferences").iter();
        let mut controlling = owners.filter(|owner| crate::sign::is_true(owner, "/controller"));
        let owner = controlling.next()?;
        Some(Self {
            kind: text(owner, "/kind").to_owned(),
            name: text(owner, "/name").to_owned(),
            uid: text(owner, "/uid").to_owned(),
        })
    }
}

/// Gives the Pod of a holder, without the suffix that a new process makes anew.
fn instance(holder: &str) -> &str {
    holder.split_once('_').map_or(holder, |(name, _)| name)
}

impl LeaseHolders {
    /// Makes spans of the times in which the holder changed too often.
    fn flapping(self, object: ObjectId, end: RecordedAt) -> Vec<SignSpan> {
        let mut spans: Vec<SignSpan> = Vec::new();
        for window in self.changes.windows(HANDOVERS) {
            let (Some((first, _)), Some((last, holder))) = (window.first(), window.last()) else {
                continue;
            };
            // Each Pod of a rollout holds a Lease once: a holder that comes back does not.
            let names: BTreeSet<&str> = window.iter().map(|(_, holder)| instance(holder)).collect();
            if between(first.at, last.at) > FLAPPING || names.len() == window.len() {
                continue;
            }
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
                from: *first,
                is_older: false,
                end: to,
                shown: between(first.at, last.at),
                run_from: last.at,
                seen: last.at,
                was_well: true,
                count,
                node: String::new(),
            });
        }
        spans
    }
}

/// Reads whether a certificate expires soon and is not renewed.
fn expiring(certificate: &Value, at: RecordedAt) -> Option<Sign> {
    let ends = text(certificate, "/status/notAfter");
    let not_after = timetext::parsed(ends)?;
    let renewal = timetext::parsed(text(certificate, "/status/renewalTime"));
    let is_renewed = renewal.is_some_and(|renewal| between(renewal, at).is_zero());
    let is_soon = between(at, not_after) <= EXPIRING;
    (is_soon && !is_renewed).then(|| {
        let verb = if not_after <= at {
            "expired"
        } else {
            "expires"
        };
        Sign::new(
            SignKind::Certificate,
            "",
            &format!("the certificate {verb} at {ends}"),
        )
    })
}
