//! Objects of a reel, found by resource, uid or record.

use kubereel_format::{ObjectId, ResourceId, Seq, UidRef};
use kubereel_history::field::{items, text};
use kubereel_history::{LabelSelector, Timeline};
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

/// Makes a selector of a `LabelSelector` object, or of the map of labels that older kinds have.
pub(crate) fn match_labels(selector: &Value) -> Option<LabelSelector> {
    let is_map =
        selector.get("matchLabels").is_none() && selector.get("matchExpressions").is_none();
    let labels = if is_map {
        Some(selector)
    } else {
        selector.get("matchLabels")
    };
    let labels = labels.and_then(Value::as_object).into_iter().flatten();
    let mut parts: Vec<String> = labels
        .filter_map(|(name, value)| Some(format!("{name}={}", value.as_str()?)))
        .collect();
    for expression in items(selector, "/matchExpressions") {
        let key = text(expression, "/key");
        let values = items(expression, "/values").iter();
        let values: Vec<&str> = values.filter_map(Value::as_str).collect();
        let values = values.join(",");
        parts.push(match text(expression, "/operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            "DoesNotExist" => format!("!{key}"),
            // The server takes no other.
            _ => return None,
        });
    }
    parts.join(",").parse().ok()
}

/// Returns the labels at a JSON pointer.
pub(crate) fn labels(object: &Value, at: &str) -> Option<BTreeMap<String, String>> {
    let pairs = object.pointer(at)?.as_object()?.iter();
    let texts = pairs.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    Some(texts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_selector_has_labels_and_expressions() {
        let selects = |selector: Value, object: Value| {
            let labels = labels(&object, "").expect("labels");
            match_labels(&selector).map(|selector| selector.matches(&labels))
        };
        let web = || json!({"app": "web"});
        assert_eq!(selects(web(), web()), Some(true));
        assert_eq!(selects(json!({}), web()), Some(true));
        let one_of = |values: Value| json!({"matchExpressions": [{"key": "app", "operator": "In", "values": values}]});
        assert_eq!(selects(one_of(json!(["web", "api"])), web()), Some(true));
        assert_eq!(selects(one_of(json!(["api"])), web()), Some(false));
        let absent = json!({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]});
        assert_eq!(selects(absent, web()), Some(false));
        let odd = json!({"matchExpressions": [{"key": "app", "operator": "Like"}]});
        assert_eq!(selects(odd, web()), None);
    }
}
