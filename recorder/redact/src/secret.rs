//! Owns what of a Secret may not be kept: the values of `data` and `stringData`, and
//! kubectl's copy of them in an annotation. Refuses to touch any other byte.
//!
//! A value is replaced by a mark that tells its length and a hash under a key of this run, which is
//! never written down: that a value changed stays visible, the value cannot be guessed.

use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::ops::Range;

/// The policy that a session's first note names.
pub const POLICY: u32 = 1;

/// kubectl's annotation with the object as it was last applied.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The key under which one run hashes what it leaves out.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    key: RandomState,
}

/// The beginning of every mark.
const MARK: &str = "redacted by kubereel: ";

/// Tells whether a Secret holds a value: one that is neither empty nor a mark. `None` if it cannot be
/// read.
pub fn has_values(object: &[u8]) -> Option<bool> {
    let mut has = false;
    for (name, value) in fields(object)? {
        let value = value.get();
        has |= match name.to_ascii_lowercase().as_str() {
            "data" => holds(value, Spelling::Base64),
            "stringdata" => holds(value, Spelling::Plain),
            "metadata" => fields(value.as_bytes())?.into_iter().any(|(name, value)| {
                name.eq_ignore_ascii_case("annotations")
                    && fields(value.get().as_bytes()).is_some_and(|annotations| {
                        annotations.into_iter().any(|(key, value)| {
                            key.eq_ignore_ascii_case(LAST_APPLIED)
                                && is_value(value.get(), Spelling::Plain)
                        })
                    })
            }),
            _ => false,
        };
    }
    Some(has)
}

/// Tells whether a map holds a value; what is no map is one itself.
fn holds(map: &str, spelling: Spelling) -> bool {
    match fields(map.as_bytes()) {
        Some(values) => values
            .iter()
            .any(|(_, value)| is_value(value.get(), spelling)),
        None => map != "null",
    }
}

fn is_value(json: &str, spelling: Spelling) -> bool {
    let mark = match spelling {
        Spelling::Plain => MARK.to_owned(),
        // Whole groups of three bytes are spelt the same whatever follows.
        Spelling::Base64 => {
            let whole = MARK.len() - MARK.len() % 3;
            base64(MARK.as_bytes().get(..whole).unwrap_or_default())
        }
    };
    let is_marked = json
        .strip_prefix('"')
        .is_some_and(|text| text.starts_with(&mark));
    !matches!(json, "null" | "\"\"") && !is_marked
}

/// Bytes to put in the place of others.
type Replacement = (Range<usize>, String);

impl Redactor {
    /// Gives a Secret without its values; `None` if it cannot be read, and then nothing of it may
    /// be kept.
    pub fn secret(&self, object: &[u8]) -> Option<Vec<u8>> {
        let mut replacements = Vec::new();
        for (name, value) in fields(object)? {
            let field = name.to_ascii_lowercase();
            match field.as_str() {
                "data" => self.values(object, value, Spelling::Base64, &mut replacements)?,
                "stringdata" => self.values(object, value, Spelling::Plain, &mut replacements)?,
                "metadata" => self.metadata(object, value, &mut replacements)?,
                _ => {}
            }
        }
        splice(object, replacements)
    }

    fn values(
        &self,
        object: &[u8],
        map: &RawValue,
        spelling: Spelling,
        out: &mut Vec<Replacement>,
    ) -> Option<()> {
        if map.get() == "null" {
            return Some(());
        }
        let Some(values) = fields(map.get().as_bytes()) else {
            // No server sends anything but an object here; whatever it is, it does not stay.
            out.push((place(object, map)?, self.mark(map, Spelling::Plain)));
            return Some(());
        };
        for (_, value) in values {
            if value.get() != "null" {
                out.push((place(object, value)?, self.mark(value, spelling)));
            }
        }
        Some(())
    }

    fn metadata(
        &self,
        object: &[u8],
        metadata: &RawValue,
        out: &mut Vec<Replacement>,
    ) -> Option<()> {
        for (name, annotations) in fields(metadata.get().as_bytes())? {
            if !name.eq_ignore_ascii_case("annotations") || annotations.get() == "null" {
                continue;
            }
            for (key, value) in fields(annotations.get().as_bytes())? {
                if key.eq_ignore_ascii_case(LAST_APPLIED) {
                    out.push((place(object, value)?, self.mark(value, Spelling::Plain)));
                }
            }
        }
        Some(())
    }

    fn mark(&self, value: &RawValue, spelling: Spelling) -> String {
        let raw = value.get();
        let text: String = serde_json::from_str(raw).unwrap_or_else(|_| raw.to_owned());
        let bytes = match spelling {
            Spelling::Base64 => decoded_len(&text),
            Spelling::Plain => text.len(),
        };
        let hash = self.key.hash_one(&text);
        let mark = format!("{MARK}{bytes} bytes, {hash:016x}");
        match spelling {
            Spelling::Base64 => format!("\"{}\"", base64(mark.as_bytes())),
            Spelling::Plain => format!("\"{mark}\""),
        }
    }
}

/// How the values of a map are spelt; a reader that decodes them must not stumble over the mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spelling {
    Base64,
    Plain,
}

fn decoded_len(base64: &str) -> usize {
    let digits = base64.trim_end_matches('=').len();
    digits / 4 * 3 + (digits % 4) * 3 / 4
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let mut word = 0_u32;
        for place in 0..3 {
            word = (word << 8) | u32::from(group.get(place).copied().unwrap_or(0));
        }
        for place in 0..4_usize {
            let digit = usize::try_from((word >> (18 - 6 * place)) & 63).unwrap_or(0);
            let is_padding = place > group.len();
            let byte = DIGITS.get(digit).copied().filter(|_| !is_padding);
            text.push(char::from(byte.unwrap_or(b'=')));
        }
    }
    text
}

/// Lists the fields of a JSON object with their values' bytes, in order and with duplicates.
fn fields(object: &[u8]) -> Option<Vec<(String, &RawValue)>> {
    struct Fields;

    impl<'a> Visitor<'a> for Fields {
        type Value = Vec<(String, &'a RawValue)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut fields = Vec::new();
            while let Some(field) = map.next_entry()? {
                fields.push(field);
            }
            Ok(fields)
        }
    }

    let mut deserializer = serde_json::Deserializer::from_slice(object);
    let fields = deserializer.deserialize_map(Fields).ok()?;
    deserializer.end().ok()?;
    Some(fields)
}

/// Tells where in `object` a value stands that borrows from it.
fn place(object: &[u8], value: &RawValue) -> Option<Range<usize>> {
    let value = value.get().as_bytes();
    let start = value.as_ptr().addr().checked_sub(object.as_ptr().addr())?;
    let range = start..start.checked_add(value.len())?;
    (object.get(range.clone())? == value).then_some(range)
}

fn splice(object: &[u8], replacements: Vec<Replacement>) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(object.len());
    let mut from = 0;
    for (range, mark) in replacements {
        out.extend_from_slice(object.get(from..range.start)?);
        out.extend_from_slice(mark.as_bytes());
        from = range.end;
    }
    out.extend_from_slice(object.get(from..)?);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn redact(text: &str) -> String {
        let redacted = Redactor::default().secret(text.as_bytes());
        String::from_utf8(redacted.expect("a readable object")).expect("utf-8")
    }

    const SECRET: &str = r#"{"kind":"Secret", "apiVersion":"v1","metadata":{"name":"s","annotations":{"a":"keep","kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"k\":\"Q0FOQVJZ\"}}\n"},"resourceVersion":"7","x":1e3},"data":{"password":"Q0FOQVJZ", "empty":""},"stringData":{"p":"CANARY"},"type":"Opaque"}"#;

    #[test]
    fn leaves_only_marks_and_every_other_byte() {
        let redacted = redact(SECRET);
        assert!(!redacted.contains("CANARY") && !redacted.contains("Q0FOQVJZ"));
        assert!(redacted.starts_with(r#"{"kind":"Secret", "apiVersion":"v1","metadata":{"name":"s","annotations":{"a":"keep","kubectl.kubernetes.io/last-applied-configuration":"redacted by kubereel: "#));
        assert!(redacted.contains(r#""},"resourceVersion":"7","x":1e3},"data":{"password":""#));
        assert!(redacted.ends_with(r#""},"type":"Opaque"}"#));
        let value: Value = serde_json::from_str(&redacted).expect("still JSON");
        assert_eq!(value["data"].as_object().expect("a map").len(), 2);
    }

    #[test]
    fn a_mark_in_data_is_base64_and_tells_the_length() {
        let redacted: Value = serde_json::from_str(&redact(SECRET)).expect("still JSON");
        let mark = redacted["data"]["password"].as_str().expect("a string");
        assert_eq!(mark.len() % 4, 0);
        assert!(mark.starts_with(&base64(b"redacted by kubereel: 6 bytes")[..38]));
    }

    #[test]
    fn equal_values_have_equal_marks_within_a_run_only() {
        let redactor = Redactor::default();
        let once = redactor.secret(SECRET.as_bytes());
        assert_eq!(once, redactor.secret(SECRET.as_bytes()));
        let other = SECRET.replace("Q0FOQVJZ", "Q0FOQVJa");
        assert_ne!(once, redactor.secret(other.as_bytes()));
        assert_ne!(once, Redactor::default().secret(SECRET.as_bytes()));
    }

    #[test]
    fn nothing_hides_behind_odd_forms() {
        for text in [
            r#"{"d\u0061ta":{"k":"CANARY"}}"#,
            r#"{"data":{"k":"CANARY"},"data":{"k":"CANARY"}}"#,
            r#"{"Data":{"k":"CANARY"},"STRINGDATA":{"k":"CANARY"}}"#,
            r#"{"data":"CANARY"}"#,
            r#"{"data":["CANARY"]}"#,
            r#"{"data":{"k":{"deep":["CANARY"]}}}"#,
            r#"{"data":{"k":"CANARY","k":"CANARY"}}"#,
            r#"{"metadata":{"annotations":{"kubectl.kubernetes.io/last-\u0061pplied-configuration":"CANARY"}}}"#,
        ] {
            let redacted = redact(text);
            assert!(!redacted.contains("CANARY"), "{redacted}");
            serde_json::from_str::<Value>(&redacted).expect("still JSON");
        }
    }

    #[test]
    fn without_values_nothing_changes() {
        for text in [
            r#"{"metadata":{"name":"s"},"data":null}"#,
            r#"{ "metadata" : {"annotations":null} , "data" : {} }"#,
            "{}",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    #[test]
    fn what_cannot_be_read_gives_nothing() {
        for text in [
            "",
            "[]",
            "{",
            r#"{"data":{"k":"CANARY"}"#,
            r#"{"metadata":[]}"#,
            "{} {}",
        ] {
            assert_eq!(Redactor::default().secret(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn values_are_told_from_marks_and_from_nothing() {
        assert_eq!(has_values(SECRET.as_bytes()), Some(true));
        assert_eq!(has_values(redact(SECRET).as_bytes()), Some(false));
        for (text, expected) in [
            (r#"{"data":null}"#, Some(false)),
            (r#"{"data":{"a":""},"stringData":{"b":null}}"#, Some(false)),
            (r#"{"data":{"a":"QQ=="}}"#, Some(true)),
            (r#"{"stringData":{"a":"b"}}"#, Some(true)),
            (r#"{"data":"CANARY"}"#, Some(true)),
            (
                r#"{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"x"}}}"#,
                Some(true),
            ),
            (r#"{"metadata":{"annotations":{"a":"x"}}}"#, Some(false)),
            ("{", None),
        ] {
            assert_eq!(has_values(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn encodes_base64() {
        for (plain, encoded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ] {
            assert_eq!(base64(plain.as_bytes()), encoded);
            assert_eq!(decoded_len(encoded), plain.len());
        }
    }

    proptest! {
        #[test]
        fn only_the_values_differ(
            data in prop::collection::btree_map("[a-z.]{1,8}", "[A-Za-z0-9+/]{4,40}", 0..5),
            other in ".{0,20}",
        ) {
            let secret = serde_json::json!({"metadata":{"name":other},"data":data,"type":other});
            let text = secret.to_string();
            let redacted: Value = serde_json::from_str(&redact(&text)).expect("still JSON");
            prop_assert_eq!(&redacted["metadata"], &secret["metadata"]);
            prop_assert_eq!(&redacted["type"], &secret["type"]);
            for (key, value) in &data {
                let mark = redacted["data"][key].as_str().expect("a string");
                prop_assert!(mark != value && mark.len() > 20);
            }
        }
    }
}
