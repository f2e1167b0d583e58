//! Monitortests in Rust: what the rule language cannot say.

mod crd_storage;
mod list;
mod node_upgrades;
mod slow_message;
mod slow_operators;

pub use list::objects;
