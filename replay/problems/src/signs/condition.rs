//! Objects of any kind, custom ones included: what is wrong by their conditions, or by their phase. A type or
//! phase whose meaning is not known is not interpreted.

use super::Reading;
use crate::sign::{Sign, SignKind};
use kubereel_cluster::{ControllerReport, StateHealth, StatusCondition, StatusWord};
use kubereel_history::field::number;
use serde_json::Value;

pub(super) fn read(object: &Value) -> Reading {
    let mut reading = Reading::default();
    match ControllerReport::of(object) {
        ControllerReport::Suspended(_) => {}
        ControllerReport::Outdated => reading.signs.push(unobserved(object)),
        ControllerReport::Conditions(conditions) => {
            reading.is_well = conditions
                .iter()
                .any(|one| one.usual_health() == Some(StateHealth::Good) && one.is("True"));
            reading.signs.extend(conditions.iter().filter_map(sign));
            reading.is_well &= reading.signs.is_empty();
            if reading.signs.is_empty() && !reading.is_well {
                read_word(object, &mut reading);
            }
        }
    }
    reading
}

/// Reads a condition.
fn sign(condition: &StatusCondition<'_>) -> Option<Sign> {
    (condition.usual_health() == Some(StateHealth::Bad)).then(|| sign_of(condition))
}

/// Makes the sign of a condition that is bad.
pub(super) fn sign_of(condition: &StatusCondition<'_>) -> Sign {
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
    sign.is_failure =
        condition.has_failed() || condition.is_abnormal_true() && condition.kind != "NotReady";
    sign
}

/// Reads which generation the controller of an object has not observed. Another one that it observes is progress.
fn unobserved(object: &Value) -> Sign {
    let at = |field| number(object, field).unwrap_or_default();
    let (wanted, observed) = (at("/metadata/generation"), at("/status/observedGeneration"));
    let words =
        format!("generation {wanted} is not observed: status.observedGeneration is {observed}");
    Sign::new(SignKind::Unreconciled, "", &words).of_part(&observed.to_string())
}

/// Reads the phase of an object whose conditions, if it has any, have no known meaning.
fn read_word(object: &Value, reading: &mut Reading) {
    let Some(said) = StatusWord::of(object) else {
        return;
    };
    reading.is_well = said.health == Some(StateHealth::Good);
    if said.health == Some(StateHealth::Bad) {
        let words = format!("{} is {}", said.field, said.word);
        let message = match said.message {
            "" => words,
            message => format!("{words}: {message}"),
        };
        let mut sign = Sign::new(SignKind::Condition, said.word, &message).of_part(said.field);
        sign.is_failure = true;
        reading.signs.push(sign);
    }
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

    #[test]
    fn a_generation_that_the_controller_has_not_observed_is_a_sign() {
        let of = |spec: Value, observed: i64| {
            let status = json!({"observedGeneration": observed,
                "conditions": [{"type": "Ready", "status": "False"}]});
            let object = json!({"metadata": {"generation": 3}, "spec": spec, "status": status});
            let signs = read(&object).signs.into_iter();
            let kinds: Vec<SignKind> = signs.map(|sign| sign.kind).collect();
            kinds
        };
        assert_eq!(of(json!({}), 2), [SignKind::Unreconciled]);
        assert_eq!(of(json!({}), 3), [SignKind::Condition]);
        let failed = json!({"metadata": {"generation": 3}, "status": {"observedGeneration": 2,
            "conditions": [{"type": "Ready", "status": "False", "reason": "FailedToShrink"}]}});
        let signs = read(&failed).signs;
        assert_eq!(
            signs.first().map(|sign| sign.kind),
            Some(SignKind::Condition)
        );
        assert!(of(json!({"paused": true}), 2).is_empty());
    }

    #[test]
    fn a_phase_counts_where_no_condition_does() {
        let said = |status: Value| {
            let signs = read(&json!({"status": status})).signs;
            let mut said = signs.into_iter().map(|sign| sign.message);
            said.next()
        };
        let failed = json!({"phase": "Failed", "message": "no such bucket"});
        assert_eq!(
            said(failed).as_deref(),
            Some("phase is Failed: no such bucket")
        );
        let ready = json!({"phase": "Failed", "conditions": [{"type": "Ready", "status": "True"}]});
        assert_eq!(said(ready), None);
        assert_eq!(said(json!({"phase": "Pending"})), None);
    }
}
