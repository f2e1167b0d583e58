//! Owns label selectors of workloads and budgets. Refuses those in kubectl's words.

use serde_json::Value;

/// Tells whether a label selector takes an object with these labels. An empty selector takes all, none
/// at all takes nothing.
pub(super) fn takes(selector: Option<&Value>, labels: Option<&Value>) -> bool {
    let Some(selector) = selector.filter(|selector| selector.is_object()) else {
        return false;
    };
    let label = |key: &str| {
        labels
            .and_then(|labels| labels.get(key))
            .and_then(Value::as_str)
    };
    let wanted = selector.get("matchLabels").and_then(Value::as_object);
    let equal = wanted
        .into_iter()
        .flatten()
        .all(|(key, value)| label(key) == value.as_str());
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    equal
        && expressions
            .into_iter()
            .flatten()
            .all(|expression| holds(expression, &label))
}

fn holds<'l>(expression: &Value, label: &impl Fn(&str) -> Option<&'l str>) -> bool {
    let text = |key: &str| {
        expression
            .get(key)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let value = label(text("key"));
    let values = expression.get("values").and_then(Value::as_array);
    let is_listed = || {
        let mut values = values.into_iter().flatten();
        value.is_some_and(|value| values.any(|one| one.as_str() == Some(value)))
    };
    match text("operator") {
        "In" => is_listed(),
        "NotIn" => !is_listed(),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn labels_and_expressions_all_hold() {
        let labels = json!({"app": "a", "tier": "b"});
        for (selector, is_taken) in [
            (json!({}), true),
            (json!({"matchLabels": {"app": "a"}}), true),
            (json!({"matchLabels": {"app": "b"}}), false),
            (
                json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "c"]}]}),
                true,
            ),
            (
                json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]}),
                false,
            ),
            (
                json!({"matchExpressions": [{"key": "x", "operator": "NotIn", "values": ["a"]}]}),
                true,
            ),
            (
                json!({"matchLabels": {"app": "a"}, "matchExpressions": [{"key": "x", "operator": "Exists"}]}),
                false,
            ),
            (
                json!({"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}),
                true,
            ),
        ] {
            assert_eq!(
                takes(Some(&selector), Some(&labels)),
                is_taken,
                "{selector}"
            );
        }
        assert!(!takes(None, Some(&labels)));
    }
}
