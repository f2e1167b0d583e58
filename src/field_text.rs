//! How changed fields and field managers are shown, as text and in JSON. `history` finds the changes.

use crate::screen::{Style, StyledLine};
use crate::words::number;
use kubereel_cluster::{StateHealth, VersionChanges};
pub(crate) use kubereel_history::managers;
use kubereel_history::{
    Authors, Change, ChangeKind, FieldStep, FieldWriter, SegmentKind, timetext, words,
};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// How many changed fields are shown to people at once; JSON has all.
const SHOWN_FIELDS: usize = 200;
/// How many letters of a value are shown to people; JSON has all.
const SHOWN_LETTERS: usize = 2000;
/// Texts at least this long, in bytes, are compared word by word.
const WORDY: usize = 24;
/// Paths wider than this are not aligned with.
const WIDEST_PATH: usize = 64;
const INDENT: usize = 4;

/// Where later rows of a broken line begin.
pub(crate) const HANG: usize = 8;

/// Writes a line for each changed field.
pub(crate) fn lines(changes: VersionChanges<'_>) -> Vec<StyledLine> {
    let mut shown: Vec<Change> = Vec::new();
    let mut rest = 0;
    for change in changes.all() {
        let room = SHOWN_FIELDS.saturating_sub(shown.len());
        if room == 0 {
            rest += 1;
            continue;
        }
        let leaves = change.leaves(room);
        rest += leaves.rest;
        shown.extend(said_once(leaves.first));
    }
    let paths: Vec<String> = shown.iter().map(|leaf| leaf.path.to_string()).collect();
    let width = paths
        .iter()
        .map(|path| path.chars().count())
        .filter(|width| *width <= WIDEST_PATH)
        .max()
        .unwrap_or(0);
    let mut lines: Vec<StyledLine> = shown
        .iter()
        .zip(&paths)
        .map(|(leaf, path)| {
            let mut line = StyledLine::of(Style::Plain, " ".repeat(INDENT));
            line.push(Style::Plain, format!("{path:<width$}  "));
            push_values(&mut line, leaf, new_style(changes.health(leaf)));
            line
        })
        .collect();
    if rest > 0 {
        let mut line = StyledLine::default();
        let rest = number(rest);
        line.push(Style::Faint, format!("    … {rest} more fields: -o json"));
        lines.push(line);
    }
    lines
}

/// Leaves out what its item is known by, `conditions[Ready].type`, where more is said of the item.
fn said_once(mut leaves: Vec<Change>) -> Vec<Change> {
    let mut spoken_of: BTreeSet<Vec<FieldStep>> = BTreeSet::new();
    for leaf in leaves.iter().filter(|leaf| !is_key(leaf)) {
        let steps = leaf.path.steps();
        for (at, step) in steps.iter().enumerate() {
            if matches!(step, FieldStep::Item(_)) {
                spoken_of.extend(steps.get(..=at).map(<[FieldStep]>::to_vec));
            }
        }
    }
    leaves.retain(|leaf| {
        let item = leaf.path.steps().split_last().map(|(_, item)| item);
        !(is_key(leaf) && item.is_some_and(|item| spoken_of.contains(item)))
    });
    leaves
}

/// Tells whether a leaf is what its item is known by.
fn is_key(leaf: &Change) -> bool {
    let is_named = matches!(
        leaf.path.steps(),
        [.., FieldStep::Item(parts), FieldStep::Member(last)] if parts.iter().any(|part| part.name == *last)
    );
    is_named && leaf.kind != ChangeKind::Changed
}

/// Gives the colour of a new value: green is healthy and red is not, and nothing else is either.
const fn new_style(health: Option<StateHealth>) -> Style {
    match health {
        Some(StateHealth::Good) => Style::Good,
        Some(StateHealth::Bad | StateHealth::Down) => Style::Bad,
        _ => Style::Strong,
    }
}

fn push_values(line: &mut StyledLine, change: &Change, new_style: Style) {
    match (change.kind, &change.old, &change.new) {
        (ChangeKind::Unknown, ..) => {
            let words = "may have changed: redacted in two sessions of the recorder";
            line.push(Style::Wary, words);
        }
        (ChangeKind::Reordered, Some(old), Some(new)) => {
            line.push(Style::Plain, format!("order {} → {}", list(old), list(new)));
        }
        (_, Some(Value::String(old)), Some(Value::String(new))) if is_wordy(old, new) => {
            push_words(line, old, new, new_style);
        }
        (_, Some(old), Some(new)) => {
            line.push(Style::Plain, format!("{} → ", plain(old)));
            line.push(new_style, plain(new));
        }
        (_, Some(old), None) => line.push(Style::Faint, format!("- {}", plain(old))),
        (_, None, Some(new)) => line.push(new_style, format!("+ {}", plain(new))),
        (_, None, None) => {}
    }
}

fn is_wordy(old: &str, new: &str) -> bool {
    let has_words = |text: &str| text.contains(char::is_whitespace);
    old.len().min(new.len()) >= WORDY && has_words(old) && has_words(new)
}

/// Writes two texts as one: `[-gone-]{+new+}`, or one after the other if they share too little.
fn push_words(line: &mut StyledLine, old: &str, new: &str, new_style: Style) {
    let segments = words(old, new);
    let kept: usize = segments
        .iter()
        .filter(|segment| segment.kind == SegmentKind::Kept)
        .map(|segment| segment.text.len())
        .sum();
    if kept * 2 < old.len().min(new.len()) {
        line.push(Style::Faint, format!("- {}", quoted(old)));
        line.push(Style::Plain, " ");
        line.push(new_style, format!("+ {}", quoted(new)));
        return;
    }
    line.push(Style::Plain, "\"");
    for segment in segments {
        match segment.kind {
            SegmentKind::Kept => line.push(Style::Plain, shortened(segment.text)),
            SegmentKind::Removed => {
                line.push(Style::Faint, format!("[-{}-]", shortened(segment.text)));
            }
            SegmentKind::Added => {
                line.push(new_style, format!("{{+{}+}}", shortened(segment.text)));
            }
        }
    }
    line.push(Style::Plain, "\"");
}

/// Writes a value in one line: words as they are, all else as JSON.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) if is_plain(text) => text.clone(),
        Value::String(text) => quoted(text),
        other => shortened(&other.to_string()),
    }
}

/// Tells whether a text can be taken for nothing but itself without quotes.
fn is_plain(text: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || "-_.:/@+=".contains(letter);
    !text.is_empty()
        && text.chars().all(is_word)
        && serde_json::from_str::<Value>(text).is_err()
        && text.chars().count() <= SHOWN_LETTERS
}

fn quoted(text: &str) -> String {
    shortened(&Value::from(text).to_string())
}

fn shortened(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(SHOWN_LETTERS) else {
        return text.to_owned();
    };
    let (shown, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    format!(
        "{shown}… ({} more letters: -o json)",
        number(rest.chars().count())
    )
}

fn list(value: &Value) -> String {
    let items = value.as_array().into_iter().flatten();
    let items: Vec<String> = items.map(plain).collect();
    shortened(&items.join(", "))
}

/// A changed field, for programs; `old` and `new` are absent where there is no value.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FieldChangeOutput {
    path: String,
    change: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    old: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<Value>,
}

impl FieldChangeOutput {
    pub(crate) fn all(changes: &[Change]) -> Vec<Self> {
        let one = |change: &Change| Self {
            path: change.path.to_string(),
            change: change.kind.as_str(),
            old: change.old.clone(),
            new: change.new.clone(),
        };
        changes.iter().map(one).collect()
    }
}

/// A field manager that wrote a version, for programs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct FieldWriterOutput {
    manager: String,
    operation: String,
    subresource: String,
    time: Option<String>,
}

impl FieldWriterOutput {
    pub(crate) fn all(writers: &[FieldWriter]) -> Vec<Self> {
        let one = |writer: &FieldWriter| Self {
            manager: writer.manager.clone(),
            operation: writer.operation.clone(),
            subresource: writer.subresource.clone(),
            time: writer.at.map(timetext::rfc3339),
        };
        writers.iter().map(one).collect()
    }

    /// Gives the writers of a version; `None` if they are unknown.
    pub(crate) fn of(authors: &Authors) -> Option<Vec<Self>> {
        match authors {
            Authors::Unknown => None,
            known => Some(Self::all(known.writers())),
        }
    }
}

/// Converts microseconds to seconds.
pub(crate) fn secs(micros: i64) -> f64 {
    let length = length_secs(micros.unsigned_abs());
    if micros < 0 { -length } else { length }
}

/// Converts a length in microseconds to seconds.
#[expect(clippy::expect_used, reason = "digits around a point are a number")]
pub(crate) fn length_secs(micros: u64) -> f64 {
    let text = format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000);
    text.parse().expect("digits around a point are a number")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Paint;
    use kubereel_cluster::StateKind;
    use kubereel_history::ComparisonScope;
    use serde_json::{Map, json};

    fn shown(old: &Value, new: &Value) -> Vec<String> {
        let changes = ComparisonScope::default().changes(old, new);
        let paint = Paint::for_output(false);
        lines(VersionChanges::of(StateKind::UNKNOWN, &changes))
            .iter()
            .flat_map(|line| line.rows(None, HANG, paint))
            .collect()
    }

    #[test]
    fn each_kind_of_change_says_what_it_is_without_colours() {
        let old = json!({
            "a": "False", "gone": 1, "text": "5 of 118 manifests are done by now", "n": "x",
            "c": [{"name": "a"}, {"name": "b"}], "other": "no word of this one will stay the same",
        });
        let new = json!({
            "a": "True", "new": {"b": "two words"}, "text": "6 of 118 manifests are done by now", "n": "1",
            "c": [{"name": "b"}, {"name": "a"}], "other": "everything that follows here differs, all of it",
        });
        let expected = [
            "    a      False → True",
            "    c      order a, b → b, a",
            "    gone   - 1",
            "    n      x → \"1\"",
            "    new.b  + \"two words\"",
            "    other  - \"no word of this one will stay the same\" + \"everything that follows here differs, all of it\"",
            "    text   \"[-5-]{+6+} of 118 manifests are done by now\"",
        ];
        assert_eq!(shown(&old, &new), expected);
    }

    #[test]
    fn a_new_value_is_red_or_green_by_what_it_means() {
        let paint = Paint::with_colours();
        let shown = |old: &Value, new: &Value| {
            let changes = ComparisonScope::default().changes(old, new);
            let lines = lines(VersionChanges::of(StateKind::UNKNOWN, &changes));
            let rows = lines.iter().flat_map(|line| line.rows(None, HANG, paint));
            rows.collect::<Vec<_>>().join("\n")
        };
        let object = |status: &str| json!({"status": {"conditions": [{"type": "Degraded", "status": status}]}});
        let turned_bad = shown(&object("False"), &object("True"));
        assert!(turned_bad.ends_with(&paint.bad("True")), "{turned_bad}");
        let turned_good = shown(&object("True"), &object("False"));
        assert!(turned_good.ends_with(&paint.good("False")), "{turned_good}");
        // What came and what went is neither.
        let text = |word: &str| json!({"a": word, "t": format!("{word} words of a longer text")});
        let mut new = text("two");
        new["b"] = json!("x");
        let other = shown(&text("one"), &new);
        for colour in [paint.bad("|"), paint.good("|")] {
            let begin = colour.split('|').next().expect("a colour");
            assert!(!begin.is_empty() && !other.contains(begin), "{other}");
        }
    }

    #[test]
    fn what_an_item_is_known_by_is_said_where_nothing_else_is() {
        let new = json!({"taints": [
            {"key": "a", "effect": "NoSchedule"},
            {"key": "b", "effect": "NoSchedule", "timeAdded": "now"},
        ]});
        let expected = [
            "    taints[key=a,effect=NoSchedule].effect     + NoSchedule",
            "    taints[key=a,effect=NoSchedule].key        + a",
            "    taints[key=b,effect=NoSchedule].timeAdded  + now",
        ];
        assert_eq!(shown(&json!({"taints": []}), &new), expected);
        assert_eq!(shown(&json!({}), &new), expected);
    }

    #[test]
    fn very_many_fields_and_very_long_values_are_cut_for_people() {
        let many: Map<String, Value> = (0..1000).map(|at| (format!("k{at}"), json!(at))).collect();
        let lines = shown(&json!({}), &json!({"m": many}));
        assert_eq!(lines.len(), SHOWN_FIELDS + 1);
        let expected = "    … 800 more fields: -o json";
        assert_eq!(lines.last().expect("a line"), expected);
        let long = "x".repeat(SHOWN_LETTERS + 10);
        let lines = shown(&json!({}), &json!({"m": long}));
        assert!(
            lines[0].ends_with("… (12 more letters: -o json)"),
            "{}",
            lines[0]
        );
    }
}
