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

/// Finds private keys.
pub(super) fn keys(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
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
