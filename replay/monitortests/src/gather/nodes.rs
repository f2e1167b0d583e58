//! The instants of nodes: ready or not, conditions, machine configs, reachability, pressure. It
//! does not handle spans: they are computed.

use super::ledger::{Draft, Ledger};
use super::mode::Mode;
use crate::feed::{Action, Interest, WatchedEvent, Watcher};
use crate::interval::{Interval, Level, source};
use crate::reading;
use kubereel_cluster::{StatusCondition, is_being_removed};
use serde_json::Value;

const DESIRED: &str = "/metadata/annotations/machineconfiguration.openshift.io~1desiredConfig";
const CURRENT: &str = "/metadata/annotations/machineconfiguration.openshift.io~1currentConfig";

/// What a node reports of being ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadyReport {
    Ready,
    NotReady,
    Unknown,
}

/// Watches nodes.
#[derive(Debug)]
pub(crate) struct Nodes {
    mode: Mode,
    ledger: Ledger,
}

impl Nodes {
    /// Begins to watch.
    pub(crate) fn new(mode: Mode) -> Self {
        Self {
            mode,
            ledger: Ledger::default(),
        }
    }

    /// Returns what was made.
    pub(crate) fn into_intervals(self) -> Vec<Interval> {
        self.ledger.into_intervals().collect()
    }

    /// Reads whether a node is ready. Upstream takes one without the condition for not ready; what it is is not known,
    /// and kubectl prints `Unknown`.
    fn readiness(&self, node: &Value) -> ReadyReport {
        match reading::condition_of(node, "Ready") {
            Some(ready) if ready.is("True") => ReadyReport::Ready,
            None if self.mode.is_exact() => ReadyReport::Unknown,
            _ => ReadyReport::NotReady,
        }
    }

    fn ready(&mut self, seen: &WatchedEvent<'_>, roles: &str) {
        let now = self.readiness(seen.now);
        if seen
            .before
            .is_some_and(|before| self.readiness(before) == now)
        {
            return;
        }
        let (level, reason, words) = match now {
            ReadyReport::Ready => (Level::Info, "Ready", "node is ready"),
            ReadyReport::NotReady => (Level::Warning, "NotReady", "node is not ready"),
            ReadyReport::Unknown => (
                Level::Warning,
                "Unknown",
                "node does not report whether it is ready",
            ),
        };
        let own = self.own_time(seen, "Ready");
        let draft = draft(source::NODE_MONITOR, level, seen)
            .reason(reason)
            .own_time(own);
        self.ledger.add(&draft.with("roles", roles).human(words));
    }

    fn conditions(&mut self, seen: &WatchedEvent<'_>, before: &Value, roles: &str) {
        for now in StatusCondition::all(seen.now) {
            let Some(known) = reading::condition_of(before, now.kind) else {
                continue;
            };
            if known.status == now.status {
                continue;
            }
            let own = self.own_time(seen, now.kind);
            let draft = draft(source::NODE_MONITOR, Level::Warning, seen)
                .reason(now.reason)
                .own_time(own)
                .with("roles", roles)
                .human("changed");
            self.ledger.add(&draft);
        }
    }

    fn config(&mut self, seen: &WatchedEvent<'_>, before: &Value, roles: &str) {
        let desired = reading::text(seen.now, DESIRED);
        let current = reading::text(seen.now, CURRENT);
        let draft = draft(source::NODE_MONITOR, Level::Info, seen)
            .with("roles", roles)
            .with("config", desired);
        if desired != reading::text(before, DESIRED) {
            let draft = draft.clone().reason("MachineConfigChange");
            self.ledger.add(&draft.human("config change requested"));
        }
        if current != reading::text(before, CURRENT) && current == desired {
            let draft = draft.reason("MachineConfigReached");
            self.ledger.add(&draft.human("reached desired config"));
        }
    }

    fn reachability(&mut self, seen: &WatchedEvent<'_>, before: &Value) {
        let unschedulable = reading::at(seen.now, "/spec/unschedulable");
        // Upstream excuses a node without its machine by a cordon alone.
        let is_removed = self.mode.is_exact() && is_being_removed(seen.now);
        let is_schedulable = unschedulable.and_then(Value::as_bool) != Some(true) && !is_removed;
        let is_updating = reading::text(before, CURRENT) != reading::text(seen.now, DESIRED);
        let was_ready = self.readiness(before) == ReadyReport::Ready;
        let is_lost = was_ready && self.readiness(seen.now) == ReadyReport::NotReady;
        if is_lost && !is_updating && is_schedulable {
            let own = self.own_time(seen, "Ready");
            let draft = draft(source::NODE_UNEXPECTED_NOT_READY, Level::Error, seen)
                .reason("UnexpectedNotReady")
                .own_time(own)
                .human("unexpected node not ready");
            self.ledger.add(&draft.drawn());
        }
        if is_unreachable(before) || !is_unreachable(seen.now) {
            return;
        }
        let draft = draft(source::NODE_UNREACHABLE, Level::Info, seen)
            .reason("Unreachable")
            .human("node unreachable");
        self.ledger.add(&draft.drawn());
        if is_schedulable {
            let draft = self::draft(source::NODE_UNREACHABLE, Level::Error, seen)
                .reason("UnexpectedUnreachable")
                .human("unexpected node unreachable");
            self.ledger.add(&draft.drawn());
        }
    }

    fn pressure(&mut self, seen: &WatchedEvent<'_>, before: &Value) {
        let has = |node| {
            reading::condition_of(node, "DiskPressure").is_some_and(|now| now.status == "True")
        };
        let (level, reason, words) = match (has(before), has(seen.now)) {
            (false, true) => (
                Level::Warning,
                "NodeDiskPressure",
                "kubelet began reporting disk pressure",
            ),
            (true, false) => (
                Level::Info,
                "NodeNoDiskPressure",
                "kubelet is not reporting disk pressure",
            ),
            _ => return,
        };
        let own = self.own_time(seen, "DiskPressure");
        let draft = draft(source::NODE_MONITOR, level, seen)
            .reason(reason)
            .own_time(own);
        self.ledger.add(&draft.human(words).drawn());
    }

    /// Returns when a condition got the status that it has now, as its writer says.
    fn own_time(&self, seen: &WatchedEvent<'_>, kind: &str) -> Option<String> {
        let since = reading::condition_of(seen.now, kind).and_then(|now| now.since());
        self.mode.own_time(since, seen.at)
    }
}

impl Watcher for Nodes {
    fn interests(&self) -> Vec<Interest> {
        let paths = [
            "metadata.annotations",
            "metadata.deletionTimestamp",
            "metadata.labels",
            "spec.taints",
            "spec.unschedulable",
            "status.conditions.type",
            "status.conditions.status",
            "status.conditions.reason",
            "status.conditions.lastTransitionTime",
        ];
        vec![Interest::new("", "nodes", paths)]
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        let roles = reading::roles(seen.now);
        match (seen.action, seen.before) {
            (Action::Appeared, _) => self.ready(seen, &roles),
            (Action::Changed, Some(before)) => {
                self.ready(seen, &roles);
                self.conditions(seen, before, &roles);
                self.config(seen, before, &roles);
                self.reachability(seen, before);
                self.pressure(seen, before);
            }
            (Action::Changed, None) => {}
            (Action::Gone, _) => {
                let draft = draft(source::NODE_MONITOR, Level::Warning, seen)
                    .with("roles", &*roles)
                    .reason("Deleted")
                    .human("deleted");
                self.ledger.add(&draft);
            }
        }
    }
}

fn draft<'a>(source: &'a str, level: Level, seen: &WatchedEvent<'a>) -> Draft<'a> {
    Draft::new(source, level, seen.at)
        .about("Node", [("node", seen.key.name)])
        .shown_by(seen.seq)
}

fn is_unreachable(node: &Value) -> bool {
    let taints = reading::list(node, "/spec/taints");
    reading::item(taints, "key", "node.kubernetes.io/unreachable").is_some()
}
