//! The versions of one name in their order: when, by whom, what changed, and the gaps between.

mod item;
mod walk;

pub use item::{HeldFor, HeldUntil, HistoryItem, HistoryQuestion, Place, SeenVersion};
pub use walk::History;
