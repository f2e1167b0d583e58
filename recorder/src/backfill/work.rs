//! Owns the words in which a gap is handed over: its two ends, and what differs between them. Refuses
//! what has no numbers for versions: there is no time before such a version.

use crate::watch::known::KnownObject;

/// One object's state at an end of the gap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Life {
    /// Its uid.
    pub(crate) uid: String,
    /// Its version there.
    pub(crate) version: u128,
}

impl Life {
    /// Takes what a stream knows; `None` if it has no uid or no version that is a number.
    pub(crate) fn of(known: &KnownObject) -> Option<Self> {
        let uid = known.uid.text();
        let version = known.version.as_ref()?.number()?;
        (!uid.is_empty()).then_some(Self { uid, version })
    }
}

/// A name under which the two ends differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Suspect {
    /// Its namespace; empty for cluster-scoped objects.
    pub(crate) namespace: String,
    /// Its name.
    pub(crate) name: String,
    /// What stood there before the gap.
    pub(crate) before: Option<Life>,
    /// What stands there after it.
    pub(crate) after: Option<Life>,
}

/// A gap to be read back: all that happened after `from`, up to and including `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Work {
    /// The last revision that is known.
    pub(crate) from: u128,
    /// The revision of the list that ended the gap.
    pub(crate) to: u128,
    /// What differs.
    pub(crate) suspects: Vec<Suspect>,
    /// Some states at the ends could not be told.
    pub(crate) has_unclear: bool,
}
