//! Owns the search of one text: what stands there, what is percent-encoded, what is base64, what is
//! JSON. Refuses objects, but for those within a text.

use super::coarse::{DEPTH_MOST, suspects};
use super::{authority, pattern, private_key, said};
use crate::base64;
use crate::edit::{self, Edit, Hint, Rule};
use crate::mark::{Marker, is_mark};
use crate::percent;
use crate::walk;
use regex::bytes::Regex;
use std::ops::Range;

/// What a search needs to know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    /// Makes the marks.
    pub(crate) marker: &'a Marker,
    /// The patterns of the user's own rules.
    pub(crate) extra: &'a [(String, Regex)],
    /// Whether places in objects are to be told.
    pub(crate) tells: bool,
}

impl Context<'_> {
    /// Makes an edit of a part of a text; none of what is a mark already.
    pub(crate) fn edit(
        &self,
        text: &[u8],
        place: Range<usize>,
        rule: impl Into<Rule>,
    ) -> Option<Edit> {
        let secret = text
            .get(place.clone())
            .filter(|secret| !secret.is_empty())?;
        (!is_mark(secret)).then(|| Edit {
            with: self.marker.word(secret).into_bytes(),
            hint: Hint::of(secret),
            rule: rule.into(),
            place,
            path: String::new(),
        })
    }

    /// Tells whether a text may hold a secret.
    pub(crate) fn suspects(&self, text: &[u8], depth: u8) -> bool {
        suspects(text, depth, self.extra)
    }
}

/// Finds the secrets in a text, settled.
pub(crate) fn find(context: Context<'_>, text: &[u8], depth: u8) -> Vec<Edit> {
    let mut edits = plain(context, text);
    if depth < DEPTH_MOST {
        edits.extend(percent_encoded(context, text, depth));
        edits.extend(base64_encoded(context, text, depth));
        edits.extend(walk::inner_json(context, text, depth));
    }
    edit::settle(edits, text, context.marker)
}

fn plain(context: Context<'_>, text: &[u8]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut push = |place, rule: Rule| edits.extend(context.edit(text, place, rule));
    for place in private_key::keys(text) {
        push(place, "private-key".into());
    }
    for (rule, place) in pattern::secrets(text) {
        push(place, rule.into());
    }
    for place in authority::credentials(text) {
        push(place, "url-credentials".into());
    }
    for place in said::values(text) {
        push(place, "named-value".into());
    }
    for (rule, pattern) in context.extra {
        for found in pattern.find_iter(text) {
            push(found.range(), rule.clone().into());
        }
    }
    edits
}

fn percent_encoded(context: Context<'_>, text: &[u8], depth: u8) -> Vec<Edit> {
    let Some(decoded) = percent::decode(text) else {
        return Vec::new();
    };
    let inner = find(context, &decoded.text, depth + 1);
    inner
        .into_iter()
        .filter_map(|edit| {
            Some(Edit {
                place: decoded.place(&edit.place)?,
                with: percent::encode(&edit.with),
                ..edit
            })
        })
        .collect()
}

fn base64_encoded(context: Context<'_>, text: &[u8], depth: u8) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut from = 0;
    for run in base64::runs(text) {
        // A line of a run that was taken with the lines before it.
        if run.range.start < from {
            continue;
        }
        let (place, digits) = base64::whole(text, &run);
        let Some((skip, with, inner)) = (0..4).find_map(|skip| {
            let digits = digits.get(skip..)?;
            let decoded = base64::decode(digits)?;
            if !context.suspects(&decoded, depth + 1) {
                return None;
            }
            let inner = find(context, &decoded, depth + 1);
            let first = inner.first()?.clone();
            let redacted = edit::apply(&decoded, &inner);
            let like = text.get(place.start + skip..place.end)?;
            Some((skip, base64::encode_like(&redacted, like), first))
        }) else {
            continue;
        };
        from = place.end;
        edits.push(Edit {
            place: place.start + skip..place.end,
            with: with.into_bytes(),
            path: String::new(),
            ..inner
        });
    }
    edits
}
