//! The parts of a YAML text before the places where it is damaged or ends too early.
//!
//! Invariant: an item of a list is returned only if it is followed by another item or by the end of the list. A text
//! that is cut off at the end of a line is often valid YAML, and its last item then lacks fields.

use crate::error::{BrokenReason, ImportError};
use crate::input::{self, YamlPart};
use serde_json::Value;
use std::borrow::Cow;

/// The documents of a YAML text.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct YamlDocuments {
    /// Each, with how many parts between it and the one before it cannot be read.
    pub(crate) documents: Vec<(YamlPart, u64)>,
    /// Why parts of the text are not among them.
    pub(crate) damage: Vec<BrokenReason>,
}

/// The documents up to the first damage of a text.
struct YamlPrefix {
    documents: Vec<YamlPart>,
    damage: Option<String>,
    /// A line from which on a document may begin that is not the damaged one, from 1, if it is known.
    line: Option<usize>,
}

/// How many damaged places are passed; behind them, the rest is not read.
const MOST_DAMAGED: usize = 100;

impl YamlDocuments {
    /// Reads a text. Behind damage, it goes on at the next document.
    ///
    /// # Errors
    /// When no document can be read.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, ImportError> {
        let mut all = Self::default();
        let mut first_error = None;
        let mut text = Cow::Borrowed(bytes);
        let mut start = 1;
        let mut damaged_before = 0;
        loop {
            let damage;
            let line = match YamlPrefix::read(&text) {
                Ok(prefix) => {
                    let documents = prefix.documents.into_iter();
                    all.documents
                        .extend(documents.map(|one| (one, std::mem::take(&mut damaged_before))));
                    damage = prefix.damage;
                    prefix.line
                }
                Err(error) => {
                    let line = error.yaml_line();
                    damage = Some(error.to_string());
                    first_error.get_or_insert(error);
                    line
                }
            };
            let line = line.filter(|_| all.damage.len() + 1 < MOST_DAMAGED);
            let next = line.and_then(|line| Boundary::next_document(bytes, line.max(start + 1)));
            damaged_before += u64::from(damage.is_some());
            all.damage.extend(damage.map(|damage| match next {
                Some(_) => BrokenReason::Unreadable(damage),
                None => BrokenReason::Cut(damage),
            }));
            let Some(next) = next else {
                break;
            };
            start = next.line;
            // Empty lines in place of what is before it: errors name the line of the text.
            let mut rest = vec![b'\n'; next.line.saturating_sub(1)];
            rest.extend_from_slice(bytes.get(next.offset..).unwrap_or_default());
            text = Cow::Owned(rest);
        }
        match first_error {
            Some(error) if all.documents.is_empty() => Err(error),
            _ => Ok(all),
        }
    }
}

impl YamlPrefix {
    /// Reads a text up to its damage.
    fn read(bytes: &[u8]) -> Result<Self, ImportError> {
        let (error, line) = match input::yaml(bytes) {
            Ok(documents) if documents.last().is_some_and(|one| has_no_end(&one.value)) => {
                (None, None)
            }
            Ok(documents) => {
                return Ok(Self {
                    documents,
                    damage: None,
                    line: None,
                });
            }
            Err(error) => {
                let line = error.yaml_line();
                (Some(error), line)
            }
        };
        let boundaries = Boundary::all(bytes, line);
        let (begin, mut documents) = readable(bytes, &boundaries).unwrap_or((1, Vec::new()));
        documents.retain(|one| !is_list_of_nothing(&one.value));
        let damage = match error {
            None => format!("the list has no end: the item at line {begin} may not be complete"),
            Some(error) if documents.is_empty() => return Err(error),
            Some(error) => format!("{error}, in the part that begins at line {begin}"),
        };
        Ok(Self {
            documents,
            damage: Some(damage),
            line: line.map(|line| line.max(begin + 1)),
        })
    }
}

/// Reads the text before the last boundary up to which it can be read, and returns the line of that boundary. An error
/// can be noticed some lines behind the damage. What is before the damage can be read, and nothing behind it.
fn readable(bytes: &[u8], boundaries: &[Boundary]) -> Option<(usize, Vec<YamlPart>)> {
    let read = |boundary: &Boundary| {
        let documents = input::yaml(bytes.get(..boundary.offset)?).ok()?;
        Some((boundary.line, documents))
    };
    let (last, before) = boundaries.split_last()?;
    read(last).or_else(|| {
        let count = before.partition_point(|one| read(one).is_some());
        read(before.get(count.checked_sub(1)?)?)
    })
}

/// Tells whether a document is a list that has items and no kind, which kubectl writes behind them.
fn has_no_end(document: &Value) -> bool {
    let items = document.get("items");
    items.is_some_and(|items| items.is_array() || items.is_null()) && document.get("kind").is_none()
}

/// Tells whether a document is the beginning of a list, up to its first item.
fn is_list_of_nothing(document: &Value) -> bool {
    document.is_null() || document.get("items").is_some_and(Value::is_null)
}

/// The beginning of an item of a list, of the member behind a list, or of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Boundary {
    offset: usize,
    /// From 1.
    line: usize,
}

/// Where the items of the list begin that a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListIndent {
    /// The next line of text determines it.
    Next,
    Columns(usize),
    /// Not inside a list.
    None,
}

impl Boundary {
    /// Finds the first document that begins at or behind a line. In no text of YAML, quoted or not, a line begins with
    /// its mark.
    fn next_document(text: &[u8], from_line: usize) -> Option<Self> {
        let mut offset = 0;
        for (number, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let here = Self {
                offset,
                line: number + 1,
            };
            if here.line >= from_line && line.starts_with(b"---") {
                return Some(here);
            }
            offset += line.len();
        }
        None
    }

    /// Finds those at or before a line, or all. Items are recognized by their indentation, at which no other line
    /// between them begins with a dash.
    fn all(text: &[u8], last_line: Option<usize>) -> Vec<Self> {
        let mut found = Vec::new();
        let mut indent = ListIndent::Next;
        let mut offset = 0;
        for (number, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            if last_line.is_some_and(|last| number >= last) {
                break;
            }
            let here = Self {
                offset,
                line: number + 1,
            };
            offset += line.len();
            let line = line.trim_ascii_end();
            let columns = line.iter().take_while(|byte| **byte == b' ').count();
            let rest = line.get(columns..).unwrap_or_default();
            if rest.is_empty() || rest.starts_with(b"#") {
                continue;
            }
            if line.starts_with(b"---") {
                indent = ListIndent::Next;
                found.push(here);
            } else if rest == b"-" || rest.starts_with(b"- ") {
                if indent == ListIndent::Next {
                    indent = ListIndent::Columns(columns);
                }
                if indent == ListIndent::Columns(columns) {
                    found.push(here);
                }
            } else if columns == 0 {
                // The member behind a list ends its last item.
                if matches!(indent, ListIndent::Columns(_)) {
                    found.push(here);
                }
                indent = if rest == b"items:" {
                    ListIndent::Next
                } else {
                    ListIndent::None
                };
            } else if indent == ListIndent::Next {
                indent = ListIndent::None;
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const LIST: &str = "apiVersion: v1\nitems:\n- kind: Pod\n  metadata:\n    name: a\n    text: |\n      x\n      - y\n  \
                        spec:\n    containers:\n    - name: c\n- kind: Pod\n  metadata:\n    name: b\n  status:\n    \
                        phase: \"Running: now\"\nkind: List\nmetadata:\n  resourceVersion: \"\"\n";

    fn names(documents: &[(YamlPart, u64)]) -> Vec<&str> {
        let items = documents
            .iter()
            .filter_map(|(one, _)| one.value.get("items")?.as_array());
        items
            .flatten()
            .filter_map(|item| item.pointer("/metadata/name")?.as_str())
            .collect()
    }

    #[test]
    fn a_list_that_is_cut_anywhere_gives_its_whole_items_and_names_the_place() {
        let second = LIST
            .find("- kind: Pod\n  metadata:\n    name: b")
            .expect("the second");
        let end = LIST.find("kind: List").expect("the end");
        for cut in LIST.find("items:").expect("items") + 7..LIST.len() {
            let text = LIST.get(..cut).expect("ASCII");
            let read = YamlDocuments::read(text.as_bytes());
            if cut > end {
                let read = read.expect("the items are whole");
                assert_eq!(names(&read.documents), ["a", "b"], "{text}");
                continue;
            }
            let (documents, damage) = match read {
                Ok(read) => (
                    read.documents,
                    read.damage.first().expect("damage").to_string(),
                ),
                Err(error) => (Vec::new(), error.to_string()),
            };
            let expected: &[&str] = if cut > second { &["a"] } else { &[] };
            assert_eq!(names(&documents), expected, "{text}");
            assert!(damage.contains("line "), "{damage}");
        }
    }

    #[test]
    fn what_stands_before_an_error_is_read_and_the_error_named() {
        let text = "kind: Pod\nmetadata: {name: a}\n---\nkind: Pod\nmetadata: {name: \"b}\n";
        let read = YamlDocuments::read(text.as_bytes()).expect("the first");
        let value = json!({"kind": "Pod", "metadata": {"name": "a"}});
        assert_eq!(read.documents, [(YamlPart { line: 1, value }, 0)]);
        let damage = read.damage.first().expect("damage").to_string();
        assert!(
            damage.contains("in the part that begins at line 3"),
            "{damage}"
        );
        let text = "items:\n  - metadata: {name: a}\n  - metadata: {name: b}\n  - {metadata\n  - metadata: {name: d}\nkind: List\n";
        let read = YamlDocuments::read(text.as_bytes()).expect("two");
        assert_eq!(names(&read.documents), ["a", "b"]);
        assert!(YamlDocuments::read(b"a: [").is_err());
        let text = "items:\n- metadata: {name: a}\n- metadata: {name: b}\n- metadata:\n    name: [\n- metadata: {name: d}\n- \
                    metadata: {name: e}\nkind: List\n";
        let read = YamlDocuments::read(text.as_bytes()).expect("two");
        assert_eq!(names(&read.documents), ["a", "b"]);
        let damage: Vec<String> = read.damage.iter().map(ToString::to_string).collect();
        assert!(
            damage
                .concat()
                .contains("begins at line 4; what is behind that place is missing"),
            "{damage:?}"
        );
    }

    #[test]
    fn documents_behind_a_damaged_one_are_read() {
        for bad in ["a: [", "text: \"open\nnext: b", "--- [x", "a: b: c"] {
            let text =
                format!("kind: A\n---\n{bad}\n---\nkind: B\n---\na: {{\n--- # last\nkind: C\n");
            let read = YamlDocuments::read(text.as_bytes()).expect("documents");
            let kinds = read
                .documents
                .iter()
                .filter_map(|(one, _)| one.value.get("kind")?.as_str());
            assert_eq!(
                kinds.collect::<Vec<_>>(),
                ["A", "B", "C"],
                "{bad}: {read:?}"
            );
            assert_eq!(read.damage.len(), 2, "{bad}: {read:?}");
            let is_cut = |one: &BrokenReason| matches!(one, BrokenReason::Cut(_));
            assert!(!read.damage.iter().any(is_cut), "{bad}: {read:?}");
        }
        // The first is broken too, and lines are those of the whole text.
        let read = YamlDocuments::read(b"a: [\n---\nkind: B\n---\n\n}\n").expect("one");
        let value = json!({"kind": "B"});
        assert_eq!(read.documents, [(YamlPart { line: 3, value }, 1)]);
        let damage: Vec<String> = read.damage.iter().map(ToString::to_string).collect();
        assert!(
            damage.iter().any(|one| one.contains("line 6")),
            "{damage:?}"
        );
        let many = "---\na: [\n".repeat(300);
        assert!(YamlDocuments::read(many.as_bytes()).is_err());
    }

    #[test]
    fn whole_texts_are_whole() {
        for text in [
            "kind: List\nitems: []\n",
            "items: []\nkind: PodList\n",
            "- kind: Pod\n- kind: Pod\n",
            "kind: Pod\n---\nkind: Pod\n",
        ] {
            let read = YamlDocuments::read(text.as_bytes()).expect("YAML");
            assert_eq!(read.damage, [], "{text}");
            assert!(!read.documents.is_empty());
        }
    }
}
