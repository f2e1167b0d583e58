//! Follows the kubeconfig: builds the client, and replaces it when the files change, when a server
//! refuses the credentials, and when another candidate works and the current one does not, or has
//! precedence.
//!
//! Invariants:
//! * The old client stays until there is a new one, and a client that works is replaced only by one
//!   that works, or by the next content of the only kubeconfig of the user.
//! * Candidates are tried beside the recording, each within a bounded time, and again from time to
//!   time: a candidate that fails now may work later.

use super::kubeconfig::{KubeconfigCandidate, KubeconfigSight, Lookout};
use crate::clock::Clock;
use crate::health::Health;
use crate::probe::try_server;
use crate::queue::{Queue, QueueEntry};
use crate::server::{ApiServer, chain, client};
use kubereel_format::{Lifecycle, Note};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// The interval at which the files are read.
const EVERY_MILLIS: u64 = 1_000;

/// The shortest time between two clients of one kubeconfig, and between two tries while no candidate
/// works, in seconds.
const REBUILD_SECS: u64 = 2;

/// The time between two tries of the candidates while one of them works, in seconds.
const TRY_SECS: u64 = 10;

/// The parts of a run with which the follower exchanges data.
pub(crate) struct FollowerPorts {
    pub(crate) clients: watch::Sender<Option<Arc<ApiServer>>>,
    pub(crate) refused: watch::Receiver<u64>,
    pub(crate) queue: Arc<Queue>,
    pub(crate) health: Arc<Health>,
    pub(crate) clock: Clock,
}

/// Follows the kubeconfig.
pub(crate) struct Follower {
    lookout: Lookout,
    ports: FollowerPorts,
    /// The hash of everything that was read.
    known: Option<u64>,
    candidates: Vec<KubeconfigCandidate>,
    /// The path and the hash of the candidate of the current client.
    in_use: Option<(String, u64)>,
    generation: u64,
    noted: Option<Lifecycle>,
    noted_aside: Vec<(String, String)>,
    /// The hashes of candidates whose failure was noted.
    noted_failures: Vec<u64>,
    next_try: Instant,
}

/// The result of trying one candidate: its server, and why it does not work, if it does not.
struct TriedCandidate {
    server: Option<Arc<ApiServer>>,
    failure: Option<String>,
}

/// What is known when a client is chosen.
struct ClientChoice<'a> {
    /// Whether each candidate works; the preferred one first.
    works: &'a [bool],
    /// The candidate of the current client, unless its content changed or it was removed.
    in_use: Option<usize>,
    /// The candidate at the path of the current client.
    same_path: Option<usize>,
    /// Whether the current client works although it belongs to none of the candidates.
    has_working_old: bool,
}

impl ClientChoice<'_> {
    /// Returns the candidate to use; `None` if the current client stays.
    fn choose(&self) -> Option<usize> {
        let best = self.works.iter().position(|works| *works);
        match (best, self.in_use) {
            (Some(_), _) => best.filter(|_| best != self.in_use),
            (None, Some(_)) => None,
            (None, None) if self.has_working_old => None,
            (None, None) => Some(self.same_path.unwrap_or(0)),
        }
    }
}

impl Follower {
    /// Creates a follower.
    pub(crate) fn new(lookout: Lookout, ports: FollowerPorts) -> Self {
        Self {
            lookout,
            ports,
            known: None,
            candidates: Vec::new(),
            in_use: None,
            generation: 0,
            noted: None,
            noted_aside: Vec::new(),
            noted_failures: Vec::new(),
            next_try: Instant::now(),
        }
    }

    /// Follows until it is dropped.
    #[expect(clippy::infinite_loop, reason = "the run aborts it at its end")]
    pub(crate) async fn run(mut self) {
        loop {
            let refused = *self.ports.refused.borrow_and_update();
            // Clients that were only tried have later numbers.
            let current = self
                .ports
                .clients
                .borrow()
                .as_ref()
                .map(|server| server.generation);
            let is_refused = current.is_some_and(|current| refused >= current);
            let asked = if is_refused { None } else { self.known };
            match self.look(asked).await {
                Some(sight) => self.take(sight, is_refused).await,
                None if self.is_try_due() => self.choose(false).await,
                None => {}
            }
            let wait = if is_refused {
                Duration::from_secs(REBUILD_SECS)
            } else {
                Duration::from_millis(EVERY_MILLIS)
            };
            tokio::time::sleep(wait).await;
        }
    }

    /// Reads on a separate thread: file systems may hang, and a credential plugin is a program.
    async fn look(&self, known: Option<u64>) -> Option<KubeconfigSight> {
        let lookout = self.lookout.clone();
        let runtime = tokio::runtime::Handle::current();
        let looking =
            tokio::task::spawn_blocking(move || runtime.block_on(lookout.look(known))).await;
        looking.ok().flatten()
    }

    async fn take(&mut self, sight: KubeconfigSight, is_refused: bool) {
        let (state, hash) = match sight {
            KubeconfigSight::Missing { path } => (Lifecycle::WaitingForKubeconfig { path }, None),
            KubeconfigSight::Unusable { path, error, hash } => {
                (Lifecycle::KubeconfigUnusable { path, error }, Some(hash))
            }
            KubeconfigSight::Usable {
                candidates,
                hash,
                set_aside,
            } => {
                self.set_aside(set_aside).await;
                let is_new = self.known != Some(hash);
                self.known = Some(hash);
                self.candidates = candidates;
                let is_first_and_only = self.in_use.is_none() && self.candidates.len() == 1;
                if self.lookout.has_choice() && !is_first_and_only {
                    self.choose(is_refused).await;
                } else if let Some(only) = self.candidates.first().cloned() {
                    self.load(&only, is_new).await;
                }
                return;
            }
        };
        self.candidates.clear();
        let is_new = hash.is_none() || hash != self.known;
        self.known = hash;
        if is_new && self.noted.as_ref() != Some(&state) {
            self.say(&state).await;
            self.noted = Some(state);
        }
    }

    /// Uses a candidate without a try.
    async fn load(&mut self, candidate: &KubeconfigCandidate, is_new: bool) {
        let path = candidate.path.clone();
        let state = match self.build(candidate) {
            Ok(server) => {
                self.switch(candidate, server);
                Lifecycle::KubeconfigLoaded { path }
            }
            Err(error) => Lifecycle::KubeconfigUnusable { path, error },
        };
        let is_loaded = matches!(state, Lifecycle::KubeconfigLoaded { .. });
        if is_new && (is_loaded || self.noted.as_ref() != Some(&state)) {
            self.say(&state).await;
            self.noted = Some(state);
        }
    }

    fn build(&mut self, candidate: &KubeconfigCandidate) -> Result<Arc<ApiServer>, String> {
        let address = candidate.config.cluster_url.clone();
        let client = client((*candidate.config).clone()).map_err(|error| chain(&error))?;
        self.generation += 1;
        Ok(Arc::new(ApiServer::new(client, self.generation, &address)))
    }

    fn switch(&mut self, candidate: &KubeconfigCandidate, server: Arc<ApiServer>) {
        self.in_use = Some((candidate.path.clone(), candidate.hash));
        self.ports.clients.send_replace(Some(server));
    }

    /// Returns whether there is a candidate beside the current client, and it is time to try it.
    fn is_try_due(&self) -> bool {
        let is_beside = |candidate: &KubeconfigCandidate| !self.is_in_use(candidate);
        self.lookout.has_choice()
            && Instant::now() >= self.next_try
            && self.candidates.iter().any(is_beside)
    }

    fn is_in_use(&self, candidate: &KubeconfigCandidate) -> bool {
        let in_use = self.in_use.as_ref();
        in_use.is_some_and(|(path, hash)| *path == candidate.path && *hash == candidate.hash)
    }

    /// Uses the first candidate that works.
    async fn choose(&mut self, is_refused: bool) {
        let candidates = self.candidates.clone();
        let place = candidates.iter().position(|one| self.is_in_use(one));
        let current = self.ports.clients.borrow().clone();
        let old = current.clone().filter(|_| !is_refused);
        let tried = self.try_all(&candidates, place, old.as_ref()).await;
        let works: Vec<bool> = tried.iter().map(|one| one.failure.is_none()).collect();
        let has_working_old = match (&old, place) {
            (Some(old), None) if !works.contains(&true) => try_server(old).await.is_ok(),
            _ => false,
        };
        let choice = ClientChoice {
            works: &works,
            in_use: place,
            same_path: candidates.iter().position(|one| {
                self.in_use
                    .as_ref()
                    .is_some_and(|(path, _)| *path == one.path)
            }),
            has_working_old,
        };
        let mut taken = choice.choose();
        // The server may have been restarted between the two answers.
        if let (Some(next), Some(now), Some(old)) = (taken, place, &old)
            && next > now
            && try_server(old).await.is_ok()
        {
            taken = None;
        }
        // New credentials may be in the same files.
        let taken = taken.or(place.filter(|_| is_refused));
        let does_one_work = works.contains(&true) || has_working_old;
        let used = taken.or(place).unwrap_or(candidates.len());
        if does_one_work {
            self.note_failures(&candidates, &tried, used).await;
        }
        if let Some(taken) = taken {
            self.use_tried(&candidates, tried, taken).await;
        }
        let secs = if does_one_work {
            TRY_SECS
        } else {
            REBUILD_SECS
        };
        self.next_try = Instant::now() + Duration::from_secs(secs);
    }

    /// Tries all candidates at once.
    async fn try_all(
        &mut self,
        candidates: &[KubeconfigCandidate],
        place: Option<usize>,
        old: Option<&Arc<ApiServer>>,
    ) -> Vec<TriedCandidate> {
        let mut tried = Vec::new();
        let mut running = JoinSet::new();
        for (number, candidate) in candidates.iter().enumerate() {
            let server = match old {
                Some(old) if place == Some(number) => Ok(Arc::clone(old)),
                _ => self.build(candidate),
            };
            if let Ok(server) = &server {
                let server = Arc::clone(server);
                running.spawn(async move { (number, try_server(&server).await.err()) });
            }
            tried.push(match server {
                Ok(server) => TriedCandidate {
                    server: Some(server),
                    failure: None,
                },
                Err(error) => TriedCandidate {
                    server: None,
                    failure: Some(error),
                },
            });
        }
        for (number, failure) in running.join_all().await {
            if let Some(one) = tried.get_mut(number) {
                one.failure = failure;
            }
        }
        tried
    }

    /// Reports candidates with precedence over the used one that do not work: each content once.
    async fn note_failures(
        &mut self,
        candidates: &[KubeconfigCandidate],
        tried: &[TriedCandidate],
        used: usize,
    ) {
        let is_there = |hash: &u64| candidates.iter().any(|one| one.hash == *hash);
        self.noted_failures.retain(is_there);
        for (candidate, tried) in candidates.iter().zip(tried).take(used) {
            if let Some(error) = &tried.failure
                && !self.noted_failures.contains(&candidate.hash)
            {
                self.noted_failures.push(candidate.hash);
                let (path, error) = (candidate.path.clone(), error.clone());
                let state = Lifecycle::KubeconfigUnusable { path, error };
                self.say(&state).await;
            }
        }
    }

    async fn use_tried(
        &mut self,
        candidates: &[KubeconfigCandidate],
        tried: Vec<TriedCandidate>,
        taken: usize,
    ) {
        let (Some(candidate), Some(tried)) = (candidates.get(taken), tried.into_iter().nth(taken))
        else {
            return;
        };
        let is_new = !self.is_in_use(candidate);
        let path = candidate.path.clone();
        let state = match (tried.server, tried.failure) {
            (Some(server), _) => {
                // A later failure is reported again.
                self.noted_failures.retain(|hash| *hash != candidate.hash);
                self.switch(candidate, server);
                Lifecycle::KubeconfigLoaded { path }
            }
            (None, failure) => Lifecycle::KubeconfigUnusable {
                path,
                error: failure.unwrap_or_default(),
            },
        };
        let is_loaded = matches!(state, Lifecycle::KubeconfigLoaded { .. });
        if is_new && (is_loaded || self.noted.as_ref() != Some(&state)) {
            self.say(&state).await;
            self.noted = Some(state);
        }
    }

    /// Reports the error of a place with precedence while a candidate is used.
    async fn set_aside(&mut self, now: Vec<(String, String)>) {
        for (path, error) in &now {
            let mut noted = self.noted_aside.iter();
            if !noted.any(|known| (&known.0, &known.1) == (path, error)) {
                let (path, error) = (path.clone(), error.clone());
                self.say(&Lifecycle::KubeconfigUnusable { path, error })
                    .await;
            }
        }
        self.noted_aside = now;
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
        let entry = QueueEntry::Note {
            stamp: self.ports.clock.stamp(),
            note: Note::Lifecycle(state.clone()),
        };
        self.ports.queue.push(entry).await;
    }

    fn trouble(&self, words: &str) {
        // The current client stays in use.
        if self.ports.clients.borrow().is_none() {
            self.ports.health.set_reachable(Some(words));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(works: &[bool], in_use: Option<usize>, has_working_old: bool) -> Option<usize> {
        let choice = ClientChoice {
            works,
            in_use,
            same_path: None,
            has_working_old,
        };
        choice.choose()
    }

    #[test]
    fn the_first_candidate_that_works_is_used() {
        assert_eq!(choose(&[true, true], None, false), Some(0));
        assert_eq!(choose(&[false, true], None, false), Some(1));
        assert_eq!(choose(&[true, true], Some(1), false), Some(0));
    }

    #[test]
    fn a_candidate_that_does_not_work_replaces_none_that_works() {
        assert_eq!(choose(&[false, true], Some(1), false), None);
        assert_eq!(choose(&[false], None, true), None, "its content changed");
    }

    #[test]
    fn a_current_client_that_fails_gives_way_to_any_that_works() {
        assert_eq!(choose(&[false, true], Some(0), false), Some(1));
        assert_eq!(choose(&[true], None, false), Some(0));
    }

    #[test]
    fn while_none_works_the_current_one_stays_and_new_content_is_read() {
        assert_eq!(choose(&[false, false], Some(1), false), None);
        assert_eq!(choose(&[false, false], None, false), Some(0));
        let choice = ClientChoice {
            works: &[false, false],
            in_use: None,
            same_path: Some(1),
            has_working_old: false,
        };
        assert_eq!(choice.choose(), Some(1));
    }
}
