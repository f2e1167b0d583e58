//! The objects that the objects of a problem name, each with its distance and how it is named.

use std::collections::{BTreeMap, HashSet};

/// The relation of what a deployment tool marks as managed by it.
pub(super) const MANAGER: &str = "it manages the object";

/// Names of objects, with the number of steps to each and the relation as text.
#[derive(Default)]
pub(super) struct NamedObjects {
    /// By kind, namespace and name: the shortest way to each.
    named: BTreeMap<(String, String, String), (u8, String)>,
    /// All names in `named`.
    names: HashSet<String>,
    /// Names that fields like `fooRef.name` hold, whatever kind they mean.
    any_kind: BTreeMap<String, (u8, String)>,
}

impl NamedObjects {
    /// Adds an object. An empty name names nothing.
    pub(super) fn add(&mut self, kind: &str, namespace: &str, name: &str, distance: u8, via: &str) {
        if name.is_empty() {
            return;
        }
        self.names.insert(name.to_owned());
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        let known = self.named.entry(key).or_insert((distance, via.to_owned()));
        if distance < known.0 {
            *known = (distance, via.to_owned());
        }
    }

    /// Adds an object of a kind that is not known, by the field that names it.
    pub(super) fn add_of_any_kind(&mut self, name: &str, distance: u8, field: &str) {
        let known = self.any_kind.entry(name.to_owned());
        known.or_insert_with(|| (distance, named_by(field)));
    }

    /// Adds what manages the object, in whatever kind of a deployment tool.
    pub(super) fn add_manager(&mut self, name: String) {
        self.any_kind.insert(name, (1, MANAGER.to_owned()));
    }

    /// Returns whether an object of this name is named with its kind.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Returns the distance and the relation of an object that is named with its kind.
    pub(super) fn get(&self, kind: &str, namespace: &str, name: &str) -> Option<(u8, &str)> {
        // Most objects have another name: those need no key.
        if !self.has_name(name) {
            return None;
        }
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        let (distance, via) = self.named.get(&key)?;
        Some((*distance, via))
    }

    /// Returns the distance and the relation of a name whose kind is not known.
    pub(super) fn get_of_any_kind(&self, name: &str) -> Option<(u8, &str)> {
        let (distance, via) = self.any_kind.get(name)?;
        Some((*distance, via))
    }
}

/// Returns the relation of what a field names.
pub(super) fn named_by(field: &str) -> String {
    format!("named by its field {field}")
}
