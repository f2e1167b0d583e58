//! Owns the question whether this program can read a file. Refuses guesses: an unknown version is
//! an error that names the file's version and the newest one known here.

use bincode::{Decode, Encode};
use std::fmt;

/// The version of the format: a new minor adds, a new major changes meaning.
///
/// A program reads every minor version of its major up to its own. Before 1.0 the format owes no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub struct FormatVersion {
    /// Changes of meaning.
    pub major: u16,
    /// Additions.
    pub minor: u16,
}

/// The version that this program writes. 0.3 adds the reason
/// [`NotCoveredReason::MemoryBudget`](crate::NotCoveredReason::MemoryBudget), which an older reader cannot
/// decode.
pub const FORMAT: FormatVersion = FormatVersion { major: 0, minor: 3 };

/// The redaction policy that keeps everything.
pub const REDACTION_NONE: u32 = 0;

/// The beginning of a note [`crate::Note::Provenance`] in which a session says what was redacted: the
/// policy, the user's own rules, how many values by which rule.
pub const REDACTION_SAYS: &str = "redaction: ";

impl fmt::Display for FormatVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl FormatVersion {
    /// Tells whether this program reads files of that version.
    pub const fn is_readable(self) -> bool {
        self.major == FORMAT.major && self.minor <= FORMAT.minor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_came_before_and_nothing_that_comes_after() {
        let FormatVersion { major, minor } = FORMAT;
        let is_readable = |major, minor| FormatVersion { major, minor }.is_readable();
        assert!(is_readable(major, minor));
        assert!(is_readable(major, minor - 1));
        assert!(!is_readable(major, minor + 1));
        assert!(!is_readable(major + 1, 0));
    }
}
