//! Owns an object as YAML at a moment, with what changed last marked and who set it. Refuses objects
//! that were not there: it says when they were.

use super::question::{Ink, Line};
use super::trust::trust;
use crate::model::{Place, Subject};
use kubereel_replay::{Blame, BlameSource, Filter, Timeline, harmless, timetext, yaml_lines};

/// Reads the lines; the first one that changed is to be seen first.
pub(super) fn read(timeline: &Timeline, subject: &Subject, place: Place) -> (Vec<Line>, usize) {
    let Some(info) = timeline.resources().get(subject.resource) else {
        return (
            vec![Line::of(Ink::Wary, "the reel knows no such resource")],
            0,
        );
    };
    let info = timeline.resource_at(info, place.cut());
    let only = [subject.name.clone()];
    let filter = Filter {
        namespace: info.namespaced.then_some(subject.namespace.as_str()),
        names: &only,
    };
    let state = timeline.as_of(info.id, place.cut(), &filter);
    let mut lines = Vec::new();
    if let Some(words) = trust(timeline, &state.certainty) {
        lines.push(Line::of(Ink::Wary, words));
    }
    let Some(held) = state.objects.first() else {
        lines.extend(absent(timeline, subject, place));
        return (lines, 0);
    };
    let blamed = match timeline.blame(info, held) {
        Ok(blamed) => blamed,
        Err(error) => {
            let error = harmless(&error.to_string()).into_owned();
            lines.push(Line::of(Ink::Wary, format!("it cannot be read: {error}")));
            return (lines, 0);
        }
    };
    if !blamed.unreadable.is_empty() {
        let words = "damaged: versions are missing, fields may be older than it says";
        lines.push(Line::of(Ink::Wary, words));
    }
    let versions = timeline.reel().versions(held.object);
    let is_first = versions.first() == Some(&held.seq);
    let mut first = None;
    for line in yaml_lines(&blamed.object) {
        let field = line.field.and_then(|at| blamed.fields.get(at));
        // The server's counter changes with every write, and says nothing.
        let counts = |field: &Blame| field.path.to_string() != "metadata.resourceVersion";
        let is_new = !is_first
            && field.is_some_and(counts)
            && field.is_some_and(|field| {
                matches!(field.source, BlameSource::Recorded { seq, .. } if seq == held.seq)
            });
        if is_new && first.is_none() {
            first = Some(lines.len());
        }
        let (mark, ink) = if is_new {
            ("▌ ", Ink::Changed)
        } else {
            ("  ", Ink::Plain)
        };
        let mut shown = Line::of(ink, mark).and(ink, harmless(&line.text));
        shown.aside = field.map_or_else(String::new, |field| aside(field, place));
        lines.push(shown);
    }
    (lines, first.map_or(0, |first| first.saturating_sub(2)))
}

/// Says who set a field, and how long before the cursor.
fn aside(field: &Blame, place: Place) -> String {
    let who: Vec<&str> = field
        .writers
        .iter()
        .map(|writer| writer.manager.as_str())
        .collect();
    let who = harmless(&who.join(",")).into_owned();
    let age = |at| {
        let micros = place.at.micros_since(at).max(0);
        timetext::span(u64::try_from(micros).unwrap_or(0))
    };
    match field.source {
        BlameSource::Recorded { at, .. } if at == place.at => format!("{who} now"),
        BlameSource::Recorded { at, .. } => format!("{who} {} ago", age(at)),
        // Older than the recording: who it was is known at best, when is not.
        _ => who,
    }
}

fn absent(timeline: &Timeline, subject: &Subject, place: Place) -> Vec<Line> {
    let at = place.written(timeline);
    let mut lines = vec![Line::of(
        Ink::Plain,
        format!("no {} at {at}", subject.written(timeline)),
    )];
    for life in timeline.lives(subject.resource, &subject.namespace, &subject.name) {
        let from = timeline.written(life.from);
        let to = life
            .to
            .map_or_else(|| "the end".to_owned(), |to| timeline.written(to));
        let words = if life.is_older_than_reel {
            format!("it was there before the recording, until {to}")
        } else {
            format!("it was there from {from} to {to}: press c or C")
        };
        lines.push(Line::of(Ink::Faint, words));
    }
    lines
}
