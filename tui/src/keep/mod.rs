//! What outlasts a run: bookmarks beside the reel, and where one was, in the user's state folder.
//!
//! The reel itself is never written. Files here come from other hands and other versions: what cannot
//! be read is said and left as it is.

mod bookmark;
mod error;
mod file;
mod identity;
mod kept;
mod session;
mod shelf;

pub(crate) use bookmark::Bookmark;
pub(crate) use kept::Kept;
pub(crate) use session::Session;
pub(crate) use shelf::{BookmarkChange, Bookmarks, Shelf};
