//! The cases of a rule while it is judged, and the findings in them.

use super::values::set_moment;
use crate::cel::{EvalError, Slots, Val};
use crate::interval::Interval;
use crate::known::{
    component_of_namespace, component_of_operator, known_namespaces, known_operators,
};
use crate::rule::{
    Component, ListedValues, MonitorRule, RuleCheck, Template, TemplatePart as Part, Unlisted,
    Watch, place,
};
use crate::verdict::{CaseGap, FindingSubject, JudgeContext, Severity, TestCase, TestFinding};
use kubereel_format::{RecordedAt, Seq};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::rc::Rc;

/// The values of a case's places, in the order of the rule's `per`.
pub(super) type CaseKey = Vec<String>;

/// A case: its group, or the one of all values that are not listed.
pub(super) type CaseId = (CaseKey, bool);

/// The cases of a rule.
pub(super) struct RuleCases<'r> {
    rule: &'r MonitorRule,
    /// The values that have a case in every run, for the place that has them.
    listed: Option<(usize, BTreeSet<String>)>,
    by_group: BTreeMap<CaseId, TestCase>,
}

impl<'r> RuleCases<'r> {
    pub(super) fn new(rule: &'r MonitorRule, scene: &JudgeContext<'_>) -> Self {
        let each = rule.each.iter().next().and_then(|(place, each)| {
            let number = rule.per.iter().position(|(name, _)| name == place)?;
            Some((number, listed(each, scene)))
        });
        let mut cases = Self {
            rule,
            listed: each,
            by_group: BTreeMap::new(),
        };
        if rule.per.is_empty() {
            cases.case(&Vec::new());
        } else if rule.per.len() == 1 {
            let values = cases.listed.clone().map(|(_, values)| values);
            for value in values.into_iter().flatten() {
                cases.case(&vec![value]);
            }
            if let (Some(_), Unlisted::Junit(_)) = (&cases.listed, &rule.unlisted) {
                // No value is empty twice: the empty one is listed or stands for all that are not.
                cases.case(&vec![String::new()]);
            }
        }
        cases
    }

    /// Returns the cases that every run has, and those of the groups so far.
    pub(super) fn ids(&self) -> Vec<CaseId> {
        self.by_group.keys().cloned().collect()
    }

    /// Returns which case a group belongs to; `None` if the rule drops it.
    pub(super) fn id(&self, group: &CaseKey) -> Option<CaseId> {
        let is_listed = self.listed.as_ref().is_none_or(|(place, values)| {
            group
                .get(*place)
                .is_some_and(|value| values.contains(value))
        });
        match &self.rule.unlisted {
            Unlisted::Junit(_) if !is_listed => Some((Vec::new(), true)),
            Unlisted::Drop if !is_listed => None,
            _ => Some((group.clone(), false)),
        }
    }

    /// Returns the case of a group; `None` if the rule drops it.
    pub(super) fn case(&mut self, group: &CaseKey) -> Option<&mut TestCase> {
        let id = self.id(group)?;
        let rule = self.rule;
        Some(
            self.by_group
                .entry(id)
                .or_insert_with_key(|(_, is_joint)| match &rule.unlisted {
                    Unlisted::Junit(junit) if *is_joint => TestCase {
                        junit: junit.clone(),
                        ..TestCase::default()
                    },
                    _ => named(rule, group),
                }),
        )
    }

    /// Adds a finding. Of two of one subject that begin together, the worse one stays.
    pub(super) fn find(&mut self, group: &CaseKey, finding: TestFinding) {
        let Some(case) = self.case(group) else {
            return;
        };
        let mut same = case.findings.iter_mut().filter(|known| {
            known.from == finding.from
                && known.subject == finding.subject
                && known.seq == finding.seq
        });
        if let Some(known) = same.find(|known| known.severity != finding.severity) {
            if known.severity < finding.severity {
                *known = finding;
            }
            return;
        }
        case.findings.push(finding);
    }

    /// Returns whether a check counts in some phases of the cluster only.
    pub(super) fn is_of_some_phases(&self, check: &RuleCheck) -> bool {
        let of_choice = match &self.rule.watch {
            Watch::Intervals(choice) => choice.during.as_slice(),
            Watch::Objects(_) => &[],
        };
        !check.during.is_empty() || !of_choice.is_empty()
    }

    /// Adds a finding of a check, or that nobody knows whether it counts: in which phase it began is
    /// unknown.
    pub(super) fn find_in_phase(
        &mut self,
        check: &RuleCheck,
        group: &CaseKey,
        finding: TestFinding,
        scene: &JudgeContext<'_>,
    ) {
        let is_of_some = self.is_of_some_phases(check);
        match scene.phase_gap(&finding).filter(|_| is_of_some) {
            Some(dark) => self.doubt(group, dark),
            None => self.find(group, finding),
        }
    }

    /// Notes a time in which something was not known.
    pub(super) fn doubt(&mut self, group: &CaseKey, dark: CaseGap) {
        if let Some(case) = self.case(group) {
            case.doubt(dark);
        }
    }

    /// Notes that a case cannot be judged.
    pub(super) fn wrong(&mut self, group: &CaseKey, what: String) {
        if let Some(case) = self.case(group) {
            case.error.get_or_insert(what);
        }
    }

    /// Notes the same for every case; if there is none, for one that stands for all.
    pub(super) fn all_wrong(&mut self, what: &str) {
        self.stand_in();
        for case in self.by_group.values_mut() {
            case.error.get_or_insert_with(|| what.to_owned());
        }
    }

    /// Makes a case that stands for all, if there is none.
    fn stand_in(&mut self) {
        if self.by_group.is_empty() {
            let case = TestCase {
                junit: self.rule.about.junit.clone(),
                ..TestCase::default()
            };
            self.by_group.insert((Vec::new(), true), case);
        }
    }

    /// Adds times that are not known to every case.
    pub(super) fn all_doubt(&mut self, dark: &[CaseGap]) {
        for case in self.by_group.values_mut() {
            let more = dark.iter().filter(|dark| !case.dark.contains(dark));
            let more: Vec<CaseGap> = more.cloned().collect();
            case.dark.extend(more);
        }
    }

    /// Skips every case.
    pub(super) fn skip(mut self, why: &str) -> Vec<TestCase> {
        self.stand_in();
        let cases = self.by_group.into_values();
        cases
            .map(|case| TestCase {
                skipped: Some(why.to_owned()),
                ..case
            })
            .collect()
    }

    /// Returns the cases, in order.
    pub(super) fn done(self) -> Vec<TestCase> {
        let mut cases: Vec<TestCase> = self.by_group.into_values().collect();
        for case in &mut cases {
            case.findings.sort_by(|one, other| {
                let order = one.from.cmp(&other.from);
                order.then_with(|| one.subject.cmp(&other.subject))
            });
            case.dark.sort();
        }
        cases
    }
}

/// Returns the values that have a case in every run.
fn listed(each: &ListedValues, scene: &JudgeContext<'_>) -> BTreeSet<String> {
    match each {
        // Another cluster has nothing of the platform that is known by name.
        ListedValues::Operators | ListedValues::Namespaces if !scene.facts.is_openshift() => {
            BTreeSet::new()
        }
        ListedValues::Operators => known_operators().map(str::to_owned).collect(),
        ListedValues::Namespaces => known_namespaces().map(str::to_owned).collect(),
        ListedValues::Nodes => {
            let nodes = scene.intervals.nodes();
            nodes.map(str::to_owned).collect()
        }
        ListedValues::Listed(values) => values.iter().cloned().collect(),
    }
}

fn named(rule: &MonitorRule, group: &CaseKey) -> TestCase {
    let places = rule.per.iter().map(|(name, _)| name.as_str());
    let places: BTreeMap<String, String> = places
        .zip(group)
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect();
    let component = match &rule.component {
        Component::None => None,
        Component::Text(component) => Some(component.clone()),
        Component::OfOperator => places
            .get("operator")
            .and_then(|operator| component_of_operator(operator))
            .map(str::to_owned),
        Component::OfNamespace => places
            .get("namespace")
            .and_then(|namespace| component_of_namespace(namespace))
            .map(str::to_owned),
    };
    let mut junit = rule.about.junit.clone();
    for (name, value) in &places {
        junit = junit.replace(&format!("{{{name}}}"), value);
    }
    let shown = component.as_deref().unwrap_or("Unknown");
    TestCase {
        junit: junit.replace("{component}", shown),
        component,
        group: places,
        ..TestCase::default()
    }
}

/// Returns the places of a case as expressions see them.
pub(super) fn places<'a>(rule: &MonitorRule, group: &CaseKey) -> Val<'a> {
    let names = rule.per.iter().map(|(name, _)| name.clone());
    let map = names.zip(group.iter().map(Val::text)).collect();
    Val::Map(Rc::new(map))
}

/// How long a message may be, in characters.
const MAX_CHARS: usize = 4000;

/// When something was, and how often.
#[derive(Clone, Debug)]
pub(super) struct FindingSpan<'a> {
    pub(super) from: RecordedAt,
    /// When it ended; `None` if it did not.
    pub(super) to: Option<RecordedAt>,
    pub(super) count: Option<Val<'a>>,
    pub(super) seq: Option<Seq>,
}

impl FindingSpan<'_> {
    /// Returns the span of an interval.
    pub(super) const fn of(interval: &Interval) -> Self {
        Self {
            from: interval.from,
            to: interval.to,
            count: None,
            seq: interval.seq,
        }
    }
}

/// What a predicate saw, and what it is about.
pub(super) struct FindingEvidence<'a> {
    pub(super) slots: Slots<'a>,
    pub(super) subject: FindingSubject,
}

/// Makes a finding; and says what was wrong with the rule, if something was.
pub(super) fn finding<'a>(
    check: &'a RuleCheck,
    evidence: FindingEvidence<'a>,
    span: FindingSpan<'a>,
    places: Val<'a>,
    also: &Val<'a>,
    scene: &JudgeContext<'a>,
) -> (TestFinding, Option<String>) {
    let FindingEvidence { mut slots, subject } = evidence;
    let to = span.to.unwrap_or(scene.intervals.end());
    set_moment(&mut slots, scene, span.from);
    slots.set(place::FROM, Some(Val::time(span.from)));
    slots.set(place::TO, Some(Val::time(to)));
    let duration = to.micros.saturating_sub(span.from.micros);
    slots.set(place::DURATION, Some(Val::Span(duration)));
    slots.set(place::COUNT, span.count);
    slots.set(place::PLACE, Some(places));
    slots.set(place::ALSO, Some(also.clone()));
    let mut wrong = None;
    let mut severity = check.severity;
    if let Some(flake_if) = &check.flake_if {
        match flake_if.truth(&slots) {
            Ok(true) => severity = Severity::Flake,
            // What is not known does not excuse.
            Ok(false) | Err(EvalError::Absent { .. }) => {}
            Err(EvalError::Wrong { what }) => wrong = Some(format!("`flakeIf`: {what}")),
        }
    }
    let mut written = |template: &'a Template| written(template, &slots, &mut wrong);
    let reason = check.reason.as_ref().map(&mut written).unwrap_or_default();
    let message = written(&check.message);
    let finding = TestFinding {
        subject,
        severity,
        from: span.from,
        to: span.to,
        reason,
        message,
        seq: span.seq,
        shown_at: None,
    };
    (finding, wrong)
}

/// Fills in a text.
fn written<'a>(template: &'a Template, slots: &Slots<'a>, wrong: &mut Option<String>) -> String {
    let mut text = String::new();
    for part in &template.parts {
        match part {
            Part::Text(plain) => text.push_str(plain),
            Part::Cel(program) => match program.value(slots) {
                Ok(value) => {
                    // Writing to a text does not fail.
                    let _written = write!(text, "{value}");
                }
                Err(EvalError::Absent { .. }) => text.push_str("(absent)"),
                Err(EvalError::Wrong { what }) => {
                    text.push_str("(wrong)");
                    wrong.get_or_insert_with(|| format!("`{}`: {what}", program.text));
                }
            },
        }
    }
    if let Some((end, _)) = text.char_indices().nth(MAX_CHARS) {
        text.truncate(end);
        text.push('…');
    }
    text
}
