//! Owns all that one pass over a reel gives to the screen: lanes, and stages of the cluster's
//! life. Refuses to say what looks wrong: `problem` does.

use super::LaneState;
use super::anomaly::{Anomaly, anomalies};
use super::dark::{all_dark, dark_of};
use super::line::{Lane, LaneGroup, LaneReading, LaneSpell};
use super::stages::{ClusterStage, stages};
use crate::subject::NamedObject;
use kubereel_cluster::{RecordMark, StateKind, StateTrack};
use kubereel_format::{EventType, RecordedAt, ResourceId, Seq};
use kubereel_history::{Timeline, harmless};
use kubereel_monitortests::{FactsOverTime, Gathering, Mode, StateWatcher, feed_while};
use kubereel_problems::{ClusterStory, Problem, ProblemList, ProblemWatcher, SignKind};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::Arc;

/// All that one pass gives.
#[derive(Clone, Debug, Default)]
pub(crate) struct Board {
    /// The lanes, in groups.
    pub(crate) lanes: Vec<Lane>,
    /// The stages, in order.
    pub(crate) stages: Vec<ClusterStage>,
    /// What cluster it was, as it came to be known.
    pub(crate) facts: FactsOverTime,
    /// What is odd, in order of time.
    pub(crate) anomalies: Vec<Anomaly>,
    /// The releases of the cluster, in order; empty if it has none.
    pub(crate) releases: Vec<String>,
    /// How many events could not be read.
    pub(crate) unread: usize,
    /// The resources whose workloads have no lanes, because they changed too often.
    pub(crate) left_out: Vec<&'static str>,
    /// What the cluster was, what was done to it and what was wrong.
    pub(crate) story: Option<Arc<ClusterStory>>,
}

impl Board {
    /// Gives what was wrong, what matters most first.
    pub(crate) fn list(&self) -> Option<&ProblemList> {
        self.story.as_ref().map(|story| &story.list)
    }
}

/// Reads a reel once; `go_on` ends it early, and then there is nothing.
pub(crate) fn gather(
    timeline: &Timeline,
    mut go_on: impl FnMut(Seq) -> ControlFlow<()>,
) -> Option<Board> {
    let (kinds, left_out) = kinds(timeline);
    let mut watcher = StateWatcher::new(kinds);
    let mut facts = Gathering::only(timeline, Mode::Exact, |_| false);
    let mut watchers = facts.watchers();
    watchers.push(&mut watcher);
    let mut troubles = ProblemWatcher::new(timeline);
    watchers.push(&mut troubles);
    let mut is_ended = false;
    let fed = feed_while(timeline, &mut watchers, |seq| {
        let on = go_on(seq);
        is_ended |= on.is_break();
        on
    });
    drop(watchers);
    if is_ended {
        return None;
    }
    let facts = facts.finish(timeline).facts;
    let story = ClusterStory::of(timeline, troubles.finish(timeline, &fed));
    let mut darks: BTreeMap<ResourceId, Arc<[_]>> = BTreeMap::new();
    let mut words = LaneWords::default();
    let lanes = watcher.into_tracks().filter_map(|track| {
        let mut spells = spells(timeline, &track, &mut words);
        if spells.is_empty() {
            return None;
        }
        let object = track.object();
        if object.kind == StateKind::Version && track.aspect().condition().is_none() {
            for problem in not_retrieved(&story.list) {
                spells = worsened(timeline, &spells, problem, &mut words);
            }
        }
        let resource = object.resource;
        let dark = darks
            .entry(resource)
            .or_insert_with(|| dark_of(timeline, resource).into());
        let subject = NamedObject {
            resource,
            namespace: object.namespace.clone(),
            name: object.name.clone(),
        };
        let condition = track.aspect().condition().map(Arc::from);
        Some(Lane::of(
            (group_of(object.kind), subject, condition),
            LaneReading::State,
            spells,
            Arc::clone(dark),
        ))
    });
    let lanes: Vec<Lane> = lanes.collect();
    Some(Board {
        stages: stages(timeline, &facts),
        anomalies: anomalies(timeline, &lanes, &all_dark(timeline)),
        releases: releases(&facts),
        unread: fed.unread.len(),
        left_out,
        story: Some(Arc::new(story)),
        lanes,
        facts,
    })
}

/// Workloads of a kind that changed more often have no lanes: a screen may take only so much memory.
const MOST_VERSIONS: usize = 20_000;
/// The same for more objects: a Job has few changes, but there may be many Jobs.
const MOST_WORKLOADS: usize = 2_000;

/// Gives the kinds that have lanes, and the resources of those that have none.
fn kinds(timeline: &Timeline) -> (Vec<StateKind>, Vec<&'static str>) {
    let is_kept = |kind: &StateKind| {
        if group_of(*kind) != LaneGroup::Workloads {
            return true;
        }
        let own = timeline.resources().iter();
        let own = own.filter(|info| kind.resource() == (&info.group, &info.plural));
        let objects = own.flat_map(|info| timeline.objects_of(info.id));
        let (count, versions) = objects.fold((0_usize, 0_usize), |(count, versions), id| {
            (count + 1, versions + timeline.reel().versions(*id).len())
        });
        count <= MOST_WORKLOADS && versions <= MOST_VERSIONS
    };
    let (kept, left_out): (Vec<_>, Vec<_>) = StateKind::ALL.into_iter().partition(is_kept);
    let left_out = left_out.into_iter().map(|kind| kind.resource().1);
    (kept, left_out.collect())
}

const fn group_of(kind: StateKind) -> LaneGroup {
    match kind {
        StateKind::Version => LaneGroup::Version,
        StateKind::Operator => LaneGroup::Operators,
        StateKind::Pool => LaneGroup::Pools,
        StateKind::Node => LaneGroup::Nodes,
        StateKind::Deployment | StateKind::StatefulSet | StateKind::DaemonSet | StateKind::Job => {
            LaneGroup::Workloads
        }
        StateKind::Pod => LaneGroup::Pods,
    }
}

/// Gives the problems that say that a release cannot be retrieved. Its conditions do not say so all the time
/// that it is tried again.
fn not_retrieved(list: &ProblemList) -> impl Iterator<Item = &Problem> {
    let all = list.problems.iter();
    all.filter(|problem| problem.kind == SignKind::ReleaseNotAccepted)
}

/// Lets a lane be bad as long as a problem lasted, where it says something better.
fn worsened(
    timeline: &Timeline,
    spells: &[LaneSpell],
    problem: &Problem,
    words: &mut LaneWords,
) -> Vec<LaneSpell> {
    let word = words.shared(&problem.reason);
    let (from, to) = (problem.from.at, problem.to);
    let is_within = |at: RecordedAt| from <= at && to.is_none_or(|to| at < to);
    let is_better = |spell: &LaneSpell| {
        matches!(
            spell.state,
            LaneState::Good | LaneState::Changing | LaneState::Unknown
        )
    };
    let bad = |from, seq| LaneSpell {
        from,
        seq,
        state: LaneState::Bad,
        word: Arc::clone(&word),
    };
    let mut all = Vec::new();
    let mut ends = spells
        .iter()
        .skip(1)
        .map(|next| Some(next.from))
        .chain([None]);
    for spell in spells {
        let end = ends.next().flatten();
        let overlaps = to.is_none_or(|to| spell.from < to) && end.is_none_or(|end| from < end);
        if !is_better(spell) || !overlaps {
            all.push(spell.clone());
            continue;
        }
        if is_within(spell.from) {
            all.push(bad(spell.from, spell.seq));
        } else {
            all.push(spell.clone());
            all.push(bad(from, problem.from.seq));
        }
        if let Some(to) = to.filter(|to| end.is_none_or(|end| *to < end)) {
            let below = timeline.reel().seq_after(to);
            all.push(LaneSpell {
                from: to,
                seq: Seq(below.0.saturating_sub(1)),
                ..spell.clone()
            });
        }
    }
    all.dedup_by(|next, last| next.state == last.state && next.word == last.word);
    all
}

/// The words of lanes, each stored once.
#[derive(Default)]
struct LaneWords(BTreeSet<Arc<str>>);

impl LaneWords {
    fn shared(&mut self, word: &str) -> Arc<str> {
        let word = harmless(word);
        if let Some(known) = self.0.get(word.as_ref()) {
            return Arc::clone(known);
        }
        let new: Arc<str> = Arc::from(word.as_ref());
        self.0.insert(Arc::clone(&new));
        new
    }
}

/// Gives the spells of a track: its intervals, as far as they differ in what a lane shows. Conditions
/// whose good status is not known have none: a guess would be drawn as a fact.
fn spells(timeline: &Timeline, track: &StateTrack, words: &mut LaneWords) -> Vec<LaneSpell> {
    let mut spells: Vec<LaneSpell> = Vec::new();
    let mut add = |mark: RecordMark, state: LaneState, word: &str| {
        let word = words.shared(word);
        let last = spells.last();
        if !last.is_some_and(|last| last.state == state && last.word == word) {
            spells.push(LaneSpell {
                from: mark.at,
                seq: mark.seq,
                state,
                word,
            });
        }
    };
    let mut intervals = track.intervals().peekable();
    while let Some(interval) = intervals.next() {
        let Some(health) = interval.state.health else {
            continue;
        };
        add(interval.from, health, &interval.word());
        let next = intervals.peek().map(|next| next.from);
        if let Some(to) = interval.to.filter(|to| Some(*to) != next) {
            let is_deleted = timeline.reel().kind_of(to.seq) == Some(EventType::Deleted);
            let word = if is_deleted {
                "deleted"
            } else {
                "not reported"
            };
            add(to, LaneState::Absent, word);
        }
    }
    spells
}

fn releases(facts: &FactsOverTime) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for upgrade in facts.upgrades() {
        for version in [&upgrade.from_version, &upgrade.to_version] {
            let version = harmless(version).into_owned();
            if !version.is_empty() && all.last() != Some(&version) {
                all.push(version);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_cluster::ClusterHistory;
    use std::path::Path;

    /// A pass makes the lanes; here the versions of each object are read, and each of their states must
    /// be the one that its lane has from that record on.
    #[test]
    fn lanes_show_the_states_of_the_intervals() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo.reel");
        let timeline = Timeline::open(&path).expect("the demo");
        let board = gather(&timeline, |_| ControlFlow::Continue(())).expect("a board");
        let cut = timeline.last_cut();
        let mut compared = 0;
        for kind in StateKind::ALL {
            let cluster = ClusterHistory::of(&timeline);
            for track in cluster.states(kind, cut).expect("states") {
                let object = track.object();
                let lane = board.lanes.iter().find(|lane| {
                    let subject = (&lane.subject.namespace, &lane.subject.name);
                    let info = timeline.resources().get(lane.subject.resource);
                    info.is_some_and(|info| kind.resource() == (&info.group, &info.plural))
                        && subject == (&object.namespace, &object.name)
                        && lane.condition.as_deref() == track.aspect().condition()
                });
                for interval in track.intervals() {
                    let Some(health) = interval.state.health else {
                        continue;
                    };
                    let spells = &lane.expect("a lane").spells;
                    let at = |seq: Seq| spells.iter().rfind(|spell| spell.seq <= seq);
                    let shown = at(interval.from.seq).map(|spell| spell.state);
                    // While its release cannot be retrieved, a version is bad, whatever it says.
                    let is_worse = kind == StateKind::Version && shown == Some(LaneState::Bad);
                    assert!(
                        is_worse || shown == Some(health),
                        "{object:?} {:?}",
                        track.aspect()
                    );
                    if interval.to.is_none() {
                        let last = spells.last().map(|spell| spell.state);
                        assert_eq!(last, Some(health), "{object:?} {:?}", track.aspect());
                    }
                    compared += 1;
                }
            }
        }
        assert!(compared > 100, "{compared}");
    }
}
