//! Owns the way from an object's name to the version of it that held at a moment. Refuses objects that
//! were not there: it says when they were.

use super::line::{Ink, Line};
use super::trust::trust;
use crate::model::{Place, Subject};
use kubereel_format::ResourceInfo;
use kubereel_history::{ObjectFilter, ObjectVersion, QueryError, Timeline, harmless};

/// The version of an object that held at a moment.
pub(super) struct Here<'a> {
    /// Its resource, as it was recorded then.
    pub(super) info: &'a ResourceInfo,
    /// The version.
    pub(super) held: ObjectVersion,
    /// What is wrong with the knowledge of the moment.
    pub(super) lines: Vec<Line>,
}

/// Finds it; else gives the lines that say why there is none.
pub(super) fn here<'a>(
    timeline: &'a Timeline,
    subject: &Subject,
    place: Place,
) -> Result<Here<'a>, Vec<Line>> {
    let Some(info) = timeline.resources().get(subject.resource) else {
        return Err(vec![Line::of(Ink::Wary, "the reel knows no such resource")]);
    };
    let info = timeline.resource_at(info, place.cut());
    let only = [subject.name.clone()];
    let filter = ObjectFilter {
        namespace: info.namespaced.then_some(subject.namespace.as_str()),
        names: &only,
    };
    let state = timeline.as_of(info.id, place.cut(), &filter);
    let words = trust(timeline, &state.certainty);
    let mut lines: Vec<Line> = words
        .map(|words| Line::prose(Ink::Wary, words))
        .into_iter()
        .collect();
    if let Some(held) = state.objects.into_iter().next() {
        return Ok(Here { info, held, lines });
    }
    lines.extend(absent(timeline, subject, place));
    Err(lines)
}

/// Says that something cannot be read.
pub(super) fn unread(error: &QueryError) -> Line {
    let error = harmless(&error.to_string()).into_owned();
    Line::prose(Ink::Wary, format!("it cannot be read: {error}"))
}

fn absent(timeline: &Timeline, subject: &Subject, place: Place) -> Vec<Line> {
    let at = place.written(timeline);
    let words = format!("no {} at {at}", subject.written(timeline));
    let mut lines = vec![Line::of(Ink::Plain, words)];
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
