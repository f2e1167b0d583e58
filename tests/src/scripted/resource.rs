//! What a served resource is: its names, versions, verbs and the storage behind it, and the
//! catalogue a new cluster starts with. It does not hold objects.

use super::wire::decode;

/// One served resource, such as `pods` or `leases.coordination.k8s.io`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Empty for the core group.
    pub group: String,
    /// Served versions, the preferred one first.
    pub versions: Vec<String>,
    /// The version its objects are stored in, which a CRD names.
    pub stored_version: String,
    /// The plural name used in paths.
    pub plural: String,
    /// The singular name.
    pub singular: String,
    /// The kind of its objects.
    pub kind: String,
    /// Names such as `po`.
    pub short_names: Vec<String>,
    /// Categories such as `all`.
    pub categories: Vec<String>,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// The verbs discovery reports; paths of other verbs answer 405.
    pub verbs: Vec<String>,
    /// Subresources, told in discovery and never served.
    pub subresources: Vec<String>,
    /// Resources naming one storage share its objects, its history and its `storageVersionHash`.
    pub storage: String,
    /// Custom resources carry `apiVersion` and `kind` in list items too, in that order.
    pub custom: bool,
    /// False for resources without a watch cache, such as Events: they get no periodic bookmarks.
    pub periodic_bookmarks: bool,
}

impl Resource {
    /// A namespaced built-in resource with every verb.
    pub fn built_in(group: &str, version: &str, plural: &str, kind: &str) -> Self {
        let storage = if group.is_empty() {
            plural.to_owned()
        } else {
            format!("{plural}.{group}")
        };
        Self {
            group: group.to_owned(),
            versions: vec![version.to_owned()],
            stored_version: version.to_owned(),
            plural: plural.to_owned(),
            singular: kind.to_lowercase(),
            kind: kind.to_owned(),
            short_names: Vec::new(),
            categories: Vec::new(),
            namespaced: true,
            verbs: owned(&[
                "create",
                "delete",
                "deletecollection",
                "get",
                "list",
                "patch",
                "update",
                "watch",
            ]),
            subresources: Vec::new(),
            storage,
            custom: false,
            periodic_bookmarks: true,
        }
    }

    /// A namespaced custom resource with every verb.
    pub fn custom(group: &str, version: &str, plural: &str, kind: &str) -> Self {
        Self {
            custom: true,
            ..Self::built_in(group, version, plural, kind)
        }
    }

    /// Takes the resource out of namespaces.
    #[must_use]
    pub fn cluster_scoped(mut self) -> Self {
        self.namespaced = false;
        self
    }

    /// Returns it short names.
    #[must_use]
    pub fn short_names(mut self, names: &[&str]) -> Self {
        self.short_names = owned(names);
        self
    }

    /// Serves a further, less preferred version of the same storage.
    #[must_use]
    pub fn also_version(mut self, version: &str) -> Self {
        self.versions.push(version.to_owned());
        self
    }

    /// Names the version a CRD marks with `storage: true`.
    #[must_use]
    pub fn stored_in(mut self, version: &str) -> Self {
        version.clone_into(&mut self.stored_version);
        self
    }

    /// Leaves it only these verbs.
    #[must_use]
    pub fn verbs(mut self, verbs: &[&str]) -> Self {
        self.verbs = owned(verbs);
        self
    }

    /// Returns of subresources.
    #[must_use]
    pub fn subresources(mut self, names: &[&str]) -> Self {
        self.subresources = owned(names);
        self
    }

    /// Shares the storage of another resource, given by its key.
    #[must_use]
    pub fn stored_as(mut self, key: &str) -> Self {
        key.clone_into(&mut self.storage);
        self
    }

    /// Takes the periodic bookmarks away, as for Events.
    #[must_use]
    pub fn without_bookmarks(mut self) -> Self {
        self.periodic_bookmarks = false;
        self
    }

    /// `pods`, `deployments.apps`: how every call names a resource.
    pub fn key(&self) -> String {
        if self.group.is_empty() {
            self.plural.clone()
        } else {
            format!("{}.{}", self.plural, self.group)
        }
    }

    /// `v1`, `apps/v1`.
    pub fn api_version(&self, version: &str) -> String {
        if self.group.is_empty() {
            version.to_owned()
        } else {
            format!("{}/{version}", self.group)
        }
    }

    /// The preferred version.
    pub fn version(&self) -> &str {
        self.versions.first().map_or("v1", String::as_str)
    }

    /// The cluster-wide path of the preferred version.
    pub fn path(&self) -> String {
        self.path_in(self.version())
    }

    /// The cluster-wide path of a version.
    pub fn path_in(&self, version: &str) -> String {
        let root = if self.group.is_empty() { "api" } else { "apis" };
        format!("/{root}/{}/{}", self.api_version(version), self.plural)
    }

    pub(crate) fn allows(&self, verb: &str) -> bool {
        self.verbs.iter().any(|allowed| allowed == verb)
    }

    /// The members that name the type inside an object, with their trailing comma.
    pub(crate) fn type_members(&self, version: &str) -> String {
        let api_version = self.api_version(version);
        if self.custom {
            format!(r#""apiVersion":"{api_version}","kind":"{}","#, self.kind)
        } else {
            format!(r#""kind":"{}","apiVersion":"{api_version}","#, self.kind)
        }
    }

    /// Equal for resources of one storage, eight bytes of base64 as on a real server.
    pub(crate) fn storage_version_hash(&self) -> String {
        use base64::Engine as _;
        let hash = super::wire::fnv1a(self.storage.as_bytes());
        base64::engine::general_purpose::STANDARD.encode(hash.to_le_bytes())
    }

    /// What a new cluster serves.
    pub(crate) fn catalogue() -> Vec<Self> {
        let core = |plural, kind| Self::built_in("", "v1", plural, kind);
        vec![
            core("namespaces", "Namespace")
                .cluster_scoped()
                .short_names(&["ns"])
                .subresources(&["finalize", "status"]),
            core("nodes", "Node")
                .cluster_scoped()
                .short_names(&["no"])
                .subresources(&["status"]),
            core("pods", "Pod")
                .short_names(&["po"])
                .subresources(&["log", "status"]),
            core("configmaps", "ConfigMap").short_names(&["cm"]),
            core("endpoints", "Endpoints").short_names(&["ep"]),
            core("secrets", "Secret"),
            core("events", "Event")
                .short_names(&["ev"])
                .without_bookmarks(),
            core("bindings", "Binding").verbs(&["create"]),
            core("componentstatuses", "ComponentStatus")
                .cluster_scoped()
                .short_names(&["cs"])
                .verbs(&["get", "list"]),
            Self::built_in("events.k8s.io", "v1", "events", "Event")
                .short_names(&["ev"])
                .stored_as("events")
                .without_bookmarks(),
            Self::built_in("coordination.k8s.io", "v1", "leases", "Lease"),
            Self::built_in("apps", "v1", "deployments", "Deployment")
                .short_names(&["deploy"])
                .subresources(&["scale", "status"]),
            Self::built_in("authentication.k8s.io", "v1", "tokenreviews", "TokenReview")
                .cluster_scoped()
                .verbs(&["create"]),
            Self::built_in(
                "apiextensions.k8s.io",
                "v1",
                "customresourcedefinitions",
                "CustomResourceDefinition",
            )
            .cluster_scoped()
            .short_names(&["crd", "crds"])
            .subresources(&["status"]),
            Self::built_in("apiregistration.k8s.io", "v1", "apiservices", "APIService")
                .cluster_scoped()
                .subresources(&["status"]),
        ]
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// What a path asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    Health,
    Version,
    Discovery(Page),
    Resource(Target),
}

/// A discovery document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Page {
    /// `/api`.
    Core,
    /// `/apis`.
    Groups,
    /// `/apis/GROUP`.
    Group(String),
    /// `/api/v1`, `/apis/GROUP/VERSION`.
    Version { group: String, version: String },
}

/// A collection, or an object in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) key: String,
    pub(crate) version: String,
    pub(crate) namespace: Option<String>,
    pub(crate) name: Option<String>,
}

impl Route {
    pub(crate) fn of(path: &str) -> Option<Self> {
        let decoded: Vec<String> = path.split('/').skip(1).map(decode).collect();
        let segments: Vec<&str> = decoded.iter().map(String::as_str).collect();
        match segments.as_slice() {
            ["version"] => Some(Self::Version),
            ["readyz" | "livez" | "healthz", ..] => Some(Self::Health),
            ["api"] => Some(Self::Discovery(Page::Core)),
            ["apis"] => Some(Self::Discovery(Page::Groups)),
            ["apis", group] => Some(Self::Discovery(Page::Group((*group).to_owned()))),
            ["api", version, rest @ ..] => Self::in_version("", version, rest),
            ["apis", group, version, rest @ ..] => Self::in_version(group, version, rest),
            _ => None,
        }
    }

    fn in_version(group: &str, version: &str, rest: &[&str]) -> Option<Self> {
        let target = |plural: &str, namespace: Option<&str>, name: Option<&str>| {
            let key = if group.is_empty() {
                plural.to_owned()
            } else {
                format!("{plural}.{group}")
            };
            Self::Resource(Target {
                key,
                version: version.to_owned(),
                namespace: namespace.map(str::to_owned),
                name: name.map(str::to_owned),
            })
        };
        match *rest {
            [] => Some(Self::Discovery(Page::Version {
                group: group.to_owned(),
                version: version.to_owned(),
            })),
            [plural] => Some(target(plural, None, None)),
            ["namespaces", name] if group.is_empty() => {
                Some(target("namespaces", None, Some(name)))
            }
            ["namespaces", namespace, plural] => Some(target(plural, Some(namespace), None)),
            ["namespaces", namespace, plural, name] => {
                Some(target(plural, Some(namespace), Some(name)))
            }
            [plural, name] => Some(target(plural, None, Some(name))),
            _ => None,
        }
    }
}

#[cfg(test)]
mod route_tests {
    use super::{Page, Route, Target};

    fn target(key: &str, namespace: Option<&str>, name: Option<&str>) -> Route {
        Route::Resource(Target {
            key: key.to_owned(),
            version: "v1".to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.map(str::to_owned),
        })
    }

    #[test]
    fn paths_of_every_shape() {
        assert_eq!(Route::of("/api/v1/pods"), Some(target("pods", None, None)));
        assert_eq!(
            Route::of("/api/v1/namespaces/kube-system"),
            Some(target("namespaces", None, Some("kube-system")))
        );
        assert_eq!(
            Route::of("/apis/apps/v1/namespaces/a/deployments/b"),
            Some(target("deployments.apps", Some("a"), Some("b")))
        );
        assert_eq!(
            Route::of("/apis/apps/v1"),
            Some(Route::Discovery(Page::Version {
                group: "apps".to_owned(),
                version: "v1".to_owned()
            }))
        );
        assert_eq!(Route::of("/api/v1/namespaces/a/pods/b/log"), None);
    }
}
