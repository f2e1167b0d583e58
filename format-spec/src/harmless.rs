//! Escapes text of a recording for people: characters that move the cursor, ring the bell or change
//! the reading order, and words for shells. Not for data: JSON and YAML keep every character.

use std::borrow::Cow;

/// Escapes characters that a terminal would obey or hide.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            letter if is_obeyed(letter) => {
                shown.extend(format!("\\u{:04x}", u32::from(letter)).chars());
            }
            letter => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

/// Cuts a text for people after a number of letters.
pub fn cut(text: &str, letters: usize) -> Cow<'_, str> {
    let end = text.char_indices().nth(letters);
    match end.and_then(|(end, _)| text.get(..end)) {
        Some(kept) => Cow::Owned(format!("{kept}…")),
        None => Cow::Borrowed(text),
    }
}

/// Returns whether a character is a command or invisible: control characters of both sets, marks
/// that change the reading order, line ends of Unicode, and spaces without a width.
///
/// Joiners are letters of some scripts, so they stay.
fn is_obeyed(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'
                | '\u{2066}'..='\u{2069}'
                | '\u{feff}'
        )
}

/// Writes a word so that it can be pasted into a shell, which takes it as it is.
///
/// A word with characters that a terminal would obey has the form of bash and zsh that names them.
pub fn quoted(word: &str) -> String {
    let is_bare = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=,+@%".contains(letter);
    if !word.is_empty() && word.chars().all(is_bare) {
        return word.to_owned();
    }
    if !word.contains(is_obeyed) {
        return format!("'{}'", word.replace('\'', r"'\''"));
    }
    let letters = word.chars().map(|letter| match u32::from(letter) {
        code if is_obeyed(letter) && letter.is_ascii() => format!("\\x{code:02x}"),
        code if is_obeyed(letter) => format!("\\u{code:04x}"),
        _ if matches!(letter, '\'' | '\\') => format!("\\{letter}"),
        _ => letter.to_string(),
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
            ("", "''"),
            ("a b.reel", "'a b.reel'"),
            ("it's", r"'it'\''s'"),
            ("esc\u{1b}[31m", r"$'esc\x1b[31m'"),
            ("new\nline's \\", r"$'new\x0aline\'s \\'"),
            ("turned\u{202e}", r"$'turned\u202e'"),
        ] {
            assert_eq!(quoted(word), shown);
        }
    }

    #[test]
    fn a_text_is_cut_between_letters() {
        assert_eq!(cut("größer", 3), "grö…");
        assert_eq!(cut("größer", 6), "größer");
        assert_eq!(cut("", 0), "");
    }

    #[test]
    fn commands_and_marks_are_written_out() {
        for (text, shown) in [
            ("\u{1b}[2J\u{7}\u{7f}", "\\u001b[2J\\u0007\\u007f"),
            ("a\r\n\tb", "a\\r\\n\\tb"),
            ("\u{9b}31m\u{9c}", "\\u009b31m\\u009c"),
            ("\u{202e}dne\u{2066}", "\\u202edne\\u2066"),
            ("pod\u{200b}-0\u{feff}", "pod\\u200b-0\\ufeff"),
        ] {
            assert_eq!(harmless(text), shown);
        }
    }

    #[test]
    fn letters_of_every_script_stay_as_they_are() {
        for text in [
            "web-0",
            "日本語 → étoile",
            "नमस्ते",
            "می\u{200c}خواهم",
            "👩\u{200d}🚀",
        ] {
            assert!(matches!(harmless(text), Cow::Borrowed(same) if same == text));
        }
    }
}
