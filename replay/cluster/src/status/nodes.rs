//! The assessment of nodes and pools at a moment, by the rules of `oc adm upgrade status`. Layered
//! images are not supported: a node with an image of its own is treated as that command treats it
//! in a pool without one.

use super::answer::{
    Assessment, Impact, Insight, InsightLevel, NodeAssessment, NodePhase, NodeState, PoolState,
};
use crate::objects::{DRAIN, NodeObject, PoolObject, VersionObject};
use kubereel_format::RecordedAt;
use std::collections::BTreeMap;

const MINUTE_MICROS: i64 = 60 * 1_000_000;

/// The shortest name that is removed from messages.
const SHORT_NAME: usize = 8;

/// The context for nodes.
pub(super) struct NodeRelease<'a> {
    /// The version in the newest entry of the history.
    pub(super) version: &'a str,
    /// Whether only the image changes, at the moment.
    pub(super) is_migrating: bool,
    /// The release of each configuration.
    pub(super) releases: &'a BTreeMap<String, String>,
    /// Whether the configurations that the pools have are those of that version: the operator that renders them
    /// has it.
    pub(super) is_rendered: bool,
    pub(super) now: RecordedAt,
}

impl<'a> NodeRelease<'a> {
    pub(super) fn of(
        version: &'a VersionObject,
        (is_migrating, is_rendered): (bool, bool),
        releases: &'a BTreeMap<String, String>,
        now: RecordedAt,
    ) -> Self {
        let newest = version.status.history.first();
        Self {
            version: newest.map_or("", |newest| newest.version.as_str()),
            is_migrating,
            releases,
            is_rendered,
            now,
        }
    }

    fn release_of(&self, config: &str) -> Option<&str> {
        let release = self.releases.get(config).map(String::as_str);
        release.filter(|release| !release.is_empty())
    }
}

/// Judges a pool and its nodes.
pub(super) fn pool(
    name: &str,
    pool: &PoolObject,
    nodes: &[(&str, &NodeObject)],
    release: &NodeRelease<'_>,
    insights: &mut Vec<Insight>,
) -> PoolState {
    let each = nodes
        .iter()
        .map(|(name, one)| node(name, one, pool, release, insights));
    let mut nodes: Vec<NodeState> = each.collect();
    nodes.sort_by(|a, b| {
        let key = |node: &NodeState| (node.assessment, node.phase);
        key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
    });
    let mut state = PoolState {
        name: name.to_owned(),
        assessment: Assessment::Empty,
        is_paused: pool.spec.paused,
        nodes,
    };
    state.assessment = assess(&state);
    let paused = state.count(|node| node.phase == NodePhase::Paused);
    if paused > 0 {
        insights.push(Insight {
            level: InsightLevel::Warning,
            impact: Impact::UpdateStalled,
            summary: format!("Outdated nodes in a paused pool '{name}' will not be updated"),
            description: String::new(),
            since: None,
        });
    }
    state
}

fn assess(pool: &PoolState) -> Assessment {
    let all = pool.nodes.len();
    let in_phase = |phase| pool.count(|node| node.phase == phase);
    if all == 0 {
        Assessment::Empty
    } else if pool.updated() == all {
        Assessment::Completed
    } else if in_phase(NodePhase::Pending) == all {
        Assessment::Pending
    } else if pool.count(|node| node.is_degraded) > 0 {
        Assessment::Degraded
    } else if in_phase(NodePhase::Paused) > 0 {
        Assessment::Excluded
    } else {
        Assessment::Progressing
    }
}

fn node(
    name: &str,
    node: &NodeObject,
    pool: &PoolObject,
    release: &NodeRelease<'_>,
    insights: &mut Vec<Insight>,
) -> NodeState {
    let (current, desired) = (node.noted("currentConfig"), node.noted("desiredConfig"));
    let version = release.release_of(current);
    let is_same = current == desired;
    let is_of_pool = desired == pool.spec.configuration.name;
    // A reel need not have the configurations, which may hold secrets: then the pool's own is that of the version.
    let is_known = release.releases.contains_key(current);
    let is_updated = if is_known {
        version == Some(release.version)
            && (!release.is_migrating || desired.is_empty() || (is_same && is_of_pool))
    } else {
        release.is_rendered && is_same && is_of_pool
    };
    let is_wanted = if is_known {
        version.is_some() && release.release_of(desired) == Some(release.version)
    } else {
        release.is_rendered
    };
    let is_updating = !is_updated && is_wanted && !is_same && is_of_pool;
    let phase = phase(node, pool, is_updating, is_updated);
    let mut assessment = match phase {
        NodePhase::Draining | NodePhase::Updating | NodePhase::Rebooting => {
            NodeAssessment::Progressing
        }
        NodePhase::Paused => NodeAssessment::Excluded,
        NodePhase::Pending => NodeAssessment::Outdated,
        NodePhase::Updated => NodeAssessment::Completed,
    };
    let troubles = troubles(name, node);
    let mut message = String::new();
    if !troubles.is_empty() && !is_updating {
        assessment = NodeAssessment::Unavailable;
        message = joined(&troubles, |trouble| trouble.word);
        insights.extend(insight(&troubles, release.now));
    }
    let is_degraded = node.is_degraded();
    if is_degraded {
        assessment = NodeAssessment::Degraded;
        node.noted("reason").clone_into(&mut message);
        insights.push(Insight {
            level: InsightLevel::Error,
            impact: Impact::UpdateStalled,
            summary: format!("Node {name} is degraded"),
            description: message.clone(),
            since: None,
        });
    }
    if name.len() >= SHORT_NAME {
        message = message.replace(name, "<node>");
    }
    NodeState {
        name: name.to_owned(),
        assessment,
        phase,
        version: version.unwrap_or_default().to_owned(),
        message,
        is_available: troubles.is_empty(),
        is_degraded,
    }
}

fn phase(node: &NodeObject, pool: &PoolObject, is_updating: bool, is_updated: bool) -> NodePhase {
    if is_updating {
        return match node.noted("state") {
            _ if is_draining(node) => NodePhase::Draining,
            "Rebooting" => NodePhase::Rebooting,
            "Done" => NodePhase::Updated,
            _ => NodePhase::Updating,
        };
    }
    if is_updated {
        NodePhase::Updated
    } else if pool.spec.paused {
        NodePhase::Paused
    } else {
        NodePhase::Pending
    }
}

/// Returns whether a node that is being updated is being drained, or about to be.
fn is_draining(node: &NodeObject) -> bool {
    let (desired, applied) = (node.noted("desiredDrain"), node.noted("lastAppliedDrain"));
    if desired.is_empty() || applied.is_empty() {
        return false;
    }
    let is_asked = desired != applied && desired.starts_with(DRAIN);
    is_asked || node.noted("state") == "Done"
}

/// A condition that keeps Pods from a node.
struct NodeTrouble {
    word: &'static str,
    summary: String,
    description: String,
    since: Option<RecordedAt>,
    /// After how long it is reported; `None` if it passes by itself.
    patience_micros: Option<i64>,
}

fn troubles(name: &str, node: &NodeObject) -> Vec<NodeTrouble> {
    let mut all = Vec::new();
    for (kind, well, word, summary, minutes) in [
        ("Ready", "True", "Not ready", "is not ready", 5),
        (
            "DiskPressure",
            "False",
            "Disk pressure",
            "has disk pressure",
            1,
        ),
        (
            "NetworkUnavailable",
            "False",
            "Network unavailable",
            "has unavailable network",
            1,
        ),
    ] {
        let ill = node.condition(kind).filter(|condition| !condition.is(well));
        all.extend(ill.map(|condition| NodeTrouble {
            word,
            summary: format!("Node {name} {summary}"),
            description: condition.message.to_owned(),
            since: condition.since(),
            patience_micros: Some(minutes * MINUTE_MICROS),
        }));
    }
    let passing = |word: &'static str| NodeTrouble {
        word,
        summary: word.to_owned(),
        description: String::new(),
        since: None,
        patience_micros: None,
    };
    if node.is_unschedulable() {
        all.push(passing("Node is marked unschedulable"));
    }
    let (current, desired) = (node.noted("currentConfig"), node.noted("desiredConfig"));
    let state = node.noted("state");
    let is_done = !current.is_empty() && current == desired && state == "Done";
    let has_given_up = matches!(state, "Degraded" | "Unreconcilable");
    if all.is_empty() && !is_done && !has_given_up {
        all.push(passing("Machine Config Daemon is processing the node"));
    }
    all
}

fn joined<'a>(troubles: &'a [NodeTrouble], part: impl Fn(&'a NodeTrouble) -> &'a str) -> String {
    let parts: Vec<&str> = troubles.iter().map(part).collect();
    parts.join(" | ")
}

/// Returns the conditions that do not pass by themselves.
fn insight(troubles: &[NodeTrouble], now: RecordedAt) -> Option<Insight> {
    let is_serious = |trouble: &NodeTrouble| {
        trouble.patience_micros.is_some_and(|patience| {
            trouble
                .since
                .is_none_or(|since| now.micros_since(since) >= patience)
        })
    };
    troubles.iter().any(is_serious).then(|| Insight {
        level: InsightLevel::Warning,
        impact: Impact::UpdateSpeed,
        summary: joined(troubles, |trouble| &trouble.summary),
        description: joined(troubles, |trouble| &trouble.description),
        since: troubles.iter().filter_map(|trouble| trouble.since).min(),
    })
}
