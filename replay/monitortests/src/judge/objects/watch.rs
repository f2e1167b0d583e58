//! Owns what a rule over objects sees while the reel is read: which objects are watched, and when their
//! predicates are asked. Refuses to ask a predicate again of which no field changed.

use super::asking::Asking;
use super::moment::Moment;
use super::plan::Plan;
use super::related::Others;
use super::thing::Thing;
use crate::cel::Slots;
use crate::feed::{Action, Interest, Seen, Watcher};
use crate::rule::{Objects, Rule, Watch};
use crate::signal::Truth;
use kubereel_format::{Evidence as Known, ObjectId};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How many things are kept of which a finding may come.
const MAX_KEPT: usize = 20_000;

/// An object that is watched.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) namespace: Arc<str>,
    pub(super) name: Arc<str>,
    /// Its fields, kept where other objects may make its predicates be asked again.
    current: Option<Value>,
    pub(super) chosen: Truth,
    /// By the keys of the items; one with an empty key without items.
    pub(super) things: BTreeMap<String, Thing>,
}

/// What a rule over objects sees and keeps.
pub(in crate::judge) struct ObjectWatch {
    pub(super) rule: Arc<Rule>,
    pub(super) plan: Plan,
    others: Vec<Others>,
    pub(super) live: BTreeMap<ObjectId, Live>,
    pub(super) kept: Vec<Thing>,
    pub(super) groups: BTreeSet<Vec<String>>,
    /// How many things were not kept for want of room, by case.
    pub(super) left_out: BTreeMap<Vec<String>, u64>,
    /// What made the case of an object unknown.
    pub(super) wrong: Option<String>,
    former: BTreeMap<(String, String), Value>,
    /// Whether objects have names that are watched, by number; `None` was not asked yet.
    is_named: Vec<Option<bool>>,
    /// How often predicates were asked.
    asked: u64,
}

impl ObjectWatch {
    /// Makes the watch of a rule; one that `is_naive` asks everything at each event.
    pub(in crate::judge) fn new(rule: Arc<Rule>, is_naive: bool) -> Self {
        let mut plan = match &rule.watch {
            Watch::Objects(objects) => Plan::of(&rule, objects),
            Watch::Intervals(_) => Plan::default(),
        };
        if is_naive {
            plan.take_all();
        }
        let others = plan.related.iter().map(|_| Others::default()).collect();
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
            asked: 0,
        }
    }

    /// Tells whether the rule watches objects of that name.
    fn is_named(&mut self, objects: &Objects, seen: &Seen<'_>) -> bool {
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
            fits(&objects.namespace, &seen.key.namespace) && fits(&objects.name, &seen.key.name);
        if self.is_named.len() <= number {
            self.is_named.resize(number + 1, None);
        }
        if let Some(known) = self.is_named.get_mut(number) {
            *known = Some(is_named);
        }
        is_named
    }

    fn own(&mut self, rule: &Rule, objects: &Objects, seen: &Seen<'_>) {
        let name = (seen.key.namespace.clone(), seen.key.name.clone());
        let former = match seen.action {
            Action::Appeared => self.former.remove(&name),
            _ => None,
        };
        let moment = Moment {
            at: seen.at,
            seq: seen.seq,
            action: seen.action,
            now: seen.now,
            before: seen.before,
            former: former.as_ref(),
            is_after_hole: matches!(seen.evidence, Known::Listed | Known::Inferred),
            changed: &[],
        };
        let mut live = self.live.remove(&seen.object).unwrap_or_else(|| Live {
            namespace: Arc::from(seen.key.namespace.as_str()),
            name: Arc::from(seen.key.name.as_str()),
            current: None,
            chosen: Truth::Silent,
            things: BTreeMap::new(),
        });
        self.ask(rule, objects, &mut live, &moment);
        if seen.action == Action::Gone {
            for (_, mut thing) in live.things {
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

    /// Asks the predicates of all objects that may read a related one.
    fn others_changed(
        &mut self,
        rule: &Rule,
        objects: &Objects,
        seen: &Seen<'_>,
        changed: &[usize],
    ) {
        let is_near = |live: &Live| {
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
                let moment = Moment {
                    at: seen.at,
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

    pub(super) fn keep(&mut self, rule: &Rule, thing: Thing) {
        if !thing.is_worth_keeping(&rule.checks) {
            return;
        }
        if self.kept.len() < MAX_KEPT {
            self.kept.push(thing);
        } else {
            *self.left_out.entry(thing.group).or_default() += 1;
        }
    }

    /// Asks what may have changed.
    fn ask(&mut self, rule: &Rule, objects: &Objects, live: &mut Live, moment: &Moment<'_>) {
        let is_first = live.chosen == Truth::Silent;
        let all = self.plan.checks.iter().flatten();
        let mut all = all.chain([&self.plan.chosen, &self.plan.items]);
        let is_news = is_first || moment.is_after_hole || moment.action != Action::Changed;
        if !is_news && !all.any(|asked| moment.may_turn(asked)) {
            return;
        }
        self.asked += 1;
        let mut asking = Asking {
            rule,
            objects,
            plan: &self.plan,
            moment,
            slots: Slots::default(),
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

    fn seen(&mut self, seen: &Seen<'_>) {
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
