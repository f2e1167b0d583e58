//! The conditions of a Pod that its kubelet owns.

use serde_json::{Value, json};

/// Conditions in the order in which they first came.
#[derive(Debug, Default)]
pub(super) struct PodConditions {
    entries: Vec<Condition>,
}

#[derive(Debug)]
struct Condition {
    kind: &'static str,
    status: bool,
    since: String,
    reason: Option<&'static str>,
    message: Option<String>,
}

impl PodConditions {
    /// Sets a condition; its time moves only when the status flips.
    pub(super) fn set(
        &mut self,
        kind: &'static str,
        status: bool,
        because: Option<(&'static str, Option<String>)>,
        now: &str,
    ) {
        let (reason, message) = match because {
            Some((reason, message)) => (Some(reason), message),
            None => (None, None),
        };
        let known = self.entries.iter_mut().find(|entry| entry.kind == kind);
        let Some(known) = known else {
            self.entries.push(Condition {
                kind,
                status,
                since: now.to_owned(),
                reason,
                message,
            });
            return;
        };
        if known.status != status {
            now.clone_into(&mut known.since);
        }
        known.status = status;
        known.reason = reason;
        known.message = message;
    }

    /// As in `status.conditions`; a reason that is no more is null, so that a patch takes it away.
    pub(super) fn to_json(&self, generation: Option<i64>) -> Value {
        let entries = self.entries.iter().map(|condition| {
            json!({
                "type": condition.kind,
                "status": if condition.status { "True" } else { "False" },
                "observedGeneration": generation,
                "lastProbeTime": null,
                "lastTransitionTime": condition.since,
                "reason": condition.reason,
                "message": condition.message,
            })
        });
        Value::Array(entries.collect())
    }
}
