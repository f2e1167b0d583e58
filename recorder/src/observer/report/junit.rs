//! Owns the JUnit file: one flat suite, as the readers of OpenShift's CI take it. Refuses to fail a job:
//! what is wrong with a recording is a flake, a failed case and a passed one of the same name.
//!
//! Written here, as the elements are five: the libraries at hand wrap suites in `<testsuites>`, which
//! changes the names that those readers make.

use super::words::escaped;
use super::{Report, Verdict, cases};

/// The name of the suite of the OpenShift monitor's own tests; others are not read.
const SUITE: &str = "invariants";

const CLASS: &str = "kubereel-recording";

/// Writes the file.
pub(in crate::observer) fn junit(report: &Report) -> String {
    let (mut failures, mut skipped, mut tests) = (0_u32, 0_u32, 0_u32);
    let mut body = String::new();
    for case in cases(report) {
        let name = escaped(case.name);
        let begin = format!(
            "  <testcase name=\"{name}\" classname=\"{CLASS}\" time=\"0\" lifecycle=\"informing\">\n"
        );
        tests += 1;
        match &case.verdict {
            Verdict::Fine { words } => {
                let words = escaped(words);
                body.extend([&begin, "    <system-out>", &words, "</system-out>\n"]);
            }
            Verdict::Unknown { why } => {
                skipped += 1;
                let why = escaped(why);
                body.extend([&begin, "    <skipped message=\"", &why, "\"/>\n"]);
            }
            Verdict::Trouble {
                headline,
                body: all,
            } => {
                failures += 1;
                tests += 1;
                let (headline, all) = (escaped(headline), escaped(all));
                body.extend([&begin, "    <failure message=\"", &headline, "\">", &all]);
                body.extend(["</failure>\n  </testcase>\n", &begin]);
                body.push_str("    <system-out>passed too: a finding on the recording does not fail the job</system-out>\n");
            }
        }
        body.push_str("  </testcase>\n");
    }
    let secs = report.standing.elapsed_micros / 1_000_000;
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{SUITE}\" tests=\"{tests}\" skipped=\"{skipped}\" failures=\"{failures}\" time=\"{secs}\">\n{body}</testsuite>\n"
    )
}
