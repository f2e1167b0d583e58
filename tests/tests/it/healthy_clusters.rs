//! Recordings of real clusters fail the rules that something went wrong by, and no others: which rules
//! fail, exactly, in the default report and with all classes. `docs/healthy-clusters.md` says why each
//! is right. Skipped, and said so, where the shared recordings are not there.

#![expect(
    clippy::expect_used,
    reason = "the program's own exceptions can be read"
)]

use crate::recordings::{Recording, Reel};
use crate::upgrades::{oc_folder, oc_reel, oc_scenarios};
use kubereel_format::RecordedAt;
use kubereel_import::ImportOptions;
use kubereel_monitortests::{
    CaseVerdict, ExceptionSet, Inapplicability, RuleClass, RunOptions, RunReport, Selection,
    run_reel,
};
use kubereel_problems::monitor_tests;
use std::collections::BTreeSet;

const PAGE: &str = include_str!("../../../docs/healthy-clusters.md");

fn judged(reel: &Reel, classes: &[RuleClass]) -> RunReport {
    let selection = Selection {
        classes: classes.to_vec(),
        ..Selection::default()
    };
    let exceptions = ExceptionSet::builtin().expect("they come along");
    let asked = RunOptions {
        selection: &selection,
        exceptions: &exceptions,
        now: None,
    };
    run_reel(&reel.timeline, monitor_tests(), &asked, |_seq| {})
}

fn failed(report: &RunReport) -> BTreeSet<String> {
    let is_bad = |verdict| matches!(verdict, CaseVerdict::Fail | CaseVerdict::Error);
    let failed = report.outcomes.iter().filter(|one| is_bad(one.verdict));
    failed.map(|one| one.about.id.clone()).collect()
}

/// Checks which rules fail: by default, and those of the class policy that fail besides.
fn check(name: &str, reel: &Reel, expected: &[&str], of_policy: &[&str]) {
    let named =
        |ids: &[&str]| -> BTreeSet<String> { ids.iter().map(ToString::to_string).collect() };
    let by_default = judged(reel, &RuleClass::RUNTIME);
    assert_eq!(failed(&by_default), named(expected), "{name}");
    let policy = judged(reel, &[RuleClass::Policy]);
    assert_eq!(failed(&policy), named(of_policy), "{name}");
    let unknown = by_default.count(CaseVerdict::Unknown) + policy.count(CaseVerdict::Unknown);
    assert_eq!(unknown, 0, "{name}");
    for id in expected.iter().chain(of_policy) {
        assert!(
            PAGE.contains(&format!("`{id}`")),
            "{name}: the page lacks {id}"
        );
    }
    assert!(PAGE.contains(name), "the page lacks {name}");
}

fn shared(file: &str) -> Option<Reel> {
    let recording = Recording::read(file)?;
    let mut options = ImportOptions::new("test", "a shared recording");
    options.at = Some(RecordedAt::from_micros(1_900_000_000_000_000));
    Some(recording.import(&options))
}

#[test]
fn a_healthy_cluster_of_4_8_fails_nothing() {
    let Some(reel) = shared("must-gather-aws48/objects.jsonl.zst") else {
        return;
    };
    check("must-gather-aws48", &reel, &[], &[]);
    let report = judged(&reel, &[]);
    let later = report
        .omitted
        .iter()
        .filter(|one| matches!(one.why, Inapplicability::LaterRelease(_)));
    assert!(later.count() >= 8, "{:?}", report.omitted);
}

#[test]
fn an_installation_of_a_single_node_fails_nothing() {
    let Some(reel) = shared("okd412-sno-install-run1/events.jsonl.zst") else {
        return;
    };
    check("okd412-sno-install-run1", &reel, &[], &[]);
}

#[test]
fn what_went_wrong_in_the_upgrade_fails_and_what_its_simulation_left_out_is_policy() {
    let Some(reel) = shared("cvo-upgrade/events.jsonl.zst") else {
        return;
    };
    check(
        "cvo-upgrade",
        &reel,
        &[
            "operator-available",
            "operator-degraded",
            "pod-ip-used-once",
        ],
        &[
            "no-default-service-account",
            "required-scc-annotation",
            "termination-message-policy",
        ],
    );
}

#[test]
fn of_the_moments_of_upgrades_two_fail() {
    let Some(folder) = oc_folder() else {
        return;
    };
    let scenarios = oc_scenarios(&folder);
    assert_eq!(scenarios.len(), 13, "{scenarios:?}");
    for scenario in &scenarios {
        let expected: &[&str] = match scenario.as_str() {
            "ocpbugs-60768" => &["operator-degraded", "pool-degraded"],
            "4.16.0-ec2-control-plane-updated-pdb-prohibits-draining" => &["pool-degraded"],
            _ => &[],
        };
        check(scenario, &oc_reel(&folder, scenario), expected, &[]);
    }
}
