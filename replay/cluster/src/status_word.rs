//! The one reading of a status word, for objects without meaningful conditions.

use crate::state_health::StateHealth;
use kubereel_history::field::text;
use serde_json::Value;

/// The state of an object in one word, if its controller writes no conditions: `status.phase`,
/// `status.state` or `status.health.status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusWord<'a> {
    /// The name of the field.
    pub field: &'static str,
    /// The word.
    pub word: &'a str,
    /// Its meaning, for words that mean the same for every controller.
    pub health: Option<StateHealth>,
    /// The message of the status.
    pub message: &'a str,
}

/// Words for an object whose controller gave up, or that does not work.
const FAILED_WORDS: [&str; 9] = [
    "Failed",
    "Failure",
    "Error",
    "Errored",
    "PartiallyFailed",
    "FailedValidation",
    "Unavailable",
    "Unhealthy",
    "Degraded",
];

const GOOD_WORDS: [&str; 10] = [
    "Active",
    "Available",
    "Bound",
    "Completed",
    "Done",
    "Healthy",
    "Ready",
    "Running",
    "Succeeded",
    "Success",
];

impl<'a> StatusWord<'a> {
    /// Reads an object; `None` if it has no such word.
    pub fn of(object: &'a Value) -> Option<Self> {
        let fields = ["phase", "state", "health.status"].into_iter();
        let mut found = fields.filter_map(|field| {
            let word = text(object, &format!("/status/{}", field.replace('.', "/")));
            (!word.is_empty()).then_some((field, word))
        });
        let (field, word) = found.next()?;
        let messages = ["message", "errorMessage", "failureReason", "reason"].into_iter();
        let mut messages = messages.map(|of| text(object, &format!("/status/{of}")));
        Some(Self {
            field,
            word,
            health: match word {
                word if FAILED_WORDS.contains(&word) => Some(StateHealth::Bad),
                word if GOOD_WORDS.contains(&word) => Some(StateHealth::Good),
                _ => None,
            },
            message: messages.find(|one| !one.is_empty()).unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_word_of_the_status_is_read_where_its_meaning_is_known() {
        let of = |status: Value| {
            let object = json!({"status": status});
            StatusWord::of(&object).map(|one| (one.field, one.health, one.message.to_owned()))
        };
        let failed = of(json!({"phase": "Failed", "failureReason": "no such bucket"}));
        let expected = ("phase", Some(StateHealth::Bad), "no such bucket".to_owned());
        assert_eq!(failed, Some(expected));
        let degraded = of(json!({"health": {"status": "Degraded"}}));
        assert!(matches!(
            degraded,
            Some(("health.status", Some(StateHealth::Bad), _))
        ));
        assert!(matches!(
            of(json!({"state": "Ready"})),
            Some((_, Some(StateHealth::Good), _))
        ));
        assert!(matches!(of(json!({"phase": "Blue"})), Some((_, None, _))));
        assert_eq!(of(json!({"health": "Degraded"})), None);
    }
}
