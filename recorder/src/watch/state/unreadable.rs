//! Lines that cannot be parsed, and what each leads to.
//!
//! A line is requested once more, because it may have been damaged on the way. If it cannot be
//! parsed again, the chain is broken and the state is listed. If a list did not help either, the
//! watch continues after the line: it must not be listed for ever.

use crate::version::ResourceVersion;
use kubereel_format::Elapsed;

/// How long an unreadable line does not lead to another list after one, in microseconds: what
/// cannot be parsed in a watch cannot be parsed in a list either.
const LIST_MICROS: u64 = 600_000_000;

/// The unreadable lines of one resource.
#[derive(Debug, Default)]
pub(super) struct UnreadableLines {
    /// The position at the last one.
    at: Option<ResourceVersion>,
    /// When one last led to a list.
    listed: Option<Elapsed>,
}

impl UnreadableLines {
    /// Returns whether the watch continues after an unreadable line at this position.
    pub(super) fn passes(&self, here: Option<&ResourceVersion>, now: Elapsed) -> bool {
        let was_listed = self
            .listed
            .is_some_and(|listed| now.micros.saturating_sub(listed.micros) < LIST_MICROS);
        self.was_requested_again(here) && was_listed
    }

    /// A watch ended at an unreadable line at this position: returns whether the state must be
    /// listed.
    pub(super) fn ended(&mut self, here: Option<&ResourceVersion>, now: Elapsed) -> bool {
        let needs_list = self.was_requested_again(here);
        if needs_list {
            self.listed = Some(now);
        } else {
            self.at = here.cloned();
        }
        needs_list
    }

    /// A list is complete.
    pub(super) fn list_ended(&mut self) {
        self.at = None;
    }

    fn was_requested_again(&self, here: Option<&ResourceVersion>) -> bool {
        here.is_some() && self.at.as_ref() == here
    }
}
