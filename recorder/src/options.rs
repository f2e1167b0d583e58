//! Owns what the caller of the recorder may choose. Refuses flags and environment: the binary reads
//! those.

use kubereel_redact::Extra;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// What to record, and where to.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The reel. One that exists is gone on with.
    pub output: PathBuf,
    /// Where the way to the cluster is described.
    pub kubeconfig: KubeconfigSource,
    /// The context of the kubeconfig; its current one if none is named.
    pub context: Option<String>,
    /// Where the status page is served, if at all.
    pub listen: Option<SocketAddr>,
    /// What is hidden beside what the policy hides.
    pub redact_extra: Extra,
    /// How long to record; until a signal comes if not limited.
    pub duration: Option<Duration>,
}

impl Options {
    /// Records into `output`, with everything else as is usual.
    pub fn new(output: impl Into<PathBuf>) -> Self {
        Self {
            output: output.into(),
            ..Self::default()
        }
    }
}

/// Where the way to the cluster is described. Nothing needs to be there yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KubeconfigSource {
    /// `~/.kube/config` if there is one, else the service account of the pod if there is one, else
    /// `~/.kube/config` as soon as it comes.
    #[default]
    Usual,
    /// These files, merged as kubectl does: what the first names wins.
    Files(Vec<PathBuf>),
}
