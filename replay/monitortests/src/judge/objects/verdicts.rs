//! The judgement of a rule over objects, after the reel has been read. Nothing is found in times that were
//! not observed.

use super::thing::WatchedItem;
use super::watch::ObjectWatch;
use crate::cel::{EvalError, Slots, Val};
use crate::judge::cases::{CaseId, RuleCases, places};
use crate::judge::cases::{FindingEvidence, FindingSpan, finding};
use crate::judge::values::is_during;
use crate::rule::{CheckOperator, MonitorRule, RuleCheck, Watch, place};
use crate::signal::{CountedMoment, Lifetime, Signal, SignalMatch, clusters};
use crate::verdict::{CaseGap, FindingSubject, JudgeContext};
use kubereel_format::RecordedAt;
use kubereel_history::timetext;
use std::collections::BTreeMap;

/// Something that is counted, and of which thing.
type CountedItem<'t> = (CountedMoment, &'t WatchedItem, usize);

impl ObjectWatch {
    /// Judges all that was seen.
    pub(in crate::judge) fn judge<'a>(
        &'a mut self,
        scene: &JudgeContext<'a>,
        also: &Val<'a>,
        cases: &mut RuleCases<'a>,
    ) {
        let end = scene.intervals.end();
        let rule = std::sync::Arc::clone(&self.rule);
        for (_, live) in std::mem::take(&mut self.live) {
            for (_, mut thing) in live.things {
                thing.end(end.micros, false);
                self.keep(&rule, thing);
            }
        }
        let this: &'a Self = self;
        this.verdicts(scene, also, cases);
    }

    fn verdicts<'a>(&'a self, scene: &JudgeContext<'a>, also: &Val<'a>, cases: &mut RuleCases<'a>) {
        for group in &self.groups {
            cases.case(group);
        }
        if let Some(wrong) = &self.wrong {
            cases.all_wrong(wrong);
        }
        let resources = self.resources();
        let dark = scene.gaps(resources.iter().map(String::as_str));
        let end = scene.intervals.end();
        let looks_at_end = |check: &RuleCheck| check.expected.operator == CheckOperator::AtEnd;
        if self.rule.checks.iter().all(looks_at_end) {
            let at_end: Vec<CaseGap> = dark.iter().filter(|dark| dark.to >= end).cloned().collect();
            cases.all_doubt(&at_end);
        } else {
            cases.all_doubt(&dark);
        }
        let judging = ObjectJudge {
            watch: self,
            rule: &self.rule,
            scene,
            also,
            dark: &dark,
        };
        for thing in &self.kept {
            judging.faults(thing, cases);
        }
        for (number, check) in self.rule.checks.iter().enumerate() {
            for thing in &self.kept {
                judging.spans(number, check, thing, cases);
            }
            judging.counts(number, check, cases);
        }
        for (group, count) in &self.left_out {
            if let Some(case) = cases.case(group) {
                case.not_kept = case.not_kept.saturating_add(*count);
            }
        }
    }

    fn resources(&self) -> Vec<String> {
        let Watch::Objects(objects) = &self.rule.watch else {
            return Vec::new();
        };
        let related = objects
            .related
            .iter()
            .map(|related| related.resource.text());
        std::iter::once(objects.resource.text())
            .chain(related)
            .collect()
    }
}

/// The list that ends a gap is received within this time, in microseconds.
const LISTED_WITHIN: i64 = 30_000_000;

/// The way through the judgement.
struct ObjectJudge<'a, 'j> {
    watch: &'a ObjectWatch,
    rule: &'a MonitorRule,
    scene: &'j JudgeContext<'a>,
    also: &'j Val<'a>,
    dark: &'j [CaseGap],
}

impl<'a> ObjectJudge<'a, '_> {
    /// Returns the times in which a thing may have changed unseen.
    fn unseen(&self, thing: &WatchedItem) -> Vec<(i64, i64)> {
        let end = self.scene.intervals.end();
        let mut unseen: Vec<(i64, i64)> = Vec::new();
        for hole in &thing.holes {
            // The list after a gap in which nothing was lost shows holes, too: those are not of an earlier gap.
            let own = self.dark.iter().filter(|dark| {
                let listed = dark.to.micros.saturating_add(LISTED_WITHIN);
                (dark.from.micros..=listed).contains(hole)
            });
            if let Some(dark) = own.max_by_key(|dark| dark.from) {
                unseen.push((dark.from.micros, *hole));
            }
        }
        let open = self.dark.iter().filter(|dark| dark.to >= end);
        unseen.extend(open.map(|dark| (dark.from.micros, end.micros)));
        unseen.sort_unstable();
        unseen.dedup();
        unseen
    }

    fn about(&self, thing: &WatchedItem, at: i64) -> String {
        let resource = self.subject(thing).resource;
        let at = timetext::rfc3339(RecordedAt::from_micros(at));
        let gap = if thing.namespace.is_empty() { "" } else { "/" };
        let item = if thing.item.is_empty() {
            String::new()
        } else {
            format!(", {} {}", self.rule.scope.item, thing.item)
        };
        format!(
            "{resource} {}{gap}{}{item} at {at}",
            thing.namespace, thing.name
        )
    }

    fn faults(&self, thing: &WatchedItem, cases: &mut RuleCases<'a>) {
        for (at, fault) in &thing.faults {
            self.fault(thing, *at, fault, cases);
        }
    }

    fn fault(&self, thing: &WatchedItem, at: i64, fault: &EvalError, cases: &mut RuleCases<'a>) {
        let about = self.about(thing, at);
        match fault {
            EvalError::Absent { what } => {
                let signals = thing.courses.iter().flat_map(|course| &course.signals);
                let mut spells = signals.flat_map(Signal::spells);
                let spell = spells.find(|spell| spell.from == at);
                let to = spell.map_or(at, |spell| spell.to);
                let dark = CaseGap {
                    from: RecordedAt::from_micros(at),
                    to: RecordedAt::from_micros(to),
                    why: format!(
                        "{what} is absent in {about}: the rule does not define what absence means"
                    ),
                };
                cases.doubt(&thing.group, dark);
            }
            EvalError::Wrong { what } => cases.wrong(&thing.group, format!("{about}: {what}")),
        }
    }

    fn spans(
        &self,
        number: usize,
        check: &'a RuleCheck,
        thing: &'a WatchedItem,
        cases: &mut RuleCases<'a>,
    ) {
        let Some(course) = thing.courses.get(number) else {
            return;
        };
        let mut course = std::borrow::Cow::Borrowed(course);
        let unseen = self.unseen(thing);
        let mut sum = None;
        if check.expected.operator == CheckOperator::Total
            && let Some(signal) = course.to_mut().signals.first_mut()
        {
            let counted = signal.darkened(&unseen);
            *signal = counted.begun(|at| self.is_counted(check, at));
            sum = Some(signal.true_micros());
        }
        let life = Lifetime {
            is_end_known: unseen.last().is_none_or(|(_, to)| *to < thing.life.to),
            ..thing.life
        };
        let judged = course.judge(&check.expected, life, &unseen);
        for found in judged.found {
            if self.is_counted(check, found.from) {
                self.find(check, thing, &found, sum.map(Val::Span), cases);
            }
        }
        for doubt in judged.doubts {
            let why = if thing.life.is_before(doubt) {
                let about = self.about(thing, thing.life.observed);
                let limit = course.deadline(&check.expected);
                let is_over = limit.is_none_or(|limit| limit < thing.life.observed);
                let when = if is_over { "after" } else { "within" };
                format!("{about} was observed for the first time, {when} the time limit")
            } else if unseen
                .iter()
                .any(|(begin, end)| *begin < doubt.1 && *end > doubt.0)
            {
                format!("{} may have changed unobserved", self.about(thing, doubt.0))
            } else if course.is_late(doubt) {
                format!("{} was received late", self.about(thing, doubt.1))
            } else {
                // What has no value is already noted as a fault.
                continue;
            };
            let dark = CaseGap {
                from: RecordedAt::from_micros(doubt.0),
                to: RecordedAt::from_micros(doubt.1),
                why,
            };
            cases.doubt(&thing.group, dark);
        }
    }

    fn is_counted(&self, check: &RuleCheck, at: i64) -> bool {
        is_during(&check.during, RecordedAt::from_micros(at), self.scene.facts)
    }

    /// Judges operators that count.
    fn counts(&self, number: usize, check: &'a RuleCheck, cases: &mut RuleCases<'a>) {
        let per_case = check.expected.per_case;
        match check.expected.operator {
            CheckOperator::AtMost | CheckOperator::Flaps | CheckOperator::Highest => {}
            CheckOperator::Total if per_case => {}
            _ => return,
        }
        let mut tallies: BTreeMap<(CaseId, usize), Vec<CountedItem<'a>>> = BTreeMap::new();
        for (place, thing) in self.watch.kept.iter().enumerate() {
            let (Some(course), Some(case)) = (thing.courses.get(number), cases.id(&thing.group))
            else {
                continue;
            };
            let part = if per_case { 0 } else { place };
            let counted = course.counted(&check.expected, &self.unseen(thing));
            let counted = counted
                .into_iter()
                .filter(|counted| self.is_counted(check, counted.at))
                .map(|counted| (counted, thing, number));
            let tally = tallies.entry((case, part)).or_default();
            tally.extend(counted);
        }
        for tally in tallies.into_values() {
            self.count(check, tally, cases);
        }
    }

    fn count(
        &self,
        check: &'a RuleCheck,
        mut tally: Vec<CountedItem<'a>>,
        cases: &mut RuleCases<'a>,
    ) {
        tally.sort_by_key(|(counted, _, _)| counted.at);
        let expected = &check.expected;
        match expected.operator {
            CheckOperator::Highest => return self.highest(check, &tally, cases),
            CheckOperator::Total => {
                return self.total(check, &tally, expected.least_micros(), cases);
            }
            _ => {}
        }
        let times: Vec<i64> = tally.iter().map(|(counted, _, _)| counted.at).collect();
        for (first, last) in clusters(&times, expected.times, expected.micros()) {
            let (Some((begin, thing, _)), Some((end, _, _))) = (tally.get(first), tally.get(last))
            else {
                continue;
            };
            let found = SignalMatch {
                from: begin.at,
                to: Some(end.at),
                evidence: begin.evidence,
            };
            let count = Val::count(last - first + 1);
            self.find(check, thing, &found, Some(count), cases);
        }
    }

    fn highest(&self, check: &'a RuleCheck, tally: &[CountedItem<'a>], cases: &mut RuleCases<'a>) {
        let highs = tally.iter().filter_map(|(counted, thing, number)| {
            let highs = &thing.courses.get(*number)?.highs;
            let high = highs.iter().find(|high| high.at == counted.at)?;
            Some((*high, *thing))
        });
        let highest = highs.reduce(|one, other| {
            if other.0.value > one.0.value {
                other
            } else {
                one
            }
        });
        let Some((high, thing)) = highest else { return };
        let found = SignalMatch {
            from: high.at,
            to: Some(high.at),
            evidence: high.evidence,
        };
        let value = high.whole.map_or(Val::Double(high.value), Val::Int);
        self.find(check, thing, &found, Some(value), cases);
    }

    fn total(
        &self,
        check: &'a RuleCheck,
        tally: &[CountedItem<'a>],
        above: i64,
        cases: &mut RuleCases<'a>,
    ) {
        let mut sum = 0_i64;
        let mut last = None;
        let mut done: Vec<&WatchedItem> = Vec::new();
        for (_, thing, number) in tally {
            if done.iter().any(|known| std::ptr::eq(*known, *thing)) {
                continue;
            }
            done.push(thing);
            let Some(signal) = thing
                .courses
                .get(*number)
                .and_then(|course| course.signals.first())
            else {
                continue;
            };
            let seen = signal
                .darkened(&self.unseen(thing))
                .begun(|at| self.is_counted(check, at));
            sum = sum.saturating_add(seen.true_micros());
            last = last.max(seen.true_until());
        }
        if let Some((first, thing, _)) = tally.first()
            && sum > above
        {
            let found = SignalMatch {
                from: first.at,
                to: last,
                evidence: first.evidence,
            };
            self.find(check, thing, &found, Some(Val::Span(sum)), cases);
        }
    }

    fn subject(&self, thing: &WatchedItem) -> FindingSubject {
        let resource = match &self.rule.watch {
            Watch::Objects(objects) => objects.resource.text(),
            Watch::Intervals(_) => String::new(),
        };
        let mut keys = BTreeMap::new();
        if !thing.item.is_empty() {
            keys.insert(self.rule.scope.item.clone(), thing.item.clone());
        }
        FindingSubject {
            resource,
            namespace: thing.namespace.to_string(),
            name: thing.name.to_string(),
            keys,
        }
    }

    /// Returns what was seen to expressions, items too.
    fn slots(&self, thing: &'a WatchedItem, evidence: Option<usize>) -> Slots<'a> {
        let Some(evidence) = evidence.and_then(|number| thing.evidence.get(number)) else {
            return Slots::default();
        };
        let mut slots = evidence.slots();
        if let Watch::Objects(objects) = &self.rule.watch
            && let Some(items) = &objects.items
        {
            let find = |object: Option<Val<'a>>| {
                let mut own = Slots::default();
                own.set(place::OBJECT, object);
                let list = items.list.value(&own).ok()?;
                list.items()?.find(|item| {
                    own.set(place::ITEM, Some(item.clone()));
                    let key = items.key.value(&own);
                    key.is_ok_and(|key| key.to_string() == thing.item)
                })
            };
            let now = find(Some(Val::json(&evidence.object)));
            let old = find(evidence.old.as_ref().map(Val::json));
            slots.set(place::ITEM, now);
            slots.set(place::OLD_ITEM, old);
        }
        slots
    }

    fn find(
        &self,
        check: &'a RuleCheck,
        thing: &'a WatchedItem,
        found: &SignalMatch,
        count: Option<Val<'a>>,
        cases: &mut RuleCases<'a>,
    ) {
        let seen = found.evidence.and_then(|number| thing.evidence.get(number));
        let span = FindingSpan {
            from: RecordedAt::from_micros(found.from),
            to: found.to.map(RecordedAt::from_micros),
            count,
            seq: seen.map(|evidence| evidence.seq),
        };
        let shown = FindingEvidence {
            slots: self.slots(thing, found.evidence),
            subject: self.subject(thing),
        };
        let places = places(self.rule, &thing.group);
        let (finding, wrong) = finding(check, shown, span, places, self.also, self.scene);
        if let Some(wrong) = wrong {
            let about = self.about(thing, found.from);
            cases.wrong(&thing.group, format!("{about}: {wrong}"));
        }
        cases.find_in_phase(check, &thing.group, finding, self.scene);
    }
}
