//! The forms of `kubereel get -o`, those of kubectl, and what each makes of objects.

use crate::command_error::{CommandError, Exit};
use crate::files;
use kubereel_history::{CustomColumns, JsonPathTemplate, ObjectForm, TemplateError, write_json};
use serde_json::Value;
use std::io::Write;
use std::path::Path;

/// The most bytes of a file with a template.
const FILE_BYTES: u64 = 64 * 1024;

/// The form of the answer, as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GetFormat {
    Json,
    Yaml,
    Name,
    /// A table with additional columns.
    Wide,
    /// A template, or the file that holds it.
    JsonPath(TemplateSource),
    /// A template whose results are printed as JSON.
    JsonPathAsJson(TemplateSource),
    /// Columns, or the file that holds them.
    CustomColumns(TemplateSource),
}

/// Where a template stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TemplateSource {
    Text(String),
    File(String),
}

/// The forms for help and errors.
pub(super) const FORMS: &str = "json, yaml, name, wide, jsonpath=TEMPLATE, jsonpath-file=FILE, \
                                jsonpath-as-json=TEMPLATE, custom-columns=NAME:PATH,…, custom-columns-file=FILE";

/// What `-o` is completed to; a value follows `=`.
pub(crate) const COMPLETIONS: [&str; 9] = [
    "json",
    "yaml",
    "name",
    "wide",
    "jsonpath=",
    "jsonpath-as-json=",
    "jsonpath-file=",
    "custom-columns=",
    "custom-columns-file=",
];

/// Reads the value of `-o`.
pub(super) fn read(text: &str) -> Result<GetFormat, String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let (text, file) = (
        TemplateSource::Text(value.to_owned()),
        TemplateSource::File(value.to_owned()),
    );
    let needs_value = |form: GetFormat| {
        if value.is_empty() {
            return Err(format!("{name} needs a value: {name}=…"));
        }
        Ok(form)
    };
    match name {
        "json" if value.is_empty() => Ok(GetFormat::Json),
        "yaml" if value.is_empty() => Ok(GetFormat::Yaml),
        "name" if value.is_empty() => Ok(GetFormat::Name),
        "wide" if value.is_empty() => Ok(GetFormat::Wide),
        "jsonpath" => needs_value(GetFormat::JsonPath(text)),
        "jsonpath-as-json" => needs_value(GetFormat::JsonPathAsJson(text)),
        "jsonpath-file" => needs_value(GetFormat::JsonPath(file)),
        "custom-columns" => needs_value(GetFormat::CustomColumns(text)),
        "custom-columns-file" => needs_value(GetFormat::CustomColumns(file)),
        "go-template" | "go-template-file" | "template" | "templatefile" => Err(
            "Go templates are not supported: use jsonpath=TEMPLATE, or -o json and jq".to_owned(),
        ),
        "kyaml" => Err("KYAML is not supported: -o yaml prints the same object".to_owned()),
        _ => Err(format!("expected one of: {FORMS}")),
    }
}

/// What a form makes of objects.
pub(super) enum ObjectPrinter {
    /// Rows of the resource's own columns.
    Table,
    /// Rows of the user's columns.
    Custom(CustomColumns),
    Name,
    Json,
    Yaml,
    /// A template, and whether what it finds is printed as JSON.
    Template(JsonPathTemplate, bool),
}

impl ObjectPrinter {
    /// Returns the form of the objects: as for kubectl, only whole objects are shown without their managed fields.
    pub(super) const fn object_form(&self, shows_managed_fields: bool) -> ObjectForm {
        ObjectForm {
            shows_managed_fields: shows_managed_fields
                || matches!(self, Self::Template(..) | Self::Custom(_)),
        }
    }

    /// Reads the templates of a form.
    pub(super) fn of(form: Option<&GetFormat>) -> Result<Self, CommandError> {
        Ok(match form {
            None | Some(GetFormat::Wide) => Self::Table,
            Some(GetFormat::Name) => Self::Name,
            Some(GetFormat::Json) => Self::Json,
            Some(GetFormat::Yaml) => Self::Yaml,
            Some(GetFormat::JsonPath(source)) => Self::Template(template(source)?, false),
            Some(GetFormat::JsonPathAsJson(source)) => Self::Template(template(source)?, true),
            Some(GetFormat::CustomColumns(source)) => {
                let text = source.text()?;
                let read = match source {
                    TemplateSource::Text(_) => CustomColumns::parse(&text),
                    TemplateSource::File(_) => CustomColumns::parse_file(&text),
                };
                Self::Custom(read.map_err(|error| {
                    CommandError::usage(error)
                        .hint("for example: -o custom-columns=NAME:.metadata.name")
                })?)
            }
        })
    }
}

fn template(source: &TemplateSource) -> Result<JsonPathTemplate, CommandError> {
    let read = JsonPathTemplate::parse(source.text()?.trim_end_matches('\n'));
    read.map_err(CommandError::usage)
}

/// Writes what a template makes of an object.
pub(super) fn write_template(
    template: &JsonPathTemplate,
    is_json: bool,
    object: &Value,
    out: &mut impl Write,
) -> Result<(), CommandError> {
    let failed = |error| CommandError::output(&error);
    if !is_json {
        let text = template.written(object).map_err(mismatch)?;
        return out.write_all(text.as_bytes()).map_err(failed);
    }
    let mut found = template.found(object).map_err(mismatch)?.into_iter();
    found.try_for_each(|list| write_json(out, &list).map_err(failed))
}

/// Makes the error of a path that does not fit an object.
pub(super) fn mismatch(error: TemplateError) -> CommandError {
    CommandError::new(Exit::No, error)
}

impl TemplateSource {
    fn text(&self) -> Result<String, CommandError> {
        match self {
            Self::Text(text) => Ok(text.clone()),
            Self::File(path) => files::read_text(Path::new(path), FILE_BYTES),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_are_those_of_kubectl() {
        let text = |text: &str| TemplateSource::Text(text.to_owned());
        assert_eq!(read("json"), Ok(GetFormat::Json));
        let expected = Ok(GetFormat::JsonPath(text("{.a=='b'}")));
        assert_eq!(read("jsonpath={.a=='b'}"), expected);
        assert_eq!(
            read("custom-columns-file=f"),
            Ok(GetFormat::CustomColumns(TemplateSource::File(
                "f".to_owned()
            )))
        );
        for wrong in [
            "",
            "jsonpath",
            "json=x",
            "go-template={{.}}",
            "kyaml",
            "tabel",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(read("go-template={{.}}").is_err_and(|error| error.contains("jsonpath")));
    }
}
