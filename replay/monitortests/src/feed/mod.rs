//! One pass over a reel: each event's body is read once, and of it only the fields that someone asked
//! for; who asked is told when one of them changed.

mod fields;
mod held;
mod pass;
mod prune;
mod readers;
mod states;
mod watcher;

pub(crate) use fields::Fields;
pub use pass::{Fed, FeedError, feed, feed_while};
pub use states::StateWatcher;
pub use watcher::{Action, Interest, Seen, Watcher};
