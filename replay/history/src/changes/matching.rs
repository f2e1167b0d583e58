//! Owns which item of a list is which item of its next version: by what identifies it, or else by the
//! longest run of equal items. Refuses to compare what it paired.
//!
//! The work is near-linear in the lists' sizes, whatever they hold: keys are looked up in a map, and
//! the alignment of other items gives up on the shortest answer before it gets expensive.

use super::keys::{self, Keys};
use super::path::Step;
use imara_diff::{Algorithm, Diff, InternedInput};
use serde_json::Value;
use std::collections::BTreeMap;

/// How many pairs of differing items are compared at most to find out which became which.
const MOST_CANDIDATES: usize = 1024;

/// An item of either list or of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    /// Its place in the old list.
    pub(crate) old: Option<usize>,
    /// Its place in the new list.
    pub(crate) new: Option<usize>,
    /// How a path names it.
    pub(crate) step: Step,
}

/// Two versions of a list, item by item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Matched {
    /// Every item once: those of the old list in its order, then those that are new.
    pub(crate) pairs: Vec<Pair>,
    /// Whether items that are in both lists changed places. Only asked of items with an identity.
    pub(crate) is_reordered: bool,
}

/// Pairs the items of two versions of a list.
pub(crate) fn matched(list: Option<&str>, old: &[Value], new: &[Value]) -> Matched {
    match keys::of(list, old, new) {
        Some((old, new)) => by_key(old, new),
        None => Matched {
            pairs: by_place(old, new),
            is_reordered: false,
        },
    }
}

fn by_key(old: Keys, new: Keys) -> Matched {
    let mut places: BTreeMap<_, usize> = new
        .into_iter()
        .enumerate()
        .map(|(at, key)| (key, at))
        .collect();
    let mut pairs = Vec::new();
    let mut is_reordered = false;
    let mut last = None;
    for (at, key) in old.into_iter().enumerate() {
        let place = places.remove(&key);
        is_reordered |= place.is_some() && place < last;
        last = last.max(place);
        pairs.push(Pair {
            old: Some(at),
            new: place,
            step: Step::Item(key),
        });
    }
    let mut added: Vec<Pair> = places
        .into_iter()
        .map(|(key, at)| Pair {
            old: None,
            new: Some(at),
            step: Step::Item(key),
        })
        .collect();
    added.sort_by_key(|pair| pair.new);
    pairs.append(&mut added);
    Matched {
        pairs,
        is_reordered,
    }
}

fn by_place(old: &[Value], new: &[Value]) -> Vec<Pair> {
    let mut input: InternedInput<String> = InternedInput::default();
    input.update_before(old.iter().map(Value::to_string));
    input.update_after(new.iter().map(Value::to_string));
    let diff = Diff::compute(Algorithm::Histogram, &input);
    let place = |at: u32| usize::try_from(at).unwrap_or(usize::MAX);
    let mut pairs = Vec::new();
    let (mut old_at, mut new_at) = (0, 0);
    for hunk in diff.hunks() {
        let (before, after) = (place(hunk.before.start), place(hunk.after.start));
        keep(&mut pairs, old_at..before, new_at..after);
        old_at = place(hunk.before.end);
        new_at = place(hunk.after.end);
        let differing = (
            old.get(before..old_at).unwrap_or_default(),
            new.get(after..new_at).unwrap_or_default(),
        );
        for (from, to) in became(differing.0, differing.1) {
            pairs.push(placed(from.map(|at| at + before), to.map(|at| at + after)));
        }
    }
    keep(&mut pairs, old_at..old.len(), new_at..new.len());
    pairs
}

fn keep(pairs: &mut Vec<Pair>, old: std::ops::Range<usize>, new: std::ops::Range<usize>) {
    pairs.extend(old.zip(new).map(|(from, to)| placed(Some(from), Some(to))));
}

fn placed(old: Option<usize>, new: Option<usize>) -> Pair {
    Pair {
        old,
        new,
        step: Step::Index(new.or(old).unwrap_or_default()),
    }
}

/// Says which of a run of items became which of the run that took its place, in order.
fn became(old: &[Value], new: &[Value]) -> Vec<(Option<usize>, Option<usize>)> {
    let is_small = old.len().saturating_mul(new.len()) <= MOST_CANDIDATES;
    if old.len() == new.len() && !(is_small && old.len() > 1) {
        return (0..old.len()).map(|at| (Some(at), Some(at))).collect();
    }
    if is_small {
        return alike(old, new);
    }
    let gone = (0..old.len()).map(|at| (Some(at), None));
    gone.chain((0..new.len()).map(|at| (None, Some(at))))
        .collect()
}

/// Pairs items so that most members stay equal; items that share nothing are not the same, unless
/// there are as many on both sides.
fn alike(old: &[Value], new: &[Value]) -> Vec<(Option<usize>, Option<usize>)> {
    let equal_count = old.len() == new.len();
    let score = |from: usize, to: usize| {
        let shared = old
            .get(from)
            .zip(new.get(to))
            .map_or(0, |(a, b)| shared_members(a, b) * 2);
        // As many as before: a text at the same place is the same item with a new value.
        shared + usize::from(equal_count && from == to)
    };
    let width = new.len() + 1;
    let mut best = vec![0usize; (old.len() + 1) * width];
    let get = |best: &[usize], i: usize, j: usize| best.get(i * width + j).copied().unwrap_or(0);
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let here = score(i, j);
            let paired = if here > 0 {
                here + get(&best, i + 1, j + 1)
            } else {
                0
            };
            let value = paired.max(get(&best, i + 1, j)).max(get(&best, i, j + 1));
            if let Some(slot) = best.get_mut(i * width + j) {
                *slot = value;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < old.len() || j < new.len() {
        let here = get(&best, i, j);
        let step = score(i, j);
        if i < old.len() && j < new.len() && step > 0 && here == step + get(&best, i + 1, j + 1) {
            pairs.push((Some(i), Some(j)));
            (i, j) = (i + 1, j + 1);
        } else if i < old.len() && (j >= new.len() || here == get(&best, i + 1, j)) {
            pairs.push((Some(i), None));
            i += 1;
        } else {
            pairs.push((None, Some(j)));
            j += 1;
        }
    }
    pairs
}

fn shared_members(a: &Value, b: &Value) -> usize {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => a
            .iter()
            .filter(|(name, value)| b.get(*name) == Some(value))
            .count(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pairs(old: &Value, new: &Value) -> Vec<(Option<usize>, Option<usize>)> {
        let items = |value: &Value| value.as_array().cloned().expect("a list");
        matched(None, &items(old), &items(new))
            .pairs
            .into_iter()
            .map(|pair| (pair.old, pair.new))
            .collect()
    }

    #[test]
    fn an_item_put_before_others_moves_none_of_them() {
        let a = json!({"state": "Completed", "version": "a"});
        let running = json!({"state": "Partial", "version": "b"});
        let done = json!({"state": "Completed", "version": "b"});
        assert_eq!(
            pairs(&json!([a]), &json!([running, a])),
            [(None, Some(0)), (Some(0), Some(1))]
        );
        assert_eq!(
            pairs(&json!([running, a]), &json!([done, a])),
            [(Some(0), Some(0)), (Some(1), Some(1))]
        );
        // Both at once: the older one is known by its version.
        let was = json!({"state": "Partial", "version": "a"});
        assert_eq!(
            pairs(&json!([was]), &json!([running, a])),
            [(Some(0), Some(0)), (None, Some(1))],
            "one member is shared either way: the first is taken"
        );
    }

    #[test]
    fn texts_are_aligned_and_keyed_items_looked_up() {
        assert_eq!(
            pairs(&json!(["a", "b", "c"]), &json!(["a", "c", "d"])),
            [
                (Some(0), Some(0)),
                (Some(1), None),
                (Some(2), Some(1)),
                (None, Some(2))
            ]
        );
        let old = json!([{"name": "a"}, {"name": "b"}]);
        let new = json!([{"name": "b"}, {"name": "c"}]);
        assert_eq!(
            pairs(&old, &new),
            [(Some(0), None), (Some(1), Some(0)), (None, Some(1))]
        );
    }

    #[test]
    fn a_change_of_order_is_noticed() {
        let items = |names: &[&str]| -> Vec<Value> {
            names.iter().map(|name| json!({"name": name})).collect()
        };
        let is_reordered =
            |old: &[&str], new: &[&str]| matched(None, &items(old), &items(new)).is_reordered;
        assert!(is_reordered(&["a", "b"], &["b", "a"]));
        assert!(!is_reordered(&["a", "b"], &["c", "a", "b"]));
        assert!(!is_reordered(&["a", "b", "c"], &["a", "c"]));
    }
}
