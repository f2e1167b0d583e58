//! Owns the chain of each resource: where its complete states begin, how far they are proven, where
//! the chain breaks. Refuses trust in silence: what no event or bookmark proves is not covered.

use super::judged::Judged;
use super::lost::LostChange;
use crate::select::Excluded;
use crate::session::Session;
use kubereel_format::{
    ConnectionId, CoveredSpan, EndCause, EpochId, Gap, GapId, ListMethod, Note, NoteEntry,
    ObjectId, OddLineProblem, RecordedAt, Reel, ResourceId, Seq,
};
use std::collections::{BTreeMap, BTreeSet};

/// What is covered of one resource.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    pub(super) spans: Vec<CoveredFrom>,
    pub(super) holes: Vec<Hole>,
    pub(super) reconstructed: Vec<Hole>,
    pub(super) proven: Vec<Hole>,
    pub(super) blind: Vec<Blind>,
    pub(super) excluded: Vec<Excluded>,
    pub(super) imported: Option<ImportedFrom>,
    pub(super) unread: Vec<Unread>,
    pub(super) lost: Vec<LostChange>,
    announced: Vec<Seq>,
}

/// A span in which every change is in the reel, and the records that bound it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveredFrom {
    /// The record that completed the list at its begin.
    pub begun_by: Seq,
    /// The last record that proves it: an event, a bookmark or a list.
    pub proven_by: Seq,
    /// Its bounds.
    pub covered: CoveredSpan,
}

/// Where another tool's recording begins to speak of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportedFrom {
    /// The record before its first event.
    pub begun_by: Seq,
    /// When its first event was received.
    pub since: RecordedAt,
    /// The lowest resourceVersion with which an object of it appears, if any has a number.
    pub first_rv: Option<u128>,
}

/// A gap and the record after which the state is known again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hole {
    /// The gap.
    pub gap: Gap,
    /// The record that completed the list after it.
    pub closed_by: Seq,
    /// What the server's own history told of it, if it was asked.
    pub judged: Option<Judged>,
    /// How many revisions lie in it at which nothing was recorded, of any resource; `None` if the
    /// revisions say nothing of this one.
    pub unexplained: Option<u64>,
}

/// A line of a watch that is kept, and is no event: a change of its object is not in the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread {
    /// When it came.
    pub from: RecordedAt,
    /// When a complete list told the state again; `None` if none did.
    pub to: Option<RecordedAt>,
    /// Why it is no event.
    pub problem: OddLineProblem,
}

/// A time in which no watch of a resource ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blind {
    /// When the last one ended.
    pub from: RecordedAt,
    /// When the next one began; `None` if none did.
    pub to: Option<RecordedAt>,
}

impl Coverage {
    /// Gives the spans in which every change is in the reel, in order.
    pub fn spans(&self) -> &[CoveredFrom] {
        &self.spans
    }

    /// Gives the lines that are kept and are no events, in order.
    pub fn unread(&self) -> &[Unread] {
        &self.unread
    }

    /// Gives the gaps in which changes may be missing, in order.
    pub fn holes(&self) -> &[Hole] {
        &self.holes
    }

    /// Gives the gaps of which every change was read back from the server's history, in order: nothing
    /// is missing in them, but what happened was received after their end.
    pub fn reconstructed(&self) -> &[Hole] {
        &self.reconstructed
    }

    /// Gives the times in which no watch ran, in order.
    pub fn blind(&self) -> &[Blind] {
        &self.blind
    }

    /// Tells whether, and since when, the resource is known from another tool's recording.
    pub const fn imported(&self) -> Option<&ImportedFrom> {
        self.imported.as_ref()
    }

    /// Gives the records that ended the recording of the resource.
    pub fn excluded(&self) -> &[Excluded] {
        &self.excluded
    }

    /// Tells whether the resource is covered without a gap from its first list to its last moment.
    pub const fn is_whole(&self) -> bool {
        self.spans.len() == 1 && self.holes.is_empty()
    }

    /// Gives the record that announced the resource first.
    pub(super) fn first_announced(&self) -> Option<Seq> {
        self.announced.first().copied()
    }

    pub(super) fn is_announced_between(&self, from: Seq, to: Seq) -> bool {
        self.announced.iter().any(|&seq| from < seq && seq < to)
    }

    /// Reads the chains of all resources from the notes and from each resource's events.
    pub(crate) fn of_all(
        reel: &Reel,
        objects: &BTreeMap<ResourceId, Vec<ObjectId>>,
        sessions: &[Session],
    ) -> BTreeMap<ResourceId, Self> {
        let mut chains = Chains::default();
        for entry in reel.notes() {
            chains.take(entry, reel, objects, sessions);
        }
        let resources: Vec<ResourceId> = chains.coverage.keys().copied().collect();
        for resource in resources {
            chains.close(resource, reel.end(), reel, objects);
        }
        let wall_of = |seq: Seq| reel.stamp(seq).map(|stamp| stamp.wall);
        for coverage in chains.coverage.values_mut() {
            coverage.join_reconstructed(|hole| wall_of(hole.closed_by).unwrap_or_default());
        }
        for (resource, from) in chains.dark {
            // What ends with the session is no blindness within it.
            if let Some(coverage) = chains.coverage.get_mut(&resource) {
                coverage.blind.push(Blind { from, to: None });
            }
        }
        for (resource, coverage) in &mut chains.coverage {
            let objects = objects.get(resource).map_or(&[][..], Vec::as_slice);
            coverage.find_lost(reel, objects);
        }
        chains.coverage
    }
}

/// The chains while the notes are read.
#[derive(Default)]
struct Chains {
    coverage: BTreeMap<ResourceId, Coverage>,
    names: BTreeMap<(String, String), ResourceId>,
    /// Which resource a connection is for, and which connections are open.
    connections: BTreeMap<ConnectionId, ResourceId>,
    open: BTreeMap<ResourceId, BTreeSet<ConnectionId>>,
    /// Since when no connection of a resource is open.
    dark: BTreeMap<ResourceId, RecordedAt>,
    /// The spans that go on.
    spans: BTreeMap<ResourceId, CoveredFrom>,
    last_session: Option<usize>,
    epoch: Option<EpochId>,
    /// Of which resource a gap is.
    gaps: BTreeMap<GapId, ResourceId>,
}

impl Chains {
    fn take(
        &mut self,
        entry: &NoteEntry,
        reel: &Reel,
        objects: &BTreeMap<ResourceId, Vec<ObjectId>>,
        sessions: &[Session],
    ) {
        let (seq, wall) = (entry.seq, entry.stamp.wall);
        match &entry.note {
            Note::SessionStarted { .. } => self.start_session(sessions),
            Note::Resource(info) => {
                let name = (info.group.clone(), info.plural.clone());
                self.names.insert(name, info.id);
                let coverage = self.coverage.entry(info.id).or_default();
                coverage.announced.push(seq);
            }
            Note::NotCovered {
                group,
                version,
                plural,
                reason,
                detail,
            } => {
                let name = (group.clone(), plural.clone());
                let Some(&resource) = self.names.get(&name) else {
                    return;
                };
                self.close(resource, seq, reel, objects);
                self.dark.remove(&resource);
                let coverage = self.coverage.entry(resource).or_default();
                coverage.excluded.push(Excluded {
                    since: seq,
                    group: group.clone(),
                    version: version.clone(),
                    plural: plural.clone(),
                    reason: *reason,
                    detail: detail.clone(),
                });
            }
            Note::Connected {
                resource,
                method: ListMethod::Import,
                ..
            } => {
                let first_rv = lowest_rv(reel, objects.get(resource));
                let coverage = self.coverage.entry(*resource).or_default();
                coverage.imported.get_or_insert(ImportedFrom {
                    begun_by: seq,
                    since: wall,
                    first_rv,
                });
            }
            // It watches nothing.
            Note::Connected {
                method: ListMethod::Exact,
                ..
            } => {}
            Note::Connected {
                connection,
                resource,
                ..
            } => self.connect(*connection, *resource, wall),
            Note::Disconnected {
                connection, cause, ..
            } => self.disconnect(*connection, *cause, wall),
            Note::Synced { resource, rv, .. } => self.sync(*resource, rv, seq, wall),
            Note::Bookmark { connection, rv } => {
                if let Some(span) = self
                    .connections
                    .get(connection)
                    .and_then(|resource| self.spans.get_mut(resource))
                {
                    prove(span, rv, seq, wall);
                }
            }
            Note::OddLine {
                connection,
                problem: problem @ (OddLineProblem::TooLong | OddLineProblem::UnknownType),
                ..
            } => self.leave_unread(*connection, *problem, wall),
            Note::Cluster { epoch, .. } => self.cluster(*epoch, seq, reel, objects),
            Note::Gap(gap) => self.gap(gap, seq),
            Note::GapJudged { gap, .. } => self.judge(*gap, &entry.note),
            _ => {}
        }
    }

    /// Where another history begins, what is equal in both, such as a version, proves nothing across.
    fn cluster(
        &mut self,
        epoch: EpochId,
        at: Seq,
        reel: &Reel,
        objects: &BTreeMap<ResourceId, Vec<ObjectId>>,
    ) {
        if self.epoch.replace(epoch).is_none_or(|last| last == epoch) {
            return;
        }
        let resources: Vec<ResourceId> = self.spans.keys().copied().collect();
        for resource in resources {
            self.close(resource, at, reel, objects);
        }
    }

    /// A killed session left its connections open.
    fn start_session(&mut self, sessions: &[Session]) {
        let ended = self.last_session.and_then(|at| sessions.get(at));
        self.last_session = Some(self.last_session.map_or(0, |at| at + 1));
        let Some(ended) = ended else {
            return;
        };
        for (resource, open) in std::mem::take(&mut self.open) {
            if !open.is_empty() {
                self.dark.entry(resource).or_insert(ended.to);
            }
        }
        self.connections.clear();
        // Connections that ended because the recorder stopped count as open until it had stopped.
        let resources: Vec<ResourceId> = self.spans.keys().copied().collect();
        for resource in resources {
            self.dark.entry(resource).or_insert(ended.to);
        }
    }

    fn connect(&mut self, connection: ConnectionId, resource: ResourceId, wall: RecordedAt) {
        self.connections.insert(connection, resource);
        self.open.entry(resource).or_default().insert(connection);
        let Some(from) = self.dark.remove(&resource) else {
            return;
        };
        if let Some(coverage) = self.coverage.get_mut(&resource) {
            coverage.blind.push(Blind {
                from,
                to: Some(wall),
            });
        }
    }

    fn disconnect(&mut self, connection: ConnectionId, cause: EndCause, wall: RecordedAt) {
        let Some(&resource) = self.connections.get(&connection) else {
            return;
        };
        let open = self.open.entry(resource).or_default();
        open.remove(&connection);
        let is_synced = self.spans.contains_key(&resource);
        if open.is_empty() && is_synced && cause != EndCause::Stopped {
            self.dark.insert(resource, wall);
        }
    }

    /// A watch went on behind a line that nobody understood: asking again would not have helped.
    fn leave_unread(&mut self, by: ConnectionId, problem: OddLineProblem, from: RecordedAt) {
        let resource = self.connections.get(&by);
        if let Some(coverage) = resource.and_then(|resource| self.coverage.get_mut(resource)) {
            let to = None;
            coverage.unread.push(Unread { from, to, problem });
        }
    }

    fn sync(&mut self, resource: ResourceId, rv: &str, seq: Seq, wall: RecordedAt) {
        let coverage = self.coverage.entry(resource).or_default();
        for unread in &mut coverage.unread {
            unread.to.get_or_insert(wall);
        }
        if let Some(hole) = coverage.holes.last_mut()
            && hole.gap.to_rv == rv
        {
            hole.closed_by = hole.closed_by.max(seq);
        }
        if let Some(span) = self.spans.get_mut(&resource) {
            prove(span, rv, seq, wall);
            return;
        }
        let begun = CoveredFrom {
            begun_by: seq,
            proven_by: seq,
            covered: CoveredSpan {
                from_rv: rv.to_owned(),
                to_rv: rv.to_owned(),
                from_time: wall,
                to_time: wall,
            },
        };
        self.spans.insert(resource, begun);
    }

    fn judge(&mut self, gap: GapId, note: &Note) {
        let resource = self.gaps.get(&gap);
        let coverage = resource.and_then(|resource| self.coverage.get_mut(resource));
        if let (Some(coverage), Some(judged)) = (coverage, Judged::of(note)) {
            coverage.judge(gap, judged);
        }
    }

    /// Ends the span before a gap. The list that ended the gap may have been noted before or after.
    fn gap(&mut self, gap: &Gap, seq: Seq) {
        self.gaps.insert(gap.id, gap.resource);
        let coverage = self.coverage.entry(gap.resource).or_default();
        coverage.holes.push(Hole {
            gap: gap.clone(),
            closed_by: seq,
            judged: None,
            unexplained: None,
        });
        let Some(mut span) = self.spans.remove(&gap.resource) else {
            return;
        };
        let is_synced = span.covered.to_rv == gap.to_rv;
        let synced_by = span.proven_by;
        if span.covered.from_rv == gap.to_rv {
            // The list began this span: the gap lies before it.
            self.spans.insert(gap.resource, span);
            return;
        }
        if let Some(from_rv) = &gap.from_rv {
            span.covered.to_rv.clone_from(from_rv);
        }
        span.covered.to_time = gap.from_time.max(span.covered.from_time);
        span.proven_by = span.proven_by.min(seq);
        coverage.spans.push(span);
        if is_synced {
            self.sync(gap.resource, &gap.to_rv, synced_by, gap.to_time);
        }
    }

    /// Ends a resource's span at a record, proven by the last event before it.
    fn close(
        &mut self,
        resource: ResourceId,
        at: Seq,
        reel: &Reel,
        objects: &BTreeMap<ResourceId, Vec<ObjectId>>,
    ) {
        let Some(mut span) = self.spans.remove(&resource) else {
            return;
        };
        let last_event = objects
            .get(&resource)
            .into_iter()
            .flatten()
            .filter_map(|&object| {
                let versions = reel.versions(object);
                let below = versions.partition_point(|&seq| seq < at);
                below.checked_sub(1).and_then(|last| versions.get(last))
            })
            .max();
        if let Some(&seq) = last_event
            && seq > span.proven_by
            && let (Some(rv), Some(stamp)) = (reel.rv_of(seq), reel.stamp(seq))
        {
            prove(&mut span, &rv.to_string(), seq, stamp.wall);
        }
        let coverage = self.coverage.entry(resource).or_default();
        coverage.spans.push(span);
    }
}

/// Finds the lowest resourceVersion with which any of the objects appears.
fn lowest_rv(reel: &Reel, objects: Option<&Vec<ObjectId>>) -> Option<u128> {
    let firsts = objects.into_iter().flatten();
    firsts
        .filter_map(|&object| reel.rv_of(*reel.versions(object).first()?))
        .min()
}

/// Moves a span's end forward; a lower resourceVersion does not move it back.
fn prove(span: &mut CoveredFrom, rv: &str, seq: Seq, wall: RecordedAt) {
    span.proven_by = span.proven_by.max(seq);
    span.covered.to_time = span.covered.to_time.max(wall);
    let number = |text: &str| text.parse::<u128>().ok();
    if number(rv) >= number(&span.covered.to_rv) {
        rv.clone_into(&mut span.covered.to_rv);
    }
}
