//! Whether the recording goes on, and the result since the cursor stood at its end.

/// How a reel stands that was being recorded when it was opened.
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
    /// How it stands.
    pub(crate) state: LiveState,
    /// How many events there were when the cursor stood at the end last.
    pub(crate) seen: u64,
    /// Whether problems are to be listed once more, because there is more of the reel than the list that is being made
    /// knows.
    pub(crate) wants_list: bool,
}

impl LiveReel {
    /// Gives how many of all events came since the cursor stood at the end.
    pub(crate) const fn unseen(&self, all: u64) -> u64 {
        all.saturating_sub(self.seen)
    }
}
