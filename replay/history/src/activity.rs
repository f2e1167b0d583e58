//! Counts writes: the changes of a time by resource, manager and object, in one pass. Of a body
//! only the managers are parsed, unless they do not identify the writer.

use crate::changes::ComparisonScope;
use crate::cursor::{CursorStep, StepBodies};
use crate::timeline::Timeline;
use crate::writers::{self, Authors, FieldWriter, MOST_MANAGERS};
use kubereel_format::{EventType, Evidence, ObjectId, ObjectKeyRef, RecordedAt, ResourceId, Seq};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A query for writes.
#[derive(Clone, Debug)]
pub struct ActivityQuestion<'a> {
    /// Only objects of these resources: one may be recorded in several versions.
    pub resources: Option<Vec<ResourceId>>,
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
    /// By resource; of one that is recorded in several versions, by the last.
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
struct ManagedBody<'a> {
    #[serde(borrow)]
    metadata: ManagedMetadata<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ManagedMetadata<'a> {
    #[serde(borrow)]
    managed_fields: Option<&'a RawValue>,
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
            let resources = asked.resources.as_ref();
            resources.is_none_or(|only| only.contains(&key.resource))
                && asked.namespace.is_none_or(|only| only == key.namespace)
        };
        let infos = self.resources().iter();
        let latest = infos.filter_map(|info| {
            let versions = self.resources().namesake_ids(info.id);
            Some((info.id, *versions.last()?))
        });
        let latest: BTreeMap<ResourceId, ResourceId> = latest.collect();
        let mut activity = WriteActivity::default();
        for (step, bodies) in self.versions(asked.from..asked.to, is_asked) {
            progress(step.seq);
            let Some(key) = self.key_of(step.object) else {
                continue;
            };
            let evidence = self.reel().head(step.seq).map(|head| head.evidence);
            let at = self.wall_of(step.seq);
            let is_first = evidence.is_some_and(|one| one.is_first_look(at, self.start()));
            // What an import changes or deletes in its first moment is a change.
            let is_change = evidence == Some(Evidence::Imported)
                && (step.kind != EventType::Added || step.before.is_some());
            if is_first && !is_change {
                continue;
            }
            let Ok(bodies) = bodies else {
                activity.unreadable += 1;
                continue;
            };
            let is_creation = self.is_creation(step.seq);
            // Without a uid, the version before a creation is the deletion of another object.
            let before = step.before.filter(|_| !is_creation);
            let before = before.map(|before| self.wall_of(before));
            let mut managers = managers(&step, &bodies, before);
            // Who created an object whose creation was not seen is not known, unless it has one manager only.
            if before.is_none() && managers.len() > 1 && !is_creation {
                managers.clear();
            }
            let bytes = bodies.now.len();
            let bytes = u64::try_from(bytes).unwrap_or_default();
            activity.all.add(bytes);
            let resource = latest.get(&key.resource).copied();
            activity
                .resources
                .entry(resource.unwrap_or(key.resource))
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
    let Some(now) = managed_entries(&bodies.now) else {
        return Vec::new();
    };
    let writers = match (&bodies.before, before) {
        (Some(old), Some(before)) => {
            let noted = managed_entries(old).map(|old| noted(&old, &now));
            match noted {
                Some(noted) if !noted.is_empty() => noted,
                _ => from_changes(step, bodies, old, before).writers().to_vec(),
            }
        }
        _ => writers::at_creation(&with_entries(&now)),
    };
    let mut names: Vec<String> = writers.into_iter().map(|writer| writer.manager).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the entries of an object's managedFields, as they are written.
fn managed_entries(body: &[u8]) -> Option<Vec<&RawValue>> {
    let body: ManagedBody<'_> = serde_json::from_slice(body).ok()?;
    let entries = body.metadata.managed_fields.map(RawValue::get);
    let entries: Option<Vec<&RawValue>> = entries.and_then(|text| serde_json::from_str(text).ok());
    let entries = entries.filter(|entries| entries.len() <= MOST_MANAGERS);
    Some(entries.unwrap_or_default())
}

/// Finds the managers whose entries differ between two versions. Most entries are written the same in both, and
/// need not be parsed: a server keeps one for each manager.
fn noted(old: &[&RawValue], now: &[&RawValue]) -> Vec<FieldWriter> {
    let changed = not_in(now, old);
    if changed.is_empty() {
        return Vec::new();
    }
    writers::noted(&with_entries(&not_in(old, now)), &with_entries(&changed))
}

/// Returns the entries that are not written the same among others.
fn not_in<'a>(entries: &[&'a RawValue], others: &[&RawValue]) -> Vec<&'a RawValue> {
    let is_other = |entry: &&RawValue| others.iter().all(|other| other.get() != entry.get());
    entries.iter().copied().filter(is_other).collect()
}

/// Returns an object with these managedFields and nothing else.
fn with_entries(entries: &[&RawValue]) -> Value {
    let entries = entries.iter();
    let entries: Vec<Value> = entries
        .filter_map(|entry| serde_json::from_str(entry.get()).ok())
        .collect();
    json!({"metadata": {"managedFields": entries}})
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The entries of some managers: each with a time and some fields.
    fn entries() -> impl Strategy<Value = Vec<Value>> {
        prop::collection::btree_map(
            0..5_u8,
            (0..3_u8, prop::collection::btree_set(0..3_u8, 0..3)),
            0..5,
        )
        .prop_map(|entries| {
            let entries = entries.into_iter().map(|(manager, (second, fields))| {
                let fields = fields
                    .into_iter()
                    .map(|field| (format!("f:{field}"), json!({})));
                let fields: serde_json::Map<String, Value> = fields.collect();
                json!({
                    "manager": format!("m{manager}"),
                    "time": format!("2026-11-21T14:00:0{second}Z"),
                    "fieldsV1": fields,
                })
            });
            entries.collect()
        })
    }

    proptest! {
        #[test]
        fn entries_that_are_the_same_need_not_be_parsed(old in entries(), now in entries()) {
            let object = |entries: &[Value]| json!({"metadata": {"managedFields": entries}});
            let (old, now) = (object(&old), object(&now));
            let (old_text, now_text) = (old.to_string(), now.to_string());
            let old_entries = managed_entries(old_text.as_bytes()).unwrap();
            let now_entries = managed_entries(now_text.as_bytes()).unwrap();
            prop_assert_eq!(noted(&old_entries, &now_entries), writers::noted(&old, &now));
        }
    }

    #[test]
    fn odd_managed_fields_are_no_entries() {
        for text in [r#"{"metadata":{}}"#, r#"{"metadata":{"managedFields":3}}"#] {
            assert_eq!(
                managed_entries(text.as_bytes()).map(|entries| entries.len()),
                Some(0)
            );
        }
        let many = vec![json!({"manager": "m"}); MOST_MANAGERS + 1];
        let many = json!({"metadata": {"managedFields": many}}).to_string();
        assert_eq!(
            managed_entries(many.as_bytes()).map(|entries| entries.len()),
            Some(0)
        );
        assert!(managed_entries(b"{}").is_none());
    }
}
