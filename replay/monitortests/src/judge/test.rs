//! A rule as a [`MonitorTest`]: what it needs, whether it runs, and its cases.

use super::cases::RuleCases;
use super::intervals::IntervalJudge;
use super::objects::ObjectWatch;
use super::values::{FactsView, IntervalView, chosen};
use crate::cel::{EvalError, Program, Slots, Val};
use crate::facts::FactsOverTime;
use crate::feed::Watcher;
use crate::interval::Interval;
use crate::interval_needs::{IntervalChoice, IntervalNeeds, NeededWord, WordPlace};
use crate::rule::{IntervalSelector, MonitorRule, RuleSet, Watch, explained, place, seen_for};
use crate::verdict::{JudgeContext, MonitorTest, MonitorTestInfo, Needs, TestCase};
use kubereel_history::Timeline;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// A rule as a monitor test.
struct RuleTest {
    rule: Arc<MonitorRule>,
    objects: Option<ObjectWatch>,
}

impl RuleTest {
    /// Makes the monitor test of a rule; one that `is_naive` evaluates everything at each event.
    fn new(rule: MonitorRule, is_naive: bool) -> Self {
        let rule = Arc::new(rule);
        let objects = match &rule.watch {
            Watch::Objects(_) => Some(ObjectWatch::new(Arc::clone(&rule), is_naive)),
            Watch::Intervals(_) => None,
        };
        Self { rule, objects }
    }
}

impl RuleSet {
    /// Makes the monitor tests, in the order of the files.
    pub fn tests(&self) -> Vec<Box<dyn MonitorTest>> {
        self.made(false)
    }

    /// Makes monitor tests that read every field and evaluate every predicate at each event: the same
    /// verdicts, slowly. To compare with.
    pub fn naive_tests(&self) -> Vec<Box<dyn MonitorTest>> {
        self.made(true)
    }

    fn made(&self, is_naive: bool) -> Vec<Box<dyn MonitorTest>> {
        let mut tests: Vec<Box<dyn MonitorTest>> = Vec::new();
        for rule in self.rules() {
            tests.push(Box::new(RuleTest::new(rule.clone(), is_naive)));
        }
        tests
    }
}

impl MonitorTest for RuleTest {
    fn about(&self) -> &MonitorTestInfo {
        &self.rule.about
    }

    fn in_words(&self) -> Vec<String> {
        explained(&self.rule)
    }

    fn needs(&self) -> Needs {
        // A fact that is unknown skips a rule where the rule reads it, with its name.
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

    fn looks_at(&self) -> IntervalNeeds {
        let watched = match &self.rule.watch {
            Watch::Objects(_) => None,
            Watch::Intervals(choice) => Some(choice.as_ref()),
        };
        let choices = watched.into_iter().chain(self.rule.also.values());
        let choices: Arc<[IntervalChoice]> = choices
            .map(|choice| EarlySelector::of(choice).into_choice())
            .collect();
        if choices.is_empty() {
            IntervalNeeds::None
        } else {
            IntervalNeeds::Choices(choices)
        }
    }

    fn begin(&mut self, timeline: &Timeline) {
        if let Some(objects) = &mut self.objects {
            objects.begin(timeline.start());
        }
    }

    fn watcher(&mut self) -> Option<&mut dyn Watcher> {
        let objects = self.objects.as_mut()?;
        Some(objects)
    }

    fn judge(&mut self, scene: &JudgeContext<'_>) -> Vec<TestCase> {
        let rule = Arc::clone(&self.rule);
        judge(&rule, self.objects.as_mut(), *scene)
    }
}

fn judge<'a>(
    rule: &'a MonitorRule,
    objects: Option<&'a mut ObjectWatch>,
    scene: JudgeContext<'a>,
) -> Vec<TestCase> {
    let mut cases = RuleCases::new(rule, &scene);
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
            let mut rule = IntervalJudge {
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
fn also<'a>(rule: &'a MonitorRule, scene: &JudgeContext<'a>) -> Result<Val<'a>, String> {
    let mut map = BTreeMap::new();
    for (name, choice) in &rule.also {
        let chosen = chosen(choice, scene).map_err(|fault| {
            let (EvalError::Absent { what } | EvalError::Wrong { what }) = fault;
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
    rule: &'a MonitorRule,
    scene: &JudgeContext<'a>,
    also: &Val<'a>,
    cases: &mut RuleCases<'a>,
) -> Option<String> {
    let mut slots = Slots::default();
    slots.set(place::FACTS, Some(FactsView::value(scene.facts, None)));
    slots.set(place::ALSO, Some(also.clone()));
    for when in &rule.when {
        match when.is_met.truth(&slots) {
            Ok(true) => {}
            Ok(false) => return Some(when.otherwise.clone()),
            Err(EvalError::Absent { what }) => {
                return Some(format!(
                    "{what} of the cluster is unknown, and `{}` reads it",
                    when.is_met.text
                ));
            }
            Err(EvalError::Wrong { what }) => {
                cases.all_wrong(&format!("`{}`: {what}", when.is_met.text));
            }
        }
    }
    None
}

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

/// A choice of intervals, as far as it can be decided while the run is read.
#[derive(Clone, Debug)]
pub(super) struct EarlySelector {
    choice: IntervalSelector,
    /// Its predicate, if that reads nothing but what is known.
    predicate: Option<Program>,
}

impl EarlySelector {
    /// Finds what of a choice can be decided early.
    fn of(choice: &IntervalSelector) -> Self {
        let predicate = choice.chosen.as_ref();
        let predicate = predicate.filter(|program| program.reads_only(place::INTERVAL, &KNOWN));
        Self {
            predicate: predicate.cloned(),
            choice: choice.clone(),
        }
    }

    fn into_choice(self) -> IntervalChoice {
        let words = self.predicate.as_ref();
        let words = words.and_then(|program| program.needed_words(place::INTERVAL));
        let placed = words.unwrap_or_default().into_iter().map(|(member, word)| {
            let place = WordPlace::named(&member)?;
            Some(NeededWord { place, word })
        });
        // A word in another text could be the one.
        let words: Option<Vec<NeededWord>> = placed.collect();
        IntervalChoice {
            sources: self.choice.sources.clone(),
            reasons: self.choice.reasons.clone(),
            words: words.unwrap_or_default(),
            looks_at: Arc::new(move |interval| self.may_take(interval)),
        }
    }

    /// Returns whether an interval may be chosen; where the predicate has no value, it may: a rule that
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
