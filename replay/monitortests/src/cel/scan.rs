//! Owns the words of an expression's text: where a name stands. Refuses grammar: the library reads
//! that, but does not tell where the names of a good expression stand.

/// A word of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Its place, in characters from 0.
    pub(super) at: usize,
    /// Its text.
    pub(super) text: String,
    /// Whether a dot stands before it.
    pub(super) is_member: bool,
    /// Whether it is called.
    pub(super) is_called: bool,
}

/// Finds the words of an expression: not those in texts or remarks.
pub(super) fn words(text: &str) -> Vec<Word> {
    let chars: Vec<char> = text.chars().collect();
    let mut words: Vec<Word> = Vec::new();
    let mut at = 0;
    let mut before = ' ';
    while let Some(&c) = chars.get(at) {
        if c == '/' && chars.get(at + 1) == Some(&'/') {
            at = end_of_line(&chars, at);
        } else if c == '"' || c == '\'' {
            let is_raw = words.last().is_some_and(|word| {
                word.at + word.text.len() == at && word.text.to_lowercase().contains('r')
            });
            at = end_of_text(&chars, at, c, is_raw);
            before = c;
        } else if c.is_ascii_digit() {
            // Digits and what belongs to them, `0x1F`, `1e3`, `7u`.
            at = end_of_word(&chars, at);
            before = '0';
        } else if c.is_ascii_alphabetic() || c == '_' {
            let end = end_of_word(&chars, at);
            let text: String = chars.get(at..end).unwrap_or_default().iter().collect();
            let behind = chars.iter().skip(end).find(|c| !c.is_whitespace());
            words.push(Word {
                at,
                text,
                is_member: before == '.',
                is_called: behind == Some(&'('),
            });
            at = end;
            before = 'a';
        } else {
            // The question mark of `.?name` keeps the dot in mind.
            let is_in_member = c == '?' && before == '.';
            if !c.is_whitespace() && !is_in_member {
                before = c;
            }
            at += 1;
        }
    }
    words
}

fn end_of_line(chars: &[char], from: usize) -> usize {
    let found = chars.iter().skip(from).position(|c| *c == '\n');
    found.map_or(chars.len(), |found| from + found)
}

fn end_of_word(chars: &[char], from: usize) -> usize {
    let is_in = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let found = chars.iter().skip(from).position(|c| !is_in(c));
    found.map_or(chars.len(), |found| from + found)
}

fn end_of_text(chars: &[char], from: usize, quote: char, is_raw: bool) -> usize {
    let is_quote = |at: usize| chars.get(at) == Some(&quote);
    let is_long = is_quote(from + 1) && is_quote(from + 2);
    let mut at = from + if is_long { 3 } else { 1 };
    while at < chars.len() {
        if !is_raw && chars.get(at) == Some(&'\\') {
            at += 2;
        } else if is_quote(at) && (!is_long || (is_quote(at + 1) && is_quote(at + 2))) {
            return at + if is_long { 3 } else { 1 };
        } else {
            at += 1;
        }
    }
    chars.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(usize, String, bool, bool)> {
        let found = words(text).into_iter();
        found
            .map(|word| (word.at, word.text, word.is_member, word.is_called))
            .collect()
    }

    #[test]
    fn words_are_found_outside_of_texts() {
        let word = |at, text: &str, member, called| (at, text.to_owned(), member, called);
        assert_eq!(
            found(r#"a.b == "c \" d" && has(e.?f) // g"#),
            [
                word(0, "a", false, false),
                word(2, "b", true, false),
                word(19, "has", false, true),
                word(23, "e", false, false),
                word(26, "f", true, false),
            ]
        );
        assert_eq!(
            found(r#"r'\' + """ "x" """ + b"#),
            [word(0, "r", false, false), word(21, "b", false, false)]
        );
    }
}
