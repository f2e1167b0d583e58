//! Rules over objects: what is watched while the reel is read, and how it is judged afterwards.

mod plan;
mod related;
mod thing;
mod verdicts;
mod watch;

pub(super) use watch::ObjectWatch;
