//! The consecutive failures of a resource's lists, and their log lines: few, and none in an outage.

use crate::resource::WatchTarget;
use kubereel_format::{Elapsed, Stamp};

/// The shortest time between two log lines about the same resource, in microseconds.
const LOG_MICROS: u64 = 10_000_000;

/// How long lists fail before the first log line, in microseconds.
const FIRST_LOG_MICROS: u64 = 5_000_000;

/// The consecutive failures of a resource's lists.
#[derive(Debug, Default)]
pub(super) struct ListFailures {
    tries: u32,
    since: Elapsed,
    /// When the next failure is logged.
    next_log: Elapsed,
}

impl ListFailures {
    /// Counts a failure, and logs it when it is due.
    pub(super) fn failed(&mut self, target: &WatchTarget, is_out: bool, error: &str, at: Stamp) {
        let now = at.elapsed;
        if self.tries == 0 {
            self.since = now;
            // A temporary failure is not logged: an outage causes many, and has its own line.
            self.next_log = Elapsed {
                micros: now.micros.saturating_add(FIRST_LOG_MICROS),
            };
        }
        self.tries = self.tries.saturating_add(1);
        if now < self.next_log || is_out {
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
    pub(super) fn ended(&mut self, target: &WatchTarget, at: Stamp) {
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
