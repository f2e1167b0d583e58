//! Owns how intervals and facts look to expressions. Refuses to copy them.

use crate::cel::{Val, View};
use crate::facts::FactsOverTime;
use crate::interval::{Interval, Pairs};
use crate::verdict::Scene;
use kubereel_format::RecordedAt;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

/// An interval as an expression sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct IntervalView<'a> {
    pub(super) interval: &'a Interval,
    pub(super) facts: &'a FactsOverTime,
    /// The end of the run.
    pub(super) end: RecordedAt,
}

impl<'a> IntervalView<'a> {
    pub(super) fn value(interval: &'a Interval, scene: &Scene<'a>) -> Val<'a> {
        Val::View(Rc::new(Self {
            interval,
            facts: scene.facts,
            end: scene.intervals.end(),
        }))
    }

    /// Tells whether it lies wholly inside one upgrade, its ends not being those of the upgrade.
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
            "open" => Val::Bool(interval.to.is_none()),
            "instant" => Val::Bool(interval.is_instant()),
            "inUpgrade" => Val::Bool(self.is_in_upgrade()),
            _ => return None,
        })
    }

    fn names(&self) -> Vec<String> {
        let names = [
            "annotations",
            "cause",
            "duration",
            "from",
            "inUpgrade",
            "instant",
            "keys",
            "level",
            "locator",
            "message",
            "open",
            "reason",
            "source",
            "to",
            "type",
        ];
        names.map(str::to_owned).to_vec()
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
    /// Gives the facts as of a moment; without one, as of the end.
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
        let count = |count: Option<u64>| {
            count.map(|count| Val::Int(i64::try_from(count).unwrap_or(i64::MAX)))
        };
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
        const NAMES: [&str; 13] = [
            "architecture",
            "fromVersion",
            "history",
            "infrastructureTopology",
            "installed",
            "ipStack",
            "masters",
            "network",
            "platform",
            "topology",
            "upgrades",
            "version",
            "workers",
        ];
        let known = NAMES.iter().filter(|name| self.member(name).is_some());
        known.map(|&name| name.to_owned()).collect()
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
