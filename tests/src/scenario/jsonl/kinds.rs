//! Where kinds are served: those the players write, and those that only controllers make.

use crate::rest::kind_of;

/// Where a kind is served.
#[derive(Debug, Clone, Copy)]
pub(super) struct Served {
    api_version: &'static str,
    pub(super) plural: &'static str,
    /// Whether the server counts the generations of its objects.
    pub(super) has_generation: bool,
}

impl Served {
    /// Looks a kind up; `None` for one that nobody writes.
    pub(super) fn of(api_version: &str, kind: &str) -> Option<Self> {
        let (api_version, plural) = match (api_version, kind) {
            ("apps/v1", "ReplicaSet") => ("apps/v1", "replicasets"),
            ("v1", "Endpoints") => ("v1", "endpoints"),
            ("discovery.k8s.io/v1", "EndpointSlice") => ("discovery.k8s.io/v1", "endpointslices"),
            ("apps/v1", "ControllerRevision") => ("apps/v1", "controllerrevisions"),
            (api_version, kind) => {
                let known = kind_of(api_version, kind)?;
                (known.api_version, known.plural)
            }
        };
        let has_generation = !matches!(
            kind,
            "Node"
                | "Namespace"
                | "Service"
                | "ConfigMap"
                | "Secret"
                | "ServiceAccount"
                | "Event"
                | "Lease"
                | "Endpoints"
                | "PriorityClass"
                | "ControllerRevision"
        );
        Some(Self {
            api_version,
            plural,
            has_generation,
        })
    }

    pub(super) fn group_version(&self) -> (&'static str, &'static str) {
        self.api_version
            .split_once('/')
            .unwrap_or(("", self.api_version))
    }
}
