//! The harness that runs a real control plane, the players that make a cluster's life on it,
//! and the tests that need more than one crate. Never published.

pub mod chromium;
pub mod claims;
pub mod control_plane;
pub mod diagnosis;
pub mod faults;
pub mod footprint;
pub mod kubectl;
pub mod kubelet;
pub mod oracle;
pub mod peak_memory;
mod ports;
pub mod proxy;
pub mod recording;
pub mod rest;
pub mod scenario;
pub mod scripted;
pub mod shaken;
pub mod shared_data;
pub mod skipped;
pub mod tmux;
