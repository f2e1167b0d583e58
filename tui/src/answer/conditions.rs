//! Owns the conditions of an object at a moment: what they say, since when, and how they turned before.
//! Refuses to judge them: `True` is good for one and bad for another.

use super::here::{Here, here, unread};
use super::line::{Ink, Line, Target};
use crate::model::{Place, Subject};
use kubereel_format::{RecordedAt, Seq};
use kubereel_history::{ObjectForm, Timeline, harmless, timetext};
use serde_json::Value;
use std::collections::BTreeMap;

/// How many versions are looked through for transitions.
const MOST_VERSIONS: usize = 500;

/// How many transitions of a condition show.
const MOST_TURNS: usize = 5;

/// One transition.
struct Turn {
    seq: Seq,
    at: RecordedAt,
    from: Option<String>,
    to: String,
}

/// Reads the lines.
pub(super) fn read(timeline: &Timeline, subject: &Subject, place: Place) -> Vec<Line> {
    let (info, held, mut lines) = match here(timeline, subject, place) {
        Ok(Here { info, held, lines }) => (info, held, lines),
        Err(lines) => return lines,
    };
    let object = match timeline.object(held.seq, info, ObjectForm::default()) {
        Ok(object) => object,
        Err(error) => {
            lines.push(unread(&error));
            return lines;
        }
    };
    let conditions = conditions(&object);
    if conditions.is_empty() {
        let words = format!("{} has no conditions", subject.written(timeline));
        lines.push(Line::of(Ink::Faint, words));
        return lines;
    }
    let versions = timeline.reel().versions(held.object);
    let next = versions.partition_point(|seq| *seq < place.below);
    let first = next.saturating_sub(MOST_VERSIONS);
    let seqs = versions.get(first..next).unwrap_or_default();
    let (turns, unread) = turns(timeline, info, seqs);
    for condition in conditions {
        lines.extend(told(timeline, condition, &turns, place));
    }
    if unread > 0 {
        let words = format!("░ {unread} versions cannot be read: transitions may be missing");
        lines.push(Line::prose(Ink::Wary, words));
    }
    if first > 0 {
        let words = format!("transitions are those of the last {MOST_VERSIONS} versions");
        lines.push(Line::prose(Ink::Faint, words));
    }
    lines
}

fn conditions(object: &Value) -> Vec<&Value> {
    let all = object
        .pointer("/status/conditions")
        .and_then(Value::as_array);
    all.into_iter()
        .flatten()
        .filter(|one| one.is_object())
        .collect()
}

fn text<'a>(condition: &'a Value, member: &str) -> &'a str {
    let text = condition.get(member).and_then(Value::as_str);
    text.unwrap_or_default()
}

/// Finds how each condition turned, and how many versions could not be read.
fn turns(
    timeline: &Timeline,
    info: &kubereel_format::ResourceInfo,
    seqs: &[Seq],
) -> (BTreeMap<String, Vec<Turn>>, usize) {
    let mut turns: BTreeMap<String, Vec<Turn>> = BTreeMap::new();
    let mut unread = 0;
    for seq in seqs {
        let Ok(object) = timeline.object(*seq, info, ObjectForm::default()) else {
            unread += 1;
            continue;
        };
        for condition in conditions(&object) {
            let own = turns.entry(text(condition, "type").to_owned()).or_default();
            let to = text(condition, "status");
            let last = own.last().map(|turn| turn.to.as_str());
            if last != Some(to) {
                let turn = Turn {
                    seq: *seq,
                    at: Place::behind(timeline, *seq).at,
                    from: last.map(str::to_owned),
                    to: to.to_owned(),
                };
                own.push(turn);
            }
        }
    }
    (turns, unread)
}

fn told(
    timeline: &Timeline,
    condition: &Value,
    turns: &BTreeMap<String, Vec<Turn>>,
    place: Place,
) -> Vec<Line> {
    let shown = |member: &str| harmless(text(condition, member)).into_owned();
    let since = timetext::parsed(text(condition, "lastTransitionTime"));
    let since = since.map(|at| {
        let micros = place.at.micros_since(at).max(0);
        let span = timetext::span(u64::try_from(micros).unwrap_or(0));
        format!("  for {span}, since {}", timeline.written(at))
    });
    let head = Line::of(Ink::Strong, format!("{}  ", shown("type")))
        .and(Ink::Changed, shown("status"))
        .and(Ink::Faint, since.unwrap_or_default());
    let mut lines = vec![head];
    if !text(condition, "reason").is_empty() {
        lines.push(Line::of(Ink::Plain, format!("  {}", shown("reason"))));
    }
    for row in text(condition, "message").lines() {
        lines.push(Line::prose(Ink::Plain, format!("    {}", harmless(row))));
    }
    let own = turns.get(text(condition, "type")).map(Vec::as_slice);
    let turned = own.unwrap_or_default().iter().rev();
    let turned = turned.filter_map(|turn| Some((turn, turn.from.as_ref()?)));
    for (turn, from) in turned.take(MOST_TURNS) {
        let at = timeline.written(turn.at);
        let line = Line::of(Ink::Faint, format!("    {at}  "))
            .and(Ink::Gone, harmless(from))
            .and(Ink::Faint, " → ")
            .and(Ink::Changed, harmless(&turn.to))
            .to(Target::Version(turn.seq));
        lines.push(line);
    }
    lines
}
