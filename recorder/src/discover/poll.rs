//! Owns the asking: discovery every few seconds and on request, with the tag of the last answer; the
//! cluster's identity and version; and whether its revisions have fallen. Refuses to conclude from
//! one missing group: that is a failure, not a removal.

use super::documents::{
    AGGREGATED, Aggregated, GroupVersion, Served, ServerVersion, aggregated, group_versions,
    legacy, server_version,
};
use crate::clock::Clock;
use crate::server::{Answer, Failure, FailureKind, Get, Server};
use crate::watch::split::ListSplitter;
use crate::watch::version::Version;
use kubereel_format::{DocumentKind, Elapsed};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::JoinSet;

/// How often discovery is asked for.
const EVERY_SECS: u64 = 10;

/// How often while the cluster does not answer.
const RETRY_MILLIS: u64 = 500;

/// The shortest time between two rounds, however many ask for one.
const PAUSE_MILLIS: u64 = 200;

/// How long one answer may take, in seconds.
const PATIENCE_SECS: u64 = 20;

/// The longest discovery document that is read, in bytes.
const MAX_DOCUMENT: usize = 32 * 1024 * 1024;

/// How many documents are asked for at once.
const AT_ONCE: usize = 16;

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
        /// Whether its revisions are lower than those already seen.
        has_fallen: bool,
        /// What it serves.
        served: Vec<Served>,
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

/// What everybody may know of the last round, and the way to ask for another.
#[derive(Debug)]
pub(crate) struct Discovery {
    wanted: Notify,
    rounds: watch::Sender<Round>,
    /// The highest version that the stream of namespaces has seen.
    namespaces_at: Mutex<Option<Version>>,
    /// Group versions that are asked for one by one: their aggregated description comes late.
    direct: Mutex<BTreeSet<(String, String)>>,
}

#[derive(Debug, Default)]
struct Round {
    number: u64,
    is_good: bool,
    served: BTreeSet<(String, String, String)>,
    doubtful: BTreeSet<(String, String)>,
}

impl Discovery {
    /// Makes it, before the first round.
    pub(crate) fn new() -> Self {
        Self {
            wanted: Notify::new(),
            rounds: watch::Sender::new(Round::default()),
            namespaces_at: Mutex::default(),
            direct: Mutex::default(),
        }
    }

    /// Asks for a round now.
    pub(crate) fn ask(&self) {
        self.wanted.notify_one();
    }

    /// Has a group version asked for by itself from now on.
    pub(crate) fn ask_directly(&self, group: &str, version: &str) {
        self.direct
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert((group.to_owned(), version.to_owned()));
        self.ask();
    }

    /// Tells how far the stream of namespaces has come.
    pub(crate) fn namespaces_at(&self, version: &Version) {
        let mut at = self
            .namespaces_at
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *at = Some(version.clone());
    }

    /// Forgets how far it had come: what follows is another history.
    pub(crate) fn forget_namespaces(&self) {
        let mut at = self
            .namespaces_at
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *at = None;
    }

    /// Asks for a new round and tells whether the resource is served; `None` if nobody knows.
    pub(crate) async fn is_served(&self, group: &str, version: &str, plural: &str) -> Option<bool> {
        let mut rounds = self.rounds.subscribe();
        // The round under way may have begun before the resource vanished.
        let enough = rounds.borrow().number + 2;
        self.ask();
        let patience = Duration::from_secs(3 * PATIENCE_SECS);
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

type GroupKey = (String, String);

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
                    self.discovery.rounds.send_modify(|round| {
                        round.number += 1;
                        round.is_good = false;
                    });
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
            () = self.discovery.wanted.notified() => {}
            _ = self.clients.changed() => {}
        }
        let spent = self.clock.elapsed().micros.saturating_sub(began.micros);
        let pause = Duration::from_millis(PAUSE_MILLIS);
        tokio::time::sleep(pause.saturating_sub(Duration::from_micros(spent))).await;
    }

    async fn round(&mut self, server: &Server) -> Result<News, Failure> {
        let version = self.version(server).await?;
        let uid = self.uid(server).await?;
        let has_fallen = self.has_fallen(server).await;
        let core = self.aggregated(server, "/api").await?;
        let groups = self.aggregated(server, "/apis").await?;
        let mut versions = core.versions.clone();
        versions.extend_from_slice(&groups.versions);
        let mut served = core.served.clone();
        served.extend_from_slice(&groups.served);
        let mut doubtful = self.ask_directly(server, &versions, &mut served).await;
        doubtful.extend(self.add_hashes(server, &versions, &mut served).await);
        self.discovery.rounds.send_modify(|round| {
            round.number += 1;
            round.is_good = true;
            round.doubtful = doubtful;
            round.served = served
                .iter()
                .map(|one| (one.group.clone(), one.version.clone(), one.plural.clone()))
                .collect();
        });
        Ok(News::Served {
            identity: Identity {
                uid,
                can_watch_list: version.can_watch_list(),
                version: version.git_version,
            },
            has_fallen,
            served,
        })
    }

    async fn version(&mut self, server: &Server) -> Result<ServerVersion, Failure> {
        let answer = server.get(Get::json("/version", PATIENCE_SECS)).await?;
        let bytes = document(answer, "/version").await?;
        let version = server_version(&bytes)
            .ok_or_else(|| odd("/version is not the version of an API server"))?;
        self.keep(DocumentKind::Version, "/version", bytes).await;
        Ok(version)
    }

    async fn uid(&self, server: &Server) -> Result<String, Failure> {
        #[derive(serde::Deserialize)]
        struct Namespace {
            metadata: Meta,
        }
        #[derive(serde::Deserialize)]
        struct Meta {
            uid: String,
        }
        let path = "/api/v1/namespaces/kube-system";
        let answer = server.get(Get::json(path, PATIENCE_SECS)).await?;
        // A cluster that does not show it, or does not have it yet, has no name; it is still one.
        if matches!(answer.status, 403 | 404) {
            return Ok(String::new());
        }
        let bytes = document(answer, path).await?;
        let namespace = serde_json::from_slice::<Namespace>(&bytes);
        namespace
            .map(|namespace| namespace.metadata.uid)
            .map_err(|_| odd("the namespace kube-system has no uid"))
    }

    /// Compares the present revision with the last one seen: a lower one is another history, on
    /// which a watch from the old version would be silent for ever.
    async fn has_fallen(&self, server: &Server) -> bool {
        let seen = {
            let at = self.discovery.namespaces_at.lock();
            at.unwrap_or_else(PoisonError::into_inner).clone()
        };
        let Some(seen) = seen else {
            return false;
        };
        let path = "/api/v1/namespaces?limit=1";
        let Ok(answer) = server.get(Get::json(path, PATIENCE_SECS)).await else {
            return false;
        };
        let Ok(bytes) = document(answer, path).await else {
            return false;
        };
        let mut splitter = ListSplitter::new();
        splitter.push(&bytes, &mut Vec::new());
        let now = splitter
            .finish()
            .and_then(|meta| Version::parse(&meta.version));
        now.is_some_and(|now| now.order(&seen) == Some(Ordering::Less))
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
            let Ok((served, bytes)) = answer else {
                // One failing group does not hide the others.
                out.versions.push(GroupVersion {
                    is_stale: true,
                    ..version
                });
                continue;
            };
            let path = legacy_path(&version);
            self.keep(DocumentKind::Discovery, &path, bytes).await;
            self.remember_hashes(&version, &served);
            out.served.extend(served);
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
        served: &mut Vec<Served>,
    ) -> BTreeSet<GroupKey> {
        let mut wanted = {
            let direct = self.discovery.direct.lock();
            direct.unwrap_or_else(PoisonError::into_inner).clone()
        };
        let stale = versions.iter().filter(|version| version.is_stale);
        wanted.extend(stale.map(|one| (one.group.clone(), one.version.clone())));
        let wanted = wanted.into_iter().map(|(group, version)| GroupVersion {
            group,
            version,
            is_stale: false,
        });
        let mut doubtful = BTreeSet::new();
        for (key, answer) in group_version_documents(server, wanted.collect()).await {
            match answer {
                Ok((fresh, _)) => {
                    served.retain(|one| one.group != key.group || one.version != key.version);
                    served.extend(fresh);
                }
                Err(_) => {
                    doubtful.insert((key.group, key.version));
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
        served: &mut [Served],
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
            if served.iter().any(needs) {
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
        for one in served.iter_mut().filter(|one| one.storage_hash.is_none()) {
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

type GroupVersionDocument = Result<(Vec<Served>, Vec<u8>), Failure>;

/// Reads the older documents of several group versions, some at a time, and gives them in order.
async fn group_version_documents(
    server: &Server,
    versions: Vec<GroupVersion>,
) -> Vec<(GroupVersion, GroupVersionDocument)> {
    let mut out = Vec::new();
    for some in versions.chunks(AT_ONCE) {
        let mut tasks = JoinSet::new();
        for (place, version) in some.iter().cloned().enumerate() {
            let server = server.clone();
            tasks.spawn(async move {
                let answer = group_version_document(&server, &version).await;
                (place, version, answer)
            });
        }
        let mut answers = tasks.join_all().await;
        answers.sort_by_key(|(place, ..)| *place);
        let answers = answers.into_iter();
        out.extend(answers.map(|(_, version, answer)| (version, answer)));
    }
    out
}

async fn group_version_document(server: &Server, version: &GroupVersion) -> GroupVersionDocument {
    let path = legacy_path(version);
    let answer = server.get(Get::json(&path, PATIENCE_SECS)).await?;
    let bytes = document(answer, &path).await?;
    let served = legacy(&bytes).ok_or_else(|| odd(&format!("{path} lists no resources")))?;
    Ok((served, bytes))
}

fn legacy_path(version: &GroupVersion) -> String {
    if version.group.is_empty() {
        format!("/api/{}", version.version)
    } else {
        format!("/apis/{}/{}", version.group, version.version)
    }
}

fn odd(words: &str) -> Failure {
    Failure {
        kind: FailureKind::Transport,
        words: words.to_owned(),
    }
}

/// Reads a document, or tells what came instead.
async fn document(answer: Answer, path: &str) -> Result<Vec<u8>, Failure> {
    let status = answer.status;
    if status == 401 {
        let words = crate::watch::head::status(&answer.read_error().await).message;
        return Err(Failure {
            kind: FailureKind::Credentials,
            words: format!("{path}: 401 {words}"),
        });
    }
    if status != 200 {
        let body = answer.read_error().await;
        let words = crate::watch::head::status(&body).message;
        let words = if words.is_empty() {
            first_line(&body)
        } else {
            words
        };
        return Err(odd(format!("{path}: {status} {words}").trim_end()));
    }
    if !answer.is_json() {
        let kind = answer.content_type().to_owned();
        return Err(odd(&format!(
            "{path}: the answer is {kind:?}, not JSON: no API server"
        )));
    }
    answer.read(MAX_DOCUMENT, PATIENCE_SECS).await
}

fn first_line(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    text.lines()
        .next()
        .unwrap_or("")
        .chars()
        .take(200)
        .collect()
}
