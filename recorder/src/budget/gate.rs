//! The gate in front of the writer: before each entry it takes the budget steps that are due,
//! writes what they leave out, and from there on admits no entry of it.
//!
//! Invariants:
//! * The note that a resource is left out comes before the first entry that is dropped, and after
//!   the last one that is written: the gate stands in front of the file, not of the sockets. The
//!   streams end afterwards.
//! * Steps are taken in order and never back.
//! * After a connection or resource is ended in the reel, no entry refers to it.
//! * A commit comes before the waiting bytes exceed a part of the free room: the fill level is
//!   known only after a commit, and without the bound the file could overtake the steps.

use crate::budget::plan;
use crate::budget::plan::{BudgetPlan, BudgetStep, MemoryPlan};
use crate::health::Health;
use crate::number::len64;
use crate::queue::QueueEntry;
use crate::resource::{GroupResource, not_covered};
use kubereel_format::{
    BlobNote, ConnectionId, EndCause, NotCoveredReason, Note, ObjectMemory, ResourceId,
    ResourceInfo, Stamp, Usage,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::sync::watch;

/// A connection that is open in the reel.
#[derive(Debug)]
struct OpenConnection {
    resource: ResourceId,
    last_version: String,
}

/// The limits of a recording.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecordingLimits {
    /// Of the disk, in bytes.
    pub(crate) max_bytes: Option<u64>,
    /// Of memory, in bytes.
    pub(crate) max_memory: Option<u64>,
}

pub(crate) struct Gate {
    max_bytes: u64,
    memory: MemoryPlan,
    /// Resources that are no longer written, and of these the ones that the appender has not
    /// forgotten yet.
    ended: BTreeSet<ResourceId>,
    to_forget: BTreeSet<ResourceId>,
    usage: Usage,
    plan: BudgetPlan,
    out: Exclusions,
    published: watch::Sender<Exclusions>,
    health: Arc<Health>,
    /// Resources that are recorded in the reel, in this run.
    recorded: BTreeMap<ResourceId, ResourceInfo>,
    /// Names that this run has noted as left out.
    noted: BTreeSet<GroupResource>,
    open: BTreeMap<ConnectionId, OpenConnection>,
    /// Connections that stay open although none of their entries is written.
    shut: BTreeSet<ConnectionId>,
    tally: WriteVolumes,
    waiting_bytes: u64,
}

impl Gate {
    /// Creates a gate for a file, with what an earlier run left out.
    pub(crate) fn new(
        limits: RecordingLimits,
        usage: Usage,
        left_out_before: BTreeSet<GroupResource>,
        published: watch::Sender<Exclusions>,
        health: Arc<Health>,
    ) -> Self {
        let mut out = Exclusions::default();
        // A resumed recording starts with its exclusions unless there is clearly room again:
        // otherwise each restart would record the same resources for a moment and leave them out
        // again.
        if !plan::is_roomy(&usage) {
            for name in left_out_before {
                out.add(name);
            }
        }
        if let Some(max_bytes) = limits.max_bytes {
            health.set_max_bytes(max_bytes);
        }
        published.send_replace(out.clone());
        Self {
            // Without a limit no step is ever due.
            max_bytes: limits.max_bytes.unwrap_or(u64::MAX),
            memory: MemoryPlan::new(limits.max_memory),
            ended: BTreeSet::new(),
            to_forget: BTreeSet::new(),
            usage,
            plan: BudgetPlan::default(),
            out,
            published,
            health,
            recorded: BTreeMap::new(),
            noted: BTreeSet::new(),
            open: BTreeMap::new(),
            shut: BTreeSet::new(),
            tally: WriteVolumes::default(),
            waiting_bytes: 0,
        }
    }

    /// Takes the steps that are due before an entry is written; their notes come before it.
    pub(crate) fn before(&mut self, entry: &QueueEntry) -> Vec<QueueEntry> {
        let at = entry.stamp();
        let mut notes = Vec::new();
        // One commit can cross several thresholds. Each step has a note of its own, so that readers
        // see when each resource ended.
        while let Some(step) = self.plan.due(&self.usage) {
            self.take(step, at, &mut notes);
        }
        while let Some(id) = self.memory.due(|id| self.recorded.contains_key(&id)) {
            self.leave_largest(id, at, &mut notes);
        }
        let bytes = len64(entry.bytes());
        if plan::is_too_large(&self.usage, bytes) {
            self.refuse(entry, bytes, at, &mut notes);
        }
        notes
    }

    /// The file refused to grow: takes all steps up to the one after which no object is written, or
    /// if that was taken, up to the last.
    pub(crate) fn refused(&mut self, at: Stamp) -> Vec<QueueEntry> {
        let wanted = if self.out.is_everything() {
            BudgetStep::End
        } else {
            BudgetStep::Notes
        };
        // The events that these versions would prove are not in the file.
        self.open
            .values_mut()
            .for_each(|open| open.last_version.clear());
        let mut notes = Vec::new();
        for step in self.plan.skip_to(wanted) {
            self.take(step, at, &mut notes);
        }
        notes
    }

    /// Decides whether an entry is written.
    pub(crate) fn admit(&mut self, entry: &QueueEntry) -> Admission {
        let is_in = match about(entry) {
            EntryTopic::Announced(info) => return self.announce(info, entry.stamp()),
            EntryTopic::NotCovered(group, plural) => {
                let name = (group.to_owned(), plural.to_owned());
                self.recorded.retain(|_, info| name_of(info) != name);
                !self.out.holds(group, plural) || self.noted.insert(name)
            }
            EntryTopic::Opened(connection, resource) => {
                // The streams of a resource end some time after it was left out: connections that
                // open meanwhile are not noted, and neither is their end.
                let is_in = self.recorded.contains_key(&resource);
                if is_in {
                    let last_version = String::new();
                    let open = OpenConnection {
                        resource,
                        last_version,
                    };
                    self.open.insert(connection, open);
                } else {
                    self.shut.insert(connection);
                }
                is_in
            }
            EntryTopic::Closed(connection) => {
                self.open.remove(&connection);
                // `leave_out` has closed this connection in the reel already.
                !self.shut.remove(&connection) && !self.out.is_everything()
            }
            EntryTopic::Resource(resource, reached) => {
                if let Some((connection, version)) = reached {
                    self.reach(connection, version);
                }
                self.recorded.contains_key(&resource)
            }
            EntryTopic::Connection(connection, reached) => {
                if let Some(version) = reached {
                    self.reach(connection, version);
                }
                self.open.contains_key(&connection)
            }
            EntryTopic::Recording(weight) => match weight {
                NoteWeight::End => true,
                NoteWeight::Recorder => !self.out.is_only_the_end(),
                NoteWeight::Detail => !self.out.is_everything(),
            },
        };
        let is_end = matches!(about(entry), EntryTopic::Recording(NoteWeight::End));
        if is_in && (is_end || !self.out.is_only_the_end()) {
            Admission::Pass
        } else {
            Admission::Drop
        }
    }

    fn reach(&mut self, connection: ConnectionId, version: &str) {
        if let Some(open) = self.open.get_mut(&connection) {
            open.last_version.clear();
            open.last_version.push_str(version);
        }
    }

    fn announce(&mut self, info: &ResourceInfo, at: Stamp) -> Admission {
        if !self.out.holds(&info.group, &info.plural) {
            self.recorded.insert(info.id, info.clone());
            return Admission::Pass;
        }
        if self.out.is_only_the_end() || !self.noted.insert(name_of(info)) {
            return Admission::Drop;
        }
        let reason = self.out.reason(&info.group, &info.plural);
        let measure = match reason {
            NotCoveredReason::MemoryBudget => self.memory_measure(),
            _ => self.measure(),
        };
        let note = not_covered(info, reason, measure);
        self.publish();
        Admission::Instead(Box::new(QueueEntry::Note { stamp: at, note }))
    }

    /// An entry was appended and added `bytes` bytes.
    pub(crate) fn appended(&mut self, entry: &QueueEntry, bytes: u64) {
        self.waiting_bytes = self.waiting_bytes.saturating_add(bytes);
        if let QueueEntry::Event(event) = entry
            && let Some(info) = self.recorded.get(&event.resource)
        {
            self.tally.add(&name_of(info), bytes);
        }
    }

    /// Returns whether a commit must come before the next entry.
    pub(crate) fn is_commit_due(&self) -> bool {
        self.waiting_bytes >= plan::waiting_bytes(&self.usage)
    }

    /// Everything appended is durable; takes the fill level of the file and the memory of objects.
    pub(crate) fn committed(&mut self, usage: Usage, memory: &[ObjectMemory]) {
        self.memory.set(memory);
        self.usage = usage;
        self.health.set_used_percent(plan::used_percent(&usage));
        // The measured fill level includes everything that waited.
        self.waiting_bytes = 0;
    }

    /// Returns resources whose objects the appender must forget: no entry of them is admitted any
    /// more.
    pub(crate) fn take_forgotten(&mut self) -> BTreeSet<ResourceId> {
        std::mem::take(&mut self.to_forget)
    }

    /// The appender started anew and knows all objects again.
    pub(crate) fn forget_again(&mut self) {
        self.to_forget.clone_from(&self.ended);
    }

    /// Leaves out the resource whose objects use most memory.
    fn leave_largest(&mut self, id: ResourceId, at: Stamp, notes: &mut Vec<QueueEntry>) {
        let Some(info) = self.recorded.get(&id) else {
            return;
        };
        self.out.add_for_memory(name_of(info));
        let measure = self.memory_measure();
        let gone = self.leave_out(&measure, at, notes).join(", ");
        let text = format!("memory budget: no longer recorded: {gone} ({measure})");
        self.report(text, at, notes);
    }

    fn take(&mut self, step: BudgetStep, at: Stamp, notes: &mut Vec<QueueEntry>) {
        let before = notes.len();
        if step == BudgetStep::Largest {
            let Some((name, _)) = self.tally.take_largest() else {
                return;
            };
            self.out.add(name);
        } else {
            self.out.take(step);
        }
        let measure = self.measure();
        let gone = self.leave_out(&measure, at, notes);
        let words = match step {
            BudgetStep::AllButTruth => {
                "only ClusterVersion, ClusterOperators, Nodes and Pods are recorded"
            }
            BudgetStep::Notes => "no object is recorded any more",
            BudgetStep::End => "nothing is written any more but how the recording ends",
            _ if notes.len() == before => return,
            _ => "no longer recorded",
        };
        let whom = if gone.is_empty() { "" } else { ": " };
        let gone = gone.join(", ");
        let text = format!("size budget: {words}{whom}{gone} ({measure})");
        self.report(text, at, notes);
    }

    /// Reports a decision in the log, on the status page and in the reel.
    fn report(&self, text: String, at: Stamp, notes: &mut Vec<QueueEntry>) {
        tracing::warn!("{text}");
        self.health.set_budget(&text);
        notes.push(QueueEntry::Note {
            stamp: at,
            note: Note::Mark { text },
        });
        self.publish();
    }

    /// Leaves out the resource of an object that is too large for the free room.
    fn refuse(&mut self, entry: &QueueEntry, bytes: u64, at: Stamp, notes: &mut Vec<QueueEntry>) {
        let resource = match about(entry) {
            EntryTopic::Resource(resource, _) => Some(resource),
            EntryTopic::Connection(connection, _) => {
                self.open.get(&connection).map(|open| open.resource)
            }
            _ => None,
        };
        let Some(info) = resource.and_then(|resource| self.recorded.get(&resource)) else {
            return;
        };
        let name = name_of(info);
        self.tally.forget(&name);
        self.out.add(name);
        let measure = format!("an object of {} came, {}", megabytes(bytes), self.measure());
        let gone = self.leave_out(&measure, at, notes);
        let gone = gone.join(", ");
        let text = format!("size budget: no longer recorded: {gone} ({measure})");
        self.report(text, at, notes);
    }

    /// Ends in the reel what is left out and not ended yet.
    fn leave_out(&mut self, measure: &str, at: Stamp, notes: &mut Vec<QueueEntry>) -> Vec<String> {
        let out = &self.out;
        let leaves = |info: &ResourceInfo| out.holds(&info.group, &info.plural);
        let leaving: Vec<ResourceInfo> = self
            .recorded
            .extract_if(.., |_, info| leaves(info))
            .map(|(_, info)| info)
            .collect();
        for info in &leaving {
            let reason = self.out.reason(&info.group, &info.plural);
            let closing = self.open.extract_if(.., |_, open| open.resource == info.id);
            for (connection, open) in closing {
                self.shut.insert(connection);
                notes.push(QueueEntry::Note {
                    stamp: at,
                    note: Note::Disconnected {
                        connection,
                        cause: EndCause::Stopped,
                        // The version up to which this connection's events are in the reel: readers
                        // know the resource up to there.
                        last_rv: Some(open.last_version).filter(|version| !version.is_empty()),
                        detail: reason.as_str().to_owned(),
                    },
                });
            }
            self.ended.insert(info.id);
            self.to_forget.insert(info.id);
            self.noted.insert(name_of(info));
            // It must not be chosen as the largest resource again.
            self.tally.forget(&name_of(info));
            notes.push(QueueEntry::Note {
                stamp: at,
                note: not_covered(info, reason, measure.to_owned()),
            });
        }
        leaving.iter().map(ResourceInfo::qualified).collect()
    }

    fn measure(&self) -> String {
        let used = megabytes(self.usage.used_bytes);
        let file = megabytes(self.usage.file_bytes);
        let max = megabytes(self.max_bytes);
        format!("{used} used of a file of {file} that may have {max}")
    }

    fn memory_measure(&self) -> String {
        let used = megabytes(self.memory.used_bytes());
        let max = self.memory.max_bytes();
        let max = max.map_or_else(|| "any amount".to_owned(), megabytes);
        format!("the objects that are left take {used} of memory, and may take {max}")
    }

    fn publish(&self) {
        let out = &self.out;
        self.published.send_if_modified(|published| {
            let is_new = published != out;
            published.clone_from(out);
            is_new
        });
    }
}

fn name_of(info: &ResourceInfo) -> GroupResource {
    (info.group.clone(), info.plural.clone())
}

/// Formats a size.
fn megabytes(bytes: u64) -> String {
    let tenths = bytes / 100_000;
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

/// The decision about an entry.
#[derive(Debug)]
pub(crate) enum Admission {
    /// It is written.
    Pass,
    /// It is dropped: its subject is left out, and the reel has a note of that.
    Drop,
    /// These entries are written instead.
    Instead(Box<QueueEntry>),
}

/// The subject of an entry.
#[derive(Debug)]
enum EntryTopic<'a> {
    /// A resource begins, or its description changes.
    Announced(&'a ResourceInfo),
    /// A resource is noted as not covered.
    NotCovered(&'a str, &'a str),
    /// A connection begins.
    Opened(ConnectionId, ResourceId),
    /// A connection ends.
    Closed(ConnectionId),
    /// A resource, perhaps with the version that it reached on a connection.
    Resource(ResourceId, Option<(ConnectionId, &'a str)>),
    /// A connection, perhaps with the version that it reached.
    Connection(ConnectionId, Option<&'a str>),
    /// The recording itself.
    Recording(NoteWeight),
}

/// How long notes of the recorder itself are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoteWeight {
    /// To the very end.
    End,
    /// As long as anything is written.
    Recorder,
    /// As long as objects are written.
    Detail,
}

/// Returns the subject of an entry.
fn about(entry: &QueueEntry) -> EntryTopic<'_> {
    match entry {
        QueueEntry::Event(event) => {
            let version = Some(&*event.version).filter(|version| !version.is_empty());
            let reached = version.map(|version| (event.connection, version));
            EntryTopic::Resource(event.resource, reached)
        }
        QueueEntry::Blob { note, .. } => match note {
            BlobNote::OddLine { connection, .. } => EntryTopic::Connection(*connection, None),
            BlobNote::Document { .. } => EntryTopic::Recording(NoteWeight::Detail),
        },
        QueueEntry::Note { note, .. } => about_note(note),
    }
}

fn about_note(note: &Note) -> EntryTopic<'_> {
    match note {
        Note::Resource(info) => EntryTopic::Announced(info),
        Note::NotCovered { group, plural, .. } => EntryTopic::NotCovered(group, plural),
        Note::Connected {
            connection,
            resource,
            ..
        } => EntryTopic::Opened(*connection, *resource),
        Note::Disconnected { connection, .. } => EntryTopic::Closed(*connection),
        Note::Synced {
            resource,
            connection,
            rv,
            ..
        } => EntryTopic::Resource(*resource, Some((*connection, rv))),
        Note::Gap(gap) => EntryTopic::Resource(gap.resource, None),
        Note::Bookmark { connection, rv } => EntryTopic::Connection(*connection, Some(rv)),
        Note::OddLine { connection, .. } | Note::Anomaly { connection, .. } => {
            EntryTopic::Connection(*connection, None)
        }
        Note::SessionStarted { .. } | Note::SessionEnded { .. } | Note::Provenance { .. } => {
            EntryTopic::Recording(NoteWeight::End)
        }
        Note::Lifecycle(_)
        | Note::Cluster { .. }
        | Note::ClockStepped { .. }
        | Note::Mark { .. }
        | Note::OutageBegan { .. }
        | Note::OutageEnded { .. }
        | Note::GapJudged { .. }
        | Note::Unreadable { .. }
        | Note::Label { .. } => EntryTopic::Recording(NoteWeight::Recorder),
        Note::Document { .. } | Note::Probed { .. } | Note::Sampled { .. } => {
            EntryTopic::Recording(NoteWeight::Detail)
        }
    }
}

/// What is no longer recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Exclusions {
    /// Left out by name.
    names: BTreeSet<GroupResource>,
    /// The ones whose objects used too much memory.
    for_memory: BTreeSet<GroupResource>,
    /// The last step that was taken; it implies those before it.
    reached: Option<BudgetStep>,
}

const CONFIG: &str = "config.openshift.io";

/// Returns whether a resource describes the cluster as a whole.
fn is_truth(group: &str, plural: &str) -> bool {
    matches!(
        (group, plural),
        ("", "pods" | "nodes") | (CONFIG, "clusteroperators" | "clusterversions")
    )
}

/// Returns the step that leaves a resource out at the latest.
fn last_step(group: &str, plural: &str) -> BudgetStep {
    match (group, plural) {
        ("coordination.k8s.io", "leases") => BudgetStep::Leases,
        ("" | "events.k8s.io", "events") => BudgetStep::Events,
        ("", "pods") => BudgetStep::Pods,
        ("", "nodes") => BudgetStep::Nodes,
        (CONFIG, "clusteroperators") => BudgetStep::Operators,
        (CONFIG, "clusterversions") => BudgetStep::Version,
        _ => BudgetStep::AllButTruth,
    }
}

impl Exclusions {
    /// Returns whether a resource is left out.
    pub(crate) fn holds(&self, group: &str, plural: &str) -> bool {
        self.reached >= Some(last_step(group, plural))
            || self.names.contains(&(group.to_owned(), plural.to_owned()))
    }

    /// Returns whether objects are no longer recorded.
    pub(crate) fn is_everything(&self) -> bool {
        self.reached >= Some(BudgetStep::Notes)
    }

    /// Returns whether nothing but the end of the recording is written.
    fn is_only_the_end(&self) -> bool {
        self.reached >= Some(BudgetStep::End)
    }

    /// Leaves out one more resource.
    fn add(&mut self, name: GroupResource) {
        self.names.insert(name);
    }

    /// Leaves out one more resource, for the memory of its objects.
    fn add_for_memory(&mut self, name: GroupResource) {
        self.for_memory.insert(name.clone());
        self.add(name);
    }

    /// Returns why a resource is left out.
    pub(crate) fn reason(&self, group: &str, plural: &str) -> NotCoveredReason {
        let name = (group.to_owned(), plural.to_owned());
        if self.for_memory.contains(&name) {
            NotCoveredReason::MemoryBudget
        } else {
            NotCoveredReason::SizeBudget
        }
    }

    /// Leaves out the resources of a step; [`BudgetStep::Largest`] needs a name.
    pub(super) fn take(&mut self, step: BudgetStep) {
        self.reached = self.reached.max(Some(step));
    }
}

/// The bytes that each resource added to the reel; older bytes count less.
#[derive(Debug, Default)]
struct WriteVolumes {
    bytes: BTreeMap<GroupResource, u64>,
}

impl WriteVolumes {
    /// A resource added `bytes` bytes.
    fn add(&mut self, name: &GroupResource, bytes: u64) {
        match self.bytes.get_mut(name) {
            Some(sum) => *sum = sum.saturating_add(bytes),
            None => drop(self.bytes.insert(name.clone(), bytes)),
        }
    }

    /// Takes out the resource that added most, except cluster-level resources, and halves the
    /// others: recent growth counts more than an early burst.
    fn take_largest(&mut self) -> Option<(GroupResource, u64)> {
        let rivals = self.bytes.iter();
        let rivals = rivals.filter(|((group, plural), _)| !is_truth(group, plural));
        // Of equal resources the first by name, so that runs are reproducible.
        let name = rivals
            .max_by(|(a, x), (b, y)| x.cmp(y).then(b.cmp(a)))
            .map(|(name, _)| name.clone())?;
        let bytes = self.bytes.remove(&name)?;
        self.bytes.values_mut().for_each(|bytes| *bytes /= 2);
        Some((name, bytes))
    }

    fn forget(&mut self, name: &GroupResource) {
        self.bytes.remove(name);
    }
}
