//! Owns the thread that changes bookmarks: one change after the other. Refuses to hold the loop up.

use super::error::TuiError;
use super::heard::{Heard, spawn};
use crate::keep::{BookmarkChange, Shelf};
use crate::msg::Msg;
use std::sync::mpsc::{SyncSender, sync_channel};

/// How many changes may wait.
const MOST_WAITING: usize = 64;

/// The thread that changes bookmarks.
pub(super) struct Keeper {
    changes: SyncSender<(Shelf, BookmarkChange)>,
}

impl Keeper {
    /// Starts it; it ends when this is dropped.
    pub(super) fn start(told: &SyncSender<Heard>) -> Result<Self, TuiError> {
        let (changes, wanted) = sync_channel::<(Shelf, BookmarkChange)>(MOST_WAITING);
        spawn("kubereel-bookmarks", told, move |told| {
            while let Ok((place, change)) = wanted.recv() {
                let now = place.change(&change).map_err(|error| error.to_string());
                if told.send(Heard::Reader(Msg::Bookmarks(now))).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { changes })
    }

    /// Changes a bookmark.
    pub(super) fn take(&self, place: Shelf, change: BookmarkChange) {
        // A thread that ended is heard of by itself.
        drop(self.changes.send((place, change)));
    }
}
