//! Owns what can be asked and what the answers are. Refuses to know threads: whoever asks waits.

use super::table::{self, Table};
use super::{events, history, yaml};
use crate::model::{Place, Subject};
use kubereel_format::ResourceId;
use kubereel_replay::Timeline;
use std::sync::Arc;

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// The objects of a resource.
    Table(ResourceId, Place),
    /// An object as YAML, with who set its fields.
    Yaml(Subject, Place),
    /// An object's versions around a moment.
    History(Subject, Place),
    /// The Events about an object up to a moment.
    Events(Subject, Place),
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
}

impl Line {
    /// Makes a line of one part.
    pub(crate) fn of(ink: Ink, text: impl Into<String>) -> Self {
        Self {
            parts: vec![(ink, text.into())],
            aside: String::new(),
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
}

impl Answer {
    /// Gives the question.
    pub(crate) const fn question(&self) -> &Question {
        match self {
            Self::Table(question, _) | Self::Lines(question, ..) => question,
        }
    }
}

/// Answers a question; what fails is said in the answer.
pub(crate) fn answer(timeline: &Timeline, question: Question) -> Answer {
    match &question {
        Question::Table(resource, place) => {
            let table = table::read(timeline, *resource, *place);
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
    }
}

/// Tells whether two questions are about the same thing, perhaps at other moments.
pub(crate) fn is_same_thing(one: &Question, other: &Question) -> bool {
    use Question::{Events, History, Table, Yaml};
    match (one, other) {
        (Table(one, _), Table(other, _)) => one == other,
        (Yaml(one, _), Yaml(other, _))
        | (History(one, _), History(other, _))
        | (Events(one, _), Events(other, _)) => one == other,
        _ => false,
    }
}
