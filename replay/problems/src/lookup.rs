//! Objects of a reel, found by resource, uid or record.

use kubereel_format::{ObjectId, ResourceId, Seq};
use kubereel_history::{LabelSelector, Timeline};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The objects of a reel by uid, for those that are asked for.
pub(crate) fn by_uid<'t>(
    timeline: &'t Timeline,
    wanted: &BTreeSet<&str>,
) -> BTreeMap<&'t str, ObjectId> {
    let objects = timeline.reel().objects().iter();
    objects
        .filter(|object| wanted.contains(object.key.uid.as_str()))
        .map(|object| (object.key.uid.as_str(), object.id))
        .collect()
}

/// Gives the recorded resources of a group and plural, in whatever versions.
pub(crate) fn resources(timeline: &Timeline, group: &str, plural: &str) -> Vec<ResourceId> {
    let all = timeline.resources().iter();
    all.filter(|info| info.group == group && info.plural == plural)
        .map(|info| info.id)
        .collect()
}

/// Reads the body of a version; what cannot be read says nothing.
pub(crate) fn read(timeline: &Timeline, seq: Seq) -> Option<Value> {
    let body = timeline.reel().body(seq).ok()?;
    serde_json::from_slice(&body).ok()
}

/// Makes a selector of the labels that a `LabelSelector` object matches; expressions are left out.
pub(crate) fn match_labels(selector: &Value) -> Option<LabelSelector> {
    let labels = selector
        .get("matchLabels")
        .unwrap_or(selector)
        .as_object()?;
    let parts: Vec<String> = labels
        .iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", value.as_str()?)))
        .collect();
    parts.join(",").parse().ok()
}
