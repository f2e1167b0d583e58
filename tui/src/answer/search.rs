//! Owns which search is done by what. Refuses to know threads: whoever searches waits.

use super::{compare, field_change};
use crate::model::{Found, Search};
use kubereel_history::Timeline;
use std::sync::Arc;

impl Search {
    /// Looks for it. `go_on` is told how many of how many steps are done, and ends it by `false`: then
    /// nothing is found.
    pub(crate) fn run(
        &self,
        timeline: &Timeline,
        go_on: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Option<Found> {
        match self {
            Self::Compare(a, b) => compare::compare(timeline, *a, *b, go_on)
                .map(|difference| Found::Difference(Arc::new(difference))),
            Self::Field(search) => field_change::find(timeline, search, go_on).map(Found::Field),
        }
    }
}
