//! Whether the recording is complete.
//!
//! In Rust, because gaps are not objects.

use super::judged::judged_test;
use crate::applies::{AppliesTo, RuleClass};
use crate::interval_needs::IntervalNeeds;
use crate::verdict::{
    CaseGap, FindingSubject, JudgeContext, MonitorTest, MonitorTestInfo, Needs, Severity, TestCase,
    TestFinding, WrittenIn,
};
use std::collections::BTreeMap;

/// Why nothing is known of a cluster whose API server was not reached.
const NOTHING: &str = "no resource was recorded";

/// Returns the test.
pub(in crate::builtin) fn test() -> Box<dyn MonitorTest> {
    let about = MonitorTestInfo {
        id: "recording-complete".to_owned(),
        monitor: "recording".to_owned(),
        junit: "the recording should show every resource all the time".to_owned(),
        description: "The recorder saw every resource from the begin to the end. This is about the recording, not about the cluster: where it has gaps, other tests that find nothing are unknown.".to_owned(),
        owner: "kubereel".to_owned(),
        origin: "our own".to_owned(),
        is_flake_only: true,
        is_informing: false,
        class: RuleClass::Fault,
        applies_to: AppliesTo::default(),
        written_in: WrittenIn::Rust,
    };
    judged_test(about, Needs::default(), IntervalNeeds::None, judge)
}

fn judge(junit: &str, scene: &JudgeContext<'_>) -> Vec<TestCase> {
    // One outage hides many resources: it is one finding with their names.
    let mut gaps: BTreeMap<(i64, i64), (&CaseGap, Vec<&str>)> = BTreeMap::new();
    for (resource, dark) in scene.dark {
        for dark in dark {
            gaps.entry((dark.from.micros, dark.to.micros))
                .or_insert_with(|| (dark, Vec::new()))
                .1
                .push(resource);
        }
    }
    let findings = gaps
        .into_values()
        .map(|(dark, resources)| finding(dark, &resources))
        .collect();
    let is_nothing = scene.cluster.is_some() && scene.dark.is_empty();
    vec![TestCase {
        findings,
        skipped: is_nothing.then(|| NOTHING.to_owned()),
        ..TestCase::named(junit)
    }]
}

fn finding(dark: &CaseGap, resources: &[&str]) -> TestFinding {
    let (resource, others) = match resources {
        [one] => (*one, String::new()),
        many => ("", format!("; not seen: {}", many.join(", "))),
    };
    TestFinding {
        subject: FindingSubject::object(resource, "", ""),
        severity: Severity::Flake,
        from: dark.from,
        to: Some(dark.to),
        reason: "Gap".to_owned(),
        message: format!("{}{others}", dark.why),
        seq: None,
        shown_at: None,
    }
}
