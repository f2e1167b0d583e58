//! The times in which a node was not ready, was updated, drained or rebooted. It does not doubt:
//! like upstream, it takes drains and reboots from what anybody said about a node.

use super::SpanScope;
use super::states::{Since, States};
use crate::interval::{Display, Interval, IntervalMessage, Level, Locator, Source, source};
use kubereel_cluster::{StateKind, StateTrack};
use kubereel_format::{RecordedAt, worded};
use std::collections::BTreeMap;

const CONSTRUCTED: &str = "node-lifecycle-constructor";

worded! {
/// What a node is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NodeTurn {
    NotReady = "NotReady",
    Update = "Update",
    Drain = "Drain",
    OperatingSystemUpdate = "OperatingSystemUpdate",
    Reboot = "Reboot",
}
}

impl NodeTurn {
    const ALL: [Self; 5] = [
        Self::NotReady,
        Self::Update,
        Self::Drain,
        Self::OperatingSystemUpdate,
        Self::Reboot,
    ];

    const fn row(self) -> &'static str {
        match self {
            Self::NotReady => "NodeNotReady",
            Self::Update => "NodeUpdate",
            _ => "NodeUpdatePhases",
        }
    }

    const fn reason(self) -> &'static str {
        match self {
            Self::NotReady => "NotReady",
            _ => "NodeUpdate",
        }
    }

    /// Returns the words for a phase that was completed; an update has those of the event that did
    /// it.
    const fn words(self) -> &'static str {
        match self {
            Self::NotReady => "node is not ready",
            Self::Update => "reached desired config",
            Self::Drain => "drained node",
            Self::OperatingSystemUpdate => "updated operating system",
            Self::Reboot => "rebooted and kubelet started",
        }
    }
}

/// Returns what a reason closes, and what it opens.
fn changes(reason: &str, is_monitor: bool) -> (&'static [NodeTurn], Option<NodeTurn>) {
    match reason {
        "NotReady" if is_monitor => (&[], Some(NodeTurn::NotReady)),
        "Ready" | "Deleted" if is_monitor => (&[NodeTurn::NotReady], None),
        "MachineConfigChange" if is_monitor => (&[], Some(NodeTurn::Update)),
        "MachineConfigReached" if is_monitor => (&[NodeTurn::Update], None),
        "Cordon" | "Drain" => (&[], Some(NodeTurn::Drain)),
        "OSUpdateStarted" => (&[NodeTurn::Drain], Some(NodeTurn::OperatingSystemUpdate)),
        "Reboot" => (
            &[NodeTurn::Drain, NodeTurn::OperatingSystemUpdate],
            Some(NodeTurn::Reboot),
        ),
        "Starting" => (
            &[
                NodeTurn::Drain,
                NodeTurn::OperatingSystemUpdate,
                NodeTurn::Reboot,
            ],
            None,
        ),
        _ => (&[], None),
    }
}

/// Returns what a reason closes in exact mode beyond that: an update without a reboot ends, too.
fn closed_without_reboot(reason: &str, is_monitor: bool) -> &'static [NodeTurn] {
    match reason {
        "MachineConfigReached" if is_monitor => &[
            NodeTurn::Drain,
            NodeTurn::OperatingSystemUpdate,
            NodeTurn::Reboot,
        ],
        "SkipReboot" => &[NodeTurn::Drain, NodeTurn::OperatingSystemUpdate],
        "Uncordon" => &[NodeTurn::Drain],
        _ => &[],
    }
}

/// Returns whether what anybody said of a node may turn its state, or tells its roles.
pub(super) fn reads(now: &Interval) -> bool {
    let (closed, opened) = changes(&now.message.reason, false);
    let is_turn = !closed.is_empty()
        || opened.is_some()
        || !closed_without_reboot(&now.message.reason, false).is_empty();
    now.locator.keys.contains_key("node") && (is_turn || now.message.annotation("roles").is_some())
}

/// Computes the spans.
pub(super) fn spans(raw: &[Interval], run: &SpanScope<'_>) -> Vec<Interval> {
    let mut made = Vec::new();
    let mut states: States<(&str, NodeTurn)> = States::new();
    let mut known_roles: BTreeMap<&str, &str> = BTreeMap::new();
    for now in raw {
        let Some(node) = now.locator.get("node") else {
            continue;
        };
        if let Some(roles) = now.message.annotation("roles") {
            known_roles.insert(node, roles);
        }
        let is_monitor = now.source.as_str() == source::NODE_MONITOR;
        let (mut closed, opened) = changes(&now.message.reason, is_monitor);
        // Upstream lets an update go on in the next node of the name.
        let is_deleted = run.mode.is_exact() && is_monitor && &*now.message.reason == "Deleted";
        if is_deleted {
            closed = &NodeTurn::ALL;
        }
        let is_derived = |state: &NodeTurn| run.mode.is_exact() && *state == NodeTurn::NotReady;
        let roles = now.message.annotation("roles").unwrap_or_default();
        for &state in closed.iter().filter(|state| !is_derived(state)) {
            let Some(since) = states.close(&(node, state)) else {
                continue;
            };
            let (level, message) = if is_deleted {
                let message = message(state, "not completed: the node was deleted", roles);
                (Level::Warning, message.with("state", state.as_str()))
            } else {
                ended(state, &now.message.human, roles)
            };
            made.push(span(level, node, state, message, since, Some(now.from)));
        }
        if run.mode.is_exact() {
            for &state in closed_without_reboot(&now.message.reason, is_monitor) {
                let since = states.close(&(node, state));
                made.extend(since.map(|since| {
                    let message = message(state, &now.message.human, roles);
                    let message = message.with("phase", state.as_str());
                    span(Level::Info, node, state, message, since, Some(now.from))
                }));
            }
        }
        if let Some(state) = opened.filter(|state| !is_derived(state)) {
            let since = Since {
                from: now.from,
                seq: now.seq,
            };
            states.open((node, state), since);
        }
    }
    for ((node, state), since) in states.still_open() {
        let roles = known_roles.get(node).copied().unwrap_or_default();
        let message = message(state, "never completed", roles).with("state", state.as_str());
        let end = run.open_end();
        made.push(span(Level::Warning, node, state, message, since, end));
    }
    made.extend(not_ready(run.tracks, &known_roles));
    made
}

/// Returns what is said of a state that ended as it does, and how bad it is.
fn ended(state: NodeTurn, human: &str, roles: &str) -> (Level, IntervalMessage) {
    match state {
        NodeTurn::NotReady => (Level::Warning, message(state, state.words(), roles)),
        NodeTurn::Update => {
            let message = message(state, human, roles).with("phase", state.as_str());
            (Level::Info, message)
        }
        _ => {
            let message = message(state, state.words(), roles).with("phase", state.as_str());
            (Level::Info, message)
        }
    }
}

/// Returns the times in which a node reported that it is not ready, as views of its states.
fn not_ready(tracks: &[StateTrack], known_roles: &BTreeMap<&str, &str>) -> Vec<Interval> {
    let mut made = Vec::new();
    let own = tracks.iter().filter(|track| {
        track.object().kind == StateKind::Node && track.aspect().condition() == Some("Ready")
    });
    for track in own {
        let node = track.object().name.as_str();
        let roles = known_roles.get(node).copied().unwrap_or_default();
        let runs = track.runs(|state| &*state.status == "True").into_iter();
        for (_, states) in runs.filter(|(is_ready, _)| !is_ready) {
            let (Some(first), Some(last)) = (states.first(), states.last()) else {
                continue;
            };
            let since = Since {
                from: first.from.at,
                seq: Some(first.from.seq),
            };
            let (words, to) = match last.to {
                Some(to) => (NodeTurn::NotReady.words(), Some(to.at)),
                None => ("never completed", None),
            };
            let mut text = message(NodeTurn::NotReady, words, roles);
            if to.is_none() {
                text = text.with("state", NodeTurn::NotReady.as_str());
            }
            made.push(span(
                Level::Warning,
                node,
                NodeTurn::NotReady,
                text,
                since,
                to,
            ));
        }
    }
    made
}

fn message(state: NodeTurn, words: &str, roles: &str) -> IntervalMessage {
    IntervalMessage::new(words)
        .reason(state.reason())
        .with("constructed", CONSTRUCTED)
        .with("roles", roles)
}

fn span(
    level: Level,
    node: &str,
    state: NodeTurn,
    message: IntervalMessage,
    since: Since,
    to: Option<RecordedAt>,
) -> Interval {
    Interval {
        level,
        source: Source::new(source::NODE_STATE),
        display: Display::Drawn,
        locator: Locator::new("Node", [("node", node), ("row", state.row())]),
        message,
        from: since.from,
        to,
        seq: since.seq,
    }
}
