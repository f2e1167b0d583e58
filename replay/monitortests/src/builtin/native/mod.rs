//! Monitor tests in Rust: what the rule language cannot express.

pub(super) mod crd_storage;
mod event;
pub(super) mod ha;
pub(super) mod images;
mod judged;
pub(super) mod node_upgrades;
pub(super) mod recording;
pub(super) mod repeats;
pub(super) mod sandboxes;
pub(super) mod slow_operators;
pub(super) mod static_pods;
pub(super) mod version_pods;
