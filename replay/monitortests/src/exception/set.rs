//! All exceptions of a run, and how often each was used. Those that were not used are counted too.

use super::entry::Circumstances;
use super::entry::Exception;
use super::entry::ExceptionState;
use crate::verdict::{MonitorTestInfo, TestCase, TestFinding};

/// Exceptions in order of precedence: those of the user before those of the program.
#[derive(Clone, Debug, Default)]
pub struct ExceptionSet {
    pub(super) entries: Vec<Exception>,
}

/// How often each exception of a set was used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// How many findings each covers, by its place in the set.
    pub covered: Vec<u64>,
    /// How many findings each would cover, were its time not over.
    pub too_late: Vec<u64>,
}

impl Uses {
    /// Adds the uses of another run.
    pub fn add(&mut self, other: &Self) {
        sum(&mut self.covered, &other.covered);
        sum(&mut self.too_late, &other.too_late);
    }
}

fn sum(own: &mut Vec<u64>, other: &[u64]) {
    if own.len() < other.len() {
        own.resize(other.len(), 0);
    }
    for (own, other) in own.iter_mut().zip(other) {
        *own += other;
    }
}

/// Why a finding does not count as a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excuse {
    /// Whether it is excepted for good or until an issue is closed.
    pub state: ExceptionState,
    /// Where that is discussed; may be empty for one that is excepted for good.
    pub link: String,
    /// Why, as text; may be empty.
    pub why: String,
    /// Where the exception stands: a file's name and a line.
    pub written_at: String,
}

impl ExceptionSet {
    /// Puts exceptions behind those that are there.
    #[must_use]
    pub fn then(mut self, others: Self) -> Self {
        self.entries.extend(others.entries);
        self
    }

    /// Returns all of them.
    pub fn all(&self) -> &[Exception] {
        &self.entries
    }

    /// Begins to count.
    pub(crate) fn uses(&self) -> Uses {
        Uses {
            covered: vec![0; self.entries.len()],
            too_late: vec![0; self.entries.len()],
        }
    }

    /// Finds the first exception that covers a finding and whose time is not over.
    pub(crate) fn excuse(
        &self,
        about: &MonitorTestInfo,
        case: &TestCase,
        finding: &TestFinding,
        circumstances: &Circumstances<'_>,
        uses: &mut Uses,
    ) -> Option<Excuse> {
        for (place, exception) in self.entries.iter().enumerate() {
            if !exception.covers(about, case, finding, circumstances) {
                continue;
            }
            let is_expired = exception.is_expired(circumstances.now);
            let counts = if is_expired {
                &mut uses.too_late
            } else {
                &mut uses.covered
            };
            if let Some(count) = counts.get_mut(place) {
                *count += 1;
            }
            if !is_expired {
                return Some(Excuse {
                    state: exception.state,
                    link: exception.link.clone(),
                    why: exception.why.clone(),
                    written_at: exception.written_at(),
                });
            }
        }
        None
    }
}
