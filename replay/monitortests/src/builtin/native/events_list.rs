//! Owns the list of the monitortests in Rust that need Events. Refuses rules: those are read from files.

use super::images::KnownImages;
use super::repeats::{RepeatedEvents, Where};
use super::sandboxes::SandboxFailures;
use super::static_pods::StaticPods;
use crate::verdict::MonitorTest;

/// Gives the monitortests in Rust that need Events.
pub fn events() -> Vec<Box<dyn MonitorTest>> {
    vec![
        Box::new(StaticPods::new()),
        Box::new(RepeatedEvents::new(Where::Known)),
        Box::new(RepeatedEvents::new(Where::Elsewhere)),
        Box::new(RepeatedEvents::new(Where::E2e)),
        Box::new(SandboxFailures::new()),
        Box::new(KnownImages::new()),
    ]
}
