//! Supervises the watchers: one for each recorded resource, started when the resource appears and
//! ended when it is gone.

use super::past::{EarlierRuns, PastCluster};
use crate::budget::Exclusions;
use crate::discover::{ClusterIdentity, CrdDefinition, DiscoveryEvent, GroupKey, plan};
use crate::health::ResourceCoverage;
use crate::queue::QueueEntry;
use crate::resource::{GroupResource, ResourceRole, WatchTarget, not_covered};
use crate::server::Failure;
use crate::watch::context::{DiscoverySighting, WatchContext};
use crate::watch::state::{ResumeState, WatchOrigin};
use crate::watch::watcher::{ResourceWatcher, WatcherEnd, WatcherOutcome, WatcherStart};
use kubereel_format::{
    BlobNote, EpochId, Lifecycle, NotCoveredReason, Note, ResourceId, ResourceInfo,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};

/// How long the other resources wait for the definitions, in microseconds.
const DEFINITIONS_MICROS: u64 = 5_000_000;

/// How long the first stream waits for the first probe, in milliseconds.
///
/// The versions of lists are compared with the probes around them: without a probe before them it
/// is unknown whether they belong to the sequence of the cluster's storage.
const PROBE_MILLIS: u64 = 1_000;

/// The plural that means every resource of a group version.
const EVERY_RESOURCE: &str = "*";

/// A stream that is running.
#[derive(Debug)]
struct RunningWatcher {
    info: ResourceInfo,
    descriptions: mpsc::Sender<ResourceInfo>,
    /// Counts the changes of its definition.
    changes: watch::Sender<u32>,
    task: AbortHandle,
    is_left_out: bool,
}

/// A resource without a stream that had one before, in this run or in an earlier one.
#[derive(Debug)]
struct EndedWatcher {
    id: ResourceId,
    memory: ResumeState,
    epoch: u32,
    is_from_past: bool,
}

/// Owns the streams.
pub(crate) struct Supervisor {
    shared: Arc<WatchContext>,
    epoch: watch::Sender<u32>,
    drives: JoinSet<WatcherOutcome>,
    names: BTreeMap<Id, GroupResource>,
    running: BTreeMap<GroupResource, RunningWatcher>,
    left: BTreeMap<(String, String, String), EndedWatcher>,
    next_resource: u32,
    /// Versions that are preferred to those of discovery.
    wanted: BTreeMap<GroupResource, String>,
    /// The notes of resources that are not followed.
    noted: Vec<Note>,
    /// Group versions whose resources are unknown.
    undescribed: BTreeSet<GroupKey>,
    cluster: Option<PastCluster>,
    has_cluster: bool,
    identity: ClusterIdentity,
    last_lifecycle: Option<Lifecycle>,
    /// The resources that each definition defines, and the fingerprint of the definition.
    custom: BTreeMap<GroupResource, u64>,
    /// Resources that wait for the definitions.
    waiting: Vec<ResourceInfo>,
    definitions_complete: bool,
    definitions_since: Option<u64>,
    /// What the size budget leaves out.
    left_out: watch::Receiver<Exclusions>,
    /// Whether the history was requested once.
    has_probed: watch::Receiver<bool>,
}

impl Supervisor {
    /// Creates one with the state of an earlier run.
    pub(crate) fn new(
        shared: Arc<WatchContext>,
        epoch: watch::Sender<u32>,
        past: EarlierRuns,
        left_out: watch::Receiver<Exclusions>,
        has_probed: watch::Receiver<bool>,
    ) -> Self {
        let mut wanted = BTreeMap::new();
        let mut left = BTreeMap::new();
        let past_epoch = *epoch.borrow();
        for resource in past.resources.into_values() {
            let info = resource.info;
            wanted.insert(
                (info.group.clone(), info.plural.clone()),
                info.version.clone(),
            );
            let target = WatchTarget::new(info);
            if let (Some(position), true) = (&resource.memory.position, target.tells_revision()) {
                let revisions = shared.discovery.revisions();
                revisions.reached(past_epoch, &position.version, || target.path());
            }
            let info = target.info;
            left.insert(
                (info.group, info.version, info.plural),
                EndedWatcher {
                    id: info.id,
                    memory: resource.memory,
                    epoch: past_epoch,
                    is_from_past: true,
                },
            );
        }
        Self {
            shared,
            epoch,
            drives: JoinSet::new(),
            names: BTreeMap::new(),
            running: BTreeMap::new(),
            left,
            next_resource: past.resource,
            wanted,
            noted: Vec::new(),
            undescribed: BTreeSet::new(),
            cluster: past.cluster,
            has_cluster: false,
            identity: ClusterIdentity::default(),
            last_lifecycle: None,
            custom: BTreeMap::new(),
            waiting: Vec::new(),
            definitions_complete: false,
            definitions_since: None,
            left_out,
            has_probed,
        }
    }

    /// Ends the streams of resources that the size budget leaves out: their entries are no longer
    /// written. The streams that discover resources continue while anything is recorded.
    pub(crate) fn leave_out(&mut self) {
        let out = self.left_out.borrow().clone();
        for running in self.running.values_mut() {
            if running.is_left_out || !is_out(&out, &running.info) {
                continue;
            }
            running.is_left_out = true;
            running.task.abort();
            let info = &running.info;
            let reason = out.reason(&info.group, &info.plural).as_str();
            tracing::info!(resource = info.qualified(), "left out: {reason}");
            let health = &self.shared.health;
            health.set_resource(info.id.0, Some(ResourceCoverage::LeftOut));
        }
    }

    fn is_out(&self, info: &ResourceInfo) -> bool {
        is_out(&self.left_out.borrow(), info)
    }

    /// Takes the result of a discovery round.
    pub(crate) async fn news(&mut self, news: DiscoveryEvent) {
        match news {
            DiscoveryEvent::Served {
                identity,
                fallen_in,
                served,
                undescribed,
            } => {
                self.shared.health.set_reachable(None);
                self.say(Lifecycle::Reachable).await;
                self.identify(identity, fallen_in).await;
                let probed = self.has_probed.wait_for(|has_probed| *has_probed);
                // Recording begins with or without the probe.
                drop(tokio::time::timeout(Duration::from_millis(PROBE_MILLIS), probed).await);
                self.note_undescribed(undescribed, &served).await;
                self.follow(&served).await;
            }
            DiscoveryEvent::Document { kind, path, bytes } => {
                let entry = QueueEntry::Blob {
                    stamp: self.shared.now(),
                    note: BlobNote::Document { kind, path },
                    bytes,
                };
                self.shared.queue.push(entry).await;
            }
            DiscoveryEvent::Unreachable(failure) => self.unreachable(failure).await,
        }
    }

    async fn unreachable(&mut self, failure: Failure) {
        if failure.may_need_new_client()
            && let Some(server) = self.shared.clients.borrow().as_ref()
        {
            self.shared.refuse(server.generation);
        }
        let error = failure.words;
        self.shared.health.set_reachable(Some(&error));
        self.say(Lifecycle::Unreachable { error }).await;
    }

    async fn say(&mut self, state: Lifecycle) {
        if self.last_lifecycle.as_ref() == Some(&state) {
            return;
        }
        match &state {
            // Later it is an outage, which the probe reports.
            Lifecycle::Unreachable { error } if self.cluster.is_some() => {
                tracing::info!(error, "the cluster does not answer");
            }
            Lifecycle::Unreachable { error } => {
                tracing::warn!(error, "the cluster does not answer");
            }
            Lifecycle::Reachable => tracing::info!("the cluster answers"),
            _ => {}
        }
        self.last_lifecycle = Some(state.clone());
        self.note(Note::Lifecycle(state)).await;
    }

    async fn note(&self, note: Note) {
        let stamp = self.shared.now();
        self.shared
            .queue
            .push(QueueEntry::Note { stamp, note })
            .await;
    }

    /// Compares the cluster with the recorded one.
    async fn identify(&mut self, identity: ClusterIdentity, fallen_in: Option<u32>) {
        let before = self.cluster.clone();
        // A comparison with an epoch that has ended since then says nothing about the current one.
        let has_fallen = fallen_in == Some(*self.epoch.borrow());
        let is_other = before.as_ref().is_some_and(|before| {
            !before.uid.is_empty() && !identity.uid.is_empty() && before.uid != identity.uid
        });
        let epoch = match &before {
            None => 0,
            Some(before) if is_other || has_fallen => before.epoch.0.saturating_add(1),
            Some(before) => before.epoch.0,
        };
        if is_other || has_fallen {
            tracing::warn!(
                uid = identity.uid,
                "another cluster, or an older state of it"
            );
            self.shared.discovery.revisions().begin(epoch);
            self.epoch.send_replace(epoch);
        }
        let uid = match &before {
            // A uid that cannot be read this time keeps its last value.
            Some(before) if identity.uid.is_empty() && !has_fallen => before.uid.clone(),
            _ => identity.uid.clone(),
        };
        let cluster = PastCluster {
            epoch: EpochId(epoch),
            uid,
            version: identity.version.clone(),
        };
        self.identity = identity;
        if self.has_cluster && before.as_ref() == Some(&cluster) {
            return;
        }
        self.has_cluster = true;
        self.cluster = Some(cluster.clone());
        self.note(Note::Cluster {
            epoch: cluster.epoch,
            uid: cluster.uid,
            version: cluster.version,
        })
        .await;
    }

    /// Notes group versions that discovery names but cannot describe, for example while their
    /// server is down: none of their resources is recorded. Notes also when that ends.
    async fn note_undescribed(
        &mut self,
        mut undescribed: BTreeMap<GroupKey, String>,
        served: &[ResourceInfo],
    ) {
        // The streams report the state of followed resources themselves.
        undescribed.retain(|(group, version), _| {
            let mut running = self.running.values();
            let mut served = served.iter();
            !running.any(|one| one.info.group == *group && one.info.version == *version)
                && !served.any(|one| one.group == *group && one.version == *version)
        });
        let now: BTreeSet<GroupKey> = undescribed.keys().cloned().collect();
        let before = std::mem::replace(&mut self.undescribed, now);
        let mut noted = Vec::new();
        for (group, version) in before {
            let key = (group, version);
            if undescribed.remove(&key).is_none() {
                let words = "its discovery is known again, or it is gone".to_owned();
                noted.push((key.0, key.1, NotCoveredReason::Gone, words));
            }
        }
        for ((group, version), words) in undescribed {
            if !self.shared.health.is_out() {
                tracing::warn!(group, version, error = words, "discovery of a group failed");
            }
            let words = format!("its discovery failed: {words}");
            noted.push((group, version, NotCoveredReason::Failing, words));
        }
        for (group, version, reason, detail) in noted {
            let plural = EVERY_RESOURCE.to_owned();
            self.note(Note::NotCovered {
                group,
                version,
                plural,
                reason,
                detail,
            })
            .await;
        }
    }

    async fn follow(&mut self, served: &[ResourceInfo]) {
        let plan = plan(served, &self.wanted);
        self.shared.health.set_left_out(plan.left_out.len());
        for left_out in plan.left_out {
            self.note_left_out(left_out).await;
        }
        self.note_left_out_resources(&plan.follow).await;
        let definitions = plan.follow.iter().find(|one| is_definitions(one));
        // This run continues an earlier one, which knew the definitions.
        let is_known = definitions.is_none_or(|one| self.is_known(one));
        if self.definitions_complete || is_known || self.has_waited() {
            self.definitions_complete = true;
            for one in &plan.follow {
                self.start(one);
            }
            // Only now: until they are started, those that waited would count as neither.
            self.shared.health.set_waiting(0);
            return;
        }
        // Definitions come first: they determine the version in which custom resources are stored.
        for one in plan.follow.iter().filter(|one| is_definitions(one)) {
            self.start(one);
        }
        self.waiting = served.to_vec();
        self.shared
            .health
            .set_waiting(plan.follow.len().saturating_sub(1));
    }

    /// Notes once that a resource is not followed.
    async fn note_left_out(&mut self, left_out: Note) {
        if !self.noted.contains(&left_out) {
            self.noted.push(left_out.clone());
            self.note(left_out).await;
        }
    }

    /// Notes served resources that are not followed because of the size budget.
    async fn note_left_out_resources(&mut self, served: &[ResourceInfo]) {
        let mut unstarted = 0;
        for info in served {
            let name = (info.group.clone(), info.plural.clone());
            if self.running.contains_key(&name) || !self.is_out(info) {
                continue;
            }
            let key = (
                info.group.clone(),
                info.version.clone(),
                info.plural.clone(),
            );
            match self.left.get(&key) {
                Some(left) => {
                    let state = Some(ResourceCoverage::LeftOut);
                    self.shared.health.set_resource(left.id.0, state);
                }
                None => unstarted += 1,
            }
            let reason = self.left_out.borrow().reason(&info.group, &info.plural);
            self.note_left_out(not_covered(info, reason, String::new()))
                .await;
        }
        self.shared.health.set_unstarted(unstarted);
    }

    fn has_waited(&mut self) -> bool {
        let now = self.shared.clock.elapsed().micros;
        let since = *self.definitions_since.get_or_insert(now);
        now.saturating_sub(since) >= DEFINITIONS_MICROS
    }

    /// Returns after how many microseconds [`Self::release`] is due.
    pub(crate) fn due_micros(&self) -> Option<u64> {
        if self.waiting.is_empty() {
            return None;
        }
        let since = self.definitions_since?;
        let now = self.shared.clock.elapsed().micros;
        Some((since + DEFINITIONS_MICROS).saturating_sub(now))
    }

    /// Ends the wait for the definitions.
    pub(crate) async fn release(&mut self) {
        self.definitions_complete = true;
        let waiting = std::mem::take(&mut self.waiting);
        if !waiting.is_empty() {
            self.follow(&waiting).await;
        }
    }

    /// Takes a message of a stream.
    pub(crate) async fn sighting(&mut self, sighting: DiscoverySighting) {
        match sighting {
            DiscoverySighting::Definition(definition) => self.definition(*definition),
            DiscoverySighting::ApiService(service) => {
                let discovery = &self.shared.discovery;
                discovery.ask_directly(&service.group, &service.version, service.is_available);
            }
            DiscoverySighting::DefinitionsComplete => self.release().await,
        }
    }

    fn definition(&mut self, definition: CrdDefinition) {
        let Some(served) = definition.served else {
            return;
        };
        let name = (served.group.clone(), served.plural.clone());
        let before = self.custom.insert(name.clone(), definition.fingerprint);
        if before.is_some_and(|before| before != definition.fingerprint)
            && let Some(running) = self.running.get(&name)
        {
            // On a changed definition the server tears down the storage, and ends its watches
            // within about a second.
            running.changes.send_modify(|changes| *changes += 1);
        }
        // The stream continues in the version that is stored from now on: all versions of a
        // resource share their resourceVersions.
        if self.running.contains_key(&name) || !self.is_known(&served) {
            self.wanted.insert(name, served.version.clone());
        }
        // Until all definitions are known, discovery decides.
        if definition.is_established && self.definitions_complete {
            self.start(&served);
        }
    }

    /// Returns whether an earlier run recorded the resource in another version; that version is
    /// continued.
    fn is_known(&self, served: &ResourceInfo) -> bool {
        self.left
            .keys()
            .any(|(group, _, plural)| *group == served.group && *plural == served.plural)
    }

    fn start(&mut self, served: &ResourceInfo) {
        let name = (served.group.clone(), served.plural.clone());
        let is_wanted = self.wanted.get(&name) == Some(&served.version);
        if let Some(running) = self.running.get_mut(&name) {
            describe(running, served, is_wanted);
            return;
        }
        let epoch = *self.epoch.borrow();
        let key = (
            served.group.clone(),
            served.version.clone(),
            served.plural.clone(),
        );
        if self.is_out(served) {
            return;
        }
        let (id, memory, origin) = match self.left.remove(&key) {
            Some(left) if left.epoch != epoch => (left.id, left.memory, WatchOrigin::NewEpoch),
            Some(left) if left.is_from_past => (left.id, left.memory, WatchOrigin::Reopened),
            Some(left) => (left.id, left.memory, WatchOrigin::Fresh),
            None => {
                let id = ResourceId(self.next_resource);
                self.next_resource = self.next_resource.saturating_add(1);
                (id, ResumeState::default(), WatchOrigin::Fresh)
            }
        };
        let info = ResourceInfo {
            id,
            ..served.clone()
        };
        tracing::debug!(
            resource = info.qualified(),
            version = info.version,
            "following"
        );
        // One pending description is enough: the next round brings the newest one again.
        let (descriptions, receiver) = mpsc::channel(1);
        let start = WatcherStart {
            info: info.clone(),
            memory,
            origin,
            can_watch_list: self.identity.can_watch_list,
            // A run that resumes a reel does not receive every definition again.
            is_custom: self.custom.contains_key(&name) || has_foreign_group(&name),
        };
        let (changes, seen) = watch::channel(0);
        // The watcher reports once it runs; the recorder is not ready before that.
        let health = &self.shared.health;
        health.set_resource(id.0, Some(ResourceCoverage::Behind));
        let drive = ResourceWatcher::new(&self.shared, start, receiver, seen);
        let task = self.drives.spawn(drive.run());
        self.names.insert(task.id(), name.clone());
        let running = RunningWatcher {
            info,
            descriptions,
            changes,
            task,
            is_left_out: false,
        };
        self.running.insert(name, running);
    }

    /// Waits until a stream ends and keeps its state; waits forever if there is no stream.
    pub(crate) async fn ended(&mut self) {
        match self.drives.join_next_with_id().await {
            None => std::future::pending().await,
            Some(Ok((id, leftover))) => {
                self.names.remove(&id);
                self.keep(leftover);
            }
            Some(Err(error)) => self.broke(&error).await,
        }
    }

    fn keep(&mut self, leftover: WatcherOutcome) {
        let info = leftover.info;
        if leftover.end == WatcherEnd::Gone {
            tracing::info!(resource = info.qualified(), "no longer served");
        }
        self.running
            .remove(&(info.group.clone(), info.plural.clone()));
        // When the resource returns, its definition names the stored version again.
        self.wanted
            .remove(&(info.group.clone(), info.plural.clone()));
        let epoch = *self.epoch.borrow();
        self.left.insert(
            (info.group, info.version, info.plural),
            EndedWatcher {
                id: info.id,
                memory: leftover.memory,
                epoch,
                is_from_past: false,
            },
        );
    }

    /// The task of a stream panicked, which is a bug. The resource is noted as not covered.
    async fn broke(&mut self, error: &JoinError) {
        let Some(name) = self.names.remove(&error.id()) else {
            return;
        };
        if error.is_cancelled() {
            return;
        }
        let Some(running) = self.running.get(&name) else {
            return;
        };
        let info = running.info.clone();
        tracing::error!(resource = info.qualified(), %error, "the recorder itself failed");
        self.shared.health.set_resource(info.id.0, None);
        let detail = "an error of the recorder itself".to_owned();
        self.note(not_covered(&info, NotCoveredReason::Failing, detail))
            .await;
    }

    /// Waits until every stream has ended, as requested before.
    pub(crate) async fn join(&mut self) {
        // Resources that still waited for the definitions are noted: they were never listed.
        let waiting = std::mem::take(&mut self.waiting);
        for one in plan(&waiting, &self.wanted).follow {
            let name = (one.group.clone(), one.plural.clone());
            if !self.running.contains_key(&name) {
                let id = ResourceId(self.next_resource);
                self.next_resource = self.next_resource.saturating_add(1);
                self.note(Note::Resource(ResourceInfo { id, ..one })).await;
            }
        }
        while self.drives.join_next().await.is_some() {}
    }
}

/// Returns whether the size budget ends a resource's stream, or keeps it from starting.
fn is_out(out: &Exclusions, info: &ResourceInfo) -> bool {
    let discovers = matches!(
        WatchTarget::new(info.clone()).role,
        ResourceRole::Definitions | ResourceRole::ApiServices
    );
    out.is_everything() || out.holds(&info.group, &info.plural) && !discovers
}

/// Returns whether a group is not one of Kubernetes' own.
fn has_foreign_group((group, _): &GroupResource) -> bool {
    group.contains('.') && !group.ends_with(".k8s.io")
}

fn is_definitions(served: &ResourceInfo) -> bool {
    served.group == "apiextensions.k8s.io" && served.plural == "customresourcedefinitions"
}

/// Sends a stream a new description of its resource; with another version only if that `is_wanted`.
fn describe(running: &mut RunningWatcher, served: &ResourceInfo, is_wanted: bool) {
    let mut info = ResourceInfo {
        id: running.info.id,
        ..served.clone()
    };
    // A definition does not contain the storage hash, and the order of verbs has no meaning.
    info.storage_hash = info.storage_hash.or(running.info.storage_hash.clone());
    let sorted = |verbs: &[String]| {
        let mut verbs = verbs.to_vec();
        verbs.sort_unstable();
        verbs
    };
    if sorted(&info.verbs) == sorted(&running.info.verbs) {
        info.verbs.clone_from(&running.info.verbs);
    }
    if info == running.info || info.version != running.info.version && !is_wanted {
        return;
    }
    if running.descriptions.try_send(info.clone()).is_ok() {
        running.info = info;
    }
}
