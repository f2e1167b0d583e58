//! A list of objects as kubectl prints it, written one object after another: a state may be larger
//! than memory.

use super::json::push_item;
use super::yaml::write_folded_yaml;
use serde_json::{Value, json};
use std::io::{self, Write};

/// The format of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListForm {
    /// As `kubectl -o json` prints it.
    Json,
    /// As `kubectl -o yaml` prints it.
    Yaml,
}

impl ListForm {
    /// Returns one object as an item of a list in this format.
    ///
    /// # Errors
    /// When the object cannot be written in it.
    pub fn item(self, object: Value) -> io::Result<String> {
        let mut text = String::new();
        match self {
            Self::Json => push_item(&mut text, &object),
            Self::Yaml => {
                write_folded_yaml(&mut text, &Value::Array(vec![object]))
                    .map_err(io::Error::other)?;
            }
        }
        Ok(text)
    }
}

/// A list that is being written.
#[derive(Debug)]
pub struct ListWriter {
    form: ListForm,
    is_empty: bool,
}

impl ListWriter {
    /// Begins a list.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn begin(form: ListForm, out: &mut impl Write) -> io::Result<Self> {
        out.write_all(match form {
            ListForm::Json => b"{\n    \"apiVersion\": \"v1\",\n    \"items\": [",
            ListForm::Yaml => b"apiVersion: v1\nitems:",
        })?;
        Ok(Self {
            form,
            is_empty: true,
        })
    }

    /// Appends an object, as [`ListForm::item`] wrote it.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn item(&mut self, item: &str, out: &mut impl Write) -> io::Result<()> {
        let between: &[u8] = match (self.form, self.is_empty) {
            (ListForm::Json, true) | (ListForm::Yaml, false) => b"",
            (ListForm::Json, false) => b",",
            (ListForm::Yaml, true) => b"\n",
        };
        self.is_empty = false;
        out.write_all(between)?;
        out.write_all(item.as_bytes())
    }

    /// Ends the list.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn end(self, out: &mut impl Write) -> io::Result<()> {
        let mut rest = String::new();
        match self.form {
            ListForm::Json => rest.push_str(concat!(
                "],\n    \"kind\": \"List\",\n",
                "    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n"
            )),
            ListForm::Yaml => {
                let members = json!({"kind": "List", "metadata": {"resourceVersion": ""}});
                write_folded_yaml(&mut rest, &members).map_err(io::Error::other)?;
            }
        }
        let before: &[u8] = match (self.form, self.is_empty) {
            (ListForm::Json, true) | (ListForm::Yaml, false) => b"",
            (ListForm::Json, false) => b"\n    ",
            (ListForm::Yaml, true) => b" []\n",
        };
        out.write_all(before)?;
        out.write_all(rest.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::json::write_json;

    /// The list as one value in memory.
    fn whole(items: &[Value], form: ListForm) -> String {
        let list = json!({
            "apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""},
        });
        let mut bytes = Vec::new();
        let mut text = String::new();
        match form {
            ListForm::Json => write_json(&mut bytes, &list).expect("memory"),
            ListForm::Yaml => write_folded_yaml(&mut text, &list).expect("memory"),
        }
        text + &String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn one_by_one_is_the_same_as_at_once() {
        let objects = [
            json!({"a": 1, "b": [true, {"c": []}], "d": "two\nlines\n"}),
            json!({}),
            json!({"metadata": {"name": "<x>", "labels": {}}, "list": [[1, 2], ["y"], "long words ".repeat(20)]}),
        ];
        for form in [ListForm::Json, ListForm::Yaml] {
            for count in 0..=objects.len() {
                let items = objects.get(..count).unwrap_or_default();
                let mut written = Vec::new();
                let mut list = ListWriter::begin(form, &mut written).expect("memory");
                for item in items {
                    let item = form.item(item.clone()).expect("a form");
                    list.item(&item, &mut written).expect("memory");
                }
                list.end(&mut written).expect("memory");
                let written = String::from_utf8(written).expect("text");
                assert_eq!(written, whole(items, form), "{form:?} {count}");
            }
        }
    }
}
