//! The threads that read the reel: one for the pass, one for questions (the last of each purpose), one for
//! searches (the last one), one for files.

use super::event::{RuntimeEvent, TuiError, spawn};
use super::follow;
use super::output::save;
use super::program::caught;
use crate::answer::{ScreenQuestion, ScreenSearch, answer, document, not_answered};
use crate::effect::Effect;
use crate::findings::Findings;
use crate::keep::{BookmarkChange, BookmarkStore, SavedState};
use crate::lane::{Board, gather};
use crate::model::TuiRequest;
use crate::msg::Msg;
use crate::problem::problems;
use kubereel_history::{ReelFollower, Timeline};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The pass reports its progress every N records.
const TOLD_EVERY: u64 = 4_096;

/// How much that takes long may wait: an opening, passes that were stopped and begun again, lists.
const MOST_LONG: usize = 16;

/// The threads that read.
pub(super) struct ReaderThreads {
    questions: Arc<Mailbox>,
    long: SyncSender<Long>,
    /// Whether the last pass is to stop; each pass has its own.
    is_stopped: Arc<AtomicBool>,
    searcher: Searcher,
    keeper: Keeper,
    /// How many messages are still to come.
    under_way: Cell<usize>,
}

/// What takes long.
enum Long {
    Open(Box<TuiRequest>),
    Gather(Arc<Timeline>, Arc<AtomicBool>),
    List(Arc<Timeline>, Option<Arc<Board>>, Option<Arc<Findings>>),
}

impl ReaderThreads {
    /// Starts them; they end when this is dropped.
    pub(super) fn start(told: &SyncSender<RuntimeEvent>) -> Result<Self, TuiError> {
        let (long, wanted) = sync_channel(MOST_LONG);
        let readers = Self {
            questions: Arc::default(),
            long,
            is_stopped: Arc::default(),
            under_way: Cell::new(0),
            searcher: Searcher::start(told)?,
            keeper: Keeper::start(told)?,
        };
        let questions = Arc::clone(&readers.questions);
        spawn("kubereel-answers", told, move |told| {
            while let Some((timeline, question, purpose)) = questions.take() {
                let msg = answered(&timeline, question, purpose);
                if told.send(RuntimeEvent::Reader(msg)).is_err() {
                    return;
                }
            }
        })?;
        spawn("kubereel-pass", told, move |told| {
            while let Ok(long) = wanted.recv() {
                let (msg, follower) = done_of(long, told);
                if told.send(RuntimeEvent::Reader(msg)).is_err() {
                    return;
                }
                // What it says comes after the reel was opened.
                let begun = follower.map_or(Ok(()), |follower| follow::begin(follower, told));
                if let Err(error) = begun {
                    let why = Msg::NotFollowed(error.to_string());
                    // A loop that is over needs nothing.
                    drop(told.send(RuntimeEvent::Reader(why)));
                }
            }
        })?;
        Ok(readers)
    }

    /// Does what the program asks of a reel.
    pub(super) fn take(&mut self, effect: Effect) {
        let long = match effect {
            Effect::Open(request) => Long::Open(request),
            Effect::Gather(timeline) => {
                self.is_stopped = Arc::default();
                Long::Gather(timeline, Arc::clone(&self.is_stopped))
            }
            Effect::List(timeline, board, findings) => Long::List(timeline, board, findings),
            Effect::StopGathering => return self.is_stopped.store(true, Ordering::Relaxed),
            Effect::Ask(timeline, question) => {
                return self.ask(timeline, question, Purpose::Show);
            }
            Effect::Save(timeline, question, path) => {
                return self.ask(timeline, question, Purpose::Save(path));
            }
            Effect::Fetch(timeline, question) => {
                return self.ask(timeline, question, Purpose::Copy);
            }
            Effect::Search(timeline, number, search) => {
                self.searcher.take(timeline, number, search);
                return;
            }
            Effect::StopSearch => return self.searcher.stop(),
            Effect::Bookmark(place, change) => return self.keeper.take(place, change),
            // The loop does these.
            Effect::Judge(_) | Effect::StopJudging | Effect::Copy(_) => return,
        };
        // A thread that ended is heard of by itself.
        if self.long.try_send(long).is_ok() {
            self.count(1, 0);
        }
    }

    fn ask(&self, timeline: Arc<Timeline>, question: ScreenQuestion, purpose: Purpose) {
        let forgotten = self.questions.put(timeline, question, purpose);
        self.count(1, forgotten);
    }

    /// Takes note of a report.
    pub(super) fn heard(&self, msg: &Msg) {
        let is_answer = matches!(
            msg,
            Msg::Opened(_)
                | Msg::Gathered(_)
                | Msg::NotGathered(_)
                | Msg::Listed(_)
                | Msg::NotListed(_)
                | Msg::Answered(_)
                | Msg::NotAnswered(_)
                | Msg::Saved(_)
                | Msg::Fetched(_)
        );
        if is_answer {
            self.count(0, 1);
        }
    }

    /// Tells whether every request was answered.
    pub(super) const fn are_idle(&self) -> bool {
        self.under_way.get() == 0
    }

    fn count(&self, asked: usize, done: usize) {
        let under_way = self.under_way.get().saturating_add(asked);
        self.under_way.set(under_way.saturating_sub(done));
    }
}

impl Drop for ReaderThreads {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        self.questions.close();
    }
}

/// Answers a question for its purpose; a panic becomes an answer, too.
fn answered(timeline: &Timeline, question: ScreenQuestion, purpose: Purpose) -> Msg {
    let asked = question.clone();
    match purpose {
        Purpose::Show => match caught(|| answer(timeline, question)) {
            Ok(answer) => Msg::Answered(answer),
            Err(why) => {
                let words = not_answered(asked, &why);
                words.map_or(Msg::NotAnswered(why), Msg::Answered)
            }
        },
        Purpose::Save(path) => {
            let document = caught(|| document(timeline, question)).and_then(|document| document);
            Msg::Saved(document.and_then(|document| save(Path::new("."), &path, &document)))
        }
        Purpose::Copy => {
            Msg::Fetched(caught(|| document(timeline, question)).and_then(|document| document))
        }
    }
}

/// How many bytes of what it decoded the screen keeps: one cursor looks at few places.
pub(super) const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// Does what takes long, and gives the result; a reel that is being recorded comes with what
/// follows it.
fn done_of(long: Long, told: &SyncSender<RuntimeEvent>) -> (Msg, Option<ReelFollower>) {
    let msg = match long {
        Long::Open(request) => {
            let file = request.file.as_ref().unwrap_or(&request.path);
            let opened = caught(|| follow::open(&request, file)).and_then(|opened| opened);
            let (opened, follower) = match opened {
                Ok((timeline, follower)) => (Ok(Arc::new(timeline)), follower),
                Err(why) => (Err(why), None),
            };
            if let Ok(timeline) = &opened {
                timeline.reel().bound_cache(CACHE_BYTES);
            }
            let kept = opened.as_ref().ok().and_then(|timeline| {
                caught(|| {
                    SavedState::of(
                        timeline,
                        &request.path,
                        request.state_folder.as_deref(),
                        request.is_fresh,
                    )
                })
                .ok()
            });
            if let Some(kept) = kept {
                // A loop that is over needs nothing.
                drop(told.send(RuntimeEvent::Reader(Msg::Kept(Box::new(kept)))));
            }
            return (Msg::Opened(opened), follower);
        }
        Long::List(timeline, board, findings) => {
            let listed = caught(|| problems(&timeline, board.as_deref(), findings.as_deref()));
            listed.map_or_else(Msg::NotListed, |all| Msg::Listed(Arc::new(all)))
        }
        Long::Gather(timeline, is_stopped) => {
            let gathered = caught(|| pass(&timeline, told, &is_stopped));
            gathered.map_or_else(Msg::NotGathered, Msg::Gathered)
        }
    };
    (msg, None)
}

/// Reads the reel once, and tells how far it is; `None` if it was stopped.
fn pass(
    timeline: &Timeline,
    told: &SyncSender<RuntimeEvent>,
    is_stopped: &AtomicBool,
) -> Option<Arc<Board>> {
    let mut done = 0_u64;
    let board = gather(timeline, |_| {
        done += 1;
        if done.is_multiple_of(TOLD_EVERY) {
            // A screen that is busy learns it next time.
            drop(told.try_send(RuntimeEvent::Reader(Msg::Passed(done))));
        }
        if is_stopped.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    board.map(Arc::new)
}

/// What is to be done with an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Purpose {
    /// It is shown.
    Show,
    /// It is saved at a path.
    Save(PathBuf),
    /// It is copied.
    Copy,
}

/// A question, the reel that it is put to, and what for.
type WaitingQuestion = (Arc<Timeline>, ScreenQuestion, Purpose);

#[derive(Default)]
struct WaitingQuestions {
    asked: Vec<WaitingQuestion>,
    is_closed: bool,
}

/// The questions that wait.
#[derive(Default)]
struct Mailbox {
    waiting: Mutex<WaitingQuestions>,
    changed: Condvar,
}

impl Mailbox {
    /// Puts a question in; gives how many earlier ones for the same part of the screen it forgot.
    pub(super) fn put(
        &self,
        timeline: Arc<Timeline>,
        question: ScreenQuestion,
        purpose: Purpose,
    ) -> usize {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let before = waiting.asked.len();
        // What is to be kept is not overtaken by what is to be shown.
        let shown = (purpose == Purpose::Show).then(|| question.slot());
        waiting
            .asked
            .retain(|(_, other, own)| *own != Purpose::Show || Some(other.slot()) != shown);
        let forgotten = before - waiting.asked.len();
        waiting.asked.push((timeline, question, purpose));
        self.changed.notify_one();
        forgotten
    }

    /// Waits for a question; `None` once the mailbox is closed.
    pub(super) fn take(&self) -> Option<WaitingQuestion> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if waiting.is_closed {
                return None;
            }
            if !waiting.asked.is_empty() {
                return Some(waiting.asked.remove(0));
            }
            waiting = self
                .changed
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends the waiting.
    pub(super) fn close(&self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.is_closed = true;
        self.changed.notify_all();
    }
}

/// How many searches may wait; each makes those before void.
const MOST_SEARCHES: usize = 256;
/// A search reports its progress every N steps.
const SEARCH_REPORT_STEPS: usize = 16;
/// The number of no search.
const NO_SEARCH: u64 = 0;

type SearchJob = (Arc<Timeline>, u64, ScreenSearch);

/// The thread that searches.
struct Searcher {
    jobs: SyncSender<SearchJob>,
    /// The number of the search that is waited for.
    wanted: Arc<AtomicU64>,
}

impl Searcher {
    /// Starts it; it ends when this is dropped.
    pub(super) fn start(told: &SyncSender<RuntimeEvent>) -> Result<Self, TuiError> {
        let (jobs, asked) = sync_channel(MOST_SEARCHES);
        let wanted = Arc::new(AtomicU64::new(NO_SEARCH));
        let number = Arc::clone(&wanted);
        spawn("kubereel-search", told, move |told| {
            run_searches(&asked, told, &number);
        })?;
        Ok(Self { jobs, wanted })
    }

    /// Begins a search, and ends any other.
    pub(super) fn take(&self, timeline: Arc<Timeline>, number: u64, search: ScreenSearch) {
        self.wanted.store(number, Ordering::Relaxed);
        // A thread that ended has reported its panic.
        drop(self.jobs.send((timeline, number, search)));
    }

    /// Ends the search.
    pub(super) fn stop(&self) {
        self.wanted.store(NO_SEARCH, Ordering::Relaxed);
    }
}

fn run_searches(asked: &Receiver<SearchJob>, told: &SyncSender<RuntimeEvent>, wanted: &AtomicU64) {
    while let Ok((timeline, number, search)) = asked.recv() {
        let mut go_on = |done: usize, all: usize| {
            if done.is_multiple_of(SEARCH_REPORT_STEPS) {
                // A screen that is busy learns it next time.
                drop(told.try_send(RuntimeEvent::Reader(Msg::Searched(number, (done, all)))));
            }
            wanted.load(Ordering::Relaxed) == number
        };
        let Some(found) = search.run(&timeline, &mut go_on) else {
            continue;
        };
        if told
            .send(RuntimeEvent::Reader(Msg::Found(number, found)))
            .is_err()
        {
            return;
        }
    }
}

/// How many changes may wait.
const MOST_CHANGES: usize = 64;

/// The thread that changes bookmarks.
struct Keeper {
    changes: SyncSender<(BookmarkStore, BookmarkChange)>,
}

impl Keeper {
    /// Starts it; it ends when this is dropped.
    pub(super) fn start(told: &SyncSender<RuntimeEvent>) -> Result<Self, TuiError> {
        let (changes, wanted) = sync_channel::<(BookmarkStore, BookmarkChange)>(MOST_CHANGES);
        spawn("kubereel-bookmarks", told, move |told| {
            while let Ok((place, change)) = wanted.recv() {
                let now = place.change(&change).map_err(|error| error.to_string());
                if told
                    .send(RuntimeEvent::Reader(Msg::Bookmarks(now)))
                    .is_err()
                {
                    return;
                }
            }
        })?;
        Ok(Self { changes })
    }

    /// Changes a bookmark.
    pub(super) fn take(&self, place: BookmarkStore, change: BookmarkChange) {
        // A thread that ended is heard of by itself.
        drop(self.changes.send((place, change)));
    }
}
