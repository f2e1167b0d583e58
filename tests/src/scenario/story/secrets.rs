//! Secrets whose values must never be recorded, in every way a value comes by.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::super::Moment;
use super::super::file::SecretSpec;
use super::super::plan::Canary;
use super::super::step::Act;
use super::teller::Teller;
use crate::rest::Target;

/// Writes the Secrets, and lists their values.
pub(super) fn tell(teller: &mut Teller<'_>) -> Vec<Canary> {
    let mut canaries = Vec::new();
    let scenario = teller.scenario;
    for secret in &scenario.secrets {
        let at = Moment::from_secs(secret.created_secs);
        let target = Target::namespaced("v1", "Secret", &secret.namespace, &secret.name);
        list(&mut canaries, secret, &secret.data);
        teller.script.create(at, "oc", object(secret));
        if let Some(rotated) = &secret.rotated {
            list(&mut canaries, secret, &rotated.data);
            let patch = json!({"data": encoded(&rotated.data)});
            teller
                .script
                .merge(Moment::from_secs(rotated.at_secs), "oc", &target, patch);
        }
        if let Some(deleted_secs) = secret.deleted_secs {
            let act = Act::Delete {
                target,
                grace_secs: None,
            };
            teller
                .script
                .act(Moment::from_secs(deleted_secs), "oc", act);
        }
    }
    canaries
}

fn object(secret: &SecretSpec) -> Value {
    let mut object = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": secret.name, "namespace": secret.namespace},
        "type": "Opaque",
        "data": encoded(&secret.data),
    });
    if secret.applied {
        let applied = format!("{object}\n");
        object["metadata"]["annotations"] =
            json!({"kubectl.kubernetes.io/last-applied-configuration": applied});
    }
    object
}

fn encoded(data: &[(String, String)]) -> Map<String, Value> {
    data.iter()
        .map(|(key, value)| (key.clone(), json!(STANDARD.encode(value))))
        .collect()
}

fn list(canaries: &mut Vec<Canary>, secret: &SecretSpec, data: &[(String, String)]) {
    canaries.extend(data.iter().map(|(key, plain)| Canary {
        namespace: secret.namespace.clone(),
        name: secret.name.clone(),
        key: key.clone(),
        plain: plain.clone(),
    }));
}
