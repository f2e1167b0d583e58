//! Owns the questions that wait for an answer: the last one for each part of the screen. Refuses to
//! keep those that a later one overtook, and to let whoever asks wait.

use crate::answer::Question;
use kubereel_history::Timeline;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// What is to be done with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It is shown.
    Show,
    /// It is saved.
    Save,
    /// It is copied.
    Copy,
}

/// A question, the reel that it is put to, and what for.
pub(super) type Asked = (Arc<Timeline>, Question, Purpose);

#[derive(Default)]
struct Waiting {
    asked: Vec<Asked>,
    is_closed: bool,
}

/// The questions that wait.
#[derive(Default)]
pub(super) struct Mailbox {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

impl Mailbox {
    /// Puts a question in; gives how many earlier ones for the same part of the screen it forgot.
    pub(super) fn put(
        &self,
        timeline: Arc<Timeline>,
        question: Question,
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

    /// Waits for a question; `None` once nobody asks any more.
    pub(super) fn take(&self) -> Option<Asked> {
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
