//! Owns the file: one `<testsuite>` at its root, cases in the order of the rules. Refuses to open files.

use super::case::{JunitCase, JunitResult};
use super::xml::{attribute, text};
use crate::evidence::RunName;
use crate::interval::file_suffix;
use crate::run::RunReport;
use kubereel_format::RecordedAt;
use kubereel_history::timetext;
use std::io::{self, Write};

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
            micros: u64::try_from(report.end.micros_since(report.start)).unwrap_or(0),
            cases: cases.collect(),
        }
    }

    /// Gives the name under which the readers of OpenShift's CI look for it, by the begin of the recording.
    pub fn name(start: RecordedAt) -> String {
        format!("e2e-monitor-tests_{}.xml", file_suffix(start))
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
