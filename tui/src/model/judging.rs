//! Owns how far the monitortests are. Refuses to run them.

use crate::findings::Findings;
use std::sync::Arc;

/// How far the monitortests are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judging {
    /// They run: so many hundredths of the reel are read.
    Under(u8),
    /// They were stopped.
    Stopped,
    /// They could not be run to their end, and why.
    Failed(String),
    /// They are done.
    Done(Arc<Findings>),
}

impl Judging {
    /// Gives what they found, if they are done.
    pub(crate) const fn findings(&self) -> Option<&Arc<Findings>> {
        match self {
            Self::Done(findings) => Some(findings),
            _ => None,
        }
    }
}
