//! The story of a scenario, chapter by chapter: pure, from a file to a plan.

mod bootstrap;
mod install;
mod installer;
mod leases;
mod level;
mod machines;
mod quiet;
mod retrieval;
mod roll;
mod secrets;
mod shop;
mod teller;
mod update;
pub(super) mod version_pod;

pub(super) use bootstrap::namespace;
pub(super) use leases::leaders;
pub(super) use teller::tell;
