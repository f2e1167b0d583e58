//! The kinds with columns of their own, and cells that several of them share: containers and
//! selectors.

use super::super::part::{NONE, ObjectPart};
use super::{config, event, node, pod, route, server, service, storage, workload};
use kubereel_format::{RecordedAt, ResourceInfo};
use serde_json::Value;

/// A kind with its columns.
#[derive(Debug)]
pub(in crate::columns) struct BuiltinKind {
    group: &'static str,
    plural: &'static str,
    /// Headers, in the order of the cells; those after a plus are shown with `-o wide` only.
    columns: &'static str,
    row: fn(ObjectPart<'_>, RecordedAt) -> Vec<String>,
}

#[rustfmt::skip]
static ALL: [BuiltinKind; 57] = [
    kind("", "pods", "NAME, READY, STATUS, RESTARTS, AGE, +IP, +NODE, +NOMINATED NODE, +READINESS GATES", pod::pod_row),
    kind("", "nodes", "NAME, STATUS, ROLES, AGE, VERSION, +INTERNAL-IP, +EXTERNAL-IP, +OS-IMAGE, +KERNEL-VERSION, +CONTAINER-RUNTIME", node::node_row),
    kind("apps", "deployments", "NAME, READY, UP-TO-DATE, AVAILABLE, AGE, +CONTAINERS, +IMAGES, +SELECTOR", workload::deployment_row),
    kind("apps", "replicasets", "NAME, DESIRED, CURRENT, READY, AGE, +CONTAINERS, +IMAGES, +SELECTOR", workload::replica_set_row),
    kind("batch", "jobs", "NAME, STATUS, COMPLETIONS, DURATION, AGE, +CONTAINERS, +IMAGES, +SELECTOR", workload::job_row),
    kind("", "events", "LAST SEEN, TYPE, REASON, OBJECT, +SUBOBJECT, +SOURCE, MESSAGE, +FIRST SEEN, +COUNT, +NAME", event::event_row),
    kind("events.k8s.io", "events", "LAST SEEN, TYPE, REASON, OBJECT, +SUBOBJECT, +SOURCE, MESSAGE, +FIRST SEEN, +COUNT, +NAME", event::event_row),
    kind("", "namespaces", "NAME, STATUS, AGE", node::namespace_row),
    kind("coordination.k8s.io", "leases", "NAME, HOLDER, AGE", node::lease_row),
    kind("", "services", "NAME, TYPE, CLUSTER-IP, EXTERNAL-IP, PORT(S), AGE, +SELECTOR", service::service_row),
    kind("apps", "statefulsets", "NAME, READY, AGE, +CONTAINERS, +IMAGES", workload::stateful_set_row),
    kind("apps", "daemonsets", "NAME, DESIRED, CURRENT, READY, UP-TO-DATE, AVAILABLE, NODE SELECTOR, AGE, +CONTAINERS, +IMAGES, +SELECTOR", workload::daemon_set_row),
    kind("", "replicationcontrollers", "NAME, DESIRED, CURRENT, READY, AGE, +CONTAINERS, +IMAGES, +SELECTOR", workload::replication_controller_row),
    kind("batch", "cronjobs", "NAME, SCHEDULE, TIMEZONE, SUSPEND, ACTIVE, LAST SCHEDULE, AGE, +CONTAINERS, +IMAGES, +SELECTOR", workload::cron_job_row),
    kind("", "configmaps", "NAME, DATA, AGE", config::config_map_row),
    kind("", "secrets", "NAME, TYPE, DATA, AGE", config::secret_row),
    kind("", "limitranges", "NAME, CREATED AT", config::created_row),
    kind("apiextensions.k8s.io", "customresourcedefinitions", "NAME, CREATED AT", config::created_row),
    kind("admissionregistration.k8s.io", "validatingwebhookconfigurations", "NAME, WEBHOOKS, AGE", config::webhooks_row),
    kind("admissionregistration.k8s.io", "mutatingwebhookconfigurations", "NAME, WEBHOOKS, AGE", config::webhooks_row),
    kind("apiregistration.k8s.io", "apiservices", "NAME, SERVICE, AVAILABLE, AGE", config::api_service_row),
    kind("", "endpoints", "NAME, ENDPOINTS, AGE", service::endpoints_row),
    kind("policy", "poddisruptionbudgets", "NAME, MIN AVAILABLE, MAX UNAVAILABLE, ALLOWED DISRUPTIONS, AGE", config::disruption_budget_row),
    kind("rbac.authorization.k8s.io", "roles", "NAME, CREATED AT", config::created_row),
    kind("rbac.authorization.k8s.io", "clusterroles", "NAME, CREATED AT", config::created_row),
    kind("rbac.authorization.k8s.io", "rolebindings", "NAME, ROLE, AGE, +USERS, +GROUPS, +SERVICEACCOUNTS", config::binding_row),
    kind("rbac.authorization.k8s.io", "clusterrolebindings", "NAME, ROLE, AGE, +USERS, +GROUPS, +SERVICEACCOUNTS", config::binding_row),
    kind("", "persistentvolumeclaims", "NAME, STATUS, VOLUME, CAPACITY, ACCESS MODES, STORAGECLASS, VOLUMEATTRIBUTESCLASS, AGE, +VOLUMEMODE", storage::claim_row),
    kind("", "persistentvolumes", "NAME, CAPACITY, ACCESS MODES, RECLAIM POLICY, STATUS, CLAIM, STORAGECLASS, VOLUMEATTRIBUTESCLASS, REASON, AGE, +VOLUMEMODE", storage::volume_row),
    kind("storage.k8s.io", "storageclasses", "NAME, PROVISIONER, RECLAIMPOLICY, VOLUMEBINDINGMODE, ALLOWVOLUMEEXPANSION, AGE", storage::class_row),
    kind("discovery.k8s.io", "endpointslices", "NAME, ADDRESSTYPE, PORTS, ENDPOINTS, AGE", service::endpoint_slice_row),
    kind("networking.k8s.io", "networkpolicies", "NAME, POD-SELECTOR, AGE", service::network_policy_row),
    kind("networking.k8s.io", "ingresses", "NAME, CLASS, HOSTS, ADDRESS, PORTS, AGE", service::ingress_row),
    kind("networking.k8s.io", "ingressclasses", "NAME, CONTROLLER, PARAMETERS, AGE", service::ingress_class_row),
    kind("autoscaling", "horizontalpodautoscalers", "NAME, REFERENCE, TARGETS, MINPODS, MAXPODS, REPLICAS, AGE", workload::autoscaler_row),
    kind("apps", "controllerrevisions", "NAME, CONTROLLER, REVISION, AGE", workload::controller_revision_row),
    kind("", "resourcequotas", "NAME, REQUEST, LIMIT, AGE", config::quota_row),
    kind("scheduling.k8s.io", "priorityclasses", "NAME, VALUE, GLOBAL-DEFAULT, AGE, PREEMPTIONPOLICY", config::priority_class_row),
    kind("node.k8s.io", "runtimeclasses", "NAME, HANDLER, AGE", config::runtime_class_row),
    kind("certificates.k8s.io", "certificatesigningrequests", "NAME, AGE, SIGNERNAME, REQUESTOR, REQUESTEDDURATION, CONDITION", config::signing_request_row),
    kind("flowcontrol.apiserver.k8s.io", "flowschemas", "NAME, PRIORITYLEVEL, MATCHINGPRECEDENCE, DISTINGUISHERMETHOD, AGE, MISSINGPL", server::flow_schema_row),
    kind("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations", "NAME, TYPE, NOMINALCONCURRENCYSHARES, QUEUES, HANDSIZE, QUEUELENGTHLIMIT, AGE", server::priority_level_row),
    kind("networking.k8s.io", "ipaddresses", "NAME, PARENTREF", server::ip_address_row),
    kind("networking.k8s.io", "servicecidrs", "NAME, CIDRS, AGE", server::service_cidr_row),
    kind("admissionregistration.k8s.io", "validatingadmissionpolicies", "NAME, VALIDATIONS, PARAMKIND, AGE", server::validating_policy_row),
    kind("admissionregistration.k8s.io", "validatingadmissionpolicybindings", "NAME, POLICYNAME, PARAMREF, AGE", server::policy_binding_row),
    kind("admissionregistration.k8s.io", "mutatingadmissionpolicies", "NAME, MUTATIONS, PARAMKIND, AGE", server::mutating_policy_row),
    kind("admissionregistration.k8s.io", "mutatingadmissionpolicybindings", "NAME, POLICYNAME, PARAMREF, AGE", server::policy_binding_row),
    kind("", "podtemplates", "NAME, CONTAINERS, IMAGES, POD LABELS", server::pod_template_row),
    kind("resource.k8s.io", "resourceclaims", "NAME, STATE, AGE", server::resource_claim_row),
    kind("resource.k8s.io", "resourceslices", "NAME, NODE, DRIVER, POOL, AGE", server::resource_slice_row),
    kind("storage.k8s.io", "volumeattributesclasses", "NAME, DRIVERNAME, AGE", server::attributes_class_row),
    kind("storage.k8s.io", "csistoragecapacities", "NAME, CREATED AT", config::created_row),
    kind("route.openshift.io", "routes", "NAME, HOST/PORT, PATH, SERVICES, PORT, TERMINATION, WILDCARD", route::route_row),
    kind("storage.k8s.io", "volumeattachments", "NAME, ATTACHER, PV, NODE, ATTACHED, AGE", storage::attachment_row),
    kind("storage.k8s.io", "csinodes", "NAME, DRIVERS, AGE", storage::csi_node_row),
    kind("storage.k8s.io", "csidrivers", "NAME, ATTACHREQUIRED, PODINFOONMOUNT, STORAGECAPACITY, TOKENREQUESTS, REQUIRESREPUBLISH, MODES, AGE", storage::csi_driver_row),
];

const fn kind(
    group: &'static str,
    plural: &'static str,
    columns: &'static str,
    row: fn(ObjectPart<'_>, RecordedAt) -> Vec<String>,
) -> BuiltinKind {
    BuiltinKind {
        group,
        plural,
        columns,
        row,
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
        let columns = self.columns.split(", ");
        columns.map(|name| {
            name.strip_prefix('+')
                .map_or((name, false), |wide| (wide, true))
        })
    }

    /// Returns the cells of an object under all its headers, at a moment.
    pub(in crate::columns) fn row(&self, object: &Value, at: RecordedAt) -> Vec<String> {
        (self.row)(ObjectPart::of(object), at)
    }
}

/// Formats names and images of a list of containers.
pub(super) fn names_and_images(containers: ObjectPart<'_>) -> [String; 2] {
    ["name", "image"].map(|member| {
        let texts: Vec<&str> = containers
            .items()
            .map(|one| one.at(member).text())
            .collect();
        texts.join(",")
    })
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
pub(super) fn selector_cell(selector: ObjectPart<'_>) -> String {
    match selector_text(selector) {
        None => "<error>".to_owned(),
        Some(text) if text.is_empty() => NONE.to_owned(),
        Some(text) => text,
    }
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
            for object in [&json!(null), &json!([]), &json!({}), &strange] {
                assert_eq!(kind.row(object, at).len(), kind.names().count(), "{kind:?}");
            }
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
