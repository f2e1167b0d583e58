//! Strings that look random and have no known form: the weaker class of the scan.
//!
//! These are not redacted: most random strings of a cluster are hashes, ids and signatures. A
//! person looks at the rest after those with a known meaning were removed.

use crate::base64;
use crate::mark::{Hint, SENTENCE, WORD};
use crate::path::PathStep;
use crate::policy::{RedactionFinding, Redactor};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};

/// A shorter string cannot be distinguished from a generated name.
const RANDOM_LEAST: usize = 20;

/// The number of remembered strings, so that each is reported once.
const SEEN_MOST: usize = 1_000_000;

/// How deep base64 within base64 is searched.
const LAYERS_MOST: u8 = 2;

/// Fields whose text is random and public: ids, versions, hashes, keys for verification, pictures.
#[rustfmt::skip]
const PUBLIC_FIELDS: [&str; 13] = [
    "uid", "resourceversion", "cabundle", "continue", "image", "imageid", "containerid", "publickey", "certificate",
    "base64data", "providerid", "selflink", "managedfields",
];

/// Parts of the names of fields and annotations whose text is a hash.
const HASH_NAMES: [&str; 5] = ["hash", "checksum", "digest", "fingerprint", "sha256"];

/// The begin of base64 of public bytes: SSH keys, PNG, JPEG, GIF.
const PUBLIC_BEGINNINGS: [&str; 7] = [
    "AAAAB3Nza",
    "AAAAC3Nza",
    "AAAAE2VjZ",
    "iVBORw0KGgo",
    "/9j/",
    "R0lGOD",
    "AAABAAE",
];

/// Finds random strings; each string once, however often it occurs.
#[derive(Debug, Default)]
pub struct RandomStrings {
    seen: HashSet<u64>,
    state: RandomState,
}

impl RandomStrings {
    /// Finds them in an object, with offsets within the text at their path. A body that is not JSON
    /// is searched as one text. The redactor keeps secrets out of the paths.
    pub fn in_object(&mut self, redactor: &Redactor, object: &[u8]) -> Vec<RedactionFinding> {
        let Ok(value) = serde_json::from_slice(object) else {
            return self.in_text(&String::from_utf8_lossy(object));
        };
        let mut found = Vec::new();
        self.value(redactor, &value, &mut Vec::new(), &mut found);
        found
    }

    /// Finds them in a text.
    pub fn in_text(&mut self, text: &str) -> Vec<RedactionFinding> {
        let found = self.text(text, 0);
        found.into_iter().map(|found| found.at("")).collect()
    }

    fn value<'v>(
        &mut self,
        redactor: &Redactor,
        value: &'v Value,
        steps: &mut Vec<PathStep<'v>>,
        found: &mut Vec<RedactionFinding>,
    ) {
        match value {
            Value::String(text) => {
                let inside = self.text(text, 0);
                if !inside.is_empty() {
                    let path = redactor.path_text(steps);
                    found.extend(inside.into_iter().map(|found| found.at(&path)));
                }
            }
            Value::Array(items) => {
                for (number, item) in items.iter().enumerate() {
                    steps.push(PathStep::Item(number));
                    self.value(redactor, item, steps, found);
                    steps.pop();
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields.iter().filter(|(name, _)| !is_public(name)) {
                    steps.push(PathStep::Key(name.into()));
                    self.value(redactor, value, steps, found);
                    steps.pop();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&mut self, text: &str, layer: u8) -> Vec<RandomWord> {
        // Certificates, public keys, and requests for certificates.
        if text.len() < RANDOM_LEAST || text.contains("-----BEGIN ") || text.contains(SENTENCE) {
            return Vec::new();
        }
        let is_part = |byte: u8| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
        };
        let mut found = Vec::new();
        let mut at = 0;
        for word in text.split(|letter: char| !u8::try_from(letter).is_ok_and(is_part)) {
            let start = text.len().min(at);
            at = start + word.len() + 1;
            // The text after `sha256:` and the like is a digest.
            let is_digest = text.get(..start).is_some_and(|before| {
                ["sha256:", "sha512:", "SHA256:", "sha1:", "MD5:"]
                    .iter()
                    .any(|name| before.ends_with(name))
            });
            let word = word.trim_matches(['=', '-', '/', '_']);
            if word.len() < RANDOM_LEAST || is_digest || word.contains(WORD) {
                continue;
            }
            if let Some(inner) = decoded_text(word) {
                if layer < LAYERS_MOST {
                    found.extend(self.text(&inner, layer + 1));
                }
                continue;
            }
            if is_random(word) && self.is_new(word) {
                let hint = Hint::of(word.as_bytes());
                found.push(RandomWord { start, hint });
            }
        }
        found
    }

    fn is_new(&mut self, word: &str) -> bool {
        let hash = self.state.hash_one(word);
        if self.seen.len() >= SEEN_MOST {
            return !self.seen.contains(&hash);
        }
        self.seen.insert(hash)
    }
}

/// A random word of a text.
struct RandomWord {
    start: usize,
    hint: Hint,
}

impl RandomWord {
    fn at(self, path: &str) -> RedactionFinding {
        RedactionFinding {
            rule: "high-entropy".to_owned(),
            path: path.to_owned(),
            at: self.start,
            len: self.hint.len,
            begin: self.hint.begin,
        }
    }
}

fn is_public(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    PUBLIC_FIELDS.contains(&name.as_str()) || HASH_NAMES.iter().any(|part| name.contains(part))
}

/// Decodes the base64 of a text. Certificates and other public bytes are recognized and skipped.
fn decoded_text(word: &str) -> Option<String> {
    if PUBLIC_BEGINNINGS
        .iter()
        .any(|begin| word.starts_with(begin))
    {
        return Some(String::new());
    }
    let bytes = base64::decode(word.as_bytes())?;
    // A certificate, a certificate request, a public key: sequences within a sequence.
    if matches!(
        bytes.as_slice(),
        [0x30, 0x82, _, _, 0x30, ..] | [0x30, 0x81, _, 0x30, ..] | [0x30, _, 0x30, ..]
    ) && bytes.len() > 40
    {
        return Some(String::new());
    }
    let text = String::from_utf8(bytes).ok()?;
    let is_printable = |letter: char| !letter.is_control() || letter.is_ascii_whitespace();
    text.chars().all(is_printable).then_some(text)
}

/// Returns whether a word looks random: its characters change between digits, capitals and small
/// letters as often as by chance, and none is much more frequent than others.
fn is_random(word: &str) -> bool {
    let bytes = word.as_bytes();
    let count = |is: fn(&u8) -> bool| bytes.iter().filter(|byte| is(byte)).count();
    let (digits, capitals, small) = (
        count(u8::is_ascii_digit),
        count(u8::is_ascii_uppercase),
        count(u8::is_ascii_lowercase),
    );
    // Digests, uids and numbers: their form is known, and does not reveal their meaning.
    if count(|byte| byte.is_ascii_hexdigit() || *byte == b'-') == bytes.len() {
        return false;
    }
    let class = |byte: &u8| match byte {
        b'0'..=b'9' => 0,
        b'A'..=b'Z' => 1,
        b'a'..=b'z' => 2,
        _ => 3,
    };
    let changes = bytes
        .windows(2)
        .filter(|two| matches!(two, [one, other] if class(one) != class(other)))
        .count();
    let pairs = bytes.len() - 1;
    let has_three = digits * 20 >= bytes.len() && capitals > 1 && small > 1;
    // Words of one case with digits are more often names: these must have no dash, and more digits.
    let has_two = digits * 6 >= bytes.len() && (small == 0 || capitals == 0);
    let is_whole = digits + capitals + small == bytes.len();
    let is_mixed =
        has_three && changes * 5 >= pairs * 2 || has_two && is_whole && changes * 4 >= pairs;
    is_mixed && entropy(bytes) >= 3.5
}

/// Returns the entropy of the characters, in bits a character.
fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = BTreeMap::<u8, u32>::new();
    for byte in bytes {
        *counts.entry(*byte).or_default() += 1;
    }
    let total = f64::from(counts.values().sum::<u32>());
    let shares = counts.values().map(|count| f64::from(*count) / total);
    shares.map(|share| -share * share.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Extra;

    fn redactor() -> Redactor {
        Redactor::new(Extra::default()).expect("random bytes")
    }

    #[test]
    fn random_strings_are_found_once_with_their_place() {
        let mut strings = RandomStrings::default();
        let object = br#"{"spec":{"items":["x vQ7pL2mZ9kT4wX8rB3nY6c y"]}}"#;
        let found = strings.in_object(&redactor(), object);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].path.as_str(), found[0].len),
            (".spec.items[0]", 22)
        );
        assert_eq!(found[0].begin, "vQ7p");
        assert_eq!(strings.in_object(&redactor(), object), []);
        let secret_key =
            br#"{"ghp_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2":"vQ8pL3mZ7kT5wX9rB2nY4c"}"#;
        let found = strings.in_object(&redactor(), secret_key);
        let path = &found[0].path;
        assert!(
            path.starts_with("['redacted-by-kubereel-40-bytes-"),
            "{path}"
        );
        let encoded = base64::encode(b"user kX4tQ9wZ1bN7mV3cP8sJ5h here");
        assert_eq!(strings.in_text(&encoded).len(), 1);
        assert_eq!(strings.in_text("w8f2k5q9z1x7c3v6b4n0m8").len(), 1);
    }

    #[test]
    fn what_has_a_meaning_is_passed_over() {
        let mut strings = RandomStrings::default();
        for object in [
            r#"{"metadata":{"uid":"vQ7pL2mZ9kT4wX8rB3nY6c","name":"kube-apiserver-operator-7d9c6b5f48-x2x7k"}}"#,
            r#"{"a":"0b1f9cc6-6a5e-4d0b-9d0e-9f3a4a0a8a11 3e9a9708a3b2b94d2b7f8f9a3a29a7d8"}"#,
            r#"{"a":"quay.io/a/b@sha256:3e9a9708a3b2b94d2b7f8f9a3a29a7d8e4e8b9f3d4a4e2c7d1c5a1f0e9b8c7d6"}"#,
            r#"{"a":"/etc/kubernetes/static-pod-resources/kube-apiserver-certs/secrets"}"#,
            r#"{"a":"FallbackToLogsOnErrorAndTerminateWhenNothingIsLeft2"}"#,
            r#"{"a":"RequiredDuringSchedulingIgnoredDuringExecution"}"#,
            r#"{"a":"ip-10-0-143-22.us-east-2.compute.internal"}"#,
            r#"{"a":"redacted-by-kubereel-24-bytes-0123456789abcdef"}"#,
            r#"{"a":"A_PASSWORD=redacted-by-kubereel-24-bytes-0a1b2c3d4e5f6a7b"}"#,
            r#"{"a":"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQDQ7pL2mZ9kT4wX8rB3nY6c core@host"}"#,
            r#"{"checksum/config":"vQ7pL2mZ9kT4wX8rB3nY6c"}"#,
        ] {
            assert_eq!(
                strings.in_object(&redactor(), object.as_bytes()),
                [],
                "{object}"
            );
        }
    }
}
