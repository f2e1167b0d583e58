//! Monitortests in Rust: what the rule language cannot say.

mod crd_storage;
mod event;
mod events_list;
mod images;
mod list;
mod node_upgrades;
mod own;
mod repeats;
mod sandboxes;
mod slow_message;
mod slow_operators;
mod static_pods;

pub(crate) use event::subject_of;
pub(super) use events_list::events;
pub use list::objects;
pub(super) use own::own;
