//! The columns of Events, in the core form and in that of `events.k8s.io`.

use super::super::part::{ObjectPart, UNKNOWN};
use kubereel_format::RecordedAt;

pub(super) fn event_cells(event: ObjectPart<'_>, at: RecordedAt) -> Vec<String> {
    // The newer API has other names for the same members.
    let either = |old: &str, new: &str| {
        let part = event.at(old);
        if part.is_there() { part } else { event.at(new) }
    };
    let seen = |time: ObjectPart<'_>| time.time().is_some().then(|| time.since(at));
    let first = seen(either("firstTimestamp", "deprecatedFirstTimestamp"))
        .or_else(|| seen(event.at("eventTime")))
        .unwrap_or_else(|| UNKNOWN.to_owned());
    let series = event.at("series");
    let (last, count) = if series.is_there() {
        let last = series.at("lastObservedTime").since(at);
        (last, series.at("count").whole())
    } else {
        let last = seen(either("lastTimestamp", "deprecatedLastTimestamp"));
        // A single occurrence has no count.
        let count = either("count", "deprecatedCount").whole();
        let count = if count == 0 { 1 } else { count };
        (last.unwrap_or_else(|| first.clone()), count)
    };
    let object = either("involvedObject", "regarding");
    vec![
        last,
        target(object),
        object.at("fieldPath").text().to_owned(),
        source(
            either("source", "deprecatedSource"),
            either("reportingComponent", "reportingController").text(),
            event.at("reportingInstance").text(),
        ),
        either("message", "note").text().trim().to_owned(),
        first,
        count.to_string(),
    ]
}

fn target(object: ObjectPart<'_>) -> String {
    let kind = object.at("kind").text().to_lowercase();
    match object.at("name").text() {
        "" => kind,
        name => format!("{kind}/{name}"),
    }
}

fn source(source: ObjectPart<'_>, controller: &str, instance: &str) -> String {
    let first = |text: &str, other: &str| if text.is_empty() { other } else { text }.to_owned();
    let component = first(source.at("component").text(), controller);
    match first(source.at("host").text(), instance).as_str() {
        "" => component,
        host => format!("{component}, {host}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::kind::row_of;
    use super::*;
    use serde_json::{Value, json};

    /// A minute after 14:00.
    const AT: RecordedAt = RecordedAt::from_micros(1_795_269_660_000_000);

    fn cells(event: &Value) -> Vec<String> {
        row_of("events", event, AT)
    }

    #[test]
    fn an_event_that_repeats_in_the_core_form() {
        let event = json!({
            "metadata": {"name": "a.1"},
            "involvedObject": {"kind": "Pod", "name": "a", "fieldPath": "spec.containers{a}"},
            "reason": "BackOff", "type": "Warning", "message": " said\n",
            "source": {"component": "kubelet", "host": "node-1"},
            "firstTimestamp": "2026-11-21T13:59:00Z", "lastTimestamp": "2026-11-21T14:00:50Z",
            "count": 4, "eventTime": null, "reportingComponent": "other", "reportingInstance": "",
        });
        assert_eq!(
            cells(&event),
            [
                "10s",
                "Warning",
                "BackOff",
                "pod/a",
                "spec.containers{a}",
                "kubelet, node-1",
                "said",
                "2m",
                "4",
                "a.1"
            ]
        );
    }

    #[test]
    fn a_single_event_of_the_newer_interface() {
        let event = json!({
            "metadata": {"name": "b"},
            "involvedObject": {"kind": "Namespace"},
            "reason": "Made", "type": "Normal", "message": "made",
            "source": {}, "firstTimestamp": null, "lastTimestamp": null,
            "eventTime": "2026-11-21T14:00:30.000000Z",
            "reportingComponent": "controller", "reportingInstance": "controller-0",
        });
        assert_eq!(
            cells(&event),
            [
                "30s",
                "Normal",
                "Made",
                "namespace",
                "",
                "controller, controller-0",
                "made",
                "30s",
                "1",
                "b"
            ]
        );
    }

    #[test]
    fn a_series_says_when_and_how_often() {
        let series = json!({"count": 9, "lastObservedTime": "2026-11-21T14:00:55.500000Z"});
        let event = json!({
            "eventTime": "2026-11-21T14:00:30.000000Z", "series": series,
            "lastTimestamp": "2026-11-21T14:00:59Z", "count": 3,
        });
        let cells = cells(&event);
        assert_eq!([&cells[0], &cells[7], &cells[8]], ["4s", "30s", "9"]);
    }

    #[test]
    fn both_forms_say_the_same() {
        let new = json!({
            "metadata": {"name": "a.1"},
            "regarding": {"kind": "Pod", "name": "a"}, "note": "said",
            "reason": "BackOff", "type": "Warning", "deprecatedSource": {"component": "kubelet"},
            "deprecatedFirstTimestamp": "2026-11-21T13:59:00Z",
            "deprecatedLastTimestamp": "2026-11-21T14:00:50Z", "deprecatedCount": 4,
            "reportingController": "other",
        });
        let old = json!({
            "metadata": {"name": "a.1"},
            "involvedObject": {"kind": "Pod", "name": "a"}, "message": "said",
            "reason": "BackOff", "type": "Warning", "source": {"component": "kubelet"},
            "firstTimestamp": "2026-11-21T13:59:00Z",
            "lastTimestamp": "2026-11-21T14:00:50Z", "count": 4,
            "reportingComponent": "other",
        });
        assert_eq!(cells(&new), cells(&old));
    }

    #[test]
    fn without_any_time_it_is_unknown_when() {
        let cells = cells(&json!({"involvedObject": {"kind": "Pod", "name": "a"}}));
        assert_eq!([&cells[0], &cells[7], &cells[8]], [UNKNOWN, UNKNOWN, "1"]);
    }
}
