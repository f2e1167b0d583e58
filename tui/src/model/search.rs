//! Owns what is looked for in many bodies of the reel, and how far that is. Refuses to look: a thread
//! of its own does, so that nothing waits for it.

use super::compare::Difference;
use super::place::Place;
use super::subject::Subject;
use crate::msg::Way;
use kubereel_history::FieldPath;
use std::sync::Arc;

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    /// The version of an object that changes a field.
    Field(FieldSearch),
    /// What differs between two moments.
    Compare(Place, Place),
}

/// Where a change of a field is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldSearch {
    /// The object.
    pub(crate) subject: Subject,
    /// The field.
    pub(crate) field: FieldPath,
    /// Where one stands.
    pub(crate) from: Place,
    /// Which way.
    pub(crate) way: Way,
}

/// A search that is under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Searching {
    /// Its number: what is found by an earlier one is dropped.
    pub(crate) number: u64,
    /// What is looked for, in words.
    pub(crate) words: String,
    /// How far it is: so many of so many; of none while nobody knows.
    pub(crate) done: (usize, usize),
}

/// The searches: the one that is under way, and how many there were.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Searches {
    count: u64,
    /// The one that is under way.
    pub(crate) now: Option<Searching>,
}

impl Searches {
    /// Begins a search; gives its number.
    pub(crate) fn begin(&mut self, words: String) -> u64 {
        self.count += 1;
        self.now = Some(Searching {
            number: self.count,
            words,
            done: (0, 0),
        });
        self.count
    }

    /// Takes note how far a search is.
    pub(crate) fn tell(&mut self, number: u64, done: (usize, usize)) {
        if let Some(now) = self.now.as_mut().filter(|now| now.number == number) {
            now.done = done;
        }
    }

    /// Ends a search; tells whether it is the one that is waited for.
    pub(crate) fn end(&mut self, number: u64) -> bool {
        self.now.take_if(|now| now.number == number).is_some()
    }
}

/// What a search found.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// A version that changes the field, or why there is none.
    Field(FoundField),
    /// What differs.
    Difference(Arc<Difference>),
}

/// The end of the search for a change of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundField {
    /// Where it is; `None` if there is none that way.
    pub(crate) place: Option<Place>,
    /// What changed, or what there is not, and what makes that doubtful.
    pub(crate) words: String,
}
