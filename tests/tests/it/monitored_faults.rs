//! Monitortests on the scenario with true durations: each planted fault is found by its rule at the
//! right time and nothing else is found; taking a fault away takes away exactly what was found of it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail, ensure};
use kubereel_format::RecordedAt;
use kubereel_history::{Timeline, timetext};
use kubereel_import::{ImportOptions, import};
use kubereel_monitortests::{
    CaseOutcome as Outcome, ExceptionSet, JunitFile, RunName, RunOptions as Asked, RunReport,
    Selection, run_reel, write_junit,
};
use kubereel_problems::monitor_tests;
use kubereel_tests::scenario::{Expected, Monitored, Verdict};

fn run(scenario: &Monitored, on: &BTreeSet<&str>) -> Result<RunReport> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("monitored.reel");
    let options = ImportOptions::new("test", "the scenario for monitortests");
    import(scenario.lines(on)?.as_slice(), &path, &options, |_bytes| {})?;
    let timeline = Timeline::open(&path)?;
    let selection = Selection::default();
    let exceptions = ExceptionSet::builtin()?;
    let asked = Asked {
        selection: &selection,
        exceptions: &exceptions,
        now: None,
    };
    Ok(run_reel(&timeline, monitor_tests(), &asked, |_seq| {}))
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
        kubereel_monitortests::CaseVerdict::Fail => Some(Verdict::Fail),
        other if other.is_flake() => Some(Verdict::Flake),
        _ => None,
    }
}

/// Whether a finding that begins at a time is what is expected.
fn is_at(scenario: &Monitored, expected: &Expected, at: RecordedAt) -> bool {
    let from = scenario.time(expected.at_secs).as_microsecond();
    let late = at.micros - from;
    // The server takes a moment for a write.
    let most = scenario
        .time(expected.at_secs + expected.within_secs)
        .as_microsecond()
        - from;
    (0..most).contains(&late)
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
        if outcome.verdict == kubereel_monitortests::CaseVerdict::Error {
            writeln!(wrong, "error: {} {:?}", outcome.name, outcome.why)?;
        }
        for judged in &outcome.findings {
            let finding = &judged.finding;
            let is_meant = all.iter().any(|(_, expected)| {
                expected.test == outcome.about.id
                    && expected.case == tail(outcome)
                    && is_at(scenario, expected, finding.from)
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
    let says = expected.says.as_deref().unwrap_or_default();
    let is_there = outcome.findings.iter().any(|judged| {
        is_at(scenario, expected, judged.finding.from) && judged.finding.message.contains(says)
    });
    ensure!(is_there, "{} says {:#?}", outcome.name, outcome.findings);
    Ok(())
}

#[test]
fn the_base_has_nothing_wrong() -> Result<()> {
    check(&Monitored::read()?, &BTreeSet::new())
}

#[test]
fn all_faults_are_found_and_nothing_else() -> Result<()> {
    let scenario = Monitored::read()?;
    check(&scenario, &scenario.all())
}

/// Checks each run that lacks one fault: every so many of them, from one on.
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
            start: report.start,
            end: report.end,
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
