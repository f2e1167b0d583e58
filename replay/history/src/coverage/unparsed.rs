//! Objects that are kept as unparsed lines: the change that each reports is in the file, and not in
//! the state. From such a line on its resource is not observed, until a complete list in which
//! every object was parsed shows the state again.
//!
//! Two kinds of lines cost nothing. What broke off with its connection, and a line for which the
//! recorder ended the connection itself ([`EndCause::Unreadable`]), was asked for again from the
//! position before it: it comes whole, or a gap is declared.

use super::unobserved::{RevisionBounds, UnobservedReason};
use kubereel_format::{ConnectionId, EndCause, Note, NoteEntry, OddLineProblem, Seq};
use std::collections::{BTreeMap, BTreeSet};

/// A time that unparsed lines leave unobserved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnparsedSpan {
    /// Why the first line was not parsed.
    problem: OddLineProblem,
    /// The number of lines.
    lines: u64,
    since: Seq,
    until: Option<Seq>,
    /// The last resourceVersion received before; the unparsed objects may have any above it.
    after_rv: Option<u128>,
    /// The resourceVersion of the list that showed the state again.
    to_rv: Option<u128>,
    /// The connection that brought the last line.
    by: ConnectionId,
}

impl UnparsedSpan {
    /// Returns the first line's record.
    pub(super) const fn since(&self) -> Seq {
        self.since
    }

    /// Returns the record of the list that showed the state again; `None` if none did.
    pub(super) const fn until(&self) -> Option<Seq> {
        self.until
    }

    /// Begins with a line.
    pub(super) const fn new(
        entry: &NoteEntry,
        by: ConnectionId,
        problem: OddLineProblem,
        after_rv: Option<u128>,
    ) -> Self {
        Self {
            problem,
            lines: 1,
            since: entry.seq,
            until: None,
            after_rv,
            to_rv: None,
            by,
        }
    }

    /// Takes one more line.
    pub(super) const fn take(&mut self, by: ConnectionId) {
        self.lines = self.lines.saturating_add(1);
        self.by = by;
    }

    /// Returns whether no list has ended it yet.
    pub(super) const fn is_open(&self) -> bool {
        self.until.is_none()
    }

    /// Ends it with a list, unless the last line is an item of that list: then the list does not tell
    /// that object's state either.
    pub(super) fn end(&mut self, list: ConnectionId, rv: &str, seq: Seq) {
        if self.by != list && self.is_open() {
            self.until = Some(seq);
            self.to_rv = rv.parse().ok();
        }
    }

    /// Returns between which resourceVersions the state is not known.
    pub(super) const fn revisions(&self) -> RevisionBounds {
        RevisionBounds {
            after: self.after_rv,
            below: self.to_rv,
        }
    }

    /// Returns why nothing is known of the state in that time.
    pub(super) const fn reason(&self) -> UnobservedReason {
        UnobservedReason::Unparsed {
            problem: self.problem,
            lines: self.lines,
        }
    }
}

/// The unparsable lines that the recorder asked for again.
#[derive(Debug, Default)]
pub(super) struct RetriedLines(BTreeSet<Seq>);

impl RetriedLines {
    /// Finds them.
    pub(super) fn of(notes: &[NoteEntry]) -> Self {
        let mut last: BTreeMap<ConnectionId, Seq> = BTreeMap::new();
        let mut found = BTreeSet::new();
        for entry in notes {
            match &entry.note {
                Note::OddLine {
                    connection,
                    problem: OddLineProblem::Unparsable,
                    ..
                } => {
                    last.insert(*connection, entry.seq);
                }
                Note::Disconnected {
                    connection, cause, ..
                } => {
                    let line = last.remove(connection);
                    found.extend(line.filter(|_| *cause == EndCause::Unreadable));
                }
                _ => {}
            }
        }
        Self(found)
    }

    /// Returns whether a line hides a change.
    pub(super) fn hides_change(&self, seq: Seq, problem: OddLineProblem) -> bool {
        match problem {
            OddLineProblem::TooLong | OddLineProblem::UnknownType => true,
            OddLineProblem::Unparsable => !self.0.contains(&seq),
            OddLineProblem::ServerError | OddLineProblem::Truncated => false,
        }
    }
}
