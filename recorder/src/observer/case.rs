//! The test cases of the JUnit file about a recording. They judge the recording, not the cluster,
//! and only report that no problem was met: `kubereel verify` proves completeness.

use crate::health::AccountGap;
use crate::number::len64;
use crate::observer::report::{ObserverReport, ReportStage, secs, time};
use kubereel_format::{GapVerdict, harmless};
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
            if_reached(report, gaps),
        ),
        case(
            "[Monitor:kubereel-recording] the recorder followed every resource until it ended",
            if_reached(report, covered),
        ),
        case(
            "[Monitor:kubereel-recording] the API answered while it was recorded",
            if_reached(report, answered),
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

fn if_reached(
    report: &ObserverReport,
    ask: fn(&ObserverReport) -> ObserverCaseResult,
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
    ask(report)
}

fn gaps(report: &ObserverReport) -> ObserverCaseResult {
    let gaps = &report.account.gaps;
    let open: Vec<String> = open_gaps(report).map(gap_words).collect();
    let more_gaps = gaps.all - len64(gaps.kept.len());
    if open.is_empty() && more_gaps == 0 {
        let count = gaps.all;
        return fine(&format!("{count} gaps were met, all read back"));
    }
    let first = open.first().cloned().unwrap_or_default();
    let more = more_gaps + len64(open.len().saturating_sub(1));
    trouble(&and_more(first, more), &open)
}

/// Returns the gaps that were not read back.
fn open_gaps(report: &ObserverReport) -> impl Iterator<Item = &AccountGap> {
    let gaps = report.account.gaps.kept.iter();
    gaps.filter(|kept| kept.verdict != Some(GapVerdict::Reconstructed))
}

/// Counts the gaps that were not read back; every gap beyond the kept ones counts.
pub(in crate::observer) fn open_gap_count(report: &ObserverReport) -> u64 {
    let gaps = &report.account.gaps;
    len64(open_gaps(report).count()) + gaps.all - len64(gaps.kept.len())
}

fn gap_words(kept: &AccountGap) -> String {
    let gap = &kept.gap;
    let span = secs(gap.to_time.micros_since(gap.from_time));
    let missing = gap.missing_at_most.map_or_else(
        || "changes may be missing".to_owned(),
        |most| format!("at most {most} changes missing"),
    );
    let verdict = kept.verdict.map_or("", GapVerdict::as_str);
    let mut words = format!(
        "{} – {} ({span} s) of {}, {}, {missing}",
        time(gap.from_time),
        time(gap.to_time),
        // Not with a colon behind it: what follows `secrets:` is redacted.
        kept.resource,
        gap.cause.as_str()
    );
    if !verdict.is_empty() {
        words.extend([", ", verdict]);
    }
    words
}

fn covered(report: &ObserverReport) -> ObserverCaseResult {
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
    let ours = len64(lines.len());
    lines.extend(report.account.not_covered.kept.iter().cloned());
    let all = report.account.not_covered.all + ours;
    match lines.first() {
        None if standing.resources == 0 => unknown("no resource was followed"),
        None => fine(&format!("{} resources", standing.resources)),
        Some(first) => trouble(&and_more(first.clone(), all.saturating_sub(1)), &lines),
    }
}

fn answered(report: &ObserverReport) -> ObserverCaseResult {
    let outages = &report.account.outages;
    let lines: Vec<String> = outages
        .kept
        .iter()
        .map(|outage| {
            let until = outage.to.map_or_else(|| "the end".to_owned(), time);
            let to = outage.to.unwrap_or(report.at);
            let span = secs(to.micros_since(outage.from));
            format!(
                "{}: {} – {until} ({span} s): {}",
                outage.endpoint,
                time(outage.from),
                outage.error
            )
        })
        .collect();
    match lines.first() {
        None if !report.standing.is_reachable => trouble(
            &match report.standing.trouble.as_str() {
                "" => "it did not answer at the end".to_owned(),
                trouble => format!("it did not answer at the end: {trouble}"),
            },
            &lines,
        ),
        None => fine("no outage was noticed"),
        Some(first) => trouble(
            &and_more(first.clone(), outages.all.saturating_sub(1)),
            &lines,
        ),
    }
}

fn redacted(report: &ObserverReport) -> ObserverCaseResult {
    match &report.account.redaction {
        Some(text) => fine(text),
        None => unknown("the recorder did not say what it redacted"),
    }
}

fn and_more(first: String, more: u64) -> String {
    if more == 0 {
        first
    } else {
        format!("{first} (and {more} more)")
    }
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
