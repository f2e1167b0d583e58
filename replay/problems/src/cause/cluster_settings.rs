//! Settings of the whole cluster, which no object refers to and any object may depend on.

use super::failure_words::{is_about_proxy, is_pull_refused, is_unresolved};
use crate::sign::SignKind;

/// A setting of the whole cluster.
struct ClusterSetting {
    kind: &'static str,
    namespace: &'static str,
    name: &'static str,
    /// Whether a sign and its words, in lower case, can come from it.
    is_meant: fn(SignKind, &str) -> bool,
    via: &'static str,
}

impl ClusterSetting {
    const fn dns(kind: &'static str, namespace: &'static str, name: &'static str) -> Self {
        Self {
            kind,
            namespace,
            name,
            // The kubelet resolves the names of registries as its Node does.
            is_meant: |kind, words| kind != SignKind::ImagePull && is_unresolved(words),
            via: "it configures the DNS of the cluster",
        }
    }
}

/// The settings that are candidates for any object.
const CLUSTER_SETTINGS: &[ClusterSetting] = &[
    ClusterSetting {
        kind: "Secret",
        namespace: "openshift-config",
        name: "pull-secret",
        is_meant: |kind, words| {
            matches!(kind, SignKind::ImagePull | SignKind::ReleaseNotAccepted)
                && is_pull_refused(words)
        },
        via: "all Nodes pull images with it",
    },
    ClusterSetting {
        kind: "Proxy",
        namespace: "",
        name: "cluster",
        is_meant: |_, words| is_about_proxy(words),
        via: "it is the proxy of the cluster",
    },
    ClusterSetting::dns("ConfigMap", "kube-system", "coredns"),
    ClusterSetting::dns("ConfigMap", "kube-system", "coredns-custom"),
    ClusterSetting::dns("ConfigMap", "kube-system", "node-local-dns"),
    // Of OpenShift's DNS operator.
    ClusterSetting::dns("DNS", "", "default"),
];

/// Returns the relation of an object, by kind, namespace and name, to a sign and its words, if it is a setting that they
/// can come from.
pub(super) fn relation_of_setting(
    object: (&str, &str, &str),
    sign: SignKind,
    words: &str,
) -> Option<&'static str> {
    let mut settings = CLUSTER_SETTINGS.iter();
    let setting = settings
        .find(|one| (one.kind, one.namespace, one.name) == object && (one.is_meant)(sign, words));
    setting.map(|setting| setting.via)
}
