//! Owns what a stream remembers, and what it says is to be done next. Refuses the handling of each answer: its neighbours do that.

use super::listing::Listing;
use super::review::Before;
use super::successor::{Seen, Successor};
use super::trouble::Expiry;
use super::{Backoff, Output, Step};
use crate::watch::known::{Known, Uid};
use crate::watch::version::Version;
use kubereel_format::{Elapsed, GapCause, NotCoveredReason, RecordedAt, Stamp};
use std::collections::BTreeSet;

/// How a resource's server behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Traits {
    /// Whether it is served from a watch cache: bookmarks come, versions are not shared.
    ///
    /// `events` are not: they expire in bulk, many deletions with one version.
    pub(crate) is_cached: bool,
    /// Whether the server is of a version that streams lists.
    pub(crate) can_watch_list: bool,
}

/// The end of an unbroken chain of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// The last version received or proven.
    pub(crate) version: Version,
    /// When something was last received.
    pub(crate) at: RecordedAt,
}

/// What is known of a resource when its stream begins, and what is left when it ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    /// Where the recording stood, if it ever was complete.
    pub(crate) position: Option<Position>,
    /// The objects that were alive then.
    pub(crate) known: Known,
    /// The objects that are known to have been deleted at exactly the position's version.
    pub(crate) deleted_here: Vec<Uid>,
    /// What an earlier run had read back of a gap when it was killed.
    pub(crate) read_back: ReadBefore,
}

/// Events that were read back and written before their gap was: uid, version, and whether it is a
/// deletion.
pub(crate) type ReadBefore = BTreeSet<(Box<str>, Box<str>, bool)>;

/// Why a stream begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// This run has seen the resource appear, or found it at its start.
    Fresh,
    /// An earlier run recorded it.
    Reopened,
    /// Another cluster, or an older state of it, was recorded before.
    NewEpoch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// The state must be read; what was before it is a gap if a cause is given.
    List(Option<GapCause>),
    /// The chain goes on.
    Watch,
}

/// What is to be known of the connection under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Connection {
    pub(super) opened: Option<Elapsed>,
    pub(super) asked_secs: u32,
    pub(super) heard: bool,
    pub(super) highest: Option<u128>,
    /// The highest version of an event or a bookmark on it, whether that was news or not.
    pub(super) reached: Option<u128>,
    pub(super) has_reported_unusable: bool,
}

/// One resource's stream.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and none excludes another"
)]
pub(crate) struct Stream {
    pub(super) traits: Traits,
    pub(super) known: Known,
    pub(super) position: Option<Position>,
    /// The objects deleted at exactly the position's version.
    pub(super) deleted_here: Vec<Uid>,
    pub(super) goal: Goal,
    pub(super) listing: Option<Listing>,
    /// What stood before the gap that the list will end.
    pub(super) before: Option<Before>,
    pub(super) connection: Connection,
    /// The connection that is to take the place of the one under way.
    pub(super) successor: Option<Successor>,
    /// What is at hand comes from the successor: the two have changed places.
    pub(super) is_on_successor: bool,
    /// What was written since two connections may bring the same.
    pub(super) seen: Option<Seen>,
    pub(super) successor_backoff: Backoff,
    /// Something came whose version is no number.
    pub(super) has_unusable: bool,
    /// How long a watch is to last at least, in seconds, unless there is a reason for a short one.
    pub(super) long_secs: u32,
    pub(super) backoff: Backoff,
    pub(super) expiry: Option<Expiry>,
    /// No recorder ran between the position and now.
    pub(super) is_reopened: bool,
    pub(super) uncovered: Option<NotCoveredReason>,
    pub(super) was_unavailable: bool,
    pub(super) failing_since: Option<Elapsed>,
    pub(super) unreadable_at: Option<Version>,
    /// When a list was decided on because of a line that stayed unreadable.
    pub(super) unreadable_listed: Option<Elapsed>,
    /// The server has answered this stream, so that what memory says may be true again.
    pub(super) was_answered: bool,
    /// The last watch ended in order, and nothing but "not found" has been heard since.
    pub(super) ended_in_order: bool,
    /// How many short watches still have to end in order before long ones are asked for.
    pub(super) short_watches: u8,
    pub(super) silent_idles: u8,
    pub(super) page_limit: u32,
}

impl Stream {
    /// Begins a stream. `seed` makes its delays differ from those of others.
    pub(crate) fn new(traits: Traits, memory: Memory, origin: Origin, seed: u64) -> Self {
        // A resource that came to its end before it vanished begins anew.
        let memory = if origin == Origin::Fresh && memory.known.is_empty() {
            Memory::default()
        } else {
            memory
        };
        let has_memory = memory.position.is_some();
        let goal = match origin {
            Origin::NewEpoch if has_memory => Goal::List(Some(GapCause::NewEpoch)),
            Origin::Fresh | Origin::Reopened if has_memory => Goal::Watch,
            Origin::Fresh | Origin::Reopened | Origin::NewEpoch => Goal::List(None),
        };
        Self {
            traits,
            known: memory.known,
            position: memory.position,
            // Only where versions are shared can others have been deleted with them.
            deleted_here: if traits.is_cached {
                Vec::new()
            } else {
                memory.deleted_here
            },
            goal,
            listing: None,
            before: None,
            connection: Connection::default(),
            successor: None,
            is_on_successor: false,
            seen: None,
            successor_backoff: Backoff::new(seed.rotate_left(32)),
            has_unusable: false,
            long_secs: LONG_SECS,
            backoff: Backoff::new(seed),
            expiry: None,
            is_reopened: origin == Origin::Reopened,
            uncovered: None,
            was_unavailable: origin == Origin::Fresh && has_memory,
            failing_since: None,
            unreadable_at: None,
            unreadable_listed: None,
            was_answered: false,
            ended_in_order: false,
            short_watches: if has_memory { SHORT_WATCHES } else { 0 },
            silent_idles: 0,
            page_limit: kubereel_format::MAX_LIST_PAGE,
        }
    }

    /// Says what to do now.
    pub(crate) fn step(&mut self, now: Elapsed) -> Step {
        if let Some(micros) = self.backoff.remaining(now) {
            return Step::Wait { micros };
        }
        match (self.goal, &self.position) {
            (Goal::Watch, Some(position)) => Step::Watch {
                from: self.resume_from(&position.version),
                timeout_secs: self.watch_secs(),
            },
            (Goal::Watch, None) => {
                // Without a place to go on from there is only the list.
                self.goal = Goal::List(None);
                self.list_step()
            }
            (Goal::List(_), _) => self.list_step(),
        }
    }

    /// Tells the version from which a watch goes on.
    ///
    /// Where many deletions share a version, some of them may still be missing: it goes back by one.
    pub(super) fn resume_from(&self, version: &Version) -> Version {
        if self.deleted_here.is_empty() {
            return version.clone();
        }
        version.previous().unwrap_or_else(|| version.clone())
    }

    /// A request was answered with success at `now`, asked to last `asked_secs`.
    pub(crate) fn answered(&mut self, now: Elapsed, asked_secs: u32, out: &mut Vec<Output>) {
        self.connection = Connection {
            opened: Some(now),
            asked_secs,
            ..Connection::default()
        };
        // It begins at the position: nothing written comes again.
        self.seen = None;
        self.successor = None;
        self.was_answered = true;
        if self.uncovered.take().is_some() {
            self.was_unavailable = true;
            out.push(Output::CoveredAgain);
        }
    }

    /// Tells how long the connection under way may be silent, in seconds.
    pub(crate) fn idle_secs(&self) -> u32 {
        if self.listing.is_some() {
            return LIST_IDLE_SECS;
        }
        if self.traits.is_cached && self.silent_idles < MAX_SILENT_IDLES {
            return IDLE_SECS;
        }
        self.connection.asked_secs.saturating_add(GRACE_SECS)
    }

    /// The cluster is another one, or an older state of it: nothing goes on from before.
    pub(crate) fn new_epoch(&mut self) {
        if self.position.is_some() {
            self.goal = Goal::List(Some(GapCause::NewEpoch));
        }
        self.listing = None;
        self.before = None;
        self.expiry = None;
        self.deleted_here.clear();
        self.seen = None;
        self.successor = None;
        self.backoff.reset();
    }

    /// Gives the live objects.
    pub(crate) const fn known(&self) -> &Known {
        &self.known
    }

    /// Gives the position, for those who compare it.
    pub(crate) fn position(&self) -> Option<&Position> {
        self.position.as_ref()
    }

    /// Tells whether the chain is unbroken up to the present.
    pub(crate) fn is_synced(&self) -> bool {
        self.goal == Goal::Watch && self.position.is_some()
    }

    /// Tells whether the recording follows the resource: the chain is unbroken, and the server has
    /// answered since this stream began.
    pub(crate) fn is_following(&self) -> bool {
        self.is_synced() && self.was_answered
    }

    /// Tells whether a list is to be read or under way.
    pub(crate) fn wants_list(&self) -> bool {
        !self.is_synced()
    }

    /// Tells whether the resource cannot be recorded for now.
    pub(crate) fn is_uncovered(&self) -> bool {
        self.uncovered.is_some()
    }

    /// The resource is no longer served, as of a version of the cluster.
    ///
    /// If the chain does not reach to its end, what is missing is a gap up to there.
    pub(crate) fn gone(&mut self, version: &Version, at: Stamp, out: &mut Vec<Output>) {
        let Some(position) = self.position.take() else {
            return;
        };
        if self.known.is_empty() && self.ended_in_order {
            return;
        }
        self.known.begin_list();
        let vanished = self.known.take_unseen();
        let differences = u64::try_from(vanished.len()).unwrap_or(u64::MAX);
        for (namespace, name, object) in vanished {
            out.push(Output::Infer {
                namespace,
                name,
                object,
                version: version.to_string(),
            });
        }
        let distance = version
            .number()
            .zip(position.version.number())
            .and_then(|(to, from)| u64::try_from(to.checked_sub(from)?).ok());
        out.push(Output::Gap {
            from: Some(position.version.to_string()),
            to: version.to_string(),
            from_time: position.at,
            to_time: at.wall,
            cause: GapCause::Unavailable,
            missing_at_most: distance.filter(|_| self.traits.is_cached),
            differences,
            review: None,
        });
    }

    /// Ends the stream and gives what a later one needs.
    pub(crate) fn into_memory(self) -> Memory {
        Memory {
            position: self.position,
            known: self.known,
            deleted_here: self.deleted_here,
            read_back: ReadBefore::new(),
        }
    }

    /// Something came in on the connection under way.
    pub(super) fn hear(&mut self, at: Stamp, out: &mut Vec<Output>) {
        self.connection.heard = true;
        if self.listing.is_none() {
            // A list that always breaks off after its first item is a failing one.
            self.backoff.reset();
        }
        self.failing_since = None;
        if self.goal == Goal::Watch {
            if let Some(position) = &mut self.position {
                position.at = at.wall;
            }
            self.is_reopened = false;
            self.was_unavailable = false;
            if let Some(expiry) = self.expiry.take() {
                out.push(Output::HistoryFound {
                    tries: expiry.tries,
                });
            }
        }
    }
}

/// How long a watch is to last at least, in seconds.
pub(crate) const LONG_SECS: u32 = 240;

/// How many short watches follow an end that was not in order.
///
/// A server sends a bookmark shortly before a watch's end, so that a short one brings a quiet
/// resource's position up to date before the next server restarts.
pub(super) const SHORT_WATCHES: u8 = 2;

/// How long a list that streams may be silent before it is taken as not supported, in seconds.
pub(super) const LIST_IDLE_SECS: u32 = 30;

/// How long a watch with bookmarks may be silent, in seconds: they come about each minute.
pub(super) const IDLE_SECS: u32 = 90;

/// How many silences in a row show that a resource has no bookmarks.
pub(super) const MAX_SILENT_IDLES: u8 = 2;

/// How long past its asked end a watch may last, in seconds.
pub(super) const GRACE_SECS: u32 = 20;

#[cfg(test)]
#[path = "tests.rs"]
pub(super) mod tests;

#[cfg(test)]
#[path = "model_tests.rs"]
pub(super) mod model_tests;
