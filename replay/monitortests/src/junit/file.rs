//! Outcomes as a JUnit file: one flat `<testsuite>`, a flake as two cases of one name.
//!
//! `<flakyFailure>` is not used: readers of OpenShift's CI count two cases of one name, one failed and
//! one passed.

use super::xml::{attribute, text};
use crate::evidence::{RunName, shown_by, told};
use crate::interval::file_suffix;
use crate::outcome::{CaseOutcome, CaseVerdict, JudgedFinding};
use crate::run::RunReport;
use kubereel_format::RecordedAt;
use kubereel_history::{cut, timetext};
use std::io;
use std::io::Write;

/// The name that the OpenShift monitor gives the suite of its tests when it runs alone.
const SUITE: &str = "invariants";

/// A file of verdicts.
#[derive(Clone, Debug)]
pub struct JunitFile {
    /// How long the recording is, in microseconds.
    pub micros: u64,
    /// The cases.
    pub cases: Vec<JunitCase>,
}

impl JunitFile {
    /// Makes the cases of a run.
    pub fn of(run: &RunName<'_>, report: &RunReport) -> Self {
        let cases = report
            .outcomes
            .iter()
            .flat_map(|outcome| JunitCase::of(run, outcome));
        Self {
            micros: report.end.micros_since(report.start).max(0).unsigned_abs(),
            cases: cases.collect(),
        }
    }

    /// Returns the name under which the readers of OpenShift's CI look for it, by the begin of the recording.
    pub fn name(start: Option<RecordedAt>) -> String {
        let suffix = start.map(file_suffix).unwrap_or_default();
        format!("e2e-monitor-tests_{suffix}.xml")
    }
}

/// Writes a file.
///
/// # Errors
/// When it cannot be written.
pub fn write_junit(file: &JunitFile, out: &mut impl Write) -> io::Result<()> {
    let count =
        |is: fn(&JunitResult) -> bool| file.cases.iter().filter(|case| is(&case.result)).count();
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(
        out,
        r#"<testsuite name="{SUITE}" tests="{}" skipped="{}" failures="{}" time="{}">"#,
        file.cases.len(),
        count(|result| matches!(result, JunitResult::Skipped { .. })),
        count(|result| matches!(result, JunitResult::Failed { .. })),
        secs(file.micros),
    )?;
    for case in &file.cases {
        write_case(case, out)?;
    }
    writeln!(out, "</testsuite>")
}

fn write_case(case: &JunitCase, out: &mut impl Write) -> io::Result<()> {
    write!(
        out,
        r#"  <testcase name="{}" classname="{}" time="{}""#,
        attribute(&case.name),
        attribute(&case.classname),
        secs(case.micros)
    )?;
    if let Some((from, to)) = case.evidence {
        let (from, to) = (timetext::rfc3339(from), timetext::rfc3339(to));
        write!(
            out,
            r#" start-time="{}" end-time="{}""#,
            attribute(&from),
            attribute(&to)
        )?;
    }
    write!(out, r#" lifecycle="{}""#, case.lifecycle)?;
    match &case.result {
        JunitResult::Passed { words } if words.is_empty() => return writeln!(out, "/>"),
        JunitResult::Passed { words } => {
            writeln!(out, ">\n    <system-out>{}</system-out>", text(words))?;
        }
        JunitResult::Skipped { message } => {
            writeln!(out, ">\n    <skipped message=\"{}\"/>", attribute(message))?;
        }
        JunitResult::Failed {
            message,
            text: body,
        } => {
            let body = text(body);
            writeln!(
                out,
                ">\n    <failure message=\"{}\">{body}</failure>\n    <system-out>{body}</system-out>",
                attribute(message)
            )?;
        }
    }
    writeln!(out, "  </testcase>")
}

/// Writes a length in seconds, without a trailing fraction of zeros.
fn secs(micros: u64) -> String {
    let (whole, rest) = (micros / 1_000_000, micros % 1_000_000);
    if rest == 0 {
        return whole.to_string();
    }
    let text = format!("{whole}.{rest:06}");
    text.trim_end_matches('0').to_owned()
}

/// What the passing half of a flake says; the readers of OpenShift's CI know it.
const FLAKE_PASSES: &str =
    "Passing the case to make the overall test case flake as the previous failure is expected";

/// A test case as a file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JunitCase {
    /// The whole name.
    pub name: String,
    /// The id of the rule.
    pub classname: String,
    /// From the first to the last evidence, in microseconds.
    pub micros: u64,
    /// When the first evidence began, and the last ended.
    pub evidence: Option<(RecordedAt, RecordedAt)>,
    /// `informing` for rules that do not block, else `blocking`.
    pub lifecycle: &'static str,
    /// The outcome.
    pub result: JunitResult,
}

/// The outcome of a test case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JunitResult {
    /// It passed; the words may be empty.
    Passed {
        /// Why, where that needs words.
        words: String,
    },
    /// It was not judged, or not all was seen.
    Skipped {
        /// Why.
        message: String,
    },
    /// It failed.
    Failed {
        /// The first line.
        message: String,
        /// The whole.
        text: String,
    },
}

impl JunitCase {
    /// Returns the one or two cases of an outcome.
    pub fn of(run: &RunName<'_>, outcome: &CaseOutcome) -> Vec<Self> {
        let case = |result| Self {
            name: outcome.name.clone(),
            classname: outcome.about.id.clone(),
            micros: 0,
            evidence: None,
            lifecycle: outcome.about.lifecycle(),
            result,
        };
        let failed = || {
            let evidence = evidence(run, outcome);
            let micros = evidence.map_or(0, |(from, to)| to.micros_since(from));
            Self {
                micros: micros.max(0).unsigned_abs(),
                evidence,
                ..case(JunitResult::Failed {
                    message: headline(run, outcome),
                    text: body(run, outcome),
                })
            }
        };
        let passed = |words: &str| {
            case(JunitResult::Passed {
                words: words.to_owned(),
            })
        };
        match outcome.verdict {
            CaseVerdict::Pass => vec![passed("")],
            // A reader that knows no errors would take them for passes.
            CaseVerdict::Fail | CaseVerdict::Error => vec![failed()],
            CaseVerdict::Flake | CaseVerdict::FlakeJira | CaseVerdict::FlakePermanent => {
                vec![failed(), passed(FLAKE_PASSES)]
            }
            CaseVerdict::Unknown | CaseVerdict::Skipped => vec![case(JunitResult::Skipped {
                message: why_not_judged(run, outcome),
            })],
        }
    }
}

fn evidence(run: &RunName<'_>, outcome: &CaseOutcome) -> Option<(RecordedAt, RecordedAt)> {
    let (_, end) = run.span?;
    let from = outcome.evidence().map(|judged| judged.finding.from).min()?;
    let ends = outcome.evidence();
    let to = ends.map(|judged| judged.known_to().unwrap_or(end)).max()?;
    Some((from, to.max(from)))
}

/// How many findings are listed.
const FINDINGS_MOST: usize = 100;
/// How many characters of one finding are shown.
const LETTERS_MOST: usize = 4000;

/// Returns the first line of a failure: what was found first, and how much more there is.
pub(super) fn headline(run: &RunName<'_>, outcome: &CaseOutcome) -> String {
    if let (CaseVerdict::Error, Some(why)) = (outcome.verdict, &outcome.why) {
        return format!("error: {}", cut(why, LETTERS_MOST));
    }
    let mut evidence = outcome.evidence();
    let first = evidence.next();
    let first = first.map(|judged| cut(&told(run, judged), LETTERS_MOST).into_owned());
    let first = first
        .or_else(|| outcome.not_kept_words())
        .unwrap_or_default();
    match evidence.count() {
        0 => first,
        more => format!("{first} (and {more} more)"),
    }
}

/// Returns the whole text of a failure.
pub(super) fn body(run: &RunName<'_>, outcome: &CaseOutcome) -> String {
    let mut lines = Vec::new();
    let mut head = format!("{} · rule {}", outcome.verdict, outcome.about.id);
    if let Some((from, to)) = run.span {
        let (from, to) = (timetext::rfc3339(from), timetext::rfc3339(to));
        head = format!("{head} · {from} – {to}");
    }
    lines.push(head);
    lines.push(outcome.about.description.clone());
    if let Some(why) = &outcome.why {
        lines.push(cut(why, LETTERS_MOST).into_owned());
    }
    for judged in outcome.findings.iter().take(FINDINGS_MOST) {
        lines.push(String::new());
        lines.push(cut(&told(run, judged), LETTERS_MOST).into_owned());
        lines.extend(excused(judged).map(|line| format!("    {line}")));
        lines.extend(shown_by(run, &judged.finding).map(|line| format!("    {line}")));
    }
    let more = outcome.findings.len().saturating_sub(FINDINGS_MOST);
    if more > 0 {
        lines.push(format!("\nand {more} more"));
    }
    lines.extend(outcome.not_kept_words());
    for dark in outcome.dark.iter().take(FINDINGS_MOST) {
        let (from, to) = (run.written(dark.from), run.written(dark.to));
        lines.push(format!("not seen {from} – {to}: {}", dark.why));
    }
    lines.join("\n")
}

/// Tells by what a finding is excepted.
fn excused(judged: &JudgedFinding) -> Option<String> {
    let excuse = judged.excuse.as_ref()?;
    let words = [excuse.link.as_str(), excuse.why.as_str()];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    Some(format!(
        "excepted ({}): {} [{}]",
        excuse.state.as_str(),
        words.join(", "),
        excuse.written_at
    ))
}

/// Returns why a case has no verdict.
pub(super) fn why_not_judged(run: &RunName<'_>, outcome: &CaseOutcome) -> String {
    match (outcome.verdict, outcome.dark.first()) {
        (CaseVerdict::Unknown, Some(dark)) => {
            let (from, to) = (run.written(dark.from), run.written(dark.to));
            let more = match outcome.dark.len() {
                0 | 1 => String::new(),
                all => format!(" (and {} more times)", all - 1),
            };
            format!("unknown: not seen {from} – {to}: {}{more}", dark.why)
        }
        _ => outcome.why.clone().unwrap_or_default(),
    }
}
