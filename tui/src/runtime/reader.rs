//! Owns the threads that read: one answers questions about the cursor, one opens the reel and passes
//! over it once. Refuses to let the screen wait for them.

use super::error::TuiError;
use super::heard::{Heard, spawn};
use super::keeper::Keeper;
use super::mailbox::{Mailbox, Purpose};
use super::saving::save;
use super::searcher::Searcher;
use crate::answer::{Question, answer, document};
use crate::effect::Effect;
use crate::keep::Kept;
use crate::lane::gather;
use crate::model::Request;
use crate::msg::Msg;
use kubereel_replay::Timeline;
use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

/// The pass tells how far it is after so many records.
const TOLD_EVERY: u64 = 4_096;

/// The threads that read.
pub(super) struct Readers {
    questions: Arc<Mailbox>,
    long: SyncSender<Long>,
    is_stopped: Arc<AtomicBool>,
    searcher: Searcher,
    keeper: Keeper,
    /// How many messages are still to come.
    under_way: Cell<usize>,
}

/// What takes long.
enum Long {
    Open(Box<Request>),
    Gather(Arc<Timeline>),
}

impl Readers {
    /// Starts them; they end when this is dropped.
    pub(super) fn start(told: &SyncSender<Heard>) -> Result<Self, TuiError> {
        let (long, wanted) = sync_channel(2);
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
                if told.send(Heard::Reader(msg)).is_err() {
                    return;
                }
            }
        })?;
        let stop = Arc::clone(&readers.is_stopped);
        spawn("kubereel-pass", told, move |told| {
            while let Ok(long) = wanted.recv() {
                if told.send(Heard::Reader(done(long, told, &stop))).is_err() {
                    return;
                }
            }
        })?;
        Ok(readers)
    }

    /// Does what the program asks of a reel.
    pub(super) fn take(&self, effect: Effect) {
        let long = match effect {
            Effect::Open(request) => Long::Open(request),
            Effect::Gather(timeline) => Long::Gather(timeline),
            Effect::StopGathering => return self.is_stopped.store(true, Ordering::Relaxed),
            Effect::Ask(timeline, question) => {
                return self.ask(timeline, question, Purpose::Show);
            }
            Effect::Save(timeline, question) => {
                return self.ask(timeline, question, Purpose::Save);
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
            Effect::Copy(_) => return,
        };
        // A thread that ended is heard of by itself.
        if self.long.try_send(long).is_ok() {
            self.count(1, 0);
        }
    }

    fn ask(&self, timeline: Arc<Timeline>, question: Question, purpose: Purpose) {
        let forgotten = self.questions.put(timeline, question, purpose);
        self.count(1, forgotten);
    }

    /// Takes note of what one of them said.
    pub(super) fn heard(&self, msg: &Msg) {
        let is_answer = matches!(
            msg,
            Msg::Opened(_) | Msg::Gathered(_) | Msg::Answered(_) | Msg::Saved(_) | Msg::Fetched(_)
        );
        if is_answer {
            self.count(0, 1);
        }
    }

    /// Tells whether all that was asked has been heard.
    pub(super) const fn are_idle(&self) -> bool {
        self.under_way.get() == 0
    }

    fn count(&self, asked: usize, done: usize) {
        let under_way = self.under_way.get().saturating_add(asked);
        self.under_way.set(under_way.saturating_sub(done));
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        self.questions.close();
    }
}

/// Answers a question, and does with the answer what it was asked for.
fn answered(timeline: &Timeline, question: Question, purpose: Purpose) -> Msg {
    match purpose {
        Purpose::Show => Msg::Answered(answer(timeline, question)),
        Purpose::Save => {
            let document = document(timeline, question);
            Msg::Saved(document.and_then(|document| save(Path::new("."), &document)))
        }
        Purpose::Copy => Msg::Fetched(document(timeline, question)),
    }
}

/// Does what takes long, and gives what came of it.
fn done(long: Long, told: &SyncSender<Heard>, is_stopped: &AtomicBool) -> Msg {
    match long {
        Long::Open(request) => {
            let opened = Timeline::open(&request.path).map(Arc::new);
            if let Ok(timeline) = &opened {
                let kept = Box::new(Kept::of(timeline, &request));
                // A loop that is over needs nothing.
                drop(told.send(Heard::Reader(Msg::Kept(kept))));
            }
            Msg::Opened(opened.map_err(|error| error.to_string()))
        }
        Long::Gather(timeline) => {
            let mut done = 0_u64;
            let board = gather(&timeline, |_| {
                done += 1;
                if done.is_multiple_of(TOLD_EVERY) {
                    // A screen that is busy learns it next time.
                    drop(told.try_send(Heard::Reader(Msg::Passed(done))));
                }
                if is_stopped.load(Ordering::Relaxed) {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            });
            Msg::Gathered(board.map(Arc::new))
        }
    }
}
