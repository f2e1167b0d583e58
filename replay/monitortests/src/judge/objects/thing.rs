//! One watched thing, an object or an item of it, from when it is first chosen to its end.

use crate::cel::{EvalError, Slots, Val};
use crate::feed::Action;
use crate::rule::{CheckOperator, Expectation, RuleCheck, place};
use crate::signal::{
    ChangeTime, CountedMoment, Lifetime, Signal, SignalResult, SignalTruth, always, at_end,
    eventually, flaps, leads_to, never, risings, stays, total, until,
};
use kubereel_format::{RecordedAt, Seq};
use serde_json::Value;
use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

/// How much evidence is kept of one thing.
const MAX_EVIDENCE: usize = 200;
/// How many unknown or wrong values are kept of one thing.
const MAX_FAULTS: usize = 4;

/// The highest value so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct HighestValue {
    pub(super) value: f64,
    /// The same, if it is a whole number.
    pub(super) whole: Option<i64>,
    pub(super) at: i64,
    pub(super) evidence: Option<usize>,
}

/// What is kept of one check.
#[derive(Clone, Debug, Default)]
pub(super) struct CheckSignals {
    /// The signals of its predicates.
    pub(super) signals: Vec<Signal>,
    /// The values above the bound: each that is higher than those before; each change where the phase decides which
    /// count.
    pub(super) highs: Vec<HighestValue>,
    /// With `eventually`: from when on; `None` if that has no value.
    pub(super) since: Option<i64>,
}

/// A thing that is watched.
#[derive(Clone, Debug)]
pub(super) struct WatchedItem {
    /// The values of the case's places.
    pub(super) group: Vec<String>,
    pub(super) namespace: Arc<str>,
    pub(super) name: Arc<str>,
    /// The key of the item; empty without items.
    pub(super) item: String,
    pub(super) life: Lifetime,
    pub(super) courses: Vec<CheckSignals>,
    pub(super) evidence: Vec<ObjectEvidence>,
    /// Values that could not be had, and when.
    pub(super) faults: Vec<(i64, EvalError)>,
    /// When it was seen changed after times that were not seen.
    pub(super) holes: Vec<i64>,
}

impl WatchedItem {
    /// Keeps evidence, and gives its number.
    pub(super) fn keep(&mut self, evidence: impl FnOnce() -> ObjectEvidence) -> Option<usize> {
        if self.evidence.len() >= MAX_EVIDENCE {
            return None;
        }
        let number = self.evidence.len();
        self.evidence.push(evidence());
        Some(number)
    }

    /// Keeps a value that could not be had.
    pub(super) fn fault(&mut self, at: i64, fault: EvalError) {
        let is_known = self.faults.iter().any(|(_, known)| *known == fault);
        if self.faults.len() < MAX_FAULTS && !is_known {
            self.faults.push((at, fault));
        }
    }

    /// Turns all its signals.
    pub(super) fn turn_all(&mut self, time: ChangeTime, truth: SignalTruth) {
        for course in &mut self.courses {
            for signal in &mut course.signals {
                signal.turn(time, truth, None);
            }
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

    /// Returns whether a finding may come of it, alone or with others.
    pub(super) fn is_worth_keeping(&self, checks: &[RuleCheck]) -> bool {
        !self.faults.is_empty()
            || checks.iter().zip(&self.courses).any(|(check, course)| {
                let judged = course.judge(&check.expected, self.life, &[]);
                !judged.found.is_empty()
                    || !judged.doubts.is_empty()
                    || !course.counted(&check.expected, &[]).is_empty()
            })
    }
}

impl CheckSignals {
    fn signal(&self, number: usize, dark: &[(i64, i64)]) -> Signal {
        let signal = self.signals.get(number);
        signal.map_or_else(Signal::default, |signal| signal.darkened(dark))
    }

    /// Returns whether a time is one in which a change of a predicate may have been made before it was received.
    pub(super) fn is_late(&self, (from, to): (i64, i64)) -> bool {
        let mut spells = self.signals.iter().flat_map(Signal::spells);
        spells.any(|spell| spell.earliest < spell.from && from < spell.from && spell.earliest < to)
    }

    /// Returns when its time limit is over, if it has one.
    pub(super) fn deadline(&self, expected: &Expectation) -> Option<i64> {
        Some(self.since?.saturating_add(expected.micros()?))
    }

    /// Applies an operator that looks for spans.
    pub(super) fn judge(
        &self,
        expected: &Expectation,
        life: Lifetime,
        dark: &[(i64, i64)],
    ) -> SignalResult {
        let first = self.signal(0, dark);
        let second = || self.signal(1, dark);
        match expected.operator {
            CheckOperator::Never => never(&first, expected.least_micros(), life),
            CheckOperator::Always => always(&first, expected.least_micros(), life),
            CheckOperator::AtEnd => at_end(&first, life),
            CheckOperator::Eventually => {
                let judged = |since| eventually(&first, since, expected.micros(), life);
                self.since.map(judged).unwrap_or_default()
            }
            CheckOperator::LeadsTo => leads_to(&first, &second(), expected.least_micros(), life),
            CheckOperator::Until => until(&first, &second(), life),
            CheckOperator::Stays => stays(&first, &second(), expected.micros(), life),
            CheckOperator::Total if !expected.per_case => {
                total(&first, expected.least_micros(), life)
            }
            CheckOperator::AtMost
            | CheckOperator::Flaps
            | CheckOperator::Highest
            | CheckOperator::Total => SignalResult::default(),
        }
    }

    /// Returns what an operator counts.
    pub(super) fn counted(
        &self,
        expected: &Expectation,
        dark: &[(i64, i64)],
    ) -> Vec<CountedMoment> {
        let is_bounded = expected.span.is_some();
        match expected.operator {
            CheckOperator::AtMost => risings(&self.signal(0, dark), is_bounded),
            CheckOperator::Total if expected.per_case => risings(&self.signal(0, dark), false),
            CheckOperator::Flaps => flaps(&self.signal(0, dark), is_bounded),
            CheckOperator::Highest => {
                let highs = self.highs.iter().map(|high| CountedMoment {
                    at: high.at,
                    evidence: high.evidence,
                });
                highs.collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns whether it is nothing to an operator that a predicate had a truth at a moment only: that it
    /// was silent tells it the same.
    pub(super) const fn passes_over(operator: CheckOperator, truth: SignalTruth) -> bool {
        match operator {
            CheckOperator::Never | CheckOperator::AtMost => matches!(truth, SignalTruth::False),
            CheckOperator::Always => matches!(truth, SignalTruth::True),
            _ => false,
        }
    }

    /// Returns whether evidence is wanted when a predicate turns to a truth.
    pub(super) fn wants(operator: CheckOperator, number: usize, truth: SignalTruth) -> bool {
        match operator {
            CheckOperator::Never
            | CheckOperator::AtMost
            | CheckOperator::Total
            | CheckOperator::LeadsTo => number == 0 && truth == SignalTruth::True,
            CheckOperator::Always | CheckOperator::AtEnd => truth == SignalTruth::False,
            CheckOperator::Eventually => truth != SignalTruth::True,
            CheckOperator::Until => number == 0 && truth == SignalTruth::False,
            CheckOperator::Stays => matches!(
                (number, truth),
                (0, SignalTruth::True) | (1, SignalTruth::False)
            ),
            CheckOperator::Flaps => truth != SignalTruth::Unknown,
            CheckOperator::Highest => false,
        }
    }
}

/// What a predicate saw.
#[derive(Clone, Debug)]
pub(super) struct ObjectEvidence {
    pub(super) at: RecordedAt,
    pub(super) seq: Seq,
    pub(super) action: Action,
    pub(super) object: Value,
    pub(super) old: Option<Value>,
    pub(super) former: Option<Value>,
    /// By the numbers of the rule's related objects.
    pub(super) related: Vec<Vec<Value>>,
}

/// Lets expressions see an object at a moment: as it is, as it was before, and an earlier one of its name.
pub(super) fn object_slots<'a>(
    at: RecordedAt,
    action: Action,
    (now, before, former): (&'a Value, Option<&'a Value>, Option<&'a Value>),
) -> Slots<'a> {
    let action = match action {
        Action::Appeared => "appeared",
        Action::Changed => "changed",
        Action::Gone => "gone",
    };
    let mut slots = Slots::default();
    slots.set(place::OBJECT, Some(Val::json(now)));
    slots.set(place::OLD, before.map(Val::json));
    slots.set(place::FORMER, former.map(Val::json));
    slots.set(place::ACTION, Some(Val::Text(Cow::Borrowed(action))));
    slots.set(place::AT, Some(Val::time(at)));
    slots
}

impl ObjectEvidence {
    /// Returns it to expressions.
    pub(super) fn slots(&self) -> Slots<'_> {
        let seen = (&self.object, self.old.as_ref(), self.former.as_ref());
        let mut slots = object_slots(self.at, self.action, seen);
        for (number, objects) in self.related.iter().enumerate() {
            let list = objects.iter().map(Val::json).collect();
            slots.set(place::RELATED + number, Some(Val::List(Rc::new(list))));
        }
        slots
    }
}
