//! The story of one installation or upgrade as a whole. It reads the versions of the objects
//! concerned, and nothing else of the reel. What was not observed is named, never filled in.

use super::node_update::{NodeJoin, NodeUpdate, PoolUpdate, PoolUpdates};
use super::operator_move::{MoveGoal, OperatorMove, ReportedWaits};
use super::pace::{Stall, UpdatePart};
use super::retrieval::{NAMESPACE, Retrievals, mark_of};
use super::spell::{SpellKind, UnhealthySpell};
use super::update::{ClusterUpdate, HowUpdateEnded, UpdateKind};
use super::{node_update, operator_move, pace, spell, update};
use crate::condition::StatusCondition;
use crate::health::StateKind;
use crate::history::{ClusterHistory, ParsedVersion};
use crate::mark::{MarkSpan, MarkedCondition, MarkedMessage, RecordMark};
use crate::objects::{
    HistoryEntry, MachineConfig, NodeObject, OperatorObject, PoolObject, VersionObject, pool_of,
};
use kubereel_format::{NotCoveredReason, RecordedAt, ResourceId, Seq, qualified};
use kubereel_history::{Certainty, Cut, EventQuestion, LoggedEvent, QueryError, UnobservedSpan};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const OPERATORS: (&str, &str) = ("config.openshift.io", "clusteroperators");
/// The namespace of Events about nodes.
const NODE_EVENTS: &str = "default";

const VERSION: (&str, &str) = ("config.openshift.io", "clusterversions");
const NODES: (&str, &str) = ("", "nodes");
const POOLS: (&str, &str) = ("machineconfiguration.openshift.io", "machineconfigpools");
const VERSION_NAME: &str = "version";

/// The installations and upgrades of a recording, up to a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Updates {
    /// All of them, in the order of their begins.
    pub all: Vec<ClusterUpdate>,
    /// Whether `ClusterVersion` was observed.
    pub is_seen: bool,
    /// The version in the last newest entry of the history; may be empty.
    pub version: String,
    /// When that entry was completed, by the operator's own clock; `None` if it was not.
    pub completed: Option<RecordedAt>,
    /// The queried moment, or the end of the recording if that comes first.
    pub now: RecordedAt,
    /// Whether `ClusterVersion` is known at that moment: otherwise an update without an outcome may
    /// have ended unobserved.
    pub is_end_known: bool,
    /// Up to when `ClusterVersion` is known; the queried moment if it is known then. What lasts is
    /// counted to it.
    pub until: RecordedAt,
}

/// The records with which an upgrade begins and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpgradeRecords {
    /// The first one.
    pub first: Seq,
    /// The last one; `None` if it had not ended.
    pub last: Option<Seq>,
    /// Whether the end cannot have been missed.
    is_end_known: bool,
}

impl UpgradeRecords {
    /// Says why there is no last record.
    pub const fn words_without_end(self) -> &'static str {
        if self.is_end_known {
            "the upgrade was not over when the recording ended"
        } else {
            "the end of the upgrade was not observed"
        }
    }
}

impl Updates {
    /// Returns the records of the first upgrade: the meaning of `upgrade:start` and `upgrade:end`.
    pub fn first_upgrade(&self) -> Option<UpgradeRecords> {
        let mut all = self.all.iter();
        let update = all.find(|update| update.kind == UpdateKind::Upgrade)?;
        Some(UpgradeRecords {
            first: update.first.seq,
            last: update.end.as_ref().map(|end| end.mark.seq),
            is_end_known: self.is_end_known,
        })
    }
}

/// The story of one installation or upgrade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpgradeStory {
    /// The requests and the outcome.
    pub update: ClusterUpdate,
    /// The moment of this story.
    pub now: RecordedAt,
    /// When everything had ended, including nodes; `None` if it had not.
    pub over: Option<RecordMark>,
    /// Whether what it waits for is known at that moment: `ClusterVersion`, and nodes and pools
    /// after that. Otherwise it may have ended unobserved.
    pub is_end_known: bool,
    /// Since when objects are not known up to that moment, by resource (plural) and name.
    unknown: BTreeMap<(&'static str, String), RecordedAt>,
    /// The attempts to retrieve the payload.
    pub retrievals: Retrievals,
    /// The operators in the order in which they moved; those that did not arrive last.
    pub operators: Vec<OperatorMove>,
    /// The problems, in the order of their begins.
    pub spells: Vec<UnhealthySpell>,
    /// The progress messages of `ClusterVersion`; each only if it differs from the one before.
    pub progress: Vec<MarkedCondition>,
    /// The changes of the leading process of the cluster-version operator.
    pub handovers: Vec<LeaderHandover>,
    /// The pools that were updated.
    pub pools: Vec<PoolUpdate>,
    /// The nodes that were updated, in the order of their begins.
    pub nodes: Vec<NodeUpdate>,
    /// The nodes that joined.
    pub joins: Vec<NodeJoin>,
    /// The stalls.
    pub stalls: Vec<Stall>,
    /// The slowest parts.
    pub slowest: Vec<UpdatePart>,
    /// What was not observed.
    pub not_seen: Vec<UnobservedSource>,
}

impl ClusterHistory<'_> {
    /// Finds the installations and upgrades up to a moment, by the versions of `ClusterVersion`
    /// alone.
    ///
    /// # Errors
    /// When the reel is damaged there, or a version is not an object.
    pub fn updates(self, cut: Cut) -> Result<Updates, QueryError> {
        let versions = self.cluster_versions(cut)?;
        let last = versions.iter().rfind(|seen| !seen.is_gone);
        let newest = last.and_then(|seen| seen.body.status.history.first());
        let now = self.story_time(cut);
        let until = if self.is_last_of(&versions, cut) {
            self.unknown_since(VERSION, VERSION_NAME, cut)
        } else {
            versions.last().map(|seen| seen.mark.at)
        };
        Ok(Updates {
            all: update::updates(&versions),
            is_seen: last.is_some(),
            version: newest.map_or_else(String::new, |newest| newest.version.clone()),
            completed: newest.and_then(HistoryEntry::completed),
            now,
            is_end_known: self.are_known(&[VERSION], cut) && self.is_last_of(&versions, cut),
            until: until.unwrap_or(now).min(now),
        })
    }

    /// Returns the story of one of the updates, as it was known at the moment for which the updates
    /// were found.
    ///
    /// # Errors
    /// When the reel is damaged there, or a version is not an object.
    pub fn upgrade_story(
        self,
        updates: &Updates,
        update: &ClusterUpdate,
        cut: Cut,
    ) -> Result<UpgradeStory, QueryError> {
        let versions = self.cluster_versions(cut)?;
        let mut after = updates.all.iter();
        let next = after.find(|other| other.first > update.first);
        let window = UpdateWindow::of(update, next.map(|next| next.first));
        let mut story = UpgradeStory {
            update: update.clone(),
            now: updates.now,
            over: None,
            is_end_known: true,
            unknown: BTreeMap::new(),
            retrievals: self.retrievals_of(update, &window, cut)?,
            operators: Vec::new(),
            spells: spell::spells(
                SpellKind::Failing,
                &self.condition_tracks(StateKind::Version, VERSION_NAME, &versions, |body| {
                    &body.status.conditions
                }),
                versions.first().is_some_and(|first| first.is_first_look),
            ),
            progress: progress(&versions, &window),
            handovers: self.handovers(cut)?,
            pools: Vec::new(),
            nodes: Vec::new(),
            joins: Vec::new(),
            stalls: Vec::new(),
            slowest: Vec::new(),
            not_seen: Vec::new(),
        };
        let waits = ReportedWaits::of(&versions);
        drop(versions);
        if updates.until < updates.now {
            let version = (VERSION.1, VERSION_NAME.to_owned());
            story.unknown.insert(version, updates.until);
        }
        self.tell_operators(&mut story, &waits, &window, cut)?;
        self.tell_nodes(&mut story, &window, cut)?;
        story.over = over(&story, &window);
        story.is_end_known = if update.end.is_none() {
            updates.is_end_known
        } else {
            let are_known = !self.has_skipped() && self.are_known(&[NODES, POOLS], cut);
            story.over.is_some() || are_known
        };
        let end = story.over.or(window.to);
        let to = end.map_or(story.now, |end| end.at);
        story.not_seen = self.not_seen(window.from.at, to, cut);
        story.settle(window.from, end);
        // What moved last may have gone on unobserved.
        let are_moves_known =
            !self.has_skipped() && self.are_known(&[VERSION, OPERATORS, NODES], cut);
        story.stalls = pace::stalls(&story, end, are_moves_known.then_some(story.now));
        story.slowest = pace::slowest(&story);
        Ok(story)
    }

    /// Returns since when an object is not known up to a moment; `None` if it is known.
    fn unknown_since(
        self,
        (group, plural): (&str, &str),
        name: &str,
        cut: Cut,
    ) -> Option<RecordedAt> {
        let resources = self.timeline.resources();
        let named = *self.resources_named(group, plural).first()?;
        let resource = self.timeline.resource_at(resources.get(named)?, cut);
        let object = ("", name);
        self.timeline.unknown_since_at(resource.id, object, cut)
    }

    /// Notes whether an object that a story is about is known at its moment.
    fn note_unknown(
        self,
        story: &mut UpgradeStory,
        resource: (&str, &'static str),
        name: &str,
        cut: Cut,
    ) {
        if let Some(since) = self.unknown_since(resource, name, cut) {
            let object = (resource.1, name.to_owned());
            story.unknown.insert(object, since.min(story.now));
        }
    }

    /// Returns the wall-clock time of a story.
    pub(crate) fn story_time(self, cut: Cut) -> RecordedAt {
        match cut {
            Cut::Arrival { wall, .. } => wall.min(self.timeline.end()),
            Cut::Revision(_) => {
                let resources = self.resources_named(VERSION.0, VERSION.1);
                let times = resources.iter().map(|id| self.timeline.wall_at(*id, cut));
                times.max().unwrap_or_else(|| self.timeline.end())
            }
        }
    }

    pub(crate) fn cluster_versions(
        self,
        cut: Cut,
    ) -> Result<Vec<ParsedVersion<VersionObject>>, QueryError> {
        let tracks = self.tracks(VERSION, cut, |key| key.name == VERSION_NAME);
        let mut all = Vec::new();
        self.read_tracks(&tracks, |_, seen| {
            all.extend(seen?);
            Ok(())
        })?;
        Ok(all)
    }

    /// Returns whether the last version of `ClusterVersion` is among those that were read.
    fn is_last_of(self, read: &[ParsedVersion<VersionObject>], cut: Cut) -> bool {
        let tracks = self.tracks(VERSION, cut, |key| key.name == VERSION_NAME);
        let last = tracks.values().filter_map(|seqs| seqs.last()).max();
        last.copied() == read.last().map(|seen| seen.mark.seq)
    }

    /// Returns the attempts of one of the updates.
    fn retrievals_of(
        self,
        update: &ClusterUpdate,
        window: &UpdateWindow,
        cut: Cut,
    ) -> Result<Retrievals, QueryError> {
        // The payload of an update that ran before the recording was retrieved before it.
        if update.is_older && update.requests.is_empty() {
            return Ok(Retrievals::default());
        }
        // The last condition of an attempt arrives with the acceptance.
        let to = update.accepted.or(window.to).map(|to| {
            let later = RecordedAt::from_micros(to.at.micros + 1_000_000);
            self.mark(self.timeline.reel().seq_after(later))
        });
        Ok(self.retrievals(cut)?.within(window.from, to))
    }

    pub(super) fn logged(
        self,
        namespace: &str,
        severity: Option<&str>,
        from: Option<Cut>,
        cut: Cut,
    ) -> Result<Vec<LoggedEvent>, QueryError> {
        let question = EventQuestion {
            namespace: Some(namespace.to_owned()),
            from,
            to: Some(cut),
            about: None,
            severities: severity.map(str::to_owned).into_iter().collect(),
        };
        let mut all = Vec::new();
        for logged in self.timeline.event_log(question) {
            match logged {
                Ok(logged) => all.push(logged),
                Err(error) => self.skip(error)?,
            }
        }
        Ok(all)
    }

    /// Follows some operators through the installations and upgrades up to a moment: the moves of each, by its
    /// name. One that cannot be read has none.
    ///
    /// # Errors
    /// When the reel is damaged where the cluster version is, or a version of it is not an object.
    pub fn operator_moves(
        self,
        operators: &BTreeSet<String>,
        cut: Cut,
    ) -> Result<BTreeMap<String, Vec<(ClusterUpdate, OperatorMove)>>, QueryError> {
        let mut all = BTreeMap::new();
        if operators.is_empty() {
            return Ok(all);
        }
        // Thousands of versions take much memory: what is needed of them takes little.
        let (updates, waits) = {
            let versions = self.cluster_versions(cut)?;
            (update::updates(&versions), ReportedWaits::of(&versions))
        };
        let tracks = self.tracks(OPERATORS, cut, |key| operators.contains(key.name));
        self.read_tracks::<OperatorObject>(&tracks, |(_, operator), seen| {
            let Ok(seen) = seen else {
                return Ok(());
            };
            let mut moves = Vec::new();
            for (at, update) in updates.iter().enumerate() {
                let next = updates.get(at + 1).map(|next| next.first);
                let goal = goal(update, &UpdateWindow::of(update, next));
                let found =
                    goal.and_then(|goal| operator_move::follow(operator, &seen, &waits, &goal));
                moves.extend(found.map(|found| (update.clone(), found)));
            }
            all.insert(operator.clone(), moves);
            Ok(())
        })?;
        Ok(all)
    }

    fn tell_operators(
        self,
        story: &mut UpgradeStory,
        waits: &ReportedWaits,
        window: &UpdateWindow,
        cut: Cut,
    ) -> Result<(), QueryError> {
        let tracks = self.tracks(OPERATORS, cut, |_| true);
        let mut moves = Vec::new();
        self.read_tracks::<OperatorObject>(&tracks, |(_, name), seen| {
            let seen = seen?;
            let tracks =
                self.condition_tracks(StateKind::Operator, name, &seen, OperatorObject::conditions);
            let was_there = seen.first().is_some_and(|first| first.is_first_look);
            for ill in [SpellKind::Unavailable, SpellKind::Degraded] {
                story.spells.extend(spell::spells(ill, &tracks, was_there));
            }
            self.note_unknown(story, OPERATORS, name, cut);
            if let Some(goal) = goal(&story.update, window) {
                moves.extend(operator_move::follow(name, &seen, waits, &goal));
            }
            Ok(())
        })?;
        story.operators = operator_move::in_order(moves);
        Ok(())
    }

    /// Finds the updates of the pools of Nodes up to a moment, whatever they were for.
    ///
    /// # Errors
    /// When the reel is damaged there, or a version is not an object.
    pub fn pool_updates(self, cut: Cut) -> Result<PoolUpdates, QueryError> {
        let tracks = self.tracks(POOLS, cut, |_| true);
        let mut all = Vec::new();
        self.read_tracks::<PoolObject>(&tracks, |(_, name), seen| {
            let is_same = |one, other| self.is_same_life(one, other);
            all.extend(node_update::pool_updates(name, &seen?, is_same));
            Ok(())
        })?;
        all.sort_by_key(|update| update.began);
        Ok(PoolUpdates {
            all,
            is_end_known: self.are_known(&[POOLS], cut),
        })
    }

    fn tell_nodes(
        self,
        story: &mut UpgradeStory,
        window: &UpdateWindow,
        cut: Cut,
    ) -> Result<(), QueryError> {
        let mut pools: BTreeMap<String, PoolObject> = BTreeMap::new();
        let tracks = self.tracks(POOLS, cut, |_| true);
        self.read_tracks::<PoolObject>(&tracks, |(_, name), seen| {
            let seen = seen?;
            let is_same = |one, other| self.is_same_life(one, other);
            self.note_unknown(story, POOLS, name, cut);
            let updates = node_update::pool_updates(name, &seen, is_same).into_iter();
            let within = updates.filter(|update| window.holds(update.began));
            story.pools.extend(within);
            if let Some(last) = seen.into_iter().next_back().filter(|seen| !seen.is_gone) {
                pools.insert(name.clone(), last.body);
            }
            Ok(())
        })?;
        story.pools.sort_by_key(|update| update.began);
        let tracks = self.tracks(NODES, cut, |_| true);
        self.read_tracks::<NodeObject>(&tracks, |(_, name), seen| {
            let seen = seen?;
            let tracks =
                self.condition_tracks(StateKind::Node, name, &seen, NodeObject::conditions);
            self.note_unknown(story, NODES, name, cut);
            let is_same = |one, other| self.is_same_life(one, other);
            let tale = node_update::tale(name, &seen, &tracks, is_same);
            story.spells.extend(tale.not_ready);
            let joins = tale.joins.into_iter();
            story
                .joins
                .extend(joins.filter(|join| window.holds(join.joined)));
            let labels = seen.last().map(|seen| seen.body.labels());
            let pool = labels.and_then(|labels| pool_of(&pools, labels));
            for mut update in tale.updates {
                if window.holds(update.began) {
                    update.pool = pool.cloned().unwrap_or_default();
                    story.nodes.push(update);
                }
            }
            Ok(())
        })?;
        story.nodes.sort_by_key(|update| update.began);
        story.joins.sort_by_key(|join| join.joined);
        self.tell_releases(&mut story.nodes, cut)?;
        self.find_holds(cut, &mut story.nodes)?;
        self.tell_warnings(&mut story.nodes, window, cut)
    }

    /// Finds the releases of the configurations of nodes.
    fn tell_releases(self, nodes: &mut [NodeUpdate], cut: Cut) -> Result<(), QueryError> {
        let group = "machineconfiguration.openshift.io";
        let tracks = self.tracks((group, "machineconfigs"), cut, |key| {
            nodes.iter().any(|node| node.to_config == key.name)
        });
        for ((_, name), seqs) in &tracks {
            let Some(&last) = seqs.last() else {
                continue;
            };
            let config = match self.read_seq::<MachineConfig>(last) {
                Ok(config) => config,
                Err(error) => {
                    self.skip(error)?;
                    continue;
                }
            };
            for node in nodes.iter_mut().filter(|node| node.to_config == *name) {
                config.body.release().clone_into(&mut node.to_version);
            }
        }
        Ok(())
    }

    fn tell_warnings(
        self,
        nodes: &mut [NodeUpdate],
        window: &UpdateWindow,
        cut: Cut,
    ) -> Result<(), QueryError> {
        if nodes.is_empty() {
            return Ok(());
        }
        let from = Cut::Arrival {
            below: window.from.seq,
            wall: window.from.at,
        };
        for logged in self.logged(NODE_EVENTS, Some("Warning"), Some(from), cut)? {
            let about = &logged.content.regarding;
            if about.kind != "Node" {
                continue;
            }
            let mark = mark_of(&logged);
            let mut running = nodes.iter_mut().filter(|node| {
                node.node == about.name
                    && node.began <= mark
                    && node.over().is_none_or(|over| mark <= over)
            });
            if let Some(node) = running.next() {
                node.warnings.push(MarkedMessage {
                    mark,
                    reason: logged.content.reason.clone(),
                    message: logged.content.message.clone(),
                });
            }
        }
        Ok(())
    }
}

/// The time of an update.
struct UpdateWindow {
    from: RecordMark,
    /// When it was accepted; its begin if that was not observed.
    taken_up: RecordMark,
    /// The next update, or the end of this one without completion.
    to: Option<RecordMark>,
}

/// Returns the context of the operators. Until a release is accepted, no operator moves to it.
fn goal<'a>(update: &'a ClusterUpdate, window: &UpdateWindow) -> Option<MoveGoal<'a>> {
    let target = update.target.as_ref()?;
    Some(MoveGoal {
        version: &target.version,
        from: window.taken_up,
        to: window.to,
    })
}

impl UpdateWindow {
    fn of(update: &ClusterUpdate, next: Option<RecordMark>) -> Self {
        let end = update
            .end
            .filter(|end| end.how != HowUpdateEnded::Completed);
        let taken_up = match update.kind {
            // The operators of an installation may exist before its history is written.
            UpdateKind::Install => update.first,
            UpdateKind::Upgrade => update.accepted.unwrap_or(update.first),
        };
        // A later request has no effect until it is accepted.
        let next = next.filter(|next| update.end.is_some_and(|end| end.mark <= *next));
        Self {
            from: update.first,
            taken_up,
            to: end.map(|end| end.mark).or(next),
        }
    }

    fn holds(&self, mark: RecordMark) -> bool {
        mark >= self.from && self.to.is_none_or(|to| mark < to)
    }
}

fn progress(
    versions: &[ParsedVersion<VersionObject>],
    window: &UpdateWindow,
) -> Vec<MarkedCondition> {
    let mut all: Vec<MarkedCondition> = Vec::new();
    let end = |mark: RecordMark| window.to.is_none_or(|to| mark <= to);
    let within = versions
        .iter()
        .filter(|seen| seen.mark >= window.taken_up && end(seen.mark) && !seen.is_gone);
    for seen in within {
        let Some(condition) = StatusCondition::find(&seen.body.status.conditions, "Progressing")
        else {
            continue;
        };
        let is_repeated = all.last().is_some_and(|last| {
            last.status == condition.status && last.message == condition.message
        });
        if !is_repeated {
            all.push(MarkedCondition {
                mark: seen.mark,
                status: condition.status.to_owned(),
                reason: condition.reason.to_owned(),
                message: condition.message.to_owned(),
            });
        }
    }
    all
}

/// Returns when an update had ended with all its nodes; `None` if it had not.
fn over(story: &UpgradeStory, window: &UpdateWindow) -> Option<RecordMark> {
    let end = story.update.end?;
    if end.how != HowUpdateEnded::Completed {
        return Some(end.mark);
    }
    let mut last = end.mark;
    for node in &story.nodes {
        last = last.max(node.over().or(window.to)?);
    }
    for pool in &story.pools {
        last = last.max(pool.over().or(window.to)?);
    }
    Some(last)
}

impl UpgradeStory {
    /// Returns the moment to which what lasts of an object is counted, by its resource (plural) and
    /// name: that of the story, or an earlier one after which its end may not have been observed.
    pub fn until(&self, plural: &'static str, name: &str) -> RecordedAt {
        let unknown = self.unknown.get(&(plural, name.to_owned()));
        unknown.copied().unwrap_or(self.now)
    }

    /// Returns whether the end of what lasts of an object may not have been observed.
    pub fn is_unknown(&self, plural: &'static str, name: &str) -> bool {
        self.unknown.contains_key(&(plural, name.to_owned()))
    }

    /// Keeps what lies in the time of the update.
    fn settle(&mut self, from: RecordMark, end: Option<RecordMark>) {
        let is_begun = |mark: RecordMark| end.is_none_or(|end| mark <= end);
        self.spells
            .retain(|spell| is_begun(spell.from) && spell.to.is_none_or(|to| to > from));
        for spell in &mut self.spells {
            let plural = spell.ill.plural();
            let span = MarkSpan {
                from: spell.from,
                to: spell.to,
            };
            spell.has_gap = has_gap(&self.not_seen, plural, span);
        }
        self.spells
            .sort_by(|a, b| (a.from, a.ill, &a.name).cmp(&(b.from, b.ill, &b.name)));
        self.handovers.retain(|handover| {
            let begins = [handover.released, handover.taken];
            let first = begins.into_iter().flatten().min();
            let last = begins.into_iter().flatten().max();
            first.is_some_and(is_begun) && last.is_some_and(|last| last >= from)
        });
        self.progress.retain(|condition| is_begun(condition.mark));
        for operator in &mut self.operators {
            operator.progressing.retain(|span| is_begun(span.from));
        }
    }
}

/// The information that each resource provides, in the order of weight.
const READ: [(&str, &str, &str); 9] = [
    (
        "config.openshift.io",
        "clusterversions",
        "requests, acceptance and completion",
    ),
    (
        "config.openshift.io",
        "clusteroperators",
        "operators' moves and spells",
    ),
    ("", "nodes", "node updates"),
    (
        "machineconfiguration.openshift.io",
        "machineconfigpools",
        "pools",
    ),
    (
        "machineconfiguration.openshift.io",
        "machineconfigs",
        "releases of nodes",
    ),
    ("", "pods", "version Pods, and Pods that held up a drain"),
    ("", "events", "retrieval attempts without a Pod"),
    (
        "coordination.k8s.io",
        "leases",
        "changes of the leading process",
    ),
    ("policy", "poddisruptionbudgets", "what held up a drain"),
];

/// An unobserved source of information.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnobservedSource {
    /// The resource, `nodes` or `clusterversions.config.openshift.io`.
    pub resource: String,
    /// The information that it would have provided.
    pub reports: &'static str,
    /// When; `None` if it was never observed.
    pub unseen: Option<UnobservedSpan>,
}

impl UnobservedSource {
    /// Returns the reason.
    pub fn reason(&self) -> String {
        let reason = self.unseen.as_ref().map(|unseen| unseen.reason.to_string());
        reason.unwrap_or_else(|| "not recorded".to_owned())
    }
}

impl ClusterHistory<'_> {
    /// Returns what was not observed between two moments.
    pub(super) fn not_seen(
        self,
        from: RecordedAt,
        to: RecordedAt,
        cut: Cut,
    ) -> Vec<UnobservedSource> {
        let mut all = Vec::new();
        for (group, plural, reports) in READ {
            let resources = if plural == "events" {
                self.timeline.event_resources()
            } else {
                self.resources_named(group, plural)
            };
            let name = qualified(plural, group);
            let not_seen = |unseen| UnobservedSource {
                resource: name.clone(),
                reports,
                unseen,
            };
            if !resources.iter().any(|id| self.is_seen(*id, cut)) {
                all.push(not_seen(None));
                continue;
            }
            let unseen = resources
                .iter()
                .flat_map(|id| self.timeline.unobserved(*id));
            let within = unseen.filter(|one| one.from < to && one.to > from);
            all.extend(within.map(|one| not_seen(Some(one.clone()))));
        }
        all
    }

    /// Returns whether a resource was ever observed up to a moment.
    fn is_seen(self, resource: ResourceId, cut: Cut) -> bool {
        match self.timeline.certainty(resource, cut) {
            Certainty::NotCovered { reason, .. } => reason == NotCoveredReason::SameStorage,
            Certainty::BeforeFirst { .. } => false,
            _ => true,
        }
    }
}

/// Returns whether a resource was not observed in a part of a time.
pub(super) fn has_gap(not_seen: &[UnobservedSource], plural: &str, span: MarkSpan) -> bool {
    not_seen.iter().any(|one| {
        let is_of = one
            .resource
            .strip_prefix(plural)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        is_of
            && one.unseen.as_ref().is_some_and(|unseen| {
                unseen.to > span.from.at && span.to.is_none_or(|end| unseen.from < end.at)
            })
    })
}

const LEASE: &str = "version";

/// A change of the leading process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderHandover {
    /// The previous leader; empty if there was none.
    pub from: String,
    /// When it released the lease; `None` if that was not observed: the lease expired, or it never
    /// had it.
    pub released: Option<RecordMark>,
    /// The next leader; empty if there was none.
    pub to: String,
    /// When it took over; `None` if there was none up to the queried moment.
    pub taken: Option<RecordMark>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Lease {
    spec: Option<LeaseSpec>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct LeaseSpec {
    holder_identity: Option<String>,
}

impl Lease {
    fn holder(&self) -> &str {
        let holder = self
            .spec
            .as_ref()
            .and_then(|spec| spec.holder_identity.as_ref());
        holder.map_or("", String::as_str)
    }
}

impl ClusterHistory<'_> {
    /// Reads the changes of the leading process, in order.
    pub(super) fn handovers(self, cut: Cut) -> Result<Vec<LeaderHandover>, QueryError> {
        let tracks = self.tracks(("coordination.k8s.io", "leases"), cut, |key| {
            key.namespace == NAMESPACE && key.name == LEASE
        });
        let mut all = Vec::new();
        self.read_tracks::<Lease>(&tracks, |_, seen| {
            all.extend(changes(&seen?));
            Ok(())
        })?;
        Ok(all)
    }
}

fn changes(versions: &[ParsedVersion<Lease>]) -> Vec<LeaderHandover> {
    let mut all: Vec<LeaderHandover> = Vec::new();
    let mut holder: Option<&str> = None;
    for seen in versions {
        let now = if seen.is_gone { "" } else { seen.body.holder() };
        if holder == Some(now) {
            continue;
        }
        let before = holder.replace(now);
        match (before, all.last_mut()) {
            (Some(""), Some(open)) if open.taken.is_none() => {
                now.clone_into(&mut open.to);
                open.taken = Some(seen.mark);
            }
            // The predecessor of the first observed leader is not known.
            (None, _) if seen.is_first_look => {}
            (before, _) => {
                let is_release = now.is_empty();
                all.push(LeaderHandover {
                    from: before.unwrap_or_default().to_owned(),
                    released: is_release.then_some(seen.mark),
                    to: now.to_owned(),
                    taken: (!is_release).then_some(seen.mark),
                });
            }
        }
    }
    all
}
