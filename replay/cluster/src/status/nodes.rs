//! The assessment of nodes and pools at a moment, by the rules of `oc adm upgrade status`. Layered
//! images are not supported: a node with an image of its own is treated as that command treats it
//! in a pool without one.

use super::answer::{
    Assessment, Impact, Insight, InsightLevel, NodeAssessment, NodePhase, NodeState, PoolState,
};
use crate::condition::StatusCondition;
use crate::objects::{DRAIN, NodeObject, OperatorObject, PoolObject};
use kubereel_format::RecordedAt;
use std::collections::BTreeMap;

const MINUTE_MICROS: i64 = 60 * 1_000_000;

/// The shortest name that is removed from messages.
const SHORT_NAME: usize = 8;

/// The context for nodes.
pub(super) struct NodeRelease<'a> {
    /// The version in the newest entry of the history.
    pub(super) version: &'a str,
    /// Whether the update is to another image of the same version.
    pub(super) is_same_version: bool,
    /// Whether such an update runs at the moment.
    pub(super) is_migrating: bool,
    /// The release of each recorded configuration.
    pub(super) releases: &'a BTreeMap<String, String>,
    /// Whether the configurations that the pools have are those of that version.
    pub(super) is_rendered: bool,
    pub(super) now: RecordedAt,
}

impl NodeRelease<'_> {
    /// Returns the release of a configuration; `None` if it is not known.
    fn release_of(&self, config: &str) -> Option<&str> {
        let recorded = self.releases.get(config).map(String::as_str);
        // An update to another image of the version does not change it.
        let unchanged = || (self.is_same_version && !config.is_empty()).then_some(self.version);
        recorded
            .or_else(unchanged)
            .filter(|release| !release.is_empty())
    }

    /// Returns whether a configuration is one of the version.
    fn has_version(&self, config: &str, pool: &PoolObject) -> bool {
        if let Some(release) = self.release_of(config) {
            return release == self.version;
        }
        // A reel need not have the configurations, which may hold secrets: then the pool's own is
        // that of the version.
        self.is_unrecorded(config) && self.is_rendered && config == pool.spec.configuration.name
    }

    fn is_unrecorded(&self, config: &str) -> bool {
        !config.is_empty() && !self.releases.contains_key(config)
    }
}

/// Returns whether the pools have the configurations of the version that the cluster moves to, by
/// what their operator and they themselves report.
///
/// The operator reports its version at the end of its update only; before, it is Progressing exactly
/// while it runs with another version than it reports. It renders the configurations of all pools at
/// once: as soon as one of them is being updated since then, all have theirs.
pub(super) fn is_rendered<'a>(
    version: &str,
    operator: &OperatorObject,
    mut pools: impl Iterator<Item = &'a PoolObject>,
) -> bool {
    let since = |condition: Option<StatusCondition<'_>>| {
        condition
            .filter(|condition| condition.is("True"))
            .and_then(|condition| condition.since())
    };
    if operator.version_of("operator") == Some(version) {
        return true;
    }
    let began = since(operator.condition("Progressing"));
    began.is_some_and(|began| {
        pools.any(|pool| {
            let conditions = &pool.status.conditions;
            since(StatusCondition::find(conditions, "Updating")).is_some_and(|at| at >= began)
        })
    })
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
        reported: StatusCondition::find(&pool.status.conditions, "Updated")
            .is_some_and(|updated| updated.is("False"))
            .then_some(pool.status.updated_machine_count),
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
    let is_updated = release.has_version(current, pool)
        && (!release.is_migrating || desired.is_empty() || (is_same && is_of_pool));
    let is_wanted =
        (version.is_some() || release.is_unrecorded(current)) && release.has_version(desired, pool);
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn operator(version: &str, progressing: &str) -> OperatorObject {
        let object: Value = json!({"status": {
            "versions": [{"name": "operator", "version": version}],
            "conditions": [{
                "type": "Progressing", "status": progressing,
                "lastTransitionTime": "2026-11-21T10:30:00Z",
            }],
        }});
        serde_json::from_value(object).expect("an operator")
    }

    fn pool(updating: &str, since: &str) -> PoolObject {
        let object: Value = json!({
            "spec": {"configuration": {"name": "new"}},
            "status": {"conditions": [
                {"type": "Updating", "status": updating, "lastTransitionTime": since},
            ]},
        });
        serde_json::from_value(object).expect("a pool")
    }

    #[test]
    fn pools_have_the_new_configurations_once_one_is_updated_since_the_operator_moves() {
        let (before, after) = ("2026-11-21T10:29:59Z", "2026-11-21T10:31:00Z");
        let is_rendered = |operator: OperatorObject, pools: &[PoolObject]| {
            is_rendered("2", &operator, pools.iter())
        };
        let waits = || pool("False", before);
        assert!(is_rendered(operator("2", "False"), &[]));
        assert!(is_rendered(
            operator("1", "True"),
            &[waits(), pool("True", after)]
        ));
        // What a pool began earlier is not of this update.
        assert!(!is_rendered(
            operator("1", "True"),
            &[waits(), pool("True", before)]
        ));
        assert!(!is_rendered(operator("1", "True"), &[waits()]));
        assert!(!is_rendered(operator("1", "False"), &[pool("True", after)]));
    }

    #[test]
    fn a_configuration_that_was_not_recorded_is_known_by_its_pool() {
        let releases = BTreeMap::from([("recorded".to_owned(), "1".to_owned())]);
        let release = |is_rendered, is_same_version| NodeRelease {
            version: "2",
            is_same_version,
            is_migrating: false,
            releases: &releases,
            is_rendered,
            now: RecordedAt::default(),
        };
        let pool = pool("True", "2026-11-21T10:31:00Z");
        let rendered = release(true, false);
        let has = |config: &str| rendered.has_version(config, &pool);
        assert_eq!(
            [has("new"), has("old"), has("recorded"), has("")],
            [true, false, false, false]
        );
        assert!(!release(false, false).has_version("new", &pool));
        // The image changes, the version does not.
        assert!(release(false, true).has_version("old", &pool));
        assert!(!release(false, true).has_version("", &pool));
    }
}
