//! Owns what a choice of intervals can tell of one while the run is read: what cluster it was and when
//! the run ends is not known yet. Refuses a no where either matters.

use super::values::IntervalView;
use crate::cel::{Program, Slots, Val};
use crate::facts::FactsOverTime;
use crate::interval::Interval;
use crate::rule::{Choice, place};
use std::rc::Rc;

/// What of an interval is known as soon as it is made.
const KNOWN: [&str; 11] = [
    "source",
    "level",
    "type",
    "locator",
    "keys",
    "annotations",
    "reason",
    "cause",
    "message",
    "from",
    "instant",
];

/// A choice of intervals, as far as it can be told early.
#[derive(Clone, Debug)]
pub(super) struct Early {
    choice: Choice,
    /// Its predicate, if that reads nothing but what is known.
    predicate: Option<Program>,
}

impl Early {
    /// Finds what of a choice can be told early.
    pub(super) fn of(choice: &Choice) -> Self {
        let predicate = choice.chosen.as_ref();
        let predicate = predicate.filter(|program| program.reads_only(place::INTERVAL, &KNOWN));
        Self {
            predicate: predicate.cloned(),
            choice: choice.clone(),
        }
    }

    /// Gives the sources of what it takes, if it takes none of others.
    pub(super) fn sources(&self) -> Option<&[String]> {
        let sources = self.choice.sources.as_slice();
        (!sources.is_empty()).then_some(sources)
    }

    /// Tells whether an interval may be chosen; where the predicate has no value, it may: a rule that
    /// is wrong must be found so.
    pub(super) fn may_take(&self, interval: &Interval) -> bool {
        if !self.choice.takes_at_any_time(interval) {
            return false;
        }
        let Some(predicate) = &self.predicate else {
            return true;
        };
        let facts = FactsOverTime::default();
        let view = IntervalView {
            interval,
            facts: &facts,
            end: interval.from,
        };
        let mut slots = Slots::default();
        slots.set(place::INTERVAL, Some(Val::View(Rc::new(view))));
        predicate.truth(&slots) != Ok(false)
    }
}
