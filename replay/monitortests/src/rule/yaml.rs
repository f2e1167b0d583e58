//! Owns the reading of YAML into the shape of a rule file, and how its errors are told. Refuses what the
//! fields mean.

use super::mistake::RuleMistake;
use super::source::Source;
use super::written::File;
use crate::cel;
use serde_saphyr::Error;

/// Reads a file.
pub(super) fn file(source: &Source<'_>, text: &str) -> Result<File, RuleMistake> {
    if text.trim().is_empty() {
        return Ok(File::default());
    }
    // As in YAML 1.2 `y`, `no` and `on` are texts.
    let options = serde_saphyr::options! { with_snippet: false, strict_booleans: true };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| told(source, &error))
}

fn told(source: &Source<'_>, error: &Error) -> RuleMistake {
    let listed = |expected: &[&str]| format!("known here: {}", expected.join(", "));
    let (what, hint) = match error.without_snippet() {
        Error::SerdeUnknownField {
            field, expected, ..
        } => {
            let near = cel::nearest(field, expected.iter().copied());
            let hint = near.map_or_else(
                || listed(expected),
                |near| format!("did you mean `{near}`?"),
            );
            (format!("unknown field `{field}`"), hint)
        }
        Error::SerdeUnknownVariant {
            variant, expected, ..
        } => (format!("unknown word `{variant}`"), listed(expected)),
        Error::SerdeMissingField { field, .. } => (
            format!("the field `{field}` is missing"),
            "docs/rules.md lists the fields".to_owned(),
        ),
        other => {
            let text = other.to_string();
            let first = text.lines().next().unwrap_or_default();
            (format!("this cannot be read: {first}"), String::new())
        }
    };
    match error.location() {
        Some(location) => source.of(location, what, hint),
        None => source.at(1, 1, 1, what, hint),
    }
}
