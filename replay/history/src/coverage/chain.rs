//! Derives the observation of each resource from notes and events: where complete states begin, how
//! far they are proven, and what broke the chain. [`super::unobserved`] makes spans of it; no
//! module outside of this folder interprets gaps, ended watches, exclusions, unparsed lines, lost
//! changes, damage or imports.
//!
//! Invariants:
//!
//! * Silence proves nothing: a covered span ends with the last event, bookmark or list of the
//!   resource.
//! * A gap ends the covered span before it, whether it is noted before or after the list that ends
//!   it.
//! * A list does not continue a position: a time without a watch that a list ends lasts until the
//!   list is complete.

use super::gap::{GapJudgement, GapOutcome, RecordedGap};
use super::lost::LostChange;
use super::unobserved::{LATE_MICROS, SHORTEST_BLINDNESS_MICROS, UnobservedSpan};
use super::unparsed::{RetriedLines, UnparsedSpan};
use crate::select::ExcludedResource;
use crate::session::RecordingSession;
use crate::tables::ReelTables;
use kubereel_format::{
    ConnectionId, CoveredSpan, EndCause, EpochId, Evidence, Gap, GapCause, GapId, ListMethod,
    NotCoveredReason, Note, NoteEntry, OddLineProblem, RecordedAt, ResourceId, Seq,
};
use std::collections::{BTreeMap, BTreeSet};

/// The observed and unobserved times of one resource.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// The spans in which every change is in the reel.
    pub(super) covered: Vec<CoveredFrom>,
    pub(super) gaps: Vec<RecordedGap>,
    pub(super) unwatched: Vec<UnwatchedTime>,
    pub(super) excluded: Vec<ExcludedResource>,
    pub(super) imported: Option<ImportedFrom>,
    /// The records that note the source of an import: its begin, and behind each list that had all
    /// objects its moment.
    pub(super) listed: Vec<(Seq, RecordedAt)>,
    /// If only lists of an import show the resource: the last moment at which it is known.
    pub(super) listed_until: Option<RecordedAt>,
    pub(super) unparsed: Vec<UnparsedSpan>,
    pub(super) lost: Vec<LostChange>,
    /// The records that announced the resource.
    pub(super) announced: Vec<Seq>,
    /// The records that completed a list.
    pub(super) synced: Vec<Seq>,
    /// Whether the server refused to continue the last watch: then its end is more than the end of
    /// the recording.
    pub(super) is_refused: bool,
    /// Derived from the fields above; see `unobserved`.
    pub(super) unobserved: Vec<UnobservedSpan>,
    /// Spans that are too short to be distinguished from a late delivery.
    pub(super) brief: Vec<UnobservedSpan>,
    /// Spans whose changes are all known.
    pub(super) read_back: Vec<UnobservedSpan>,
}

/// A span in which every change is in the reel, with the records that bound it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveredFrom {
    /// The record that completed the list at its begin.
    pub begun_by: Seq,
    /// The last record that proves it: an event, a bookmark or a list.
    pub proven_by: Seq,
    /// Its bounds.
    pub covered: CoveredSpan,
}

/// The begin of a resource in another tool's recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportedFrom {
    /// The record before its first event.
    pub begun_by: Seq,
    /// When its first event was received.
    pub since: RecordedAt,
    /// The lowest resourceVersion with which an object of it appears, if any has a number.
    pub first_rv: Option<u128>,
}

/// How much is known of the recorder at the begin of a time without records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecorderEnd {
    /// It ended in order, or it ran on: everything that it had read is in the reel.
    InOrder,
    /// It was killed, at an unknown moment: it ran for a while, and what it read then was not
    /// written.
    Killed,
}

impl RecorderEnd {
    /// Returns how the last record of a session bounds the time in which its recorder ran.
    pub const fn of(session: &RecordingSession) -> Self {
        if session.end.is_some() {
            Self::InOrder
        } else {
            Self::Killed
        }
    }

    /// Returns what is said of a time between two runs of the recorder.
    pub const fn no_recorder(self) -> &'static str {
        match self {
            Self::InOrder => GapCause::RecorderStopped.as_str(),
            Self::Killed => "no recorder ran, or it was killed before it could write",
        }
    }

    /// Returns what is said of a time without a watch.
    pub const fn no_watch(self) -> &'static str {
        match self {
            Self::InOrder => "no watch ran",
            Self::Killed => "no watch ran, or the recorder was killed before it could write",
        }
    }

    /// Returns what is said of the time since the last watch.
    pub(super) const fn no_watch_any_more(self) -> &'static str {
        match self {
            Self::InOrder => "the watch had ended",
            Self::Killed => "the watch had ended, or the recorder was killed before it could write",
        }
    }
}

/// A time without a watch of a resource.
#[derive(Clone, Copy, Debug)]
pub(super) struct UnwatchedTime {
    /// When the last watch ended.
    pub(super) from: RecordedAt,
    /// When the next one began, or when the recording of the resource ended; `None` if neither
    /// happened.
    pub(super) to: Option<RecordedAt>,
    /// Whether its end showed the changes: the next watch continued at the position of the last
    /// one, or the resource was gone.
    pub(super) is_resumed: bool,
    /// Whether the next watch continued at the position of the last one, so that all changes were
    /// delivered. A list shows existing objects only, not those that were created and deleted.
    pub(super) is_continued: bool,
    /// How much is known of the recorder at its begin.
    pub(super) recorder: RecorderEnd,
}

impl UnwatchedTime {
    /// Returns whether the next watch, which ended at a time, delivered all changes: it continued, and stayed open
    /// for as long as they may need. After a brief time, which is not distinguished from a late delivery, that is as
    /// long again.
    pub(super) fn is_bridged(&self, next: RecordedAt) -> bool {
        self.to.is_some_and(|to| {
            let length = to.micros_since(self.from);
            let needed = if length < SHORTEST_BLINDNESS_MICROS {
                length
            } else {
                LATE_MICROS
            };
            self.is_continued && next.micros_since(to) >= needed
        })
    }
}

impl Coverage {
    /// Returns the spans in which every change is in the reel, in order.
    pub fn spans(&self) -> &[CoveredFrom] {
        &self.covered
    }

    /// Returns when another tool's recording of the resource begins, if there is one.
    pub const fn imported(&self) -> Option<&ImportedFrom> {
        self.imported.as_ref()
    }

    /// Returns the moment of the list before a record of an import: what a list shows at that record
    /// changed after this moment.
    pub fn listed_before(&self, seq: Seq, at: RecordedAt) -> Option<RecordedAt> {
        let listed = self.listed.iter().rev();
        let mut before = listed.filter(|(note, moment)| *note < seq && *moment < at);
        before.next().map(|(_, moment)| *moment)
    }

    /// Finds the last moment at which a resource is known that only lists of an import show; `None` if
    /// another source, such as an audit log, may have shown every change.
    fn find_listed_until(&self, tables: &ReelTables, resource: ResourceId) -> Option<RecordedAt> {
        let (_, mut until) = *self.listed.last().filter(|_| self.is_only_imported())?;
        let reel = tables.reel();
        for object in tables.objects_of(resource) {
            for &seq in reel.versions(*object) {
                let at = tables.wall_of(seq);
                // An object of the first list has the evidence of an event, and its list is noted
                // behind it.
                let is_of_first = || {
                    let behind = self.listed.partition_point(|(note, _)| *note < seq);
                    let noted = self.listed.get(behind);
                    noted.is_some_and(|(_, moment)| *moment == at)
                };
                if reel.evidence_of(seq) != Some(Evidence::Listed) && !is_of_first() {
                    return None;
                }
                // Also by a list that did not have all objects.
                until = until.max(at);
            }
        }
        Some(until)
    }

    /// Returns whether only another tool recorded the resource, so that its completeness is not
    /// known.
    pub const fn is_only_imported(&self) -> bool {
        self.covered.is_empty() && self.imported.is_some()
    }

    /// Returns the record with the first known state, and its time.
    pub fn first_known(&self) -> Option<(Seq, RecordedAt)> {
        let listed = self.covered.first();
        let listed = listed.map(|span| (span.begun_by, span.covered.from_time));
        let imported = self.imported.as_ref();
        listed.or_else(|| imported.map(|imported| (imported.begun_by, imported.since)))
    }

    /// Returns the record that completed the list to which another belongs.
    pub(crate) fn list_end(&self, seq: Seq) -> Option<Seq> {
        self.synced.iter().copied().find(|&end| seq < end)
    }

    /// Returns the first record after another that announced the resource.
    pub(super) fn announced_after(&self, from: Seq) -> Option<Seq> {
        self.announced.iter().copied().find(|&seq| from < seq)
    }

    /// Reads the chains of all resources from the notes and from each resource's events.
    pub(super) fn read_all(tables: &ReelTables) -> BTreeMap<ResourceId, Self> {
        let mut chains = Chains::new(tables);
        for entry in tables.reel().notes() {
            chains.take(entry);
        }
        chains.finish()
    }
}

/// The begin of a time without a watch.
#[derive(Clone, Copy, Debug)]
struct UnwatchedSince {
    from: RecordedAt,
    /// The server did not continue the watch, or the recorder did not trust it.
    is_refused: bool,
    recorder: RecorderEnd,
}

/// The chains while the notes are read.
struct Chains<'a> {
    tables: &'a ReelTables,
    coverage: BTreeMap<ResourceId, Coverage>,
    names: BTreeMap<(String, String), ResourceId>,
    /// The resource of each connection, and the open connections.
    connections: BTreeMap<ConnectionId, ResourceId>,
    open: BTreeMap<ResourceId, BTreeSet<ConnectionId>>,
    /// Since when no connection of a resource continues a known position.
    unwatched: BTreeMap<ResourceId, UnwatchedSince>,
    /// The open covered spans.
    covered: BTreeMap<ResourceId, CoveredFrom>,
    /// The resources that the servers refuse, with the covered span before it and its end: a watch may continue there.
    refused: BTreeMap<ResourceId, (CoveredFrom, UnwatchedSince)>,
    last_session: Option<usize>,
    /// The resources without received data since a recorder was killed.
    killed: BTreeSet<ResourceId>,
    epoch: Option<EpochId>,
    /// The resource of each gap.
    gaps: BTreeMap<GapId, ResourceId>,
    retried_lines: RetriedLines,
}

impl<'a> Chains<'a> {
    fn new(tables: &'a ReelTables) -> Self {
        Self {
            tables,
            coverage: BTreeMap::new(),
            names: BTreeMap::new(),
            connections: BTreeMap::new(),
            open: BTreeMap::new(),
            unwatched: BTreeMap::new(),
            covered: BTreeMap::new(),
            refused: BTreeMap::new(),
            last_session: None,
            killed: BTreeSet::new(),
            epoch: None,
            gaps: BTreeMap::new(),
            retried_lines: RetriedLines::of(tables.reel().notes()),
        }
    }

    fn finish(mut self) -> BTreeMap<ResourceId, Coverage> {
        let resources: Vec<ResourceId> = self.coverage.keys().copied().collect();
        for resource in resources {
            // A span never extends to the end by itself: `close` ends it with the last event or
            // bookmark.
            self.close(resource, self.tables.reel().end());
        }
        for (resource, since) in self.unwatched {
            if let Some(coverage) = self.coverage.get_mut(&resource) {
                coverage.is_refused = since.is_refused;
                coverage.unwatched.push(UnwatchedTime {
                    from: since.from,
                    to: None,
                    is_resumed: false,
                    is_continued: false,
                    recorder: since.recorder,
                });
            }
        }
        for (resource, coverage) in &mut self.coverage {
            // Before `find_lost`, which needs the covered spans that surround a gap that was read
            // back.
            coverage.join_gaps(GapOutcome::ReadBack);
            coverage.find_lost(self.tables, *resource);
            coverage.listed_until = coverage.find_listed_until(self.tables, *resource);
        }
        self.coverage
    }

    #[expect(clippy::too_many_lines, reason = "one arm a kind of note")]
    fn take(&mut self, entry: &NoteEntry) {
        let (seq, wall) = (entry.seq, entry.stamp.wall);
        match &entry.note {
            Note::SessionStarted { .. } => self.start_session(),
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
                // A resource that was never announced has no chain: the resource table lists it
                // as not recorded.
                let Some(&resource) = self.names.get(&name) else {
                    return;
                };
                self.refuse(resource, *reason, seq, wall);
                self.exclude(
                    resource,
                    ExcludedResource {
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
                    first_rv: lowest_rv(self.tables, *resource),
                };
                let coverage = self.coverage.entry(*resource).or_default();
                // Only the first import counts: an appended one continues the recording.
                coverage.imported.get_or_insert(imported);
                coverage.listed.push((seq, wall));
            }
            // Such a connection does not watch.
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
                // Before `sync`: the list that begins the next span is the one that shows the
                // unparsed objects again.
                self.end_unparsed(*resource, *connection, rv, seq);
                self.sync(*resource, rv, seq, wall);
            }
            Note::Bookmark { connection, rv } => {
                if let Some(span) = self
                    .connections
                    .get(connection)
                    // Without an open covered span the list has not ended, and a bookmark proves
                    // nothing.
                    .and_then(|resource| self.covered.get_mut(resource))
                {
                    prove(span, rv, seq, wall);
                }
            }
            Note::OddLine {
                connection,
                problem,
                ..
            } if self.retried_lines.hides_change(seq, *problem) => {
                self.leave_unparsed(entry, *connection, *problem);
            }
            Note::Cluster { epoch, .. } => self.cluster(*epoch, seq),
            Note::Gap(gap) => self.gap(gap, seq),
            Note::GapJudged { gap, .. } => self.judge(*gap, &entry.note),
            _ => {}
        }
    }

    /// Ends a resource's span where the servers refuse it, and remembers the span for a watch that continues there.
    fn refuse(
        &mut self,
        resource: ResourceId,
        reason: NotCoveredReason,
        seq: Seq,
        wall: RecordedAt,
    ) {
        let is_covered = self.covered.contains_key(&resource);
        self.close(resource, seq);
        let is_refusal = matches!(
            reason,
            NotCoveredReason::Forbidden | NotCoveredReason::Failing | NotCoveredReason::NoWatch
        );
        if !is_refusal {
            self.refused.remove(&resource);
            return;
        }
        let last = self
            .coverage
            .get(&resource)
            .and_then(|one| one.covered.last());
        if let Some(span) = last.filter(|_| is_covered) {
            let since = self.unwatched.get(&resource).copied();
            let since = since.unwrap_or(UnwatchedSince {
                from: wall,
                is_refused: true,
                recorder: RecorderEnd::InOrder,
            });
            self.refused.insert(resource, (span.clone(), since));
        }
    }

    /// A watch continues behind the last change before the servers refused the resource: every change since then
    /// is delivered.
    fn continue_refused(&mut self, resource: ResourceId, wall: RecordedAt) {
        let Some((span, since)) = self.refused.remove(&resource) else {
            return;
        };
        let Some(coverage) = self.coverage.get_mut(&resource) else {
            return;
        };
        if coverage.covered.last() != Some(&span) || self.covered.contains_key(&resource) {
            return;
        }
        coverage.covered.pop();
        coverage.excluded.retain(|one| one.since < span.proven_by);
        coverage.unwatched.retain(|time| time.from < since.from);
        coverage.unwatched.push(UnwatchedTime {
            from: since.from,
            to: Some(wall),
            is_resumed: true,
            is_continued: true,
            recorder: since.recorder,
        });
        self.covered.insert(resource, span);
    }

    fn exclude(&mut self, resource: ResourceId, excluded: ExcludedResource, wall: RecordedAt) {
        let since = self.unwatched.remove(&resource);
        let coverage = self.coverage.entry(resource).or_default();
        if let Some(since) = since {
            coverage.unwatched.push(UnwatchedTime {
                from: since.from,
                to: Some(wall),
                // That a resource is no longer served also explains what happened to its objects.
                // Any other end may hide changes.
                is_resumed: excluded.reason == NotCoveredReason::Gone,
                is_continued: false,
                recorder: since.recorder,
            });
        }
        coverage.excluded.push(excluded);
    }

    /// A complete list shows the objects whose lines could not be parsed.
    fn end_unparsed(&mut self, resource: ResourceId, connection: ConnectionId, rv: &str, seq: Seq) {
        let coverage = self.coverage.entry(resource).or_default();
        for unparsed in &mut coverage.unparsed {
            unparsed.end(connection, rv, seq);
        }
    }

    /// At the begin of another history, equal versions prove nothing across the border.
    fn cluster(&mut self, epoch: EpochId, at: Seq) {
        // The note is repeated when only the version of the cluster changed.
        if self.epoch.replace(epoch).is_none_or(|last| last == epoch) {
            return;
        }
        let resources: Vec<ResourceId> = self.covered.keys().copied().collect();
        let from = self.tables.wall_of(at);
        self.refused.clear();
        for resource in resources {
            self.close(resource, at);
            self.unwatched.entry(resource).or_insert(UnwatchedSince {
                from,
                is_refused: true,
                recorder: RecorderEnd::InOrder,
            });
        }
    }

    /// The connections of a killed session were never closed.
    fn start_session(&mut self) {
        let sessions = self.tables.sessions();
        let ended = self.last_session.and_then(|at| sessions.get(at));
        let at = self.last_session.map_or(0, |at| at + 1);
        self.last_session = Some(at);
        let (Some(ended), Some(next)) = (ended, sessions.get(at)) else {
            return;
        };
        let stopped = UnwatchedSince {
            from: ended.to,
            is_refused: false,
            recorder: RecorderEnd::of(ended),
        };
        for (resource, open) in std::mem::take(&mut self.open) {
            if !open.is_empty() {
                self.unwatched.entry(resource).or_insert(stopped);
            }
        }
        self.connections.clear();
        // Connections that ended because the recorder stopped count as open until it had stopped.
        let resources: Vec<ResourceId> = self.covered.keys().copied().collect();
        for resource in resources {
            self.unwatched.entry(resource).or_insert(stopped);
        }
        self.leave_unwritten(ended, next);
    }

    /// Notes the resources of which a killed recorder may have received more than it wrote: until
    /// something of them is received again.
    fn leave_unwritten(&mut self, ended: &RecordingSession, next: &RecordingSession) {
        if RecorderEnd::of(ended) == RecorderEnd::Killed {
            let refused = self.refused.values_mut().map(|(_, since)| since);
            for since in self.unwatched.values_mut().chain(refused) {
                since.recorder = RecorderEnd::Killed;
            }
            self.killed.extend(self.coverage.keys());
            return;
        }
        let mut killed = std::mem::take(&mut self.killed);
        killed.retain(|resource| {
            let proven = self.covered.get(resource).map(|span| span.proven_by);
            let received = self.tables.last_event(*resource, next.first);
            proven.max(received).is_none_or(|last| last < ended.first)
        });
        self.killed = killed;
    }

    /// Returns how much is known of the recorder at the begin of a gap.
    fn recorder_before(&mut self, gap: &Gap) -> RecorderEnd {
        let session = self
            .last_session
            .and_then(|at| self.tables.sessions().get(at));
        // A watch that went on after the kill, and lost its history later, ended in order.
        let is_older = gap.cause == GapCause::RecorderStopped
            || session.is_some_and(|session| gap.from_time < session.from);
        if is_older && self.killed.remove(&gap.resource) {
            RecorderEnd::Killed
        } else {
            RecorderEnd::InOrder
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
        // A list does not continue a position: the state is known only when the list is complete.
        if method == ListMethod::Watch {
            self.continue_refused(resource, wall);
            self.lighten(resource, wall, true);
        }
    }

    /// Ends a time without a watch.
    fn lighten(&mut self, resource: ResourceId, wall: RecordedAt, is_continued: bool) {
        let Some(since) = self.unwatched.remove(&resource) else {
            return;
        };
        if let Some(coverage) = self.coverage.get_mut(&resource) {
            coverage.unwatched.push(UnwatchedTime {
                from: since.from,
                to: Some(wall),
                is_resumed: true,
                is_continued,
                recorder: since.recorder,
            });
        }
    }

    fn disconnect(&mut self, connection: ConnectionId, cause: EndCause, wall: RecordedAt) {
        let Some(&resource) = self.connections.get(&connection) else {
            return;
        };
        let open = self.open.entry(resource).or_default();
        open.remove(&connection);
        let is_synced = self.covered.contains_key(&resource);
        if open.is_empty() && is_synced && cause != EndCause::Stopped {
            let is_refused = !matches!(cause, EndCause::Clean | EndCause::Cut | EndCause::Idle);
            let since = self.unwatched.entry(resource).or_insert(UnwatchedSince {
                from: wall,
                is_refused,
                recorder: RecorderEnd::InOrder,
            });
            since.is_refused |= is_refused;
        }
    }

    /// A line or an item was stored unparsed, and the recording continued behind it.
    fn leave_unparsed(&mut self, entry: &NoteEntry, by: ConnectionId, problem: OddLineProblem) {
        let Some(&resource) = self.connections.get(&by) else {
            return;
        };
        let coverage = self.coverage.entry(resource).or_default();
        if let Some(open) = coverage.unparsed.last_mut().filter(|last| last.is_open()) {
            open.take(by);
            return;
        }
        let proven = self
            .covered
            .get(&resource)
            .or_else(|| coverage.covered.last());
        let proven = proven.and_then(|span| span.covered.to_rv.parse::<u128>().ok());
        let last = self.tables.last_event(resource, entry.seq);
        let received = last.and_then(|seq| self.tables.reel().rv_of(seq));
        let after_rv = proven.map(|proven| received.map_or(proven, |rv| rv.max(proven)));
        let span = UnparsedSpan::new(entry, by, problem, after_rv);
        coverage.unparsed.push(span);
    }

    fn sync(&mut self, resource: ResourceId, rv: &str, seq: Seq, wall: RecordedAt) {
        self.refused.remove(&resource);
        self.lighten(resource, wall, false);
        let coverage = self.coverage.entry(resource).or_default();
        coverage.synced.push(seq);
        if let Some(gap) = coverage.gaps.last_mut()
            && gap.gap.to_rv == rv
        {
            gap.closed_by = gap.closed_by.max(seq);
        }
        if let Some(span) = self.covered.get_mut(&resource) {
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
        self.covered.insert(resource, begun);
    }

    fn judge(&mut self, gap: GapId, note: &Note) {
        let resource = self.gaps.get(&gap);
        let coverage = resource.and_then(|resource| self.coverage.get_mut(resource));
        if let (Some(coverage), Some(judged)) = (coverage, GapJudgement::of(note)) {
            coverage.judge(gap, judged);
        }
    }

    /// Ends the span before a gap. The list that ended the gap may have been noted before or after
    /// it.
    fn gap(&mut self, gap: &Gap, seq: Seq) {
        self.gaps.insert(gap.id, gap.resource);
        self.refused.remove(&gap.resource);
        let recorder = self.recorder_before(gap);
        let coverage = self.coverage.entry(gap.resource).or_default();
        coverage
            .gaps
            .push(RecordedGap::new(gap.clone(), seq, recorder));
        let Some(mut span) = self.covered.remove(&gap.resource) else {
            return;
        };
        let is_synced = span.covered.to_rv == gap.to_rv;
        let synced_by = span.proven_by;
        if span.covered.from_rv == gap.to_rv {
            // The list began this span: the gap lies before it.
            self.covered.insert(gap.resource, span);
            return;
        }
        if let Some(from_rv) = &gap.from_rv {
            span.covered.to_rv.clone_from(from_rv);
        }
        span.covered.to_time = gap.from_time.max(span.covered.from_time);
        span.proven_by = span.proven_by.min(seq);
        coverage.covered.push(span);
        if is_synced {
            self.sync(gap.resource, &gap.to_rv, synced_by, gap.to_time);
        }
    }

    /// Ends a resource's span at a record, proven by the last event before it.
    fn close(&mut self, resource: ResourceId, at: Seq) {
        let Some(mut span) = self.covered.remove(&resource) else {
            return;
        };
        let reel = self.tables.reel();
        if let Some(seq) = self.tables.last_event(resource, at)
            && seq > span.proven_by
            && let (Some(rv), Some(stamp)) = (reel.rv_of(seq), reel.stamp(seq))
        {
            prove(&mut span, &rv.to_string(), seq, stamp.wall);
        }
        let coverage = self.coverage.entry(resource).or_default();
        coverage.covered.push(span);
    }
}

/// Finds the lowest resourceVersion with which an object of a resource first appears.
fn lowest_rv(tables: &ReelTables, resource: ResourceId) -> Option<u128> {
    let reel = tables.reel();
    let objects = tables.objects_of(resource).iter();
    let firsts = objects.filter_map(|&object| reel.rv_of(*reel.versions(object).first()?));
    firsts.min()
}

/// Moves the end of a span forward; a lower resourceVersion does not move it back.
fn prove(span: &mut CoveredFrom, rv: &str, seq: Seq, wall: RecordedAt) {
    span.proven_by = span.proven_by.max(seq);
    span.covered.to_time = span.covered.to_time.max(wall);
    let number = |text: &str| text.parse::<u128>().ok();
    if number(rv) >= number(&span.covered.to_rv) {
        rv.clone_into(&mut span.covered.to_rv);
    }
}
