//! The report of `kubereel test` that a program reads: one document for all recordings.

use super::report::{IdleReason, idle_exceptions};
use super::run::{TestRun, run_name};
use super::suite::Suite;
use crate::field_text::secs;
use crate::outputs::outputs;
use kubereel_history::timetext::rfc3339;
use kubereel_monitortests::{
    CaseGap, CaseOutcome, CaseVerdict, Excuse, Facts, JudgedFinding, OmittedRule, RunName,
    RunReport, shown_by,
};
use std::collections::BTreeMap;

#[derive(Debug, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum RunOutput<'a> {
    Unread { reel: String, error: &'a str },
    Tested(Box<TestedRun<'a>>),
}

impl<'a> RunOutput<'a> {
    fn of(run: &'a TestRun) -> Self {
        let reel = run.name();
        match &run.report {
            Ok(report) => Self::Tested(Box::new(TestedRun::of(reel, report))),
            Err(error) => Self::Unread {
                reel,
                error: error.message(),
            },
        }
    }
}

outputs! {
/// The document.
struct TestOutput<'a>(suite: &Suite, all: &'a [TestRun]) {
    runs: Vec<RunOutput<'a>> = all.iter().map(RunOutput::of).collect(),
    idle_exceptions: Vec<IdleExceptionOutput> = idle_exceptions(suite, all)
        .into_iter()
        .map(|(exception, reason)| IdleExceptionOutput::of(exception.written_at(), &reason))
        .collect(),
}

struct IdleExceptionOutput(written_at: String, reason: &IdleReason) {
    written_at: String = written_at,
    state: &'static str = match reason {
        IdleReason::Unused => "unused",
        IdleReason::Expired { .. } => "expired",
    },
    would_cover: u64 = match reason {
        IdleReason::Unused => 0,
        IdleReason::Expired { findings } => *findings,
    },
}

struct TestedRun<'a>(reel: String, report: &'a RunReport) {
    reel: String = reel.clone(),
    /// Null, as `end`, if no record can be read.
    start: Option<String> = report.span().map(|(start, _)| rfc3339(start)),
    end: Option<String> = report.span().map(|(_, end)| rfc3339(end)),
    trust: &'static str = report.trust.as_str(),
    unread: &'a [String] = &report.unread,
    events: u64 = report.work.events,
    kind: &'static str = report.kind.as_str(),
    facts: ClusterFacts<'a> = ClusterFacts::of(report.facts.last()),
    counts: BTreeMap<&'static str, u64> =
        CaseVerdict::ALL.map(|verdict| (verdict.as_str(), report.count(verdict))).into(),
    not_applicable: Vec<OmittedOutput<'a>> = report.omitted.iter().map(OmittedOutput::of).collect(),
    cases: Vec<CaseOutput<'a>> = report
        .outcomes
        .iter()
        .map(|outcome| CaseOutput::of(&run_name(report, &reel), report, outcome))
        .collect(),
}

struct ClusterFacts<'a>(facts: &'a Facts) {
    version: Option<&'a str> = facts.version.as_deref(),
    from_version: Option<&'a str> = facts.from_version.as_deref(),
    platform: Option<&'a str> = facts.platform.as_deref(),
    topology: Option<&'a str> = facts.topology.as_deref(),
    network: Option<&'a str> = facts.network.as_deref(),
    architecture: Option<&'a str> = facts.architecture.as_deref(),
}

struct OmittedOutput<'a>(omitted: &'a OmittedRule) {
    rule: &'a str = &omitted.about.id,
    class: &'static str = omitted.about.class.as_str(),
    code: &'static str = omitted.why.as_str(),
    why: String = omitted.why.to_string(),
}

struct CaseOutput<'a>(run: &RunName<'_>, report: &RunReport, outcome: &'a CaseOutcome) {
    rule: &'a str = &outcome.about.id,
    class: &'static str = outcome.about.class.as_str(),
    monitor: &'a str = &outcome.about.monitor,
    name: &'a str = &outcome.name,
    component: Option<&'a str> = outcome.component.as_deref(),
    owner: &'a str = &outcome.about.owner,
    group: &'a BTreeMap<String, String> = &outcome.group,
    flake_only: bool = outcome.about.is_flake_only,
    verdict: &'static str = outcome.verdict.as_str(),
    why: Option<&'a str> = outcome.why.as_deref(),
    findings: Vec<FindingOutput<'a>> =
        outcome.findings.iter().map(|judged| FindingOutput::of(run, report, judged)).collect(),
    /// The number of objects beyond the limit, which may have been wrong and were not judged.
    not_kept: u64 = outcome.not_kept,
    not_seen: Vec<UnobservedTime<'a>> = outcome.dark.iter().map(UnobservedTime::of).collect(),
}

struct UnobservedTime<'a>(dark: &'a CaseGap) {
    from: String = rfc3339(dark.from),
    to: String = rfc3339(dark.to),
    why: &'a str = &dark.why,
}

struct FindingOutput<'a>(run: &RunName<'_>, report: &RunReport, judged: &'a JudgedFinding) {
    from: String = rfc3339(judged.finding.from),
    /// Null if it did not end, or if its end was not observed.
    to: Option<String> =
        judged.finding.to.filter(|_| judged.end_unknown_since.is_none()).map(rfc3339),
    /// From when on its end may have been missed; null if its end was observed, or that there is none.
    end_unknown_since: Option<String> = judged.end_unknown_since.map(rfc3339),
    lasted_secs: f64 = secs(judged.known_to().unwrap_or(report.end).micros_since(judged.finding.from)),
    fails: bool = judged.is_failure(),
    reason: &'a str = &judged.finding.reason,
    message: &'a str = &judged.finding.message,
    resource: &'a str = &judged.finding.subject.resource,
    namespace: &'a str = &judged.finding.subject.namespace,
    name: &'a str = &judged.finding.subject.name,
    keys: &'a BTreeMap<String, String> = &judged.finding.subject.keys,
    seq: Option<u64> = judged.finding.seq.map(|seq| seq.0),
    shown_by: Option<String> = shown_by(run, &judged.finding),
    exception: Option<ExceptionOutput<'a>> = judged.excuse.as_ref().map(ExceptionOutput::of),
}

struct ExceptionOutput<'a>(excuse: &'a Excuse) {
    state: &'static str = excuse.state.as_str(),
    link: &'a str = &excuse.link,
    why: &'a str = &excuse.why,
    written_at: &'a str = &excuse.written_at,
}
}
