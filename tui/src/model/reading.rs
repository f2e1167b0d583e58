//! Owns how the panel is read: what is looked for in it, the version that was marked, long lines. Refuses
//! the lines: answers bring them.

use super::subject::Subject;
use kubereel_format::Seq;

/// How the panel is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    /// Whether long lines are broken rather than cut.
    pub(crate) is_wrapped: bool,
    /// The version that was marked as the other end of a diff, and whose it is.
    pub(crate) other: Option<(Subject, Seq)>,
    /// What is looked for, in lower case; empty for nothing.
    pub(crate) wanted: String,
    /// The lines that hold it.
    pub(crate) matches: Vec<usize>,
    /// Which of them shows.
    pub(crate) at: usize,
    /// How many there are, in words.
    pub(crate) hint: String,
}

impl Reading {
    /// Gives the version of an object that was marked.
    pub(crate) fn other_of(&self, subject: &Subject) -> Option<Seq> {
        let other = self.other.as_ref();
        other.filter(|(own, _)| own == subject).map(|(_, seq)| *seq)
    }

    /// Marks a version as the other end of a diff, or takes the mark away; tells which.
    pub(crate) fn mark(&mut self, subject: &Subject, seq: Seq) -> bool {
        if self.other_of(subject) == Some(seq) {
            self.other = None;
            return false;
        }
        self.other = Some((subject.clone(), seq));
        true
    }

    /// Breaks long lines, or cuts them; says which.
    pub(crate) fn wrap(&mut self) -> String {
        self.is_wrapped = !self.is_wrapped;
        let words = if self.is_wrapped {
            "long lines are broken"
        } else {
            "long lines are cut"
        };
        words.to_owned()
    }
}
