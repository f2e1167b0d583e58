//! The versions of one name over a time, and its unobserved times, as places in the order of
//! arrival.

use super::answer::{MissedReason, ReelInstant, WaitSpan};
use crate::object_version::ObjectLifetime;
use crate::select::ObjectFilter;
use crate::tables::before;
use crate::timeline::Timeline;
use kubereel_format::{EventType, Evidence, ObjectId, RecordedAt, ResourceId, Seq};
use std::collections::BTreeMap;

/// A time in which changes may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HiddenTime {
    pub(super) from: RecordedAt,
    /// The first record in it.
    pub(super) below: Seq,
    /// The first record after it.
    pub(super) until: Seq,
    pub(super) why: MissedReason,
}

impl HiddenTime {
    /// Returns the times in which an object was not observed, by their begin.
    fn all(
        timeline: &Timeline,
        resource: ResourceId,
        filter: &ObjectFilter<'_>,
        span: &WaitSpan,
    ) -> Vec<Self> {
        /// A number behind every record.
        const NEVER: Seq = Seq(u64::MAX);
        let mut dark = Vec::new();
        if span.from.at < timeline.start() {
            dark.push(Self {
                from: span.from.at,
                below: Seq(0),
                // The recording begins with its first record.
                until: Seq(1),
                why: MissedReason::NotObserved,
            });
        }
        for unobserved in timeline.unobserved_spans(resource) {
            let is_late = unobserved.is_late();
            // Changes that were not observed before the end may have been received after it. Any
            // other change arrived.
            if !timeline.concerns(unobserved, filter)
                || is_late && !unobserved.holds(span.to.below, span.to.at)
            {
                continue;
            }
            let (below, until) = unobserved.records(timeline.reel());
            let why = match unobserved.reason {
                _ if unobserved.open_gap().is_some() => MissedReason::Gap,
                // Below, up to where the state is shown again. An unreadable version is reported by itself.
                ref reason if reason.is_damage() => continue,
                _ => MissedReason::NotObserved,
            };
            dark.push(Self {
                from: unobserved.from,
                below: if is_late {
                    below.min(span.to.below)
                } else {
                    below
                },
                until: until.filter(|_| !is_late).unwrap_or(NEVER),
                why,
            });
        }
        for (damaged, below, again) in timeline.hidden_by_damage(resource, filter) {
            dark.push(Self {
                from: damaged.from,
                below,
                until: again.map_or(NEVER, |again| Seq(again.0.saturating_add(1))),
                // A recovered file is whole.
                why: if damaged.is_recovered {
                    MissedReason::NotObserved
                } else {
                    MissedReason::Unreadable
                },
            });
        }
        if span.to.at > timeline.end() {
            dark.push(Self {
                from: timeline.end(),
                // Records that damage took from the end have no time.
                below: timeline.reel().end().min(span.to.below),
                until: NEVER,
                why: MissedReason::RecordingEnded,
            });
        }
        // Without a record at its begin, only the time decides whether it had begun.
        let end = (span.to.below, span.to.at);
        dark.retain(|dark| dark.below < dark.until && (dark.below, dark.from) <= end);
        dark.sort_by_key(|dark| (dark.below, dark.from, dark.until));
        join(dark)
    }
}

impl HiddenTime {
    /// Returns the times in which Events may be missing, by their begin.
    ///
    /// If a recording has Events in two groups, each must have been observed, as in
    /// [`Timeline::may_miss_events`].
    pub(super) fn of_events(timeline: &Timeline, span: &WaitSpan) -> Vec<Self> {
        let resources = timeline.event_resources().into_iter();
        let all = |id| Self::all(timeline, id, &ObjectFilter::default(), span);
        let mut dark: Vec<Self> = resources.flat_map(all).collect();
        dark.sort_by_key(|dark| (dark.below, dark.from, dark.until));
        join(dark)
    }

    /// Returns the time in which a change happened that only a list of an import shows.
    fn before_list(timeline: &Timeline, seq: Seq) -> Option<Self> {
        let from = timeline.listed_before(seq)?;
        Some(Self {
            from,
            below: timeline.reel().seq_after(from),
            until: Seq(seq.0.saturating_add(1)),
            why: MissedReason::NotObserved,
        })
    }
}

/// Merges overlapping times: the end of one does not end the other.
fn join(dark: Vec<HiddenTime>) -> Vec<HiddenTime> {
    let mut joined: Vec<HiddenTime> = Vec::new();
    for next in dark {
        match joined.last_mut() {
            Some(last) if next.below < last.until => {
                last.from = last.from.min(next.from);
                last.until = last.until.max(next.until);
                if next.why != last.why {
                    last.why = MissedReason::NotObserved;
                }
            }
            _ => joined.push(next),
        }
    }
    joined
}

/// Returns the times that are in both of two lists.
fn in_both(one: &[HiddenTime], other: &[HiddenTime]) -> Vec<HiddenTime> {
    let pairs = one
        .iter()
        .flat_map(|one| other.iter().map(move |other| (*one, *other)));
    let common = pairs.filter_map(|(one, other)| {
        let later = if (one.below, one.from) < (other.below, other.from) {
            other
        } else {
            one
        };
        let common = HiddenTime {
            until: one.until.min(other.until),
            // A version that was not followed tells nothing of the one that was.
            why: match (one.why, other.why) {
                (MissedReason::NotObserved, why) | (why, _) => why,
            },
            ..later
        };
        (common.below < common.until).then_some(common)
    });
    common.collect()
}

/// The known state of a name from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameState {
    /// There is no object; `by` is its deletion event, if there is one.
    Absent {
        by: Option<Seq>,
    },
    Version {
        object: ObjectId,
        seq: Seq,
    },
    Hidden(MissedReason),
}

/// The known states of a name over a time.
#[derive(Debug, Default)]
pub(super) struct NameMarks {
    pub(super) marks: Vec<(ReelInstant, NameState)>,
    /// How many gaps the object passed unchanged.
    pub(super) bridged_gaps: usize,
}

impl NameMarks {
    fn push(&mut self, at: ReelInstant, known: NameState) {
        if self.marks.last().is_none_or(|(_, last)| *last != known) {
            self.marks.push((at, known));
        }
    }

    fn is_dark(&self) -> bool {
        matches!(self.marks.last(), Some((_, NameState::Hidden(_))))
    }

    /// Clips to a time; the state before it is that at its begin.
    fn clip(&mut self, span: &WaitSpan) {
        let is_before = |(at, _): &(ReelInstant, NameState)| *at <= span.from;
        let begun = self.marks.partition_point(is_before).saturating_sub(1);
        drop(self.marks.drain(..begun));
        self.marks.retain(|(at, _)| *at <= span.to);
        if let Some((first, _)) = self.marks.first_mut() {
            *first = span.from;
        }
    }
}

impl Timeline {
    /// Returns the moment after which a change happened that only a list of an import shows: that of
    /// the list before. `None` if the change itself was recorded.
    pub fn listed_before(&self, seq: Seq) -> Option<RecordedAt> {
        let reel = self.reel();
        if reel.evidence_of(seq)? != Evidence::Listed {
            return None;
        }
        let resource = self.key_of(reel.object_of(seq)?)?.resource;
        let coverage = self.coverage(resource)?;
        coverage.listed_before(seq, self.wall_of(seq))
    }

    /// Returns since when the change that a version shows may have been made: since the state before it was last
    /// known. `None` if that was known up to the version.
    pub fn unseen_before(&self, seq: Seq) -> Option<RecordedAt> {
        let object = self.reel().object_of(seq)?;
        let key = self.key_of(object)?;
        let at = self.wall_of(seq);
        let versions = self.reel().versions(object);
        let before = versions.partition_point(|before| *before < seq);
        let before = before.checked_sub(1).and_then(|place| versions.get(place));
        let since = before.map_or(at, |before| self.wall_of(*before));
        let mut unobserved = self.unobserved(key.resource);
        if !unobserved.any(|span| span.from < at && span.to >= since) {
            return self.listed_before(seq);
        }
        let instant = |below, at| ReelInstant { below, at };
        let span = WaitSpan {
            from: instant(Seq(0), self.start()),
            to: instant(self.reel().end(), self.end()),
        };
        let marks = NameMarks::of(self, key.resource, key.namespace, key.name, &span).marks;
        let before = marks.iter().take_while(|(at, _)| at.below <= seq);
        match before.last()? {
            (since, NameState::Hidden(_)) => Some(since.at),
            _ => None,
        }
    }
}

/// An event at a place, ordered within the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum MarkStep {
    Version { object: ObjectId, seq: Seq },
    Light,
    Hidden { place: usize },
}

impl NameMarks {
    /// Returns the known states of a name over a time.
    pub(super) fn of(
        timeline: &Timeline,
        resource: ResourceId,
        namespace: &str,
        name: &str,
        span: &WaitSpan,
    ) -> Self {
        let names = [name.to_owned()];
        let filter = ObjectFilter {
            namespace: Some(namespace),
            names: &names,
        };
        // A resource that came back in another version was observed in one of them.
        let versions = timeline.resources().namesake_ids(resource);
        let bridged = versions.iter();
        let bridged = bridged.map(|id| bridged_gaps(timeline, *id, &filter, span));
        let bridged_gaps = bridged.sum();
        let dark = versions.into_iter();
        let dark = dark.map(|id| HiddenTime::all(timeline, id, &filter, span));
        let mut dark = dark
            .reduce(|one, other| in_both(&one, &other))
            .unwrap_or_default();
        let lives = timeline.lives(resource, namespace, name);
        let steps = steps(timeline, &lives, &mut dark);
        let scattered = timeline.scattered_losses(resource, &filter);
        let mut marks = Self {
            bridged_gaps,
            ..Self::default()
        };
        let mut alive: BTreeMap<ObjectId, Seq> = BTreeMap::new();
        let start = ReelInstant {
            below: Seq(0),
            at: timeline.start().min(span.from.at),
        };
        marks.push(start, NameState::Absent { by: None });
        let mut steps = steps.into_iter().peekable();
        while let Some((below, step)) = steps.next() {
            let at = |seq| ReelInstant {
                below,
                at: timeline.wall_of(seq),
            };
            match step {
                MarkStep::Version { object, seq } => {
                    let mut gone = None;
                    if timeline.reel().kind_of(seq) == Some(EventType::Deleted) {
                        alive.remove(&object);
                        gone = Some(seq);
                    } else {
                        // Only one object has a name at a time: the deletion of an older one was not observed.
                        alive.clear();
                        alive.insert(object, seq);
                    }
                    let known = match newest(&alive) {
                        NameState::Absent { .. } => NameState::Absent { by: gone },
                        known => known,
                    };
                    // A list shows one moment: without an object, and with the next one of its name.
                    let is_replaced = gone.is_some()
                        && timeline.reel().evidence_of(seq) == Some(Evidence::Inferred)
                        && matches!(steps.peek(), Some((_, MarkStep::Version { .. })));
                    if is_replaced && marks.is_dark() {
                        continue;
                    }
                    marks.push(at(seq), known);
                    if scattered.iter().any(|lost| lost.contains(&seq)) {
                        marks.push(at(seq), NameState::Hidden(MissedReason::Unreadable));
                    }
                }
                MarkStep::Hidden { place } => {
                    let Some(dark) = dark.get(place) else {
                        continue;
                    };
                    let from = ReelInstant {
                        below,
                        at: dark.from,
                    };
                    marks.push(from, NameState::Hidden(dark.why));
                }
                // A version that was received in an unobserved time ended the state.
                MarkStep::Light if marks.is_dark() => {
                    let at = before(below).map_or(start, at);
                    marks.push(at, newest(&alive));
                }
                MarkStep::Light => {}
            }
        }
        marks.clip(span);
        marks
    }
}

/// Counts the gaps in which an object did not change, although other changes may be missing.
fn bridged_gaps(
    timeline: &Timeline,
    resource: ResourceId,
    filter: &ObjectFilter<'_>,
    span: &WaitSpan,
) -> usize {
    let gaps = timeline.unobserved_spans(resource).iter();
    let gaps = gaps.filter(|gap| gap.open_gap().is_some() && !timeline.concerns(gap, filter));
    let asked = gaps.filter(|gap| {
        let (_, until) = gap.records(timeline.reel());
        gap.from < span.to.at && until.is_none_or(|until| until > span.from.below)
    });
    asked.count()
}

/// Returns what happens to a name, in order, and adds the times in which only lists show that.
fn steps(
    timeline: &Timeline,
    lives: &[ObjectLifetime],
    dark: &mut Vec<HiddenTime>,
) -> Vec<(Seq, MarkStep)> {
    let mut steps: Vec<(Seq, MarkStep)> = Vec::new();
    for life in lives {
        let object = life.object;
        let versions = timeline.reel().versions(object).iter();
        let listed = versions.clone();
        dark.extend(listed.filter_map(|&seq| HiddenTime::before_list(timeline, seq)));
        steps.extend(versions.map(|&seq| {
            let below = Seq(seq.0.saturating_add(1));
            (below, MarkStep::Version { object, seq })
        }));
    }
    for (place, dark) in dark.iter().enumerate() {
        steps.push((dark.below, MarkStep::Hidden { place }));
        steps.push((dark.until, MarkStep::Light));
    }
    steps.sort_unstable();
    steps
}

/// Only one object has a name at a time: if a deletion was not observed, the newer object counts.
fn newest(alive: &BTreeMap<ObjectId, Seq>) -> NameState {
    let newest = alive.iter().max_by_key(|(_, seq)| **seq);
    let absent = NameState::Absent { by: None };
    newest.map_or(absent, |(&object, &seq)| NameState::Version { object, seq })
}
