//! What happens to real control planes, done to one while the recorder runs: whatever etcd says was
//! changed is in the reel or inside a gap that the reel declares, and nothing that the reel claims to be
//! complete lacks anything.
//!
//! Each fault is one test. What two servers that roll in turn show lies in `record_completeness`.

#![expect(clippy::print_stderr, reason = "says how hard each run was")]

mod aggregated;
mod conversions;
mod definitions;
mod expiring;
mod load;
mod recreated;
mod restarted;
mod restored;
mod rolling;
mod scene;
mod second_etcd;
mod writers;

use std::time::Duration;

/// Anything that must come comes within this time, also on a busy machine.
const SURE: Duration = Duration::from_mins(2);
