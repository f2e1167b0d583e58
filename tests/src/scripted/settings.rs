//! Owns how the server behaves towards everyone: its version, what it supports, how it tells discovery.
//! Refuses single requests; those are faults.

use std::collections::BTreeSet;
use std::time::Duration;

/// What the server makes of `sendInitialEvents`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchList {
    /// Serves it, as 1.32 and 1.34 on.
    Served,
    /// Does not know the parameter, as before 1.27: the end bookmark never comes.
    Ignored,
    /// Answers 422, as with the feature gate off.
    Refused,
}

/// Where the bookmark that ends the initial events goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InitialEnd {
    /// Behind the last initial event, as it should be.
    AfterEvents,
    /// Nowhere.
    Missing,
    /// In front of the first initial event.
    BeforeEvents,
    /// Behind the last one, without a resource version.
    WithoutRevision,
}

/// How much of the newer discovery the server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aggregation {
    /// `v2` and `v2beta1`.
    V2,
    /// `v2beta1` only, as 1.26 to 1.29.
    V2Beta1,
    /// None: the legacy documents whatever is asked.
    Off,
}

/// When bodies are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gzip {
    /// Never.
    Never,
    /// When the client accepts it: one member a flush.
    WhenAccepted,
    /// Always, as a careless proxy might.
    Always,
}

/// How lines become chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chunking {
    /// One line a chunk, as real servers mostly do.
    PerLine,
    /// Everything that waits in one chunk.
    Together,
    /// Chunks of so many bytes, wherever the lines end.
    Bytes(usize),
}

/// The server's personality; change it with [`super::ScriptedCluster::set`].
#[derive(Debug, Clone)]
pub struct Settings {
    /// `gitVersion` in `/version`.
    pub version: String,
    /// What it makes of `sendInitialEvents`.
    pub watch_list: WatchList,
    /// Where the end of the initial events is told.
    pub initial_end: InitialEnd,
    /// How many changes of the history the initial events of a watch lie back; these changes follow
    /// them, before the bookmark, as a busy watch cache sends them.
    pub initial_lag: usize,
    /// The pause between periodic bookmarks; none are sent without.
    pub bookmark_interval: Option<Duration>,
    /// Ends every watch after so long, whatever the client asked for.
    pub watch_limit: Option<Duration>,
    /// How lines become chunks.
    pub chunking: Chunking,
    /// When bodies are compressed.
    pub gzip: Gzip,
    /// How much of aggregated discovery is spoken.
    pub aggregation: Aggregation,
    /// Whether discovery documents carry an `ETag` and honour `If-None-Match`.
    pub etags: bool,
    /// Groups left out of `/apis` though they are served.
    pub hidden_groups: BTreeSet<String>,
    /// Groups left out of every second answer to `/apis`.
    pub flapping_groups: BTreeSet<String>,
    /// Groups told as `Stale`, without their resources.
    pub stale_groups: BTreeSet<String>,
    /// Discovery tells of no group at all.
    pub empty_discovery: bool,
    /// The bearer token every request must carry; 401 without.
    pub token: Option<String>,
    /// Headers added to every answer.
    pub extra_headers: Vec<(String, String)>,
    /// How long a list of a future revision waits for it before its 504.
    pub future_list_wait: Duration,
    /// How long a client may leave a full socket unread before its connection is closed.
    pub stall_limit: Option<Duration>,
    /// How many changes a storage remembers.
    pub history_limit: Option<usize>,
    /// How wrong the `Date` header is.
    pub clock_skew_secs: i64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            version: "v1.36.3".to_owned(),
            watch_list: WatchList::Served,
            initial_end: InitialEnd::AfterEvents,
            initial_lag: 0,
            bookmark_interval: Some(Duration::from_mins(1)),
            watch_limit: None,
            chunking: Chunking::PerLine,
            gzip: Gzip::WhenAccepted,
            aggregation: Aggregation::V2,
            etags: true,
            hidden_groups: BTreeSet::new(),
            flapping_groups: BTreeSet::new(),
            stale_groups: BTreeSet::new(),
            empty_discovery: false,
            token: None,
            extra_headers: Vec::new(),
            future_list_wait: Duration::from_secs(3),
            stall_limit: None,
            history_limit: None,
            clock_skew_secs: 0,
        }
    }
}
