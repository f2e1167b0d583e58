//! The test cases of the JUnit file about a recording. They judge the recording, not the cluster,
//! and only report that no problem was met: `kubereel verify` proves completeness. Nothing about the content of the
//! reel is said before its history was read.

use crate::number::len64;
use crate::observer::report::{CompletenessSummary, ObserverReport, ReportStage, time};
use kubereel_format::harmless;
use std::borrow::Cow;

/// A test case and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReportCase {
    /// The name, as a statement; programs identify the case by it.
    pub(super) name: &'static str,
    /// The result.
    pub(super) verdict: ObserverCaseResult,
}

/// A result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ObserverCaseResult {
    /// Passed.
    Fine {
        /// The output.
        words: String,
    },
    /// A finding.
    Trouble {
        /// In one line.
        headline: String,
        /// All details.
        body: String,
    },
    /// Not known.
    Unknown { why: String },
}

/// Evaluates all cases.
pub(super) fn cases(report: &ObserverReport) -> Vec<ReportCase> {
    let case = |name, verdict| ReportCase { name, verdict };
    vec![
        case(
            "[Monitor:kubereel-recording] the recorder ran until it was told to end",
            ran(report),
        ),
        case(
            "[Monitor:kubereel-recording] the recorder reached the cluster",
            reached(report),
        ),
        case(
            "[Monitor:kubereel-recording] the recording has no gap that was not read back",
            if_read(report, gaps),
        ),
        case(
            "[Monitor:kubereel-recording] the recorder followed every resource until it ended",
            if_read(report, covered),
        ),
        case(
            "[Monitor:kubereel-recording] the API answered while it was recorded",
            if_read(report, answered),
        ),
        case(
            "[Monitor:kubereel-recording] secrets were redacted by policy",
            redacted(report),
        ),
    ]
}

fn ran(report: &ObserverReport) -> ObserverCaseResult {
    match &report.stage {
        ReportStage::Ended(by) => fine(&format!("ended by {by}")),
        ReportStage::Running => trouble(
            "the recorder has not reported its end: it is running, or was killed",
            &[],
        ),
        ReportStage::NotBegun(why) | ReportStage::Failed(why) => trouble(why, &[]),
    }
}

fn reached(report: &ObserverReport) -> ObserverCaseResult {
    let way = &report.account.way;
    if report.account.is_reached {
        return fine(&report.account.clusters.kept.join("; "));
    }
    if matches!(
        report.stage,
        ReportStage::Running | ReportStage::NotBegun(_)
    ) {
        return unknown("the recorder did not come so far");
    }
    let lines: Vec<String> = way
        .kept
        .iter()
        .map(|(at, words)| format!("{} {words}", time(*at)))
        .collect();
    let last = way.kept.last().map_or("", |(_, words)| words);
    trouble(
        &format!("no cluster answered until the end: {last}"),
        &lines,
    )
}

fn if_read(
    report: &ObserverReport,
    ask: fn(&ObserverReport, &CompletenessSummary) -> ObserverCaseResult,
) -> ObserverCaseResult {
    if matches!(
        report.stage,
        ReportStage::Running | ReportStage::NotBegun(_)
    ) {
        return unknown("the recorder did not say how it ended");
    }
    if !report.account.is_reached {
        return unknown("no cluster was reached");
    }
    match &report.completeness {
        Some(read) => ask(report, read),
        None => unknown("the recorder has not read its reel: run kubereel verify"),
    }
}

fn gaps(_: &ObserverReport, read: &CompletenessSummary) -> ObserverCaseResult {
    match (read.missing.as_slice(), read.closed_gaps) {
        ([], 0) => fine("no gap"),
        ([], 1) => fine("1 gap: every change in it was read back, or nothing changed"),
        ([], gaps) => fine(&format!(
            "{gaps} gaps: every change in them was read back, or nothing changed"
        )),
        (missing, _) => trouble_of(missing),
    }
}

fn covered(report: &ObserverReport, read: &CompletenessSummary) -> ObserverCaseResult {
    let standing = &report.standing;
    let behind = standing
        .resources
        .saturating_sub(standing.resources_complete);
    let why = match standing.trouble.as_str() {
        "" => String::new(),
        trouble => format!(": {trouble}"),
    };
    let mut lines = Vec::new();
    if behind > 0 {
        lines.push(format!(
            "{behind} of {} resources were not up to date at the end{why}",
            standing.resources
        ));
    }
    if !standing.is_reachable || standing.is_out {
        lines.push(format!(
            "the cluster did not answer at the end, and what changed meanwhile is not recorded{why}"
        ));
    }
    lines.extend(read.not_recorded.iter().cloned());
    match lines.as_slice() {
        [] if read.resources == 0 => unknown("no resource was followed"),
        [] => fine(&format!("{} resources", read.resources)),
        lines => trouble_of(lines),
    }
}

fn answered(report: &ObserverReport, read: &CompletenessSummary) -> ObserverCaseResult {
    match read.outages.as_slice() {
        [] if !report.standing.is_reachable => trouble(
            &match report.standing.trouble.as_str() {
                "" => "it did not answer at the end".to_owned(),
                trouble => format!("it did not answer at the end: {trouble}"),
            },
            &[],
        ),
        [] => fine("no outage was noticed"),
        outages => trouble_of(outages),
    }
}

fn redacted(report: &ObserverReport) -> ObserverCaseResult {
    match &report.account.redaction {
        Some(text) => fine(text),
        None => unknown("the recorder did not say what it redacted"),
    }
}

/// The number of lines that a case prints one by one.
const LISTED: usize = 100;

/// A finding of several lines, the first of which stands for all.
fn trouble_of(lines: &[String]) -> ObserverCaseResult {
    let more = |shown: usize| len64(lines.len().saturating_sub(shown));
    let first = lines.first().cloned().unwrap_or_default();
    let headline = match more(1) {
        0 => first,
        more => format!("{first} (and {more} more)"),
    };
    let mut listed: Vec<String> = lines.iter().take(LISTED).cloned().collect();
    if more(LISTED) > 0 {
        listed.push(format!("and {} more: kubereel verify", more(LISTED)));
    }
    trouble(&headline, &listed)
}

// A server's text may have several lines: joined to one, it cannot imitate a line of the report.

fn fine(words: &str) -> ObserverCaseResult {
    let words = harmless(words).into_owned();
    ObserverCaseResult::Fine { words }
}

fn trouble(headline: &str, lines: &[String]) -> ObserverCaseResult {
    let headline = harmless(headline).into_owned();
    let lines: Vec<Cow<'_, str>> = lines.iter().map(|line| harmless(line)).collect();
    ObserverCaseResult::Trouble {
        body: if lines.is_empty() {
            headline.clone()
        } else {
            lines.join("\n")
        },
        headline,
    }
}

fn unknown(why: &str) -> ObserverCaseResult {
    let why = harmless(why).into_owned();
    ObserverCaseResult::Unknown { why }
}
