//! Words of a command line as they are shown: without credentials, and as a shell takes them.

use kubereel_fetch::ReelAddress;
use kubereel_format::quoted;
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};

/// Writes how a word of a command line may be shown: an address has neither its credentials nor its query.
pub(crate) fn public_word(word: &str) -> Cow<'_, str> {
    let has_private_parts = word.contains(['@', '?', '#']);
    if !has_private_parts || !ReelAddress::is_address(word) {
        return Cow::Borrowed(word);
    }
    match ReelAddress::parse(word) {
        Ok(address) => Cow::Owned(address.to_string()),
        // What cannot be parsed has no parts to choose from.
        Err(_) => Cow::Owned(word.split_inclusive("://").take(1).chain(["…"]).collect()),
    }
}

/// Writes a command line so that it can be pasted.
pub(crate) fn shell_line(words: &[OsString]) -> String {
    let words = words.iter().enumerate().map(|(place, word)| {
        if place == 0 {
            return "kubereel".to_owned();
        }
        shell_word(word)
    });
    words.collect::<Vec<String>>().join(" ")
}

/// Writes a word so that a shell takes it as it is; of an address only what may be shown.
pub(crate) fn shell_word(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    quoted(&public_word(&text))
}
