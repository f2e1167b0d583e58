//! Whether the server answers the requests of a resource.

use crate::watch::state::output::WatchOutput;
use kubereel_format::{Elapsed, NotCoveredReason};

/// How long requests may fail before the resource counts as not covered, in microseconds.
const FAILING_MICROS: u64 = 60_000_000;

/// A failed request, or an ERROR event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerRefusal<'a> {
    /// The status code; 0 if the server sent none.
    pub(crate) code: u16,
    /// The server's Retry-After, in seconds.
    pub(crate) retry_after_secs: Option<u32>,
    /// The server's message.
    pub(crate) message: &'a str,
    /// Whether another server may still have the history.
    pub(crate) others_may_know: bool,
}

/// Whether a resource can be recorded. Each reason why it cannot is noted once, until a request
/// succeeds.
#[derive(Debug, Default)]
pub(super) struct Availability {
    failing_since: Option<Elapsed>,
    uncovered: Option<NotCoveredReason>,
}

impl Availability {
    /// Returns whether the resource cannot be recorded for now.
    pub(super) const fn is_uncovered(&self) -> bool {
        self.uncovered.is_some()
    }

    /// A request succeeded: returns whether the resource could not be recorded before.
    pub(super) fn answered(&mut self) -> bool {
        self.uncovered.take().is_some()
    }

    /// Data arrived.
    pub(super) const fn received(&mut self) {
        self.failing_since = None;
    }

    /// A request failed, for a reason that may pass.
    pub(super) fn failed(
        &mut self,
        refusal: ServerRefusal<'_>,
        now: Elapsed,
        out: &mut Vec<WatchOutput>,
    ) {
        let since = *self.failing_since.get_or_insert(now);
        if now.micros.saturating_sub(since.micros) >= FAILING_MICROS {
            let detail = format!("{} {}", refusal.code, refusal.message);
            self.not_covered(NotCoveredReason::Failing, detail.trim(), out);
        }
    }

    /// The resource cannot be recorded for this reason.
    pub(super) fn not_covered(
        &mut self,
        reason: NotCoveredReason,
        detail: &str,
        out: &mut Vec<WatchOutput>,
    ) {
        if self.uncovered.replace(reason) != Some(reason) {
            out.push(WatchOutput::NotCovered {
                reason,
                detail: detail.to_owned(),
            });
        }
    }
}
