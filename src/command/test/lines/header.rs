//! Owns the line about a recording: when it was, what was done in it, how far it can be trusted.

use kubereel_history::timetext;
use kubereel_monitortests::{RunKind, RunReport, RunTrust};

/// Gives the line.
pub(super) fn line(reel: &str, report: &RunReport) -> String {
    let to = timetext::within(report.start, report.end, report.end);
    let micros = u64::try_from(report.end.micros_since(report.start)).unwrap_or(0);
    let length = timetext::span(micros);
    let from = timetext::rfc3339(report.start);
    let mut parts = vec![reel.to_owned(), format!("{from} – {to} ({length})")];
    parts.extend(what_was_done(report));
    let facts = report.facts.last();
    parts.extend(facts.platform.clone());
    parts.extend(facts.topology.clone());
    parts.push(trust(report.trust).to_owned());
    parts.join(" · ")
}

fn what_was_done(report: &RunReport) -> Option<String> {
    let facts = report.facts.last();
    let versions = (facts.from_version.as_deref(), facts.version.as_deref());
    match (report.kind, versions) {
        (RunKind::Stable, (_, version)) => {
            let installed = report.facts.installed();
            let is_install = installed.is_some_and(|at| at > report.start);
            version.map(|version| {
                if is_install {
                    format!("installation of {version}")
                } else {
                    version.to_owned()
                }
            })
        }
        (RunKind::Upgrade, (Some(from), Some(to))) => Some(format!("upgrade {from} → {to}")),
        (RunKind::FailedUpgrade, (Some(from), Some(to))) => {
            Some(format!("failed upgrade {from} → {to}"))
        }
        (kind, _) => Some(kind.as_str().to_owned()),
    }
}

const fn trust(trust: RunTrust) -> &'static str {
    match trust {
        RunTrust::Recorded => "recorded: unobserved spans are unknown",
        RunTrust::Imported => "as imported: completeness is unknown",
        RunTrust::Intervals => "a file of intervals: rules that read objects are skipped",
        RunTrust::Damaged => "damaged: unreadable parts are unknown",
    }
}
