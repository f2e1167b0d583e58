//! Manifests as the scenarios write them, short, and what the API takes.

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value, json};

use crate::rest::{kind_named, kind_of};

/// An object of the API by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    pub(super) api_version: String,
    pub(super) kind: String,
    pub(super) namespace: Option<String>,
    pub(super) name: String,
}

impl Reference {
    /// Reads `Kind name`, `Kind namespace/name` or `group/version/Kind name`.
    pub(super) fn read(text: &str, namespace: &str) -> Result<Self> {
        let (kind, name) = text
            .split_once(' ')
            .with_context(|| format!("no kind and name: {text}"))?;
        let (api_version, kind) = match kind.rsplit_once('/') {
            Some((api_version, kind)) => (api_version.to_owned(), kind),
            None => (api_version_of(kind)?.to_owned(), kind),
        };
        let (namespace, name) = name.split_once('/').unwrap_or((namespace, name));
        Ok(Self {
            namespace: is_namespaced(&api_version, kind).then(|| namespace.to_owned()),
            api_version,
            kind: kind.to_owned(),
            name: name.to_owned(),
        })
    }

    /// The object that a full manifest is.
    pub(super) fn of(manifest: &Value) -> Self {
        let text = |value: &Value| value.as_str().map(ToOwned::to_owned);
        Self {
            api_version: text(&manifest["apiVersion"]).unwrap_or_default(),
            kind: text(&manifest["kind"]).unwrap_or_default(),
            namespace: text(&manifest["metadata"]["namespace"]),
            name: text(&manifest["metadata"]["name"]).unwrap_or_default(),
        }
    }

    /// The path of its collection.
    pub(super) fn collection(&self) -> String {
        let root = if self.api_version.contains('/') {
            "/apis"
        } else {
            "/api"
        };
        let plural = kind_of(&self.api_version, &self.kind).map_or_else(
            || format!("{}s", self.kind.to_lowercase()),
            |kind| kind.plural.to_owned(),
        );
        match &self.namespace {
            Some(namespace) => {
                format!(
                    "{root}/{}/namespaces/{namespace}/{plural}",
                    self.api_version
                )
            }
            None => format!("{root}/{}/{plural}", self.api_version),
        }
    }

    /// The path of the object.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", self.collection(), self.name)
    }

    /// Whether the API merges lists of it by key.
    pub(super) fn is_built_in(&self) -> bool {
        kind_of(&self.api_version, &self.kind).is_some()
    }
}

fn api_version_of(kind: &str) -> Result<&'static str> {
    let Some(known) = kind_named(kind) else {
        bail!("which group has {kind}? Write group/version/Kind");
    };
    Ok(known.api_version)
}

/// Custom resources of scenarios live in namespaces.
fn is_namespaced(api_version: &str, kind: &str) -> bool {
    kind_of(api_version, kind).is_none_or(|kind| kind.namespaced)
}

/// Makes a full manifest of a short one.
///
/// `name` and `namespace` go into the metadata. A workload gets its selector, its labels and one
/// container `app`; `container` and `pod` are merged into those. A Service selects the app of its name,
/// a definition becomes that of a custom resource with a status.
pub(super) fn full(short: &Value, namespace: &str) -> Result<Value> {
    let mut manifest = short.clone();
    let fields = manifest
        .as_object_mut()
        .context("a manifest is an object")?;
    let mut take = |field: &str| fields.remove(field).unwrap_or(Value::Null);
    let (name, own_namespace) = (take("name"), take("namespace"));
    let (pod, container, defines) = (take("pod"), take("container"), take("defines"));
    let kind = manifest["kind"].as_str().context("a kind")?.to_owned();
    if manifest["apiVersion"].is_null() {
        manifest["apiVersion"] = json!(api_version_of(&kind)?);
    }
    let api_version = manifest["apiVersion"].as_str().unwrap_or_default();
    let mut metadata = json!({"name": name});
    if is_namespaced(api_version, &kind) {
        metadata["namespace"] = json!(own_namespace.as_str().unwrap_or(namespace));
    }
    let app = name.as_str().unwrap_or_default();
    let defaults = match kind.as_str() {
        "ReplicationController" => json!({"spec": {
            "replicas": 2,
            "selector": {"app": app},
            "template": template(app, &pod, &container, "Always"),
        }}),
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" => {
            metadata["labels"] = json!({"app": app});
            let mut spec = json!({
                "selector": {"matchLabels": {"app": app}},
                "template": template(app, &pod, &container, "Always"),
            });
            match kind.as_str() {
                "Deployment" | "ReplicaSet" => spec["replicas"] = json!(2),
                "StatefulSet" => {
                    spec["replicas"] = json!(2);
                    spec["serviceName"] = json!(app);
                }
                _ => {}
            }
            json!({"spec": spec})
        }
        "Job" => {
            json!({"spec": {"backoffLimit": 0, "template": template(app, &pod, &container, "Never")}})
        }
        "CronJob" => json!({"spec": {"jobTemplate": {"spec": {
            "backoffLimit": 0, "template": template(app, &pod, &container, "Never"),
        }}}}),
        "Service" => json!({"spec": {"selector": {"app": app}, "ports": [{"port": 80}]}}),
        "CustomResourceDefinition" => definition(&mut metadata, &defines)?,
        _ => json!({}),
    };
    let mut made = json!({"metadata": metadata});
    merge(&mut made, &defaults);
    merge(&mut made, &manifest);
    Ok(made)
}

fn template(app: &str, pod: &Value, container: &Value, restarts: &str) -> Value {
    let mut main = json!({"name": "app", "image": format!("registry.example/{app}:1.4.0")});
    merge(&mut main, container);
    let mut spec = json!({
        "containers": [main],
        "restartPolicy": restarts,
        "terminationGracePeriodSeconds": 2,
    });
    merge(&mut spec, pod);
    json!({"metadata": {"labels": {"app": app}}, "spec": spec})
}

/// The definition of `group/Kind`: any spec, and a status of its own.
fn definition(metadata: &mut Value, defines: &Value) -> Result<Value> {
    let defines = defines.as_str().context("defines: group/Kind")?;
    let (group, kind) = defines.split_once('/').context("defines: group/Kind")?;
    let plural = format!("{}s", kind.to_lowercase());
    metadata["name"] = json!(format!("{plural}.{group}"));
    let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    Ok(json!({"spec": {
        "group": group, "scope": "Namespaced",
        "names": {"plural": plural, "singular": kind.to_lowercase(), "kind": kind},
        "versions": [{
            "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": open, "status": open},
            }},
        }],
    }}))
}

/// Merges objects field by field; everything else is replaced.
fn merge(into: &mut Value, from: &Value) {
    let Value::Object(fields) = from else {
        if !from.is_null() {
            into.clone_from(from);
        }
        return;
    };
    if !into.is_object() {
        *into = Value::Object(Map::new());
    }
    for (key, value) in fields {
        merge(&mut into[key.as_str()], value);
    }
}

#[cfg(test)]
mod manifest_tests {
    use super::*;

    #[test]
    fn a_short_deployment_is_made_full() -> Result<()> {
        let short = json!({"kind": "Deployment", "name": "web", "spec": {"replicas": 3},
            "pod": {"serviceAccountName": "robot"}, "container": {"image": "i:2"}});
        let made = full(&short, "shop")?;
        assert_eq!(made["apiVersion"], "apps/v1");
        assert_eq!(made["metadata"]["namespace"], "shop");
        assert_eq!(made["spec"]["replicas"], 3);
        assert_eq!(made["spec"]["selector"]["matchLabels"]["app"], "web");
        let pod = &made["spec"]["template"]["spec"];
        assert_eq!(pod["serviceAccountName"], "robot");
        assert_eq!(pod["containers"][0]["image"], "i:2");
        assert_eq!(pod["containers"][0]["name"], "app");
        assert_eq!(
            Reference::of(&made),
            Reference::read("Deployment web", "shop")?
        );
        Ok(())
    }

    #[test]
    fn references_say_where_an_object_is() -> Result<()> {
        let node = Reference::read("Node n-1", "shop")?;
        assert_eq!(node.path(), "/api/v1/nodes/n-1");
        let custom = Reference::read("acme.example/v1/Widget a/b", "shop")?;
        let expected = "/apis/acme.example/v1/namespaces/a/widgets/b";
        assert_eq!(custom.path(), expected);
        assert!(Reference::read("Widget b", "shop").is_err());
        Ok(())
    }
}
