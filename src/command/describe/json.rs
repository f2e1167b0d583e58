//! Owns the description that programs read: one JSON object.

use super::Subject;
use crate::command::{events, history};
use crate::command_error::CommandError;
use crate::field_text;
use crate::screen::Screen;
use kubereel_history::{Authors, Relatives, timetext, write_json};
use serde_json::{Value, json};

/// Prints the object.
pub(super) fn print(subject: &Subject<'_>, screen: &mut Screen) -> Result<(), CommandError> {
    let timeline = subject.timeline;
    let told = subject.told;
    let writers = match &told.authors {
        Authors::Unknown => Value::Null,
        known => known
            .writers()
            .iter()
            .map(field_text::writer_json)
            .collect(),
    };
    let conditions: Vec<Value> = told
        .conditions
        .iter()
        .map(|condition| {
            json!({
                "type": condition.kind, "status": condition.status, "since": condition.since,
                "reason": condition.reason, "message": condition.message,
            })
        })
        .collect();
    let around: Vec<Value> = told
        .around
        .iter()
        .map(|item| history::json::written(timeline, item))
        .collect();
    let said: Vec<Value> = told
        .events
        .iter()
        .map(|logged| events::value(timeline, logged))
        .collect();
    let scalars: serde_json::Map<String, Value> = told
        .scalars
        .iter()
        .map(|scalar| (scalar.path.clone(), scalar.value.clone()))
        .collect();
    let value = json!({
        "resource": subject.named.resource.qualified(),
        "namespace": subject.held.namespace,
        "name": subject.held.name,
        "at": timetext::rfc3339(subject.state.at),
        "is_known": subject.state.certainty.is_known(),
        "seq": told.seq.0,
        "received": timetext::rfc3339(told.received),
        "rv": told.rv,
        "uid": told.uid,
        "created": told.created,
        "deletion_asked": told.deletion_asked,
        "writers": writers,
        "labels": told.labels,
        "annotations": told.annotations,
        "scalars": scalars,
        "conditions": conditions,
        "owners": owners(&told.relatives),
        "children": children(subject),
        "resources_not_searched_for_children": told.relatives.unsearched,
        "around": around,
        "versions_left_out": told.left_out,
        "events": said,
    });
    write_json(screen.out(), &value).map_err(|error| CommandError::output(&error))
}

fn owners(relatives: &Relatives) -> Vec<Value> {
    let owners = relatives.owners.iter();
    owners
        .map(|owner| {
            json!({
                "api_version": owner.api_version, "kind": owner.kind, "name": owner.name,
                "uid": owner.uid, "controller": owner.controller == Some(true),
                "exists": owner.exists,
            })
        })
        .collect()
}

fn children(subject: &Subject<'_>) -> Vec<Value> {
    let children = subject.told.relatives.children.iter();
    children
        .map(|child| {
            let mut resources = subject.timeline.resources().iter();
            let info = resources.find(|info| info.id == child.resource);
            json!({
                "resource": info.map(kubereel_format::ResourceInfo::qualified),
                "namespace": child.held.namespace, "name": child.held.name,
                "controller": child.is_controlled,
            })
        })
        .collect()
}
