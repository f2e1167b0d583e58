//! Owns a field that is a text or a list of texts. Refuses numbers: `4.20` would be read as 4.2.

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use std::fmt;

/// One text, or several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Texts(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Texts;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a text or a list of texts")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Texts, E> {
                Ok(Texts(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Texts, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element::<String>()? {
                    texts.push(text);
                }
                if texts.is_empty() {
                    return Err(A::Error::custom("an empty list matches nothing"));
                }
                Ok(Texts(texts))
            }
        }
        input.deserialize_any(Either)
    }
}
