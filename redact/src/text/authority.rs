//! Owns who a URL says that one is: `user:password@`. Refuses the rest of the URL.

use std::ops::Range;

/// A user's name alone that is this long is a token.
const TOKEN_LEAST: usize = 20;

/// Finds user and password in the URLs of a text.
pub(super) fn credentials(text: &[u8]) -> Vec<Range<usize>> {
    memchr::memmem::find_iter(text, b"://")
        .filter_map(|at| userinfo(text, at + 3, false))
        .collect()
}

/// Finds user and password, or a token, in what follows the scheme of a URL. `is_alone` says that a
/// user's name alone counts as well.
pub(crate) fn userinfo(text: &[u8], start: usize, is_alone: bool) -> Option<Range<usize>> {
    let rest = text.get(start..)?;
    let word = rest.iter().take_while(|byte| !ends(**byte)).count();
    let word = rest.get(..word)?;
    let authority = word
        .iter()
        .take_while(|byte| !matches!(byte, b'/' | b'?' | b'#'))
        .count();
    let authority = word.get(..authority)?;
    let at = if let Some(at) = memchr::memrchr(b'@', authority) {
        at
    } else {
        // A slash in a password that nobody encoded: what follows the colon is no port then.
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

fn ends(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || byte.is_ascii_control()
        || matches!(byte, b'"' | b'\'' | b'<' | b'>' | b'\\' | b'`')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_with_passwords_are_found() {
        let found = |text: &'static str| -> Vec<&str> {
            let places = credentials(text.as_bytes());
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
