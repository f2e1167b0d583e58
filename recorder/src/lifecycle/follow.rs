//! Owns the client of the moment: made when a kubeconfig can be used, made anew when it or a file it
//! names changes and when its credentials are refused. Refuses to take the old client away before
//! there is a new one.

use super::kubeconfig::{Lookout, Sight};
use crate::clock::Clock;
use crate::entry::Entry;
use crate::health::Health;
use crate::quota::Queue;
use crate::server::{Server, chain, client};
use kubereel_format::{Lifecycle, Note};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How often the files are read.
const EVERY_MILLIS: u64 = 1_000;

/// The shortest time between two clients of one kubeconfig, in seconds.
const REBUILD_SECS: u64 = 2;

/// Follows the kubeconfig.
pub(crate) struct Follower {
    pub(crate) lookout: Lookout,
    pub(crate) clients: watch::Sender<Option<Arc<Server>>>,
    pub(crate) refused: watch::Receiver<u64>,
    pub(crate) queue: Arc<Queue>,
    pub(crate) health: Arc<Health>,
    pub(crate) clock: Clock,
}

impl Follower {
    /// Follows until it is dropped.
    #[expect(clippy::infinite_loop, reason = "the run aborts it at its end")]
    pub(crate) async fn run(mut self) {
        let mut known: Option<u64> = None;
        let mut said: Option<Lifecycle> = None;
        let mut said_aside = Vec::new();
        let mut generation = 0;
        loop {
            let is_refused = *self.refused.borrow_and_update() >= generation && generation > 0;
            let asked = if is_refused { None } else { known };
            if let Some(sight) = self.look(asked).await {
                let (state, hash, config) = match sight {
                    Sight::Missing { path } => {
                        (Lifecycle::WaitingForKubeconfig { path }, None, None)
                    }
                    Sight::Unusable { path, error, hash } => (
                        Lifecycle::KubeconfigUnusable { path, error },
                        Some(hash),
                        None,
                    ),
                    Sight::Usable {
                        path,
                        config,
                        hash,
                        set_aside,
                    } => {
                        self.set_aside(set_aside, &mut said_aside).await;
                        let state = Lifecycle::KubeconfigLoaded { path };
                        (state, Some(hash), Some(config))
                    }
                };
                let is_new = hash.is_none() || hash != known;
                known = hash;
                let state = match config {
                    Some(config) => self.build(*config, state, &mut generation),
                    None => state,
                };
                if is_new && said.as_ref() != Some(&state) || is_reload(&state, is_new) {
                    self.say(&state).await;
                    said = Some(state);
                }
            }
            let wait = if is_refused {
                Duration::from_secs(REBUILD_SECS)
            } else {
                Duration::from_millis(EVERY_MILLIS)
            };
            tokio::time::sleep(wait).await;
        }
    }

    /// Looks on a thread of its own: files may hang, and credentials may come from a program.
    async fn look(&self, known: Option<u64>) -> Option<Sight> {
        let lookout = self.lookout.clone();
        let runtime = tokio::runtime::Handle::current();
        let looking =
            tokio::task::spawn_blocking(move || runtime.block_on(lookout.look(known))).await;
        looking.ok().flatten()
    }

    fn build(&self, config: kube::Config, state: Lifecycle, generation: &mut u64) -> Lifecycle {
        let address = config.cluster_url.clone();
        match client(config) {
            Ok(client) => {
                *generation += 1;
                let server = Arc::new(Server::new(client, *generation, &address));
                self.clients.send_replace(Some(server));
                state
            }
            Err(error) => {
                let path = match state {
                    Lifecycle::KubeconfigLoaded { path } => path,
                    _ => String::new(),
                };
                let error = chain(&error);
                Lifecycle::KubeconfigUnusable { path, error }
            }
        }
    }

    /// Says what is wrong with a better kubeconfig while another is used.
    async fn set_aside(&self, now: Vec<(String, String)>, said: &mut Vec<(String, String)>) {
        for (path, error) in &now {
            if !said
                .iter()
                .any(|known| (&known.0, &known.1) == (path, error))
            {
                let (path, error) = (path.clone(), error.clone());
                self.say(&Lifecycle::KubeconfigUnusable { path, error })
                    .await;
            }
        }
        *said = now;
    }

    async fn say(&self, state: &Lifecycle) {
        match state {
            Lifecycle::WaitingForKubeconfig { path } => {
                tracing::info!(path, "waiting for a kubeconfig");
                self.trouble(&format!("no kubeconfig at {path}"));
            }
            Lifecycle::KubeconfigUnusable { path, error } => {
                tracing::warn!(path, error, "the kubeconfig cannot be used");
                self.trouble(error);
            }
            Lifecycle::KubeconfigLoaded { path } => tracing::info!(path, "kubeconfig loaded"),
            Lifecycle::Unreachable { .. } | Lifecycle::Reachable => {}
        }
        let entry = Entry::Note {
            stamp: self.clock.stamp(),
            note: Note::Lifecycle(state.clone()),
        };
        self.queue.push(entry).await;
    }

    fn trouble(&self, words: &str) {
        // A client that works goes on working.
        if self.clients.borrow().is_none() {
            self.health.set_reachable(Some(words));
        }
    }
}

/// Tells whether a kubeconfig was loaded whose content is new.
const fn is_reload(state: &Lifecycle, is_new: bool) -> bool {
    is_new && matches!(state, Lifecycle::KubeconfigLoaded { .. })
}
