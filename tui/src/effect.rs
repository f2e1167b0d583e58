//! Owns what the program asks of the world. Refuses to do it: `runtime` does.

use crate::answer::Question;
use kubereel_replay::Timeline;
use std::path::PathBuf;
use std::sync::Arc;

/// What the program asks of the world.
pub(crate) enum Effect {
    /// Open a reel.
    Open(PathBuf),
    /// Read a reel once, for its lanes.
    Gather(Arc<Timeline>),
    /// Stop the pass.
    StopGathering,
    /// Answer a question; a later one of the same kind makes it void.
    Ask(Arc<Timeline>, Question),
    /// Put a text on the clipboard.
    Copy(String),
}
