//! Owns the quick look at bytes: may there be a secret in them? Refuses to say where. What it passes is
//! searched no further, so that it must suspect everything that its neighbours would find.

use super::binary;
use super::triggers::{self, Places};
use crate::base64;
use crate::memo::Memo;
use regex::bytes::Regex;

/// How deep texts within texts are searched.
pub(crate) const DEPTH_MOST: u8 = 3;

/// How many printable characters a decoded text has side by side at least; with fewer it is noise.
const LEGIBLE_LEAST: usize = 7;

/// What else is suspicious: the patterns of the user's own rules.
pub(crate) type Extra = [(String, Regex)];

/// Finds the places in an object's JSON where there may be a secret, or something that encodes one. With rules
/// of the user's own, every text is suspicious: a match may be escaped in JSON in any way.
pub(crate) fn places(json: &[u8], extra: &Extra) -> Option<Places> {
    if !extra.is_empty() {
        return None;
    }
    let mut places = triggers::places(json);
    places.texts.extend(hiding(json, 0, extra, true));
    places.texts.sort_unstable();
    Some(places)
}

/// Tells whether there may be a secret in a text, or in what it encodes.
pub(crate) fn suspects(text: &[u8], depth: u8, extra: &Extra) -> bool {
    // Most of what seems to be base64 is a name and decodes to noise.
    if depth > 0 && extra.is_empty() && !is_legible(text) {
        return false;
    }
    triggers::suspects(text)
        || extra.iter().any(|(_, pattern)| pattern.is_match(text))
        || depth < DEPTH_MOST && hiding(text, depth, extra, false).next().is_some()
}

/// Tells whether as many printable characters stand side by side as the shortest secret of a known form has
/// with what announces it: `://a:b@`.
fn is_legible(text: &[u8]) -> bool {
    let mut run = 0;
    text.iter().any(|byte| {
        let is_print = matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
        run = if is_print { run + 1 } else { 0 };
        run >= LEGIBLE_LEAST
    })
}

/// Looks into runs of base64 and finds where those begin that may hide a secret; in JSON, those that are
/// names of fields are passed over.
fn hiding(text: &[u8], depth: u8, extra: &Extra, is_json: bool) -> impl Iterator<Item = usize> {
    let hides = move |run: &base64::Run| {
        let is_field = is_json && text.get(run.range.end..run.range.end + 2) == Some(b"\":");
        let digits = text.get(run.range.clone()).unwrap_or_default();
        let before = run.range.start.checked_sub(1).and_then(|at| text.get(at));
        // The first digit may be the letter of an escape.
        let behind_letter = match digits {
            [b'n' | b't' | b'r' | b'b' | b'f', rest @ ..] if before == Some(&b'\\') => rest,
            _ => &[],
        };
        !is_field
            && (run.goes_on
                || is_suspect_run(digits, depth, extra)
                || !behind_letter.is_empty() && is_suspect_run(behind_letter, depth, extra))
    };
    base64::runs(text)
        .filter(move |run| hides(run))
        .map(|run| run.range.start)
}

/// Tells whether a run of base64 may hide a secret, from whichever of its digits it is decoded.
fn is_suspect_run(digits: &[u8], depth: u8, extra: &Extra) -> bool {
    let is_suspect = || {
        (0..4).any(|skip| {
            let decoded = digits.get(skip..).and_then(base64::decode);
            decoded.is_some_and(|inner| {
                suspects(&inner, depth + 1, extra)
                    || binary::secret(&inner, |text| suspects(text, depth + 1, extra)).is_some()
            })
        })
    };
    // Most runs are names of types and fields that stand in every object of their kind.
    if depth == 0 && extra.is_empty() {
        RUNS.with(|runs| runs.get(digits, is_suspect))
    } else {
        is_suspect()
    }
}

thread_local! {
    static RUNS: Memo<bool> = Memo::default();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_objects_are_passed() {
        for text in [
            r#"{"kind":"Pod","metadata":{"name":"etcd-0","uid":"0b1f9cc6-6a5e-4d0b-9d0e-9f3a4a0a8a11","annotations":{"a":"25%"}},"spec":{"containers":[{"image":"quay.io/a/b@sha256:3e9a9708a3b2b94d2b7f8f9a3a29a7d8e4e8b9f3d4a4e2c7d1c5a1f0e9b8c7d6","terminationMessagePolicy":"FallbackToLogsOnError","volumeMounts":[{"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]}],"volumes":[{"secret":{"secretName":"x"}}],"tolerations":[{"key":"node.kubernetes.io/not-ready"}]}}"#,
            r#"{"message":"Get \"https://10.0.0.1:6443/api\": dial tcp 10.0.0.1:6443: connect: connection refused","note":"a \u003c b"}"#,
            r#"{"message":"secret \"pull-secret\" not found; basic access is off"}"#,
        ] {
            let places = places(text.as_bytes(), &[]).expect("no rules");
            assert!(places.texts.is_empty(), "{text}: {places:?}");
        }
    }

    #[test]
    fn what_servers_escape_is_suspected() {
        for text in [
            r#"{"message":"\u003cpassword\u003ehunter2x\u003c/password\u003e"}"#,
            r#"{"message":"\u003ca:password b\u003ehunter2x"}"#,
            r#"{"message":"x\u0026password=hunter2x"}"#,
            r#"{"message":"\nenvH4sIAAAAAAAAA0tMSgYAAAAA"}"#,
        ] {
            let places = places(text.as_bytes(), &[]).expect("no rules");
            assert!(!places.texts.is_empty(), "{text}");
        }
    }
}
