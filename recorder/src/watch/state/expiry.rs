//! A history that a server has lost: how often it is requested again before a gap is declared.
//!
//! Another server behind the address may still have the history, and a resumed watch loses nothing.
//! Only a run of 410 responses that is long in number and in time is the end of the chain.

use kubereel_format::{Elapsed, GapCause};

/// How often, and for how long, a watch is retried after 410.
struct ExpiryPatience {
    tries: u32,
    micros: u64,
}

/// A single server that has lost the history keeps responding with 410.
const ALONE: ExpiryPatience = ExpiryPatience {
    tries: 8,
    micros: 1_000_000,
};

/// With two servers behind one address, each try reaches the other one with even odds: 24 tries
/// miss it once in 16 million times.
const AMONG_OTHERS: ExpiryPatience = ExpiryPatience {
    tries: 24,
    micros: 3_000_000,
};

/// How much longer each delay between two of these tries is, in milliseconds.
const STEP_MILLIS: u64 = 50;

/// The longest delay between two of these tries, in milliseconds.
const LONGEST_MILLIS: u64 = 150;

/// Consecutive 410 responses, and what preceded them.
#[derive(Debug, Default)]
pub(super) struct HistoryExpiry {
    /// When the first one arrived, and their number.
    run: Option<(Elapsed, u32)>,
    /// Why the time after the position was not observed, if that is known.
    interruption: Option<GapCause>,
}

/// What a 410 response leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpiryVerdict {
    /// The watch is requested again after this delay.
    RetryAfterMillis(u64),
    /// The history is lost: a list follows, after a gap of this cause.
    GiveUp(GapCause),
}

impl HistoryExpiry {
    /// Creates the state of a stream that resumes after an interruption.
    pub(super) const fn after(interruption: Option<GapCause>) -> Self {
        Self {
            run: None,
            interruption,
        }
    }

    /// The resource could not be recorded for a while. If no recorder ran before, that is the
    /// longer interruption.
    pub(super) fn was_unavailable(&mut self) {
        self.interruption.get_or_insert(GapCause::Unavailable);
    }

    /// Counts a 410 response.
    pub(super) fn count(&mut self, others_may_know: bool, now: Elapsed) -> ExpiryVerdict {
        let (since, tries) = self.run.get_or_insert((now, 0));
        // The first retry is immediate: the next connection may reach another server.
        let millis = u64::from(*tries) * STEP_MILLIS;
        *tries = tries.saturating_add(1);
        let patience = if others_may_know { AMONG_OTHERS } else { ALONE };
        let waited = now.micros.saturating_sub(since.micros);
        if *tries < patience.tries || waited < patience.micros {
            return ExpiryVerdict::RetryAfterMillis(millis.min(LONGEST_MILLIS));
        }
        self.run = None;
        ExpiryVerdict::GiveUp(self.interruption.unwrap_or(GapCause::Expired))
    }

    /// The responses before say nothing about the history any more.
    pub(super) const fn forget_run(&mut self) {
        self.run = None;
    }

    /// Everything up to the present is observed: returns the number of 410 responses before, if
    /// there were any.
    pub(super) fn observed(&mut self) -> Option<u32> {
        std::mem::take(self).run.map(|(_, tries)| tries)
    }
}
