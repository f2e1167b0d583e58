//! The options of a recording. The binary reads flags and environment.

use crate::access::StatusAccess;
use kubereel_redact::Extra;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

/// The default limit of a reel's size, in bytes: 100 MB.
///
/// Observers of OpenShift CI were promised not to exceed it, and it has room for some millions of
/// events.
pub const DEFAULT_MAX_BYTES: u64 = 100_000_000;

/// The smallest allowed limit, in bytes: below it, the structure of the file takes most of the
/// room.
pub const LEAST_MAX_BYTES: u64 = 8_000_000;

/// The smallest allowed memory limit, in bytes: below it, there is no room for objects.
pub const LEAST_MAX_MEMORY: u64 = 128_000_000;

/// What to record, and where to write it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RecorderOptions {
    /// Output reel; resumed if it exists.
    pub output: PathBuf,
    /// Where the kubeconfig is.
    pub kubeconfig: KubeconfigSource,
    /// The context of the kubeconfig; its current one if `None`.
    pub context: Option<String>,
    /// The address of the status page, if there is one.
    pub listen: Option<SocketAddr>,
    /// The access rules of the status page.
    pub status_access: StatusAccess,
    /// Additional redaction rules.
    pub redact_extra: Extra,
    /// How long to record; until a signal arrives if `None`.
    pub duration: Option<Duration>,
    /// The limit of the reel's size on disk, in bytes; unlimited if `None`. Near the limit
    /// resources are left out, and the reel names them.
    pub max_bytes: Option<u64>,
    /// The limit of the program's memory, in bytes; unlimited if `None`. Near the limit, bodies of
    /// objects move to a temporary file, then the resources with most objects are left out, and the
    /// reel names them.
    pub max_memory: Option<u64>,
    /// The grace period after a signal; unlimited if `None`.
    pub grace: Option<Duration>,
    /// Whether the finished reel is sealed at the end.
    pub seal: SealPolicy,
    /// Public labels of the recording job, by name.
    pub labels: Vec<(String, String)>,
    /// The file to which other programs append marks; it need not exist.
    pub marks: Option<PathBuf>,
    /// Metrics of the API servers that are sampled, by name.
    pub metrics: Vec<String>,
    /// The shortest requested duration of a watch, in seconds; a new connection replaces it
    /// afterwards. 240 if `None`.
    pub watch_secs: Option<u32>,
    /// Whether an existing reel is refused.
    pub only_new: bool,
    /// Whether another port is used if that of the status page is in use.
    pub any_port: bool,
    /// An intentional fault for tests of verification: the recorder drops every n-th live event and
    /// notes nothing. No flag sets it.
    pub lose_every: Option<NonZeroU64>,
}

impl RecorderOptions {
    /// Returns options that record into `output`, with defaults for the rest.
    pub fn new(output: impl Into<PathBuf>) -> Self {
        Self {
            output: output.into(),
            max_bytes: Some(DEFAULT_MAX_BYTES),
            ..Self::default()
        }
    }
}

/// When a finished reel is rewritten in its smallest form, at the end of a run that did not fail. A second signal
/// interrupts that; the finished reel is unchanged then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SealPolicy {
    /// Never.
    #[default]
    Never,
    /// Unless the end was requested by SIGTERM, after which a service manager often starts the recorder again to
    /// resume the reel, or by SIGHUP; and only if it takes no longer than this.
    UnlessTerminated {
        /// The time that it may take.
        within: Duration,
    },
    /// If it takes no longer than this.
    Within {
        /// The time that it may take.
        within: Duration,
    },
    /// However long it takes, within the grace period if there is one.
    Always,
}

/// Where the kubeconfig is. The files need not exist yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KubeconfigSource {
    /// `~/.kube/config` if it exists, else the service account of the pod, else `~/.kube/config` as
    /// soon as it exists.
    #[default]
    Usual,
    /// These files, merged as by kubectl: the value of the first file wins.
    Files(Vec<PathBuf>),
    /// The first of these places with a usable kubeconfig, checked repeatedly.
    Preferred(JobPlaces),
}

/// Where a CI job delivers its kubeconfig, at some time or never.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobPlaces {
    /// Files for each place, merged as by kubectl; the preferred place first.
    pub kubeconfigs: Vec<Vec<PathBuf>>,
    /// A script that exports the proxy. It is parsed, never run.
    pub proxy_conf: Option<PathBuf>,
}
