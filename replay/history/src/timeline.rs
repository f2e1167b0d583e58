//! An opened reel with everything that is derived once, and the queries for states at a moment.
//! Queries for histories, differences, waits or unknown states are in the modules of those names.

use crate::account::{AccountError, CommitBounds, RevisionAccount, RevisionSequence};
use crate::body_reader::{QueryError, read_on_threads};
use crate::clock;
use crate::coverage::{
    self, Certainty, Coverage, DamageBound, DamagedSpan, RecordedGap, ReelDamage, UnobservedEffect,
    UnobservedReason, UnobservedSpan,
};
use crate::first_look::FirstLooks;
use crate::moment::{Cut, Moment, ResolveError};
use crate::object::{ObjectForm, ObjectMeta};
use crate::object_version::{LifetimeEnd, ObjectLifetime, ObjectVersion, ResourceSnapshot};
use crate::origin::OriginMarks;
use crate::replaced::ReplacedObjects;
use crate::revision::{ReelRevisions, RevisionPlaces};
use crate::select::{LabelSelector, ObjectFilter, ResourceTable, nearest};
use crate::session::{self, Cluster, Outage, RecordingSession};
use crate::states::{ResourceStates, StateMoment};
use crate::tables::ReelTables;
use crate::timetext::ClockZone;
use kubereel_format::{
    BodyBuffer, Damage, EventType, Evidence, GatheredBodies, Loss, ObjectId, ObjectKeyRef,
    OpenError, RecordedAt, Reel, ResourceId, ResourceInfo, Seq,
};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// An opened reel for queries, and the zone of its printed times.
pub struct Timeline {
    known: Arc<TimelineContent>,
    zone: ClockZone,
}

/// Data that is derived once from a reel.
struct TimelineContent {
    tables: ReelTables,
    clusters: Vec<Cluster>,
    outages: Vec<Outage>,
    pauses: Vec<Outage>,
    coverage: BTreeMap<ResourceId, Coverage>,
    first_looks: FirstLooks,
    damaged: Vec<DamagedSpan>,
    /// Few queries need the revisions.
    sequences: OnceLock<Vec<RevisionSequence>>,
    origin_marks: Mutex<OriginMarks>,
    revision_places: RevisionPlaces,
    replaced: ReplacedObjects,
}

impl Timeline {
    /// Opens a reel.
    ///
    /// # Errors
    /// When the file cannot be read, is not a reel, or is being recorded at the moment.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Ok(Self::new(Reel::open(path)?))
    }

    /// Takes an opened reel.
    pub fn new(reel: Reel) -> Self {
        let tables = ReelTables::new(reel);
        let notes = tables.reel().notes();
        let sequences = OnceLock::new();
        let all = || sequences.get_or_init(|| RevisionSequence::all(tables.reel()));
        let unexplained = |gap: &RecordedGap| {
            let mut sequences = all().iter();
            sequences.find_map(|sequence| sequence.unexplained_in(&tables, gap))
        };
        let not_before = |resource, seq| {
            let mut sequences = all().iter();
            sequences.find_map(|sequence| sequence.not_committed_at(tables.reel(), resource, seq))
        };
        let damaged = DamagedSpan::all(&tables);
        let outages = session::outages(notes, tables.sessions());
        let coverage = Coverage::of_all(&tables, &damaged, &outages, unexplained, not_before);
        let (pauses, outages) = outages.into_iter().partition(Outage::is_pause);
        let known = TimelineContent {
            clusters: session::clusters(notes),
            outages,
            pauses,
            first_looks: FirstLooks::of(tables.start(), &coverage),
            coverage,
            damaged,
            sequences,
            replaced: ReplacedObjects::new(&tables),
            tables,
            origin_marks: Mutex::default(),
            revision_places: RevisionPlaces::default(),
        };
        Self {
            known: Arc::new(known),
            zone: ClockZone::UTC,
        }
    }

    /// Returns the same reel, without reading it again, with its times in another zone.
    #[must_use]
    pub fn in_zone(&self, zone: ClockZone) -> Self {
        Self {
            known: Arc::clone(&self.known),
            zone,
        }
    }

    /// Returns the zone of printed times.
    pub const fn zone(&self) -> &ClockZone {
        &self.zone
    }

    /// Returns the marks of the object whose fields were asked for last.
    pub(crate) fn origin_marks(&self) -> MutexGuard<'_, OriginMarks> {
        // Marks are complete at any moment, so a panic elsewhere does not spoil them.
        let marks = self.known.origin_marks.lock();
        marks.unwrap_or_else(PoisonError::into_inner)
    }

    fn revisions(&self) -> ReelRevisions<'_> {
        ReelRevisions {
            tables: &self.known.tables,
            coverage: &self.known.coverage,
            sequences: self.sequences(),
            clusters: &self.known.clusters,
            places: &self.known.revision_places,
        }
    }

    /// Returns the reel itself.
    pub fn reel(&self) -> &Reel {
        self.known.tables.reel()
    }

    /// Returns the time of the first record.
    pub fn start(&self) -> RecordedAt {
        self.known.tables.start()
    }

    /// Returns the latest time of the recording: that of the last record, unless a clock stepped
    /// back.
    pub fn end(&self) -> RecordedAt {
        self.known.tables.end()
    }

    /// Returns whether its begin and end are known: not if no record can be read.
    pub fn is_dated(&self) -> bool {
        self.known.tables.is_dated()
    }

    /// Returns the recorded resources and those that are not covered.
    pub fn resources(&self) -> &ResourceTable {
        self.known.tables.resources()
    }

    /// Returns all objects of a resource in the reel.
    pub fn objects_of(&self, resource: ResourceId) -> &[ObjectId] {
        self.known.tables.objects_of(resource)
    }

    /// Returns the resource, the namespace, the name and the uid of an object.
    pub fn key_of(&self, object: ObjectId) -> Option<ObjectKeyRef<'_>> {
        self.known.tables.key_of(object)
    }

    /// Returns the recorder's runs, in order.
    pub fn sessions(&self) -> &[RecordingSession] {
        self.known.tables.sessions()
    }

    /// Returns the time that passed between two records, in microseconds, also where the clock was set back between
    /// them.
    pub(crate) fn micros_between(&self, from: Seq, to: Seq) -> Option<i64> {
        clock::micros_between(&self.known.tables, from, to)
    }

    /// Counts the steps of the recorder's clock, within its sessions and back between them.
    pub(crate) fn clock_steps(&self) -> u64 {
        clock::steps(&self.known.tables)
    }

    /// Returns the clusters, in order.
    pub fn clusters(&self) -> &[Cluster] {
        &self.known.clusters
    }

    /// Returns the times without a server, in order.
    pub fn outages(&self) -> &[Outage] {
        &self.known.outages
    }

    /// Returns the times in which the recorder did not run although its session went on, in order.
    pub(crate) fn pauses(&self) -> &[Outage] {
        &self.known.pauses
    }

    /// Formats a time in the zone of this reel, so that `--at` reads it as the same moment.
    pub fn written(&self, at: RecordedAt) -> String {
        self.zone.within(self.start(), self.end(), at)
    }

    /// Formats a time as [`Timeline::written`] does; `None` is one that damage took.
    pub fn written_if_known(&self, at: Option<RecordedAt>) -> String {
        at.map_or_else(|| "an unknown time".to_owned(), |at| self.written(at))
    }

    /// Finds the place of a moment.
    ///
    /// # Errors
    /// When the moment has no place or more than one in this reel, or is counted from an end that is lost.
    pub fn resolve(&self, moment: Moment) -> Result<Cut, ResolveError> {
        let refusal = self.damage().refusal(moment);
        refusal.map_or_else(|| moment.place(&self.known.tables), Err)
    }

    /// Returns the highest resourceVersion of the recording, of an object, a list, a bookmark or a probe; `None` if it
    /// has none, or if damage may hide a higher one.
    pub fn last_revision(&self) -> Option<u128> {
        let reel = self.reel();
        if reel.has_losses() || self.has_lost_records() {
            return None;
        }
        let of_events = (0..reel.end().0).filter_map(|seq| reel.rv_of(Seq(seq)));
        let spans = self.known.coverage.values().flat_map(Coverage::spans);
        let of_lists = spans.filter_map(|span| span.covered.to_rv.parse().ok());
        let of_probes = self
            .sequences()
            .iter()
            .filter_map(RevisionSequence::last_revision);
        of_events.chain(of_lists).chain(of_probes).max()
    }

    /// Returns the moment after all records.
    pub fn last_cut(&self) -> Cut {
        Cut::last(&self.known.tables)
    }

    /// Returns the place in front of the records, or of the change, with which a place ends: what follows has the
    /// changes of the moment itself.
    pub fn in_front_of(&self, cut: Cut) -> Cut {
        match cut {
            Cut::Arrival { below, wall } => {
                let records = (0..below.0).rev().map(Seq);
                let same = records.take_while(|seq| self.known.tables.wall_of(*seq) == wall);
                let below = same.last().unwrap_or(below);
                Cut::Arrival { below, wall }
            }
            Cut::Revision(rv) => Cut::Revision(rv.saturating_sub(1)),
        }
    }

    /// Returns the moment that lies `micros` later on the wall clock, or earlier if negative.
    pub(crate) fn moved(&self, from: RecordedAt, micros: i64) -> Cut {
        let wall = RecordedAt::from_micros(from.micros.saturating_add(micros));
        Cut::at(self.reel(), wall)
    }

    /// Returns whether an event is part of the state at a moment.
    ///
    /// At a resourceVersion, a version without one counts by its place in the order of arrival.
    pub fn is_within(&self, seq: Seq, cut: Cut) -> bool {
        self.state_moment(cut).has(seq)
    }

    fn state_moment(&self, cut: Cut) -> StateMoment<'_> {
        match cut {
            Cut::Arrival { below, .. } => StateMoment::Arrival(below),
            Cut::Revision(rv) => StateMoment::Revision(rv, self.revisions()),
        }
    }

    /// Returns the wall-clock time of a moment for a resource.
    pub fn wall_at(&self, resource: ResourceId, cut: Cut) -> RecordedAt {
        match cut {
            Cut::Arrival { wall, .. } => wall,
            Cut::Revision(rv) => self.revisions().place(resource, rv).wall,
        }
    }

    /// Returns the wall-clock time of a record; beyond the last record, the end of the recording.
    pub fn wall_of(&self, seq: Seq) -> RecordedAt {
        self.known.tables.wall_of(seq)
    }

    /// Returns whether an object exists after its last event.
    pub(crate) fn is_alive(&self, object: ObjectId) -> bool {
        let Some(&last) = self.reel().versions(object).last() else {
            return false;
        };
        let is_replaced = || self.replaced_by(object).is_some_and(|by| last < by);
        self.reel().kind_of(last) != Some(EventType::Deleted) && !is_replaced()
    }

    /// Returns the objects whose deletion was not observed before another one had their name, with the first
    /// version of that one: only one object has a name at a time.
    pub fn replaced(&self) -> impl Iterator<Item = (ObjectId, Seq)> {
        self.known.replaced.all(&self.known.tables)
    }

    /// Returns whether an event is the creation of its object, observed when it happened. An object
    /// of which a list or a change is the first record existed before.
    pub fn is_creation(&self, seq: Seq) -> bool {
        let reel = self.reel();
        let Some(head) = reel.head(seq) else {
            return false;
        };
        let is_seen = matches!(head.evidence, Evidence::Live | Evidence::Reconstructed);
        let mut earlier = reel.versions(head.object).iter().rev();
        let before = earlier.find(|earlier| **earlier < seq);
        let was_gone =
            before.is_none_or(|before| reel.kind_of(*before) == Some(EventType::Deleted));
        is_seen && head.kind == EventType::Added && was_gone
    }

    /// Returns the first version of the object that replaced another one without an observed deletion.
    pub fn replaced_by(&self, object: ObjectId) -> Option<Seq> {
        self.known.replaced.by(&self.known.tables, object)
    }
}

/// What was observed.
impl Timeline {
    /// Returns what was observed of a resource, and what was not.
    pub fn coverage(&self, resource: ResourceId) -> Option<&Coverage> {
        self.known.coverage.get(&resource)
    }

    /// Returns when each resource was first looked at.
    pub fn first_looks(&self) -> &FirstLooks {
        &self.known.first_looks
    }

    /// Returns the record that completed the first list of any resource.
    pub fn first_complete(&self) -> Option<Seq> {
        coverage::first_complete(&self.known.coverage)
    }

    /// Returns the damage of this file, or of the file from which it was recovered.
    pub fn damaged(&self) -> &[DamagedSpan] {
        &self.known.damaged
    }

    /// Returns the damage that hides the state of a resource: with the first record at which it is no
    /// longer known, and the one that shows it again, if one does.
    pub fn hidden_by_damage(
        &self,
        resource: ResourceId,
        filter: &ObjectFilter<'_>,
    ) -> impl Iterator<Item = (&DamagedSpan, Seq, Option<Seq>)> {
        self.damaged().iter().filter_map(move |span| {
            let listed = self.coverage(resource).into_iter();
            let listed = listed.flat_map(Coverage::listed);
            let (first, again) = span.hidden(&self.known.tables, resource, filter, listed)?;
            Some((span, first, again))
        })
    }

    /// Returns the times from which the file that this one was recovered from lost records of some objects, each as
    /// the records between its begin and the one that shows the state again.
    ///
    /// The loss may be anywhere in it: a version in it shows the state of its own moment only.
    pub(crate) fn scattered_losses(
        &self,
        resource: ResourceId,
        filter: &ObjectFilter<'_>,
    ) -> Vec<Range<Seq>> {
        let hidden = self.hidden_by_damage(resource, filter);
        let scattered = hidden.filter(|(damaged, ..)| damaged.is_recovered);
        let end = self.reel().end();
        let records = scattered.map(|(_, first, again)| first..again.unwrap_or(end));
        records.collect()
    }

    /// Returns whether damage took records between two moments, or their objects; `None` for the ends
    /// of the recording.
    pub fn is_damaged_between(&self, from: Option<Cut>, to: Option<Cut>) -> bool {
        let (from, to) = (arrival(from), arrival(to));
        self.damage().between(from, to).next().is_some()
    }

    /// Returns whether damage took records between two moments, or versions of the object of a name; `None` for the
    /// ends of the recording.
    pub fn is_object_damaged_between(
        &self,
        resource: ResourceId,
        (namespace, name): (&str, &str),
        (from, to): (Option<Cut>, Option<Cut>),
    ) -> bool {
        let names = [name.to_owned()];
        let filter = ObjectFilter {
            namespace: Some(namespace),
            names: &names,
        };
        let versions = self.resources().namesake_ids(resource);
        let bounds = (arrival(from), arrival(to));
        self.damage().concerns_between(&versions, &filter, bounds)
    }

    /// Returns all damage of the reel.
    pub(crate) fn damage(&self) -> ReelDamage<'_> {
        ReelDamage::new(&self.known.tables, &self.known.damaged)
    }

    /// Returns whether damage took records, here or before the reel was recovered.
    pub fn has_lost_records(&self) -> bool {
        self.damage().took_records()
    }

    /// Returns when a damaged place begins and ends; `None` where that is lost, too.
    pub fn damage_times(&self, span: &DamagedSpan) -> (Option<RecordedAt>, Option<RecordedAt>) {
        span.times(&self.known.tables)
    }

    /// Describes the loss at a damaged place.
    pub fn damage_words(&self, span: &DamagedSpan) -> String {
        span.words(&self.known.tables, &self.zone)
    }

    /// Returns all times in which a resource was not observed, by their begin: also those whose
    /// changes arrived later, and those without a state. They may overlap.
    pub fn unobserved_spans(&self, resource: ResourceId) -> &[UnobservedSpan] {
        let coverage = self.coverage(resource);
        coverage.map_or(&[], Coverage::unobserved_spans)
    }

    /// Returns whether changes of an object that matches the filter may be missing in an unobserved time, or were
    /// received later: of one that is the same before and after it, none is.
    pub fn concerns(&self, span: &UnobservedSpan, filter: &ObjectFilter<'_>) -> bool {
        span.concerns(&self.known.tables, filter)
    }

    /// Returns the times in which changes of a recorded resource may be missing, by their begin.
    ///
    /// A time without a watch that was resumed later is not among them: its changes arrived late,
    /// but they arrived.
    pub fn unobserved(&self, resource: ResourceId) -> impl Iterator<Item = &UnobservedSpan> {
        let coverage = self.coverage(resource).into_iter();
        coverage.flat_map(Coverage::may_miss)
    }

    /// Returns the times in which changes of a resource may be missing in the version in which it was followed then,
    /// by version: of one that another followed, those before the other began.
    pub(crate) fn unobserved_in_versions(
        &self,
        resource: ResourceId,
    ) -> impl Iterator<Item = &UnobservedSpan> {
        let versions = self.resources().namesake_ids(resource);
        let begins = versions.iter().map(|id| self.coverage(*id)?.first_known());
        let begins: Vec<_> = begins.map(|begin| begin.map(|(_, at)| at)).collect();
        versions
            .into_iter()
            .enumerate()
            .flat_map(move |(place, id)| {
                let next = begins.iter().skip(place + 1).flatten().min().copied();
                self.unobserved(id)
                    .filter(move |span| next.is_none_or(|next| span.from < next))
            })
    }

    /// Returns the times without a watch of a recorded resource after which the watch went on where it had ended: the
    /// changes were received later. Gaps that were read back are not among them.
    pub fn received_late(&self, resource: ResourceId) -> impl Iterator<Item = &UnobservedSpan> {
        let coverage = self.coverage(resource).into_iter();
        let spans = coverage.flat_map(Coverage::unobserved_spans);
        let late = spans.filter(|span| matches!(span.reason, UnobservedReason::NoWatch { .. }));
        late.filter(move |span| {
            let mut missing = self.unobserved(resource);
            !missing.any(|other| other.from < span.to && other.to > span.from)
        })
    }

    /// Returns since when the server did not serve a resource up to the end of the recording: since then it has no
    /// objects, also where no deletion was recorded. `None` if it was served at the end.
    pub(crate) fn gone_since(&self, resource: ResourceId) -> Option<RecordedAt> {
        let spans = self.unobserved_spans(resource).iter().rev();
        let mut excluded =
            spans.filter(|span| matches!(span.reason, UnobservedReason::NotRecorded { .. }));
        let last = excluded.next()?;
        let is_gone = last.reason.effect() == UnobservedEffect::NoState;
        (is_gone && last.is_open()).then_some(last.from)
    }

    /// Returns since when the change that a version shows may have been committed, if the version was received in a
    /// time in which its resource was not observed, or right after it. `None` if it was received as it was committed.
    pub fn late_since(&self, seq: Seq) -> Option<RecordedAt> {
        let key = self.key_of(self.reel().object_of(seq)?)?;
        let at = self.wall_of(seq);
        let spans = self.unobserved_spans(key.resource).iter();
        let mut around = spans
            .filter(|span| span.is_late() && span.from < at && at <= span.to)
            .peekable();
        around.peek()?;
        let names = [key.name.to_owned()];
        let filter = ObjectFilter {
            namespace: Some(key.namespace),
            names: &names,
        };
        let own = around.filter(|span| self.concerns(span, &filter));
        let from = own.map(|span| span.from).min()?;
        let mut sequences = self.sequences().iter();
        let after = sequences
            .find_map(|sequence| sequence.not_committed_at(self.reel(), key.resource, seq));
        Some(after.map_or(from, |after| after.max(from))).filter(|since| *since < at)
    }

    /// Returns the times for which an answer about the changes of a recorded resource between two moments may be
    /// incomplete; `None` for the ends of the recording.
    ///
    /// These are the times between them in which changes may be missing, and the time without a watch that
    /// contains the second moment: its changes were received after that moment, so an answer dated by receipt
    /// lacks them. An answer up to a later moment has them.
    pub fn unobserved_within(
        &self,
        resource: ResourceId,
        (from, to): (Option<Cut>, Option<Cut>),
    ) -> impl Iterator<Item = &UnobservedSpan> {
        let (from, to) = (arrival(from), arrival(to));
        let spans = self.unobserved_spans(resource).iter();
        spans.filter(move |span| match span.reason.effect() {
            UnobservedEffect::MayMiss => {
                from.is_none_or(|(_, from)| span.to >= from)
                    && to.is_none_or(|(_, to)| span.from <= to)
            }
            UnobservedEffect::Late => to.is_some_and(|(below, wall)| span.holds(below, wall)),
            UnobservedEffect::NoState => false,
        })
    }

    /// Returns whether no change of a resource can be missing since its first list.
    pub fn is_fully_observed(&self, resource: ResourceId) -> bool {
        self.unobserved(resource).next().is_none()
    }

    /// Finds the place of a moment in the recording.
    ///
    /// # Errors
    /// As [`Timeline::resolve`]; and when the moment is outside of the recording.
    pub fn resolve_within(&self, moment: Moment) -> Result<Cut, ResolveError> {
        let cut = self.resolve(moment)?;
        match (cut, self.last_revision()) {
            (Cut::Arrival { wall, .. }, _) if self.reaches_outside(Some(cut), None) => {
                Err(ResolveError::OutsideRecording {
                    at: wall,
                    start: self.start(),
                    end: self.end(),
                })
            }
            (Cut::Revision(rv), Some(last)) if rv > last => {
                Err(ResolveError::AfterLastRevision { rv, last })
            }
            _ => Ok(cut),
        }
    }

    /// Returns whether damage hides the end of the recording, so that it went on behind the last readable record.
    pub fn is_end_lost(&self) -> bool {
        self.damage().took_end()
    }

    /// Returns whether a part of the time between two moments is outside of the recording, so that nothing was
    /// observed in it; `None` for the ends of the recording.
    pub fn reaches_outside(&self, from: Option<Cut>, to: Option<Cut>) -> bool {
        // Times are shown in milliseconds, and may be typed without them.
        const SPARE_MICROS: i64 = 1_000_000;
        let mut beyond = from.into_iter().chain(to).map(|cut| self.beyond(cut));
        beyond.any(|(micros, is_lost)| micros > SPARE_MICROS && !is_lost)
    }

    /// Returns whether a part of the time between two moments lies before or behind all readable records, where
    /// damage took others; `None` for the ends of the recording.
    pub fn reaches_lost(&self, from: Option<Cut>, to: Option<Cut>) -> bool {
        let mut beyond = from.into_iter().chain(to).map(|cut| self.beyond(cut));
        beyond.any(|(micros, is_lost)| micros > 0 && is_lost)
    }

    /// Returns by how many microseconds a moment lies before or behind all readable records, and whether damage took
    /// others there.
    fn beyond(&self, cut: Cut) -> (i64, bool) {
        // With records on both sides it is inside, also where a clock that was set back says otherwise.
        match cut {
            Cut::Arrival { below, wall } if below == Seq(0) && wall < self.start() => {
                (self.start().micros_since(wall), self.damage().took_begin())
            }
            Cut::Arrival { below, wall } if below >= self.reel().end() => {
                (wall.micros_since(self.end()), self.is_end_lost())
            }
            Cut::Arrival { .. } | Cut::Revision(_) => (0, false),
        }
    }

    /// Judges the certainty of an answer about all objects of a resource at a moment.
    pub fn certainty(&self, resource: ResourceId, cut: Cut) -> Certainty {
        self.certainty_of(resource, cut, &ObjectFilter::default())
    }

    /// Judges the certainty of an answer about some objects of a resource at a moment.
    pub fn certainty_of(
        &self,
        resource: ResourceId,
        cut: Cut,
        filter: &ObjectFilter<'_>,
    ) -> Certainty {
        let coverage = (resource, self.coverage(resource));
        let place = |rv| {
            let place = self.revisions().place(resource, rv);
            place.is_reached.then_some((place.below, place.wall))
        };
        Certainty::judge(
            &self.known.tables,
            &self.known.damaged,
            coverage,
            (cut, place),
            filter,
        )
    }

    /// Returns the sequences of revisions with probes.
    pub fn sequences(&self) -> &[RevisionSequence] {
        self.known
            .sequences
            .get_or_init(|| RevisionSequence::all(self.reel()))
    }

    /// Accounts for the revisions of each epoch that has probes.
    ///
    /// # Errors
    /// When there is nothing to account for, with the reason.
    pub fn accounts(&self) -> Result<Vec<RevisionAccount>, AccountError> {
        RevisionAccount::of_all(self.sequences(), &self.known.tables, &self.known.coverage)
    }

    /// Returns between which times the change of an event was committed, by the recorder's clock;
    /// `None` if the probes do not cover its revision.
    pub fn committed(&self, seq: Seq) -> Option<CommitBounds> {
        let object = self.reel().object_of(seq)?;
        let resource = self.key_of(object)?.resource;
        let mut sequences = self.sequences().iter();
        sequences.find_map(|sequence| sequence.committed(self.reel(), resource, seq))
    }
}

/// The namespace of commands that name none.
const DEFAULT_NAMESPACE: &str = "default";

/// States at a moment.
impl Timeline {
    /// Chooses, of all recorded resources of the same group and plural, the one with the best
    /// answer for a moment, as it was described then.
    pub fn resource_at<'a>(&'a self, named: &'a ResourceInfo, cut: Cut) -> &'a ResourceInfo {
        let namesakes = self.resources().namesakes(named);
        let best = |wanted: fn(&Certainty) -> bool| {
            let fits = |info: &&&ResourceInfo| wanted(&self.certainty(info.id, cut));
            namesakes.iter().find(fits).copied()
        };
        let chosen = best(Certainty::is_known)
            .or_else(|| best(Certainty::has_state))
            .or_else(|| best(|certainty| matches!(certainty, Certainty::NotCovered { .. })))
            .or_else(|| namesakes.last().copied());
        self.described_at(chosen.unwrap_or(named), cut)
    }

    /// Returns a resource as it was described at a moment.
    pub fn described_at<'a>(&'a self, info: &'a ResourceInfo, cut: Cut) -> &'a ResourceInfo {
        let below = match cut {
            Cut::Arrival { below, .. } => below,
            Cut::Revision(rv) => self.revisions().place(info.id, rv).below,
        };
        self.resources().described(info.id, below).unwrap_or(info)
    }

    /// Returns the resource in whose scope an object of a name was recorded, or the named one: a definition may be
    /// deleted and created again with another scope.
    pub fn resource_of_object<'a>(
        &'a self,
        named: &'a ResourceInfo,
        namespace: &str,
        name: &str,
    ) -> &'a ResourceInfo {
        let mut namesakes = self.resources().namesakes(named);
        if namesakes
            .iter()
            .all(|info| info.namespaced == named.namespaced)
        {
            return named;
        }
        // Only an object in a namespace can be meant by its name.
        let is_by_namespace = named.namespaced || namespace != DEFAULT_NAMESPACE;
        namesakes.sort_by_key(|info| info.namespaced != is_by_namespace);
        let scoped = |info: &ResourceInfo| if info.namespaced { namespace } else { "" };
        let mut all = namesakes.into_iter();
        all.find(|info| !self.lives(info.id, scoped(info), name).is_empty())
            .unwrap_or(named)
    }

    /// Returns the state of a resource at a moment.
    ///
    /// At a time or a record, each object has its last received version. At a resourceVersion, each
    /// has its last version up to that one, whenever it was received.
    pub fn as_of(
        &self,
        resource: ResourceId,
        cut: Cut,
        filter: &ObjectFilter<'_>,
    ) -> ResourceSnapshot {
        let certainty = self.certainty_of(resource, cut, filter);
        let states = ResourceStates::at(
            self.state_moment(cut),
            &self.known.tables,
            &self.known.replaced,
            resource,
            filter,
        );
        let objects = if certainty.has_state() {
            states.objects
        } else {
            Vec::new()
        };
        let (objects, unreadable, certainty) = if filter.names.is_empty() {
            self.without_unreadable(objects, cut, certainty)
        } else {
            (objects, Vec::new(), certainty)
        };
        ResourceSnapshot {
            resource,
            at: self.wall_at(resource, cut),
            rv: states.newest,
            certainty,
            objects,
            unreadable,
        }
    }

    /// Returns the objects of a name in the order of their first events, in all recorded versions of the resource.
    pub fn lives(&self, resource: ResourceId, namespace: &str, name: &str) -> Vec<ObjectLifetime> {
        let mut lives = ObjectLifetime::all(&self.known.tables, resource, namespace, name);
        for life in &mut lives {
            let key = self.key_of(life.object);
            if life.end == LifetimeEnd::NotObserved
                && let Some(gone) = key.and_then(|key| self.gone_since(key.resource))
            {
                life.end = LifetimeEnd::Missing(gone);
            }
        }
        lives
    }

    /// Words the begin of an object, to follow "from".
    pub fn begin_words(&self, life: &ObjectLifetime) -> String {
        let is_bound = life.is_older_than_reel || self.late_since(life.first).is_some();
        let before = if is_bound { "before " } else { "" };
        format!("{before}{}", self.written(life.from))
    }

    /// Words the end of an object, to follow "to" or "until".
    pub fn end_words(&self, life: &ObjectLifetime) -> String {
        let last = self.reel().versions(life.object).last();
        let is_late = last.is_some_and(|last| self.late_since(*last).is_some());
        match life.end {
            LifetimeEnd::Deleted(at) if !is_late => self.written(at),
            LifetimeEnd::Deleted(at) | LifetimeEnd::Missing(at) | LifetimeEnd::Replaced(at) => {
                format!("before {}", self.written(at))
            }
            LifetimeEnd::NotObserved => "the end".to_owned(),
        }
    }

    /// Returns whether two objects of a name are one: that of two recorded versions of its resource.
    pub fn is_one_object(&self, one: ObjectId, other: ObjectId) -> bool {
        let uid = |object| self.key_of(object).map(|key| key.uid);
        let is_same = || uid(one) == uid(other) && uid(one).is_some_and(|uid| !uid.is_empty());
        one == other || is_same()
    }

    /// Returns an object of that name in any namespace; if there is none, one whose name begins with it.
    pub fn in_any_namespace(&self, resource: ResourceId, name: &str) -> Option<ObjectKeyRef<'_>> {
        let objects = self.objects_of(resource).iter();
        let mut keys = objects.filter_map(|&object| self.key_of(object));
        let mut longer = None;
        let found = keys.find(|key| {
            if longer.is_none() && key.name.starts_with(name) {
                longer = Some(*key);
            }
            key.name == name
        });
        found.or(longer)
    }

    /// Returns whether a namespace was observed: by its own object, or by another one in it.
    pub fn has_namespace(&self, name: &str) -> bool {
        let mut keys = self.reel().objects().map(|object| object.key);
        keys.any(|key| self.namespace_in(key) == name)
    }

    /// Returns the namespace that an object is or is in; empty for other cluster-scoped objects.
    fn namespace_in<'a>(&self, key: ObjectKeyRef<'a>) -> &'a str {
        let info = self.resources().get(key.resource);
        if info.is_some_and(|info| info.group.is_empty() && info.plural == "namespaces") {
            key.name
        } else {
            key.namespace
        }
    }

    /// Returns the observed namespaces: those with an object of their own, and those with objects
    /// in them.
    pub fn namespaces(&self) -> BTreeSet<&str> {
        let keys = self.reel().objects().map(|object| object.key);
        keys.map(|key| self.namespace_in(key))
            .filter(|name| !name.is_empty())
            .collect()
    }

    /// Returns similar names of a resource for a name that was not found, best first; `None` for all namespaces.
    pub fn nearest_names(
        &self,
        resource: ResourceId,
        namespace: Option<&str>,
        name: &str,
    ) -> Vec<String> {
        let keys = self.objects_of(resource).iter();
        let keys = keys.filter_map(|&object| self.key_of(object));
        let in_namespace = keys.filter(|key| namespace.is_none_or(|only| only == key.namespace));
        nearest(name, in_namespace.map(|key| key.name))
    }

    /// Returns how far an answer from the bodies of a state can be trusted. An object that was requested by name is
    /// in the state also if damage hides what it shows.
    pub fn readable_certainty(&self, state: &ResourceSnapshot, cut: Cut) -> Certainty {
        let certainty = state.certainty.clone();
        let (_, _, certainty) = self.without_unreadable(state.objects.clone(), cut, certainty);
        certainty
    }

    /// Leaves unreadable objects out of a list, and notes it: the others are still an answer.
    fn without_unreadable(
        &self,
        objects: Vec<ObjectVersion>,
        cut: Cut,
        certainty: Certainty,
    ) -> (Vec<ObjectVersion>, Vec<ObjectVersion>, Certainty) {
        if !self.reel().has_losses() {
            return (objects, Vec::new(), certainty);
        }
        let mut first = None;
        let count = objects.len();
        let bodies = self.gather(&objects, cut, &mut |_| {});
        let mut buffer = BodyBuffer::default();
        let (readable, unreadable): (Vec<_>, Vec<_>) =
            objects
                .into_iter()
                .partition(|held| match bodies.body(held.seq, &mut buffer) {
                    Ok(_) => true,
                    Err(error) => {
                        first.get_or_insert((held.seq, error.to_string()));
                        false
                    }
                });
        let certainty = match first {
            // Missing objects are a stronger statement than possibly missing changes.
            Some((seq, cause)) => {
                let left_out = unreadable.len();
                Certainty::Damaged {
                    damage: Damage {
                        place: format!("{left_out} of {count} objects, which are left out"),
                        cause,
                        loss: Loss::Bodies {
                            first: seq,
                            last: seq,
                        },
                    },
                }
            }
            None => certainty,
        };
        (readable, unreadable, certainty)
    }
}

/// Bodies.
impl Timeline {
    /// Reads the metadata of an event's version.
    ///
    /// # Errors
    /// When the reel is damaged there, or the body is not an object.
    pub fn meta(&self, seq: Seq) -> Result<ObjectMeta, QueryError> {
        let body = self.reel().body(seq)?;
        ObjectMeta::of(&body).map_err(|source| QueryError::Body { seq, source })
    }

    /// Reads an event's version in the form in which kubectl prints it.
    ///
    /// # Errors
    /// When the reel is damaged there, or the body is not an object.
    pub fn object(
        &self,
        seq: Seq,
        resource: &ResourceInfo,
        form: ObjectForm,
    ) -> Result<Value, QueryError> {
        let body = self.reel().body(seq)?;
        form.of(&body, resource)
            .map_err(|source| QueryError::Body { seq, source })
    }

    /// Prepares the bodies of versions at a moment.
    pub(crate) fn gather<'a>(
        &self,
        held: impl IntoIterator<Item = &'a ObjectVersion>,
        cut: Cut,
        reached: &mut dyn FnMut(u64),
    ) -> GatheredBodies<'_> {
        let events: Vec<Seq> = held.into_iter().map(|held| held.seq).collect();
        let at = match cut {
            Cut::Arrival { below, .. } => Some(below),
            Cut::Revision(_) => None,
        };
        self.reel().gather(&events, at, reached)
    }

    /// Returns of each object whether it matches a label selector, in order; the error of one means that
    /// its labels cannot be read.
    pub fn are_labelled(
        &self,
        objects: &[ObjectVersion],
        cut: Cut,
        selector: &LabelSelector,
    ) -> Vec<Result<bool, QueryError>> {
        if selector.is_empty() {
            return objects.iter().map(|_| Ok(true)).collect();
        }
        self.read_each(objects, cut, &mut |_| {}, |held, body| {
            let meta = ObjectMeta::of(body).map_err(|source| QueryError::Body {
                seq: held.seq,
                source,
            })?;
            Ok(selector.matches(&meta.labels))
        })
    }

    /// Reads all of the versions at a moment with a function, and returns the results in order.
    ///
    /// `progress` receives the number of versions at intervals.
    ///
    /// # Errors
    /// The first error of `read`, or of the reel.
    pub fn read_all<T: Send>(
        &self,
        held: &[ObjectVersion],
        cut: Cut,
        progress: &mut dyn FnMut(u64),
        read: impl Fn(&ObjectVersion, &[u8]) -> Result<T, QueryError> + Sync,
    ) -> Result<Vec<T>, QueryError> {
        let each = self.read_each(held, cut, progress, read);
        each.into_iter().collect()
    }

    /// Reads each of the versions at a moment with a function, and returns the results in order: the error
    /// of one, of `read` or of the reel, hides none of the others.
    ///
    /// `progress` receives the number of versions at intervals.
    pub fn read_each<T: Send>(
        &self,
        held: &[ObjectVersion],
        cut: Cut,
        progress: &mut dyn FnMut(u64),
        read: impl Fn(&ObjectVersion, &[u8]) -> Result<T, QueryError> + Sync,
    ) -> Vec<Result<T, QueryError>> {
        let mut gathered = 0;
        let bodies = self.gather(held, cut, &mut |count| {
            gathered = count;
            progress(count);
        });
        read_on_threads(
            &bodies,
            held,
            &mut |done| progress(gathered.max(done)),
            read,
        )
    }
}

/// Returns the place of a moment in the order of arrival; `None` for a resourceVersion, whose place may be lost.
const fn arrival(cut: Option<Cut>) -> DamageBound {
    match cut {
        Some(Cut::Arrival { below, wall }) => Some((below, wall)),
        Some(Cut::Revision(_)) | None => None,
    }
}
