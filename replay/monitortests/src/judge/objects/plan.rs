//! What is derived from a rule once: which fields its predicates read, and which of them are of changes.

use crate::cel::{ChangeVariables, Program, Reads};
use crate::feed::{Fields, Interest};
use crate::rule::{
    CheckOperator, MonitorRule, ObjectSelector, RelatedBy, ResourceName, RuleCheck, Template,
    TemplatePart, place,
};

/// What must be known of a predicate to ask it no more often than needed.
#[derive(Clone, Debug, Default)]
pub(super) struct PredicateReads {
    /// The fields of the object that it reads, in any of its versions.
    pub(super) fields: Fields,
    /// The related objects that it reads, by number.
    pub(super) related: Vec<usize>,
    /// Whether it reads the version before.
    pub(super) reads_old: bool,
    /// Whether it reads an earlier object of the same name.
    pub(super) reads_former: bool,
    /// Whether it reads what happened.
    pub(super) reads_action: bool,
    pub(super) when: EvaluatedAt,
}

/// At which events of the object a predicate is evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum EvaluatedAt {
    /// At those that change a field that it reads: at others its value is the same, or means nothing.
    #[default]
    ItsChanges,
    /// At each.
    EachEvent,
}

/// How predicates call the versions of an object.
const CHANGE: ChangeVariables = ChangeVariables {
    pairs: [(place::OLD, place::OBJECT), (place::OLD_ITEM, place::ITEM)],
    action: (place::ACTION, "changed"),
};

/// Where an object names its owners.
const OWNERS: [&str; 1] = ["metadata.ownerReferences.uid"];

/// Where every version of an object differs.
pub(super) const REVISION: &str = "metadata.resourceVersion";

/// Since when an object exists: a time limit may have passed before it was observed.
const CREATED: &str = "metadata.creationTimestamp";

impl PredicateReads {
    /// Returns whether it is evaluated at changes only, and holds for a moment.
    pub(super) const fn is_of_change(&self) -> bool {
        self.reads_old || self.reads_former || self.reads_action
    }
}

/// The plan of a rule over objects.
#[derive(Clone, Debug, Default)]
pub(super) struct WatchPlan {
    /// Of `where`.
    pub(super) chosen: PredicateReads,
    /// Of `items`, list and keys.
    pub(super) items: PredicateReads,
    /// Of each check, its one or two predicates.
    pub(super) checks: Vec<Vec<PredicateReads>>,
    /// All fields of the object that anything in the rule reads: the evidence.
    pub(super) evidence: Fields,
    /// Whether anything reads an earlier object of the same name.
    pub(super) reads_former: bool,
    /// The fields of related objects, by number.
    pub(super) related: Vec<Fields>,
    /// What is read of the reel.
    pub(super) interests: Vec<Interest>,
}

fn expressions(template: &Template) -> impl Iterator<Item = &Program> {
    template.parts.iter().filter_map(|part| match part {
        TemplatePart::Cel(program) => Some(program),
        TemplatePart::Text(_) => None,
    })
}

impl WatchPlan {
    /// Makes the plan of a rule.
    pub(super) fn of(rule: &MonitorRule, objects: &ObjectSelector) -> Self {
        let mut plan = Self::default();
        let parts = match &objects.items {
            None => Vec::new(),
            Some(items) => Reads::passed(&items.list.node).1,
        };
        let reads = |program: &Program| {
            let mut reads = Reads::of(&program.node);
            reads.replace(place::ITEM, &parts);
            reads.replace(place::OLD_ITEM, &parts);
            reads
        };
        let mut all = Reads::default();
        let mut asked = |program: &Program| {
            let reads = reads(program);
            let asked = asked(&reads);
            all.join(reads);
            asked
        };
        if let Some(chosen) = &objects.chosen {
            plan.chosen = asked(chosen);
        }
        if let Some(items) = &objects.items {
            plan.items = asked(&items.list);
            let key = asked(&items.key);
            plan.items.fields.join(&key.fields);
        }
        let of_related = objects.related.iter().map(|related| match &related.by {
            RelatedBy::Name(program)
            | RelatedBy::SelectedBy(program)
            | RelatedBy::Selecting(program)
            | RelatedBy::Where(program) => asked(program).fields,
            RelatedBy::Owner => OWNERS.iter().fold(Fields::default(), with_path),
            // The uid of an object does not change.
            RelatedBy::Owned => Fields::default(),
        });
        let of_related: Vec<Fields> = of_related.collect();
        for check in &rule.checks {
            let operator = check.expected.operator;
            let programs = check.expected.programs().map(|program| {
                let mut asked = asked(program);
                // Which objects are related depends on the object, too.
                for number in &asked.related {
                    if let Some(fields) = of_related.get(*number) {
                        asked.fields.join(fields);
                    }
                }
                let is_silent = is_silent(operator, CHANGE.truth_unchanged(&program.node));
                if (asked.reads_old || asked.reads_action) && !is_silent {
                    asked.when = EvaluatedAt::EachEvent;
                }
                asked
            });
            plan.checks.push(programs.collect());
        }
        // What messages read is evidence too.
        for (_, program) in &rule.per {
            asked(program);
        }
        for check in &rule.checks {
            told(check).for_each(|program| {
                asked(program);
            });
        }
        plan.finish(rule, objects, &all);
        plan
    }

    /// Takes every field for read by everything: what a plan saves is then not saved.
    pub(super) fn take_all(&mut self) {
        let checks = self.checks.iter_mut().flatten();
        let others = [&mut self.chosen, &mut self.items];
        for asked in checks.chain(others) {
            if asked.is_of_change() {
                asked.when = EvaluatedAt::EachEvent;
            } else {
                asked.fields.add("");
            }
        }
        for interest in &mut self.interests {
            interest.paths.push(String::new());
            interest.wants_all = true;
        }
    }

    fn finish(&mut self, rule: &MonitorRule, objects: &ObjectSelector, all: &Reads) {
        self.reads_former = all.has(place::FORMER);
        let mut paths: Vec<String> = Vec::new();
        for variable in [place::OBJECT, place::OLD, place::FORMER] {
            paths.extend(all.paths.get(&variable).into_iter().flatten().cloned());
        }
        let reads_owners = objects
            .related
            .iter()
            .any(|related| matches!(related.by, RelatedBy::Owner));
        if reads_owners {
            paths.extend(OWNERS.map(str::to_owned));
        }
        let checks_since = rule
            .checks
            .iter()
            .any(|check| check.expected.since.is_some());
        if checks_since {
            paths.push(CREATED.to_owned());
        }
        // Who an object is, is always evidence.
        paths.extend(["metadata.name", "metadata.namespace", "metadata.uid"].map(str::to_owned));
        for path in &paths {
            self.evidence.add(path);
        }
        let is_each = self
            .checks
            .iter()
            .flatten()
            .any(|asked| asked.when == EvaluatedAt::EachEvent);
        if is_each {
            paths.push(REVISION.to_owned());
        }
        self.interests.push(Interest {
            wants_all: is_each,
            ..interest(&objects.resource, &paths)
        });
        for (number, related) in objects.related.iter().enumerate() {
            let read = all.paths.get(&(place::RELATED + number));
            let mut paths: Vec<String> = read.into_iter().flatten().cloned().collect();
            let other = all.paths.get(&place::OTHER);
            match &related.by {
                RelatedBy::Where(_) => paths.extend(other.into_iter().flatten().cloned()),
                RelatedBy::Owned => paths.extend(OWNERS.map(str::to_owned)),
                RelatedBy::SelectedBy(_) => paths.push("metadata.labels".to_owned()),
                RelatedBy::Selecting(_) => paths.push("spec.selector".to_owned()),
                RelatedBy::Name(_) | RelatedBy::Owner => {}
            }
            paths
                .extend(["metadata.name", "metadata.namespace", "metadata.uid"].map(str::to_owned));
            let mut fields = Fields::default();
            for path in &paths {
                fields.add(path);
            }
            self.related.push(fields);
            self.interests.push(interest(&related.resource, &paths));
        }
    }
}

fn with_path(mut fields: Fields, path: &&str) -> Fields {
    fields.add(path);
    fields
}

fn interest(resource: &ResourceName, paths: &[String]) -> Interest {
    let paths = paths.iter().map(String::as_str);
    Interest::new(&resource.group, &resource.plural, paths)
}

/// Returns the expressions in the messages of a check.
fn told(check: &RuleCheck) -> impl Iterator<Item = &Program> {
    let since = check.expected.since.iter();
    let reason = check.reason.iter().flat_map(expressions);
    let message = expressions(&check.message);
    let flake_if = check.flake_if.iter();
    since.chain(flake_if).chain(reason).chain(message)
}

/// Returns whether an operator takes no notice of a predicate of a change with a truth.
const fn is_silent(operator: CheckOperator, truth: Option<bool>) -> bool {
    match truth {
        Some(truth) => truth == matches!(operator, CheckOperator::Always),
        None => false,
    }
}

fn asked(reads: &Reads) -> PredicateReads {
    let mut asked = PredicateReads {
        when: if reads.has(place::AT) {
            EvaluatedAt::EachEvent
        } else {
            EvaluatedAt::ItsChanges
        },
        reads_old: reads.has(place::OLD) || reads.has(place::OLD_ITEM),
        reads_former: reads.has(place::FORMER),
        reads_action: reads.has(place::ACTION),
        ..PredicateReads::default()
    };
    for (variable, paths) in &reads.paths {
        if [place::OBJECT, place::OLD, place::FORMER].contains(variable) {
            for path in paths {
                asked.fields.add(path);
            }
        }
        asked.related.extend(variable.checked_sub(place::RELATED));
    }
    asked
}
