//! Canaries: words that must not be in a reel, in each of their encodings.

use aho_corasick::AhoCorasick;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use kubereel_redact::Decoding;
use std::ops::Range;
use thiserror::Error;

/// The shortest canary, in bytes.
const LEAST: usize = 6;

/// The largest number of canaries.
const MOST: usize = 10_000;

/// The largest number of letters of a canary that are ever shown.
const SHOWN: usize = 4;

/// What a report shows instead of a canary: shorter than any.
const HIDDEN: &str = "…";

/// How many encodings within one another are decoded.
const DEPTH_MOST: usize = 3;

/// How often a text is searched for canaries to hide: without one, its ends may form another.
const ROUNDS: usize = 4;

/// Why canaries cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CanaryError {
    /// One is too short.
    #[error("canary {number} is too short: {len} bytes, at least {LEAST} needed")]
    Short {
        /// Its number, from 1.
        number: usize,
        /// Its length.
        len: usize,
    },
    /// There are too many, or they are too long.
    #[error("too many canaries: at most {MOST}")]
    Many,
}

/// A canary that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CanaryMatch {
    /// Its number, from 1.
    pub(crate) number: usize,
    /// The encoding.
    pub(crate) form: &'static str,
    /// The bytes of the encoded canary.
    pub(crate) place: Range<usize>,
    /// The length of the canary.
    pub(crate) len: usize,
    /// Its first letters.
    pub(crate) begin: String,
}

/// Words that must not be in a reel.
#[derive(Clone, Debug, Default)]
pub struct Canaries {
    search: Option<AhoCorasick>,
    /// Of each form: the canary's number, the form's name.
    forms: Vec<(usize, &'static str)>,
    words: Vec<Vec<u8>>,
    longest: usize,
}

impl Canaries {
    /// Prepares canaries.
    ///
    /// # Errors
    ///
    /// If one is too short to be significant, or if there are too many.
    pub fn new(words: Vec<Vec<u8>>) -> Result<Self, CanaryError> {
        if words.len() > MOST {
            return Err(CanaryError::Many);
        }
        let (mut patterns, mut forms) = (Vec::new(), Vec::new());
        for (place, word) in words.iter().enumerate() {
            let number = place + 1;
            if word.len() < LEAST {
                let len = word.len();
                return Err(CanaryError::Short { number, len });
            }
            for (form, bytes) in forms_of(word) {
                if !patterns.contains(&bytes) || patterns.len() > 2000 {
                    patterns.push(bytes);
                    forms.push((number, form));
                }
            }
        }
        let longest = patterns.iter().map(Vec::len).max().unwrap_or(0);
        let search = if patterns.is_empty() {
            None
        } else {
            Some(AhoCorasick::new(&patterns).map_err(|_large| CanaryError::Many)?)
        };
        Ok(Self {
            search,
            forms,
            words,
            longest,
        })
    }

    /// Returns the number of canaries.
    pub fn count(&self) -> usize {
        self.words.len()
    }

    /// Returns the length of the longest encoded form.
    pub(crate) const fn longest(&self) -> usize {
        self.longest
    }

    /// Returns a text without them, in any encoding.
    pub(crate) fn hide(&self, text: &str) -> String {
        let mut shown = text.to_owned();
        for _ in 0..ROUNDS {
            let found = self.find(shown.as_bytes());
            if found.is_empty() {
                return shown;
            }
            let mut rest = shown.as_bytes();
            let mut parts = Vec::with_capacity(rest.len());
            let mut from = 0;
            for one in found {
                // Two may be in one run of base64.
                if one.place.start < from {
                    continue;
                }
                let (before, after) = rest.split_at(one.place.start - from);
                parts.extend_from_slice(before);
                parts.extend_from_slice(HIDDEN.as_bytes());
                rest = after.get(one.place.len()..).unwrap_or_default();
                from = one.place.end;
            }
            parts.extend_from_slice(rest);
            shown = String::from_utf8_lossy(&parts).into_owned();
        }
        HIDDEN.to_owned()
    }

    /// Finds them in bytes, in order.
    pub(crate) fn find(&self, bytes: &[u8]) -> Vec<CanaryMatch> {
        match &self.search {
            Some(search) => self.find_within(search, bytes, DEPTH_MOST),
            None => Vec::new(),
        }
    }

    /// Finds them in bytes and in what the bytes encode. Their own forms come first: they are cheaper, and need no whole
    /// encoding around them.
    fn find_within(&self, search: &AhoCorasick, bytes: &[u8], depth: usize) -> Vec<CanaryMatch> {
        let mut found = self.find_as_is(search, bytes);
        if depth == 0 {
            return found;
        }
        for decoding in Decoding::all_of(bytes) {
            for one in self.find_within(search, decoding.text(), depth - 1) {
                let Some(place) = decoding.place(&one.place) else {
                    continue;
                };
                let is_known = |known: &CanaryMatch| {
                    known.number == one.number
                        && known.place.start < place.end
                        && place.start < known.place.end
                };
                if !found.iter().any(is_known) {
                    let form = decoding.form;
                    found.push(CanaryMatch { form, place, ..one });
                }
            }
        }
        found.sort_by_key(|one| one.place.start);
        found
    }

    fn find_as_is(&self, search: &AhoCorasick, bytes: &[u8]) -> Vec<CanaryMatch> {
        search
            .find_iter(bytes)
            .filter_map(|found| {
                let (number, form) = *self.forms.get(found.pattern().as_usize())?;
                let word = self.words.get(number - 1)?;
                let shown = SHOWN.min(word.len() / 4);
                let begin = word
                    .iter()
                    .take(shown)
                    .take_while(|byte| byte.is_ascii_graphic());
                Some(CanaryMatch {
                    number,
                    form,
                    place: found.range(),
                    len: word.len(),
                    begin: begin.map(|byte| char::from(*byte)).collect(),
                })
            })
            .collect()
    }
}

/// Returns every encoding of a word.
fn forms_of(word: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let mut forms = vec![
        ("plain", word.to_vec()),
        ("JSON", json(word)),
        ("percent", spelled(word, |byte| percent(byte, true))),
        ("percent", spelled(word, |byte| percent(byte, false))),
        // As forms write it.
        (
            "percent",
            spelled(word, |byte| match byte {
                b' ' => "+".to_owned(),
                byte => percent(byte, true),
            }),
        ),
        ("hex", spelled(word, |byte| format!("{byte:02x}"))),
        ("hex", spelled(word, |byte| format!("{byte:02X}"))),
    ];
    for before in 0..3 {
        let encoded = base64_inside(word, before);
        let for_urls = encoded.iter().map(|byte| match byte {
            b'+' => b'-',
            b'/' => b'_',
            byte => *byte,
        });
        forms.push(("base64", for_urls.collect()));
        forms.push(("base64", encoded));
    }
    forms
}

fn json(word: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for byte in word {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            b'\n' => out.extend(b"\\n"),
            b'\t' => out.extend(b"\\t"),
            b'\r' => out.extend(b"\\r"),
            b'<' | b'>' | b'&' => out.extend(format!("\\u{:04x}", *byte).bytes()),
            byte => out.push(*byte),
        }
    }
    out
}

fn percent(byte: u8, is_upper: bool) -> String {
    if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
        char::from(byte).to_string()
    } else if is_upper {
        format!("%{byte:02X}")
    } else {
        format!("%{byte:02x}")
    }
}

fn spelled(word: &[u8], spell: impl Fn(u8) -> String) -> Vec<u8> {
    word.iter()
        .flat_map(|byte| spell(*byte).into_bytes())
        .collect()
}

/// Returns the base64 of a word that does not depend on the bytes around it. `before` is the number
/// of bytes between the last whole group of three and the word.
fn base64_inside(word: &[u8], before: usize) -> Vec<u8> {
    let padded: Vec<u8> = std::iter::repeat_n(0, before)
        .chain(word.iter().copied())
        .collect();
    let digits = STANDARD_NO_PAD.encode(&padded);
    let first = (before * 8).div_ceil(6);
    let end = padded.len() * 8 / 6;
    digits
        .as_bytes()
        .get(first..end)
        .unwrap_or_default()
        .to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canary_is_found_in_every_form() {
        let canaries = Canaries::new(vec![b"canary/yellow \"bird\"".to_vec()]).expect("canaries");
        for (text, form) in [
            ("a canary/yellow \"bird\" b", "plain"),
            (r#"{"a":"canary/yellow \"bird\""}"#, "JSON"),
            ("canary%2Fyellow%20%22bird%22", "percent"),
            ("Y2FuYXJ5L3llbGxvdyAiYmlyZCI=", "base64"),
            ("eGNhbmFyeS95ZWxsb3cgImJpcmQi", "base64"),
            ("eHljYW5hcnkveWVsbG93ICJiaXJkInp6", "base64"),
            (
                "eHljYW5hcnkveWVsbG93ICJiaXJkInp6"
                    .to_owned()
                    .replace('/', "_")
                    .as_str(),
                "base64",
            ),
            ("63616e6172792f79656c6c6f77202262697264220a", "hex"),
        ] {
            let met = canaries.find(text.as_bytes());
            assert_eq!(met.len(), 1, "{text}");
            assert_eq!(
                (met[0].number, met[0].form, met[0].begin.as_str()),
                (1, form, "cana")
            );
        }
        assert!(canaries.find(b"canary/yellow bird").is_empty());
    }

    /// What an encoder need not encode, encodings in encodings, and base64 in lines.
    #[test]
    fn a_canary_is_found_where_the_policy_decodes() {
        for (word, text, form) in [
            ("purple-Dragon77", "purple%2DDragon77", "percent"),
            ("my pass word7", "?q=my+pass+word7", "percent"),
            ("Pa!ss(w)ord$1", "?q=Pa!ss(w)ord%241", "percent"),
            (
                "purple-Dragon77",
                "eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHB1cnBsZS1E\n  cmFnb243N3l5eXl5",
                "base64",
            ),
            ("purple-Dragon77", "Y0hWeWNHeGxMVVJ5WVdkdmJqYzM=", "base64"),
            (
                "M\u{fc}ller-Stra\u{df}e9",
                r"M\u00fcller-Stra\u00dfe9",
                "JSON",
            ),
            (r#"Ab"cd12\xy"#, r#"Ab\\\"cd12\\\\xy"#, "JSON"),
            (r#"Ab<c"d&12xy"#, r#"Ab\\u003cc\\\"d\\u002612xy"#, "JSON"),
        ] {
            let canaries = Canaries::new(vec![word.into()]).expect("canaries");
            let met = canaries.find(text.as_bytes());
            let forms: Vec<&str> = met.iter().map(|one| one.form).collect();
            assert_eq!(forms, [form], "{text}");
            assert!(!canaries.hide(text).contains(text), "{text}");
        }
    }

    #[test]
    fn a_hidden_canary_is_in_no_encoding_of_the_text() {
        let words = [&b"yellow-bird"[..], b"low-birds", b"abcdef"];
        let canaries = Canaries::new(words.map(<[u8]>::to_vec).to_vec()).expect("canaries");
        for (text, expected) in [
            ("configmaps/a -n b", "configmaps/a -n b"),
            ("configmaps/my-yellow-bird-cm", "configmaps/my-…-cm"),
            (".data['yellow-birds']", ".data['…s']"),
            (".data['eWVsbG93LWJpcmQ=']", ".data['…Q=']"),
            (".data.79656c6c6f772d62697264", ".data.…"),
            ("é yellow-bird é abcdef é", "é … é … é"),
        ] {
            assert_eq!(canaries.hide(text), expected);
        }
        assert_eq!(Canaries::default().hide("yellow-bird"), "yellow-bird");
    }

    #[test]
    fn short_canaries_are_refused() {
        let error = Canaries::new(vec![b"abcdefg".to_vec(), b"abc".to_vec()]).expect_err("short");
        assert_eq!(error, CanaryError::Short { number: 2, len: 3 });
        assert!(
            Canaries::new(Vec::new())
                .expect("none")
                .find(b"x")
                .is_empty()
        );
    }
}
