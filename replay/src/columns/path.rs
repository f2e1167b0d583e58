//! Owns the paths of printed columns: `.a.b`, `['a.b']`, `[0]`, `[*]`, `[?(@.type=="Ready")]`.
//! Refuses the rest of `JSONPath`: a definition may not use it for columns.

use serde_json::Value;

/// A path into an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Member(String),
    /// Counts from the end if negative.
    Item(i64),
    Every,
    /// Items of which a member has, or has not, this value.
    Where {
        path: Path,
        is_equal: bool,
        value: Value,
    },
}

impl Path {
    /// Reads a path; `None` if it has another form.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let inner = text
            .strip_prefix('{')
            .and_then(|text| text.strip_suffix('}'));
        let mut rest = inner.unwrap_or(text).trim();
        rest = rest.strip_prefix('$').unwrap_or(rest);
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) = match rest.strip_prefix('[') {
                Some(bracket) => bracketed(bracket)?,
                None => member(rest.strip_prefix('.')?)?,
            };
            steps.push(step);
            rest = after;
        }
        Some(Self { steps })
    }

    /// Gives the first value at the path.
    pub(super) fn first<'a>(&self, object: &'a Value) -> Option<&'a Value> {
        let mut found = vec![object];
        for step in &self.steps {
            found = found.into_iter().flat_map(|value| step.of(value)).collect();
        }
        found.first().copied()
    }
}

impl Step {
    fn of<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        match self {
            Self::Member(name) => value.get(name).into_iter().collect(),
            Self::Item(at) => value
                .as_array()
                .and_then(|items| items.get(place(*at, items.len())?))
                .into_iter()
                .collect(),
            Self::Every => match value {
                Value::Array(items) => items.iter().collect(),
                Value::Object(members) => members.values().collect(),
                _ => Vec::new(),
            },
            Self::Where {
                path,
                is_equal,
                value: wanted,
            } => {
                let items = value.as_array().into_iter().flatten();
                let holds = |item: &&Value| {
                    let found = path.first(item);
                    found.is_some_and(|found| (found == wanted) == *is_equal)
                };
                items.filter(holds).collect()
            }
        }
    }
}

fn place(at: i64, len: usize) -> Option<usize> {
    if at < 0 {
        len.checked_sub(usize::try_from(at.unsigned_abs()).ok()?)
    } else {
        usize::try_from(at).ok()
    }
}

/// Reads a member's name after a dot; a backslash takes the next letter as it is.
fn member(text: &str) -> Option<(Step, &str)> {
    let mut name = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => name.push(letters.next()?.1),
            '.' | '[' => return named(name, text.get(at..)?),
            _ => name.push(letter),
        }
    }
    named(name, "")
}

fn named(name: String, rest: &str) -> Option<(Step, &str)> {
    let step = match name.as_str() {
        "" => return None,
        "*" => Step::Every,
        _ => Step::Member(name),
    };
    Some((step, rest))
}

/// Reads what stands between brackets, and the closing one.
fn bracketed(text: &str) -> Option<(Step, &str)> {
    if let Some(filter) = text.strip_prefix("?(") {
        let (condition, rest) = filter.split_once(")]")?;
        return Some((condition_of(condition)?, rest));
    }
    if let Some(quote @ ('\'' | '"')) = text.chars().next() {
        let (name, rest) = text.get(1..)?.split_once(quote)?;
        return Some((Step::Member(name.to_owned()), rest.strip_prefix(']')?));
    }
    let (inner, rest) = text.split_once(']')?;
    let step = if inner == "*" {
        Step::Every
    } else {
        Step::Item(inner.parse().ok()?)
    };
    Some((step, rest))
}

/// Reads `@.type=="Ready"`.
fn condition_of(text: &str) -> Option<Step> {
    let (path, is_equal, value) = match (text.split_once("=="), text.split_once("!=")) {
        (Some((path, value)), _) => (path, true, value),
        (None, Some((path, value))) => (path, false, value),
        (None, None) => return None,
    };
    let value = value.trim();
    let single = value
        .strip_prefix('\'')
        .and_then(|value| value.strip_suffix('\''));
    let value = match single {
        Some(text) => Value::from(text),
        None => serde_json::from_str(value).ok()?,
    };
    Some(Step::Where {
        path: Path::parse(path.trim().strip_prefix('@')?)?,
        is_equal,
        value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_lead_to_the_first_value() {
        let object = json!({
            "metadata": {"name": "a", "annotations": {"x.io/y": "z"}},
            "status": {"conditions": [
                {"type": "Available", "status": "True"},
                {"type": "Degraded", "status": "False", "n": 7},
            ]},
            "list": ["first", "last"],
        });
        for (path, expected) in [
            (".metadata.name", json!("a")),
            ("{.metadata.name}", json!("a")),
            ("$.metadata.name", json!("a")),
            (r".metadata.annotations.x\.io/y", json!("z")),
            (".metadata.annotations['x.io/y']", json!("z")),
            (
                r#".status.conditions[?(@.type=="Degraded")].status"#,
                json!("False"),
            ),
            (
                ".status.conditions[?(@.type == 'Degraded')].status",
                json!("False"),
            ),
            (".status.conditions[?(@.n==7)].type", json!("Degraded")),
            (
                r#".status.conditions[?(@.type!="Available")].type"#,
                json!("Degraded"),
            ),
            (".status.conditions[*].type", json!("Available")),
            (".status.conditions[1].type", json!("Degraded")),
            (".list[0]", json!("first")),
            (".list[-1]", json!("last")),
        ] {
            let parsed = Path::parse(path).expect(path);
            assert_eq!(parsed.first(&object), Some(&expected), "{path}");
        }
        for path in [
            ".nothing.at.all",
            ".list[2]",
            ".list[-3]",
            ".metadata.name.more",
            ".list.x",
        ] {
            let parsed = Path::parse(path).expect(path);
            assert_eq!(parsed.first(&object), None, "{path}");
        }
    }

    #[test]
    fn other_forms_are_refused() {
        for path in [
            "name",
            "..name",
            ".a[",
            ".a[x]",
            ".a[?(@.b)]",
            ".a[?(b==1)]",
            ".a.",
            r".a\",
        ] {
            assert_eq!(Path::parse(path), None, "{path}");
        }
    }
}
