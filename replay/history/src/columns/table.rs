//! The columns of a resource at a moment and an object's row in them: those of a built-in kind, of
//! a custom resource's definition, of OpenShift's own resources, or name and age; and columns of
//! labels. Screens and commands align them.

use super::builtin::BuiltinKind;
use super::part::{NONE, ObjectPart, UNKNOWN, is_never, parse_time, time_since};
use super::platform::platform_columns;
use crate::body_reader::QueryError;
use crate::jsonpath::JsonPath;
use crate::moment::Cut;
use crate::object::{compact, number};
use crate::schema::definition;
use crate::timeline::Timeline;
use kubereel_format::{RecordedAt, ResourceInfo};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Which columns are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnRoom {
    /// Only the columns that always show.
    Narrow,
    /// All columns.
    Wide,
}

/// The columns of a resource at a moment.
#[derive(Clone, Debug)]
pub struct ResourceColumns {
    from: ColumnSource,
    room: ColumnRoom,
}

#[derive(Clone, Debug)]
enum ColumnSource {
    Builtin(&'static BuiltinKind),
    Defined(Vec<DefinedColumn>),
    NameAndAge,
}

impl ResourceColumns {
    /// Returns the columns of a resource at a moment.
    ///
    /// # Errors
    /// When the reel is damaged where the resource's definition is, or the definition is invalid.
    pub fn of(
        timeline: &Timeline,
        resource: &ResourceInfo,
        cut: Cut,
        room: ColumnRoom,
    ) -> Result<Self, QueryError> {
        let from = match BuiltinKind::of(resource) {
            Some(kind) => ColumnSource::Builtin(kind),
            None => DefinedColumn::all(timeline, resource, cut)?
                .or_else(|| platform_columns(resource))
                .map_or(ColumnSource::NameAndAge, ColumnSource::Defined),
        };
        Ok(Self { from, room })
    }
}

impl ResourceColumns {
    /// Returns the headers of the columns.
    pub fn names(&self) -> Vec<String> {
        match &self.from {
            ColumnSource::Builtin(kind) => self.shown(kind.names().map(|(name, is_wide)| {
                let name = name.to_owned();
                (name, is_wide)
            })),
            ColumnSource::Defined(columns) => self.shown(
                [("NAME".to_owned(), false)].into_iter().chain(
                    columns
                        .iter()
                        .map(|one| (one.name.to_uppercase(), one.is_wide)),
                ),
            ),
            ColumnSource::NameAndAge => vec!["NAME".to_owned(), "AGE".to_owned()],
        }
    }

    /// Returns the cells of an object at a moment, each on one line.
    pub fn row(&self, object: &Value, at: RecordedAt) -> Vec<String> {
        match &self.from {
            ColumnSource::Builtin(kind) => {
                let cells = kind.row(object, at).into_iter();
                self.shown(
                    cells
                        .zip(kind.names())
                        .map(|(cell, (_, is_wide))| (cell, is_wide)),
                )
            }
            ColumnSource::Defined(columns) => {
                let cells = columns
                    .iter()
                    .map(|one| (one.cell(object, at), one.is_wide));
                self.shown(
                    [(ObjectPart::of(object).name(), false)]
                        .into_iter()
                        .chain(cells),
                )
            }
            ColumnSource::NameAndAge => vec![
                ObjectPart::of(object).name(),
                ObjectPart::of(object).age(at),
            ],
        }
    }

    fn shown(&self, cells: impl Iterator<Item = (String, bool)>) -> Vec<String> {
        cells
            .filter(|(_, is_wide)| self.room == ColumnRoom::Wide || !is_wide)
            .map(|(text, _)| one_line(&text))
            .collect()
    }
}

/// A column of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DefinedColumn {
    pub(super) name: String,
    /// Whether it is shown with `-o wide` only.
    pub(super) is_wide: bool,
    path: JsonPath,
    kind: ColumnType,
}

impl DefinedColumn {
    /// Returns the cell of an object at a moment.
    pub(super) fn cell(&self, object: &Value, at: RecordedAt) -> String {
        let value = self.path.first(object);
        value.map_or_else(String::new, |value| self.kind.written(value, at))
    }
}

#[derive(Deserialize)]
struct ColumnDefinition {
    spec: ColumnDefinitionSpec,
}

#[derive(Deserialize)]
struct ColumnDefinitionSpec {
    #[serde(default)]
    versions: Vec<ColumnDefinitionVersion>,
}

#[derive(Deserialize)]
struct ColumnDefinitionVersion {
    name: String,
    #[serde(default, rename = "additionalPrinterColumns")]
    columns: Option<Vec<PrinterColumn>>,
}

#[derive(Deserialize)]
struct PrinterColumn {
    name: String,
    r#type: String,
    #[serde(rename = "jsonPath")]
    path: String,
    #[serde(default)]
    priority: Option<i64>,
}

impl DefinedColumn {
    /// Returns the columns of a resource's definition at a moment; `None` if it has no definition,
    /// or the definition has none.
    ///
    /// The columns end before one with an invalid path, as in the server.
    ///
    /// # Errors
    /// When the reel is damaged there, or the definition is invalid.
    fn all(
        timeline: &Timeline,
        resource: &ResourceInfo,
        cut: Cut,
    ) -> Result<Option<Vec<Self>>, QueryError> {
        let Some((seq, body)) = definition(timeline, resource, cut)? else {
            return Ok(None);
        };
        let definition: ColumnDefinition =
            serde_json::from_slice(&body).map_err(|source| QueryError::Body { seq, source })?;
        let versions = definition.spec.versions.into_iter();
        let mut recorded = versions.filter(|version| version.name == resource.version);
        let columns = recorded.next().and_then(|version| version.columns);
        let columns = columns.filter(|columns| !columns.is_empty());
        Ok(columns.map(|columns| columns.iter().map_while(DefinedColumn::of).collect()))
    }
}

impl DefinedColumn {
    /// Reads a column; `None` if its path is invalid.
    fn of(named: &PrinterColumn) -> Option<Self> {
        let is_wide = named.priority.is_some_and(|priority| priority != 0);
        Self::new(&named.name, &named.r#type, &named.path, is_wide)
    }

    /// Makes a column from the texts of a definition; `None` if its path is invalid.
    pub(super) fn new(name: &str, kind: &str, path: &str, is_wide: bool) -> Option<Self> {
        Some(Self {
            path: JsonPath::parse(path)?,
            kind: ColumnType::named(kind),
            is_wide,
            name: name.to_owned(),
        })
    }
}

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnType {
    Text,
    Number,
    Integer,
    Truth,
    /// Shown as an age.
    Date,
    /// An unknown type: its cells are empty.
    Other,
}

impl ColumnType {
    /// Reads the type's name in a definition.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "string" => Self::Text,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Truth,
            "date" => Self::Date,
            _ => Self::Other,
        }
    }

    /// Formats a value at a moment.
    pub(super) fn written(self, value: &Value, at: RecordedAt) -> String {
        match (self, value) {
            (Self::Text, Value::Null) => "<no value>".to_owned(),
            (Self::Text, Value::String(text)) => text.clone(),
            (Self::Text, Value::Number(number)) => number::printed(number),
            (Self::Text, value) => compact(value),
            (Self::Number, Value::Number(number)) => number::double(number),
            // Beyond 64 bits the server's result depends on its processor; the exact number is
            // printed.
            (Self::Integer, Value::Number(number)) => number::truncated(number)
                .map_or_else(|| number::printed(number), |whole| whole.to_string()),
            (Self::Truth, Value::Bool(truth)) => truth.to_string(),
            (Self::Date, Value::String(text)) => date(text, at),
            _ => String::new(),
        }
    }
}

fn date(text: &str, at: RecordedAt) -> String {
    if matches!(text, "" | "null") {
        return UNKNOWN.to_owned();
    }
    match parse_time(text) {
        None => "<invalid>".to_owned(),
        Some(time) if is_never(time) => UNKNOWN.to_owned(),
        Some(time) => time_since(time, at),
    }
}

/// Makes a cell fit one line, as kubectl does: cut at its first line end, without characters that
/// could begin a terminal command.
pub(super) fn one_line(text: &str) -> String {
    let (first, more) = match text.split_once(['\n', '\r', '\u{c}']) {
        Some((first, _)) => (first, "..."),
        None => (text, ""),
    };
    first.replace('\u{1b}', "^[") + more
}

/// Columns of labels, after all others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelColumns {
    /// Labels with a column of their own.
    pub own: Vec<String>,
    /// Whether a last column has all labels.
    pub shows_all: bool,
}

impl LabelColumns {
    /// Returns the headers: of a label, the text after its last slash.
    pub fn names(&self) -> Vec<String> {
        let own = self.own.iter().map(|label| {
            let name = label
                .rsplit_once('/')
                .map_or(label.as_str(), |(_, name)| name);
            name.to_uppercase()
        });
        let all = self.shows_all.then(|| "LABELS".to_owned());
        own.chain(all).collect()
    }

    /// Returns the cells of an object, each on one line.
    pub fn row(&self, object: &Value) -> Vec<String> {
        let labels = ObjectPart::of(object).at("metadata.labels").texts();
        let own = self.own.iter().map(|label| labels.get(label.as_str()));
        let own = own.map(|value| one_line(value.copied().unwrap_or_default()));
        let all = self.shows_all.then(|| one_line(&labels_text(&labels)));
        own.chain(all).collect()
    }
}

/// Formats labels: `a=b,c=d`.
pub(crate) fn labels_text(labels: &BTreeMap<&str, &str>) -> String {
    let mut pairs: Vec<String> = labels
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    // Sorted by the whole text, as by the server: `app.x=` is before `app=`.
    pairs.sort_unstable();
    match pairs.as_slice() {
        [] => NONE.to_owned(),
        pairs => pairs.join(","),
    }
}

#[cfg(test)]
mod cell_tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn cells_read_as_the_server_writes_them() {
        let at = RecordedAt::from_micros(1_795_269_660_000_000);
        for (name, value, expected) in [
            ("string", json!("text"), "text"),
            ("string", json!("two\nlines"), "two\nlines"),
            ("string", json!(7), "7"),
            ("string", json!(1e7), "1e+07"),
            ("string", json!(true), "true"),
            (
                "string",
                json!(["<a>", {"c": 1.0, "b": null}]),
                r#"["\u003ca\u003e",{"b":null,"c":1}]"#,
            ),
            ("string", json!(null), "<no value>"),
            ("integer", json!(7), "7"),
            ("integer", json!(7.9), "7"),
            ("integer", json!("7"), ""),
            ("integer", json!(null), ""),
            ("number", json!(1.0), "1"),
            ("number", json!(0.00001), "1e-05"),
            ("number", json!("1"), ""),
            ("boolean", json!(false), "false"),
            ("boolean", json!("false"), ""),
            ("date", json!("2026-11-21T14:00:00Z"), "60s"),
            ("date", json!("yesterday"), "<invalid>"),
            ("date", json!("0001-01-01T00:00:00Z"), "<unknown>"),
            ("date", json!(""), "<unknown>"),
            ("date", json!(7), ""),
            ("date", json!(null), ""),
            ("object", json!("text"), ""),
        ] {
            assert_eq!(
                ColumnType::named(name).written(&value, at),
                expected,
                "{name} {value}"
            );
        }
    }

    #[test]
    fn a_cell_is_one_line() {
        for (text, expected) in [
            ("one", "one"),
            ("two\nlines", "two..."),
            ("cut\rhere", "cut..."),
            ("cut\u{c}here", "cut..."),
            ("\n", "..."),
            ("\u{1b}[31mred\tand\u{1b}", "^[[31mred\tand^["),
        ] {
            assert_eq!(one_line(text), expected, "{text:?}");
        }
    }
}

#[cfg(test)]
mod labels_tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn labels_have_columns_of_their_own_and_one_together() {
        let columns = LabelColumns {
            own: vec!["example.io/tier".to_owned(), "app".to_owned()],
            shows_all: true,
        };
        assert_eq!(columns.names(), ["TIER", "APP", "LABELS"]);
        let object = json!({"metadata": {"labels": {"b": "", "app": "x", "app.y": "z"}}});
        assert_eq!(columns.row(&object), ["", "x", "app.y=z,app=x,b="]);
        assert_eq!(columns.row(&json!({})), ["", "", "<none>"]);
    }
}
