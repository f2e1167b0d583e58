//! Which watchers read which fields of a resource: one walk over two versions of an object finds
//! the watchers whose fields changed. A field is walked once, however many watchers read it.

use super::fields::Fields;
use serde_json::{Map, Value};

/// Some of the readers, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ReaderSet(Vec<u64>);

impl ReaderSet {
    pub(super) fn add(&mut self, reader: usize) {
        let word = reader / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        if let Some(word) = self.0.get_mut(word) {
            *word |= 1 << (reader % 64);
        }
    }

    pub(super) fn join(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (own, more) in self.0.iter_mut().zip(&other.0) {
            *own |= more;
        }
    }

    /// Returns whether all of some others are among these.
    fn has(&self, others: &Self) -> bool {
        others.0.iter().enumerate().all(|(place, word)| {
            let own = self.0.get(place).copied().unwrap_or_default();
            word & !own == 0
        })
    }

    /// Returns their numbers, from the lowest.
    pub(super) fn each(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(place, word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| place * 64 + bit)
        })
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.0.fill(0);
    }
}

/// The fields of a resource, each with those who read it.
#[derive(Clone, Debug, Default)]
pub(super) struct FieldReaders {
    /// Who reads all from here on.
    whole: ReaderSet,
    /// Who reads something from here on.
    any: ReaderSet,
    below: Vec<(String, Self)>,
    /// By the end of a name.
    by_end: Vec<(String, Self)>,
}

impl FieldReaders {
    /// Adds a reader of some fields.
    pub(super) fn add(&mut self, reader: usize, fields: &Fields) {
        self.any.add(reader);
        if fields.is_whole() {
            self.whole.add(reader);
            return;
        }
        for (name, fields) in fields.each() {
            let place = self
                .below
                .binary_search_by(|(known, _)| known.as_str().cmp(name));
            let place = place.unwrap_or_else(|place| {
                self.below.insert(place, (name.to_owned(), Self::default()));
                place
            });
            if let Some((_, below)) = self.below.get_mut(place) {
                below.add(reader, fields);
            }
        }
        for (end, fields) in fields.each_by_end() {
            if let Some((_, below)) = self.by_end.iter_mut().find(|(known, _)| known == end) {
                below.add(reader, fields);
            } else {
                let mut below = Self::default();
                below.add(reader, fields);
                self.by_end.push((end.to_owned(), below));
            }
        }
    }

    /// Returns everyone.
    pub(super) const fn all(&self) -> &ReaderSet {
        &self.any
    }

    /// Adds the readers of members whose names have this ending, if such members differ.
    fn changed_by_end(
        &self,
        end: &str,
        one: &Map<String, Value>,
        other: &Map<String, Value>,
        who: &mut ReaderSet,
    ) {
        for (name, value) in one.iter().filter(|(name, _)| name.ends_with(end)) {
            match other.get(name) {
                Some(other) => self.changed(value, other, who),
                None => who.join(&self.any),
            }
        }
        let mut new = other.keys().filter(|name| name.ends_with(end));
        if new.any(|name| !one.contains_key(name)) {
            who.join(&self.any);
        }
    }

    /// Adds the readers of fields in which two versions differ.
    pub(super) fn changed(&self, one: &Value, other: &Value, who: &mut ReaderSet) {
        if who.has(&self.any) {
            return;
        }
        if self.whole != ReaderSet::default() {
            if one == other {
                return;
            }
            who.join(&self.whole);
        }
        match (one, other) {
            (Value::Object(one), Value::Object(other)) => {
                for (name, below) in &self.below {
                    match (one.get(name), other.get(name)) {
                        (None, None) => {}
                        (Some(one), Some(other)) => below.changed(one, other, who),
                        _ => who.join(&below.any),
                    }
                }
                for (end, below) in &self.by_end {
                    below.changed_by_end(end, one, other, who);
                }
            }
            (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
                for (one, other) in one.iter().zip(other) {
                    self.changed(one, other, who);
                }
            }
            _ => {
                if one != other {
                    who.join(&self.any);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// Values of few shapes, so that two of them often share parts.
    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![Just(json!(null)), Just(json!(1)), Just(json!("x"))];
        leaf.prop_recursive(4, 24, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                proptest::collection::btree_map("[ab]|ba", inner, 0..3)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn paths() -> impl Strategy<Value = Vec<String>> {
        proptest::collection::vec("([ab](\\.[ab]|\\[\\*a\\]){0,2})?", 1..3)
    }

    proptest! {
        /// One walk reports each reader what a walk for it alone tells.
        #[test]
        fn everyone_is_told_what_is_theirs(
            readers in proptest::collection::vec(paths(), 1..70),
            one in values(),
            other in values(),
        ) {
            let fields = readers.iter().map(|paths| {
                let mut fields = Fields::default();
                for path in paths {
                    fields.add(path);
                }
                fields
            });
            let fields: Vec<Fields> = fields.collect();
            let mut tree = FieldReaders::default();
            for (reader, fields) in fields.iter().enumerate() {
                tree.add(reader, fields);
            }
            let mut who = ReaderSet::default();
            tree.changed(&one, &other, &mut who);
            let expected = fields.iter().enumerate().filter(|(_, fields)| fields.differ(&one, &other));
            let expected: Vec<usize> = expected.map(|(reader, _)| reader).collect();
            prop_assert_eq!(who.each().collect::<Vec<_>>(), expected);
        }
    }
}
