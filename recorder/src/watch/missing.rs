//! The 404 responses that show that a resource may be gone.

use kubereel_format::Elapsed;

/// The number and duration of 404 responses after which a resource may be gone.
const MISSING_TRIES: u32 = 3;
const MISSING_MICROS: u64 = 2_000_000;

/// Consecutive 404 responses.
#[derive(Debug, Default)]
pub(super) struct MissingResponses {
    /// When the first one arrived, and their number.
    run: Option<(Elapsed, u32)>,
}

impl MissingResponses {
    /// Counts a response.
    pub(super) fn count(&mut self, now: Elapsed) {
        let (_, tries) = self.run.get_or_insert((now, 0));
        *tries = tries.saturating_add(1);
    }

    /// The resource is there, or it is not known whether it is.
    pub(super) const fn reset(&mut self) {
        self.run = None;
    }

    /// Returns whether they are enough to ask discovery.
    pub(super) fn may_be_gone(&self, now: Elapsed) -> bool {
        self.run.is_some_and(|(since, tries)| {
            let waited = now.micros.saturating_sub(since.micros);
            tries >= MISSING_TRIES && waited >= MISSING_MICROS
        })
    }
}
