//! How the failing lists of one resource are logged: the first at once, then at growing intervals.

use crate::watch::target::Target;
use kubereel_format::{Elapsed, Stamp};

/// The shortest time between two log lines about the same resource, in microseconds.
const LOG_MICROS: u64 = 10_000_000;

/// The lists of one resource that failed in a row.
#[derive(Debug, Default)]
pub(super) struct ListFailures {
    tries: u32,
    since: Elapsed,
    /// When the next failure is worth a line.
    next_log: Elapsed,
}

impl ListFailures {
    /// Counts a failure, and logs it if it is time.
    pub(super) fn failed(&mut self, target: &Target, error: &str, at: Stamp) {
        let now = at.elapsed;
        if self.tries == 0 {
            self.since = now;
            self.next_log = now;
        }
        self.tries = self.tries.saturating_add(1);
        if now < self.next_log {
            return;
        }
        let failing = now.micros.saturating_sub(self.since.micros);
        self.next_log = Elapsed {
            micros: now.micros.saturating_add(failing.max(LOG_MICROS)),
        };
        tracing::warn!(
            resource = target.info.qualified(),
            tries = self.tries,
            failing_secs = failing / 1_000_000,
            error,
            "cannot list; trying again"
        );
    }

    /// A list is complete.
    pub(super) fn ended(&mut self, target: &Target, at: Stamp) {
        let tries = std::mem::take(&mut self.tries);
        if tries > 0 {
            let failed = at.elapsed.micros.saturating_sub(self.since.micros);
            tracing::info!(
                resource = target.info.qualified(),
                tries,
                failed_secs = failed / 1_000_000,
                "listed"
            );
        }
    }
}
