//! Owns row 14: in each upgrade a node goes unready at most once, and comes back. Refuses to count
//! across upgrades, and what happened before the first one.

use crate::facts::UpgradeWindow;
use crate::feed::Watcher;
use crate::interval::{Interval, source};
use crate::verdict::{
    About, Case, Finding, LookedAt, MonitorTest, Needs, Scene, Severity, Subject, WrittenIn,
};
use kubereel_format::RecordedAt;
use kubereel_history::timetext;
use std::collections::BTreeMap;

/// Row 14.
#[derive(Debug)]
pub(super) struct NodeUpgrades(About);

impl Default for NodeUpgrades {
    fn default() -> Self {
        Self(About {
            id: "node-unready-once-per-upgrade".to_owned(),
            monitor: "legacy-node-invariants".to_owned(),
            junit: "[sig-node] nodes should not go unready after being upgraded and go unready only once".to_owned(),
            description: "From the begin of an upgrade to the next one or the end, each node becomes not ready at most once, and becomes ready again.".to_owned(),
            owner: "sig-node".to_owned(),
            origin: "openshift/origin pkg/monitortests/node/legacynodemonitortests/kubelet.go".to_owned(),
            is_flake_only: false,
            written_in: WrittenIn::Rust,
        })
    }
}

/// What a node did in one upgrade.
#[derive(Debug, Default)]
struct Node<'a> {
    unready: Vec<&'a Interval>,
    /// The moment of unreadiness that goes on.
    open: Option<&'a Interval>,
}

impl<'a> Node<'a> {
    fn take(&mut self, interval: &'a Interval) {
        match interval.message.reason.as_ref() {
            "NotReady" if self.open.is_none() => {
                self.open = Some(interval);
                self.unready.push(interval);
            }
            "Ready" | "Deleted" => self.open = None,
            _ => {}
        }
    }

    fn findings(&self, name: &str, upgrade: &str) -> Vec<Finding> {
        let mut found = Vec::new();
        let times: Vec<String> = self
            .unready
            .iter()
            .map(|interval| timetext::rfc3339(interval.from))
            .collect();
        if let Some(again) = self.unready.get(1) {
            let message = format!(
                "node {name} became not ready {} times {upgrade}: {}",
                times.len(),
                times.join(", ")
            );
            found.push(finding(again, name, Some(again.from), message));
        }
        if let Some(open) = self.open {
            let message = format!(
                "node {name} became not ready at {} {upgrade} and never became ready again",
                timetext::rfc3339(open.from)
            );
            found.push(finding(open, name, None, message));
        }
        found
    }
}

fn finding(at: &Interval, name: &str, to: Option<RecordedAt>, message: String) -> Finding {
    Finding {
        subject: Subject {
            resource: "nodes".to_owned(),
            namespace: String::new(),
            name: name.to_owned(),
            keys: BTreeMap::new(),
        },
        severity: Severity::Fail,
        from: at.from,
        to,
        reason: "NotReady".to_owned(),
        message,
        seq: at.seq,
    }
}

/// Judges what happened from an upgrade's begin to an end.
fn judge(scene: &Scene<'_>, upgrade: &UpgradeWindow, end: RecordedAt) -> Vec<Finding> {
    let mut nodes: BTreeMap<&str, Node<'_>> = BTreeMap::new();
    let monitored = scene.intervals.of(source::NODE_MONITOR);
    for interval in monitored.filter(|one| upgrade.from <= one.from && one.from < end) {
        if let Some(name) = interval.locator.get("node") {
            nodes.entry(name).or_default().take(interval);
        }
    }
    let which = if upgrade.to_version.is_empty() {
        "in the upgrade".to_owned()
    } else {
        format!("in the upgrade to {}", upgrade.to_version)
    };
    let each = nodes.iter();
    each.flat_map(|(name, node)| node.findings(name, &which))
        .collect()
}

impl MonitorTest for NodeUpgrades {
    fn about(&self) -> &About {
        &self.0
    }

    fn needs(&self) -> Needs {
        Needs {
            objects: Vec::new(),
            seen: vec!["nodes".to_owned()],
            facts: false,
        }
    }

    fn looks_at(&self) -> LookedAt {
        LookedAt::those(|interval| interval.source.as_str() == source::NODE_MONITOR)
    }

    fn watcher(&mut self) -> Option<&mut dyn Watcher> {
        None
    }

    fn judge(&mut self, scene: &Scene<'_>) -> Vec<Case> {
        let (start, end) = (scene.intervals.start(), scene.intervals.end());
        let upgrades: Vec<&UpgradeWindow> = scene
            .facts
            .upgrades()
            .iter()
            .filter(|upgrade| upgrade.to.is_none_or(|to| to > start) && upgrade.from <= end)
            .collect();
        let mut case = Case {
            junit: self.0.junit.clone(),
            ..Case::default()
        };
        if upgrades.is_empty() {
            case.skipped = Some("no upgrade was seen".to_owned());
        }
        // Without an end of their own the moments of the last record count too.
        let last = RecordedAt::from_micros(end.micros.saturating_add(1));
        let ends = upgrades.iter().skip(1).map(|next| next.from).chain([last]);
        for (upgrade, end) in upgrades.iter().zip(ends) {
            case.findings.extend(judge(scene, upgrade, end));
        }
        vec![case]
    }
}
