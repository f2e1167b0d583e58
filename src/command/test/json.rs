//! The report of `kubereel test` that a program reads: one document for all recordings.

use super::report::{IdleReason, idle_exceptions};
use super::run::{TestRun, run_name};
use super::suite::Suite;
use crate::field_text::secs;
use kubereel_history::timetext::rfc3339;
use kubereel_monitortests::{
    CaseOutcome, CaseVerdict, JudgedFinding, OmittedRule, RunName, RunReport, shown_by,
};
use serde::Serialize;
use std::collections::BTreeMap;

/// The document.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct TestOutput<'a> {
    runs: Vec<RunOutput<'a>>,
    idle_exceptions: Vec<IdleExceptionOutput>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct IdleExceptionOutput {
    written_at: String,
    state: &'static str,
    would_cover: u64,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum RunOutput<'a> {
    Unread { reel: String, error: &'a str },
    Tested(Box<TestedRun<'a>>),
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct TestedRun<'a> {
    reel: String,
    start: String,
    end: String,
    trust: &'static str,
    unread: &'a [String],
    events: u64,
    kind: &'static str,
    facts: ClusterFacts<'a>,
    counts: BTreeMap<&'static str, u64>,
    not_applicable: Vec<OmittedOutput<'a>>,
    cases: Vec<CaseOutput<'a>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ClusterFacts<'a> {
    version: Option<&'a str>,
    from_version: Option<&'a str>,
    platform: Option<&'a str>,
    topology: Option<&'a str>,
    network: Option<&'a str>,
    architecture: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OmittedOutput<'a> {
    rule: &'a str,
    class: &'static str,
    code: &'static str,
    why: String,
}

impl<'a> From<&'a OmittedRule> for OmittedOutput<'a> {
    fn from(omitted: &'a OmittedRule) -> Self {
        Self {
            rule: &omitted.about.id,
            class: omitted.about.class.as_str(),
            code: omitted.why.as_str(),
            why: omitted.why.to_string(),
        }
    }
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CaseOutput<'a> {
    rule: &'a str,
    class: &'static str,
    monitor: &'a str,
    name: &'a str,
    component: Option<&'a str>,
    owner: &'a str,
    group: &'a BTreeMap<String, String>,
    flake_only: bool,
    verdict: &'static str,
    why: Option<&'a str>,
    findings: Vec<FindingOutput<'a>>,
    not_seen: Vec<UnobservedTime<'a>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct UnobservedTime<'a> {
    from: String,
    to: String,
    why: &'a str,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FindingOutput<'a> {
    from: String,
    to: Option<String>,
    lasted_secs: f64,
    fails: bool,
    reason: &'a str,
    message: &'a str,
    resource: &'a str,
    namespace: &'a str,
    name: &'a str,
    keys: &'a BTreeMap<String, String>,
    seq: Option<u64>,
    shown_by: Option<String>,
    exception: Option<ExceptionOutput<'a>>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ExceptionOutput<'a> {
    state: &'static str,
    link: &'a str,
    why: &'a str,
    written_at: &'a str,
}

impl<'a> TestOutput<'a> {
    /// Makes the document.
    pub(super) fn of(suite: &Suite, all: &'a [TestRun]) -> Self {
        let idle = idle_exceptions(suite, all).into_iter();
        Self {
            runs: all.iter().map(RunOutput::of).collect(),
            idle_exceptions: idle
                .map(|(exception, reason)| {
                    let (state, would_cover) = match reason {
                        IdleReason::Unused => ("unused", 0),
                        IdleReason::Expired { findings } => ("expired", findings),
                    };
                    IdleExceptionOutput {
                        written_at: exception.written_at(),
                        state,
                        would_cover,
                    }
                })
                .collect(),
        }
    }
}

impl<'a> RunOutput<'a> {
    fn of(run: &'a TestRun) -> Self {
        let reel = run.name();
        let report = match &run.report {
            Ok(report) => report,
            Err(error) => {
                return Self::Unread {
                    reel,
                    error: error.message(),
                };
            }
        };
        let name = run_name(report, &reel);
        let facts = report.facts.last();
        let counts = CaseVerdict::ALL.map(|verdict| (verdict.as_str(), report.count(verdict)));
        let cases = report.outcomes.iter();
        Self::Tested(Box::new(TestedRun {
            start: rfc3339(report.start),
            end: rfc3339(report.end),
            trust: report.trust.as_str(),
            unread: &report.unread,
            events: report.events,
            kind: report.kind.as_str(),
            facts: ClusterFacts {
                version: facts.version.as_deref(),
                from_version: facts.from_version.as_deref(),
                platform: facts.platform.as_deref(),
                topology: facts.topology.as_deref(),
                network: facts.network.as_deref(),
                architecture: facts.architecture.as_deref(),
            },
            counts: counts.into_iter().collect(),
            not_applicable: report.omitted.iter().map(OmittedOutput::from).collect(),
            cases: cases
                .map(|outcome| CaseOutput::of(&name, report, outcome))
                .collect(),
            reel: reel.clone(),
        }))
    }
}

impl<'a> CaseOutput<'a> {
    fn of(run: &RunName<'_>, report: &RunReport, outcome: &'a CaseOutcome) -> Self {
        let findings = outcome.findings.iter();
        let not_seen = outcome.dark.iter().map(|dark| UnobservedTime {
            from: rfc3339(dark.from),
            to: rfc3339(dark.to),
            why: &dark.why,
        });
        Self {
            rule: &outcome.about.id,
            class: outcome.about.class.as_str(),
            monitor: &outcome.about.monitor,
            name: &outcome.name,
            component: outcome.component.as_deref(),
            owner: &outcome.about.owner,
            group: &outcome.group,
            flake_only: outcome.about.is_flake_only,
            verdict: outcome.verdict.as_str(),
            why: outcome.why.as_deref(),
            findings: findings
                .map(|judged| FindingOutput::of(run, report, judged))
                .collect(),
            not_seen: not_seen.collect(),
        }
    }
}

impl<'a> FindingOutput<'a> {
    fn of(run: &RunName<'_>, report: &RunReport, judged: &'a JudgedFinding) -> Self {
        let finding = &judged.finding;
        let subject = &finding.subject;
        Self {
            from: rfc3339(finding.from),
            to: finding.to.map(rfc3339),
            lasted_secs: secs(finding.to.unwrap_or(report.end).micros_since(finding.from)),
            fails: judged.is_failure(),
            reason: &finding.reason,
            message: &finding.message,
            resource: &subject.resource,
            namespace: &subject.namespace,
            name: &subject.name,
            keys: &subject.keys,
            seq: finding.seq.map(|seq| seq.0),
            shown_by: shown_by(run, finding),
            exception: judged.excuse.as_ref().map(|excuse| ExceptionOutput {
                state: excuse.state.as_str(),
                link: &excuse.link,
                why: &excuse.why,
                written_at: &excuse.written_at,
            }),
        }
    }
}
