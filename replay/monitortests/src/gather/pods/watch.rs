//! The watch over pods: which instants a pod's coming, change and going make, in upstream's order.
//! It does not handle spans: they are computed.

use super::changes;
use super::containers;
use super::last::{LastPod, PodName};
use super::shared_ips::SharedIps;
use crate::feed::{Action, Interest, WatchedEvent, Watcher};
use crate::gather::ledger::{Draft, Ledger};
use crate::gather::mode::Mode;
use crate::interval::{Level, source};
use crate::reading;
use kubereel_format::{ObjectId, RecordedAt};
use serde_json::Value;
use std::collections::BTreeMap;

/// Watches pods.
#[derive(Debug)]
pub(crate) struct PodsWatcher {
    mode: Mode,
    ledger: Ledger,
    ips: SharedIps,
    last: BTreeMap<ObjectId, (PodName, LastPod)>,
}

impl PodsWatcher {
    /// Begins to watch.
    pub(crate) fn new(mode: Mode) -> Self {
        Self {
            mode,
            ledger: Ledger::default(),
            ips: SharedIps::default(),
            last: BTreeMap::new(),
        }
    }

    /// Returns what was made, and each pod as it was last seen.
    pub(crate) fn into_parts(self) -> (Ledger, BTreeMap<PodName, LastPod>) {
        let last = self.last.into_values().collect();
        (self.ledger, last)
    }
}

impl Watcher for PodsWatcher {
    fn interests(&self) -> Vec<Interest> {
        let mut paths = vec![
            "metadata.creationTimestamp".to_owned(),
            "metadata.deletionTimestamp".to_owned(),
            "metadata.deletionGracePeriodSeconds".to_owned(),
            // Names of annotations have dots, and a path's parts are divided by them.
            "metadata.annotations".to_owned(),
            "spec.nodeName".to_owned(),
            "spec.restartPolicy".to_owned(),
            "spec.terminationGracePeriodSeconds".to_owned(),
            "status.phase".to_owned(),
            "status.reason".to_owned(),
            "status.message".to_owned(),
        ];
        paths.extend(SharedIps::PATHS.map(str::to_owned));
        for list in [
            "containerStatuses",
            "initContainerStatuses",
            "ephemeralContainerStatuses",
        ] {
            for field in [
                "name",
                "ready",
                "restartCount",
                "containerID",
                "state",
                "lastState",
            ] {
                paths.push(format!("status.{list}.{field}"));
            }
        }
        vec![Interest::new("", "pods", paths.iter().map(String::as_str))]
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        let uid = seen.key.uid.text();
        let pod = WatchedPod {
            mode: self.mode,
            seen,
            uid: &uid,
        };
        let ledger = &mut self.ledger;
        match (seen.action, seen.before) {
            (Action::Appeared, _) | (Action::Changed, None) => {
                let created = reading::time(pod.now(), "/metadata/creationTimestamp");
                let draft = pod.draft(Level::Info).reason("Created");
                let own = pod.own_time(created);
                ledger.add(&draft.own_time_of("creationTimestamp", own));
                changes::scheduled(pod, None, ledger);
                containers::life(pod, None, ledger);
                containers::readiness(pod, None, ledger);
                changes::pending(pod, None, ledger);
                if self.mode.is_exact() {
                    changes::deletion(pod, &Value::Null, ledger);
                }
            }
            (Action::Changed, Some(before)) => {
                changes::pending(pod, Some(before), ledger);
                changes::scheduled(pod, Some(before), ledger);
                containers::life(pod, Some(before), ledger);
                containers::readiness(pod, Some(before), ledger);
                changes::phase(pod, before, ledger);
                changes::deletion(pod, before, ledger);
                changes::lost_statuses(pod, before, ledger);
                changes::node(pod, before, ledger);
            }
            (Action::Gone, _) => changes::gone(pod, ledger),
        }
        self.ips.take(pod, ledger);
        let last = self.last.entry(seen.object);
        let last = last.or_insert_with(|| {
            let key = seen.key;
            let name = PodName {
                namespace: key.namespace.into(),
                name: key.name.into(),
                uid: pod.uid.into(),
            };
            (name, LastPod::default())
        });
        last.1 = LastPod::of(seen.now);
    }
}

/// A pod that is seen.
#[derive(Clone, Copy)]
pub(super) struct WatchedPod<'a> {
    pub(super) mode: Mode,
    pub(super) seen: &'a WatchedEvent<'a>,
    uid: &'a str,
}

impl<'a> WatchedPod<'a> {
    /// Returns the object.
    pub(super) const fn now(self) -> &'a Value {
        self.seen.now
    }

    /// Returns the time that the pod gives to what is seen of it now, where it says more than the
    /// time at which it was received.
    pub(super) fn own_time(self, said: Option<RecordedAt>) -> Option<String> {
        self.mode.own_time(said, self.seen.at)
    }

    /// Begins an instant about the pod.
    pub(super) fn draft(self, level: Level) -> Draft<'a> {
        Draft::new(source::POD_MONITOR, level, self.seen.at)
            .about("Pod", self.keys())
            .shown_by(self.seen.seq)
    }

    /// Begins an instant about one of its containers.
    pub(super) fn container(self, name: &'a str, level: Level) -> Draft<'a> {
        let keys = self.keys().into_iter().chain([("container", name)]);
        Draft::new(source::POD_MONITOR, level, self.seen.at)
            .about("Container", keys)
            .shown_by(self.seen.seq)
    }

    fn keys(self) -> [(&'a str, &'a str); 5] {
        [
            ("namespace", self.seen.key.namespace),
            ("pod", self.seen.key.name),
            ("uid", self.uid),
            ("node", reading::text(self.now(), "/spec/nodeName")),
            ("mirror-uid", mirror(self.now())),
        ]
    }
}

/// Returns the annotation by which a static pod's mirror names it; empty for other pods.
pub(super) fn mirror(pod: &Value) -> &str {
    reading::text(pod, "/metadata/annotations/kubernetes.io~1config.mirror")
}
