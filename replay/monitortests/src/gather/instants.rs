//! The one watcher of the kinds whose instants need no memory but the version before: each kind has rules of its own.
//! It does not handle spans: they are computed.

use super::ledger::{Draft, Ledger};
use super::mode::Mode;
use super::{generations, leases, machines, nodes, operators, pools, version};
use crate::feed::{Interest, WatchedEvent, Watcher};
use crate::interval::Interval;
use crate::reading;
use kubereel_cluster::{StateKind, StatusCondition};
use kubereel_format::RecordedAt;

/// The instants of a kind.
#[derive(Debug)]
pub(crate) struct InstantRules {
    /// The sources of the intervals that are made, or that are computed from them.
    pub(crate) sources: &'static [&'static str],
    /// The states that spans of the kind are views of.
    pub(crate) state: Option<StateKind>,
    pub(super) group: &'static str,
    pub(super) plurals: &'static [&'static str],
    /// The fields that are read.
    pub(super) paths: &'static [&'static str],
    /// Makes the instants of what happened to an object.
    pub(super) note: fn(&mut InstantNotes, &WatchedEvent<'_>),
}

impl InstantRules {
    /// The rules of every kind.
    pub(crate) const ALL: [&Self; 7] = [
        &operators::RULES,
        &version::RULES,
        &nodes::RULES,
        &machines::RULES,
        &generations::RULES,
        &pools::RULES,
        &leases::RULES,
    ];
}

/// What was made in a run.
#[derive(Debug)]
pub(super) struct InstantNotes {
    pub(super) mode: Mode,
    /// When the run began.
    pub(super) start: RecordedAt,
    ledger: Ledger,
}

impl InstantNotes {
    pub(super) fn add(&mut self, draft: &Draft<'_>) {
        self.ledger.add(draft);
    }
}

/// Watches a kind by its rules.
#[derive(Debug)]
pub(crate) struct InstantWatcher {
    rules: &'static InstantRules,
    notes: InstantNotes,
}

impl InstantWatcher {
    /// Begins to watch a run that began at `start`.
    pub(crate) fn new(rules: &'static InstantRules, mode: Mode, start: RecordedAt) -> Self {
        let ledger = Ledger::default();
        Self {
            rules,
            notes: InstantNotes {
                mode,
                start,
                ledger,
            },
        }
    }

    /// Returns what was made.
    pub(crate) fn into_intervals(self) -> impl Iterator<Item = Interval> {
        self.notes.ledger.into_intervals()
    }
}

impl Watcher for InstantWatcher {
    fn interests(&self) -> Vec<Interest> {
        let rules = self.rules;
        let plurals = rules.plurals.iter();
        plurals
            .map(|plural| Interest::new(rules.group, plural, rules.paths.iter().copied()))
            .collect()
    }

    fn seen(&mut self, seen: &WatchedEvent<'_>) {
        (self.rules.note)(&mut self.notes, seen);
    }
}

/// Returns the conditions that have another status than before, and those that are new.
pub(super) fn changed_conditions<'a>(
    seen: &WatchedEvent<'a>,
) -> impl Iterator<Item = StatusCondition<'a>> {
    let before = seen.before;
    StatusCondition::all(seen.now).filter(move |now| {
        let known = before.and_then(|before| reading::condition_of(before, now.kind));
        known.is_none_or(|known| known.status != now.status)
    })
}
