//! Monitortests on the scenario with true durations: each planted fault is found by its rule at the
//! right time and nothing else is found; taking a fault away takes away exactly what was found of it.
//!
//! Monitortests on a recording of the genuine operator of operators: what was planted there is found,
//! at the right second. Skipped, and said so, where the shared recordings are not there.

use crate::recordings::{Recording, Reel, time};
use anyhow::{Context as _, Result, bail, ensure};
use jiff::Timestamp;
use kubereel_cluster::ClusterHistory;
use kubereel_format::RecordedAt;
use kubereel_history::timetext;
use kubereel_import::ImportOptions;
use kubereel_monitortests::{
    CaseOutcome as Outcome, CaseVerdict, ExceptionSet, JunitFile, RunName, RunOptions, RunReport,
    Selection, TestFinding as Finding, run_reel, write_junit,
};
use kubereel_problems::monitor_tests;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// A recording with faults that can be left out, and what a run must find in it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Monitored {
    /// The time that moments are counted from.
    begins: Timestamp,
    /// What a run finds in any case.
    expected: Vec<Expected>,
    faults: Vec<Fault>,
    #[serde(skip)]
    lines: Vec<u8>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault {
    name: String,
    /// What a run does not find without the fault.
    expected: Vec<Expected>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    /// The short name of the monitortest.
    test: String,
    /// The case's name in `JUnit`, without `[Monitor:…]` and `[Jira:…]`.
    case: String,
    verdict: Verdict,
    /// When the finding begins.
    at_secs: f64,
    /// How much later it may be found: a cluster takes its time for some things.
    #[serde(default = "one")]
    within_secs: f64,
    /// A part of the message.
    #[serde(default)]
    says: String,
}

const fn one() -> f64 {
    1.0
}

/// What a case is that found something.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    /// It fails the run.
    Fail,
    /// It fails and passes.
    Flake,
}

/// Which faults a line of the recording belongs to.
#[derive(Deserialize)]
struct Tags<'a> {
    fault: Option<&'a str>,
    /// Names between spaces.
    without: Option<&'a str>,
}

impl Monitored {
    fn read() -> Result<Self> {
        let yaml = include_str!("../../../testdata/scenarios/monitortests.yaml");
        let mut scenario: Self = serde_saphyr::from_str(yaml)?;
        scenario.lines = Recording::own().bytes;
        Ok(scenario)
    }

    fn time(&self, secs: f64) -> Result<i64> {
        let span = jiff::SignedDuration::from_secs_f64(secs);
        Ok(self.begins.checked_add(span)?.as_microsecond())
    }

    fn all(&self) -> BTreeSet<&str> {
        self.faults
            .iter()
            .map(|fault| fault.name.as_str())
            .collect()
    }

    /// The recording of a cluster with these faults.
    fn reel(&self, on: &BTreeSet<&str>) -> Result<Reel> {
        let mut bytes = Vec::new();
        for line in self.lines.split_inclusive(|byte| *byte == b'\n') {
            let tags: Tags<'_> = serde_json::from_slice(line)?;
            let is_out = tags.without.unwrap_or_default();
            if tags.fault.is_none_or(|name| on.contains(name))
                && !is_out.split(' ').any(|name| on.contains(name))
            {
                bytes.extend_from_slice(line);
            }
        }
        let reel = Recording { bytes }.import(&ImportOptions::new("test", "a cluster with faults"));
        ensure!(reel.imported.broken.count == 0 && reel.imported.guessed.is_empty());
        Ok(reel)
    }
}

fn run(scenario: &Monitored, on: &BTreeSet<&str>) -> Result<RunReport> {
    judged(&scenario.reel(on)?)
}

fn judged(reel: &Reel) -> Result<RunReport> {
    let selection = Selection::default();
    let exceptions = ExceptionSet::builtin()?;
    let asked = RunOptions {
        selection: &selection,
        exceptions: &exceptions,
        now: None,
    };
    Ok(run_reel(&reel.timeline, monitor_tests(), &asked, |_seq| {}))
}

/// A case's name without `[Monitor:…]` and `[Jira:…]`.
fn tail(outcome: &Outcome) -> &str {
    let name = outcome.name.as_str();
    let rest = name.split_once(']').map_or(name, |(_, rest)| rest);
    let rest = rest.trim_start();
    if outcome.about.junit.starts_with("[Jira:") {
        return rest;
    }
    let own = rest
        .strip_prefix("[Jira:")
        .and_then(|rest| rest.split_once(']'));
    own.map_or(rest, |(_, rest)| rest.trim_start())
}

fn verdict(outcome: &Outcome) -> Option<Verdict> {
    match outcome.verdict {
        CaseVerdict::Fail => Some(Verdict::Fail),
        other if other.is_flake() => Some(Verdict::Flake),
        _ => None,
    }
}

/// Whether a finding that begins at a time is what is expected.
fn is_at(scenario: &Monitored, expected: &Expected, at: RecordedAt) -> Result<bool> {
    let from = scenario.time(expected.at_secs)?;
    let until = scenario.time(expected.at_secs + expected.within_secs)?;
    Ok((from..until).contains(&at.micros))
}

/// Checks that a run finds what the faults that are on expect, and nothing else.
fn check(scenario: &Monitored, on: &BTreeSet<&str>) -> Result<()> {
    let report = run(scenario, on)?;
    ensure!(report.unread.is_empty(), "{:?}", report.unread);
    let of_faults = scenario
        .faults
        .iter()
        .filter(|fault| on.contains(fault.name.as_str()))
        .flat_map(|fault| {
            fault
                .expected
                .iter()
                .map(move |one| (fault.name.as_str(), one))
        });
    let of_base = scenario.expected.iter().map(|one| ("the base", one));
    let all: Vec<(&str, &Expected)> = of_base.chain(of_faults).collect();
    let mut wrong = String::new();
    for outcome in &report.outcomes {
        if outcome.verdict == CaseVerdict::Error {
            writeln!(wrong, "error: {} {:?}", outcome.name, outcome.why)?;
        }
        for judged in &outcome.findings {
            let finding = &judged.finding;
            let is_meant = all.iter().any(|(_, expected)| {
                expected.test == outcome.about.id
                    && expected.case == tail(outcome)
                    && is_at(scenario, expected, finding.from).unwrap_or(false)
            });
            if !is_meant {
                let at = timetext::rfc3339(finding.from);
                writeln!(
                    wrong,
                    "not planted: {at} {} {} {:?}: {}",
                    outcome.about.id,
                    tail(outcome),
                    outcome.verdict,
                    finding.message
                )?;
            }
        }
    }
    for (whose, expected) in &all {
        if let Err(why) = found(scenario, &report, expected) {
            writeln!(wrong, "not found: {whose}: {why}")?;
        }
    }
    ensure!(wrong.is_empty(), "with {on:?}:\n{wrong}");
    Ok(())
}

/// Checks that one expectation is met.
fn found(scenario: &Monitored, report: &RunReport, expected: &Expected) -> Result<()> {
    let outcome = report
        .outcomes
        .iter()
        .find(|outcome| outcome.about.id == expected.test && tail(outcome) == expected.case)
        .with_context(|| format!("no case {} of {}", expected.case, expected.test))?;
    if verdict(outcome) != Some(expected.verdict) {
        bail!(
            "{} is {:?} {:?}, not {:?}",
            outcome.name,
            outcome.verdict,
            outcome.why,
            expected.verdict
        );
    }
    let is_there = outcome.findings.iter().any(|judged| {
        is_at(scenario, expected, judged.finding.from).unwrap_or(false)
            && judged.finding.message.contains(&expected.says)
    });
    ensure!(is_there, "{} says {:#?}", outcome.name, outcome.findings);
    Ok(())
}

#[test]
fn the_base_has_nothing_wrong() -> Result<()> {
    let scenario = Monitored::read()?;
    let reel = scenario.reel(&BTreeSet::new())?;
    ensure!(
        ClusterHistory::of(&reel.timeline)
            .degraded_spells()?
            .is_empty()
    );
    check(&scenario, &BTreeSet::new())
}

#[test]
fn all_faults_are_found_and_nothing_else() -> Result<()> {
    let scenario = Monitored::read()?;
    check(&scenario, &scenario.all())
}

/// Checks each run that lacks one fault: one of this many, from one on.
fn each_is_taken_away(first: usize, every: usize) -> Result<()> {
    let scenario = Monitored::read()?;
    let all = scenario.all();
    for fault in scenario.faults.iter().skip(first).step_by(every) {
        let mut others = all.clone();
        others.remove(fault.name.as_str());
        check(&scenario, &others).with_context(|| format!("without {}", fault.name))?;
    }
    Ok(())
}

// In two halves, which run at the same time.
#[test]
fn taking_a_fault_away_takes_away_exactly_what_was_found_of_it() -> Result<()> {
    each_is_taken_away(0, 2)
}

#[test]
fn taking_another_fault_away_takes_away_exactly_what_was_found_of_it() -> Result<()> {
    each_is_taken_away(1, 2)
}

#[test]
fn two_runs_write_the_same_bytes() -> Result<()> {
    let scenario = Monitored::read()?;
    let all = scenario.all();
    let written = || -> Result<Vec<u8>> {
        let report = run(&scenario, &all)?;
        let name = RunName {
            reel: Some("monitored.reel"),
            span: report.span(),
        };
        let mut out = Vec::new();
        write_junit(&JunitFile::of(&name, &report), &mut out)?;
        Ok(out)
    };
    let first = written()?;
    assert!(first.len() > 10_000, "{} bytes", first.len());
    assert!(first == written()?, "two runs differ");
    Ok(())
}

fn run_shared(file: &str) -> Result<Option<RunReport>> {
    let reel = Recording::read(file)
        .map(|recording| recording.import(&ImportOptions::new("test", "a shared recording")));
    reel.as_ref().map(judged).transpose()
}

/// All findings of a rule, with the case and by time.
fn findings<'r>(report: &'r RunReport, rule: &str) -> Vec<(&'r Outcome, &'r Finding)> {
    let of_rule = report.outcomes.iter().filter(|one| one.about.id == rule);
    let mut all: Vec<_> = of_rule
        .flat_map(|one| {
            one.findings
                .iter()
                .map(move |judged| (one, &judged.finding))
        })
        .collect();
    all.sort_by_key(|(_, finding)| finding.from);
    all
}

/// Checks that a rule finds these and nothing else: time of day to the second, a part of the case's
/// name, a part of the message.
fn are_found(report: &RunReport, rule: &str, expected: &[(&str, &str, &str)]) -> Result<()> {
    let all = findings(report, rule);
    let told: Vec<String> = all
        .iter()
        .map(|(outcome, finding)| {
            let at = timetext::time_of_day(finding.from);
            format!("{at} {}: {}", outcome.name, finding.message)
        })
        .collect();
    ensure!(all.len() == expected.len(), "{rule}: {told:#?}");
    for ((outcome, finding), (at, name, says)) in all.iter().zip(expected) {
        let is_it = timetext::time_of_day(finding.from).starts_with(at)
            && outcome.name.contains(name)
            && finding.message.contains(says);
        ensure!(is_it, "{rule}: not {at} {name} {says}: {told:#?}");
    }
    Ok(())
}

/// The times are those of the recording's own timeline: what its simulation did, and when.
#[test]
fn what_was_planted_in_the_upgrade_is_found_at_the_right_second() -> Result<()> {
    let Some(report) = run_shared("cvo-upgrade/events.jsonl.zst")? else {
        return Ok(());
    };
    are_found(
        &report,
        "operator-available",
        &[
            (
                "13:29:15",
                "clusteroperator/openshift-apiserver",
                "for 20.0s",
            ),
            ("13:30:05", "clusteroperator/console", "for 20.0s"),
        ],
    )?;
    are_found(
        &report,
        "operator-degraded",
        &[
            (
                "13:28:48",
                "clusteroperator/kube-controller-manager",
                "for 6.0s",
            ),
            ("13:29:49", "clusteroperator/image-registry", "for 1m 30s"),
        ],
    )?;
    // The spell of 90 seconds is longer than a minute.
    are_found(
        &report,
        "operator-flaps-between-polls",
        &[
            (
                "13:28:48",
                "clusteroperator/kube-controller-manager",
                "once",
            ),
            ("13:29:15", "clusteroperator/openshift-apiserver", "once"),
            ("13:30:05", "clusteroperator/console", "once"),
        ],
    )?;
    version_pods_are_told(&report)?;
    let kept = report
        .outcomes
        .iter()
        .filter(|one| one.about.monitor == "invariants");
    for outcome in kept {
        ensure!(
            outcome.findings.is_empty(),
            "{}: {:#?}",
            outcome.name,
            outcome.findings
        );
    }
    Ok(())
}

/// Three refusals before any Pod, one deadline, seven unknown digests; the twelfth attempt went well.
fn version_pods_are_told(report: &RunReport) -> Result<()> {
    let keyrings = "unable to verify sha256:";
    let unknown = "manifest unknown";
    are_found(
        report,
        "version-pods",
        &[
            ("13:25:02", "", keyrings),
            ("13:25:02", "", keyrings),
            ("13:25:07", "", keyrings),
            ("13:25:22", "", "version--bqqxl on master-0: ErrImagePull"),
            ("13:27:22", "", "version--mvv56 on master-0: ErrImagePull"),
            ("13:27:24", "", "version--bxqkb on master-0: ErrImagePull"),
            ("13:27:26", "", "version--nk76l on master-0: ErrImagePull"),
            ("13:27:28", "", "version--6jj5n on master-0: ErrImagePull"),
            ("13:27:30", "", "version--k4lpt on master-0: ErrImagePull"),
            ("13:27:33", "", unknown),
            ("13:27:35", "", unknown),
        ],
    )?;
    let all = findings(report, "version-pods");
    let (_, deadline) = all.get(3).context("no fourth attempt")?;
    // With the Event of its begin, 21 ms before its Pod.
    ensure!(
        deadline.from == time("13:25:22.007001"),
        "{}",
        timetext::rfc3339(deadline.from)
    );
    for told in [
        "attempt 4 of 12 failed",
        "the Pod is Init:ErrImagePull: pinging container registry",
        "the Pod is Init:ImagePullBackOff",
        "DeadlineExceeded: Pod was active on the node",
        "ClusterVersion reported ReleaseAccepted=False (RetrievePayload)",
        "RetrievePayload failed: Retrieving payload failed",
    ] {
        ensure!(
            deadline.message.contains(told),
            "{told}: {}",
            deadline.message
        );
    }
    Ok(())
}

#[test]
fn an_installation_is_not_judged_as_a_running_cluster() -> Result<()> {
    let Some(report) = run_shared("okd412-sno-install-run1/events.jsonl.zst")? else {
        return Ok(());
    };
    // Operators come up, and the one node reboots: that is what an installation does.
    for rule in [
        "operator-available",
        "operator-degraded",
        "node-unexpected-not-ready",
    ] {
        are_found(&report, rule, &[])?;
    }
    for outcome in &report.outcomes {
        let verdict = outcome.verdict;
        ensure!(
            verdict != CaseVerdict::Error,
            "{}: {:?}",
            outcome.name,
            outcome.why
        );
        // There is one node: nothing that needs several is judged.
        if outcome.about.id == "ha-replicas" {
            ensure!(
                verdict == CaseVerdict::Skipped,
                "{}: {verdict:?}",
                outcome.name
            );
        }
    }
    Ok(())
}
