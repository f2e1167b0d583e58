//! Owns the sums over a whole reel. Refuses what needs a body.

use super::cluster::ClusterSummary;
use super::counters::CounterMoveSummary;
use super::outside::{LabelSummary, MarkSummary};
use super::resource::ResourceSummary;
use super::written::{rfc3339, secs_between, session_end};
use crate::proof::AccountSummary;
use crate::timeline::Timeline;
use kubereel_format::{EventType, Lifecycle, Note, REDACTION_SAYS, RecordedAt};
use serde::Serialize;

/// What is in a reel.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// The file.
    pub file: String,
    /// Its bytes.
    pub file_bytes: u64,
    /// The bytes of its parts.
    pub parts: Parts,
    /// The version of its format.
    pub format: String,
    /// Whether the recorder finished it.
    pub finished: bool,
    /// The first record's time.
    #[serde(serialize_with = "rfc3339")]
    pub start: RecordedAt,
    /// The last record's time.
    #[serde(serialize_with = "rfc3339")]
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
    /// The clusters met.
    pub clusters: Vec<ClusterSummary>,
    /// What is known of each recorded resource.
    pub resources: Vec<ResourceSummary>,
    /// What of the cluster was not recorded.
    pub not_covered: Vec<NotCoveredSummary>,
    /// What an import says of itself, in its own words; empty for what the recorder wrote.
    pub provenance: Vec<String>,
    /// What sessions say of their redaction: the policy, the user's own rules, how many values were
    /// replaced by which rule. A session that was killed says nothing.
    pub redaction: Vec<String>,
    /// What became of the revisions of the cluster's storage, an account an epoch; none without probes.
    pub accounts: Vec<AccountSummary>,
    /// The times without an answer of the server.
    pub outages: Vec<OutageSummary>,
    /// Public properties of the job that recorded.
    pub labels: Vec<LabelSummary>,
    /// Words of somebody outside, such as "tests started".
    pub marks: Vec<MarkSummary>,
    /// The moves of the counters that were sampled.
    pub counter_moves: Vec<CounterMoveSummary>,
    /// Lines of the server that were no events of a known form; they are kept.
    pub odd_lines: u64,
    /// Breaches of the protocol that were seen.
    pub anomalies: u64,
    /// Steps of the recorder's wall clock.
    pub clock_steps: u64,
    /// What of the file cannot be read.
    pub damage: Vec<DamageSummary>,
}

/// The bytes of a file's parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Parts {
    /// Objects.
    pub bodies: u64,
    /// Times, names, notes.
    pub index: u64,
    /// What was not sealed when the recorder stopped.
    pub tail: u64,
    /// The database's own.
    pub other: u64,
}

/// How many events there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EventCounts {
    /// All of them.
    pub total: u64,
    /// Objects that appeared, or were there at the start.
    pub added: u64,
    /// Changes.
    pub modified: u64,
    /// Deletions.
    pub deleted: u64,
    /// The file's bytes for each event; 0 without events.
    pub bytes_each: f64,
}

/// How many objects there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ObjectCounts {
    /// Ever.
    pub seen: u64,
    /// At the end.
    pub live: u64,
}

/// One run of the recorder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SessionSummary {
    /// When it began.
    #[serde(serialize_with = "rfc3339")]
    pub from: RecordedAt,
    /// When its last record was written.
    #[serde(serialize_with = "rfc3339")]
    pub to: RecordedAt,
    /// The recorder's version.
    pub recorder: String,
    /// How it ended, in words; `killed` if it did not end in order.
    pub end: String,
    /// The redaction policy; 0 means that nothing was redacted.
    pub redaction_policy: u32,
}

/// A resource that was not recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NotCoveredSummary {
    /// `plural.group`, or the plural alone for the core group.
    pub resource: String,
    /// Its version.
    pub version: String,
    /// Why.
    pub reason: String,
    /// The server's words, or the resource that stands for it.
    pub detail: String,
}

/// A time without an answer of the server.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OutageSummary {
    /// When it was noticed.
    #[serde(serialize_with = "rfc3339")]
    pub from: RecordedAt,
    /// When it was over, or the recorder stopped.
    #[serde(serialize_with = "rfc3339")]
    pub to: RecordedAt,
    /// How long it lasted.
    pub span_secs: f64,
    /// What happened instead of an answer.
    pub error: String,
    /// Whether no server had answered yet: a cluster that is not up yet is no outage.
    pub before_first_answer: bool,
    /// The endpoint that probes asked; `None` where only discovery noticed.
    pub endpoint: Option<String>,
    /// Of what class the failure was; `None` where only discovery noticed.
    pub class: Option<String>,
    /// How many probes failed, if that is known.
    pub failed_probes: Option<u64>,
}

/// A place that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DamageSummary {
    /// Where.
    pub place: String,
    /// What is wrong.
    pub cause: String,
}

impl Timeline {
    /// Sums up what is in the reel.
    pub fn summary(&self) -> Summary {
        let reel = self.reel();
        let first = self.discovered_first();
        let resources: Vec<ResourceSummary> = self
            .resources()
            .iter()
            .map(|info| self.sum_up(info, first.as_ref()))
            .collect();
        let sum = |part: fn(&ResourceSummary) -> u64| resources.iter().map(part).sum();
        let file_bytes = reel.sizes().file;
        let total = reel.event_count();
        let (odd_lines, anomalies, clock_steps) = self.oddities();
        Summary {
            file: reel.path().display().to_string(),
            file_bytes,
            parts: self.parts(),
            format: reel.format().to_string(),
            finished: reel.is_finished(),
            start: self.start(),
            end: self.end(),
            span_secs: secs_between(self.start(), self.end()),
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
            sessions: self.session_summaries(),
            clusters: self.cluster_summaries(),
            not_covered: self.not_covered_summaries(),
            provenance: self.provenance(),
            redaction: self.redaction(),
            accounts: self.account_summaries(),
            outages: self.outage_summaries(),
            labels: self.label_summaries(),
            marks: self.mark_summaries(),
            counter_moves: self.counter_move_summaries(),
            odd_lines,
            anomalies,
            clock_steps,
            damage: self.damage_summaries(),
            resources,
        }
    }

    /// Tells whether an object exists after its last event.
    pub(crate) fn is_alive(&self, object: kubereel_format::ObjectId) -> bool {
        let last = self.reel().versions(object).last();
        last.and_then(|&seq| self.reel().kind_of(seq))
            .is_some_and(|kind| kind != EventType::Deleted)
    }

    fn parts(&self) -> Parts {
        let sizes = self.reel().sizes();
        let known = [sizes.parts.bodies, sizes.parts.index, sizes.parts.tail];
        let known = known
            .iter()
            .fold(0u64, |sum, part| sum.saturating_add(*part));
        Parts {
            bodies: sizes.parts.bodies,
            index: sizes.parts.index,
            tail: sizes.parts.tail,
            other: sizes.file.saturating_sub(known),
        }
    }

    fn session_summaries(&self) -> Vec<SessionSummary> {
        self.sessions()
            .iter()
            .map(|session| SessionSummary {
                from: session.from,
                to: session.to,
                recorder: session.recorder.clone(),
                end: session_end(session.end.as_ref()),
                redaction_policy: session.redaction_policy,
            })
            .collect()
    }

    pub(crate) fn not_covered_summaries(&self) -> Vec<NotCoveredSummary> {
        self.resources()
            .excluded()
            .iter()
            .map(|excluded| NotCoveredSummary {
                resource: excluded.qualified(),
                version: excluded.version.clone(),
                reason: excluded.reason.as_str().to_owned(),
                detail: excluded.detail.clone(),
            })
            .collect()
    }

    fn provenance(&self) -> Vec<String> {
        self.writers_words()
            .filter(|text| !text.starts_with(REDACTION_SAYS))
            .map(str::to_owned)
            .collect()
    }

    fn redaction(&self) -> Vec<String> {
        self.writers_words()
            .filter_map(|text| text.strip_prefix(REDACTION_SAYS))
            .map(str::to_owned)
            .collect()
    }

    /// Gives what the writers of the reel say of themselves.
    fn writers_words(&self) -> impl Iterator<Item = &str> {
        let notes = self.reel().notes().iter();
        notes.filter_map(|entry| match &entry.note {
            Note::Provenance { text } => Some(text.as_str()),
            _ => None,
        })
    }

    pub(crate) fn outage_summaries(&self) -> Vec<OutageSummary> {
        self.outages()
            .iter()
            .map(|outage| OutageSummary {
                from: outage.from,
                to: outage.to,
                span_secs: secs_between(outage.from, outage.to),
                error: outage.error.clone(),
                before_first_answer: outage.is_before_first_answer,
                endpoint: outage.probed.as_ref().map(|probed| probed.endpoint.clone()),
                class: outage
                    .probed
                    .as_ref()
                    .map(|probed| probed.class.as_str().to_owned()),
                failed_probes: outage.probed.as_ref().and_then(|probed| probed.failed),
            })
            .collect()
    }

    fn damage_summaries(&self) -> Vec<DamageSummary> {
        self.reel()
            .damage()
            .iter()
            .map(|damage| DamageSummary {
                place: damage.place.clone(),
                cause: damage.cause.clone(),
            })
            .collect()
    }

    fn oddities(&self) -> (u64, u64, u64) {
        let count = |wanted: fn(&Note) -> bool| {
            let notes = self.reel().notes().iter();
            (0u64..)
                .zip(notes.filter(|entry| wanted(&entry.note)))
                .last()
                .map_or(0, |(last, _)| last + 1)
        };
        (
            count(|note| matches!(note, Note::OddLine { .. })),
            count(|note| matches!(note, Note::Anomaly { .. })),
            count(|note| matches!(note, Note::ClockStepped { .. })),
        )
    }

    /// Gives the recorder's waits for a kubeconfig, in words, with their times.
    pub fn waits(&self) -> Vec<(RecordedAt, String)> {
        let waits = self.reel().notes().iter().filter_map(|entry| {
            let text = match &entry.note {
                Note::Lifecycle(Lifecycle::WaitingForKubeconfig { path }) => {
                    format!("waited for a kubeconfig at {path}")
                }
                Note::Lifecycle(Lifecycle::KubeconfigUnusable { path, error }) => {
                    format!("the kubeconfig cannot be used: {error}: {path}")
                }
                _ => return None,
            };
            Some((entry.stamp.wall, text))
        });
        waits.collect()
    }
}

/// Divides a file's bytes by its events, rounded to tenths.
fn per_event(bytes: u64, events: u64) -> f64 {
    let tenths = bytes
        .saturating_mul(10)
        .saturating_add(events / 2)
        .checked_div(events)
        .unwrap_or(0);
    // Tenths of bytes an event fit a double exactly, or the file has petabytes.
    u32::try_from(tenths).map_or(f64::INFINITY, |tenths| f64::from(tenths) / 10.0)
}
