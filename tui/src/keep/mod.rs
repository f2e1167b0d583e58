//! What outlasts a run: bookmarks beside the reel, and the last session in the user's state folder.
//!
//! The reel itself is never written. Files come from other programs and other versions: what cannot be
//! read is reported and left as it is.

mod bookmarks;
mod file;
mod session;

pub(crate) use bookmarks::{Bookmark, BookmarkChange, BookmarkStore, Bookmarks};
pub use bookmarks::{NamedBookmark, named_bookmarks};
pub(crate) use session::{SavedSession, SavedState};
