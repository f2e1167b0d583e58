//! Owns the choice of intervals. Refuses to evaluate what plain words exclude.

use super::values::{FactsView, IntervalView};
use crate::cel::{Fault, Program, Slots, Val};
use crate::facts::FactsOverTime;
use crate::interval::Interval;
use crate::rule::{Choice, place};
use crate::verdict::{Phase, Scene};
use kubereel_format::RecordedAt;
use std::borrow::Cow;

impl Choice {
    /// Tells whether the plain words take an interval.
    pub(super) fn takes(&self, interval: &Interval, facts: &FactsOverTime) -> bool {
        self.takes_at_any_time(interval) && is_during(&self.during, interval.from, facts)
    }

    /// Tells whether the plain words take an interval, but for those of the time.
    pub(super) fn takes_at_any_time(&self, interval: &Interval) -> bool {
        let is_one = |words: &[String], word: &str| {
            words.is_empty() || words.iter().any(|known| known == word)
        };
        is_one(&self.sources, interval.source.as_str())
            && is_one(&self.reasons, &interval.message.reason)
            && is_one(&self.locators, &interval.locator.kind)
            && (self.levels.is_empty() || self.levels.contains(&interval.level))
            && self.keys.iter().all(|(key, regex)| {
                let value = interval.locator.get(key);
                value.is_some_and(|value| regex.is_match(value))
            })
    }
}

/// Tells whether a moment is in one of some phases; all are, if none is named. Where nothing tells of an
/// installation or an upgrade, a cluster counts as stable: else a rule would pass without a look.
pub(super) fn is_during(phases: &[Phase], at: RecordedAt, facts: &FactsOverTime) -> bool {
    phases.is_empty() || phases.contains(&facts.phase(at).unwrap_or(Phase::Stable))
}

/// Sets what an expression sees of a moment.
pub(super) fn set_moment<'a>(slots: &mut Slots<'a>, scene: &Scene<'a>, at: RecordedAt) {
    slots.set(place::FACTS, Some(FactsView::value(scene.facts, Some(at))));
    let phase = scene.facts.phase(at);
    let phase = phase.map(|phase| Val::Text(Cow::Borrowed(phase.as_str())));
    slots.set(place::PHASE, phase);
}

/// Gives what an expression sees of an interval, and no more than it reads.
pub(super) fn seen_by<'a>(
    program: &Program,
    interval: &'a Interval,
    scene: &Scene<'a>,
) -> Slots<'a> {
    let mut slots = Slots::default();
    if program.reads(place::INTERVAL) {
        slots.set(place::INTERVAL, Some(IntervalView::value(interval, scene)));
    }
    if program.reads(place::FACTS) || program.reads(place::PHASE) {
        set_moment(&mut slots, scene, interval.from);
    }
    slots
}

/// Chooses intervals, in order, as lists of other intervals show them; a fault counts as no.
pub(super) fn chosen<'a>(
    choice: &'a Choice,
    scene: &Scene<'a>,
) -> Result<Vec<&'a Interval>, Fault> {
    let mut chosen = Vec::new();
    for interval in scene.intervals.all() {
        if !choice.takes(interval, scene.facts) {
            continue;
        }
        let is_chosen = match &choice.chosen {
            None => true,
            Some(program) => {
                match program.truth(&seen_by(program, interval, scene)) {
                    Ok(is_chosen) => is_chosen,
                    // What has not the field that is asked for is not what is looked for.
                    Err(Fault::Absent { .. }) => false,
                    Err(fault) => return Err(fault),
                }
            }
        };
        if is_chosen {
            chosen.push(interval);
        }
    }
    Ok(chosen)
}
