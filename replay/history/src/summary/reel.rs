//! The summary of a whole reel.

use super::account::AccountSummary;
use super::resource::{FirstDiscovery, ResourceSummary, secs_between};
use crate::coverage::DamagedSpan;
use crate::samples::CounterMove;
use crate::select::ExcludedResource;
use crate::session::{Outage, RecordingSession};
use crate::tables::count_of;
use crate::timeline::Timeline;
use crate::timetext::{OptionalRfc3339, Rfc3339};
use kubereel_format::{
    BlobId, EventType, Lifecycle, Note, REDACTION_PREFIX, ReadError, RecordedAt, Reel, ResourceId,
    ResourceInfo, Seq, SessionEnd,
};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// The content of a reel.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReelSummary {
    /// The file.
    pub file: String,
    /// Its bytes.
    pub file_bytes: u64,
    /// The bytes of its parts.
    pub parts: FileParts,
    /// The version of its format.
    pub format: String,
    /// Whether the recorder finished it.
    pub finished: bool,
    /// Whether it was being recorded when it was read.
    pub being_recorded: bool,
    /// Whether it is sealed.
    pub sealed: bool,
    /// The digest of the recording, if it was requested.
    pub digest: Option<String>,
    /// The earliest time of a record.
    #[serde(with = "Rfc3339")]
    pub start: RecordedAt,
    /// The latest time of a record.
    #[serde(with = "Rfc3339")]
    pub end: RecordedAt,
    /// The time between them.
    pub span_secs: f64,
    /// Events and notes together.
    pub records: u64,
    /// The events.
    pub events: EventCounts,
    /// The objects.
    pub objects: ObjectCounts,
    /// The recorder's runs.
    pub sessions: Vec<SessionSummary>,
    /// The clusters.
    pub clusters: Vec<ClusterSummary>,
    /// The summary of each recorded resource.
    pub resources: Vec<ResourceSummary>,
    /// Resources that were not recorded.
    pub not_covered: Vec<NotCoveredSummary>,
    /// The provenance of an import; empty for a recording of kubereel.
    pub provenance: Vec<String>,
    /// The redactions of sessions: the policy, the user's rules, the number of values by rule. A
    /// session that was killed has none.
    pub redaction: Vec<String>,
    /// The account of the revisions of the cluster's storage, one for each epoch; empty without
    /// probes.
    pub accounts: Vec<AccountSummary>,
    /// The outages.
    pub outages: Vec<OutageSummary>,
    /// The times in which the recorder was paused: what changed then was received later.
    pub pauses: Vec<PauseSummary>,
    /// How the kubeconfig was, unless it was there at once and did not change.
    pub kubeconfig: Vec<KubeconfigSummary>,
    /// Labels of the recording job.
    pub labels: Vec<LabelSummary>,
    /// Marks, such as "tests started".
    pub marks: Vec<MarkSummary>,
    /// The changes of the sampled counters.
    pub counter_moves: Vec<CounterMove>,
    /// Lines of the server that were not events of a known form; they are stored.
    pub odd_lines: u64,
    /// Violations of the protocol.
    pub anomalies: u64,
    /// Steps of the recorder's wall clock, within its sessions and back between them.
    pub clock_steps: u64,
    /// The number of events whose objects cannot be read.
    pub unreadable: u64,
    /// The number of other unreadable records, as far as it is known: notes, and those of which not even that is known.
    pub lost_records: u64,
    /// Unreadable parts of the file.
    pub damage: Vec<DamageSummary>,
}

/// The bytes of a file's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FileParts {
    /// Objects.
    pub bodies: u64,
    /// Times, names, notes.
    pub index: u64,
    /// Records that were not sealed when the recorder stopped.
    pub tail: u64,
    /// The container: the database, or headers and recovery shards of a sealed reel.
    pub other: u64,
}

/// Counts of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EventCounts {
    /// All of them.
    pub total: u64,
    /// Created objects, and objects of the first lists.
    pub added: u64,
    /// Changes.
    pub modified: u64,
    /// Deletions.
    pub deleted: u64,
    /// The file's bytes for each event; 0 without events.
    pub bytes_each: f64,
}

/// Counts of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ObjectCounts {
    /// Ever.
    pub seen: u64,
    /// At the end.
    pub live: u64,
}

summaries! {
/// One run of the recorder.
#[derive(Eq)]
struct SessionSummary(session: &RecordingSession) {
    /// When it began.
    #[serde(with = "Rfc3339")]
    from: RecordedAt = session.from,
    /// When its last record was written.
    #[serde(with = "Rfc3339")]
    to: RecordedAt = session.to,
    /// The recorder's version.
    recorder: String = session.recorder.clone(),
    /// How it ended; `killed` if it did not end in order, `still being recorded` if it runs, `end not readable` if
    /// the reel is finished and its end is damaged.
    end: String = session_end(session.end.as_ref()),
    /// The redaction policy; 0 if nothing was redacted.
    redaction_policy: u32 = session.redaction_policy,
}
}

impl SessionSummary {
    const KILLED: &str = "killed";
    const RUNNING: &str = "still being recorded";
    const UNREADABLE: &str = "end not readable";

    /// Returns whether the recording tells how it ended.
    pub fn has_end(&self) -> bool {
        ![Self::KILLED, Self::RUNNING, Self::UNREADABLE].contains(&self.end.as_str())
    }
}

summaries! {
/// A resource that was not recorded.
#[derive(Eq)]
struct NotCoveredSummary(excluded: &ExcludedResource) {
    /// `plural.group`, or the plural alone for the core group.
    resource: String = excluded.qualified(),
    /// Its version.
    version: String = excluded.version.clone(),
    /// The cause.
    reason: String = excluded.reason.as_str().to_owned(),
    /// The server's message, or the resource with the same storage.
    detail: String = excluded.detail.clone(),
}

/// A time in which the recorder did not run.
struct PauseSummary(pause: &Outage) {
    /// When it began.
    #[serde(with = "Rfc3339")]
    from: RecordedAt = pause.from,
    /// When it ended.
    #[serde(with = "Rfc3339")]
    to: RecordedAt = pause.to,
    /// How long it lasted.
    span_secs: f64 = secs_between(pause.from, pause.to),
}

/// An outage.
struct OutageSummary(outage: &Outage) {
    /// When it began.
    #[serde(with = "Rfc3339")]
    from: RecordedAt = outage.from,
    /// When it ended, or the recorder stopped.
    #[serde(with = "Rfc3339")]
    to: RecordedAt = outage.to,
    /// How long it lasted.
    span_secs: f64 = secs_between(outage.from, outage.to),
    /// The failure.
    error: String = outage.error.clone(),
    /// Whether no server had responded yet: a cluster that is not up yet is not an outage.
    before_first_answer: bool = outage.is_before_first_answer,
    /// The probed endpoint; null if only discovery noticed the outage.
    endpoint: Option<String> = outage.probed.as_ref().map(|probed| probed.endpoint.clone()),
    /// The class of the failure; null if only discovery noticed the outage.
    class: Option<String> = outage.probed.as_ref().map(|probed| probed.class.as_str().to_owned()),
    /// The number of failed probes, if it is known.
    failed_probes: Option<u64> = outage.probed.as_ref().and_then(|probed| probed.failed),
}
}

/// A damaged place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DamageSummary {
    /// The place.
    pub place: String,
    /// The cause.
    pub cause: String,
    /// The loss.
    pub lost: String,
    /// When the first lost record was received, or the last one before it; null if nothing is lost,
    /// or the time is not known.
    #[serde(with = "OptionalRfc3339")]
    pub from: Option<RecordedAt>,
    /// When the last lost record was received, or the first one after it; null as for `from`.
    #[serde(with = "OptionalRfc3339")]
    pub to: Option<RecordedAt>,
    /// The first unreadable record; null if it is not known.
    pub first: Option<u64>,
    /// The last one; `None` if that is not known.
    pub last: Option<u64>,
    /// The resources of the lost records, as `plural.group`; empty if any resource may be among
    /// them.
    pub resources: Vec<String>,
    /// Whether an earlier file lost it, from which this one was recovered.
    pub recovered: bool,
}

impl DamageSummary {
    /// Describes a damaged place of which only the error is known.
    pub(crate) fn of_place(place: String, cause: String) -> Self {
        Self {
            lost: format!("{place}: {cause}"),
            place,
            cause,
            from: None,
            to: None,
            first: None,
            last: None,
            resources: Vec::new(),
            recovered: false,
        }
    }

    fn of(timeline: &Timeline, span: &DamagedSpan) -> Self {
        let loss = span.damage.loss;
        let is_known = span.is_recovered || loss.first().is_some();
        let (from, to) = timeline.damage_times(span);
        let number = |seq: Option<Seq>| seq.map(|seq| seq.0).filter(|_| !span.is_recovered);
        let resources = timeline.resources();
        let infos = resources
            .iter()
            .filter(|info| span.resources.contains(&info.id));
        Self {
            place: span.damage.place.clone(),
            cause: span.damage.cause.clone(),
            lost: timeline.damage_words(span),
            from: from.filter(|_| is_known),
            to: to.filter(|_| is_known),
            first: number(loss.first()),
            last: number(loss.last()),
            resources: infos.map(ResourceInfo::qualified).collect(),
            recovered: span.is_recovered,
        }
    }

    /// Describes all damage, of this file or of the file from which it was recovered.
    pub(crate) fn all(timeline: &Timeline) -> Vec<Self> {
        let damaged = timeline.damaged().iter();
        let damaged = damaged.map(|span| Self::of(timeline, span));
        let reel = timeline.reel();
        // Without a loss no text is read: they may be large.
        let texts = reel.has_losses().then(|| note_texts(reel));
        let texts = texts.into_iter().flatten();
        let lost = texts.filter_map(|(note, text)| {
            let place = format!("a text of note {note}");
            Some(Self::of_place(place, text.err()?.to_string()))
        });
        damaged.chain(lost).collect()
    }
}

/// Reads the texts and documents of a reel, with the notes that have them.
pub(crate) fn note_texts(reel: &Reel) -> impl Iterator<Item = (Seq, Result<Arc<[u8]>, ReadError>)> {
    reel.notes().iter().flat_map(|entry| {
        let blobs: &[BlobId] = match &entry.note {
            Note::OddLine { blobs, .. } | Note::Document { blobs, .. } => blobs,
            _ => &[],
        };
        let texts = blobs.iter().map(|blob| reel.blob(*blob));
        texts.map(|text| (entry.seq, text))
    })
}

/// A cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ClusterSummary {
    /// When it was first identified.
    #[serde(with = "Rfc3339")]
    pub since: RecordedAt,
    /// The uid of its namespace `kube-system`; empty if it could not be read.
    pub uid: String,
    /// The Kubernetes versions its server reported, in order.
    pub versions: Vec<String>,
    /// The OpenShift versions that its `ClusterVersion` began or completed, in order.
    pub openshift_versions: Vec<String>,
    /// Its Nodes when it was last observed.
    pub nodes: Option<u64>,
}

/// A label of the recording job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LabelSummary {
    /// Its name, for example `JOB_NAME`.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A mark, such as "tests started".
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MarkSummary {
    /// When the recorder took it.
    #[serde(with = "Rfc3339")]
    pub time: RecordedAt,
    /// The text.
    pub text: String,
}

/// What happened to the kubeconfig.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct KubeconfigSummary {
    /// When.
    #[serde(with = "Rfc3339")]
    pub time: RecordedAt,
    /// What: waited for, loaded, or refused and why.
    pub text: String,
}

impl KubeconfigSummary {
    fn all(timeline: &Timeline) -> Vec<Self> {
        let mut is_first = true;
        let notes = timeline.reel().notes().iter();
        let all = notes.filter_map(|entry| {
            let text = match &entry.note {
                Note::SessionStarted { .. } => {
                    is_first = true;
                    return None;
                }
                Note::Lifecycle(Lifecycle::WaitingForKubeconfig { path }) => {
                    format!("waited for a kubeconfig at {path}")
                }
                Note::Lifecycle(Lifecycle::KubeconfigUnusable { path, error }) => {
                    format!("the kubeconfig cannot be used: {error}: {path}")
                }
                Note::Lifecycle(Lifecycle::KubeconfigLoaded { path }) => {
                    let text = (!is_first).then(|| format!("loaded the kubeconfig {path}"));
                    is_first = false;
                    text?
                }
                _ => return None,
            };
            is_first = false;
            let time = entry.stamp.wall;
            Some(Self { time, text })
        });
        all.collect()
    }
}

impl ReelSummary {
    /// Notes that the reel is being recorded: a file does not tell whether its recorder runs or was killed.
    pub fn set_being_recorded(&mut self) {
        self.being_recorded = true;
        let last = self.sessions.last_mut();
        if let Some(session) = last.filter(|session| session.end == SessionSummary::KILLED) {
            SessionSummary::RUNNING.clone_into(&mut session.end);
        }
    }

    /// Summarizes a reel.
    pub fn of(timeline: &Timeline) -> Self {
        let reel = timeline.reel();
        let first = FirstDiscovery::read(timeline);
        let resources: Vec<ResourceSummary> = timeline
            .resources()
            .iter()
            .map(|info| ResourceSummary::of(timeline, info, first.as_ref()))
            .collect();
        let sum = |part: fn(&ResourceSummary) -> u64| resources.iter().map(part).sum();
        let file_bytes = reel.sizes().file;
        let total = reel.event_count();
        let earliest = reel.event_span().map(|(earliest, _)| earliest);
        let start = earliest.map_or(timeline.start(), |earliest| earliest.min(timeline.start()));
        let odd_lines = count_notes(timeline, |note| matches!(note, Note::OddLine { .. }));
        let anomalies = count_notes(timeline, |note| matches!(note, Note::Anomaly { .. }));
        Self {
            file: reel.path().display().to_string(),
            file_bytes,
            parts: parts(timeline),
            format: reel.format().to_string(),
            finished: reel.is_finished(),
            being_recorded: false,
            sealed: reel.is_sealed(),
            digest: None,
            start,
            end: timeline.end(),
            span_secs: secs_between(start, timeline.end()),
            records: reel.end().0,
            events: EventCounts {
                total,
                added: sum(|resource| resource.added),
                modified: sum(|resource| resource.modified),
                deleted: sum(|resource| resource.deleted),
                bytes_each: per_event(file_bytes, total),
            },
            objects: ObjectCounts {
                seen: sum(|resource| resource.objects_seen),
                live: sum(|resource| resource.objects_live),
            },
            sessions: session_summaries(timeline),
            clusters: cluster_summaries(timeline),
            not_covered: not_covered_summaries(timeline),
            provenance: provenance(timeline),
            redaction: redaction(timeline),
            accounts: AccountSummary::all(timeline),
            outages: outage_summaries(timeline),
            pauses: pause_summaries(timeline),
            labels: label_summaries(timeline),
            kubeconfig: KubeconfigSummary::all(timeline),
            marks: mark_summaries(timeline),
            counter_moves: CounterMove::all(timeline),
            odd_lines,
            anomalies,
            clock_steps: timeline.clock_steps(),
            unreadable: reel.losses().events,
            lost_records: reel.losses().records,
            damage: DamageSummary::all(timeline),
            resources,
        }
    }
}

#[derive(Deserialize)]
struct ClusterVersionObject {
    status: Option<ClusterVersionProgress>,
}

#[derive(Deserialize)]
struct ClusterVersionProgress {
    history: Option<Vec<ClusterVersionUpdate>>,
}

#[derive(Deserialize)]
struct ClusterVersionUpdate {
    version: String,
}

fn cluster_summaries(timeline: &Timeline) -> Vec<ClusterSummary> {
    let clusters = timeline.clusters();
    let about = |records: &Range<Seq>| {
        let nodes = recorded(timeline, "", "nodes");
        let nodes = nodes.map(|nodes| count_of(at_end(timeline, nodes, records).count()));
        (
            openshift_versions(timeline, records).unwrap_or_default(),
            nodes,
        )
    };
    // An import may have objects of a cluster that nothing in it identifies.
    if clusters.is_empty() {
        let (openshift_versions, nodes) = about(&(Seq(0)..timeline.reel().end()));
        let is_known = !openshift_versions.is_empty() || nodes.is_some();
        let unnamed = is_known.then(|| ClusterSummary {
            since: timeline.start(),
            uid: String::new(),
            versions: Vec::new(),
            openshift_versions,
            nodes,
        });
        return unnamed.into_iter().collect();
    }
    let begins = clusters.iter().map(|cluster| cluster.first);
    let ends = begins.skip(1).chain([timeline.reel().end()]);
    // What precedes the name of the first cluster is of it, too.
    let mut from = Seq(0);
    let summaries = clusters.iter().zip(ends).map(|(cluster, to)| {
        let records = std::mem::replace(&mut from, to)..to;
        let (openshift_versions, nodes) = about(&records);
        ClusterSummary {
            since: cluster.from,
            uid: cluster.uid.clone(),
            versions: cluster.versions.clone(),
            openshift_versions,
            nodes,
        }
    });
    summaries.collect()
}

/// Returns the last versions of the objects that were there at the end of a cluster's records.
fn at_end(
    timeline: &Timeline,
    resource: ResourceId,
    records: &Range<Seq>,
) -> impl Iterator<Item = Seq> {
    let reel = timeline.reel();
    let objects = timeline.objects_of(resource).iter();
    objects.filter_map(move |object| {
        let mut versions = reel.versions(*object).iter().rev();
        let last = *versions.find(|seq| **seq < records.end)?;
        let is_replaced = timeline.replaced_by(*object);
        let is_there = records.contains(&last)
            && reel.kind_of(last) != Some(EventType::Deleted)
            && is_replaced.is_none_or(|by| by >= records.end);
        is_there.then_some(last)
    })
}

fn recorded(timeline: &Timeline, group: &str, plural: &str) -> Option<ResourceId> {
    timeline
        .resources()
        .iter()
        .filter(|info| info.group == group && info.plural == plural)
        .map(|info| info.id)
        .max()
}

/// Reads the history of a cluster's last `ClusterVersion` object; the server keeps it newest first.
fn openshift_versions(timeline: &Timeline, records: &Range<Seq>) -> Option<Vec<String>> {
    let resource = recorded(timeline, "config.openshift.io", "clusterversions")?;
    let last = at_end(timeline, resource, records).max()?;
    let body = timeline.reel().body(last).ok()?;
    let version: ClusterVersionObject = serde_json::from_slice(&body).ok()?;
    let mut versions = Vec::new();
    for update in version.status?.history?.into_iter().rev() {
        if versions.last() != Some(&update.version) && !update.version.is_empty() {
            versions.push(update.version);
        }
    }
    Some(versions)
}

/// Returns the labels, in order; repetitions of later sessions are left out.
fn label_summaries(timeline: &Timeline) -> Vec<LabelSummary> {
    let mut labels: Vec<LabelSummary> = Vec::new();
    for entry in timeline.reel().notes() {
        let Note::Label { name, value } = &entry.note else {
            continue;
        };
        let is_known = |known: &LabelSummary| known.name == *name && known.value == *value;
        if !labels.iter().any(is_known) {
            labels.push(LabelSummary {
                name: name.clone(),
                value: value.clone(),
            });
        }
    }
    labels
}

/// Returns the marks, in order.
fn mark_summaries(timeline: &Timeline) -> Vec<MarkSummary> {
    let notes = timeline.reel().notes().iter();
    let marks = notes.filter_map(|entry| match &entry.note {
        Note::Mark { text } => Some(MarkSummary {
            time: entry.stamp.wall,
            text: text.clone(),
        }),
        _ => None,
    });
    marks.collect()
}

fn parts(timeline: &Timeline) -> FileParts {
    let sizes = timeline.reel().sizes();
    let known = [sizes.parts.bodies, sizes.parts.index, sizes.parts.tail];
    let known = known
        .iter()
        .fold(0u64, |sum, part| sum.saturating_add(*part));
    FileParts {
        bodies: sizes.parts.bodies,
        index: sizes.parts.index,
        tail: sizes.parts.tail,
        other: sizes.file.saturating_sub(known),
    }
}

fn session_summaries(timeline: &Timeline) -> Vec<SessionSummary> {
    let mut sessions: Vec<SessionSummary> =
        timeline.sessions().iter().map(SessionSummary::of).collect();
    // Only a recorder that ends in order finishes its reel.
    let last = sessions
        .last_mut()
        .filter(|_| timeline.reel().is_finished());
    if let Some(session) = last.filter(|session| session.end == SessionSummary::KILLED) {
        SessionSummary::UNREADABLE.clone_into(&mut session.end);
    }
    sessions
}

pub(crate) fn not_covered_summaries(timeline: &Timeline) -> Vec<NotCoveredSummary> {
    timeline
        .resources()
        .excluded()
        .iter()
        .map(NotCoveredSummary::of)
        .collect()
}

fn provenance(timeline: &Timeline) -> Vec<String> {
    writers_words(timeline)
        .filter(|text| !text.starts_with(REDACTION_PREFIX))
        .map(str::to_owned)
        .collect()
}

fn redaction(timeline: &Timeline) -> Vec<String> {
    writers_words(timeline)
        .filter_map(|text| text.strip_prefix(REDACTION_PREFIX))
        .map(str::to_owned)
        .collect()
}

/// Returns the provenance notes.
fn writers_words(timeline: &Timeline) -> impl Iterator<Item = &str> {
    let notes = timeline.reel().notes().iter();
    notes.filter_map(|entry| match &entry.note {
        Note::Provenance { text } => Some(text.as_str()),
        _ => None,
    })
}

fn pause_summaries(timeline: &Timeline) -> Vec<PauseSummary> {
    timeline.pauses().iter().map(PauseSummary::of).collect()
}

pub(crate) fn outage_summaries(timeline: &Timeline) -> Vec<OutageSummary> {
    timeline.outages().iter().map(OutageSummary::of).collect()
}

fn count_notes(timeline: &Timeline, wanted: fn(&Note) -> bool) -> u64 {
    let notes = timeline.reel().notes().iter();
    (0u64..)
        .zip(notes.filter(|entry| wanted(&entry.note)))
        .last()
        .map_or(0, |(last, _)| last + 1)
}

/// Describes how a recorder run ended.
fn session_end(end: Option<&SessionEnd>) -> String {
    match end {
        Some(SessionEnd::Signal(signal)) => format!("ended by {signal}"),
        Some(SessionEnd::Finished) => "finished".to_owned(),
        Some(SessionEnd::Failed(error)) => format!("failed: {error}"),
        None => SessionSummary::KILLED.to_owned(),
    }
}

/// Divides a file's bytes by its events, rounded to tenths.
fn per_event(bytes: u64, events: u64) -> f64 {
    let tenths = bytes
        .saturating_mul(10)
        .saturating_add(events / 2)
        .checked_div(events)
        .unwrap_or(0);
    // Tenths of bytes per event fit a double exactly, unless the file has petabytes.
    u32::try_from(tenths).map_or(f64::INFINITY, |tenths| f64::from(tenths) / 10.0)
}
