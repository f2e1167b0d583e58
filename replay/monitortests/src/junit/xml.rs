//! Text as XML: escaped, and without characters that XML or a terminal cannot hold.
//!
//! Written by hand, as there are seven elements: the JUnit libraries wrap suites in `<testsuites>`, which
//! changes the names that the readers of OpenShift's CI derive.

use std::borrow::Cow;

/// Escapes a text for the inside of an element.
pub(super) fn text(text: &str) -> String {
    escaped(&clean(text), false)
}

/// Escapes a text for an attribute; line ends become spaces.
pub(super) fn attribute(text: &str) -> String {
    escaped(&clean(text), true)
}

fn escaped(text: &str, is_attribute: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if is_attribute => out.push_str("&quot;"),
            '\n' | '\t' if is_attribute => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

/// Takes out what terminals obey: escape sequences and control characters but line ends and tabs; what
/// XML 1.0 has no place for becomes U+FFFD.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    let is_odd = |letter: char| {
        letter.is_control() && letter != '\n' && letter != '\t' || is_no_character(letter)
    };
    if !text.contains(is_odd) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => skip_escape(&mut letters),
            '\u{9b}' => skip_control(&mut letters),
            '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => skip_string(&mut letters),
            '\r' if letters.peek() == Some(&'\n') => {}
            '\r' => out.push('\n'),
            letter if is_no_character(letter) => out.push('\u{fffd}'),
            letter if is_odd(letter) => {}
            letter => out.push(letter),
        }
    }
    Cow::Owned(out)
}

/// Tells what Unicode has no letter for and XML 1.0 refuses.
const fn is_no_character(letter: char) -> bool {
    matches!(letter, '\u{fffe}' | '\u{ffff}')
}

type Letters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Skips what follows an escape character.
fn skip_escape(letters: &mut Letters<'_>) {
    match letters.peek() {
        Some('[') => {
            letters.next();
            skip_control(letters);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            letters.next();
            skip_string(letters);
        }
        Some(' '..='/') => {
            while letters
                .next_if(|letter| matches!(letter, ' '..='/'))
                .is_some()
            {}
            letters.next_if(|letter| matches!(letter, '0'..='~'));
        }
        Some('0'..='~') => {
            letters.next();
        }
        _ => {}
    }
}

/// Skips parameters and the letter that ends a control sequence; stops before what cannot be in one.
fn skip_control(letters: &mut Letters<'_>) {
    while letters
        .next_if(|letter| matches!(letter, ' '..='?'))
        .is_some()
    {}
    letters.next_if(|letter| matches!(letter, '@'..='~'));
}

/// Skips a string for the terminal, up to its end; an unended one goes to the end of the line.
fn skip_string(letters: &mut Letters<'_>) {
    while let Some(letter) = letters.next_if(|letter| *letter != '\n') {
        match letter {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' if letters.next_if_eq(&'\\').is_some() => return,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn terminals_are_told_nothing() {
        for (given, left) in [
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{9b}31mred", "red"),
            ("a\u{1b}]0;title\u{7}b", "ab"),
            ("a\u{1b}]8;;x\u{1b}\\b", "ab"),
            ("a\u{1b}]never ended\nb", "a\nb"),
            ("a\u{1b}(Bb", "ab"),
            ("a\u{1b}7b\u{1b}", "ab"),
            ("a\u{1b}[31", "a"),
            ("a\r\nb\rc\u{0}\u{8}\u{7f}d", "a\nb\ncd"),
            ("a\u{fffe}b\u{ffff}", "a\u{fffd}b\u{fffd}"),
            ("tab\tstays", "tab\tstays"),
        ] {
            assert_eq!(clean(given), left, "{given:?}");
        }
    }

    #[test]
    fn marks_of_xml_are_escaped() {
        assert_eq!(text("a<b>&\"c\"]]>"), "a&lt;b&gt;&amp;\"c\"]]&gt;");
        assert_eq!(attribute("a<\"b\"\nc"), "a&lt;&quot;b&quot; c");
    }

    proptest! {
        #[test]
        fn any_text_becomes_one_that_xml_can_hold(given in "\\PC*|(.|\n|\u{1b}|\u{9b}|\u{9d}|\u{0}|\u{fffe})*") {
            let cleaned = clean(&given);
            let is_held = |letter: char| {
                matches!(letter, '\t' | '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
            };
            prop_assert!(cleaned.chars().all(is_held), "{cleaned:?}");
            prop_assert_eq!(clean(&cleaned), cleaned.clone());
        }
    }
}
