//! Owns one exception and what it covers. Refuses YAML: `read` does that.

use super::circumstances::{Circumstances, RunKind};
use super::known::{Known, key};
use super::limits::MATCHED_BYTES_MOST;
use super::release::Releases;
use crate::select::Glob;
use crate::verdict::{About, Case, Finding, Phase};
use kubereel_format::RecordedAt;
use regex::Regex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How long an exception is meant to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExceptionState {
    /// For good.
    Permanent,
    /// Until an issue is closed.
    Jira,
}

impl ExceptionState {
    /// Gives the word that files use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Permanent => "permanent",
            Self::Jira => "jira",
        }
    }
}

/// Something that is known to go wrong. All that is given must match; a list matches by any of it.
#[derive(Clone, Debug)]
pub struct Exception {
    pub(super) rule: Vec<Glob>,
    pub(super) test: Vec<Glob>,
    pub(super) operator: Vec<Glob>,
    pub(super) namespace: Vec<Glob>,
    pub(super) resource: Vec<Glob>,
    pub(super) name: Vec<Glob>,
    pub(super) container: Vec<Glob>,
    pub(super) node: Vec<Glob>,
    pub(super) condition: Vec<Glob>,
    pub(super) keys: BTreeMap<String, Vec<Glob>>,
    pub(super) reason: Option<Regex>,
    pub(super) message: Option<Regex>,
    pub(super) topology: Vec<String>,
    pub(super) platform: Vec<String>,
    pub(super) architecture: Vec<String>,
    pub(super) release: Option<Releases>,
    pub(super) phase: Vec<Phase>,
    pub(super) run: Vec<RunKind>,
    pub(super) shorter_than_micros: Option<i64>,
    pub(super) expires: Option<RecordedAt>,
    /// How long it is meant to hold.
    pub state: ExceptionState,
    /// Where it is discussed; never empty for a pending one.
    pub link: String,
    /// Why, in words; may be empty.
    pub why: String,
    /// The name of its file.
    pub file: Arc<str>,
    /// Its line there, from 1.
    pub line: u64,
    /// Whether the program carries it.
    pub is_builtin: bool,
}

impl Exception {
    /// Gives where it stands: a file's name and a line.
    pub fn written_at(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }

    /// Tells whether its time is over.
    pub fn is_expired(&self, now: RecordedAt) -> bool {
        self.expires.is_some_and(|expires| expires < now)
    }

    /// Tells whether it is about a rule; an exception by the name of a test may be about any.
    pub fn is_about(&self, rule: &str) -> bool {
        matches(&self.rule, Some(rule))
    }

    /// Tells whether it covers a finding, its end left aside.
    pub(super) fn covers(
        &self,
        about: &About,
        case: &Case,
        finding: &Finding,
        circumstances: &Circumstances<'_>,
    ) -> bool {
        let subject = &finding.subject;
        let known = Known::of(&case.group, finding);
        self.is_about(&about.id)
            && matches(&self.test, Some(&case.junit))
            && matches(&self.operator, known.operator)
            && matches(&self.namespace, known.namespace)
            && matches(&self.resource, Some(&subject.resource))
            && matches(&self.name, Some(&subject.name))
            && matches(&self.container, known.container)
            && matches(&self.node, known.node)
            && matches(&self.condition, known.condition.as_deref())
            && self
                .keys
                .iter()
                .all(|(name, globs)| matches(globs, key(&case.group, finding, name)))
            && is_found(self.reason.as_ref(), &finding.reason)
            && is_found(self.message.as_ref(), &finding.message)
            && self.fits(finding, circumstances)
    }

    /// Tells whether the cluster, the time and the length fit.
    fn fits(&self, finding: &Finding, circumstances: &Circumstances<'_>) -> bool {
        let at = finding.from;
        let is_one_of = |words: &[String], fact: Option<&String>| {
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
            && (self.phase.is_empty()
                || self
                    .phase
                    .iter()
                    .any(|phase| circumstances.is_in(finding, *phase)))
            && (self.run.is_empty() || self.run.contains(&circumstances.run))
            && self.shorter_than_micros.is_none_or(|most| micros < most)
    }
}

/// Tells whether any of the names is meant; without names all are.
fn matches(globs: &[Glob], text: Option<&str>) -> bool {
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
