//! The oracle: the changes of the cluster according to etcd itself.
//!
//! It keeps one watch over the whole key space, opened through etcd's JSON gateway, and keeps
//! revision, kind and key of every change. It shares no code with the recorder and no API server
//! stands before it, so it can say what a recording has missed. Values are not kept: it judges
//! completeness, not content.
//!
//! Every change that etcd made, compared with what a reel keeps.
//!
//! The verdict: recorded, before the recorder's first list, inside a gap that the reel
//! declares, or lost. It refuses any other excuse, and it never asks the recorder.
//!
//! Which object a key of etcd belongs to, and which keys belong to none.
//!
//! Built-in kinds lie under their resource alone, a few under an older name; custom resources lie
//! under group and resource. Nothing else tells them apart, but a custom resource's group always
//! has a dot in it and a built-in resource's name never has.
//!
//! etcd's JSON gateway: the requests, and the answers' shape.
//!
//! The gateway writes 64-bit numbers as strings, bytes as base64, and leaves out what is zero.
//!
//! The watch in the background and what it has seen.

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::{Buf as _, Bytes, BytesMut};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use kubereel_format::{EventType, Gap, GapVerdict, Note, Reel, ResourceId, Seq};
use serde::Deserialize;
use std::collections::BTreeMap;
use tokio::sync::watch::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio::time::Duration;

/// The outcome of etcd's changes in a reel.
#[derive(Debug, Default)]
pub struct Account {
    /// They are in the reel, with their revision and kind.
    pub recorded: Vec<Change>,
    /// They are not, and were made before the first list of their resource was complete.
    pub before: usize,
    /// They are not, and lie inside a gap of their resource.
    pub in_gaps: Vec<Change>,
    /// They are of a resource that the recorder never came to list.
    pub unlisted: Vec<Change>,
    /// They are missing without a declaration.
    pub lost: Vec<Change>,
    /// They are of keys that no API shows.
    pub without_api: usize,
}

/// One resource of the reel.
#[derive(Debug, Default)]
struct ResourceRecord {
    group: String,
    first_list: Option<u128>,
    gaps: Vec<Gap>,
    between: Vec<Between>,
    /// Namespace, name, revision and kind.
    events: BTreeMap<(String, String, u128), Vec<EventType>>,
}

impl ResourceRecord {
    fn listed(&mut self, rv: Option<u128>) {
        if self.first_list.is_none() {
            self.first_list = rv;
        }
        if let Some(last) = self.between.last_mut()
            && last.to.is_none()
        {
            last.to = rv;
        }
    }

    fn left(&mut self, said: Seq) {
        let ends = self.gaps.iter().filter_map(|gap| gap.to_rv.parse().ok());
        let after = ends.chain(self.first_list).max();
        if let Some(after) = after
            && self.between.last().is_none_or(|last| last.to.is_some())
        {
            let to = None;
            self.between.push(Between { said, after, to });
        }
    }

    /// The last that is known of a life is its last record.
    fn last_before(&mut self, seq: Seq, rv: u128) {
        for one in &mut self.between {
            if seq < one.said {
                one.after = one.after.max(rv);
            }
        }
    }

    fn is_between(&self, revision: u128) -> bool {
        self.between.iter().any(|one| one.holds(revision))
    }
}

/// Between two lives of a resource: the reel says that it is not covered, up to the next first list.
#[derive(Debug)]
struct Between {
    said: Seq,
    after: u128,
    to: Option<u128>,
}

impl Between {
    fn holds(&self, revision: u128) -> bool {
        self.after < revision && self.to.is_none_or(|to| revision <= to)
    }
}

impl Account {
    /// Judges every change.
    ///
    /// # Errors
    /// When the reel is damaged, or a key is of no known form.
    pub fn of(reel: &Reel, changes: &[Change]) -> Result<Self> {
        ensure!(reel.damage().is_empty(), "damaged: {:?}", reel.damage());
        let kept = kept(reel);
        let mut account = Self::default();
        for change in changes {
            let key = match change.etcd_key() {
                EtcdKey::Object(key) => key,
                EtcdKey::WithoutApi => {
                    account.without_api += 1;
                    continue;
                }
                EtcdKey::Unknown => anyhow::bail!("what is {}?", change.key),
            };
            let resources: Vec<&ResourceRecord> = kept
                .get(&key.resource)
                .into_iter()
                .flatten()
                .filter(|kept| key.group.is_none() || key.group.as_ref() == Some(&kept.group))
                .collect();
            account.judge(change, &key, &resources);
        }
        Ok(account)
    }

    fn judge(&mut self, change: &Change, key: &ObjectKey, resources: &[&ResourceRecord]) {
        let revision = u128::from(change.revision);
        let kind = match change.kind {
            ChangeKind::Created => EventType::Added,
            ChangeKind::Updated => EventType::Modified,
            ChangeKind::Deleted => EventType::Deleted,
        };
        let place = (
            key.namespace.clone().unwrap_or_default(),
            key.name.clone(),
            revision,
        );
        let is_recorded = |kept: &&&ResourceRecord| {
            let kinds = kept.events.get(&place);
            kinds.is_some_and(|kinds| kinds.contains(&kind))
        };
        let is_in_gap = |kept: &&ResourceRecord| kept.gaps.iter().any(|gap| spans(gap, revision));
        let first_list = resources.iter().filter_map(|kept| kept.first_list).min();
        if resources.iter().any(|kept| is_recorded(&kept)) {
            self.recorded.push(change.clone());
        } else if first_list.is_some_and(|first| revision <= first)
            || resources.iter().any(|kept| kept.is_between(revision))
        {
            self.before += 1;
        } else if first_list.is_none() {
            self.unlisted.push(change.clone());
        } else if resources.iter().any(is_in_gap) {
            self.in_gaps.push(change.clone());
        } else {
            self.lost.push(change.clone());
        }
    }

    /// Fails with what was lost, if anything was.
    ///
    /// # Errors
    /// When anything was.
    pub fn check(&self) -> Result<()> {
        let first: Vec<_> = self.lost.iter().take(30).collect();
        ensure!(
            first.is_empty(),
            "{} of {} changes are lost, first {first:#?}",
            self.lost.len(),
            self.lost.len() + self.recorded.len() + self.in_gaps.len()
        );
        Ok(())
    }
}

fn kept(reel: &Reel) -> BTreeMap<String, Vec<ResourceRecord>> {
    let mut kept: BTreeMap<ResourceId, (String, ResourceRecord)> = BTreeMap::new();
    for entry in reel.notes() {
        match &entry.note {
            Note::Resource(info) => {
                let (_, resource) = kept
                    .entry(info.id)
                    .or_insert_with(|| (info.plural.clone(), ResourceRecord::default()));
                resource.group.clone_from(&info.group);
            }
            Note::Synced { resource, rv, .. } => {
                if let Some((_, resource)) = kept.get_mut(resource) {
                    resource.listed(rv.parse().ok());
                }
            }
            Note::NotCovered { group, plural, .. } => {
                for (name, resource) in kept.values_mut() {
                    if name == plural && resource.group == *group {
                        resource.left(entry.seq);
                    }
                }
            }
            Note::Gap(gap) => {
                if let Some((_, resource)) = kept.get_mut(&gap.resource) {
                    resource.gaps.push(gap.clone());
                }
            }
            // Nothing may be missing in it.
            Note::GapJudged {
                gap,
                verdict: GapVerdict::Reconstructed,
                ..
            } => {
                for (_, resource) in kept.values_mut() {
                    resource.gaps.retain(|known| known.id != *gap);
                }
            }
            _ => {}
        }
    }
    for seq in (0..reel.end().0).map(Seq) {
        let (Some(head), Some(rv)) = (reel.head(seq), reel.rv_of(seq)) else {
            continue;
        };
        let Some(key) = reel.key(head.object) else {
            continue;
        };
        if let Some((_, resource)) = kept.get_mut(&key.resource) {
            resource.last_before(seq, rv);
            let place = (key.namespace.to_owned(), key.name.to_owned(), rv);
            resource.events.entry(place).or_default().push(head.kind);
        }
    }
    let mut by_plural: BTreeMap<String, Vec<ResourceRecord>> = BTreeMap::new();
    for (plural, resource) in kept.into_values() {
        by_plural.entry(plural).or_default().push(resource);
    }
    by_plural
}

/// Whether a revision lies after the gap's first bound, up to and including the second.
fn spans(gap: &Gap, revision: u128) -> bool {
    let from = gap.from_rv.as_ref().and_then(|rv| rv.parse().ok());
    let to = gap.to_rv.parse().ok();
    from.is_none_or(|from: u128| from < revision) && to.is_some_and(|to: u128| revision <= to)
}

/// An object's place in the API, as far as its key in etcd tells.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// The API group of custom resources, CRDs and `APIServices`.
    /// None for all other built-in kinds, whose keys do not name it.
    pub group: Option<String>,
    /// The resource's plural name, as in the API.
    pub resource: String,
    /// None for cluster-scoped objects.
    pub namespace: Option<String>,
    /// The object's name.
    pub name: String,
}

/// What a key of etcd is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EtcdKey {
    /// An object that the API serves.
    Object(ObjectKey),
    /// The API servers' own bookkeeping, which no API shows and no recorder can record.
    WithoutApi,
    /// A key that this harness does not know; tests must not take it for either.
    Unknown,
}

const PREFIX: &str = "/registry/";

/// Kept by the API servers for themselves.
const WITHOUT_API: [&str; 3] = ["peerserverleases", "masterleases", "ranges"];
/// The key that API servers compact by, outside the prefix.
const COMPACTION: &str = "compact_rev_key";

/// Resources under another name than the API's.
const OLDER_NAMES: [(&str, &str); 5] = [
    ("controllers", "replicationcontrollers"),
    ("minions", "nodes"),
    ("ingress", "ingresses"),
    ("services/endpoints", "endpoints"),
    ("services/specs", "services"),
];

impl EtcdKey {
    /// Reads a key; never fails, but may not know it.
    pub fn parse(key: &str) -> Self {
        if key == COMPACTION {
            return Self::WithoutApi;
        }
        let Some(path) = key.strip_prefix(PREFIX) else {
            return Self::Unknown;
        };
        let segments: Vec<&str> = path.split('/').collect();
        if segments
            .first()
            .is_some_and(|first| WITHOUT_API.contains(first))
        {
            return Self::WithoutApi;
        }
        let (group, resource, place) = match segments.as_slice() {
            ["services", kind, place @ ..] => (None, format!("services/{kind}"), place),
            [group, resource, place @ ..] if group.contains('.') => {
                (Some((*group).to_owned()), (*resource).to_owned(), place)
            }
            [resource, place @ ..] => (None, (*resource).to_owned(), place),
            [] => return Self::Unknown,
        };
        let (namespace, name) = match place {
            [name] => (None, *name),
            [namespace, name] => (Some((*namespace).to_owned()), *name),
            _ => return Self::Unknown,
        };
        let older = OLDER_NAMES.iter().find(|(older, _)| *older == resource);
        let resource = older.map_or(resource, |(_, now)| (*now).to_owned());
        Self::Object(ObjectKey {
            group,
            resource,
            namespace,
            name: name.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(group: Option<&str>, resource: &str, namespace: Option<&str>, name: &str) -> EtcdKey {
        EtcdKey::Object(ObjectKey {
            group: group.map(str::to_owned),
            resource: resource.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        })
    }

    #[test]
    fn keys_name_objects() {
        let widgets = Some("shop.example.com");
        let cases = [
            (
                "/registry/pods/shop/web-0",
                object(None, "pods", Some("shop"), "web-0"),
            ),
            (
                "/registry/namespaces/shop",
                object(None, "namespaces", None, "shop"),
            ),
            ("/registry/minions/n-1", object(None, "nodes", None, "n-1")),
            (
                "/registry/controllers/shop/a",
                object(None, "replicationcontrollers", Some("shop"), "a"),
            ),
            (
                "/registry/services/specs/shop/web",
                object(None, "services", Some("shop"), "web"),
            ),
            (
                "/registry/services/endpoints/shop/web",
                object(None, "endpoints", Some("shop"), "web"),
            ),
            (
                "/registry/ingress/shop/web",
                object(None, "ingresses", Some("shop"), "web"),
            ),
            (
                "/registry/shop.example.com/widgets/shop/a",
                object(widgets, "widgets", Some("shop"), "a"),
            ),
            (
                "/registry/shop.example.com/widgets/a",
                object(widgets, "widgets", None, "a"),
            ),
            // Names of RBAC objects hold colons and dots.
            (
                "/registry/clusterroles/system:node",
                object(None, "clusterroles", None, "system:node"),
            ),
            (
                "/registry/apiregistration.k8s.io/apiservices/v1.apps",
                object(
                    Some("apiregistration.k8s.io"),
                    "apiservices",
                    None,
                    "v1.apps",
                ),
            ),
        ];
        for (key, expected) in cases {
            assert_eq!(EtcdKey::parse(key), expected, "{key}");
        }
    }

    #[test]
    fn bookkeeping_is_told_apart() {
        for key in [
            "compact_rev_key",
            "/registry/peerserverleases/8f1e",
            "/registry/masterleases/10.0.0.1",
            "/registry/ranges/serviceips",
        ] {
            assert_eq!(EtcdKey::parse(key), EtcdKey::WithoutApi, "{key}");
        }
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        for key in [
            "",
            "/",
            "/registry/",
            "/registry/pods",
            "/registry/a/b/c/d",
            "/other/pods/a/b",
        ] {
            assert_eq!(EtcdKey::parse(key), EtcdKey::Unknown, "{key}");
        }
    }
}

/// From the first key on, to the end of the key space; base64 of one zero byte.
const EVERY_KEY: &str = "AA==";

/// One line of a watch.
#[derive(Debug, Deserialize)]
struct Line {
    result: Option<WatchResponse>,
    error: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
struct WatchResponse {
    #[serde(default)]
    created: bool,
    #[serde(default)]
    canceled: bool,
    #[serde(default)]
    compact_revision: Option<String>,
    #[serde(default)]
    cancel_reason: Option<String>,
    #[serde(default)]
    events: Vec<Event>,
}

#[derive(Debug, Deserialize)]
struct Event {
    /// Missing for PUT.
    #[serde(rename = "type")]
    kind: Option<String>,
    kv: KeyValue,
}

#[derive(Debug, Deserialize)]
struct KeyValue {
    key: String,
    mod_revision: String,
    /// How often the key was written since it was created; missing for DELETE.
    version: Option<String>,
}

impl KeyValue {
    fn key(&self) -> Result<String> {
        let bytes = STANDARD.decode(&self.key).context("a key is no base64")?;
        String::from_utf8(bytes).context("a key is no UTF-8")
    }

    fn mod_revision(&self) -> Result<u64> {
        self.mod_revision
            .parse()
            .with_context(|| format!("revision {:?}", self.mod_revision))
    }

    fn is_first_version(&self) -> bool {
        self.version.as_deref() == Some("1")
    }
}

#[derive(Debug, Deserialize)]
struct RangeResponse {
    header: Header,
}

#[derive(Debug, Deserialize)]
struct Header {
    revision: String,
}

/// The revision of the last change of any key.
async fn current_revision(endpoint: &str) -> Result<u64> {
    let range = serde_json::json!({
        "key": EVERY_KEY, "range_end": EVERY_KEY, "keys_only": true, "limit": "1",
    });
    let body = post(endpoint, "/v3/kv/range", &range)
        .await?
        .collect()
        .await?
        .to_bytes();
    let answer: RangeResponse = serde_json::from_slice(&body)
        .with_context(|| format!("etcd said {:?}", String::from_utf8_lossy(&body)))?;
    let revision = answer.header.revision;
    revision
        .parse()
        .with_context(|| format!("revision {revision:?}"))
}

/// Opens a watch of every key; the body streams one [`Line`] a line.
async fn watch(endpoint: &str, start_revision: u64) -> Result<Incoming> {
    let create = serde_json::json!({"create_request": {
        "key": EVERY_KEY, "range_end": EVERY_KEY, "start_revision": start_revision.to_string(),
    }});
    post(endpoint, "/v3/watch", &create).await
}

async fn post(endpoint: &str, path: &str, body: &serde_json::Value) -> Result<Incoming> {
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let request = http::Request::post(format!("{endpoint}{path}"))
        .body(Full::new(Bytes::from(serde_json::to_vec(body)?)))?;
    let answer = client
        .request(request)
        .await
        .with_context(|| format!("etcd at {endpoint}"))?;
    ensure!(
        answer.status().is_success(),
        "etcd answered {} to {path}",
        answer.status()
    );
    Ok(answer.into_body())
}

/// etcd delivers within milliseconds; a test that waits longer waits for a revision never made.
const WAIT_LIMIT: Duration = Duration::from_mins(1);

/// What a change did to its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// The key was not there before.
    Created,
    /// The key was there.
    Updated,
    /// The key is gone.
    Deleted,
}

/// One change of one key. Several share a revision when they were one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// etcd's revision, which is the object's resourceVersion.
    pub revision: u64,
    /// What it did.
    pub kind: ChangeKind,
    /// The whole key.
    pub key: String,
}

impl Change {
    /// Which object the key belongs to, if any.
    pub fn etcd_key(&self) -> EtcdKey {
        EtcdKey::parse(&self.key)
    }
}

#[derive(Debug, Default)]
struct WatchObservation {
    changes: Vec<Change>,
    /// Why nothing more will come.
    ended: Option<String>,
}

impl WatchObservation {
    /// Batches end between revisions, so the last revision seen is seen whole.
    fn last_revision(&self) -> u64 {
        self.changes.last().map_or(0, |change| change.revision)
    }
}

/// A watch of every key of one etcd, from its beginning or any later revision.
///
/// It lives in the runtime it was opened in and ends when dropped.
#[derive(Debug)]
pub struct Oracle {
    endpoint: String,
    seen: Receiver<WatchObservation>,
    task: JoinHandle<()>,
}

impl Oracle {
    /// Opens the watch and returns when etcd has confirmed it.
    ///
    /// `start_revision` 1 sees everything ever written, also what was written before, as long as
    /// nothing was compacted.
    ///
    /// # Errors
    /// When etcd does not answer or has compacted `start_revision` away.
    pub async fn open(endpoint: &str, start_revision: u64) -> Result<Self> {
        let mut lines = Lines::new(watch(endpoint, start_revision).await?);
        let first = lines
            .next()
            .await?
            .context("etcd ended the watch at once")?;
        let created = first.result.as_ref().is_some_and(|result| result.created);
        ensure!(created, "etcd did not create the watch: {first:?}");
        let (sender, seen) = channel(WatchObservation::default());
        let task = tokio::spawn(async move {
            let end = match follow(first, lines, &sender).await {
                Ok(()) => "etcd ended the watch".to_owned(),
                Err(error) => format!("{error:#}"),
            };
            sender.send_modify(|seen| seen.ended = Some(end));
        });
        Ok(Self {
            endpoint: endpoint.to_owned(),
            seen,
            task,
        })
    }

    /// Waits until every change up to and including `revision` has been seen.
    ///
    /// # Errors
    /// When the watch ended before, or the revision was not made within a minute.
    pub async fn wait_for_revision(&self, revision: u64) -> Result<()> {
        let mut seen = self.seen.clone();
        let there =
            |seen: &WatchObservation| seen.last_revision() >= revision || seen.ended.is_some();
        let waited = tokio::time::timeout(WAIT_LIMIT, seen.wait_for(there)).await;
        let seen = waited.map_err(|_elapsed| {
            let last = self.seen.borrow().last_revision();
            anyhow!("revision {revision} did not come within {WAIT_LIMIT:?}; the last is {last}")
        })??;
        match &seen.ended {
            Some(end) if seen.last_revision() < revision => {
                bail!(
                    "no revision {revision}, the last is {}: {end}",
                    seen.last_revision()
                )
            }
            _ => Ok(()),
        }
    }

    /// The revision of the last change of any key, asked of etcd now.
    ///
    /// # Errors
    /// When etcd does not answer.
    pub async fn current_revision(&self) -> Result<u64> {
        current_revision(&self.endpoint).await
    }

    /// Every change that etcd has made up to now, in order.
    ///
    /// # Errors
    /// When etcd does not answer or the watch has ended.
    pub async fn changes_up_to_now(&self) -> Result<Vec<Change>> {
        self.wait_for_revision(self.current_revision().await?)
            .await?;
        Ok(self.changes())
    }

    /// Every change seen so far, in order; the last ones of etcd may be missing.
    pub fn changes(&self) -> Vec<Change> {
        self.seen.borrow().changes.clone()
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Collects until the watch ends.
async fn follow(first: Line, mut lines: Lines, seen: &Sender<WatchObservation>) -> Result<()> {
    let mut line = Some(first);
    while let Some(Line { result, error }) = line {
        if let Some(error) = error {
            bail!("etcd ended the watch: {error}");
        }
        let response = result.context("etcd sent a line with neither result nor error")?;
        if response.canceled {
            let (compacted, reason) = (response.compact_revision, response.cancel_reason);
            bail!("etcd cancelled the watch: compacted at {compacted:?}, reason {reason:?}");
        }
        let changes = response
            .events
            .iter()
            .map(change)
            .collect::<Result<Vec<_>>>()?;
        if !changes.is_empty() {
            seen.send_modify(|seen| seen.changes.extend(changes));
        }
        line = lines.next().await?;
    }
    Ok(())
}

fn change(event: &Event) -> Result<Change> {
    let kind = match event.kind.as_deref() {
        Some("DELETE") => ChangeKind::Deleted,
        None | Some("PUT") if event.kv.is_first_version() => ChangeKind::Created,
        None | Some("PUT") => ChangeKind::Updated,
        Some(other) => bail!("etcd sent an event of type {other:?}"),
    };
    Ok(Change {
        revision: event.kv.mod_revision()?,
        kind,
        key: event.kv.key()?,
    })
}

/// The lines of a body, wherever its frames are cut.
struct Lines {
    body: Incoming,
    buffer: BytesMut,
    /// How much of the buffer is known to hold no line end.
    searched: usize,
}

impl Lines {
    fn new(body: Incoming) -> Self {
        Self {
            body,
            buffer: BytesMut::new(),
            searched: 0,
        }
    }

    async fn next(&mut self) -> Result<Option<Line>> {
        loop {
            let unsearched = self.buffer.iter().skip(self.searched);
            if let Some(offset) = unsearched.copied().position(|byte| byte == b'\n') {
                let line = self.buffer.split_to(self.searched + offset);
                self.buffer.advance(1);
                self.searched = 0;
                let text = || String::from_utf8_lossy(&line).into_owned();
                return serde_json::from_slice(&line)
                    .map(Some)
                    .with_context(|| format!("etcd said {:?}", text()));
            }
            self.searched = self.buffer.len();
            match self.body.frame().await {
                Some(frame) => {
                    if let Ok(data) = frame.context("the watch was cut")?.into_data() {
                        self.buffer.extend_from_slice(&data);
                    }
                }
                None => return Ok(None),
            }
        }
    }
}
