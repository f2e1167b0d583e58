//! Owns what came of a comparison, and its failing. Refuses the comparison.

use anyhow::{Result, ensure};

use crate::faults::Measured;

/// What became of all changes that an oracle told of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// They are in the reel as they came.
    pub recorded: usize,
    /// They are in the reel, read back from the server's history.
    pub reconstructed: usize,
    /// They are not, and the reel says that changes are missing there.
    pub declared: usize,
    /// They are not, and lie before the first complete list or behind the last proof: nothing is
    /// claimed there.
    pub outside: usize,
    /// They are of resources that the reel does not know as recorded.
    pub unlisted: usize,
    /// They are not, because the server sent something else instead.
    pub altered: usize,
    /// They are not, and nothing says so.
    pub lost: Vec<String>,
    /// What the reel claims, and is not so.
    pub false_claims: Vec<String>,
    /// The revisions of what is lost or falsely claimed, in order.
    pub wrong_revisions: Vec<u128>,
}

impl Tally {
    /// All changes that were told of.
    pub fn all(&self) -> usize {
        self.recorded
            + self.reconstructed
            + self.declared
            + self.outside
            + self.unlisted
            + self.altered
            + self.lost.len()
    }

    /// Fails with what is lost and with what is claimed falsely; leaves the counts for the table of
    /// faults.
    ///
    /// # Errors
    /// When anything is.
    pub fn check(self) -> Result<Self> {
        let first: Vec<&String> = self.lost.iter().take(20).collect();
        ensure!(
            first.is_empty(),
            "{} of {} changes are lost, first {first:#?}",
            self.lost.len(),
            self.all()
        );
        let first: Vec<&String> = self.false_claims.iter().take(20).collect();
        ensure!(
            first.is_empty(),
            "{} claims are false, first {first:#?}",
            self.false_claims.len()
        );
        self.measured().leave()?;
        Ok(self)
    }

    /// The counts.
    pub fn measured(&self) -> Measured {
        Measured {
            recorded: self.recorded,
            reconstructed: self.reconstructed,
            declared: self.declared,
            lost: self.lost.len(),
        }
    }
}
