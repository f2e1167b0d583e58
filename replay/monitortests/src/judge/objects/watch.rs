//! What a rule over objects records while the reel is read: which objects are watched, and when their
//! predicates are evaluated.

use super::plan::{EvaluatedAt, PredicateReads, WatchPlan};
use super::related::RelatedIndex;
use super::thing::{CheckSignals, HighestValue, ObjectEvidence, WatchedItem, object_slots};
use crate::cel::{EvalError, Program, Slots, Val};
use crate::feed::{Action, Interest, WatchedEvent, Watcher};
use crate::reading;
use crate::rule::{
    CheckOperator, DuplicateItems, Expectation, ItemSource, MonitorRule, ObjectSelector, Watch,
    place,
};
use crate::signal::{ChangeTime, Lifetime, Signal, SignalTruth};
use kubereel_format::{Evidence, ObjectId, RecordedAt, Seq};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// How many things are kept of which a finding may come.
const MAX_KEPT: usize = 20_000;
/// How many values of one thing are kept, of which `highest` takes one.
const MAX_HIGHS: usize = 1_000;

/// An object that is watched.
#[derive(Debug)]
pub(super) struct WatchedObject {
    pub(super) namespace: Arc<str>,
    pub(super) name: Arc<str>,
    /// When it was first observed, in microseconds.
    observed: i64,
    /// From when on no change of it was missed, if it existed before.
    watched: Option<i64>,
    /// Its fields, kept where changes of other objects evaluate its predicates again.
    current: Option<Value>,
    pub(super) chosen: SignalTruth,
    /// By the keys of the items; one with an empty key without items.
    pub(super) things: BTreeMap<String, WatchedItem>,
}

/// What a rule over objects sees and keeps.
pub(in crate::judge) struct ObjectWatch {
    pub(super) rule: Arc<MonitorRule>,
    pub(super) plan: WatchPlan,
    others: Vec<RelatedIndex>,
    pub(super) live: BTreeMap<ObjectId, WatchedObject>,
    pub(super) kept: Vec<WatchedItem>,
    pub(super) groups: BTreeSet<Vec<String>>,
    /// How many things were not kept for want of room, by case.
    pub(super) left_out: BTreeMap<Vec<String>, u64>,
    /// What made the case of an object unknown.
    pub(super) wrong: Option<String>,
    former: BTreeMap<(String, String), Value>,
    /// Whether objects have names that are watched, by number; `None` is not known yet.
    is_named: Vec<Option<bool>>,
    /// When the run began.
    started: Option<RecordedAt>,
    /// How often predicates were evaluated.
    asked: u64,
}

impl ObjectWatch {
    /// Makes the watch of a rule; one that `is_naive` asks everything at each event.
    pub(in crate::judge) fn new(rule: Arc<MonitorRule>, is_naive: bool) -> Self {
        let mut plan = match &rule.watch {
            Watch::Objects(objects) => WatchPlan::of(&rule, objects),
            Watch::Intervals(_) => WatchPlan::default(),
        };
        if is_naive {
            plan.take_all();
        }
        let others = plan
            .related
            .iter()
            .map(|_| RelatedIndex::default())
            .collect();
        Self {
            rule,
            plan,
            others,
            live: BTreeMap::new(),
            kept: Vec::new(),
            groups: BTreeSet::new(),
            left_out: BTreeMap::new(),
            wrong: None,
            former: BTreeMap::new(),
            is_named: Vec::new(),
            started: None,
            asked: 0,
        }
    }

    /// Takes the begin of the run, which `since` may read.
    pub(in crate::judge) const fn begin(&mut self, started: RecordedAt) {
        self.started = Some(started);
    }

    /// Returns from when on no change of an object is missed that appears, if it existed before: the first list shows
    /// the begin of the run.
    fn watched(&self, seen: &WatchedEvent<'_>) -> Option<i64> {
        let started = self.started.unwrap_or(seen.at);
        match seen.evidence {
            Evidence::Live | Evidence::Reconstructed => None,
            evidence if evidence.is_first_look(seen.at, started) => Some(started.micros),
            _ => Some(seen.at.micros),
        }
    }

    /// Returns whether the rule watches objects of that name.
    fn is_named(&mut self, objects: &ObjectSelector, seen: &WatchedEvent<'_>) -> bool {
        if objects.namespace.is_none() && objects.name.is_none() {
            return true;
        }
        let Ok(number) = usize::try_from(seen.object.0) else {
            return false;
        };
        if let Some(Some(known)) = self.is_named.get(number) {
            return *known;
        }
        let fits = |regex: &Option<regex::Regex>, text: &str| {
            regex.as_ref().is_none_or(|regex| regex.is_match(text))
        };
        let is_named =
            fits(&objects.namespace, seen.key.namespace) && fits(&objects.name, seen.key.name);
        if self.is_named.len() <= number {
            self.is_named.resize(number + 1, None);
        }
        if let Some(known) = self.is_named.get_mut(number) {
            *known = Some(is_named);
        }
        is_named
    }

    fn own(&mut self, rule: &MonitorRule, objects: &ObjectSelector, seen: &WatchedEvent<'_>) {
        let name = (seen.key.namespace.to_owned(), seen.key.name.to_owned());
        let former = match seen.action {
            Action::Appeared => self.former.remove(&name),
            _ => None,
        };
        let moment = ChangeMoment {
            at: seen.at,
            not_before: seen.not_before,
            seq: seen.seq,
            action: seen.action,
            now: seen.now,
            before: seen.before,
            former: former.as_ref(),
            is_after_hole: seen.is_after_hole,
            changed: &[],
        };
        let mut live = self
            .live
            .remove(&seen.object)
            .unwrap_or_else(|| WatchedObject {
                namespace: Arc::from(seen.key.namespace),
                name: Arc::from(seen.key.name),
                observed: seen.at.micros,
                watched: self.watched(seen),
                current: None,
                chosen: SignalTruth::Silent,
                things: BTreeMap::new(),
            });
        self.ask(rule, objects, &mut live, &moment);
        if seen.action == Action::Gone {
            for (_, mut thing) in live.things {
                if seen.not_before.is_some() {
                    thing.turn_all(moment.time(), SignalTruth::Silent);
                }
                thing.end(seen.at.micros, true);
                self.keep(rule, thing);
            }
            if self.plan.reads_former {
                self.former.insert(name, self.plan.evidence.cut(seen.now));
            }
            return;
        }
        if !objects.related.is_empty() {
            live.current = Some(self.plan.evidence.cut(seen.now));
        }
        self.live.insert(seen.object, live);
    }

    /// Evaluates the predicates of all objects that may read a related one.
    fn others_changed(
        &mut self,
        rule: &MonitorRule,
        objects: &ObjectSelector,
        seen: &WatchedEvent<'_>,
        changed: &[usize],
    ) {
        let is_near = |live: &WatchedObject| {
            let of = |number: &usize| objects.related.get(*number);
            live.namespace.is_empty()
                || seen.key.namespace.is_empty()
                || *live.namespace == *seen.key.namespace
                || changed
                    .iter()
                    .filter_map(of)
                    .any(|related| related.is_anywhere)
        };
        let near = self.live.iter().filter(|(_, live)| is_near(live));
        let near: Vec<ObjectId> = near.map(|(id, _)| *id).collect();
        for id in near {
            let Some(mut live) = self.live.remove(&id) else {
                continue;
            };
            if let Some(current) = live.current.take() {
                let moment = ChangeMoment {
                    at: seen.at,
                    not_before: seen.not_before,
                    seq: seen.seq,
                    action: Action::Changed,
                    now: &current,
                    before: None,
                    former: None,
                    is_after_hole: false,
                    changed,
                };
                self.ask(rule, objects, &mut live, &moment);
                live.current = Some(current);
            }
            self.live.insert(id, live);
        }
    }

    pub(super) fn keep(&mut self, rule: &MonitorRule, thing: WatchedItem) {
        if !thing.is_worth_keeping(&rule.checks) {
            return;
        }
        if self.kept.len() < MAX_KEPT {
            self.kept.push(thing);
        } else {
            *self.left_out.entry(thing.group).or_default() += 1;
        }
    }

    /// Evaluates what may have changed.
    fn ask(
        &mut self,
        rule: &MonitorRule,
        objects: &ObjectSelector,
        live: &mut WatchedObject,
        moment: &ChangeMoment<'_>,
    ) {
        let is_first = live.chosen == SignalTruth::Silent;
        let all = self.plan.checks.iter().flatten();
        let mut all = all.chain([&self.plan.chosen, &self.plan.items]);
        let is_news = is_first || moment.is_after_hole || moment.action != Action::Changed;
        if !is_news && !all.any(|asked| moment.may_turn(asked)) {
            return;
        }
        self.asked += 1;
        let mut asking = Evaluator {
            rule,
            objects,
            plan: &self.plan,
            moment,
            slots: Slots::default(),
            started: self.started,
            faults: Vec::new(),
            groups: &mut self.groups,
            wrong: &mut self.wrong,
            is_all: is_first,
        };
        asking.see(&self.others, &live.namespace);
        asking.ask(live);
    }
}

impl Watcher for ObjectWatch {
    fn interests(&self) -> Vec<Interest> {
        self.plan.interests.clone()
    }

    fn asked(&self) -> u64 {
        self.asked
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        let rule = Arc::clone(&self.rule);
        let Watch::Objects(objects) = &rule.watch else {
            return;
        };
        let mut changed = Vec::new();
        for (number, related) in objects.related.iter().enumerate() {
            if !related.resource.is_it(seen.resource) {
                continue;
            }
            if let (Some(others), Some(fields)) =
                (self.others.get_mut(number), self.plan.related.get(number))
            {
                let is_news = seen.action != Action::Changed
                    || seen
                        .before
                        .is_none_or(|before| fields.differ(before, seen.now));
                if is_news {
                    others.take(seen, fields);
                    changed.push(number);
                }
            }
        }
        if objects.resource.is_it(seen.resource) && self.is_named(objects, seen) {
            self.own(&rule, objects, seen);
        }
        if !changed.is_empty() {
            self.others_changed(&rule, objects, seen, &changed);
        }
    }
}

/// The evidence of one thing at a moment: kept once, for all checks.
#[derive(Clone, Copy, Debug, Default)]
struct EvidenceCache {
    is_kept: bool,
    number: Option<usize>,
}

impl EvidenceCache {
    fn number(
        &mut self,
        thing: &mut WatchedItem,
        evidence: impl FnOnce() -> ObjectEvidence,
    ) -> Option<usize> {
        if !self.is_kept {
            self.is_kept = true;
            self.number = thing.keep(evidence);
        }
        self.number
    }
}

/// The asking of one object's predicates at a moment.
struct Evaluator<'a, 'm> {
    rule: &'a MonitorRule,
    objects: &'a ObjectSelector,
    plan: &'a WatchPlan,
    moment: &'a ChangeMoment<'a>,
    slots: Slots<'a>,
    started: Option<RecordedAt>,
    /// Values that the moment itself could not give.
    faults: Vec<EvalError>,
    groups: &'m mut BTreeSet<Vec<String>>,
    wrong: &'m mut Option<String>,
    /// Whether every predicate is evaluated.
    is_all: bool,
}

impl<'a> Evaluator<'a, '_> {
    /// Lets expressions see the moment.
    fn see(&mut self, others: &'a [RelatedIndex], namespace: &str) {
        let moment = self.moment;
        let seen = (moment.now, moment.old(), moment.former);
        self.slots = object_slots(moment.at, moment.action, seen);
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
                Err(EvalError::Absent { .. }) => {}
                Err(fault) => self.faults.push(fault),
            }
        }
    }

    /// Evaluates whether the object is watched, and what of it may have changed.
    fn ask(&mut self, live: &mut WatchedObject) {
        let was = live.chosen;
        let mut fault = None;
        live.chosen = match &self.objects.chosen {
            None => SignalTruth::True,
            Some(program) if self.is_all || self.moment.may_turn(&self.plan.chosen) => {
                match program.truth(&self.slots) {
                    Ok(truth) => SignalTruth::of(truth),
                    Err(why) => {
                        fault = Some(why);
                        SignalTruth::Unknown
                    }
                }
            }
            Some(_) => was,
        };
        self.is_all |= was != live.chosen;
        match live.chosen {
            SignalTruth::True => self.items(live),
            SignalTruth::Unknown => {
                // Something may be watched here, but what is not known.
                if live.things.is_empty() && self.objects.items.is_none() {
                    self.thing(live, "");
                }
                self.turn_all(live, SignalTruth::Unknown, fault.as_ref());
            }
            SignalTruth::False | SignalTruth::Silent => {
                self.turn_all(live, SignalTruth::Silent, None);
            }
        }
    }

    /// Turns all signals of an object.
    fn turn_all(&self, live: &mut WatchedObject, truth: SignalTruth, fault: Option<&EvalError>) {
        for thing in live.things.values_mut() {
            thing.turn_all(self.moment.time(), truth);
            if let Some(fault) = fault {
                thing.fault(self.moment.at.micros, fault.clone());
            }
        }
    }

    /// Finds or makes the thing of a key.
    fn thing<'l>(&mut self, live: &'l mut WatchedObject, key: &str) -> Option<&'l mut WatchedItem> {
        if !live.things.contains_key(key) {
            let group = self.group()?;
            self.groups.insert(group.clone());
            let at = self.moment.at.micros;
            let mut faults = Vec::new();
            let courses = self.rule.checks.iter().map(|check| {
                let programs = check.expected.programs();
                let since = self.since(&check.expected);
                CheckSignals {
                    signals: programs.map(|_| Signal::default()).collect(),
                    highs: Vec::new(),
                    since: since.map_err(|fault| faults.push((at, fault))).ok(),
                }
            });
            let courses = courses.collect();
            let created = reading::time(self.moment.now, "/metadata/creationTimestamp");
            let thing = WatchedItem {
                group,
                namespace: Arc::clone(&live.namespace),
                name: Arc::clone(&live.name),
                item: key.to_owned(),
                life: Lifetime {
                    from: at,
                    to: i64::MAX,
                    is_gone: false,
                    is_end_known: true,
                    observed: live.observed,
                    watched: live.watched,
                    created: created.map(|created| created.micros),
                },
                courses,
                evidence: Vec::new(),
                faults,
                holes: Vec::new(),
            };
            live.things.insert(key.to_owned(), thing);
        }
        live.things.get_mut(key)
    }

    /// Finds from when on a thing that appears now has time.
    fn since(&self, expected: &'a Expectation) -> Result<i64, EvalError> {
        let Some(since) = &expected.since else {
            return Ok(self.moment.at.micros);
        };
        let mut slots = self.slots.clone();
        slots.set(place::APPEARED, Some(Val::time(self.moment.at)));
        slots.set(place::STARTED, self.started.map(Val::time));
        match since.value(&slots)? {
            Val::Time(micros) => Ok(micros),
            other => {
                let what = format!("`since` must be a timestamp, found {}", other.kind());
                Err(EvalError::Wrong { what })
            }
        }
    }

    fn group(&mut self) -> Option<Vec<String>> {
        let mut group = Vec::new();
        for (name, program) in &self.rule.per {
            match program.value(&self.slots) {
                Ok(value) => group.push(value.to_string()),
                Err(EvalError::Absent { what } | EvalError::Wrong { what }) => {
                    let told = format!("cannot evaluate the place `{name}` of an object: {what}");
                    self.wrong.get_or_insert(told);
                    return None;
                }
            }
        }
        Some(group)
    }

    fn items(&mut self, live: &mut WatchedObject) {
        let Some(items) = &self.objects.items else {
            self.one(live, "");
            return;
        };
        let keyed = |slots: &mut Slots<'a>, list: Val<'a>| keyed(items, slots, &list);
        let mut slots = self.slots.clone();
        let now = items
            .list
            .value(&slots)
            .and_then(|list| keyed(&mut slots, list));
        let now: BTreeMap<String, Val<'a>> = match now {
            Ok(now) => now,
            Err(fault) => {
                // The items are not known: the object stands for them.
                if live.things.is_empty() {
                    self.thing(live, "");
                }
                self.turn_all(live, SignalTruth::Unknown, Some(&fault));
                return;
            }
        };
        let mut old: BTreeMap<String, Val<'a>> = BTreeMap::new();
        if let Some(before) = self.moment.old() {
            slots.set(place::OBJECT, Some(Val::json(before)));
            let list = items.list.value(&slots);
            if let Ok(found) = list.and_then(|list| keyed(&mut slots, list)) {
                old = found;
            }
        }
        for (key, thing) in &mut live.things {
            if !now.contains_key(key) {
                thing.turn_all(self.moment.time(), SignalTruth::Silent);
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

    /// Evaluates the predicates of one thing.
    fn one(&mut self, live: &mut WatchedObject, key: &str) {
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
        let mut kept = EvidenceCache::default();
        for (number, check) in rule.checks.iter().enumerate() {
            let asked = plan.checks.get(number).map_or(&[][..], Vec::as_slice);
            for (signal, (program, asked)) in check.expected.programs().zip(asked).enumerate() {
                if !self.is_asked(thing, number, signal, asked) {
                    continue;
                }
                if check.expected.operator == CheckOperator::Highest {
                    self.high(thing, number, program, &mut kept);
                    continue;
                }
                let truth = match program.truth(&self.slots) {
                    Ok(truth) => SignalTruth::of(truth),
                    Err(fault) => {
                        thing.fault(moment.at.micros, fault);
                        SignalTruth::Unknown
                    }
                };
                let is_turn = asked.is_of_change() || Self::turns(thing, number, signal, truth);
                // A thing that appears after the time limit is found with its first version.
                let is_first = check.expected.since.is_some() && thing.evidence.is_empty();
                let is_wanted =
                    is_first || CheckSignals::wants(check.expected.operator, signal, truth);
                let evidence = (is_turn && is_wanted)
                    .then(|| kept.number(thing, || self.evidence()))
                    .flatten();
                let course = thing.courses.get_mut(number);
                let Some(course) = course.and_then(|course| course.signals.get_mut(signal)) else {
                    continue;
                };
                if asked.is_of_change() && CheckSignals::passes_over(check.expected.operator, truth)
                {
                    course.turn(moment.time(), SignalTruth::Silent, None);
                } else if asked.is_of_change() {
                    course.instant(moment.at.micros, truth, evidence);
                } else {
                    course.turn(moment.time(), truth, evidence);
                }
            }
        }
    }

    fn turns(thing: &WatchedItem, check: usize, signal: usize, truth: SignalTruth) -> bool {
        let course = thing.courses.get(check);
        let signal = course.and_then(|course| course.signals.get(signal));
        signal.and_then(Signal::now) != Some(truth)
    }

    fn is_asked(
        &self,
        thing: &WatchedItem,
        check: usize,
        signal: usize,
        asked: &PredicateReads,
    ) -> bool {
        let moment = self.moment;
        if asked.is_of_change() {
            let has_items = self.objects.items.is_some();
            let has_old = if has_items {
                let old = self.slots.0.get(place::OLD_ITEM);
                old.is_some_and(Option::is_some)
            } else {
                moment.old().is_some()
            };
            return moment.is_change(asked)
                && (!asked.reads_old || has_old)
                && (!asked.reads_former || moment.former.is_some())
                && (asked.reads_action || moment.action != Action::Gone);
        }
        if moment.action == Action::Gone {
            return false;
        }
        // What was not evaluated before has no truth yet.
        let course = thing.courses.get(check);
        let now = course.and_then(|course| course.signals.get(signal)?.now());
        let is_new =
            now.is_none_or(|truth| truth == SignalTruth::Silent || truth == SignalTruth::Unknown);
        let checks = &self.rule.checks;
        let is_high = checks
            .get(check)
            .is_some_and(|check| check.expected.operator == CheckOperator::Highest);
        self.is_all || moment.may_turn(asked) || (is_new && !is_high)
    }

    fn high(
        &self,
        thing: &mut WatchedItem,
        number: usize,
        of: &'a Program,
        kept: &mut EvidenceCache,
    ) {
        let at = self.moment.at.micros;
        let (value, whole) = match of.value(&self.slots) {
            Ok(Val::Double(value)) => (value, None),
            Ok(Val::Int(value)) => (as_double(value), Some(value)),
            Ok(other) => {
                let what = format!("`highest` expects a number, found {}", other.kind());
                thing.fault(at, EvalError::Wrong { what });
                return;
            }
            Err(fault) => {
                thing.fault(at, fault);
                return;
            }
        };
        let Some(check) = self.rule.checks.get(number) else {
            return;
        };
        let highs = thing
            .courses
            .get(number)
            .map_or(&[][..], |course| &course.highs);
        // Only the phase of its time tells whether a value counts, and it is known at the end.
        let is_news =
            !check.during.is_empty() || highs.last().is_none_or(|last| last.value < value);
        if value <= check.expected.above || !is_news || highs.len() >= MAX_HIGHS {
            return;
        }
        let evidence = kept.number(thing, || self.evidence());
        if let Some(course) = thing.courses.get_mut(number) {
            course.highs.push(HighestValue {
                value,
                whole,
                at,
                evidence,
            });
        }
    }

    fn evidence(&self) -> ObjectEvidence {
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
        ObjectEvidence {
            at: self.moment.at,
            seq: self.moment.seq,
            action: self.moment.action,
            object: fields.cut(self.moment.now),
            old: cut(self.moment.old()),
            former: cut(self.moment.former),
            related: related.collect(),
        }
    }
}

/// Returns the items of a list by their keys.
fn keyed<'a>(
    source: &'a ItemSource,
    slots: &mut Slots<'a>,
    list: &Val<'a>,
) -> Result<BTreeMap<String, Val<'a>>, EvalError> {
    let wrong = |what| Err(EvalError::Wrong { what });
    let mut keyed = BTreeMap::new();
    let items = list.items();
    if items.is_none() && !matches!(list, Val::Null | Val::Json(Value::Null)) {
        return wrong(format!("`items.in` must be a list, found {}", list.kind()));
    }
    for item in items.into_iter().flatten() {
        slots.set(place::ITEM, Some(item.clone()));
        let key = match source.key.value(slots)? {
            Val::Text(key) => key.into_owned(),
            number @ (Val::Int(_) | Val::Uint(_)) => number.to_string(),
            other => {
                return wrong(format!(
                    "`items.key` must be a string, found {}",
                    other.kind()
                ));
            }
        };
        if keyed.contains_key(&key) {
            if source.duplicates == DuplicateItems::First {
                continue;
            }
            return wrong(format!(
                "two items have the key `{key}`: `items.key` must tell them apart"
            ));
        }
        keyed.insert(key, item);
    }
    Ok(keyed)
}

#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "a threshold above 2^53 is none"
)]
const fn as_double(value: i64) -> f64 {
    value as f64
}

fn revision(object: &Value) -> Option<&Value> {
    object.get("metadata")?.get("resourceVersion")
}

/// A change at which predicates are evaluated.
#[derive(Clone, Copy)]
struct ChangeMoment<'a> {
    at: RecordedAt,
    /// Since when it may have happened, if it was received late.
    not_before: Option<RecordedAt>,
    seq: Seq,
    action: Action,
    now: &'a Value,
    before: Option<&'a Value>,
    former: Option<&'a Value>,
    /// Whether the steps since the version before may not have been seen.
    is_after_hole: bool,
    /// The related objects that changed, by number.
    changed: &'a [usize],
}

impl<'a> ChangeMoment<'a> {
    fn time(&self) -> ChangeTime {
        ChangeTime {
            received: self.at.micros,
            earliest: self.not_before.unwrap_or(self.at).micros,
        }
    }

    /// Returns the version before, if it is known: what is seen after a hole is not the next one after what was seen
    /// before it.
    fn old(&self) -> Option<&'a Value> {
        self.before
            .filter(|_| !self.is_after_hole || self.action != Action::Changed)
    }

    /// Returns whether a predicate's value may have changed.
    fn may_turn(&self, asked: &PredicateReads) -> bool {
        let is_read = |number: &usize| asked.related.contains(number);
        self.changed.iter().any(is_read) || self.is_change(asked)
    }

    /// Returns whether the object itself changed for a predicate.
    fn is_change(&self, asked: &PredicateReads) -> bool {
        match (self.action, self.before) {
            _ if !self.changed.is_empty() => false,
            (Action::Changed, Some(before)) => {
                asked.fields.differ(before, self.now)
                    || asked.when == EvaluatedAt::EachEvent
                        && (!self.is_after_hole || revision(before) != revision(self.now))
            }
            _ => true,
        }
    }
}
