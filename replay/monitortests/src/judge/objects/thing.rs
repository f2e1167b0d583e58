//! Owns one thing that is watched, an object or an item of it, from when it is first chosen to its end.
//! Refuses to keep what can lead to no finding.

use super::evidence::Evidence;
use crate::cel::Fault;
use crate::rule::{Check, Expected};
use crate::signal::{
    Counted, Judged, Life, Signal, Truth, always, at_end, eventually, flaps, leads_to, never,
    risings, stays, total, until,
};
use std::sync::Arc;

/// How much evidence is kept of one thing.
const MAX_EVIDENCE: usize = 200;
/// How many unknown or wrong values are kept of one thing.
const MAX_FAULTS: usize = 4;

/// The highest value so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct High {
    pub(super) value: f64,
    pub(super) is_whole: bool,
    pub(super) at: i64,
    pub(super) evidence: Option<usize>,
}

/// What is kept of one check.
#[derive(Clone, Debug, Default)]
pub(super) struct Course {
    /// The signals of its predicates.
    pub(super) signals: Vec<Signal>,
    /// With `highest`: the highest value.
    pub(super) high: Option<High>,
    /// With `eventually`: from when on.
    pub(super) since: Option<i64>,
}

/// A thing that is watched.
#[derive(Clone, Debug)]
pub(super) struct Thing {
    /// The values of the case's places.
    pub(super) group: Vec<String>,
    pub(super) namespace: Arc<str>,
    pub(super) name: Arc<str>,
    /// The key of the item; empty without items.
    pub(super) item: String,
    pub(super) life: Life,
    pub(super) courses: Vec<Course>,
    pub(super) evidence: Vec<Evidence>,
    /// Values that could not be had, and when.
    pub(super) faults: Vec<(i64, Fault)>,
    /// When it was seen changed after times that were not seen.
    pub(super) holes: Vec<i64>,
}

impl Thing {
    /// Keeps evidence, and gives its number.
    pub(super) fn keep(&mut self, evidence: impl FnOnce() -> Evidence) -> Option<usize> {
        if self.evidence.len() >= MAX_EVIDENCE {
            return None;
        }
        let number = self.evidence.len();
        self.evidence.push(evidence());
        Some(number)
    }

    /// Keeps a value that could not be had.
    pub(super) fn fault(&mut self, at: i64, fault: Fault) {
        let is_known = self.faults.iter().any(|(_, known)| *known == fault);
        if self.faults.len() < MAX_FAULTS && !is_known {
            self.faults.push((at, fault));
        }
    }

    /// Ends it.
    pub(super) fn end(&mut self, at: i64, is_gone: bool) {
        self.life.to = at.max(self.life.from);
        self.life.is_gone = is_gone;
        for course in &mut self.courses {
            for signal in &mut course.signals {
                signal.end(self.life.to);
            }
        }
    }

    /// Tells whether a finding may come of it, alone or with others.
    pub(super) fn is_worth_keeping(&self, checks: &[Check]) -> bool {
        !self.faults.is_empty()
            || checks.iter().zip(&self.courses).any(|(check, course)| {
                let judged = course.judge(&check.expected, self.life, &[]);
                !judged.found.is_empty() || !course.counted(&check.expected, &[]).is_empty()
            })
    }
}

impl Course {
    fn signal(&self, number: usize, dark: &[(i64, i64)]) -> Signal {
        let signal = self.signals.get(number);
        signal.map_or_else(Signal::default, |signal| signal.darkened(dark))
    }

    /// Applies an operator that looks for spans.
    pub(super) fn judge(&self, expected: &Expected, life: Life, dark: &[(i64, i64)]) -> Judged {
        let first = self.signal(0, dark);
        match expected {
            Expected::Never { at_least, .. } => never(&first, at_least.0, life),
            Expected::Always { at_least, .. } => always(&first, at_least.0, life),
            Expected::AtEnd { .. } => at_end(&first, life),
            Expected::Eventually { within, .. } => {
                let since = self.since.unwrap_or(life.from);
                eventually(&first, since, within.map(|within| within.0), life)
            }
            Expected::LeadsTo { within, .. } => {
                leads_to(&first, &self.signal(1, dark), within.0, life)
            }
            Expected::Until { .. } => until(&first, &self.signal(1, dark), life),
            Expected::Stays { span, .. } => {
                let span = span.map(|span| span.0);
                stays(&first, &self.signal(1, dark), span, life)
            }
            Expected::Total {
                above,
                per_case: false,
                ..
            } => total(&first, above.0, life),
            Expected::AtMost { .. }
            | Expected::Flaps { .. }
            | Expected::Highest { .. }
            | Expected::Total { .. } => Judged::default(),
        }
    }

    /// Gives what an operator counts.
    pub(super) fn counted(&self, expected: &Expected, dark: &[(i64, i64)]) -> Vec<Counted> {
        match expected {
            Expected::AtMost { span, .. } => risings(&self.signal(0, dark), span.is_some()),
            Expected::Total { per_case: true, .. } => risings(&self.signal(0, dark), false),
            Expected::Flaps { span, .. } => flaps(&self.signal(0, dark), span.is_some()),
            Expected::Highest { above, .. } => {
                let high = self.high.iter().filter(|high| high.value > *above);
                high.map(|high| Counted {
                    at: high.at,
                    evidence: high.evidence,
                })
                .collect()
            }
            _ => Vec::new(),
        }
    }

    /// Tells whether it is nothing to an operator that a predicate had a truth at a moment only: that it
    /// was silent tells it the same.
    pub(super) const fn passes_over(expected: &Expected, truth: Truth) -> bool {
        match expected {
            Expected::Never { .. } | Expected::AtMost { .. } => matches!(truth, Truth::False),
            Expected::Always { .. } => matches!(truth, Truth::True),
            _ => false,
        }
    }

    /// Tells whether evidence is wanted when a predicate turns to a truth.
    pub(super) fn wants(expected: &Expected, number: usize, truth: Truth) -> bool {
        match expected {
            Expected::Never { .. }
            | Expected::AtMost { .. }
            | Expected::Total { .. }
            | Expected::LeadsTo { .. } => number == 0 && truth == Truth::True,
            Expected::Always { .. } | Expected::AtEnd { .. } => truth == Truth::False,
            Expected::Eventually { .. } => truth != Truth::True,
            Expected::Until { .. } => number == 0 && truth == Truth::False,
            Expected::Stays { .. } => {
                number == 0 && truth == Truth::True || number == 1 && truth == Truth::False
            }
            Expected::Flaps { .. } => truth != Truth::Unknown,
            Expected::Highest { .. } => false,
        }
    }
}
