//! Finds the newest time inside objects: the best estimate of the moment at which they were
//! gathered.
//!
//! Only members are read whose value is the time of a past event. Others are in the future, such as
//! the end of a certificate.

use kubereel_format::RecordedAt;
use serde_json::Value;

/// The members, at any place outside of `spec` and `data`.
const HAPPENED: [&str; 21] = [
    "acquireTime",
    "completionTime",
    "creationTimestamp",
    "deprecatedLastTimestamp",
    "eventTime",
    "finishedAt",
    "firstTimestamp",
    "lastHeartbeatTime",
    "lastObservedTime",
    "lastProbeTime",
    "lastScheduleTime",
    "lastSuccessfulTime",
    "lastTimestamp",
    "lastTransitionTime",
    "lastUpdateTime",
    "renewTime",
    "startTime",
    "startedAt",
    "startedTime",
    "time",
    "updateTime",
];

/// The deepest nesting that is searched.
const DEPTH: usize = 24;

/// Finds the newest time inside an object.
pub(crate) fn newest_time(object: &Value) -> Option<RecordedAt> {
    let is_lease = object.get("kind").and_then(Value::as_str) == Some("Lease");
    let mut newest = None;
    for (name, member) in object.as_object()? {
        if (name == "spec" && !is_lease) || name == "data" || name == "stringData" {
            continue;
        }
        look(name, member, DEPTH, &mut newest);
    }
    newest
}

fn look(name: &str, value: &Value, depth: usize, newest: &mut Option<RecordedAt>) {
    match value {
        Value::String(text) if HAPPENED.contains(&name) => {
            if let Ok(at) = text.parse::<jiff::Timestamp>() {
                *newest = (*newest).max(Some(RecordedAt::from_micros(at.as_microsecond())));
            }
        }
        // Fields that users write may have any meaning.
        Value::Object(_) if name == "annotations" || name == "labels" || name == "fieldsV1" => {}
        Value::Object(members) if depth > 0 => {
            for (name, member) in members {
                look(name, member, depth - 1, newest);
            }
        }
        Value::Array(items) if depth > 0 => {
            for item in items {
                look("", item, depth - 1, newest);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_newest_time_is_one_of_something_that_happened() {
        let object = json!({
            "kind": "Secret",
            "metadata": {
                "creationTimestamp": "2021-07-31T10:00:00Z",
                "annotations": {"lastUpdateTime": "2030-01-01T00:00:00Z", "not-after": "2031-01-01T00:00:00Z"},
                "managedFields": [{"time": "2021-07-31T10:00:05Z", "fieldsV1": {"time": "2030-01-01T00:00:00Z"}}],
            },
            "spec": {"startTime": "2029-01-01T00:00:00Z"},
            "status": {"notAfter": "2031-01-01T00:00:00Z", "conditions": [{"lastTransitionTime": "2021-07-31T10:00:07Z"}]},
        });
        let expected: jiff::Timestamp = "2021-07-31T10:00:07Z".parse().expect("a time");
        let found = newest_time(&object).expect("a time");
        assert_eq!(found, RecordedAt::from_micros(expected.as_microsecond()));
        let lease = json!({"kind": "Lease", "spec": {"renewTime": "2021-07-31T10:00:07.000000Z"}});
        assert_eq!(newest_time(&lease), Some(found));
        assert_eq!(
            newest_time(&json!({"kind": "Pod", "metadata": {"creationTimestamp": null}})),
            None
        );
    }
}
