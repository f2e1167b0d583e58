//! The words for errors of YAML, in files of rules and of exceptions.

use serde_saphyr::Error;

/// Returns what is wrong, without its place.
pub(crate) fn yaml_words(error: &Error) -> String {
    match error.without_snippet() {
        Error::Eof { .. } => "the file is empty, or ends too early".to_owned(),
        Error::MultipleDocuments { .. } => {
            "several YAML documents: write each into a file of its own".to_owned()
        }
        Error::DuplicateMappingKey { key: Some(key), .. } => format!("duplicate key `{key}`"),
        Error::Unexpected { expected, .. } => {
            let expected = match *expected {
                "sequence start" => "a list",
                "mapping start" => "fields with values",
                "string scalar" => "a text",
                other => other,
            };
            format!("expected {expected}")
        }
        other => {
            let text = other.to_string();
            let first = text.lines().next().unwrap_or_default();
            let place = first.rsplit_once(" at line ");
            place.map_or(first, |(words, _)| words).to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::yaml_words;
    use std::collections::BTreeMap;

    #[test]
    fn the_words_are_those_of_a_reader_of_yaml() {
        let words = |text: &str| {
            let read = serde_saphyr::from_str::<BTreeMap<String, Vec<String>>>(text);
            yaml_words(&read.expect_err(text))
        };
        for (text, expected) in [
            (
                "a: []\n---\nb: []\n",
                "several YAML documents: write each into a file of its own",
            ),
            ("a: []\na: []\n", "duplicate key `a`"),
            ("a: {b: c}\n", "expected a list"),
            ("a: [[b]]\n", "expected a text"),
            ("- a\n", "expected fields with values"),
            ("a: [\n", "unclosed bracket '['"),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
    }
}
