//! The watch in the background and what it has seen.

use anyhow::{Context as _, anyhow, bail, ensure};
use bytes::{Buf as _, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Duration;

use super::etcd_key::EtcdKey;
use super::gateway::{self, Event, Line};

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
struct Seen {
    changes: Vec<Change>,
    /// Why nothing more will come.
    ended: Option<String>,
}

impl Seen {
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
    seen: watch::Receiver<Seen>,
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
    pub async fn open(endpoint: &str, start_revision: u64) -> anyhow::Result<Self> {
        let mut lines = Lines::new(gateway::watch(endpoint, start_revision).await?);
        let first = lines
            .next()
            .await?
            .context("etcd ended the watch at once")?;
        let created = first.result.as_ref().is_some_and(|result| result.created);
        ensure!(created, "etcd did not create the watch: {first:?}");
        let (sender, seen) = watch::channel(Seen::default());
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
    pub async fn wait_for_revision(&self, revision: u64) -> anyhow::Result<()> {
        let mut seen = self.seen.clone();
        let there = |seen: &Seen| seen.last_revision() >= revision || seen.ended.is_some();
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
    pub async fn current_revision(&self) -> anyhow::Result<u64> {
        gateway::current_revision(&self.endpoint).await
    }

    /// Every change that etcd has made up to now, in order.
    ///
    /// # Errors
    /// When etcd does not answer or the watch has ended.
    pub async fn changes_up_to_now(&self) -> anyhow::Result<Vec<Change>> {
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
async fn follow(first: Line, mut lines: Lines, seen: &watch::Sender<Seen>) -> anyhow::Result<()> {
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
            .collect::<anyhow::Result<Vec<_>>>()?;
        if !changes.is_empty() {
            seen.send_modify(|seen| seen.changes.extend(changes));
        }
        line = lines.next().await?;
    }
    Ok(())
}

fn change(event: &Event) -> anyhow::Result<Change> {
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

    async fn next(&mut self) -> anyhow::Result<Option<Line>> {
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
