//! Owns the chain of each resource: where its complete states begin, how far they are proven, where
//! the chain breaks. Refuses trust in silence: what no event or bookmark proves is not covered.

use super::judged::Judged;
use super::lost::LostChange;
use super::unparsed::{AskedAgain, UnparsedSpan};
use crate::select::Excluded;
use crate::session::Session;
use kubereel_format::{
    ConnectionId, CoveredSpan, EndCause, EpochId, Gap, GapId, ListMethod, NotCoveredReason, Note,
    NoteEntry, ObjectId, OddLineProblem, RecordedAt, Reel, ResourceId, Seq,
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
    pub(super) unparsed: Vec<UnparsedSpan>,
    pub(super) lost: Vec<LostChange>,
    announced: Vec<Seq>,
    /// The server refused to go on with the watch that is the last one, so that its end is not only
    /// that of the recording.
    pub(super) is_refused: bool,
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

/// A time in which no watch of a resource ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blind {
    /// When the last one ended.
    pub from: RecordedAt,
    /// When the next one began, or when the recording of the resource ended; `None` if nothing came.
    pub to: Option<RecordedAt>,
    /// Whether its end showed what had happened: the next watch continued at the position of the last one,
    /// or the resource was gone.
    pub is_resumed: bool,
}

impl Coverage {
    /// Gives the spans in which every change is in the reel, in order.
    pub fn spans(&self) -> &[CoveredFrom] {
        &self.spans
    }

    /// Gives the times that unparsed lines leave unobserved, in order.
    pub fn unparsed(&self) -> &[UnparsedSpan] {
        &self.unparsed
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

    /// Gives the record that announced the resource first.
    pub(super) fn first_announced(&self) -> Option<Seq> {
        self.announced.first().copied()
    }

    /// Gives the first record after another that announced the resource.
    pub(super) fn announced_after(&self, from: Seq) -> Option<Seq> {
        self.announced.iter().copied().find(|&seq| from < seq)
    }

    /// Reads the chains of all resources from the notes and from each resource's events.
    pub(crate) fn of_all(
        reel: &Reel,
        objects: &BTreeMap<ResourceId, Vec<ObjectId>>,
        sessions: &[Session],
    ) -> BTreeMap<ResourceId, Self> {
        let mut chains = Chains {
            asked_again: AskedAgain::of(reel.notes()),
            ..Chains::default()
        };
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
        for (resource, Dark { from, is_refused }) in chains.dark {
            // What ends with the session is no blindness within it.
            if let Some(coverage) = chains.coverage.get_mut(&resource) {
                coverage.is_refused = is_refused;
                coverage.blind.push(Blind {
                    from,
                    to: None,
                    is_resumed: false,
                });
            }
        }
        for (resource, coverage) in &mut chains.coverage {
            let objects = objects.get(resource).map_or(&[][..], Vec::as_slice);
            coverage.find_lost(reel, objects);
        }
        chains.coverage
    }
}

/// The begin of a time in which no watch of a resource ran.
#[derive(Clone, Copy, Debug)]
struct Dark {
    from: RecordedAt,
    /// The server did not let the watch go on, or the recorder did not trust it.
    is_refused: bool,
}

/// The chains while the notes are read.
#[derive(Default)]
struct Chains {
    coverage: BTreeMap<ResourceId, Coverage>,
    names: BTreeMap<(String, String), ResourceId>,
    /// Which resource a connection is for, and which connections are open.
    connections: BTreeMap<ConnectionId, ResourceId>,
    open: BTreeMap<ResourceId, BTreeSet<ConnectionId>>,
    /// Since when no connection of a resource goes on from what is known.
    dark: BTreeMap<ResourceId, Dark>,
    /// The spans that go on.
    spans: BTreeMap<ResourceId, CoveredFrom>,
    last_session: Option<usize>,
    epoch: Option<EpochId>,
    /// Of which resource a gap is.
    gaps: BTreeMap<GapId, ResourceId>,
    /// The unparsable lines that were asked for again.
    asked_again: AskedAgain,
}

impl Chains {
    #[expect(clippy::too_many_lines, reason = "one arm a kind of note")]
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
                self.exclude(
                    resource,
                    Excluded {
                        since: seq,
                        group: group.clone(),
                        version: version.clone(),
                        plural: plural.clone(),
                        reason: *reason,
                        detail: detail.clone(),
                    },
                    wall,
                );
            }
            Note::Connected {
                resource,
                method: ListMethod::Import,
                ..
            } => {
                let imported = ImportedFrom {
                    begun_by: seq,
                    since: wall,
                    first_rv: lowest_rv(reel, objects.get(resource)),
                };
                let coverage = self.coverage.entry(*resource).or_default();
                coverage.imported.get_or_insert(imported);
            }
            // It watches nothing.
            Note::Connected {
                method: ListMethod::Exact,
                ..
            } => {}
            Note::Connected {
                connection,
                resource,
                method,
                ..
            } => self.connect(*connection, *resource, *method, wall),
            Note::Disconnected {
                connection, cause, ..
            } => self.disconnect(*connection, *cause, wall),
            Note::Synced {
                resource,
                connection,
                rv,
                ..
            } => {
                self.end_unparsed(*resource, *connection, rv, seq, wall);
                self.sync(*resource, rv, seq, wall);
            }
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
                problem,
                ..
            } if self.asked_again.hides_change(seq, *problem) => {
                self.leave_unparsed(entry, *connection, *problem, reel, objects);
            }
            Note::Cluster { epoch, .. } => self.cluster(*epoch, seq, reel, objects),
            Note::Gap(gap) => self.gap(gap, seq),
            Note::GapJudged { gap, .. } => self.judge(*gap, &entry.note),
            _ => {}
        }
    }

    fn exclude(&mut self, resource: ResourceId, excluded: Excluded, wall: RecordedAt) {
        let dark = self.dark.remove(&resource);
        let coverage = self.coverage.entry(resource).or_default();
        if let Some(Dark { from, .. }) = dark {
            coverage.blind.push(Blind {
                from,
                to: Some(wall),
                // That a resource is gone tells what became of its objects. Any other end may hide changes.
                is_resumed: excluded.reason == NotCoveredReason::Gone,
            });
        }
        coverage.excluded.push(excluded);
    }

    /// A whole list shows the objects whose lines could not be parsed.
    fn end_unparsed(
        &mut self,
        resource: ResourceId,
        connection: ConnectionId,
        rv: &str,
        seq: Seq,
        wall: RecordedAt,
    ) {
        let coverage = self.coverage.entry(resource).or_default();
        for unparsed in &mut coverage.unparsed {
            unparsed.end(connection, rv, seq, wall);
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
        let from = reel.stamp(at).map(|stamp| stamp.wall).unwrap_or_default();
        for resource in resources {
            self.close(resource, at, reel, objects);
            let is_refused = true;
            self.dark
                .entry(resource)
                .or_insert(Dark { from, is_refused });
        }
    }

    /// A killed session left its connections open.
    fn start_session(&mut self, sessions: &[Session]) {
        let ended = self.last_session.and_then(|at| sessions.get(at));
        self.last_session = Some(self.last_session.map_or(0, |at| at + 1));
        let Some(ended) = ended else {
            return;
        };
        let stopped = Dark {
            from: ended.to,
            is_refused: false,
        };
        for (resource, open) in std::mem::take(&mut self.open) {
            if !open.is_empty() {
                self.dark.entry(resource).or_insert(stopped);
            }
        }
        self.connections.clear();
        // Connections that ended because the recorder stopped count as open until it had stopped.
        let resources: Vec<ResourceId> = self.spans.keys().copied().collect();
        for resource in resources {
            self.dark.entry(resource).or_insert(stopped);
        }
    }

    fn connect(
        &mut self,
        connection: ConnectionId,
        resource: ResourceId,
        method: ListMethod,
        wall: RecordedAt,
    ) {
        self.connections.insert(connection, resource);
        self.open.entry(resource).or_default().insert(connection);
        // A list goes on from nothing: only when it is complete something is known again.
        if method == ListMethod::Watch {
            self.lighten(resource, wall);
        }
    }

    /// Ends the time in which no watch of a resource ran.
    fn lighten(&mut self, resource: ResourceId, wall: RecordedAt) {
        let Some(Dark { from, .. }) = self.dark.remove(&resource) else {
            return;
        };
        if let Some(coverage) = self.coverage.get_mut(&resource) {
            coverage.blind.push(Blind {
                from,
                to: Some(wall),
                is_resumed: true,
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
            let is_refused = !matches!(cause, EndCause::Clean | EndCause::Cut | EndCause::Idle);
            let dark = self.dark.entry(resource).or_insert(Dark {
                from: wall,
                is_refused,
            });
            dark.is_refused |= is_refused;
        }
    }

    /// A line or an item was kept that nobody could parse, and the recording went on behind it.
    fn leave_unparsed(
        &mut self,
        entry: &NoteEntry,
        by: ConnectionId,
        problem: OddLineProblem,
        reel: &Reel,
        objects: &BTreeMap<ResourceId, Vec<ObjectId>>,
    ) {
        let Some(&resource) = self.connections.get(&by) else {
            return;
        };
        let coverage = self.coverage.entry(resource).or_default();
        if let Some(open) = coverage.unparsed.last_mut().filter(|last| last.is_open()) {
            open.take(by);
            return;
        }
        let proven = self.spans.get(&resource).or_else(|| coverage.spans.last());
        let proven = proven.and_then(|span| span.covered.to_rv.parse::<u128>().ok());
        let last = last_event(reel, objects.get(&resource), entry.seq);
        let received = last.and_then(|seq| reel.rv_of(seq));
        let after_rv = proven.map(|proven| received.map_or(proven, |rv| rv.max(proven)));
        let span = UnparsedSpan::new(entry, by, problem, after_rv);
        coverage.unparsed.push(span);
    }

    fn sync(&mut self, resource: ResourceId, rv: &str, seq: Seq, wall: RecordedAt) {
        self.lighten(resource, wall);
        let coverage = self.coverage.entry(resource).or_default();
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
        if let Some(seq) = last_event(reel, objects.get(&resource), at)
            && seq > span.proven_by
            && let (Some(rv), Some(stamp)) = (reel.rv_of(seq), reel.stamp(seq))
        {
            prove(&mut span, &rv.to_string(), seq, stamp.wall);
        }
        let coverage = self.coverage.entry(resource).or_default();
        coverage.spans.push(span);
    }
}

/// Finds the last event of a resource before a record.
fn last_event(reel: &Reel, objects: Option<&Vec<ObjectId>>, at: Seq) -> Option<Seq> {
    let objects = objects.into_iter().flatten();
    let lasts = objects.filter_map(|&object| {
        let versions = reel.versions(object);
        let below = versions.partition_point(|&seq| seq < at);
        below.checked_sub(1).and_then(|last| versions.get(last))
    });
    lasts.max().copied()
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
