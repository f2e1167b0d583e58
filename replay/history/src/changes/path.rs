//! Owns how the place of a field is named: `status.conditions[Degraded].status`. Refuses to search:
//! a path names one place, a [`crate::Field`] may name many.

use std::fmt;

/// The place of a field in an object.
///
/// The object itself is `.`, members follow a dot: `spec.replicas`.
/// A member that is not made of letters, digits, `_`, `-` and `$` stands in brackets as JSON writes a
/// text: `metadata.annotations["a.b/c"]`.
/// An item of a list stands in brackets by what identifies it, `conditions[Degraded]`,
/// `ports[containerPort=8080,protocol=TCP]`, or else by its place: `args[2]`.
/// The place of an item that is gone counts in the old list, any other in the new one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    steps: Vec<Step>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// To a member of an object.
    Member(String),
    /// To the item of a list that its members identify.
    Item(Vec<KeyPart>),
    /// To the item at a place of a list, counted from 0.
    Index(usize),
}

/// One of the members that identify an item of a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyPart {
    /// The member's name.
    pub name: String,
    /// Its value, as a text.
    pub value: String,
}

impl Path {
    /// Gives the steps from the object's root.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub(crate) fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    pub(crate) fn pop(&mut self) {
        self.steps.pop();
    }

    /// Tells whether it names the object itself.
    pub fn is_root(&self) -> bool {
        self.steps.is_empty()
    }
}

impl FromIterator<Step> for Path {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Self {
            steps: steps.into_iter().collect(),
        }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() {
            return f.write_str(".");
        }
        for (at, step) in self.steps.iter().enumerate() {
            match step {
                Step::Member(name) if is_plain_member(name) => {
                    let dot = if at == 0 { "" } else { "." };
                    write!(f, "{dot}{name}")?;
                }
                Step::Member(name) => write!(f, "[{}]", quoted(name))?,
                other => write!(f, "{other}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Member(name) => f.write_str(name),
            Self::Index(at) => write!(f, "[{at}]"),
            Self::Item(parts) => {
                f.write_str("[")?;
                match parts.as_slice() {
                    // A number alone would read as a place.
                    [only] if !is_digits(&only.value) => f.write_str(&key_value(&only.value))?,
                    parts => {
                        for (at, part) in parts.iter().enumerate() {
                            let comma = if at == 0 { "" } else { "," };
                            let value = key_value(&part.value);
                            write!(f, "{comma}{}={value}", part.name)?;
                        }
                    }
                }
                f.write_str("]")
            }
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn key_value(value: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:@+~".contains(c);
    if !value.is_empty() && value.chars().all(is_plain) {
        value.to_owned()
    } else {
        quoted(value)
    }
}

fn is_plain_member(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || "_-$".contains(c))
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(name: &str) -> Step {
        Step::Member(name.to_owned())
    }

    fn item(parts: &[(&str, &str)]) -> Step {
        let part = |(name, value): &(&str, &str)| KeyPart {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        };
        Step::Item(parts.iter().map(part).collect())
    }

    #[test]
    fn paths_are_written_so_that_each_names_one_place() {
        let both = [("containerPort", "8080"), ("protocol", "TCP")];
        for (steps, text) in [
            (vec![], "."),
            (vec![member("spec"), member("replicas")], "spec.replicas"),
            (
                vec![member("metadata"), member("labels"), member("a.b/c")],
                r#"metadata.labels["a.b/c"]"#,
            ),
            (vec![member(""), member("a\"b")], r#"[""]["a\"b"]"#),
            (
                vec![
                    member("conditions"),
                    item(&[("type", "Degraded")]),
                    member("status"),
                ],
                "conditions[Degraded].status",
            ),
            (
                vec![member("ports"), item(&[("port", "80")])],
                "ports[port=80]",
            ),
            (
                vec![member("ports"), item(&both)],
                "ports[containerPort=8080,protocol=TCP]",
            ),
            (
                vec![member("env"), item(&[("name", "a b")])],
                r#"env["a b"]"#,
            ),
            (
                vec![member("env"), item(&[("name", "a]b")])],
                r#"env["a]b"]"#,
            ),
            (vec![member("args"), Step::Index(2)], "args[2]"),
        ] {
            assert_eq!(steps.into_iter().collect::<Path>().to_string(), text);
        }
    }
}
