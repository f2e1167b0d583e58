//! The page of an object of any kind: all of its fields, with their names as text.

use super::lines::PageWriter;
use crate::builtin_kinds;
use crate::columns::ObjectPart;
use crate::object::in_go;
use crate::schema::MAPS;
use kubereel_format::ResourceInfo;
use serde_json::{Map, Value};

/// Fields that the top of the page shows already, or that are internal.
const LEFT_OUT: [&str; 5] = [
    ".metadata.managedFields",
    ".metadata.name",
    ".metadata.namespace",
    ".metadata.labels",
    ".metadata.annotations",
];

/// Words that are written in capitals.
const ACRONYMS: [&str; 5] = ["API", "URL", "UID", "OSB", "GUID"];

/// How the keys of maps with free keys are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyStyle {
    /// Literally, as kubectl does on the pages of the kinds of Kubernetes itself: two keys may differ in case only.
    Literal,
    /// In words, as all names on kubectl's page of a custom resource.
    Words,
}

impl KeyStyle {
    /// Returns that of a resource.
    pub(super) fn of(resource: &ResourceInfo) -> Self {
        if builtin_kinds::has(resource) {
            Self::Literal
        } else {
            Self::Words
        }
    }

    fn label(self, parent: &str, name: &str) -> String {
        let parent = parent.rsplit('.').next();
        let has_free_keys = parent.is_some_and(|parent| MAPS.contains(&parent));
        if self == Self::Literal && has_free_keys {
            name.to_owned()
        } else {
            in_words(name)
        }
    }
}

pub(super) fn any_page(page: &mut PageWriter, object: ObjectPart<'_>, keys: KeyStyle) {
    page.field(0, "Name", object.name());
    page.field(0, "Namespace", object.at("metadata.namespace").text());
    page.metadata(object);
    if let Some(members) = object.value().and_then(Value::as_object) {
        fields(page, 0, members, "", keys);
    }
}

fn fields(
    page: &mut PageWriter,
    depth: usize,
    members: &Map<String, Value>,
    path: &str,
    keys: KeyStyle,
) {
    let mut names: Vec<&String> = members.keys().collect();
    names.sort_unstable();
    for name in names {
        let below = format!("{path}.{name}");
        if LEFT_OUT.contains(&below.as_str()) {
            continue;
        }
        let label = keys.label(path, name);
        match members.get(name) {
            Some(Value::Object(members)) => {
                page.line(depth, format!("{label}:"));
                fields(page, depth + 1, members, &below, keys);
            }
            Some(Value::Array(items)) => {
                page.line(depth, format!("{label}:"));
                for item in items {
                    match item {
                        Value::Object(members) => fields(page, depth + 1, members, &below, keys),
                        item => page.line(depth + 1, in_go(item)),
                    }
                }
            }
            Some(value) => page.field(depth, &label, in_go(value)),
            None => {}
        }
    }
}

/// Converts the name of a field to words: `lastTransitionTime` is `Last Transition Time`.
fn in_words(name: &str) -> String {
    if !name
        .chars()
        .all(|letter| letter.is_alphabetic() || letter == '-')
    {
        return name.to_owned();
    }
    let words = words(name).into_iter().map(|word| {
        let upper = word.to_uppercase();
        if ACRONYMS.contains(&upper.as_str()) {
            return upper;
        }
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_uppercase().to_string());
        format!("{}{}", first.unwrap_or_default(), letters.as_str())
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Splits a name where small letters change to capitals; of several capitals, the last one begins
/// the next word.
fn words(name: &str) -> Vec<String> {
    #[derive(Clone, Copy, PartialEq)]
    enum LetterCase {
        Small,
        Capital,
        Other,
    }
    let case = |letter: char| {
        if letter.is_lowercase() {
            LetterCase::Small
        } else if letter.is_uppercase() {
            LetterCase::Capital
        } else {
            LetterCase::Other
        }
    };
    let mut runs: Vec<(LetterCase, String)> = Vec::new();
    for letter in name.chars() {
        match runs.last_mut() {
            Some((last, run)) if *last == case(letter) => run.push(letter),
            _ => runs.push((case(letter), letter.to_string())),
        }
    }
    let mut words: Vec<String> = Vec::new();
    let mut before: Option<LetterCase> = None;
    for (this, run) in runs {
        match (before, words.last_mut()) {
            (Some(LetterCase::Capital), Some(capitals)) if this == LetterCase::Small => {
                let first = capitals.pop();
                let word: String = first.into_iter().chain(run.chars()).collect();
                if capitals.is_empty() {
                    words.pop();
                }
                words.push(word);
            }
            _ => words.push(run),
        }
        before = Some(this);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_format::ResourceId;
    use serde_json::json;

    #[test]
    fn names_are_written_in_words() {
        for (name, words) in [
            ("lastTransitionTime", "Last Transition Time"),
            ("apiVersion", "API Version"),
            ("podCIDR", "Pod CIDR"),
            ("URLPath", "URL Path"),
            ("uid", "UID"),
            ("rke-config", "Rke - Config"),
            ("a.b/c", "a.b/c"),
            ("v1", "v1"),
        ] {
            assert_eq!(in_words(name), words, "{name}");
        }
    }

    #[test]
    fn free_keys_of_a_built_in_kind_are_literal() {
        let object = json!({"data": {"logLevel": "debug", "LogLevel": "info"}});
        let lines = |resource: ResourceInfo| -> Vec<String> {
            let mut page = PageWriter::default();
            any_page(&mut page, ObjectPart::of(&object), KeyStyle::of(&resource));
            let lines = page.done().into_iter().skip(4);
            lines.map(|line| line.cells.join("|")).collect()
        };
        let info = |version, plural, kind| ResourceInfo::new(ResourceId(0), version, plural, kind);
        assert_eq!(
            lines(info("v1", "configmaps", "ConfigMap")),
            ["Data:", "LogLevel:|info", "logLevel:|debug"]
        );
        assert_eq!(
            lines(info("e.io/v1", "widgets", "Widget")),
            ["Data:", "Log Level:|info", "Log Level:|debug"]
        );
    }

    #[test]
    fn every_field_is_on_the_page() {
        let object = json!({
            "kind": "Widget", "apiVersion": "e.io/v1",
            "metadata": {"name": "w", "managedFields": [{"manager": "m"}], "generation": 2},
            "spec": {"hosts": ["a", "b"], "tls": [{"hard": true, "none": null}]},
        });
        let mut page = PageWriter::default();
        any_page(&mut page, ObjectPart::of(&object), KeyStyle::Words);
        let lines: Vec<String> = page
            .done()
            .into_iter()
            .map(|line| format!("{}{}", "  ".repeat(line.depth), line.cells.join("|")))
            .collect();
        assert_eq!(
            lines,
            [
                "Name:|w",
                "Namespace:|",
                "Labels:|<none>",
                "Annotations:|<none>",
                "API Version:|e.io/v1",
                "Kind:|Widget",
                "Metadata:",
                "  Generation:|2",
                "Spec:",
                "  Hosts:",
                "    a",
                "    b",
                "  Tls:",
                "    Hard:|true",
                "    None:|<nil>",
            ]
        );
    }
}
