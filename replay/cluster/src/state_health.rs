//! How well something is, with the sign and the word for it.

/// The health of a state. If several share one place, the later variant has precedence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateHealth {
    /// It does not exist yet, or no longer.
    Absent,
    /// It is healthy.
    Good,
    /// It is being changed, or waits.
    Changing,
    /// It was not observed, or its status is Unknown.
    Unknown,
    /// It reports a problem.
    Bad,
    /// It does not work.
    Down,
}

impl StateHealth {
    /// All variants, in the order of a legend.
    pub const ALL: [Self; 6] = [
        Self::Good,
        Self::Changing,
        Self::Bad,
        Self::Down,
        Self::Absent,
        Self::Unknown,
    ];

    /// Returns the sign that identifies it without a colour.
    pub const fn glyph(self) -> &'static str {
        match self {
            Self::Absent => "·",
            // Unobtrusive, so that the others stand out.
            Self::Good => "━",
            Self::Changing => "▒",
            Self::Unknown => "░",
            Self::Bad => "▓",
            Self::Down => "╳",
        }
    }

    /// Returns the word.
    pub const fn word(self) -> &'static str {
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
