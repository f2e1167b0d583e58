//! The JUnit file: its form, and what public readers make of it.

use crate::running::labels::{Change, Labels, reel, run, run_with};
use kubereel_monitortests::{CaseRow, CaseRowOrigin, JunitFile, RunName, RunReport, write_junit};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

const BAD: &[Change] = &[(5, "a", "bad"), (9, "a", "good")];

fn written(report: &RunReport) -> String {
    let run = RunName {
        reel: Some("test.reel"),
        span: report.span(),
    };
    let mut out = Vec::new();
    write_junit(&JunitFile::of(&run, report), &mut out).expect("written");
    String::from_utf8(out).expect("text")
}

/// A run with every verdict.
fn all_verdicts() -> String {
    let hard = "<&\"]]>\u{1b}[31m\u{0}\u{ffff} é";
    let (_folder, timeline) = reel(BAD, true);
    let file = "exceptions:\n- {rule: known, state: jira, link: BUG-1}\n- {rule: ever, state: permanent, why: so}";
    let report = run_with(
        &timeline,
        file,
        None,
        vec![
            Labels::new().named("fails", &format!("[sig-a] fails {hard}")),
            Labels::new().named("known", "[sig-a] known"),
            Labels::new().named("ever", "[sig-a] ever"),
            Labels::new().named("flakes", "[sig-a] flakes").flake_only(),
            Labels::new()
                .named("skipped", "[sig-a] skipped")
                .needing("routes"),
        ],
    );
    written(&report)
}

#[test]
fn a_flake_is_two_cases_of_one_name_failed_then_passed() {
    let xml = written(&run(BAD, "", vec![Labels::new().flake_only()]));
    let expected = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuite name=\"invariants\" tests=\"2\" skipped=\"0\" failures=\"1\" time=\"100\">
  <testcase name=\"[Monitor:labels][sig-test] pods have good labels\" classname=\"pod-labels\" time=\"4\" start-time=\"2026-11-21T14:00:05.000Z\" end-time=\"2026-11-21T14:00:09.000Z\" lifecycle=\"informing\">
    <failure message=\"14:00:05.000Z – 14:00:09.000Z (4.0s)  pods/a -n shop: WrongLabel: a has a wrong label\">BODY</failure>
    <system-out>BODY</system-out>
  </testcase>
  <testcase name=\"[Monitor:labels][sig-test] pods have good labels\" classname=\"pod-labels\" time=\"0\" lifecycle=\"informing\">
    <system-out>Passing the case to make the overall test case flake as the previous failure is expected</system-out>
  </testcase>
</testsuite>
";
    let body = "\
flake · rule pod-labels · 2026-11-21T14:00:00.000Z – 2026-11-21T14:01:40.000Z
Pods have good labels.

14:00:05.000Z – 14:00:09.000Z (4.0s)  pods/a -n shop: WrongLabel: a has a wrong label
    kubereel describe test.reel pods.example.org/a -n shop --at 14:00:05.000Z";
    assert_eq!(xml, expected.replace("BODY", body));
}

#[test]
fn an_informing_rule_fails_and_does_not_block() {
    let report = run(BAD, "", vec![Labels::new().informing()]);
    let xml = written(&report);
    assert!(xml.contains("failures=\"1\""), "{xml}");
    assert!(xml.contains("lifecycle=\"informing\""), "{xml}");
    let origin = CaseRowOrigin {
        run: "test.reel",
        job: None,
        build: None,
    };
    let rows: Vec<serde_json::Value> = CaseRow::all(&origin, &report)
        .map(|row| serde_json::to_value(row).expect("JSON"))
        .collect();
    assert_eq!(rows[0]["lifecycle"], "informing");
    assert_eq!(rows[0]["verdict"], "fail");
}

#[test]
fn the_file_is_named_by_the_begin_of_the_recording() {
    let (_folder, timeline) = reel(BAD, false);
    assert_eq!(
        JunitFile::name(Some(timeline.start())),
        "e2e-monitor-tests__20261121-140000.xml"
    );
}

/// Counts as the readers of OpenShift's CI do: failed names, and names that failed and passed.
fn failed_and_flaked(cases: impl Iterator<Item = (String, bool)>) -> (Vec<String>, Vec<String>) {
    let mut by_name: BTreeMap<String, (bool, bool)> = BTreeMap::new();
    for (name, is_failed) in cases {
        let entry = by_name.entry(name).or_default();
        entry.0 |= is_failed;
        entry.1 |= !is_failed;
    }
    let last = |name: &str| name.split(' ').nth(1).unwrap_or_default().to_owned();
    let of = |is: fn((bool, bool)) -> bool| {
        let found = by_name.iter().filter(|(_, seen)| is(**seen));
        found.map(|(name, _)| last(name)).collect()
    };
    (
        of(|seen| seen == (true, false)),
        of(|seen| seen == (true, true)),
    )
}

#[test]
fn two_public_readers_count_failures_and_flakes_as_upstream_does() {
    let xml = all_verdicts();
    let expected = (
        vec!["fails".to_owned()],
        ["ever", "flakes", "known"].map(str::to_owned).to_vec(),
    );
    // This reader knows no file without an outer element.
    let (head, suite) = xml.split_once('\n').expect("two lines");
    let wrapped = format!("{head}\n<testsuites>{suite}</testsuites>");
    let report = quick_junit::Report::deserialize_from_str(&wrapped).expect("JUnit");
    assert_eq!(report.test_suites.len(), 1);
    let suite = &report.test_suites[0];
    assert_eq!(
        (suite.name.as_str(), suite.tests, suite.failures),
        ("invariants", 8, 4)
    );
    let skipped = |case: &&quick_junit::TestCase| {
        matches!(case.status, quick_junit::TestCaseStatus::Skipped { .. })
    };
    assert_eq!(suite.test_cases.iter().filter(skipped).count(), 1);
    let judged = suite.test_cases.iter().filter(|case| !skipped(case));
    let cases = judged.map(|case| {
        let is_failed = matches!(case.status, quick_junit::TestCaseStatus::NonSuccess { .. });
        (case.name.to_string(), is_failed)
    });
    assert_eq!(failed_and_flaked(cases), expected);
    let suites = junit_parser::from_reader(xml.as_bytes()).expect("JUnit");
    assert_eq!(suites.suites.len(), 1);
    let suite = &suites.suites[0];
    assert_eq!(
        (
            suite.name.as_str(),
            suite.tests,
            suite.failures,
            suite.skipped
        ),
        ("invariants", 8, 4, 1)
    );
    let judged = suite.cases.iter().filter(|case| !case.status.is_skipped());
    let cases = judged.map(|case| (case.name.clone(), case.status.is_failure()));
    assert_eq!(failed_and_flaked(cases), expected);
    let hard = suite.cases.iter().find(|case| case.name.contains("fails"));
    let hard = hard.expect("it is there");
    assert!(
        hard.name.ends_with("fails <&\"]]>\u{fffd} é"),
        "{}",
        hard.name
    );
}

#[test]
fn the_file_is_what_the_schema_says() {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/junit.xsd");
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(all_verdicts().as_bytes()).expect("written");
    let validate = |path: &Path| {
        let mut xmllint = Command::new("xmllint");
        xmllint
            .args(["--nonet", "--noout", "--schema"])
            .arg(&schema)
            .arg(path)
            .output()
    };
    let Ok(output) = validate(file.path()) else {
        let said = writeln!(
            std::io::stderr().lock(),
            "\nskipped: no xmllint here (Debian's libxml2-utils has it): JUnit is not held against its schema\n"
        );
        assert!(said.is_ok(), "a skipped test says so");
        return;
    };
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    // The schema refuses what the readers of OpenShift's CI would not count.
    let wrong = all_verdicts()
        .replace("<failure ", "<flakyFailure ")
        .replace("</failure>", "</flakyFailure>");
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(wrong.as_bytes()).expect("written");
    let output = validate(file.path()).expect("it ran before");
    assert!(!output.status.success(), "the schema takes anything");
}
