//! The run of a series: it resumes the newest reel, so that the server's history closes the time
//! since, or creates one; starts the next reel before the current one ends; and removes the oldest.
//!
//! A reel ends for the next one only after the next one has everything, as long as that is
//! possible. Every task of a reel is awaited.

use crate::budget::ROTATE_PERCENT;
use crate::clock::Clock;
use crate::error::RecordError;
use crate::lifecycle::{
    Recorder, RecordingSummary, Signals, StatusHandle, TimelinePen, listen, serve_status,
};
use crate::options::RecorderOptions;
use crate::queue::QueueEntry;
use crate::series::index::{NoIndex, SeriesIndex, SeriesNames, remove, set_aside};
use crate::series::overlap::{LIST_SECS, OverlapPatience, SeriesOverlap};
use crate::status_page::Front;
use kubereel_format::{Note, OpenError, RecordedAt, SessionEnd};
use kubereel_redact::Redactor;
use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

/// The interval of the checks for due work.
const LOOK_MILLIS: u64 = 250;

/// The least time before a reel is followed because of its size: in seconds, or as a part of its
/// planned time.
const LEAST_SECS: u64 = 600;
const LEAST_PART: u32 = 8;

/// The delay before the next attempt after the next reel could not begin or failed, in seconds.
const RETRY_SECS: u64 = 60;

/// A series whose first reel is open.
pub struct ReelSeries {
    options: RecorderOptions,
    rotation: Rotation,
    names: SeriesNames,
    index: SeriesIndex,
    redactor: Redactor,
    listener: Option<TcpListener>,
    front: watch::Sender<Front>,
    first: FirstReel,
}

impl std::fmt::Debug for ReelSeries {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Series")
            .field("names", &self.names)
            .field("rotation", &self.rotation)
            .finish_non_exhaustive()
    }
}

/// The end of a series: its last reel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesSummary {
    /// Its path.
    pub path: PathBuf,
    /// How it ended.
    pub summary: RecordingSummary,
}

impl ReelSeries {
    /// Opens the newest reel of a series, or creates one; all names are made from `options.output`.
    ///
    /// # Errors
    ///
    /// If no reel can be written, if another program writes the series, or if the address of the
    /// status page is in use.
    pub fn open(options: RecorderOptions, rotation: Rotation) -> Result<Self, RecordError> {
        let system = |what, words: &str| RecordError::System {
            what,
            source: io::Error::new(io::ErrorKind::InvalidInput, words),
        };
        let names = SeriesNames::of(&options.output)
            .ok_or_else(|| system("name the reels", "the file name is not UTF-8"))?;
        let redactor = Redactor::new(options.redact_extra.clone())
            .map_err(|error| system("draw a key for what is hidden", &error.to_string()))?;
        let mut options = options;
        // While one reel takes over from another, both are recorded.
        options.max_memory = options.max_memory.map(|max| max / 2);
        let listener = match options.listen.take() {
            None => None,
            Some(address) => Some(listen(address, options.any_port)?),
        };
        let (first, index) = start(&options, &names, &redactor)?;
        let (front, _) = watch::channel(first.recorder.front());
        Ok(Self {
            options,
            rotation,
            names,
            index,
            redactor,
            listener,
            front,
            first,
        })
    }

    /// Returns a handle to the state of the current reel.
    pub fn status_handle(&self) -> StatusHandle {
        StatusHandle::of(self.front.subscribe())
    }

    /// Records until a signal arrives, the time is up, or a reel cannot be written any more.
    ///
    /// # Errors
    ///
    /// If the last reel could not be written to its end. Its content up to that point can be read.
    pub async fn run(self) -> Result<SeriesSummary, RecordError> {
        let mut signals = Signals::listen().map_err(|source| RecordError::System {
            what: "listen for signals",
            source,
        })?;
        let duration = self.options.duration;
        let time_is_up = async {
            match duration {
                Some(duration) => tokio::time::sleep(duration).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(time_is_up);
        let mut page = JoinSet::new();
        let mut turn = SeriesReels::begin(self, &mut page)?;
        turn.write_index().await;
        let mut looks = tokio::time::interval(Duration::from_millis(LOOK_MILLIS));
        let end = loop {
            tokio::select! {
                name = signals.next() => break SessionEnd::Signal(name.to_owned()),
                () = &mut time_is_up => break SessionEnd::Finished,
                ended = turn.current.ended() => {
                    let path = turn.names.path(&turn.current.name);
                    if !turn.broke(&ended).await {
                        turn.end_others(SessionEnd::Finished).await;
                        return ended.map(|summary| SeriesSummary { path, summary });
                    }
                }
                ended = ended(&mut turn.next) => turn.next_broke(ended).await,
                Some(done) = turn.ending.join_next() => {
                    if let Ok((name, ended)) = done {
                        turn.ended(&name, &ended).await;
                    }
                }
                _ = looks.tick() => turn.look().await,
            }
        };
        turn.finish(end).await
    }
}

/// A next reel that has not taken over yet.
struct NextReel {
    running: RunningReel,
    /// Since when it has a list of every resource.
    listed_since: Option<Instant>,
}

type EndedReel = (String, Result<RecordingSummary, RecordError>);

/// The current reels.
struct SeriesReels {
    options: RecorderOptions,
    rotation: Rotation,
    names: SeriesNames,
    index: SeriesIndex,
    redactor: Redactor,
    front: watch::Sender<Front>,
    clock: Clock,
    current: RunningReel,
    next: Option<NextReel>,
    ending: JoinSet<EndedReel>,
    /// The next reel does not begin before this time.
    not_before: Instant,
}

async fn ended(next: &mut Option<NextReel>) -> Result<RecordingSummary, RecordError> {
    match next {
        Some(next) => next.running.ended().await,
        None => std::future::pending().await,
    }
}

impl SeriesReels {
    fn begin(series: ReelSeries, page: &mut JoinSet<()>) -> Result<Self, RecordError> {
        if let Some(listener) = series.listener {
            let access = series.options.status_access.clone();
            serve_status(listener, series.front.subscribe(), access, page)?;
        }
        Ok(Self {
            current: RunningReel::begin(series.first, series.rotation.every),
            options: series.options,
            rotation: series.rotation,
            names: series.names,
            index: series.index,
            redactor: series.redactor,
            front: series.front,
            clock: Clock::start(),
            next: None,
            ending: JoinSet::new(),
            not_before: Instant::now(),
        })
    }

    fn now(&self) -> RecordedAt {
        self.clock.stamp().wall
    }

    /// Checks whether the next reel must begin or take over.
    async fn look(&mut self) {
        let now = Instant::now();
        let Some(next) = &mut self.next else {
            if self.is_due(now) {
                self.begin_next().await;
            }
            return;
        };
        let (old, new) = (
            self.current.front.health.stand(),
            next.running.front.health.stand(),
        );
        let overlap = SeriesOverlap::of(&old, &new);
        if overlap.lacking.is_empty() {
            next.listed_since.get_or_insert(now);
        } else {
            next.listed_since = None;
        }
        let waited = now.duration_since(next.running.began);
        let since_lists = next.listed_since.map(|since| now.duration_since(since));
        let patience = OverlapPatience::of(self.rotation.every);
        // During an API outage the current recording may still have to resume: two recordings would
        // have two gaps.
        let is_answered = self.current.is_reached() && next.running.is_reached();
        if is_answered && overlap.is_enough(waited, since_lists, patience) {
            self.hand_over(&overlap.words()).await;
        }
    }

    fn is_due(&self, now: Instant) -> bool {
        let least = Duration::from_secs(LEAST_SECS).min(self.rotation.every / LEAST_PART);
        let is_full = self.current.front.health.used_percent() >= ROTATE_PERCENT;
        let is_due = now >= self.current.due || is_full && now >= self.current.began + least;
        let can_begin = now >= self.not_before && self.current.is_reached();
        is_due && can_begin && self.current.is_settled(now)
    }

    async fn begin_next(&mut self) {
        let (options, names) = (self.options.clone(), self.names.clone());
        let (redactor, at) = (self.redactor.clone(), self.now());
        let before = self.current.name.clone();
        // Opening writes files, and a disk may hang.
        let created = tokio::task::spawn_blocking(move || {
            create(&options, &names, &redactor, at, Some(&before))
        });
        match created.await {
            Ok(Ok((name, recorder))) => {
                tracing::info!(reel = name, "the next reel begins");
                self.index.begin(&name, at, Some(&self.current.name));
                let age = Duration::ZERO;
                let started = FirstReel {
                    name,
                    recorder,
                    age,
                };
                self.next = Some(NextReel {
                    running: RunningReel::begin(started, self.rotation.every),
                    listed_since: None,
                });
                self.write_index().await;
            }
            Ok(Err(error)) => self.try_later(&error.to_string()),
            Err(error) => self.try_later(&error.to_string()),
        }
    }

    fn try_later(&mut self, error: &str) {
        tracing::error!(error, "the next reel does not begin; trying again");
        let retry = Duration::from_secs(RETRY_SECS).min(self.rotation.every);
        self.not_before = Instant::now() + retry;
    }

    /// The next reel takes over, and the current one ends.
    async fn hand_over(&mut self, overlap: &str) {
        let Some(next) = self.next.take() else {
            return;
        };
        let mut old = std::mem::replace(&mut self.current, next.running);
        tracing::info!(
            reel = self.current.name,
            overlap,
            "the next reel takes over"
        );
        self.current.label("overlap", overlap).await;
        old.label("continued-by", &self.current.name).await;
        let at = self.now();
        self.index.took_over(&self.current.name, at, overlap);
        self.write_index().await;
        self.front.send_replace(self.current.front.clone());
        old.end(SessionEnd::Finished);
        self.ending.spawn(async move {
            let ended = old.ended().await;
            (old.name, ended)
        });
    }

    /// The current reel ended by itself; returns whether the next one has taken over.
    async fn broke(&mut self, ended: &Result<RecordingSummary, RecordError>) -> bool {
        let name = self.current.name.clone();
        self.ended(&name, ended).await;
        let Some(next) = self.next.take() else {
            return false;
        };
        self.current = next.running;
        let overlap = "not proven: the reel before broke";
        tracing::warn!(
            reel = self.current.name,
            overlap,
            "the next reel takes over"
        );
        self.current.label("overlap", overlap).await;
        let at = self.now();
        self.index.took_over(&self.current.name, at, overlap);
        self.write_index().await;
        self.front.send_replace(self.current.front.clone());
        true
    }

    async fn next_broke(&mut self, ended: Result<RecordingSummary, RecordError>) {
        if let Some(next) = self.next.take() {
            self.ended(&next.running.name, &ended).await;
            self.try_later("the next reel broke");
        }
    }

    /// A reel ended: reports it, and removes reels that are too old.
    async fn ended(&mut self, name: &str, ended: &Result<RecordingSummary, RecordError>) {
        let how = match ended {
            Ok(summary) => {
                let bytes = summary.file_bytes;
                tracing::info!(reel = name, bytes, "a reel of the series is finished");
                "finished".to_owned()
            }
            Err(error) => {
                tracing::error!(reel = name, %error, "a reel of the series broke");
                format!("broke: {error}")
            }
        };
        self.index.ended(name, &how);
        let keep = self
            .rotation
            .keep
            .and_then(|keep| usize::try_from(keep).ok());
        if let Some(keep) = keep {
            for path in self.index.take_old(keep, &self.names) {
                let shown = path.display().to_string();
                let removed = tokio::task::spawn_blocking(move || remove(&path)).await;
                match removed.unwrap_or_else(|error| Err(io::Error::other(error))) {
                    Ok(()) => tracing::info!(reel = shown, "removed: old"),
                    Err(error) => tracing::warn!(%error, reel = shown, "cannot be removed"),
                }
            }
        }
        self.write_index().await;
    }

    async fn write_index(&self) {
        let (index, names) = (self.index.clone(), self.names.clone());
        let written = tokio::task::spawn_blocking(move || index.write(&names)).await;
        if let Err(error) = written.unwrap_or_else(|error| Err(io::Error::other(error))) {
            tracing::warn!(%error, "the index of the series cannot be written");
        }
    }

    /// Ends everything, and returns the end of the last reel that had taken over.
    async fn finish(mut self, end: SessionEnd) -> Result<SeriesSummary, RecordError> {
        self.current.end(end.clone());
        if let Some(next) = &mut self.next {
            next.running.end(end.clone());
        }
        let path = self.names.path(&self.current.name);
        let ended = self.current.ended().await;
        let name = self.current.name.clone();
        self.ended(&name, &ended).await;
        self.end_others(end).await;
        ended.map(|summary| SeriesSummary { path, summary })
    }

    async fn end_others(&mut self, end: SessionEnd) {
        if let Some(mut next) = self.next.take() {
            next.running.end(end);
            let ended = next.running.ended().await;
            self.ended(&next.running.name, &ended).await;
        }
        while let Some(done) = self.ending.join_next().await {
            if let Ok((name, ended)) = done {
                self.ended(&name, &ended).await;
            }
        }
    }
}

/// How long a note may wait for room in the queue.
const NOTE_SECS: u64 = 5;

/// A reel that is recorded.
#[derive(Debug)]
struct RunningReel {
    name: String,
    front: Front,
    /// When this run of it began.
    began: Instant,
    /// When the next one is due.
    due: Instant,
    pen: TimelinePen,
    stop: Option<oneshot::Sender<SessionEnd>>,
    task: JoinHandle<Result<RecordingSummary, RecordError>>,
}

impl RunningReel {
    /// Starts recording.
    fn begin(started: FirstReel, every: Duration) -> Self {
        let FirstReel {
            name,
            recorder,
            age,
        } = started;
        let began = Instant::now();
        let (front, pen) = (recorder.front(), recorder.pen());
        let (stop, stopped) = oneshot::channel();
        let stop_reason = async move { stopped.await.unwrap_or(SessionEnd::Finished) };
        Self {
            name,
            front,
            began,
            due: began + every.saturating_sub(age),
            pen,
            stop: Some(stop),
            task: tokio::spawn(recorder.run_until(stop_reason, Box::new(|_| true))),
        }
    }

    /// Writes a label into the reel.
    async fn label(&self, name: &str, value: &str) {
        let note = Note::Label {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        let stamp = self.pen.clock.stamp();
        let pushed = self.pen.queue.push(QueueEntry::Note { stamp, note });
        if tokio::time::timeout(Duration::from_secs(NOTE_SECS), pushed)
            .await
            .is_err()
        {
            tracing::warn!(reel = self.name, name, value, "no room for a label");
        }
    }

    /// Returns whether the cluster responds to this recording.
    fn is_reached(&self) -> bool {
        let status = self.front.health.status();
        status.is_reachable && !status.is_out
    }

    /// Returns whether everything is recorded up to the present. A resumed reel is due at once, and
    /// may still have to read what came while no recorder ran; what cannot be recorded is not
    /// waited for without end.
    fn is_settled(&self, now: Instant) -> bool {
        let status = self.front.health.status();
        let is_complete = status.resources > 0 && status.resources == status.resources_complete;
        is_complete || now.duration_since(self.began) >= Duration::from_secs(LIST_SECS)
    }

    /// Requests its end, once.
    fn end(&mut self, end: SessionEnd) {
        if let Some(stop) = self.stop.take() {
            // A recording that ended by itself has no receiver.
            let _sent = stop.send(end);
        }
    }

    /// Waits for its end.
    async fn ended(&mut self) -> Result<RecordingSummary, RecordError> {
        match (&mut self.task).await {
            Ok(ended) => ended,
            Err(error) => Err(RecordError::System {
                what: "go on recording",
                source: io::Error::other(error),
            }),
        }
    }
}

/// How many reels may begin in one second.
const NAMES: u32 = 100;

/// When the next reel begins, and how many are kept.
#[derive(Clone, Copy, Debug)]
pub struct Rotation {
    /// The duration of a reel. A reel that comes near its size limit ends earlier.
    pub every: Duration,
    /// How many finished reels are kept; all if `None`.
    pub keep: Option<u32>,
}

/// The first reel of a run.
struct FirstReel {
    name: String,
    recorder: Recorder,
    /// How long ago the reel began.
    age: Duration,
}

/// Creates it, and changes the index accordingly.
fn start(
    options: &RecorderOptions,
    names: &SeriesNames,
    redactor: &Redactor,
) -> Result<(FirstReel, SeriesIndex), RecordError> {
    let mut index = match SeriesIndex::read(names) {
        Ok(index) => index,
        Err(NoIndex::Missing) => SeriesIndex::new(),
        Err(NoIndex::Unread(why)) => {
            tracing::warn!(why, "the index of the series cannot be read: put aside");
            set_aside(names).map_err(|source| RecordError::System {
                what: "put the index of the series aside",
                source,
            })?;
            SeriesIndex::new()
        }
    };
    let now = Clock::start().stamp().wall;
    let Some(newest) = index.newest().cloned() else {
        let (name, recorder) = create(options, names, redactor, now, None)?;
        index.begin(&name, now, None);
        let age = Duration::ZERO;
        return Ok((
            FirstReel {
                name,
                recorder,
                age,
            },
            index,
        ));
    };
    let mut again = options.clone();
    again.output = names.path(&newest.name);
    match Recorder::open_with(again, redactor.next()) {
        Ok(recorder) => {
            tracing::info!(
                reel = newest.name,
                "going on with the newest reel of the series"
            );
            index.goes_on(&newest.name);
            let micros = now.micros.saturating_sub(newest.began.as_microsecond());
            // If the clock was set back, the reel counts as new.
            let age = Duration::from_micros(u64::try_from(micros).unwrap_or(0));
            let name = newest.name;
            Ok((
                FirstReel {
                    name,
                    recorder,
                    age,
                },
                index,
            ))
        }
        Err(error @ RecordError::Open(OpenError::InUse { .. })) => Err(error),
        Err(error) => {
            tracing::warn!(%error, "cannot resume the newest reel: a new one begins");
            let before = newest.name.as_str();
            let (name, recorder) = create(options, names, redactor, now, Some(before))?;
            index.begin(&name, now, Some(before));
            index.took_over(&name, now, "none: the reel before had ended");
            index.goes_on(&name);
            let age = Duration::ZERO;
            Ok((
                FirstReel {
                    name,
                    recorder,
                    age,
                },
                index,
            ))
        }
    }
}

/// Creates a reel under an unused name.
fn create(
    options: &RecorderOptions,
    names: &SeriesNames,
    redactor: &Redactor,
    at: RecordedAt,
    continues: Option<&str>,
) -> Result<(String, Recorder), RecordError> {
    let mut options = options.clone();
    options.only_new = true;
    let label = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    options.labels.push(label("series", names.stem()));
    options
        .labels
        .extend(continues.map(|before| label("continues", before)));
    for number in 1..=NAMES {
        let name = names.reel(at, number);
        options.output = names.path(&name);
        match Recorder::open_with(options.clone(), redactor.next()) {
            Ok(recorder) => return Ok((name, recorder)),
            Err(RecordError::Open(OpenError::Exists { .. })) => {}
            Err(error) => return Err(error),
        }
    }
    let words = format!("{NAMES} reels began in this second");
    Err(RecordError::System {
        what: "name another reel",
        source: io::Error::new(io::ErrorKind::AlreadyExists, words),
    })
}
