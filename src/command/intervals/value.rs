//! Owns the interval that a program reads.

use crate::field_text::secs;
use kubereel_format::RecordedAt;
use kubereel_history::timetext;
use kubereel_monitortests::{Display, Interval, Pairs};
use serde_json::{Map, Value, json};

/// Gives an interval as JSON; what is open lasts until `end`.
pub(super) fn of(one: &Interval, end: RecordedAt) -> Value {
    json!({
        "seq": one.seq.map(|seq| seq.0),
        "level": one.level.as_str(),
        "source": one.source.as_str(),
        "display": one.display == Display::Drawn,
        "locator": {
            "type": &*one.locator.kind,
            "keys": pairs(&one.locator.keys),
            "text": one.locator.to_string(),
        },
        "message": {
            "reason": &*one.message.reason,
            "cause": &*one.message.cause,
            "human_message": &*one.message.human,
            "annotations": pairs(&one.message.annotations),
        },
        "from": timetext::rfc3339(one.from),
        "to": one.to.map(timetext::rfc3339),
        "lasts_secs": secs(one.micros(end)),
        "is_open": one.to.is_none(),
    })
}

fn pairs(pairs: &Pairs) -> Map<String, Value> {
    let pairs = pairs.iter();
    pairs
        .map(|(name, value)| (name.to_string(), Value::from(value.as_ref())))
        .collect()
}
