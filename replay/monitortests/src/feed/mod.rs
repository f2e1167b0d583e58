//! One pass over a reel: each event's body is read once, and of it only the requested fields; a watcher is
//! notified when one of them changes.

mod fields;
mod held;
mod names;
mod pass;
mod prune;
mod readers;
mod states;
mod watcher;

pub(crate) use fields::Fields;
pub use pass::{Fed, FeedError, feed, feed_while};
pub use states::StateWatcher;
pub use watcher::{Action, Interest, WatchedEvent, Watcher};
