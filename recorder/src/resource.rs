//! A recorded resource: its request paths, its redaction subject, and whether the recorder itself
//! reads its objects.

use crate::server::query_value;
use crate::version::ResourceVersion;
use kubereel_format::{NotCoveredReason, Note, ResourceInfo};
use kubereel_redact::ResourceType;

/// Group and plural of a resource.
pub(crate) type GroupResource = (String, String);

/// Returns the note that a resource is not recorded.
pub(crate) fn not_covered(info: &ResourceInfo, reason: NotCoveredReason, detail: String) -> Note {
    Note::NotCovered {
        group: info.group.clone(),
        version: info.version.clone(),
        plural: info.plural.clone(),
        reason,
        detail,
    }
}

/// A recorded resource.
#[derive(Clone, Debug)]
pub(crate) struct WatchTarget {
    /// Its description in the reel.
    pub(crate) info: ResourceInfo,
    /// Whether the recorder itself reads its objects.
    pub(crate) role: ResourceRole,
}

/// Resources whose objects the recorder itself reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceRole {
    /// None of these.
    Plain,
    /// Custom resource definitions: the first sign of a new resource.
    Definitions,
    /// API services: a sign that discovery has changed.
    ApiServices,
    /// Events: they expire in bulk, and have no bookmarks.
    Events,
}

impl WatchTarget {
    /// Creates one from its description.
    pub(crate) fn new(info: ResourceInfo) -> Self {
        let role = match (info.group.as_str(), info.plural.as_str()) {
            ("" | "events.k8s.io", "events") => ResourceRole::Events,
            ("apiextensions.k8s.io", "customresourcedefinitions") => ResourceRole::Definitions,
            ("apiregistration.k8s.io", "apiservices") => ResourceRole::ApiServices,
            _ => ResourceRole::Plain,
        };
        Self { info, role }
    }

    /// Returns the redaction subject of its objects.
    pub(crate) fn subject(&self) -> ResourceType<'_> {
        ResourceType::new(&self.info.group, &self.info.plural).with_kind(&self.info.kind)
    }

    /// Returns whether its versions are the revisions of the cluster's own storage: only those show
    /// whether the cluster is still the same.
    ///
    /// Events often have a storage of their own, and so may resources of aggregated servers.
    pub(crate) fn tells_revision(&self) -> bool {
        let group = &self.info.group;
        let is_native = !group.contains('.') || group.ends_with(".k8s.io");
        is_native && self.role != ResourceRole::Events
    }

    /// Returns the path of all its objects.
    pub(crate) fn path(&self) -> String {
        let info = &self.info;
        if info.group.is_empty() {
            format!("/api/{}/{}", info.version, info.plural)
        } else {
            format!("/apis/{}/{}/{}", info.group, info.version, info.plural)
        }
    }

    /// Returns the request for a watch that begins with the state.
    pub(crate) fn watch_list(&self, timeout_secs: u32) -> String {
        format!(
            "{}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds={timeout_secs}",
            self.path()
        )
    }

    /// Returns the request for a watch from a version.
    pub(crate) fn watch(&self, from: &ResourceVersion, timeout_secs: u32) -> String {
        format!(
            "{}?watch=true&resourceVersion={}&allowWatchBookmarks=true&timeoutSeconds={timeout_secs}",
            self.path(),
            query_value(&from.to_string())
        )
    }

    /// Returns the request for a page of a list.
    pub(crate) fn page(&self, limit: Option<u32>, token: Option<&str>) -> String {
        let mut query = Vec::new();
        query.extend(limit.map(|limit| format!("limit={limit}")));
        query.extend(token.map(|token| format!("continue={}", query_value(token))));
        if query.is_empty() {
            return self.path();
        }
        format!("{}?{}", self.path(), query.join("&"))
    }

    /// Returns the request for all objects at a revision.
    pub(crate) fn all_at(&self, at: u128) -> String {
        let path = self.path();
        format!("{path}?resourceVersion={at}&resourceVersionMatch=Exact")
    }

    /// Returns the request for one object at a revision. It is a list, because a GET cannot read
    /// the past.
    pub(crate) fn object_at(&self, namespace: &str, name: &str, at: u128) -> String {
        let of_name = query_value(&format!("metadata.name={name}"));
        let question =
            format!("fieldSelector={of_name}&resourceVersion={at}&resourceVersionMatch=Exact");
        if namespace.is_empty() {
            return format!("{}?{question}", self.path());
        }
        let info = &self.info;
        let group = if info.group.is_empty() {
            format!("/api/{}", info.version)
        } else {
            format!("/apis/{}/{}", info.group, info.version)
        };
        let namespace = query_value(namespace);
        format!("{group}/namespaces/{namespace}/{}?{question}", info.plural)
    }
}

/// Describes a resource whose name alone matters.
#[cfg(test)]
pub(crate) fn plain_info(id: u32, group: &str, plural: &str) -> ResourceInfo {
    ResourceInfo::new(
        kubereel_format::ResourceId(id),
        &format!("{group}/v1"),
        plural,
        "",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(group: &str, plural: &str) -> WatchTarget {
        WatchTarget::new(plain_info(0, group, plural))
    }

    #[test]
    fn asks_for_the_past() {
        assert_eq!(
            target("apps", "deployments").object_at("n", "a b", 41),
            "/apis/apps/v1/namespaces/n/deployments?fieldSelector=metadata.name%3Da%20b&resourceVersion=41&resourceVersionMatch=Exact"
        );
        assert_eq!(
            target("", "nodes").object_at("", "a", 41),
            "/api/v1/nodes?fieldSelector=metadata.name%3Da&resourceVersion=41&resourceVersionMatch=Exact"
        );
        let expected = "/api/v1/pods?resourceVersion=41&resourceVersionMatch=Exact";
        assert_eq!(target("", "pods").all_at(41), expected);
    }

    #[test]
    fn asks_for_a_whole_cluster() {
        let pods = target("", "pods");
        assert_eq!(pods.page(Some(500), None), "/api/v1/pods?limit=500");
        let expected = "/api/v1/pods?limit=10&continue=a%2Bb";
        assert_eq!(pods.page(Some(10), Some("a+b")), expected);
        let deployments = target("apps", "deployments");
        assert_eq!(
            deployments.watch(&ResourceVersion::Number(7), 3),
            "/apis/apps/v1/deployments?watch=true&resourceVersion=7&allowWatchBookmarks=true&timeoutSeconds=3"
        );
        let streamed = deployments.watch_list(250);
        for part in [
            "sendInitialEvents=true",
            "resourceVersionMatch=NotOlderThan",
            "allowWatchBookmarks=true",
        ] {
            assert!(streamed.contains(part), "{streamed}");
        }
        assert!(!streamed.contains("resourceVersion="));
    }

    #[test]
    fn roles_are_those_of_the_core_groups() {
        assert_eq!(target("x.io", "secrets").role, ResourceRole::Plain);
        assert_eq!(target("events.k8s.io", "events").role, ResourceRole::Events);
    }

    #[test]
    fn only_the_clusters_own_storage_tells_its_revision() {
        for (group, plural) in [
            ("", "pods"),
            ("apps", "deployments"),
            ("coordination.k8s.io", "leases"),
        ] {
            assert!(target(group, plural).tells_revision(), "{plural}");
        }
        for (group, plural) in [("", "events"), ("route.openshift.io", "routes")] {
            assert!(!target(group, plural).tells_revision(), "{plural}");
        }
    }
}
