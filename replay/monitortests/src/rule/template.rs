//! Owns texts with expressions in them: `pod ${object.metadata.name} is late`. Refuses their values.

use crate::cel::Program;

/// A part of a text.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    Text(String),
    Cel(Program),
}

/// A text with expressions in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Template {
    pub(crate) parts: Vec<Part>,
    /// How it was written.
    pub(crate) text: String,
}

/// A part of a template's text, before its expressions are compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    Text(&'a str),
    /// The expression and its place in the text, in characters.
    Cel(&'a str, usize),
    /// A `${` at that place that no `}` ends.
    Open(usize),
}

/// Takes a template apart.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut at = 0;
    while let Some((before, behind)) = rest.split_once("${") {
        if !before.is_empty() {
            pieces.push(Piece::Text(before));
        }
        let begin = at + before.chars().count() + 2;
        let Some((inner, after)) = until_closed(behind) else {
            pieces.push(Piece::Open(begin - 2));
            return pieces;
        };
        pieces.push(Piece::Cel(inner, begin));
        at = begin + inner.chars().count() + 1;
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    pieces
}

/// Parts a text at the brace that ends an expression: not one in a text or of a map.
fn until_closed(text: &str) -> Option<(&str, &str)> {
    let mut open = 0_usize;
    let mut quote = None;
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        if let Some(end) = quote {
            if is_escaped {
                is_escaped = false;
            } else if c == '\\' {
                is_escaped = true;
            } else if c == end {
                quote = None;
            }
            continue;
        }
        match c {
            '"' | '\'' => quote = Some(c),
            '{' => open += 1,
            '}' if open == 0 => {
                let inner = text.get(..at)?;
                return Some((inner, text.get(at + 1..)?));
            }
            '}' => open -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_end_at_their_own_brace() {
        assert_eq!(
            pieces(r#"a ${b["}"]}${{"x": 1}.x} c ${d"#),
            [
                Piece::Text("a "),
                Piece::Cel(r#"b["}"]"#, 4),
                Piece::Cel(r#"{"x": 1}.x"#, 13),
                Piece::Text(" c "),
                Piece::Open(27),
            ]
        );
        assert_eq!(pieces("plain"), [Piece::Text("plain")]);
        assert_eq!(pieces(""), []);
    }
}
