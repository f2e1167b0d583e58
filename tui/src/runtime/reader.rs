//! Owns the threads that read: one answers questions about the cursor, one opens the reel and passes
//! over it once. Refuses to let the screen wait for them.

use super::error::TuiError;
use super::heard::{Heard, spawn};
use super::keeper::Keeper;
use super::mailbox::{Mailbox, Purpose};
use super::panics::caught;
use super::saving::save;
use super::searcher::Searcher;
use crate::answer::{Question, answer, document, not_answered};
use crate::effect::Effect;
use crate::findings::Findings;
use crate::keep::Kept;
use crate::lane::{Board, gather};
use crate::model::Request;
use crate::msg::Msg;
use crate::problem::problems;
use kubereel_history::Timeline;
use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

/// The pass tells how far it is after so many records.
const TOLD_EVERY: u64 = 4_096;

/// How much that takes long may wait: an opening, passes that were stopped and begun again, lists.
const MOST_LONG: usize = 16;

/// The threads that read.
pub(super) struct Readers {
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
    Open(Box<Request>),
    Gather(Arc<Timeline>, Arc<AtomicBool>),
    List(Arc<Timeline>, Option<Arc<Board>>, Option<Arc<Findings>>),
}

impl Readers {
    /// Starts them; they end when this is dropped.
    pub(super) fn start(told: &SyncSender<Heard>) -> Result<Self, TuiError> {
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
                if told.send(Heard::Reader(msg)).is_err() {
                    return;
                }
            }
        })?;
        spawn("kubereel-pass", told, move |told| {
            while let Ok(long) = wanted.recv() {
                if told.send(Heard::Reader(done(long, told))).is_err() {
                    return;
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
            // The loop does these.
            Effect::Judge(_) | Effect::StopJudging | Effect::Copy(_) => return,
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

/// Answers a question, and does with the answer what it was asked for; a fault of ours is an answer, too.
fn answered(timeline: &Timeline, question: Question, purpose: Purpose) -> Msg {
    let asked = question.clone();
    match purpose {
        Purpose::Show => match caught(|| answer(timeline, question)) {
            Ok(answer) => Msg::Answered(answer),
            Err(why) => {
                let words = not_answered(asked, &why);
                words.map_or(Msg::NotAnswered(why), Msg::Answered)
            }
        },
        Purpose::Save => {
            let document = caught(|| document(timeline, question)).and_then(|document| document);
            Msg::Saved(document.and_then(|document| save(Path::new("."), &document)))
        }
        Purpose::Copy => {
            Msg::Fetched(caught(|| document(timeline, question)).and_then(|document| document))
        }
    }
}

/// How many bytes of what it decoded the screen keeps: one cursor looks at few places.
const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// Does what takes long, and gives what came of it.
fn done(long: Long, told: &SyncSender<Heard>) -> Msg {
    match long {
        Long::Open(request) => {
            let opened =
                caught(|| Timeline::open(&request.path).map_err(|error| error.to_string()));
            let opened = opened.and_then(|opened| opened).map(Arc::new);
            if let Ok(timeline) = &opened {
                timeline.reel().bound_cache(CACHE_BYTES);
            }
            let kept = opened
                .as_ref()
                .ok()
                .and_then(|timeline| caught(|| Kept::of(timeline, &request)).ok());
            if let Some(kept) = kept {
                // A loop that is over needs nothing.
                drop(told.send(Heard::Reader(Msg::Kept(Box::new(kept)))));
            }
            Msg::Opened(opened)
        }
        Long::List(timeline, board, findings) => {
            let listed = caught(|| problems(&timeline, board.as_deref(), findings.as_deref()));
            listed.map_or_else(Msg::NotListed, |all| Msg::Listed(Arc::new(all)))
        }
        Long::Gather(timeline, is_stopped) => {
            let gathered = caught(|| pass(&timeline, told, &is_stopped));
            gathered.map_or_else(Msg::NotGathered, Msg::Gathered)
        }
    }
}

/// Reads the reel once, and tells how far it is; `None` if it was stopped.
fn pass(
    timeline: &Timeline,
    told: &SyncSender<Heard>,
    is_stopped: &AtomicBool,
) -> Option<Arc<Board>> {
    let mut done = 0_u64;
    let board = gather(timeline, |_| {
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
    board.map(Arc::new)
}
