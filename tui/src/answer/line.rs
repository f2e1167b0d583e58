//! Owns what a line of a panel is: parts with their ink, what stands beside it, where it leads.
//! Refuses columns: the view knows its own.

use crate::model::Subject;
use kubereel_format::Seq;
use kubereel_history::FieldPath;

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
    /// As what was searched for.
    Found,
}

/// Where a line leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// To a version of the object.
    Version(Seq),
    /// To an object.
    Object(Subject),
    /// To an object, as a record left it.
    Moment(Seq, Subject),
}

/// A line of a panel: parts, each with its ink, harmless to a terminal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// The parts.
    pub(crate) parts: Vec<(Ink, String)>,
    /// What stands at the right end.
    pub(crate) aside: String,
    /// The field that it shows, where it shows one.
    pub(crate) field: Option<FieldPath>,
    /// Where it leads, if it can be taken.
    pub(crate) target: Option<Target>,
    /// Whether it is a text to read, which is broken rather than cut.
    pub(crate) is_prose: bool,
}

impl Line {
    /// Makes a line of one part.
    pub(crate) fn of(ink: Ink, text: impl Into<String>) -> Self {
        Self {
            parts: vec![(ink, text.into())],
            ..Self::default()
        }
    }

    /// Makes a text to read.
    pub(crate) fn prose(ink: Ink, text: impl Into<String>) -> Self {
        Self {
            is_prose: true,
            ..Self::of(ink, text)
        }
    }

    /// Adds a part.
    pub(crate) fn and(mut self, ink: Ink, text: impl Into<String>) -> Self {
        self.parts.push((ink, text.into()));
        self
    }

    /// Lets it lead somewhere.
    pub(crate) fn to(mut self, target: Target) -> Self {
        self.target = Some(target);
        self
    }

    /// Gives its text without what stands beside it.
    pub(crate) fn text(&self) -> String {
        self.parts.iter().map(|(_, text)| text.as_str()).collect()
    }
}
