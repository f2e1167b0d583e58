//! The way from a reel to the states of the cluster in it.

use kubereel_history::Timeline;

/// Answers questions about the cluster of a reel.
#[derive(Clone, Copy)]
pub struct ClusterHistory<'t> {
    pub(crate) timeline: &'t Timeline,
}

impl<'t> ClusterHistory<'t> {
    /// Asks a reel.
    pub const fn of(timeline: &'t Timeline) -> Self {
        Self { timeline }
    }
}
