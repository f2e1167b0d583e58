//! The story of a reel: what cluster it was, what was done to it, and what went wrong, in order of time.

use crate::lookup::{read, resources};
use crate::problem::{ProblemList, RolloutOutcome, WorkloadRollout};
use crate::span::between;
use kubereel_cluster::{ClusterHistory, ClusterUpdate, PoolUpdate, UnreadVersions};
use kubereel_format::RecordedAt;
use kubereel_history::{Cut, ObjectFilter, Timeline, node_roles};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Rollouts that begin within this time of one another are one step of the story.
const TOGETHER: Duration = Duration::from_mins(2);

/// What a cluster was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterPortrait {
    /// The OpenShift release at the end; `None` for other clusters.
    pub openshift: Option<String>,
    /// The versions of the API server, in order.
    pub kubernetes: Vec<String>,
    /// How many Nodes there were at the end, by role; one with several roles counts in each.
    pub nodes: BTreeMap<String, usize>,
    /// How many Nodes there were at the end, as far as they can be read.
    pub node_count: usize,
    /// Whether Nodes were recorded.
    pub are_nodes_recorded: bool,
    /// Whether damage of the reel may hide more Nodes.
    pub has_unreadable_nodes: bool,
    /// The cloud or other platform, where the cluster says it.
    pub platform: Option<String>,
}

/// Something that was done to a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryStep {
    /// When it began.
    pub from: RecordedAt,
    /// When it ended; `None` if it did not, if that was not observed, or if it took no time.
    pub to: Option<RecordedAt>,
    /// Whether it began earlier: before the recording, or in a time that was not observed.
    pub is_older: bool,
    /// What, as text.
    pub words: String,
    /// The rollouts, if it is made of such.
    pub rollouts: Vec<WorkloadRollout>,
}

/// The story of a reel.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterStory {
    /// What the cluster was.
    pub cluster: ClusterPortrait,
    /// What was done to it, in order of time.
    pub steps: Vec<StoryStep>,
    /// Why installations and upgrades could not be read, or not all of them; `None` if they could.
    pub unread: Option<String>,
    /// What went wrong.
    pub list: ProblemList,
}

impl ClusterStory {
    /// Tells the story of a reel whose problems are known; of a damaged one, what can be read.
    pub fn of(timeline: &Timeline, list: ProblemList) -> Self {
        let end = Cut::Arrival {
            below: timeline.reel().end(),
            wall: timeline.end(),
        };
        let skipped = UnreadVersions::default();
        let history = ClusterHistory::of_readable(timeline, &skipped);
        let (updates, pools) = (history.updates(end), history.pool_updates(end));
        let unread = match &updates {
            Err(error) => Some(error.to_string()),
            Ok(_) if skipped.any() => Some("versions of ClusterVersion are damaged".to_owned()),
            Ok(_) => None,
        };
        let updates = updates.ok();
        let mut steps: Vec<StoryStep> = Vec::new();
        if let Some(updates) = &updates {
            let all = updates.all.iter();
            steps.extend(all.map(|update| step(update, updates.is_end_known)));
        }
        // The pools of an installation or upgrade are a part of it.
        let is_part_of = |pool: &PoolUpdate, update: &ClusterUpdate| {
            let is_before_end = update.end.is_none_or(|end| pool.began <= end.mark);
            update.first <= pool.began && is_before_end
        };
        for pools in pools.iter().filter(|_| updates.is_some()) {
            let own = pools.all.iter().filter(|pool| {
                let mut all = updates.iter().flat_map(|updates| &updates.all);
                !all.any(|update| is_part_of(pool, update))
            });
            steps.extend(own.map(|pool| pool_step(pool, pools.is_end_known)));
        }
        steps.extend(rollout_steps(&list.rollouts));
        steps.sort_by_key(|step| step.from);
        let mut cluster = portrait(timeline, end);
        cluster.openshift = updates
            .filter(|updates| updates.is_seen)
            .map(|updates| updates.version);
        Self {
            cluster,
            steps,
            unread,
            list,
        }
    }
}

fn step(update: &ClusterUpdate, is_end_known: bool) -> StoryStep {
    let mut words = update.words();
    if update.requests.iter().any(|request| request.is_forced) {
        words.push_str(", forced");
    }
    if update.is_older {
        words.push_str(", begun before the recording");
    }
    match &update.end {
        Some(end) => words = format!("{words}: {}", end.how.as_str()),
        None if is_end_known => words.push_str(": not complete at the end"),
        None => words.push_str(": end not observed"),
    }
    StoryStep {
        from: update.first.at,
        to: update.end.map(|end| end.mark.at),
        is_older: update.is_older,
        words,
        rollouts: Vec::new(),
    }
}

fn pool_step(pool: &PoolUpdate, is_end_known: bool) -> StoryStep {
    let older = if pool.is_older {
        ", begun before the recording"
    } else {
        ""
    };
    let nodes = match pool.machines {
        1 => "1 Node".to_owned(),
        some => format!("{some} Nodes"),
    };
    let outcome = match (pool.done, pool.deleted) {
        (Some(_), _) => format!("complete, {nodes}"),
        (None, Some(_)) => format!(
            "the pool was deleted with {} of {nodes} updated",
            pool.updated
        ),
        (None, None) if is_end_known => {
            format!("{} of {nodes} updated at the end", pool.updated)
        }
        (None, None) => "end not observed".to_owned(),
    };
    StoryStep {
        from: pool.began.at,
        to: pool.over().map(|over| over.at),
        is_older: pool.is_older,
        words: format!(
            "update of MachineConfigPool {}{older}: {outcome}",
            pool.name
        ),
        rollouts: Vec::new(),
    }
}

/// Makes one step of each run of rollouts that follow one another closely.
fn rollout_steps(rollouts: &[WorkloadRollout]) -> impl Iterator<Item = StoryStep> + '_ {
    let is_near =
        |one: &WorkloadRollout, next: &WorkloadRollout| between(one.from, next.from) <= TOGETHER;
    rollouts.chunk_by(is_near).filter_map(rollout_step)
}

fn rollout_step(rollouts: &[WorkloadRollout]) -> Option<StoryStep> {
    let first = rollouts.first()?;
    let label = first.workload.label();
    let all = rollouts.iter();
    let namespaces: BTreeSet<&str> = all
        .clone()
        .map(|one| one.workload.namespace.as_str())
        .collect();
    let count = rollouts.len();
    // The first workload comes last: a narrow screen cuts the end, and the outcome is not to be missed.
    let (what, first_of) = match (count, namespaces.len()) {
        (1, _) => (format!("rollout of {label}"), None),
        _ if all.clone().all(|one| one.workload == first.workload) => {
            (format!("{count} rollouts of {label}"), None)
        }
        (_, 1) => (format!("{count} rollouts in one namespace"), Some(label)),
        (_, more) => (
            format!("{count} rollouts in {more} namespaces"),
            Some(label),
        ),
    };
    let first_of = first_of.map_or_else(String::new, |label| format!("; the first of {label}"));
    let older = match all.clone().filter(|one| one.is_older).count() {
        0 => String::new(),
        _ if count == 1 => ", begun while it was not observed".to_owned(),
        some => format!(", {some} begun while not observed"),
    };
    let ends: Option<Vec<RecordedAt>> = all.clone().map(|one| one.to).collect();
    Some(StoryStep {
        from: first.from,
        to: ends
            .and_then(|ends| ends.into_iter().max())
            .filter(|to| *to > first.from),
        is_older: first.is_older,
        words: format!("{what}{older}: {}{first_of}", outcomes(rollouts)),
        rollouts: rollouts.to_vec(),
    })
}

/// Words how rollouts ended.
fn outcomes(rollouts: &[WorkloadRollout]) -> String {
    let mut counts: BTreeMap<(RolloutOutcome, bool), usize> = BTreeMap::new();
    for one in rollouts {
        *counts.entry((one.outcome, one.to.is_some())).or_default() += 1;
    }
    let parts = counts.into_iter().map(|((outcome, is_dated), count)| {
        let words = match outcome {
            RolloutOutcome::Complete if is_dated => "complete",
            RolloutOutcome::Complete => "complete, end not observed",
            RolloutOutcome::Replaced => "replaced by another rollout",
            RolloutOutcome::Deleted => "workload deleted",
            RolloutOutcome::Incomplete => "not complete at the end",
            RolloutOutcome::Unknown => "end not observed",
        };
        match count {
            1 if rollouts.len() == 1 => words.to_owned(),
            count if count == rollouts.len() && words == "complete" => format!("all {words}"),
            count => format!("{count} {words}"),
        }
    });
    parts.collect::<Vec<_>>().join(", ")
}

fn portrait(timeline: &Timeline, end: Cut) -> ClusterPortrait {
    let mut portrait = ClusterPortrait::default();
    for version in timeline
        .clusters()
        .iter()
        .flat_map(|cluster| &cluster.versions)
    {
        if !portrait.kubernetes.contains(version) {
            portrait.kubernetes.push(version.clone());
        }
    }
    let nodes = resources(timeline, "", "nodes");
    portrait.has_unreadable_nodes = nodes.is_empty() && timeline.has_lost_records();
    for resource in nodes {
        let state = timeline.as_of(resource, end, &ObjectFilter::default());
        // A resource that was never listed has none.
        portrait.are_nodes_recorded |= state.certainty.has_state() || !state.objects.is_empty();
        portrait.node_count += state.objects.len();
        portrait.has_unreadable_nodes |= state.certainty.is_damage();
        for node in state
            .objects
            .iter()
            .filter_map(|held| read(timeline, held.seq))
        {
            for role in node_roles(&node) {
                *portrait.nodes.entry(role.to_owned()).or_default() += 1;
            }
        }
    }
    for resource in resources(timeline, "config.openshift.io", "infrastructures") {
        let state = timeline.as_of(resource, end, &ObjectFilter::default());
        let mut bodies = state
            .objects
            .iter()
            .filter_map(|held| read(timeline, held.seq));
        portrait.platform = bodies.next().and_then(|body| {
            let found = body.pointer("/status/platformStatus/type")?;
            found.as_str().map(str::to_owned)
        });
    }
    portrait
}
