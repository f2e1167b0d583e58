//! Owns the objects that are written: plain ones, Secrets with a word that must not be recorded, and
//! definitions of resources. Refuses to send them.

use serde_json::{Value, json};

/// Must never be found in a reel.
pub const CANARY: &str = "kubereel-canary-7d1f";

/// [`CANARY`] as a Secret's `data` holds it.
pub const CANARY_BASE64: &str = "a3ViZXJlZWwtY2FuYXJ5LTdkMWY=";

/// Makes the version of an object that a round writes.
pub type Make = fn(name: &str, round: u64) -> Value;

/// A config map.
pub fn config_map(name: &str, round: u64) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"round": round.to_string()}})
}

/// A Secret with the canary in every place that Secrets have.
pub fn secret(name: &str, round: u64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": name, "annotations": {
            "kubectl.kubernetes.io/last-applied-configuration": format!("{{\"stringData\":{{\"word\":\"{CANARY}\"}}}}"),
        }},
        "data": {"word": CANARY_BASE64},
        "stringData": {"round": round.to_string(), "plain": CANARY},
    })
}

/// An Event.
pub fn event(name: &str, round: u64) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": name},
        "involvedObject": {"kind": "ConfigMap", "namespace": "default", "name": "none"},
        "reason": "Churned", "message": format!("round {round}"), "type": "Normal", "count": round,
    })
}

/// A definition of a namespaced resource `{word}{number}s` of the group `churn.kubereel.dev`.
pub fn definition(word: &str, number: u64) -> Value {
    let singular = format!("{word}{number}");
    let kind: String = singular
        .char_indices()
        .map(|(place, letter)| {
            if place == 0 {
                letter.to_ascii_uppercase()
            } else {
                letter
            }
        })
        .collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{singular}s.churn.kubereel.dev")},
        "spec": {
            "group": "churn.kubereel.dev", "scope": "Namespaced",
            "names": {"plural": format!("{singular}s"), "singular": singular, "kind": kind},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }}}],
        },
    })
}
