//! The findings of the monitortests, as another process of this program wrote them, and how far it is. The
//! input is untrusted: a process or a file.

use kubereel_format::{RecordedAt, Seq};
use kubereel_history::{harmless, timetext};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The outcome of the case that a finding belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FindingVerdict {
    /// It failed.
    Fail,
    /// It flaked, or is known to go wrong.
    Flake,
}

/// Something that a monitortest found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReportedFinding {
    /// The rule's id.
    pub(crate) rule: Arc<str>,
    /// The case's name, as reports have it.
    pub(crate) test: Arc<str>,
    /// The outcome of the case.
    pub(crate) verdict: FindingVerdict,
    /// When it began.
    pub(crate) from: RecordedAt,
    /// When it ended; `None` if it did not.
    pub(crate) to: Option<RecordedAt>,
    /// A word for it; may be empty.
    pub(crate) reason: String,
    /// What is wrong, line by line; at least one.
    pub(crate) message: Arc<[String]>,
    /// The resource, with its group; empty if it is not about an object.
    pub(crate) resource: String,
    /// The namespace; may be empty.
    pub(crate) namespace: String,
    /// The name; may be empty.
    pub(crate) name: String,
    /// The record that shows it.
    pub(crate) seq: Option<Seq>,
}

/// All that a run of the monitortests found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// The findings, in the order of the rules; their texts are harmless to a terminal.
    pub(crate) all: Vec<ReportedFinding>,
    /// How many more there are, which are not listed.
    pub(crate) rest: usize,
    /// How many cases were judged.
    pub(crate) judged: u64,
    /// How many cases failed.
    pub(crate) failed: u64,
    /// How many cases flaked.
    pub(crate) flaked: u64,
    /// How many cases cannot be known, or could not be judged.
    pub(crate) unknown: u64,
    /// How many cases were skipped: they do not apply to the cluster, or what they need was not recorded.
    pub(crate) skipped: u64,
    /// Whether parts of the reel could not be read.
    pub(crate) is_damaged: bool,
}

/// How far the monitortests are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JudgingState {
    /// They run; the percentage of the reel that is read.
    Under(u8),
    /// They were stopped.
    Stopped,
    /// They could not be run to their end, and why.
    Failed(String),
    /// They are done.
    Done(Arc<Findings>),
}

impl JudgingState {
    /// Gives what they found, if they are done.
    pub(crate) const fn findings(&self) -> Option<&Arc<Findings>> {
        match self {
            Self::Done(findings) => Some(findings),
            _ => None,
        }
    }
}

/// More bytes are not read: 16 MiB.
pub(crate) const MOST_BYTES: u64 = 16 * 1024 * 1024;
/// More findings are counted only.
const MOST_FINDINGS: usize = 10_000;
/// The longest text, in letters; the rest is cut.
const MOST_LETTERS: usize = 2_000;

/// The most lines of a message; the rest is cut.
const MOST_LINES: usize = 40;

#[derive(Deserialize)]
struct FindingsDocument {
    runs: Vec<FindingsRun>,
}

#[derive(Deserialize)]
struct FindingsRun {
    error: Option<String>,
    #[serde(default)]
    trust: String,
    #[serde(default)]
    counts: BTreeMap<String, u64>,
    #[serde(default)]
    cases: FoundCases,
}

#[derive(Deserialize)]
struct FindingsCase {
    rule: String,
    name: String,
    findings: Vec<FindingsEntry>,
}

#[derive(Deserialize)]
struct FindingsEntry {
    from: String,
    to: Option<String>,
    #[serde(default)]
    end_unknown_since: Option<String>,
    fails: bool,
    reason: String,
    message: String,
    resource: String,
    namespace: String,
    name: String,
    seq: Option<u64>,
}

/// The findings of all cases, taken case by case: all cases together take many times the memory.
#[derive(Default)]
struct FoundCases {
    all: Vec<ReportedFinding>,
    rest: usize,
    /// Whether one has no time.
    is_undated: bool,
}

impl<'de> Deserialize<'de> for FoundCases {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(Self::default())
    }
}

impl<'de> Visitor<'de> for FoundCases {
    type Value = Self;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("cases")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut from: A) -> Result<Self, A::Error> {
        while let Some(case) = from.next_element::<FindingsCase>()? {
            let (rule, test) = (text(&case.rule).into(), text(&case.name).into());
            for found in case.findings {
                if self.all.len() >= MOST_FINDINGS {
                    self.rest += 1;
                    continue;
                }
                match finding(&rule, &test, &found) {
                    Some(finding) => self.all.push(finding),
                    None => self.is_undated = true,
                }
            }
        }
        Ok(self)
    }
}

/// Reads what a run writes, or says why it cannot be taken.
pub(crate) fn read<'de>(from: impl Deserializer<'de>) -> Result<Findings, String> {
    let document = FindingsDocument::deserialize(from);
    let document = document.map_err(|error| format!("invalid findings: {error}"))?;
    let Some(run) = document.runs.into_iter().next() else {
        return Err("findings without a run".to_owned());
    };
    if let Some(error) = run.error {
        return Err(text(&error));
    }
    let count = |names: &[&str]| {
        let counts = names.iter().filter_map(|name| run.counts.get(*name));
        counts.fold(0_u64, |sum, count| sum.saturating_add(*count))
    };
    if run.cases.is_undated {
        return Err("a finding without a time".to_owned());
    }
    let findings = Findings {
        judged: count(&[
            "pass",
            "fail",
            "flake",
            "flake-jira",
            "flake-permanent",
            "unknown",
            "error",
            "skipped",
        ]),
        failed: count(&["fail"]),
        flaked: count(&["flake", "flake-jira", "flake-permanent"]),
        unknown: count(&["unknown", "error"]),
        skipped: count(&["skipped"]),
        is_damaged: run.trust == "damaged",
        all: run.cases.all,
        rest: run.cases.rest,
    };
    Ok(findings)
}

fn finding(rule: &Arc<str>, test: &Arc<str>, found: &FindingsEntry) -> Option<ReportedFinding> {
    let from = timetext::parsed(&found.from)?;
    let to = match found.to.as_ref().or(found.end_unknown_since.as_ref()) {
        Some(to) => Some(timetext::parsed(to)?.max(from)),
        None => None,
    };
    Some(ReportedFinding {
        rule: Arc::clone(rule),
        test: Arc::clone(test),
        verdict: if found.fails {
            FindingVerdict::Fail
        } else {
            FindingVerdict::Flake
        },
        from,
        to,
        reason: text(&found.reason),
        message: lines(&found.message).into(),
        // These are looked up as they are; what is shown of them is made harmless then.
        resource: cut(&found.resource),
        namespace: cut(&found.namespace),
        name: cut(&found.name),
        seq: found.seq.map(Seq),
    })
}

fn text(text: &str) -> String {
    harmless(&cut(text)).into_owned()
}

fn lines(text: &str) -> Vec<String> {
    let first = cut(text);
    let lines = first.lines().take(MOST_LINES);
    let mut lines: Vec<String> = lines.map(|line| harmless(line).into_owned()).collect();
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

fn cut(text: &str) -> String {
    text.chars().take(MOST_LETTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::{read as read_from, *};
    use proptest::prelude::*;
    use serde_json::json;

    fn read(bytes: &[u8]) -> Result<Findings, String> {
        read_from(&mut serde_json::Deserializer::from_slice(bytes))
    }

    fn document(message: &str, from: &str) -> Vec<u8> {
        let finding = json!({
            "from": from, "to": null, "fails": true, "reason": "R", "message": message,
            "resource": "pods", "namespace": "shop", "name": "web-0", "seq": u64::MAX, "more": [1],
        });
        let case = json!({"rule": "pods-live", "name": "pods should live", "findings": [finding]});
        json!({"runs": [{"trust": "recorded", "counts": {"fail": 1, "pass": 2}, "cases": [case]}]})
            .to_string()
            .into_bytes()
    }

    #[test]
    fn findings_are_read() {
        let findings =
            read(document("it died", "2026-11-21T14:02:31.5Z").as_slice()).expect("sound");
        assert_eq!((findings.judged, findings.failed, findings.rest), (3, 1, 0));
        let finding = &findings.all[0];
        assert_eq!(&*finding.rule, "pods-live");
        assert_eq!(finding.verdict, FindingVerdict::Fail);
        assert_eq!(finding.to, None);
        assert_eq!(&*finding.message, ["it died"]);
    }

    #[test]
    fn what_is_no_report_is_refused_and_what_is_hostile_made_harmless() {
        for wrong in [
            &b""[..],
            b"{}",
            b"{\"runs\": []}",
            b"{\"runs\": 1}",
            b"\x00\xff",
            &document("late", "noon"),
            "[".repeat(100_000).as_bytes(),
        ] {
            assert!(read(wrong).is_err());
        }
        let error = read(&br#"{"runs": [{"reel": "a", "error": "no \u001b[2Jreel"}]}"#[..]);
        assert_eq!(error, Err("no \\u001b[2Jreel".to_owned()));
        let hostile = format!("\u{1b}]0;owned\u{7}{}", "x".repeat(9_000));
        let findings = read(document(&hostile, "2026-11-21T14:02:31Z").as_slice()).expect("sound");
        let message = findings.all[0].message.concat();
        assert!(
            !message.contains('\u{1b}') && message.len() < 3_000,
            "{message}"
        );
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0usize..400, with in any::<u8>()) {
            drop(read(bytes.as_slice()));
            let mut sound = document("it died", "2026-11-21T14:02:31Z");
            let at = at % sound.len();
            sound[at] = with;
            drop(read(sound.as_slice()));
        }
    }
}
