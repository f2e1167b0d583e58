//! Owns replacements: how they are put together where they meet, and into a text. Refuses to know why.

use crate::mark::Marker;
use std::borrow::Cow;
use std::ops::Range;

/// The name of a rule.
pub(crate) type Rule = Cow<'static, str>;

/// Bytes to put in the place of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    /// Which.
    pub(crate) place: Range<usize>,
    /// What comes there.
    pub(crate) with: Vec<u8>,
    /// By which rule.
    pub(crate) rule: Rule,
    /// The secret, as far as a reader may be told: its length and its first letters.
    pub(crate) hint: Hint,
    /// Where in an object it stands; empty in a text.
    pub(crate) path: String,
}

/// What may be told of a secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hint {
    /// Its length, in bytes.
    pub(crate) len: usize,
    /// Its first letters: never more than a fourth of it.
    pub(crate) begin: String,
}

/// How many letters of a secret are ever shown.
const SHOWN_MOST: usize = 4;

impl Hint {
    /// Tells of a secret.
    pub(crate) fn of(secret: &[u8]) -> Self {
        let most = SHOWN_MOST.min(secret.len() / 4);
        let begin = secret.iter().take(most);
        Self {
            len: secret.len(),
            begin: begin
                .take_while(|byte| byte.is_ascii_graphic())
                .map(|byte| char::from(*byte))
                .collect(),
        }
    }
}

/// Sorts, and puts together what overlaps: what holds another stays; of others both are one.
pub(crate) fn settle(mut edits: Vec<Edit>, text: &[u8], marker: &Marker) -> Vec<Edit> {
    edits.sort_by_key(|edit| (edit.place.start, std::cmp::Reverse(edit.place.end)));
    let mut settled: Vec<Edit> = Vec::with_capacity(edits.len());
    for edit in edits {
        match settled.last_mut() {
            // The later one knows more: of which kind the object around it is.
            Some(last) if edit.place == last.place => *last = edit,
            Some(last) if edit.place.start < last.place.end => {
                if edit.place.end > last.place.end {
                    last.place.end = edit.place.end;
                    let secret = text.get(last.place.clone()).unwrap_or_default();
                    last.with = marker.word(secret).into_bytes();
                    last.hint = Hint::of(secret);
                }
            }
            _ => settled.push(edit),
        }
    }
    settled
}

/// Puts settled edits into a text.
pub(crate) fn apply(text: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut from = 0;
    for edit in edits {
        out.extend_from_slice(text.get(from..edit.place.start).unwrap_or_default());
        out.extend_from_slice(&edit.with);
        from = edit.place.end.max(from);
    }
    out.extend_from_slice(text.get(from..).unwrap_or_default());
    out
}
