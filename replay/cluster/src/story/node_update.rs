//! Owns what an update did to a node, phase by phase: cordoned, drained, rebooted, ready, uncordoned.
//! Every phase is what the node itself says; Events only add words.

use super::drain_hold::DrainHold;
use super::mark::{Lasting, Mark, Spans, micros_between};
use super::spell::{self, Ill, Spell};
use crate::read::{DRAIN, Node, ReadVersion};
use crate::state::StateTrack;
use kubereel_format::RecordedAt;

/// How one node came to a new configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeUpdate {
    /// The node.
    pub node: String,
    /// Its pool: `master`, or that whose selector takes it; empty if none was recorded.
    pub pool: String,
    /// The configuration before.
    pub from_config: String,
    /// The configuration that it got.
    pub to_config: String,
    /// The release of that configuration; empty if it was not recorded.
    pub to_version: String,
    /// When it was told to change.
    pub began: Mark,
    /// Whether it had been told before it could be seen.
    pub is_older: bool,
    /// When it took no more Pods.
    pub cordoned: Option<Mark>,
    /// When its Pods were taken away.
    pub drain: Option<Lasting>,
    /// From the word that it reboots to another boot.
    pub reboot: Option<Lasting>,
    /// When it was not ready.
    pub not_ready: Vec<Lasting>,
    /// When it was ready again after its reboot.
    pub ready: Option<Mark>,
    /// When it had the new configuration.
    pub done: Option<Mark>,
    /// When it took Pods again.
    pub uncordoned: Option<Mark>,
    /// When its daemon gave up, and why.
    pub degraded: Vec<(Lasting, String)>,
    /// Budgets that allowed no eviction while it was drained.
    pub held_by: Vec<DrainHold>,
    /// Warnings about it that Events told.
    pub warnings: Vec<NodeWarning>,
}

/// A warning about a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeWarning {
    /// When it was received.
    pub mark: Mark,
    /// Why, as one word.
    pub reason: String,
    /// The message.
    pub message: String,
}

/// A node that came to be, in an installation or later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeJoin {
    /// The node.
    pub node: String,
    /// When it was first seen.
    pub joined: Mark,
    /// When it was first ready.
    pub ready: Option<Mark>,
}

impl NodeUpdate {
    /// Gives when the node was as it should be again: it took Pods, or had its configuration.
    pub fn over(&self) -> Option<Mark> {
        self.done?;
        if self.cordoned.is_some() {
            self.uncordoned
                .max(self.done)
                .filter(|_| self.uncordoned.is_some())
        } else {
            self.done
        }
    }

    /// Gives its length in microseconds; one that is not over lasts until `now`.
    pub fn micros(&self, now: RecordedAt) -> u64 {
        micros_between(self.began.at, self.over().map_or(now, |over| over.at))
    }
}

/// What a node's versions tell.
#[derive(Debug, Default)]
pub(super) struct NodeTale {
    pub(super) updates: Vec<NodeUpdate>,
    pub(super) join: Option<NodeJoin>,
    /// When it was not ready although nothing updated it.
    pub(super) not_ready: Vec<Spell>,
}

/// Reads what happened to a node.
pub(super) fn tale(name: &str, versions: &[ReadVersion<Node>], tracks: &[StateTrack]) -> NodeTale {
    let mut tale = NodeTale::default();
    let mut open: Option<Open> = None;
    for (place, seen) in versions.iter().enumerate() {
        let node = &seen.body;
        if seen.is_gone {
            tale.updates.extend(open.take().map(Open::end));
            continue;
        }
        if place == 0 && !seen.is_initial() {
            tale.join = Some(NodeJoin {
                node: name.to_owned(),
                joined: seen.mark,
                ready: None,
            });
        }
        if let Some(join) = &mut tale.join
            && node.is_ready()
        {
            join.ready.get_or_insert(seen.mark);
        }
        let (current, desired) = (node.noted("currentConfig"), node.noted("desiredConfig"));
        let is_told = !desired.is_empty() && !current.is_empty() && desired != current;
        if is_told {
            let is_other = open
                .as_ref()
                .is_some_and(|open| open.update.to_config != desired);
            if is_other {
                tale.updates.extend(open.take().map(Open::end));
            }
            open.get_or_insert_with(|| Open::begin(name, seen, place == 0));
        }
        if let Some(running) = &mut open {
            running.take(seen);
            if running.update.over().is_some() {
                tale.updates.extend(open.take().map(Open::end));
            }
        }
    }
    tale.updates.extend(open.map(Open::end));
    let updates = &tale.updates;
    tale.not_ready = spell::spells(Ill::NotReady, tracks)
        .into_iter()
        .filter(|spell| !updates.iter().any(|update| covers(update, spell.from)))
        .collect();
    tale
}

fn covers(update: &NodeUpdate, mark: Mark) -> bool {
    update.began <= mark && update.over().is_none_or(|over| mark <= over)
}

struct Open {
    update: NodeUpdate,
    first_boot: String,
    draining: Option<Mark>,
    rebooting: Option<Mark>,
    not_ready: Spans,
    degraded: Spans,
    why_degraded: Vec<String>,
}

impl Open {
    fn begin(name: &str, seen: &ReadVersion<Node>, is_first: bool) -> Self {
        let node = &seen.body;
        Self {
            update: NodeUpdate {
                node: name.to_owned(),
                pool: String::new(),
                from_config: node.noted("currentConfig").to_owned(),
                to_config: node.noted("desiredConfig").to_owned(),
                to_version: String::new(),
                began: seen.mark,
                is_older: is_first,
                cordoned: None,
                drain: None,
                reboot: None,
                not_ready: Vec::new(),
                ready: None,
                done: None,
                uncordoned: None,
                degraded: Vec::new(),
                held_by: Vec::new(),
                warnings: Vec::new(),
            },
            first_boot: node.boot_id().to_owned(),
            draining: None,
            rebooting: None,
            not_ready: Spans::default(),
            degraded: Spans::default(),
            why_degraded: Vec::new(),
        }
    }

    fn take(&mut self, seen: &ReadVersion<Node>) {
        let (node, mark) = (&seen.body, seen.mark);
        let update = &mut self.update;
        let (desired, applied) = (node.noted("desiredDrain"), node.noted("lastAppliedDrain"));
        if node.is_unschedulable() {
            update.cordoned.get_or_insert(mark);
        } else if update.cordoned.is_some() {
            update.uncordoned.get_or_insert(mark);
        }
        let is_asked = desired.starts_with(DRAIN) && desired != applied;
        // A drain begins with the cordon; the wish for both comes a little earlier.
        if is_asked && node.is_unschedulable() {
            self.draining.get_or_insert(mark);
        }
        if desired.starts_with(DRAIN)
            && desired == applied
            && update.drain.is_none()
            && let Some(from) = self.draining
        {
            update.drain = Some(Lasting {
                from,
                to: Some(mark),
            });
        }
        if node.noted("state") == "Rebooting" {
            self.rebooting.get_or_insert(mark);
        }
        let is_rebooted = !self.first_boot.is_empty()
            && !node.boot_id().is_empty()
            && node.boot_id() != self.first_boot;
        if is_rebooted && update.reboot.is_none() {
            let drained = update.drain.and_then(|drain| drain.to);
            let from = self.rebooting.or(drained).unwrap_or(mark);
            update.reboot = Some(Lasting {
                from,
                to: Some(mark),
            });
        }
        self.not_ready.note(mark, !node.is_ready());
        if update.reboot.is_some() && node.is_ready() {
            update.ready.get_or_insert(mark);
        }
        let is_degraded = node.is_degraded();
        self.degraded.note(mark, is_degraded);
        if is_degraded {
            let why = node.noted("reason").to_owned();
            if self.why_degraded.last() != Some(&why) {
                self.why_degraded.push(why);
            }
        }
        if node.noted("currentConfig") == update.to_config && node.noted("state") == "Done" {
            update.done.get_or_insert(mark);
        }
    }

    fn end(self) -> NodeUpdate {
        let mut update = self.update;
        if let (None, Some(from)) = (update.drain, self.draining) {
            update.drain = Some(Lasting { from, to: None });
        }
        if let (None, Some(from)) = (update.reboot, self.rebooting) {
            update.reboot = Some(Lasting { from, to: None });
        }
        update.not_ready = self.not_ready.all();
        let why = self.why_degraded.join("; ");
        let degraded = self.degraded.all().into_iter();
        update.degraded = degraded.map(|span| (span, why.clone())).collect();
        update
    }
}
