//! Owns the times in which something was not well: an operator unavailable or degraded, the
//! installation or update failing, a node not ready. Every one, also those shorter than any poll.

use super::mark::{Mark, micros_between};
use crate::read::{ClusterOperator, ClusterVersion, Condition, Seen, find};
use kubereel_format::RecordedAt;

const MINUTE_MICROS: u64 = 60 * 1_000_000;

/// What was not well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ill {
    /// An operator whose `Available` was not True.
    Unavailable,
    /// An operator whose `Degraded` was True.
    Degraded,
    /// `ClusterVersion` whose `Failing` was True or Unknown.
    Failing,
    /// A node whose `Ready` was not True, while nothing updated it.
    NotReady,
}

impl Ill {
    /// Gives the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unavailable => "Unavailable",
            Self::Degraded => "Degraded",
            Self::Failing => "Failing",
            Self::NotReady => "NotReady",
        }
    }

    /// Gives after how long `oc adm upgrade status` warns of it, and after how long it calls it an
    /// error; `None` where no such time is set.
    pub const fn thresholds_micros(self) -> (Option<u64>, Option<u64>) {
        match self {
            Self::Unavailable => (Some(5 * MINUTE_MICROS), Some(20 * MINUTE_MICROS)),
            Self::Degraded => (Some(5 * MINUTE_MICROS), Some(40 * MINUTE_MICROS)),
            Self::Failing => (Some(0), None),
            Self::NotReady => (Some(5 * MINUTE_MICROS), None),
        }
    }
}

/// How much `oc adm upgrade status` would have made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing: it was over before.
    Silent,
    /// A warning.
    Warning,
    /// An error.
    Error,
}

impl Level {
    /// Gives the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A time in which something was not well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spell {
    /// What was not well.
    pub ill: Ill,
    /// The operator's or the node's name; `version` for `ClusterVersion`.
    pub name: String,
    /// The version that began it, or the first one seen.
    pub from: Mark,
    /// Whether it had begun before it could be seen.
    pub is_older: bool,
    /// The version that ended it; `None` if none did by the moment asked about.
    pub to: Option<Mark>,
    /// What the condition said, in order; a text only where it differs from the one before.
    pub texts: Vec<SpellText>,
    /// Whether the recording has a gap in it: it may have been interrupted.
    pub has_gap: bool,
}

/// What a condition said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpellText {
    /// When it was first seen.
    pub mark: Mark,
    /// The status.
    pub status: String,
    /// The reason.
    pub reason: String,
    /// The message.
    pub message: String,
}

impl Spell {
    /// Gives its length in microseconds; one that is open lasts until `now`.
    pub fn micros(&self, now: RecordedAt) -> u64 {
        micros_between(self.from.at, self.to.map_or(now, |to| to.at))
    }

    /// Gives what `oc adm upgrade status` would have made of it at most, asked at the right moment.
    pub fn level(&self, now: RecordedAt) -> Level {
        let lasted = self.micros(now);
        let (warning, error) = self.ill.thresholds_micros();
        let is_past = |threshold: Option<u64>| threshold.is_some_and(|least| lasted > least);
        if is_past(error) {
            Level::Error
        } else if is_past(warning) {
            Level::Warning
        } else {
            Level::Silent
        }
    }
}

/// Follows one condition of one object.
#[derive(Debug)]
pub(super) struct Follow {
    ill: Ill,
    name: String,
    open: Option<Spell>,
    has_been_well: bool,
    done: Vec<Spell>,
}

impl Follow {
    pub(super) fn new(ill: Ill, name: &str) -> Self {
        Self {
            ill,
            name: name.to_owned(),
            open: None,
            has_been_well: false,
            done: Vec::new(),
        }
    }

    /// Takes what an object says; one that never said that it was well is starting.
    pub(super) fn take(&mut self, mark: Mark, is_first_seen: bool, said: Option<&Condition>) {
        let is_ill = said.is_some_and(|condition| match self.ill {
            Ill::Unavailable | Ill::NotReady => !condition.is("True"),
            Ill::Degraded => condition.is("True"),
            Ill::Failing => !condition.is("False"),
        });
        let Some(condition) = said.filter(|_| is_ill) else {
            self.has_been_well |= said.is_some();
            if let Some(mut spell) = self.open.take() {
                spell.to = Some(mark);
                self.done.push(spell);
            }
            return;
        };
        if self.open.is_none() {
            if !self.has_been_well && !is_first_seen {
                return;
            }
            self.open = Some(Spell {
                ill: self.ill,
                name: self.name.clone(),
                from: mark,
                is_older: !self.has_been_well,
                to: None,
                texts: Vec::new(),
                has_gap: false,
            });
        }
        if let Some(spell) = &mut self.open {
            spell.text(mark, condition);
        }
    }

    pub(super) fn spells(mut self) -> Vec<Spell> {
        self.done.extend(self.open);
        self.done
    }
}

impl Spell {
    fn text(&mut self, mark: Mark, said: &Condition) {
        let is_said = self.texts.last().is_some_and(|last| {
            last.status == said.status && last.reason == said.reason && last.message == said.message
        });
        if !is_said {
            self.texts.push(SpellText {
                mark,
                status: said.status.clone(),
                reason: said.reason.clone(),
                message: said.message.clone(),
            });
        }
    }
}

/// Gives the times in which an operator was unavailable or degraded.
pub(super) fn of_operator(name: &str, versions: &[Seen<ClusterOperator>]) -> Vec<Spell> {
    let mut unavailable = Follow::new(Ill::Unavailable, name);
    let mut degraded = Follow::new(Ill::Degraded, name);
    for seen in versions {
        let condition = |kind| seen.body.condition(kind).filter(|_| !seen.is_gone);
        unavailable.take(seen.mark, seen.is_initial, condition("Available"));
        degraded.take(seen.mark, seen.is_initial, condition("Degraded"));
    }
    let mut spells = unavailable.spells();
    spells.extend(degraded.spells());
    spells
}

/// Gives the times in which `ClusterVersion` said that it fails.
pub(super) fn of_version(versions: &[Seen<ClusterVersion>]) -> Vec<Spell> {
    let mut failing = Follow::new(Ill::Failing, "version");
    for seen in versions {
        let said = find(&seen.body.status.conditions, "Failing").filter(|_| !seen.is_gone);
        failing.take(seen.mark, seen.is_initial, said);
    }
    failing.spells()
}
