//! Failed retrievals of a release's payload (OTA-1321): each attempt with the states of its Pod, the
//! Events about it, and what `ClusterVersion` reported.
//!
//! In Rust, because an attempt is put together of Pods that are deleted, Events that are counted up and
//! a condition that keeps the last message alone: `kubereel_cluster` does that.

use super::judged::judged_test;
use crate::applies::{AppliesTo, ClusterKind, RuleClass};
use crate::interval_needs::IntervalNeeds;
use crate::known::component_of_namespace;
use crate::verdict::{
    CaseGap, FindingSubject, JudgeContext, MonitorTest, MonitorTestInfo, Needs, Severity, TestCase,
    TestFinding, WrittenIn,
};
use kubereel_cluster::{Retrieval, VersionPod};
use kubereel_format::RecordedAt;
use kubereel_history::timetext;

const NAMESPACE: &str = "openshift-cluster-version";
const VERSIONS: &str = "clusterversions.config.openshift.io";
const READS: [&str; 3] = ["pods", "events", VERSIONS];

/// Returns the test.
pub(in crate::builtin) fn test() -> Box<dyn MonitorTest> {
    let about = MonitorTestInfo {
        id: "version-pods".to_owned(),
        monitor: "version-pods".to_owned(),
        junit: "[bz-Cluster Version Operator] release payloads should be retrieved at the first attempt"
            .to_owned(),
        description: "No attempt to retrieve the payload of a release fails. Each failed attempt lists the states of its Pod, the Events about it, and what ClusterVersion reported.".to_owned(),
        owner: "Cluster Version Operator".to_owned(),
        origin: "OTA-1321; openshift/cluster-version-operator pkg/cvo/updatepayload.go".to_owned(),
        is_flake_only: true,
        is_informing: false,
        class: RuleClass::Upgrade,
        applies_to: AppliesTo {
            cluster: ClusterKind::OpenShift,
            ..AppliesTo::default()
        },
        written_in: WrittenIn::Rust,
    };
    let needs = Needs {
        objects: READS.iter().map(ToString::to_string).collect(),
        ..Needs::default()
    };
    judged_test(about, needs, IntervalNeeds::None, judge)
}

fn judge(junit: &str, scene: &JudgeContext<'_>) -> Vec<TestCase> {
    let mut case = TestCase {
        component: component_of_namespace(NAMESPACE).map(str::to_owned),
        dark: scene.gaps(READS),
        ..TestCase::named(junit)
    };
    let retrievals = scene
        .cluster
        .map(|cluster| cluster.retrievals(cluster.timeline().last_cut()));
    match retrievals.transpose() {
        Ok(retrievals) => {
            let attempts = retrievals.map_or_else(Vec::new, |all| all.attempts);
            let numbered = (1_usize..).zip(&attempts);
            case.findings = numbered
                .filter_map(|(nth, attempt)| finding(attempt, nth, attempts.len()))
                .collect();
        }
        Err(error) => case.error = Some(error.to_string()),
    }
    if let Some(cluster) = scene.cluster.filter(|cluster| cluster.has_skipped()) {
        let timeline = cluster.timeline();
        case.doubt(CaseGap {
            from: timeline.start(),
            to: timeline.end(),
            why: "versions of ClusterVersion, Pods or Events cannot be read".to_owned(),
        });
    }
    vec![case]
}

/// Returns what a failed attempt shows; `None` where it did not fail.
fn finding(attempt: &Retrieval, nth: usize, count: usize) -> Option<TestFinding> {
    let (word, _) = attempt.cause()?;
    let reason = word.strip_prefix("Init:").unwrap_or(word);
    let pod = attempt.pod.as_ref();
    let mut lines = vec![pod.map_or_else(
        || format!("attempt {nth} of {count} failed before there was a version Pod: {reason}"),
        |pod| {
            let (name, node) = (&pod.name, &pod.node);
            format!("attempt {nth} of {count} failed: version Pod {name} on {node}: {reason}")
        },
    )];
    if !attempt.image.is_empty() {
        lines.push(format!("image {}", attempt.image));
    }
    let steps = steps(attempt).into_iter();
    lines.extend(steps.map(|(at, text)| format!("{} {text}", timetext::rfc3339(at))));
    let first = attempt.began.unwrap_or(attempt.first);
    Some(TestFinding {
        subject: pod.map_or_else(
            || FindingSubject::object(VERSIONS, "", "version"),
            |pod| FindingSubject::object("pods", NAMESPACE, &pod.name),
        ),
        severity: Severity::Flake,
        from: first.at,
        to: attempt.end.as_ref().map(|end| end.mark.at),
        reason: reason.to_owned(),
        message: lines.join("\n"),
        seq: Some(first.seq),
        shown_at: pod.map(|pod| pod.created.at),
    })
}

/// Lists what happened during an attempt, in order.
fn steps(attempt: &Retrieval) -> Vec<(RecordedAt, String)> {
    let pod = attempt.pod.as_ref();
    let states = pod.into_iter().flat_map(|pod| &pod.states);
    let states = states.map(|state| {
        let message = with_message(&state.word, &state.message);
        (state.mark.at, format!("the Pod is {message}"))
    });
    let warnings = attempt
        .events
        .iter()
        .filter(|event| event.severity == "Warning")
        .map(|event| {
            let text = format!("Event {}: {}", event.reason, event.message);
            (event.mark.at, text)
        });
    let end = attempt.end.iter().map(|end| {
        let text = with_message(&format!("{} failed", end.failed_step), &end.message);
        (end.mark.at, text)
    });
    let told = attempt.reported.iter().map(|told| {
        let reason = &told.reason;
        let text = format!("ReleaseAccepted=False ({reason}): {}", told.message);
        (told.mark.at, format!("ClusterVersion reported {text}"))
    });
    let deleted = pod.and_then(|pod: &VersionPod| pod.deleted);
    let deleted = deleted.map(|mark| (mark.at, "the Pod was deleted".to_owned()));
    let all = states.chain(warnings).chain(end).chain(told).chain(deleted);
    let mut all: Vec<(RecordedAt, String)> = all.collect();
    all.sort_by_key(|(at, _)| *at);
    all
}

fn with_message(what: &str, message: &str) -> String {
    match message.trim_end() {
        "" => what.to_owned(),
        message => format!("{what}: {message}"),
    }
}
