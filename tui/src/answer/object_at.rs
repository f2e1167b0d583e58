//! From an object's name to its version at a moment, or the lines that say why there is none.

use super::line::{Ink, PanelLine};
use crate::subject::NamedObject;
use crate::time::CursorPlace;
use kubereel_format::ResourceInfo;
use kubereel_history::{Certainty, ObjectFilter, ObjectVersion, QueryError, Timeline, harmless};

/// The version of an object at a moment.
pub(super) struct VersionAt<'a> {
    /// Its resource, as it was recorded then.
    pub(super) info: &'a ResourceInfo,
    /// The version.
    pub(super) held: ObjectVersion,
    /// What is wrong with the knowledge of the moment.
    pub(super) lines: Vec<PanelLine>,
}

/// Finds it; else gives the lines that say why there is none.
pub(super) fn here<'a>(
    timeline: &'a Timeline,
    subject: &NamedObject,
    place: CursorPlace,
) -> Result<VersionAt<'a>, Vec<PanelLine>> {
    let Some(info) = timeline.resources().get(subject.resource) else {
        return Err(vec![PanelLine::of(Ink::Wary, "resource not in this reel")]);
    };
    let info = timeline.resource_at(info, place.cut());
    let only = [subject.name.clone()];
    let filter = ObjectFilter {
        namespace: info.namespaced.then_some(subject.namespace.as_str()),
        names: &only,
    };
    let state = timeline.as_of(info.id, place.cut(), &filter);
    let words = trust(timeline, &state.certainty);
    let mut lines: Vec<PanelLine> = words
        .map(|words| PanelLine::of(Ink::Wary, words))
        .into_iter()
        .collect();
    if let Some(held) = state.objects.into_iter().next() {
        return Ok(VersionAt { info, held, lines });
    }
    lines.extend(absent(timeline, subject, place));
    Err(lines)
}

/// Says that something cannot be read.
pub(super) fn unread(error: &QueryError) -> PanelLine {
    let error = harmless(&error.to_string()).into_owned();
    PanelLine::of(Ink::Wary, format!("cannot be read: {error}"))
}

fn absent(timeline: &Timeline, subject: &NamedObject, place: CursorPlace) -> Vec<PanelLine> {
    let at = place.written(timeline);
    let words = format!("no {} at {at}", subject.written(timeline));
    let mut lines = vec![PanelLine::of(Ink::Plain, words)];
    for life in timeline.lives(subject.resource, &subject.namespace, &subject.name) {
        let (from, to) = (timeline.begin_words(&life), timeline.end_words(&life));
        let words = if life.is_older_than_reel {
            format!("existed before the recording, until {to}")
        } else {
            format!("existed from {from} to {to}: press c or C")
        };
        lines.push(PanelLine::of(Ink::Faint, words));
    }
    lines
}

/// Says what is wrong with the knowledge of a moment; `None` where it is whole.
pub(crate) fn trust(timeline: &Timeline, certainty: &Certainty) -> Option<String> {
    let at = |at| timeline.written(at);
    Some(match certainty {
        Certainty::Known { .. } | Certainty::ReadBack { .. } => return None,
        Certainty::Imported { .. } => "imported: completeness unknown".to_owned(),
        Certainty::InsideGap { gap } => format!(
            "unknown from {} to {}: {}",
            at(gap.from),
            at(gap.gap.to_time),
            gap.cause()
        ),
        Certainty::Unobserved { from, to, reason } => {
            let to = to.map_or_else(|| "the end".to_owned(), at);
            format!("not observed from {} to {to}: {reason}", at(*from))
        }
        Certainty::Blind { from, to, recorder } => {
            let to = to.map_or_else(|| "the end".to_owned(), at);
            format!(
                "{} from {} to {to}: showing the state before",
                recorder.no_watch(),
                at(*from)
            )
        }
        Certainty::NotCovered { detail, .. } => {
            format!("not recorded at this time {}", harmless(detail))
        }
        Certainty::BeforeFirst { first: Some(first) } => {
            format!("unknown before {}: not recorded yet", at(*first))
        }
        Certainty::BeforeFirst { first: None } => "unknown: never listed".to_owned(),
        Certainty::Damaged { damage } => {
            format!("the reel is damaged: {}", harmless(&damage.place))
        }
        Certainty::AfterLast { last } => format!("unknown after {}: the recording ends", at(*last)),
    })
}
