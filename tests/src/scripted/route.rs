//! Owns what a path means. Refuses to know which resources exist.

use super::http::decode;

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
mod tests {
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
