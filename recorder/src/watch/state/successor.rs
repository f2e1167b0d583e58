//! Owns the second connection of a watch, opened before the first one ends: what either brings is
//! taken once, and which of the two goes on. Refuses one where versions are no numbers or a list is
//! under way: then nobody could tell what comes twice.
//!
//! Each of the two begins at or before the position and brings everything behind its begin in order.
//! So whatever either has brought is an unbroken chain from the position on, and the position may
//! follow whichever is ahead. A connection that is let go loses nothing: the other one brings the
//! rest, and if that breaks as well, the next one goes on from the position.

use super::stream::{Connection, Goal};
use super::{Backoff, Stream};
use crate::watch::head::Head;
use crate::watch::known::Uid;
use crate::watch::version::Version;
use kubereel_format::{Elapsed, EndCause};
use std::collections::HashSet;

/// How many events may be remembered, so that none is written twice. With more, the connection that
/// is behind is let go.
const MAX_SEEN: usize = if cfg!(test) { 12 } else { 16_384 };

/// How long a successor must be open, in microseconds, until it counts as accepted though nothing
/// came: a server that has lost the history says so at once.
pub(crate) const SETTLE_MICROS: u64 = 1_000_000;

/// How long before the end of a watch its successor is opened at most, in milliseconds.
const LEAD_MILLIS: u64 = 10_000;

/// The longest that a server's wish to wait is honoured for a successor, in seconds.
const MAX_RETRY_AFTER_SECS: u32 = 30;

/// A connection that is to take the place of the one under way.
#[derive(Debug)]
pub(super) struct Successor {
    /// Everything behind this version comes on it.
    from: u128,
    pub(super) connection: Connection,
}

/// What was written since two connections may bring the same.
#[derive(Debug, Default)]
pub(super) struct Seen {
    events: HashSet<(Uid, u128, bool)>,
    /// The connection that is left has brought all of them once it has reached this version.
    until: Option<u128>,
    /// The successor brought the last of them.
    is_by_successor: bool,
}

/// What is to become of two connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handover {
    /// Both are read on.
    Both,
    /// The successor takes over.
    TakeOver,
    /// The successor is let go.
    GiveUp,
}

impl Seen {
    fn key(head: &Head<'_>, version: u128, is_deletion: bool) -> (Uid, u128, bool) {
        // Some servers send no uid; one of two names is as good.
        let uid = if head.uid.is_empty() {
            &head.name
        } else {
            &head.uid
        };
        (Uid::new(uid), version, is_deletion)
    }

    pub(super) fn has(&self, head: &Head<'_>, version: u128, is_deletion: bool) -> bool {
        self.events.contains(&Self::key(head, version, is_deletion))
    }
}

impl Stream {
    /// Asks for watches of about so many seconds.
    pub(crate) const fn ask_for(&mut self, secs: u32) {
        self.long_secs = secs;
    }

    /// Tells how long after its begin the connection under way needs a successor, in microseconds,
    /// if its end is known. `more_micros` earlier than usual.
    pub(crate) fn successor_due(&mut self, more_micros: u64) -> Option<u64> {
        let asked = self.connection.asked_secs;
        if asked < self.long_secs {
            // A short one ends soon for the sake of its last bookmark.
            return None;
        }
        let lead = LEAD_MILLIS.min(u64::from(self.long_secs) * 1_000 / 3);
        // Streams that began together are not to go on together.
        let lead = lead * 4 / 5 + self.successor_backoff.below(lead * 2 / 5 + 1);
        let before = (lead * 1_000).saturating_add(more_micros);
        Some((u64::from(asked) * 1_000_000).saturating_sub(before))
    }

    /// Tells how long to wait after successors that were refused, in microseconds, if at all.
    pub(crate) fn successor_wait(&self, now: Elapsed) -> Option<u64> {
        self.successor_backoff.remaining(now)
    }

    /// The server behind the connection under way will end it: refusals of before do not count.
    pub(crate) fn hurry_successor(&mut self) {
        let seed = self.successor_backoff.below(u64::MAX);
        self.successor_backoff = Backoff::new(seed);
    }

    /// Begins a successor, if there may be one now: gives the version from which it goes on, and how
    /// long it is to last, in seconds.
    pub(crate) fn begin_successor(&mut self) -> Option<(Version, u32)> {
        let is_watching = self.goal == Goal::Watch && self.listing.is_none();
        if !is_watching || self.has_unusable || self.connection.opened.is_none() {
            return None;
        }
        let version = &self.position.as_ref()?.version;
        let here = version.number()?;
        let from = self.resume_from(version);
        let begin = from.number()?;
        let seen = self.seen.get_or_insert_default();
        seen.until = None;
        let deleted = self.deleted_here.iter().cloned();
        seen.events.extend(deleted.map(|uid| (uid, here, true)));
        self.successor = Some(Successor {
            from: begin,
            connection: Connection::default(),
        });
        Some((from, self.long_watch_secs()))
    }

    /// The successor's request was answered with success: it goes on from a version, which the
    /// position has reached.
    pub(crate) fn successor_answered(&mut self, from: &Version, asked_secs: u32, now: Elapsed) {
        if let (Some(successor), Some(from)) = (&mut self.successor, from.number()) {
            successor.from = from;
            successor.connection.opened = Some(now);
            successor.connection.asked_secs = asked_secs;
        }
    }

    /// Lets what follows be taken as from the other connection.
    pub(crate) const fn switch(&mut self) {
        if let Some(successor) = &mut self.successor {
            std::mem::swap(&mut self.connection, &mut successor.connection);
            self.is_on_successor = !self.is_on_successor;
        }
    }

    /// Says what is to become of the two connections.
    pub(crate) fn handover(&self, now: Elapsed) -> Handover {
        let (Some(successor), Some(seen)) = (&self.successor, &self.seen) else {
            return Handover::Both;
        };
        let Some(opened) = successor.connection.opened else {
            return Handover::Both;
        };
        let position = self.position.as_ref();
        let here = position.and_then(|position| position.version.number());
        let Some(here) = here.filter(|_| !self.has_unusable) else {
            return Handover::GiveUp;
        };
        let is_settled = now.micros.saturating_sub(opened.micros) >= SETTLE_MICROS;
        let has_reached = successor.connection.reached >= Some(here);
        if has_reached || is_settled && successor.from >= here {
            return Handover::TakeOver;
        }
        match (seen.events.len() >= MAX_SEEN, seen.is_by_successor) {
            (false, _) => Handover::Both,
            // Who brought the last one has brought all before it as well.
            (true, true) => Handover::TakeOver,
            (true, false) => Handover::GiveUp,
        }
    }

    /// Tells whether a successor is open.
    pub(crate) fn has_open_successor(&self) -> bool {
        let successor = self.successor.as_ref();
        successor.is_some_and(|successor| successor.connection.opened.is_some())
    }

    /// The connection under way has ended so, or is let go: its successor stands in its place.
    pub(crate) fn take_over(&mut self, cause: EndCause) {
        let Some(successor) = self.successor.take() else {
            return;
        };
        if cause == EndCause::Idle {
            self.silent_idles = self.silent_idles.saturating_add(1);
        }
        self.connection = successor.connection;
        self.successor_backoff.reset();
        self.one_is_left();
    }

    /// The successor was refused, broke off, or is let go. The connection under way goes on.
    pub(crate) fn end_successor(&mut self, retry_after_secs: Option<u32>, now: Elapsed) {
        if self.successor.take().is_none() {
            return;
        }
        self.successor_backoff.fail(now);
        if let Some(secs) = retry_after_secs {
            let secs = secs.clamp(1, MAX_RETRY_AFTER_SECS);
            self.successor_backoff.delay(now, u64::from(secs) * 1_000);
        }
        self.one_is_left();
    }

    fn one_is_left(&mut self) {
        let here = self.position.as_ref();
        let here = here.and_then(|position| position.version.number());
        match (&mut self.seen, here) {
            (Some(seen), Some(_)) => seen.until = here,
            _ => self.seen = None,
        }
        self.forget_seen();
    }

    /// Forgets what was written, once the only connection has brought all of it.
    fn forget_seen(&mut self) {
        let Some(until) = self.seen.as_ref().and_then(|seen| seen.until) else {
            return;
        };
        let Some(reached) = self.connection.reached else {
            return;
        };
        // Where versions are shared, more deletions of the last one may come: those of the position's
        // version are known anyway.
        if reached >= until {
            self.seen = None;
        }
    }

    /// The connection at hand has brought this version, whether that was news or not.
    pub(super) fn reach(&mut self, version: &Version) {
        self.connection.reached = self.connection.reached.max(version.number());
        if self.successor.is_none() {
            self.forget_seen();
        }
    }

    /// An event is written: it may come once more.
    pub(super) fn remember_seen(&mut self, head: &Head<'_>, version: u128, is_deletion: bool) {
        if let Some(seen) = &mut self.seen {
            seen.events.insert(Seen::key(head, version, is_deletion));
            seen.is_by_successor = self.is_on_successor;
        }
    }
}

#[cfg(test)]
#[path = "successor_model_tests.rs"]
mod model_tests;
