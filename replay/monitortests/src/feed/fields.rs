//! Which fields of an object are read: a tree of member names. It does not handle values.

use serde_json::{Map, Value};
use std::cmp::Ordering;

/// Members that are read; one without members below it is read whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    /// By length, then by name: most names that are looked up are others, and few have the same length.
    below: Vec<(String, Self)>,
    /// By the end of a name, the longest first. What is read of a member for a shorter end of its name is part of
    /// what is read for a longer one, and for the whole name.
    by_end: Vec<(String, Self)>,
    is_whole: bool,
}

/// A part of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathPart<'a> {
    /// A member.
    Name(&'a str),
    /// All members whose names end so.
    End(&'a str),
}

/// Reads the parts of a path: `metadata.annotations[example.com/name]`, `data[*.crt]`.
fn parts(path: &str) -> impl Iterator<Item = PathPart<'_>> {
    let mut rest = path;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches('.');
        if let Some(quoted) = rest.strip_prefix('[') {
            let (name, after) = quoted.split_once(']').unwrap_or((quoted, ""));
            rest = after;
            return Some(match name.strip_prefix('*') {
                Some(end) => PathPart::End(end),
                None => PathPart::Name(name),
            });
        }
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        rest = after;
        (!name.is_empty()).then_some(PathPart::Name(name))
    })
}

/// Compares names by their length, and only then by their letters.
fn by_length(one: &str, other: &str) -> Ordering {
    let by_length = one.len().cmp(&other.len());
    by_length.then_with(|| one.cmp(other))
}

impl Fields {
    /// Adds a path, as [`Interest::paths`](super::Interest::paths) has them.
    pub(crate) fn add(&mut self, path: &str) {
        let mut at = &mut *self;
        for part in parts(path) {
            at = match part {
                PathPart::Name(name) => at.member(name),
                PathPart::End(end) => at.members_by_end(end),
            };
        }
        at.is_whole = true;
        self.settle();
    }

    /// Lets what is read for the end of a name be read for names and longer ends that end so.
    fn settle(&mut self) {
        for at in (0..self.by_end.len()).rev() {
            let (longer, rest) = self.by_end.split_at_mut(at);
            if let Some((end, more)) = rest.first() {
                for (_, below) in longer.iter_mut().filter(|(other, _)| other.ends_with(end)) {
                    below.join(more);
                }
                for (_, below) in self
                    .below
                    .iter_mut()
                    .filter(|(name, _)| name.ends_with(end))
                {
                    below.join(more);
                }
            }
        }
        let all = self.below.iter_mut().chain(&mut self.by_end);
        all.for_each(|(_, below)| below.settle());
    }

    /// Returns the members whose names end so, which are read from now on.
    fn members_by_end(&mut self, end: &str) -> &mut Self {
        let known = self.by_end.iter().position(|(known, _)| known == end);
        let place = known.unwrap_or_else(|| {
            let longer = |(known, _): &(String, Self)| known.len() > end.len();
            let place = self.by_end.partition_point(longer);
            self.by_end.insert(place, (end.to_owned(), Self::default()));
            place
        });
        #[expect(clippy::indexing_slicing, reason = "it was found or put there")]
        &mut self.by_end[place].1
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
        for (end, below) in &other.by_end {
            self.members_by_end(end).join(below);
        }
        self.settle();
    }

    /// Returns whether all below is read.
    pub(crate) const fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Returns what is read of a member.
    pub(crate) fn below(&self, name: &str) -> Option<&Self> {
        if let Ok(place) = self.place(name) {
            return self.below.get(place).map(|(_, below)| below);
        }
        let mut ends = self.by_end.iter();
        let (_, below) = ends.find(|(end, _)| name.ends_with(end.as_str()))?;
        Some(below)
    }

    /// Returns the members below, by name.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.below
            .iter()
            .map(|(name, below)| (name.as_str(), below))
    }

    /// Returns the members below, by the end of their names.
    pub(crate) fn each_by_end(&self) -> impl Iterator<Item = (&str, &Self)> {
        self.by_end.iter().map(|(end, below)| (end.as_str(), below))
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
                let mut kept: Map<String, Value> = kept.collect();
                if !self.by_end.is_empty() {
                    for (name, value) in map {
                        if let Some(below) = self.below(name) {
                            kept.insert(name.clone(), below.cut(value));
                        }
                    }
                }
                Value::Object(kept)
            }
            Value::Array(items) => Value::Array(items.iter().map(|item| self.cut(item)).collect()),
            other => other.clone(),
        }
    }

    /// Returns whether two objects differ in the members that are read for the end of their names.
    fn differ_by_end(&self, one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
        let is_read = |name: &String| self.place(name).is_err();
        let gone = other.keys().filter(|name| !one.contains_key(*name));
        let mut gone = gone.filter(|name| is_read(name));
        gone.any(|name| self.below(name).is_some())
            || one
                .iter()
                .filter(|(name, _)| is_read(name))
                .any(|(name, value)| {
                    let below = self.below(name);
                    below.is_some_and(|below| match other.get(name) {
                        Some(other) => below.differ(value, other),
                        None => true,
                    })
                })
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
                    || !self.by_end.is_empty() && self.differ_by_end(one, other)
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
    fn a_path_has_names_with_dots_and_ends_of_names() {
        let fields = fields(&[
            "m.n[a.b/c]",
            "d[*.crt]",
            "d[*.pem].x",
            "d[one.pem].y",
            "d[*n.pem].z",
            "e[f].g",
        ]);
        let value = json!({
            "m": {"n": {"a.b/c": 1, "a": 2}},
            "d": {
                "ca.crt": 1, ".crt": 2, "crt": 3, "two.pem": {"x": 4, "y": 5},
                "one.pem": {"x": 6, "y": 7, "z": 8}, "n.pem": {"x": 6, "y": 7, "z": 8},
            },
            "e": {"f": {"g": 7, "h": 8}},
        });
        assert_eq!(
            fields.cut(&value),
            json!({
                "m": {"n": {"a.b/c": 1}},
                "d": {
                    "ca.crt": 1, ".crt": 2, "two.pem": {"x": 4}, "one.pem": {"x": 6, "y": 7},
                    "n.pem": {"x": 6, "z": 8},
                },
                "e": {"f": {"g": 7}},
            })
        );
    }

    #[test]
    fn what_is_cut_differs_exactly_where_the_whole_does() {
        let fields = fields(&["a.b", "c.d", "e", "h[*.i].j"]);
        let values = [
            json!({"a": {"b": 1, "x": 1}, "c": [{"d": 1, "x": 2}, 3], "e": {"f": 1}}),
            json!({"a": {"b": 1, "x": 9}, "c": [{"d": 1, "x": 9}, 3], "e": {"f": 1}, "g": 1}),
            json!({"a": {"b": 2}, "c": [{"d": 1}, 3], "e": {"f": 1}}),
            json!({"a": {}, "c": [{"d": 1}, 3], "e": {"f": 1}}),
            json!({"a": 7, "c": [{"d": 1}], "e": {"f": 1}}),
            json!({"a": {"b": 1}, "c": [{"d": 1}, {"x": 1}], "e": null}),
            json!({"h": {"x.i": {"j": 1, "k": 1}, "x": 1}}),
            json!({"h": {"x.i": {"j": 1, "k": 2}, "x": 2}}),
            json!({"h": {"x.i": {"j": 2}}}),
            json!({"h": {"x.i": {"j": 1}, "y.i": {}}}),
            json!({"h": {}}),
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
