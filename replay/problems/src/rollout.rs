//! Rollouts: when one began and how it ended, from the versions of the workload itself.
//!
//! - A rollout begins with a version that has another Pod template than the version before. A workload that is
//!   created, or was there at the first look, begins none.
//! - It ends with the first version of which `kubectl rollout status` says that the rollout is complete, with the
//!   next template, or with the deletion of the workload.
//! - A version that follows unobserved time shows what happened, and not when.

use crate::problem::{ProblemObject, RolloutOutcome, WorkloadRollout};
use kubereel_cluster::RecordMark;
use kubereel_format::{Evidence, ObjectId, ResourceInfo};
use kubereel_history::{Cut, ObjectFilter, RolloutState, Timeline};
use kubereel_monitortests::{Action, WatchedEvent};
use serde_json::Value;
use std::collections::BTreeMap;

/// More rollouts are not kept.
const MOST_ROLLOUTS: usize = 50_000;
const TEMPLATE: &str = "spec.template";

/// A version of a workload in which a rollout began or ended.
#[derive(Clone, Copy, Debug)]
struct RolloutMark {
    mark: RecordMark,
    evidence: Evidence,
}

/// A rollout before it is known what was observed of it.
#[derive(Clone, Copy, Debug)]
struct SeenRollout {
    object: ObjectId,
    from: RolloutMark,
    end: Option<(RolloutMark, RolloutOutcome)>,
    /// Whether the last version has a status.
    has_status: bool,
}

/// What a pass sees of rollouts.
#[derive(Debug, Default)]
pub(crate) struct SeenRollouts {
    all: Vec<SeenRollout>,
    /// The places of those that have not ended.
    open: BTreeMap<ObjectId, usize>,
}

/// Returns the fields that rollouts of a resource are read from, as paths with dots.
pub(crate) fn paths(info: &ResourceInfo) -> impl Iterator<Item = &'static str> {
    let read = RolloutState::paths(info);
    let template = (!read.is_empty()).then_some(TEMPLATE);
    read.iter().copied().chain(template)
}

fn template(object: &Value) -> Option<&Value> {
    object.get("spec")?.get("template")
}

impl SeenRollouts {
    /// Takes a version of an object.
    pub(crate) fn take(&mut self, seen: &WatchedEvent<'_>) {
        if seen.action == Action::Gone {
            self.end(seen, RolloutOutcome::Deleted);
            return;
        }
        let Some(state) = RolloutState::of(seen.resource, seen.now) else {
            return;
        };
        let before = seen.before.and_then(template);
        // Redacted values of another session have other hashes: what the server counts did not change.
        let generation = |object: &Value| object.pointer("/metadata/generation").cloned();
        let generations = (seen.before.and_then(generation), generation(seen.now));
        let is_written = !matches!(generations, (Some(old), Some(new)) if old == new);
        let is_new = is_written
            && matches!((before, template(seen.now)), (Some(old), Some(new)) if old != new);
        if is_new {
            self.end(seen, RolloutOutcome::Replaced);
            if !matches!(state, RolloutState::Manual(_)) && self.all.len() < MOST_ROLLOUTS {
                self.open.insert(seen.object, self.all.len());
                self.all.push(SeenRollout {
                    object: seen.object,
                    from: RolloutMark::of(seen),
                    end: None,
                    has_status: true,
                });
            }
        }
        // The API server serves each workload with a status: a tool may leave it out.
        let has_status = seen.now.get("status").is_some();
        if has_status && matches!(state, RolloutState::Complete(_)) {
            self.end(seen, RolloutOutcome::Complete);
        } else if let Some(rollout) = self.rollout_of(seen.object) {
            rollout.has_status = has_status;
        }
    }

    fn rollout_of(&mut self, object: ObjectId) -> Option<&mut SeenRollout> {
        self.all.get_mut(*self.open.get(&object)?)
    }

    fn end(&mut self, seen: &WatchedEvent<'_>, outcome: RolloutOutcome) {
        if let Some(rollout) = self.rollout_of(seen.object) {
            rollout.end = Some((RolloutMark::of(seen), outcome));
            self.open.remove(&seen.object);
        }
    }

    /// Returns the rollouts in order of time, as far as they were observed.
    pub(crate) fn observed(
        &self,
        timeline: &Timeline,
        object_of: impl Fn(ObjectId) -> Option<ProblemObject>,
    ) -> Vec<WorkloadRollout> {
        let all = self.all.iter();
        let named = all.filter_map(|one| Some((one, object_of(one.object)?)));
        let mut rollouts: Vec<WorkloadRollout> = named
            .map(|(one, workload)| one.observed(timeline, workload))
            .collect();
        rollouts.sort_by_key(|rollout| rollout.from);
        rollouts
    }
}

impl RolloutMark {
    const fn of(seen: &WatchedEvent<'_>) -> Self {
        Self {
            mark: seen.mark(),
            evidence: seen.evidence,
        }
    }

    /// Returns whether the version shows when the change happened: the state before it was known until then.
    fn is_observed(self, timeline: &Timeline, workload: &ProblemObject) -> bool {
        let is_listed = matches!(
            self.evidence,
            Evidence::Listed | Evidence::Polled | Evidence::Inferred
        );
        let before = Cut::Arrival {
            below: self.mark.seq,
            wall: self.mark.at,
        };
        !is_listed && is_known(timeline, workload, before)
    }
}

fn is_known(timeline: &Timeline, workload: &ProblemObject, cut: Cut) -> bool {
    let names = [workload.name.clone()];
    let filter = ObjectFilter {
        namespace: Some(&workload.namespace),
        names: &names,
    };
    let object = (workload.namespace.as_str(), workload.name.as_str());
    let is_readable = |resource| timeline.unknown_since_at(resource, object, cut).is_none();
    let is_certain = |resource| timeline.certainty_of(resource, cut, &filter).is_known();
    workload
        .resource
        .is_some_and(|resource| is_certain(resource) && is_readable(resource))
}

impl SeenRollout {
    fn observed(&self, timeline: &Timeline, workload: ProblemObject) -> WorkloadRollout {
        let from = self.from.mark.at;
        let (to, outcome) = match self.end {
            Some((end, outcome)) if end.is_observed(timeline, &workload) => {
                // A clock that was set back ends nothing before it began.
                (Some(end.mark.at.max(from)), outcome)
            }
            Some((_, RolloutOutcome::Complete)) => (None, RolloutOutcome::Complete),
            None if self.has_status && is_known(timeline, &workload, timeline.last_cut()) => {
                (None, RolloutOutcome::Incomplete)
            }
            // What was replaced or deleted meanwhile may have been complete before.
            Some(_) | None => (None, RolloutOutcome::Unknown),
        };
        WorkloadRollout {
            from,
            is_older: !self.from.is_observed(timeline, &workload),
            to,
            outcome,
            workload,
        }
    }
}
