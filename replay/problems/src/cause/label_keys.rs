//! The labels that selectors ask for, and the paths of changes to them.

use kubereel_history::field::{items, text};
use serde_json::Value;
use std::collections::BTreeSet;

/// Returns the keys of the labels that a selector asks for.
pub(super) fn keys_of(selector: &Value) -> Vec<String> {
    let labels = selector.get("matchLabels").and_then(Value::as_object);
    let labels = labels.into_iter().flat_map(|labels| labels.keys().cloned());
    let expressions = items(selector, "/matchExpressions").iter();
    let keys = expressions.map(|one| text(one, "/key").to_owned());
    labels.chain(keys).collect()
}

/// Returns the labels by which a network policy selects namespaces.
pub(super) fn namespace_labels(policy: &Value) -> Vec<String> {
    let ingress = items(policy, "/spec/ingress").iter();
    let egress = items(policy, "/spec/egress").iter();
    let peers = ingress
        .flat_map(|rule| items(rule, "/from"))
        .chain(egress.flat_map(|rule| items(rule, "/to")));
    let selectors = peers.filter_map(|peer| peer.get("namespaceSelector"));
    selectors.flat_map(keys_of).collect()
}

/// Returns whether a path is that of a label with one of some keys.
pub(super) fn is_label_of(path: &str, keys: &BTreeSet<String>) -> bool {
    let mut keys = keys.iter();
    path.strip_prefix("metadata.labels").is_some_and(|label| {
        keys.any(|key| label == format!(".{key}") || label == format!("[\"{key}\"]"))
    })
}
