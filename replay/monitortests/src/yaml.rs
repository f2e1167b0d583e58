//! What files of rules and of exceptions have in common: one text or several, words of a closed list, and the
//! words for errors of YAML.

use serde::Deserialize;
use serde::de::value::{self, StrDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IntoDeserializer as _, SeqAccess, Visitor,
};
use serde_saphyr::Error;
use std::fmt;
use std::marker::PhantomData;

/// One text, or several; none if the field is not there.
#[derive(Clone, Debug)]
pub(crate) struct OneOrMany<T>(pub(crate) Vec<T>);

impl<T> Default for OneOrMany<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// It does not handle numbers: `4.20` would be read as 4.2.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let visitor = OneOrManyVisitor(PhantomData);
        input.deserialize_any(visitor).map(Self)
    }
}

impl OneOrMany<String> {
    /// Reads words of a closed list, in any case.
    pub(crate) fn of_words<'de, D: Deserializer<'de>>(
        input: D,
        known: &'static [&'static str],
    ) -> Result<Self, D::Error> {
        let word = KnownWord {
            known,
            is_same: str::eq_ignore_ascii_case,
        };
        input.deserialize_any(OneOrManyVisitor(word)).map(Self)
    }
}

struct OneOrManyVisitor<S>(S);

impl<'de, S: DeserializeSeed<'de> + Copy> Visitor<'de> for OneOrManyVisitor<S> {
    type Value = Vec<S::Value>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a text or a list of texts")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        // An error of the reader's own type would have the place of the field's name.
        let text: StrDeserializer<'_, value::Error> = text.into_deserializer();
        let read = self.0.deserialize(text).map_err(E::custom)?;
        Ok(vec![read])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut texts = Vec::new();
        while let Some(text) = list.next_element_seed(self.0)? {
            texts.push(text);
        }
        if texts.is_empty() {
            return Err(A::Error::custom("an empty list matches nothing"));
        }
        Ok(texts)
    }
}

/// The reader of a word of a closed list: an error is at the word.
#[derive(Clone, Copy)]
struct KnownWord {
    known: &'static [&'static str],
    is_same: fn(&str, &str) -> bool,
}

impl<'de> DeserializeSeed<'de> for KnownWord {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<String, D::Error> {
        let word = String::deserialize(input)?;
        let is_known = self.known.iter().any(|known| (self.is_same)(known, &word));
        if is_known {
            Ok(word)
        } else {
            Err(D::Error::unknown_variant(&word, self.known))
        }
    }
}

/// Reads a list of words of a closed list.
pub(crate) fn known_words<'de, D: Deserializer<'de>>(
    input: D,
    known: &'static [&'static str],
) -> Result<Vec<String>, D::Error> {
    struct WordsVisitor(KnownWord);

    impl<'de> Visitor<'de> for WordsVisitor {
        type Value = Vec<String>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a list of texts")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<String>, A::Error> {
            let mut words = Vec::new();
            while let Some(word) = list.next_element_seed(self.0)? {
                words.push(word);
            }
            Ok(words)
        }
    }

    input.deserialize_seq(WordsVisitor(KnownWord {
        known,
        is_same: str::eq,
    }))
}

/// Returns what is wrong, without its place.
pub(crate) fn yaml_words(error: &Error) -> String {
    let mut error = error.without_snippet();
    // An error in what an anchor repeats has the place of the repetition.
    while let Error::AliasError { error: inner, .. } = error {
        error = inner.without_snippet();
    }
    match error {
        Error::Budget { .. } => "the file is too large, or repeats too much by anchors".to_owned(),
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            "an anchor contains itself: write its value out".to_owned()
        }
        Error::InvalidScalar { ty, .. } => {
            let expected = match ty.chars().next() {
                Some('u') => "a whole number, 0 or more and not too large",
                Some('i') => "a whole number, not too large",
                Some('f') => "a number",
                _ => "another kind of value",
            };
            format!("expected {expected}")
        }
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
            (
                "a: &a [*a]\n",
                "an anchor contains itself: write its value out",
            ),
        ] {
            assert_eq!(words(text), expected, "{text}");
        }
        let number = serde_saphyr::from_str::<BTreeMap<String, u64>>("a: -1\n");
        let number = yaml_words(&number.expect_err("a mistake"));
        assert_eq!(
            number,
            "expected a whole number, 0 or more and not too large"
        );
    }
}
