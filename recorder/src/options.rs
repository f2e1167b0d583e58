//! What the caller of the recorder may choose. Flags and environment are read by the binary.

use crate::access::StatusAccess;
use kubereel_redact::Extra;
use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::time::Duration;

/// How large a reel may become unless the caller says otherwise, in bytes: 100 MB.
///
/// What observers of OpenShift CI were promised to take, and room for some millions of events.
pub const DEFAULT_MAX_BYTES: u64 = 100_000_000;

/// The least that a reel may be allowed, in bytes: below, the file's own structure takes most of it.
pub const LEAST_MAX_BYTES: u64 = 8_000_000;

/// The least memory that a recorder may be limited to, in bytes: below, it has no room for objects.
pub const LEAST_MAX_MEMORY: u64 = 128_000_000;

/// What to record, and where to.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RecorderOptions {
    /// Output reel; resumed if it exists.
    pub output: PathBuf,
    /// Where the way to the cluster is described.
    pub kubeconfig: KubeconfigSource,
    /// The context of the kubeconfig; its current one if none is named.
    pub context: Option<String>,
    /// Where the status page is served, if at all.
    pub listen: Option<SocketAddr>,
    /// Who may ask the status page for what.
    pub status_access: StatusAccess,
    /// What is hidden beside what the policy hides.
    pub redact_extra: Extra,
    /// How long to record; until a signal comes if not limited.
    pub duration: Option<Duration>,
    /// How large the reel may become on disk, in bytes; without bound if not limited. Near it, less
    /// and less is recorded, and the reel says what.
    pub max_bytes: Option<u64>,
    /// How much memory the program may take, in bytes; without bound if not limited. Near it, bodies of
    /// objects move to a temporary file, then the resources with most objects are no longer recorded,
    /// and the reel says which.
    pub max_memory: Option<u64>,
    /// How long after a signal the program may run; as long as it takes if not limited.
    pub grace: Option<Duration>,
    /// Public properties of the job that records, by name.
    pub labels: Vec<(String, String)>,
    /// The file that others append marks to; it need not be there.
    pub marks: Option<PathBuf>,
    /// Metrics of the API servers that are sampled, by name.
    pub metrics: Vec<String>,
    /// How long each watch is to last at least, in seconds, before a new connection takes its place; 240
    /// if not chosen.
    pub watch_secs: Option<u32>,
    /// Whether a reel that exists is refused.
    pub only_new: bool,
    /// Whether another port will do if that of the status page is taken.
    pub any_port: bool,
    /// A fault made on purpose, for tests of those who check recordings: every event of this number,
    /// of those that come live, is lost after it came, and nothing says so. No flag reaches it.
    pub lose_every: Option<NonZeroU64>,
}

impl RecorderOptions {
    /// Records into `output`, with everything else as is usual.
    pub fn new(output: impl Into<PathBuf>) -> Self {
        Self {
            output: output.into(),
            max_bytes: Some(DEFAULT_MAX_BYTES),
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
    /// The first of these places that holds a usable one, looked through again and again.
    Preferred(JobPlaces),
}

/// Where a CI job delivers the way to its cluster, at some time or never.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobPlaces {
    /// Files, merged as kubectl does, for each place; the best place first.
    pub kubeconfigs: Vec<Vec<PathBuf>>,
    /// A script that exports the proxy before the cluster. It is read, never run.
    pub proxy_conf: Option<PathBuf>,
}
