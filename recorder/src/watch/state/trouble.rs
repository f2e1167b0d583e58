//! Owns what to do when the server refuses, breaks off, or has lost the history. Refuses to give up:
//! there is always a next request, and what is lost is said.

use super::backoff::LONGEST_MILLIS;
use super::{Goal, Output, SHORT_WATCHES, Stream};
use kubereel_format::{Elapsed, EndCause, GapCause, NotCoveredReason};

/// A request that was not answered with success, or an ERROR event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal<'a> {
    /// The status code; 0 if it names none.
    pub(crate) code: u16,
    /// How long the server asks to wait, in seconds.
    pub(crate) retry_after_secs: Option<u32>,
    /// The server's words.
    pub(crate) message: &'a str,
    /// Whether there is reason to believe that another server still has the history.
    pub(crate) others_may_know: bool,
}

/// A run of answers that the history is lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expiry {
    since: Elapsed,
    pub(super) tries: u32,
}

/// How often, and for how long, the history is asked for before it is given up.
struct Patience {
    tries: u32,
    micros: u64,
}

/// One server that says it has lost the history will go on saying so.
const ALONE: Patience = Patience {
    tries: 8,
    micros: 1_000_000,
};

/// With two servers behind one address each try finds the other one with even odds: 24 tries miss it
/// once in 16 million times.
const AMONG_OTHERS: Patience = Patience {
    tries: 24,
    micros: 3_000_000,
};

/// The longest delay between two such tries, in milliseconds.
const EXPIRED_MILLIS: u64 = 150;

/// The longest that a server's wish to wait is honoured, in seconds.
const MAX_RETRY_AFTER_SECS: u32 = 30;

/// How long a server may fail before the resource counts as not covered, in microseconds.
const FAILING_MICROS: u64 = 60_000_000;

/// How long to wait before asking again for what is forbidden or not offered, in milliseconds.
const FORBIDDEN_MILLIS: u64 = 30_000;

/// The longest delay between two lists that fail, in milliseconds.
const LONGEST_LIST_MILLIS: u64 = 30_000;

/// The longest delay while a resource that was watched is not found, in milliseconds: whether it is
/// gone is to be known soon.
const MISSING_MILLIS: u64 = 1_000;

/// How long a line that stays unreadable is a reason for a list no more after it was one, in
/// microseconds: what cannot be parsed in a watch cannot be parsed in a list either.
const UNREADABLE_MICROS: u64 = 600_000_000;

/// How many refusals in a row may come from servers that are only just starting or ending. After
/// that the server's wish to wait is taken for all of them.
const OTHER_SERVERS: u32 = 4;

/// The pause after a watch that brought something and ended within a second, in milliseconds.
const SHORT_LIFE_MILLIS: u64 = 50;

/// A watch that lives this long, in microseconds, was a watch.
const LIVED_MICROS: u64 = 1_000_000;

impl Stream {
    /// The server refused, by a status or by an ERROR event that ended the stream.
    pub(crate) fn refused(&mut self, refusal: Refusal<'_>, now: Elapsed, out: &mut Vec<Output>) {
        self.connection.opened = None;
        self.ended_in_order &= refusal.code == 404;
        if self.goal == Goal::Watch && refusal.code != 410 {
            self.short_watches = SHORT_WATCHES;
        }
        match refusal.code {
            410 => self.expired(refusal.others_may_know, now),
            400 | 422 if self.is_streaming_list() => self.use_pages(),
            500..=502 | 505..=599 if self.is_streaming_list() => {
                self.break_list(false);
                self.fail(refusal, now, out);
            }
            403 => {
                self.break_list(false);
                self.not_covered(NotCoveredReason::Forbidden, refusal.message, out);
                self.backoff.delay(now, FORBIDDEN_MILLIS);
            }
            405 => {
                self.break_list(false);
                self.not_covered(NotCoveredReason::NoWatch, refusal.message, out);
                self.backoff.delay(now, FORBIDDEN_MILLIS);
            }
            // Its cache is being filled: that is over in a moment.
            429 if refusal.message.contains("initializing") => {
                self.backoff.fail_young(now, LONGEST_LIST_MILLIS);
            }
            _ => self.fail(refusal, now, out),
        }
    }

    fn is_streaming_list(&self) -> bool {
        self.listing.is_some() && self.traits.can_watch_list
    }

    fn fail(&mut self, refusal: Refusal<'_>, now: Elapsed, out: &mut Vec<Output>) {
        let since = *self.failing_since.get_or_insert(now);
        if now.micros.saturating_sub(since.micros) >= FAILING_MICROS {
            let detail = format!("{} {}", refusal.code, refusal.message);
            self.not_covered(NotCoveredReason::Failing, detail.trim(), out);
        }
        let is_missing = refusal.code == 404;
        if self.position.is_none() {
            // Its first objects may be written right now: asked soon at first, then ever less.
            self.backoff.fail_young(now, LONGEST_LIST_MILLIS);
        } else if is_missing {
            self.backoff.fail_within(now, MISSING_MILLIS);
        } else if self.wants_list() {
            self.backoff.fail_within(now, LONGEST_LIST_MILLIS);
        } else {
            self.backoff.fail_within(now, LONGEST_MILLIS);
        }
        if let Some(secs) = refusal.retry_after_secs
            && !is_missing
            && self.backoff.failures() > OTHER_SERVERS
        {
            // A wish for a shorter wait does not hurry a list that has failed for long.
            let secs = secs.clamp(1, MAX_RETRY_AFTER_SECS);
            self.backoff.delay_at_least(now, u64::from(secs) * 1_000);
        }
    }

    pub(super) fn not_covered(
        &mut self,
        reason: NotCoveredReason,
        detail: &str,
        out: &mut Vec<Output>,
    ) {
        if self.uncovered.replace(reason) != Some(reason) {
            out.push(Output::NotCovered {
                reason,
                detail: detail.to_owned(),
            });
        }
    }

    /// The history is said to be lost: other servers are asked, then the state is read anew.
    fn expired(&mut self, others_may_know: bool, now: Elapsed) {
        if self.listing.is_some() {
            self.restart_pages();
            self.backoff.fail(now);
            return;
        }
        let expiry = self.expiry.get_or_insert(Expiry {
            since: now,
            tries: 0,
        });
        expiry.tries = expiry.tries.saturating_add(1);
        let patience = if others_may_know { AMONG_OTHERS } else { ALONE };
        let waited = now.micros.saturating_sub(expiry.since.micros);
        if expiry.tries >= patience.tries && waited >= patience.micros {
            self.expiry = None;
            self.goal = Goal::List(Some(self.gap_cause()));
            return;
        }
        // The first goes out at once: the next connection may well reach another server.
        let millis = u64::from(expiry.tries - 1) * 50;
        self.backoff.delay(now, millis.min(EXPIRED_MILLIS));
    }

    fn gap_cause(&self) -> GapCause {
        if self.is_reopened {
            GapCause::RecorderStopped
        } else if self.was_unavailable {
            GapCause::Unavailable
        } else {
            GapCause::Expired
        }
    }

    /// No connection came about.
    pub(crate) fn unreachable(&mut self, now: Elapsed) {
        self.connection.opened = None;
        self.ended_in_order = false;
        self.break_list(false);
        if self.goal == Goal::Watch {
            self.short_watches = SHORT_WATCHES;
        }
        self.backoff.fail(now);
    }

    /// The connection under way ended, not by an ERROR event.
    pub(crate) fn ended(&mut self, cause: EndCause, now: Elapsed) {
        let Some(opened) = self.connection.opened.take() else {
            return;
        };
        self.ended_in_order = cause == EndCause::Clean && self.goal == Goal::Watch;
        if self.listing.is_some() {
            self.break_list(cause == EndCause::Idle);
            self.backoff.fail_within(now, LONGEST_LIST_MILLIS);
            return;
        }
        let lived = now.micros.saturating_sub(opened.micros);
        let asked = u64::from(self.connection.asked_secs).saturating_mul(1_000_000);
        let is_in_order = cause == EndCause::Clean && lived.saturating_add(LIVED_MICROS) >= asked;
        self.short_watches = if is_in_order {
            self.short_watches.saturating_sub(1)
        } else {
            SHORT_WATCHES
        };
        match cause {
            EndCause::Unreadable => return self.unreadable(now),
            EndCause::Idle => self.silent_idles = self.silent_idles.saturating_add(1),
            _ => {}
        }
        if self.connection.heard || lived >= LIVED_MICROS {
            self.backoff.reset();
            if self.expiry.is_some() && lived >= 2 * LIVED_MICROS {
                self.expiry = None;
            }
        } else {
            self.backoff.fail(now);
        }
        if lived < LIVED_MICROS && self.backoff.remaining(now).is_none() {
            // A server that ends every watch at once is not asked without a pause.
            self.backoff.delay(now, SHORT_LIFE_MILLIS);
        }
    }

    /// Tells whether the stream behind a line that cannot be read is read on: it was asked for again
    /// already, and a list did not help.
    pub(crate) fn passes_unreadable(&mut self, now: Elapsed) -> bool {
        let here = self.position.as_ref().map(|position| &position.version);
        let was_asked = here.is_some() && self.unreadable_at.as_ref() == here;
        let was_listed = self
            .unreadable_listed
            .is_some_and(|listed| now.micros.saturating_sub(listed.micros) < UNREADABLE_MICROS);
        self.listing.is_none() && was_asked && was_listed
    }

    /// A line could not be understood. It is asked for once more; then the end is not trusted.
    fn unreadable(&mut self, now: Elapsed) {
        let here = self.position.as_ref().map(|position| &position.version);
        if here.is_some() && self.unreadable_at.as_ref() == here {
            self.unreadable_listed = Some(now);
            self.goal = Goal::List(Some(GapCause::Unreadable));
        } else {
            self.unreadable_at = here.cloned();
        }
        self.backoff.fail(now);
    }

    /// Tells how long the next watch is to last, in seconds.
    pub(super) fn watch_secs(&mut self) -> u32 {
        if !self.traits.is_cached {
            return self.long_watch_secs();
        }
        match self.short_watches {
            0 => self.long_watch_secs(),
            1 => 20,
            _ => 3,
        }
    }

    pub(super) fn long_watch_secs(&mut self) -> u32 {
        let more = u64::from(self.long_secs / 4) + 1;
        self.long_secs + u32::try_from(self.backoff.below(more)).unwrap_or(0)
    }
}
