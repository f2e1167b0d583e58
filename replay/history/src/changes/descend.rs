//! Owns the way along an asked field into two versions at once. Refuses to compare: it hands over
//! what stands at the field's end.

use super::compare::Comparison;
use super::field::Want;
use super::path::Step;
use serde_json::{Map, Value};

impl Comparison<'_> {
    /// Follows a field's steps from the current path and compares what stands at their end.
    // The depth is bounded by that of the values: every level goes one deeper into one of them.
    pub(super) fn descend(&mut self, old: Option<&Value>, new: Option<&Value>, wants: &[Want]) {
        let Some((want, rest)) = wants.split_first() else {
            self.compare(old, new);
            return;
        };
        let members = (
            old.and_then(Value::as_object),
            new.and_then(Value::as_object),
        );
        for name in names(want, members.0, members.1) {
            self.path.push(Step::Member(name.to_owned()));
            self.descend(
                members.0.and_then(|members| members.get(name)),
                members.1.and_then(|members| members.get(name)),
                rest,
            );
            self.path.pop();
        }
        let (before, after) = (items(old), items(new));
        for pair in self.matched(before, after).pairs {
            let old = pair.old.and_then(|at| before.get(at));
            let new = pair.new.and_then(|at| after.get(at));
            let rest = match want {
                // `containers.image` is the image of every container, as kubectl explain writes it.
                Want::Member(_) => wants,
                want if want.takes_item(&pair.step, pair.new.or(pair.old), new.or(old)) => rest,
                _ => continue,
            };
            self.path.push(pair.step);
            self.descend(old, new, rest);
            self.path.pop();
        }
    }
}

fn items(value: Option<&Value>) -> &[Value] {
    value
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// Gives the members that a step goes to, in either version.
fn names<'a>(
    want: &'a Want,
    old: Option<&'a Map<String, Value>>,
    new: Option<&'a Map<String, Value>>,
) -> Vec<&'a str> {
    let all = || old.into_iter().chain(new).flat_map(Map::keys);
    match want {
        Want::Member(name) | Want::Named(name) => {
            let is_there = all().any(|known| known == name);
            is_there.then_some(name.as_str()).into_iter().collect()
        }
        Want::Every => {
            let mut names: Vec<&str> = all().map(String::as_str).collect();
            names.sort_unstable();
            names.dedup();
            names
        }
        Want::Place(_) | Want::Where(_) => Vec::new(),
    }
}
