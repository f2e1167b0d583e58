//! Owns what a served resource is: its names, versions, verbs and the storage behind it,
//! and the catalogue a new cluster starts with. Refuses to hold objects.

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
    /// The verbs discovery tells of; paths of other verbs answer 405.
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

    /// Gives it short names.
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

    /// Tells of subresources.
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
        let hash = super::etag::fnv1a(self.storage.as_bytes());
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
