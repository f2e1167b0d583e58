//! The update of nodes and pools, phase by phase: cordoned, drained, rebooted, ready, uncordoned.
//! Every phase is reported by the node itself; Events only add messages. A drain is held up by the
//! `PodDisruptionBudgets` that allowed no eviction while one of their Pods was on the node: refused
//! evictions are responses to requests, which no watch shows.

use super::spell;
use super::spell::{SpellKind, UnhealthySpell};
use crate::condition::StatusCondition;
use crate::history::{ClusterHistory, ParsedVersion};
use crate::mark::{MarkSpan, MarkSpans, MarkedMessage, RecordMark, micros_between};
use crate::objects::{DRAIN, DisruptionBudget, NodeObject, PodObject, PoolObject};
use crate::state::StateTrack;
use kubereel_format::{EventType, ObjectId, RecordedAt, Seq};
use kubereel_history::{Cut, LabelSelector, QueryError};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The update of one node to a new configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeUpdate {
    /// The node.
    pub node: String,
    /// Its pool: `master`, or the pool that selects it; empty if none was recorded.
    pub pool: String,
    /// The configuration before.
    pub from_config: String,
    /// The new configuration.
    pub to_config: String,
    /// The release of that configuration; empty if it was not recorded.
    pub to_version: String,
    /// When the change was requested.
    pub began: RecordMark,
    /// Whether it was requested before the observation.
    pub is_older: bool,
    /// When it was cordoned.
    pub cordoned: Option<RecordMark>,
    /// When it was drained.
    pub drain: Option<MarkSpan>,
    /// From the report of the reboot to a new boot id.
    pub reboot: Option<MarkSpan>,
    /// When it was not ready.
    pub not_ready: Vec<MarkSpan>,
    /// When it was ready again after its reboot.
    pub ready: Option<RecordMark>,
    /// When it had the new configuration.
    pub done: Option<RecordMark>,
    /// When it was uncordoned.
    pub uncordoned: Option<RecordMark>,
    /// When the node was deleted, or replaced under its name, before its update was over.
    pub deleted: Option<RecordMark>,
    /// When its daemon gave up, with the reason.
    pub degraded: Vec<(MarkSpan, String)>,
    /// Budgets that allowed no eviction while it was drained.
    pub blocked_by: Vec<DrainHold>,
    /// Warning Events about it.
    pub warnings: Vec<MarkedMessage>,
}

/// A node that joined, in an installation or later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeJoin {
    /// The node.
    pub node: String,
    /// When it was first observed.
    pub joined: RecordMark,
    /// When it was first ready.
    pub ready: Option<RecordMark>,
}

impl NodeUpdate {
    /// Returns when the update of the node was over: it was uncordoned, had its configuration, or
    /// was deleted.
    pub fn over(&self) -> Option<RecordMark> {
        if self.deleted.is_some() {
            return self.deleted;
        }
        self.done?;
        if self.cordoned.is_some() {
            self.uncordoned
                .max(self.done)
                .filter(|_| self.uncordoned.is_some())
        } else {
            self.done
        }
    }

    /// Returns its length in microseconds; an open span lasts until `now`.
    pub fn micros(&self, now: RecordedAt) -> u64 {
        micros_between(self.began.at, self.over().map_or(now, |over| over.at))
    }
}

/// The observations of a node's versions.
#[derive(Debug, Default)]
pub(super) struct NodeHistory {
    pub(super) updates: Vec<NodeUpdate>,
    /// One for each object of the name that joined.
    pub(super) joins: Vec<NodeJoin>,
    /// When it was not ready without an update.
    pub(super) not_ready: Vec<UnhealthySpell>,
}

/// Reads the update of a node.
pub(super) fn tale(
    name: &str,
    versions: &[ParsedVersion<NodeObject>],
    tracks: &[StateTrack],
    is_same: impl Fn(ObjectId, ObjectId) -> bool,
) -> NodeHistory {
    let mut tale = NodeHistory::default();
    let mut open: Option<OpenNodeUpdate> = None;
    let mut life: Option<ObjectId> = None;
    for (place, seen) in versions.iter().enumerate() {
        let node = &seen.body;
        let is_new = life.is_none_or(|life| !is_same(life, seen.object));
        // A Node may be replaced under its name without a recorded deletion.
        if seen.is_gone || is_new {
            let gone = open.take().map(|open| open.end(Some(seen.mark)));
            tale.updates.extend(gone);
        }
        if seen.is_gone {
            life = None;
            continue;
        }
        life = Some(seen.object);
        // A later object of the name was not there at the first look.
        if is_new && (place > 0 || !seen.is_first_look) {
            tale.joins.push(NodeJoin {
                node: name.to_owned(),
                joined: seen.mark,
                ready: None,
            });
        }
        // Only the first object of a name can be without a join: the last one is that of this object.
        if let Some(join) = tale.joins.last_mut()
            && node.is_ready()
        {
            join.ready.get_or_insert(seen.mark);
        }
        let (current, desired) = (node.noted("currentConfig"), node.noted("desiredConfig"));
        let is_told = !desired.is_empty() && !current.is_empty() && desired != current;
        if is_told {
            let is_other = open
                .as_ref()
                .is_some_and(|open| open.update.to_config != desired);
            if is_other {
                tale.updates.extend(open.take().map(|open| open.end(None)));
            }
            open.get_or_insert_with(|| OpenNodeUpdate::begin(name, seen, is_new));
        }
        if let Some(running) = &mut open {
            running.take(seen);
            if running.update.over().is_some() {
                tale.updates.extend(open.take().map(|open| open.end(None)));
            }
        }
    }
    tale.updates.extend(open.map(|open| open.end(None)));
    let updates = &tale.updates;
    let was_there = versions.first().is_some_and(|first| first.is_first_look);
    tale.not_ready = spell::spells(SpellKind::NotReady, tracks, was_there)
        .into_iter()
        .filter(|spell| !updates.iter().any(|update| covers(update, spell.from)))
        .collect();
    tale
}

fn covers(update: &NodeUpdate, mark: RecordMark) -> bool {
    let is_before_end = |over: RecordMark| {
        // What begins with the record that replaces a Node is of its successor.
        mark < over || (mark == over && update.deleted.is_none())
    };
    update.began <= mark && update.over().is_none_or(is_before_end)
}

struct OpenNodeUpdate {
    update: NodeUpdate,
    first_boot: String,
    draining: Option<RecordMark>,
    rebooting: Option<RecordMark>,
    not_ready: MarkSpans,
    degraded: MarkSpans,
    why_degraded: Vec<String>,
}

impl OpenNodeUpdate {
    fn begin(name: &str, seen: &ParsedVersion<NodeObject>, is_first: bool) -> Self {
        let node = &seen.body;
        Self {
            update: NodeUpdate {
                node: name.to_owned(),
                pool: String::new(),
                from_config: node.noted("currentConfig").to_owned(),
                to_config: node.noted("desiredConfig").to_owned(),
                to_version: String::new(),
                began: seen.mark,
                is_older: is_first,
                cordoned: None,
                drain: None,
                reboot: None,
                not_ready: Vec::new(),
                ready: None,
                done: None,
                uncordoned: None,
                deleted: None,
                degraded: Vec::new(),
                blocked_by: Vec::new(),
                warnings: Vec::new(),
            },
            first_boot: node.boot_id().to_owned(),
            draining: None,
            rebooting: None,
            not_ready: MarkSpans::default(),
            degraded: MarkSpans::default(),
            why_degraded: Vec::new(),
        }
    }

    fn take(&mut self, seen: &ParsedVersion<NodeObject>) {
        let (node, mark) = (&seen.body, seen.mark);
        let update = &mut self.update;
        let (desired, applied) = (node.noted("desiredDrain"), node.noted("lastAppliedDrain"));
        if node.is_unschedulable() {
            update.cordoned.get_or_insert(mark);
        } else if update.cordoned.is_some() {
            update.uncordoned.get_or_insert(mark);
        }
        let is_asked = desired.starts_with(DRAIN) && desired != applied;
        // A drain begins with the cordon; both are requested a little earlier.
        if is_asked && node.is_unschedulable() {
            self.draining.get_or_insert(mark);
        }
        if desired.starts_with(DRAIN)
            && desired == applied
            && update.drain.is_none()
            && let Some(from) = self.draining
        {
            update.drain = Some(MarkSpan::between(from, mark));
        }
        if node.noted("state") == "Rebooting" {
            self.rebooting.get_or_insert(mark);
        }
        let is_rebooted = !self.first_boot.is_empty()
            && !node.boot_id().is_empty()
            && node.boot_id() != self.first_boot;
        if is_rebooted && update.reboot.is_none() {
            let drained = update.drain.and_then(|drain| drain.to);
            let from = self.rebooting.or(drained).unwrap_or(mark);
            update.reboot = Some(MarkSpan::between(from, mark));
        }
        self.not_ready.note(mark, !node.is_ready());
        if update.reboot.is_some() && node.is_ready() {
            update.ready.get_or_insert(mark);
        }
        let is_degraded = node.is_degraded();
        self.degraded.note(mark, is_degraded);
        if is_degraded {
            let why = node.noted("reason").to_owned();
            if self.why_degraded.last() != Some(&why) {
                self.why_degraded.push(why);
            }
        }
        if node.noted("currentConfig") == update.to_config && node.noted("state") == "Done" {
            update.done.get_or_insert(mark);
        }
    }

    /// Ends the update, whose node was `deleted` in the middle of it or not: nothing of a node
    /// lasts beyond its deletion.
    fn end(mut self, deleted: Option<RecordMark>) -> NodeUpdate {
        let mut update = self.update;
        let until = |from: RecordMark| {
            let open = MarkSpan { from, to: None };
            deleted.map_or(open, |deleted| MarkSpan::between(from, deleted))
        };
        if let (None, Some(from)) = (update.drain, self.draining) {
            update.drain = Some(until(from));
        }
        if let (None, Some(from)) = (update.reboot, self.rebooting) {
            update.reboot = Some(until(from));
        }
        if let Some(deleted) = deleted {
            self.not_ready.note(deleted, false);
            self.degraded.note(deleted, false);
        }
        update.deleted = deleted;
        update.not_ready = self.not_ready.all();
        let why = self.why_degraded.join("; ");
        let degraded = self.degraded.all().into_iter();
        update.degraded = degraded.map(|span| (span, why.clone())).collect();
        update
    }
}

/// The update of one pool to a new configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolUpdate {
    /// The pool.
    pub name: String,
    /// When it was first observed not updated.
    pub began: RecordMark,
    /// Whether it was so at the first look.
    pub is_older: bool,
    /// When it reported that it is updated again.
    pub done: Option<RecordMark>,
    /// When the pool was deleted, or replaced under its name, before it was updated.
    pub deleted: Option<RecordMark>,
    /// The target configuration.
    pub to_config: String,
    /// The last number of machines.
    pub machines: u64,
    /// The last number of machines with the configuration.
    pub updated: u64,
    /// When it was paused.
    pub paused: Vec<MarkSpan>,
    /// When it was degraded.
    pub degraded: Vec<MarkSpan>,
}

impl PoolUpdate {
    /// Returns when the update of the pool was over: it was updated, or deleted.
    pub fn over(&self) -> Option<RecordMark> {
        self.done.or(self.deleted)
    }
}

/// The updates of pools of Nodes in a recording, up to a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolUpdates {
    /// All of them, in the order of their begins.
    pub all: Vec<PoolUpdate>,
    /// Whether the pools are known at that moment: otherwise an update may have ended unobserved.
    pub is_end_known: bool,
}

struct OpenPoolUpdate {
    update: PoolUpdate,
    paused: MarkSpans,
    degraded: MarkSpans,
}

/// Reads the updates of a pool.
pub(super) fn pool_updates(
    name: &str,
    versions: &[ParsedVersion<PoolObject>],
    is_same: impl Fn(ObjectId, ObjectId) -> bool,
) -> Vec<PoolUpdate> {
    let mut all = Vec::new();
    let mut open: Option<OpenPoolUpdate> = None;
    let mut life: Option<ObjectId> = None;
    for seen in versions {
        // A pool may be replaced under its name without a recorded deletion.
        if seen.is_gone || life.is_some_and(|life| !is_same(life, seen.object)) {
            all.extend(open.take().map(|open| open.end(Some(seen.mark))));
        }
        if seen.is_gone {
            life = None;
            continue;
        }
        life = Some(seen.object);
        let conditions = &seen.body.status.conditions;
        let has_condition = |kind: &str, status: &str| {
            StatusCondition::find(conditions, kind).is_some_and(|condition| condition.is(status))
        };
        // A paused pool reports neither that it is updated nor that it is updating.
        if has_condition("Updated", "False") && open.is_none() {
            open = Some(OpenPoolUpdate {
                update: PoolUpdate {
                    name: name.to_owned(),
                    began: seen.mark,
                    is_older: seen.is_first_look,
                    done: None,
                    deleted: None,
                    to_config: String::new(),
                    machines: 0,
                    updated: 0,
                    paused: Vec::new(),
                    degraded: Vec::new(),
                },
                paused: MarkSpans::default(),
                degraded: MarkSpans::default(),
            });
        }
        let Some(running) = &mut open else {
            continue;
        };
        running.paused.note(seen.mark, seen.body.spec.paused);
        running
            .degraded
            .note(seen.mark, has_condition("Degraded", "True"));
        let update = &mut running.update;
        update
            .to_config
            .clone_from(&seen.body.spec.configuration.name);
        update.machines = seen.body.status.machine_count;
        update.updated = seen.body.status.updated_machine_count;
        if has_condition("Updated", "True") {
            update.done = Some(seen.mark);
            all.extend(open.take().map(|open| open.end(None)));
        }
    }
    all.extend(open.map(|open| open.end(None)));
    all
}

impl OpenPoolUpdate {
    /// Ends the update, whose pool was `deleted` in the middle of it or not.
    fn end(mut self, deleted: Option<RecordMark>) -> PoolUpdate {
        if let Some(deleted) = deleted {
            self.paused.note(deleted, false);
            self.degraded.note(deleted, false);
        }
        PoolUpdate {
            deleted,
            paused: self.paused.all(),
            degraded: self.degraded.all(),
            ..self.update
        }
    }
}

/// The shortest hold that is reported, in microseconds: replicas take turns within 0.2 s.
const SHORTEST_MICROS: u64 = 200_000;

/// A budget that allowed no eviction while a node was drained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrainHold {
    /// The budget's namespace.
    pub namespace: String,
    /// The budget.
    pub budget: String,
    /// The Pod on the node.
    pub pod: String,
    /// When both were true.
    pub span: MarkSpan,
}

struct BudgetHistory {
    namespace: String,
    name: String,
    versions: Vec<ParsedVersion<DisruptionBudget>>,
    /// When it allowed no eviction.
    exhausted: Vec<MarkSpan>,
}

/// A Pod on a node.
struct PodStay {
    name: String,
    labels: BTreeMap<String, String>,
    node: String,
    from: RecordMark,
    /// When its eviction was requested, or when it was gone.
    to: Option<RecordMark>,
}

impl ClusterHistory<'_> {
    /// Finds what held up the drains of nodes.
    pub(super) fn find_holds(self, cut: Cut, updates: &mut [NodeUpdate]) -> Result<(), QueryError> {
        let drains: Vec<(&str, MarkSpan)> = updates
            .iter()
            .filter_map(|update| Some((update.node.as_str(), update.drain?)))
            .collect();
        let mut holds = self.drain_holds(&drains, cut)?.into_iter();
        let drained = updates.iter_mut().filter(|update| update.drain.is_some());
        for update in drained {
            update.blocked_by = holds.next().unwrap_or_default();
        }
        Ok(())
    }

    /// Finds which budgets allowed no eviction while nodes were drained, or should have been: for
    /// each node and time the hold, in order.
    ///
    /// # Errors
    /// When the reel is damaged there, or a version is not an object.
    pub fn drain_holds(
        self,
        drains: &[(&str, MarkSpan)],
        cut: Cut,
    ) -> Result<Vec<Vec<DrainHold>>, QueryError> {
        if drains.is_empty() {
            return Ok(Vec::new());
        }
        let tracks = self.tracks(("policy", "poddisruptionbudgets"), cut, |_| true);
        let mut budgets = Vec::new();
        self.read_tracks::<DisruptionBudget>(&tracks, |(namespace, name), versions| {
            let versions = versions?;
            let mut exhausted = MarkSpans::default();
            for seen in &versions {
                exhausted.note(seen.mark, !seen.is_gone && seen.body.is_exhausted());
            }
            budgets.push(BudgetHistory {
                namespace: namespace.clone(),
                name: name.clone(),
                versions,
                exhausted: exhausted.all(),
            });
            Ok(())
        })?;
        let mut pods = PodStays::new(self, cut, &budgets);
        let mut all = Vec::new();
        for (node, drain) in drains {
            let mut holds: Vec<DrainHold> = Vec::new();
            for budget in &budgets {
                let overlaps: Vec<MarkSpan> = budget
                    .exhausted
                    .iter()
                    .filter_map(|span| overlap(*span, *drain))
                    .collect();
                if overlaps.is_empty() {
                    continue;
                }
                for pod in pods.on_node(node, &budget.namespace, &overlaps)? {
                    holds.extend(budget.held(pod, &overlaps, *drain));
                }
            }
            holds.sort_by_key(|hold| hold.span.from);
            all.push(holds);
        }
        Ok(all)
    }

    fn stay(self, name: &str, seqs: &[Seq]) -> Result<Option<PodStay>, QueryError> {
        let mut pod = PodVersions {
            history: self,
            seqs,
            read: BTreeMap::new(),
        };
        // A Pod gets its node once, mostly in its first versions, and its deletion is requested once, in its last.
        let mut before = 0;
        while before < seqs.len() && before < AT_EACH_END && !pod.is_placed(before)? {
            before += 1;
        }
        let placed = if before < AT_EACH_END {
            before
        } else {
            pod.first_of(before, seqs.len(), PodVersions::is_placed)?
        };
        let Some(first) = seqs.get(placed) else {
            return Ok(None);
        };
        let mut after = seqs.len();
        while after > 0 && seqs.len() - after < AT_EACH_END && pod.has_left(after - 1)? {
            after -= 1;
        }
        let left = if seqs.len() - after < AT_EACH_END {
            after
        } else {
            pod.first_of(0, after, PodVersions::has_left)?
        };
        let (labels, node) = pod.read(placed)?.place.clone();
        Ok(Some(PodStay {
            name: name.to_owned(),
            labels,
            node,
            from: self.mark(*first),
            to: seqs.get(left).map(|seq| self.mark(*seq)),
        }))
    }
}

/// Versions at either end of a Pod's life that are read one by one before the others are searched by halves: the
/// wanted version is mostly among them.
const AT_EACH_END: usize = 3;

/// What is read of a version of a Pod.
struct PodVersion {
    /// Its labels and its node.
    place: (BTreeMap<String, String>, String),
    has_left: bool,
}

/// The versions of a Pod, each of which is read once.
struct PodVersions<'t, 's> {
    history: ClusterHistory<'t>,
    seqs: &'s [Seq],
    read: BTreeMap<usize, PodVersion>,
}

impl PodVersions<'_, '_> {
    fn read(&mut self, place: usize) -> Result<&PodVersion, QueryError> {
        match self.read.entry(place) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(unread) => {
                let Some(seq) = self.seqs.get(place) else {
                    return Ok(unread.insert(PodVersion {
                        place: Default::default(),
                        has_left: true,
                    }));
                };
                let seen = self.history.read_seq::<PodObject>(*seq)?;
                Ok(unread.insert(PodVersion {
                    has_left: seen.is_gone || seen.body.is_going() || seen.body.is_over(),
                    place: (seen.body.metadata.labels, seen.body.spec.node_name),
                }))
            }
        }
    }

    fn is_placed(&mut self, place: usize) -> Result<bool, QueryError> {
        Ok(!self.read(place)?.place.1.is_empty())
    }

    fn has_left(&mut self, place: usize) -> Result<bool, QueryError> {
        Ok(self.read(place)?.has_left)
    }

    /// Finds the first version between two places from which on a predicate stays true.
    fn first_of(
        &mut self,
        mut low: usize,
        mut high: usize,
        holds: impl Fn(&mut Self, usize) -> Result<bool, QueryError>,
    ) -> Result<usize, QueryError> {
        while low < high {
            let middle = low.midpoint(high);
            if holds(self, middle)? {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(low)
    }
}

/// The Pods of some namespaces, by node. Most need not be read: they lived at another time, or on
/// another node.
struct PodStays<'t> {
    history: ClusterHistory<'t>,
    cut: Cut,
    of_namespace: BTreeMap<String, Vec<ObjectId>>,
    /// The last node of each Pod; empty for Pods without one.
    nodes: BTreeMap<ObjectId, String>,
    stays: BTreeMap<ObjectId, Option<PodStay>>,
}

impl<'t> PodStays<'t> {
    fn new(history: ClusterHistory<'t>, cut: Cut, budgets: &[BudgetHistory]) -> Self {
        let namespaces = budgets.iter().map(|budget| budget.namespace.clone());
        let mut of_namespace: BTreeMap<String, Vec<ObjectId>> = namespaces
            .map(|namespace| (namespace, Vec::new()))
            .collect();
        for resource in history.resources_named("", "pods") {
            for &object in history.timeline.objects_of(resource) {
                let key = history.timeline.key_of(object);
                let known = key.and_then(|key| of_namespace.get_mut(key.namespace));
                if let Some(objects) = known {
                    objects.push(object);
                }
            }
        }
        Self {
            history,
            cut,
            of_namespace,
            nodes: BTreeMap::new(),
            stays: BTreeMap::new(),
        }
    }

    /// Returns the Pods of a namespace that were on a node and lived at one of some times.
    fn on_node(
        &mut self,
        node: &str,
        namespace: &str,
        times: &[MarkSpan],
    ) -> Result<impl Iterator<Item = &PodStay>, QueryError> {
        let objects = self.of_namespace.get(namespace);
        let objects = objects.map(Vec::as_slice).unwrap_or_default();
        let timeline = self.history.timeline;
        let mut there = Vec::new();
        for &object in objects {
            let versions = timeline.reel().versions(object);
            let known = versions.partition_point(|seq| timeline.is_within(*seq, self.cut));
            let versions = versions.get(..known).unwrap_or_default();
            let (Some(first), Some(last)) = (versions.first(), versions.last()) else {
                continue;
            };
            let is_gone = timeline.reel().kind_of(*last) == Some(EventType::Deleted);
            let life = MarkSpan {
                from: self.history.mark(*first),
                to: is_gone.then(|| self.history.mark(*last)),
            };
            if !times.iter().any(|time| overlap(*time, life).is_some()) {
                continue;
            }
            if let Entry::Vacant(unread) = self.nodes.entry(object) {
                match self.history.read_seq::<PodObject>(*last) {
                    Ok(pod) => {
                        unread.insert(pod.body.spec.node_name);
                    }
                    Err(error) => {
                        self.history.skip(error)?;
                        continue;
                    }
                }
            }
            // A Pod gets its node once.
            let last_node = self.nodes.get(&object);
            if last_node.is_some_and(|last| !last.is_empty() && last != node) {
                continue;
            }
            if let Entry::Vacant(unread) = self.stays.entry(object) {
                let name = timeline.key_of(object).map_or("", |key| key.name);
                let stay = self.history.stay(name, versions);
                let stay = stay.or_else(|error| self.history.skip(error).map(|()| None));
                unread.insert(stay?);
            }
            there.push(object);
        }
        let stays = there
            .into_iter()
            .filter_map(|object| self.stays.get(&object)?.as_ref());
        Ok(stays.filter(move |stay| stay.node == node))
    }
}

impl BudgetHistory {
    fn held(&self, pod: &PodStay, overlaps: &[MarkSpan], drain: MarkSpan) -> Vec<DrainHold> {
        let stay = MarkSpan {
            from: pod.from,
            to: pod.to,
        };
        let Some(on_node) = overlap(stay, drain) else {
            return Vec::new();
        };
        let budget = self.versions.iter().rev();
        let mut at_drain = budget.skip_while(|seen| seen.mark > on_node.from);
        let budget = at_drain.next().or(self.versions.first());
        let selector = budget.and_then(|seen| LabelSelector::of_value(&seen.body.spec.selector));
        if !selector.is_some_and(|selector| selector.matches(&pod.labels)) {
            return Vec::new();
        }
        let spans = overlaps.iter().filter_map(|span| overlap(*span, on_node));
        let end = drain.to.or(pod.to);
        let lasts = |span: &MarkSpan| {
            // An open span lasts to the end of the recording.
            span.to
                .or(end)
                .is_none_or(|to| micros_between(span.from.at, to.at) >= SHORTEST_MICROS)
        };
        spans
            .filter(lasts)
            .map(|span| DrainHold {
                namespace: self.namespace.clone(),
                budget: self.name.clone(),
                pod: pod.name.clone(),
                span,
            })
            .collect()
    }
}

/// Returns the overlap of two spans.
fn overlap(one: MarkSpan, other: MarkSpan) -> Option<MarkSpan> {
    let from = one.from.max(other.from);
    let to = match (one.to, other.to) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    to.is_none_or(|to| from < to)
        .then_some(MarkSpan { from, to })
}
