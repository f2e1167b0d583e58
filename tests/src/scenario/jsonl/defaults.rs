//! What the API server fills in where a writer says nothing. Pure.

use serde_json::{Value, json};

/// Fills an object in that is about to be created.
pub(super) fn fill(object: &mut Value) {
    let kind = object["kind"].as_str().unwrap_or_default().to_owned();
    match kind.as_str() {
        "Deployment" | "ReplicaSet" | "DaemonSet" | "StatefulSet" | "Job" => {
            workload(object, &kind);
        }
        "Pod" => pod(object),
        "Service" => service(object),
        "Namespace" => {
            let name = object["metadata"]["name"].clone();
            object["metadata"]["labels"]["kubernetes.io/metadata.name"] = name;
            missing(object, "spec", json!({"finalizers": ["kubernetes"]}));
            missing(object, "status", json!({"phase": "Active"}));
        }
        "PodDisruptionBudget" => missing(
            object,
            "status",
            json!({
                "disruptionsAllowed": 0, "currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0,
            }),
        ),
        "CustomResourceDefinition" => {
            missing(
                &mut object["spec"],
                "conversion",
                json!({"strategy": "None"}),
            );
        }
        _ => {}
    }
}

fn workload(object: &mut Value, kind: &str) {
    match kind {
        "Deployment" => {
            template(&mut object["spec"]["template"]);
            let spec = &mut object["spec"];
            missing(
                spec,
                "strategy",
                json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}),
            );
            missing(spec, "revisionHistoryLimit", json!(10));
            missing(spec, "progressDeadlineSeconds", json!(600));
            missing(object, "status", json!({}));
        }
        "ReplicaSet" => missing(object, "status", json!({"replicas": 0})),
        "DaemonSet" => {
            template(&mut object["spec"]["template"]);
            missing(&mut object["spec"], "revisionHistoryLimit", json!(10));
            missing(
                &mut object["spec"]["updateStrategy"]["rollingUpdate"],
                "maxSurge",
                json!(0),
            );
            let annotations = &mut object["metadata"]["annotations"];
            if annotations.is_null() {
                *annotations = json!({});
            }
            missing(
                annotations,
                "deprecated.daemonset.template.generation",
                json!("1"),
            );
            missing(
                object,
                "status",
                json!({
                    "currentNumberScheduled": 0, "numberMisscheduled": 0, "desiredNumberScheduled": 0, "numberReady": 0,
                }),
            );
        }
        "StatefulSet" => {
            template(&mut object["spec"]["template"]);
            let spec = &mut object["spec"];
            missing(spec, "podManagementPolicy", json!("OrderedReady"));
            missing(
                spec,
                "updateStrategy",
                json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}),
            );
            missing(spec, "revisionHistoryLimit", json!(10));
            missing(
                spec,
                "persistentVolumeClaimRetentionPolicy",
                json!({"whenDeleted": "Retain", "whenScaled": "Retain"}),
            );
            missing(
                object,
                "status",
                json!({"replicas": 0, "availableReplicas": 0}),
            );
        }
        "Job" => {
            template(&mut object["spec"]["template"]);
            let spec = &mut object["spec"];
            for (key, value) in [
                ("parallelism", json!(1)),
                ("completions", json!(1)),
                ("manualSelector", json!(false)),
                ("completionMode", json!("NonIndexed")),
                ("suspend", json!(false)),
                ("podReplacementPolicy", json!("TerminatingOrFailed")),
            ] {
                missing(spec, key, value);
            }
            missing(object, "status", json!({}));
        }
        _ => {}
    }
}

fn missing(object: &mut Value, key: &str, value: Value) {
    if object[key].is_null() {
        object[key] = value;
    }
}

/// The template of a workload, or the spec of a Pod.
fn template(template: &mut Value) {
    pod_spec(&mut template["spec"]);
}

fn pod_spec(spec: &mut Value) {
    for (key, value) in [
        ("restartPolicy", json!("Always")),
        ("terminationGracePeriodSeconds", json!(30)),
        ("dnsPolicy", json!("ClusterFirst")),
        ("securityContext", json!({})),
        ("schedulerName", json!("default-scheduler")),
    ] {
        missing(spec, key, value);
    }
    for list in ["initContainers", "containers"] {
        for container in items(spec, list) {
            missing(container, "resources", json!({}));
            missing(
                container,
                "terminationMessagePath",
                json!("/dev/termination-log"),
            );
            missing(container, "terminationMessagePolicy", json!("File"));
            missing(container, "imagePullPolicy", json!("IfNotPresent"));
            for port in items(container, "ports") {
                missing(port, "protocol", json!("TCP"));
            }
            for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
                if let Some(probe) = container.get_mut(probe) {
                    fill_probe(probe);
                }
            }
        }
    }
}

fn fill_probe(probe: &mut Value) {
    if let Some(get) = probe.get_mut("httpGet") {
        missing(get, "scheme", json!("HTTP"));
    }
    missing(probe, "timeoutSeconds", json!(1));
    missing(probe, "periodSeconds", json!(10));
    missing(probe, "successThreshold", json!(1));
    missing(probe, "failureThreshold", json!(3));
}

/// The items of a list, if there is one.
fn items<'v>(object: &'v mut Value, key: &str) -> impl Iterator<Item = &'v mut Value> {
    object
        .get_mut(key)
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
}

fn pod(pod: &mut Value) {
    pod_spec(&mut pod["spec"]);
    missing(&mut pod["spec"], "enableServiceLinks", json!(true));
}

/// What the server adds to a Pod that it admits: nobody owns it.
pub(super) fn admit(pod: &mut Value, suffix: &str) {
    mount_token(pod, suffix);
    let spec = &mut pod["spec"];
    missing(spec, "serviceAccountName", json!("default"));
    let account = spec["serviceAccountName"].clone();
    missing(spec, "serviceAccount", account);
    let priority = match spec["priorityClassName"].as_str() {
        Some("system-node-critical") => 2_000_001_000_i64,
        Some("system-cluster-critical") => 2_000_000_000,
        Some("openshift-user-critical") => 1_000_000_000,
        _ => 0,
    };
    missing(spec, "priority", json!(priority));
    missing(spec, "preemptionPolicy", json!("PreemptLowerPriority"));
    let mut tolerations = match spec["tolerations"].take() {
        Value::Array(tolerations) => tolerations,
        _ => Vec::new(),
    };
    let not_ready = "node.kubernetes.io/not-ready";
    if !tolerations.iter().any(|one| one["key"] == not_ready) {
        for key in [not_ready, "node.kubernetes.io/unreachable"] {
            tolerations.push(json!({
                "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300,
            }));
        }
    }
    spec["tolerations"] = Value::Array(tolerations);
    let asks = items(spec, "containers").any(|one| one["resources"].get("requests").is_some());
    let quality = if asks { "Burstable" } else { "BestEffort" };
    missing(
        pod,
        "status",
        json!({"phase": "Pending", "qosClass": quality}),
    );
}

/// Mounts the token of the Pod's account, as the server does when it admits a Pod.
fn mount_token(pod: &mut Value, suffix: &str) {
    let name = format!("kube-api-access-{suffix}");
    let spec = &mut pod["spec"];
    for list in ["initContainers", "containers"] {
        for container in items(spec, list) {
            let mount = json!({
                "name": name, "readOnly": true, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
            });
            match container
                .get_mut("volumeMounts")
                .and_then(Value::as_array_mut)
            {
                Some(mounts) => mounts.push(mount),
                None => container["volumeMounts"] = json!([mount]),
            }
        }
    }
    let volume = json!({"name": name, "projected": {
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}]}},
        ],
        "defaultMode": 420,
    }});
    match spec.get_mut("volumes").and_then(Value::as_array_mut) {
        Some(volumes) => volumes.push(volume),
        None => spec["volumes"] = json!([volume]),
    }
}

fn service(service: &mut Value) {
    let spec = &mut service["spec"];
    for port in items(spec, "ports") {
        missing(port, "protocol", json!("TCP"));
    }
    let address = spec["clusterIP"].clone();
    for (key, value) in [
        ("clusterIPs", json!([address])),
        ("type", json!("ClusterIP")),
        ("sessionAffinity", json!("None")),
        ("ipFamilies", json!(["IPv4"])),
        ("ipFamilyPolicy", json!("SingleStack")),
        ("internalTrafficPolicy", json!("Cluster")),
    ] {
        missing(spec, key, value);
    }
    missing(service, "status", json!({"loadBalancer": {}}));
}
