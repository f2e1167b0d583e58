//! Owns the asking: discovery every few seconds and on request, with the tag of the last answer; the
//! cluster's identity and version; and whether its revisions have fallen. Refuses to conclude from
//! one missing group: that is a failure, not a removal.

use super::documents::{AGGREGATED, Aggregated, GroupVersion, Served, aggregated, group_versions};
use super::fetch::{
    PATIENCE_SECS, document, group_version_documents, has_fallen, legacy_path, odd, uid, version,
};
use super::handle::{Discovery, GroupKey};
use crate::clock::Clock;
use crate::server::{Failure, Get, Server};
use kubereel_format::{DocumentKind, Elapsed};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};

/// How often discovery is asked for.
const EVERY_SECS: u64 = 10;

/// How often while the cluster does not answer.
const RETRY_MILLIS: u64 = 500;

/// The shortest time between two rounds, however many ask for one.
const PAUSE_MILLIS: u64 = 200;

/// How many hashes of documents are remembered, so that two servers that differ do not fill the
/// file.
const REMEMBERED: usize = 8;

/// Who the cluster is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The uid of its namespace `kube-system`; empty if it could not be read.
    pub(crate) uid: String,
    /// Its `gitVersion`; empty if it could not be read.
    pub(crate) version: String,
    /// Whether servers of that version stream lists.
    pub(crate) can_watch_list: bool,
}

/// What a round brought.
#[derive(Debug)]
pub(crate) enum News {
    /// The cluster answers: who it is, and what it serves in the order of preference.
    Served {
        /// Who it is.
        identity: Identity,
        /// The epoch in which revisions were seen that are higher than the present ones.
        fallen_in: Option<u32>,
        /// What it serves.
        served: Vec<Served>,
        /// The group versions that it names and does not describe, with the words why.
        undescribed: BTreeMap<GroupKey, String>,
    },
    /// A document that was not seen before.
    Document {
        /// Which.
        kind: DocumentKind,
        /// Its path.
        path: String,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// The cluster does not answer.
    Unreachable(Failure),
}

/// Asks, round after round.
#[derive(Debug)]
pub(crate) struct Poller {
    discovery: Arc<Discovery>,
    clients: watch::Receiver<Option<Arc<Server>>>,
    news: mpsc::Sender<News>,
    clock: Clock,
    etags: BTreeMap<&'static str, (String, Arc<Aggregated>)>,
    hashes: BTreeMap<GroupKey, BTreeMap<String, String>>,
    hasher: RandomState,
    documents: BTreeMap<String, Vec<u64>>,
}

impl Poller {
    /// Makes one.
    pub(crate) fn new(
        discovery: Arc<Discovery>,
        clients: watch::Receiver<Option<Arc<Server>>>,
        news: mpsc::Sender<News>,
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

    /// Asks until it is dropped or nobody listens any more.
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
                    News::Unreachable(failure)
                }
            };
            if self.news.send(news).await.is_err() {
                return;
            }
            self.pause(is_good, began).await;
        }
    }

    async fn server(&mut self) -> Option<Arc<Server>> {
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
            () = self.discovery.asked() => {}
            _ = self.clients.changed() => {}
        }
        let spent = self.clock.elapsed().micros.saturating_sub(began.micros);
        let pause = Duration::from_millis(PAUSE_MILLIS);
        tokio::time::sleep(pause.saturating_sub(Duration::from_micros(spent))).await;
    }

    async fn round(&mut self, server: &Server) -> Result<News, Failure> {
        let (version, bytes) = version(server).await?;
        self.keep(DocumentKind::Version, "/version", bytes).await;
        let uid = uid(server).await?;
        // Read before the question is asked: what is seen meanwhile proves nothing.
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
        Ok(News::Served {
            identity: Identity {
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
        server: &Server,
        path: &'static str,
    ) -> Result<Arc<Aggregated>, Failure> {
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

    /// Reads the older form: one document for each group version.
    async fn one_by_one(
        &mut self,
        server: &Server,
        path: &str,
        bytes: &[u8],
    ) -> Result<Aggregated, Failure> {
        let versions = group_versions(bytes)
            .ok_or_else(|| odd(&format!("{path} is not the discovery of an API server")))?;
        let mut out = Aggregated::default();
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

    /// Asks for the group versions whose aggregated description may be late. Gives those of which
    /// nothing is known for sure.
    async fn ask_directly(
        &self,
        server: &Server,
        versions: &[GroupVersion],
        all: &mut Vec<Served>,
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

    /// Adds the storage version hashes, which only the older documents have.
    async fn add_hashes(
        &mut self,
        server: &Server,
        versions: &[GroupVersion],
        all: &mut [Served],
    ) -> BTreeSet<GroupKey> {
        let mut unknown = Vec::new();
        for version in versions {
            let key = (version.group.clone(), version.version.clone());
            let known = self.hashes.get(&key);
            let needs = |one: &Served| {
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

    fn remember_hashes(&mut self, version: &GroupVersion, served: &[Served]) {
        let key = (version.group.clone(), version.version.clone());
        let hashes = served.iter().map(|one| {
            let hash = one.storage_hash.clone().unwrap_or_default();
            (one.plural.clone(), hash)
        });
        self.hashes.insert(key, hashes.collect());
    }

    /// Hands a document on unless it was seen a short while ago.
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
        // If nobody listens any more, the next round ends the poller.
        drop(self.news.send(News::Document { kind, path, bytes }).await);
    }
}
