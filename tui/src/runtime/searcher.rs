//! Owns the thread that looks for things in many bodies: one search at a time, the last one. Refuses
//! to finish what nobody waits for.

use super::error::TuiError;
use super::heard::{Heard, spawn};
use crate::model::Search;
use crate::msg::Msg;
use kubereel_history::Timeline;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// How many searches may wait; each makes those before void.
const MOST_WAITING: usize = 256;
/// A search tells how far it is after so many steps.
const TOLD_EVERY: usize = 16;
/// The number of no search.
const NONE: u64 = 0;

type Job = (Arc<Timeline>, u64, Search);

/// The thread that searches.
pub(super) struct Searcher {
    jobs: SyncSender<Job>,
    /// The number of the search that is waited for.
    wanted: Arc<AtomicU64>,
}

impl Searcher {
    /// Starts it; it ends when this is dropped.
    pub(super) fn start(told: &SyncSender<Heard>) -> Result<Self, TuiError> {
        let (jobs, asked) = sync_channel(MOST_WAITING);
        let wanted = Arc::new(AtomicU64::new(NONE));
        let number = Arc::clone(&wanted);
        spawn("kubereel-search", told, move |told| {
            run(&asked, told, &number);
        })?;
        Ok(Self { jobs, wanted })
    }

    /// Begins a search, and ends any other.
    pub(super) fn take(&self, timeline: Arc<Timeline>, number: u64, search: Search) {
        self.wanted.store(number, Ordering::Relaxed);
        // A thread that ended has said why by panicking.
        drop(self.jobs.send((timeline, number, search)));
    }

    /// Ends the search.
    pub(super) fn stop(&self) {
        self.wanted.store(NONE, Ordering::Relaxed);
    }
}

fn run(asked: &Receiver<Job>, told: &SyncSender<Heard>, wanted: &AtomicU64) {
    while let Ok((timeline, number, search)) = asked.recv() {
        let mut go_on = |done: usize, all: usize| {
            if done.is_multiple_of(TOLD_EVERY) {
                // A screen that is busy learns it next time.
                drop(told.try_send(Heard::Reader(Msg::Searched(number, (done, all)))));
            }
            wanted.load(Ordering::Relaxed) == number
        };
        let Some(found) = search.run(&timeline, &mut go_on) else {
            continue;
        };
        if told.send(Heard::Reader(Msg::Found(number, found))).is_err() {
            return;
        }
    }
}
