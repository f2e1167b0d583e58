//! Marks of redacted values in two versions. Each session hashes what it redacts with a key of its own: of two
//! sessions, equal values have other hashes: other lengths prove a change, equal ones do not prove that there was none.

use crate::changes::{Change, ChangeKind, ComparisonScope};
use crate::timeline::Timeline;
use kubereel_format::{REDACTED, REDACTED_BASE64, Seq};
use serde_json::Value;
use std::borrow::Cow;

/// The mark of a part of a text.
const WORD: &str = "redacted-by-kubereel-";
/// The letters of a hash.
const HASH: usize = 16;

impl Timeline {
    /// Returns the differences of two versions. Whether a redacted value of two sessions changed is unknown, unless its
    /// length did.
    pub fn field_changes(
        &self,
        scope: &ComparisonScope,
        old: (Seq, &Value),
        new: (Seq, &Value),
    ) -> Vec<Change> {
        let all = scope.changes(old.1, new.1);
        if all.is_empty() || self.is_one_session(old.0, new.0) {
            return all;
        }
        let mut known = scope.changes(&without_hashes(old.1), &without_hashes(new.1));
        let is_one_version = self.is_one_version(old.0, new.0);
        let mut changes = Vec::new();
        for mut change in all {
            let place = known.iter().position(|one| one.path == change.path);
            match place {
                Some(place) => drop(known.remove(place)),
                None if is_one_version => continue,
                None => {
                    change.kind = ChangeKind::Unknown;
                    (change.old, change.new) = (None, None);
                }
            }
            changes.push(change);
        }
        // Without their hashes, the items of a list can have other partners.
        changes.extend(known);
        changes
    }

    /// Returns whether two records have one revision of an object: no value changed in between.
    pub(crate) fn is_one_version(&self, one: Seq, other: Seq) -> bool {
        let revision = |seq| self.reel().rv_of(seq);
        revision(one).is_some() && revision(one) == revision(other)
    }

    /// Returns whether one session of a recorder wrote two records.
    pub(crate) fn is_one_session(&self, one: Seq, other: Seq) -> bool {
        let number = |seq: Seq| {
            self.sessions()
                .partition_point(|session| session.first <= seq)
        };
        number(one) == number(other)
    }
}

/// Removes the hashes of the marks.
pub(crate) fn without_hashes(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(text_without_hashes(text).into_owned()),
        Value::Array(items) => items.iter().map(without_hashes).collect(),
        Value::Object(members) => {
            let members = members.iter();
            members
                .map(|(name, member)| (name.clone(), without_hashes(member)))
                .collect()
        }
        other => other.clone(),
    }
}

fn text_without_hashes(text: &str) -> Cow<'_, str> {
    // The values of a Secret are marks in base64, which end in the hash.
    if text.starts_with(REDACTED_BASE64) {
        let letters = text.trim_end_matches('=').len();
        let before_hash = (letters * 3 / 4).saturating_sub(HASH);
        return Cow::Borrowed(text.get(..before_hash * 4 / 3).unwrap_or(text));
    }
    let mut kept = Cow::Borrowed(text);
    for (begin, between) in [(REDACTED, " bytes, "), (WORD, "-bytes-")] {
        let mut from = 0;
        while let Some(place) = next_hash(&kept, from, begin, between) {
            from = place.start;
            kept.to_mut().replace_range(place, "");
        }
    }
    kept
}

/// Finds the hash of the next mark from a place on.
fn next_hash(
    text: &str,
    from: usize,
    begin: &str,
    between: &str,
) -> Option<std::ops::Range<usize>> {
    let mut from = from;
    loop {
        let number = from + text.get(from..)?.find(begin)? + begin.len();
        let rest = text.get(number..)?;
        let digits = rest.len()
            - rest
                .trim_start_matches(|letter: char| letter.is_ascii_digit())
                .len();
        let hash = number + digits + between.len();
        let is_mark = digits > 0
            && text.get(number + digits..hash) == Some(between)
            && text
                .get(hash..hash + HASH)
                .is_some_and(|hash| hash.bytes().all(|letter| letter.is_ascii_hexdigit()));
        if is_mark {
            return Some(hash..hash + HASH);
        }
        from = number;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_hashes_of_marks_are_removed() {
        let sentence = "redacted by kubereel: 8 bytes, d14d53700b1c0887";
        let word = "redacted-by-kubereel-14-bytes-23f794ef3f4b79bb";
        let before = json!({
            "value": sentence, "number": 1,
            "args": [format!("--token={word} --key={word}"), "redacted by kubereel: no mark"],
        });
        let after = json!({
            "value": "redacted by kubereel: 8 bytes, ", "number": 1,
            "args": ["--token=redacted-by-kubereel-14-bytes- --key=redacted-by-kubereel-14-bytes-",
                "redacted by kubereel: no mark"],
        });
        assert_eq!(without_hashes(&before), after);
    }

    #[test]
    fn marks_in_base64_are_equal_if_the_lengths_of_their_values_are() {
        // Of 8 bytes with two hashes, and of 10 bytes.
        let [one, other, longer] = [
            "cmVkYWN0ZWQgYnkga3ViZXJlZWw6IDggYnl0ZXMsIGQxNGQ1MzcwMGIxYzA4ODc=",
            "cmVkYWN0ZWQgYnkga3ViZXJlZWw6IDggYnl0ZXMsIGFhOWQ3NDVkY2Y2ZTBjZGU=",
            "cmVkYWN0ZWQgYnkga3ViZXJlZWw6IDEwIGJ5dGVzLCBkMTRkNTM3MDBiMWMwODg3",
        ];
        assert_eq!(text_without_hashes(one), text_without_hashes(other));
        assert_ne!(text_without_hashes(one), text_without_hashes(longer));
    }
}
