//! Owns the cases of a rule while it is judged: which there are, by the places of its name. Refuses to
//! look for findings.

use crate::cel::Val;
use crate::known::{
    component_of_namespace, component_of_operator, known_namespaces, known_operators,
};
use crate::rule::{Component, Each, Rule, Unlisted};
use crate::verdict::{Case, Dark, Finding, Scene};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How many times that are not known a case names.
const MAX_DARK: usize = 20;

/// The values of a case's places, in the order of the rule's `per`.
pub(super) type Group = Vec<String>;

/// The cases of a rule.
pub(super) struct Cases<'r> {
    rule: &'r Rule,
    /// The values that have a case in every run, for the place that has them.
    listed: Option<(usize, BTreeSet<String>)>,
    by_group: BTreeMap<(Group, bool), Case>,
}

impl<'r> Cases<'r> {
    pub(super) fn new(rule: &'r Rule, scene: &Scene<'_>) -> Self {
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

    /// Gives the groups that have a case in every run, or had one so far.
    pub(super) fn groups(&self) -> Vec<Group> {
        let groups = self.by_group.keys().filter(|(_, is_joint)| !is_joint);
        groups.map(|(group, _)| group.clone()).collect()
    }

    /// Gives the case of a group; `None` if the rule drops it.
    pub(super) fn case(&mut self, group: &Group) -> Option<&mut Case> {
        let is_listed = self.listed.as_ref().is_none_or(|(place, values)| {
            group
                .get(*place)
                .is_some_and(|value| values.contains(value))
        });
        let joint = match &self.rule.unlisted {
            Unlisted::Junit(junit) if !is_listed => Some(junit.clone()),
            Unlisted::Drop if !is_listed => return None,
            _ => None,
        };
        let rule = self.rule;
        let key = match &joint {
            Some(_) => (Vec::new(), true),
            None => (group.clone(), false),
        };
        Some(self.by_group.entry(key).or_insert_with(|| match joint {
            Some(junit) => Case {
                junit,
                ..Case::default()
            },
            None => named(rule, group),
        }))
    }

    /// Adds a finding. Of two of one subject that begin together, the worse one stays.
    pub(super) fn find(&mut self, group: &Group, finding: Finding) {
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

    /// Notes a time in which something was not known.
    pub(super) fn doubt(&mut self, group: &Group, dark: Dark) {
        if let Some(case) = self.case(group)
            && case.dark.len() < MAX_DARK
            && !case.dark.contains(&dark)
        {
            case.dark.push(dark);
        }
    }

    /// Notes that a case cannot be judged.
    pub(super) fn wrong(&mut self, group: &Group, what: String) {
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
            let case = Case {
                junit: self.rule.about.junit.clone(),
                ..Case::default()
            };
            self.by_group.insert((Vec::new(), true), case);
        }
    }

    /// Adds times that are not known to every case.
    pub(super) fn all_doubt(&mut self, dark: &[Dark]) {
        for case in self.by_group.values_mut() {
            let more = dark.iter().filter(|dark| !case.dark.contains(dark));
            let more: Vec<Dark> = more.cloned().collect();
            case.dark.extend(more);
        }
    }

    /// Skips every case.
    pub(super) fn skip(mut self, why: &str) -> Vec<Case> {
        self.stand_in();
        let cases = self.by_group.into_values();
        cases
            .map(|case| Case {
                skipped: Some(why.to_owned()),
                ..case
            })
            .collect()
    }

    /// Gives the cases, in order.
    pub(super) fn done(self) -> Vec<Case> {
        let mut cases: Vec<Case> = self.by_group.into_values().collect();
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

/// Gives the values that have a case in every run.
fn listed(each: &Each, scene: &Scene<'_>) -> BTreeSet<String> {
    match each {
        Each::Operators => known_operators().map(str::to_owned).collect(),
        Each::Namespaces => known_namespaces().map(str::to_owned).collect(),
        Each::Nodes => {
            let nodes = scene.intervals.nodes();
            nodes.map(str::to_owned).collect()
        }
        Each::Listed(values) => values.iter().cloned().collect(),
    }
}

fn named(rule: &Rule, group: &Group) -> Case {
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
    Case {
        junit: junit.replace("{component}", shown),
        component,
        group: places,
        ..Case::default()
    }
}

/// Gives the places of a case as expressions see them.
pub(super) fn places<'a>(rule: &Rule, group: &Group) -> Val<'a> {
    let names = rule.per.iter().map(|(name, _)| name.clone());
    let map = names.zip(group.iter().map(Val::text)).collect();
    Val::Map(Rc::new(map))
}
