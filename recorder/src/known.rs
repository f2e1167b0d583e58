//! The live objects of a resource: name, uid and resourceVersion, as small as possible, so that a
//! list after a gap can be compared with them. The bodies are in the file.

use crate::version::ResourceVersion;
use std::collections::BTreeMap;

/// A uid. Nearly all are UUIDs and need no allocation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Uid {
    /// A UUID in the usual spelling, as its high and low half.
    Uuid(u64, u64),
    /// Anything else.
    Text(Box<str>),
}

impl Uid {
    /// Takes the server's spelling.
    pub(crate) fn new(text: &str) -> Self {
        match halves(text) {
            Some((high, low)) if spell(high, low) == text => Self::Uuid(high, low),
            _ => Self::Text(text.into()),
        }
    }

    /// Returns the server's spelling.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Uuid(high, low) => spell(*high, *low),
            Self::Text(text) => text.to_string(),
        }
    }
}

fn halves(text: &str) -> Option<(u64, u64)> {
    if text.len() != 36 {
        return None;
    }
    let mut digits = text.bytes().filter(|byte| *byte != b'-');
    let mut half = || {
        let mut value = 0_u64;
        for _ in 0..16 {
            let digit = char::from(digits.next()?).to_digit(16)?;
            value = (value << 4) | u64::from(digit);
        }
        Some(value)
    };
    Some((half()?, half()?))
}

fn spell(high: u64, low: u64) -> String {
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

/// A live object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownObject {
    pub(crate) uid: Uid,
    /// Its last recorded resourceVersion, if it had one.
    pub(crate) version: Option<ResourceVersion>,
    /// The number of the list that showed it last.
    seen_in: u32,
}

/// The live objects of one resource, by namespace and name.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownObjects {
    objects: BTreeMap<Box<str>, KnownObject>,
    list: u32,
}

/// The separator of namespace and name: neither contains it, and it keeps the objects of a
/// namespace together.
const SEPARATOR: char = '\0';

fn key(namespace: &str, name: &str) -> String {
    let mut key = String::with_capacity(namespace.len() + 1 + name.len());
    key.push_str(namespace);
    key.push(SEPARATOR);
    key.push_str(name);
    key
}

impl KnownObjects {
    /// Returns the live object of that name.
    pub(crate) fn get(&self, namespace: &str, name: &str) -> Option<&KnownObject> {
        self.objects.get(key(namespace, name).as_str())
    }

    /// Stores an object under its name, and marks it as seen by the current list.
    pub(crate) fn put(
        &mut self,
        namespace: &str,
        name: &str,
        uid: Uid,
        version: Option<ResourceVersion>,
    ) {
        let object = KnownObject {
            uid,
            version,
            seen_in: self.list,
        };
        self.objects
            .insert(key(namespace, name).into_boxed_str(), object);
    }

    /// Marks an object as seen by the current list.
    pub(crate) fn mark(&mut self, namespace: &str, name: &str) {
        let list = self.list;
        if let Some(object) = self.objects.get_mut(key(namespace, name).as_str()) {
            object.seen_in = list;
        }
    }

    /// Forgets the version of an object: that version is not in the file.
    pub(crate) fn unwritten(&mut self, namespace: &str, name: &str) {
        if let Some(object) = self.objects.get_mut(key(namespace, name).as_str()) {
            object.version = None;
        }
    }

    /// Removes an object.
    pub(crate) fn remove(&mut self, namespace: &str, name: &str) {
        self.objects.remove(key(namespace, name).as_str());
    }

    /// Begins a list: all objects count as unseen.
    pub(crate) fn begin_list(&mut self) {
        self.list = self.list.wrapping_add(1);
    }

    /// Removes the objects that the current list did not show, and returns them in the order of
    /// names.
    pub(crate) fn take_unseen(&mut self) -> Vec<(String, String, KnownObject)> {
        let list = self.list;
        self.objects
            .extract_if(.., |_, object| object.seen_in != list)
            .map(|(key, object)| {
                let (namespace, name) = key.split_once(SEPARATOR).unwrap_or(("", &key));
                (namespace.to_owned(), name.to_owned(), object)
            })
            .collect()
    }

    /// Returns the number of live objects.
    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }

    /// Returns whether there are no live objects.
    pub(crate) fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_every_spelling_of_a_uid() {
        for text in [
            "7b1c5a10-12ab-4cde-8f01-0123456789ab",
            "7B1C5A10-12AB-4CDE-8F01-0123456789AB",
            "7b1c5a1012ab4cde8f010123456789ab----",
            "00000000-0000-0000-0000-000000000000",
            "",
            "kube-scheduler.18a",
        ] {
            assert_eq!(Uid::new(text).text(), text);
        }
        assert!(matches!(
            Uid::new("7b1c5a10-12ab-4cde-8f01-0123456789ab"),
            Uid::Uuid(..)
        ));
    }

    #[test]
    fn finds_what_a_list_did_not_show() {
        let mut known = KnownObjects::default();
        known.begin_list();
        known.put("a", "x", Uid::new("1"), None);
        known.put("a", "y", Uid::new("2"), None);
        known.put("", "z", Uid::new("3"), None);
        known.begin_list();
        known.mark("a", "y");
        known.put("b", "new", Uid::new("4"), None);
        let unseen: Vec<_> = known
            .take_unseen()
            .into_iter()
            .map(|(namespace, name, object)| (namespace, name, object.uid.text()))
            .collect();
        let expected = [
            (String::new(), "z".to_owned(), "3".to_owned()),
            ("a".to_owned(), "x".to_owned(), "1".to_owned()),
        ];
        assert_eq!(unseen, expected);
        assert_eq!(known.len(), 2);
    }
}
