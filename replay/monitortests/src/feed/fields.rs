//! Owns which fields of an object are read: a tree of member names. Refuses values.

use std::collections::BTreeMap;

/// Members that are read; one without members below it is read whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    below: BTreeMap<String, Self>,
    is_whole: bool,
}

impl Fields {
    /// Adds a path of member names, `status.conditions.type`: of lists, every item's.
    pub(crate) fn add(&mut self, path: &str) {
        let names = path.split('.').filter(|name| !name.is_empty());
        let mut at = self;
        for name in names {
            at = at.below.entry(name.to_owned()).or_default();
        }
        at.is_whole = true;
    }

    /// Tells whether all below is read.
    pub(crate) const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Gives what is read of a member.
    pub(crate) fn below(&self, name: &str) -> Option<&Self> {
        self.below.get(name)
    }

    /// Gives the members below, by name.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.below
            .iter()
            .map(|(name, below)| (name.as_str(), below))
    }
}
