//! Owns the asking of one object's predicates at a moment, and what their answers turn. Refuses to
//! choose the object, and to keep it: `watch` does.

use super::evidence::{Evidence, word};
use super::moment::Moment;
use super::plan::{Asked, Plan, programs};
use super::related::Others;
use super::thing::{Course, High, Thing};
use super::watch::Live;
use crate::cel::{Fault, Program, Slots, Val};
use crate::feed::Action;
use crate::rule::{Expected, Objects, Rule, place};
use crate::signal::{Life, Signal, Truth};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// The evidence of one thing at a moment: kept once, for all checks.
#[derive(Clone, Copy, Debug, Default)]
struct Kept {
    is_kept: bool,
    number: Option<usize>,
}

impl Kept {
    fn number(&mut self, thing: &mut Thing, evidence: impl FnOnce() -> Evidence) -> Option<usize> {
        if !self.is_kept {
            self.is_kept = true;
            self.number = thing.keep(evidence);
        }
        self.number
    }
}

/// The asking of one object's predicates at a moment.
pub(super) struct Asking<'a, 'm> {
    pub(super) rule: &'a Rule,
    pub(super) objects: &'a Objects,
    pub(super) plan: &'a Plan,
    pub(super) moment: &'a Moment<'a>,
    pub(super) slots: Slots<'a>,
    /// Values that the moment itself could not give.
    pub(super) faults: Vec<Fault>,
    pub(super) groups: &'m mut BTreeSet<Vec<String>>,
    pub(super) wrong: &'m mut Option<String>,
    /// Whether every predicate is asked.
    pub(super) is_all: bool,
}

impl<'a> Asking<'a, '_> {
    /// Lets expressions see the moment.
    pub(super) fn see(&mut self, others: &'a [Others], namespace: &str) {
        let moment = self.moment;
        self.slots.set(place::OBJECT, Some(Val::json(moment.now)));
        self.slots.set(place::OLD, moment.before.map(Val::json));
        self.slots.set(place::FORMER, moment.former.map(Val::json));
        let action = Val::Text(Cow::Borrowed(word(moment.action)));
        self.slots.set(place::ACTION, Some(action));
        self.slots.set(place::AT, Some(Val::time(moment.at)));
        for (number, related) in self.objects.related.iter().enumerate() {
            let Some(others) = others.get(number) else {
                continue;
            };
            match others.of(related, namespace, moment.now, &self.slots) {
                Ok(found) => {
                    let list = found.into_iter().map(Val::json).collect();
                    self.slots
                        .set(place::RELATED + number, Some(Val::List(Rc::new(list))));
                }
                // Who reads it then learns that it is absent.
                Err(Fault::Absent { .. }) => {}
                Err(fault) => self.faults.push(fault),
            }
        }
    }

    /// Asks whether the object is watched, and what of it may have changed.
    pub(super) fn ask(&mut self, live: &mut Live) {
        let was = live.chosen;
        let mut fault = None;
        live.chosen = match &self.objects.chosen {
            None => Truth::True,
            Some(program) if self.is_all || self.moment.may_turn(&self.plan.chosen) => {
                match program.truth(&self.slots) {
                    Ok(truth) => Truth::of(truth),
                    Err(why) => {
                        fault = Some(why);
                        Truth::Unknown
                    }
                }
            }
            Some(_) => was,
        };
        self.is_all |= was != live.chosen;
        match live.chosen {
            Truth::True => self.items(live),
            Truth::Unknown => {
                // Something may be watched here, but what is not known.
                if live.things.is_empty() && self.objects.items.is_none() {
                    self.thing(live, "");
                }
                self.turn_all(live, Truth::Unknown, fault.as_ref());
            }
            Truth::False | Truth::Silent => self.turn_all(live, Truth::Silent, None),
        }
    }

    /// Turns all signals of an object.
    fn turn_all(&self, live: &mut Live, truth: Truth, fault: Option<&Fault>) {
        for thing in live.things.values_mut() {
            self.turn(thing, truth);
            if let Some(fault) = fault {
                thing.fault(self.moment.at.micros, fault.clone());
            }
        }
    }

    fn turn(&self, thing: &mut Thing, truth: Truth) {
        for course in &mut thing.courses {
            for signal in &mut course.signals {
                signal.turn(self.moment.at.micros, truth, None);
            }
        }
    }

    /// Finds or makes the thing of a key.
    fn thing<'l>(&mut self, live: &'l mut Live, key: &str) -> Option<&'l mut Thing> {
        if !live.things.contains_key(key) {
            let group = self.group()?;
            self.groups.insert(group.clone());
            let courses = self.rule.checks.iter().map(|check| Course {
                signals: programs(&check.expected)
                    .iter()
                    .map(|_| Signal::default())
                    .collect(),
                high: None,
                since: self.since(&check.expected),
            });
            let thing = Thing {
                group,
                namespace: Arc::clone(&live.namespace),
                name: Arc::clone(&live.name),
                item: key.to_owned(),
                life: Life {
                    from: self.moment.at.micros,
                    to: i64::MAX,
                    is_gone: false,
                },
                courses: courses.collect(),
                evidence: Vec::new(),
                faults: Vec::new(),
                holes: Vec::new(),
            };
            live.things.insert(key.to_owned(), thing);
        }
        live.things.get_mut(key)
    }

    fn since(&self, expected: &'a Expected) -> Option<i64> {
        let Expected::Eventually {
            since: Some(since), ..
        } = expected
        else {
            return None;
        };
        let mut slots = self.slots.clone();
        slots.set(place::APPEARED, Some(Val::time(self.moment.at)));
        match since.value(&slots) {
            Ok(Val::Time(micros)) => Some(micros),
            _ => None,
        }
    }

    fn group(&mut self) -> Option<Vec<String>> {
        let mut group = Vec::new();
        for (name, program) in &self.rule.per {
            match program.value(&self.slots) {
                Ok(value) => group.push(value.to_string()),
                Err(Fault::Absent { what } | Fault::Wrong { what }) => {
                    let told = format!("the place `{name}` of an object has no value: {what}");
                    self.wrong.get_or_insert(told);
                    return None;
                }
            }
        }
        Some(group)
    }

    fn items(&mut self, live: &mut Live) {
        let Some(items) = &self.objects.items else {
            self.one(live, "");
            return;
        };
        let keyed = |slots: &mut Slots<'a>, list: Val<'a>| {
            let mut keyed = BTreeMap::new();
            for item in list.items().into_iter().flatten() {
                slots.set(place::ITEM, Some(item.clone()));
                keyed.insert(items.key.value(slots)?.to_string(), item);
            }
            Ok(keyed)
        };
        let mut slots = self.slots.clone();
        let now = items
            .list
            .value(&slots)
            .and_then(|list| keyed(&mut slots, list));
        let now: BTreeMap<String, Val<'a>> = match now {
            Ok(now) => now,
            Err(fault) => {
                self.turn_all(live, Truth::Unknown, Some(&fault));
                if live.things.is_empty() {
                    let (Fault::Absent { what } | Fault::Wrong { what }) = fault;
                    let told = format!("the items of an object are not known: {what}");
                    self.wrong.get_or_insert(told);
                }
                return;
            }
        };
        let mut old: BTreeMap<String, Val<'a>> = BTreeMap::new();
        if let Some(before) = self.moment.before {
            slots.set(place::OBJECT, Some(Val::json(before)));
            let list = items.list.value(&slots);
            if let Ok(found) = list.and_then(|list| keyed(&mut slots, list)) {
                old = found;
            }
        }
        for (key, thing) in &mut live.things {
            if !now.contains_key(key) {
                self.turn(thing, Truth::Silent);
            }
        }
        let is_all = self.is_all;
        for (key, item) in now {
            self.slots.set(place::ITEM, Some(item));
            self.slots.set(place::OLD_ITEM, old.remove(&key));
            self.one(live, &key);
            self.is_all = is_all;
        }
    }

    /// Asks the predicates about one thing.
    fn one(&mut self, live: &mut Live, key: &str) {
        self.is_all |= !live.things.contains_key(key);
        let moment = self.moment;
        let (rule, plan) = (self.rule, self.plan);
        if self.thing(live, key).is_none() {
            return;
        }
        let Some(thing) = live.things.get_mut(key) else {
            return;
        };
        if moment.is_after_hole && moment.at.micros > thing.life.from {
            thing.holes.push(moment.at.micros);
        }
        for fault in &self.faults {
            thing.fault(moment.at.micros, fault.clone());
        }
        let mut kept = Kept::default();
        for (number, check) in rule.checks.iter().enumerate() {
            let asked = plan.checks.get(number).map_or(&[][..], Vec::as_slice);
            let programs = programs(&check.expected);
            for (signal, (program, asked)) in programs.into_iter().zip(asked).enumerate() {
                if !self.is_asked(thing, number, signal, asked) {
                    continue;
                }
                if let Expected::Highest { .. } = check.expected {
                    self.high(thing, number, program, &mut kept);
                    continue;
                }
                let truth = match program.truth(&self.slots) {
                    Ok(truth) => Truth::of(truth),
                    Err(fault) => {
                        thing.fault(moment.at.micros, fault);
                        Truth::Unknown
                    }
                };
                let is_turn = asked.is_of_change() || Self::turns(thing, number, signal, truth);
                let evidence = if is_turn && Course::wants(&check.expected, signal, truth) {
                    kept.number(thing, || self.evidence())
                } else {
                    None
                };
                let course = thing.courses.get_mut(number);
                let Some(course) = course.and_then(|course| course.signals.get_mut(signal)) else {
                    continue;
                };
                if asked.is_of_change() && Course::passes_over(&check.expected, truth) {
                    course.turn(moment.at.micros, Truth::Silent, None);
                } else if asked.is_of_change() {
                    course.instant(moment.at.micros, truth, evidence);
                } else {
                    course.turn(moment.at.micros, truth, evidence);
                }
            }
        }
    }

    fn turns(thing: &Thing, check: usize, signal: usize, truth: Truth) -> bool {
        let course = thing.courses.get(check);
        let signal = course.and_then(|course| course.signals.get(signal));
        signal.and_then(Signal::now) != Some(truth)
    }

    fn is_asked(&self, thing: &Thing, check: usize, signal: usize, asked: &Asked) -> bool {
        let moment = self.moment;
        if asked.is_of_change() {
            let has_items = self.objects.items.is_some();
            let has_old = if has_items {
                let old = self.slots.0.get(place::OLD_ITEM);
                old.is_some_and(Option::is_some)
            } else {
                moment.before.is_some()
            };
            return moment.is_change(asked)
                && (!asked.reads_old || has_old)
                && (!asked.reads_former || moment.former.is_some())
                && (asked.reads_action || moment.action != Action::Gone);
        }
        if moment.action == Action::Gone {
            return false;
        }
        // What was not asked before has no truth yet.
        let course = thing.courses.get(check);
        let now = course.and_then(|course| course.signals.get(signal)?.now());
        let is_new = now.is_none_or(|truth| truth == Truth::Silent || truth == Truth::Unknown);
        let is_high = matches!(
            self.rule.checks.get(check).map(|check| &check.expected),
            Some(Expected::Highest { .. })
        );
        self.is_all || moment.may_turn(asked) || (is_new && !is_high)
    }

    fn high(&self, thing: &mut Thing, check: usize, of: &'a Program, kept: &mut Kept) {
        let at = self.moment.at.micros;
        let (value, is_whole) = match of.value(&self.slots) {
            Ok(Val::Double(value)) => (value, false),
            Ok(Val::Int(value)) => (as_double(value), true),
            Ok(other) => {
                let what = format!("`highest` takes numbers, and is given {}", other.kind());
                thing.fault(at, Fault::Wrong { what });
                return;
            }
            Err(fault) => {
                thing.fault(at, fault);
                return;
            }
        };
        let course = thing.courses.get(check);
        let known = course.and_then(|course| course.high);
        if known.is_some_and(|known| known.value >= value) {
            return;
        }
        // Evidence of what is no finding would only take room.
        let is_above = match self.rule.checks.get(check).map(|check| &check.expected) {
            Some(Expected::Highest { above, .. }) => value > *above,
            _ => false,
        };
        let evidence = if is_above {
            kept.number(thing, || self.evidence())
        } else {
            None
        };
        if let Some(course) = thing.courses.get_mut(check) {
            course.high = Some(High {
                value,
                is_whole,
                at,
                evidence,
            });
        }
    }

    fn evidence(&self) -> Evidence {
        let fields = &self.plan.evidence;
        let cut = |value: Option<&Value>| value.map(|value| fields.cut(value));
        let related = self.objects.related.iter().enumerate().map(|(number, _)| {
            let slot = self.slots.0.get(place::RELATED + number);
            let list = slot.and_then(Option::as_ref).and_then(Val::items);
            let values = list.into_iter().flatten().filter_map(|item| match item {
                Val::Json(value) => Some(value.clone()),
                _ => None,
            });
            values.collect()
        });
        Evidence {
            at: self.moment.at,
            seq: self.moment.seq,
            action: self.moment.action,
            object: fields.cut(self.moment.now),
            old: cut(self.moment.before),
            former: cut(self.moment.former),
            related: related.collect(),
        }
    }
}

#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "a threshold above 2^53 is none"
)]
const fn as_double(value: i64) -> f64 {
    value as f64
}
