//! Owns what a filter that was read lets through. Refuses bodies where none is needed: only labels
//! and fields take one.

use super::field::FieldTest;
use crate::lane::LaneState;
use kubereel_format::ResourceId;
use kubereel_history::LabelSelector;
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeMap;

/// A filter that was read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    /// What was written.
    pub(super) text: String,
    /// What can be told without a body.
    pub(super) shallow: Vec<Term<Shallow>>,
    /// What takes a body.
    pub(super) deep: Vec<Term<Deep>>,
}

/// What is asked for, or what is not to be.
#[derive(Clone, Debug)]
pub(super) struct Term<T> {
    pub(super) is_negated: bool,
    pub(super) what: T,
}

/// What can be told without a body.
#[derive(Clone, Debug)]
pub(super) enum Shallow {
    /// A text, in lower case.
    Text(String),
    Pattern(Regex),
    Namespace(String),
    /// Any of these resources; none of them before a reel is known.
    Kind(Vec<ResourceId>),
    State(LaneState),
}

/// What takes a body.
#[derive(Clone, Debug)]
pub(super) enum Deep {
    Labels(LabelSelector),
    Field(FieldTest),
}

/// What is seen of an object without its body.
pub(crate) struct Seen<'a, T> {
    /// Its resource.
    pub(crate) resource: ResourceId,
    /// Its namespace.
    pub(crate) namespace: &'a str,
    /// The texts that show.
    pub(crate) texts: T,
}

// What was written says what is meant, within one reel.
impl PartialEq for Query {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
            && self.shallow.len() == other.shallow.len()
            && self.deep.len() == other.deep.len()
    }
}

impl Eq for Query {}

impl Query {
    /// Gives what was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Tells whether it lets everything through.
    pub(crate) const fn is_empty(&self) -> bool {
        self.shallow.is_empty() && self.deep.is_empty()
    }

    /// Tells whether it takes bodies.
    pub(crate) const fn is_deep(&self) -> bool {
        !self.deep.is_empty()
    }

    /// Gives the part that takes bodies.
    pub(crate) fn only_deep(&self) -> Self {
        let text = if self.is_deep() {
            self.text.as_str()
        } else {
            ""
        };
        Self {
            text: text.to_owned(),
            shallow: Vec::new(),
            deep: self.deep.clone(),
        }
    }

    /// Gives the only namespace that it asks for, if it asks for one.
    pub(crate) fn namespace(&self) -> Option<&str> {
        let mut all = self.shallow.iter().filter_map(|term| match &term.what {
            Shallow::Namespace(namespace) => Some((term.is_negated, namespace.as_str())),
            _ => None,
        });
        match (all.next(), all.next()) {
            (Some((false, only)), None) => Some(only),
            _ => None,
        }
    }

    /// Tells whether something passes, as far as no body is needed; `had` tells of states that it ever
    /// had. Of several namespaces, kinds or states, one is enough; every other word must hold.
    pub(crate) fn admits<'a, T: Iterator<Item = &'a str> + Clone>(
        &self,
        seen: &Seen<'a, T>,
        mut had: impl FnMut(LaneState) -> bool,
    ) -> bool {
        // Whether namespaces, kinds and states are asked for, and whether one of them is there.
        let mut groups = [None, None, None];
        for Term { is_negated, what } in &self.shallow {
            let (holds, group) = match what {
                Shallow::Text(text) => {
                    let has = |own: &str| own.to_lowercase().contains(text);
                    (seen.texts.clone().any(has), None)
                }
                Shallow::Pattern(pattern) => {
                    (seen.texts.clone().any(|own| pattern.is_match(own)), None)
                }
                Shallow::Namespace(namespace) => (seen.namespace == namespace, Some(0)),
                Shallow::Kind(ids) => (ids.contains(&seen.resource), Some(1)),
                Shallow::State(state) => (had(*state), Some(2)),
            };
            match group.and_then(|group: usize| groups.get_mut(group)) {
                Some(known) if !is_negated => *known = Some(known.unwrap_or(false) || holds),
                _ if holds == *is_negated => return false,
                _ => {}
            }
        }
        groups.into_iter().flatten().all(|holds| holds)
    }

    /// Tells whether an object passes what takes its body.
    pub(crate) fn admits_body(&self, object: &Value) -> bool {
        let mut labels: Option<BTreeMap<String, String>> = None;
        self.deep.iter().all(|Term { is_negated, what }| {
            let holds = match what {
                Deep::Field(test) => test.matches(object),
                Deep::Labels(selector) => {
                    selector.matches(labels.get_or_insert_with(|| labels_of(object)))
                }
            };
            holds != *is_negated
        })
    }
}

fn labels_of(object: &Value) -> BTreeMap<String, String> {
    let labels = object
        .pointer("/metadata/labels")
        .and_then(Value::as_object);
    let labels = labels.into_iter().flatten();
    labels
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect()
}
