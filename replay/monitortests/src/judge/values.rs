//! Intervals and facts as expressions see them, and the choice of intervals.

use crate::cel::{EvalError, Program, Slots, Val, View};
use crate::facts::FactsOverTime;
use crate::interval::{Interval, Pairs};
use crate::phase::Phase;
use crate::rule::{FACT_NAMES, INTERVAL_MEMBERS, IntervalSelector, place};
use crate::verdict::JudgeContext;
use kubereel_format::RecordedAt;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

impl IntervalSelector {
    /// Returns whether the plain words take an interval.
    pub(super) fn takes(&self, interval: &Interval, facts: &FactsOverTime) -> bool {
        self.takes_at_any_time(interval) && is_during(&self.during, interval.from, facts)
    }

    /// Returns whether the plain words take an interval, but for those of the time.
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

/// Returns whether a moment is in one of some phases, or may be: its phase is unknown. All are, if none
/// is named. Nothing is found of an unknown phase: `RuleCases::find_in_phase` makes it a doubt.
pub(super) fn is_during(phases: &[Phase], at: RecordedAt, facts: &FactsOverTime) -> bool {
    let phase = facts.phase(at);
    phases.is_empty() || phase.is_none_or(|phase| phases.contains(&phase))
}

/// Sets what an expression sees of a moment.
pub(super) fn set_moment<'a>(slots: &mut Slots<'a>, scene: &JudgeContext<'a>, at: RecordedAt) {
    slots.set(place::FACTS, Some(FactsView::value(scene.facts, Some(at))));
    let phase = scene.facts.phase(at);
    let phase = phase.map(|phase| Val::Text(Cow::Borrowed(phase.as_str())));
    slots.set(place::PHASE, phase);
}

/// Returns what an expression sees of an interval, and no more than it reads.
pub(super) fn seen_by<'a>(
    program: &Program,
    interval: &'a Interval,
    scene: &JudgeContext<'a>,
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
    choice: &'a IntervalSelector,
    scene: &JudgeContext<'a>,
) -> Result<Vec<&'a Interval>, EvalError> {
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
                    // An interval without the field is not chosen.
                    Err(EvalError::Absent { .. }) => false,
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

/// An interval as an expression sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct IntervalView<'a> {
    pub(super) interval: &'a Interval,
    pub(super) facts: &'a FactsOverTime,
    /// The end of the run.
    pub(super) end: RecordedAt,
}

impl<'a> IntervalView<'a> {
    pub(super) fn value(interval: &'a Interval, scene: &JudgeContext<'a>) -> Val<'a> {
        Val::View(Rc::new(Self {
            interval,
            facts: scene.facts,
            end: scene.intervals.end(),
        }))
    }

    /// Returns whether it lies wholly inside one upgrade, its ends not being those of the upgrade.
    fn is_in_upgrade(&self) -> bool {
        let (from, to) = (self.interval.from, self.interval.to_or(self.end));
        self.facts.upgrades().iter().any(|upgrade| {
            let end = upgrade.to.unwrap_or(self.end);
            from > upgrade.from && to < end
        })
    }
}

fn text(text: &str) -> Val<'_> {
    Val::Text(Cow::Borrowed(text))
}

impl<'a> View<'a> for IntervalView<'a> {
    fn member(&self, name: &str) -> Option<Val<'a>> {
        let interval = self.interval;
        Some(match name {
            "source" => text(interval.source.as_str()),
            "level" => text(interval.level.as_str()),
            "type" => text(&interval.locator.kind),
            "locator" => Val::text(interval.locator.to_string()),
            "keys" => Val::View(Rc::new(PairsView(&interval.locator.keys))),
            "annotations" => Val::View(Rc::new(PairsView(&interval.message.annotations))),
            "reason" => text(&interval.message.reason),
            "cause" => text(&interval.message.cause),
            "message" => text(&interval.message.human),
            "from" => Val::time(interval.from),
            "to" => Val::time(interval.to_or(self.end)),
            "duration" => Val::Span(interval.micros(self.end)),
            "open" => Val::Bool(interval.is_without_end()),
            "instant" => Val::Bool(interval.is_instant()),
            "inUpgrade" => Val::Bool(self.is_in_upgrade()),
            _ => return None,
        })
    }

    fn names(&self) -> Vec<String> {
        INTERVAL_MEMBERS.split(' ').map(str::to_owned).collect()
    }
}

/// Names with values.
#[derive(Clone, Copy, Debug)]
struct PairsView<'a>(&'a Pairs);

impl<'a> View<'a> for PairsView<'a> {
    fn member(&self, name: &str) -> Option<Val<'a>> {
        let pairs: &'a Pairs = self.0;
        pairs.get(name).map(|value| text(value))
    }

    fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.to_string()).collect()
    }
}

/// The facts at a moment, or at the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct FactsView<'a> {
    facts: &'a FactsOverTime,
    at: Option<RecordedAt>,
}

impl<'a> FactsView<'a> {
    /// Returns the facts as of a moment; without one, as of the end.
    pub(super) fn value(facts: &'a FactsOverTime, at: Option<RecordedAt>) -> Val<'a> {
        Val::View(Rc::new(Self { facts, at }))
    }
}

impl<'a> View<'a> for FactsView<'a> {
    fn member(&self, name: &str) -> Option<Val<'a>> {
        let all: &'a FactsOverTime = self.facts;
        let facts = match self.at {
            Some(at) => all.at(at),
            None => all.last(),
        };
        let word = |word: &'a Option<String>| word.as_deref().map(text);
        let count = |count: Option<u64>| i64::try_from(count?).ok().map(Val::Int);
        match name {
            "topology" => word(&facts.topology),
            "infrastructureTopology" => word(&facts.infrastructure_topology),
            "platform" => word(&facts.platform),
            "network" => word(&facts.network),
            "ipStack" => word(&facts.ip_stack),
            "architecture" => word(&facts.architecture),
            "version" => word(&facts.version),
            "fromVersion" => word(&facts.from_version),
            "history" if facts.history.is_empty() => None,
            "history" => {
                let versions = facts.history.iter().map(|version| text(version));
                Some(Val::List(Rc::new(versions.collect())))
            }
            "workers" => count(facts.workers),
            "masters" => count(facts.masters),
            "installed" => all.installed().map(Val::time),
            "upgrades" => Some(upgrades(all)),
            _ => None,
        }
    }

    fn names(&self) -> Vec<String> {
        let known = FACT_NAMES
            .split(' ')
            .filter(|name| self.member(name).is_some());
        known.map(str::to_owned).collect()
    }
}

fn upgrades(facts: &FactsOverTime) -> Val<'_> {
    let upgrades = facts.upgrades().iter().map(|upgrade| {
        let mut map = BTreeMap::new();
        map.insert("from".to_owned(), Val::time(upgrade.from));
        if let Some(to) = upgrade.to {
            map.insert("to".to_owned(), Val::time(to));
        }
        map.insert("fromVersion".to_owned(), text(&upgrade.from_version));
        map.insert("toVersion".to_owned(), text(&upgrade.to_version));
        map.insert("completed".to_owned(), Val::Bool(upgrade.is_completed));
        Val::Map(Rc::new(map))
    });
    Val::List(Rc::new(upgrades.collect()))
}
