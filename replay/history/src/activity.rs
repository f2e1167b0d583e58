//! Counts writes: the changes of a time by resource, manager and object, in one pass. Of a body
//! only the managers are parsed, unless they do not identify the writer.

use crate::changes::ComparisonScope;
use crate::cursor::{CursorStep, StepBodies};
use crate::timeline::Timeline;
use crate::writers::{self, Authors};
use kubereel_format::{EventType, Evidence, ObjectId, ObjectKeyRef, RecordedAt, ResourceId, Seq};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A query for writes.
#[derive(Clone, Debug)]
pub struct ActivityQuestion<'a> {
    /// Only objects of this resource.
    pub resource: Option<ResourceId>,
    /// Only objects of this namespace.
    pub namespace: Option<&'a str>,
    /// Only changes after this record.
    pub from: Seq,
    /// Only changes before this record.
    pub to: Seq,
}

/// A number of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteCount {
    /// Changes: creations, updates and deletions.
    pub writes: u64,
    /// The size of all written bodies, in bytes.
    pub bytes: u64,
}

impl WriteCount {
    fn add(&mut self, bytes: u64) {
        self.writes += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// The counted changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteActivity {
    /// All changes.
    pub all: WriteCount,
    /// By resource.
    pub resources: BTreeMap<ResourceId, WriteCount>,
    /// By the name of the manager; an empty name means unknown managers. A change by several
    /// managers counts for each.
    pub managers: BTreeMap<String, WriteCount>,
    /// By object.
    pub objects: BTreeMap<ObjectId, WriteCount>,
    /// The records that could not be read.
    pub unreadable: u64,
}

#[derive(Deserialize)]
struct ManagedBody {
    metadata: ManagedMetadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ManagedMetadata {
    managed_fields: Option<Value>,
}

impl Timeline {
    /// Counts writes. Objects that existed when the recording started are not changes.
    ///
    /// `progress` receives each record.
    pub fn write_activity(
        &self,
        asked: &ActivityQuestion<'_>,
        mut progress: impl FnMut(Seq),
    ) -> WriteActivity {
        let is_asked = |key: ObjectKeyRef<'_>| {
            asked.resource.is_none_or(|only| only == key.resource)
                && asked.namespace.is_none_or(|only| only == key.namespace)
        };
        let mut activity = WriteActivity::default();
        for (step, bodies) in self.versions(asked.from..asked.to, is_asked) {
            progress(step.seq);
            let Some(key) = self.key_of(step.object) else {
                continue;
            };
            let evidence = self.reel().head(step.seq).map(|head| head.evidence);
            let at = self.wall_of(step.seq);
            let is_older =
                evidence.is_some_and(|evidence| evidence.is_first_look(at, self.start()));
            if is_older {
                continue;
            }
            let Ok(bodies) = bodies else {
                activity.unreadable += 1;
                continue;
            };
            let before = step.before.map(|before| self.wall_of(before));
            let was_seen = matches!(evidence, Some(Evidence::Live | Evidence::Reconstructed));
            let managers = match before {
                // The writer of a reconstructed or inferred change is not known.
                None if !was_seen => Vec::new(),
                before => managers(&step, &bodies, before),
            };
            let bytes = bodies.now.len();
            let bytes = u64::try_from(bytes).unwrap_or_default();
            activity.all.add(bytes);
            activity
                .resources
                .entry(key.resource)
                .or_default()
                .add(bytes);
            activity.objects.entry(step.object).or_default().add(bytes);
            if managers.is_empty() {
                activity
                    .managers
                    .entry(String::new())
                    .or_default()
                    .add(bytes);
            }
            for manager in managers {
                activity.managers.entry(manager).or_default().add(bytes);
            }
        }
        activity
    }
}

/// Returns the managers that wrote a version; none if they are not known, as of deletions.
fn managers(step: &CursorStep, bodies: &StepBodies, before: Option<RecordedAt>) -> Vec<String> {
    if step.kind == EventType::Deleted {
        return Vec::new();
    }
    let Some(now) = managed(&bodies.now) else {
        return Vec::new();
    };
    let writers = match (&bodies.before, before) {
        (Some(old), Some(before)) => {
            let noted = managed(old).map(|old| writers::noted(&old, &now));
            match noted {
                Some(noted) if !noted.is_empty() => noted,
                _ => from_changes(step, bodies, old, before).writers().to_vec(),
            }
        }
        _ => writers::at_creation(&now),
    };
    let mut names: Vec<String> = writers.into_iter().map(|writer| writer.manager).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The fields of an object from which its managers are read.
fn managed(body: &[u8]) -> Option<Value> {
    let body: ManagedBody = serde_json::from_slice(body).ok()?;
    Some(json!({"metadata": {"managedFields": body.metadata.managed_fields}}))
}

/// Finds the writers if the times of the managers do not distinguish them.
fn from_changes(step: &CursorStep, bodies: &StepBodies, old: &[u8], before: RecordedAt) -> Authors {
    let read = |body: &[u8]| serde_json::from_slice::<Value>(body).ok();
    let (Some(old), Some(new)) = (read(old), read(&bodies.now)) else {
        return Authors::Unknown;
    };
    let changes = ComparisonScope::default().changes(&old, &new);
    writers::between(&old, &new, &changes, step.at.micros_since(before))
}
