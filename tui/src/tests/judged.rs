//! Owns what a stage does in place of the process that judges: the same monitortests, on the spot.

use super::stage::demo;
use crate::findings::{Finding, Findings, Judging, Verdict};
use kubereel_history::Timeline;
use kubereel_monitortests::{
    Asked, ExceptionSet, Outcome, RunReport, RunTrust, Selection, Verdict as CaseVerdict, builtin,
    run_reel,
};
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Judges a reel; the demo once for all tests.
pub(super) fn judged(path: &Path) -> Judging {
    static DEMO: OnceLock<Judging> = OnceLock::new();
    if path == demo() {
        DEMO.get_or_init(|| judging(path)).clone()
    } else {
        judging(path)
    }
}

fn judging(path: &Path) -> Judging {
    match Timeline::open(path) {
        Ok(timeline) => Judging::Done(Arc::new(findings(&timeline))),
        Err(error) => Judging::Failed(error.to_string()),
    }
}

fn findings(timeline: &Timeline) -> Findings {
    let exceptions = ExceptionSet::builtin().expect("they come along");
    let asked = Asked {
        selection: &Selection::default(),
        exceptions: &exceptions,
        now: None,
    };
    let report = run_reel(timeline, builtin(), &asked, |_| {});
    let count = |wanted: &[CaseVerdict]| wanted.iter().map(|one| report.count(*one)).sum();
    Findings {
        all: report.outcomes.iter().flat_map(of_case).collect(),
        rest: 0,
        judged: count(&CaseVerdict::ALL),
        failed: count(&[CaseVerdict::Fail]),
        flaked: count(&[
            CaseVerdict::Flake,
            CaseVerdict::FlakeJira,
            CaseVerdict::FlakePermanent,
        ]),
        unknown: count(&[CaseVerdict::Unknown, CaseVerdict::Error]),
        skipped: count(&[CaseVerdict::Skipped]),
        is_damaged: is_damaged(&report),
    }
}

fn is_damaged(report: &RunReport) -> bool {
    report.trust == RunTrust::Damaged
}

fn of_case(outcome: &Outcome) -> impl Iterator<Item = Finding> + '_ {
    outcome.findings.iter().map(|judged| {
        let found = &judged.finding;
        Finding {
            rule: outcome.about.id.clone(),
            test: outcome.name.clone(),
            verdict: if judged.is_failure() {
                Verdict::Fail
            } else {
                Verdict::Flake
            },
            from: found.from,
            to: found.to,
            reason: found.reason.clone(),
            message: found.message.lines().map(str::to_owned).collect(),
            resource: found.subject.resource.clone(),
            namespace: found.subject.namespace.clone(),
            name: found.subject.name.clone(),
            seq: found.seq,
        }
    })
}
