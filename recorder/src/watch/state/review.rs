//! The objects before a gap while the list that ends it is read: where reading back begins.
//!
//! Invariants:
//! * The first known state under each differing name is remembered, over all attempts at the list.
//! * A review is complete, or is not used: if part of the list could not be read, or too many names
//!   differ, the gap is not read back.

use crate::known::{KnownObject, KnownObjects};
use crate::watch::state::chain::WatchChain;
use kubereel_format::GapCause;
use std::collections::BTreeMap;

/// How many names may differ before a gap is not read back.
const MAX_NAMES: usize = 10_000;

/// A name under which the two ends of a gap differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GapDifference {
    pub(crate) namespace: Box<str>,
    pub(crate) name: Box<str>,
    /// The object before the gap.
    pub(crate) before: Option<KnownObject>,
    /// The object after the gap.
    pub(crate) after: Option<KnownObject>,
}

/// Whether a gap can be read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GapReview {
    /// By these names.
    Names(Vec<GapDifference>),
    /// Not, for this reason.
    Impossible(&'static str),
}

/// Objects of before a gap by namespace and name; `None` where there was none.
type ObjectsBefore = BTreeMap<(Box<str>, Box<str>), Option<KnownObject>>;

/// The names at which a list differs, with the objects of before the gap.
#[derive(Debug, Default)]
pub(super) struct GapBefore {
    /// `None` while no list is read that ends a gap whose history the server may have.
    names: Option<ObjectsBefore>,
    /// Too many names differ, or part of the list could not be read.
    is_incomplete: bool,
}

impl GapBefore {
    /// Begins to remember, or continues, if the list ends a gap of this cause that can be read
    /// back.
    pub(super) fn begin(&mut self, cause: Option<GapCause>, chain: &WatchChain) {
        let is_possible = chain.is_cached() && chain.number().is_some();
        if is_possible && cause.is_some_and(may_be_read_back) {
            self.names.get_or_insert_default();
        } else {
            *self = Self::default();
        }
    }

    /// Returns whether the current list ends a gap that can be read back.
    pub(super) const fn is_open(&self) -> bool {
        self.names.is_some()
    }

    /// Part of the list could not be read.
    pub(super) const fn spoil(&mut self) {
        self.is_incomplete |= self.is_open();
    }

    /// Remembers the object of a name, the first time that the list differs from it.
    pub(super) fn remember(&mut self, namespace: &str, name: &str, old: Option<&KnownObject>) {
        let Some(names) = &mut self.names else {
            return;
        };
        if names.len() >= MAX_NAMES {
            self.is_incomplete = true;
            return;
        }
        names
            .entry((namespace.into(), name.into()))
            .or_insert_with(|| old.cloned());
    }

    /// Ends the remembering once the list is complete; `None` if reading back makes no sense.
    pub(super) fn end(
        &mut self,
        cause: GapCause,
        chain: &WatchChain,
        known: &KnownObjects,
    ) -> Option<GapReview> {
        let before = std::mem::take(self);
        if !chain.is_cached() && may_be_read_back(cause) {
            let why =
                "these objects expire in bulk, many in one revision: none of them is looked for";
            return Some(GapReview::Impossible(why));
        }
        let names = before.names?;
        if before.is_incomplete {
            let why = "the list could not be read whole, or differs too much";
            return Some(GapReview::Impossible(why));
        }
        let names = names.into_iter();
        let differences = names.map(|((namespace, name), before)| GapDifference {
            after: known.get(&namespace, &name).cloned(),
            namespace,
            name,
            before,
        });
        Some(GapReview::Names(differences.collect()))
    }
}

/// Returns whether the server may still have the history of the gap.
///
/// A gap in which no recorder ran is not read back: its list is written at once. While a gap is
/// read back its events wait in memory, and a recorder that was killed once may be killed again.
const fn may_be_read_back(cause: GapCause) -> bool {
    matches!(cause, GapCause::Expired | GapCause::Unavailable)
}
