//! Owns whether one version of an object meets what is waited for, by the rules of `kubectl wait`.
//! Refuses time: `find` looks at many versions.

use super::answer::MissedWhy;
use super::goal::Goal;
use crate::jsonpath::Path;
use crate::object::number;
use kubereel_format::ObjectId;
use serde_json::Value;

/// What holds at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    Met,
    NotMet,
    Unknown(MissedWhy),
    /// kubectl would stop here.
    Refused(String),
}

/// An object as it was at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version<'a> {
    pub(super) object: ObjectId,
    /// The first object of the name in the time that is searched.
    pub(super) first: ObjectId,
    pub(super) body: &'a Value,
}

impl From<bool> for Truth {
    fn from(is_met: bool) -> Self {
        if is_met { Self::Met } else { Self::NotMet }
    }
}

impl Truth {
    /// Tells of two whether one of them is met.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Met, _) | (_, Self::Met) => Self::Met,
            (refused @ Self::Refused(_), _) | (_, refused @ Self::Refused(_)) => refused,
            (unknown @ Self::Unknown(_), _) | (_, unknown @ Self::Unknown(_)) => unknown,
            (Self::NotMet, Self::NotMet) => Self::NotMet,
        }
    }
}

impl Goal {
    /// Tells whether a body must be read to judge it.
    pub(super) const fn needs_body(&self) -> bool {
        matches!(
            self,
            Self::Condition { .. } | Self::JsonPath { .. } | Self::Reason(_)
        )
    }

    /// Judges a version; `None` where there is no object.
    pub(super) fn judge(&self, version: Option<Version<'_>>) -> Truth {
        let Some(Version {
            object,
            first,
            body,
        }) = version
        else {
            return Truth::from(*self == Self::Delete);
        };
        match self {
            Self::Create => Truth::Met,
            Self::Delete | Self::Replaced => Truth::from(object != first),
            Self::Condition { name, status } => condition(body, name, status),
            Self::JsonPath { path, value } => at_path(body, path, value.as_deref()),
            Self::Reason(reason) => Truth::from(gives_reason(body, reason)),
            // Those are found in the Events, not in the object.
            Self::Event(_) => Truth::NotMet,
        }
    }
}

fn condition(body: &Value, name: &str, status: &str) -> Truth {
    let conditions = body.pointer("/status/conditions").and_then(Value::as_array);
    let text = |of: &Value, member: &str| of.get(member).and_then(Value::as_str).map(str::to_owned);
    let found = conditions.into_iter().flatten().find_map(|condition| {
        let is_named = text(condition, "type").is_some_and(|own| folded(&own) == folded(name));
        let own = text(condition, "status").filter(|_| is_named)?;
        Some((condition, own))
    });
    let Some((condition, own)) = found else {
        return Truth::NotMet;
    };
    let observed = condition
        .get("observedGeneration")
        .or_else(|| body.pointer("/status/observedGeneration"))
        .and_then(Value::as_i64);
    let generation = body.pointer("/metadata/generation").and_then(Value::as_i64);
    // What was said of an older generation is not said of this one.
    if let (Some(observed), Some(generation)) = (observed, generation)
        && observed < generation
    {
        return Truth::NotMet;
    }
    Truth::from(folded(&own) == folded(status))
}

/// Writes a text so that those which differ only in case are equal.
fn folded(text: &str) -> String {
    text.to_uppercase().to_lowercase()
}

fn at_path(body: &Value, path: &Path, wanted: Option<&str>) -> Truth {
    let Ok(found) = path.all(body) else {
        return Truth::Refused("the JSONPath does not fit the object".to_owned());
    };
    let value = match found.as_slice() {
        [] => return Truth::NotMet,
        [one] => *one,
        many => {
            let problem = format!("the JSONPath leads to {} values instead of one", many.len());
            return Truth::Refused(problem);
        }
    };
    let Some(wanted) = wanted else {
        return Truth::Met;
    };
    let own = match value {
        Value::Array(_) | Value::Object(_) => {
            let problem = "the JSONPath leads to a list or a map, which compares with no value";
            return Truth::Refused(problem.to_owned());
        }
        Value::String(text) if is_redacted(text) => {
            return Truth::Unknown(MissedWhy::Redacted);
        }
        Value::String(text) => text.clone(),
        Value::Number(number) => number::printed(number),
        Value::Bool(truth) => truth.to_string(),
        // So Go prints what is not there.
        Value::Null => "<nil>".to_owned(),
    };
    Truth::from(own.trim() == wanted.trim())
}

/// Tells whether a text stands for one that was taken out: in words, or in base64.
fn is_redacted(text: &str) -> bool {
    text.starts_with("redacted by kubereel: ") || text.starts_with("cmVkYWN0ZWQgYnkga3ViZXJlZWw6")
}

fn gives_reason(body: &Value, reason: &str) -> bool {
    let items = |at: &str| {
        body.pointer(at)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let is_it = |value: Option<&Value>| value.and_then(Value::as_str) == Some(reason);
    let containers = [
        "/status/containerStatuses",
        "/status/initContainerStatuses",
        "/status/ephemeralContainerStatuses",
    ];
    items("/status/conditions").any(|condition| is_it(condition.get("reason")))
        || containers
            .iter()
            .flat_map(|at| items(at))
            .any(|container| is_it(container.pointer("/state/waiting/reason")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait::WaitFor;
    use serde_json::json;

    fn judged(text: &str, body: &Value) -> Truth {
        let read: WaitFor = text.parse().unwrap_or_else(|error| panic!("{error}"));
        read.goal.judge(Some(Version {
            object: ObjectId(1),
            first: ObjectId(1),
            body,
        }))
    }

    #[test]
    fn conditions_do_not_mind_case_but_the_generation() {
        let body = |generation: i64, observed: Value| {
            json!({"metadata": {"generation": generation}, "status": {"observedGeneration": 2, "conditions": [
                {"type": "Other"},
                {"type": "Ready", "status": "True", "observedGeneration": observed},
                {"type": "ready", "status": "False"},
            ]}})
        };
        let without = json!({"metadata": {"generation": 3}, "status": {"observedGeneration": 2,
            "conditions": [{"type": "Ready", "status": "True"}]}});
        let plain = json!({"status": {"conditions": [{"type": "STRASSE", "status": "Unknown"}]}});
        for (text, body, expected) in [
            ("condition=Ready", &body(3, json!(3)), Truth::Met),
            ("condition=rEADY=tRUE", &body(3, json!(3)), Truth::Met),
            ("condition=Ready=False", &body(3, json!(3)), Truth::NotMet),
            ("condition=Ready", &body(4, json!(3)), Truth::NotMet),
            ("condition=Other", &body(3, json!(3)), Truth::NotMet),
            ("condition=Ready", &without, Truth::NotMet),
            ("condition=Ready", &json!({}), Truth::NotMet),
            ("condition=straße=unknown", &plain, Truth::Met),
            (
                "condition=Ready",
                &json!({"status": {"conditions": "x"}}),
                Truth::NotMet,
            ),
        ] {
            assert_eq!(judged(text, body), expected, "{text} {body}");
        }
    }

    #[test]
    fn paths_meet_a_value_or_anything() {
        let body = json!({
            "n": 3, "f": 1.5, "t": " text ", "b": true, "none": null, "map": {"x": 1, "y": 2},
            "list": [1, 2], "empty": [], "secret": "cmVkYWN0ZWQgYnkga3ViZXJlZWw6IDYgYnl0ZXM=",
        });
        for (text, expected) in [
            (".n=3", Truth::Met),
            (".n='3'", Truth::Met),
            (".n=4", Truth::NotMet),
            (".f=1.5", Truth::Met),
            (".t=text", Truth::Met),
            (".b=true", Truth::Met),
            (".b=True", Truth::NotMet),
            (".none=<nil>", Truth::Met),
            (".absent=3", Truth::NotMet),
            (".absent.more", Truth::NotMet),
            (".map", Truth::Met),
            (".list", Truth::Met),
            (".list[0]=1", Truth::Met),
            (".secret", Truth::Met),
            (".secret=x", Truth::Unknown(MissedWhy::Redacted)),
        ] {
            assert_eq!(
                judged(&format!("jsonpath={text}"), &body),
                expected,
                "{text}"
            );
        }
        for (text, problem) in [
            (".map=3", "a list or a map"),
            (".list=3", "a list or a map"),
            (".list[*]", "2 values"),
            (".map.*=1", "2 values"),
            (".empty[0]=1", "does not fit"),
        ] {
            let Truth::Refused(said) = judged(&format!("jsonpath={text}"), &body) else {
                panic!("{text} was judged");
            };
            assert!(said.contains(problem), "{said}");
        }
    }

    #[test]
    fn reasons_are_those_of_conditions_and_waiting_containers() {
        let body = json!({"status": {
            "conditions": [{"type": "A", "reason": "Stuck"}],
            "initContainerStatuses": [{"state": {"waiting": {"reason": "ErrImagePull"}}}],
            "containerStatuses": [{"state": {"running": {}}, "lastState": {"waiting": {"reason": "Old"}}}],
        }});
        assert_eq!(judged("reason=Stuck", &body), Truth::Met);
        assert_eq!(judged("reason=ErrImagePull", &body), Truth::Met);
        assert_eq!(judged("reason=Old", &body), Truth::NotMet);
        assert_eq!(judged("reason=stuck", &body), Truth::NotMet);
    }

    #[test]
    fn without_an_object_only_a_deletion_is_met() {
        for (goal, expected) in [
            (Goal::Delete, Truth::Met),
            (Goal::Create, Truth::NotMet),
            (Goal::Replaced, Truth::NotMet),
            (Goal::Reason("x".to_owned()), Truth::NotMet),
        ] {
            assert_eq!(goal.judge(None), expected);
        }
    }
}
