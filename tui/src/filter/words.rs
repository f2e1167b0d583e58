//! Owns how a filter falls into words: spaces part them, but not within quotes, patterns and the
//! parentheses of a label selector. Refuses to know what they mean.

use super::error::FilterError;

/// A word of a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// A text in quotes, taken as it is.
    Quoted(String),
    /// A pattern, without its slashes.
    Pattern(String),
    /// Anything else.
    Bare(String),
}

/// Splits a filter; each word comes with whether `!` stands before it.
pub(super) fn split(filter: &str) -> Result<Vec<(bool, Word)>, FilterError> {
    let mut words = Vec::new();
    let mut rest = filter.trim_start();
    while !rest.is_empty() {
        let plain = rest.trim_start_matches('!');
        let is_negated = (rest.len() - plain.len()) % 2 == 1;
        let (word, after) = if let Some(text) = plain.strip_prefix('"') {
            let (text, after) = text.split_once('"').ok_or_else(|| FilterError::OpenQuote {
                word: plain.to_owned(),
            })?;
            (Word::Quoted(text.to_owned()), after)
        } else if let Some(pattern) = plain.strip_prefix('/') {
            let end = pattern_end(pattern).ok_or_else(|| FilterError::OpenPattern {
                word: plain.to_owned(),
            })?;
            let (pattern, after) = pattern.split_at_checked(end).unwrap_or((pattern, ""));
            let after = after.strip_prefix('/').unwrap_or(after);
            (Word::Pattern(pattern.replace("\\/", "/")), after)
        } else {
            let end = bare_end(plain)?;
            let (word, after) = plain.split_at_checked(end).unwrap_or((plain, ""));
            (Word::Bare(word.to_owned()), after)
        };
        if word == Word::Bare(String::new()) {
            return Err(FilterError::Nothing {
                sign: "!".to_owned(),
            });
        }
        words.push((is_negated, word));
        rest = after.trim_start();
    }
    Ok(words)
}

/// Finds the slash that closes a pattern: one that no backslash takes as it is, at the end of a word.
fn pattern_end(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    let found = text.char_indices().find(|(at, letter)| {
        let next = text.get(at + 1..).and_then(|rest| rest.chars().next());
        let is_end = *letter == '/' && !is_escaped && next.is_none_or(char::is_whitespace);
        is_escaped = *letter == '\\' && !is_escaped;
        is_end
    });
    found.map(|(at, _)| at)
}

/// Finds the end of a bare word.
fn bare_end(text: &str) -> Result<usize, FilterError> {
    let is_label = text.starts_with("label:");
    let (mut quote, mut depth, mut before) = (None, 0_usize, ' ');
    for (at, letter) in text.char_indices() {
        let opens = matches!(before, '=' | '[' | ':' | '(' | '<' | '>' | ',');
        before = letter;
        match (quote, letter) {
            (Some(open), _) => quote = quote.filter(|_| letter != open),
            (None, '"' | '\'') if opens => quote = Some(letter),
            (None, '(') if is_label => depth += 1,
            (None, ')') if is_label => depth = depth.saturating_sub(1),
            (None, _) if letter.is_whitespace() && depth == 0 => {
                let rest = text.get(at..).unwrap_or_default();
                if !(is_label && goes_on(text.get(..at).unwrap_or_default(), rest)) {
                    return Ok(at);
                }
            }
            _ => {}
        }
    }
    if quote.is_some() {
        return Err(FilterError::OpenQuote {
            word: text.to_owned(),
        });
    }
    Ok(text.len())
}

/// Tells whether a label selector goes on behind a space: `app in (a,b)`.
fn goes_on(so_far: &str, rest: &str) -> bool {
    let next = rest.trim_start();
    let is_set = |word: &str| {
        let after = next.strip_prefix(word).map(str::trim_start);
        after.is_some_and(|after| after.starts_with('('))
    };
    let is_in_set = ["in", "notin"].iter().any(|word| {
        let key = so_far.trim_end().strip_suffix(word);
        key.is_some_and(|key| key.ends_with(char::is_whitespace))
    });
    is_set("in") || is_set("notin") || is_in_set && next.starts_with('(')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare(word: &str) -> Word {
        Word::Bare(word.to_owned())
    }

    #[test]
    fn spaces_part_words_but_not_within_what_belongs_together() {
        for (filter, expected) in [
            ("", vec![]),
            ("  a  !b ", vec![(false, bare("a")), (true, bare("b"))]),
            ("!!a", vec![(false, bare("a"))]),
            ("\"a b\"", vec![(false, Word::Quoted("a b".to_owned()))]),
            (
                "!/a b\\/c/ d",
                vec![
                    (true, Word::Pattern("a b/c".to_owned())),
                    (false, bare("d")),
                ],
            ),
            (
                "label:a in (b, c) d",
                vec![(false, bare("label:a in (b, c)")), (false, bare("d"))],
            ),
            (
                "label:a notin (b),!c d",
                vec![(false, bare("label:a notin (b),!c")), (false, bare("d"))],
            ),
            (
                "label:a in",
                vec![(false, bare("label:a")), (false, bare("in"))],
            ),
            (
                "a.b=\"c d\" e",
                vec![(false, bare("a.b=\"c d\"")), (false, bare("e"))],
            ),
            (
                "it's (a b",
                vec![
                    (false, bare("it's")),
                    (false, bare("(a")),
                    (false, bare("b")),
                ],
            ),
        ] {
            assert_eq!(split(filter), Ok(expected), "{filter}");
        }
    }

    #[test]
    fn what_is_not_closed_is_refused() {
        for filter in ["\"a", "/a", "!", "a !", "/a/b", "a.b=\"c d"] {
            assert!(split(filter).is_err(), "{filter}");
        }
    }
}
