//! Objects of any kind, custom ones included: what their conditions mean by the words that the API
//! conventions and the known controllers use for them. A type that is not known is not interpreted.

use super::Reading;
use crate::sign::{Sign, SignKind, is_true, number};
use kubereel_cluster::StatusCondition;
use serde_json::Value;

/// True is well; words that end like this one are too.
const NORMAL_TRUE: [&str; 17] = [
    "Ready",
    "Available",
    "Healthy",
    "Synced",
    "Reconciled",
    "Succeeded",
    "Established",
    "NamesAccepted",
    "Programmed",
    "ResolvedRefs",
    "Released",
    "ArtifactInStorage",
    "Resolved",
    "Installed",
    "Valid",
    "Admitted",
    "ReconcileSuccess",
];
/// True is bad; words that end like this one are too.
const ABNORMAL_TRUE: [&str; 14] = [
    "Degraded",
    "Failing",
    "Failed",
    "Failure",
    "Error",
    "Stalled",
    "Invalid",
    "NotReady",
    "Unhealthy",
    "Conflicted",
    "ResolutionFailed",
    "FetchFailed",
    "NonStructuralSchema",
    "Pressure",
];
/// Parts of reasons that say that something failed, and does not just take its time.
const FAILING: [&str; 15] = [
    "Fail",
    "Error",
    "Invalid",
    "NotFound",
    "Denied",
    "Exceeded",
    "Timeout",
    "Forbidden",
    "Conflict",
    "Missing",
    "Unavailable",
    "Unreachable",
    "Degraded",
    "Crash",
    "BackOff",
];

/// Tells whether a reason says that something failed.
fn is_failing_text(reason: &str) -> bool {
    FAILING.iter().any(|part| reason.contains(part))
}

fn is_like(kind: &str, words: &[&str]) -> bool {
    words.iter().any(|word| kind.ends_with(word))
}

pub(super) fn read(object: &Value) -> Reading {
    let mut reading = Reading::default();
    if is_true(object, "/spec/suspend") || is_true(object, "/spec/paused") {
        return reading;
    }
    let generation = number(object, "/metadata/generation");
    let is_old = |observed: Option<i64>| {
        observed
            .zip(generation)
            .is_some_and(|(observed, now)| observed != 0 && observed < now)
    };
    if is_old(number(object, "/status/observedGeneration")) {
        return reading;
    }
    let raw = crate::sign::items(object, "/status/conditions");
    for (item, condition) in raw.iter().zip(StatusCondition::all(object)) {
        if is_old(number(item, "/observedGeneration")) {
            continue;
        }
        let is_normal_true = is_like(condition.kind, &NORMAL_TRUE);
        // `NotReady` ends like `Ready`.
        let is_abnormal_true = is_like(condition.kind, &ABNORMAL_TRUE);
        let is_bad = match condition.status {
            "True" => is_abnormal_true,
            "False" => is_normal_true && !is_abnormal_true,
            _ => false,
        };
        if is_bad {
            let mut sign = Sign::new(SignKind::Condition, condition.reason, condition.message)
                .of_part(condition.kind)
                .since(condition.since());
            let words = format!("{}={}", condition.kind, condition.status);
            sign.message = match sign.message.as_str() {
                "" => words,
                message => format!("{words}: {message}"),
            };
            if condition.reason.is_empty() {
                condition.kind.clone_into(&mut sign.reason);
            }
            sign.is_failure = is_failing_text(condition.reason)
                || is_abnormal_true && condition.kind != "NotReady";
            reading.signs.push(sign);
        } else if condition.is("True") && is_normal_true && !is_abnormal_true {
            reading.is_well = true;
        }
    }
    reading.is_well &= reading.signs.is_empty();
    reading
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parts(conditions: &Value) -> Vec<String> {
        let object = json!({"metadata": {"generation": 2}, "status": {"conditions": conditions}});
        let signs = read(&object).signs.into_iter();
        signs.map(|sign| sign.part).collect()
    }

    #[test]
    fn polarity_follows_the_type() {
        let all = json!([
            {"type": "Ready", "status": "False", "reason": "Bad"},
            {"type": "NotReady", "status": "False"},
            {"type": "Stalled", "status": "True"},
            {"type": "KafkaReady", "status": "True"},
            {"type": "Blue", "status": "False"},
        ]);
        assert_eq!(parts(&all), ["Ready", "Stalled"]);
    }

    #[test]
    fn a_condition_of_an_older_generation_says_nothing() {
        assert!(
            parts(&json!([{"type": "Ready", "status": "False", "observedGeneration": 1}]))
                .is_empty()
        );
    }
}
