//! Owns the quick look at bytes: may there be a secret in them? Refuses to say where. What it passes is
//! searched no further, so that it must suspect everything that its neighbours would find.

use super::said::{STRONG, WEAK};
use crate::base64;
use regex::bytes::Regex;
use std::sync::LazyLock;

/// How deep texts within texts are searched.
pub(crate) const DEPTH_MOST: u8 = 3;

/// What each way to hide or to spell a secret cannot do without. It is searched in JSON as it came,
/// too, so that escapes are suspected that no server writes.
static RAW: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r"\\+"));

/// The same for what a text says: there, quotes of JSON have no escape before them.
static SAID: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r"\\*"));

fn compile(slashes: &str) -> Option<Regex> {
    let parts = [
        r"PRIVATE KEY",
        r"eyJ[A-Za-z0-9_\-]{8}",
        r"sha256~",
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}",
        r"AIza[0-9A-Za-z_\-]{8}|ya29\.|GOCSPX-",
        r"gh[pousr]_[A-Za-z0-9]{8}|github_pat_|glpat-|xox[abeprs]-|npm_[A-Za-z0-9]{8}|hvs\.[A-Za-z0-9]",
        r"[0-9]Q~",
        r"\$(?:1|2[abxy]|5|6|y|apr1|argon2id?)\$",
        r#"://[^\s/?#"'<>\\@]*@"#,
        r#"://[^\s/?#"'<>\\@]*:[^\s/?#"'<>\\@0-9]"#,
        &format!(r#"(?i:(?:{STRONG})\\*["']?[ \t]{{0,8}}[:=])"#),
        &format!(r#"(?i:(?:{WEAK})(?:=|\\*["'][ \t]{{0,8}}:[ \t]{{0,8}}\\*["']))"#),
        r"(?i:(?:bearer|basic)\s+[A-Za-z0-9._~+/=\-]{12})",
        r#"(?i:authorization\\*["']?\s*[:=])"#,
        r"(?i:--[a-z0-9\-]*(?:token|password|passwd|secret)\s+[^\s\-])",
        r"H4sI[A-Za-z0-9+/_\-]{28}",
        // Percent encoding, and JSON within strings.
        r"%[0-9A-Fa-f]{2}",
        &format!(r#"(?:kind|env|args|command){slashes}""#),
        // Escapes of letters that JSON need not escape; servers write < > & so, and nothing else.
        r"\\u00(?:2[0-57-9A-Fa-f]|3[0-9ABDFabdf]|[4-7][0-9A-Fa-f])",
        r"\\/",
    ];
    Regex::new(&format!("(?-u:{})", parts.join("|"))).ok()
}

/// What else is suspicious: the patterns of the user's own rules.
pub(crate) type Extra = [(String, Regex)];

/// Tells whether there may be a secret in an object's JSON, or in what its texts encode.
pub(crate) fn suspects_object(json: &[u8], extra: &Extra) -> bool {
    is_met(RAW.as_ref(), json, extra) || hides(json, 0, extra, true)
}

/// Tells whether there may be a secret in a text, or in what it encodes.
pub(crate) fn suspects(text: &[u8], depth: u8, extra: &Extra) -> bool {
    is_met(SAID.as_ref(), text, extra) || depth < DEPTH_MOST && hides(text, depth, extra, false)
}

fn is_met(pattern: Option<&Regex>, text: &[u8], extra: &Extra) -> bool {
    // The pattern is a constant that a test compiles; without it, everything is suspect.
    pattern.is_none_or(|one| one.is_match(text))
        || extra.iter().any(|(_, pattern)| pattern.is_match(text))
}

/// Looks into runs of base64; in JSON, those that are names of fields are passed over.
fn hides(text: &[u8], depth: u8, extra: &Extra, is_json: bool) -> bool {
    base64::runs(text).any(|run| {
        let is_field = is_json && text.get(run.range.end..run.range.end + 2) == Some(b"\":");
        !is_field
            && (run.goes_on
                || (0..4).any(|skip| {
                    let digits = text.get(run.range.start + skip..run.range.end);
                    let decoded = digits.and_then(base64::decode);
                    decoded.is_some_and(|inner| suspects(&inner, depth + 1, extra))
                }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_is_one() {
        assert!(RAW.is_some() && SAID.is_some());
    }

    #[test]
    fn ordinary_objects_are_passed() {
        for text in [
            r#"{"kind":"Pod","metadata":{"name":"etcd-0","uid":"0b1f9cc6-6a5e-4d0b-9d0e-9f3a4a0a8a11","annotations":{"a":"25%"}},"spec":{"containers":[{"image":"quay.io/a/b@sha256:3e9a9708a3b2b94d2b7f8f9a3a29a7d8e4e8b9f3d4a4e2c7d1c5a1f0e9b8c7d6","terminationMessagePolicy":"FallbackToLogsOnError","volumeMounts":[{"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}]}],"volumes":[{"secret":{"secretName":"x"}}],"tolerations":[{"key":"node.kubernetes.io/not-ready"}]}}"#,
            r#"{"message":"Get \"https://10.0.0.1:6443/api\": dial tcp 10.0.0.1:6443: connect: connection refused","note":"a \u003c b"}"#,
            r#"{"message":"secret \"pull-secret\" not found; basic access is off"}"#,
        ] {
            assert!(!suspects_object(text.as_bytes(), &[]), "{text}");
        }
    }
}
