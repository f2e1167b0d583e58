//! Which texts and names of an object are searched, asked along a walk over it.

use crate::text::SuspectPlaces;
use std::ops::Range;

/// Which texts of an object are searched.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TextScope<'w> {
    None,
    All,
    /// Those that contain such a place, found in the same JSON.
    At(&'w SuspectPlaces),
}

/// A scope along a walk: questions must come in the order of the places.
#[derive(Debug)]
pub(super) struct ScopeCursor<'w> {
    scope: TextScope<'w>,
    /// How many places of texts, and of names, are behind the walk.
    passed_texts: usize,
    passed_names: usize,
}

impl<'w> ScopeCursor<'w> {
    pub(super) const fn new(scope: TextScope<'w>) -> Self {
        Self {
            scope,
            passed_texts: 0,
            passed_names: 0,
        }
    }

    /// Returns whether a name may announce a secret; its place includes the quotes.
    pub(super) fn has_name(&mut self, at: &Range<usize>) -> bool {
        let TextScope::At(places) = self.scope else {
            return true;
        };
        let found = next_place(&places.names, &mut self.passed_names, at.start);
        found.is_some_and(|found| found <= at.end)
    }

    /// Returns whether a text must be searched; its place includes the quotes.
    pub(super) fn has_text(&mut self, at: &Range<usize>) -> bool {
        match self.scope {
            TextScope::None => false,
            TextScope::All => true,
            TextScope::At(places) => {
                let found = next_place(&places.texts, &mut self.passed_texts, at.start);
                found.is_some_and(|found| found < at.end)
            }
        }
    }
}

/// Returns the first place that is not before `from`.
fn next_place(places: &[usize], passed: &mut usize, from: usize) -> Option<usize> {
    while let Some(place) = places.get(*passed).copied() {
        if place >= from {
            return Some(place);
        }
        *passed += 1;
    }
    None
}
