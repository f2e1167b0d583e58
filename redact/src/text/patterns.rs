//! Secrets that a text shows by their form alone: password hashes, private keys, and the user and
//! password of a URL. Tokens with a prefix are in `tokens`, values that a name announces in
//! `assignments`.

use super::announced_names::{count, count_back};
use super::yaml_lines::closing;
use crate::forms::{self, ValueForm};
use regex::bytes::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// The rule of passwords in SQL; their patterns find the first character.
const SQL_PASSWORD: &str = "sql-password";

/// Rules and their patterns; the secret is the group `s`, or the whole match. Tokens with a prefix
/// are in `tokens`.
const PATTERNS: [(&str, &str); 23] = [
    (
        "json-web-token",
        r"eyJ[A-Za-z0-9_\-]{8,}(?:(?:\.[A-Za-z0-9_\-]*){2,4}|\.[A-Za-z0-9_\-]{8,})",
    ),
    // AWS IAM User Guide, unique ids; a secret that follows the id.
    (
        "aws-key",
        r#"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?:[:,;|\s"'\\]{1,10}[A-Za-z0-9/+]{40})?"#,
    ),
    // Microsoft identity platform, client secrets.
    (
        "azure-secret",
        r"[A-Za-z0-9_~.\-]{3}[0-9]Q~[A-Za-z0-9_~.\-]{31,34}",
    ),
    // OpenAI API keys before projects.
    (
        "openai-token",
        r"sk-[A-Za-z0-9_\-]{20,}T3BlbkFJ[A-Za-z0-9_\-]{20,}",
    ),
    // HCP Terraform, API tokens.
    (
        "terraform-token",
        r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=\-]{60,70}",
    ),
    // Telegram Bot API, authorizing a bot.
    ("telegram-token", r"[0-9]{8,10}:AA[A-Za-z0-9_\-]{32,33}"),
    // Discord, bot tokens: the user id in base64, a time, a code.
    (
        "discord-token",
        r"\b[MNO][A-Za-z0-9_\-]{23,27}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,40}",
    ),
    // Mailchimp, API keys with the data centre.
    ("mailchimp-token", r"\b[0-9a-f]{32}-us[0-9]{1,2}\b"),
    // Airtable, personal access tokens.
    ("airtable-token", r"\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    (
        "password-hash",
        r"\$(?:1|2[abxy]|5|6|y|apr1|argon2id?)\$[./A-Za-z0-9$=,+]{8,}",
    ),
    // RFC 2307 and its successors: userPassword of LDAP, files of htpasswd.
    (
        "password-hash",
        r"(?i:\{s?(?:sha|md5)[0-9-]{0,4}\}[A-Za-z0-9+/=]{20,}|\{crypt\}[./A-Za-z0-9]{13,})",
    ),
    // PBKDF2 as Django, Werkzeug, passlib and 389 Directory Server store it.
    (
        "password-hash",
        r"(?i:pbkdf2[_:-]sha(?:1|256|512)\}?[$:]?[0-9]{1,8}[$:][A-Za-z0-9+/=._-]{1,64}[$:][A-Za-z0-9+/=._-]{20,})",
    ),
    // PostgreSQL, pg_authid.
    (
        "password-hash",
        r"SCRAM-SHA-(?:1|256|512)\\{0,4}\$[0-9]{1,8}:[A-Za-z0-9+/=]{8,}\\{0,4}\$[A-Za-z0-9+/=]{20,}(?::[A-Za-z0-9+/=]+)?",
    ),
    (
        "password-hash",
        r"(?:^|[^A-Za-z0-9._/-]|\\[nrt])(?P<s>md5[0-9a-f]{32})\b",
    ),
    // MySQL, mysql_native_password.
    (
        "password-hash",
        r"(?:^|[^A-Za-z0-9*]|\\[nrt])(?P<s>\*[0-9A-F]{40})\b",
    ),
    // MySQL, MariaDB and Oracle: CREATE USER … IDENTIFIED BY '…'. In prose, other things are identified by a name.
    (
        SQL_PASSWORD,
        r#"(?:(?i:(?:(?:create|alter)\s+(?:user|role)|grant)\s[^;]{0,200}\bidentified\s)|\bIDENTIFIED\s)(?i:\s*(?:with\s+\S{1,64}\s+)?by\s+(?:password\s+)?)["'\\]{1,8}(?P<s>[^"'\\\n])"#,
    ),
    // PostgreSQL and ClickHouse: CREATE ROLE … PASSWORD '…'.
    (
        SQL_PASSWORD,
        r#"(?i:(?:create|alter)\s+(?:user|role)\s[^;]{0,160}?\bpassword\s+)["'\\]{1,8}(?P<s>[^"'\\\n])"#,
    ),
    // MySQL and MariaDB: SET PASSWORD FOR 'user'@'host' = '…'.
    (
        SQL_PASSWORD,
        r#"(?i:\bset password for\s[^;=\n]{1,160}=\s*(?:password\s*\(\s*)?)["'\\]{1,8}(?P<s>[^"'\\\n])"#,
    ),
    // FRR, the manuals of BGP and OSPF: the password of a neighbour.
    (
        "routing-password",
        r#"(?:\bneighbor\s+\S{1,64}\s+password|\bmessage-digest-key\s+[0-9]{1,3}\s+md5)\s+(?P<s>[^\s"'\\]{3,})"#,
    ),
    // nginx and HAProxy: a header that is sent on.
    (
        "header",
        r#"set[_-]header\s+(?i:[a-z-]{0,32}(?:key|token|auth|secret|password|cookie|authorization))\s+["'\\]{0,4}(?:[A-Za-z-]{2,20}\s+)?(?P<s>[^\s"'\\$%;]{4,})"#,
    ),
    // RFC 6265: the fields of a cookie.
    (
        "cookie",
        r#"(?i:\b(?:set-)?cookie["'\\]{0,8}\s{0,4}:\s{0,4}["'\\]{0,8})(?P<s>[^\s"'\\=;,:$]{1,64}=[^\s"'\\;,$]{4,}(?:;\s{0,4}[^\s"'\\=;]{1,64}(?:=[^\s"'\\;]*)?)*)"#,
    ),
    // The Go driver of MySQL, data source names.
    (
        "driver-address",
        r#"[^\s:"'\\/@]{1,64}:(?P<s>[^\s"'\\]{1,128})@(?:tcp|unix)\("#,
    ),
    (
        "authorization",
        r#"(?i:authorization["'\\]{0,8}[ \t]{0,4}[:=][ \t]{0,4}["'\\]{0,8}(?:(?:bearer|basic|token|negotiate|digest)\s+(?P<s>[^\s"'\\,;]{4,})|(?P<t>[^\s"'\\,;]{20,})))"#,
    ),
];

static COMPILED: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    PATTERNS
        .iter()
        .map(|(rule, pattern)| (*rule, constant_regex(&format!("(?-u:{pattern})"))))
        .collect()
});

/// Compiles a constant pattern.
pub(crate) fn constant_regex(pattern: &str) -> Regex {
    #[expect(
        clippy::expect_used,
        reason = "a pattern that is dropped would leave a secret in a reel; tests compile every constant"
    )]
    Regex::new(pattern).expect("a constant pattern")
}

static SCHEME: LazyLock<Regex> =
    LazyLock::new(|| constant_regex(r"(?i-u)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/=\-]{12,})"));

/// RFC 9110, the credentials of a header: those of any other scheme, or without one.
static AUTHORIZATION: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r#"(?i-u)authorization["'\\]{0,8}[ \t]{0,4}[:=][ \t]{0,4}["'\\]{0,8}(?:[a-z][a-z_-]{1,31}[ \t]+)?(?P<s>[^\s"'\\,;]{8,})"#,
    )
});

/// RFC 7517 and 7518: the private members of a key.
static JSON_WEB_KEY: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r#"(?-u)\\*["'](?:d|p|q|dp|dq|qi|k)\\*["']\s{0,8}:\s{0,8}\\*["'](?P<s>[A-Za-z0-9_=+/\-]{16,})"#,
    )
});

/// The member that every JSON web key has.
const KEY_TYPE: &[u8] = b"kty";

/// The words before a bootstrap token, and how far before it they may be.
const ANNOUNCEMENTS: [&[u8]; 3] = [b"token", b"bootstrap", b"join"];
const ANNOUNCED_WITHIN: usize = 120;

/// Finds what looks like a secret.
pub(crate) fn secrets(text: &[u8]) -> Vec<(&'static str, Range<usize>)> {
    let mut found = Vec::new();
    found.extend(bootstrap_tokens(text).map(|place| ("bootstrap-token", place)));
    if memchr::memmem::find(text, KEY_TYPE).is_some() {
        let keys = JSON_WEB_KEY.captures_iter(text);
        found.extend(keys.filter_map(|key| Some(("json-web-key", key.name("s")?.range()))));
    }
    for (rule, pattern) in &*COMPILED {
        for captures in pattern.captures_iter(text) {
            let inner = captures.name("s").or_else(|| captures.name("t"));
            let place = inner.or_else(|| captures.get(0)).map(|one| one.range());
            found.extend(place.map(|place| match *rule {
                SQL_PASSWORD => (SQL_PASSWORD, place.start..quoted_end(text, place.start)),
                rule => (rule, place),
            }));
        }
    }
    for captures in SCHEME.captures_iter(text) {
        if let Some(value) = captures.get(1)
            && is_no_word(value.as_bytes())
        {
            found.push(("authorization", value.range()));
        }
    }
    for captures in AUTHORIZATION.captures_iter(text) {
        // A policy, a mode or the words of a message may follow, too.
        if let Some(value) = captures.name("s")
            && is_no_word(value.as_bytes())
            && std::str::from_utf8(value.as_bytes())
                .is_ok_and(|value| forms::form(value) == ValueForm::Other)
        {
            found.push(("authorization", value.range()));
        }
    }
    found
}

/// Finds the dots around which a secret may be: a bootstrap token, a token of Discord or Airtable.
/// Their surroundings are not checked.
pub(super) fn dots(text: &[u8]) -> impl Iterator<Item = usize> {
    let all = |from: usize, to: usize, is_meant: fn(&u8) -> bool| {
        text.get(from..to)
            .is_some_and(|part| part.iter().all(is_meant))
    };
    memchr::memchr_iter(b'.', text).filter(move |dot| {
        let dot = *dot;
        let before = |len: usize, is_meant: fn(&u8) -> bool| {
            dot.checked_sub(len)
                .is_some_and(|from| all(from, dot, is_meant))
        };
        let after = |len: usize, is_meant: fn(&u8) -> bool| all(dot + 1, dot + 1 + len, is_meant);
        let is_small = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9');
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        before(6, is_small) && after(16, is_small)
            || text.get(dot + 7) == Some(&b'.')
                && before(24, is_word)
                && after(6, is_word)
                && all(dot + 8, dot + 35, is_word)
            || after(16, u8::is_ascii_hexdigit) && before(17, u8::is_ascii_alphanumeric)
    })
}

/// Finds the bootstrap tokens of kubeadm, `abcdef.0123456789abcdef`. Names of hosts and files have
/// the same form, so a match counts as a token only after a word that announces one.
fn bootstrap_tokens(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let is_part = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9');
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    memchr::memchr_iter(b'.', text).filter_map(move |dot| {
        let place = dot.checked_sub(6)?..dot + 17;
        let (id, secret) = (text.get(place.start..dot)?, text.get(dot + 1..place.end)?);
        if !id.iter().all(is_part) || !secret.iter().all(is_part) {
            return None;
        }
        let before = text.get(..place.start)?;
        let is_alone = match before {
            [.., b'\\', b'n' | b'r' | b't'] | [] => true,
            [.., byte] => !is_name(byte),
        };
        let goes_on = match text.get(place.end..)? {
            [b'.', next, ..] => is_name(next),
            [next, ..] => *next != b'.' && is_name(next),
            [] => false,
        };
        let near = before.get(before.len().saturating_sub(ANNOUNCED_WITHIN)..)?;
        let is_announced = || {
            ANNOUNCEMENTS.iter().any(|word| {
                near.windows(word.len())
                    .any(|one| one.eq_ignore_ascii_case(word))
            })
        };
        (is_alone && !goes_on && is_announced()).then_some(place)
    })
}

/// Returns the end of a value of SQL behind its quote, in its line: a doubled quote, another quote and an escaped one
/// belong to it.
fn quoted_end(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let line = memchr::memchr(b'\n', rest).map_or(text.len(), |len| start + len);
    let line = text.get(..line).unwrap_or_default();
    let Some((quote, before)) = line.get(..start).and_then(<[u8]>::split_last) else {
        return line.len();
    };
    let slashes = count_back(before, |byte| byte == b'\\');
    let mut end = closing(line, start, *quote, slashes);
    while slashes == 0 && line.get(end + 1) == Some(quote) {
        end = closing(line, end + 2, *quote, slashes);
    }
    end
}

/// Distinguishes a credential from a word: "basic authentication".
fn is_no_word(value: &[u8]) -> bool {
    let mut rest = value.iter().skip(1);
    rest.any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
}

static KEY_LINE: LazyLock<Regex> = LazyLock::new(|| {
    constant_regex(
        r"(?-u)-{4,5}[ ]?(?P<what>BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?[ ]?-{4,5}",
    )
});

/// The first line of a `PuTTY` key, and its last line, which contains its code.
const PUTTY_BEGIN: &[u8] = b"PuTTY-User-Key-File-";
const PUTTY_END: &[u8] = b"Private-MAC:";

/// Finds keys of `PuTTY`.
fn putty_keys(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    memchr::memmem::find_iter(text, PUTTY_BEGIN).map(move |start| {
        let rest = text.get(start..).unwrap_or_default();
        let end = memchr::memmem::find(rest, PUTTY_END).map(|mac| {
            let hex = mac + PUTTY_END.len();
            let line = rest.get(hex..).unwrap_or_default();
            let is_code = |byte: &&u8| byte.is_ascii_hexdigit() || **byte == b' ';
            hex + line.iter().take_while(is_code).count()
        });
        // Of a cut key, everything.
        start..start + end.unwrap_or(rest.len())
    })
}

/// Finds private keys.
pub(crate) fn private_keys(text: &[u8]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = putty_keys(text).collect();
    let mut begun = None;
    let mut ended = 0;
    if memchr::memmem::find(text, b"PRIVATE KEY").is_none() {
        return found;
    }
    for line in KEY_LINE.captures_iter(text) {
        let (Some(whole), Some(what)) = (line.get(0), line.name("what")) else {
            continue;
        };
        if what.as_bytes() == b"BEGIN" {
            begun.get_or_insert(whole.start());
        } else {
            // Of a key whose beginning was cut off, everything before its end.
            found.push(begun.take().unwrap_or(ended)..whole.end());
            ended = whole.end();
        }
    }
    found.extend(begun.map(|start| start..text.len()));
    found
}

/// How far before a URL its line is searched for an open quote.
const QUOTE_BYTES: usize = 600;

/// How many apostrophes a URL may have.
const APOSTROPHES_MOST: usize = 16;

/// The length from which a user's name alone is a token.
const TOKEN_LEAST: usize = 20;

/// Finds user and password in the URLs of a text.
pub(crate) fn url_credentials(text: &[u8]) -> Vec<Range<usize>> {
    memchr::memmem::find_iter(text, b"://")
        .filter_map(|at| userinfo(text, at + 3, false))
        .collect()
}

/// Finds user and password, or a token, after the scheme of a URL. With `is_alone` a user's name
/// alone counts as well.
pub(crate) fn userinfo(text: &[u8], start: usize, is_alone: bool) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    let word = url_word(text, start);
    let word = rest.get(..word)?;
    let authority = word
        .iter()
        .take_while(|byte| !matches!(byte, b'/' | b'?' | b'#'))
        .count();
    let authority = word.get(..authority)?;
    let at = if let Some(at) = memchr::memrchr(b'@', authority) {
        at
    } else {
        // An unencoded slash in a password: then the text after the colon is not a port.
        let colon = memchr::memchr(b':', authority)?;
        let is_port = authority.get(colon + 1..)?.iter().all(u8::is_ascii_digit);
        if is_port || authority.starts_with(b"[") {
            return None;
        }
        memchr::memrchr(b'@', word)?
    };
    let info = word.get(..at)?;
    let is_secret = memchr::memchr(b':', info).is_some()
        || memchr::memmem::find(info, b"%3A").is_some()
        || info.len() >= TOKEN_LEAST
        || is_alone;
    (is_secret && !info.is_empty()).then(|| start..start + at)
}

/// Returns the length of a URL behind its scheme. An apostrophe belongs to it, unless it closes a quote behind a host;
/// behind `user:pass` it does not.
fn url_word(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let is_open = is_quote_open(text, start);
    let mut len = 0;
    for _ in 0..APOSTROPHES_MOST {
        len += count(rest.get(len..).unwrap_or_default(), |byte| !ends(byte));
        let word = rest.get(..len).unwrap_or_default();
        if rest.get(len) != Some(&b'\'') || is_open && has_host(word) {
            break;
        }
        len += 1;
    }
    len
}

/// Returns whether a quote is open before a place in its line. The apostrophe of `can't` opens none.
fn is_quote_open(text: &[u8], place: usize) -> bool {
    let before = text.get(place.saturating_sub(QUOTE_BYTES)..place);
    let before = before.unwrap_or_default();
    let line = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    let before = before.get(line..).unwrap_or_default();
    let is_letter = |at: Option<usize>| {
        at.and_then(|at| before.get(at))
            .is_some_and(u8::is_ascii_alphanumeric)
    };
    let mut quotes = memchr::memrchr_iter(b'\'', before);
    let last = quotes.find(|at| !is_letter(at.checked_sub(1)) || !is_letter(Some(at + 1)));
    last.is_some_and(|at| !is_letter(at.checked_sub(1)))
}

/// Returns whether the beginning of a URL is complete: it has a user, or its port is a number.
fn has_host(word: &[u8]) -> bool {
    let authority = count(word, |byte| !matches!(byte, b'/' | b'?' | b'#'));
    let authority = word.get(..authority).unwrap_or_default();
    let port = memchr::memrchr(b':', authority).and_then(|at| authority.get(at + 1..));
    memchr::memchr(b'@', word).is_some()
        || authority.ends_with(b"]")
        || port.is_none_or(|port| port.iter().all(u8::is_ascii_digit))
}

fn ends(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || byte.is_ascii_control()
        || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'\\' | b'`')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_one() {
        assert_eq!(COMPILED.len(), PATTERNS.len());
        for pattern in [&SCHEME, &AUTHORIZATION, &JSON_WEB_KEY, &KEY_LINE] {
            assert!(!pattern.is_match(b""));
        }
    }

    #[test]
    fn hashes_of_passwords_are_found() {
        let base64 = "Q7wErTyUiOpAsDfGhJkLzXcVbN0=";
        for hash in [
            format!("{{SHA}}{base64}"),
            format!("{{ssha256}}{base64}"),
            "{CRYPT}rqXexS6ZhobKA".to_owned(),
            format!("pbkdf2_sha256$260000$c2FsdA$a{base64}"),
            format!("pbkdf2:sha256:260000$c2FsdA$a{base64}"),
            format!("SCRAM-SHA-256$4096:c2FsdHNhbHQ=${base64}:{base64}"),
            "md53175bce1d3201d16594cebf9d7eb3f9d".to_owned(),
            "*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19".to_owned(),
        ] {
            for text in [
                hash.clone(),
                format!("admin:{hash}"),
                format!("PASSWORD '{hash}';"),
                format!("a\\n{hash}\\nb"),
            ] {
                let found = secrets(text.as_bytes());
                let found: Vec<&str> = found.into_iter().map(|(_, place)| &text[place]).collect();
                assert!(found.contains(&hash.as_str()), "{text}: {found:?}");
                assert!(
                    crate::text::triggers::suspects_as_is(text.as_bytes()),
                    "{text}"
                );
            }
        }
        for text in [
            "the mechanism SCRAM-SHA-256 of {sha} in {SHA}/path/of/a/file.txt",
            "file-md53175bce1d3201d16594cebf9d7eb3f9d x.md53175bce1d3201d16594cebf9d7eb3f9d",
            "md5:3175bce1d3201d16594cebf9d7eb3f9d pbkdf2_sha256",
            "3*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19 *2470c0c06dee42fd1618bb99005adca2ec9d1e19",
        ] {
            assert_eq!(secrets(text.as_bytes()), [], "{text}");
        }
    }

    #[test]
    fn an_apostrophe_in_a_url_is_a_part_of_it() {
        for (text, expected) in [
            ("at postgres://app:Hd7x'Tq9Z@db.test/x", "app:Hd7x'Tq9Z"),
            (
                "can't reach postgres://app:Hd7x'Tq9Z@db.test/x",
                "app:Hd7x'Tq9Z",
            ),
            (
                "'x' for postgres://app:Hd7x'Tq9Z@db.test/x",
                "app:Hd7x'Tq9Z",
            ),
            ("bad 'postgres://app:Hd7x'Tq9Z@db.test/x'", "app:Hd7x'Tq9Z"),
            ("bad 'postgres://app:Hd7x@db.test','a@b'", "app:Hd7x"),
            ("bad 'https://db.test:80','a@b'", ""),
            ("bad 'https://db.test','a:b@c'", ""),
            ("['https://[::1]','a:b@c']", ""),
            ("run 'get https://db.test'@x", ""),
        ] {
            let found = url_credentials(text.as_bytes());
            let found: Vec<&str> = found.into_iter().map(|place| &text[place]).collect();
            assert_eq!(found.concat(), expected, "{text}");
            assert!(found.is_empty() || crate::text::triggers::suspects_as_is(text.as_bytes()));
        }
    }

    #[test]
    fn what_a_word_announces_is_found() {
        for (text, secret) in [
            (
                "kubeadm join 10.0.0.1:6443 --token abcdef.0123456789abcdef --x",
                "abcdef.0123456789abcdef",
            ),
            (
                "Bootstrap tokens:\\nabcdef.0123456789abcdef",
                "abcdef.0123456789abcdef",
            ),
            (
                r#"{"kty":"EC","crv":"P-256","x":"aaaaaaaaaaaaaaaaaaaa","d":"bbbbbbbbbbbbbbbbbbbb"}"#,
                "bbbbbbbbbbbbbbbbbbbb",
            ),
        ] {
            let found = secrets(text.as_bytes());
            let found: Vec<&str> = found.into_iter().map(|(_, place)| &text[place]).collect();
            assert_eq!(found, [secret], "{text}");
            assert!(crate::text::triggers::suspects_as_is(text.as_bytes()));
        }
    }

    #[test]
    fn statements_and_headers_announce_secrets() {
        for text in [
            "CREATE USER 'a'@'%' IDENTIFIED BY 'canary-1'",
            "alter user app identified by \"canary-1\"",
            "GRANT ALL ON *.* TO app identified with x by 'canary-1'",
            "near 'IDENTIFIED BY \\'canary-1\\''",
            "ALTER USER app WITH PASSWORD 'canary-1'",
            "CREATE ROLE app\n  LOGIN\n  PASSWORD 'canary-1'",
            "syntax error in ALTER ROLE app WITH ENCRYPTED PASSWORD 'canary-1' VALID",
            "SET PASSWORD FOR 'x'@'%' = 'canary-1'",
            "set password for x = PASSWORD('canary-1')",
            "router bgp 1\n neighbor 172.30.0.3 password canary-1\n",
            "ip ospf message-digest-key 1 md5 canary-1",
            "proxy_set_header X-Api-Key \"canary-1\";",
            "proxy_set_header Authorization \"Token canary-1\";",
            "http-request set-header X-Auth-Token canary-1",
            "Authorization: ApiKey canary-1",
            "curl -H 'Authorization: canary-1' x",
            "{\\\"Authorization\\\":\\\"Splunk canary-1\\\"}",
            "HEADERS=Authorization=GenieKey canary-1",
            "authorization: Zoho-oauthtoken canary-1",
        ] {
            // A value that is not made of words.
            let text = text.replace("canary-1", "7c1b8e52-9a0dQ");
            let found = secrets(text.as_bytes());
            let found: Vec<&str> = found.into_iter().map(|(_, place)| &text[place]).collect();
            assert_eq!(found, ["7c1b8e52-9a0dQ"], "{text}");
            assert!(
                crate::text::triggers::suspects_as_is(text.as_bytes()),
                "{text}"
            );
        }
        for (text, secret) in [
            ("x IDENTIFIED BY 'one\"2' y", "one\"2"),
            ("x IDENTIFIED BY 'one\\2' y", "one\\2"),
            ("x IDENTIFIED BY 'one\\'2' y", "one\\'2"),
            ("x IDENTIFIED BY 'one''2'", "one''2"),
            ("x IDENTIFIED BY \"one'2\" y", "one'2"),
            ("x IDENTIFIED BY 'one 2\ny", "one 2"),
            ("near 'IDENTIFIED BY \\'one\"2\\' y'", "one\"2"),
            ("-e 'x IDENTIFIED BY '\"'\"'one2'\"'\"' y'", "one2"),
            ("-e 'x IDENTIFIED BY '\\''one2'\\'' y'", "one2"),
            ("Cookie: a=one-2; theme=dark", "a=one-2; theme=dark"),
            ("curl -H 'Cookie: a=one-2' x", "a=one-2"),
            (
                "Set-Cookie: a=one-2; Path=/; Secure\nx",
                "a=one-2; Path=/; Secure",
            ),
        ] {
            let found = secrets(text.as_bytes());
            let found: Vec<&str> = found.into_iter().map(|(_, place)| &text[place]).collect();
            assert_eq!(found, [secret], "{text}");
            assert!(
                crate::text::triggers::suspects_as_is(text.as_bytes()),
                "{text}"
            );
        }
    }

    #[test]
    fn sentences_about_statements_and_headers_are_kept() {
        for text in [
            "a source that is identified by \"insightsRequestID\" and",
            "identified by 'pull-secret'",
            "invalid password 'x2y' of the user",
            "neighbor 172.30.0.3 password",
            "proxy_set_header X-Auth-Request-User $user;",
            "proxy_set_header Host \"a.example.org\";",
            "proxy_set_header Cookie $http_cookie;",
            "authorization: mode system:serviceaccount:openshift-etcd:installer-sa",
            "authorization: Unauthorized",
            "authorization:\n  resourceAttributes:\n    apiVersion: v1\n",
            "authorization: failed RollingUpdate of kube-apiserver-operator",
            "Cookie: $COOKIE",
        ] {
            assert!(secrets(text.as_bytes()).is_empty(), "{text}");
        }
    }

    #[test]
    fn words_are_no_credentials() {
        for text in [
            "basic authentication",
            "Bearer authentication-token",
            "eyJ",
            "sha256:abc",
            "the token of docker.containerruntime.sock",
            "abcdef.0123456789abcdef is a file",
            r#"{"d":"not-a-key-without-a-type"}"#,
        ] {
            assert!(secrets(text.as_bytes()).is_empty(), "{text}");
        }
    }

    #[test]
    fn keys_are_found_whole_and_cut() {
        for (text, expected) in [
            (
                "a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b",
                "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----",
            ),
            (
                "a -----BEGIN PRIVATE KEY-----\\nMII",
                "-----BEGIN PRIVATE KEY-----\\nMII",
            ),
            (
                "MII\n-----END EC PRIVATE KEY----- b",
                "MII\n-----END EC PRIVATE KEY-----",
            ),
            (
                "x ---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nx",
                "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nx",
            ),
            (
                "-----BEGIN PGP PRIVATE KEY BLOCK-----x",
                "-----BEGIN PGP PRIVATE KEY BLOCK-----x",
            ),
            (
                "a PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 1\nAAAA\nPrivate-MAC: 00ff\nb",
                "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 1\nAAAA\nPrivate-MAC: 00ff",
            ),
            (
                "PuTTY-User-Key-File-2: ssh-rsa\\nPrivate-Lines: 1\\nAAAA",
                "PuTTY-User-Key-File-2: ssh-rsa\\nPrivate-Lines: 1\\nAAAA",
            ),
        ] {
            let places = private_keys(text.as_bytes());
            let found: Vec<&str> = places.into_iter().map(|place| &text[place]).collect();
            assert_eq!(found, [expected]);
        }
        for text in [
            "-----BEGIN PUBLIC KEY-----\nMII\n-----END PUBLIC KEY-----",
            "the PRIVATE KEY is gone",
        ] {
            assert!(private_keys(text.as_bytes()).is_empty(), "{text}");
        }
    }

    #[test]
    fn users_with_passwords_are_found() {
        let found = |text: &'static str| -> Vec<&str> {
            let places = url_credentials(text.as_bytes());
            places.into_iter().map(|place| &text[place]).collect()
        };
        for (text, expected) in [
            ("http://user:pw@host:80/a@b", "user:pw"),
            ("https://user:p@ss@host", "user:p@ss"),
            ("https://:pw@host", ":pw"),
            ("postgres://user:p/w@host/db", "user:p/w"),
            (
                "https://abcdefghijklmnopqrstuvwxyz@github.com",
                "abcdefghijklmnopqrstuvwxyz",
            ),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
        for text in [
            "https://host:6443/a@b:c",
            "ssh://git@github.com",
            "https://[::1]:80/@",
            "docker://quay.io/a/b@sha256:00",
            "https://host/?a=b:c@d",
        ] {
            assert_eq!(found(text), Vec::<&str>::new(), "{text}");
        }
    }
}
