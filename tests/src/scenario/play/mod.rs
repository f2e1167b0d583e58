//! Plays a plan on a real API, in the actors' names, as fast as the plan says.

mod cluster;
mod drain;
pub(super) mod gate;
mod journal;
mod lease;
mod perform;
mod player;
mod stage;
pub(super) mod stamps;

pub use cluster::control_plane;
pub use journal::{Entry, Journal, PlayError};
pub use player::ApiPlayer;
pub use stage::ApiServers;
