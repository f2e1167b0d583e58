//! The phase of a cluster's life at a moment.

use kubereel_format::worded;
use serde::Deserialize;

worded! {
/// What the cluster was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The first installation.
    Install = "install",
    /// An upgrade, from its acceptance to its completion.
    Upgrade = "upgrade",
    /// Neither.
    Stable = "stable",
}
}
