//! The notes of a reel: sessions, resources, connections, gaps, anomalies.
//!
//! Notes and events share one sequence, so the place of a note shows between which events it was
//! written. The order of the variants is that of the file: new ones are added at the end.

use crate::id::{
    BlobId, ConnectionId, EpochId, GapId, RecordedAt, ResourceId, Seq, SessionId, Stamp,
};
use crate::worded;
use bincode::{Decode, Encode};

/// A note and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteEntry {
    /// Its place in the reel.
    pub seq: Seq,
    /// When it was written.
    pub stamp: Stamp,
    /// The text.
    pub note: Note,
}

/// A record that is not an event of an object.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Note {
    /// A recorder run begins.
    SessionStarted {
        /// Its number.
        session: SessionId,
        /// The recorder's version, for example `0.1.0`.
        recorder: String,
        /// When it began.
        at: RecordedAt,
        /// The redaction policy in force; 0 means that nothing is redacted.
        redaction_policy: u32,
    },
    /// A recorder run ends in order. A run without it was killed.
    SessionEnded {
        /// Its number.
        session: SessionId,
        /// The cause.
        end: SessionEnd,
    },
    /// The state of the kubeconfig changed.
    Lifecycle(Lifecycle),
    /// The cluster behind the kubeconfig was identified.
    Cluster {
        /// Its number among those seen.
        epoch: EpochId,
        /// The uid of its namespace `kube-system`; empty if it could not be read.
        uid: String,
        /// The server's `gitVersion`; empty if it could not be read.
        version: String,
    },
    /// A resource is recorded from here on, or its description changed.
    Resource(ResourceInfo),
    /// A resource is not recorded from here on.
    NotCovered {
        /// The API group; empty for the core group.
        group: String,
        /// The version that discovery prefers.
        version: String,
        /// The plural name.
        plural: String,
        /// The reason.
        reason: NotCoveredReason,
        /// The server's message, or the name of the resource with the same storage.
        detail: String,
    },
    /// A list or watch request succeeded.
    Connected {
        /// Its number.
        connection: ConnectionId,
        /// The requested resource.
        resource: ResourceId,
        /// The requested resourceVersion; `None` for the present.
        from_rv: Option<String>,
        /// The method.
        method: ListMethod,
    },
    /// A list or watch request ended.
    Disconnected {
        /// Its number.
        connection: ConnectionId,
        /// The cause.
        cause: EndCause,
        /// The last resourceVersion received on it, if any.
        last_rv: Option<String>,
        /// The message of the server or of the transport; empty if there was none.
        detail: String,
    },
    /// The complete state of a resource is known as of a resourceVersion: the events before it on
    /// this connection are the list.
    Synced {
        /// The resource.
        resource: ResourceId,
        /// Its connection.
        connection: ConnectionId,
        /// The list's resourceVersion.
        rv: String,
        /// The method.
        method: ListMethod,
        /// How many objects it had.
        objects: u64,
    },
    /// The server proves that nothing else changed up to a resourceVersion.
    Bookmark {
        /// Its connection.
        connection: ConnectionId,
        /// The resourceVersion.
        rv: String,
    },
    /// Changes may be missing.
    Gap(Gap),
    /// A line that is not an event of a known form; its bytes are stored.
    OddLine {
        /// Its connection.
        connection: ConnectionId,
        /// The anomaly.
        problem: OddLineProblem,
        /// The length of the whole line, in bytes.
        len: u64,
        /// The line, in pieces in order.
        blobs: Vec<BlobId>,
    },
    /// A violation of the protocol on a connection.
    Anomaly {
        /// The connection.
        connection: ConnectionId,
        /// The violation.
        kind: AnomalyKind,
        /// Details.
        detail: String,
    },
    /// A document of the server: discovery, version.
    Document {
        /// The kind of document.
        kind: DocumentKind,
        /// Its path on the server.
        path: String,
        /// Its bytes, in pieces in order.
        blobs: Vec<BlobId>,
    },
    /// The wall clock stepped against the steady clock.
    ClockStepped {
        /// The step in microseconds; positive is forward.
        micros: i64,
    },
    /// A mark, such as "tests started".
    Mark {
        /// The text.
        text: String,
    },
    /// The provenance of an import or of another source.
    Provenance {
        /// One line.
        text: String,
    },
    /// The server reported its revision: a higher revision was committed after the request was
    /// sent, a revision up to it before the time of the note.
    Probed {
        /// The epoch.
        epoch: EpochId,
        /// The revision of a consistent list.
        revision: String,
        /// The duration of the request, in microseconds: it was sent that long before the note.
        took_micros: u64,
    },
    /// Probes of an endpoint fail from here on.
    OutageBegan {
        /// Scheme, host and port.
        endpoint: String,
        /// The class of the failure.
        class: OutageClass,
        /// The message of the server or of the transport.
        error: String,
        /// How long before the note the first failed probe was sent, in microseconds.
        since_micros: u64,
    },
    /// Probes of an endpoint no longer fail: one succeeded, or the endpoint is no longer probed.
    OutageEnded {
        /// Scheme, host and port.
        endpoint: String,
        /// The number of failed probes. Zero: none was sent in that time, because the recorder was paused (its process
        /// was stopped, or got no processor).
        failed: u64,
    },
    /// The result of reading a gap back from the server's history. It comes after the gap and after
    /// the events that were reconstructed for it.
    GapJudged {
        /// The gap.
        gap: GapId,
        /// The verdict.
        verdict: GapVerdict,
        /// The number of events that were read back and written for it.
        reconstructed: u64,
        /// An upper bound of the changes that are still missing, if one is known.
        missing_at_most: Option<u64>,
        /// The number of requests.
        requests: u32,
        /// Why no more was found; may be empty.
        detail: String,
    },
    /// A public label of the recording job, for example its name.
    Label {
        /// Its name, for example `JOB_NAME`.
        name: String,
        /// Its value.
        value: String,
    },
    /// A sample of a server's counter.
    Sampled {
        /// Scheme, host and port of the server, and after a `#` the start time of its process, as
        /// it reports it.
        endpoint: String,
        /// The metric's name.
        name: String,
        /// Its labels in the server's spelling, without braces.
        labels: String,
        /// The value in the server's spelling.
        value: String,
    },
    /// Records at this place could not be read when the reel was recovered. Since format 0.4.
    Unreadable {
        /// When the last record before them was received; if known, when the first of them was.
        from: RecordedAt,
        /// When the first record after them was received; if known, when the last of them was.
        to: RecordedAt,
        /// Their number; `None` if it is not known.
        records: Option<u64>,
        /// The resources of the events among them; empty if unknown: then any resource may be among
        /// them.
        resources: Vec<ResourceId>,
        /// The place and the cause.
        cause: String,
    },
}

worded! {
/// The verdict on a gap that was read back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum GapVerdict {
    /// Every change in it was read back from the server's history.
    Reconstructed = "reconstructed",
    /// Some changes were, or it is not known whether all were.
    Partly = "partly reconstructed",
    /// The server had compacted the history.
    Lost = "lost",
}
}

worded! {
/// The class of a probe's failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum OutageClass {
    /// The name has no address.
    Name = "name resolution",
    /// No connection was established.
    Connect = "no connection",
    /// TLS failed.
    Tls = "TLS",
    /// The response timed out.
    Timeout = "no answer in time",
    /// The connection broke before the response was complete.
    Cut = "answer cut off",
    /// The server does not accept the credentials (401, 403).
    Credentials = "credentials refused",
    /// The server asks for fewer requests (429).
    Busy = "too many requests",
    /// The server responded with an error (5xx).
    Server = "server error",
    /// Any other failure.
    Other = "other failure",
}
}

/// A note with bytes of any length that is about to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlobNote {
    /// See [`Note::OddLine`].
    OddLine {
        /// Its connection.
        connection: ConnectionId,
        /// The anomaly.
        problem: OddLineProblem,
        /// The length of the whole line, in bytes; `bytes` may be a part of it.
        len: u64,
    },
    /// See [`Note::Document`].
    Document {
        /// The kind of document.
        kind: DocumentKind,
        /// Its path on the server.
        path: String,
    },
}

/// Why a recorder run ended.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum SessionEnd {
    /// By a signal, with its name.
    Signal(String),
    /// By its own limits or its caller.
    Finished,
    /// By an error.
    Failed(String),
}

/// The state of the kubeconfig and of the connection to the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Lifecycle {
    /// There is no kubeconfig yet.
    WaitingForKubeconfig {
        /// Where it is expected.
        path: String,
    },
    /// The kubeconfig cannot be used.
    KubeconfigUnusable {
        /// Its path.
        path: String,
        /// The error.
        error: String,
    },
    /// The kubeconfig can be used; a repetition means that its content changed.
    KubeconfigLoaded {
        /// Its path.
        path: String,
    },
    /// The server does not respond as an API server.
    Unreachable {
        /// The failure: name resolution, connection, TLS, credentials, a response.
        error: String,
    },
    /// The server responds.
    Reachable,
}

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum ListMethod {
    /// A streaming list: a watch that begins with the state.
    WatchList,
    /// A list in pages.
    Pages,
    /// A watch from a resourceVersion.
    Watch,
    /// Lines of a file.
    Import,
    /// Lists at exact versions of the past, to close a gap.
    Exact,
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum EndCause {
    /// The server ended the stream in order.
    Clean,
    /// The transport failed.
    Cut,
    /// It was silent for too long.
    Idle,
    /// The server no longer has the history.
    Expired,
    /// The server responded with this status code, or ended the stream with it.
    Status(u16),
    /// A line could not be parsed.
    Unreadable,
    /// No connection was established.
    Unreachable,
    /// The recorder stopped.
    Stopped,
    /// The resource is no longer served.
    Gone,
}

/// The anomaly of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum OddLineProblem {
    /// It is not JSON, or not of an event's form.
    Unparsable,
    /// Its type is none of those known.
    UnknownType,
    /// It is longer than [`crate::MAX_BODY`].
    TooLong,
    /// It is an ERROR event.
    ServerError,
    /// The stream ended within the line.
    Truncated,
}

/// A violation of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum AnomalyKind {
    /// A resourceVersion did not rise.
    VersionNotRising,
    /// An event came without a resourceVersion, or with one that is not a number.
    VersionUnusable,
    /// A bookmark came without a resourceVersion.
    BookmarkWithoutVersion,
    /// An object without name.
    Nameless,
}

/// The kind of a server's document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum DocumentKind {
    /// Discovery.
    Discovery,
    /// The server's version.
    Version,
    /// The `OpenAPI` schemas.
    OpenApi,
    /// The printer columns of a resource.
    Table,
}

/// A span in which changes of a resource may be missing from the reel.
///
/// It begins after `from_rv` and includes `to_rv`. The changes in it are known only as far as two
/// lists differ.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Gap {
    /// The gap's number.
    pub id: GapId,
    /// The resource.
    pub resource: ResourceId,
    /// The last resourceVersion received before it, if there was one.
    pub from_rv: Option<String>,
    /// The resourceVersion of the list that ended the gap.
    pub to_rv: String,
    /// When the last data before it was received.
    pub from_time: RecordedAt,
    /// When the list that ended it was received.
    pub to_time: RecordedAt,
    /// The cause.
    pub cause: GapCause,
    /// An upper bound of the missing changes, if one is known: the distance of the resourceVersions
    /// minus the changes that the list shows.
    pub missing_at_most: Option<u64>,
    /// The number of differences between the last known state and the list that were written for
    /// it.
    pub differences: u64,
}

worded! {
/// The cause of a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub enum GapCause {
    /// The server no longer had the history (410).
    Expired = "the server lost its history",
    /// No recorder ran.
    RecorderStopped = "no recorder ran",
    /// A line could not be parsed, so the end of the stream is not trusted.
    Unreadable = "an unreadable line",
    /// The resource could not be read for a while (permission, not served, failing).
    Unavailable = "the resource could not be read",
    /// The cluster behind the kubeconfig is another one, or was restored from a backup.
    NewEpoch = "another cluster",
}
}

worded! {
/// Why a resource, or a span of it, is not in the reel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub enum NotCoveredReason {
    /// The recorder's user has no permission to list or watch it.
    Forbidden = "forbidden",
    /// The server does not support watch for it.
    NoWatch = "no watch",
    /// The server does not support list for it.
    NoList = "no list",
    /// Another recorded resource has the same storage.
    SameStorage = "same storage as another resource",
    /// Every request for it fails.
    Failing = "failing",
    /// It is no longer served.
    Gone = "gone",
    /// The user excluded it.
    Excluded = "excluded",
    /// The size budget left it out.
    SizeBudget = "size budget",
    /// The memory budget left it out. Since format 0.3.
    MemoryBudget = "memory budget",
}
}

/// A span in which every change of a resource is in the reel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveredSpan {
    /// The resourceVersion of the complete list that began it.
    pub from_rv: String,
    /// The last resourceVersion that is proven, by an event or a bookmark.
    pub to_rv: String,
    /// When the list that began it was received.
    pub from_time: RecordedAt,
    /// When the last event or bookmark was received.
    pub to_time: RecordedAt,
}

/// One resource of the cluster, as its discovery documents described it.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct ResourceInfo {
    /// Its id in events. The recorder assigns each id once.
    pub id: ResourceId,
    /// The API group; empty for the core group.
    pub group: String,
    /// The version that is recorded, for example `v1`.
    pub version: String,
    /// The plural name, for example `pods`.
    pub plural: String,
    /// The singular name; empty if the server gave none.
    pub singular: String,
    /// The kind, for example `Pod`.
    pub kind: String,
    /// The short names, for example `po`.
    pub short_names: Vec<String>,
    /// The categories, for example `all`.
    pub categories: Vec<String>,
    /// Whether its objects are namespaced.
    pub namespaced: bool,
    /// The verbs in discovery.
    pub verbs: Vec<String>,
    /// The server's storage version hash, if it sent one: equal hashes mean one storage.
    pub storage_hash: Option<String>,
}

impl ResourceInfo {
    /// Describes a namespaced resource by its names alone, as one that no discovery document describes.
    ///
    /// ```
    /// use kubereel_format::{ResourceId, ResourceInfo};
    ///
    /// let leases = ResourceInfo::new(ResourceId(3), "coordination.k8s.io/v1", "leases", "Lease");
    /// assert_eq!(leases.qualified(), "leases.coordination.k8s.io");
    /// assert_eq!(leases.singular, "lease");
    /// ```
    pub fn new(id: ResourceId, api_version: &str, plural: &str, kind: &str) -> Self {
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        Self {
            id,
            group: group.to_owned(),
            version: version.to_owned(),
            plural: plural.to_owned(),
            singular: kind.to_lowercase(),
            kind: kind.to_owned(),
            short_names: Vec::new(),
            categories: Vec::new(),
            namespaced: true,
            verbs: Vec::new(),
            storage_hash: None,
        }
    }

    /// Returns `plural.group`, or the plural alone for the core group.
    pub fn qualified(&self) -> String {
        qualified(&self.plural, &self.group)
    }

    /// Returns the `apiVersion` of its objects.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }
}

/// Returns `plural.group`, or the plural alone for the core group.
pub fn qualified(plural: &str, group: &str) -> String {
    if group.is_empty() {
        plural.to_owned()
    } else {
        format!("{plural}.{group}")
    }
}
