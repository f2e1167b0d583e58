//! Owns what is remembered of the state before a gap while the list that ends it is read: which names
//! differ, and what stood there. Refuses the reading back itself: `backfill` does that.

use super::{Goal, Stream};
use crate::watch::known::{Known, KnownObject};
use kubereel_format::GapCause;
use std::collections::BTreeMap;

/// How many names may differ before the reading back is given up.
const MAX_NAMES: usize = 10_000;

/// The names that a list showed to differ, with what stood there before the gap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Before {
    names: BTreeMap<(Box<str>, Box<str>), Option<KnownObject>>,
    /// There were too many of them, or the list could not be read whole.
    is_incomplete: bool,
}

/// A name under which the two ends of a gap differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Differing {
    /// Its namespace.
    pub(crate) namespace: Box<str>,
    /// Its name.
    pub(crate) name: Box<str>,
    /// What stood there before the gap.
    pub(crate) before: Option<KnownObject>,
    /// What stands there after it.
    pub(crate) after: Option<KnownObject>,
}

/// Whether a gap can be read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Review {
    /// By these names.
    Names(Vec<Differing>),
    /// Not, and why.
    Impossible(&'static str),
}

impl Stream {
    /// Tells whether the list that is to be read or under way ends a gap that can be read back.
    pub(crate) const fn is_reviewing(&self) -> bool {
        self.before.is_some()
    }

    /// Begins to remember, if the list ends a gap of which the server may have the history.
    pub(super) fn begin_review(&mut self) {
        let has_number = self
            .position
            .as_ref()
            .is_some_and(|position| position.version.number().is_some());
        if self.traits.is_cached && has_number && may_be_read_back(self.goal) {
            self.before.get_or_insert_default();
        } else {
            self.before = None;
        }
    }

    /// Remembers what stood under a name, the first time that it is found to differ.
    pub(super) fn remember(&mut self, namespace: &str, name: &str, old: Option<&KnownObject>) {
        if let Some(before) = &mut self.before {
            before.remember(namespace, name, old);
        }
    }

    /// Something of the list could not be read.
    pub(super) const fn spoil_review(&mut self) {
        if let Some(before) = &mut self.before {
            before.is_incomplete = true;
        }
    }

    /// Ends the remembering, once the list is complete.
    pub(super) fn end_review(&mut self, cause: GapCause) -> Option<Review> {
        let before = self.before.take();
        if !self.traits.is_cached && may_be_read_back(Goal::List(Some(cause))) {
            let why =
                "these objects expire in bulk, many in one revision: none of them is looked for";
            return Some(Review::Impossible(why));
        }
        let before = before?;
        if before.is_incomplete {
            let why = "the list could not be read whole, or differs too much";
            return Some(Review::Impossible(why));
        }
        Some(Review::Names(before.compared(&self.known)))
    }
}

/// Tells whether the server may still know what happened.
///
/// Not what passed while no recorder ran: what a list shows then is written at once. While something is
/// read back it would wait in memory, and who was killed once may be killed again.
const fn may_be_read_back(goal: Goal) -> bool {
    matches!(
        goal,
        Goal::List(Some(GapCause::Expired | GapCause::Unavailable))
    )
}

impl Before {
    fn remember(&mut self, namespace: &str, name: &str, old: Option<&KnownObject>) {
        if self.names.len() >= MAX_NAMES {
            self.is_incomplete = true;
            return;
        }
        self.names
            .entry((namespace.into(), name.into()))
            .or_insert_with(|| old.cloned());
    }

    fn compared(self, known: &Known) -> Vec<Differing> {
        let names = self.names.into_iter();
        names
            .map(|((namespace, name), before)| Differing {
                after: known.get(&namespace, &name).cloned(),
                namespace,
                name,
                before,
            })
            .collect()
    }
}
