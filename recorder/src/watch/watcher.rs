//! The task of one resource: it waits, lists and watches as its [`WatchState`] decides, and passes
//! received data to its [`Intake`].
//!
//! Invariants:
//! * It decides nothing about the recording: when to send a request, what to store and what is lost
//!   are decisions of the state machine.
//! * It does not read while the queue is full, and reads a long line only with a permit.
//! * One task reads a watch and its successor; neither delays the other. The current connection is
//!   dropped for a successor only if the successor has reached the same position.
//! * Every silence ends: requests, pages and watches have a timeout.
//! * A gap is settled between the list that ended it and the next entry. The watch waits meanwhile,
//!   so settling is bounded in time.

use crate::backfill::{Asker, BACKFILL_SECS, BackfillResult, BackfillTask, read_back};
use crate::discover::present_revision;
use crate::health::ResourceCoverage;
use crate::resource::{ResourceRole, WatchTarget};
use crate::server::{ApiServer, Failure, Get, HttpAnswer};
use crate::version::ResourceVersion;
use crate::watch::context::WatchContext;
use crate::watch::gap::ReadBack;
use crate::watch::intake::{Intake, LineFlow};
use crate::watch::interrupts::Interrupts;
use crate::watch::missing::MissingResponses;
use crate::watch::overlap::{
    OpenSuccessor, ServerWaker, SuccessorAnswer, SuccessorRequest, SuccessorStep, WatchOverlap,
};
use crate::watch::page_reading::{PageEnd, PageReading};
use crate::watch::reading::{ConnectionSide, WatchEnd, WatchReading, WatchSignal};
use crate::watch::state::{
    ResumeState, ServerRefusal, ServerTraits, SuccessorVerdict, WatchOrigin, WatchState, WatchStep,
};
use crate::wire::{self, LinePiece, ListPiece};
use bytes::Bytes;
use kubereel_format::{ConnectionId, Elapsed, EndCause, ListMethod, ResourceInfo, Stamp};
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio::time::{Instant, timeout_at};

/// The longest time for the head of a response, in seconds. A server that fills its cache responds
/// late.
pub(super) const HEAD_SECS: u64 = 30;

/// Why a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WatcherEnd {
    /// The recorder stops.
    Stopped,
    /// The resource is no longer served.
    Gone,
}

/// The remains of a stream.
#[derive(Debug)]
pub(crate) struct WatcherOutcome {
    pub(crate) info: ResourceInfo,
    /// Why the stream ended.
    pub(crate) end: WatcherEnd,
    /// The state that a later stream of the resource resumes from.
    pub(crate) memory: ResumeState,
}

/// The input of a new stream.
#[derive(Debug)]
pub(crate) struct WatcherStart {
    pub(crate) info: ResourceInfo,
    /// The state to resume from.
    pub(crate) memory: ResumeState,
    /// Why the stream begins.
    pub(crate) origin: WatchOrigin,
    /// Whether the server may stream lists.
    pub(crate) can_watch_list: bool,
    /// Whether the resource is defined by a `CustomResourceDefinition`.
    pub(crate) is_custom: bool,
}

/// The task of one resource.
pub(crate) struct ResourceWatcher {
    shared: Arc<WatchContext>,
    intake: Intake,
    /// The current list: all its pages count as one connection.
    paged: Option<ConnectionId>,
    /// The position of the stream is valid in the epoch that was taken last.
    interrupts: Interrupts,
    clients: watch::Receiver<Option<Arc<ApiServer>>>,
    descriptions: mpsc::Receiver<ResourceInfo>,
    /// Counts the changes of the resource's definition.
    changes: watch::Receiver<u32>,
    broke: Option<Elapsed>,
    missing: MissingResponses,
    state: Option<ResourceCoverage>,
    touch: ServerWaker,
}

impl ResourceWatcher {
    /// Creates the task; [`Self::run`] sends the first request.
    pub(crate) fn new(
        shared: &Arc<WatchContext>,
        start: WatcherStart,
        descriptions: mpsc::Receiver<ResourceInfo>,
        changes: watch::Receiver<u32>,
    ) -> Self {
        let target = WatchTarget::new(start.info);
        let traits = ServerTraits {
            is_cached: target.role != ResourceRole::Events,
            can_watch_list: start.can_watch_list,
        };
        let seed = RandomState::new().hash_one(target.info.id.0);
        let mut memory = start.memory;
        let read_before = std::mem::take(&mut memory.read_back);
        let mut stream = WatchState::new(traits, memory, start.origin, seed);
        stream.connections().set_watch_secs(shared.watch_secs);
        let mut intake = Intake::new(
            target,
            stream,
            shared.redactor.clone(),
            Arc::clone(&shared.numbers),
            Arc::clone(&shared.limits.waiting_bytes),
            Arc::clone(&shared.health),
        );
        intake.leave_out(read_before);
        Self {
            intake,
            paged: None,
            interrupts: Interrupts::new(shared),
            clients: shared.clients.clone(),
            descriptions,
            changes,
            broke: None,
            missing: MissingResponses::default(),
            state: None,
            touch: ServerWaker::new(start.is_custom),
            shared: Arc::clone(shared),
        }
    }

    /// Follows the resource until the recorder stops or the resource is gone.
    pub(crate) async fn run(mut self) -> WatcherOutcome {
        // The resource is behind from the first moment: it may wait long for its turn to be listed.
        self.report();
        self.intake.announce(self.shared.now());
        self.flush().await;
        let end = self.follow().await;
        let at = self.shared.now();
        self.intake.release(at);
        match end {
            WatcherEnd::Stopped => self.intake.stopped(at),
            WatcherEnd::Gone => {
                let version = self.version_at_end().await;
                let id = self.shared.numbers.connection();
                self.intake.gone(version.as_ref(), id, self.shared.now());
            }
        }
        self.flush().await;
        let id = self.intake.target.info.id.0;
        self.shared.health.set_resource(id, None);
        WatcherOutcome {
            info: self.intake.target.info,
            end,
            memory: self.intake.stream.into_memory(),
        }
    }

    async fn follow(&mut self) -> WatcherEnd {
        let mut list_turn: Option<OwnedSemaphorePermit> = None;
        loop {
            if self.interrupts.is_stopping() {
                return WatcherEnd::Stopped;
            }
            if self.interrupts.take_epoch() {
                let at = self.shared.now();
                self.intake.release(at);
                // Pages of the old cluster must not be continued: their token and their versions
                // belong to another history.
                self.intake.stream.new_epoch();
                self.paged = None;
            }
            if let Ok(info) = self.descriptions.try_recv() {
                let at = self.shared.now();
                self.intake.describe(info, at);
            }
            if !self.intake.stream.wants_list() {
                list_turn = None;
            }
            // After the description, so that the request goes to the version that is stored now.
            let step = self.intake.stream.step(self.shared.clock.elapsed());
            if matches!(step, WatchStep::WatchList { .. } | WatchStep::Page { .. })
                && list_turn.is_none()
            {
                list_turn = self.list_turn().await;
                // The delay is over; the next request is sent.
                continue;
            }
            match step {
                WatchStep::Wait { micros } => {
                    // A refused resource waits for long: it must not keep its list permit
                    // meanwhile, or other resources are never listed.
                    list_turn = None;
                    let wait = tokio::time::sleep(Duration::from_micros(micros));
                    self.interrupts.unless(wait).await;
                }
                WatchStep::WatchList { timeout_secs } => {
                    let target = self.intake.target.watch_list(timeout_secs);
                    self.watch(&target, None, timeout_secs, &mut list_turn)
                        .await;
                }
                WatchStep::Watch { from, timeout_secs } => {
                    let target = self.intake.target.watch(&from, timeout_secs);
                    let from = Some(from.to_string());
                    self.watch(&target, from, timeout_secs, &mut list_turn)
                        .await;
                }
                WatchStep::Page { limit, token } => {
                    self.page(limit, token.as_deref(), &mut list_turn).await;
                }
            }
            self.flush().await;
            self.report();
            // After each request: only its 404 can have added evidence.
            if self.is_gone().await {
                return WatcherEnd::Gone;
            }
        }
    }

    /// Reads a version at which a custom resource is known to be gone. Resources of other servers
    /// have version sequences of their own.
    async fn version_at_end(&mut self) -> Option<ResourceVersion> {
        if !self.touch.is_custom() {
            return None;
        }
        let server = self.server().await?;
        let reading = present_revision(&server);
        self.interrupts.unless(reading).await.flatten()
    }

    async fn list_turn(&mut self) -> Option<OwnedSemaphorePermit> {
        let lists = Arc::clone(&self.shared.limits.lists);
        let turn = lists.acquire_owned();
        self.interrupts.unless(turn).await.and_then(Result::ok)
    }

    /// Waits for a client.
    async fn server(&self) -> Option<Arc<ApiServer>> {
        let mut clients = self.clients.clone();
        let server = async move {
            let server = clients.wait_for(Option::is_some).await.ok()?;
            server.clone()
        };
        self.interrupts.unless(server).await.flatten()
    }

    async fn watch(
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
        // The responding server has passed every change before this version.
        self.changes.mark_unchanged();
        let get = server.get(Get::json(target, HEAD_SECS));
        let Some(answer) = self.interrupts.unless(get).await else {
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
        // A restarted server has no history of a custom resource before it is asked for it: the
        // others are asked now.
        self.touch.connected(&server, target);
        let lead = WatchReading::new(answer, &server, id, &self.intake.target);
        let (id, end) = self.read(lead, list_turn).await;
        self.shared.fleet.closed(id);
        let at = self.shared.now();
        match end {
            WatchEnd::Refused { code, message } => {
                let refusal = self.refusal(code, None, &message);
                self.intake.refused(refusal, id, at);
            }
            WatchEnd::Ended { cause, detail } => {
                self.touch.ended(cause);
                // A server that still runs since before this moment may have the history that this
                // one lost.
                self.broke = Some(at.elapsed);
                self.intake.ended(cause, &detail, at);
            }
        }
    }

    fn refusal<'a>(
        &self,
        code: u16,
        retry_after_secs: Option<u32>,
        message: &'a str,
    ) -> ServerRefusal<'a> {
        if code == 410 {
            self.shared.health.count_expired();
        }
        ServerRefusal {
            code,
            retry_after_secs,
            message,
            others_may_know: self.shared.fleet.may_know(self.broke),
        }
    }

    /// Takes the head of a response, and returns it if it is a success.
    async fn accept(
        &mut self,
        server: &ApiServer,
        id: ConnectionId,
        answer: Result<HttpAnswer, Failure>,
    ) -> Option<HttpAnswer> {
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
        // Load balancers and proxies also respond with 200, often with HTML.
        if status == 200 && answer.is_json() {
            self.missing.reset();
            return Some(answer);
        }
        if status == 401 {
            // With the generation, so that a client that was renewed meanwhile is not renewed
            // again.
            self.shared.refuse(server.generation);
        }
        let retry_after_secs = answer.retry_after_secs();
        let (code, message) = if status == 200 {
            // A proxy or load balancer responded, not the API server.
            (
                502,
                format!("the answer is {:?}, not JSON", answer.content_type()),
            )
        } else {
            (status, wire::error_message(&answer.read_error().await))
        };
        let at = self.shared.now();
        if code == 404 {
            self.missing.count(at.elapsed);
        }
        let refusal = self.refusal(code, retry_after_secs, &message);
        self.intake.refused(refusal, id, at);
        None
    }

    /// Sends the entries and messages of the intake. Waits while the queue is full.
    async fn flush(&mut self) {
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

    fn report(&mut self) {
        let stream = &self.intake.stream;
        let target = &self.intake.target;
        if let (true, Some(position), true) = (
            target.tells_revision(),
            stream.position(),
            stream.is_synced(),
        ) {
            let revisions = self.shared.discovery.revisions();
            revisions.reached(self.interrupts.epoch(), &position.version, || target.path());
        }
        let state = if stream.is_uncovered() {
            ResourceCoverage::NotCovered
        } else if stream.is_following() {
            ResourceCoverage::Complete
        } else {
            ResourceCoverage::Behind
        };
        if self.state.replace(state) != Some(state) {
            let id = self.intake.target.info.id.0;
            self.shared.health.set_resource(id, Some(state));
        }
    }

    /// Returns whether the resource has vanished: it repeatedly is not found, and a later discovery
    /// does not have it either.
    async fn is_gone(&mut self) -> bool {
        if !self.missing.may_be_gone(self.shared.clock.elapsed()) {
            return false;
        }
        let info = self.intake.target.info.clone();
        let shared = Arc::clone(&self.shared);
        let asking = shared
            .discovery
            .is_served(&info.group, &info.version, &info.plural);
        let is_served = self.interrupts.unless(asking).await.flatten();
        // A group that is missing from one discovery document is a failure, not a removal.
        if is_served != Some(false) {
            self.missing.reset();
            return false;
        }
        true
    }
}

// Reading a watch, and its successor beside it.
impl ResourceWatcher {
    /// Reads a watch until it ends and no successor has replaced it. Returns the number of the last
    /// connection.
    async fn read(
        &mut self,
        mut lead: WatchReading,
        list_turn: &mut Option<OwnedSemaphorePermit>,
    ) -> (ConnectionId, WatchEnd) {
        let mut overlap = self.overlap(&lead);
        let mut interrupts = self.interrupts.clone();
        loop {
            if !self.intake.stream.wants_list() {
                *list_turn = None;
            }
            let idle_secs = self.intake.stream.idle_secs();
            let signal = tokio::select! {
                biased;
                interrupt = interrupts.next() => {
                    self.drop_successor(&mut overlap, EndCause::Stopped, "");
                    return (lead.id(), interrupt.end());
                }
                signal = lead.next_signal(idle_secs, &mut overlap, &mut self.changes) => signal,
            };
            let at = self.shared.now();
            let end = match signal {
                WatchSignal::Chunk(chunk) => {
                    lead.received();
                    self.take(&mut lead, chunk, ConnectionSide::Lead, list_turn)
                        .await
                }
                WatchSignal::Silence => {
                    let words = format!("silent for {idle_secs} s");
                    Some(WatchEnd::ended(EndCause::Idle, &words))
                }
                WatchSignal::Quiet => {
                    self.intake.stays_open(at);
                    None
                }
                WatchSignal::Outlived(version) => {
                    self.intake.stream.outlived(&version, at);
                    None
                }
                WatchSignal::Successor(turn) => {
                    self.turn(turn, &mut overlap, list_turn).await;
                    None
                }
                WatchSignal::DefinitionChanged => {
                    self.intake.stream.connections().hurry_successor();
                    overlap.hurry();
                    None
                }
            };
            if let Some(end) = end {
                // The successor delivers the rest from the position, so this end loses nothing.
                let Some(next) = self.outlives(&mut overlap, &end) else {
                    return (lead.id(), end);
                };
                self.shared.fleet.closed(lead.id());
                lead = next;
                overlap.follow(self.overlap(&lead));
            } else if let Some(next) = self.handover(&mut overlap) {
                self.shared.fleet.closed(lead.id());
                lead = next;
                overlap.follow(self.overlap(&lead));
            }
            self.flush().await;
            self.report();
        }
    }

    /// Takes an event of a connection; returns its end if the event is one.
    async fn take(
        &mut self,
        reading: &mut WatchReading,
        chunk: Result<Option<Bytes>, Failure>,
        side: ConnectionSide,
        list_turn: &mut Option<OwnedSemaphorePermit>,
    ) -> Option<WatchEnd> {
        let chunk = match chunk {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return Some(self.rest(reading, side, EndCause::Clean, "").await),
            Err(failure) => {
                let rest = self.rest(reading, side, EndCause::Cut, &failure.words);
                return Some(rest.await);
            }
        };
        let at = self.shared.now();
        reading.push(chunk);
        while let Some(piece) = reading.next_piece() {
            let flow = self.piece(piece, side, at);
            self.settle_gap(list_turn).await;
            // The queue may be full: nothing more is read until there is room.
            self.flush().await;
            match flow {
                LineFlow::On => {}
                LineFlow::Unreadable => return Some(WatchEnd::ended(EndCause::Unreadable, "")),
                LineFlow::Refused { code, message } => {
                    return Some(WatchEnd::Refused { code, message });
                }
            }
        }
        let permits = &self.shared.limits.long_lines;
        reading.wait_for_room(permits, side).await
    }

    fn piece(&mut self, piece: LinePiece, side: ConnectionSide, at: Stamp) -> LineFlow {
        if side == ConnectionSide::Successor {
            let intake = &mut self.intake;
            return intake.on_successor(|intake| take_piece(intake, piece, at));
        }
        take_piece(&mut self.intake, piece, at)
    }

    async fn rest(
        &mut self,
        reading: &mut WatchReading,
        side: ConnectionSide,
        cause: EndCause,
        words: &str,
    ) -> WatchEnd {
        let at = self.shared.now();
        let flow = match (reading.rest(), side) {
            (None, _) => LineFlow::On,
            (Some(LinePiece::Line(line)), ConnectionSide::Lead) => self.intake.rest(&line, at),
            (Some(LinePiece::Line(line)), ConnectionSide::Successor) => {
                self.intake.on_successor(|intake| intake.rest(&line, at))
            }
            (Some(piece @ LinePiece::Part { .. }), side) => self.piece(piece, side, at),
        };
        self.flush().await;
        match flow {
            LineFlow::Refused { code, message } => WatchEnd::Refused { code, message },
            LineFlow::On | LineFlow::Unreadable => WatchEnd::ended(cause, words),
        }
    }
}

fn take_piece(intake: &mut Intake, piece: LinePiece, at: Stamp) -> LineFlow {
    match piece {
        LinePiece::Line(line) => intake.line(&line, at),
        LinePiece::Part {
            bytes, len_so_far, ..
        } => {
            intake.part(&bytes, len_so_far, at);
            LineFlow::On
        }
    }
}

// Reading a list in pages, each item as it arrives.
impl ResourceWatcher {
    async fn page(
        &mut self,
        limit: Option<u32>,
        token: Option<&str>,
        list_turn: &mut Option<OwnedSemaphorePermit>,
    ) {
        let Some(server) = self.server().await else {
            return;
        };
        if token.is_none() {
            self.paged = None;
        }
        let id = match self.paged {
            Some(id) => id,
            None => self.shared.numbers.connection(),
        };
        let target = self.intake.target.page(limit, token);
        let get = server.get(Get::json(&target, HEAD_SECS));
        let Some(answer) = self.interrupts.unless(get).await else {
            return;
        };
        let Some(answer) = self.accept(&server, id, answer).await else {
            // Refused or out of reach: a list that continues later is noted as a new connection.
            if self.intake.connection().is_none() {
                self.paged = None;
            }
            return;
        };
        let at = self.shared.now();
        if self.intake.connection() == Some(id) {
            self.intake.page_answered(at);
        } else {
            self.intake.connected(id, None, ListMethod::Pages, 0, at);
        }
        self.paged = Some(id);
        match self.read_page(answer).await {
            PageEnd::Broken(cause, words) => self.break_off(cause, &words),
            PageEnd::Whole(page) => {
                let end = page.end();
                self.intake.page(end, self.shared.now());
                self.settle_gap(list_turn).await;
                if end.token.is_empty() {
                    self.break_off(EndCause::Clean, "");
                }
            }
        }
    }

    fn break_off(&mut self, cause: EndCause, words: &str) {
        let at = self.shared.now();
        self.paged = None;
        self.intake.ended(cause, words, at);
    }

    async fn read_page(&mut self, answer: HttpAnswer) -> PageEnd {
        let shared = Arc::clone(&self.shared);
        let mut page = PageReading::new(answer, &shared.limits.long_lines);
        let mut pieces = Vec::new();
        loop {
            match self.interrupts.unless(page.next(&mut pieces)).await {
                None => return PageEnd::Broken(EndCause::Stopped, String::new()),
                Some(Some(end)) => return end,
                Some(None) => {}
            }
            let at = shared.now();
            for piece in pieces.drain(..) {
                match piece {
                    ListPiece::Item(item) => self.intake.item(&item, at),
                    ListPiece::Part {
                        bytes, len_so_far, ..
                    } => self.intake.part(&bytes, len_so_far, at),
                }
                self.flush().await;
            }
        }
    }
}

// Settling a gap.
impl ResourceWatcher {
    /// Settles the gap that has just ended, if one has. Other resources may list meanwhile.
    async fn settle_gap(&mut self, list_turn: &mut Option<OwnedSemaphorePermit>) {
        let Some(open) = self.intake.take_open_gap() else {
            return;
        };
        *list_turn = None;
        let read = match open.task() {
            Some(task) => self.read_back(task).await,
            None => None,
        };
        let at = self.shared.now();
        self.intake.settle(open, read, at);
    }

    async fn read_back(&mut self, task: &BackfillTask) -> Option<ReadBack> {
        // The wait for the turn counts too: the watch after the list is not read meanwhile, and its
        // server keeps little more than a minute of history.
        let until = Instant::now() + Duration::from_secs(BACKFILL_SECS);
        let server = self.server().await?;
        let shared = Arc::clone(&self.shared);
        let mut found = BackfillResult::default();
        let since = shared.now();
        let target = &self.intake.target;
        let mut asker = Asker::new(&server, target, &shared.redactor, until);
        let reading = async {
            let turn = timeout_at(until, shared.limits.backfills.acquire());
            if let Ok(Ok(_turn)) = turn.await {
                let known = self.intake.stream.known();
                read_back(&mut asker, task, known, &mut found).await;
            } else {
                found.given_up("other gaps were read back meanwhile");
            }
        };
        // Events that were read back before an interruption are kept.
        self.interrupts.unless(reading).await;
        Some(ReadBack {
            connection: shared.numbers.connection(),
            since,
            requests: asker.requests(),
            found,
        })
    }
}

/// The longest time for which a watch of Events is read after a list of the present, in
/// milliseconds. Events arrive within milliseconds, so everything up to the list has arrived by
/// then.
const OUTLIVE_MILLIS: u64 = 10_000;

/// The notes of a connection that has a successor.
const TAKEN_OVER: &str = "its successor has taken over";

// The successor of a watch: when it is opened, and which connection continues.
impl ResourceWatcher {
    /// Starts the timer for the successor of the current connection.
    fn overlap(&mut self, lead: &WatchReading) -> WatchOverlap {
        let more = self.outlive_millis().unwrap_or_default() * 1_000;
        WatchOverlap::new(
            lead.opened(),
            self.intake.stream.connections().successor_due(more),
        )
    }

    /// Returns how long the current connection must outlive a list of the present, for resources
    /// whose position no bookmark moves: the history from the position may be compacted already.
    fn outlive_millis(&self) -> Option<u64> {
        let millis = OUTLIVE_MILLIS.min(u64::from(self.shared.watch_secs) * 1_000 / 3);
        (self.intake.target.role == ResourceRole::Events).then_some(millis)
    }

    /// Advances the successor, or handles its data.
    async fn turn(
        &mut self,
        turn: SuccessorStep,
        overlap: &mut WatchOverlap,
        list_turn: &mut Option<OwnedSemaphorePermit>,
    ) {
        match turn {
            SuccessorStep::Due => {
                let now = self.shared.clock.elapsed();
                // The server refused earlier successors; the current connection is still good.
                if let Some(micros) = self.intake.stream.connections().successor_wait(now) {
                    return overlap.later(Some(micros));
                }
                // A successor of Events waits for no permit: without bookmarks Events have no other
                // way to keep their history, and only one resource is of this kind.
                let turns = (self.intake.target.role != ResourceRole::Events)
                    .then(|| Arc::clone(&self.shared.limits.successors));
                overlap.queue(async move { turns?.acquire_owned().await.ok() });
            }
            SuccessorStep::Begin(permit) => self.begin(permit, overlap),
            SuccessorStep::Answered(answer) => self.successor_answered(*answer, overlap),
            SuccessorStep::Outlived => {
                if let Some(open) = overlap.take_waiting() {
                    let at = self.shared.now();
                    // The first connection has run on for long enough after the list: it delivered
                    // everything up to the list's version.
                    self.intake.stream.outlived(&open.from.to_string(), at);
                    self.open(open, overlap);
                }
            }
            SuccessorStep::Chunk(chunk) => {
                let Some(reading) = overlap.reading() else {
                    return;
                };
                let end = self
                    .take(reading, chunk, ConnectionSide::Successor, list_turn)
                    .await;
                if let Some(end) = end {
                    let (cause, words) = end.cause_and_text();
                    if let WatchEnd::Refused { code, .. } = end {
                        self.count(code);
                    }
                    self.drop_successor(overlap, cause, words);
                }
            }
            SuccessorStep::Settled => {}
        }
    }

    fn begin(&mut self, permit: Option<OwnedSemaphorePermit>, overlap: &mut WatchOverlap) {
        let Some(server) = self.clients.borrow().clone() else {
            return overlap.later(None);
        };
        // The successor requests the version in which the resource is stored now.
        if let Ok(info) = self.descriptions.try_recv() {
            let at = self.shared.now();
            self.intake.describe(info, at);
        }
        let Some((from, timeout_secs)) = self.intake.stream.begin_successor() else {
            return overlap.later(None);
        };
        let request = SuccessorRequest {
            id: self.shared.numbers.connection(),
            from,
            timeout_secs,
            outlive: self.outlive_millis().map(Duration::from_millis),
        };
        let target = self.intake.target.clone();
        overlap.asking(permit, request.ask(target, server));
    }

    fn successor_answered(&mut self, answered: SuccessorAnswer, overlap: &mut WatchOverlap) {
        let SuccessorAnswer {
            request,
            server,
            answer,
        } = answered;
        let answer = match answer {
            Ok(answer) if answer.status == 200 && answer.is_json() => answer,
            Ok(answer) => {
                if answer.status == 401 {
                    self.shared.refuse(server.generation);
                }
                self.count(answer.status);
                let words = format!("status {}", answer.status);
                return self.no_successor(overlap, answer.retry_after_secs(), &words);
            }
            Err(failure) => {
                if failure.may_need_new_client() {
                    self.shared.refuse(server.generation);
                }
                return self.no_successor(overlap, None, &failure.words);
            }
        };
        let target = &self.intake.target;
        let open = OpenSuccessor {
            reading: WatchReading::new(answer, &server, request.id, target),
            from: request.from,
            timeout_secs: request.timeout_secs,
        };
        match request.outlive {
            Some(outlive) => overlap.hold(open, outlive),
            None => self.open(Box::new(open), overlap),
        }
    }

    fn open(&mut self, open: Box<OpenSuccessor>, overlap: &mut WatchOverlap) {
        let at = self.shared.now();
        let (id, secs) = (open.reading.id(), open.timeout_secs);
        self.intake.successor_connected(id, &open.from, secs, at);
        self.shared.fleet.opened(id, at.elapsed);
        overlap.open(open);
    }

    fn count(&self, code: u16) {
        if code == 410 {
            self.shared.health.count_expired();
        }
    }

    fn no_successor(
        &mut self,
        overlap: &mut WatchOverlap,
        retry_after_secs: Option<u32>,
        words: &str,
    ) {
        let at = self.shared.now();
        tracing::debug!(
            resource = self.intake.target.info.qualified(),
            words,
            "no successor: the watch continues"
        );
        let cause = EndCause::Unreachable;
        self.intake
            .successor_ended(cause, words, retry_after_secs, at);
        overlap.later(self.intake.stream.connections().successor_wait(at.elapsed));
    }

    /// Drops the successor in any state. The current connection continues if it can.
    fn drop_successor(&mut self, overlap: &mut WatchOverlap, cause: EndCause, words: &str) {
        let at = self.shared.now();
        if let Some(reading) = overlap.take_reading() {
            self.shared.fleet.closed(reading.id());
        }
        self.intake.successor_ended(cause, words, None, at);
        overlap.later(self.intake.stream.connections().successor_wait(at.elapsed));
    }

    /// The current connection ended: returns its successor if that is open. After an unreadable
    /// line the line is requested once more instead.
    fn outlives(&mut self, overlap: &mut WatchOverlap, end: &WatchEnd) -> Option<WatchReading> {
        let (cause, words) = end.cause_and_text();
        let goes_on =
            self.intake.stream.connections().has_open_successor() && cause != EndCause::Unreadable;
        let Some(reading) = overlap.take_reading_if(goes_on) else {
            self.drop_successor(overlap, EndCause::Clean, "its predecessor has ended");
            return None;
        };
        if let WatchEnd::Refused { code, .. } = end {
            self.count(*code);
        }
        let at = self.shared.now();
        self.touch.ended(cause);
        self.broke = Some(at.elapsed);
        self.intake.take_over(cause, words, at);
        let path = self.intake.target.path();
        self.touch.connected(reading.server(), &path);
        Some(reading)
    }

    /// Returns the successor if it may take over now.
    fn handover(&mut self, overlap: &mut WatchOverlap) -> Option<WatchReading> {
        let at = self.shared.now();
        match self.intake.stream.handover(at.elapsed) {
            SuccessorVerdict::Both => None,
            SuccessorVerdict::GiveUp => {
                self.drop_successor(overlap, EndCause::Clean, "its predecessor is ahead");
                None
            }
            SuccessorVerdict::TakeOver => {
                let reading = overlap.take_reading()?;
                self.intake.take_over(EndCause::Clean, TAKEN_OVER, at);
                Some(reading)
            }
        }
    }
}
