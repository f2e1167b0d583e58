//! Owns the report that a program reads: one document for all recordings.

use super::known::{self, Idle};
use super::runs::{Ran, run_name};
use super::suite::Suite;
use crate::command_error::CommandError;
use crate::field_text::secs;
use crate::screen::Screen;
use kubereel_history::timetext::rfc3339;
use kubereel_monitortests::{
    CaseOutcome as Outcome, CaseVerdict as Verdict, JudgedFinding as Judged, RunName, RunReport,
    shown_by,
};
use serde_json::{Map, Value, json};

/// Prints the document.
pub(super) fn print(suite: &Suite, all: &[Ran], screen: &mut Screen) -> Result<(), CommandError> {
    let runs: Vec<Value> = all.iter().map(run).collect();
    let idle = known::idle(suite, all);
    let exceptions = idle.into_iter().map(|(exception, idle)| {
        let (state, findings) = match idle {
            Idle::Unused => ("unused", 0),
            Idle::Expired { findings } => ("expired", findings),
        };
        json!({"written_at": exception.written_at(), "state": state, "would_cover": findings})
    });
    let exceptions: Vec<Value> = exceptions.collect();
    screen.line(json!({"runs": runs, "idle_exceptions": exceptions}))
}

fn run(ran: &Ran) -> Value {
    let name = ran.name();
    let report = match &ran.report {
        Ok(report) => report,
        Err(error) => return json!({"reel": name, "error": error.message()}),
    };
    let name_of_run = run_name(report, &name);
    let counts = Verdict::ALL.map(|verdict| {
        let count = Value::from(report.count(verdict));
        (verdict.as_str().to_owned(), count)
    });
    let cases = report
        .outcomes
        .iter()
        .map(|outcome| case(&name_of_run, report, outcome));
    let cases: Vec<Value> = cases.collect();
    let facts = report.facts.last();
    json!({
        "reel": name,
        "start": rfc3339(report.start),
        "end": rfc3339(report.end),
        "trust": report.trust.as_str(),
        "unread": report.unread,
        "events": report.events,
        "kind": report.kind.as_str(),
        "facts": {
            "version": facts.version,
            "from_version": facts.from_version,
            "platform": facts.platform,
            "topology": facts.topology,
            "network": facts.network,
            "architecture": facts.architecture,
        },
        "counts": counts.into_iter().collect::<Map<String, Value>>(),
        "cases": cases,
    })
}

fn case(run: &RunName<'_>, report: &RunReport, outcome: &Outcome) -> Value {
    let findings = outcome
        .findings
        .iter()
        .map(|judged| finding(run, report, judged));
    let findings: Vec<Value> = findings.collect();
    let dark = outcome
        .dark
        .iter()
        .map(|dark| json!({"from": rfc3339(dark.from), "to": rfc3339(dark.to), "why": dark.why}));
    let dark: Vec<Value> = dark.collect();
    json!({
        "rule": outcome.about.id,
        "monitor": outcome.about.monitor,
        "name": outcome.name,
        "component": outcome.component,
        "owner": outcome.about.owner,
        "group": outcome.group,
        "flake_only": outcome.about.is_flake_only,
        "verdict": outcome.verdict.as_str(),
        "why": outcome.why,
        "findings": findings,
        "not_seen": dark,
    })
}

fn finding(run: &RunName<'_>, report: &RunReport, judged: &Judged) -> Value {
    let finding = &judged.finding;
    let length = finding.to.unwrap_or(report.end).micros_since(finding.from);
    let excuse = judged.excuse.as_ref().map(|excuse| {
        json!({
            "state": excuse.state.as_str(),
            "link": excuse.link,
            "why": excuse.why,
            "written_at": excuse.written_at,
        })
    });
    json!({
        "from": rfc3339(finding.from),
        "to": finding.to.map(rfc3339),
        "lasted_secs": secs(length),
        "fails": judged.is_failure(),
        "reason": finding.reason,
        "message": finding.message,
        "resource": finding.subject.resource,
        "namespace": finding.subject.namespace,
        "name": finding.subject.name,
        "keys": finding.subject.keys,
        "seq": finding.seq.map(|seq| seq.0),
        "shown_by": shown_by(run, finding),
        "exception": excuse,
    })
}
