//! Owns the whole list of problems: by how much they matter, by time, and which came first. Refuses
//! to say that nothing is wrong: it says what it looked at.

use super::entry::{Entry, Spot};
use super::kind::Kind;
use super::making::Making;
use super::{recording, spells};
use crate::findings::Findings;
use crate::lane::{Board, LaneState};
use kubereel_format::{RecordedAt, Seq};
use kubereel_history::Timeline;

/// More things are not held; those that matter most are.
const MOST_ENTRIES: usize = 5_000;
/// More times are not stepped to.
const MOST_STEPS: usize = 50_000;

/// A time at which something was wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// The moment, as places are compared.
    pub(crate) key: (RecordedAt, Seq),
    /// Which thing.
    pub(crate) entry: usize,
    /// Which of its times.
    pub(crate) spot: usize,
}

/// What went wrong first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct First {
    /// Which thing.
    pub(crate) entry: usize,
    /// What was taken for the first, and why.
    pub(crate) why: &'static str,
}

/// What looks wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Problems {
    /// Each thing, what matters most first.
    pub(crate) entries: Vec<Entry>,
    /// The places of the things, in order of time.
    pub(crate) by_time: Vec<usize>,
    /// The times, in order.
    pub(crate) steps: Vec<Step>,
    /// What went wrong first; `None` if nothing did.
    pub(crate) first: Option<First>,
    /// How many things more there are.
    pub(crate) rest: usize,
    /// Whether lanes had their say.
    pub(crate) has_lanes: bool,
    /// Whether monitortests had theirs.
    pub(crate) has_rules: bool,
}

/// Lists what looks wrong, of what is known so far.
pub(crate) fn problems(
    timeline: &Timeline,
    board: Option<&Board>,
    findings: Option<&Findings>,
) -> Problems {
    let mut making = Making::begin(timeline, board);
    recording::take(&mut making);
    if let Some(board) = board {
        spells::take(&mut making, board);
    }
    if let Some(findings) = findings {
        making.take(findings);
    }
    let mut rest = making.rest;
    let mut entries = making.all;
    let order = |entry: &Entry| {
        let is_mild = entry.state != LaneState::Down;
        let from = entry.first().map(Spot::key);
        (entry.rank(), is_mild, from, entry.kind)
    };
    entries.sort_by(|one, other| {
        let by_words = (&one.about, &one.words).cmp(&(&other.about, &other.words));
        order(one).cmp(&order(other)).then(by_words)
    });
    rest += entries.len().saturating_sub(MOST_ENTRIES);
    entries.truncate(MOST_ENTRIES);
    let mut by_time: Vec<usize> = (0..entries.len()).collect();
    by_time.sort_by_key(|at| entries.get(*at).and_then(Entry::first).map(Spot::key));
    let mut steps: Vec<Step> = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let room = MOST_STEPS.saturating_sub(steps.len());
        let spots = entry.spots.iter().enumerate().take(room);
        steps.extend(spots.map(|(spot, own)| Step {
            key: own.key(),
            entry: at,
            spot,
        }));
    }
    steps.sort_by_key(|step| (step.key, step.entry));
    Problems {
        first: first(&entries),
        by_time,
        steps,
        rest,
        has_lanes: board.is_some(),
        has_rules: findings.is_some(),
        entries,
    }
}

/// Finds what went wrong first: the earliest of what did not work or was wrong, after the
/// installation; if there is none, the earliest of the installation.
fn first(entries: &[Entry]) -> Option<First> {
    let earliest = |is_young: bool| {
        let all = entries.iter().enumerate();
        let wrong = all.filter(|(_, entry)| {
            let is_missing = matches!(entry.kind, Kind::Gap | Kind::Damage | Kind::Written);
            !is_missing && !entry.is_minor() && entry.is_young == is_young
        });
        // Of what began together, what matters most.
        wrong.min_by_key(|(at, entry)| (entry.first().map(|spot| spot.from), *at))
    };
    let has_young = entries.iter().any(|entry| entry.is_young);
    let found = |(entry, _): (usize, &Entry), why| First { entry, why };
    match earliest(false) {
        Some(one) if has_young => Some(found(one, "the first after the installation")),
        Some(one) => Some(found(one, "the first in this reel")),
        None => earliest(true).map(|one| found(one, "the first; all of it while installing")),
    }
}
