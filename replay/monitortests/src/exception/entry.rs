//! One exception and the findings that it covers.

use super::read;
use super::read::MATCHED_BYTES_MOST;
use super::release::Releases;
use crate::facts::{Facts, FactsOverTime};
use crate::glob::Glob;
use crate::phase::Phase;
use crate::verdict::{MonitorTestInfo, TestCase, TestFinding};
use crate::yaml::OneOrMany;
use kubereel_format::{RecordedAt, worded};
use regex::Regex;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::Arc;

worded! {
/// How long an exception is meant to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExceptionState {
    /// For good.
    Permanent = "permanent",
    /// Until an issue is closed.
    Jira = "jira",
}
}

/// Something that is known to go wrong. All that is given must match; a list matches by any of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exception {
    #[serde(default)]
    pub(super) rule: OneOrMany<Glob>,
    #[serde(default)]
    pub(super) test: OneOrMany<Glob>,
    #[serde(default)]
    operator: OneOrMany<Glob>,
    #[serde(default)]
    namespace: OneOrMany<Glob>,
    #[serde(default)]
    resource: OneOrMany<Glob>,
    #[serde(default)]
    name: OneOrMany<Glob>,
    #[serde(default)]
    container: OneOrMany<Glob>,
    #[serde(default)]
    node: OneOrMany<Glob>,
    #[serde(default)]
    condition: OneOrMany<Glob>,
    #[serde(default)]
    keys: BTreeMap<String, OneOrMany<Glob>>,
    #[serde(default, deserialize_with = "read::whole")]
    reason: Option<Regex>,
    #[serde(default, deserialize_with = "read::part")]
    message: Option<Regex>,
    #[serde(default, deserialize_with = "read::topologies")]
    topology: OneOrMany<String>,
    #[serde(default, deserialize_with = "read::platforms")]
    platform: OneOrMany<String>,
    #[serde(default)]
    architecture: OneOrMany<String>,
    #[serde(default, deserialize_with = "read::releases")]
    release: Option<Releases>,
    #[serde(default)]
    phase: OneOrMany<Phase>,
    #[serde(default)]
    run: OneOrMany<RunKind>,
    #[serde(default, rename = "shorter_than", deserialize_with = "read::micros")]
    shorter_than_micros: Option<i64>,
    #[serde(default, deserialize_with = "read::end")]
    expires: Option<RecordedAt>,
    /// How long it is meant to hold.
    pub state: ExceptionState,
    /// Where it is discussed; never empty for a pending one.
    #[serde(default)]
    pub link: String,
    /// Why, as text; may be empty.
    #[serde(default)]
    pub why: String,
    /// The name of its file.
    #[serde(skip)]
    pub file: Arc<str>,
    /// Its line there, from 1.
    #[serde(skip)]
    pub line: u64,
    /// Whether the program carries it.
    #[serde(skip)]
    pub is_builtin: bool,
}

impl Exception {
    /// Returns where it stands: a file's name and a line.
    pub fn written_at(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }

    /// Returns whether its time is over.
    pub fn is_expired(&self, now: RecordedAt) -> bool {
        self.expires.is_some_and(|expires| expires < now)
    }

    /// Returns whether it is about a rule; an exception by the name of a test may be about any.
    pub fn is_about(&self, rule: &str) -> bool {
        matches(&self.rule, Some(rule))
    }

    /// Returns whether it covers a finding, its end left aside.
    pub(super) fn covers(
        &self,
        about: &MonitorTestInfo,
        case: &TestCase,
        finding: &TestFinding,
        circumstances: &Circumstances<'_>,
    ) -> bool {
        let subject = &finding.subject;
        let known = SubjectNames::of(&case.group, finding);
        self.is_about(&about.id)
            && matches(&self.test, Some(&case.junit))
            && matches(&self.operator, known.operator)
            && matches(&self.namespace, known.namespace)
            && (matches(&self.resource, Some(&subject.resource))
                || matches(&self.resource, subject.resource.split('.').next()))
            && matches(&self.name, Some(&subject.name))
            && matches(&self.container, known.container)
            && matches(&self.node, known.node)
            && (matches(&self.condition, known.condition.as_deref())
                || matches(&self.condition, key(&case.group, finding, "condition")))
            && self
                .keys
                .iter()
                .all(|(name, globs)| matches(globs, key(&case.group, finding, name)))
            && is_found(self.reason.as_ref(), &finding.reason)
            && is_found(self.message.as_ref(), &finding.message)
            && self.fits(finding, circumstances)
    }

    /// Returns whether the cluster, the time and the length fit.
    fn fits(&self, finding: &TestFinding, circumstances: &Circumstances<'_>) -> bool {
        let at = finding.from;
        let is_one_of = |OneOrMany(words): &OneOrMany<String>, fact: Option<&String>| {
            let is = |fact: &String| words.iter().any(|word| word.eq_ignore_ascii_case(fact));
            words.is_empty() || fact.is_some_and(is)
        };
        let version = circumstances.fact(at, |facts| facts.version.as_ref());
        let micros = finding.to.unwrap_or(circumstances.end).micros_since(at);
        is_one_of(
            &self.topology,
            circumstances.fact(at, |facts| facts.topology.as_ref()),
        ) && is_one_of(
            &self.platform,
            circumstances.fact(at, |facts| facts.platform.as_ref()),
        ) && is_one_of(
            &self.architecture,
            circumstances.fact(at, |facts| facts.architecture.as_ref()),
        ) && self
            .release
            .as_ref()
            .is_none_or(|releases| version.is_some_and(|version| releases.has(version)))
            && (self.phase.0.is_empty()
                || self
                    .phase
                    .0
                    .iter()
                    .any(|phase| circumstances.is_in(finding, *phase)))
            && (self.run.0.is_empty() || self.run.0.contains(&circumstances.run))
            && self.shorter_than_micros.is_none_or(|most| micros < most)
    }
}

/// Returns whether any of the names is meant; without names all are.
fn matches(OneOrMany(globs): &OneOrMany<Glob>, text: Option<&str>) -> bool {
    globs.is_empty() || text.is_some_and(|text| globs.iter().any(|glob| glob.is_match(text)))
}

fn is_found(regex: Option<&Regex>, text: &str) -> bool {
    let Some(regex) = regex else {
        return true;
    };
    let mut end = text.len().min(MATCHED_BYTES_MOST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    regex.is_match(text.get(..end).unwrap_or(text))
}

/// What a finding is about, as exceptions call it.
#[derive(Clone, Debug)]
pub(crate) struct SubjectNames<'a> {
    pub(crate) operator: Option<&'a str>,
    pub(crate) namespace: Option<&'a str>,
    pub(crate) container: Option<&'a str>,
    pub(crate) node: Option<&'a str>,
    /// `Available=False`, or the condition's type alone.
    pub(crate) condition: Option<String>,
}

/// Looks a key up: first what the finding says, then what the case is for.
pub(super) fn key<'a>(
    group: &'a BTreeMap<String, String>,
    finding: &'a TestFinding,
    name: &str,
) -> Option<&'a str> {
    let found = finding.subject.keys.get(name).or_else(|| group.get(name));
    found.map(String::as_str)
}

impl<'a> SubjectNames<'a> {
    /// Reads a finding of a case that is for a group.
    pub(crate) fn of(group: &'a BTreeMap<String, String>, finding: &'a TestFinding) -> Self {
        let subject = &finding.subject;
        let key = |name: &str| key(group, finding, name);
        let own_name = |plural: &str| {
            let is_it = subject.resource.split('.').next() == Some(plural);
            (is_it && !subject.name.is_empty()).then_some(subject.name.as_str())
        };
        let namespace = (!subject.namespace.is_empty()).then_some(subject.namespace.as_str());
        let condition = key("condition").map(|kind| match key("status") {
            Some(status) => format!("{kind}={status}"),
            None => kind.to_owned(),
        });
        Self {
            operator: own_name("clusteroperators")
                .or_else(|| key("operator"))
                .or_else(|| key("clusteroperator")),
            namespace: namespace.or_else(|| key("namespace")),
            container: key("container"),
            node: own_name("nodes").or_else(|| key("node")),
            condition,
        }
    }
}

worded! {
/// What was done with the cluster in all of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunKind {
    /// No upgrade was seen.
    Stable = "stable",
    /// There was one, or several.
    Upgrade = "upgrade",
    /// The suite that ran an upgrade reported a failure.
    FailedUpgrade = "failed-upgrade",
}
}

impl RunKind {
    /// Tells what was done in a run: by the cluster's own history, or by the Events of an upgrade suite.
    pub fn of(facts: &FactsOverTime) -> Self {
        if facts.has_failed_upgrade() {
            Self::FailedUpgrade
        } else if facts.is_upgraded() {
            Self::Upgrade
        } else {
            Self::Stable
        }
    }
}

/// Under what circumstances findings came about.
#[derive(Clone, Copy, Debug)]
pub struct Circumstances<'a> {
    /// What cluster it was.
    pub facts: &'a FactsOverTime,
    /// What was done in the whole run.
    pub run: RunKind,
    /// The last moment of the run.
    pub end: RecordedAt,
    /// The moment that ends of exceptions are compared with: the run's own, or a given one.
    pub now: RecordedAt,
}

impl Circumstances<'_> {
    /// Returns whether a finding lies in a phase with its begin and its end.
    pub(super) fn is_in(&self, finding: &TestFinding, phase: Phase) -> bool {
        let to = finding.to.unwrap_or(self.end);
        let at = |at| self.facts.phase(at) == Some(phase);
        // An upgrade that is never done ends with the recording.
        at(finding.from) && (at(to) || to >= self.end && finding.to.is_none())
    }

    /// Returns a fact as of a finding's begin, or the last one: some objects are observed late.
    pub(super) fn fact<'a, T: ?Sized>(
        &'a self,
        at: RecordedAt,
        of: impl Fn(&'a Facts) -> Option<&'a T>,
    ) -> Option<&'a T> {
        of(self.facts.at(at)).or_else(|| of(self.facts.last()))
    }
}
