//! Fills in what only a player knows: times of the clock, and uids.

use serde_json::Value;

use super::super::Moment;
use crate::rest::Target;

const LEASES: &str = "coordination.k8s.io/v1";

/// A place to be filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum Stamp {
    Secs(Moment),
    Micros(Moment),
    Uid(Target),
    /// Who leads by a Lease, or was the last to do so.
    Holder(Target),
}

/// All objects whose uid a document asks for.
pub(super) fn uids_in(document: &Value) -> Vec<Target> {
    let mut found = Vec::new();
    visit(document, &mut |text| {
        let mut rest = text;
        while let Some((_, stamp, after)) = next_stamp(rest) {
            if let Stamp::Uid(target) = stamp {
                found.push(target);
            }
            rest = after;
        }
    });
    found
}

/// Fills a document in; what `know` does not know stays as it is.
pub(in super::super) fn fill(document: &mut Value, know: &impl Fn(&Stamp) -> Option<String>) {
    match document {
        Value::String(text) if text.contains("{{") => *text = fill_text(text, know),
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, know)),
        Value::Object(fields) => fields.values_mut().for_each(|field| fill(field, know)),
        _ => {}
    }
}

fn fill_text(text: &str, know: &impl Fn(&Stamp) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, stamp, after)) = next_stamp(rest) {
        filled.push_str(before);
        match know(&stamp) {
            Some(known) => filled.push_str(&known),
            None => filled.push_str(
                rest.get(before.len()..rest.len() - after.len())
                    .unwrap_or_default(),
            ),
        }
        rest = after;
    }
    filled + rest
}

/// The text before the next stamp, the stamp, and the text after it.
fn next_stamp(text: &str) -> Option<(&str, Stamp, &str)> {
    let (before, opened) = text.split_once("{{")?;
    let (inside, after) = opened.split_once("}}")?;
    let words: Vec<&str> = inside.split(' ').collect();
    let moment = |millis: &str| millis.parse().ok().map(Moment::from_millis);
    let stamp = match words.as_slice() {
        ["secs", millis] => Stamp::Secs(moment(millis)?),
        ["micros", millis] => Stamp::Micros(moment(millis)?),
        ["holder", namespace, name, _term] => {
            Stamp::Holder(Target::namespaced(LEASES, "Lease", namespace, name))
        }
        ["uid", api_version, kind, "-", name] => {
            Stamp::Uid(Target::cluster_wide(api_version, kind, name))
        }
        ["uid", api_version, kind, namespace, name] => {
            Stamp::Uid(Target::namespaced(api_version, kind, namespace, name))
        }
        _ => return None,
    };
    Some((before, stamp, after))
}

fn visit(document: &Value, on_text: &mut impl FnMut(&str)) {
    match document {
        Value::String(text) => on_text(text),
        Value::Array(items) => items.iter().for_each(|item| visit(item, on_text)),
        Value::Object(fields) => fields.values().for_each(|field| visit(field, on_text)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn stamps_are_found_and_filled_in_anywhere() {
        let mut document = json!({
            "a": ["{{secs 1500}}", {"b": "x {{micros 7}} y {{secs 1}}"}],
            "uid": "{{uid v1 Node - master-0}}",
            "other": "{{not ours}}",
        });
        assert_eq!(
            uids_in(&document),
            [Target::cluster_wide("v1", "Node", "master-0")]
        );
        fill(&mut document, &|stamp| match stamp {
            Stamp::Secs(moment) => Some(format!("S{}", moment.millis())),
            Stamp::Micros(moment) => Some(format!("M{}", moment.millis())),
            Stamp::Uid(_) | Stamp::Holder(_) => None,
        });
        assert_eq!(
            document,
            json!({
                "a": ["S1500", {"b": "x M7 y S1"}],
                "uid": "{{uid v1 Node - master-0}}",
                "other": "{{not ours}}",
            })
        );
    }
}
