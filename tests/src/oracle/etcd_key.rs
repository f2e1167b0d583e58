//! Which object a key of etcd belongs to, and which keys belong to none.
//!
//! Built-in kinds lie under their resource alone, a few under an older name; custom resources lie
//! under group and resource. Nothing else tells them apart, but a custom resource's group always
//! has a dot in it and a built-in resource's name never has.

/// An object's place in the API, as far as its key in etcd tells.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// The API group of custom resources, CRDs and `APIServices`.
    /// None for all other built-in kinds, whose keys do not name it.
    pub group: Option<String>,
    /// The resource's plural name, as in the API.
    pub resource: String,
    /// None for cluster-scoped objects.
    pub namespace: Option<String>,
    /// The object's name.
    pub name: String,
}

/// What a key of etcd is for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EtcdKey {
    /// An object that the API serves.
    Object(ObjectKey),
    /// The API servers' own bookkeeping, which no API shows and no recorder can record.
    WithoutApi,
    /// A key that this harness does not know; tests must not take it for either.
    Unknown,
}

const PREFIX: &str = "/registry/";

/// Kept by the API servers for themselves.
const WITHOUT_API: [&str; 3] = ["peerserverleases", "masterleases", "ranges"];
/// The key that API servers compact by, outside the prefix.
const COMPACTION: &str = "compact_rev_key";

/// Resources under another name than the API's.
const OLDER_NAMES: [(&str, &str); 5] = [
    ("controllers", "replicationcontrollers"),
    ("minions", "nodes"),
    ("ingress", "ingresses"),
    ("services/endpoints", "endpoints"),
    ("services/specs", "services"),
];

impl EtcdKey {
    /// Reads a key; never fails, but may not know it.
    pub fn parse(key: &str) -> Self {
        if key == COMPACTION {
            return Self::WithoutApi;
        }
        let Some(path) = key.strip_prefix(PREFIX) else {
            return Self::Unknown;
        };
        let segments: Vec<&str> = path.split('/').collect();
        if segments
            .first()
            .is_some_and(|first| WITHOUT_API.contains(first))
        {
            return Self::WithoutApi;
        }
        let (group, resource, place) = match segments.as_slice() {
            ["services", kind, place @ ..] => (None, format!("services/{kind}"), place),
            [group, resource, place @ ..] if group.contains('.') => {
                (Some((*group).to_owned()), (*resource).to_owned(), place)
            }
            [resource, place @ ..] => (None, (*resource).to_owned(), place),
            [] => return Self::Unknown,
        };
        let (namespace, name) = match place {
            [name] => (None, *name),
            [namespace, name] => (Some((*namespace).to_owned()), *name),
            _ => return Self::Unknown,
        };
        let older = OLDER_NAMES.iter().find(|(older, _)| *older == resource);
        let resource = older.map_or(resource, |(_, now)| (*now).to_owned());
        Self::Object(ObjectKey {
            group,
            resource,
            namespace,
            name: name.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(group: Option<&str>, resource: &str, namespace: Option<&str>, name: &str) -> EtcdKey {
        EtcdKey::Object(ObjectKey {
            group: group.map(str::to_owned),
            resource: resource.to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        })
    }

    #[test]
    fn keys_name_objects() {
        let widgets = Some("shop.example.com");
        let cases = [
            (
                "/registry/pods/shop/web-0",
                object(None, "pods", Some("shop"), "web-0"),
            ),
            (
                "/registry/namespaces/shop",
                object(None, "namespaces", None, "shop"),
            ),
            ("/registry/minions/n-1", object(None, "nodes", None, "n-1")),
            (
                "/registry/controllers/shop/a",
                object(None, "replicationcontrollers", Some("shop"), "a"),
            ),
            (
                "/registry/services/specs/shop/web",
                object(None, "services", Some("shop"), "web"),
            ),
            (
                "/registry/services/endpoints/shop/web",
                object(None, "endpoints", Some("shop"), "web"),
            ),
            (
                "/registry/ingress/shop/web",
                object(None, "ingresses", Some("shop"), "web"),
            ),
            (
                "/registry/shop.example.com/widgets/shop/a",
                object(widgets, "widgets", Some("shop"), "a"),
            ),
            (
                "/registry/shop.example.com/widgets/a",
                object(widgets, "widgets", None, "a"),
            ),
            // Names of RBAC objects hold colons and dots.
            (
                "/registry/clusterroles/system:node",
                object(None, "clusterroles", None, "system:node"),
            ),
            (
                "/registry/apiregistration.k8s.io/apiservices/v1.apps",
                object(
                    Some("apiregistration.k8s.io"),
                    "apiservices",
                    None,
                    "v1.apps",
                ),
            ),
        ];
        for (key, expected) in cases {
            assert_eq!(EtcdKey::parse(key), expected, "{key}");
        }
    }

    #[test]
    fn bookkeeping_is_told_apart() {
        for key in [
            "compact_rev_key",
            "/registry/peerserverleases/8f1e",
            "/registry/masterleases/10.0.0.1",
            "/registry/ranges/serviceips",
        ] {
            assert_eq!(EtcdKey::parse(key), EtcdKey::WithoutApi, "{key}");
        }
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        for key in [
            "",
            "/",
            "/registry/",
            "/registry/pods",
            "/registry/a/b/c/d",
            "/other/pods/a/b",
        ] {
            assert_eq!(EtcdKey::parse(key), EtcdKey::Unknown, "{key}");
        }
    }
}
