//! Searches one text: unchanged, percent-decoded, with the letters that it writes as `\uXXXX`, decoded from base64, and as JSON.
//!
//! Invariant: the prefilter ([`SearchContext::suspects`]) suspects every text in which [`find`]
//! finds something; a property test compares the two.

use super::object;
use crate::base64;
use crate::decoded::{self, DecodedText};
use crate::mark::{self, Edit, Hint, Marker, RuleName, is_mark};
use crate::memo::Memo;
use crate::path::{self, PathStep};
use crate::text::{DEPTH_MOST, assignments, binary, patterns, programs, suspects, tokens};
use regex::bytes::Regex;
use std::ops::Range;

/// The context of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchContext<'a> {
    /// Makes the marks.
    pub(crate) marker: &'a Marker,
    /// The patterns of the user's rules.
    pub(crate) extra: &'a [(String, Regex)],
    /// Whether edits have the path in the object.
    pub(crate) has_paths: bool,
    /// Whether the text is a part of a command line.
    pub(crate) is_command: bool,
}

impl SearchContext<'_> {
    /// Makes an edit of a part of a text; `None` if the part is a mark already.
    pub(crate) fn edit(
        &self,
        text: &[u8],
        place: Range<usize>,
        rule: impl Into<RuleName>,
    ) -> Option<Edit> {
        let secret = text
            .get(place.clone())
            .filter(|secret| !secret.is_empty())?;
        (!is_mark(secret)).then(|| Edit {
            with: self.marker.word(secret).into_bytes(),
            hint: Hint::of(secret),
            rule: rule.into(),
            place,
            path: String::new(),
        })
    }

    /// Writes a place. A key that contains a secret is replaced whole: the place of its value must
    /// not reveal it.
    pub(crate) fn path_text(&self, steps: &[PathStep<'_>]) -> String {
        let search = Self {
            has_paths: false,
            ..*self
        };
        let has_secret = |key: &str| !find_in_value(search, key.as_bytes(), 0).is_empty();
        let steps: Vec<_> = steps
            .iter()
            .map(|step| match step {
                PathStep::Key(key) if has_secret(key) => {
                    PathStep::Key(self.marker.word(key.as_bytes()).into())
                }
                step => step.clone(),
            })
            .collect();
        path::write(&steps)
    }

    /// Returns whether a text may hold a secret.
    pub(crate) fn suspects(&self, text: &[u8], depth: u8) -> bool {
        suspects(text, depth, self.extra)
    }
}

/// The longest value whose result is remembered; hashing it takes much less than a search.
const VALUE_MOST: usize = 64 * 1024;

thread_local! {
    /// Whether a value has no secrets.
    static HARMLESS: Memo<bool> = Memo::of_texts(VALUE_MOST);
}

/// Finds the secrets in a value of an object, settled. Most that are suspected are certificates without one, and
/// occur again in the next version of their object.
pub(crate) fn find_in_value(context: SearchContext<'_>, text: &[u8], depth: u8) -> Vec<Edit> {
    let look = || {
        if context.suspects(text, depth) {
            find(context, text, depth)
        } else {
            Vec::new()
        }
    };
    if depth > 0 || context.is_command || !context.extra.is_empty() {
        return look();
    }
    let mut found = None;
    let is_harmless =
        HARMLESS.with(|harmless| harmless.get(text, || found.insert(look()).is_empty()));
    match found {
        Some(edits) => edits,
        None if is_harmless => Vec::new(),
        None => look(),
    }
}

/// Finds the secrets in a text, settled.
pub(crate) fn find(context: SearchContext<'_>, text: &[u8], depth: u8) -> Vec<Edit> {
    let mut edits = plain(context, text);
    if depth < DEPTH_MOST {
        edits.extend(percent_encoded(context, text, depth));
        edits.extend(with_written_letters(context, text, depth));
        edits.extend(base64_encoded(context, text, depth));
        edits.extend(object::find_in_text(context, text, depth));
    }
    mark::settle(edits, text, context.marker)
}

fn plain(context: SearchContext<'_>, text: &[u8]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut push = |place, rule: RuleName| edits.extend(context.edit(text, place, rule));
    for place in patterns::private_keys(text) {
        push(place, "private-key".into());
    }
    for (rule, place) in patterns::secrets(text) {
        push(place, rule.into());
    }
    for (rule, place) in tokens::find(text) {
        push(place, rule.into());
    }
    for place in patterns::url_credentials(text) {
        push(place, "url-credentials".into());
    }
    for place in assignments::values(text, context.is_command) {
        push(place, "named-value".into());
    }
    for place in programs::passwords(text) {
        push(place, "command-line".into());
    }
    for (rule, pattern) in context.extra {
        for found in pattern.find_iter(text) {
            push(found.range(), rule.clone().into());
        }
    }
    edits
}

fn percent_encoded(context: SearchContext<'_>, text: &[u8], depth: u8) -> Vec<Edit> {
    let edits = in_decoded(context, DecodedText::from_percent(text), depth);
    edits
        .map(|edit| Edit {
            with: decoded::to_percent(&edit.with),
            ..edit
        })
        .collect()
}

fn with_written_letters(context: SearchContext<'_>, text: &[u8], depth: u8) -> Vec<Edit> {
    in_decoded(context, DecodedText::from_written_letters(text), depth).collect()
}

/// Searches what a text encodes, if it is encoded; the places are those in the encoded text.
fn in_decoded(
    context: SearchContext<'_>,
    decoded: Option<DecodedText<'_>>,
    depth: u8,
) -> impl Iterator<Item = Edit> {
    decoded.into_iter().flat_map(move |decoded| {
        let inner = find(context, decoded.text(), depth + 1);
        inner.into_iter().filter_map(move |edit| {
            let place = decoded.place(&edit.place)?;
            Some(Edit { place, ..edit })
        })
    })
}

fn base64_encoded(context: SearchContext<'_>, text: &[u8], depth: u8) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut from = 0;
    for run in base64::runs(text) {
        // A line of a run that was taken together with earlier lines.
        if run.range.start < from {
            continue;
        }
        let readings = base64::readings(text, &run);
        let found = readings
            .iter()
            .find_map(|(place, digits)| base64_secret(context, text, depth, place, digits));
        if let Some(edit) = found {
            from = edit.place.end;
            edits.push(edit);
        }
    }
    edits
}

/// Searches digits of base64, which are at a place, at every alignment.
fn base64_secret(
    context: SearchContext<'_>,
    text: &[u8],
    depth: u8,
    place: &Range<usize>,
    digits: &[u8],
) -> Option<Edit> {
    (0..4).find_map(|skip| {
        let decoded = base64::decode(digits.get(skip..)?)?;
        let place = place.start + skip..place.end;
        let holds = |text: &[u8]| !find(context, text, depth + 1).is_empty();
        if let Some(rule) = binary::secret(&decoded, holds) {
            return context.edit(text, place, rule);
        }
        if !context.suspects(&decoded, depth + 1) {
            return None;
        }
        let inner = find(context, &decoded, depth + 1);
        let first = inner.first()?.clone();
        let redacted = mark::apply(&decoded, &inner);
        let like = text.get(place.clone())?;
        Some(Edit {
            with: base64::encode_like(&redacted, like).into_bytes(),
            place,
            path: String::new(),
            ..first
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Parts of secrets, of their announcements and encodings, and of the text between.
    const PARTS: &[&str] = &[
        "password",
        "token",
        "api_key",
        "secret",
        "Secret",
        "kind",
        "env",
        "args",
        "name",
        "value",
        "key",
        "Bearer ",
        "basic ",
        "Authorization",
        ": ",
        "=",
        ":",
        "\"",
        "\\\"",
        "\\n",
        "\n",
        " ",
        ",",
        "{",
        "}",
        "[",
        "]",
        "://",
        "@",
        "user",
        "%3A",
        "%40",
        "\\u003c",
        "\\u0026",
        "\\/",
        "'",
        "<",
        ">",
        "</",
        "-",
        "--",
        "AKIA0123456789ABCDEF",
        "ghp_",
        "0123456789abcdef0123456789abcdef",
        "-us1",
        "s.",
        "SK",
        "glrt-",
        "aB3dE5gH7jK9mN1pQ3sT5vW7",
        "eyJhbGciOiJI",
        "$2y$10$",
        "$6$",
        "{SHA}",
        "SCRAM-SHA-256$4096:",
        "md50123456789abcdef0123456789abcdef",
        "*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19",
        "pbkdf2_sha256$1$",
        "8Q~",
        ":AA",
        "1234567890",
        "kty",
        "d",
        "abcdef.0123456789abcdef",
        "join",
        "sha256~",
        "cGFzc3dvcmQ6IGh1bnRlcjI=",
        "dG9rZW49YTFiMmMzZDRlNWY2",
        "H4sIAAAAAAAAA0tMSgYAAAAA",
        "-----BEGIN PRIVATE KEY-----",
        "PuTTY-User-Key-File-",
        "T3BlbkFJ",
        "hooks.slack.com/services/",
        "ALTER USER a ",
        "PASSWORD ",
        "identified by ",
        "set password for a",
        "neighbor 10.0.0.1 password ",
        "set_header ",
        "Cookie",
        "a=b1c2; ",
        "-H ",
        "stringData",
        "data:\\n  a: b2c3\\n",
        "kind: Secret",
        "passwords",
        "<<< ",
        "chpasswd",
        "\\$",
        "&",
        ";",
        "curl -u a:",
        "\u{e9}",
    ];

    fn part() -> impl Strategy<Value = String> {
        prop_oneof![
            4 => prop::sample::select(PARTS).prop_map(str::to_owned),
            1 => "[A-Za-z0-9+/_.~-]{1,40}",
        ]
    }

    fn text() -> impl Strategy<Value = String> {
        prop::collection::vec(part(), 1..12).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn the_quick_look_suspects_all_that_the_search_finds(text in text()) {
            let marker = Marker::random().expect("random bytes");
            let context = SearchContext { marker: &marker, extra: &[], has_paths: false, is_command: false };
            let found = find(context, text.as_bytes(), 0);
            if !found.is_empty() {
                prop_assert!(context.suspects(text.as_bytes(), 0), "{:?}", found);
                // The same text within JSON, as servers write it and with every possible escape.
                let quoted = serde_json::to_string(&text).expect("text");
                let go = quoted.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e");
                for quoted in [quoted, go] {
                    let json = format!("{{\"message\":{quoted}}}");
                    let places = crate::text::places(json.as_bytes(), &[], &[]).expect("no rules");
                    prop_assert!(
                        places.texts.iter().any(|at| (10..json.len() - 1).contains(at)),
                        "{} of {:?}", json, found
                    );
                }
            }
        }
    }
}
