//! Rows 7 and 8: what the cluster version reports of operators that take too long.
//!
//! The version operator measures the time and reports it by Failing=Unknown; nothing is timed here.

use super::judged::judged_test;
use crate::builtin::rows::info;
use crate::interval::{Interval, Intervals};
use crate::interval_needs::IntervalNeeds;
use crate::known::{component_of_operator, known_operators};
use crate::verdict::{
    FindingSubject, JudgeContext, MonitorTest, MonitorTestInfo, Needs, TestCase, TestFinding,
};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

const ORIGIN: &str = "pkg/monitortests/clusterversionoperator/clusterversionchecker";
const OWNER: &str = "Cluster Version Operator";
const VERSIONS: &str = "clusterversions.config.openshift.io";

/// More workers than that are allowed to take their time.
const WORKERS_MOST: u64 = 250;

/// Makes the test of the messages, row 7.
pub(in crate::builtin) fn messages_test() -> Box<dyn MonitorTest> {
    let about = info(
        "slow-operators-are-named",
        OWNER,
        ORIGIN,
        "When the cluster version suspects that operators are too slow, its message names operators that exist.",
    );
    test(about, judge_messages)
}

/// Makes the test of the operators, row 8.
pub(in crate::builtin) fn operators_test() -> Box<dyn MonitorTest> {
    let about = info(
        "operator-changes-version-in-time",
        OWNER,
        ORIGIN,
        "The cluster version does not suspect an operator of being too slow: 30 minutes, machine-config 90.",
    );
    test(about, judge_operators)
}

fn test(
    about: MonitorTestInfo,
    judge: fn(&str, &JudgeContext<'_>) -> Vec<TestCase>,
) -> Box<dyn MonitorTest> {
    let looks_at = IntervalNeeds::those(is_suspicion);
    judged_test(about, Needs::seen(VERSIONS), looks_at, judge)
}

/// Returns the moments at which the cluster version suspected operators.
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
fn skipped(scene: &JudgeContext<'_>) -> Option<String> {
    let workers = scene.facts.last().workers?;
    (workers > WORKERS_MOST)
        .then(|| format!("the cluster has {workers} workers, more than {WORKERS_MOST}"))
}

fn finding(interval: &Interval, resource: &str, name: &str, message: String) -> TestFinding {
    TestFinding {
        subject: FindingSubject::object(resource, "", name),
        ..TestFinding::of(interval, "SlowClusterOperator", message)
    }
}

fn judge_messages(junit: &str, scene: &JudgeContext<'_>) -> Vec<TestCase> {
    let mut case = TestCase {
        skipped: skipped(scene),
        ..TestCase::named(junit)
    };
    if case.skipped.is_none() {
        let all = suspicions(scene.intervals);
        case.findings = all
            .filter_map(|interval| {
                let error = named(&interval.message.human).err()?;
                let message = format!(
                    "the message of Failing=Unknown is not understood, {error}: {}",
                    interval.message.human
                );
                Some(finding(interval, VERSIONS, "version", message))
            })
            .collect();
    }
    vec![case]
}

fn judge_operators(junit: &str, scene: &JudgeContext<'_>) -> Vec<TestCase> {
    let skipped = skipped(scene);
    let mut found: BTreeMap<String, Vec<TestFinding>> = BTreeMap::new();
    for interval in suspicions(scene.intervals) {
        let named = named(&interval.message.human).unwrap_or_default();
        for operator in named {
            let minutes = minutes(&operator);
            let message = format!(
                "{operator} has not completed its version change after {minutes} minutes: {}",
                interval.message.human
            );
            let resource = "clusteroperators.config.openshift.io";
            let finding = finding(interval, resource, &operator, message);
            found.entry(operator).or_default().push(finding);
        }
    }
    known_operators()
        .map(|operator| {
            let component = component_of_operator(operator);
            let junit = junit.replace("{operator}", operator);
            TestCase {
                junit: junit.replace("{component}", component.unwrap_or("Unknown")),
                component: component.map(str::to_owned),
                group: [("operator".to_owned(), operator.to_owned())].into(),
                findings: match &skipped {
                    Some(_) => Vec::new(),
                    None => found.remove(operator).unwrap_or_default(),
                },
                skipped: skipped.clone(),
                ..TestCase::default()
            }
        })
        .collect()
}

/// After how many minutes the cluster version complains of an operator.
const USUAL_MINUTES: u32 = 30;

/// The operator that rolls the nodes, and its minutes.
const NODES: (&str, u32) = ("machine-config", 90);

static LONGER: LazyLock<Regex> =
    LazyLock::new(|| compiled("waiting on.*which is longer than expected"));
static NODES_LONGER: LazyLock<Regex> = LazyLock::new(|| compiled("machine-config over 90 minutes"));
static NAMES: LazyLock<Regex> = LazyLock::new(|| compiled(".*waiting on (.+) over 30 minutes"));

#[expect(
    clippy::expect_used,
    reason = "the patterns are constants, and tests match each"
)]
fn compiled(text: &str) -> Regex {
    Regex::new(text).expect("a regex")
}

/// Returns after how many minutes an operator is too slow.
pub(super) fn minutes(operator: &str) -> u32 {
    if operator == NODES.0 {
        NODES.1
    } else {
        USUAL_MINUTES
    }
}

/// Returns the operators that a message names.
///
/// # Errors
/// What is not understood of it, as text.
pub(super) fn named(message: &str) -> Result<Vec<String>, String> {
    if !LONGER.is_match(message) {
        return Err("it does not say who is waited for longer than expected".to_owned());
    }
    let mut operators = BTreeSet::new();
    if NODES_LONGER.is_match(message) {
        operators.insert(NODES.0.to_owned());
    }
    if let Some(names) = NAMES.captures(message).and_then(|found| found.get(1)) {
        for name in names.as_str().split(',') {
            operators.insert(name.trim().to_owned());
        }
    }
    let unknown: Vec<&str> = operators
        .iter()
        .map(String::as_str)
        .filter(|name| !known_operators().any(|known| known == *name))
        .collect();
    if !unknown.is_empty() {
        return Err(format!("unknown operators {}", unknown.join(", ")));
    }
    if operators.is_empty() {
        return Err("it names no operator".to_owned());
    }
    Ok(operators.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_found_in_every_form() {
        let told = |detail: &str| named(&format!("Working towards 4.22.0: 1 of 9 done, {detail}"));
        let names = |names: &[&str]| Ok(names.iter().map(|&name| name.to_owned()).collect());
        for (detail, expected) in [
            (
                "waiting on etcd over 30 minutes which is longer than expected",
                names(&["etcd"]),
            ),
            (
                "waiting on dns, etcd over 30 minutes which is longer than expected",
                names(&["dns", "etcd"]),
            ),
            (
                "waiting on etcd over 30 minutes and machine-config over 90 minutes which is longer than expected",
                names(&["etcd", "machine-config"]),
            ),
            (
                "waiting on machine-config over 90 minutes which is longer than expected",
                names(&["machine-config"]),
            ),
        ] {
            assert_eq!(told(detail), expected, "{detail}");
        }
    }

    #[test]
    fn what_is_not_understood_says_why() {
        for (message, why) in [
            ("waiting on etcd", "longer than expected"),
            (
                "waiting on etcd over 40 minutes which is longer than expected",
                "names no operator",
            ),
            (
                "waiting on web, etcd over 30 minutes which is longer than expected",
                "operators web",
            ),
        ] {
            let error = named(message).expect_err("not understood");
            assert!(error.contains(why), "{error}");
        }
    }
}
