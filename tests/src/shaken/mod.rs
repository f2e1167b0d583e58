//! A real control plane that is written to and shaken while it is recorded, and what etcd says of it.
//!
//! Owns the place: servers, oracle, proxy, recorder, writers. Refuses to judge: what a recording must
//! hold after which fault is the tests' own.

mod objects;
mod scene;
mod writers;

pub use objects::{CANARY, CANARY_BASE64, Make, config_map, definition, event, secret};
pub use scene::{Scene, Settled};
pub use writers::{Writer, Writers};
