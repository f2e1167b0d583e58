//! Owns what somebody asked for on the command line. Refuses flags: the binary has those.

use kubereel_history::Moment;
use std::path::PathBuf;

/// What the UI is asked to show first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The reel.
    pub path: PathBuf,
    /// The moment; the start of the reel unless given.
    pub at: Option<Moment>,
    /// A resource, or an object as `RESOURCE/NAME`.
    pub select: Option<String>,
    /// The namespace of the object.
    pub namespace: String,
    /// The filter; empty for none.
    pub filter: String,
    /// The user's folder for what outlasts a run; `None` keeps nothing there.
    pub state_folder: Option<PathBuf>,
    /// Whether to begin anew, wherever one was before.
    pub is_fresh: bool,
}
