//! The difference of two texts, word by word.

use imara_diff::{Algorithm, Diff, InternedInput};
use std::ops::Range;

/// The longest text that is compared word by word, in bytes; longer texts are compared line by
/// line.
const LONGEST_BY_WORDS: usize = 64 * 1024;

/// A run of words of one or both texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordSegment<'a> {
    /// The texts that have it.
    pub kind: SegmentKind,
    /// The words, with the spaces between them.
    pub text: &'a str,
}

/// The texts that have a run of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentKind {
    /// Both.
    Kept,
    /// Only the old one.
    Removed,
    /// Only the new one.
    Added,
}

/// Compares two texts word by word, or line by line if they are long.
///
/// The kept and removed segments together are the old text, the kept and added ones the new one.
pub fn words<'a>(old: &'a str, new: &'a str) -> Vec<WordSegment<'a>> {
    let cut: fn(&str) -> Vec<&str> = if old.len().max(new.len()) > LONGEST_BY_WORDS {
        |text| text.split_inclusive('\n').collect()
    } else {
        |text| pieces(text)
    };
    let (old_pieces, new_pieces) = (cut(old), cut(new));
    let mut input = InternedInput::default();
    input.update_before(old_pieces.iter().copied());
    input.update_after(new_pieces.iter().copied());
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_no_heuristic(&input);
    let mut segments = WordSegments {
        old: WordWalk::new(old, &old_pieces),
        new: WordWalk::new(new, &new_pieces),
        found: Vec::new(),
    };
    for hunk in diff.hunks() {
        segments.keep_to(hunk.before.start, hunk.after.start);
        let removed = segments.old.to(hunk.before.end);
        segments.push(SegmentKind::Removed, removed);
        let added = segments.new.to(hunk.after.end);
        segments.push(SegmentKind::Added, added);
    }
    segments.keep_to(u32::MAX, u32::MAX);
    segments.found
}

struct WordSegments<'a, 'p> {
    old: WordWalk<'a, 'p>,
    new: WordWalk<'a, 'p>,
    found: Vec<WordSegment<'a>>,
}

impl<'a> WordSegments<'a, '_> {
    fn keep_to(&mut self, old: u32, new: u32) {
        let _same = self.old.to(old);
        let kept = self.new.to(new);
        self.push(SegmentKind::Kept, kept);
    }

    fn push(&mut self, kind: SegmentKind, text: &'a str) {
        if !text.is_empty() {
            self.found.push(WordSegment { kind, text });
        }
    }
}

/// Walks over a text by its pieces.
struct WordWalk<'a, 'p> {
    text: &'a str,
    pieces: std::slice::Iter<'p, &'a str>,
    piece: u32,
    at: usize,
}

impl<'a, 'p> WordWalk<'a, 'p> {
    fn new(text: &'a str, pieces: &'p [&'a str]) -> Self {
        Self {
            text,
            pieces: pieces.iter(),
            piece: 0,
            at: 0,
        }
    }

    /// Returns the text from here to the start of a piece.
    fn to(&mut self, piece: u32) -> &'a str {
        let from = self.at;
        while self.piece < piece {
            let Some(passed) = self.pieces.next() else {
                break;
            };
            self.at += passed.len();
            self.piece += 1;
        }
        let range: Range<usize> = from..self.at;
        self.text.get(range).unwrap_or_default()
    }
}

/// Splits a text into words, runs of spaces, and other single characters.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let class = class_of(first);
        let len = match class {
            LetterClass::Sign => first.len_utf8(),
            class => rest
                .find(|letter| class_of(letter) != class)
                .unwrap_or(rest.len()),
        };
        let (piece, after) = rest.split_at_checked(len).unwrap_or((rest, ""));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LetterClass {
    Word,
    Space,
    Sign,
}

fn class_of(letter: char) -> LetterClass {
    if letter.is_whitespace() {
        LetterClass::Space
    } else if letter.is_alphanumeric() || "_-./".contains(letter) {
        LetterClass::Word
    } else {
        LetterClass::Sign
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(old: &str, new: &str) -> String {
        words(old, new)
            .into_iter()
            .map(|segment| match segment.kind {
                SegmentKind::Kept => segment.text.to_owned(),
                SegmentKind::Removed => format!("[-{}]", segment.text),
                SegmentKind::Added => format!("[+{}]", segment.text),
            })
            .collect()
    }

    #[test]
    fn only_the_words_that_differ_are_told_apart() {
        assert_eq!(
            shown("node m-1 is not ready", "node m-2 is not ready"),
            "node [-m-1][+m-2] is not ready"
        );
        assert_eq!(
            shown(
                "Working: 5 of 118 done (4%)",
                "Working: 26 of 118 done (22%)"
            ),
            "Working: [-5][+26] of 118 done ([-4][+22]%)"
        );
        assert_eq!(shown("", "a b"), "[+a b]");
        assert_eq!(shown("a b", ""), "[-a b]");
        assert_eq!(shown("same", "same"), "same");
        assert_eq!(shown("", ""), "");
    }

    #[test]
    fn long_texts_are_told_apart_by_lines() {
        let line = "one of very many lines\n";
        let old = line.repeat(LONGEST_BY_WORDS / line.len() + 1) + "end a";
        let new = old.replace("end a", "end b");
        let segments = words(&old, &new);
        let texts: Vec<&str> = segments.iter().skip(1).map(|one| one.text).collect();
        assert_eq!(texts, ["end a", "end b"]);
    }

    proptest! {
        #[test]
        fn segments_make_up_both_texts(old in "[ab ,é]{0,40}", new in "[ab ,é]{0,40}") {
            let segments = words(&old, &new);
            let without = |kind| -> String {
                let others = segments.iter().filter(|one| one.kind != kind);
                others.map(|one| one.text).collect()
            };
            prop_assert_eq!(without(SegmentKind::Added), old.as_str());
            prop_assert_eq!(without(SegmentKind::Removed), new.as_str());
        }
    }
}
