//! Owns rows 7 and 8: what the cluster version says of operators that take too long. Refuses to time
//! operators itself: the version operator does, and says so by Failing=Unknown.

use super::slow_message;
use crate::feed::Watcher;
use crate::interval::{Interval, Intervals};
use crate::known::{component_of_operator, known_operators};
use crate::verdict::{
    About, Case, Finding, LookedAt, MonitorTest, Needs, Scene, Severity, Subject, WrittenIn,
};
use std::collections::BTreeMap;

const MONITOR: &str = "cluster-version-checker";
const ORIGIN: &str =
    "openshift/origin pkg/monitortests/clusterversionoperator/clusterversionchecker";
const VERSIONS: &str = "clusterversions.config.openshift.io";

/// More workers than that are allowed to take their time.
const WORKERS_MOST: u64 = 250;

/// Row 7.
#[derive(Debug)]
pub(super) struct SlowMessages(About);

/// Row 8.
#[derive(Debug)]
pub(super) struct SlowOperators(About);

impl Default for SlowMessages {
    fn default() -> Self {
        Self(About {
            id: "slow-operators-are-named".to_owned(),
            monitor: MONITOR.to_owned(),
            junit: "[bz-Cluster Version Operator] cluster version should not report Failing=Unknown during a normal cluster upgrade".to_owned(),
            description: "When the cluster version suspects that operators are too slow, its message names operators that exist.".to_owned(),
            owner: "Cluster Version Operator".to_owned(),
            origin: ORIGIN.to_owned(),
            is_flake_only: false,
            written_in: WrittenIn::Rust,
        })
    }
}

impl Default for SlowOperators {
    fn default() -> Self {
        Self(About {
            id: "operator-changes-version-in-time".to_owned(),
            monitor: MONITOR.to_owned(),
            junit: "[bz-{component}] clusteroperator/{operator} must complete version change within limited time".to_owned(),
            description: "The cluster version does not suspect an operator of being too slow: 30 minutes, machine-config 90.".to_owned(),
            owner: "Cluster Version Operator".to_owned(),
            origin: ORIGIN.to_owned(),
            is_flake_only: false,
            written_in: WrittenIn::Rust,
        })
    }
}

fn needs() -> Needs {
    Needs {
        objects: Vec::new(),
        seen: vec![VERSIONS.to_owned()],
        facts: false,
    }
}

/// Gives the moments at which the cluster version suspected operators.
fn suspicions(intervals: &Intervals) -> impl Iterator<Item = &Interval> {
    let all = intervals.all().iter();
    all.filter(|interval| is_suspicion(interval))
}

fn is_suspicion(interval: &Interval) -> bool {
    let says = |name: &str| interval.message.annotation(name).unwrap_or_default();
    interval.locator.get("clusterversion") == Some("version")
        && says("condition") == "Failing"
        && says("status") == "Unknown"
        && says("reason") == "SlowClusterOperator"
}

/// Tells why such a cluster is not judged.
fn skipped(scene: &Scene<'_>) -> Option<String> {
    let workers = scene.facts.last().workers?;
    (workers > WORKERS_MOST)
        .then(|| format!("the cluster has {workers} workers, more than {WORKERS_MOST}"))
}

fn finding(interval: &Interval, name: &str, resource: &str, message: String) -> Finding {
    Finding {
        subject: Subject {
            resource: resource.to_owned(),
            namespace: String::new(),
            name: name.to_owned(),
            keys: BTreeMap::new(),
        },
        severity: Severity::Fail,
        from: interval.from,
        to: interval.to,
        reason: "SlowClusterOperator".to_owned(),
        message,
        seq: interval.seq,
    }
}

impl MonitorTest for SlowMessages {
    fn about(&self) -> &About {
        &self.0
    }

    fn needs(&self) -> Needs {
        needs()
    }

    fn looks_at(&self) -> LookedAt {
        LookedAt::those(is_suspicion)
    }

    fn watcher(&mut self) -> Option<&mut dyn Watcher> {
        None
    }

    fn judge(&mut self, scene: &Scene<'_>) -> Vec<Case> {
        let mut case = Case {
            junit: self.0.junit.clone(),
            skipped: skipped(scene),
            ..Case::default()
        };
        if case.skipped.is_none() {
            let all = suspicions(scene.intervals);
            case.findings = all
                .filter_map(|interval| {
                    let error = slow_message::named(&interval.message.human).err()?;
                    let message = format!(
                        "the message of Failing=Unknown is not understood, {error}: {}",
                        interval.message.human
                    );
                    Some(finding(interval, "version", VERSIONS, message))
                })
                .collect();
        }
        vec![case]
    }
}

impl MonitorTest for SlowOperators {
    fn about(&self) -> &About {
        &self.0
    }

    fn needs(&self) -> Needs {
        needs()
    }

    fn looks_at(&self) -> LookedAt {
        LookedAt::those(is_suspicion)
    }

    fn watcher(&mut self) -> Option<&mut dyn Watcher> {
        None
    }

    fn judge(&mut self, scene: &Scene<'_>) -> Vec<Case> {
        let skipped = skipped(scene);
        let mut found: BTreeMap<String, Vec<Finding>> = BTreeMap::new();
        for interval in suspicions(scene.intervals) {
            let named = slow_message::named(&interval.message.human).unwrap_or_default();
            for operator in named {
                let minutes = slow_message::minutes(&operator);
                let message = format!(
                    "{operator} has not completed its version change after {minutes} minutes: {}",
                    interval.message.human
                );
                let resource = "clusteroperators.config.openshift.io";
                let finding = finding(interval, &operator, resource, message);
                found.entry(operator).or_default().push(finding);
            }
        }
        known_operators()
            .map(|operator| {
                let component = component_of_operator(operator);
                let junit = self.0.junit.replace("{operator}", operator);
                Case {
                    junit: junit.replace("{component}", component.unwrap_or("Unknown")),
                    component: component.map(str::to_owned),
                    group: [("operator".to_owned(), operator.to_owned())].into(),
                    findings: match &skipped {
                        Some(_) => Vec::new(),
                        None => found.remove(operator).unwrap_or_default(),
                    },
                    skipped: skipped.clone(),
                    ..Case::default()
                }
            })
            .collect()
    }
}
