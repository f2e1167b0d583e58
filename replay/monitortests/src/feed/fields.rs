//! Which fields of an object are read: a tree of member names. It does not handle values.

use serde_json::{Map, Value};
use std::cmp::Ordering;

/// Members that are read; one without members below it is read whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    /// By length, then by name: most names that are looked up are others, and few have the same length.
    below: Vec<(String, Self)>,
    is_whole: bool,
}

/// Compares names by their length, and only then by their letters.
fn by_length(one: &str, other: &str) -> Ordering {
    let by_length = one.len().cmp(&other.len());
    by_length.then_with(|| one.cmp(other))
}

impl Fields {
    /// Adds a path of member names, `status.conditions.type`: of lists, every item's.
    pub(crate) fn add(&mut self, path: &str) {
        let names = path.split('.').filter(|name| !name.is_empty());
        let mut at = self;
        for name in names {
            at = at.member(name);
        }
        at.is_whole = true;
    }

    /// Returns a member, which is read from now on.
    fn member(&mut self, name: &str) -> &mut Self {
        let place = match self.place(name) {
            Ok(place) => place,
            Err(place) => {
                self.below.insert(place, (name.to_owned(), Self::default()));
                place
            }
        };
        #[expect(clippy::indexing_slicing, reason = "it was found or put there")]
        &mut self.below[place].1
    }

    fn place(&self, name: &str) -> Result<usize, usize> {
        let below = &self.below;
        below.binary_search_by(|(known, _)| by_length(known, name))
    }

    /// Adds other fields.
    pub(crate) fn join(&mut self, other: &Self) {
        self.is_whole |= other.is_whole;
        for (name, below) in &other.below {
            self.member(name).join(below);
        }
    }

    /// Returns whether all below is read.
    pub(crate) const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Returns a member that is read, with what is read of it.
    pub(crate) fn below(&self, name: &str) -> Option<(&str, &Self)> {
        let (name, below) = self.below.get(self.place(name).ok()?)?;
        Some((name, below))
    }

    /// Returns the members below, by name.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.below
            .iter()
            .map(|(name, below)| (name.as_str(), below))
    }

    /// Copies the fields of a value.
    pub(crate) fn cut(&self, value: &Value) -> Value {
        if self.is_whole {
            return value.clone();
        }
        match value {
            Value::Object(map) => {
                let kept = self
                    .below
                    .iter()
                    .filter_map(|(name, below)| Some((name.clone(), below.cut(map.get(name)?))));
                Value::Object(kept.collect::<Map<_, _>>())
            }
            Value::Array(items) => Value::Array(items.iter().map(|item| self.cut(item)).collect()),
            other => other.clone(),
        }
    }

    /// Returns whether two values differ in the fields.
    pub(crate) fn differ(&self, one: &Value, other: &Value) -> bool {
        if self.is_whole {
            return one != other;
        }
        match (one, other) {
            (Value::Object(one), Value::Object(other)) => {
                self.below
                    .iter()
                    .any(|(name, below)| match (one.get(name), other.get(name)) {
                        (None, None) => false,
                        (Some(one), Some(other)) => below.differ(one, other),
                        _ => true,
                    })
            }
            (Value::Array(one), Value::Array(other)) => {
                one.len() != other.len()
                    || one
                        .iter()
                        .zip(other)
                        .any(|(one, other)| self.differ(one, other))
            }
            _ => one != other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(paths: &[&str]) -> Fields {
        let mut fields = Fields::default();
        for path in paths {
            fields.add(path);
        }
        fields
    }

    #[test]
    fn what_is_cut_differs_exactly_where_the_whole_does() {
        let fields = fields(&["a.b", "c.d", "e"]);
        let values = [
            json!({"a": {"b": 1, "x": 1}, "c": [{"d": 1, "x": 2}, 3], "e": {"f": 1}}),
            json!({"a": {"b": 1, "x": 9}, "c": [{"d": 1, "x": 9}, 3], "e": {"f": 1}, "g": 1}),
            json!({"a": {"b": 2}, "c": [{"d": 1}, 3], "e": {"f": 1}}),
            json!({"a": {}, "c": [{"d": 1}, 3], "e": {"f": 1}}),
            json!({"a": 7, "c": [{"d": 1}], "e": {"f": 1}}),
            json!({"a": {"b": 1}, "c": [{"d": 1}, {"x": 1}], "e": null}),
            json!(null),
            json!([]),
        ];
        for one in &values {
            for other in &values {
                let expected = fields.cut(one) != fields.cut(other);
                assert_eq!(fields.differ(one, other), expected, "{one} and {other}");
            }
        }
        assert!(!fields.differ(&values[0], &values[1]));
        assert!(fields.differ(&values[0], &values[2]));
    }
}
