//! Owns the words for what became of a case. Refuses colours and exit codes: the binary has those.

use std::fmt;

/// What became of a case.
///
/// The order is that of need: what must be looked at first comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It was not judged.
    Skipped,
    /// Nothing was found wrong, and everything was seen.
    Pass,
    /// Nothing was found wrong, but not everything was seen.
    Unknown,
    /// All that was found wrong is excepted for good.
    FlakePermanent,
    /// All that was found wrong is excepted, some of it until an issue is closed.
    FlakeJira,
    /// What was found wrong is not bad enough to fail, or the rule never fails.
    Flake,
    /// The rule could not be evaluated.
    Error,
    /// Something is wrong that no exception covers.
    Fail,
}

impl Verdict {
    /// Every verdict, what must be looked at first.
    pub const ALL: [Self; 8] = [
        Self::Fail,
        Self::Error,
        Self::Flake,
        Self::FlakeJira,
        Self::FlakePermanent,
        Self::Unknown,
        Self::Pass,
        Self::Skipped,
    ];

    /// Gives the word that programs read: `flake-jira`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Skipped => "skipped",
            Self::Pass => "pass",
            Self::Unknown => "unknown",
            Self::FlakePermanent => "flake-permanent",
            Self::FlakeJira => "flake-jira",
            Self::Flake => "flake",
            Self::Error => "error",
            Self::Fail => "fail",
        }
    }

    /// Tells whether it is one of the flakes.
    pub const fn is_flake(self) -> bool {
        matches!(self, Self::FlakePermanent | Self::FlakeJira | Self::Flake)
    }
}

impl fmt::Display for Verdict {
    /// Writes it as people read it: `flake (jira)`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::FlakePermanent => "flake (permanent)",
            Self::FlakeJira => "flake (jira)",
            other => other.as_str(),
        })
    }
}
