//! Row 14: in each upgrade a node goes unready at most once, and comes back. Upgrades are counted one by
//! one; the time before the first one is left out.

use super::judged::judged_test;
use crate::builtin::rows::info;
use crate::facts::UpgradeWindow;
use crate::interval::{Interval, source};
use crate::interval_needs::IntervalNeeds;
use crate::verdict::{FindingSubject, JudgeContext, MonitorTest, Needs, TestCase, TestFinding};
use kubereel_format::RecordedAt;
use kubereel_history::timetext;
use std::collections::BTreeMap;

/// Makes the test.
pub(in crate::builtin) fn test() -> Box<dyn MonitorTest> {
    let mut about = info(
        "node-unready-once-per-upgrade",
        "sig-node",
        "pkg/monitortests/node/legacynodemonitortests/kubelet.go",
        "From the begin of an upgrade to the next one or the end, each node becomes not ready at most once, and becomes ready again.",
    );
    // Upstream's test never fails: its condition is never true.
    about.is_flake_only = true;
    let looks_at =
        IntervalNeeds::those(|interval| interval.source.as_str() == source::NODE_MONITOR);
    judged_test(about, Needs::seen("nodes"), looks_at, judge_all)
}

/// What a node did in one upgrade.
#[derive(Debug, Default)]
struct NodeReadiness<'a> {
    unready: Vec<&'a Interval>,
    /// The moment of unreadiness that goes on.
    open: Option<&'a Interval>,
}

impl<'a> NodeReadiness<'a> {
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

    fn findings(&self, name: &str, upgrade: &str) -> Vec<TestFinding> {
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

fn finding(at: &Interval, name: &str, to: Option<RecordedAt>, message: String) -> TestFinding {
    TestFinding {
        subject: FindingSubject::object("nodes", "", name),
        to,
        ..TestFinding::of(at, "NotReady", message)
    }
}

/// Judges what happened from an upgrade's begin to an end.
fn judge(scene: &JudgeContext<'_>, upgrade: &UpgradeWindow, end: RecordedAt) -> Vec<TestFinding> {
    let mut nodes: BTreeMap<&str, NodeReadiness<'_>> = BTreeMap::new();
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

fn judge_all(junit: &str, scene: &JudgeContext<'_>) -> Vec<TestCase> {
    let (start, end) = (scene.intervals.start(), scene.intervals.end());
    let upgrades: Vec<&UpgradeWindow> = scene
        .facts
        .upgrades()
        .iter()
        .filter(|upgrade| upgrade.to.is_none_or(|to| to > start) && upgrade.from <= end)
        .collect();
    let mut case = TestCase::named(junit);
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
