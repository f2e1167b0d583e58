//! Owns the names of the resources that Kubernetes and OpenShift bring along: kind, plural, short
//! names, scope. Refuses the custom ones that a cluster adds: definitions in the input name those.

/// A resource that comes with the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BuiltIn {
    pub(crate) group: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) short_names: &'static [&'static str],
    pub(crate) namespaced: bool,
    pub(crate) categories: &'static [&'static str],
}

/// Finds a resource by group and kind.
pub(crate) fn of_kind(group: &str, kind: &str) -> Option<&'static BuiltIn> {
    let wanted = |one: &&BuiltIn| one.group == group && one.kind == kind;
    TABLE.iter().find(wanted)
}

/// Finds a resource by group and plural.
pub(crate) fn of_plural(group: &str, plural: &str) -> Option<&'static BuiltIn> {
    let wanted = |one: &&BuiltIn| one.group == group && one.plural == plural;
    TABLE.iter().find(wanted)
}

const NAMESPACED: bool = true;
const CLUSTER: bool = false;
const ALL: &[&str] = &["all"];
const EXTENSIONS: &[&str] = &["api-extensions"];

const fn row(
    group: &'static str,
    kind: &'static str,
    plural: &'static str,
    short_names: &'static [&'static str],
    namespaced: bool,
) -> BuiltIn {
    BuiltIn {
        group,
        kind,
        plural,
        short_names,
        namespaced,
        categories: &[],
    }
}

const fn within(categories: &'static [&'static str], row: BuiltIn) -> BuiltIn {
    BuiltIn { categories, ..row }
}

/// By group; what was removed from Kubernetes stays, recordings may be old.
const TABLE: &[BuiltIn] = &[
    row("", "ConfigMap", "configmaps", &["cm"], NAMESPACED),
    row("", "ComponentStatus", "componentstatuses", &["cs"], CLUSTER),
    row("", "Endpoints", "endpoints", &["ep"], NAMESPACED),
    row("", "Event", "events", &["ev"], NAMESPACED),
    row("", "LimitRange", "limitranges", &["limits"], NAMESPACED),
    row("", "Namespace", "namespaces", &["ns"], CLUSTER),
    row("", "Node", "nodes", &["no"], CLUSTER),
    row(
        "",
        "PersistentVolumeClaim",
        "persistentvolumeclaims",
        &["pvc"],
        NAMESPACED,
    ),
    row(
        "",
        "PersistentVolume",
        "persistentvolumes",
        &["pv"],
        CLUSTER,
    ),
    within(ALL, row("", "Pod", "pods", &["po"], NAMESPACED)),
    row("", "PodTemplate", "podtemplates", &[], NAMESPACED),
    within(
        ALL,
        row(
            "",
            "ReplicationController",
            "replicationcontrollers",
            &["rc"],
            NAMESPACED,
        ),
    ),
    row(
        "",
        "ResourceQuota",
        "resourcequotas",
        &["quota"],
        NAMESPACED,
    ),
    row("", "Secret", "secrets", &[], NAMESPACED),
    row("", "ServiceAccount", "serviceaccounts", &["sa"], NAMESPACED),
    within(ALL, row("", "Service", "services", &["svc"], NAMESPACED)),
    within(
        EXTENSIONS,
        row(
            "admissionregistration.k8s.io",
            "MutatingAdmissionPolicy",
            "mutatingadmissionpolicies",
            &[],
            CLUSTER,
        ),
    ),
    within(
        EXTENSIONS,
        row(
            "admissionregistration.k8s.io",
            "MutatingAdmissionPolicyBinding",
            "mutatingadmissionpolicybindings",
            &[],
            CLUSTER,
        ),
    ),
    within(
        EXTENSIONS,
        row(
            "admissionregistration.k8s.io",
            "MutatingWebhookConfiguration",
            "mutatingwebhookconfigurations",
            &[],
            CLUSTER,
        ),
    ),
    within(
        EXTENSIONS,
        row(
            "admissionregistration.k8s.io",
            "ValidatingAdmissionPolicy",
            "validatingadmissionpolicies",
            &[],
            CLUSTER,
        ),
    ),
    within(
        EXTENSIONS,
        row(
            "admissionregistration.k8s.io",
            "ValidatingAdmissionPolicyBinding",
            "validatingadmissionpolicybindings",
            &[],
            CLUSTER,
        ),
    ),
    within(
        EXTENSIONS,
        row(
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration",
            "validatingwebhookconfigurations",
            &[],
            CLUSTER,
        ),
    ),
    within(
        EXTENSIONS,
        row(
            "apiextensions.k8s.io",
            "CustomResourceDefinition",
            "customresourcedefinitions",
            &["crd", "crds"],
            CLUSTER,
        ),
    ),
    within(
        EXTENSIONS,
        row(
            "apiregistration.k8s.io",
            "APIService",
            "apiservices",
            &[],
            CLUSTER,
        ),
    ),
    row(
        "apps",
        "ControllerRevision",
        "controllerrevisions",
        &[],
        NAMESPACED,
    ),
    within(
        ALL,
        row("apps", "DaemonSet", "daemonsets", &["ds"], NAMESPACED),
    ),
    within(
        ALL,
        row("apps", "Deployment", "deployments", &["deploy"], NAMESPACED),
    ),
    within(
        ALL,
        row("apps", "ReplicaSet", "replicasets", &["rs"], NAMESPACED),
    ),
    within(
        ALL,
        row("apps", "StatefulSet", "statefulsets", &["sts"], NAMESPACED),
    ),
    within(
        ALL,
        row(
            "autoscaling",
            "HorizontalPodAutoscaler",
            "horizontalpodautoscalers",
            &["hpa"],
            NAMESPACED,
        ),
    ),
    within(
        ALL,
        row("batch", "CronJob", "cronjobs", &["cj"], NAMESPACED),
    ),
    within(ALL, row("batch", "Job", "jobs", &[], NAMESPACED)),
    row(
        "certificates.k8s.io",
        "CertificateSigningRequest",
        "certificatesigningrequests",
        &["csr"],
        CLUSTER,
    ),
    row(
        "certificates.k8s.io",
        "ClusterTrustBundle",
        "clustertrustbundles",
        &[],
        CLUSTER,
    ),
    row(
        "certificates.k8s.io",
        "PodCertificateRequest",
        "podcertificaterequests",
        &[],
        NAMESPACED,
    ),
    row("coordination.k8s.io", "Lease", "leases", &[], NAMESPACED),
    row(
        "coordination.k8s.io",
        "LeaseCandidate",
        "leasecandidates",
        &[],
        NAMESPACED,
    ),
    row(
        "discovery.k8s.io",
        "EndpointSlice",
        "endpointslices",
        &[],
        NAMESPACED,
    ),
    row("events.k8s.io", "Event", "events", &["ev"], NAMESPACED),
    row("extensions", "Ingress", "ingresses", &["ing"], NAMESPACED),
    row(
        "flowcontrol.apiserver.k8s.io",
        "FlowSchema",
        "flowschemas",
        &[],
        CLUSTER,
    ),
    row(
        "flowcontrol.apiserver.k8s.io",
        "PriorityLevelConfiguration",
        "prioritylevelconfigurations",
        &[],
        CLUSTER,
    ),
    row(
        "internal.apiserver.k8s.io",
        "StorageVersion",
        "storageversions",
        &[],
        CLUSTER,
    ),
    row("metrics.k8s.io", "NodeMetrics", "nodes", &[], CLUSTER),
    row("metrics.k8s.io", "PodMetrics", "pods", &[], NAMESPACED),
    row(
        "networking.k8s.io",
        "IngressClass",
        "ingressclasses",
        &[],
        CLUSTER,
    ),
    row(
        "networking.k8s.io",
        "Ingress",
        "ingresses",
        &["ing"],
        NAMESPACED,
    ),
    row(
        "networking.k8s.io",
        "IPAddress",
        "ipaddresses",
        &["ip"],
        CLUSTER,
    ),
    row(
        "networking.k8s.io",
        "NetworkPolicy",
        "networkpolicies",
        &["netpol"],
        NAMESPACED,
    ),
    row(
        "networking.k8s.io",
        "ServiceCIDR",
        "servicecidrs",
        &[],
        CLUSTER,
    ),
    row(
        "node.k8s.io",
        "RuntimeClass",
        "runtimeclasses",
        &[],
        CLUSTER,
    ),
    row(
        "policy",
        "PodDisruptionBudget",
        "poddisruptionbudgets",
        &["pdb"],
        NAMESPACED,
    ),
    row(
        "policy",
        "PodSecurityPolicy",
        "podsecuritypolicies",
        &["psp"],
        CLUSTER,
    ),
    row(
        "rbac.authorization.k8s.io",
        "ClusterRoleBinding",
        "clusterrolebindings",
        &[],
        CLUSTER,
    ),
    row(
        "rbac.authorization.k8s.io",
        "ClusterRole",
        "clusterroles",
        &[],
        CLUSTER,
    ),
    row(
        "rbac.authorization.k8s.io",
        "RoleBinding",
        "rolebindings",
        &[],
        NAMESPACED,
    ),
    row(
        "rbac.authorization.k8s.io",
        "Role",
        "roles",
        &[],
        NAMESPACED,
    ),
    row(
        "resource.k8s.io",
        "DeviceClass",
        "deviceclasses",
        &[],
        CLUSTER,
    ),
    row(
        "resource.k8s.io",
        "DeviceTaintRule",
        "devicetaintrules",
        &[],
        CLUSTER,
    ),
    row(
        "resource.k8s.io",
        "ResourceClaim",
        "resourceclaims",
        &[],
        NAMESPACED,
    ),
    row(
        "resource.k8s.io",
        "ResourceClaimTemplate",
        "resourceclaimtemplates",
        &[],
        NAMESPACED,
    ),
    row(
        "resource.k8s.io",
        "ResourceSlice",
        "resourceslices",
        &[],
        CLUSTER,
    ),
    row(
        "scheduling.k8s.io",
        "PriorityClass",
        "priorityclasses",
        &["pc"],
        CLUSTER,
    ),
    row("storage.k8s.io", "CSIDriver", "csidrivers", &[], CLUSTER),
    row("storage.k8s.io", "CSINode", "csinodes", &[], CLUSTER),
    row(
        "storage.k8s.io",
        "CSIStorageCapacity",
        "csistoragecapacities",
        &[],
        NAMESPACED,
    ),
    row(
        "storage.k8s.io",
        "StorageClass",
        "storageclasses",
        &["sc"],
        CLUSTER,
    ),
    row(
        "storage.k8s.io",
        "VolumeAttachment",
        "volumeattachments",
        &[],
        CLUSTER,
    ),
    row(
        "storage.k8s.io",
        "VolumeAttributesClass",
        "volumeattributesclasses",
        &["vac"],
        CLUSTER,
    ),
    row(
        "storagemigration.k8s.io",
        "StorageVersionMigration",
        "storageversionmigrations",
        &[],
        CLUSTER,
    ),
    within(
        ALL,
        row(
            "apps.openshift.io",
            "DeploymentConfig",
            "deploymentconfigs",
            &["dc"],
            NAMESPACED,
        ),
    ),
    within(
        ALL,
        row("build.openshift.io", "Build", "builds", &[], NAMESPACED),
    ),
    within(
        ALL,
        row(
            "build.openshift.io",
            "BuildConfig",
            "buildconfigs",
            &["bc"],
            NAMESPACED,
        ),
    ),
    row(
        "config.openshift.io",
        "APIServer",
        "apiservers",
        &[],
        CLUSTER,
    ),
    row(
        "config.openshift.io",
        "Authentication",
        "authentications",
        &[],
        CLUSTER,
    ),
    row("config.openshift.io", "Build", "builds", &[], CLUSTER),
    row(
        "config.openshift.io",
        "ClusterImagePolicy",
        "clusterimagepolicies",
        &[],
        CLUSTER,
    ),
    row(
        "config.openshift.io",
        "ClusterOperator",
        "clusteroperators",
        &["co"],
        CLUSTER,
    ),
    row(
        "config.openshift.io",
        "ClusterVersion",
        "clusterversions",
        &[],
        CLUSTER,
    ),
    row("config.openshift.io", "Console", "consoles", &[], CLUSTER),
    row("config.openshift.io", "DNS", "dnses", &[], CLUSTER),
    row(
        "config.openshift.io",
        "FeatureGate",
        "featuregates",
        &[],
        CLUSTER,
    ),
    row("config.openshift.io", "Image", "images", &[], CLUSTER),
    row(
        "config.openshift.io",
        "ImageContentPolicy",
        "imagecontentpolicies",
        &[],
        CLUSTER,
    ),
    row(
        "config.openshift.io",
        "ImageDigestMirrorSet",
        "imagedigestmirrorsets",
        &["idms"],
        CLUSTER,
    ),
    row(
        "config.openshift.io",
        "ImagePolicy",
        "imagepolicies",
        &[],
        NAMESPACED,
    ),
    row(
        "config.openshift.io",
        "ImageTagMirrorSet",
        "imagetagmirrorsets",
        &["itms"],
        CLUSTER,
    ),
    row(
        "config.openshift.io",
        "Infrastructure",
        "infrastructures",
        &[],
        CLUSTER,
    ),
    row("config.openshift.io", "Ingress", "ingresses", &[], CLUSTER),
    row(
        "config.openshift.io",
        "InsightsDataGather",
        "insightsdatagathers",
        &[],
        CLUSTER,
    ),
    row("config.openshift.io", "Network", "networks", &[], CLUSTER),
    row("config.openshift.io", "Node", "nodes", &[], CLUSTER),
    row("config.openshift.io", "OAuth", "oauths", &[], CLUSTER),
    row(
        "config.openshift.io",
        "OperatorHub",
        "operatorhubs",
        &[],
        CLUSTER,
    ),
    row("config.openshift.io", "Project", "projects", &[], CLUSTER),
    row("config.openshift.io", "Proxy", "proxies", &[], CLUSTER),
    row(
        "config.openshift.io",
        "Scheduler",
        "schedulers",
        &[],
        CLUSTER,
    ),
    row("image.openshift.io", "Image", "images", &[], CLUSTER),
    within(
        ALL,
        row(
            "image.openshift.io",
            "ImageStream",
            "imagestreams",
            &["is"],
            NAMESPACED,
        ),
    ),
    row(
        "image.openshift.io",
        "ImageStreamTag",
        "imagestreamtags",
        &["istag"],
        NAMESPACED,
    ),
    row(
        "image.openshift.io",
        "ImageTag",
        "imagetags",
        &["itag"],
        NAMESPACED,
    ),
    row(
        "machineconfiguration.openshift.io",
        "ContainerRuntimeConfig",
        "containerruntimeconfigs",
        &["ctrcfg"],
        CLUSTER,
    ),
    row(
        "machineconfiguration.openshift.io",
        "ControllerConfig",
        "controllerconfigs",
        &[],
        CLUSTER,
    ),
    row(
        "machineconfiguration.openshift.io",
        "KubeletConfig",
        "kubeletconfigs",
        &[],
        CLUSTER,
    ),
    row(
        "machineconfiguration.openshift.io",
        "MachineConfig",
        "machineconfigs",
        &["mc"],
        CLUSTER,
    ),
    row(
        "machineconfiguration.openshift.io",
        "MachineConfigNode",
        "machineconfignodes",
        &[],
        CLUSTER,
    ),
    row(
        "machineconfiguration.openshift.io",
        "MachineConfigPool",
        "machineconfigpools",
        &["mcp"],
        CLUSTER,
    ),
    row(
        "machineconfiguration.openshift.io",
        "MachineOSBuild",
        "machineosbuilds",
        &[],
        CLUSTER,
    ),
    row(
        "machineconfiguration.openshift.io",
        "MachineOSConfig",
        "machineosconfigs",
        &[],
        CLUSTER,
    ),
    row(
        "machineconfiguration.openshift.io",
        "PinnedImageSet",
        "pinnedimagesets",
        &[],
        CLUSTER,
    ),
    row("project.openshift.io", "Project", "projects", &[], CLUSTER),
    within(
        ALL,
        row("route.openshift.io", "Route", "routes", &[], NAMESPACED),
    ),
    row(
        "security.openshift.io",
        "SecurityContextConstraints",
        "securitycontextconstraints",
        &["scc"],
        CLUSTER,
    ),
    row(
        "template.openshift.io",
        "Template",
        "templates",
        &[],
        NAMESPACED,
    ),
    row(
        "template.openshift.io",
        "TemplateInstance",
        "templateinstances",
        &[],
        NAMESPACED,
    ),
    row("user.openshift.io", "Group", "groups", &[], CLUSTER),
    row("user.openshift.io", "Identity", "identities", &[], CLUSTER),
    row("user.openshift.io", "User", "users", &[], CLUSTER),
    row(
        "user.openshift.io",
        "UserIdentityMapping",
        "useridentitymappings",
        &[],
        CLUSTER,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_resource_stands_there_once_by_either_name() {
        let plurals: BTreeSet<_> = TABLE.iter().map(|one| (one.group, one.plural)).collect();
        let kinds: BTreeSet<_> = TABLE.iter().map(|one| (one.group, one.kind)).collect();
        assert_eq!((plurals.len(), kinds.len()), (TABLE.len(), TABLE.len()));
    }

    #[test]
    fn the_spelling_is_that_of_the_server() {
        for one in TABLE {
            assert!(
                one.plural.chars().all(|c| c.is_ascii_lowercase()),
                "{one:?}"
            );
            assert!(
                one.kind.starts_with(|c: char| c.is_ascii_uppercase()),
                "{one:?}"
            );
        }
        let deployments = of_kind("apps", "Deployment").expect("a row");
        assert_eq!(deployments.short_names, ["deploy"]);
        assert_eq!(of_plural("apps", "deployments"), Some(deployments));
        assert_eq!(of_kind("apps", "Pod"), None);
    }
}
