//! Owns how selectors are written. Refuses to match anything.

use super::super::part::{NONE, Part};

/// Writes a selector of labels and expressions; `None` if the server would not take it.
pub(super) fn written(selector: Part<'_>) -> Option<String> {
    let equals = selector.at("matchLabels").texts().into_iter();
    let mut parts: Vec<(&str, String)> = equals
        .map(|(name, value)| (name, format!("{name}={value}")))
        .collect();
    for expression in selector.at("matchExpressions").items() {
        let name = expression.at("key").text();
        let mut values: Vec<&str> = expression.at("values").items().map(Part::text).collect();
        values.sort_unstable();
        let operator = expression.at("operator").text();
        let text = match (operator, values.as_slice()) {
            ("In", [_, ..]) => format!("{name} in ({})", values.join(",")),
            ("NotIn", [_, ..]) => format!("{name} notin ({})", values.join(",")),
            ("Exists", []) => name.to_owned(),
            ("DoesNotExist", []) => format!("!{name}"),
            _ => return None,
        };
        parts.push((name, text));
    }
    // Stable: what has the same name stays in order.
    parts.sort_by_key(|(name, _)| *name);
    let texts: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
    Some(texts.join(","))
}

/// Writes a selector for a column that says so when there is none.
pub(super) fn cell(selector: Part<'_>) -> String {
    match written(selector) {
        None => "<error>".to_owned(),
        Some(text) if text.is_empty() => NONE.to_owned(),
        Some(text) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn requirements_are_sorted_by_name() {
        let selector = json!({
            "matchLabels": {"b": "1", "a": "2"},
            "matchExpressions": [
                {"key": "c", "operator": "In", "values": ["y", "x"]},
                {"key": "aa", "operator": "NotIn", "values": ["z"]},
                {"key": "d", "operator": "Exists"},
                {"key": "e", "operator": "DoesNotExist", "values": []},
                {"key": "a", "operator": "Exists"},
            ],
        });
        assert_eq!(
            cell(Part::of(&selector)),
            "a=2,a,aa notin (z),b=1,c in (x,y),d,!e"
        );
    }

    #[test]
    fn none_and_wrong_ones_say_so() {
        assert_eq!(cell(Part::of(&json!(null))), "<none>");
        assert_eq!(cell(Part::of(&json!({}))), "<none>");
        for expression in [
            json!({"key": "a", "operator": "In", "values": []}),
            json!({"key": "a", "operator": "Exists", "values": ["b"]}),
            json!({"key": "a", "operator": "Like", "values": ["b"]}),
        ] {
            let selector = json!({"matchExpressions": [expression]});
            assert_eq!(cell(Part::of(&selector)), "<error>");
        }
    }
}
