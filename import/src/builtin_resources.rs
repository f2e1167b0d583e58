//! The built-in resources of Kubernetes and OpenShift: kind, plural, scope, short names, categories.

use kubereel_format::qualified;

/// A resource that comes with the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BuiltInResource {
    pub(crate) kind: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) short_names: Vec<&'static str>,
    pub(crate) categories: Vec<&'static str>,
    pub(crate) namespaced: bool,
}

/// Finds a resource by group and kind.
pub(crate) fn of_kind(group: &str, kind: &str) -> Option<BuiltInResource> {
    let mut all = rows(group);
    all.find(|one| one.kind == kind)
}

/// Finds a resource by group and plural.
pub(crate) fn of_plural(group: &str, plural: &str) -> Option<BuiltInResource> {
    let mut all = rows(group);
    all.find(|one| one.plural == plural)
}

/// Finds the built-in resource that a user of kubectl means by a name: plural, kind or short name, or
/// `plural.group`; returns it as `plural.group`.
pub fn builtin_resource(name: &str) -> Option<String> {
    let lower = name.to_lowercase();
    let mut groups = TABLE.lines().filter_map(group_of);
    groups.find_map(|group| {
        let dotted = format!(".{group}");
        let short = match lower.strip_suffix(&dotted) {
            Some(short) if !group.is_empty() => short,
            _ => &lower,
        };
        let found = rows(group).find(|one| {
            one.plural == short
                || one.kind.eq_ignore_ascii_case(short)
                || one.short_names.contains(&short)
        })?;
        Some(qualified(found.plural, group))
    })
}

/// Returns the resources of a group.
fn rows(group: &str) -> impl Iterator<Item = BuiltInResource> {
    let mut lines = TABLE.lines();
    lines.find(|line| group_of(line) == Some(group));
    lines
        .take_while(|line| group_of(line).is_none())
        .filter_map(row)
}

fn group_of(line: &str) -> Option<&str> {
    line.strip_prefix('[')?.strip_suffix(']')
}

fn row(line: &'static str) -> Option<BuiltInResource> {
    let mut words = line.split(' ');
    let (kind, plural, scope) = (words.next()?, words.next()?, words.next()?);
    let (categories, short_names): (Vec<&str>, Vec<&str>) =
        words.partition(|word| word.starts_with('@'));
    Some(BuiltInResource {
        kind,
        plural,
        short_names,
        categories: categories
            .iter()
            .map(|word| word.trim_start_matches('@'))
            .collect(),
        namespaced: scope == "namespaced",
    })
}

/// Under each group its resources: kind, plural, scope, short names, category. Resources that
/// Kubernetes removed stay in the table, because recordings may be old.
const TABLE: &str = "\
[]
ConfigMap configmaps namespaced cm
ComponentStatus componentstatuses cluster cs
Endpoints endpoints namespaced ep
Event events namespaced ev
LimitRange limitranges namespaced limits
Namespace namespaces cluster ns
Node nodes cluster no
PersistentVolumeClaim persistentvolumeclaims namespaced pvc
PersistentVolume persistentvolumes cluster pv
Pod pods namespaced po @all
PodTemplate podtemplates namespaced
ReplicationController replicationcontrollers namespaced rc @all
ResourceQuota resourcequotas namespaced quota
Secret secrets namespaced
ServiceAccount serviceaccounts namespaced sa
Service services namespaced svc @all
[admissionregistration.k8s.io]
MutatingAdmissionPolicy mutatingadmissionpolicies cluster @api-extensions
MutatingAdmissionPolicyBinding mutatingadmissionpolicybindings cluster @api-extensions
MutatingWebhookConfiguration mutatingwebhookconfigurations cluster @api-extensions
ValidatingAdmissionPolicy validatingadmissionpolicies cluster @api-extensions
ValidatingAdmissionPolicyBinding validatingadmissionpolicybindings cluster @api-extensions
ValidatingWebhookConfiguration validatingwebhookconfigurations cluster @api-extensions
[apiextensions.k8s.io]
CustomResourceDefinition customresourcedefinitions cluster crd crds @api-extensions
[apiregistration.k8s.io]
APIService apiservices cluster @api-extensions
[apps]
ControllerRevision controllerrevisions namespaced
DaemonSet daemonsets namespaced ds @all
Deployment deployments namespaced deploy @all
ReplicaSet replicasets namespaced rs @all
StatefulSet statefulsets namespaced sts @all
[authorization.openshift.io]
ClusterRole clusterroles cluster
ClusterRoleBinding clusterrolebindings cluster
Role roles namespaced
RoleBinding rolebindings namespaced
[autoscaling]
HorizontalPodAutoscaler horizontalpodautoscalers namespaced hpa @all
[batch]
CronJob cronjobs namespaced cj @all
Job jobs namespaced @all
[certificates.k8s.io]
CertificateSigningRequest certificatesigningrequests cluster csr
ClusterTrustBundle clustertrustbundles cluster
PodCertificateRequest podcertificaterequests namespaced
[coordination.k8s.io]
Lease leases namespaced
LeaseCandidate leasecandidates namespaced
[discovery.k8s.io]
EndpointSlice endpointslices namespaced
[events.k8s.io]
Event events namespaced ev
[extensions]
Ingress ingresses namespaced ing
[flowcontrol.apiserver.k8s.io]
FlowSchema flowschemas cluster
PriorityLevelConfiguration prioritylevelconfigurations cluster
[internal.apiserver.k8s.io]
StorageVersion storageversions cluster
[metrics.k8s.io]
NodeMetrics nodes cluster
PodMetrics pods namespaced
[networking.k8s.io]
IngressClass ingressclasses cluster
Ingress ingresses namespaced ing
IPAddress ipaddresses cluster ip
NetworkPolicy networkpolicies namespaced netpol
ServiceCIDR servicecidrs cluster
[node.k8s.io]
RuntimeClass runtimeclasses cluster
[policy]
PodDisruptionBudget poddisruptionbudgets namespaced pdb
PodSecurityPolicy podsecuritypolicies cluster psp
[rbac.authorization.k8s.io]
ClusterRoleBinding clusterrolebindings cluster
ClusterRole clusterroles cluster
RoleBinding rolebindings namespaced
Role roles namespaced
[resource.k8s.io]
DeviceClass deviceclasses cluster
DeviceTaintRule devicetaintrules cluster
ResourceClaim resourceclaims namespaced
ResourceClaimTemplate resourceclaimtemplates namespaced
ResourceSlice resourceslices cluster
[scheduling.k8s.io]
PriorityClass priorityclasses cluster pc
[storage.k8s.io]
CSIDriver csidrivers cluster
CSINode csinodes cluster
CSIStorageCapacity csistoragecapacities namespaced
StorageClass storageclasses cluster sc
VolumeAttachment volumeattachments cluster
VolumeAttributesClass volumeattributesclasses cluster vac
[storagemigration.k8s.io]
StorageVersionMigration storageversionmigrations cluster
[apps.openshift.io]
DeploymentConfig deploymentconfigs namespaced dc @all
[build.openshift.io]
Build builds namespaced @all
BuildConfig buildconfigs namespaced bc @all
[config.openshift.io]
APIServer apiservers cluster
Authentication authentications cluster
Build builds cluster
ClusterImagePolicy clusterimagepolicies cluster
ClusterOperator clusteroperators cluster co
ClusterVersion clusterversions cluster
Console consoles cluster
DNS dnses cluster
FeatureGate featuregates cluster
Image images cluster
ImageContentPolicy imagecontentpolicies cluster
ImageDigestMirrorSet imagedigestmirrorsets cluster idms
ImagePolicy imagepolicies namespaced
ImageTagMirrorSet imagetagmirrorsets cluster itms
Infrastructure infrastructures cluster
Ingress ingresses cluster
InsightsDataGather insightsdatagathers cluster
Network networks cluster
Node nodes cluster
OAuth oauths cluster
OperatorHub operatorhubs cluster
Project projects cluster
Proxy proxies cluster
Scheduler schedulers cluster
[image.openshift.io]
Image images cluster
ImageStream imagestreams namespaced is @all
ImageStreamTag imagestreamtags namespaced istag
ImageTag imagetags namespaced itag
[machineconfiguration.openshift.io]
ContainerRuntimeConfig containerruntimeconfigs cluster ctrcfg
ControllerConfig controllerconfigs cluster
KubeletConfig kubeletconfigs cluster
MachineConfig machineconfigs cluster mc
MachineConfigNode machineconfignodes cluster
MachineConfigPool machineconfigpools cluster mcp
MachineOSBuild machineosbuilds cluster
MachineOSConfig machineosconfigs cluster
PinnedImageSet pinnedimagesets cluster
[oauth.openshift.io]
OAuthAccessToken oauthaccesstokens cluster
OAuthAuthorizeToken oauthauthorizetokens cluster
OAuthClient oauthclients cluster
OAuthClientAuthorization oauthclientauthorizations cluster
UserOAuthAccessToken useroauthaccesstokens cluster
[packages.operators.coreos.com]
PackageManifest packagemanifests namespaced
[project.openshift.io]
Project projects cluster
[route.openshift.io]
Route routes namespaced @all
[security.openshift.io]
SecurityContextConstraints securitycontextconstraints cluster scc
[template.openshift.io]
Template templates namespaced
TemplateInstance templateinstances namespaced
[user.openshift.io]
Group groups cluster
Identity identities cluster
User users cluster
UserIdentityMapping useridentitymappings cluster
";

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_resource_stands_there_once_by_either_name() {
        let groups: Vec<&str> = TABLE.lines().filter_map(group_of).collect();
        let once: BTreeSet<_> = groups.iter().collect();
        assert_eq!(once.len(), groups.len());
        let mut seen = 0;
        for group in &groups {
            let all: Vec<BuiltInResource> = rows(group).collect();
            let plurals: BTreeSet<_> = all.iter().map(|one| one.plural).collect();
            let kinds: BTreeSet<_> = all.iter().map(|one| one.kind).collect();
            assert_eq!(
                (plurals.len(), kinds.len()),
                (all.len(), all.len()),
                "{group}"
            );
            seen += all.len();
        }
        assert_eq!(
            seen + groups.len(),
            TABLE.lines().count(),
            "a line is not a row"
        );
    }

    #[test]
    fn a_builtin_resource_is_known_by_every_name_of_kubectl() {
        let known = |name: &str| builtin_resource(name);
        for name in ["pvc", "persistentvolumeclaims", "PersistentVolumeClaim"] {
            assert_eq!(
                known(name).as_deref(),
                Some("persistentvolumeclaims"),
                "{name}"
            );
        }
        for name in ["deploy", "deployments.apps", "Deployment"] {
            assert_eq!(known(name).as_deref(), Some("deployments.apps"), "{name}");
        }
        for name in ["", "pvcs", "deployments.batch", "certificates"] {
            assert_eq!(known(name), None, "{name}");
        }
    }

    #[test]
    fn the_spelling_is_that_of_the_server() {
        for line in TABLE.lines().filter(|line| group_of(line).is_none()) {
            let words: Vec<&str> = line.split(' ').collect();
            let [kind, plural, scope, rest @ ..] = words.as_slice() else {
                panic!("{line}");
            };
            assert!(kind.starts_with(|c: char| c.is_ascii_uppercase()), "{line}");
            assert!(["namespaced", "cluster"].contains(scope), "{line}");
            for word in rest
                .iter()
                .map(|word| word.trim_start_matches('@'))
                .chain([*plural])
            {
                let is_lower = |c: char| c.is_ascii_lowercase() || c == '-';
                assert!(!word.is_empty() && word.chars().all(is_lower), "{line}");
            }
        }
        let deployments = of_kind("apps", "Deployment").expect("a row");
        assert_eq!(deployments.short_names, ["deploy"]);
        assert_eq!(deployments.categories, ["all"]);
        assert_eq!(of_plural("apps", "deployments"), Some(deployments));
        assert_eq!(of_kind("apps", "Pod"), None);
        assert_eq!(
            of_kind("", "Pod").map(|pod| pod.short_names),
            Some(vec!["po"])
        );
        assert_eq!(of_kind("nowhere.io", "Pod"), None);
    }
}
