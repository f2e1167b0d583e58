//! What a reel says beside the events: sessions, resources, connections, gaps, anomalies.
//!
//! Notes and events share one sequence, so that a note says exactly between which events it happened. The
//! order of the variants is the file's: new ones go to the end.

use crate::id::{
    BlobId, ConnectionId, EpochId, GapId, RecordedAt, ResourceId, Seq, SessionId, Stamp,
};
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
    /// The recorder's way to the cluster changed its state.
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
        /// The cause.
        reason: NotCoveredReason,
        /// The server's words, or the name of the resource that stands for it.
        detail: String,
    },
    /// A list or watch request was answered.
    Connected {
        /// Its number.
        connection: ConnectionId,
        /// The requested resource.
        resource: ResourceId,
        /// The requested resourceVersion; `None` for "now".
        from_rv: Option<String>,
        /// How.
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
        /// The server's or the transport's words; empty if there were none.
        detail: String,
    },
    /// A resource's complete state is known as of a resourceVersion: what came before on this
    /// connection was the list.
    Synced {
        /// The resource.
        resource: ResourceId,
        /// The connection that brought it.
        connection: ConnectionId,
        /// The list's resourceVersion.
        rv: String,
        /// How it was read.
        method: ListMethod,
        /// How many objects it had.
        objects: u64,
    },
    /// The server proves that nothing else happened up to a resourceVersion.
    Bookmark {
        /// The connection that brought it.
        connection: ConnectionId,
        /// The resourceVersion.
        rv: String,
    },
    /// Changes may be missing.
    Gap(Gap),
    /// A line that is not an event of a known form; its bytes are kept.
    OddLine {
        /// The connection that brought it.
        connection: ConnectionId,
        /// What is odd.
        problem: OddLineProblem,
        /// The length of the whole line, in bytes.
        len: u64,
        /// The line, in pieces in order.
        blobs: Vec<BlobId>,
    },
    /// Something that the protocol does not allow, seen on a connection.
    Anomaly {
        /// The connection.
        connection: ConnectionId,
        /// What.
        kind: AnomalyKind,
        /// Particulars.
        detail: String,
    },
    /// A document of the server: discovery, version.
    Document {
        /// Which.
        kind: DocumentKind,
        /// Its path on the server.
        path: String,
        /// Its bytes, in pieces in order.
        blobs: Vec<BlobId>,
    },
    /// The wall clock stepped against the steady clock.
    ClockStepped {
        /// By how many microseconds; positive is forward.
        micros: i64,
    },
    /// A word of somebody outside: "tests started".
    Mark {
        /// The word.
        text: String,
    },
    /// The provenance of an import or of another source.
    Provenance {
        /// One line.
        text: String,
    },
    /// The server reported the revision of its history: a higher revision was committed after
    /// the question was sent, whatever has none higher before the note's stamp.
    Probed {
        /// Whose history.
        epoch: EpochId,
        /// The revision of a consistent list.
        revision: String,
        /// How long the answer took, in microseconds: the question was sent so long before the stamp.
        took_micros: u64,
    },
    /// Probes of an endpoint fail from here on.
    OutageBegan {
        /// Scheme, host and port.
        endpoint: String,
        /// Of what class the failure is.
        class: OutageClass,
        /// The server's or the transport's words.
        error: String,
        /// How long before the stamp the first failing probe was sent, in microseconds.
        since_micros: u64,
    },
    /// Probes of an endpoint no longer fail: one was answered, or the endpoint is not asked any more.
    OutageEnded {
        /// Scheme, host and port.
        endpoint: String,
        /// How many probes failed.
        failed: u64,
    },
    /// The result of reading a gap back from the server's history. It stands after the gap and after what was
    /// reconstructed for it.
    GapJudged {
        /// The gap.
        gap: GapId,
        /// In one word.
        verdict: GapVerdict,
        /// How many events were read back and written for it.
        reconstructed: u64,
        /// An upper bound of the changes that are still missing, if one is known.
        missing_at_most: Option<u64>,
        /// How many requests it took.
        requests: u32,
        /// Why no more was found; may be empty.
        detail: String,
    },
    /// A public property of the job that recorded, for example its name.
    Label {
        /// Its name, for example `JOB_NAME`.
        name: String,
        /// Its value.
        value: String,
    },
    /// The value of a counter of a server when it was read.
    Sampled {
        /// Scheme, host and port of the server, and after a `#` when its process began, as it says.
        endpoint: String,
        /// The metric's name.
        name: String,
        /// Its labels as the server spelt them, without braces.
        labels: String,
        /// The value as the server spelt it.
        value: String,
    },
    /// Records that stood here could not be read when the reel was written anew. Since format 0.4.
    Unreadable {
        /// When the last record before them was received; when the first of them was, if that is known.
        from: RecordedAt,
        /// When the first record after them was received; when the last of them was, if that is known.
        to: RecordedAt,
        /// How many there were; `None` if that is not known.
        records: Option<u64>,
        /// The resources of the events among them; none if they are not known, and any may be among them.
        resources: Vec<ResourceId>,
        /// Where and why, in words.
        cause: String,
    },
}

/// What became of a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum GapVerdict {
    /// Every change in it was read back from the server's history.
    Reconstructed,
    /// Some were, or it is not known whether all were.
    Partly,
    /// The server had no history of it any more.
    Lost,
}

impl GapVerdict {
    /// Returns the word that is shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reconstructed => "reconstructed",
            Self::Partly => "partly reconstructed",
            Self::Lost => "lost",
        }
    }
}

/// What kind of failure a probe met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum OutageClass {
    /// The name has no address.
    Name,
    /// No connection.
    Connect,
    /// No trust.
    Tls,
    /// No answer in time.
    Timeout,
    /// The connection broke before the answer was whole.
    Cut,
    /// The server does not accept the credentials (401, 403).
    Credentials,
    /// The server asks for fewer requests (429).
    Busy,
    /// The server answers with an error (5xx).
    Server,
    /// Something else.
    Other,
}

impl OutageClass {
    /// Returns the words that are shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name resolution",
            Self::Connect => "no connection",
            Self::Tls => "TLS",
            Self::Timeout => "no answer in time",
            Self::Cut => "answer cut off",
            Self::Credentials => "credentials refused",
            Self::Busy => "too many requests",
            Self::Server => "server error",
            Self::Other => "other failure",
        }
    }
}

/// A note that carries bytes of any size, about to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlobNote {
    /// See [`Note::OddLine`].
    OddLine {
        /// The connection that brought it.
        connection: ConnectionId,
        /// What is odd.
        problem: OddLineProblem,
        /// The length of the whole line, in bytes; `bytes` may hold a part of it.
        len: u64,
    },
    /// See [`Note::Document`].
    Document {
        /// Which.
        kind: DocumentKind,
        /// Its path on the server.
        path: String,
    },
}

/// How a recorder run ended.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum SessionEnd {
    /// By a signal, named.
    Signal(String),
    /// By its own limits or its caller.
    Finished,
    /// By an error, in words.
    Failed(String),
}

/// The recorder's way to the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Lifecycle {
    /// There is no kubeconfig yet.
    WaitingForKubeconfig {
        /// Where it looks.
        path: String,
    },
    /// There is one that cannot be used.
    KubeconfigUnusable {
        /// Where it is.
        path: String,
        /// Why not.
        error: String,
    },
    /// There is one that can be used; its content changed if this comes again.
    KubeconfigLoaded {
        /// Where it is.
        path: String,
    },
    /// The server does not answer as an API server.
    Unreachable {
        /// What happened instead: name resolution, connect, TLS, credentials, an answer.
        error: String,
    },
    /// The server answers.
    Reachable,
}

/// How a resource's state or changes were requested.
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
    /// The transport broke.
    Cut,
    /// Nothing came for too long.
    Idle,
    /// The server no longer has the history.
    Expired,
    /// The server answered, or ended the stream with, this status code.
    Status(u16),
    /// A line could not be understood.
    Unreadable,
    /// No connection came about.
    Unreachable,
    /// The recorder stopped.
    Stopped,
    /// The resource vanished.
    Gone,
}

/// What is odd about a line.
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
    /// The stream ended in its middle.
    Truncated,
}

/// What the protocol does not allow.
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

/// Which document of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum DocumentKind {
    /// What resources there are.
    Discovery,
    /// The server's version.
    Version,
    /// The schemas.
    OpenApi,
    /// The columns in which a resource prints.
    Table,
}

/// A span in which changes of a resource may be missing from the reel.
///
/// After `from_rv`, up to and including `to_rv`: what happened in between is known only as far as
/// two lists differ.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Gap {
    /// The gap's number.
    pub id: GapId,
    /// The resource.
    pub resource: ResourceId,
    /// The last resourceVersion received before, if there was one.
    pub from_rv: Option<String>,
    /// The resourceVersion of the list that ended the gap.
    pub to_rv: String,
    /// When the last thing before it was received.
    pub from_time: RecordedAt,
    /// When the list that ended it was received.
    pub to_time: RecordedAt,
    /// Why it opened.
    pub cause: GapCause,
    /// An upper bound of the changes that may be missing, if one is known: the distance of the
    /// resourceVersions less what the list showed.
    pub missing_at_most: Option<u64>,
    /// How many differences between the last known state and the list were written for it.
    pub differences: u64,
}

/// Why a gap opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub enum GapCause {
    /// The server no longer had the history (410).
    Expired,
    /// No recorder ran.
    RecorderStopped,
    /// A line could not be understood, so that the stream's end is not trusted.
    Unreadable,
    /// The resource could not be read for a while (permission, missing, failing).
    Unavailable,
    /// The cluster behind the kubeconfig is another one, or was restored from a backup.
    NewEpoch,
}

impl GapCause {
    /// Returns the words that are shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "the server lost its history",
            Self::RecorderStopped => "no recorder ran",
            Self::Unreadable => "an unreadable line",
            Self::Unavailable => "the resource could not be read",
            Self::NewEpoch => "another cluster",
        }
    }
}

/// Why a resource, or a span of it, is not in the reel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Encode, Decode)]
pub enum NotCoveredReason {
    /// The recorder's user may not list or watch it.
    Forbidden,
    /// The server offers no watch for it.
    NoWatch,
    /// The server offers no list for it.
    NoList,
    /// Another recorded resource has the same storage.
    SameStorage,
    /// The server answers every request for it with an error.
    Failing,
    /// It vanished from the server.
    Gone,
    /// The user excluded it.
    Excluded,
    /// The reel would have become larger than its budget.
    SizeBudget,
    /// Its objects would have taken more memory than the recorder may use. Since format 0.3.
    MemoryBudget,
}

impl NotCoveredReason {
    /// Returns the words that are shown to people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Forbidden => "forbidden",
            Self::NoWatch => "no watch",
            Self::NoList => "no list",
            Self::SameStorage => "same storage as another resource",
            Self::Failing => "failing",
            Self::Gone => "gone",
            Self::Excluded => "excluded",
            Self::SizeBudget => "size budget",
            Self::MemoryBudget => "memory budget",
        }
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
    /// The number by which events name it. Given by the recorder, never used again.
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
    /// Whether its objects live in namespaces.
    pub namespaced: bool,
    /// The verbs that discovery names.
    pub verbs: Vec<String>,
    /// The server's storage version hash, if it gave one: equal hashes mean one storage.
    pub storage_hash: Option<String>,
}

impl ResourceInfo {
    /// Returns `plural.group`, or the plural alone for the core group.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
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
