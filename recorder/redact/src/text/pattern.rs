//! Owns what secrets look like that need no name beside them. Refuses what only a name tells.

use regex::bytes::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Rules and their patterns; what the group `s` takes, or else all, is the secret.
const PATTERNS: [(&str, &str); 9] = [
    (
        "json-web-token",
        r"eyJ[A-Za-z0-9_\-]{8,}(?:(?:\.[A-Za-z0-9_\-]*){2,4}|\.[A-Za-z0-9_\-]{8,})",
    ),
    ("oauth-token", r"sha256~[A-Za-z0-9_\-]{8,}"),
    (
        "aws-key",
        r#"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?:[:,;|\s"'\\]{1,10}[A-Za-z0-9/+]{40})?"#,
    ),
    (
        "google-key",
        r"AIza[0-9A-Za-z_\-]{35}|ya29\.[0-9A-Za-z_\-]{20,}|GOCSPX-[0-9A-Za-z_\-]{20,}",
    ),
    (
        "azure-secret",
        r"[A-Za-z0-9_~.\-]{3}[0-9]Q~[A-Za-z0-9_~.\-]{31,34}",
    ),
    (
        "service-token",
        r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}|glpat-[A-Za-z0-9_\-]{20,}|xox[abeprs]-[A-Za-z0-9\-]{10,}|npm_[A-Za-z0-9]{36,}|hvs\.[A-Za-z0-9_\-]{20,}",
    ),
    (
        "password-hash",
        r"\$(?:1|2[abxy]|5|6|y|apr1|argon2id?)\$[./A-Za-z0-9$=,+]{8,}",
    ),
    ("compressed", r"H4sI[A-Za-z0-9+/_\-]{28,}={0,2}"),
    (
        "authorization",
        r#"(?i:authorization["'\\]{0,8}\s{0,4}[:=]\s{0,4}["'\\]{0,8}(?:(?:bearer|basic|token|negotiate|digest)\s+(?P<s>[^\s"'\\,;]{4,})|(?P<t>[^\s"'\\,;]{20,})))"#,
    ),
];

static COMPILED: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    PATTERNS
        .iter()
        .filter_map(|(rule, pattern)| Some((*rule, Regex::new(&format!("(?-u:{pattern})")).ok()?)))
        .collect()
});

static SCHEME: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i-u)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/=\-]{12,})").ok());

/// Finds what looks like a secret.
pub(super) fn secrets(text: &[u8]) -> Vec<(&'static str, Range<usize>)> {
    let mut found = Vec::new();
    for (rule, pattern) in &*COMPILED {
        for captures in pattern.captures_iter(text) {
            let inner = captures.name("s").or_else(|| captures.name("t"));
            found.extend(
                inner
                    .or_else(|| captures.get(0))
                    .map(|one| (*rule, one.range())),
            );
        }
    }
    for captures in SCHEME.iter().flat_map(|scheme| scheme.captures_iter(text)) {
        if let Some(value) = captures.get(1)
            && is_no_word(value.as_bytes())
        {
            found.push(("authorization", value.range()));
        }
    }
    found
}

/// Tells a credential from a word: "basic authentication".
fn is_no_word(value: &[u8]) -> bool {
    let mut rest = value.iter().skip(1);
    rest.any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_one() {
        assert_eq!(COMPILED.len(), PATTERNS.len());
        assert!(SCHEME.is_some());
    }

    #[test]
    fn words_are_no_credentials() {
        for text in [
            "basic authentication",
            "Bearer authentication-token",
            "eyJ",
            "sha256:abc",
        ] {
            assert!(secrets(text.as_bytes()).is_empty(), "{text}");
        }
    }
}
