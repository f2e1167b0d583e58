//! The part of a YAML text before the place where it is damaged or ends too early.
//!
//! Invariant: an item of a list is returned only if it is followed by another item or by the end of the list. A text
//! that is cut off at the end of a line is often valid YAML, and its last item then lacks fields.

use crate::error::{BrokenReason, ImportError};
use crate::input;
use serde_json::Value;

/// The documents of a YAML text.
#[derive(Debug, PartialEq)]
pub(crate) struct YamlDocuments {
    pub(crate) documents: Vec<Value>,
    /// Why the rest of the text is not among them.
    pub(crate) damage: Option<BrokenReason>,
}

impl YamlDocuments {
    /// Reads a text up to its damage.
    ///
    /// # Errors
    /// When nothing before the damage can be read.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, ImportError> {
        let (error, last_line) = match input::yaml(bytes) {
            Ok(documents) if documents.last().is_some_and(has_no_end) => (None, usize::MAX),
            Ok(documents) => {
                return Ok(Self {
                    documents,
                    damage: None,
                });
            }
            Err(error) => {
                let line = error.yaml_line().unwrap_or(usize::MAX);
                (Some(error), line)
            }
        };
        let boundary = Boundary::last(bytes, last_line);
        let before = boundary.and_then(|boundary| bytes.get(..boundary.offset));
        let read = before.map_or(Ok(Vec::new()), input::yaml);
        let documents: Vec<Value> = match (read, &error) {
            (Ok(documents), _) => documents
                .into_iter()
                .filter(|one| !is_list_of_nothing(one))
                .collect(),
            (Err(_), Some(_)) => Vec::new(),
            (Err(error), None) => return Err(error),
        };
        let line = boundary.map_or(1, |boundary| boundary.line);
        let damage = match error {
            None => format!("the list has no end: the item at line {line} may not be complete"),
            Some(error) if documents.is_empty() => return Err(error),
            Some(error) => format!("{error}, in the part that begins at line {line}"),
        };
        Ok(Self {
            documents,
            damage: Some(BrokenReason::Cut(damage)),
        })
    }
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
    /// Finds the last one at or before a line. Items are recognized by their indentation, at which no other line
    /// between them begins with a dash.
    fn last(text: &[u8], last_line: usize) -> Option<Self> {
        let mut found = None;
        let mut indent = ListIndent::Next;
        let mut offset = 0;
        for (number, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            if number >= last_line {
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
                found = Some(here);
            } else if rest == b"-" || rest.starts_with(b"- ") {
                if indent == ListIndent::Next {
                    indent = ListIndent::Columns(columns);
                }
                if indent == ListIndent::Columns(columns) {
                    found = Some(here);
                }
            } else if columns == 0 {
                // The member behind a list ends its last item.
                if matches!(indent, ListIndent::Columns(_)) {
                    found = Some(here);
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

    fn names(documents: &[Value]) -> Vec<&str> {
        let items = documents
            .iter()
            .filter_map(|one| one.get("items")?.as_array());
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
                Ok(read) => (read.documents, read.damage.expect("damage").to_string()),
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
        assert_eq!(
            read.documents,
            [json!({"kind": "Pod", "metadata": {"name": "a"}})]
        );
        let damage = read.damage.expect("damage").to_string();
        assert!(
            damage.contains("in the part that begins at line 3"),
            "{damage}"
        );
        let text = "items:\n  - metadata: {name: a}\n  - metadata: {name: b}\n  - {metadata\n  - metadata: {name: d}\nkind: List\n";
        let read = YamlDocuments::read(text.as_bytes()).expect("two");
        assert_eq!(names(&read.documents), ["a", "b"]);
        assert!(YamlDocuments::read(b"a: [").is_err());
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
            assert_eq!(read.damage, None, "{text}");
            assert!(!read.documents.is_empty());
        }
    }
}
