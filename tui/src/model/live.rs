//! Whether the recording continues, and the events since the cursor was at its end.

/// The state of a reel that was being recorded when it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LiveState {
    /// It is being recorded.
    Live,
    /// The recording has ended in order.
    Ended,
    /// Its recorder was killed, or has lost the file.
    Unfinished,
    /// It cannot be followed any longer.
    Lost,
}

impl LiveState {
    /// Gives the word for it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Ended => "ended",
            Self::Unfinished => "ended, unfinished",
            Self::Lost => "no longer live",
        }
    }
}

/// What is known of a recording that went on after it was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LiveReel {
    /// Its state.
    pub(crate) state: LiveState,
    /// The number of events when the cursor was at the end last.
    pub(crate) seen: u64,
    /// Whether problems are to be listed once more, because there is more of the reel than the list that is being made
    /// knows.
    pub(crate) wants_list: bool,
}

impl LiveReel {
    /// Returns how many of all events came since the cursor was at the end.
    pub(crate) const fn unseen(&self, all: u64) -> u64 {
        all.saturating_sub(self.seen)
    }
}
