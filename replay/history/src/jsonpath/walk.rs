//! Owns what a path finds in an object. Refuses to find anything where a step does not fit, as the
//! server does: a list without the place, a filter over what is no list.

use super::parse::{Filter, Path, Slice, Step};
use serde_json::Value;

pub(crate) type Found<'a> = Vec<&'a Value>;

/// How many values a step finds at most. The server has no bound; nobody wants so many.
const MOST: usize = 100_000;

/// A step did not fit: the path finds nothing at all.
#[derive(Debug)]
pub(crate) struct Misfit;

impl Path {
    /// Gives the first value at the path.
    pub(crate) fn first<'a>(&'a self, object: &'a Value) -> Option<&'a Value> {
        let found = self.all(object).ok()?;
        found.first().copied()
    }

    /// Gives all values at the path.
    pub(crate) fn all<'a>(&'a self, object: &'a Value) -> Result<Found<'a>, Misfit> {
        self.walk(vec![object])
    }

    fn walk<'a>(&'a self, from: Found<'a>) -> Result<Found<'a>, Misfit> {
        self.steps
            .iter()
            .try_fold(from, |found, step| step.of(&found))
    }
}

impl Step {
    fn of<'a>(&'a self, from: &[&'a Value]) -> Result<Found<'a>, Misfit> {
        let mut found = Vec::new();
        match self {
            Self::Literal(value) => found.push(value),
            Self::Word => return Err(Misfit),
            Self::Union(paths) => {
                for path in paths {
                    add(&mut found, path.walk(from.to_vec())?)?;
                }
            }
            Self::Member(name) => {
                let members = from.iter().filter_map(|value| value.get(name));
                add(&mut found, members)?;
            }
            Self::Every => {
                for value in from {
                    add(&mut found, parts(value))?;
                }
            }
            Self::Descend => {
                for value in from {
                    descend(value, &mut found)?;
                }
            }
            Self::Slice(slice) => {
                for value in from.iter().filter(|value| !value.is_null()) {
                    add(&mut found, slice.of(items(value)?)?)?;
                }
            }
            Self::Filter(filter) => {
                for value in from {
                    for item in items(value)? {
                        if filter.passes(item)? {
                            add(&mut found, [item])?;
                        }
                    }
                }
            }
        }
        Ok(found)
    }
}

impl Slice {
    fn of(self, items: &[Value]) -> Result<impl Iterator<Item = &Value>, Misfit> {
        let len = i64::try_from(items.len()).ok().ok_or(Misfit)?;
        let place = |at: i64| usize::try_from(at).ok().ok_or(Misfit);
        let from = self.from.unwrap_or_default();
        let mut end = if self.is_single {
            from.checked_add(1).ok_or(Misfit)?
        } else {
            self.to.unwrap_or(len)
        };
        if end < 0 || (end == 0 && self.is_single) {
            end += len;
        }
        let from = if from < 0 { from + len } else { from };
        let taken = if from == end {
            &[]
        } else {
            let is_within = (0..len).contains(&from) && (from..=len).contains(&end);
            let range = is_within.then_some(place(from)?..place(end)?);
            range.and_then(|range| items.get(range)).ok_or(Misfit)?
        };
        let by = place(self.by.unwrap_or(1))?;
        if by == 0 {
            return Err(Misfit);
        }
        Ok(taken.iter().step_by(by))
    }
}

impl Filter {
    fn passes(&self, item: &Value) -> Result<bool, Misfit> {
        let left = self.left.walk(vec![item]);
        let Some((operator, right)) = &self.right else {
            // What does not fit is there all the same.
            return Ok(left.map_or(true, |found| !found.is_empty()));
        };
        let left = left?;
        if left.is_empty() {
            return Ok(false);
        }
        let right = right.walk(vec![item])?;
        match (left.as_slice(), right.as_slice()) {
            ([_], []) => Ok(false),
            ([left], [right]) => operator.holds(left, right).ok_or(Misfit),
            // Several values are too many.
            _ => Err(Misfit),
        }
    }
}

fn add<'a>(found: &mut Found<'a>, more: impl IntoIterator<Item = &'a Value>) -> Result<(), Misfit> {
    for value in more {
        if found.len() >= MOST {
            return Err(Misfit);
        }
        found.push(value);
    }
    Ok(())
}

fn items(value: &Value) -> Result<&[Value], Misfit> {
    value.as_array().map(Vec::as_slice).ok_or(Misfit)
}

fn parts(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(members) => members.values().collect(),
        _ => Vec::new(),
    }
}

/// Adds a value and all that is in it, if anything is.
fn descend<'a>(value: &'a Value, found: &mut Found<'a>) -> Result<(), Misfit> {
    let parts = parts(value);
    let has_parts = !parts.is_empty() || value.as_str().is_some_and(|text| !text.is_empty());
    if has_parts {
        add(found, [value])?;
    }
    // The depth is bounded: the parser refuses more than 128 levels.
    parts.into_iter().try_for_each(|part| descend(part, found))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn first(path: &str, object: &Value) -> Option<Value> {
        let path = Path::parse(path).unwrap_or_else(|| panic!("{path} is a path"));
        path.first(object).cloned()
    }

    #[test]
    fn paths_lead_to_the_first_value() {
        let object = json!({
            "metadata": {"name": "a", "annotations": {"x.io/y": "z"}},
            "status": {"conditions": [
                {"type": "Available", "status": "True"},
                {"type": "Degraded", "status": "False", "n": 7},
            ]},
            "list": ["first", "middle", "last"],
            "x": {"y": "deep"},
        });
        for (path, expected) in [
            (".metadata.name", json!("a")),
            ("$.metadata.name", json!("a")),
            (r".metadata.annotations.x\.io/y", json!("z")),
            (r".metadata.annotations['x\.io/y']", json!("z")),
            // A dot in quotes parts as one outside does.
            ("['x.y']", json!("deep")),
            (
                r#".status.conditions[?(@.type=="Degraded")].status"#,
                json!("False"),
            ),
            (
                ".status.conditions[?(@.type == 'Degraded')].status",
                json!("False"),
            ),
            (".status.conditions[?(@.n==7)].type", json!("Degraded")),
            (".status.conditions[?(@.n>6)].type", json!("Degraded")),
            (".status.conditions[?(@.n)].type", json!("Degraded")),
            (
                r#".status.conditions[?(@.type!="Available")].type"#,
                json!("Degraded"),
            ),
            (r#".status.conditions[?(@.type==")")].type"#, json!(null)),
            (".status.conditions[*].type", json!("Available")),
            (".status.conditions[1].type", json!("Degraded")),
            (".status.conditions[?(@.x==word)].type", json!(null)),
            (".metadata.name} more", json!("a")),
            (".list[0]", json!("first")),
            (".list[-1]", json!("last")),
            (".list[-1:]", json!("last")),
            (".list[1:]", json!("middle")),
            (".list[:-1]", json!("first")),
            (".list[0:3:2]", json!("first")),
            (".list[2,0]", json!("last")),
            (".metadata['name','annotations']", json!("a")),
            (".metadata.*", json!({"x.io/y": "z"})),
            ("..y", json!("deep")),
            ("..status", json!(object["status"])),
        ] {
            let expected = Some(expected).filter(|value| !value.is_null());
            assert_eq!(first(path, &object), expected, "{path}");
        }
    }

    #[test]
    fn what_does_not_fit_finds_nothing() {
        let object = json!({"list": [1, 2.5, "a", null], "name": "a", "null": null, "none": []});
        for path in [
            ".nothing.at.all",
            ".list[4]",
            ".list[-5]",
            ".list[3:1]",
            ".list[0:5]",
            ".list[1:1]",
            ".list[0:2:0]",
            ".list[0,9]",
            ".none[0]",
            ".none[*]",
            ".name.more",
            ".name[0]",
            ".list.x",
            ".null[0]",
            ".null.x",
            ".null[?(@.x)]",
            ".list[?(@ == 'a')]",
            ".list[?(@ == word)]",
            ".name word",
            ".",
        ] {
            assert_eq!(first(path, &object), None, "{path}");
        }
    }

    #[test]
    fn what_is_found_is_bounded() {
        let mut object = json!([1]);
        for _ in 0..64 {
            object = json!([object.take()]);
        }
        let path = "[*,*]".repeat(64);
        assert_eq!(first(&path, &object), None);
    }
}
