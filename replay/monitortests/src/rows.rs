//! Verdicts as rows for a database: one line of JSON for each run and case.
//!
//! `docs/monitor test-rows.schema.json` describes the fields to BigQuery; a test compares both.

use crate::evidence::subject;
use crate::outcome::CaseOutcome;
use crate::run::RunReport;
use kubereel_history::timetext;
use serde::Serialize;

/// Where a run comes from, as given by the user.
#[derive(Clone, Copy, Debug)]
pub struct CaseRowOrigin<'a> {
    /// The name of the recording.
    pub run: &'a str,
    /// The CI job, if given.
    pub job: Option<&'a str>,
    /// Its build, if given.
    pub build: Option<&'a str>,
}

/// One case of one run.
#[derive(Clone, Debug, Serialize)]
pub struct CaseRow<'a> {
    run: &'a str,
    job: Option<&'a str>,
    build: Option<&'a str>,
    run_start: Option<String>,
    run_end: Option<String>,
    run_kind: &'static str,
    trust: &'static str,
    version: Option<&'a str>,
    from_version: Option<&'a str>,
    platform: Option<&'a str>,
    topology: Option<&'a str>,
    rule: &'a str,
    monitor: &'a str,
    name: &'a str,
    component: Option<&'a str>,
    owner: &'a str,
    lifecycle: &'static str,
    verdict: &'static str,
    findings: usize,
    first_time: Option<String>,
    last_time: Option<String>,
    object: Option<String>,
    reason: Option<&'a str>,
    message: Option<&'a str>,
    link: Option<&'a str>,
}

impl<'a> CaseRow<'a> {
    /// Makes the rows of a run, in the order of its cases.
    pub fn all(
        origin: &'a CaseRowOrigin<'a>,
        report: &'a RunReport,
    ) -> impl Iterator<Item = Self> + 'a {
        let outcomes = report.outcomes.iter();
        outcomes.map(move |outcome| Self::of(origin, report, outcome))
    }

    fn of(origin: &CaseRowOrigin<'a>, report: &'a RunReport, outcome: &'a CaseOutcome) -> Self {
        let facts = report.facts.last();
        let first = outcome.evidence().next();
        let finding = first.map(|judged| &judged.finding);
        let ends = outcome.evidence();
        let last = ends
            .map(|judged| judged.finding.to.unwrap_or(report.end))
            .max();
        let given = |text: &'a str| (!text.is_empty()).then_some(text);
        let object = finding.map(|finding| subject(&finding.subject));
        let why = outcome.why.as_deref();
        let dark = outcome.dark.first().map(|dark| dark.why.as_str());
        Self {
            run: origin.run,
            job: origin.job,
            build: origin.build,
            run_start: report.span().map(|(start, _)| timetext::rfc3339(start)),
            run_end: report.span().map(|(_, end)| timetext::rfc3339(end)),
            run_kind: report.kind.as_str(),
            trust: report.trust.as_str(),
            version: facts.version.as_deref(),
            from_version: facts.from_version.as_deref(),
            platform: facts.platform.as_deref(),
            topology: facts.topology.as_deref(),
            rule: &outcome.about.id,
            monitor: &outcome.about.monitor,
            name: &outcome.name,
            component: outcome.component.as_deref(),
            owner: &outcome.about.owner,
            lifecycle: outcome.about.lifecycle(),
            verdict: outcome.verdict.as_str(),
            findings: outcome.findings.len(),
            first_time: finding.map(|finding| timetext::rfc3339(finding.from)),
            last_time: last.map(timetext::rfc3339),
            object: object.filter(|object| !object.is_empty()),
            reason: finding.and_then(|finding| given(&finding.reason)),
            message: finding.map_or(why.or(dark), |finding| given(&finding.message)),
            link: first
                .and_then(|judged| judged.excuse.as_ref())
                .and_then(|excuse| given(&excuse.link)),
        }
    }
}
