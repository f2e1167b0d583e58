//! Polls discovery every few seconds and on request, and shares the result: the served resources,
//! the cluster's identity, and the highest revision seen in the current epoch.
//!
//! Invariants:
//! * A missing group is a failure, not a removal.
//! * Revisions are compared within one resource and one epoch only: each resource may have a
//!   storage of its own.

use crate::clock::Clock;
use crate::discover::documents::{
    AGGREGATED, AggregatedDiscovery, GroupVersion, PATIENCE_SECS, aggregated, document,
    group_version_documents, group_versions, has_fallen, legacy_path, odd, uid, version,
};
use crate::server::{ApiServer, Failure, Get};
use crate::version::ResourceVersion;
use kubereel_format::{DocumentKind, Elapsed, ResourceInfo};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};

/// How long the result of a new round is awaited, in seconds.
const ROUND_PATIENCE_SECS: u64 = 60;

/// The result of the last round, and the means to request another.
#[derive(Debug)]
pub(crate) struct Discovery {
    wanted: Notify,
    rounds: watch::Sender<DiscoveryRound>,
    revisions: ClusterRevisions,
    /// Group versions that are requested one by one: their aggregated description comes late.
    direct: Mutex<BTreeSet<GroupKey>>,
}

/// The result of one round.
#[derive(Debug, Default)]
struct DiscoveryRound {
    number: u64,
    is_good: bool,
    /// Group, version and plural of every served resource.
    served: BTreeSet<(String, String, String)>,
    /// Groups and versions whose state is unknown.
    doubtful: BTreeSet<GroupKey>,
}

/// A group and its version.
pub(crate) type GroupKey = (String, String);

impl Discovery {
    /// Creates it, before the first round, in an epoch.
    pub(crate) fn new(epoch: u32) -> Self {
        Self {
            wanted: Notify::new(),
            rounds: watch::Sender::new(DiscoveryRound::default()),
            revisions: ClusterRevisions::new(epoch),
            direct: Mutex::default(),
        }
    }

    /// Requests a round now.
    pub(crate) fn ask(&self) {
        self.wanted.notify_one();
    }

    /// Requests a group version separately from now on, or no longer, and starts a round.
    pub(crate) fn ask_directly(&self, group: &str, version: &str, is_available: bool) {
        let key = (group.to_owned(), version.to_owned());
        let mut direct = self.direct.lock().unwrap_or_else(PoisonError::into_inner);
        if is_available {
            direct.insert(key);
        } else {
            direct.remove(&key);
        }
        drop(direct);
        self.ask();
    }

    /// Returns the group versions that are requested separately.
    fn direct(&self) -> BTreeSet<GroupKey> {
        let direct = self.direct.lock().unwrap_or_else(PoisonError::into_inner);
        direct.clone()
    }

    /// Waits until a round is requested.
    pub(super) async fn requested(&self) {
        self.wanted.notified().await;
    }

    /// Publishes a round that failed.
    fn round_failed(&self) {
        self.rounds.send_modify(|round| {
            round.number += 1;
            round.is_good = false;
        });
    }

    /// Publishes a round.
    pub(super) fn round(&self, served: &[ResourceInfo], doubtful: BTreeSet<GroupKey>) {
        let key = |one: &ResourceInfo| (one.group.clone(), one.version.clone(), one.plural.clone());
        self.rounds.send_modify(|round| {
            round.number += 1;
            round.is_good = true;
            round.doubtful = doubtful;
            round.served = served.iter().map(key).collect();
        });
    }

    /// Returns the highest revision seen.
    pub(crate) fn revisions(&self) -> &ClusterRevisions {
        &self.revisions
    }

    /// Requests a new round and returns whether the resource is served; `None` if that is unknown.
    pub(crate) async fn is_served(&self, group: &str, version: &str, plural: &str) -> Option<bool> {
        let mut rounds = self.rounds.subscribe();
        // The current round may have begun before the resource vanished.
        let enough = rounds.borrow().number + 2;
        self.ask();
        let patience = Duration::from_secs(ROUND_PATIENCE_SECS);
        let waiting = rounds.wait_for(|round| {
            if round.number + 1 == enough {
                self.ask();
            }
            round.number >= enough
        });
        let round = tokio::time::timeout(patience, waiting).await.ok()?.ok()?;
        let key = (group.to_owned(), version.to_owned());
        if !round.is_good || round.doubtful.contains(&key) {
            return None;
        }
        Some(round.served.contains(&(key.0, key.1, plural.to_owned())))
    }
}

/// The interval of discovery.
const EVERY_SECS: u64 = 10;

/// The interval while the cluster does not respond.
const RETRY_MILLIS: u64 = 500;

/// The shortest time between two rounds, however many are requested.
const PAUSE_MILLIS: u64 = 200;

/// How many hashes of documents are remembered, so that two servers with different documents do not
/// fill the file.
const REMEMBERED: usize = 8;

/// The identity of the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClusterIdentity {
    /// The uid of its namespace `kube-system`; empty if it could not be read.
    pub(crate) uid: String,
    /// Its `gitVersion`; empty if it could not be read.
    pub(crate) version: String,
    /// Whether servers of that version stream lists.
    pub(crate) can_watch_list: bool,
}

/// The result of a round.
#[derive(Debug)]
pub(crate) enum DiscoveryEvent {
    /// The cluster responds: its identity, and the served resources in the order of preference.
    Served {
        /// Its identity.
        identity: ClusterIdentity,
        /// The epoch in which higher revisions than the current ones were seen.
        fallen_in: Option<u32>,
        /// The served resources.
        served: Vec<ResourceInfo>,
        /// The group versions that it names and does not describe, each with the error.
        undescribed: BTreeMap<GroupKey, String>,
    },
    /// A document that was not seen before.
    Document {
        /// Which document.
        kind: DocumentKind,
        path: String,
        bytes: Vec<u8>,
    },
    /// The cluster does not respond.
    Unreachable(Failure),
}

/// Polls, round after round.
#[derive(Debug)]
pub(crate) struct Poller {
    discovery: Arc<Discovery>,
    clients: watch::Receiver<Option<Arc<ApiServer>>>,
    news: mpsc::Sender<DiscoveryEvent>,
    clock: Clock,
    etags: BTreeMap<&'static str, (String, Arc<AggregatedDiscovery>)>,
    hashes: BTreeMap<GroupKey, BTreeMap<String, String>>,
    hasher: RandomState,
    documents: BTreeMap<String, Vec<u64>>,
}

impl Poller {
    /// Creates a poller.
    pub(crate) fn new(
        discovery: Arc<Discovery>,
        clients: watch::Receiver<Option<Arc<ApiServer>>>,
        news: mpsc::Sender<DiscoveryEvent>,
        clock: Clock,
    ) -> Self {
        Self {
            discovery,
            clients,
            news,
            clock,
            etags: BTreeMap::new(),
            hashes: BTreeMap::new(),
            hasher: RandomState::new(),
            documents: BTreeMap::new(),
        }
    }

    /// Polls until it is dropped or its receiver is gone.
    pub(crate) async fn run(mut self) {
        loop {
            let Some(server) = self.server().await else {
                return;
            };
            let began = self.clock.elapsed();
            let result = self.round(&server).await;
            let is_good = result.is_ok();
            let news = match result {
                Ok(news) => news,
                Err(failure) => {
                    self.discovery.round_failed();
                    DiscoveryEvent::Unreachable(failure)
                }
            };
            if self.news.send(news).await.is_err() {
                return;
            }
            self.pause(is_good, began).await;
        }
    }

    async fn server(&mut self) -> Option<Arc<ApiServer>> {
        let server = self.clients.wait_for(Option::is_some).await.ok()?;
        server.clone()
    }

    async fn pause(&mut self, is_good: bool, began: Elapsed) {
        let wait = if is_good {
            Duration::from_secs(EVERY_SECS)
        } else {
            Duration::from_millis(RETRY_MILLIS)
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = self.discovery.requested() => {}
            _ = self.clients.changed() => {}
        }
        let spent = self.clock.elapsed().micros.saturating_sub(began.micros);
        let pause = Duration::from_millis(PAUSE_MILLIS);
        tokio::time::sleep(pause.saturating_sub(Duration::from_micros(spent))).await;
    }

    async fn round(&mut self, server: &ApiServer) -> Result<DiscoveryEvent, Failure> {
        let (version, bytes) = version(server).await?;
        self.keep(DocumentKind::Version, "/version", bytes).await;
        let uid = uid(server).await?;
        // Read before the request: a revision that is seen meanwhile proves nothing.
        let (epoch, highest) = self.discovery.revisions().highest();
        let has_fallen = match highest {
            Some(seen) => has_fallen(server, &seen).await,
            None => false,
        };
        let core = self.aggregated(server, "/api").await?;
        let groups = self.aggregated(server, "/apis").await?;
        let mut versions = core.versions.clone();
        versions.extend_from_slice(&groups.versions);
        let mut all = core.served.clone();
        all.extend_from_slice(&groups.served);
        let undescribed = self.ask_directly(server, &versions, &mut all).await;
        let mut doubtful: BTreeSet<GroupKey> = undescribed.keys().cloned().collect();
        doubtful.extend(self.add_hashes(server, &versions, &mut all).await);
        self.discovery.round(&all, doubtful);
        Ok(DiscoveryEvent::Served {
            identity: ClusterIdentity {
                uid,
                can_watch_list: version.can_watch_list(),
                version: version.git_version,
            },
            fallen_in: has_fallen.then_some(epoch),
            served: all,
            undescribed,
        })
    }

    async fn aggregated(
        &mut self,
        server: &ApiServer,
        path: &'static str,
    ) -> Result<Arc<AggregatedDiscovery>, Failure> {
        let known = self.etags.get(path).cloned();
        let get = Get {
            target: path,
            accept: AGGREGATED,
            etag: known.as_ref().map(|(etag, _)| etag.as_str()),
            patience_secs: PATIENCE_SECS,
        };
        let answer = server.get(get).await?;
        if let (304, Some((_, known))) = (answer.status, &known) {
            return Ok(Arc::clone(known));
        }
        let etag = answer.etag();
        let bytes = document(answer, path).await?;
        let (parsed, can_be_cached) = match aggregated(&bytes) {
            Some(parsed) => (parsed, true),
            None => (self.one_by_one(server, path, &bytes).await?, false),
        };
        self.keep(DocumentKind::Discovery, path, bytes).await;
        let parsed = Arc::new(parsed);
        self.etags.remove(path);
        if let (Some(etag), true) = (etag, can_be_cached) {
            self.etags.insert(path, (etag, Arc::clone(&parsed)));
        }
        Ok(parsed)
    }

    /// Reads the older documents: one for each group version.
    async fn one_by_one(
        &mut self,
        server: &ApiServer,
        path: &str,
        bytes: &[u8],
    ) -> Result<AggregatedDiscovery, Failure> {
        let versions = group_versions(bytes)
            .ok_or_else(|| odd(&format!("{path} is not the discovery of an API server")))?;
        let mut out = AggregatedDiscovery::default();
        for (version, answer) in group_version_documents(server, versions).await {
            let Ok((fresh, bytes)) = answer else {
                // One failing group does not hide the others.
                out.versions.push(GroupVersion {
                    is_stale: true,
                    ..version
                });
                continue;
            };
            let path = legacy_path(&version);
            self.keep(DocumentKind::Discovery, &path, bytes).await;
            self.remember_hashes(&version, &fresh);
            out.served.extend(fresh);
            out.versions.push(version);
        }
        Ok(out)
    }

    /// Requests the group versions whose aggregated description may be late. Returns those with an
    /// unknown state.
    async fn ask_directly(
        &self,
        server: &ApiServer,
        versions: &[GroupVersion],
        all: &mut Vec<ResourceInfo>,
    ) -> BTreeMap<GroupKey, String> {
        let mut wanted = self.discovery.direct();
        let stale = versions.iter().filter(|version| version.is_stale);
        wanted.extend(stale.map(|one| (one.group.clone(), one.version.clone())));
        let wanted = wanted.into_iter().map(|(group, version)| GroupVersion {
            group,
            version,
            is_stale: false,
        });
        let mut doubtful = BTreeMap::new();
        for (key, answer) in group_version_documents(server, wanted.collect()).await {
            match answer {
                Ok((fresh, _)) => {
                    all.retain(|one| one.group != key.group || one.version != key.version);
                    all.extend(fresh);
                }
                Err(failure) => {
                    doubtful.insert((key.group, key.version), failure.words);
                }
            }
        }
        doubtful
    }

    /// Adds the storage version hashes, which only the older documents contain.
    async fn add_hashes(
        &mut self,
        server: &ApiServer,
        versions: &[GroupVersion],
        all: &mut [ResourceInfo],
    ) -> BTreeSet<GroupKey> {
        let mut unknown = Vec::new();
        for version in versions {
            let key = (version.group.clone(), version.version.clone());
            let known = self.hashes.get(&key);
            let needs = |one: &ResourceInfo| {
                one.group == key.0
                    && one.version == key.1
                    && one.storage_hash.is_none()
                    && !known.is_some_and(|known| known.contains_key(&one.plural))
            };
            if all.iter().any(needs) {
                unknown.push(version.clone());
            }
        }
        let mut doubtful = BTreeSet::new();
        for (version, answer) in group_version_documents(server, unknown).await {
            match answer {
                Ok((fresh, _)) => self.remember_hashes(&version, &fresh),
                Err(_) => {
                    doubtful.insert((version.group, version.version));
                }
            }
        }
        for one in all.iter_mut().filter(|one| one.storage_hash.is_none()) {
            let key = (one.group.clone(), one.version.clone());
            let hash = self
                .hashes
                .get(&key)
                .and_then(|known| known.get(&one.plural));
            one.storage_hash = hash.filter(|hash| !hash.is_empty()).cloned();
        }
        doubtful
    }

    fn remember_hashes(&mut self, version: &GroupVersion, served: &[ResourceInfo]) {
        let key = (version.group.clone(), version.version.clone());
        let hashes = served.iter().map(|one| {
            let hash = one.storage_hash.clone().unwrap_or_default();
            (one.plural.clone(), hash)
        });
        self.hashes.insert(key, hashes.collect());
    }

    /// Passes a document on unless it was seen a short while ago.
    async fn keep(&mut self, kind: DocumentKind, path: &str, bytes: Vec<u8>) {
        let hash = self.hasher.hash_one(&bytes);
        let seen = self.documents.entry(path.to_owned()).or_default();
        if seen.contains(&hash) {
            return;
        }
        if seen.len() >= REMEMBERED {
            seen.remove(0);
        }
        seen.push(hash);
        let path = path.to_owned();
        // If the receiver is gone, the next round ends the poller.
        drop(
            self.news
                .send(DiscoveryEvent::Document { kind, path, bytes })
                .await,
        );
    }
}

/// The highest revision of an epoch, and the request that returned it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HighestRevision {
    /// The revision.
    pub(crate) version: ResourceVersion,
    /// The path of the resource whose stream reached it.
    pub(crate) path: String,
}

/// The highest revision seen.
#[derive(Debug)]
pub(crate) struct ClusterRevisions(Mutex<EpochRevisions>);

#[derive(Debug)]
struct EpochRevisions {
    epoch: u32,
    highest: Option<HighestRevision>,
}

impl ClusterRevisions {
    /// Begins with an epoch.
    pub(super) fn new(epoch: u32) -> Self {
        Self(Mutex::new(EpochRevisions {
            epoch,
            highest: None,
        }))
    }

    /// A stream in `epoch` has reached `version`.
    pub(crate) fn reached(
        &self,
        epoch: u32,
        version: &ResourceVersion,
        path: impl FnOnce() -> String,
    ) {
        let mut reached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if reached.epoch != epoch || version.number().is_none() {
            return;
        }
        let is_higher = reached
            .highest
            .as_ref()
            .is_none_or(|highest| version.order(&highest.version) == Some(Ordering::Greater));
        if is_higher {
            reached.highest = Some(HighestRevision {
                version: version.clone(),
                path: path(),
            });
        }
    }

    /// Returns the epoch and its highest revision.
    pub(super) fn highest(&self) -> (u32, Option<HighestRevision>) {
        let reached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (reached.epoch, reached.highest.clone())
    }

    /// Begins another epoch: its revisions belong to another history.
    pub(crate) fn begin(&self, epoch: u32) {
        let mut reached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *reached = EpochRevisions {
            epoch,
            highest: None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: u64) -> ResourceVersion {
        ResourceVersion::Number(number)
    }

    #[test]
    fn keeps_the_highest_and_who_saw_it() {
        let revisions = ClusterRevisions::new(0);
        revisions.reached(0, &at(7), || "/api/v1/pods".into());
        revisions.reached(0, &at(5), || "/api/v1/nodes".into());
        revisions.reached(0, &ResourceVersion::Text("x".into()), || "/apis/odd".into());
        let highest = HighestRevision {
            version: at(7),
            path: "/api/v1/pods".into(),
        };
        assert_eq!(revisions.highest(), (0, Some(highest)));
    }

    #[test]
    fn a_stream_of_an_earlier_epoch_is_not_heard() {
        let revisions = ClusterRevisions::new(0);
        revisions.reached(0, &at(7), String::new);
        revisions.begin(1);
        assert_eq!(revisions.highest(), (1, None));
        revisions.reached(0, &at(8), String::new);
        assert_eq!(revisions.highest(), (1, None));
        revisions.reached(1, &at(3), String::new);
        let (_, highest) = revisions.highest();
        assert_eq!(highest.map(|highest| highest.version), Some(at(3)));
    }
}
