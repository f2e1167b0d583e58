//! The connection of a watch and its successor: their durations and silences, what each has
//! delivered, and when one of them replaces the other.
//!
//! Invariants:
//! * Each of the two begins at or before the position and delivers everything after its begin in
//!   order. The events of either are therefore one unbroken chain, and the position may follow the
//!   one that is ahead. The end of a connection loses nothing: the other one, or the next watch
//!   from the position, delivers the rest.
//! * Until one of the two has delivered everything that the other one had, written events are
//!   remembered, by uid, version and whether they are deletions: an event that arrives twice is
//!   written once.
//! * There is no second connection where versions are not numbers: duplicates could not be
//!   recognized.

use crate::known::Uid;
use crate::version::ResourceVersion;
use crate::watch::state::backoff::{Backoff, retry_after_millis};
use crate::watch::state::chain::WatchChain;
use crate::watch::state::output::WatchOutput;
use crate::wire::ObjectHead;
use kubereel_format::{AnomalyKind, Elapsed, EndCause};
use std::collections::HashSet;

/// The shortest duration of a long watch, in seconds.
pub(crate) const LONG_SECS: u32 = 240;

/// How many short watches follow an end that was not in order.
///
/// A server sends a bookmark shortly before the end of a watch. A short watch therefore updates the
/// position of a quiet resource before the next server restarts.
const SHORT_WATCHES: u8 = 2;

/// The longest silence of a watch with bookmarks, in seconds: the server sends one about every
/// minute.
const IDLE_SECS: u32 = 90;

/// How many silences in a row show that a resource has no bookmarks.
const MAX_SILENT_IDLES: u8 = 2;

/// How long a watch may last beyond its requested duration, in seconds.
const GRACE_SECS: u32 = 20;

/// The shortest life of a watch that counts as established, in microseconds.
pub(super) const LIVED_MICROS: u64 = 1_000_000;

/// How many events are remembered to recognize duplicates. Beyond that, the connection that is
/// behind is dropped.
pub(super) const MAX_SEEN: usize = if cfg!(test) { 12 } else { 16_384 };

/// How long a successor must be open, in microseconds, until it counts as accepted without data: a
/// server that has lost the history responds with 410 at once.
pub(crate) const SETTLE_MICROS: u64 = 1_000_000;

/// How long before the end of a watch its successor is opened at most, in milliseconds.
const LEAD_MILLIS: u64 = 10_000;

/// What one connection has delivered.
#[derive(Clone, Copy, Debug, Default)]
struct ConnectionProgress {
    opened: Option<Elapsed>,
    requested_secs: u32,
    has_received: bool,
    /// The highest version of an event after the list.
    highest: Option<u128>,
    /// The highest version of an event or a bookmark on it, also of those that were recorded
    /// already.
    reached: Option<u128>,
    has_reported_unusable: bool,
}

/// The successor of the current connection.
#[derive(Debug)]
struct SuccessorProgress {
    /// It delivers everything after this version.
    from: u128,
    connection: ConnectionProgress,
}

/// The events written since two connections may deliver the same events.
#[derive(Debug, Default)]
struct RecordedEvents {
    events: HashSet<(Uid, u128, bool)>,
    /// The remaining connection has delivered all of them once it has reached this version.
    until: Option<u128>,
    /// The successor delivered the last of them.
    is_by_successor: bool,
}

/// Which of two connections continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SuccessorVerdict {
    /// Both are read.
    Both,
    /// The successor replaces the current connection.
    TakeOver,
    /// The successor is dropped.
    GiveUp,
}

/// A connection that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndedConnection {
    /// How long it was open, in microseconds.
    pub(super) lived_micros: u64,
    /// Whether it delivered anything.
    pub(super) has_received: bool,
}

/// The connections of one resource's watch.
#[derive(Debug)]
pub(crate) struct Connections {
    /// Whether bookmarks arrive, and no two changes share a version.
    is_cached: bool,
    /// The connection whose data is at hand.
    current: ConnectionProgress,
    successor: Option<SuccessorProgress>,
    /// The data at hand comes from the successor: the two have changed places.
    is_on_successor: bool,
    /// The events written since two connections may deliver the same events.
    seen: Option<RecordedEvents>,
    backoff: Backoff,
    /// An event without a numeric version arrived: duplicates of it cannot be recognized.
    has_unusable: bool,
    /// The shortest requested duration of a watch, in seconds, unless there is a reason for a short
    /// one.
    long_secs: u32,
    /// The number of short watches that must end in order before long ones are requested.
    short_watches: u8,
    silent_idles: u8,
}

// The current connection: its duration, its silence, its end.
impl Connections {
    /// Creates the state without a connection. `seed` makes its delays differ from those of other
    /// streams.
    pub(super) fn new(is_cached: bool, seed: u64) -> Self {
        Self {
            is_cached,
            current: ConnectionProgress::default(),
            successor: None,
            is_on_successor: false,
            seen: None,
            backoff: Backoff::new(seed),
            has_unusable: false,
            long_secs: LONG_SECS,
            short_watches: 0,
            silent_idles: 0,
        }
    }

    /// Requests watches of about `secs` seconds.
    pub(crate) const fn set_watch_secs(&mut self, secs: u32) {
        self.long_secs = secs;
    }

    /// Requests short watches next, to get bookmarks soon.
    pub(super) const fn want_bookmark(&mut self) {
        self.short_watches = SHORT_WATCHES;
    }

    /// Returns the duration of the next watch, in seconds.
    pub(super) fn watch_secs(&mut self) -> u32 {
        if !self.is_cached {
            return self.long_watch_secs();
        }
        match self.short_watches {
            0 => self.long_watch_secs(),
            1 => 20,
            _ => 3,
        }
    }

    /// Returns the duration of a long watch, in seconds.
    #[expect(clippy::expect_used, reason = "the random number is bounded")]
    pub(super) fn long_watch_secs(&mut self) -> u32 {
        let more = u64::from(self.long_secs / 4) + 1;
        let more = u32::try_from(self.backoff.below(more)).expect("it is below a quarter of a u32");
        self.long_secs.saturating_add(more)
    }

    /// A request succeeded. The connection begins at the position, so it does not repeat recorded
    /// events.
    pub(super) fn opened(&mut self, now: Elapsed, requested_secs: u32) {
        self.current = ConnectionProgress {
            opened: Some(now),
            requested_secs,
            ..ConnectionProgress::default()
        };
        self.forget_second();
    }

    /// Returns whether the current connection is open.
    pub(super) const fn is_open(&self) -> bool {
        self.current.opened.is_some()
    }

    /// Returns how long the current connection may be silent, in seconds.
    pub(super) const fn idle_secs(&self) -> u32 {
        // A half-open connection stays silent for ever. Bookmarks bound the silence of a live one;
        // without them only the requested duration does.
        if self.is_cached && self.silent_idles < MAX_SILENT_IDLES {
            return IDLE_SECS;
        }
        self.current.requested_secs.saturating_add(GRACE_SECS)
    }

    /// Data arrived.
    pub(super) const fn received(&mut self) {
        self.current.has_received = true;
    }

    /// A bookmark arrived.
    pub(super) const fn bookmarked(&mut self) {
        self.silent_idles = 0;
    }

    /// A list is complete. The initial ADDED events of a streamed list are synthetic and not in the
    /// order of versions: only events after the list must rise.
    pub(super) const fn listed(&mut self, number: Option<u128>) {
        self.current.highest = number;
        self.short_watches = 0;
    }

    /// The request was refused, or no connection was established.
    pub(super) const fn refused(&mut self) {
        self.current.opened = None;
    }

    /// The current connection ended without an ERROR event; `None` if none was open.
    pub(super) fn ended(
        &mut self,
        cause: EndCause,
        is_listing: bool,
        now: Elapsed,
    ) -> Option<EndedConnection> {
        let opened = self.current.opened.take()?;
        let lived_micros = now.micros.saturating_sub(opened.micros);
        if !is_listing {
            let asked = u64::from(self.current.requested_secs).saturating_mul(1_000_000);
            // A server that shuts down ends watches cleanly, but early and without a last bookmark.
            let is_whole = lived_micros.saturating_add(LIVED_MICROS) >= asked;
            if cause == EndCause::Clean && is_whole {
                self.short_watches = self.short_watches.saturating_sub(1);
            } else {
                self.want_bookmark();
            }
            self.count_silence(cause);
        }
        Some(EndedConnection {
            lived_micros,
            has_received: self.current.has_received,
        })
    }

    fn count_silence(&mut self, cause: EndCause) {
        if cause == EndCause::Idle {
            self.silent_idles = self.silent_idles.saturating_add(1);
        }
    }

    /// Returns what is wrong with the version of an event, if it is not a number or does not rise.
    pub(super) fn check_order(
        &mut self,
        head: &ObjectHead<'_>,
        number: Option<u128>,
        is_listing: bool,
    ) -> Option<WatchOutput> {
        let Some(number) = number else {
            // Some servers never send a numeric version: one note for each connection is enough.
            let is_known = std::mem::replace(&mut self.current.has_reported_unusable, true);
            return (!is_known).then(|| WatchOutput::Anomaly {
                kind: AnomalyKind::VersionUnusable,
                detail: format!("{:?} of {}", head.version, head.name),
            });
        };
        if is_listing {
            return None;
        }
        let before = self.current.highest;
        self.current.highest = before.max(Some(number));
        // Events that expire in bulk share a version. From a watch cache, versions strictly rise.
        let highest =
            before.filter(|highest| number < *highest || number == *highest && self.is_cached)?;
        Some(WatchOutput::Anomaly {
            kind: AnomalyKind::VersionNotRising,
            detail: format!("{number} after {highest}"),
        })
    }
}

// The second connection: what it repeats, and which of the two continues.
impl Connections {
    /// Returns how long after its begin the current connection needs a successor, in microseconds,
    /// if its end is known; `more_micros` earlier than usual.
    pub(crate) fn successor_due(&mut self, more_micros: u64) -> Option<u64> {
        let asked = self.current.requested_secs;
        if asked < self.long_secs {
            // A short watch ends soon on purpose: its last bookmark is needed.
            return None;
        }
        let lead = LEAD_MILLIS.min(u64::from(self.long_secs) * 1_000 / 3);
        // The jitter keeps streams that began together from reconnecting together.
        let lead = lead * 4 / 5 + self.backoff.below(lead * 2 / 5 + 1);
        let before = (lead * 1_000).saturating_add(more_micros);
        Some((u64::from(asked) * 1_000_000).saturating_sub(before))
    }

    /// Returns the rest of the delay after refused successors, in microseconds.
    pub(crate) fn successor_wait(&self, now: Elapsed) -> Option<u64> {
        self.backoff.remaining(now)
    }

    /// The server will end the current connection: earlier refusals of a successor do not count.
    pub(crate) fn hurry_successor(&mut self) {
        let seed = self.backoff.below(u64::MAX);
        self.backoff = Backoff::new(seed);
    }

    /// Begins a successor from the end of the chain, if one is possible now: returns the version
    /// from which it continues, and its duration in seconds.
    pub(super) fn begin_successor(&mut self, chain: &WatchChain) -> Option<(ResourceVersion, u32)> {
        if self.has_unusable || !self.is_open() {
            return None;
        }
        let here = chain.number()?;
        let from = chain.resume_from()?;
        let begin = from.number()?;
        let seen = self.seen.get_or_insert_default();
        seen.until = None;
        // The successor resumes one version earlier and repeats these deletions.
        let deleted = chain.deleted_here().iter().cloned();
        seen.events.extend(deleted.map(|uid| (uid, here, true)));
        self.successor = Some(SuccessorProgress {
            from: begin,
            connection: ConnectionProgress::default(),
        });
        Some((from, self.long_watch_secs()))
    }

    /// The request of the successor succeeded: it continues from a version that the position has
    /// reached.
    pub(crate) fn successor_answered(
        &mut self,
        from: &ResourceVersion,
        requested_secs: u32,
        now: Elapsed,
    ) {
        if let (Some(successor), Some(from)) = (&mut self.successor, from.number()) {
            successor.from = from;
            successor.connection.opened = Some(now);
            successor.connection.requested_secs = requested_secs;
        }
    }

    /// Takes what follows as data of the other connection.
    pub(crate) const fn switch(&mut self) {
        if let Some(successor) = &mut self.successor {
            std::mem::swap(&mut self.current, &mut successor.connection);
            self.is_on_successor = !self.is_on_successor;
        }
    }

    /// Decides between the two connections; `here` is the position, if it is a number.
    pub(super) fn handover(&self, here: Option<u128>, now: Elapsed) -> SuccessorVerdict {
        let (Some(successor), Some(seen)) = (&self.successor, &self.seen) else {
            return SuccessorVerdict::Both;
        };
        let Some(opened) = successor.connection.opened else {
            return SuccessorVerdict::Both;
        };
        let Some(here) = here.filter(|_| !self.has_unusable) else {
            return SuccessorVerdict::GiveUp;
        };
        let is_settled = now.micros.saturating_sub(opened.micros) >= SETTLE_MICROS;
        // Either the successor has delivered everything up to the position, or it began there and
        // the server did not respond 410.
        let has_reached = successor.connection.reached >= Some(here);
        if has_reached || is_settled && successor.from >= here {
            return SuccessorVerdict::TakeOver;
        }
        match (seen.events.len() >= MAX_SEEN, seen.is_by_successor) {
            (false, _) => SuccessorVerdict::Both,
            // The connection that delivered the last event has delivered every event before it as
            // well.
            (true, true) => SuccessorVerdict::TakeOver,
            (true, false) => SuccessorVerdict::GiveUp,
        }
    }

    /// Returns whether a successor is open.
    pub(crate) fn has_open_successor(&self) -> bool {
        let successor = self.successor.as_ref();
        successor.is_some_and(|successor| successor.connection.opened.is_some())
    }

    /// The current connection ended with this cause, or is dropped: its successor replaces it.
    pub(super) fn take_over(&mut self, cause: EndCause, here: Option<u128>) {
        let Some(successor) = self.successor.take() else {
            return;
        };
        self.count_silence(cause);
        self.current = successor.connection;
        self.backoff.reset();
        self.keep_one(here);
    }

    /// The successor was refused, broke off, or is dropped. The current connection continues.
    pub(super) fn end_successor(
        &mut self,
        retry_after_secs: Option<u32>,
        here: Option<u128>,
        now: Elapsed,
    ) {
        if self.successor.take().is_none() {
            return;
        }
        self.backoff.fail(now);
        if let Some(secs) = retry_after_secs {
            self.backoff.delay(now, retry_after_millis(secs));
        }
        self.keep_one(here);
    }

    /// Forgets the successor, and what two connections may both deliver.
    pub(super) fn forget_second(&mut self) {
        self.seen = None;
        self.successor = None;
    }

    /// Returns whether an event may be written: without a numeric version it cannot be recognized
    /// as a duplicate, so only the current connection's is.
    pub(super) const fn may_write(&mut self, number: Option<u128>) -> bool {
        self.has_unusable |= number.is_none();
        number.is_some() || !self.is_on_successor
    }

    /// Returns whether the other connection has delivered this event.
    pub(super) fn has_seen(&self, head: &ObjectHead<'_>, version: u128, is_deletion: bool) -> bool {
        let seen = self.seen.as_ref();
        seen.is_some_and(|seen| seen.events.contains(&event_key(head, version, is_deletion)))
    }

    /// Remembers a written event, which the other connection may deliver again.
    pub(super) fn written(&mut self, head: &ObjectHead<'_>, version: u128, is_deletion: bool) {
        if let Some(seen) = &mut self.seen {
            seen.events.insert(event_key(head, version, is_deletion));
            seen.is_by_successor = self.is_on_successor;
        }
    }

    /// The connection at hand has delivered this version, recorded already or not.
    pub(super) fn reach(&mut self, number: Option<u128>) {
        self.current.reached = self.current.reached.max(number);
        if self.successor.is_none() {
            self.forget_seen();
        }
    }

    /// The remaining connection may be behind: it repeats events up to the position.
    fn keep_one(&mut self, here: Option<u128>) {
        match &mut self.seen {
            Some(seen) if here.is_some() => seen.until = here,
            _ => self.seen = None,
        }
        self.forget_seen();
    }

    /// Forgets the written events once the only connection has delivered all of them.
    ///
    /// Where deletions share a version, more of the last one may follow: the chain recognizes
    /// those.
    fn forget_seen(&mut self) {
        let until = self.seen.as_ref().and_then(|seen| seen.until);
        if until.is_some() && self.current.reached >= until {
            self.seen = None;
        }
    }
}

/// Returns the key by which two deliveries of one event are recognized.
fn event_key(head: &ObjectHead<'_>, version: u128, is_deletion: bool) -> (Uid, u128, bool) {
    // Some servers send no uid: their objects are compared by name.
    let uid = if head.uid.is_empty() {
        &head.name
    } else {
        &head.uid
    };
    (Uid::new(uid), version, is_deletion)
}
