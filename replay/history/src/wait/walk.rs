//! Walks over the versions of one name: each is read once, when it is needed. Reasons of Events are
//! read from the Events about the object; the time of an Event from before the recording is not
//! known.

use super::answer::{
    MissedReason, MissedTime, ReelInstant, WaitAnswer, WaitSpan, WaitStep, WaitVerdict,
};
use super::goal::{WaitFor, WaitGoal, WaitTruth, WaitVersion};
use super::marks::{HiddenTime, NameMarks, NameState};
use super::series::{TruthPiece, TruthSeries, WaitFinding, WaitOutcome, WaitTerms, find};
use crate::cluster_events::{EventQuestion, Regarding};
use crate::coverage::Coverage;
use crate::moment::Cut;
use crate::object::ObjectForm;
use crate::tables::before;
use crate::timeline::Timeline;
use crate::writers::Authors;
use kubereel_format::{Evidence, RecordedAt, ResourceId, ResourceInfo, Seq};
use serde_json::Value;

/// A query for one name.
#[derive(Clone, Debug)]
pub struct WaitQuestion<'a> {
    /// The resource.
    pub resource: &'a ResourceInfo,
    /// The namespace; empty for cluster-scoped objects.
    pub namespace: &'a str,
    /// The name.
    pub name: &'a str,
    /// The goals: one after another, creation first.
    pub goals: &'a [WaitFor],
    /// Whether one of them is sufficient.
    pub is_any: bool,
    /// The goal that must not be met first. If both are met at once, this one counts.
    pub fail_on: &'a [WaitFor],
    /// The searched time.
    pub span: WaitSpan,
    /// The number of the occurrence, from 1, of the last goal.
    pub nth: u64,
    /// For how many microseconds the last goal must be met without interruption.
    pub at_least_micros: u64,
}

impl Timeline {
    /// Finds the moment at which the goals were met, by one object's versions.
    ///
    /// The cost depends on the number of the name's versions, not on the length of the reel; for
    /// reasons of Events, on the Events of the namespace.
    pub fn wait(&self, question: &WaitQuestion<'_>) -> WaitAnswer {
        let span = &question.span;
        let (namespace, name) = (question.namespace, question.name);
        let marks = NameMarks::of(self, question.resource.id, namespace, name, span);
        let mut goals: Vec<&WaitFor> = question.goals.iter().collect();
        goals.sort_by_key(|goal| !goal.is_creation());
        let all = goals.iter().copied().chain(question.fail_on);
        let all: Vec<&WaitFor> = all.collect();
        let (series, has_unreadable) = self.judged(question, &marks.marks, &all);
        let (waited, failing) = series.split_at_checked(goals.len()).unwrap_or_default();
        let mut search = WaitSearch {
            timeline: self,
            question,
            steps: Vec::new(),
            missed: Vec::new(),
            reached: span.from,
        };
        let mut verdict = if question.is_any {
            search.any(&goals, waited)
        } else {
            search.each(&goals, waited)
        };
        for (goal, series) in question.fail_on.iter().zip(failing) {
            verdict = search.unless(goal, series, verdict);
        }
        let is_imported = self.is_only_imported(question.resource.id);
        if is_imported && verdict == WaitVerdict::NotMet {
            verdict = WaitVerdict::Unknown;
        }
        search.missed.sort_by_key(|missed| (missed.from, missed.to));
        search.missed.dedup();
        let is_over = verdict == WaitVerdict::Met;
        WaitAnswer {
            reached: if is_over { search.reached } else { span.to },
            verdict,
            steps: search.steps,
            missed: search.missed,
            bridged_gaps: marks.bridged_gaps,
            is_imported,
            has_unreadable,
        }
    }

    /// Returns whether only another tool recorded a resource, so that its completeness is not
    /// known.
    pub(super) fn is_only_imported(&self, resource: ResourceId) -> bool {
        self.coverage(resource)
            .is_some_and(Coverage::is_only_imported)
    }

    /// Judges all goals on every version, and returns whether one could not be read.
    fn judged(
        &self,
        question: &WaitQuestion<'_>,
        marks: &[(ReelInstant, NameState)],
        goals: &[&WaitFor],
    ) -> (Vec<TruthSeries>, bool) {
        let of_events = |goal: &&WaitFor| match &goal.goal {
            WaitGoal::Event(reason) => event_series(self, question, reason),
            _ => TruthSeries::until(question.span.to),
        };
        let mut all: Vec<TruthSeries> = goals.iter().map(of_events).collect();
        let is_imported = self.is_only_imported(question.resource.id);
        let needs_body = goals.iter().any(|goal| goal.goal.needs_body());
        let mut has_unreadable = false;
        let mut first = None;
        for (from, known) in marks {
            let mut body = None;
            let mut seq = None;
            if let NameState::Absent { by } = *known {
                seq = by;
            }
            if let NameState::Version { object, seq: own } = *known {
                first.get_or_insert(object);
                seq = Some(own);
                body = if needs_body {
                    self.object(own, question.resource, ObjectForm::WHOLE).ok()
                } else {
                    Some(Value::Null)
                };
                has_unreadable |= body.is_none();
            }
            // What was so before the searched time has no begin in it.
            let begun = seq.filter(|seq| self.wall_of(*seq) == from.at);
            let not_before = begun.and_then(|seq| self.late_since(seq));
            let judged = all.iter_mut().zip(goals).enumerate();
            for (place, (series, goal)) in judged.filter(|(_, (_, goal))| !goal.is_momentary()) {
                let is_failing = place >= question.goals.len();
                let truth = match (*known, first, &body) {
                    (NameState::Hidden(why), ..) => WaitTruth::Unknown(why),
                    (NameState::Version { object, .. }, Some(first), Some(body)) => {
                        let version = WaitVersion {
                            object,
                            first,
                            body,
                        };
                        goal.goal.judge(Some(version))
                    }
                    (NameState::Version { .. }, ..) => WaitTruth::Unknown(MissedReason::Unreadable),
                    // What does not exist yet has not been deleted.
                    (NameState::Absent { by: None }, None, _)
                        if is_failing && goal.is_deletion() =>
                    {
                        WaitTruth::NotMet
                    }
                    // An import does not prove that an object was absent.
                    (NameState::Absent { by: None }, ..) if is_imported && goal.is_deletion() => {
                        WaitTruth::Unknown(MissedReason::NotObserved)
                    }
                    (NameState::Absent { .. }, ..) => goal.goal.judge(None),
                };
                series.push(TruthPiece {
                    from: *from,
                    not_before,
                    seq,
                    truth,
                });
            }
        }
        (all, has_unreadable)
    }
}

/// The result so far.
struct WaitSearch<'a> {
    timeline: &'a Timeline,
    question: &'a WaitQuestion<'a>,
    steps: Vec<WaitStep>,
    missed: Vec<MissedTime>,
    /// When the last goal was met.
    reached: ReelInstant,
}

impl WaitSearch<'_> {
    const fn terms(&self, is_last: bool) -> WaitTerms {
        if is_last {
            return WaitTerms {
                nth: self.question.nth,
                at_least_micros: self.question.at_least_micros,
            };
        }
        WaitTerms {
            nth: 1,
            at_least_micros: 0,
        }
    }

    /// Waits for one goal after another.
    fn each(&mut self, goals: &[&WaitFor], all: &[TruthSeries]) -> WaitVerdict {
        let mut from = self.question.span.from;
        for (place, (goal, series)) in goals.iter().zip(all).enumerate() {
            let found = find(series, from, self.terms(place + 1 == goals.len()));
            let verdict = self.take(goal.to_string(), series, found);
            if verdict != WaitVerdict::Met {
                return verdict;
            }
            from = self.reached;
        }
        WaitVerdict::Met
    }

    /// Waits for any of the goals.
    fn any(&mut self, goals: &[&WaitFor], all: &[TruthSeries]) -> WaitVerdict {
        let from = self.question.span.from;
        let terms = self.terms(true);
        let union = union(all, self.question.span);
        let found = find(&union, from, terms);
        let mut texts: Vec<String> = Vec::new();
        if let WaitOutcome::Met { since, .. } = &found.what {
            for (goal, series) in goals.iter().zip(all) {
                let now = series.after(since.from).next();
                let is_it = now.is_some_and(|(piece, _)| piece.truth == WaitTruth::Met)
                    || series.has_met_at(since.from);
                texts.extend(is_it.then(|| goal.to_string()));
            }
        }
        self.take(texts.join(" or "), &union, found)
    }

    /// Fails if the goal of `--fail-on` was met before, or may have been.
    fn unless(
        &mut self,
        goal: &WaitFor,
        series: &TruthSeries,
        verdict: WaitVerdict,
    ) -> WaitVerdict {
        if matches!(
            verdict,
            WaitVerdict::Failed { .. } | WaitVerdict::Refused { .. }
        ) {
            return verdict;
        }
        let met_at = self.steps.last().map(|step| step.at);
        let end = met_at.filter(|_| verdict == WaitVerdict::Met);
        let found = find(series, self.question.span.from, self.terms(false));
        let is_before = |at: RecordedAt| end.is_none_or(|end| at <= end);
        match found.what {
            WaitOutcome::Met { at, .. } if is_before(at) => {
                // All goals may have been met and ended before, unobserved.
                if self.missed.iter().any(|missed| missed.from < at) {
                    return WaitVerdict::Unknown;
                }
                let goal = goal.to_string();
                return WaitVerdict::Failed { goal, at };
            }
            WaitOutcome::Refused { at, problem } if is_before(at.at) => {
                let at = at.at;
                return WaitVerdict::Refused { at, problem };
            }
            _ => {}
        }
        let missed: Vec<MissedTime> = found
            .missed
            .into_iter()
            .filter(|missed| is_before(missed.from))
            .collect();
        let is_open = !missed.is_empty();
        self.missed.extend(missed);
        if is_open {
            WaitVerdict::Unknown
        } else {
            verdict
        }
    }

    fn take(&mut self, goal: String, series: &TruthSeries, found: WaitFinding) -> WaitVerdict {
        let is_open = !found.missed.is_empty();
        self.missed.extend(found.missed);
        match found.what {
            WaitOutcome::NotMet if is_open => WaitVerdict::Unknown,
            WaitOutcome::NotMet => WaitVerdict::NotMet,
            WaitOutcome::Refused { at, problem } => WaitVerdict::Refused { at: at.at, problem },
            WaitOutcome::Met {
                since,
                at,
                not_before,
                until,
                until_not_before,
                lasts_to_end,
            } => {
                let WaitQuestion {
                    resource,
                    namespace,
                    name,
                    ..
                } = *self.question;
                let reel = self.timeline.reel();
                let head = since.seq.and_then(|seq| reel.head(seq));
                let is_own = since.seq.is_some_and(|seq| self.is_of_the_name(seq));
                let authors = since
                    .seq
                    .filter(|_| is_own)
                    .map_or(Authors::Unknown, |seq| {
                        self.timeline.authors_of(resource, (namespace, name), seq)
                    });
                let (met_micros, longest_micros) = series.lengths();
                // What is lost behind the last record takes no time in the series.
                let rest = (Some(since.from.cut()), Some(self.question.span.to.cut()));
                let is_damaged =
                    self.timeline
                        .is_object_damaged_between(resource.id, (namespace, name), rest);
                let may_last_longer = series.has_unknown() || is_damaged;
                let lasts_to_end = lasts_to_end && !is_damaged;
                self.reached = since.from;
                if at != since.from.at {
                    let below = reel.seq_after(at).max(since.from.below);
                    self.reached = ReelInstant { below, at };
                }
                self.steps.push(WaitStep {
                    goal,
                    at,
                    since: since.from.at,
                    not_before,
                    seq: since.seq,
                    rv: head.map_or_else(String::new, |head| head.resource_version.clone()),
                    authors,
                    until,
                    until_not_before,
                    lasts_to_end: lasts_to_end && self.question.span.to.below >= reel.end(),
                    may_last_longer,
                    met_micros,
                    longest_micros,
                });
                WaitVerdict::Met
            }
        }
    }

    /// Returns whether an event is a version of the name, not an Event about it.
    fn is_of_the_name(&self, seq: Seq) -> bool {
        let object = self.timeline.reel().object_of(seq);
        let key = object.and_then(|object| self.timeline.key_of(object));
        let resource = self.question.resource.id;
        let versions = self.timeline.resources().namesake_ids(resource);
        key.is_some_and(|key| versions.contains(&key.resource))
    }
}

/// Combines the states of several goals.
fn union(all: &[TruthSeries], span: WaitSpan) -> TruthSeries {
    let mut union = TruthSeries::until(span.to);
    let mut places: Vec<(TruthPiece, usize)> = Vec::new();
    for (which, series) in all.iter().enumerate() {
        places.extend(series.pieces().iter().map(|piece| (piece.clone(), which)));
    }
    places.sort_by_key(|(piece, _)| piece.from);
    let mut now: Vec<WaitTruth> = vec![WaitTruth::NotMet; all.len()];
    for together in places.chunk_by(|(one, _), (next, _)| one.from == next.from) {
        let mut met = None;
        for (piece, which) in together {
            if let Some(truth) = now.get_mut(*which) {
                truth.clone_from(&piece.truth);
            }
            if piece.truth == WaitTruth::Met {
                met = Some(piece.clone());
            }
        }
        let truth = now.iter().cloned().fold(WaitTruth::NotMet, WaitTruth::or);
        let is_momentary = truth != WaitTruth::Met;
        let not_before = met.as_ref().or(together.first().map(|(first, _)| first));
        let not_before = not_before.and_then(|piece| piece.not_before);
        // A goal that is met for no time counts as met.
        if is_momentary && let Some(met) = met.clone() {
            union.push(met);
        }
        if let Some((first, _)) = together.first() {
            union.push(TruthPiece {
                from: first.from,
                not_before,
                seq: met.and_then(|met| met.seq).or(first.seq),
                truth,
            });
        }
    }
    union
}

/// Returns the times of Events about the object with a reason, and the times in which Events were
/// not observed.
fn event_series(timeline: &Timeline, question: &WaitQuestion<'_>, reason: &str) -> TruthSeries {
    let span = &question.span;
    let mut steps: Vec<(ReelInstant, Option<Seq>, WaitTruth)> = Vec::new();
    for dark in HiddenTime::of_events(timeline, span) {
        let from = ReelInstant {
            below: dark.below,
            at: dark.from,
        };
        let to = ReelInstant {
            below: dark.until,
            at: before(dark.until).map_or(dark.from, |seq| timeline.wall_of(seq)),
        };
        steps.push((from, None, WaitTruth::Unknown(dark.why)));
        steps.push((to, None, WaitTruth::NotMet));
    }
    let log = timeline.event_log(EventQuestion {
        namespace: (!question.namespace.is_empty()).then(|| question.namespace.to_owned()),
        from: Some(Cut::Arrival {
            below: span.from.below,
            wall: span.from.at,
        }),
        to: Some(Cut::Arrival {
            below: span.to.below,
            wall: span.to.at,
        }),
        about: Some(Regarding::named(
            question.resource,
            question.namespace,
            question.name,
        )),
        severities: Vec::new(),
    });
    for logged in log {
        let Ok(logged) = logged else {
            let unreadable = WaitTruth::Unknown(MissedReason::Unreadable);
            steps.push((span.from, None, unreadable));
            continue;
        };
        if logged.content.reason == reason && logged.evidence != Evidence::Initial {
            let at = ReelInstant {
                below: Seq(logged.seq.0.saturating_add(1)),
                at: logged.at,
            };
            steps.push((at, Some(logged.seq), WaitTruth::Met));
        }
    }
    steps.sort_by_key(|(at, ..)| *at);
    let mut series = TruthSeries::until(span.to);
    let mut now = if timeline.event_resources().is_empty() {
        WaitTruth::Unknown(MissedReason::NotObserved)
    } else {
        WaitTruth::NotMet
    };
    let piece = |from, seq: Option<Seq>, truth| TruthPiece {
        from,
        not_before: seq.and_then(|seq| timeline.late_since(seq)),
        seq,
        truth,
    };
    let begun = steps.partition_point(|(at, ..)| *at <= span.from);
    for (_, _, truth) in steps.iter().take(begun) {
        now = truth.clone();
    }
    series.push(piece(span.from, None, now.clone()));
    for (at, seq, truth) in steps.into_iter().skip(begun) {
        if at > span.to {
            break;
        }
        if truth == WaitTruth::Met {
            // A reason is reported at a moment: the state afterwards is as before.
            series.push(piece(at, seq, WaitTruth::Met));
        } else {
            now = truth;
        }
        series.push(piece(at, None, now.clone()));
    }
    series
}
