//! The reports of an observer: summary, page, JUnit and `metadata.json`.
//!
//! JUnit is one flat suite, as the readers of OpenShift's CI expect it. It never fails a job: a
//! problem of the recording is a flake, which is a failed and a passed case of the same name. It is
//! written by hand, because the available libraries wrap suites in `<testsuites>`, which changes
//! the names that those readers use.
//!
//! `metadata.json` is one flat object of texts, which Prow merges into the job's own.
//!
//! Spyglass pastes the page into an `iframe srcdoc` and escapes nothing but double quotes, so each
//! character reference of the page is decoded once more than intended: escaped text becomes live
//! elements, in a frame with the origin of the CI's own site. Invariants against that:
//!
//! * text of the job, the cluster and the server is in the page as base64 only, which has no
//!   character of markup, and a constant script shows it with `textContent`;
//! * title and description, which Spyglass pastes unescaped, are constant;
//! * the page has no `&`, so one more round of decoding changes nothing.

use crate::health::{RecorderStatus, RunAccount};
use crate::number::len64;
use crate::observer::case::{ObserverCaseResult, cases};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use kubereel_format::{RecordedAt, harmless};
use kubereel_redact::Redactor;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The state of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::observer) enum ReportStage {
    /// It runs. If this is read after the job, it was killed.
    Running,
    /// It could not begin, with the error.
    NotBegun(String),
    /// It ended in order, for this reason.
    Ended(String),
    /// It could not write any more, with the error.
    Failed(String),
}

/// What the history of the ended recording says; the caller of the observer reads it. Each text is one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompletenessSummary {
    /// The last moment of the recording.
    pub end: RecordedAt,
    /// The number of events.
    pub events: u64,
    /// The number of recorded resources.
    pub resources: u64,
    /// The times in which changes may be missing, with their resources.
    pub missing: Vec<String>,
    /// The number of other gaps: their changes were read back, or nothing changed.
    pub closed_gaps: u64,
    /// The resources that could not be recorded.
    pub not_recorded: Vec<String>,
    /// The outages of the API.
    pub outages: Vec<String>,
}

/// The whole report.
#[derive(Clone, Debug)]
pub(in crate::observer) struct ObserverReport {
    /// The state of the run.
    pub(in crate::observer) stage: ReportStage,
    /// The summary of its notes.
    pub(in crate::observer) account: RunAccount,
    /// What the reel says, once it was read.
    pub(in crate::observer) completeness: Option<CompletenessSummary>,
    /// The counters when the signal to end arrived.
    pub(in crate::observer) standing: RecorderStatus,
    /// When the signal to end arrived, or now.
    pub(in crate::observer) at: RecordedAt,
    /// The path of the reel, relative to the output folder.
    pub(in crate::observer) reel: String,
    /// Its size, in bytes.
    pub(in crate::observer) reel_bytes: u64,
    /// A remark about the file itself.
    pub(in crate::observer) file_words: String,
}

impl ObserverReport {
    /// Redacts every text, also those of notes: a credential may have been read after a note that
    /// quotes it. Redaction comes before any encoding, because an encoding may hide the secret.
    pub(in crate::observer) fn scrubbed(mut self, redactor: &Redactor) -> Self {
        let standing = &mut self.standing;
        let mut texts = vec![
            &mut self.file_words,
            &mut self.reel,
            &mut standing.trouble,
            &mut standing.write_trouble,
            &mut standing.budget,
        ];
        match &mut self.stage {
            ReportStage::Running => {}
            ReportStage::NotBegun(words)
            | ReportStage::Ended(words)
            | ReportStage::Failed(words) => {
                texts.push(words);
            }
        }
        let read = self.completeness.iter_mut();
        let read = read.flat_map(|read| {
            let missing = read.missing.iter_mut();
            missing
                .chain(&mut read.not_recorded)
                .chain(&mut read.outages)
        });
        let account = self.account.texts_mut();
        for text in texts.into_iter().chain(account).chain(read) {
            *text = redactor.words(text).into_owned();
        }
        self
    }

    /// Returns whether the run has not said how it ended.
    pub(in crate::observer) const fn is_running(&self) -> bool {
        matches!(self.stage, ReportStage::Running)
    }

    /// Returns the outcome in short; programs read it.
    pub(in crate::observer) fn outcome(&self) -> &'static str {
        let cases = cases(self);
        let is_bad =
            |verdict: &ObserverCaseResult| matches!(verdict, ObserverCaseResult::Trouble { .. });
        match &self.stage {
            ReportStage::Running => "recording",
            ReportStage::NotBegun(_) => "not begun",
            ReportStage::Failed(_) => "stopped writing",
            ReportStage::Ended(_) if !self.account.is_reached => "no cluster",
            ReportStage::Ended(_) if cases.iter().any(|case| is_bad(&case.verdict)) => {
                "recorded, with findings"
            }
            ReportStage::Ended(_) if self.completeness.is_none() => "recorded, not verified",
            ReportStage::Ended(_) => "recorded",
        }
    }
}

/// Formats a time as RFC 3339 in UTC.
pub(super) fn time(at: RecordedAt) -> String {
    Timestamp::from_microsecond(at.micros).map_or_else(
        |_| format!("{} µs since 1970", at.micros),
        |moment| moment.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
    )
}

/// Formats a duration in seconds.
pub(super) fn secs(micros: i64) -> String {
    let tenths = micros.max(0) / 100_000;
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Escapes a text for the inside of an XML element or attribute, and drops characters that XML does
/// not allow.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let lines: Vec<_> = text.split('\n').map(harmless).collect();
    for letter in lines.join("\n").chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

/// Returns the page.
pub(in crate::observer) fn summary(report: &ObserverReport) -> String {
    let account = &report.account;
    let mut lines = vec![
        format!(
            "kubereel {}: {}",
            env!("CARGO_PKG_VERSION"),
            report.outcome()
        ),
        String::new(),
        format!("reel        {}, {} bytes", report.reel, report.reel_bytes),
    ];
    if !report.file_words.is_empty() {
        lines.push(format!("            {}", report.file_words));
    }
    let read = report.completeness.as_ref();
    if let Some(began) = account.began {
        let end = read.map_or(report.at, |read| read.end);
        let span = secs(end.micros_since(began));
        lines.push(format!(
            "recorded    {} – {} ({span} s)",
            time(began),
            time(end)
        ));
    }
    match &report.stage {
        ReportStage::Running => lines.push("ended       not yet, or killed".to_owned()),
        ReportStage::Ended(by) => lines.push(format!("ended       by {by}")),
        ReportStage::NotBegun(why) | ReportStage::Failed(why) => {
            lines.push(format!("ended       {why}"));
        }
    }
    for cluster in &account.clusters.kept {
        lines.push(format!("cluster     {cluster}"));
    }
    lines.push(format!(
        "events      {} of {} resources",
        read.map_or(report.standing.events(), |read| read.events),
        read.map_or(report.standing.resources, |read| read.resources)
    ));
    for (name, value) in &account.labels {
        lines.push(format!("label       {name}={value}"));
    }
    lines.push(String::new());
    for case in cases(report) {
        let (word, words) = match &case.verdict {
            ObserverCaseResult::Fine { words } => ("yes", words.as_str()),
            ObserverCaseResult::Trouble { body, .. } => ("NO", body.as_str()),
            ObserverCaseResult::Unknown { why } => ("?", why.as_str()),
        };
        lines.push(format!("{word:<4}{}", case.name));
        lines.extend(words.lines().map(|line| format!("        {line}")));
    }
    if !account.way.kept.is_empty() {
        lines.extend([String::new(), "the way to the cluster".to_owned()]);
        let way = account.way.kept.iter();
        lines.extend(way.map(|(at, words)| format!("    {} {words}", time(*at))));
        let more = account.way.all - len64(account.way.kept.len());
        if more > 0 {
            lines.push(format!("    and {more} more"));
        }
    }
    lines.extend([
        String::new(),
        format!("look at it:  kubereel {}", report.reel),
    ]);
    // One line stays one line, so that a server's text cannot imitate another line.
    lines
        .iter()
        .fold(String::new(), |text, line| text + &harmless(line) + "\n")
}

/// Returns the file.
pub(in crate::observer) fn metadata(report: &ObserverReport) -> String {
    let account = &report.account;
    let mut rows: BTreeMap<&str, String> = BTreeMap::new();
    rows.insert("kubereel-version", env!("CARGO_PKG_VERSION").to_owned());
    rows.insert("kubereel-outcome", report.outcome().to_owned());
    rows.insert("kubereel-reel", report.reel.clone());
    rows.insert("kubereel-reel-bytes", report.reel_bytes.to_string());
    rows.insert("kubereel-reached-cluster", account.is_reached.to_string());
    let mut events = report.standing.events();
    if let Some(read) = &report.completeness {
        events = read.events;
        rows.insert("kubereel-gaps", read.missing.len().to_string());
        rows.insert("kubereel-outages", read.outages.len().to_string());
    }
    rows.insert("kubereel-events", events.to_string());
    rows.insert("kubereel-marks", account.marks.to_string());
    if let Some(began) = account.began {
        rows.insert("kubereel-began", time(began));
    }
    match &report.stage {
        ReportStage::Running => {}
        ReportStage::Ended(by) => {
            rows.insert("kubereel-ended", time(report.at));
            rows.insert("kubereel-ended-by", by.clone());
        }
        ReportStage::NotBegun(why) | ReportStage::Failed(why) => {
            rows.insert("kubereel-error", why.clone());
        }
    }
    // A map of texts can always be serialized.
    serde_json::to_string_pretty(&rows).map_or_else(|_| "{}\n".to_owned(), |text| text + "\n")
}

/// The suite name of the OpenShift monitor's own tests; suites with other names are not read.
const SUITE: &str = "invariants";

const CLASS: &str = "kubereel-recording";

/// Returns the file.
pub(in crate::observer) fn junit(report: &ObserverReport) -> String {
    let (mut failures, mut skipped, mut tests) = (0_u32, 0_u32, 0_u32);
    let mut body = String::new();
    for case in cases(report) {
        let name = escaped(case.name);
        let begin = format!(
            "  <testcase name=\"{name}\" classname=\"{CLASS}\" time=\"0\" lifecycle=\"informing\">\n"
        );
        tests += 1;
        match &case.verdict {
            ObserverCaseResult::Fine { words } => {
                let words = escaped(words);
                body.extend([&begin, "    <system-out>", &words, "</system-out>\n"]);
            }
            ObserverCaseResult::Unknown { why } => {
                skipped += 1;
                let why = escaped(why);
                body.extend([&begin, "    <skipped message=\"", &why, "\"/>\n"]);
            }
            ObserverCaseResult::Trouble {
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

const TEMPLATE: &str = include_str!("page.html");

/// The longest text in a page, in bytes: Prow loads the whole page into memory for each view.
const TEXT_BYTES: usize = 2_000_000;

/// Returns the page of a summary that is also in the file of this name, beside the page.
pub(in crate::observer) fn page(summary: &str, file_name: &str) -> String {
    let shown = match summary.split_at(summary.floor_char_boundary(TEXT_BYTES)) {
        (all, "") => Cow::Borrowed(all),
        (shown, _) => Cow::Owned(format!("{shown}\n\nThe rest is in {file_name}.\n")),
    };
    TEMPLATE
        .replace("@SUMMARY@", file_name)
        .replace("@DATA@", &BASE64_STANDARD.encode(shown.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_redact::{Extra, KnownCredentials};

    #[test]
    fn a_credential_with_characters_of_markup_is_not_in_the_junit_file() {
        let known = "p&ss<\"w0rd\">'of-the-proxy'";
        let mut account = RunAccount::default();
        let words = format!("no answer: {known}: 407");
        account.clusters.kept.push(words.clone());
        let report = ObserverReport {
            stage: ReportStage::Failed(words.clone()),
            account,
            completeness: None,
            standing: RecorderStatus::default(),
            at: RecordedAt::default(),
            reel: "run.reel".to_owned(),
            reel_bytes: 1,
            file_words: words,
        };
        let part = "p&amp;ss&lt;";
        assert!(junit(&report).contains(part), "it would be there");
        KnownCredentials::of_process().remember(known.as_bytes());
        let redactor = Redactor::new(Extra::default()).unwrap();
        let text = junit(&report.scrubbed(&redactor));
        assert!(!text.contains(part), "{text}");
        assert!(text.contains("redacted-by-kubereel-"), "{text}");
    }

    #[test]
    fn nothing_that_is_said_is_markup() {
        let expected = "&lt;a b=&quot;c&quot;&gt;&amp;&#39;\\u001b[31m\\u0000\u{fffd}\n";
        assert_eq!(escaped("<a b=\"c\">&'\u{1b}[31m\u{0}\u{ffff}\n"), expected);
    }

    #[test]
    fn times_are_utc_and_spans_are_seconds() {
        let expected = "1970-01-01T00:00:01.250Z";
        assert_eq!(time(RecordedAt::from_micros(1_250_000)), expected);
        assert_eq!(secs(1_250_000), "1.2");
        assert_eq!(secs(-5), "0.0");
    }

    const NAME: &str = "kubereel-20261122-033000-summary.txt";

    /// Extracts the base64 of a page.
    fn text_of(page: &str) -> String {
        let (_, data) = page.split_once("id=\"kubereel-data\">").expect("data");
        let (data, _) = data.split_once("</script>").expect("an end");
        String::from_utf8(BASE64_STANDARD.decode(data).expect("base64")).expect("UTF-8")
    }

    #[test]
    fn nothing_of_the_text_is_markup_however_often_it_is_decoded() {
        let hostile =
            "</script></pre><script>x</script>\u{0}&lt;b&gt; &amp;lt; é 日本 @SUMMARY@ @DATA@";
        let (page, empty) = (page(hostile, NAME), page("", NAME));
        assert_eq!(text_of(&page), hostile);
        let data = BASE64_STANDARD.encode(hostile);
        assert_eq!(page.replace(&data, ""), empty, "the rest is constant");
        assert!(!page.contains('&'), "a character reference");
    }

    #[test]
    fn title_and_description_are_where_prow_looks_for_them() {
        let page = page("x", NAME);
        let (head, _) = page.split_once("<body>").expect("a body");
        assert!(head.len() < 64 * 1024);
        assert!(head.contains("<title>kubereel: "), "{head}");
        assert!(head.contains("<meta name=\"description\""), "{head}");
        assert!(
            page.contains(NAME),
            "a page without scripts says where to look"
        );
    }

    #[test]
    fn a_text_that_is_too_long_is_cut_and_says_so() {
        let page = page(&"é".repeat(TEXT_BYTES), NAME);
        assert!(page.len() < 3_000_000, "{}", page.len());
        assert!(text_of(&page).ends_with(&format!("é\n\nThe rest is in {NAME}.\n")));
    }
}
