//! The phase of a cluster's life at a moment.

use serde::Deserialize;

/// What the cluster was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The first installation.
    Install,
    /// An upgrade, from its acceptance to its completion.
    Upgrade,
    /// Neither.
    Stable,
}

impl Phase {
    /// Returns the word that files use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Upgrade => "upgrade",
            Self::Stable => "stable",
        }
    }
}
