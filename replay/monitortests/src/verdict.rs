//! The interface of a monitor test: what it is, what it needs, and what it reports.

use crate::applies::{Applicability, AppliesTo, RuleClass};
use crate::facts::FactsOverTime;
use crate::feed::Watcher;
use crate::interval::{Interval, Intervals, Locator};
use crate::interval_needs::IntervalNeeds;
use kubereel_cluster::ClusterHistory;
use kubereel_format::{RecordedAt, Seq};
use kubereel_history::Timeline;
use serde::Deserialize;
use std::collections::BTreeMap;

/// In what a monitor test is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenIn {
    /// The rule language.
    Yaml,
    /// Rust, because the language cannot say it.
    Rust,
}

/// What a monitor test is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MonitorTestInfo {
    /// Its own short name, unique, of lower-case letters, digits and dashes: `operator-available`.
    pub id: String,
    /// The upstream monitor test that it belongs to, without `[Monitor:…]`.
    pub monitor: String,
    /// The names that its cases have in JUnit, with places such as `{operator}`; without `[Monitor:…]`
    /// and `[Jira:…]`.
    pub junit: String,
    /// What it looks for, in a sentence or two.
    pub description: String,
    /// Who answers for it: a team, a SIG or a component.
    pub owner: String,
    /// Where the rule comes from: an upstream source or a document.
    pub origin: String,
    /// Whether it never fails a run, only flakes.
    pub is_flake_only: bool,
    /// Whether its verdicts inform and do not block, even those that fail a run.
    pub is_informing: bool,
    /// What it is about.
    pub class: RuleClass,
    /// To which clusters it applies.
    pub applies_to: AppliesTo,
    /// In what it is written.
    pub written_in: WrittenIn,
}

impl MonitorTestInfo {
    /// Returns the lifecycle of its cases in JUnit: `informing` where a failure blocks nothing.
    pub(crate) const fn lifecycle(&self) -> &'static str {
        if self.is_informing || self.is_flake_only {
            "informing"
        } else {
            "blocking"
        }
    }

    /// Returns whether it judges a cluster, by what is known of it; that cluster may not serve what it reads.
    pub fn judges(&self, cluster: &FactsOverTime) -> bool {
        let applicability = self.applies_to.on(self.class, cluster, |_resource| true);
        !matches!(applicability, Applicability::None(_))
    }
}

/// What a monitor test must have to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Resources whose objects it reads, as `plural` or `plural.group`; with any of them, a file of
    /// intervals is not enough. Where one was not recorded at all, it is skipped; where it was not seen
    /// for a while, the test itself says so in its cases, for it knows which times matter.
    pub objects: Vec<String>,
    /// Resources like `objects`: one of them is enough.
    pub any_of: Vec<String>,
    /// Resources from whose objects its intervals are made, `plural` or `plural.group`: where they were
    /// not recorded it is skipped, and where they were not seen all the time, its cases without findings
    /// are unknown: the run adds those times to them.
    pub seen: Vec<String>,
    /// Whether it needs to know what cluster it was.
    pub facts: bool,
}

impl Needs {
    /// Needs to see the objects that intervals are made of.
    pub(crate) fn seen(resource: &str) -> Self {
        Self {
            seen: vec![resource.to_owned()],
            ..Self::default()
        }
    }
}

/// A time in which what a case judges was not seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaseGap {
    /// When it began.
    pub from: RecordedAt,
    /// When it ended.
    pub to: RecordedAt,
    /// What was not seen and why, for people.
    pub why: String,
}

/// What a monitor test says of one case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestCase {
    /// The name in JUnit, places filled in; without `[Monitor:…]` and `[Jira:…]`.
    pub junit: String,
    /// The component for `[Jira:"…"]`; `None` where none is known, and then no prefix is written.
    pub component: Option<String>,
    /// What the case is for, such as `operator` or `namespace`.
    pub group: BTreeMap<String, String>,
    /// What was found wrong.
    pub findings: Vec<TestFinding>,
    /// The number of objects beyond the limit, which may have been wrong and were not judged.
    pub not_kept: u64,
    /// Where nothing could be seen: a case without findings that has any is unknown, not passed.
    pub dark: Vec<CaseGap>,
    /// Why it was not judged.
    pub skipped: Option<String>,
    /// Why it could not be judged: an error of the rule, with object and moment.
    pub error: Option<String>,
}

/// How many times that are not known a case names.
const MAX_DARK: usize = 20;

impl TestCase {
    /// Makes a case without findings.
    pub(crate) fn named(junit: impl Into<String>) -> Self {
        Self {
            junit: junit.into(),
            ..Self::default()
        }
    }

    /// Notes a time in which something was not known.
    pub(crate) fn doubt(&mut self, dark: CaseGap) {
        if self.dark.len() < MAX_DARK && !self.dark.contains(&dark) {
            self.dark.push(dark);
        }
    }

    /// Makes findings of an unknown phase of the cluster gaps: they count in some phases only.
    pub(crate) fn doubt_unknown_phases(mut self, scene: &JudgeContext<'_>) -> Self {
        for finding in std::mem::take(&mut self.findings) {
            match scene.phase_gap(&finding) {
                Some(dark) => self.doubt(dark),
                None => self.findings.push(finding),
            }
        }
        self
    }
}

/// How bad a finding is before exceptions are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It makes the case flake.
    Flake,
    /// It makes the case fail.
    #[default]
    Fail,
}

/// What a finding is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FindingSubject {
    /// The resource, `pods` or `clusteroperators.config.openshift.io`; empty if it is not an object.
    pub resource: String,
    /// The namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// The name; may be empty.
    pub name: String,
    /// More keys, such as `container` or `node`.
    pub keys: BTreeMap<String, String>,
}

/// The keys of locators that name an object, and the resource of that object.
const LOCATOR_RESOURCES: [(&str, &str); 12] = [
    ("pod", "pods"),
    ("clusteroperator", "clusteroperators.config.openshift.io"),
    ("clusterversion", "clusterversions.config.openshift.io"),
    ("deployment", "deployments.apps"),
    ("daemonset", "daemonsets.apps"),
    ("statefulset", "statefulsets.apps"),
    ("replicaset", "replicasets.apps"),
    ("job", "jobs.batch"),
    ("machine", "machines.machine.openshift.io"),
    ("service", "services"),
    ("node", "nodes"),
    ("namespace", "namespaces"),
];

impl FindingSubject {
    /// Makes the subject of an object; the namespace is empty for a cluster-scoped one.
    pub(crate) fn object(resource: &str, namespace: &str, name: &str) -> Self {
        Self {
            resource: resource.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            keys: BTreeMap::new(),
        }
    }

    /// Returns the subject of a locator.
    ///
    /// The object is the first that its keys name; the keys that say more, such as `container`, are kept.
    pub(crate) fn of(locator: &Locator) -> Self {
        let named = LOCATOR_RESOURCES
            .iter()
            .find_map(|(key, resource)| Some((*key, *resource, locator.get(key)?)));
        let (of, resource, name) = named.unwrap_or_default();
        let namespace = if matches!(of, "namespace" | "node") {
            ""
        } else {
            locator.get("namespace").unwrap_or_default()
        };
        let more = locator
            .keys
            .iter()
            .filter(|(key, _)| key.as_ref() != of && !matches!(key.as_ref(), "namespace" | "hmsg"));
        Self {
            resource: resource.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            keys: more
                .map(|(key, value)| (key.to_string(), value.to_string()))
                .collect(),
        }
    }
}

/// Something found wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestFinding {
    /// What it is about.
    pub subject: FindingSubject,
    /// How bad it is.
    pub severity: Severity,
    /// When it began.
    pub from: RecordedAt,
    /// When it ended; the same moment for an instant, `None` if it did not.
    pub to: Option<RecordedAt>,
    /// A word for programs, such as a condition's reason; may be empty.
    pub reason: String,
    /// What is wrong, for people, with values of the evidence.
    pub message: String,
    /// The record that shows it.
    pub seq: Option<Seq>,
    /// When its subject was first observed, if it may have begun before.
    pub shown_at: Option<RecordedAt>,
}

impl TestFinding {
    /// Makes a failure of what an interval shows, for as long as it lasts.
    pub(crate) fn of(interval: &Interval, reason: &str, message: String) -> Self {
        Self {
            subject: FindingSubject::of(&interval.locator),
            severity: Severity::Fail,
            from: interval.from,
            to: interval.to,
            reason: reason.to_owned(),
            message,
            seq: interval.seq,
            shown_at: None,
        }
    }
}

/// What a monitor test judges by, besides what it saw itself.
#[derive(Clone, Copy)]
pub struct JudgeContext<'a> {
    /// The intervals of the run, raw and computed: at least those that the monitor test looks at.
    pub intervals: &'a Intervals,
    /// What cluster it was, over time; nothing is known for a file of intervals.
    pub facts: &'a FactsOverTime,
    /// The cluster of the reel, up to its end, without versions that cannot be read; `None` for a file of
    /// intervals.
    pub cluster: Option<ClusterHistory<'a>>,
    /// Where each resource, `plural` or `plural.group`, was not seen.
    pub dark: &'a BTreeMap<String, Vec<CaseGap>>,
    /// Why each resource, `plural` or `plural.group`, that the cluster has was not recorded.
    pub not_recorded: &'a BTreeMap<String, String>,
    /// Tells why a resource was never seen.
    pub(crate) missing: &'a dyn Fn(&str) -> Option<String>,
}

impl JudgeContext<'_> {
    /// Tells why a resource, `plural` or `plural.group`, was never seen; `None` if it was.
    pub fn why_missing(&self, resource: &str) -> Option<String> {
        (self.missing)(resource)
    }

    /// Returns the times in which any of some resources was not observed, in order.
    pub(crate) fn gaps<'r>(&self, resources: impl IntoIterator<Item = &'r str>) -> Vec<CaseGap> {
        let gaps = resources
            .into_iter()
            .filter_map(|resource| self.dark.get(resource));
        let mut gaps: Vec<CaseGap> = gaps.flatten().cloned().collect();
        gaps.sort();
        gaps.dedup();
        gaps
    }

    /// Returns what a finding is instead if it counts in some phases of the cluster only, and the one in
    /// which it began is unknown; `None` if the phase is known.
    pub(crate) fn phase_gap(&self, finding: &TestFinding) -> Option<CaseGap> {
        let why = self.facts.unknown_phase(finding.from)?;
        Some(CaseGap {
            from: finding.from,
            to: finding.to.unwrap_or(self.intervals.end()),
            why: format!(
                "the phase of the cluster is unknown ({why}), and this does not count in every phase: {}",
                finding.message
            ),
        })
    }
}

/// A monitor test.
pub trait MonitorTest {
    /// Returns what it is.
    fn about(&self) -> &MonitorTestInfo;

    /// Returns what it does, as text, a line each; for a rule of the language made from its
    /// definition. Empty where the description says it all.
    fn in_words(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns what it needs to run.
    fn needs(&self) -> Needs {
        Needs::default()
    }

    /// Returns which intervals it looks at when it judges; called before the run. Intervals that no
    /// monitor test reads may be missing then.
    fn looks_at(&self) -> IntervalNeeds {
        IntervalNeeds::All
    }

    /// Prepares for the pass over a reel; not called for a file of intervals, nor where something that
    /// it needs is missing.
    fn begin(&mut self, _timeline: &Timeline) {}

    /// Returns its watcher, if it watches objects.
    fn watcher(&mut self) -> Option<&mut dyn Watcher> {
        None
    }

    /// Judges, after the pass. Asked once.
    fn judge(&mut self, scene: &JudgeContext<'_>) -> Vec<TestCase>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_object_of_a_locator_is_found_by_its_keys() {
        let keys = [
            ("namespace", "n"),
            ("pod", "p"),
            ("node", "m0"),
            ("hmsg", "0a"),
        ];
        let subject = FindingSubject::of(&Locator::new("Kind", keys));
        assert_eq!(
            (subject.resource.as_str(), subject.namespace.as_str()),
            ("pods", "n")
        );
        assert_eq!(subject.name, "p");
        assert_eq!(subject.keys.get("node").map(String::as_str), Some("m0"));
        assert_eq!(subject.keys.len(), 1);
        let node = FindingSubject::of(&Locator::new("Node", [("node", "m0"), ("namespace", "x")]));
        assert_eq!(
            (node.resource.as_str(), node.namespace.as_str()),
            ("nodes", "")
        );
        let unknown = FindingSubject::of(&Locator::new("Kind", [("widget", "w")]));
        assert_eq!(unknown.resource, "");
        assert_eq!(unknown.keys.get("widget").map(String::as_str), Some("w"));
    }
}
