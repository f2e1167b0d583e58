//! The finding of facts: which objects tell them, and how their words are read. It does not handle
//! guesses: a word that is not known is no fact.

use super::history::VersionHistory;
use super::known::{Facts, NETWORKS, PLATFORMS, short_word};
use super::over_time::FactsOverTime;
use super::suite::{self, SuiteUpgrades};
use crate::feed::{Action, Interest, WatchedEvent, Watcher};
use crate::reading;
use kubereel_format::{Evidence, RecordedAt};
use kubereel_history::EventText;
use serde_json::Value;
use std::collections::BTreeMap;

/// Finds facts.
#[derive(Debug)]
pub(crate) struct FactsWatcher {
    events_group: &'static str,
    now: Facts,
    steps: Vec<(RecordedAt, Facts)>,
    history: VersionHistory,
    nodes: BTreeMap<String, NodeFacts>,
    /// The upgrades that the test suite says it ran.
    suite: SuiteUpgrades,
}

#[derive(Debug, PartialEq, Eq)]
struct NodeFacts {
    is_master: bool,
    is_worker: bool,
    architecture: String,
}

impl FactsWatcher {
    /// Begins to watch; Events are read from a group.
    pub(crate) fn new(events_group: &'static str) -> Self {
        Self {
            events_group,
            now: Facts::default(),
            steps: Vec::new(),
            history: VersionHistory::default(),
            nodes: BTreeMap::new(),
            suite: SuiteUpgrades::default(),
        }
    }

    /// Returns what was found in a run that began at `start`: upgrades that were over by then are
    /// left out.
    pub(crate) fn into_facts(self, start: RecordedAt) -> FactsOverTime {
        let install = self.history.install();
        let installed = install.as_ref().filter(|install| install.is_completed);
        let installed = installed.and_then(|install| install.to);
        let mut upgrades = if install.is_some() {
            self.history.upgrades()
        } else {
            self.suite.windows("", "")
        };
        upgrades.retain(|upgrade| upgrade.to.is_none_or(|to| to > start));
        FactsOverTime {
            steps: self.steps,
            upgrades,
            suite: self.suite,
            installed,
            saw_install: self.history.saw_install(),
            install,
            none: Facts::default(),
            is_openshift: false,
            no_history: None,
        }
    }

    fn infrastructure(&mut self, object: &Value) {
        let word = |pointer| known(reading::text(object, pointer));
        self.now.topology = word("/status/controlPlaneTopology");
        self.now.infrastructure_topology = word("/status/infrastructureTopology");
        let mut platform = reading::text(object, "/status/platformStatus/type");
        if platform.is_empty() {
            platform = reading::text(object, "/status/platform");
        }
        self.now.platform = short_word(&PLATFORMS, platform);
    }

    fn network(&mut self, object: &Value) {
        let mut kind = reading::text(object, "/status/networkType");
        if kind.is_empty() {
            kind = reading::text(object, "/spec/networkType");
        }
        self.now.network = short_word(&NETWORKS, kind);
        let networks = reading::list(object, "/spec/clusterNetwork").iter();
        let ranges = networks.map(|network| reading::text(network, "/cidr"));
        let (six, four): (Vec<&str>, Vec<&str>) = ranges
            .filter(|range| !range.is_empty())
            .partition(|range| range.contains(':'));
        self.now.ip_stack = match (four.is_empty(), six.is_empty()) {
            (false, false) => Some("Dual".to_owned()),
            (false, true) => Some("IPv4".to_owned()),
            (true, false) => Some("IPv6".to_owned()),
            (true, true) => None,
        };
    }

    fn version(&mut self, object: &Value, at: RecordedAt) {
        self.history.see(object, at);
        let entries = reading::list(object, "/status/history").iter();
        let versions: Vec<String> = entries
            .map(|entry| reading::text(entry, "/version").to_owned())
            .collect();
        let known_version = |place: usize| versions.get(place).and_then(|word| known(word));
        // Before its history begins, the object says only what is wanted.
        let desired = || known(reading::text(object, "/status/desired/version"));
        self.now.version = known_version(0).or_else(desired);
        self.now.from_version = known_version(1);
        self.now.history = versions;
    }

    fn node(&mut self, seen: &WatchedEvent<'_>) {
        if seen.action == Action::Gone {
            self.nodes.remove(seen.key.name);
        } else {
            let roles = reading::roles(seen.now);
            let has = |role| roles.split(',').any(|known| known == role);
            let is_master = has("master") || has("control-plane");
            let node = NodeFacts {
                is_master,
                // Where nobody names roles, a node that is none of the control plane works.
                is_worker: has("worker") || !is_master,
                architecture: reading::text(seen.now, "/status/nodeInfo/architecture").to_owned(),
            };
            self.nodes.insert(seen.key.name.to_owned(), node);
        }
        let count = |is: fn(&NodeFacts) -> bool| {
            let found = self.nodes.values().filter(|node| is(node)).count();
            u64::try_from(found).ok()
        };
        self.now.workers = count(|node| node.is_worker);
        self.now.masters = count(|node| node.is_master);
        // An external control plane has no nodes; then any node tells.
        let mut masters = self.nodes.values().filter(|node| node.is_master);
        let node = masters.next().or_else(|| self.nodes.values().next());
        self.now.architecture = node.and_then(|node| known(&node.architecture));
    }

    fn suite_event(&mut self, seen: &WatchedEvent<'_>) {
        let said = EventText::of(seen.now);
        if seen.action != Action::Gone
            && (seen.key.namespace, said.kind(), said.name()) == suite::ABOUT
        {
            // What was there before the recorder looked may be of any earlier upgrade.
            let is_new = seen.evidence != Evidence::Initial;
            self.suite.take(said.reason(), seen.at, is_new);
        }
    }
}

impl Watcher for FactsWatcher {
    fn interests(&self) -> Vec<Interest> {
        let config = "config.openshift.io";
        vec![
            Interest::new(
                config,
                "infrastructures",
                [
                    "status.controlPlaneTopology",
                    "status.infrastructureTopology",
                    "status.platformStatus.type",
                    "status.platform",
                ],
            ),
            Interest::new(
                config,
                "networks",
                [
                    "status.networkType",
                    "spec.networkType",
                    "spec.clusterNetwork",
                ],
            ),
            Interest::new(
                config,
                "clusterversions",
                ["metadata.uid", "status.history", "status.desired.version"],
            ),
            Interest::new(
                "",
                "nodes",
                ["metadata.labels", "status.nodeInfo.architecture"],
            ),
            Interest::new(
                self.events_group,
                "events",
                [
                    "reason",
                    "involvedObject.kind",
                    "involvedObject.name",
                    "regarding.kind",
                    "regarding.name",
                ],
            )
            .without_ends(),
        ]
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        let is = |name: &str| seen.key.name == name && seen.action != Action::Gone;
        match seen.resource.plural.as_str() {
            "infrastructures" if is("cluster") => self.infrastructure(seen.now),
            "networks" if is("cluster") => self.network(seen.now),
            "clusterversions" if is("version") => self.version(seen.now, seen.at),
            "nodes" => self.node(seen),
            "events" => return self.suite_event(seen),
            _ => return,
        }
        if self.steps.last().is_none_or(|(_, last)| *last != self.now) {
            self.steps.push((seen.at, self.now.clone()));
        }
    }
}

fn known(word: &str) -> Option<String> {
    (!word.is_empty()).then(|| word.to_owned())
}
