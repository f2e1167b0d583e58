//! `kubereel describe`: the pages of kubectl, and which objects they are about.

use super::run::{A, DEMO, Reel, assert_has};
use crate::script::{Script, pod};
use kubereel_format::EndCause;
use serde_json::{Value, json};

fn meta(namespace: &str, name: &str, more: Value) -> Value {
    let mut meta = json!({"name": name, "uid": format!("uid-{name}"), "resourceVersion": "7",
        "creationTimestamp": "2026-11-21T13:00:00Z"});
    let members = meta.as_object_mut().expect("an object");
    if !namespace.is_empty() {
        members.insert("namespace".to_owned(), namespace.into());
    }
    if let Value::Object(more) = more {
        members.extend(more);
    }
    meta
}

fn owned(kind: &str, owner: &str) -> Value {
    json!([{"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": format!("uid-{owner}"), "controller": true}])
}

fn template(labels: &Value) -> Value {
    json!({"metadata": {"labels": labels}, "spec": {"containers": [
        {"name": "app", "image": "r.example/app:2", "ports": [{"containerPort": 80, "protocol": "TCP"}]}]}})
}

fn crashing_pod() -> Value {
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": meta("shop", "web-0", json!({"labels": {"app": "web"}, "ownerReferences": owned("StatefulSet", "web")})),
        "spec": {"nodeName": "n1", "serviceAccountName": "default", "priority": 0,
            "nodeSelector": {"disk": "fast"},
            "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-web-0"}},
                {"name": "conf", "configMap": {"name": "web"}}],
            "containers": [{"name": "app", "image": "r.example/app:2", "command": ["run", "-v"],
                "env": [{"name": "MODE", "value": "fast"}, {"name": "NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
                    {"name": "CPUS", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}}],
                "resources": {"limits": {"cpu": "1500m", "memory": "64Mi"}, "requests": {"cpu": "250m"}},
                "readinessProbe": {"httpGet": {"path": "/ready", "port": 80, "scheme": "HTTP"}, "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3},
                "volumeMounts": [{"name": "data", "mountPath": "/data"}, {"name": "conf", "mountPath": "/conf", "readOnly": true}]}]},
        "status": {"phase": "Running", "hostIP": "10.0.0.1", "podIP": "10.1.0.7", "podIPs": [{"ip": "10.1.0.7"}], "qosClass": "Burstable",
            "startTime": "2026-11-21T13:00:01Z",
            "conditions": [{"type": "Ready", "status": "False", "reason": "ContainersNotReady"}],
            "containerStatuses": [{"name": "app", "ready": false, "restartCount": 4, "image": "r.example/app:2", "imageID": "sha256:1", "containerID": "cri-o://2",
                "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 80s"}},
                "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled", "startedAt": "2026-11-21T13:01:00Z", "finishedAt": "2026-11-21T13:02:00Z"}}}]}})
}

fn node() -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": meta("", "n1", json!({"labels": {"node-role.kubernetes.io/worker": ""}})),
        "spec": {"unschedulable": true, "taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}, {"key": "x", "effect": "NoExecute"}]},
        "status": {"capacity": {"cpu": "2", "memory": "1Gi", "pods": "10"}, "allocatable": {"cpu": "1", "memory": "1Gi", "pods": "10"},
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "ready"}],
            "nodeInfo": {"kubeletVersion": "v1.36.0"}}})
}

/// A cluster in which each kind with a page of its own has an object.
fn cluster() -> Reel {
    let set = |name: &str, hash: &str, image: &str, replicas: u32| {
        let mut template = template(&json!({"app": "api", "pod-template-hash": hash}));
        let own = template.pointer_mut("/spec/containers/0/image");
        *own.expect("an image") = image.into();
        json!({"apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": meta("shop", name, json!({"ownerReferences": owned("Deployment", "api")})),
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "api"}}, "template": template},
            "status": {"replicas": replicas}})
    };
    Reel::import(&[
        crashing_pod(),
        node(),
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta("shop", "api", Value::Null),
            "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "api"}}, "template": template(&json!({"app": "api"})),
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": 1}}},
            "status": {"replicas": 2, "updatedReplicas": 2, "availableReplicas": 1, "unavailableReplicas": 1,
                "conditions": [{"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}]}}),
        set("api-1", "1", "r.example/app:1", 0),
        set("api-2", "2", "r.example/app:2", 2),
        json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta("shop", "web", Value::Null),
            "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template(&json!({"app": "web"})),
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
                "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "ssd", "resources": {"requests": {"storage": "5Gi"}}}}]},
            "status": {"replicas": 1}}),
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta("shop", "report", Value::Null),
            "spec": {"parallelism": 1, "completions": 3, "backoffLimit": 6, "selector": {"matchLabels": {"job": "report"}}, "template": template(&json!({"job": "report"}))},
            "status": {"active": 1, "ready": 0, "succeeded": 1, "failed": 2, "startTime": "2026-11-21T13:00:00Z", "completionTime": "2026-11-21T13:02:05Z"}}),
        json!({"apiVersion": "v1", "kind": "Service", "metadata": meta("shop", "web", Value::Null),
            "spec": {"type": "ClusterIP", "clusterIP": "10.96.0.5", "clusterIPs": ["10.96.0.5"], "ipFamilies": ["IPv4"], "selector": {"app": "web"},
                "ports": [{"name": "http", "port": 80, "targetPort": "http", "protocol": "TCP"}], "sessionAffinity": "None"}}),
        json!({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
            "metadata": meta("shop", "web-x", json!({"labels": {"kubernetes.io/service-name": "web"}})),
            "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
            "endpoints": [{"addresses": ["10.1.0.7"], "conditions": {"ready": true}}, {"addresses": ["10.1.0.8"], "conditions": {"ready": false}}]}),
        json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta("shop", "data-web-0", Value::Null),
            "spec": {"volumeName": "pv-1", "storageClassName": "ssd", "volumeMode": "Filesystem"},
            "status": {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "5Gi"}}}),
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": meta("", "shop", Value::Null), "status": {"phase": "Active"}}),
        json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta("shop", "pods", Value::Null),
            "status": {"hard": {"pods": "4"}, "used": {"pods": "1"}}}),
        json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator", "metadata": meta("", "etcd", Value::Null),
            "status": {"conditions": [{"type": "Degraded", "status": "True", "lastTransitionTime": "2026-11-21T13:00:00Z", "reason": "NodeDown", "message": "one node is down"}]}}),
    ])
}

/// Checks that a page has lines, in this order; blanks between cells are one.
#[track_caller]
fn has_lines(page: &str, expected: &[&str]) {
    let plain = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut lines = page.lines().map(plain);
    for wanted in expected {
        assert!(
            lines.any(|line| line == *wanted),
            "{wanted:?} is not in its place in\n{page}"
        );
    }
}

#[test]
fn a_pods_page_has_its_containers_and_how_they_ended() {
    let reel = cluster();
    let page = kubereel!("describe {reel} pod/web-0 -n shop").ok();
    has_lines(
        &page,
        &[
            "Name: web-0",
            "Namespace: shop",
            "Priority: 0",
            "Service Account: default",
            "Node: n1/10.0.0.1",
            "Start Time: Sat, 21 Nov 2026 13:00:01 +0000",
            "Labels: app=web",
            "Annotations: <none>",
            "Status: Running",
            "IP: 10.1.0.7",
            "Controlled By: StatefulSet/web",
            "Containers:",
            "app:",
            "Container ID: cri-o://2",
            "Image: r.example/app:2",
            "Port: <none>",
            "Command:",
            "run",
            "State: Waiting",
            "Reason: CrashLoopBackOff",
            "Last State: Terminated",
            "Reason: OOMKilled",
            "Exit Code: 137",
            "Started: Sat, 21 Nov 2026 13:01:00 +0000",
            "Finished: Sat, 21 Nov 2026 13:02:00 +0000",
            "Ready: False",
            "Restart Count: 4",
            "Limits:",
            "cpu: 1500m",
            "Readiness: http-get http://:80/ready delay=0s timeout=1s period=10s #success=1 #failure=3",
            "Environment:",
            "NAME: web-0 (v1:metadata.name)",
            "CPUS: 2 (limits.cpu)",
            "Mounts:",
            "/conf from conf (ro)",
            "/data from data (rw)",
            "Conditions:",
            "Ready False",
            "Volumes:",
            "Type: PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)",
            "ClaimName: data-web-0",
            "Type: ConfigMap (a volume populated by a ConfigMap)",
            "QoS Class: Burstable",
            "Node-Selectors: disk=fast",
            "Tolerations: node.kubernetes.io/not-ready:NoExecute op=Exists for 300s",
            "Recorded",
            "uid uid-web-0",
            "Conditions",
        ],
    );
}

#[test]
fn a_nodes_page_has_what_it_has_and_what_is_asked_of_it() {
    let reel = cluster();
    let page = kubereel!("describe {reel} node n1").ok();
    has_lines(
        &page,
        &[
            "Roles: worker",
            "Taints: x:NoExecute",
            "a=b:NoSchedule",
            "Unschedulable: true",
            "Lease: <not recorded>",
            "InternalIP: 10.0.0.1",
            "Capacity:",
            "cpu: 2",
            "Allocatable:",
            "cpu: 1",
            "Kubelet Version: v1.36.0",
            "Non-terminated Pods: (1 in total)",
        ],
    );
    // The last cell, its age, is that of the day.
    let pod = "  shop                        web-0    250m (25%)    1500m (150%)  0 (0%)           64Mi (6%)      ";
    assert_has(&page, pod);
    let all = "  cpu                250m (25%)  1500m (150%)\n  memory             0 (0%)      64Mi (6%)\n";
    assert_has(&page, all);
}

#[test]
fn pages_of_workloads_have_their_replicas_and_templates() {
    let reel = cluster();
    let describe = |object: &str| kubereel!("describe {reel} {object} -n shop").ok();
    has_lines(
        &describe("deploy/api"),
        &[
            "Selector: app=api",
            "Replicas: 2 desired | 2 updated | 2 total | 1 available | 1 unavailable",
            "StrategyType: RollingUpdate",
            "RollingUpdateStrategy: 25% max unavailable, 1 max surge",
            "Pod Template:",
            "Image: r.example/app:2",
            "Port: 80/TCP",
            "Progressing True NewReplicaSetAvailable",
            "OldReplicaSets: api-1 (0/0 replicas created)",
            "NewReplicaSet: api-2 (2/2 replicas created)",
        ],
    );
    has_lines(
        &describe("sts/web"),
        &[
            "Replicas: 1 desired | 1 total",
            "Update Strategy: RollingUpdate",
            "Partition: 0",
            "Pods Status: 1 Running / 0 Waiting / 0 Succeeded / 0 Failed",
            "Volume Claims:",
            "StorageClass: ssd",
            "Capacity: 5Gi",
            "Access Modes: [ReadWriteOnce]",
        ],
    );
    has_lines(
        &describe("job/report"),
        &[
            "Parallelism: 1",
            "Completions: 3",
            "Backoff Limit: 6",
            "Duration: 2m5s",
            "Pods Statuses: 1 Active (0 Ready) / 1 Succeeded / 2 Failed",
        ],
    );
}

#[test]
fn pages_of_services_claims_and_namespaces_have_what_belongs_to_them() {
    let reel = cluster();
    let describe = |object: &str| kubereel!("describe {reel} {object} -n shop").ok();
    has_lines(
        &describe("svc/web"),
        &[
            "Selector: app=web",
            "IPs: 10.96.0.5",
            "Port: http 80/TCP",
            "TargetPort: http/TCP",
            "Endpoints: 10.1.0.7:8080",
            "Session Affinity: None",
        ],
    );
    has_lines(
        &describe("pvc/data-web-0"),
        &[
            "StorageClass: ssd",
            "Status: Bound",
            "Volume: pv-1",
            "Capacity: 5Gi",
            "Access Modes: RWO",
            "Used By: web-0",
        ],
    );
    has_lines(
        &describe("ns/shop"),
        &[
            "Status: Active",
            "Resource Quotas",
            "Name: pods",
            "pods 1 4",
            "Resource Limits: <not recorded>",
        ],
    );
    has_lines(
        &describe("co/etcd"),
        &[
            "API Version: config.openshift.io/v1",
            "Status:",
            "Conditions:",
            "Last Transition Time: 2026-11-21T13:00:00Z",
            "Message: one node is down",
            "Conditions",
            "Degraded True 2026-11-21T13:00:00Z NodeDown one node is down",
        ],
    );
}

#[test]
fn objects_are_chosen_as_for_kubectl() {
    let reel = cluster();
    let names = |words: &str| -> Vec<String> {
        let page = kubereel!("describe {reel} {words}").ok();
        let names = page.lines().filter_map(|line| line.strip_prefix("Name:"));
        names.map(|name| name.trim().to_owned()).collect()
    };
    assert_eq!(names("rs -n shop"), ["api-1", "api-2"]);
    assert_eq!(names("rs api -n shop"), ["api-1", "api-2"]);
    assert_eq!(names("rs api-2 -n shop"), ["api-2"]);
    assert_eq!(names("pods -l app=web -A"), ["web-0"]);
    assert_eq!(names("rs/api-1 svc/web -n shop"), ["api-1", "web"]);
    let page = kubereel!("describe {reel} node/n1 --show-events=false").ok();
    assert!(!page.contains("Events of the hour"), "{page}");
    kubereel!("describe {reel} pods -n shop -l app=none")
        .code(0)
        .says("No resources found");
    kubereel!("describe {reel} pod/wbe-0 -n shop").says("did you mean web-0?");
}

#[test]
fn json_has_the_lines_of_the_page() {
    let all = kubereel!("describe {DEMO} nodes -o json").ok();
    let names = all.lines().map(|line| {
        let one: Value = serde_json::from_str(line).expect("an object a line");
        one["name"].as_str().expect("a name").to_owned()
    });
    assert_eq!(names.count(), 5);
    let told = kubereel!("describe {DEMO} node/master-1 -o json").json();
    let first = told.pointer("/page/0").expect("a line");
    assert_eq!(*first, json!({"depth": 0, "cells": ["Name:", "master-1"]}));
}

#[test]
fn events_that_may_be_missing_are_not_none() {
    let reel = Reel::write(|path| {
        let mut script = Script::begin(path);
        let pods = script.resource("pods", "Pod", &["po"]);
        let events = script.resource("events", "Event", &["ev"]);
        let pods = script.connect(pods, None);
        script.initial(pods, A, 9, &pod(A, 9, "x"));
        script.synced(pods, 10);
        let stream = script.connect(events, None);
        script.synced(stream, 10);
        script.wait(2000);
        let from = script.now();
        script.disconnect(stream, EndCause::Expired);
        script.wait(5000);
        let stream = script.connect(events, None);
        script.gap(events, 10, 30, from);
        script.synced(stream, 30);
        script.modified(pods, A, 31, &pod(A, 31, "z"));
        script.finish();
    });
    let page = kubereel!("describe {reel} pod/a").ok();
    assert_has(&page, "some may be missing");
    let page = kubereel!("describe {reel} pod/a -o json").json();
    assert_eq!(page["events_may_be_missing"], true);
    // Nothing that the Events would have reported is known to be absent.
    kubereel!("problems {reel}")
        .code(4)
        .says("changes of 1 resource may be missing: events");
}
