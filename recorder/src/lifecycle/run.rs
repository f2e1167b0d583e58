//! One run: opens the reel, starts every task, ends them in order, and reports how it ended.

use super::ending::{Ending, OnceWhole, Signals};
use super::follower::{Follower, FollowerPorts};
use super::kubeconfig::Lookout;
use super::past::EarlierRuns;
use super::sealing::{SealOutcome, seal_at_end};
use super::supervise::Supervisor;
use crate::access::StatusAccess;
use crate::budget::{Exclusions, Gate, RecordingLimits, body_bytes, is_used_up, queue_bytes};
use crate::clock::{Clock, StepDetector};
use crate::discover::{Discovery, Poller};
use crate::error::RecordError;
use crate::health::{Health, RecorderStatus, RunAccount};
use crate::marks::{Desk, MarkFile, follow};
use crate::options::{RecorderOptions, SealPolicy};
use crate::probe::Prober;
use crate::queue::{QUEUE_BYTES, Queue, QueueEntry};
use crate::sampler::Sampler;
use crate::status_page::{Front, serve};
use crate::watch::context::{RecordNumbers, ServerFleet, WatchContext, WatchLimits};
use crate::watch::state::LONG_SECS;
use crate::writer::{
    Finished, HandoverTaker, ReelPath, ReelWriter, SeededLoss, WriteError, WriterHandover, handover,
};
use kubereel_format::{
    AppendError, Appender, Bounds, ListMethod, Note, OpenError, REDACTION_PREFIX, RecoverError,
    Reel, SessionEnd, SessionId, remove_interrupted_copies, unseal,
};
use kubereel_redact::{POLICY, Redactor};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

/// The interval at which the two clocks are compared.
const CLOCK_SECS: u64 = 1;

/// How long streams may take to end after writing has failed.
const BROKEN_SECS: u64 = 1;

/// The number of messages of discovery and of definitions that may wait for the supervisor.
const WORDS: usize = 256;

/// A recorder that has opened its reel.
pub struct Recorder {
    options: RecorderOptions,
    appender: Appender,
    past: EarlierRuns,
    listener: Option<TcpListener>,
    clock: Clock,
    queue: Arc<Queue>,
    front: Front,
    redactor: Redactor,
}

/// Access for other threads to the timeline of a run.
#[derive(Clone, Debug)]
pub(crate) struct TimelinePen {
    /// The queue for notes.
    pub(crate) queue: Arc<Queue>,
    /// The clock of the run.
    pub(crate) clock: Clock,
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorder")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// A handle to the state of a run, for any thread.
#[derive(Clone, Debug)]
pub struct StatusHandle(watch::Receiver<Front>);

impl StatusHandle {
    /// Creates a handle that follows the current recording.
    pub(crate) const fn of(front: watch::Receiver<Front>) -> Self {
        Self(front)
    }

    /// Returns the state of the run.
    pub fn status(&self) -> RecorderStatus {
        self.0.borrow().health.status()
    }

    /// Returns the summary of the run's notes so far.
    pub(crate) fn account(&self) -> RunAccount {
        self.0.borrow().health.account()
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingSummary {
    /// The reason.
    pub end: SessionEnd,
    /// The counters at the end.
    pub status: RecorderStatus,
    /// The size of the finished file, in bytes.
    pub file_bytes: u64,
    /// The number of events and notes in it.
    pub records: u64,
    /// Which resources the servers refused at some time, and why; the first of them.
    pub refused: Vec<String>,
    /// Why the finished file is not packed, if it is not.
    pub unpacked: Option<String>,
    /// Why it is not sealed, if it was to be.
    pub unsealed: Option<String>,
    /// Whether the file was moved or replaced meanwhile: its path names another one, or none.
    pub is_moved: bool,
}

impl Recorder {
    /// Opens or creates the reel, and does everything else that can fail before anything can be
    /// recorded.
    ///
    /// # Errors
    ///
    /// If the reel cannot be written or the file is not a reel, or if the address of the status
    /// page is in use.
    pub fn open(options: RecorderOptions) -> Result<Self, RecordError> {
        let redactor =
            Redactor::new(options.redact_extra.clone()).map_err(|error| RecordError::System {
                what: "draw a key for what is hidden",
                source: std::io::Error::other(error),
            })?;
        Self::open_with(options, redactor)
    }

    /// Like [`Self::open`], with the redaction key of another recording of this process.
    pub(crate) fn open_with(
        options: RecorderOptions,
        redactor: Redactor,
    ) -> Result<Self, RecordError> {
        let listener = match options.listen {
            None => None,
            Some(address) => Some(listen(address, options.any_port)?),
        };
        let (appender, past) = open_reel(&options)?;
        let clock = Clock::start();
        let queue_bytes = queue_bytes(options.max_memory, QUEUE_BYTES);
        let queue = Arc::new(Queue::new(queue_bytes, clock, redactor.clone()));
        let health = Arc::new(Health::new(clock, redactor.clone()));
        if let Some(cluster) = &past.cluster {
            health.resume_cluster(cluster.epoch, &cluster.uid);
        }
        for resource in past.resources.values() {
            let position = resource.memory.position.as_ref();
            let reached = position.map(|position| position.version.clone());
            health.resume(resource.info.clone(), reached);
        }
        let desk = Arc::new(Desk::new(Arc::clone(&queue), clock));
        Ok(Self {
            options,
            appender,
            past,
            listener,
            clock,
            queue,
            front: Front { health, desk },
            redactor,
        })
    }

    /// Returns a handle to the state of the run.
    pub fn status_handle(&self) -> StatusHandle {
        StatusHandle::of(watch::channel(self.front.clone()).1)
    }

    /// Returns the state that the status page reports.
    pub(crate) fn front(&self) -> Front {
        self.front.clone()
    }

    /// Returns access to the timeline.
    pub(crate) fn pen(&self) -> TimelinePen {
        TimelinePen {
            queue: Arc::clone(&self.queue),
            clock: self.clock,
        }
    }

    /// Records until a signal arrives, the time is up, or the file cannot be written any more.
    ///
    /// # Errors
    ///
    /// If the file could not be written to its end. Its content up to that point can be read.
    pub async fn run(self) -> Result<RecordingSummary, RecordError> {
        self.run_until_whole(Box::new(|_| true)).await
    }

    /// Like [`Self::run`]; calls `once_whole` with the complete file, which returns whether to pack
    /// it.
    pub(crate) async fn run_until_whole(
        self,
        once_whole: OnceWhole,
    ) -> Result<RecordingSummary, RecordError> {
        let mut signals = Signals::listen().map_err(|source| RecordError::System {
            what: "listen for signals",
            source,
        })?;
        let duration = self.options.duration;
        let end_requested = async move {
            let time_is_up = async {
                match duration {
                    Some(duration) => tokio::time::sleep(duration).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                name = signals.next() => SessionEnd::Signal(name.to_owned()),
                () = time_is_up => SessionEnd::Finished,
            }
        };
        self.run_until(end_requested, once_whole).await
    }

    /// Like [`Self::run_until_whole`], until an end is requested; the request contains the reason.
    pub(crate) async fn run_until(
        self,
        end_requested: impl Future<Output = SessionEnd> + Send,
        once_whole: OnceWhole,
    ) -> Result<RecordingSummary, RecordError> {
        let path = self.options.output.clone();
        let health = Arc::clone(&self.front.health);
        let session = SessionId(self.past.session);
        let ends = RunEnd {
            grace: self.options.grace,
            seal: self.options.seal,
        };
        let labels = self.options.labels.clone();
        let clock = self.clock;
        let mut run = RecordingRun::start(self)?;
        run.note(Note::SessionStarted {
            session,
            recorder: env!("CARGO_PKG_VERSION").to_owned(),
            at: clock.stamp().wall,
            redaction_policy: POLICY,
        })
        .await;
        for (name, value) in labels {
            run.note(Note::Label { name, value }).await;
        }
        let end = run.until_end(end_requested).await;
        tracing::info!(?end, "finishing the reel");
        let standing = health.status();
        let ending = Ending::begin(ends.grace);
        let deadline = ending.deadline();
        let finished = run
            .finish(session, &end, ending, standing, once_whole)
            .await;
        match finished {
            Ok(stats) => {
                let sealed = match stats.unpacked {
                    // What kept it from being packed keeps it from being sealed.
                    Some(_) => SealOutcome::Unasked,
                    None => seal_at_end(&path, ends.seal, &end, deadline, &health).await,
                };
                let (file_bytes, unsealed) = match sealed {
                    SealOutcome::Unasked => (stats.file_bytes, None),
                    SealOutcome::Sealed { file_bytes } => (file_bytes, None),
                    SealOutcome::Unsealed { why } => (stats.file_bytes, Some(why)),
                };
                Ok(RecordingSummary {
                    end,
                    status: health.status(),
                    file_bytes,
                    records: stats.records,
                    refused: health.account().not_covered.kept,
                    unpacked: stats.unpacked,
                    unsealed,
                    is_moved: stats.is_moved,
                })
            }
            Err(WriteError::Finish(error)) => Err(RecordError::Finish(error)),
            Err(error) => Err(RecordError::Write {
                path,
                cause: error.to_string(),
            }),
        }
    }
}

/// What is wanted at the end of a run.
struct RunEnd {
    grace: Option<Duration>,
    seal: SealPolicy,
}

/// Opens a reel and reads its state, or creates one.
fn open_reel(options: &RecorderOptions) -> Result<(Appender, EarlierRuns), RecordError> {
    let (path, bounds) = (&options.output, bounds(options));
    match Appender::create_within(path, bounds) {
        Ok(appender) => return Ok((appender, EarlierRuns::default())),
        Err(OpenError::Exists { .. }) if !options.only_new => {}
        Err(error) => return Err(error.into()),
    }
    let length = || std::fs::metadata(path).map_or(0, |facts| facts.len());
    let full = |max_bytes: u64| RecordError::Full {
        path: path.to_owned(),
        file_bytes: length(),
        max_bytes,
    };
    let mut reel = Reel::open(path)?;
    if reel.is_sealed() {
        check_resumable(&reel)?;
        unseal_reel(&reel, bounds)?;
        reel = Reel::open(path)?;
    }
    let past = {
        let reel = reel;
        let file_bytes = length();
        // A packed file has no free page, and the database grows by doubling: the first write would
        // exceed the limit.
        let least = file_bytes.saturating_mul(1 + u64::from(reel.is_finished()));
        if let Some(max) = options.max_bytes.filter(|max| least > *max) {
            return Err(full(max));
        }
        check_resumable(&reel)?;
        EarlierRuns::read(&reel)
    };
    let mut appender = Appender::resume_within(path, bounds)?;
    // The lock is this program's: nobody works on a copy of this reel.
    remove_interrupted_copies(path);
    match options.max_bytes {
        Some(max) if is_used_up(&appender.usage()) => Err(full(max)),
        _ => Ok((appender, past)),
    }
}

fn bounds(options: &RecorderOptions) -> Bounds {
    Bounds {
        file_bytes: options.max_bytes,
        body_memory: Some(body_bytes(options.max_memory)),
    }
}

/// Refuses a reel that records too little about its gaps to be resumed.
fn check_resumable(reel: &Reel) -> Result<(), RecordError> {
    let refused = |cause: String| RecordError::Past {
        path: reel.path().to_owned(),
        cause,
    };
    if let Some(damage) = reel.damage().first() {
        return Err(refused(format!("{}: {}", damage.place, damage.cause)));
    }
    if reel.notes().iter().any(|entry| is_import(&entry.note)) {
        let cause = "it was imported, and does not tell what it leaves out";
        return Err(refused(cause.to_owned()));
    }
    Ok(())
}

/// Rewrites a sealed reel as one that takes more records.
fn unseal_reel(reel: &Reel, bounds: Bounds) -> Result<(), RecordError> {
    let path = reel.path();
    tracing::warn!(path = %path.display(), "the reel is sealed: rewriting it to resume it");
    match unseal(reel, bounds, |_done| {}) {
        Ok(_stats) => Ok(()),
        Err(RecoverError::Append(AppendError::OverBound { max, .. })) => Err(RecordError::Full {
            path: path.to_owned(),
            file_bytes: reel.sizes().file,
            max_bytes: max,
        }),
        Err(source) => Err(RecordError::Unseal {
            path: path.to_owned(),
            source,
        }),
    }
}

const fn is_import(note: &Note) -> bool {
    let Note::Connected { method, .. } = note else {
        return false;
    };
    matches!(method, ListMethod::Import)
}

/// All tasks of a run.
struct RecordingRun {
    queue: Arc<Queue>,
    clock: Clock,
    supervisor: Supervisor,
    news: mpsc::Receiver<crate::discover::DiscoveryEvent>,
    sightings: mpsc::Receiver<crate::watch::context::DiscoverySighting>,
    stop: watch::Sender<bool>,
    left_out: watch::Receiver<Exclusions>,
    tasks: JoinSet<()>,
    /// Tasks that end by themselves on request.
    closing: JoinSet<()>,
    writer: oneshot::Receiver<Finished>,
    taker: HandoverTaker,
    written: Option<Finished>,
    redactor: Redactor,
}

impl RecordingRun {
    #[expect(
        clippy::too_many_lines,
        reason = "it wires the parts of a run, each once"
    )]
    fn start(recorder: Recorder) -> Result<Self, RecordError> {
        let Recorder {
            options,
            mut appender,
            past,
            listener,
            clock,
            queue,
            front,
            redactor,
        } = recorder;
        let health = Arc::clone(&front.health);
        let is_fresh = past.session == 0;
        let (left_out, left_out_seen) = watch::channel(Exclusions::default());
        let limits = RecordingLimits {
            max_bytes: options.max_bytes,
            max_memory: options.max_memory,
        };
        let is_limited = limits.max_bytes.is_some() || limits.max_memory.is_some();
        let gate = is_limited.then(|| {
            let before = past.left_out.clone();
            let health = Arc::clone(&health);
            Gate::new(limits, appender.usage(), before, left_out, health)
        });
        let reel = ReelPath {
            path: options.output.clone(),
            bounds: bounds(&options),
        };
        let (handover, taker) = handover();
        let ends = (gate, handover, options.lose_every.map(SeededLoss::new));
        let writer = spawn_writer(appender, reel, &queue, &health, clock, ends)?;
        let (clients, clients_seen) = watch::channel(None);
        let (refused, refused_seen) = watch::channel(0);
        let (stop, stop_seen) = watch::channel(false);
        let past_epoch = past.cluster.as_ref().map_or(0, |cluster| cluster.epoch.0);
        let (epoch, epoch_seen) = watch::channel(past_epoch);
        let (news_sent, news) = mpsc::channel(WORDS);
        let (sightings_sent, sightings) = mpsc::channel(WORDS);
        let discovery = Arc::new(Discovery::new(past_epoch));
        let shared = Arc::new(WatchContext {
            queue: Arc::clone(&queue),
            clock,
            health: Arc::clone(&health),
            numbers: Arc::new(RecordNumbers::new(past.connection, past.gap)),
            redactor: redactor.clone(),
            clients: clients_seen.clone(),
            refused,
            discovery: Arc::clone(&discovery),
            sightings: sightings_sent,
            epoch: epoch_seen,
            stop: stop_seen.clone(),
            watch_secs: options.watch_secs.unwrap_or(LONG_SECS),
            fleet: ServerFleet::default(),
            limits: WatchLimits::default(),
        });
        let mut tasks = JoinSet::new();
        let follower = Follower::new(
            Lookout::new(options.kubeconfig, options.context),
            FollowerPorts {
                clients,
                refused: refused_seen,
                queue: Arc::clone(&queue),
                health: Arc::clone(&health),
                clock,
            },
        );
        tasks.spawn(follower.run());
        let mut closing = follow_marks(options.marks, is_fresh, &front.desk, stop_seen.clone());
        closing.spawn(Sampler::new(&options.metrics, &clients_seen, &queue, clock).run(stop_seen));
        tasks.spawn(Poller::new(discovery, clients_seen, news_sent, clock).run());
        tasks.spawn(watch_clock(Arc::clone(&queue), clock));
        let (probed, has_probed) = watch::channel(false);
        tasks.spawn(Prober::new(Arc::clone(&shared), probed).run());
        if let Some(listener) = listener {
            let front = watch::channel(front).1;
            serve_status(listener, front, options.status_access, &mut tasks)?;
        }
        Ok(Self {
            queue,
            clock,
            supervisor: Supervisor::new(shared, epoch, past, left_out_seen.clone(), has_probed),
            left_out: left_out_seen,
            news,
            sightings,
            stop,
            tasks,
            closing,
            writer,
            taker,
            written: None,
            redactor,
        })
    }

    async fn note(&self, note: Note) {
        let stamp = self.clock.stamp();
        self.queue.push(QueueEntry::Note { stamp, note }).await;
    }

    async fn until_end(&mut self, end_requested: impl Future<Output = SessionEnd>) -> SessionEnd {
        tokio::pin!(end_requested);
        loop {
            let due = self.supervisor.due_micros();
            let definitions_are_late = async {
                match due {
                    Some(micros) => tokio::time::sleep(Duration::from_micros(micros)).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                end = &mut end_requested => return end,
                written = &mut self.writer => {
                    let written = written.unwrap_or_else(|_| Err(gone()));
                    let words = written.as_ref().err().map(ToString::to_string);
                    self.written = Some(written);
                    return SessionEnd::Failed(words.unwrap_or_default());
                }
                Some(news) = self.news.recv() => self.supervisor.news(news).await,
                Some(sighting) = self.sightings.recv() => self.supervisor.sighting(sighting).await,
                Ok(()) = self.left_out.changed() => self.supervisor.leave_out(),
                () = self.supervisor.ended() => {}
                () = definitions_are_late => self.supervisor.release().await,
            }
        }
    }

    async fn finish(
        mut self,
        session: SessionId,
        end: &SessionEnd,
        ending: Ending,
        standing: RecorderStatus,
        once_whole: OnceWhole,
    ) -> Finished {
        let stamp = self.clock.stamp();
        let at = stamp.wall;
        self.queue.end_at(stamp);
        self.stop.send_replace(true);
        // Tasks that still report a definition must not wait for a receiver.
        self.sightings.close();
        self.news.close();
        self.tasks.abort_all();
        let closing = async {
            self.supervisor.join().await;
            while self.closing.join_next().await.is_some() {}
        };
        let mut patience = ending.patience();
        if matches!(self.written, Some(Err(_))) {
            // Writing has failed: there is nothing to wait for.
            patience = patience.min(Duration::from_secs(BROKEN_SECS));
        }
        if tokio::time::timeout(patience, closing).await.is_err() {
            tracing::warn!("not every stream ended in time");
        }
        let account = format!("{REDACTION_PREFIX}{}", self.redactor.account());
        let ended = async {
            self.note(Note::Provenance { text: account }).await;
            let end = end.clone();
            self.note(Note::SessionEnded { session, end }).await;
        };
        // If the queue is full because the disk is full, the reason of the end is not recorded.
        if tokio::time::timeout(patience, ended).await.is_err() {
            tracing::warn!("the reel does not say how this run ended");
        }
        self.queue.close();
        let (written, writer, taker) = (self.written, self.writer, self.taker);
        let writer = async {
            match written {
                Some(written) => written,
                None => writer.await.unwrap_or_else(|_| Err(gone())),
            }
        };
        ending
            .wait(taker, end.clone(), (standing, at), once_whole, writer)
            .await
    }
}

/// Listens on the requested port, or on any free port if that one is in use and the options allow
/// it.
pub(crate) fn listen(address: SocketAddr, any_port: bool) -> Result<TcpListener, RecordError> {
    let bind = |address| {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    };
    match bind(address) {
        Err(error) if any_port => {
            tracing::warn!(%address, %error, "the status page takes another port");
            bind(SocketAddr::new(address.ip(), 0))
        }
        bound => bound,
    }
    .map_err(|source| RecordError::Listen { address, source })
}

fn gone() -> WriteError {
    WriteError::Failing("the writer's thread broke".to_owned())
}

fn follow_marks(
    path: Option<PathBuf>,
    is_fresh: bool,
    desk: &Arc<Desk>,
    stop: watch::Receiver<bool>,
) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    if let Some(path) = path {
        // Ids of earlier runs are not assigned again.
        let file = if is_fresh {
            MarkFile::new(path)
        } else {
            MarkFile::from_end(path)
        };
        tasks.spawn(follow(file, Arc::clone(desk), stop));
    }
    tasks
}

/// Serves the status page.
pub(crate) fn serve_status(
    listener: TcpListener,
    front: watch::Receiver<Front>,
    access: StatusAccess,
    tasks: &mut JoinSet<()>,
) -> Result<(), RecordError> {
    let listener =
        tokio::net::TcpListener::from_std(listener).map_err(|source| RecordError::System {
            what: "serve the status page",
            source,
        })?;
    if let Ok(address) = listener.local_addr() {
        tracing::info!(%address, "serving the status page");
    }
    tasks.spawn(serve(listener, front, access));
    Ok(())
}

fn spawn_writer(
    appender: Appender,
    reel: ReelPath,
    queue: &Arc<Queue>,
    health: &Arc<Health>,
    clock: Clock,
    (gate, handover, loss): (Option<Gate>, WriterHandover, Option<SeededLoss>),
) -> Result<oneshot::Receiver<Finished>, RecordError> {
    let (done, finished) = oneshot::channel();
    let writer = ReelWriter::new(
        Box::new(appender),
        Box::new(reel),
        Arc::clone(queue),
        Arc::clone(health),
        clock,
        (gate, handover),
    )
    .losing(loss);
    let thread = std::thread::Builder::new().name("reel-writer".to_owned());
    let spawned = thread.spawn(move || {
        // The receiver is gone only if the whole run was dropped.
        drop(done.send(writer.run()));
    });
    spawned.map_err(|source| RecordError::System {
        what: "start the writer's thread",
        source,
    })?;
    Ok(finished)
}

/// Records every step of the wall clock.
#[expect(clippy::infinite_loop, reason = "the run aborts it at its end")]
async fn watch_clock(queue: Arc<Queue>, clock: Clock) {
    let mut detector = StepDetector::new(clock.stamp());
    loop {
        tokio::time::sleep(Duration::from_secs(CLOCK_SECS)).await;
        let stamp = clock.stamp();
        if let Some(micros) = detector.step(stamp) {
            tracing::warn!(micros, "the wall clock stepped");
            let note = Note::ClockStepped { micros };
            queue.push(QueueEntry::Note { stamp, note }).await;
        }
    }
}
