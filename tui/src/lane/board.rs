//! Owns all that one pass over a reel gives to the screen: lanes, and stages of the cluster's
//! life. Refuses to say what looks wrong: `problem` does.

use super::LaneState;
use super::anomaly::{Anomaly, anomalies};
use super::dark::{DarkSpan, FirstSights, all_dark, dark_of, dark_of_object};
use super::line::{Lane, LaneGroup, LaneReading, LaneSpell, LaneSubject};
use super::server::server_lane;
use super::spells::{LaneWords, spells};
use super::stages::{ClusterStage, stages};
use crate::subject::NamedObject;
use kubereel_cluster::{
    Aspect, ClusterHistory, StateKind, StateTrack, UnreadVersions, UpgradeRecords,
};
use kubereel_format::{ObjectId, RecordedAt, ResourceId, ResourceInfo, Seq};
use kubereel_history::{Timeline, harmless, is_custom_resource};
use kubereel_monitortests::{FactsOverTime, Gathering, Mode, StateWatcher, feed_while};
use kubereel_problems::{
    ClusterStory, Problem, ProblemList, ProblemWatcher, ServiceHistory, SignKind,
    is_judged_by_conditions,
};
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
    pub(crate) unread: u64,
    /// The lanes of Pods below the lanes of their workloads, by their places.
    pub(crate) pods: BTreeMap<usize, Vec<usize>>,
    /// The resources of which only objects with problems have lanes, because they are too many or changed too often.
    pub(crate) left_out: Vec<String>,
    /// What the cluster was, what was done to it and what was wrong.
    pub(crate) story: Option<Arc<ClusterStory>>,
    /// The records of the first upgrade.
    pub(crate) upgrade: Option<UpgradeRecords>,
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
    let (kinds, others, left_out) = kinds(timeline);
    let mut watcher = StateWatcher::new(kinds);
    for info in others {
        watcher.watch(info);
    }
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
    let services = troubles.take_services();
    let owners = troubles.workloads_of_pods(timeline);
    let story = ClusterStory::of(timeline, troubles.finish(timeline, &fed));
    let mut making = LaneMaker::of(timeline, fed.unread_parts);
    let tracks = watcher.into_tracks();
    let mut lanes: Vec<Lane> = tracks
        .filter_map(|track| making.of_track(&track, &story.list))
        .collect();
    lanes.extend(making.of_problems(&left_out, &story.list));
    let mut left_out: Vec<String> = left_out.into_iter().map(|one| one.name).collect();
    if services.is_left_out {
        left_out.push("services".to_owned());
    }
    lanes.extend(making.of_services(services));
    lanes.extend(server_lane(timeline));
    Some(Board {
        pods: below_workloads(timeline, &lanes, &owners),
        stages: stages(timeline, &facts),
        anomalies: anomalies(timeline, &lanes, &all_dark(timeline)),
        releases: releases(&facts),
        unread: fed.unread_events,
        left_out,
        story: Some(Arc::new(story)),
        upgrade: first_upgrade(timeline),
        lanes,
        facts,
    })
}

/// Finds the first upgrade that can be read.
fn first_upgrade(timeline: &Timeline) -> Option<UpgradeRecords> {
    let unread = UnreadVersions::default();
    let updates = ClusterHistory::of_readable(timeline, &unread).updates(timeline.last_cut());
    updates.ok()?.first_upgrade()
}

/// Makes lanes, which share words and what is not known.
struct LaneMaker<'t> {
    timeline: &'t Timeline,
    darks: BTreeMap<ResourceId, Arc<[DarkSpan]>>,
    sights: BTreeMap<ResourceId, FirstSights>,
    words: LaneWords,
    /// The first and the last event of each part whose objects cannot be read.
    unread: Vec<(Seq, Seq)>,
    /// The namespaces and names of these objects: others need no look at their versions.
    unread_names: BTreeSet<(&'t str, &'t str)>,
}

impl<'t> LaneMaker<'t> {
    fn of(timeline: &'t Timeline, unread: Vec<(Seq, Seq)>) -> Self {
        let seqs = unread.iter().flat_map(|(first, last)| first.0..=last.0);
        let keys = seqs.filter_map(|seq| timeline.key_of(timeline.reel().object_of(Seq(seq))?));
        Self {
            timeline,
            unread_names: keys.map(|key| (key.namespace, key.name)).collect(),
            unread,
            darks: BTreeMap::new(),
            sights: BTreeMap::new(),
            words: LaneWords::default(),
        }
    }

    /// Makes the lane of states; `None` if it shows nothing.
    fn of_track(&mut self, track: &StateTrack, list: &ProblemList) -> Option<Lane> {
        let mut spells = spells(self.timeline, track, &mut self.words);
        if spells.is_empty() {
            return None;
        }
        let object = track.object();
        if object.kind == StateKind::Version && track.aspect().condition().is_none() {
            for problem in not_retrieved(list) {
                spells = worsened(self.timeline, &spells, problem, &mut self.words);
            }
        }
        let subject = NamedObject {
            resource: object.resource,
            namespace: object.namespace.clone(),
            name: object.name.clone(),
        };
        let condition = track.aspect().condition().map(Arc::from);
        Some(self.lane(group_of(object.kind), subject, condition, spells))
    }

    /// Makes the lanes of the objects that have a problem, the most important first, as far as they are bounded.
    fn of_problems(&mut self, left_out: &[LeftOutResource], list: &ProblemList) -> Vec<Lane> {
        let timeline = self.timeline;
        let of_list = list.problems.iter().flat_map(|problem| {
            let topmost = problem.object.resource.map(|resource| NamedObject {
                resource,
                namespace: problem.object.namespace.clone(),
                name: problem.object.name.clone(),
            });
            let shown_by = problem.shown_by.iter().filter_map(|object| {
                let key = timeline.key_of(*object)?;
                Some(NamedObject {
                    resource: key.resource,
                    namespace: key.namespace.to_owned(),
                    name: key.name.to_owned(),
                })
            });
            topmost.into_iter().chain(shown_by)
        });
        let (mut chosen, mut versions) = (BTreeSet::new(), 0_usize);
        for object in of_list {
            let is_left_out = |one: &LeftOutResource| one.resources.contains(&object.resource);
            if !left_out.iter().any(is_left_out) || chosen.contains(&object) {
                continue;
            }
            let with_own = versions.saturating_add(object.versions(timeline).len());
            if with_own > MOST_VERSIONS {
                continue;
            }
            versions = with_own;
            chosen.insert(object);
            if chosen.len() == MOST_WORKLOADS {
                break;
            }
        }
        let cluster = ClusterHistory::of(timeline);
        let mut lanes = Vec::new();
        for object in chosen {
            let tracks = cluster.states_of_object(object.resource, &object.namespace, &object.name);
            // What cannot be read is a problem of its own in the list.
            let tracks = tracks.unwrap_or_default();
            let shown = tracks.iter().filter(|track| match track.aspect() {
                Aspect::Whole | Aspect::Condition(_) => true,
                Aspect::Container(_) => false,
            });
            lanes.extend(shown.filter_map(|track| self.of_track(track, list)));
        }
        lanes
    }

    /// Makes the lanes of Services.
    fn of_services(&mut self, history: ServiceHistory) -> Vec<Lane> {
        let mut lanes = Vec::new();
        for service in history.services {
            let spells = service.changes.iter().map(|change| LaneSpell {
                from: change.mark.at,
                seq: change.mark.seq,
                state: change.health,
                word: self.words.shared(&change.words),
            });
            let spells = spells.collect();
            let subject = NamedObject {
                resource: service.resource,
                namespace: service.namespace,
                name: service.name,
            };
            lanes.push(self.lane(LaneGroup::Services, subject, None, spells));
        }
        lanes
    }

    fn lane(
        &mut self,
        group: LaneGroup,
        subject: NamedObject,
        condition: Option<Arc<str>>,
        spells: Vec<LaneSpell>,
    ) -> Lane {
        let resource = subject.resource;
        let dark = self
            .darks
            .entry(resource)
            .or_insert_with(|| dark_of(self.timeline, resource).into());
        let sights = self
            .sights
            .entry(resource)
            .or_insert_with(|| FirstSights::of(self.timeline, resource));
        let seen_from = sights.of_object(&subject);
        let name = (subject.namespace.as_str(), subject.name.as_str());
        let is_unread = self.unread_names.contains(&name);
        let unread = if is_unread { &*self.unread } else { &[] };
        let dark = dark_of_object(self.timeline, &subject, dark, unread);
        let of = (group, LaneSubject::Object(subject), condition);
        Lane::of(of, LaneReading::State, spells, dark).seen_from(seen_from)
    }
}

/// Finds the lanes of Pods below the lanes of their workloads.
fn below_workloads(
    timeline: &Timeline,
    lanes: &[Lane],
    owners: &BTreeMap<ObjectId, ObjectId>,
) -> BTreeMap<usize, Vec<usize>> {
    let name = |object: ObjectId| {
        let key = timeline.key_of(object)?;
        Some((key.namespace, key.name, key.resource))
    };
    // Of the lives of one name, the last decides.
    let owners = owners
        .iter()
        .filter_map(|(pod, own)| Some((name(*pod)?, name(*own)?)));
    let owners: BTreeMap<_, _> = owners.collect();
    let places = lanes.iter().enumerate().filter_map(|(at, lane)| {
        let object = lane.subject.object()?;
        let is_workload = lane.group == LaneGroup::Workloads;
        let key = (
            object.namespace.as_str(),
            object.name.as_str(),
            object.resource,
        );
        is_workload.then_some((key, at))
    });
    let places: BTreeMap<_, usize> = places.collect();
    let mut below: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, lane) in lanes.iter().enumerate() {
        let pod = lane
            .subject
            .object()
            .filter(|_| lane.group == LaneGroup::Pods);
        let key = pod.map(|pod| (pod.namespace.as_str(), pod.name.as_str(), pod.resource));
        let workload = key.and_then(|key| owners.get(&key)?.into());
        if let Some(place) = workload.and_then(|own: &(&str, &str, ResourceId)| places.get(own)) {
            below.entry(*place).or_default().push(at);
        }
    }
    below
}

/// Of workloads of a kind that changed more often, only those with problems have lanes: a screen may take only so
/// much memory.
const MOST_VERSIONS: usize = 20_000;
/// The same for more objects: a Job has few changes, but there may be many Jobs.
const MOST_WORKLOADS: usize = 2_000;

/// A resource of which only objects with problems have lanes.
struct LeftOutResource {
    name: String,
    resources: Vec<ResourceId>,
}

/// Gives the kinds that have lanes, the custom resources that have some, and those of which only objects with
/// problems have some.
fn kinds(timeline: &Timeline) -> (Vec<StateKind>, Vec<&ResourceInfo>, Vec<LeftOutResource>) {
    let named = |group: &str, plural: &str| {
        let own = timeline.resources().iter();
        let own = own.filter(|info| (info.group.as_str(), info.plural.as_str()) == (group, plural));
        own.map(|info| info.id).collect::<Vec<_>>()
    };
    let is_bounded = |group: &str, plural: &str| {
        let objects = named(group, plural)
            .into_iter()
            .flat_map(|id| timeline.objects_of(id));
        let (count, versions) = objects.fold((0_usize, 0_usize), |(count, versions), id| {
            (count + 1, versions + timeline.reel().versions(*id).len())
        });
        (count <= MOST_WORKLOADS && versions <= MOST_VERSIONS).then_some(versions)
    };
    let is_kept = |kind: &StateKind| {
        let resource = kind.resource();
        let resource = resource.filter(|_| group_of(*kind) == LaneGroup::Workloads);
        resource.is_none_or(|(group, plural)| is_bounded(group, plural).is_some())
    };
    let (kept, without): (Vec<_>, Vec<_>) = StateKind::ALL.into_iter().partition(is_kept);
    let without = without.into_iter().filter_map(StateKind::resource);
    let mut left_out: Vec<LeftOutResource> = without
        .map(|(group, plural)| LeftOutResource {
            name: plural.to_owned(),
            resources: named(group, plural),
        })
        .collect();
    let custom = |info: &ResourceInfo| LeftOutResource {
        name: info.qualified(),
        resources: vec![info.id],
    };
    let mut others: Vec<(usize, &ResourceInfo)> = Vec::new();
    for info in timeline.resources().iter() {
        let is_other = StateKind::of(&info.group, &info.plural).is_none()
            && !timeline.objects_of(info.id).is_empty()
            && is_judged_custom(timeline, info);
        match is_bounded(&info.group, &info.plural).filter(|_| is_other) {
            Some(versions) => others.push((versions, info)),
            None if is_other => left_out.push(custom(info)),
            None => {}
        }
    }
    // All of them together are bounded, too: those that changed least come first.
    others.sort_by_key(|(versions, info)| (*versions, info.id));
    let mut all = 0;
    let (kept_others, rest): (Vec<_>, Vec<_>) = others.into_iter().partition(|(versions, _)| {
        all += versions;
        all <= MOST_VERSIONS
    });
    left_out.extend(rest.into_iter().map(|(_, info)| custom(info)));
    let kept_others = kept_others.into_iter().map(|(_, info)| info);
    (kept, kept_others.collect(), left_out)
}

fn is_judged_custom(timeline: &Timeline, info: &ResourceInfo) -> bool {
    is_judged_by_conditions(info) && is_custom_resource(timeline, info)
}

/// Tells whether objects of a resource can have lanes; which of them do is known after the pass.
pub(crate) fn can_have_lanes(timeline: &Timeline, info: &ResourceInfo) -> bool {
    let is_service = (info.group.as_str(), info.plural.as_str()) == ("", "services");
    is_service
        || StateKind::of(&info.group, &info.plural).is_some()
        || is_judged_custom(timeline, info)
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
        StateKind::Other(_) => LaneGroup::Customs,
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
                    let Some(subject) = lane.subject.object() else {
                        return false;
                    };
                    let info = timeline.resources().get(subject.resource);
                    info.is_some_and(|info| StateKind::of(&info.group, &info.plural) == Some(kind))
                        && (&subject.namespace, &subject.name) == (&object.namespace, &object.name)
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
