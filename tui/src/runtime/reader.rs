//! Owns the threads that read: one answers questions about the cursor, one opens the reel and passes
//! over it once. Refuses to hold more than the last question of each kind.

use super::error::TuiError;
use super::searcher::Searcher;
use crate::answer::{Question, SLOTS, answer};
use crate::effect::Effect;
use crate::lane::gather;
use crate::msg::Msg;
use kubereel_replay::Timeline;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// The pass tells how far it is after so many records.
const TOLD_EVERY: u64 = 4_096;
/// How many questions may wait; later ones of a kind make earlier ones void.
const MOST_WAITING: usize = 256;

/// The threads that read.
pub(super) struct Readers {
    questions: SyncSender<(Arc<Timeline>, Question)>,
    long: SyncSender<Long>,
    is_stopped: Arc<AtomicBool>,
    searcher: Searcher,
}

/// What takes long.
enum Long {
    Open(PathBuf),
    Gather(Arc<Timeline>),
}

impl Readers {
    /// Starts them; they end when this is dropped.
    pub(super) fn start(told: &SyncSender<Msg>) -> Result<Self, TuiError> {
        let (questions, asked) = sync_channel(MOST_WAITING);
        let (long, wanted) = sync_channel(2);
        let is_stopped = Arc::new(AtomicBool::new(false));
        let own = told.clone();
        spawn("kubereel-answers", move || answers(&asked, &own))?;
        let (own, stop) = (told.clone(), Arc::clone(&is_stopped));
        spawn("kubereel-pass", move || passes(&wanted, &own, &stop))?;
        Ok(Self {
            questions,
            long,
            is_stopped,
            searcher: Searcher::start(told)?,
        })
    }

    /// Does what the program asks of a reel.
    pub(super) fn take(&self, effect: Effect) {
        // A thread that ended has said why by panicking; what it was asked stays unanswered.
        match effect {
            Effect::Open(path) => drop(self.long.try_send(Long::Open(path))),
            Effect::Gather(timeline) => drop(self.long.try_send(Long::Gather(timeline))),
            Effect::StopGathering => self.is_stopped.store(true, Ordering::Relaxed),
            Effect::Ask(timeline, question) => drop(self.questions.send((timeline, question))),
            Effect::Search(timeline, number, search) => {
                self.searcher.take(timeline, number, search);
            }
            Effect::StopSearch => self.searcher.stop(),
            Effect::Copy(_) => {}
        }
    }
}

/// Starts a thread with a name.
pub(super) fn spawn(
    name: &'static str,
    run: impl FnOnce() + Send + 'static,
) -> Result<(), TuiError> {
    let built = thread::Builder::new().name(name.to_owned()).spawn(run);
    built
        .map(drop)
        .map_err(|source| TuiError::Thread { name, source })
}

fn answers(asked: &Receiver<(Arc<Timeline>, Question)>, told: &SyncSender<Msg>) {
    while let Ok(first) = asked.recv() {
        let mut waiting = vec![first];
        waiting.extend(asked.try_iter());
        // Of each slot, the last question is the one that counts.
        let last = |slot: usize| waiting.iter().rfind(|(_, one)| one.slot() == slot).cloned();
        for (timeline, question) in (0..SLOTS).filter_map(last) {
            if told
                .send(Msg::Answered(answer(&timeline, question)))
                .is_err()
            {
                return;
            }
        }
    }
}

fn passes(wanted: &Receiver<Long>, told: &SyncSender<Msg>, is_stopped: &AtomicBool) {
    while let Ok(long) = wanted.recv() {
        let msg = match long {
            Long::Open(path) => {
                let opened = Timeline::open(&path).map(Arc::new);
                Msg::Opened(opened.map_err(|error| error.to_string()))
            }
            Long::Gather(timeline) => {
                let mut done = 0_u64;
                let board = gather(&timeline, |_| {
                    done += 1;
                    if done.is_multiple_of(TOLD_EVERY) {
                        // A screen that is busy learns it next time.
                        drop(told.try_send(Msg::Passed(done)));
                    }
                    if is_stopped.load(Ordering::Relaxed) {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                });
                let is_whole = !is_stopped.load(Ordering::Relaxed);
                Msg::Gathered(is_whole.then(|| Arc::new(board)))
            }
        };
        if told.send(msg).is_err() {
            return;
        }
    }
}
