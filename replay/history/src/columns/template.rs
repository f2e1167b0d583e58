//! The outputs `-o jsonpath=`, `-o custom-columns=` and `--sort-by` of kubectl.
//!
//! Templates come from users: their length and the nesting of their ranges are bounded.

use super::builtin::BuiltinKind;
use super::part::NONE;
use crate::jsonpath::JsonPath;
use crate::object::{compact, in_go, number};
use crate::quantity::Quantity;
use kubereel_format::{ResourceInfo, harmless};
use serde_json::Value;
use std::cmp::Ordering;
use thiserror::Error;

/// The longest template, in bytes.
const LONGEST: usize = 64 * 1024;

/// The deepest nesting of ranges.
const DEEPEST: usize = 16;

/// A text is not a template.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// It is longer than 64 KiB.
    #[error("longer than {} bytes", LONGEST)]
    TooLong,
    /// A brace is not closed.
    #[error("unclosed action: {rest:?}")]
    Unclosed {
        /// The text from the brace on.
        rest: String,
    },
    /// The content of braces is not a path.
    #[error("not a JSONPath: {path:?}")]
    Path {
        /// The path.
        path: String,
    },
    /// A range is not ended, or an end has no range.
    #[error("{{range}} and {{end}} do not match")]
    Range,
    /// Ranges are nested too deeply.
    #[error("ranges are nested more than {} deep", DEEPEST)]
    TooDeep,
    /// A path does not fit an object.
    #[error("JSONPath {path:?}: {cause}")]
    Mismatch {
        /// The path.
        path: String,
        /// Why not.
        cause: String,
    },
    /// A column is not `NAME:PATH`.
    #[error("a custom column is NAME:JSONPATH: {column:?}")]
    Column {
        /// The column.
        column: String,
    },
}

/// A template of `-o jsonpath=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPathTemplate {
    parts: Vec<JsonPathPart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum JsonPathPart {
    Text(String),
    Value(TemplatePath),
    Range(TemplatePath, Vec<JsonPathPart>),
}

/// A path, and how it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TemplatePath {
    text: String,
    path: JsonPath,
}

impl TemplatePath {
    fn parse(text: &str) -> Result<Self, TemplateError> {
        Ok(Self {
            text: text.to_owned(),
            path: path(text)?,
        })
    }

    /// Finds the values of an object; fields that it does not have are none.
    fn all<'a>(&'a self, object: &'a Value) -> Result<Vec<&'a Value>, TemplateError> {
        self.path
            .all(object)
            .map_err(|cause| TemplateError::Mismatch {
                path: self.text.clone(),
                cause: cause.to_string(),
            })
    }
}

impl JsonPathTemplate {
    /// Parses a template.
    ///
    /// # Errors
    /// When it has a form that kubectl refuses.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        if text.len() > LONGEST {
            return Err(TemplateError::TooLong);
        }
        // The parts of each open range, below those of the whole template.
        let mut open: Vec<(Option<TemplatePath>, Vec<JsonPathPart>)> = vec![(None, Vec::new())];
        let mut rest = text;
        while !rest.is_empty() {
            let (plain, action) = rest.split_at(rest.find('{').unwrap_or(rest.len()));
            if !plain.is_empty() {
                push(&mut open, JsonPathPart::Text(plain.to_owned()));
            }
            if action.is_empty() {
                break;
            }
            let len = action_len(action).ok_or_else(|| TemplateError::Unclosed {
                rest: action.to_owned(),
            })?;
            let (action, after) = action.split_at(len);
            rest = after;
            let action = action.trim_matches(['{', '}']).trim();
            if action == "end" {
                let (Some(path), parts) = open.pop().ok_or(TemplateError::Range)? else {
                    return Err(TemplateError::Range);
                };
                push(&mut open, JsonPathPart::Range(path, parts));
            } else if let Some(over) = action.strip_prefix("range ") {
                if open.len() > DEEPEST {
                    return Err(TemplateError::TooDeep);
                }
                open.push((Some(TemplatePath::parse(over.trim())?), Vec::new()));
            } else {
                push(&mut open, JsonPathPart::Value(TemplatePath::parse(action)?));
            }
        }
        match (open.pop(), open.is_empty()) {
            (Some((None, parts)), true) => Ok(Self { parts }),
            _ => Err(TemplateError::Range),
        }
    }

    /// Writes an object; an absent field is empty, as in `kubectl get`.
    ///
    /// # Errors
    /// When a path does not fit the object: an index that its list does not have.
    pub fn written(&self, object: &Value) -> Result<String, TemplateError> {
        let mut out = String::new();
        write_parts(&self.parts, object, &mut out)?;
        Ok(out)
    }

    /// Returns the results of each text and path for an object, each as a list, as `-o
    /// jsonpath-as-json=` prints them.
    ///
    /// # Errors
    /// As for [`Self::written`].
    pub fn found(&self, object: &Value) -> Result<Vec<Value>, TemplateError> {
        let mut out = Vec::new();
        find_parts(&self.parts, object, &mut out)?;
        Ok(out)
    }
}

fn push(open: &mut [(Option<TemplatePath>, Vec<JsonPathPart>)], part: JsonPathPart) {
    if let Some((_, parts)) = open.last_mut() {
        parts.push(part);
    }
}

/// Returns the length of the action that begins here, including its braces; braces within quotes do
/// not count.
fn action_len(action: &str) -> Option<usize> {
    let (mut quote, mut is_escaped) = (None, false);
    for (at, letter) in action.char_indices() {
        match (quote, letter) {
            _ if is_escaped => is_escaped = false,
            (_, '\\') => is_escaped = true,
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, '}') => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn path(text: &str) -> Result<JsonPath, TemplateError> {
    JsonPath::parse(text).ok_or_else(|| TemplateError::Path {
        path: text.to_owned(),
    })
}

fn write_parts(
    parts: &[JsonPathPart],
    object: &Value,
    out: &mut String,
) -> Result<(), TemplateError> {
    for part in parts {
        match part {
            JsonPathPart::Text(text) => out.push_str(text),
            JsonPathPart::Value(path) => {
                let texts: Vec<String> = path.all(object)?.into_iter().map(printed).collect();
                out.push_str(&texts.join(" "));
            }
            JsonPathPart::Range(path, parts) => {
                for item in path.all(object)? {
                    write_parts(parts, item, out)?;
                }
            }
        }
    }
    Ok(())
}

// The depth of ranges is bounded.
fn find_parts(
    parts: &[JsonPathPart],
    object: &Value,
    out: &mut Vec<Value>,
) -> Result<(), TemplateError> {
    for part in parts {
        match part {
            JsonPathPart::Text(text) => out.push(Value::Array(vec![text.clone().into()])),
            JsonPathPart::Value(path) => {
                let found = path.all(object)?;
                out.push(Value::Array(found.into_iter().cloned().collect()));
            }
            JsonPathPart::Range(path, parts) => {
                for item in path.all(object)? {
                    find_parts(parts, item, out)?;
                }
            }
        }
    }
    Ok(())
}

/// Writes a value as kubectl does: a text literally, without characters that could command a
/// terminal.
fn printed(value: &Value) -> String {
    match value {
        Value::String(text) => {
            let mut out = String::new();
            for line in text.split_inclusive(['\n', '\t']) {
                let end = line.len() - usize::from(line.ends_with(['\n', '\t']));
                let (words, end) = line.split_at(end);
                out.push_str(&harmless(words));
                out.push_str(end);
            }
            out
        }
        Value::Number(number) => number::printed(number),
        other => compact(other),
    }
}

/// Parses a path as `--sort-by` and custom columns accept it: with or without braces and the first
/// dot.
fn relaxed(text: &str) -> Result<TemplatePath, TemplateError> {
    let wrong = || TemplateError::Path {
        path: text.to_owned(),
    };
    let inner = text.strip_prefix('{').unwrap_or(text);
    let inner = inner.strip_suffix('}').unwrap_or(inner);
    let inner = inner.strip_prefix('.').unwrap_or(inner);
    if inner.is_empty() || inner.contains(['{', '}']) {
        return Err(wrong());
    }
    let dotted = if inner.starts_with('[') {
        inner.to_owned()
    } else {
        format!(".{inner}")
    };
    TemplatePath::parse(&dotted).map_err(|_inner| wrong())
}

/// The columns of `-o custom-columns=`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomColumns {
    columns: Vec<(String, TemplatePath)>,
}

impl CustomColumns {
    /// Parses `NAME:PATH,NAME:PATH`.
    ///
    /// # Errors
    /// When a column has no name or no path.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        if text.len() > LONGEST {
            return Err(TemplateError::TooLong);
        }
        let columns = text.split(',').map(|column| match column.split_once(':') {
            Some((name, path)) if !name.is_empty() && !path.is_empty() => {
                Ok((name.to_owned(), relaxed(path)?))
            }
            _ => Err(TemplateError::Column {
                column: column.to_owned(),
            }),
        });
        Ok(Self {
            columns: columns.collect::<Result<_, _>>()?,
        })
    }

    /// Parses a file of columns: the names in the first line, the paths in the second.
    ///
    /// # Errors
    /// When a line is missing, or the lines have different numbers of words.
    pub fn parse_file(text: &str) -> Result<Self, TemplateError> {
        let mut lines = text.lines();
        let names: Vec<&str> = lines
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        let paths: Vec<&str> = lines
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        if names.is_empty() || names.len() != paths.len() {
            let column = names.get(paths.len()).copied().unwrap_or_default();
            return Err(TemplateError::Column {
                column: column.to_owned(),
            });
        }
        let columns = names
            .into_iter()
            .zip(paths)
            .map(|(name, path)| Ok((name.to_owned(), relaxed(path)?)));
        Ok(Self {
            columns: columns.collect::<Result<_, TemplateError>>()?,
        })
    }

    /// Returns the headers.
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Returns the cells of an object.
    ///
    /// # Errors
    /// When a path does not fit the object: an index that its list does not have.
    pub fn row(&self, object: &Value) -> Result<Vec<String>, TemplateError> {
        let cells = self.columns.iter().map(|(_, path)| {
            let found = path.all(object)?;
            if found.is_empty() {
                return Ok(NONE.to_owned());
            }
            let texts: Vec<String> = found.into_iter().map(in_go).collect();
            Ok(harmless(&texts.join(",")).into_owned())
        });
        cells.collect()
    }
}

/// The field of `--sort-by`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortField(JsonPath);

/// The sort key of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct SortKey(Option<Value>);

impl std::str::FromStr for SortField {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        Ok(Self(relaxed(text)?.path))
    }
}

impl SortField {
    /// Returns the field by which the server sorts the rows of a resource's table; `None` if that is the name.
    pub fn of_table(resource: &ResourceInfo) -> Option<Self> {
        BuiltinKind::row_order(resource)?.parse().ok()
    }

    /// Returns the sort key of an object.
    pub fn of(&self, object: &Value) -> SortKey {
        SortKey(self.0.first(object).cloned())
    }
}

impl SortKey {
    /// Tells whether the object has the field, if only with null.
    pub const fn is_there(&self) -> bool {
        self.0.is_some()
    }

    fn value(&self) -> Option<&Value> {
        self.0.as_ref().filter(|value| !value.is_null())
    }
}

/// Sorts what has sort keys as kubectl does: absent values first, numbers and quantities by value, texts letter by
/// letter; what has the same key stays in its order.
pub fn sort_by_keys<T>(keyed: &mut [(SortKey, T)]) {
    // Two texts are compared as quantities only if all are: an order must not depend on the pair.
    let texts = keyed.iter().filter_map(|(key, _)| key.value()?.as_str());
    let are_quantities = texts
        .map(Quantity::parse)
        .all(|quantity| quantity.is_some());
    keyed.sort_by(|(one, _), (other, _)| match (one.value(), other.value()) {
        (Some(one), Some(other)) => compared(one, other, are_quantities),
        (one, other) => one.is_some().cmp(&other.is_some()),
    });
}

fn compared(one: &Value, other: &Value, are_quantities: bool) -> Ordering {
    match (one, other) {
        (Value::String(one), Value::String(other)) => {
            let quantity = |text: &str| Quantity::parse(text).filter(|_| are_quantities);
            match (quantity(one), quantity(other)) {
                (Some(one), Some(other)) => one.compare(other),
                _ => one.cmp(other),
            }
        }
        (Value::Number(one), Value::Number(other)) => {
            let amount = |number: &serde_json::Number| number.as_f64().unwrap_or_default();
            amount(one).total_cmp(&amount(other))
        }
        (one, other) => compact(one).cmp(&compact(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pods() -> Value {
        json!({"kind": "List", "items": [
            {"metadata": {"name": "web-10", "labels": {"app.kubernetes.io/name": "web"}},
             "spec": {"containers": [{"name": "a", "image": "x:1"}, {"name": "b", "image": "y:2"}]},
             "status": {"phase": "Running", "restarts": 3}},
            {"metadata": {"name": "web-2"}, "spec": {"containers": [{"name": "a"}]}, "status": {"phase": "Failed"}},
        ]})
    }

    #[test]
    fn what_paths_find_is_a_list_each() {
        let found = |template: &str| {
            let template = JsonPathTemplate::parse(template).expect("a template");
            Value::Array(template.found(&pods()).expect("values"))
        };
        assert_eq!(
            found("{.items[*].metadata.name}"),
            json!([["web-10", "web-2"]])
        );
        assert_eq!(
            found(r#"x{range .items[*]}{.status.restarts}{"\n"}{end}"#),
            json!([["x"], [3], ["\n"], [], ["\n"]])
        );
        assert_eq!(found("{.nothing}"), json!([[]]));
    }

    #[test]
    fn templates_print_as_kubectl_prints_them() {
        for (template, expected) in [
            ("{.items[*].metadata.name}", "web-10 web-2"),
            ("{.items[0].metadata.name}", "web-10"),
            (
                r#"{range .items[*]}{.metadata.name}{"\t"}{.status.phase}{"\n"}{end}"#,
                "web-10\tRunning\nweb-2\tFailed\n",
            ),
            (
                r"{.items[*].metadata.labels.app\.kubernetes\.io/name}",
                "web",
            ),
            (
                "{.items[?(@.status.phase=='Failed')].metadata.name}",
                "web-2",
            ),
            ("kind={.kind}, {.nothing}.", "kind=List, ."),
            ("{.items[0].status}", r#"{"phase":"Running","restarts":3}"#),
            ("{.items[0].status.restarts}", "3"),
            (
                "{range .items[*]}{range .spec.containers[*]}{.name}={.image};{end}{end}",
                "a=x:1;b=y:2;a=;",
            ),
            (".items", ".items"),
        ] {
            let read = JsonPathTemplate::parse(template).expect(template);
            assert_eq!(read.written(&pods()).as_deref(), Ok(expected), "{template}");
        }
        let hostile = json!({"a": "x\u{1b}[2J\ny"});
        let read = JsonPathTemplate::parse("{.a}").expect("a path");
        assert!(
            read.written(&hostile)
                .is_ok_and(|text| !text.contains('\u{1b}'))
        );
    }

    #[test]
    fn paths_that_do_not_fit_fail_as_those_of_kubectl_do() {
        for (path, cause) in [
            ("{.items[2].metadata.name}", "the list has 2 items"),
            ("{.kind[0]}", "the value is not a list"),
            ("{range .items[-3]}x{end}", "the list has 2 items"),
            ("{items}", "unknown word"),
        ] {
            let read = JsonPathTemplate::parse(path).expect(path);
            let failed = read.written(&pods()).expect_err(path).to_string();
            assert!(failed.contains(cause), "{failed}");
            assert!(read.found(&pods()).is_err(), "{path}");
        }
        let columns = CustomColumns::parse("THIRD:.items[2]").expect("a column");
        let failed = columns.row(&pods()).expect_err("a mismatch").to_string();
        assert_eq!(failed, "JSONPath \".items[2]\": the list has 2 items");
    }

    #[test]
    fn wrong_templates_are_refused() {
        for template in ["{.a", "{range .a}x", "{end}", "{.a[}", "{.a}{end}"] {
            assert!(JsonPathTemplate::parse(template).is_err(), "{template}");
        }
        let deep = "{range .a}".repeat(40) + &"{end}".repeat(40);
        assert_eq!(JsonPathTemplate::parse(&deep), Err(TemplateError::TooDeep));
        let long = "x".repeat(LONGEST + 1);
        assert_eq!(JsonPathTemplate::parse(&long), Err(TemplateError::TooLong));
    }

    #[test]
    fn custom_columns_are_rows() {
        let columns = CustomColumns::parse("NAME:.metadata.name,IMAGES:spec.containers[*].image")
            .expect("columns");
        assert_eq!(columns.names(), ["NAME", "IMAGES"]);
        let pods = pods();
        let rows: Vec<Vec<String>> = pods
            .get("items")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|pod| columns.row(pod).expect("cells"))
            .collect();
        assert_eq!(rows, [["web-10", "x:1,y:2"], ["web-2", "<none>"]]);
        let last = CustomColumns::parse("LAST:.last").expect("a column");
        assert_eq!(
            last.row(&json!({"last": null})),
            Ok(vec!["<nil>".to_owned()])
        );
        let node = json!({"capacity": {"pods": 110, "cpu": "4", "free": null}, "servers": ["9.9.9.9", {"a": [true]}]});
        let whole = CustomColumns::parse("C:.capacity,S:.servers").expect("columns");
        let cells = ["map[cpu:4 free:<nil> pods:110]", "[9.9.9.9 map[a:[true]]]"];
        assert_eq!(whole.row(&node), Ok(cells.map(str::to_owned).to_vec()));
        let file = CustomColumns::parse_file(
            "NAME   IMAGES\n{.metadata.name} .spec.containers[*].image\n",
        );
        assert_eq!(file.expect("a file").names(), ["NAME", "IMAGES"]);
        for wrong in ["", "NAME", ":.a", "NAME:", "A:.a,"] {
            assert!(CustomColumns::parse(wrong).is_err(), "{wrong}");
        }
        assert!(CustomColumns::parse_file("A B\n.a\n").is_err());
    }

    /// Sorts objects with these values by the field that has them.
    fn sorted(values: &[Value]) -> Vec<Value> {
        let field: SortField = ".a".parse().expect("a path");
        let keyed = values.iter().map(|value| (field.of(value), value.clone()));
        let mut keyed: Vec<(SortKey, Value)> = keyed.collect();
        sort_by_keys(&mut keyed);
        keyed.into_iter().map(|(_, value)| value).collect()
    }

    #[test]
    fn keys_sort_as_kubectl_sorts_them() {
        for (one, other) in [
            (json!("web-10"), json!("web-2")),
            (json!(2), json!(10)),
            (json!("500m"), json!("2")),
            (json!("900Mi"), json!("1Gi")),
            (json!("a"), json!("b")),
            (json!("a-"), json!("a2")),
            (json!("2026-01-02T00:00:00Z"), json!("2026-01-10T00:00:00Z")),
            (json!(null), json!("a")),
        ] {
            let (one, other) = (json!({ "a": one }), json!({ "a": other }));
            let expected = [one.clone(), other.clone()];
            assert_eq!(sorted(&[other, one]), expected);
        }
        assert!(".".parse::<SortField>().is_err());
    }

    #[test]
    fn objects_without_the_field_come_first_and_those_with_the_same_value_in_their_order() {
        let object = |name: u8, value: Value| json!({"name": name, "a": value});
        let missing = |name: u8| json!({"name": name});
        let given = [
            object(1, json!(2)),
            missing(2),
            object(3, json!(1)),
            object(4, Value::Null),
            object(5, json!(1)),
        ];
        let order = [
            missing(2),
            object(4, Value::Null),
            object(3, json!(1)),
            object(5, json!(1)),
            object(1, json!(2)),
        ];
        assert_eq!(sorted(&given), order);
        let field: SortField = ".a".parse().expect("a path");
        assert!(field.of(&object(1, Value::Null)).is_there());
        assert!(!field.of(&missing(1)).is_there());
    }

    #[test]
    fn an_order_of_texts_does_not_depend_on_the_pair() {
        // As quantities 900Mi is less than 1Gi, and as text 1Gi than 5x, and 5x than 900Mi.
        let texts = ["900Mi", "5x", "1Gi"].map(|text| json!({ "a": text }));
        let many: Vec<Value> = texts.iter().cycle().take(60).cloned().collect();
        let sorted = sorted(&many);
        let places: Vec<Option<usize>> = ["1Gi", "5x", "900Mi"]
            .iter()
            .map(|text| {
                sorted
                    .iter()
                    .position(|value| value == &json!({ "a": text }))
            })
            .collect();
        assert_eq!(places, [Some(0), Some(20), Some(40)]);
    }
}
