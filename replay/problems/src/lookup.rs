//! Objects of a reel, found by resource, uid or record.

use kubereel_cluster::RecordMark;
use kubereel_format::{ObjectId, RecordedAt, ResourceId, Seq, UidRef};
use kubereel_history::Timeline;
use kubereel_history::field::text;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// The objects of a reel by uid, for those that are asked for.
pub(crate) fn by_uid<'a>(
    timeline: &Timeline,
    wanted: impl IntoIterator<Item = &'a str>,
) -> BTreeMap<&'a str, ObjectId> {
    let wanted = wanted.into_iter().map(|uid| (UidRef::new(uid), uid));
    let wanted: HashMap<UidRef<'_>, &str> = wanted.collect();
    let objects = timeline.reel().objects();
    objects
        .filter_map(|object| Some((*wanted.get(&object.key.uid)?, object.id)))
        .collect()
}

/// Returns the recorded resources of a group and plural, in whatever versions.
pub(crate) fn resources(timeline: &Timeline, group: &str, plural: &str) -> Vec<ResourceId> {
    let all = timeline.resources().iter();
    all.filter(|info| info.group == group && info.plural == plural)
        .map(|info| info.id)
        .collect()
}

/// Returns the first record after a time.
pub(crate) fn mark_after(timeline: &Timeline, at: RecordedAt) -> RecordMark {
    RecordMark {
        seq: timeline.reel().seq_after(at),
        at,
    }
}

/// Reads the body of a version; what cannot be read says nothing.
pub(crate) fn read(timeline: &Timeline, seq: Seq) -> Option<Value> {
    let behind = Seq(seq.0.saturating_add(1));
    let body = timeline.reel().body_at(seq, behind).ok()?;
    serde_json::from_slice(&body).ok()
}

/// Returns the namespace and name of the Service that serves an `APIService`; both are empty for one that the API
/// server itself serves.
pub(crate) fn serving_service(api_service: &Value) -> (&str, &str) {
    let of = |field: &str| text(api_service, &format!("/spec/service/{field}"));
    (of("namespace"), of("name"))
}

/// Returns the labels at a JSON pointer.
pub(crate) fn labels(object: &Value, at: &str) -> Option<BTreeMap<String, String>> {
    let pairs = object.pointer(at)?.as_object()?.iter();
    let texts = pairs.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    Some(texts.collect())
}

/// Returns whether a text has the name of an object as a word. The name of a Node has dots, and a dot ends a sentence.
pub(crate) fn has_word(text: &str, name: &str) -> bool {
    let mut words = text.split(|letter: char| !(letter.is_alphanumeric() || "-.".contains(letter)));
    words.any(|word| word.trim_end_matches('.') == name)
}
