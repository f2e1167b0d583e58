//! Which object is meant: its kind, namespace and name, and the path that follows from them.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::kinds::{Kind, kind_of};

/// Names one object of the API.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Target {
    /// Group and version as in `apiVersion`.
    pub api_version: String,
    /// The kind as in `kind`.
    pub kind: String,
    /// The namespace; `None` for objects of the cluster.
    pub namespace: Option<String>,
    /// The object's name.
    pub name: String,
}

impl Target {
    /// Names an object of a namespace.
    pub fn namespaced(api_version: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Self {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: Some(namespace.to_owned()),
            name: name.to_owned(),
        }
    }

    /// Names an object of the cluster.
    pub fn cluster_wide(api_version: &str, kind: &str, name: &str) -> Self {
        Self {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: None,
            name: name.to_owned(),
        }
    }

    /// Names the object that a document is; `None` when it lacks a kind or a name.
    pub fn of(object: &Value) -> Option<Self> {
        Some(Self {
            api_version: object["apiVersion"].as_str()?.to_owned(),
            kind: object["kind"].as_str()?.to_owned(),
            namespace: object["metadata"]["namespace"]
                .as_str()
                .map(ToOwned::to_owned),
            name: object["metadata"]["name"].as_str()?.to_owned(),
        })
    }

    /// Where this kind is served; `None` for a kind the players do not know.
    pub fn kind(&self) -> Option<&'static Kind> {
        kind_of(&self.api_version, &self.kind)
    }

    /// The path of the collection the object is in.
    pub fn collection_path(&self) -> Option<String> {
        let kind = self.kind()?;
        let root = if kind.api_version.contains('/') {
            "/apis"
        } else {
            "/api"
        };
        match (kind.namespaced, &self.namespace) {
            (true, Some(namespace)) => Some(format!(
                "{root}/{}/namespaces/{namespace}/{}",
                kind.api_version, kind.plural
            )),
            (false, None) => Some(format!("{root}/{}/{}", kind.api_version, kind.plural)),
            _ => None,
        }
    }

    /// The path of the object itself.
    pub fn path(&self) -> Option<String> {
        self.collection_path()
            .map(|collection| format!("{collection}/{}", self.name))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(out, "{} {namespace}/{}", self.kind, self.name),
            None => write!(out, "{} {}", self.kind, self.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_follow_the_kind() {
        let pod = Target::namespaced("v1", "Pod", "shop", "web");
        assert_eq!(pod.path().unwrap(), "/api/v1/namespaces/shop/pods/web");
        let operator = Target::cluster_wide("config.openshift.io/v1", "ClusterOperator", "etcd");
        assert_eq!(
            operator.path().unwrap(),
            "/apis/config.openshift.io/v1/clusteroperators/etcd"
        );
        assert_eq!(
            Target::cluster_wide("v1", "Pod", "no-namespace").path(),
            None
        );
        assert_eq!(Target::cluster_wide("v1", "Unheard", "of").path(), None);
    }
}
