//! Owns the states that a lane can be in, and which of them wins where several share a cell. Refuses
//! colours: `theme` has those.

/// What something was like; a later one wins over those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LaneState {
    /// It does not exist yet, or no longer.
    Absent,
    /// It is as it should be.
    Good,
    /// It is being changed, or waits.
    Changing,
    /// Nobody knows.
    Unknown,
    /// It says that something is wrong.
    Bad,
    /// It does not work.
    Down,
}

impl LaneState {
    /// Every state, in the order in which a legend shows them.
    pub(crate) const ALL: [Self; 6] = [
        Self::Good,
        Self::Changing,
        Self::Bad,
        Self::Down,
        Self::Absent,
        Self::Unknown,
    ];

    /// Gives the sign that tells it without a colour.
    pub(crate) const fn glyph(self) -> &'static str {
        match self {
            Self::Absent => "·",
            Self::Good => "█",
            Self::Changing => "▒",
            Self::Unknown => "░",
            Self::Bad => "▓",
            Self::Down => "╳",
        }
    }

    /// Gives the word for it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Good => "good",
            Self::Changing => "changing",
            Self::Unknown => "unknown",
            Self::Bad => "bad",
            Self::Down => "down",
        }
    }
}
