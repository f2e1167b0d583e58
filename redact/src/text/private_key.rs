//! Owns private keys in a text: from the line that begins one to the line that ends it. Of a key that was
//! cut off, everything goes. Refuses certificates and public keys.

use regex::bytes::Regex;
use std::ops::Range;
use std::sync::LazyLock;

static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?-u)-{4,5}[ ]?(?P<what>BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?[ ]?-{4,5}",
    )
    .ok()
});

/// How a key of `PuTTY` begins, and where it ends: after the line of its code.
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
        // Of a key that was cut off, everything.
        start..start + end.unwrap_or(rest.len())
    })
}

/// Finds private keys.
pub(super) fn keys(text: &[u8]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = putty_keys(text).collect();
    let mut begun = None;
    let mut ended = 0;
    if memchr::memmem::find(text, b"PRIVATE KEY").is_none() {
        return found;
    }
    for line in LINE.iter().flat_map(|line| line.captures_iter(text)) {
        let (Some(whole), Some(what)) = (line.get(0), line.name("what")) else {
            continue;
        };
        if what.as_bytes() == b"BEGIN" {
            begun.get_or_insert(whole.start());
        } else {
            // Of a key whose beginning was cut off, all that stands before its end.
            found.push(begun.take().unwrap_or(ended)..whole.end());
            ended = whole.end();
        }
    }
    found.extend(begun.map(|start| start..text.len()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let places = keys(text.as_bytes());
            let found: Vec<&str> = places.into_iter().map(|place| &text[place]).collect();
            assert_eq!(found, [expected]);
        }
        for text in [
            "-----BEGIN PUBLIC KEY-----\nMII\n-----END PUBLIC KEY-----",
            "the PRIVATE KEY is gone",
        ] {
            assert!(keys(text.as_bytes()).is_empty(), "{text}");
        }
    }
}
