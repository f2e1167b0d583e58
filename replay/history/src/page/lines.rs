//! The lines of a page, and parts that many pages share: labels, annotations, times, controllers.

use crate::columns::{NONE, ObjectPart};
use crate::field::{self, text};
use kubereel_format::RecordedAt;

/// The longest annotation on one line, name included, in bytes; longer ones are cut.
const ANNOTATION_BYTES: usize = 140;

/// The annotation with a copy of the applied object, which is left out.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A line of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageLine {
    /// Its indentation.
    pub depth: usize,
    /// Its cells; all but the last are padded to the width of those around.
    pub cells: Vec<String>,
}

impl PageLine {
    /// Returns its cells, the first one indented.
    pub fn indented(&self) -> Vec<String> {
        let mut cells = self.cells.clone();
        if let Some(first) = cells.first_mut() {
            first.insert_str(0, &"  ".repeat(self.depth));
        }
        cells
    }
}

/// A page that is being written.
#[derive(Debug, Default)]
pub(super) struct PageWriter {
    lines: Vec<PageLine>,
    depth: usize,
}

impl PageWriter {
    /// Adds a line; a tab separates cells.
    pub(super) fn line(&mut self, depth: usize, text: impl AsRef<str>) {
        let cells = text.as_ref().split('\t').map(str::to_owned).collect();
        self.cells(depth, cells);
    }

    /// Adds a line of cells.
    pub(super) fn cells(&mut self, depth: usize, cells: Vec<String>) {
        let depth = self.depth + depth;
        let mut cells = cells;
        // A text of several lines continues below its first one.
        let text = cells.pop().unwrap_or_default();
        let mut rows = text.split('\n').map(str::to_owned);
        let mut below = vec![String::new(); cells.len()];
        cells.extend(rows.next());
        self.lines.push(PageLine { depth, cells });
        for row in rows {
            below.push(row);
            let cells = below.clone();
            self.lines.push(PageLine { depth, cells });
            below.pop();
        }
    }

    /// Adds a value behind its name.
    pub(super) fn field(&mut self, depth: usize, name: &str, value: impl Into<String>) {
        self.cells(depth, vec![format!("{name}:"), value.into()]);
    }

    /// Adds a value behind its name if there is one.
    pub(super) fn field_if(&mut self, depth: usize, name: &str, value: impl Into<String>) {
        let value = value.into();
        if !value.is_empty() {
            self.field(depth, name, value);
        }
    }

    /// Adds several values below each other.
    pub(super) fn list(&mut self, depth: usize, name: &str, values: Vec<String>) {
        if values.is_empty() {
            return self.field(depth, name, NONE);
        }
        for (place, value) in values.into_iter().enumerate() {
            if place == 0 {
                self.field(depth, name, value);
            } else {
                self.cells(depth, vec![String::new(), value]);
            }
        }
    }

    /// Adds labels or similar maps.
    pub(super) fn labels(&mut self, depth: usize, name: &str, labels: ObjectPart<'_>) {
        let labels = labels.texts().into_iter();
        let labels = labels.map(|(key, value)| format!("{key}={value}"));
        self.list(depth, name, labels.collect());
    }

    /// Adds the labels and the annotations of an object.
    pub(super) fn metadata(&mut self, object: ObjectPart<'_>) {
        self.labels(0, "Labels", object.at("metadata.labels"));
        self.annotations("Annotations", object.at("metadata.annotations"));
    }

    /// Adds fields of an object, each a title and its source; one whose title begins with a question mark is left out
    /// if it is empty.
    pub(super) fn fields(&mut self, depth: usize, object: ObjectPart<'_>, fields: &[(&str, &str)]) {
        for (title, source) in fields {
            match title.strip_prefix('?') {
                Some(title) => self.field_if(depth, title, object.cell(source)),
                None => self.field(depth, title, object.cell(source)),
            }
        }
    }

    /// Adds a line of fields for each item of a list; a blank behind a source stands behind its text.
    pub(super) fn rows(&mut self, items: ObjectPart<'_>, sources: &[&str]) {
        for item in items.items() {
            let cells = sources.iter().map(|source| {
                let blank = if source.ends_with(' ') { " " } else { "" };
                item.cell(source.trim_end()) + blank
            });
            self.line(1, cells.collect::<Vec<_>>().join("\t"));
        }
    }

    /// Adds annotations.
    pub(super) fn annotations(&mut self, name: &str, annotations: ObjectPart<'_>) {
        let mut lines = Vec::new();
        for (key, value) in annotations.texts() {
            if key == LAST_APPLIED {
                continue;
            }
            let value = value.strip_suffix('\n').unwrap_or(value);
            if value.len() + key.len() + 2 <= ANNOTATION_BYTES && !value.contains('\n') {
                lines.push(format!("{key}: {value}"));
                continue;
            }
            lines.push(format!("{key}:"));
            let rows = value
                .split('\n')
                .map(|row| shortened(row, ANNOTATION_BYTES - 2));
            lines.extend(rows.map(|row| format!("  {row}")));
        }
        self.list(0, name, lines);
    }

    /// Adds name, namespace if it has one, labels and annotations.
    pub(super) fn head(&mut self, object: ObjectPart<'_>) {
        self.name(object);
        self.metadata(object);
    }

    /// Adds the name, and the namespace of an object that lies in one.
    pub(super) fn name(&mut self, object: ObjectPart<'_>) {
        self.field(0, "Name", object.name());
        self.field_if(0, "Namespace", object.at("metadata.namespace").text());
    }

    /// Adds the titles of a table, and lines below them.
    pub(super) fn titles(&mut self, depth: usize, titles: &[&str]) {
        self.line(depth, titles.join("\t"));
        let under: Vec<String> = titles.iter().map(|title| "-".repeat(title.len())).collect();
        self.line(depth, under.join("\t"));
    }

    /// Adds what `write` writes, indented.
    pub(super) fn within(&mut self, depth: usize, write: impl FnOnce(&mut Self)) {
        self.depth += depth;
        write(self);
        self.depth -= depth;
    }

    /// Returns the lines.
    pub(super) fn done(self) -> Vec<PageLine> {
        self.lines
    }
}

fn shortened(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    format!(
        "{}...",
        text.get(..text.floor_char_boundary(bytes))
            .unwrap_or_default()
    )
}

/// Formats a boolean as kubectl's pages do.
pub(super) const fn truth(is_so: bool) -> &'static str {
    if is_so { "True" } else { "False" }
}

/// Returns the controller of an object.
pub(super) fn controller(object: ObjectPart<'_>) -> String {
    let owner = object.value().and_then(field::controller);
    let name = |owner| format!("{}/{}", text(owner, "/kind"), text(owner, "/name"));
    owner.map(name).unwrap_or_default()
}

/// Returns how long ago the deletion of an object was requested; `None` if it was not.
pub(super) fn terminating(object: ObjectPart<'_>, at: RecordedAt) -> Option<String> {
    let deletion = object.at("metadata.deletionTimestamp");
    let since = deletion.is_there().then(|| deletion.since(at))?;
    Some(format!("Terminating (lasts {since})"))
}

/// Writes the items of a list with a separator.
pub(super) fn joined(list: ObjectPart<'_>, separator: &str) -> String {
    let texts: Vec<String> = list.items().map(ObjectPart::plain).collect();
    texts.join(separator)
}

/// Formats a list as Go prints it.
pub(super) fn go_list(list: ObjectPart<'_>) -> String {
    format!("[{}]", joined(list, " "))
}
