//! The kinds with columns of their own, and the cells that show a field as it is.

use super::super::part::{NONE, ObjectPart};
use super::{config, event, node, pod, route, server, service, storage, workload};
use kubereel_format::{RecordedAt, ResourceInfo};
use serde_json::Value;

/// A kind with its columns.
#[derive(Debug)]
pub(in crate::columns) struct BuiltinKind {
    group: &'static str,
    plural: &'static str,
    /// Headers, each with the source of its cells: a word of [`ObjectPart::cell`], the path of the field, and after a bar what
    /// stands for an empty cell. Those after a plus are shown with `-o wide` only.
    columns: &'static str,
    /// Computes the cells under the headers without a source, in their order.
    computed: fn(ObjectPart<'_>, RecordedAt) -> Vec<String>,
}

/// The sources under headers that most kinds fill alike.
const COMMON: [(&str, &str); 6] = [
    ("NAME", "metadata.name"),
    ("AGE", AGE),
    ("CREATED AT", "metadata.creationTimestamp"),
    ("CONTAINERS", "names spec.template.spec.containers"),
    ("IMAGES", "images spec.template.spec.containers"),
    ("SELECTOR", "selector spec.selector"),
];

/// The source of the age, which depends on the moment.
const AGE: &str = "age";

/// The source of a cell that is computed although others under its header are not.
const COMPUTED: &str = "computed";

fn no_cells(_: ObjectPart<'_>, _: RecordedAt) -> Vec<String> {
    Vec::new()
}

#[rustfmt::skip]
static ALL: [BuiltinKind; 57] = [
    kind("", "pods", "NAME, READY, STATUS, RESTARTS, AGE, +IP, +NODE: spec.nodeName | <none>, +NOMINATED NODE: status.nominatedNodeName | <none>, +READINESS GATES", pod::pod_cells),
    kind("", "nodes", "NAME, STATUS, ROLES, AGE, VERSION: status.nodeInfo.kubeletVersion, +INTERNAL-IP, +EXTERNAL-IP, \
        +OS-IMAGE: status.nodeInfo.osImage | <unknown>, +KERNEL-VERSION, +CONTAINER-RUNTIME: status.nodeInfo.containerRuntimeVersion | <unknown>", node::node_cells),
    kind("apps", "deployments", "NAME, READY, UP-TO-DATE: whole status.updatedReplicas, AVAILABLE: whole status.availableReplicas, AGE, +CONTAINERS, +IMAGES, +SELECTOR: computed", workload::deployment_cells),
    kind("apps", "replicasets", "NAME, DESIRED, CURRENT: whole status.replicas, READY: whole status.readyReplicas, AGE, +CONTAINERS, +IMAGES, +SELECTOR", workload::desired_cells),
    kind("batch", "jobs", "NAME, STATUS, COMPLETIONS, DURATION, AGE, +CONTAINERS, +IMAGES, +SELECTOR", workload::job_cells),
    kind("", "events", "LAST SEEN, TYPE: type, REASON: reason, OBJECT, +SUBOBJECT, +SOURCE, MESSAGE, +FIRST SEEN, +COUNT, +NAME", event::event_cells),
    kind("events.k8s.io", "events", "LAST SEEN, TYPE: type, REASON: reason, OBJECT, +SUBOBJECT, +SOURCE, MESSAGE, +FIRST SEEN, +COUNT, +NAME", event::event_cells),
    kind("", "namespaces", "NAME, STATUS: status.phase | Active, AGE", no_cells),
    kind("coordination.k8s.io", "leases", "NAME, HOLDER: spec.holderIdentity, AGE", no_cells),
    kind("", "services", "NAME, TYPE: spec.type | ClusterIP, CLUSTER-IP, EXTERNAL-IP, PORT(S), AGE, +SELECTOR: labels spec.selector", service::service_cells),
    kind("apps", "statefulsets", "NAME, READY, AGE, +CONTAINERS, +IMAGES", workload::stateful_set_cells),
    kind("apps", "daemonsets", "NAME, DESIRED: whole status.desiredNumberScheduled, CURRENT: whole status.currentNumberScheduled, \
        READY: whole status.numberReady, UP-TO-DATE: whole status.updatedNumberScheduled, AVAILABLE: whole status.numberAvailable, \
        NODE SELECTOR: labels spec.template.spec.nodeSelector, AGE, +CONTAINERS, +IMAGES, +SELECTOR", no_cells),
    kind("", "replicationcontrollers", "NAME, DESIRED, CURRENT: whole status.replicas, READY: whole status.readyReplicas, AGE, +CONTAINERS, +IMAGES, +SELECTOR: labels spec.selector", workload::desired_cells),
    kind("batch", "cronjobs", "NAME, SCHEDULE: spec.schedule, TIMEZONE: spec.timeZone | <none>, SUSPEND, ACTIVE: items status.active, LAST SCHEDULE, \
        AGE, +CONTAINERS: names spec.jobTemplate.spec.template.spec.containers, +IMAGES: images spec.jobTemplate.spec.template.spec.containers, \
        +SELECTOR: selector spec.jobTemplate.spec.selector", workload::cron_job_cells),
    kind("", "configmaps", "NAME, DATA, AGE", config::config_map_cells),
    kind("", "secrets", "NAME, TYPE: type, DATA: members data, AGE", no_cells),
    kind("", "limitranges", "NAME, CREATED AT", no_cells),
    kind("apiextensions.k8s.io", "customresourcedefinitions", "NAME, CREATED AT", no_cells),
    kind("admissionregistration.k8s.io", "validatingwebhookconfigurations", "NAME, WEBHOOKS: items webhooks, AGE", no_cells),
    kind("admissionregistration.k8s.io", "mutatingwebhookconfigurations", "NAME, WEBHOOKS: items webhooks, AGE", no_cells),
    kind("apiregistration.k8s.io", "apiservices", "NAME, SERVICE, AVAILABLE, AGE", config::api_service_cells),
    kind("", "endpoints", "NAME, ENDPOINTS, AGE", service::endpoints_cells),
    kind("policy", "poddisruptionbudgets", "NAME, MIN AVAILABLE: plain spec.minAvailable | N/A, MAX UNAVAILABLE: plain spec.maxUnavailable | N/A, \
        ALLOWED DISRUPTIONS: whole status.disruptionsAllowed, AGE", no_cells),
    kind("rbac.authorization.k8s.io", "roles", "NAME, CREATED AT", no_cells),
    kind("rbac.authorization.k8s.io", "clusterroles", "NAME, CREATED AT", no_cells),
    kind("rbac.authorization.k8s.io", "rolebindings", "NAME, ROLE, AGE, +USERS, +GROUPS, +SERVICEACCOUNTS", config::binding_cells),
    kind("rbac.authorization.k8s.io", "clusterrolebindings", "NAME, ROLE, AGE, +USERS, +GROUPS, +SERVICEACCOUNTS", config::binding_cells),
    kind("", "persistentvolumeclaims", "NAME, STATUS, VOLUME: spec.volumeName, CAPACITY, ACCESS MODES, STORAGECLASS, \
        VOLUMEATTRIBUTESCLASS: plain spec.volumeAttributesClassName | <unset>, AGE, +VOLUMEMODE: plain spec.volumeMode | <unset>", storage::claim_cells),
    kind("", "persistentvolumes", "NAME, CAPACITY: plain spec.capacity.storage | 0, ACCESS MODES, RECLAIM POLICY: spec.persistentVolumeReclaimPolicy, \
        STATUS, CLAIM, STORAGECLASS, VOLUMEATTRIBUTESCLASS: plain spec.volumeAttributesClassName | <unset>, REASON: status.reason, AGE, \
        +VOLUMEMODE: plain spec.volumeMode | <unset>", storage::volume_cells),
    kind("storage.k8s.io", "storageclasses", "NAME: computed, PROVISIONER: provisioner, RECLAIMPOLICY: reclaimPolicy | Delete, \
        VOLUMEBINDINGMODE: volumeBindingMode | Immediate, ALLOWVOLUMEEXPANSION: bool allowVolumeExpansion, AGE", storage::class_cells),
    kind("discovery.k8s.io", "endpointslices", "NAME, ADDRESSTYPE: addressType, PORTS, ENDPOINTS, AGE", service::endpoint_slice_cells),
    kind("networking.k8s.io", "networkpolicies", "NAME, POD-SELECTOR: selector spec.podSelector, AGE", no_cells),
    kind("networking.k8s.io", "ingresses", "NAME, CLASS: spec.ingressClassName | <none>, HOSTS, ADDRESS, PORTS, AGE", service::ingress_cells),
    kind("networking.k8s.io", "ingressclasses", "NAME: computed, CONTROLLER: spec.controller, PARAMETERS, AGE", service::ingress_class_cells),
    kind("autoscaling", "horizontalpodautoscalers", "NAME, REFERENCE, TARGETS, MINPODS: plain spec.minReplicas | <unset>, \
        MAXPODS: whole spec.maxReplicas, REPLICAS: whole status.currentReplicas, AGE", workload::autoscaler_cells),
    kind("apps", "controllerrevisions", "NAME, CONTROLLER, REVISION: whole revision, AGE", workload::controller_revision_cells),
    kind("", "resourcequotas", "NAME, REQUEST, LIMIT, AGE", config::quota_cells),
    kind("scheduling.k8s.io", "priorityclasses", "NAME, VALUE: whole value, GLOBAL-DEFAULT: bool globalDefault, AGE, PREEMPTIONPOLICY: preemptionPolicy", no_cells),
    kind("node.k8s.io", "runtimeclasses", "NAME, HANDLER: handler, AGE", no_cells),
    kind("certificates.k8s.io", "certificatesigningrequests", "NAME, AGE, SIGNERNAME: spec.signerName | <none>, REQUESTOR: spec.username, REQUESTEDDURATION, CONDITION", config::signing_request_cells),
    kind("flowcontrol.apiserver.k8s.io", "flowschemas", "NAME, PRIORITYLEVEL: spec.priorityLevelConfiguration.name, \
        MATCHINGPRECEDENCE: whole spec.matchingPrecedence, DISTINGUISHERMETHOD: spec.distinguisherMethod.type | <none>, AGE, MISSINGPL", server::flow_schema_cells),
    kind("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations", "NAME, TYPE: spec.type, \
        NOMINALCONCURRENCYSHARES: plain spec.limited.nominalConcurrencyShares | <none>, \
        QUEUES: plain spec.limited.limitResponse.queuing.queues | <none>, HANDSIZE: plain spec.limited.limitResponse.queuing.handSize | <none>, \
        QUEUELENGTHLIMIT: plain spec.limited.limitResponse.queuing.queueLengthLimit | <none>, AGE", no_cells),
    kind("networking.k8s.io", "ipaddresses", "NAME, PARENTREF", server::ip_address_cells),
    kind("networking.k8s.io", "servicecidrs", "NAME, CIDRS: list spec.cidrs, AGE", no_cells),
    kind("admissionregistration.k8s.io", "validatingadmissionpolicies", "NAME, VALIDATIONS: items spec.validations, PARAMKIND, AGE", server::policy_cells),
    kind("admissionregistration.k8s.io", "validatingadmissionpolicybindings", "NAME, POLICYNAME: spec.policyName, PARAMREF, AGE", server::policy_binding_cells),
    kind("admissionregistration.k8s.io", "mutatingadmissionpolicies", "NAME, MUTATIONS: items spec.mutations, PARAMKIND, AGE", server::policy_cells),
    kind("admissionregistration.k8s.io", "mutatingadmissionpolicybindings", "NAME, POLICYNAME: spec.policyName, PARAMREF, AGE", server::policy_binding_cells),
    kind("", "podtemplates", "NAME, CONTAINERS: names template.spec.containers, IMAGES: images template.spec.containers, POD LABELS", server::pod_template_cells),
    kind("resource.k8s.io", "resourceclaims", "NAME, STATE, AGE", server::resource_claim_cells),
    kind("resource.k8s.io", "resourceslices", "NAME, NODE: spec.nodeName, DRIVER: spec.driver, POOL: spec.pool.name, AGE", no_cells),
    kind("storage.k8s.io", "volumeattributesclasses", "NAME, DRIVERNAME: driverName, AGE", no_cells),
    kind("storage.k8s.io", "csistoragecapacities", "NAME, CREATED AT", no_cells),
    kind("route.openshift.io", "routes", "NAME, HOST/PORT, PATH: spec.path, SERVICES, PORT: plain spec.port.targetPort | <all>, TERMINATION, WILDCARD: spec.wildcardPolicy", route::route_cells),
    kind("storage.k8s.io", "volumeattachments", "NAME, ATTACHER: spec.attacher, PV: spec.source.persistentVolumeName, NODE: spec.nodeName, ATTACHED: bool status.attached, AGE", no_cells),
    kind("storage.k8s.io", "csinodes", "NAME, DRIVERS: items spec.drivers, AGE", no_cells),
    kind("storage.k8s.io", "csidrivers", "NAME, ATTACHREQUIRED: plain spec.attachRequired | true, PODINFOONMOUNT: bool spec.podInfoOnMount, \
        STORAGECAPACITY: bool spec.storageCapacity, TOKENREQUESTS, REQUIRESREPUBLISH: bool spec.requiresRepublish, MODES, AGE", storage::csi_driver_cells),
];

const fn kind(
    group: &'static str,
    plural: &'static str,
    columns: &'static str,
    computed: fn(ObjectPart<'_>, RecordedAt) -> Vec<String>,
) -> BuiltinKind {
    BuiltinKind {
        group,
        plural,
        columns,
        computed,
    }
}

impl BuiltinKind {
    /// Finds the kind of a resource.
    pub(in crate::columns) fn of(resource: &ResourceInfo) -> Option<&'static Self> {
        ALL.iter()
            .find(|kind| kind.group == resource.group && kind.plural == resource.plural)
    }

    /// Returns the field by which the server sorts the rows of its table, where it is not the name.
    pub(in crate::columns) fn row_order(resource: &ResourceInfo) -> Option<&'static str> {
        let is_flow_schema = resource.group == "flowcontrol.apiserver.k8s.io";
        (is_flow_schema && resource.plural == "flowschemas").then_some(".spec.matchingPrecedence")
    }

    /// Returns its headers, and which of them are shown with `-o wide` only.
    pub(in crate::columns) fn names(&self) -> impl Iterator<Item = (&'static str, bool)> {
        self.sources().map(|(name, is_wide, _)| (name, is_wide))
    }

    /// Returns its headers, whether they are wide, and the sources of the cells that are not computed.
    fn sources(&self) -> impl Iterator<Item = (&'static str, bool, Option<&'static str>)> {
        self.columns.split(", ").map(|column| {
            let (name, source) = match column.split_once(": ") {
                Some((name, source)) => (name, Some(source)),
                None => (column, None),
            };
            let wide = name.strip_prefix('+');
            let name = wide.unwrap_or(name);
            let common = COMMON.into_iter().find(|(common, _)| *common == name);
            let source = source.or(common.map(|(_, source)| source));
            (
                name,
                wide.is_some(),
                source.filter(|source| *source != COMPUTED),
            )
        })
    }

    /// Returns the cells of an object under all its headers, at a moment.
    pub(in crate::columns) fn row(&self, object: &Value, at: RecordedAt) -> Vec<String> {
        let object = ObjectPart::of(object);
        let mut computed = (self.computed)(object, at).into_iter();
        let cells = self.sources().map(|(_, _, source)| match source {
            Some(AGE) => object.age(at),
            Some(source) => object.cell(source),
            None => computed.next().unwrap_or_default(),
        });
        cells.collect()
    }
}

/// Formats a selector of labels and expressions; `None` if the server would refuse it.
pub(crate) fn selector_text(selector: ObjectPart<'_>) -> Option<String> {
    let equals = selector.at("matchLabels").texts().into_iter();
    let mut parts: Vec<(&str, String)> = equals
        .map(|(name, value)| (name, format!("{name}={value}")))
        .collect();
    for expression in selector.at("matchExpressions").items() {
        let name = expression.at("key").text();
        let mut values: Vec<&str> = expression
            .at("values")
            .items()
            .map(ObjectPart::text)
            .collect();
        values.sort_unstable();
        let operator = expression.at("operator").text();
        let text = match (operator, values.as_slice()) {
            ("In", [_, ..]) => format!("{name} in ({})", values.join(",")),
            ("NotIn", [_, ..]) => format!("{name} notin ({})", values.join(",")),
            ("Exists", []) => name.to_owned(),
            ("DoesNotExist", []) => format!("!{name}"),
            _ => return None,
        };
        parts.push((name, text));
    }
    // A stable sort: equal names keep their order.
    parts.sort_by_key(|(name, _)| *name);
    let texts: Vec<String> = parts.into_iter().map(|(_, text)| text).collect();
    Some(texts.join(","))
}

/// Formats a selector for a column that prints `<none>` if there is none.
pub(in crate::columns) fn selector_cell(selector: ObjectPart<'_>) -> String {
    match selector_text(selector) {
        None => "<error>".to_owned(),
        Some(text) if text.is_empty() => NONE.to_owned(),
        Some(text) => text,
    }
}

/// Returns the cells of an object of a kind.
#[cfg(test)]
pub(super) fn row_of(plural: &str, object: &Value, at: RecordedAt) -> Vec<String> {
    let kind = ALL.iter().find(|kind| kind.plural == plural);
    kind.map(|kind| kind.row(object, at)).unwrap_or_default()
}

#[cfg(test)]
mod kind_tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_fills_its_columns_whatever_the_object_is() {
        let at = RecordedAt::from_micros(1_795_269_660_000_000);
        let strange = json!({
            "metadata": 7,
            "spec": {"containers": {}, "template": [], "ports": [null, 1], "type": false},
            "status": {"conditions": [1, "a", null, {}], "containerStatuses": [null, [], {"state": 1}]},
        });
        for kind in &ALL {
            let sources = kind.sources().filter(|(_, _, source)| source.is_none());
            let computed = sources.count();
            for object in [&json!(null), &json!([]), &json!({}), &strange] {
                let cells = (kind.computed)(ObjectPart::of(object), at);
                assert_eq!(cells.len(), computed, "{kind:?}");
                assert_eq!(kind.row(object, at).len(), kind.names().count(), "{kind:?}");
            }
        }
    }

    #[test]
    fn every_source_has_a_known_word() {
        const WORDS: [&str; 10] = [
            "plain", "whole", "bool", "items", "members", "list", "names", "images", "labels",
            "selector",
        ];
        for source in ALL
            .iter()
            .flat_map(|kind| kind.sources().filter_map(|(_, _, source)| source))
        {
            let source = source
                .split_once(" | ")
                .map_or(source, |(source, _)| source);
            let (word, path) = source.split_once(' ').unwrap_or(("plain", source));
            assert!(WORDS.contains(&word) && !path.contains(' '), "{source}");
        }
    }
}

#[cfg(test)]
mod selector_tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn requirements_are_sorted_by_name() {
        let selector = json!({
            "matchLabels": {"b": "1", "a": "2"},
            "matchExpressions": [
                {"key": "c", "operator": "In", "values": ["y", "x"]},
                {"key": "aa", "operator": "NotIn", "values": ["z"]},
                {"key": "d", "operator": "Exists"},
                {"key": "e", "operator": "DoesNotExist", "values": []},
                {"key": "a", "operator": "Exists"},
            ],
        });
        assert_eq!(
            selector_cell(ObjectPart::of(&selector)),
            "a=2,a,aa notin (z),b=1,c in (x,y),d,!e"
        );
    }

    #[test]
    fn none_and_wrong_ones_say_so() {
        assert_eq!(selector_cell(ObjectPart::of(&json!(null))), "<none>");
        assert_eq!(selector_cell(ObjectPart::of(&json!({}))), "<none>");
        for expression in [
            json!({"key": "a", "operator": "In", "values": []}),
            json!({"key": "a", "operator": "Exists", "values": ["b"]}),
            json!({"key": "a", "operator": "Like", "values": ["b"]}),
        ] {
            let selector = json!({"matchExpressions": [expression]});
            assert_eq!(selector_cell(ObjectPart::of(&selector)), "<error>");
        }
    }
}
