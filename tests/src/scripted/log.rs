//! The record of what was asked and the outcome of each answer, and the pulse that wakes waiting
//! tests. It does not judge it.

use kubereel_format::worded;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::cluster::ScriptedCluster;
use super::fault::End;
use super::model::Template;
use super::resource::Resource;

/// A request's head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestHead {
    /// `GET`.
    pub method: String,
    /// Path and query as sent.
    pub target: String,
    /// The path, still encoded.
    pub path: String,
    /// The query's parameters, decoded, in order.
    pub query: Vec<(String, String)>,
    /// The headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
}

impl RequestHead {
    /// The first value of a query parameter.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        first(&self.query, name)
    }

    /// The first value of a header, named in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        first(&self.headers, name)
    }

    /// Whether it asks for a watch.
    pub fn is_watch(&self) -> bool {
        matches!(self.parameter("watch"), Some("true" | "1"))
    }
}

fn first<'a>(pairs: &'a [(String, String)], name: &str) -> Option<&'a str> {
    pairs
        .iter()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.as_str())
}

/// Who ended an answer, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The server, by its own rules, by a fault or by order.
    Server(End),
    /// The client went away.
    Client,
}

/// How far an answer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// The status code, once there is one.
    pub status: Option<u16>,
    /// Whole lines written; a document counts as one.
    pub lines: usize,
    /// Since when it says nothing more on purpose.
    pub silent_since: Option<Instant>,
    /// When and how it ended.
    pub ended: Option<(Instant, Ending)>,
}

/// One request and its answer.
#[derive(Debug)]
pub struct Exchange {
    /// Counts requests from zero.
    pub number: usize,
    /// Counts connections from zero.
    pub connection: usize,
    /// When its head was complete.
    pub at: Instant,
    /// The request.
    pub asked: RequestHead,
    progress: Mutex<Progress>,
}

impl Exchange {
    /// How far the answer has come.
    pub fn progress(&self) -> Progress {
        *locked(&self.progress)
    }

    pub(crate) fn note(&self, change: impl FnOnce(&mut Progress)) {
        change(&mut locked(&self.progress));
    }
}

/// Every request so far.
#[derive(Debug, Default)]
pub(crate) struct Log {
    exchanges: Mutex<Vec<Arc<Exchange>>>,
}

impl Log {
    pub(crate) fn begin(&self, connection: usize, asked: RequestHead) -> Arc<Exchange> {
        let mut exchanges = locked(&self.exchanges);
        let exchange = Arc::new(Exchange {
            number: exchanges.len(),
            connection,
            at: Instant::now(),
            asked,
            progress: Mutex::new(Progress::default()),
        });
        exchanges.push(Arc::clone(&exchange));
        exchange
    }

    pub(crate) fn all(&self) -> Vec<Arc<Exchange>> {
        locked(&self.exchanges).clone()
    }
}

/// How long a waiting test sleeps at most before it looks again.
const PAUSE: Duration = Duration::from_millis(500);

/// Wakes waiting tests whenever anything happened.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    beats: Mutex<u64>,
    beat: Condvar,
}

impl Pulse {
    pub(crate) fn beat(&self) {
        *locked(&self.beats) += 1;
        self.beat.notify_all();
    }

    /// Waits until `look` finds something. It is asked at each beat, and now and then without one: what
    /// it looks for may also lie in a file, or come with time.
    pub(crate) fn wait<T>(
        &self,
        what: &str,
        timeout: Duration,
        mut look: impl FnMut() -> Option<T>,
    ) -> Result<T> {
        let deadline = Instant::now() + timeout;
        loop {
            let seen = *locked(&self.beats);
            if let Some(found) = look() {
                return Ok(found);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                bail!("waited {timeout:?} in vain for {what}");
            }
            let waited = self
                .beat
                .wait_timeout_while(locked(&self.beats), left.min(PAUSE), |beats| *beats == seen)
                .unwrap_or_else(PoisonError::into_inner);
            drop(waited);
        }
    }
}

/// Locks, also after another test thread panicked: the state is only ever replaced whole.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ScriptedCluster {
    /// Every request so far, in order of arrival.
    pub fn requests(&self) -> Vec<Arc<Exchange>> {
        self.state.log.all()
    }

    /// Every request so far to exactly this path, whatever its query.
    pub fn requests_to(&self, path: &str) -> Vec<Arc<Exchange>> {
        let mut requests = self.requests();
        requests.retain(|exchange| exchange.asked.path == path);
        requests
    }

    /// Waits for a request, past or coming, that `wanted` accepts; its progress may be part of that.
    ///
    /// # Errors
    ///
    /// When none comes in time.
    pub fn wait_for_request(
        &self,
        what: &str,
        timeout: Duration,
        wanted: impl Fn(&Exchange) -> bool,
    ) -> Result<Arc<Exchange>> {
        self.wait_until(what, timeout, |cluster| {
            cluster
                .requests()
                .into_iter()
                .find(|exchange| wanted(exchange))
        })
    }

    /// Waits until a path is watched and its first list, streamed or not, was sent.
    ///
    /// # Errors
    ///
    /// When that does not happen in time.
    pub fn wait_live(&self, path: &str, timeout: Duration) -> Result<()> {
        self.wait_for_request(&format!("a watch of {path}"), timeout, |one| {
            let progress = one.progress();
            let is_streamed = one.asked.parameter("sendInitialEvents").is_some();
            one.asked.path == path
                && one.asked.is_watch()
                && progress.status == Some(200)
                && progress.ended.is_none()
                && (progress.lines > 0 || !is_streamed)
        })?;
        Ok(())
    }

    /// Waits until `look` finds something; it is asked again whenever anything happens here, and twice a
    /// second.
    ///
    /// # Errors
    ///
    /// When it finds nothing in time.
    pub fn wait_until<T>(
        &self,
        what: &str,
        timeout: Duration,
        look: impl Fn(&Self) -> Option<T>,
    ) -> Result<T> {
        self.state.pulse.wait(what, timeout, || look(self))
    }

    /// Waits until everything committed to a storage so far has been sent to some client.
    ///
    /// # Errors
    ///
    /// When something is still unsent after `timeout`.
    pub fn wait_sent(&self, storage: &str, timeout: Duration) -> Result<()> {
        let end = locked(&self.state.model).committed.len();
        let what = format!("everything in {storage} to be sent");
        self.wait_until(&what, timeout, |cluster| {
            let model = locked(&cluster.state.model);
            let unsent = model
                .committed
                .iter()
                .take(end)
                .any(|commit| commit.storage == storage && commit.first_sent().is_none());
            (!unsent).then_some(())
        })
    }

    /// Forgets what was sent when, so that what is sent from now on counts as first.
    pub fn forget_sends(&self) {
        for commit in &mut locked(&self.state.model).committed {
            commit.first_watched = None;
            commit.first_listed = None;
        }
    }

    /// The current revision.
    pub fn revision(&self) -> u128 {
        locked(&self.state.model).revision
    }

    /// Everything ever committed, in order.
    pub fn committed(&self) -> Vec<Committed> {
        locked(&self.state.model).committed.clone()
    }

    /// Every line of a commit that was sent altered, in order.
    pub fn altered(&self) -> Vec<Altered> {
        locked(&self.state.model).altered.clone()
    }

    /// The objects of a resource as they are now, ordered by namespace and name.
    ///
    /// # Errors
    ///
    /// When it is not served.
    pub fn standing(&self, resource: &str) -> Result<Vec<Standing>> {
        let mut model = locked(&self.state.model);
        let objects = model.storage_mut(resource)?.objects.iter();
        let standing = objects.map(|(key, version)| Standing {
            namespace: key.namespace.clone(),
            name: key.name.clone(),
            uid: version.uid.to_string(),
            revision: version.revision,
        });
        Ok(standing.collect())
    }

    /// Every served resource, ordered by key.
    pub fn resources(&self) -> Vec<Resource> {
        locked(&self.state.model)
            .resources
            .values()
            .cloned()
            .collect()
    }

    /// A served resource.
    ///
    /// # Errors
    ///
    /// When it is not served.
    pub fn resource(&self, key: &str) -> Result<Resource> {
        locked(&self.state.model).resource(key).cloned()
    }
}

worded! {
/// The change of the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// The object was created.
    Added = "ADDED",
    /// The object was written again.
    Modified = "MODIFIED",
    /// The object went away.
    Deleted = "DELETED",
}
}

/// A line that was sent otherwise than it should have been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Altered {
    /// The commit that it should have reported.
    pub sequence: usize,
    /// What was sent instead, with whatever was put before and behind it.
    pub bytes: Vec<u8>,
}

/// An object as it is now.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Standing {
    /// Empty for cluster-scoped objects.
    pub namespace: String,
    /// The object's name.
    pub name: String,
    /// The object's uid.
    pub uid: String,
    /// The revision of its last change.
    pub revision: u128,
}

/// One change, as committed.
#[derive(Debug, Clone)]
pub struct Committed {
    /// Counts commits from zero, over all resources and epochs.
    pub sequence: usize,
    /// Grows with every restore from a snapshot.
    pub epoch: u32,
    /// The storage's name: the key of the resource it was written through, or of the one that shares it.
    pub storage: String,
    /// Empty for cluster-scoped objects.
    pub namespace: String,
    /// The object's name.
    pub name: String,
    /// The object's uid.
    pub uid: Arc<str>,
    /// The revision of this change; for a deletion the deletion's own.
    pub revision: u128,
    /// What happened.
    pub change: Change,
    /// When it was committed.
    pub at: Instant,
    /// When a watch line of it had first been handed to a socket, whole and unaltered.
    pub first_watched: Option<Instant>,
    /// When a list answer holding this version had first been handed to a socket whole.
    pub first_listed: Option<Instant>,
    pub(crate) template: Arc<Template>,
}

impl Committed {
    /// The object's bytes as a watch of this resource and version sends them.
    pub fn watch_body(&self, resource: &Resource, version: &str) -> Vec<u8> {
        self.body(&resource.type_members(version))
    }

    /// The object's bytes as an item of a list of this resource and version.
    pub fn list_body(&self, resource: &Resource, version: &str) -> Vec<u8> {
        if resource.custom {
            self.watch_body(resource, version)
        } else {
            self.body("")
        }
    }

    /// When its content had first been sent at all.
    pub fn first_sent(&self) -> Option<Instant> {
        match (self.first_watched, self.first_listed) {
            (Some(watched), Some(listed)) => Some(watched.min(listed)),
            (watched, listed) => watched.or(listed),
        }
    }

    fn body(&self, type_members: &str) -> Vec<u8> {
        self.template
            .render(type_members, &self.uid, &self.revision.to_string())
    }
}
