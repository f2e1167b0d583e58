//! The story of a scenario, chapter by chapter: pure, from a file to a plan.

mod actors;
mod install;
mod teller;
pub(super) mod update;

pub(super) use actors::leaders;
pub(super) use install::namespace;
pub(super) use teller::tell;
