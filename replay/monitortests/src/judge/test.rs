//! Owns a rule as a monitortest: what it needs, whether it runs, and its cases. Refuses to know how
//! objects or intervals are judged.

use super::cases::Cases;
use super::choose;
use super::early::Early;
use super::intervals::IntervalRule;
use super::objects::ObjectWatch;
use super::values::{FactsView, IntervalView};
use crate::cel::{Fault, Slots, Val};
use crate::feed::Watcher;
use crate::interval::Interval;
use crate::rule::{Rule, Watch, explained, place, seen_for};
use crate::verdict::{About, Case, Dark, LookedAt, MonitorTest, Needs, Scene};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// A rule as a monitortest.
pub(crate) struct RuleTest {
    rule: Arc<Rule>,
    objects: Option<ObjectWatch>,
}

impl RuleTest {
    /// Makes a monitortest of a rule.
    pub(crate) fn new(rule: Rule) -> Self {
        Self::made(rule, false)
    }

    /// Makes a monitortest of a rule that asks everything at each event.
    pub(crate) fn naive(rule: Rule) -> Self {
        Self::made(rule, true)
    }

    fn made(rule: Rule, is_naive: bool) -> Self {
        let rule = Arc::new(rule);
        let objects = match &rule.watch {
            Watch::Objects(_) => Some(ObjectWatch::new(Arc::clone(&rule), is_naive)),
            Watch::Intervals(_) => None,
        };
        Self { rule, objects }
    }
}

impl MonitorTest for RuleTest {
    fn about(&self) -> &About {
        &self.rule.about
    }

    fn in_words(&self) -> Vec<String> {
        explained(&self.rule)
    }

    fn needs(&self) -> Needs {
        // A fact that nothing told skips a rule where it asks for it, with its name.
        let mut needs = Needs::default();
        match &self.rule.watch {
            Watch::Objects(objects) => {
                needs.objects.push(objects.resource.text());
                let related = objects
                    .related
                    .iter()
                    .map(|related| related.resource.text());
                needs.objects.extend(related);
                needs.objects.sort();
                needs.objects.dedup();
            }
            Watch::Intervals(choice) => needs.seen = seen_for(choice),
        }
        needs
    }

    fn looks_at(&self) -> LookedAt {
        let watched = match &self.rule.watch {
            Watch::Objects(_) => None,
            Watch::Intervals(choice) => Some(choice.as_ref()),
        };
        let choices = watched.into_iter().chain(self.rule.also.values());
        let choices: Vec<Early> = choices.map(Early::of).collect();
        if choices.is_empty() {
            return LookedAt::None;
        }
        let sources: Option<Vec<&[String]>> = choices.iter().map(Early::sources).collect();
        let sources: Option<Vec<String>> = sources.map(|sources| {
            let distinct: BTreeSet<&String> = sources.into_iter().flatten().collect();
            distinct.into_iter().cloned().collect()
        });
        let takes =
            move |interval: &Interval| choices.iter().any(|choice| choice.may_take(interval));
        match sources {
            Some(sources) => LookedAt::of_sources(sources, takes),
            None => LookedAt::those(takes),
        }
    }

    fn watcher(&mut self) -> Option<&mut dyn Watcher> {
        let objects = self.objects.as_mut()?;
        Some(objects)
    }

    fn judge(&mut self, scene: &Scene<'_>) -> Vec<Case> {
        let rule = Arc::clone(&self.rule);
        judge(&rule, self.objects.as_mut(), *scene)
    }
}

fn judge<'a>(rule: &'a Rule, objects: Option<&'a mut ObjectWatch>, scene: Scene<'a>) -> Vec<Case> {
    let mut cases = Cases::new(rule, &scene);
    let also = match also(rule, &scene) {
        Ok(also) => also,
        Err(what) => {
            cases.all_wrong(&what);
            return cases.done();
        }
    };
    if let Some(why) = why_not(rule, &scene, &also, &mut cases) {
        return cases.skip(&why);
    }
    match (&rule.watch, objects) {
        (Watch::Intervals(choice), _) => {
            let mut rule = IntervalRule {
                rule,
                choice,
                scene,
                also,
                cases: &mut cases,
            };
            rule.judge();
        }
        (Watch::Objects(_), Some(objects)) => objects.judge(&scene, &also, &mut cases),
        (Watch::Objects(_), None) => {}
    }
    cases.done()
}

/// Chooses the other intervals that the rule reads.
fn also<'a>(rule: &'a Rule, scene: &Scene<'a>) -> Result<Val<'a>, String> {
    let mut map = BTreeMap::new();
    for (name, choice) in &rule.also {
        let chosen = choose::chosen(choice, scene).map_err(|fault| {
            let (Fault::Absent { what } | Fault::Wrong { what }) = fault;
            format!("`also.{name}`: {what}")
        })?;
        let values = chosen
            .into_iter()
            .map(|interval| IntervalView::value(interval, scene));
        map.insert(name.clone(), Val::List(Rc::new(values.collect())));
    }
    Ok(Val::Map(Rc::new(map)))
}

/// Says why a rule is skipped, if it is.
fn why_not<'a>(
    rule: &'a Rule,
    scene: &Scene<'a>,
    also: &Val<'a>,
    cases: &mut Cases<'a>,
) -> Option<String> {
    let mut slots = Slots::default();
    slots.set(place::FACTS, Some(FactsView::value(scene.facts, None)));
    slots.set(place::ALSO, Some(also.clone()));
    for when in &rule.when {
        match when.is_met.truth(&slots) {
            Ok(true) => {}
            Ok(false) => return Some(when.otherwise.clone()),
            Err(Fault::Absent { what }) => {
                return Some(format!(
                    "nothing told {what} of the cluster, which `{}` asks for",
                    when.is_met.text
                ));
            }
            Err(Fault::Wrong { what }) => {
                cases.all_wrong(&format!("`{}`: {what}", when.is_met.text));
            }
        }
    }
    None
}

/// Gives the times of some resources that were not seen.
pub(super) fn dark_of(scene: &Scene<'_>, resources: &[String]) -> Vec<Dark> {
    let dark = resources
        .iter()
        .filter_map(|resource| scene.dark.get(resource));
    let mut dark: Vec<Dark> = dark.flatten().cloned().collect();
    dark.sort();
    dark.dedup();
    dark
}
