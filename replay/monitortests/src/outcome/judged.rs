//! Owns a finding with what was decided of it. Refuses the decision: exceptions and the rule made it.

use crate::exception::ExceptionState;
use crate::verdict::{Finding, Severity};

/// Why a finding does not count as a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excuse {
    /// Whether it is excepted for good or until an issue is closed.
    pub state: ExceptionState,
    /// Where that is discussed; may be empty for one that is excepted for good.
    pub link: String,
    /// Why, in words; may be empty.
    pub why: String,
    /// Where the exception stands: a file's name and a line.
    pub written_at: String,
}

/// A finding with what was decided of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// What was found wrong.
    pub finding: Finding,
    /// How bad it is in the end: never worse than a flake for a rule that never fails.
    pub severity: Severity,
    /// The exception that covers it.
    pub excuse: Option<Excuse>,
}

impl Judged {
    /// Tells whether it makes its case fail.
    pub const fn is_failure(&self) -> bool {
        self.excuse.is_none() && matches!(self.severity, Severity::Fail)
    }
}
