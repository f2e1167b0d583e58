//! The conditions of a status, as operators keep them: the time moves only when the status flips.

use serde_json::{Value, json};

use super::Moment;

/// A list of conditions in the order in which they first came.
#[derive(Debug, Clone, Default)]
pub(super) struct Conditions {
    entries: Vec<Condition>,
}

#[derive(Debug, Clone, PartialEq)]
struct Condition {
    kind: String,
    status: String,
    reason: String,
    message: String,
    since: Moment,
}

impl Conditions {
    /// Sets a condition; true when anything about it changed.
    pub(super) fn set(
        &mut self,
        at: Moment,
        kind: &str,
        status: &str,
        reason: &str,
        message: &str,
    ) -> bool {
        let Some(known) = self.entries.iter_mut().find(|entry| entry.kind == kind) else {
            let (reason, message) = (reason.to_owned(), message.to_owned());
            self.entries.push(Condition {
                kind: kind.to_owned(),
                status: status.to_owned(),
                reason,
                message,
                since: at,
            });
            return true;
        };
        let before = known.clone();
        if known.status != status {
            known.since = at;
        }
        status.clone_into(&mut known.status);
        reason.clone_into(&mut known.reason);
        message.clone_into(&mut known.message);
        *known != before
    }

    /// Takes a condition away; true when it was there.
    pub(super) fn remove(&mut self, kind: &str) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.kind != kind);
        self.entries.len() != before
    }

    /// As in `status.conditions`; empty reasons and messages are left out.
    pub(super) fn to_json(&self) -> Value {
        let entries = self.entries.iter().map(|entry| {
            let mut value = json!({
                "type": entry.kind,
                "status": entry.status,
                "lastTransitionTime": entry.since.stamp(),
            });
            if !entry.reason.is_empty() {
                value["reason"] = json!(entry.reason);
            }
            if !entry.message.is_empty() {
                value["message"] = json!(entry.message);
            }
            value
        });
        Value::Array(entries.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_flip_moves_the_time() {
        let mut conditions = Conditions::default();
        assert!(conditions.set(Moment::from_secs(1.0), "Available", "True", "", "one"));
        assert!(conditions.set(Moment::from_secs(2.0), "Available", "True", "", "two"));
        assert!(!conditions.set(Moment::from_secs(3.0), "Available", "True", "", "two"));
        assert_eq!(
            conditions.to_json()[0]["lastTransitionTime"],
            "{{secs 1000}}"
        );
        assert!(conditions.set(Moment::from_secs(4.0), "Available", "False", "", "two"));
        assert_eq!(
            conditions.to_json()[0]["lastTransitionTime"],
            "{{secs 4000}}"
        );
        assert!(conditions.remove("Available") && !conditions.remove("Available"));
    }
}
