//! The judgement of rules over intervals.

use super::cases::{CaseKey, RuleCases, places};
use super::cases::{FindingEvidence, FindingSpan, finding};
use super::values::IntervalView;
use super::values::{is_during, seen_by, set_moment};
use crate::cel::{EvalError, Program, Slots, Val};
use crate::interval::Interval;
use crate::rule::{CheckOperator, IntervalSelector, MonitorRule, RuleCheck, place};
use crate::signal::clusters;
use crate::verdict::{CaseGap, FindingSubject, JudgeContext};
use kubereel_format::RecordedAt;
use kubereel_history::timetext;
use std::collections::BTreeMap;

/// An interval that is judged, and what it is about.
#[derive(Clone)]
struct JudgedInterval<'a> {
    interval: &'a Interval,
    /// The values of its places. A case may have intervals of several.
    group: CaseKey,
    subject: String,
}

/// The way through the judgement of one rule.
pub(super) struct IntervalJudge<'a, 'c> {
    pub(super) rule: &'a MonitorRule,
    pub(super) choice: &'a IntervalSelector,
    pub(super) scene: JudgeContext<'a>,
    pub(super) also: Val<'a>,
    pub(super) cases: &'c mut RuleCases<'a>,
}

impl<'a> IntervalJudge<'a, '_> {
    /// Judges all checks.
    pub(super) fn judge(&mut self) {
        let mut groups: BTreeMap<CaseKey, Vec<JudgedInterval<'a>>> = BTreeMap::new();
        let mut faults = Vec::new();
        for interval in self.scene.intervals.all() {
            if !self.choice.takes(interval, self.scene.facts) {
                continue;
            }
            match self.grouped(interval) {
                Ok(Some((group, subject))) => {
                    if let Some((case, _)) = self.cases.id(&group) {
                        self.cases.case(&group);
                        let judged = JudgedInterval {
                            interval,
                            group,
                            subject,
                        };
                        groups.entry(case).or_default().push(judged);
                    }
                }
                Ok(None) => {}
                Err(fault) => faults.push((interval, fault)),
            }
        }
        // Where nothing was seen of values that are not listed, nothing is expected of them.
        for (group, _) in self
            .cases
            .ids()
            .into_iter()
            .filter(|(_, is_joint)| !is_joint)
        {
            groups.entry(group).or_default();
        }
        for (group, intervals) in &groups {
            for check in &self.rule.checks {
                self.check(check, group, intervals);
            }
        }
        for (interval, fault) in faults {
            for group in groups.keys() {
                self.fault(group, interval, &fault);
            }
        }
    }

    fn slots(&self, interval: &'a Interval) -> Slots<'a> {
        let mut slots = Slots::default();
        let value = IntervalView::value(interval, &self.scene);
        slots.set(place::INTERVAL, Some(value));
        set_moment(&mut slots, &self.scene, interval.from);
        slots.set(place::ALSO, Some(self.also.clone()));
        slots
    }

    /// Returns the case of an interval and what it is about, if it is chosen.
    fn grouped(&self, interval: &'a Interval) -> Result<Option<(CaseKey, String)>, EvalError> {
        if let Some(chosen) = &self.choice.chosen
            && !chosen.truth(&seen_by(chosen, interval, &self.scene))?
        {
            return Ok(None);
        }
        let slots = self.slots(interval);
        let mut group = CaseKey::new();
        for (_, program) in &self.rule.per {
            group.push(program.value(&slots)?.to_string());
        }
        if self.choice.subject.is_empty() {
            let keys = interval.locator.keys.iter();
            let keys = keys.filter(|(key, _)| key.as_ref() != "hmsg");
            let keys: Vec<String> = keys.map(|(key, value)| format!("{key}/{value}")).collect();
            return Ok(Some((group, keys.join(" "))));
        }
        let mut subject = String::new();
        for program in &self.choice.subject {
            subject.push_str(&program.value(&slots)?.to_string());
            subject.push('\u{0}');
        }
        Ok(Some((group, subject)))
    }

    fn fault(&mut self, group: &CaseKey, interval: &Interval, fault: &EvalError) {
        let at = timetext::rfc3339(interval.from);
        let about = format!("interval {} at {at}", interval.locator);
        match fault {
            EvalError::Absent { what } => {
                let dark = CaseGap {
                    from: interval.from,
                    to: interval.to_or(self.scene.intervals.end()),
                    why: format!("{what} is absent in the {about}"),
                };
                self.cases.doubt(group, dark);
            }
            EvalError::Wrong { what } => self.cases.wrong(group, format!("{about}: {what}")),
        }
    }

    /// Evaluates a predicate; a fault is noted and has no truth.
    fn truth(&mut self, program: &'a Program, judged: &JudgedInterval<'a>) -> Option<bool> {
        let JudgedInterval {
            interval, group, ..
        } = judged;
        let mut slots = seen_by(program, interval, &self.scene);
        if program.reads(place::ALSO) {
            slots.set(place::ALSO, Some(self.also.clone()));
        }
        if program.reads(place::PLACE) {
            slots.set(place::PLACE, Some(places(self.rule, group)));
        }
        match program.truth(&slots) {
            Ok(truth) => Some(truth),
            Err(fault) => {
                self.fault(group, interval, &fault);
                None
            }
        }
    }

    /// Returns the intervals for which a predicate has a value.
    fn those<'j>(
        &mut self,
        program: &'a Program,
        wanted: bool,
        intervals: &'j [JudgedInterval<'a>],
    ) -> Vec<&'j JudgedInterval<'a>> {
        let mut those = Vec::new();
        for judged in intervals {
            if self.truth(program, judged) == Some(wanted) {
                those.push(judged);
            }
        }
        those
    }

    fn check(&mut self, check: &'a RuleCheck, group: &CaseKey, intervals: &[JudgedInterval<'a>]) {
        let facts = self.scene.facts;
        let in_phase: Vec<JudgedInterval<'a>> = intervals
            .iter()
            .filter(|judged| is_during(&check.during, judged.interval.from, facts))
            .cloned()
            .collect();
        let intervals = in_phase.as_slice();
        let end = self.scene.intervals.end();
        let expected = &check.expected;
        let is_wanted = !matches!(
            expected.operator,
            CheckOperator::Always | CheckOperator::AtEnd
        );
        match expected.operator {
            CheckOperator::Never | CheckOperator::Always | CheckOperator::AtEnd => {
                for judged in self.those(&expected.first, is_wanted, intervals) {
                    let interval = judged.interval;
                    let is_found = if expected.operator == CheckOperator::AtEnd {
                        interval.to_or(end) >= end
                    } else {
                        interval.micros(end) >= expected.least_micros()
                    };
                    if is_found {
                        self.find(check, judged, FindingSpan::of(interval));
                    }
                }
            }
            CheckOperator::Eventually => self.eventually(check, group, intervals),
            CheckOperator::LeadsTo => self.leads_to(check, intervals),
            CheckOperator::AtMost | CheckOperator::Total => {
                let those = self.those(&expected.first, true, intervals);
                for judged in by_subject(&those, expected.per_case) {
                    if expected.operator == CheckOperator::AtMost {
                        self.at_most(check, &judged);
                    } else {
                        self.total(check, &judged);
                    }
                }
            }
            CheckOperator::Highest => self.highest(check, intervals),
            // Refused for intervals when the file is read.
            CheckOperator::Until | CheckOperator::Stays | CheckOperator::Flaps => {}
        }
    }

    fn eventually(
        &mut self,
        check: &'a RuleCheck,
        group: &CaseKey,
        intervals: &[JudgedInterval<'a>],
    ) {
        let facts = self.scene.facts;
        let (start, end) = (self.scene.intervals.start(), self.scene.intervals.end());
        let mut slots = Slots::default();
        slots.set(place::STARTED, Some(Val::time(start)));
        slots.set(place::APPEARED, Some(Val::time(start)));
        let from = match check
            .expected
            .since
            .as_ref()
            .map(|since| since.value(&slots))
        {
            None => start,
            Some(Ok(Val::Time(micros))) => RecordedAt::from_micros(micros),
            Some(_) => {
                self.cases
                    .wrong(group, "`since` is not a timestamp".to_owned());
                return;
            }
        };
        let deadline = check.expected.micros().map_or(end, |within| {
            RecordedAt::from_micros(from.micros.saturating_add(within))
        });
        let those = self.those(&check.expected.first, true, intervals);
        let is_of_some = self.cases.is_of_some_phases(check);
        let is_met = those.iter().any(|judged| {
            let interval = judged.interval;
            // One that may not count is not enough: then it is not known whether any does.
            let may_not_count = is_of_some && facts.unknown_phase(interval.from).is_some();
            interval.from <= deadline && interval.to_or(end) >= from && !may_not_count
        });
        if is_met || deadline > end {
            return;
        }
        let span = FindingSpan {
            from,
            to: None,
            count: None,
            seq: None,
        };
        let evidence = FindingEvidence {
            slots: Slots::default(),
            subject: FindingSubject::default(),
        };
        self.report(check, group, evidence, span);
    }

    fn leads_to(&mut self, check: &'a RuleCheck, intervals: &[JudgedInterval<'a>]) {
        let end = self.scene.intervals.end();
        let Some(to) = &check.expected.second else {
            return;
        };
        let begins = self.those(&check.expected.first, true, intervals);
        let ends = self.those(to, true, intervals);
        for begin in begins {
            let at = begin.interval.from;
            let deadline = at.micros.saturating_add(check.expected.least_micros());
            let next = ends
                .iter()
                .filter(|ends| ends.subject == begin.subject && ends.interval.from >= at)
                .map(|ends| ends.interval.from)
                .min();
            let is_met = next.is_some_and(|next| next.micros <= deadline);
            if is_met || deadline > end.micros {
                continue;
            }
            let span = FindingSpan {
                from: at,
                to: next,
                count: None,
                seq: begin.interval.seq,
            };
            self.find(check, begin, span);
        }
    }

    fn at_most(&mut self, check: &'a RuleCheck, those: &[&JudgedInterval<'a>]) {
        let at: Vec<i64> = those
            .iter()
            .map(|judged| judged.interval.from.micros)
            .collect();
        for (first, last) in clusters(&at, check.expected.times, check.expected.micros()) {
            let (Some(begin), Some(end)) = (those.get(first), those.get(last)) else {
                continue;
            };
            let span = FindingSpan {
                from: begin.interval.from,
                to: Some(end.interval.from),
                count: Some(Val::count(last - first + 1)),
                seq: begin.interval.seq,
            };
            self.find(check, begin, span);
        }
    }

    fn highest(&mut self, check: &'a RuleCheck, intervals: &[JudgedInterval<'a>]) {
        let all: Vec<&JudgedInterval<'a>> = intervals.iter().collect();
        for those in by_subject(&all, check.expected.per_case) {
            let mut highest: Option<(Val<'a>, &JudgedInterval<'a>)> = None;
            for judged in those {
                let mut slots = self.slots(judged.interval);
                slots.set(place::PLACE, Some(places(self.rule, &judged.group)));
                match check.expected.first.value(&slots) {
                    Ok(value @ (Val::Int(_) | Val::Uint(_) | Val::Double(_))) => {
                        let is_more = highest.as_ref().is_none_or(|(known, _)| {
                            value.order(known) == Some(std::cmp::Ordering::Greater)
                        });
                        if is_more {
                            highest = Some((value, judged));
                        }
                    }
                    Ok(other) => {
                        let what = format!("`highest` expects a number, found {}", other.kind());
                        self.fault(&judged.group, judged.interval, &EvalError::Wrong { what });
                    }
                    Err(fault) => self.fault(&judged.group, judged.interval, &fault),
                }
            }
            if let Some((value, judged)) = highest
                && value.order(&Val::Double(check.expected.above))
                    == Some(std::cmp::Ordering::Greater)
            {
                let span = FindingSpan {
                    count: Some(value),
                    ..FindingSpan::of(judged.interval)
                };
                self.find(check, judged, span);
            }
        }
    }

    fn total(&mut self, check: &'a RuleCheck, those: &[&JudgedInterval<'a>]) {
        let end = self.scene.intervals.end();
        let mut sum = 0_i64;
        // They are in the order of their begins, and what two of them share counts once.
        let mut done = i64::MIN;
        for judged in those {
            let from = judged.interval.from.micros.max(done);
            let to = judged.interval.to_or(end).micros;
            sum += (to - from).max(0);
            done = done.max(to);
        }
        let (Some(first), Some(last)) = (those.first(), those.last()) else {
            return;
        };
        if sum > check.expected.least_micros() {
            let span = FindingSpan {
                from: first.interval.from,
                to: last.interval.to,
                count: Some(Val::Span(sum)),
                seq: first.interval.seq,
            };
            self.find(check, first, span);
        }
    }

    fn find(&mut self, check: &'a RuleCheck, judged: &JudgedInterval<'a>, span: FindingSpan<'a>) {
        let evidence = FindingEvidence {
            slots: self.slots(judged.interval),
            subject: subject(judged.interval),
        };
        self.report(check, &judged.group, evidence, span);
    }

    fn report(
        &mut self,
        check: &'a RuleCheck,
        group: &CaseKey,
        evidence: FindingEvidence<'a>,
        span: FindingSpan<'a>,
    ) {
        let places = places(self.rule, group);
        let (finding, wrong) = finding(check, evidence, span, places, &self.also, &self.scene);
        if let Some(wrong) = wrong {
            self.cases.wrong(group, wrong);
        }
        self.cases.find_in_phase(check, group, finding, &self.scene);
    }
}

/// Parts intervals by what they are about; in one part, if they are counted for the case.
fn by_subject<'j, 'a>(
    those: &[&'j JudgedInterval<'a>],
    per_case: bool,
) -> Vec<Vec<&'j JudgedInterval<'a>>> {
    let mut parts: BTreeMap<&str, Vec<&'j JudgedInterval<'a>>> = BTreeMap::new();
    for judged in those {
        let subject = if per_case {
            ""
        } else {
            judged.subject.as_str()
        };
        parts.entry(subject).or_default().push(judged);
    }
    parts.into_values().collect()
}

/// Returns what an interval is about; of a condition, which one and its status: exceptions name them.
fn subject(interval: &Interval) -> FindingSubject {
    let mut subject = FindingSubject::of(&interval.locator);
    for name in ["condition", "status"] {
        if let Some(value) = interval.message.annotation(name) {
            subject.keys.insert(name.to_owned(), value.to_owned());
        }
    }
    subject
}
