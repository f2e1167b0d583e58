//! Which verdict a case has.

use crate::running::labels::{Change, Labels, reel, run, run_with, second};
use kubereel_monitortests::{
    CaseVerdict, ExceptionSet, Glob, Inapplicability, MonitorTest, RunOptions, RunTrust, Selection,
    run_reel,
};

const GOOD: &[Change] = &[(2, "a", "good")];
const BAD: &[Change] = &[(2, "a", "good"), (5, "a", "bad"), (9, "a", "good")];
const ODD: &[Change] = &[(2, "a", "odd")];

fn verdict(changes: &[Change], test: Labels) -> CaseVerdict {
    let report = run(changes, "", vec![test]);
    assert_eq!(report.outcomes.len(), 1, "{:?}", report.outcomes);
    assert_eq!(report.trust, RunTrust::Recorded);
    report.outcomes[0].verdict
}

#[test]
fn findings_fail_or_flake() {
    assert_eq!(verdict(GOOD, Labels::new()), CaseVerdict::Pass);
    assert_eq!(verdict(BAD, Labels::new()), CaseVerdict::Fail);
    assert_eq!(verdict(ODD, Labels::new()), CaseVerdict::Flake);
    assert_eq!(verdict(BAD, Labels::new().flake_only()), CaseVerdict::Flake);
    let report = run(BAD, "", vec![Labels::new()]);
    let found = &report.outcomes[0].findings[0].finding;
    assert_eq!((found.from, found.to), (second(5), Some(second(9))));
}

#[test]
fn what_was_not_seen_is_never_passed() {
    let verdict = |changes: &[Change]| {
        let (_folder, timeline) = reel(changes, true);
        let report = run_with(&timeline, "", None, vec![Labels::new()]);
        let outcome = report.outcomes[0].clone();
        (outcome.verdict, outcome.dark)
    };
    let (unknown, dark) = verdict(GOOD);
    assert_eq!(unknown, CaseVerdict::Unknown);
    assert_eq!((dark[0].from, dark[0].to), (second(50), second(60)));
    assert_eq!(dark[0].why, "pods: gap: the server lost its history");
    // What was seen to be wrong was wrong.
    assert_eq!(verdict(BAD).0, CaseVerdict::Fail);
}

#[test]
fn what_was_never_recorded_is_skipped_and_what_the_cluster_lacks_does_not_apply() {
    let report = run(BAD, "", vec![Labels::new().needing("routes")]);
    let outcome = &report.outcomes[0];
    assert_eq!(outcome.verdict, CaseVerdict::Skipped);
    let why = outcome.why.as_deref().unwrap_or_default();
    assert_eq!(why, "routes was not recorded (forbidden)");
    let gadgets = "gadgets.example.io";
    let report = run(BAD, "", vec![Labels::new().needing(gadgets)]);
    assert_eq!(report.outcomes, []);
    let why = Inapplicability::NoResource(vec![gadgets.to_owned()]);
    assert_eq!(report.omitted[0].why, why);
    assert!(!why.is_unknown());
}

#[test]
fn a_selection_leaves_out() {
    let (_folder, timeline) = reel(BAD, false);
    let ids = |only: &[&str], skip: &[&str]| {
        let globs = |texts: &[&str]| texts.iter().map(|text| Glob::new(text)).collect();
        let selection = Selection {
            only: globs(only),
            skip: globs(skip),
            ..Selection::default()
        };
        let asked = RunOptions {
            selection: &selection,
            exceptions: &ExceptionSet::default(),
            now: None,
        };
        let tests: Vec<Box<dyn MonitorTest>> = vec![
            Box::new(Labels::new().named("one", "[sig-a] one")),
            Box::new(Labels::new().named("two", "[sig-b] two")),
        ];
        let report = run_reel(&timeline, tests, &asked, |_| {});
        let ids = report.outcomes.iter().map(|one| one.about.id.clone());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(ids(&[], &[]), ["one", "two"]);
    assert_eq!(ids(&["tw*"], &[]), ["two"]);
    assert_eq!(ids(&["labels"], &["[sig-b]*"]), ["one"]);
}
