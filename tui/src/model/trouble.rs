//! Owns what is known of problems, and how their list is ordered. Refuses to find them.

use super::judging::Judging;
use crate::problem::{Entry, Problems};
use std::sync::Arc;

/// What is known of problems.
pub(crate) struct Trouble {
    /// How far the monitortests are.
    pub(crate) judging: Judging,
    /// The list, once it is made.
    pub(crate) problems: Option<Arc<Problems>>,
    /// Whether what came first comes first in it, not what matters most.
    pub(crate) is_by_time: bool,
    /// How many lists are being made.
    pub(crate) making: usize,
}

impl Trouble {
    /// Begins with nothing known.
    pub(crate) const fn begin() -> Self {
        Self {
            judging: Judging::Under(0),
            problems: None,
            is_by_time: false,
            making: 0,
        }
    }

    /// Gives how many rows the list has.
    pub(crate) fn count(&self) -> usize {
        self.problems.as_ref().map_or(0, |all| all.entries.len())
    }

    /// Gives the place of the thing in a row of the list.
    pub(crate) fn at_row(&self, row: usize) -> Option<usize> {
        let all = self.problems.as_ref()?;
        let at = if self.is_by_time {
            *all.by_time.get(row)?
        } else {
            row
        };
        (at < all.entries.len()).then_some(at)
    }

    /// Gives the thing in a row of the list.
    pub(crate) fn row(&self, row: usize) -> Option<&Entry> {
        let at = self.at_row(row)?;
        self.problems.as_ref()?.entries.get(at)
    }
}
