//! An object at a moment in other forms: its conditions with their transitions, its owners and dependents, and
//! the bytes that the server sent.

use super::line::{Ink, LineTarget, PanelLine};
use super::object_at::{VersionAt, here, unread};
use crate::subject::NamedObject;
use crate::time::{CursorPlace, span_text};
use kubereel_cluster::{ClusterHistory, StateInterval, StateKind, StateTrack, StatusCondition};
use kubereel_format::{ResourceId, ResourceInfo, Seq};
use kubereel_history::{
    ColumnRoom, ObjectFilter, ObjectForm, OwnedObject, OwnedObjects, OwnerRef, Relatives,
    ResourceColumns, Timeline, harmless,
};
use kubereel_problems::is_judged_by_conditions;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How many versions are looked through for transitions.
const MOST_VERSIONS: usize = 500;

/// How many transitions of a condition show.
const MOST_TURNS: usize = 5;

/// Reads the lines.
pub(super) fn read_conditions(
    timeline: &Timeline,
    subject: &NamedObject,
    place: CursorPlace,
) -> Result<Vec<PanelLine>, Vec<PanelLine>> {
    let VersionAt {
        info,
        held,
        mut lines,
    } = here(timeline, subject, place)?;
    let object = match timeline.object(held.seq, info, ObjectForm::default()) {
        Ok(object) => object,
        Err(error) => {
            lines.push(unread(&error));
            return Err(lines);
        }
    };
    let conditions: Vec<StatusCondition<'_>> = StatusCondition::all(&object).collect();
    if conditions.is_empty() {
        let words = format!("{} has no conditions", subject.written(timeline));
        lines.push(PanelLine::of(Ink::Faint, words));
        return Ok(lines);
    }
    let versions = timeline.reel().versions(held.object);
    let next = versions.partition_point(|seq| *seq < place.below);
    let first = next.saturating_sub(MOST_VERSIONS);
    let seqs = versions.get(first..next).unwrap_or_default();
    let (tracks, unread) = ClusterHistory::of(timeline).states_over(info, held.object, seqs);
    for condition in conditions {
        let mut own = tracks.iter();
        let own = own.find(|track| track.aspect().condition() == Some(condition.kind));
        let kind = StateKind::of_resource(info);
        lines.extend(condition_lines(timeline, (kind, &condition), own, place));
    }
    if unread > 0 {
        let words = format!("░ {unread} unreadable versions: transitions may be missing");
        lines.push(PanelLine::of(Ink::Wary, words));
    }
    if first > 0 {
        let words = format!("transitions of the last {MOST_VERSIONS} versions");
        lines.push(PanelLine::of(Ink::Faint, words));
    }
    Ok(lines)
}

fn condition_lines(
    timeline: &Timeline,
    (kind, condition): (StateKind, &StatusCondition<'_>),
    track: Option<&StateTrack>,
    place: CursorPlace,
) -> Vec<PanelLine> {
    let runs = track.map(|track| track.runs(|state| Arc::clone(&state.status)));
    let runs = runs.unwrap_or_default();
    let since = since_text(timeline, condition, &runs, place);
    let of = |status: &str, reason: &str| {
        Ink::of_health(kind.condition_health(condition.kind, status, reason))
    };
    let health = of(condition.status, condition.reason);
    let head = PanelLine::of(Ink::Strong, format!("{}  ", harmless(condition.kind)))
        .and(health, harmless(condition.status))
        .and(health, health.sign())
        .and(Ink::Faint, since.unwrap_or_default());
    let mut lines = vec![head];
    if !condition.reason.is_empty() {
        let reason = format!("  {}", harmless(condition.reason));
        lines.push(PanelLine::of(Ink::Plain, reason));
    }
    for row in condition.message.lines() {
        lines.push(PanelLine::of(Ink::Plain, format!("    {}", harmless(row))));
    }
    let turns = runs.iter().zip(runs.iter().skip(1)).rev();
    for ((from, before), (to, run)) in turns.take(MOST_TURNS) {
        let Some(first) = run.first() else {
            continue;
        };
        let is_next = before
            .last()
            .is_some_and(|last| last.to == Some(first.from));
        let from = if is_next { from } else { "not reported" };
        let at = timeline.written(first.from.at);
        let health = of(to, &first.state.reason);
        let line = PanelLine::of(Ink::Faint, format!("    {at}  "))
            .and(Ink::Gone, harmless(from))
            .and(Ink::Faint, " → ")
            .and(health, harmless(to))
            .and(health, health.sign())
            .to(LineTarget::Version(first.from.seq));
        lines.push(line);
    }
    lines
}

/// Says since when a condition has its status: since the observed transition, else since the time that the object
/// gives itself, which has whole seconds.
fn since_text(
    timeline: &Timeline,
    condition: &StatusCondition<'_>,
    runs: &[(Arc<str>, Vec<StateInterval<'_>>)],
    place: CursorPlace,
) -> Option<String> {
    const SECOND: i64 = 1_000_000;
    if let [.., _, (status, run)] = runs
        && status.as_ref() == condition.status
        && let Some(first) = run.first()
    {
        let span = span_text(place.at.micros_since(first.from.at));
        let at = timeline.written(first.from.at);
        return Some(format!("  for {span}, since {at}"));
    }
    let at = condition.since()?;
    let whole = place.at.micros_since(at) / SECOND * SECOND;
    let span = if whole > 0 {
        span_text(whole)
    } else {
        "less than 1s".to_owned()
    };
    let at = timeline.written(at).replacen(".000", "", 1);
    Some(format!("  for {span}, since {at}"))
}

/// How deep the tree is followed.
const DEEPEST_OWNED: usize = 8;

/// How many objects show below.
const MOST_BELOW: usize = 500;

/// The columns that say what state an object is in, besides its age.
const STATE_COLUMNS: [&str; 9] = [
    "READY",
    "STATUS",
    "PHASE",
    "AVAILABLE",
    "UP-TO-DATE",
    "COMPLETIONS",
    "PROGRESSING",
    "DEGRADED",
    "CAPACITY",
];

/// What the tree is made with.
struct OwnerTree<'a> {
    timeline: &'a Timeline,
    place: CursorPlace,
    columns: BTreeMap<ResourceId, Option<ResourceColumns>>,
    below: BTreeMap<&'a str, Vec<&'a OwnedObject>>,
    shown: BTreeSet<Seq>,
    lines: Vec<PanelLine>,
    left_out: usize,
}

/// Reads the lines; the object itself is to be seen first.
pub(super) fn read_owners(
    timeline: &Timeline,
    subject: &NamedObject,
    place: CursorPlace,
) -> Result<(Vec<PanelLine>, usize), Vec<PanelLine>> {
    let VersionAt { info, held, lines } = here(timeline, subject, place)?;
    let both =
        Relatives::owners_of(timeline, held.seq, &held.namespace, place.cut()).and_then(|owners| {
            Ok((
                owners,
                OwnedObjects::of(timeline, &held.namespace, place.cut())?,
            ))
        });
    let (owners, owned) = match both {
        Ok(both) => both,
        Err(error) => {
            let mut lines = lines;
            lines.push(unread(&error));
            return Err(lines);
        }
    };
    let mut below: BTreeMap<&str, Vec<&OwnedObject>> = BTreeMap::new();
    for object in &owned.objects {
        for uid in &object.owner_uids {
            below.entry(uid.as_str()).or_default().push(object);
        }
    }
    let mut tree = OwnerTree {
        timeline,
        place,
        columns: BTreeMap::new(),
        below,
        shown: BTreeSet::new(),
        lines,
        left_out: 0,
    };
    if owners.is_empty() {
        tree.lines.push(PanelLine::of(Ink::Faint, "no owners"));
    }
    for owner in owners.iter().rev() {
        tree.owner(owner, &held.namespace);
    }
    let own = tree.lines.len();
    let (sign, ink) = tree.health(info, held.seq);
    let state = tree.state(info, held.seq);
    let name = subject.written(timeline);
    let line = PanelLine::of(Ink::Strong, "▶ ")
        .and(ink, sign)
        .and(Ink::Strong, name)
        .and(Ink::Faint, state);
    tree.lines.push(line);
    tree.shown.insert(held.seq);
    let uid = timeline
        .key_of(held.object)
        .map(|key| key.uid.text().into_owned());
    let count = tree.lines.len();
    tree.children(&uid.unwrap_or_default(), 1);
    if tree.lines.len() == count {
        tree.lines
            .push(PanelLine::of(Ink::Faint, "  no dependents"));
    }
    if tree.left_out > 0 {
        let words = format!("  and {} more", tree.left_out);
        tree.lines.push(PanelLine::of(Ink::Faint, words));
    }
    for (number, what) in [
        (owned.unsearched.resources, "resources unknown at this time"),
        (owned.unsearched.objects, "objects unreadable"),
    ] {
        if number > 0 {
            let words = format!("░ {number} {what}: dependents may be missing");
            tree.lines.push(PanelLine::of(Ink::Wary, words));
        }
    }
    Ok((tree.lines, own.saturating_sub(3)))
}

impl<'a> OwnerTree<'a> {
    fn owner(&mut self, owner: &OwnerRef, namespace: &str) {
        let kind = owner.kind.to_lowercase();
        let name = harmless(&format!("{kind} {}", owner.name)).into_owned();
        let controls = if owner.controller == Some(true) {
            ""
        } else {
            "  (not the controller)"
        };
        let line = PanelLine::of(Ink::Faint, "↑ ").and(Ink::Plain, name.clone());
        let line = match (owner.exists, self.found(owner, namespace)) {
            (Some(true), Some((subject, info, seq))) => {
                let state = self.state(info, seq);
                let (sign, ink) = self.health(info, seq);
                let line = PanelLine::of(Ink::Faint, "↑ ")
                    .and(ink, sign)
                    .and(Ink::Plain, name);
                line.and(Ink::Faint, state).to(LineTarget::Object(subject))
            }
            (Some(false), _) => line.and(Ink::Bad, "  not found"),
            _ => line.and(Ink::Wary, "  ░ not recorded"),
        };
        self.lines.push(line.and(Ink::Faint, controls));
    }

    /// Finds an owner that is known to exist.
    fn found(
        &self,
        owner: &OwnerRef,
        namespace: &str,
    ) -> Option<(NamedObject, &'a ResourceInfo, Seq)> {
        let api = owner.api_version.as_str();
        let (group, _) = api.split_once('/').unwrap_or(("", api));
        let timeline = self.timeline;
        let mut named = timeline.resources().iter();
        let named = named.find(|info| info.group == group && info.kind == owner.kind)?;
        let info = timeline.resource_at(named, self.place.cut());
        let only = [owner.name.clone()];
        let namespace = if info.namespaced { namespace } else { "" };
        let filter = ObjectFilter {
            namespace: info.namespaced.then_some(namespace),
            names: &only,
        };
        let state = timeline.as_of(info.id, self.place.cut(), &filter);
        let seq = state.objects.first()?.seq;
        let subject = NamedObject {
            resource: info.id,
            namespace: namespace.to_owned(),
            name: owner.name.clone(),
        };
        Some((subject, info, seq))
    }

    // The depth is bounded.
    fn children(&mut self, uid: &str, depth: usize) {
        if uid.is_empty() || depth > DEEPEST_OWNED {
            return;
        }
        for child in self.below.get(uid).cloned().unwrap_or_default() {
            if !self.shown.insert(child.held.seq) {
                continue;
            }
            if self.shown.len() > MOST_BELOW {
                self.left_out += 1;
                continue;
            }
            let Some(info) = self.timeline.resources().get(child.resource) else {
                continue;
            };
            let subject = NamedObject {
                resource: child.resource,
                namespace: child.held.namespace.clone(),
                name: child.held.name.clone(),
            };
            let state = self.state(info, child.held.seq);
            let indent = "  ".repeat(depth);
            let own = subject.kind(self.timeline);
            let name = harmless(&format!("{own} {}", subject.name)).into_owned();
            let (sign, ink) = self.health(info, child.held.seq);
            let line = PanelLine::of(Ink::Faint, format!("{indent}↓ "))
                .and(ink, sign)
                .and(Ink::Plain, name)
                .and(Ink::Faint, state)
                .to(LineTarget::Object(subject));
            self.lines.push(line);
            let key = self.timeline.key_of(child.held.object);
            let uid = key
                .map(|key| key.uid.text().into_owned())
                .unwrap_or_default();
            self.children(&uid, depth + 1);
        }
    }

    /// Gives the sign of how an object is, and its ink; blank where nobody knows what is good for it.
    fn health(&self, info: &ResourceInfo, seq: Seq) -> (String, Ink) {
        let kind = StateKind::of_resource(info);
        let object = self.timeline.object(seq, info, ObjectForm::default()).ok();
        let health = object.filter(|_| !kind.is_other() || is_judged_by_conditions(info));
        let health = health.and_then(|object| kind.whole(&object));
        let Some((health, _)) = health else {
            return (String::new(), Ink::Plain);
        };
        (format!("{} ", health.glyph()), Ink::of_health(Some(health)))
    }

    /// Says what state an object is in, and how old it is.
    fn state(&mut self, info: &ResourceInfo, seq: Seq) -> String {
        let (timeline, place) = (self.timeline, self.place);
        let columns = self.columns.entry(info.id).or_insert_with(|| {
            ResourceColumns::of(timeline, info, place.cut(), ColumnRoom::Narrow).ok()
        });
        let Some(columns) = columns else {
            return "  columns unreadable".to_owned();
        };
        let Ok(object) = timeline.object(seq, info, ObjectForm::default()) else {
            return "  unreadable".to_owned();
        };
        let mut told = String::new();
        let cells = columns.row(&object, place.at).into_iter();
        for (name, cell) in columns.names().into_iter().zip(cells) {
            if name == "AGE" {
                told.extend(["  ", &harmless(&cell), " old"]);
            } else if STATE_COLUMNS.contains(&name.as_str()) && !cell.is_empty() {
                told.extend(["  ", &name.to_lowercase(), " ", &harmless(&cell)]);
            }
        }
        told
    }
}

/// The deepest indentation, in levels: deeper nesting is hostile.
const DEEPEST_INDENT: usize = 64;

/// Reads the lines.
pub(super) fn read_raw(
    timeline: &Timeline,
    subject: &NamedObject,
    place: CursorPlace,
) -> Result<Vec<PanelLine>, Vec<PanelLine>> {
    let VersionAt {
        held, mut lines, ..
    } = here(timeline, subject, place)?;
    match timeline.reel().body(held.seq) {
        Ok(body) => {
            let words = format!(
                "{} bytes from the API server, formatted; S saves the original bytes",
                body.len()
            );
            lines.push(PanelLine::of(Ink::Faint, words));
            let text = String::from_utf8_lossy(&body);
            let rows = laid_out(&text);
            lines.extend(
                rows.iter()
                    .map(|row| PanelLine::of(Ink::Plain, harmless(row))),
            );
        }
        Err(error) => {
            let error = harmless(&error.to_string()).into_owned();
            lines.push(PanelLine::of(Ink::Wary, format!("cannot be read: {error}")));
        }
    }
    Ok(lines)
}

/// Breaks JSON into lines without understanding more of it than its brackets and texts.
fn laid_out(text: &str) -> Vec<String> {
    let mut rows = vec![String::new()];
    let (mut depth, mut is_text, mut is_escaped) = (0_usize, false, false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if is_text {
            push_letter(&mut rows, letter);
            is_text = letter != '"' || is_escaped;
            is_escaped = letter == '\\' && !is_escaped;
            continue;
        }
        match letter {
            '"' => {
                is_text = true;
                push_letter(&mut rows, letter);
            }
            '{' | '[' => {
                push_letter(&mut rows, letter);
                while letters.next_if(char::is_ascii_whitespace).is_some() {}
                if let Some(end) = letters.next_if(|next| matches!(next, '}' | ']')) {
                    push_letter(&mut rows, end);
                } else {
                    depth += 1;
                    begin_row(&mut rows, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                begin_row(&mut rows, depth);
                push_letter(&mut rows, letter);
            }
            ',' => {
                push_letter(&mut rows, letter);
                begin_row(&mut rows, depth);
            }
            ':' => {
                push_letter(&mut rows, letter);
                push_letter(&mut rows, ' ');
            }
            space if space.is_ascii_whitespace() => {}
            other => push_letter(&mut rows, other),
        }
    }
    rows
}

fn push_letter(rows: &mut [String], letter: char) {
    if let Some(row) = rows.last_mut() {
        row.push(letter);
    }
}

fn begin_row(rows: &mut Vec<String>, depth: usize) {
    rows.push("  ".repeat(depth.min(DEEPEST_INDENT)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_spelling_stay() {
        let text = r#"{"b":1.50,"a":{"x":[],"y": [true , "a\"{,\\"]},"c":{ }}"#;
        let expected = [
            "{",
            "  \"b\": 1.50,",
            "  \"a\": {",
            "    \"x\": [],",
            "    \"y\": [",
            "      true,",
            r#"      "a\"{,\\""#,
            "    ]",
            "  },",
            "  \"c\": {}",
            "}",
        ];
        assert_eq!(laid_out(text), expected);
    }

    #[test]
    fn what_is_no_json_is_shown_all_the_same() {
        assert_eq!(laid_out("").concat(), "");
        assert!(laid_out("]]]}{\"").concat().ends_with('"'));
        assert!(laid_out(&"[".repeat(10_000)).len() > 9_000);
    }
}
