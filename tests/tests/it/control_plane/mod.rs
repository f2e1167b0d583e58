//! The harness itself: a control plane starts, survives what tests do to it, and leaves nothing.

mod leftovers;
mod oracle;
mod proxy;
mod servers;

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::ObjectMeta;
use kube::{Api, Client};

fn config_map(name: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            ..ObjectMeta::default()
        },
        data: Some(BTreeMap::from([("text".to_owned(), "before".to_owned())])),
        ..ConfigMap::default()
    }
}

fn config_maps(client: Client) -> Api<ConfigMap> {
    Api::namespaced(client, "default")
}
