//! Owns what the server's tasks and the test share: the model, the rules, the log, the live answers.
//! Refuses to be seen outside; [`super::ScriptedCluster`] is the handle.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use tokio::sync::watch;

use super::deliver::Delivered;
use super::fault::{End, On, Rules};
use super::log::{Asked, Exchange, Log, Pulse, locked};
use super::model::Model;
use super::settings::Settings;

/// An answer that is being sent.
#[derive(Debug)]
struct Live {
    exchange: Arc<Exchange>,
    order: watch::Sender<Option<End>>,
}

/// Everything shared.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) model: Mutex<Model>,
    pub(crate) settings: Mutex<Settings>,
    pub(crate) rules: Mutex<Rules>,
    pub(crate) log: Log,
    pub(crate) pulse: Arc<Pulse>,
    /// While true, streams send nothing new.
    held: watch::Sender<bool>,
    live: Mutex<BTreeMap<usize, Live>>,
    connections: AtomicUsize,
    group_lists: AtomicUsize,
}

impl State {
    pub(crate) fn new(model: Model) -> Self {
        Self {
            model: Mutex::new(model),
            settings: Mutex::new(Settings::default()),
            rules: Mutex::new(Rules::default()),
            log: Log::default(),
            pulse: Arc::new(Pulse::default()),
            held: watch::Sender::new(false),
            live: Mutex::new(BTreeMap::new()),
            connections: AtomicUsize::new(0),
            group_lists: AtomicUsize::new(0),
        }
    }

    pub(crate) fn next_connection(&self) -> usize {
        self.connections.fetch_add(1, Ordering::Relaxed)
    }

    /// True for every second answer to `/apis`.
    pub(crate) fn flap(&self) -> bool {
        self.group_lists.fetch_add(1, Ordering::Relaxed) % 2 == 1
    }

    pub(crate) fn hold(&self, held: bool) {
        self.held.send_replace(held);
    }

    pub(crate) fn is_held(&self) -> bool {
        *self.held.borrow()
    }

    /// Waits until the streams are let go.
    pub(crate) async fn released(&self) {
        // The sender lives as long as `self`, so waiting cannot fail.
        self.held.subscribe().wait_for(|held| !held).await.ok();
    }

    /// Begins the answer to a request: whoever sees it in the log can order it to end.
    pub(crate) fn begin(
        &self,
        connection: usize,
        asked: Asked,
    ) -> (Arc<Exchange>, watch::Receiver<Option<End>>) {
        let (order, ordered) = watch::channel(None);
        // An order waits here until what the log already shows can be ordered.
        let mut all = locked(&self.live);
        let exchange = self.log.begin(connection, asked);
        let live = Live {
            exchange: Arc::clone(&exchange),
            order,
        };
        all.insert(exchange.number, live);
        drop(all);
        self.pulse.beat();
        (exchange, ordered)
    }

    /// Notes how an answer ended.
    pub(crate) fn finish(&self, exchange: &Exchange, ending: super::log::Ending) {
        locked(&self.live).remove(&exchange.number);
        exchange.note(|progress| progress.ended = Some((Instant::now(), ending)));
        self.pulse.beat();
    }

    /// Orders the live answers a pattern matches to end; returns how many there were.
    pub(crate) fn order(&self, on: &On, end: End) -> usize {
        let live = locked(&self.live);
        let mut ordered = 0;
        for live in live.values().filter(|live| on.matches(&live.exchange)) {
            live.order.send_replace(Some(end));
            ordered += 1;
        }
        ordered
    }

    /// Notes what a client has been given.
    pub(crate) fn sent(&self, delivered: Delivered, watched: bool) {
        if delivered.commits.is_empty() && delivered.altered.is_empty() {
            return;
        }
        let now = Instant::now();
        let mut model = locked(&self.model);
        for commit in delivered.commits {
            if let Some(committed) = model.committed.get_mut(commit) {
                let first = if watched {
                    &mut committed.first_watched
                } else {
                    &mut committed.first_listed
                };
                first.get_or_insert(now);
            }
        }
        model.altered.extend(delivered.altered);
    }
}
