//! Owns what can be asked and what the answers are. Refuses to know threads: whoever asks waits.

use super::kinds::{self, Kinds};
use super::namespaces::{self, Namespaces};
use super::nearby::{self, Nearby};
use super::table::{self, Listing, Table};
use super::{compare, events, history, yaml};
use crate::model::{Order, Place, Subject};
use kubereel_format::{ResourceId, Seq};
use kubereel_replay::{Path, Timeline};
use std::sync::Arc;

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// The objects of a resource.
    Table(Listing, Place),
    /// An object as YAML, with who set its fields.
    Yaml(Subject, Place),
    /// An object's versions around a moment.
    History(Subject, Place),
    /// The Events about an object up to a moment.
    Events(Subject, Place),
    /// What changed in the last seconds before a moment.
    Nearby(Nearby, Place),
    /// What differs of an object between two moments; of one, if the first is not set.
    Between(Subject, Option<Place>, Place),
    /// The resources to choose from.
    Kinds(Order, Place),
    /// The namespaces to choose from, with their objects of a resource.
    Namespaces(ResourceId, Place),
}

/// How many slots there are.
pub(crate) const SLOTS: usize = 3;

impl Question {
    /// Gives the slot of a question: list, panel, or a list to choose from. A later question of a slot
    /// makes an earlier one void.
    pub(crate) const fn slot(&self) -> usize {
        match self {
            Self::Table(..) => 0,
            Self::Yaml(..)
            | Self::History(..)
            | Self::Events(..)
            | Self::Nearby(..)
            | Self::Between(..) => 1,
            Self::Kinds(..) | Self::Namespaces(..) => 2,
        }
    }
}

/// How a part of a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// As text.
    Plain,
    /// As what can be passed over.
    Faint,
    /// As what matters.
    Strong,
    /// As what changed last.
    Changed,
    /// As what is gone.
    Gone,
    /// As what needs care.
    Wary,
}

/// A line of a panel: parts, each with its ink, harmless to a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// The parts.
    pub(crate) parts: Vec<(Ink, String)>,
    /// What stands at the right end.
    pub(crate) aside: String,
    /// The field that it shows, where it shows one.
    pub(crate) field: Option<Path>,
    /// The record and the object that it leads to.
    pub(crate) go: Option<(Seq, Subject)>,
}

impl Line {
    /// Makes a line of one part.
    pub(crate) fn of(ink: Ink, text: impl Into<String>) -> Self {
        Self {
            parts: vec![(ink, text.into())],
            ..Self::default()
        }
    }

    /// Adds a part.
    pub(crate) fn and(mut self, ink: Ink, text: impl Into<String>) -> Self {
        self.parts.push((ink, text.into()));
        self
    }
}

/// An answer, with its question.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// The objects of a resource.
    Table(Question, Arc<Table>),
    /// Lines of a panel, and which of them is to be seen first.
    Lines(Question, Arc<Vec<Line>>, usize),
    /// The resources to choose from.
    Kinds(Question, Arc<Kinds>),
    /// The namespaces to choose from.
    Namespaces(Question, Arc<Namespaces>),
}

impl Answer {
    /// Gives the question.
    pub(crate) const fn question(&self) -> &Question {
        match self {
            Self::Table(question, _)
            | Self::Lines(question, ..)
            | Self::Kinds(question, _)
            | Self::Namespaces(question, _) => question,
        }
    }
}

/// Answers a question; what fails is said in the answer.
pub(crate) fn answer(timeline: &Timeline, question: Question) -> Answer {
    match &question {
        Question::Table(listing, place) => {
            let table = table::read(timeline, listing, *place);
            Answer::Table(question, Arc::new(table))
        }
        Question::Yaml(subject, place) => {
            let (lines, first) = yaml::read(timeline, subject, *place);
            Answer::Lines(question, Arc::new(lines), first)
        }
        Question::History(subject, place) => {
            let (lines, first) = history::read(timeline, subject, *place);
            Answer::Lines(question, Arc::new(lines), first)
        }
        Question::Events(subject, place) => {
            let lines = events::read(timeline, subject, *place);
            Answer::Lines(question, Arc::new(lines), 0)
        }
        Question::Nearby(asked, place) => {
            let lines = nearby::read(timeline, asked, *place);
            Answer::Lines(question, Arc::new(lines), 0)
        }
        Question::Between(subject, a, b) => {
            let lines = match a {
                Some(a) => compare::read(timeline, subject, *a, *b),
                None => vec![Line::of(Ink::Faint, "A is not set: v sets it")],
            };
            Answer::Lines(question, Arc::new(lines), 0)
        }
        Question::Kinds(order, place) => {
            let kinds = kinds::read(timeline, *order, *place);
            Answer::Kinds(question, Arc::new(kinds))
        }
        Question::Namespaces(resource, place) => {
            let namespaces = namespaces::read(timeline, *resource, *place);
            Answer::Namespaces(question, Arc::new(namespaces))
        }
    }
}

/// Tells whether two questions are about the same thing, perhaps at other moments.
pub(crate) fn is_same_thing(one: &Question, other: &Question) -> bool {
    use Question::{Between, Events, History, Nearby, Table, Yaml};
    match (one, other) {
        (Table(one, _), Table(other, _)) => one.resource == other.resource,
        (Yaml(one, _), Yaml(other, _))
        | (History(one, _), History(other, _))
        | (Events(one, _), Events(other, _))
        | (Between(one, ..), Between(other, ..)) => one == other,
        (Nearby(..), Nearby(..)) => true,
        _ => false,
    }
}
