//! Owns the versions of one name over a time, and the times in which it was not seen. Refuses bodies:
//! which version holds is known without.

use super::answer::MissedWhy;
use super::dark::Dark;
use super::span::{Instant, WaitSpan};
use crate::select::ObjectFilter;
use crate::tables::before;
use crate::timeline::Timeline;
use kubereel_format::{EventType, ObjectId, ResourceId, Seq};
use std::collections::BTreeMap;

/// What is known of a name from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// There is none, by that event if one said so.
    Absent {
        by: Option<Seq>,
    },
    Version {
        object: ObjectId,
        seq: Seq,
    },
    Dark(MissedWhy),
}

/// What is known of a name over a time.
#[derive(Debug, Default)]
pub(super) struct Marks {
    pub(super) marks: Vec<(Instant, Known)>,
    /// How many gaps the object passed unchanged.
    pub(super) bridged_gaps: usize,
}

impl Marks {
    fn push(&mut self, at: Instant, known: Known) {
        if self.marks.last().is_none_or(|(_, last)| *last != known) {
            self.marks.push((at, known));
        }
    }

    fn is_dark(&self) -> bool {
        matches!(self.marks.last(), Some((_, Known::Dark(_))))
    }

    /// Keeps what lies in a time; what held before it holds at its begin.
    fn clip(&mut self, span: &WaitSpan) {
        let is_before = |(at, _): &(Instant, Known)| *at <= span.from;
        let begun = self.marks.partition_point(is_before).saturating_sub(1);
        drop(self.marks.drain(..begun));
        self.marks.retain(|(at, _)| *at <= span.to);
        if let Some((first, _)) = self.marks.first_mut() {
            *first = span.from;
        }
    }
}

/// What happens at a place; at one place in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Version { object: ObjectId, seq: Seq },
    Light,
    Dark { place: usize },
}

impl Timeline {
    /// Gives what is known of a name over a time.
    pub(super) fn marks(
        &self,
        resource: ResourceId,
        namespace: &str,
        name: &str,
        span: &WaitSpan,
    ) -> Marks {
        let names = [name.to_owned()];
        let filter = ObjectFilter {
            namespace: Some(namespace),
            names: &names,
        };
        let dark = self.dark(resource, &filter, span);
        let mut steps: Vec<(Seq, Step)> = Vec::new();
        for life in self.lives(resource, namespace, name) {
            let object = life.object;
            let versions = self.reel().versions(object).iter();
            steps.extend(versions.map(|&seq| {
                let below = Seq(seq.0.saturating_add(1));
                (below, Step::Version { object, seq })
            }));
        }
        for (place, dark) in dark.iter().enumerate() {
            steps.push((dark.below, Step::Dark { place }));
            steps.push((dark.until, Step::Light));
        }
        steps.sort_unstable();
        let mut marks = Marks::default();
        let mut alive: BTreeMap<ObjectId, Seq> = BTreeMap::new();
        let start = Instant {
            below: Seq(0),
            at: self.start(),
        };
        marks.push(start, Known::Absent { by: None });
        for (below, step) in steps {
            let at = |seq| Instant {
                below,
                at: self.wall_of(seq),
            };
            match step {
                Step::Version { object, seq } => {
                    let mut gone = None;
                    if self.reel().kind_of(seq) == Some(EventType::Deleted) {
                        alive.remove(&object);
                        gone = Some(seq);
                    } else {
                        alive.insert(object, seq);
                    }
                    let known = match newest(&alive) {
                        Known::Absent { .. } => Known::Absent { by: gone },
                        known => known,
                    };
                    marks.push(at(seq), known);
                }
                Step::Dark { place } => {
                    let Some(dark) = dark.get(place) else {
                        continue;
                    };
                    if self.is_unchanged(newest(&alive), dark) {
                        let is_asked = dark.from < span.to.at && dark.until > span.from.below;
                        marks.bridged_gaps += usize::from(is_asked);
                    } else {
                        let from = Instant {
                            below,
                            at: dark.from,
                        };
                        marks.push(from, Known::Dark(dark.why));
                    }
                }
                // A version that was received in the dark ended it.
                Step::Light if marks.is_dark() => {
                    let at = before(below).map_or(start, at);
                    marks.push(at, newest(&alive));
                }
                Step::Light => {}
            }
        }
        marks.clip(span);
        marks
    }

    /// Tells whether an object came through a gap with the resourceVersion that it had.
    fn is_unchanged(&self, known: Known, dark: &Dark) -> bool {
        let Known::Version { object, seq } = known else {
            return false;
        };
        let Some(rv) = self.reel().rv_of(seq) else {
            return false;
        };
        let is_within = |seq: &&Seq| (dark.below..dark.until).contains(seq);
        let mut within = self.reel().versions(object).iter().filter(is_within);
        dark.why == MissedWhy::Gap && within.all(|&later| self.reel().rv_of(later) == Some(rv))
    }
}

/// A name has one object at a time: where a deletion was never seen, the newer one holds.
fn newest(alive: &BTreeMap<ObjectId, Seq>) -> Known {
    let newest = alive.iter().max_by_key(|(_, seq)| **seq);
    let absent = Known::Absent { by: None };
    newest.map_or(absent, |(&object, &seq)| Known::Version { object, seq })
}
