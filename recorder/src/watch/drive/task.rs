//! Owns the turns of one resource's task: wait, list, watch, and the end. Refuses the reading of answers: its neighbours do that.

use crate::discover::present_revision;
use crate::health::ResourceState;

use super::pages::Pages;
use super::read::{Reading, StreamEnd};
use super::touch::Touch;
use crate::server::{Answer, Failure, Get, Server};
use crate::watch::context::Shared;
use crate::watch::head;
use crate::watch::intake::Intake;
use crate::watch::state::{Memory, Origin, Refusal, Step, Stream, Traits};
use crate::watch::target::{Role, Target};
use crate::watch::version::Version;
use kubereel_format::{ConnectionId, Elapsed, EndCause, ListMethod, ResourceInfo};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};

/// How long the head of an answer may take, in seconds. A cache that is being filled answers late.
pub(super) const HEAD_SECS: u64 = 30;

/// So many answers of 404, over so long, and the resource may be gone.
pub(super) const MISSING_TRIES: u32 = 3;
pub(super) const MISSING_MICROS: u64 = 2_000_000;

/// Why a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DriveEnd {
    /// The recorder stops.
    Stopped,
    /// The resource is no longer served.
    Gone,
}

/// What is left of a stream.
#[derive(Debug)]
pub(crate) struct Leftover {
    /// The resource.
    pub(crate) info: ResourceInfo,
    /// Why it ended.
    pub(crate) end: DriveEnd,
    /// What a later stream of it needs.
    pub(crate) memory: Memory,
}

/// What is brought to a stream that begins.
#[derive(Debug)]
pub(crate) struct Start {
    /// The resource.
    pub(crate) info: ResourceInfo,
    /// What is known of it.
    pub(crate) memory: Memory,
    /// Why it begins.
    pub(crate) origin: Origin,
    /// Whether its server may stream lists.
    pub(crate) can_watch_list: bool,
    /// Whether it is a custom resource.
    pub(crate) is_custom: bool,
}

/// Something from outside that a wait gives way to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interrupt {
    /// The recorder stops.
    Stop,
    /// The cluster is another one.
    Epoch,
}

/// The task of one resource.
pub(crate) struct Drive {
    pub(super) shared: Arc<Shared>,
    pub(super) intake: Intake,
    pub(super) pages: Pages,
    pub(super) stop: watch::Receiver<bool>,
    pub(super) epoch: watch::Receiver<u32>,
    /// The epoch in which the stream's position is true.
    pub(super) lives_in: u32,
    pub(super) clients: watch::Receiver<Option<Arc<Server>>>,
    pub(super) descriptions: mpsc::Receiver<ResourceInfo>,
    /// Counts the changes of its definition.
    pub(super) changes: watch::Receiver<u32>,
    pub(super) broke: Option<Elapsed>,
    pub(super) missing: Option<(Elapsed, u32)>,
    pub(super) state: Option<ResourceState>,
    pub(super) touch: Touch,
}

impl Drive {
    /// Makes it; nothing is asked before [`Self::run`].
    pub(crate) fn new(
        shared: &Arc<Shared>,
        start: Start,
        descriptions: mpsc::Receiver<ResourceInfo>,
        changes: watch::Receiver<u32>,
    ) -> Self {
        let target = Target::new(start.info);
        let traits = Traits {
            is_cached: target.role != Role::Events,
            can_watch_list: start.can_watch_list,
        };
        let seed = RandomState::new().hash_one(target.info.id.0);
        let mut epoch = shared.epoch.clone();
        let lives_in = *epoch.borrow_and_update();
        let mut memory = start.memory;
        let read_before = std::mem::take(&mut memory.read_back);
        let mut stream = Stream::new(traits, memory, start.origin, seed);
        stream.ask_for(shared.watch_secs);
        let mut intake = Intake::new(
            target,
            stream,
            shared.redactor.clone(),
            Arc::clone(&shared.numbers),
            Arc::clone(&shared.held),
        );
        intake.leave_out(read_before);
        Self {
            intake,
            pages: Pages::default(),
            stop: shared.stop.clone(),
            epoch,
            lives_in,
            clients: shared.clients.clone(),
            descriptions,
            changes,
            broke: None,
            missing: None,
            state: None,
            touch: Touch::new(start.is_custom),
            shared: Arc::clone(shared),
        }
    }

    /// Follows the resource until the recorder stops or the resource is gone.
    pub(crate) async fn run(mut self) -> Leftover {
        // It is behind from the first moment: it may wait long for its turn to be listed.
        self.report();
        self.intake.announce(self.shared.now());
        self.flush().await;
        let end = self.follow().await;
        let at = self.shared.now();
        self.intake.release(at);
        match end {
            DriveEnd::Stopped => self.intake.stopped(at),
            DriveEnd::Gone => {
                let version = self.version_at_end().await;
                let id = self.shared.numbers.connection();
                self.intake.gone(version.as_ref(), id, self.shared.now());
            }
        }
        self.flush().await;
        let id = self.intake.target.info.id.0;
        self.shared.health.set_resource(id, None);
        Leftover {
            info: self.intake.target.info,
            end,
            memory: self.intake.stream.into_memory(),
        }
    }

    pub(super) async fn follow(&mut self) -> DriveEnd {
        let mut list_turn: Option<OwnedSemaphorePermit> = None;
        loop {
            if *self.stop.borrow() {
                return DriveEnd::Stopped;
            }
            if self.epoch.has_changed().unwrap_or(false) {
                self.lives_in = *self.epoch.borrow_and_update();
                let at = self.shared.now();
                self.intake.release(at);
                self.intake.stream.new_epoch();
                self.pages = Pages::default();
            }
            if let Ok(info) = self.descriptions.try_recv() {
                let at = self.shared.now();
                self.intake.describe(info, at);
            }
            if !self.intake.stream.wants_list() {
                list_turn = None;
            }
            let step = self.intake.stream.step(self.shared.clock.elapsed());
            if matches!(step, Step::WatchList { .. } | Step::Page { .. }) && list_turn.is_none() {
                list_turn = self.list_turn().await;
                // Time has passed; whatever is right now is asked for.
                continue;
            }
            match step {
                Step::Wait { micros } => {
                    // A resource that is refused waits for long: others have their turn meanwhile.
                    list_turn = None;
                    let wait = tokio::time::sleep(Duration::from_micros(micros));
                    self.unless_interrupted(wait).await;
                }
                Step::WatchList { timeout_secs } => {
                    let target = self.intake.target.watch_list(timeout_secs);
                    self.watch(&target, None, timeout_secs, &mut list_turn)
                        .await;
                }
                Step::Watch { from, timeout_secs } => {
                    let target = self.intake.target.watch(&from, timeout_secs);
                    let from = Some(from.to_string());
                    self.watch(&target, from, timeout_secs, &mut list_turn)
                        .await;
                }
                Step::Page { limit, token } => {
                    self.page(limit, token.as_deref(), &mut list_turn).await;
                }
            }
            self.flush().await;
            self.report();
            if self.is_gone().await {
                return DriveEnd::Gone;
            }
        }
    }

    /// Reads the version at which a custom resource is known to be gone. The versions of what other
    /// servers serve are their own.
    pub(super) async fn version_at_end(&mut self) -> Option<Version> {
        if !self.touch.is_custom() {
            return None;
        }
        let server = self.server().await?;
        let reading = present_revision(&server);
        self.unless_interrupted(reading).await.flatten()
    }

    pub(super) async fn list_turn(&mut self) -> Option<OwnedSemaphorePermit> {
        let lists = Arc::clone(&self.shared.lists);
        let turn = lists.acquire_owned();
        self.unless_interrupted(turn).await.and_then(Result::ok)
    }

    /// Waits for something, unless the recorder stops or the cluster changes first.
    pub(super) async fn unless_interrupted<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut stop = self.stop.clone();
        let mut epoch = self.epoch.clone();
        tokio::select! {
            biased;
            _ = interrupt(&mut stop, &mut epoch) => None,
            value = future => Some(value),
        }
    }

    /// Waits for a client.
    pub(super) async fn server(&mut self) -> Option<Arc<Server>> {
        let mut clients = self.clients.clone();
        let server = self
            .unless_interrupted(async move {
                let server = clients.wait_for(Option::is_some).await.ok()?;
                server.clone()
            })
            .await??;
        Some(server)
    }

    pub(super) async fn watch(
        &mut self,
        target: &str,
        from: Option<String>,
        timeout_secs: u32,
        list_turn: &mut Option<OwnedSemaphorePermit>,
    ) {
        let Some(server) = self.server().await else {
            return;
        };
        let id = self.shared.numbers.connection();
        // What changed before is behind whoever answers.
        self.changes.mark_unchanged();
        let get = server.get(Get::json(target, HEAD_SECS));
        let Some(answer) = self.unless_interrupted(get).await else {
            return;
        };
        let Some(answer) = self.accept(&server, id, answer).await else {
            return;
        };
        let method = if from.is_some() {
            ListMethod::Watch
        } else {
            ListMethod::WatchList
        };
        let at = self.shared.now();
        self.intake.connected(id, from, method, timeout_secs, at);
        self.shared.fleet.opened(id, at.elapsed);
        // A quiet resource may send nothing for minutes: report at once that it is watched.
        self.flush().await;
        self.report();
        self.touch.connected(&server, target);
        let lead = Reading::new(answer, &server, id, &self.intake.target);
        let (id, end) = self.read(lead, list_turn).await;
        self.shared.fleet.closed(id);
        let at = self.shared.now();
        match end {
            StreamEnd::Refused { code, message } => {
                let refusal = self.refusal(code, None, &message);
                self.intake.refused(refusal, id, at);
            }
            StreamEnd::Ended { cause, detail } => {
                self.touch.ended(cause);
                self.broke = Some(at.elapsed);
                self.intake.ended(cause, &detail, at);
            }
        }
    }

    pub(super) fn refusal<'a>(
        &self,
        code: u16,
        retry_after_secs: Option<u32>,
        message: &'a str,
    ) -> Refusal<'a> {
        if code == 410 {
            self.shared.health.count_expired();
        }
        Refusal {
            code,
            retry_after_secs,
            message,
            others_may_know: self.shared.fleet.may_know(self.broke),
        }
    }

    /// Takes the head of an answer: gives it on if it is a success.
    pub(super) async fn accept(
        &mut self,
        server: &Server,
        id: ConnectionId,
        answer: Result<Answer, Failure>,
    ) -> Option<Answer> {
        let answer = match answer {
            Ok(answer) => answer,
            Err(failure) => {
                if failure.may_need_new_client() {
                    self.shared.refuse(server.generation);
                }
                let at = self.shared.now();
                self.touch.ended(EndCause::Unreachable);
                self.intake.unreachable(id, &failure.words, at);
                return None;
            }
        };
        let status = answer.status;
        if status == 200 && answer.is_json() {
            self.missing = None;
            return Some(answer);
        }
        if status == 401 {
            self.shared.refuse(server.generation);
        }
        let retry_after_secs = answer.retry_after_secs();
        let (code, message) = if status == 200 {
            // Something between here and the server speaks, not the server.
            (
                502,
                format!("the answer is {:?}, not JSON", answer.content_type()),
            )
        } else {
            (status, words(&answer.read_error().await))
        };
        let at = self.shared.now();
        if code == 404 {
            let since = self.missing.map_or(at.elapsed, |(since, _)| since);
            let tries = self.missing.map_or(0, |(_, tries)| tries);
            self.missing = Some((since, tries.saturating_add(1)));
        }
        let refusal = self.refusal(code, retry_after_secs, &message);
        self.intake.refused(refusal, id, at);
        None
    }

    /// Hands on what the intake has for others. Waits while the queue is full.
    pub(super) async fn flush(&mut self) {
        for entry in self.intake.take_entries() {
            self.shared.queue.push(entry).await;
        }
        for sighting in self.intake.take_sightings() {
            // The receiver is gone only while the recorder stops.
            drop(self.shared.sightings.send(sighting).await);
        }
        let wishes = self.intake.take_wishes();
        if wishes.wants_discovery {
            self.shared.discovery.ask();
        }
        if wishes.has_found_history {
            self.shared.fleet.history_found();
        }
    }

    pub(super) fn report(&mut self) {
        let stream = &self.intake.stream;
        let target = &self.intake.target;
        if let (true, Some(position), true) = (
            target.tells_revision(),
            stream.position(),
            stream.is_synced(),
        ) {
            let revisions = self.shared.discovery.revisions();
            revisions.reached(self.lives_in, &position.version, || target.path());
        }
        let state = if stream.is_uncovered() {
            ResourceState::NotCovered
        } else if stream.is_following() {
            ResourceState::Complete
        } else {
            ResourceState::Behind
        };
        if self.state.replace(state) != Some(state) {
            let id = self.intake.target.info.id.0;
            self.shared.health.set_resource(id, Some(state));
        }
    }

    /// Tells whether the resource has vanished: it is not found again and again, and discovery,
    /// asked after that, does not have it either.
    pub(super) async fn is_gone(&mut self) -> bool {
        let Some((since, tries)) = self.missing else {
            return false;
        };
        let waited = self
            .shared
            .clock
            .elapsed()
            .micros
            .saturating_sub(since.micros);
        if tries < MISSING_TRIES || waited < MISSING_MICROS {
            return false;
        }
        let info = self.intake.target.info.clone();
        let shared = Arc::clone(&self.shared);
        let asking = shared
            .discovery
            .is_served(&info.group, &info.version, &info.plural);
        let is_served = self.unless_interrupted(asking).await.flatten();
        if is_served != Some(false) {
            self.missing = None;
            return false;
        }
        true
    }
}

/// Waits for something from outside.
pub(super) async fn interrupt(
    stop: &mut watch::Receiver<bool>,
    epoch: &mut watch::Receiver<u32>,
) -> Interrupt {
    tokio::select! {
        // Whoever held the other end is gone: the recorder stops.
        _ = stop.wait_for(|stop| *stop) => Interrupt::Stop,
        changed = epoch.changed() => match changed {
            Ok(()) => Interrupt::Epoch,
            Err(_) => Interrupt::Stop,
        },
    }
}

/// Gives the words of an error's body: a status has a message, anything else its first line.
pub(super) fn words(body: &[u8]) -> String {
    let status = head::status(body);
    if !status.message.is_empty() {
        return status.message;
    }
    let text = String::from_utf8_lossy(body);
    text.lines()
        .next()
        .unwrap_or("")
        .chars()
        .take(200)
        .collect()
}
