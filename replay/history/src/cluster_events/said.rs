//! Owns what an Event says, in either of its two shapes: that of the core group and that of
//! `events.k8s.io`. Refuses to trust its times: they are the component's own.

use crate::timetext;
use kubereel_format::RecordedAt;
use serde::Deserialize;

/// The object that an Event is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Regarding {
    /// Its kind.
    pub kind: String,
    /// Its namespace; empty for cluster-scoped objects.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid; empty if the component did not say.
    pub uid: String,
    /// Its group and version; empty if the component did not say.
    pub api_version: String,
}

/// What an Event says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// `Normal` or `Warning`.
    pub severity: String,
    /// Why, as one word.
    pub reason: String,
    /// The message.
    pub message: String,
    /// What it is about.
    pub regarding: Regarding,
    /// The component that said so.
    pub component: String,
    /// How often it was said until then; at least 1.
    pub count: u64,
    /// When it was said last, on the component's clock.
    pub last: Option<RecordedAt>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Body {
    r#type: Option<String>,
    reason: Option<String>,
    message: Option<String>,
    note: Option<String>,
    involved_object: Option<Regarding>,
    regarding: Option<Regarding>,
    source: Option<Source>,
    deprecated_source: Option<Source>,
    reporting_component: Option<String>,
    reporting_controller: Option<String>,
    count: Option<u64>,
    deprecated_count: Option<u64>,
    series: Option<Series>,
    last_timestamp: Option<String>,
    deprecated_last_timestamp: Option<String>,
    first_timestamp: Option<String>,
    event_time: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Source {
    component: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Series {
    count: Option<u64>,
    last_observed_time: Option<String>,
}

impl Said {
    /// Reads it from an Event's bytes.
    ///
    /// # Errors
    /// When the bytes are no Event.
    pub fn of(body: &[u8]) -> Result<Self, serde_json::Error> {
        let body: Body = serde_json::from_slice(body)?;
        let series = body.series.unwrap_or_default();
        let source = body.source.or(body.deprecated_source);
        let component = [
            source.and_then(|source| source.component),
            body.reporting_component,
            body.reporting_controller,
        ];
        let last = [
            series.last_observed_time,
            body.last_timestamp,
            body.deprecated_last_timestamp,
            body.event_time,
            body.first_timestamp,
        ];
        let count = [series.count, body.count, body.deprecated_count];
        Ok(Self {
            severity: body.r#type.unwrap_or_default(),
            reason: body.reason.unwrap_or_default(),
            message: body.message.or(body.note).unwrap_or_default(),
            regarding: body.involved_object.or(body.regarding).unwrap_or_default(),
            component: first(component).unwrap_or_default(),
            count: count.into_iter().flatten().max().unwrap_or(1).max(1),
            last: last
                .iter()
                .flatten()
                .find_map(|text| timetext::parsed(text)),
        })
    }
}

fn first(texts: [Option<String>; 3]) -> Option<String> {
    texts.into_iter().flatten().find(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_shapes_say_the_same() {
        let core = br#"{"type":"Warning","reason":"BackOff","message":"back-off","count":7,
            "involvedObject":{"kind":"Pod","namespace":"shop","name":"web-0","uid":"u"},
            "source":{"component":"kubelet"},"lastTimestamp":"2026-11-21T14:00:00Z"}"#;
        let newer = br#"{"type":"Warning","reason":"BackOff","note":"back-off",
            "regarding":{"kind":"Pod","namespace":"shop","name":"web-0","uid":"u"},
            "reportingController":"kubelet","series":{"count":7,"lastObservedTime":"2026-11-21T14:00:00.000000Z"}}"#;
        let core = Said::of(core).expect("an Event");
        assert_eq!(core, Said::of(newer).expect("an Event"));
        assert_eq!((core.count, core.reason.as_str()), (7, "BackOff"));
        assert_eq!(core.last.expect("a time").micros, 1_795_269_600_000_000);
    }

    #[test]
    fn an_event_that_says_little_is_read_all_the_same() {
        let said = Said::of(br#"{"involvedObject":null,"count":null}"#).expect("an Event");
        assert_eq!(said.count, 1);
        assert_eq!(said.regarding, Regarding::default());
        for body in [&b"7"[..], b"{", br#"{"count":"x"}"#] {
            assert!(Said::of(body).is_err());
        }
    }
}
