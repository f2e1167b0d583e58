//! Words of a command line as they are shown: without credentials, and as a shell takes them.

use kubereel_fetch::ReelAddress;
use kubereel_format::harmless;
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
    let text = public_word(&text);
    let is_bare = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,+@%".contains(letter);
    if !text.is_empty() && text.chars().all(is_bare) {
        return text.into_owned();
    }
    if matches!(harmless(&text), Cow::Owned(_)) {
        return escaped_word(&text);
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Writes a word with characters that a terminal would obey in the form of bash and zsh that names them.
fn escaped_word(word: &str) -> String {
    let letters = word.chars().map(|letter| {
        let is_obeyed = matches!(harmless(letter.encode_utf8(&mut [0; 4])), Cow::Owned(_));
        match u32::from(letter) {
            code if is_obeyed && letter.is_ascii() => format!("\\x{code:02x}"),
            code if is_obeyed => format!("\\u{code:04x}"),
            _ if matches!(letter, '\'' | '\\') => format!("\\{letter}"),
            _ => letter.to_string(),
        }
    });
    format!("$'{}'", letters.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_a_shell_takes_them() {
        for (word, shown) in [
            ("run.reel", "run.reel"),
            ("a b.reel", "'a b.reel'"),
            ("it's", r"'it'\''s'"),
            ("esc\u{1b}[31m", r"$'esc\x1b[31m'"),
            ("new\nline's \\", r"$'new\x0aline\'s \\'"),
            ("turned\u{202e}", r"$'turned\u202e'"),
        ] {
            assert_eq!(shell_word(OsStr::new(word)), shown);
        }
    }
}
