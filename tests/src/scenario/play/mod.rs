//! Plays a plan on a real API, in the actors' names, as fast as the plan says.

pub(super) mod gate;
mod perform;
pub(super) mod player;

pub use perform::ApiServers;
pub use player::ApiPlayer;
pub use player::control_plane;
pub use player::{Entry, Journal, PlayError};
