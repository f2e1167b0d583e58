//! The interests of a watcher and the events that it receives. `pass` reads the reel.

use kubereel_cluster::RecordMark;
use kubereel_format::{Evidence, ObjectId, ObjectKeyRef, RecordedAt, ResourceInfo, Seq};
use serde_json::Value;

/// Fields of a resource that someone reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interest {
    /// The API group; empty for the core group.
    pub group: String,
    /// The plural name, such as `pods`.
    pub plural: String,
    /// Paths of member names with dots between them; of lists, every item's. A name with dots stands in
    /// brackets, `metadata.annotations[example.com/name]`; `data[*.crt]` are all members whose names end so.
    /// The empty path is the whole object. `metadata.name`, `.namespace` and `.uid` need not be asked for.
    pub paths: Vec<String>,
    /// Whether it wants to know that an object is gone.
    pub wants_ends: bool,
    /// Whether it wants to know of every event, also of those that change none of the fields.
    pub wants_all: bool,
}

impl Interest {
    /// Makes an interest in some fields.
    pub fn new<'a>(group: &str, plural: &str, paths: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            group: group.to_owned(),
            plural: plural.to_owned(),
            paths: paths.into_iter().map(str::to_owned).collect(),
            wants_ends: true,
            wants_all: false,
        }
    }

    /// Lets objects go without a word; where nobody wants to know, their last state is not even read.
    #[must_use]
    pub fn without_ends(mut self) -> Self {
        self.wants_ends = false;
        self
    }
}

/// What happened to an object, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is seen for the first time: created then, or there before; the evidence tells.
    Appeared,
    /// One of the fields asked for changed.
    Changed,
    /// It is gone. Where another object has its name and no deletion was recorded, the event is that of the other
    /// one, and the evidence is `Inferred`.
    Gone,
}

/// An event as a watcher receives it.
#[derive(Clone, Copy, Debug)]
pub struct WatchedEvent<'a> {
    /// The event.
    pub seq: Seq,
    /// When it was received.
    pub at: RecordedAt,
    /// Since when it may have been committed, if it was received late.
    pub not_before: Option<RecordedAt>,
    /// What happened.
    pub action: Action,
    /// How it is known.
    pub evidence: Evidence,
    /// Whether versions between the one before and this one may not have been seen: after a gap, or where they cannot
    /// be read.
    pub is_after_hole: bool,
    /// The resource.
    pub resource: &'a ResourceInfo,
    /// The object's number in the reel.
    pub object: ObjectId,
    /// Who it is.
    pub key: ObjectKeyRef<'a>,
    /// The fields asked for by anyone; the last ones known if it is gone.
    pub now: &'a Value,
    /// The same before the event, if it was seen before.
    pub before: Option<&'a Value>,
}

impl WatchedEvent<'_> {
    /// Returns the moment at which it was observed.
    pub const fn mark(&self) -> RecordMark {
        let (seq, at) = (self.seq, self.at);
        RecordMark { seq, at }
    }
}

/// A receiver of changes.
pub trait Watcher {
    /// Returns what it reads; asked once, before the pass.
    fn interests(&self) -> Vec<Interest>;

    /// Takes what happened to an object of one of its resources.
    ///
    /// It is called when an object appears, when a field that it asked for changed, and when the object
    /// is gone; and when it is seen again after changes of it may have been missed. In the order of
    /// arrival. What its interest leaves out it may be told all the same, if another wants to know.
    fn seen(&mut self, seen: &WatchedEvent<'_>);

    /// Returns how often it evaluated predicates; one without any says 0.
    fn asked(&self) -> u64 {
        0
    }
}
