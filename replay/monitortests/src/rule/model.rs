//! Owns a rule that was read and checked. Refuses locations: whatever could be wrong with its text is
//! not.

use super::scope::Scope;
use super::span::Micros;
use super::template::Template;
use crate::cel::Program;
use crate::interval::Level;
use crate::verdict::{About, Phase, Severity};
use kubereel_format::ResourceInfo;
use regex::Regex;
use std::collections::BTreeMap;

/// A rule.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) about: About,
    pub(crate) is_informing: bool,
    pub(crate) component: Component,
    pub(crate) when: Vec<When>,
    pub(crate) watch: Watch,
    pub(crate) also: BTreeMap<String, Choice>,
    /// The places of cases, and what they are.
    pub(crate) per: Vec<(String, Program)>,
    /// The values of a place for which there is always a case.
    pub(crate) each: BTreeMap<String, Each>,
    pub(crate) unlisted: Unlisted,
    pub(crate) checks: Vec<Check>,
    pub(crate) scope: Scope,
}

/// Where the component of a case comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Component {
    None,
    Text(String),
    OfOperator,
    OfNamespace,
}

/// Without which a rule is skipped.
#[derive(Clone, Debug)]
pub(crate) struct When {
    pub(crate) is_met: Program,
    pub(crate) otherwise: String,
}

/// What is watched.
#[derive(Clone, Debug)]
pub(crate) enum Watch {
    Objects(Box<Objects>),
    Intervals(Box<Choice>),
}

/// A resource by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ResourceName {
    pub(crate) group: String,
    pub(crate) plural: String,
}

impl ResourceName {
    /// Tells whether a recorded resource is it.
    pub(crate) fn is_it(&self, info: &ResourceInfo) -> bool {
        self.plural == info.plural && self.group == info.group
    }

    /// Writes it as rules do: `pods`, `deployments.apps`.
    pub(crate) fn text(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }
}

/// Which objects.
#[derive(Clone, Debug)]
pub(crate) struct Objects {
    pub(crate) resource: ResourceName,
    pub(crate) namespace: Option<Regex>,
    pub(crate) name: Option<Regex>,
    pub(crate) chosen: Option<Program>,
    pub(crate) items: Option<Items>,
    /// In the order of the scope's names.
    pub(crate) related: Vec<Related>,
}

/// Which items.
#[derive(Clone, Debug)]
pub(crate) struct Items {
    pub(crate) list: Program,
    pub(crate) key: Program,
}

/// Other objects.
#[derive(Clone, Debug)]
pub(crate) struct Related {
    pub(crate) name: String,
    pub(crate) resource: ResourceName,
    pub(crate) by: Found,
    pub(crate) is_anywhere: bool,
}

/// How other objects are found.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// They name the object as their owner.
    Owned,
    /// The object names them as its owner.
    Owner,
    Name(Program),
    SelectedBy(Program),
    Selecting(Program),
    Where(Program),
}

/// Which intervals.
#[derive(Clone, Debug, Default)]
pub(crate) struct Choice {
    pub(crate) sources: Vec<String>,
    pub(crate) reasons: Vec<String>,
    pub(crate) locators: Vec<String>,
    pub(crate) levels: Vec<Level>,
    pub(crate) keys: Vec<(String, Regex)>,
    pub(crate) during: Vec<Phase>,
    pub(crate) chosen: Option<Program>,
    pub(crate) subject: Vec<Program>,
    pub(crate) needs: Vec<ResourceName>,
}

/// The values of a place that have a case in every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Each {
    Operators,
    Namespaces,
    Nodes,
    Listed(Vec<String>),
}

/// What happens to a value that is not listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unlisted {
    Keep,
    Drop,
    Junit(String),
}

/// What is expected.
#[derive(Clone, Debug)]
pub(crate) struct Check {
    pub(crate) expected: Expected,
    pub(crate) during: Vec<Phase>,
    pub(crate) severity: Severity,
    pub(crate) flake_if: Option<Program>,
    pub(crate) reason: Option<Template>,
    pub(crate) message: Template,
}

/// An operator over time.
#[derive(Clone, Debug)]
pub(crate) enum Expected {
    Never {
        bad: Program,
        at_least: Micros,
    },
    Always {
        good: Program,
        at_least: Micros,
    },
    AtEnd {
        good: Program,
    },
    Eventually {
        good: Program,
        within: Option<Micros>,
        since: Option<Program>,
    },
    LeadsTo {
        from: Program,
        to: Program,
        within: Micros,
    },
    Until {
        hold: Program,
        until: Program,
    },
    Stays {
        after: Program,
        hold: Program,
        span: Option<Micros>,
    },
    AtMost {
        times: u64,
        of: Program,
        span: Option<Micros>,
        per_case: bool,
    },
    Flaps {
        more_than: u64,
        of: Program,
        span: Option<Micros>,
        per_case: bool,
    },
    Highest {
        of: Program,
        above: f64,
        per_case: bool,
    },
    Total {
        of: Program,
        above: Micros,
        per_case: bool,
    },
}
