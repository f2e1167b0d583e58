//! Owns the comparison of two moments: the first of them, and what differs. Refuses to compare.

use super::place::Place;
use super::subject::Subject;
use std::sync::Arc;

/// The comparison of two moments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compared {
    /// The first moment, once it is set.
    pub(crate) a: Option<Place>,
    /// What differs, once two moments were compared.
    pub(crate) difference: Option<Arc<Difference>>,
}

/// What differs between two moments.
#[derive(Clone, Debug)]
pub(crate) struct Difference {
    /// The first moment.
    pub(crate) a: Place,
    /// The second one.
    pub(crate) b: Place,
    /// The objects, in order of resources.
    pub(crate) rows: Vec<DifferenceRow>,
    /// What is not known, in words.
    pub(crate) unknown: Vec<String>,
    /// How many objects were left out.
    pub(crate) rest: usize,
}

/// An object that differs.
#[derive(Clone, Debug)]
pub(crate) struct DifferenceRow {
    /// The object.
    pub(crate) subject: Subject,
    /// What became of it: created, deleted, recreated or changed.
    pub(crate) fate: &'static str,
    /// What changed, in short.
    pub(crate) words: String,
}
