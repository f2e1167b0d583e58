//! What all actors share while a plan is played.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::watch;

use super::super::Moment;
use super::journal::Journal;
use super::stamps::{Stamp, fill, uids_in};
use crate::kubelet::Kubelets;
use crate::rest::{self, Body, Call, Patience, Rest, RestError, Target, Verb};

/// Who can end and start the API servers.
pub trait ApiServers: Send + Sync {
    /// Ends an API server and starts it again; done when it is ready.
    fn restart(
        &self,
        server: usize,
    ) -> Pin<Box<dyn Future<Output = anyhow::Result<()>> + Send + '_>>;
}

/// How long a write is tried: outages, and what has to be there first.
pub(super) const PATIENCE: Patience = Patience::until_found(Duration::from_secs(30));

/// What all actors share.
pub(super) struct Stage {
    pub(super) rest: Rest,
    pub(super) kubelets: Kubelets,
    pub(super) api_servers: Option<Arc<dyn ApiServers>>,
    pub(super) speed: f64,
    pub(super) journal: Mutex<Journal>,
    pub(super) leases: Mutex<BTreeMap<Target, Held>>,
    /// Steps handed out and not yet done, without those that take long by themselves.
    pub(super) unsettled: watch::Sender<usize>,
    uids: Mutex<BTreeMap<Target, String>>,
}

/// A Lease as it was last written.
#[derive(Debug, Clone)]
pub(super) struct Held {
    /// Empty when nobody leads.
    pub(super) holder: String,
    /// Who led last, or leads.
    pub(super) last_holder: String,
    pub(super) transitions: u32,
}

impl Stage {
    pub(super) fn new(
        rest: Rest,
        kubelets: Kubelets,
        api_servers: Option<Arc<dyn ApiServers>>,
        speed: f64,
    ) -> Self {
        Self {
            rest,
            kubelets,
            api_servers,
            speed,
            journal: Mutex::default(),
            leases: Mutex::default(),
            unsettled: watch::Sender::new(0),
            uids: Mutex::default(),
        }
    }

    /// Shortens a virtual time to real time.
    pub(super) fn real(&self, virtual_time: Duration) -> Duration {
        virtual_time.div_f64(self.speed)
    }

    /// Notes that a moment is now.
    pub(super) fn pass(&self, moment: Moment, wall: Timestamp) {
        lock(&self.journal).walls.entry(moment).or_insert(wall);
    }

    /// Fills in times and uids.
    pub(super) async fn fill(&self, document: &Value) -> Result<Value, RestError> {
        for target in uids_in(document) {
            if !lock(&self.uids).contains_key(&target) {
                let call = Call {
                    verb: Verb::Get,
                    path: path(&target)?,
                    body: Body::Empty,
                };
                let object = self.rest.send(&call, PATIENCE).await?.body;
                self.learn_uid(&target, &object);
            }
        }
        let mut document = document.clone();
        fill(&mut document, &|stamp| match stamp {
            Stamp::Secs(moment) => self.wall_of(*moment).map(rest::seconds),
            Stamp::Micros(moment) => self.wall_of(*moment).map(rest::micros),
            Stamp::Uid(target) => lock(&self.uids).get(target).cloned(),
            Stamp::Holder(lease) => lock(&self.leases)
                .get(lease)
                .map(|held| held.last_holder.clone()),
        });
        Ok(document)
    }

    pub(super) fn learn_uid(&self, target: &Target, object: &Value) {
        if let Some(uid) = object["metadata"]["uid"].as_str() {
            lock(&self.uids).insert(target.clone(), uid.to_owned());
        }
    }

    fn wall_of(&self, moment: Moment) -> Option<Timestamp> {
        lock(&self.journal).wall_of(moment)
    }
}

/// The path of an object, or an error that names it.
pub(super) fn path(target: &Target) -> Result<String, RestError> {
    target.path().ok_or_else(|| RestError::NoPath {
        target: target.clone(),
    })
}

/// The path of an object's collection, or an error that names it.
pub(super) fn collection_path(target: &Target) -> Result<String, RestError> {
    target.collection_path().ok_or_else(|| RestError::NoPath {
        target: target.clone(),
    })
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
