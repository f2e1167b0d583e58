//! Owns what is read before a reel shows: bookmarks, and where one was. Refuses to write.

use super::identity::identity;
use super::session::Session;
use super::shelf::{Bookmarks, Shelf};
use crate::model::Request;
use kubereel_history::Timeline;

/// What was kept of a reel.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    /// What the reel is known by.
    pub(crate) id: String,
    /// Where its bookmarks lie.
    pub(crate) shelf: Shelf,
    /// Its bookmarks.
    pub(crate) bookmarks: Bookmarks,
    /// Where one was.
    pub(crate) session: Option<Session>,
}

impl Kept {
    /// Reads what was kept of a reel.
    pub(crate) fn of(timeline: &Timeline, request: &Request) -> Self {
        let id = identity(timeline);
        let folder = request.state_folder.as_deref();
        let shelf = Shelf::of(&request.path, &id, folder);
        let session = folder.filter(|_| !request.is_fresh);
        Self {
            bookmarks: shelf.load(),
            session: session.and_then(|folder| Session::load(folder, &id)),
            shelf,
            id,
        }
    }
}
