//! The times that lanes show as unknown: the spans in which a resource was not observed, with words for a
//! narrow screen, one at a time.

use crate::subject::NamedObject;
use crate::time::CursorPlace;
use kubereel_format::{Loss, RecordedAt, ResourceId, Seq};
use kubereel_history::{
    Coverage, ObjectFilter, Timeline, UnobservedEffect, UnobservedReason, UnobservedSpan, harmless,
};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// A time whose state is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DarkSpan {
    /// From when to when.
    pub(crate) span: Range<RecordedAt>,
    /// Whether the moment at which it begins is still known.
    pub(crate) is_begin_known: bool,
    /// Why.
    pub(crate) why: String,
    /// What it does to an answer.
    pub(crate) effect: UnobservedEffect,
    /// Whether it is an outage of the API, which has a lane of its own.
    pub(crate) is_outage: bool,
    /// The resource, among the spans of all: where no other one is unknown in the span.
    pub(crate) only: Option<String>,
}

impl DarkSpan {
    /// Gives the first moment that is not known.
    pub(crate) fn first_moment(&self) -> RecordedAt {
        let known_micros = i64::from(self.is_begin_known);
        RecordedAt::from_micros(self.span.start.micros.saturating_add(known_micros))
    }

    /// Tells whether it holds a moment.
    pub(crate) fn holds(&self, at: RecordedAt) -> bool {
        (self.first_moment()..self.span.end).contains(&at)
    }

    /// Tells whether it is what damage took from the end: how long that was is not known.
    pub(crate) fn is_behind_end(&self, timeline: &Timeline) -> bool {
        self.span.start >= timeline.end()
    }

    /// Tells whether what happened then came later, so that nothing is missing.
    pub(crate) fn is_blind(&self) -> bool {
        self.effect == UnobservedEffect::Late
    }
}

/// Gives when nothing is known of some resource, in order of time.
pub(crate) fn all_dark(timeline: &Timeline) -> Vec<DarkSpan> {
    let mut all = Vec::new();
    for info in timeline.resources().iter() {
        let name = harmless(&info.qualified()).into_owned();
        // What comes later is not dark, nor what is no longer served: it was not there.
        let spans = timeline.unobserved_spans(info.id).iter();
        let own = dark_in(timeline, spans).into_iter().filter(|dark| {
            dark.span.start > timeline.start()
                && dark.effect != UnobservedEffect::NoState
                && !dark.is_outage
        });
        all.extend(own.map(|dark| DarkSpan {
            only: Some(name.clone()),
            ..dark
        }));
    }
    all.sort_by_key(|dark| (dark.span.start, dark.span.end));
    let starts: Vec<RecordedAt> = all.iter().map(|dark| dark.span.start).collect();
    let mut reached = None;
    for (at, dark) in all.iter_mut().enumerate() {
        let next = starts.get(at.saturating_add(1));
        // Those of one resource do not overlap.
        if reached > Some(dark.span.start) || next.is_some_and(|next| *next < dark.span.end) {
            dark.only = None;
        }
        reached = reached.max(Some(dark.span.end));
    }
    all
}

/// Gives the periods of which spans of all resources, in order of time, are parts: those that overlap are one, such as
/// the end of a recorder for each resource. A period in which anything is missing is not only late.
pub(crate) fn dark_periods(all: &[DarkSpan]) -> impl DoubleEndedIterator<Item = DarkSpan> {
    let mut periods: Vec<DarkSpan> = Vec::new();
    for dark in all {
        match periods.last_mut() {
            Some(last) if dark.span.start < last.span.end => {
                last.span.end = last.span.end.max(dark.span.end);
                if last.is_blind() && !dark.is_blind() {
                    (last.effect, last.why) = (dark.effect, dark.why.clone());
                }
            }
            _ => periods.push(dark.clone()),
        }
    }
    periods.into_iter()
}

/// Gives when nothing is known of a resource, in order of time and without overlap. Which objects have unreadable
/// versions is known: those hide nothing of the others.
pub(crate) fn dark_of(timeline: &Timeline, resource: ResourceId) -> Vec<DarkSpan> {
    let spans = timeline.unobserved_spans(resource).iter();
    dark_in(timeline, spans.filter(|span| !span.is_of_bodies()))
}

fn dark_in<'a>(
    timeline: &Timeline,
    spans: impl Iterator<Item = &'a UnobservedSpan>,
) -> Vec<DarkSpan> {
    let mut all: Vec<DarkSpan> = Vec::new();
    let mut known_to = timeline.start();
    for span in spans {
        let to = if span.is_open() {
            beyond(timeline)
        } else {
            span.to
        };
        // Where two overlap, the lane shows the earlier one.
        let from = span.from.max(known_to);
        known_to = known_to.max(to);
        if from < to {
            let place = CursorPlace::at(timeline, from);
            all.push(DarkSpan {
                span: from..to,
                is_begin_known: !span.holds(place.below, place.at),
                why: words(timeline, span),
                effect: span.reason.effect(),
                is_outage: span.reason == UnobservedReason::NoAnswer,
                only: None,
            });
        }
    }
    all
}

/// Gives when nothing is known of one object of a resource: when nothing is known of the resource, unless the object is
/// known to have been the same all the time; and what damage hides of it, from a version that cannot be read to the next
/// one that can, and from lost records to what shows it again. `unread` are the first and the last event of each part
/// whose objects cannot be read.
pub(crate) fn dark_of_object(
    timeline: &Timeline,
    subject: &NamedObject,
    dark: &Arc<[DarkSpan]>,
    unread: &[(Seq, Seq)],
) -> Arc<[DarkSpan]> {
    let names = [subject.name.clone()];
    let filter = ObjectFilter {
        namespace: Some(&subject.namespace),
        names: &names,
    };
    let spans = timeline.unobserved_spans(subject.resource).iter();
    let spans: Vec<&UnobservedSpan> = spans.filter(|span| !span.is_of_bodies()).collect();
    let is_concerned = |span: &&UnobservedSpan| timeline.concerns(span, &filter);
    let own: Vec<&UnobservedSpan> = spans.iter().copied().filter(is_concerned).collect();
    let dark = if own.len() == spans.len() {
        Arc::clone(dark)
    } else {
        dark_in(timeline, own.into_iter()).into()
    };
    let mut hidden = unread_versions(timeline, subject, unread);
    hidden.extend(lost_records(timeline, subject));
    if hidden.is_empty() {
        return dark;
    }
    let hidden = hidden.into_iter().map(|(span, why)| DarkSpan {
        span,
        is_begin_known: false,
        why: why.to_owned(),
        effect: UnobservedEffect::MayMiss,
        is_outage: false,
        only: None,
    });
    let mut all: Vec<DarkSpan> = dark.iter().cloned().chain(hidden).collect();
    all.sort_by_key(|dark| dark.span.start);
    let mut known_to = timeline.start();
    all.retain_mut(|dark| {
        dark.span.start = dark.span.start.max(known_to);
        known_to = known_to.max(dark.span.end);
        dark.span.start < dark.span.end
    });
    all.into()
}

/// Finds from when to when the last version of an object cannot be read.
fn unread_versions(
    timeline: &Timeline,
    subject: &NamedObject,
    unread: &[(Seq, Seq)],
) -> Vec<(Range<RecordedAt>, &'static str)> {
    const WHY: &str = "cannot be read";
    if unread.is_empty() {
        return Vec::new();
    }
    let (mut all, mut since) = (Vec::new(), None);
    for seq in subject.versions(timeline) {
        let at = timeline.wall_of(seq);
        let is_in = |(first, last): &(Seq, Seq)| (*first..=*last).contains(&seq);
        if unread.iter().any(is_in) {
            since.get_or_insert(at);
        } else if let Some(from) = since.take() {
            all.push((from..at, WHY));
        }
    }
    all.extend(since.map(|from| (from..beyond(timeline), WHY)));
    all
}

/// Finds from when to when lost records may have changed an object.
fn lost_records(
    timeline: &Timeline,
    subject: &NamedObject,
) -> Vec<(Range<RecordedAt>, &'static str)> {
    let only = [subject.name.clone()];
    let filter = ObjectFilter {
        namespace: Some(subject.namespace.as_str()),
        names: &only,
    };
    let hidden = timeline.hidden_by_damage(subject.resource, &filter);
    // Where damage may be anywhere, the title says so.
    let hidden = hidden.filter(|(damaged, ..)| damaged.damage.loss != Loss::Unknown);
    hidden
        .map(|(damaged, _, again)| {
            let to = again.map_or_else(|| beyond(timeline), |again| timeline.wall_of(again));
            let why = if damaged.is_recovered {
                LOST_BEFORE
            } else {
                "the reel is damaged"
            };
            (damaged.from..to, why)
        })
        .collect()
}

/// Finds until when nothing shows whether the objects of an imported resource were there; `None` where the recording
/// proves what was absent.
pub(crate) struct FirstSights {
    firsts: HashMap<(String, String), RecordedAt>,
}

impl FirstSights {
    /// Reads when each object of a resource was first seen, if only another tool recorded it.
    pub(crate) fn of(timeline: &Timeline, resource: ResourceId) -> Self {
        let coverage = timeline.coverage(resource);
        let is_imported = coverage.is_some_and(Coverage::is_only_imported);
        let objects = timeline.objects_of(resource).iter();
        let objects = objects.filter(|_| is_imported);
        let mut firsts: HashMap<_, RecordedAt> = HashMap::new();
        for object in objects {
            let first = timeline.reel().versions(*object).first();
            if let (Some(key), Some(first)) = (timeline.key_of(*object), first) {
                let name = (key.namespace.to_owned(), key.name.to_owned());
                let at = timeline.wall_of(*first);
                let known = firsts.entry(name).or_insert(at);
                *known = at.min(*known);
            }
        }
        Self { firsts }
    }

    /// Gives the time of an object of the resource.
    pub(crate) fn of_object(&self, subject: &NamedObject) -> Option<RecordedAt> {
        let name = (subject.namespace.clone(), subject.name.clone());
        self.firsts.get(&name).copied()
    }
}

/// What is said of the records that a recovered reel lacks.
const LOST_BEFORE: &str = "lost before the reel was recovered";

fn words(timeline: &Timeline, span: &UnobservedSpan) -> String {
    match &span.reason {
        UnobservedReason::NotBegun => {
            let coverage = timeline.coverage(span.resource);
            let is_imported = coverage.is_some_and(|coverage| coverage.imported().is_some());
            if is_imported {
                "the recording had not begun".to_owned()
            } else {
                span.reason.to_string()
            }
        }
        UnobservedReason::Gap { gap } if !span.is_late() => gap.cause().to_owned(),
        UnobservedReason::NotRecorded { .. } => "not recorded".to_owned(),
        UnobservedReason::Damaged { .. } => "the reel is damaged".to_owned(),
        UnobservedReason::LostBeforeRecovery { .. } => LOST_BEFORE.to_owned(),
        reason => harmless(&reason.to_string()).into_owned(),
    }
}

/// Gives the first moment after a reel.
fn beyond(timeline: &Timeline) -> RecordedAt {
    RecordedAt::from_micros(timeline.end().micros.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::stage::{gapped, unserved};

    #[test]
    fn what_is_no_longer_served_is_no_gap() {
        let folder = tempfile::tempdir().expect("a folder");
        let timeline = Timeline::open(&unserved(folder.path())).expect("a reel");
        assert_eq!(all_dark(&timeline), []);
        let info = timeline.resources().iter().next().expect("one");
        assert!(!dark_of(&timeline, info.id).is_empty(), "its lanes end");
    }

    #[test]
    fn a_gap_of_one_resource_names_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let timeline = Timeline::open(&gapped(folder.path())).expect("a reel");
        let all = all_dark(&timeline);
        let [gap] = all.as_slice() else {
            panic!("{all:?}");
        };
        assert_eq!(gap.only.as_deref(), Some("nodes"));
    }

    #[test]
    fn an_object_that_is_the_same_in_the_next_list_is_known_in_a_gap() {
        let folder = tempfile::tempdir().expect("a folder");
        let timeline = Timeline::open(&gapped(folder.path())).expect("a reel");
        let info = timeline.resources().iter().next().expect("one");
        let dark = dark_of(&timeline, info.id).into();
        let of_name = |name: &str| {
            let subject = NamedObject {
                resource: info.id,
                namespace: String::new(),
                name: name.to_owned(),
            };
            dark_of_object(&timeline, &subject, &dark, &[])
        };
        let gaps = |name: &str| {
            of_name(name)
                .iter()
                .filter(|dark| dark.span.start > timeline.start())
                .count()
        };
        assert_eq!((gaps("never-observed"), gaps("m-0")), (1, 0));
    }
}
