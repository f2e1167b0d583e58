//! The objects that exist at the current place of an import. Lists are compared with them, which
//! gives changes and deletions.
//!
//! Invariants:
//!
//! * A list proves the state of what it covers at its moment, and nothing between two lists: an
//!   object that a later list lacks was deleted at an unknown time between them.
//! * Versions older than an object's deletion are not news.
//! * An object that the list may not cover stays.

use kubereel_format::ResourceId;
use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The name of an object: only one object has it at a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ExistingKey {
    pub(crate) resource: ResourceId,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// The known state of an object.
#[derive(Clone, Debug)]
pub(crate) struct ExistingObject {
    pub(crate) uid: String,
    pub(crate) version: String,
    pub(crate) print: u64,
    /// The number of the last list with it.
    pub(crate) list: u64,
    /// The number of the input of that list.
    pub(crate) input: u64,
    /// Whether a list had this version.
    pub(crate) is_listed: bool,
}

/// Why an object of a list cannot be of the time of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListConflict {
    /// Another input of the same time has it, too.
    Shared,
    /// The same input has it in another version, too.
    SeveralStates,
    /// Its version, or that of the list, is lower than in a list of an earlier time.
    Older { version: u128, before: u128 },
}

impl ExistingObject {
    /// Returns whether another version of the object is older.
    fn is_newer_than(&self, version: &str) -> bool {
        match (number(&self.version), number(version)) {
            (Some(own), Some(other)) => own > other,
            _ => false,
        }
    }
}

/// Parses a resourceVersion, if it can be compared.
pub(crate) fn number(version: &str) -> Option<u128> {
    version.parse().ok()
}

/// The scope of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListScope {
    /// Objects of one namespace, or all objects if it is `None`.
    Exact(Option<String>),
    /// The namespaces of its objects; if one document has objects of several namespaces, all namespaces.
    Seen,
    /// Only the namespaces of its objects.
    SeenOnly,
    /// An object in a file of its own in a folder, which proves nothing about others; those that are missing count.
    File,
    /// An object by itself, which proves nothing about others.
    Object,
    /// An object on a line of its own: several are a list.
    Line,
}

/// An observed object compared with the known one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Observed {
    /// No object was known.
    New,
    /// Another version of the known object.
    Changed,
    /// It replaces an object with this uid, which is gone.
    Replaces(String),
    /// The known version.
    Same,
    /// An older version.
    Outdated,
}

/// The existing objects.
#[derive(Debug, Default)]
pub(crate) struct ExistingObjects {
    live: BTreeMap<ExistingKey, ExistingObject>,
    /// The uids of deleted objects, and the version up to which states of them are outdated.
    gone: BTreeMap<String, u128>,
    /// The number of the current list.
    list: u64,
    /// The number of the current input: a list may consist of several.
    input: u64,
    /// The number of the current document: a list may consist of several.
    document: u64,
    /// The resources of the current list so far.
    listed: BTreeMap<ResourceId, ListedResource>,
}

/// What the current list shows of a resource.
#[derive(Debug)]
struct ListedResource {
    scope: ListScope,
    namespaces: BTreeSet<String>,
    /// The last document with it, and its namespace there.
    last: (u64, String),
    /// Whether one document has it in several namespaces, as a list of all namespaces does.
    is_wide: bool,
    /// Whether an object was newer already, so that others may be newer than the list, too.
    is_outdated: bool,
}

/// The objects that a list lacks.
#[derive(Debug, Default)]
pub(crate) struct Vanished {
    /// The objects that are deleted.
    pub(crate) gone: Vec<(ExistingKey, ExistingObject)>,
    /// How many are missing that the list may not cover.
    pub(crate) uncertain: u64,
    /// The resources of which the list has every object.
    pub(crate) complete: Vec<ResourceId>,
}

/// Returns a fingerprint of an object's bytes.
pub(crate) fn fingerprint(body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    hasher.finish()
}

impl ExistingObjects {
    /// Adds an object of the reel to which the import appends.
    pub(crate) fn carry(&mut self, key: ExistingKey, object: ExistingObject) {
        self.live.insert(key, object);
    }

    /// Returns whether there are no objects.
    pub(crate) fn is_empty(&self) -> bool {
        self.live.is_empty()
    }

    /// Returns the only resource of all objects, if there is only one.
    pub(crate) fn only_resource(&self) -> Option<ResourceId> {
        let first = self.live.keys().next()?.resource;
        let last = self.live.keys().next_back()?.resource;
        (first == last).then_some(first)
    }

    /// Begins an input.
    pub(crate) fn begin_input(&mut self) {
        self.input = self.input.saturating_add(1);
        self.begin_document();
        for listed in self.listed.values_mut() {
            if listed.scope == ListScope::Line {
                listed.scope = ListScope::Object;
            }
        }
    }

    /// Begins a document with items: each of several lists may be that of one namespace.
    pub(crate) fn begin_document(&mut self) {
        self.document = self.document.saturating_add(1);
    }

    /// Compares an object of the current list with what lists had before.
    pub(crate) fn conflict(
        &self,
        key: &ExistingKey,
        version: &str,
        observed: &Observed,
    ) -> Option<ListConflict> {
        let known = self.live.get(key).filter(|known| known.list > 0)?;
        if known.list == self.list {
            if known.input != self.input {
                return Some(ListConflict::Shared);
            }
            let is_other = known.is_listed && *observed != Observed::Same;
            return is_other.then_some(ListConflict::SeveralStates);
        }
        let is_older = known.is_listed && *observed == Observed::Outdated;
        is_older.then_some(ListConflict::Older {
            version: number(version)?,
            before: number(&known.version)?,
        })
    }

    /// Begins a list.
    pub(crate) fn begin_list(&mut self) {
        self.list = self.list.saturating_add(1);
        self.listed.clear();
    }

    /// Notes that the list covers a resource.
    pub(crate) fn cover(&mut self, resource: ResourceId, scope: ListScope) {
        match self.listed.entry(resource) {
            Entry::Vacant(vacant) => {
                vacant.insert(ListedResource {
                    scope,
                    namespaces: BTreeSet::new(),
                    last: (0, String::new()),
                    is_wide: false,
                    is_outdated: false,
                });
            }
            Entry::Occupied(mut occupied) => {
                let known = &mut occupied.get_mut().scope;
                match (&*known, scope) {
                    (ListScope::Line, ListScope::Line) => *known = ListScope::Seen,
                    (ListScope::Line, ListScope::Object) => {}
                    (ListScope::Line | ListScope::Object | ListScope::File, scope) => {
                        *known = scope;
                    }
                    _ => {}
                }
            }
        }
    }

    /// Notes that the list has an object, in a version that is known or an older one.
    pub(crate) fn note_listed(&mut self, key: &ExistingKey, scope: ListScope, is_outdated: bool) {
        let is_file = scope == ListScope::File;
        self.cover(key.resource, scope);
        if let Some(listed) = self.listed.get_mut(&key.resource) {
            listed.is_outdated |= is_outdated;
            if !is_file {
                listed.note(self.document, &key.namespace);
            }
        }
        if let Some(object) = self.live.get_mut(key) {
            object.list = self.list;
            object.input = self.input;
            object.is_listed |= !is_outdated;
        }
    }

    /// Compares an observed object with the known one.
    pub(crate) fn judge(
        &self,
        key: &ExistingKey,
        uid: &str,
        version: &str,
        print: u64,
    ) -> Observed {
        let is_old = |limit: &u128| number(version).is_none_or(|version| version <= *limit);
        if self.gone.get(uid).is_some_and(is_old) {
            return Observed::Outdated;
        }
        let Some(known) = self.live.get(key) else {
            return Observed::New;
        };
        if known.uid != uid && !known.uid.is_empty() && !uid.is_empty() {
            return Observed::Replaces(known.uid.clone());
        }
        let is_same_version = !version.is_empty() && known.version == version;
        if is_same_version || known.print == print {
            Observed::Same
        } else if known.is_newer_than(version) {
            Observed::Outdated
        } else {
            Observed::Changed
        }
    }

    /// Notes that a version of an object was written.
    pub(crate) fn put(&mut self, key: ExistingKey, uid: &str, version: &str, print: u64) {
        let object = ExistingObject {
            uid: uid.to_owned(),
            version: version.to_owned(),
            print,
            list: self.list,
            input: self.input,
            is_listed: false,
        };
        self.live.insert(key, object);
    }

    /// Notes that an object was deleted, at a version if that is known.
    pub(crate) fn remove(&mut self, key: &ExistingKey, uid: &str, version: &str) {
        self.live.remove(key);
        if !uid.is_empty() {
            let limit = number(version).unwrap_or(u128::MAX);
            self.gone.insert(uid.to_owned(), limit);
        }
    }

    /// Returns the uid of an object that exists.
    pub(crate) fn uid(&self, key: &ExistingKey) -> Option<String> {
        self.live.get(key).map(|object| object.uid.clone())
    }

    /// Returns whether an object of this uid was deleted.
    pub(crate) fn is_gone(&self, uid: &str) -> bool {
        self.gone.contains_key(uid)
    }

    /// Ends the list, and removes the objects that it lacks. An object that changed after the
    /// list's version is not removed: it is newer than the list. Without a version, a list with outdated objects proves
    /// nothing.
    pub(crate) fn end_list(&mut self, list_version: &str) -> Vanished {
        let mut vanished = Vanished::default();
        for (resource, listed) in &self.listed {
            let scope = &listed.scope;
            let is_outdated = listed.is_outdated && list_version.is_empty();
            if matches!(scope, ListScope::Object | ListScope::Line) {
                continue;
            }
            let from = ExistingKey {
                resource: *resource,
                namespace: String::new(),
                name: String::new(),
            };
            let of_resource = self
                .live
                .range(from..)
                .take_while(|(key, _)| key.resource == *resource);
            let mut missing: Vec<(&ExistingKey, &ExistingObject)> = Vec::new();
            for (key, object) in of_resource {
                if object.list < self.list && !object.is_newer_than_list(list_version) {
                    missing.push((key, object));
                }
            }
            let is_part = matches!(scope, ListScope::Exact(Some(_)) | ListScope::File);
            let mut is_complete = !is_part && !is_outdated;
            for (key, object) in missing {
                let is_covered = match scope {
                    ListScope::Exact(None) => true,
                    ListScope::Exact(Some(namespace)) if *namespace == key.namespace => true,
                    // Not covered by this list.
                    ListScope::Exact(Some(_)) => continue,
                    _ if listed.namespaces.contains(&key.namespace) => true,
                    // An empty list may be that of another namespace: it proves the deletion only of objects without one.
                    ListScope::Seen => listed.is_wide || key.namespace.is_empty(),
                    ListScope::SeenOnly | ListScope::File | ListScope::Object | ListScope::Line => {
                        false
                    }
                };
                if is_covered && !is_outdated {
                    vanished.gone.push((key.clone(), object.clone()));
                } else {
                    vanished.uncertain = vanished.uncertain.saturating_add(1);
                    is_complete = false;
                }
            }
            if is_complete {
                vanished.complete.push(*resource);
            }
        }
        for (key, object) in &vanished.gone {
            self.live.remove(key);
            // If the object is observed again at this version or later, the list was wrong or did
            // not cover it.
            if let Some(before) = number(&object.version).and_then(|version| version.checked_sub(1))
                && !object.uid.is_empty()
            {
                self.gone.insert(object.uid.clone(), before);
            }
        }
        vanished
    }
}

impl ListedResource {
    /// Notes the namespace of an object in a document.
    fn note(&mut self, document: u64, namespace: &str) {
        let (last, in_last) = &mut self.last;
        if in_last != namespace || *last != document {
            self.is_wide |= *last == document;
            self.namespaces.insert(namespace.to_owned());
            self.last = (document, namespace.to_owned());
        }
    }
}

impl ExistingObject {
    /// Returns whether the object changed after a list of this version, which therefore cannot
    /// prove its deletion.
    fn is_newer_than_list(&self, list_version: &str) -> bool {
        !list_version.is_empty() && self.is_newer_than(list_version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(namespace: &str, name: &str) -> ExistingKey {
        ExistingKey {
            resource: ResourceId(0),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    fn objects(names: &[(&str, &str)]) -> ExistingObjects {
        let mut objects = ExistingObjects::default();
        objects.begin_list();
        for (namespace, name) in names {
            objects.put(key(namespace, name), name, "5", 0);
        }
        objects
    }

    fn later_list(
        objects: &mut ExistingObjects,
        names: &[(&str, &str)],
        scope: &ListScope,
    ) -> (Vec<String>, u64) {
        objects.begin_list();
        objects.begin_input();
        objects.cover(ResourceId(0), scope.clone());
        for (namespace, name) in names {
            objects.note_listed(&key(namespace, name), scope.clone(), false);
        }
        let vanished = objects.end_list("9");
        let gone = vanished.gone.into_iter().map(|(key, _)| key.name).collect();
        (gone, vanished.uncertain)
    }

    #[test]
    fn a_later_list_deletes_only_what_it_covers() {
        let all = [("a", "a1"), ("a", "a2"), ("b", "b1")];
        for (listed, scope, gone, uncertain) in [
            (
                &[("a", "a1"), ("b", "b1")][..],
                ListScope::Seen,
                &["a2"][..],
                0,
            ),
            (&[("a", "a1")], ListScope::Seen, &["a2"], 1),
            (
                &[("c", "c1"), ("d", "d1")],
                ListScope::Seen,
                &["a1", "a2", "b1"],
                0,
            ),
            (&[("c", "c1"), ("d", "d1")], ListScope::SeenOnly, &[], 3),
            (&[("a", "a1"), ("b", "b1")], ListScope::File, &[], 1),
            (&[], ListScope::Seen, &[], 3),
            (&[], ListScope::Exact(None), &["a1", "a2", "b1"], 0),
            (&[], ListScope::Exact(Some("b".to_owned())), &["b1"], 0),
        ] {
            let found = later_list(&mut objects(&all), listed, &scope);
            let gone: Vec<String> = gone.iter().map(|one| (*one).to_owned()).collect();
            assert_eq!(found, (gone, uncertain), "{listed:?} {scope:?}");
        }
        let found = later_list(&mut objects(&all[..2]), &[], &ListScope::Seen);
        assert_eq!(found, (Vec::new(), 2));
        let found = later_list(
            &mut objects(&[("", "n1"), ("", "n2")]),
            &[],
            &ListScope::Seen,
        );
        assert_eq!(found, (vec!["n1".to_owned(), "n2".to_owned()], 0));
        let found = later_list(&mut objects(&all), &[("a", "a1")], &ListScope::Object);
        assert_eq!(found, (Vec::new(), 0));
    }

    #[test]
    fn an_object_is_judged_by_uid_version_and_bytes() {
        let mut objects = objects(&[("a", "u1")]);
        let judge = |objects: &ExistingObjects, uid: &str, version: &str, print: u64| {
            objects.judge(&key("a", "u1"), uid, version, print)
        };
        assert_eq!(judge(&objects, "u1", "5", 1), Observed::Same);
        assert_eq!(judge(&objects, "u1", "", 0), Observed::Same);
        assert_eq!(judge(&objects, "u1", "", 1), Observed::Changed);
        assert_eq!(judge(&objects, "u1", "10", 1), Observed::Changed);
        assert_eq!(judge(&objects, "u1", "4", 1), Observed::Outdated);
        let expected = Observed::Replaces("u1".to_owned());
        assert_eq!(judge(&objects, "u2", "10", 1), expected);
        objects.remove(&key("a", "u1"), "u1", "11");
        assert_eq!(judge(&objects, "u1", "10", 1), Observed::Outdated);
        assert_eq!(judge(&objects, "u1", "", 1), Observed::Outdated);
        assert_eq!(judge(&objects, "u2", "10", 1), Observed::New);
    }

    #[test]
    fn what_changed_after_the_list_is_not_gone() {
        let mut objects = objects(&[("a", "old")]);
        objects.put(key("a", "new"), "new", "12", 0);
        let (gone, _) = later_list(&mut objects, &[], &ListScope::Exact(None));
        assert_eq!(gone, ["old"]);
        let judge = |version: &str| objects.judge(&key("a", "old"), "old", version, 1);
        assert_eq!(
            (judge("5"), judge("4")),
            (Observed::New, Observed::Outdated)
        );
    }
}
