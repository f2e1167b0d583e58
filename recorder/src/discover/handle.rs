//! Owns what everybody may know of the last round of discovery, and the way to ask for another.
//! Refuses to ask servers.

use super::documents::Served;
use super::revisions::Revisions;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// How long the answer of a new round is waited for, in seconds.
const PATIENCE_SECS: u64 = 60;

/// What everybody may know of the last round, and the way to ask for another.
#[derive(Debug)]
pub(crate) struct Discovery {
    wanted: Notify,
    rounds: watch::Sender<Round>,
    revisions: Revisions,
    /// Group versions that are asked for one by one: their aggregated description comes late.
    direct: Mutex<BTreeSet<GroupKey>>,
}

/// What one round found.
#[derive(Debug, Default)]
pub(super) struct Round {
    number: u64,
    is_good: bool,
    /// Group, version and plural of everything that is served.
    served: BTreeSet<(String, String, String)>,
    /// Groups and versions of which nothing is known for sure.
    doubtful: BTreeSet<GroupKey>,
}

/// A group and its version.
pub(crate) type GroupKey = (String, String);

impl Discovery {
    /// Makes it, before the first round, in an epoch.
    pub(crate) fn new(epoch: u32) -> Self {
        Self {
            wanted: Notify::new(),
            rounds: watch::Sender::new(Round::default()),
            revisions: Revisions::new(epoch),
            direct: Mutex::default(),
        }
    }

    /// Asks for a round now.
    pub(crate) fn ask(&self) {
        self.wanted.notify_one();
    }

    /// Has a group version asked for by itself from now on, or no longer, and asks for a round.
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

    /// Gives the group versions that are to be asked for by themselves.
    pub(super) fn direct(&self) -> BTreeSet<GroupKey> {
        let direct = self.direct.lock().unwrap_or_else(PoisonError::into_inner);
        direct.clone()
    }

    /// Waits until somebody asks for a round.
    pub(super) async fn asked(&self) {
        self.wanted.notified().await;
    }

    /// Publishes a round that failed.
    pub(super) fn round_failed(&self) {
        self.rounds.send_modify(|round| {
            round.number += 1;
            round.is_good = false;
        });
    }

    /// Publishes a round.
    pub(super) fn round(&self, served: &[Served], doubtful: BTreeSet<GroupKey>) {
        let key = |one: &Served| (one.group.clone(), one.version.clone(), one.plural.clone());
        self.rounds.send_modify(|round| {
            round.number += 1;
            round.is_good = true;
            round.doubtful = doubtful;
            round.served = served.iter().map(key).collect();
        });
    }

    /// Gives how far the cluster's revisions have come.
    pub(crate) fn revisions(&self) -> &Revisions {
        &self.revisions
    }

    /// Asks for a new round and tells whether the resource is served; `None` if nobody knows.
    pub(crate) async fn is_served(&self, group: &str, version: &str, plural: &str) -> Option<bool> {
        let mut rounds = self.rounds.subscribe();
        // The round under way may have begun before the resource vanished.
        let enough = rounds.borrow().number + 2;
        self.ask();
        let patience = Duration::from_secs(PATIENCE_SECS);
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
