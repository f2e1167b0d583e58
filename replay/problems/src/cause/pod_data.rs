//! The data that Pods use: what the containers of a Pod's specification mount and read.

use kubereel_history::field::{items, text};
use serde_json::Value;

/// A `ConfigMap`, `Secret` or claim that Pods use.
pub(super) struct PodData<'v> {
    pub(super) kind: &'static str,
    pub(super) name: &'v str,
    pub(super) via: &'static str,
    /// Whether the container that fails does not use it.
    pub(super) is_of_other_container: bool,
}

/// Returns the containers of a Pod's specification, those that initialise it among them.
pub(super) fn containers(spec: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["/containers", "/initContainers"].into_iter();
    lists.flat_map(|list| items(spec, list))
}

/// Returns the data that the containers of a Pod's specification use; `failing` is the container that fails.
pub(super) fn data_of_pod_spec<'v>(spec: &'v Value, failing: Option<&str>) -> Vec<PodData<'v>> {
    let is_here = |own: &&str| containers(spec).any(|one| text(one, "/name") == *own);
    let failing = failing.filter(is_here);
    let is_other = |container: &Value| failing.is_some_and(|own| own != text(container, "/name"));
    let mut all = Vec::new();
    let mut add = |kind, name, via, is_of_other_container| {
        all.push(PodData {
            kind,
            name,
            via,
            is_of_other_container,
        });
    };
    for volume in items(spec, "/volumes") {
        let via = "mounted by its Pods";
        let users: Vec<&Value> = containers(spec)
            .filter(|container| {
                let mut mounts = items(container, "/volumeMounts").iter();
                mounts.any(|mount| text(mount, "/name") == text(volume, "/name"))
            })
            .collect();
        let other = !users.is_empty() && users.into_iter().all(is_other);
        add("ConfigMap", text(volume, "/configMap/name"), via, other);
        add("Secret", text(volume, "/secret/secretName"), via, other);
        let claim = text(volume, "/persistentVolumeClaim/claimName");
        add("PersistentVolumeClaim", claim, via, false);
        for source in items(volume, "/projected/sources") {
            add("ConfigMap", text(source, "/configMap/name"), via, other);
            add("Secret", text(source, "/secret/name"), via, other);
        }
    }
    for container in containers(spec) {
        let via = "read by its containers";
        let other = is_other(container);
        for source in items(container, "/envFrom") {
            add("ConfigMap", text(source, "/configMapRef/name"), via, other);
            add("Secret", text(source, "/secretRef/name"), via, other);
        }
        for env in items(container, "/env") {
            let config_map = text(env, "/valueFrom/configMapKeyRef/name");
            add("ConfigMap", config_map, via, other);
            let secret = text(env, "/valueFrom/secretKeyRef/name");
            add("Secret", secret, via, other);
        }
    }
    all
}
