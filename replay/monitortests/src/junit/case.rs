//! Owns which test cases an outcome becomes. Refuses `<flakyFailure>`: readers of OpenShift's CI count
//! two cases of one name, one failed and one passed.

use super::text;
use crate::evidence::RunName;
use crate::outcome::{Outcome, Verdict};
use kubereel_format::RecordedAt;

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
    /// `informing` for rules that never fail, else `blocking`.
    pub lifecycle: &'static str,
    /// What became of it.
    pub result: JunitResult,
}

/// What became of a test case.
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
    /// Gives the one or two cases of an outcome.
    pub fn of(run: &RunName<'_>, outcome: &Outcome) -> Vec<Self> {
        let case = |result| Self {
            name: outcome.name.clone(),
            classname: outcome.about.id.clone(),
            micros: 0,
            evidence: None,
            lifecycle: if outcome.about.is_flake_only {
                "informing"
            } else {
                "blocking"
            },
            result,
        };
        let failed = || {
            let evidence = evidence(run, outcome);
            let micros = evidence.map_or(0, |(from, to)| to.micros_since(from));
            Self {
                micros: u64::try_from(micros).unwrap_or(0),
                evidence,
                ..case(JunitResult::Failed {
                    message: text::headline(run, outcome),
                    text: text::body(run, outcome),
                })
            }
        };
        let passed = |words: &str| {
            case(JunitResult::Passed {
                words: words.to_owned(),
            })
        };
        match outcome.verdict {
            Verdict::Pass => vec![passed("")],
            // A reader that knows no errors would take them for passes.
            Verdict::Fail | Verdict::Error => vec![failed()],
            Verdict::Flake | Verdict::FlakeJira | Verdict::FlakePermanent => {
                vec![failed(), passed(FLAKE_PASSES)]
            }
            Verdict::Unknown | Verdict::Skipped => vec![case(JunitResult::Skipped {
                message: text::why_not_judged(run, outcome),
            })],
        }
    }
}

fn evidence(run: &RunName<'_>, outcome: &Outcome) -> Option<(RecordedAt, RecordedAt)> {
    let from = outcome.evidence().map(|judged| judged.finding.from).min()?;
    let ends = outcome.evidence();
    let to = ends
        .map(|judged| judged.finding.to.unwrap_or(run.end))
        .max()?;
    Some((from, to.max(from)))
}
