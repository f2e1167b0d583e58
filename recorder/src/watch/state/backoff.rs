//! The delay between two requests: none after a clean end, then growing, with jitter so that
//! watches do not reconnect together. It computes a time and does not wait.

use kubereel_format::Elapsed;

/// The delay after the first failure, in milliseconds.
const FIRST_MILLIS: u64 = 100;

/// The delay after the first failure of a resource that has just appeared, in milliseconds: the
/// next connection may reach a server that already serves it.
const YOUNG_MILLIS: u64 = 20;

/// The longest delay without a wish of the server, in milliseconds.
pub(super) const LONGEST_MILLIS: u64 = 5_000;

/// The longest Retry-After that is followed, in seconds.
const MAX_RETRY_AFTER_SECS: u32 = 30;

/// Returns the delay that a Retry-After means, in milliseconds.
pub(super) fn retry_after_millis(secs: u32) -> u64 {
    u64::from(secs.clamp(1, MAX_RETRY_AFTER_SECS)) * 1_000
}

/// Delays that double, with jitter.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    failures: u32,
    until: Option<Elapsed>,
    random: u64,
}

impl Backoff {
    /// Creates one without failures.
    pub(crate) const fn new(seed: u64) -> Self {
        Self {
            failures: 0,
            until: None,
            random: seed | 1,
        }
    }

    /// Forgets all failures; a running delay continues.
    pub(crate) const fn reset(&mut self) {
        self.failures = 0;
    }

    /// Counts a failure and delays the next request.
    pub(crate) fn fail(&mut self, now: Elapsed) {
        self.fail_within(now, LONGEST_MILLIS);
    }

    /// Counts a failure and delays the next request by at most `longest_millis`.
    pub(crate) fn fail_within(&mut self, now: Elapsed, longest_millis: u64) {
        self.fail_from(now, FIRST_MILLIS, longest_millis);
    }

    /// Counts a failure of a resource that has just appeared.
    pub(crate) fn fail_young(&mut self, now: Elapsed, longest_millis: u64) {
        self.fail_from(now, YOUNG_MILLIS, longest_millis);
    }

    fn fail_from(&mut self, now: Elapsed, first_millis: u64, longest_millis: u64) {
        let doubled = first_millis.saturating_mul(1 << self.failures.min(10));
        self.failures = self.failures.saturating_add(1);
        self.delay(now, doubled.min(longest_millis));
    }

    /// Returns the number of consecutive failures.
    pub(crate) const fn failures(&self) -> u32 {
        self.failures
    }

    /// Delays the next request by between half of `millis` and all of it.
    pub(crate) fn delay(&mut self, now: Elapsed, millis: u64) {
        let half = millis.saturating_mul(500);
        let micros = half.saturating_add(self.below(half.saturating_add(1)));
        self.until = Some(Elapsed {
            micros: now.micros.saturating_add(micros),
        });
    }

    /// Delays the next request by between half of `millis` and all of it, or by its current delay
    /// if that is longer.
    pub(crate) fn delay_at_least(&mut self, now: Elapsed, millis: u64) {
        let before = self.until;
        self.delay(now, millis);
        self.until = self.until.max(before);
    }

    /// Returns the rest of the delay in microseconds, if there is any.
    pub(crate) fn remaining(&self, now: Elapsed) -> Option<u64> {
        let until = self.until?;
        until
            .micros
            .checked_sub(now.micros)
            .filter(|micros| *micros > 0)
    }

    /// Returns a pseudo-random number below `bound`.
    pub(crate) const fn below(&mut self, bound: u64) -> u64 {
        // xorshift: its quality is sufficient to keep streams out of step.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        if bound == 0 { 0 } else { self.random % bound }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_up_to_its_bound_and_begins_again() {
        let now = Elapsed { micros: 1_000 };
        let mut backoff = Backoff::new(7);
        assert_eq!(backoff.remaining(now), None);
        let mut longest = FIRST_MILLIS;
        for _ in 0..12 {
            backoff.fail(now);
            let micros = backoff.remaining(now).expect("a delay");
            assert!(
                (longest * 500..=longest * 1000).contains(&micros),
                "{micros}"
            );
            longest = (longest * 2).min(LONGEST_MILLIS);
        }
        backoff.reset();
        backoff.fail(now);
        assert!(backoff.remaining(now).expect("a delay") <= FIRST_MILLIS * 1000);
        let later = Elapsed { micros: 200_000 };
        assert_eq!(backoff.remaining(later), None);
    }
}
