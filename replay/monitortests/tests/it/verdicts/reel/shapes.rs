//! The objects of an OpenShift cluster as tests need them: short to write, whole enough for rules.
//! It does not handle times: `at` gives those.

use super::merge::merge;
use super::plan::Reel;
use serde_json::{Value, json};

/// The conditions of a ClusterOperator that has nothing to complain of.
const GOOD: [(&str, &str, &str); 4] = [
    ("Available", "True", "AsExpected"),
    ("Progressing", "False", "AsExpected"),
    ("Degraded", "False", "AsExpected"),
    ("Upgradeable", "True", "AsExpected"),
];

const CONFIG: &str = "machineconfiguration.openshift.io/";

impl Reel {
    /// Begins with a healthy cluster: highly available, on AWS, of three masters and two workers,
    /// installed long ago with 5.0.9.
    pub fn cluster() -> Self {
        let mut reel = Self::new()
            .infrastructure("HighlyAvailable", "AWS")
            .put(json!({
                "kind": "Network",
                "metadata": {"name": "cluster"},
                "spec": {"clusterNetwork": [{"cidr": "10.128.0.0/14"}]},
                "status": {"networkType": "OVNKubernetes"},
            }))
            .installed("5.0.9");
        for name in ["master-0", "master-1", "master-2"] {
            reel = reel.node(name, "master");
        }
        for name in ["worker-0", "worker-1"] {
            reel = reel.node(name, "worker");
        }
        reel
    }

    /// Says what cluster it is.
    pub fn infrastructure(self, topology: &str, platform: &str) -> Self {
        self.put(json!({
            "kind": "Infrastructure",
            "metadata": {"name": "cluster"},
            "status": {
                "controlPlaneTopology": topology,
                "infrastructureTopology": topology,
                "platform": platform,
                "platformStatus": {"type": platform},
            },
        }))
    }

    /// Puts a ClusterVersion there that was installed the day before.
    pub fn installed(self, version: &str) -> Self {
        let entry = json!({
            "state": "Completed",
            "version": version,
            "image": format!("quay.a.example.org/release@{version}"),
            "startedTime": "2026-11-20T08:00:00Z",
            "completionTime": "2026-11-20T09:00:00Z",
            "verified": false,
        });
        self.put(json!({
            "kind": "ClusterVersion",
            "metadata": {"name": "version", "generation": 1},
            "spec": {"clusterID": "c"},
            "status": {
                "desired": {"version": version},
                "history": [entry],
                "conditions": [],
            },
        }))
        .version_says("Available", "True", "", &format!("Done applying {version}"))
        .version_says("Failing", "False", "", "")
        .version_says(
            "Progressing",
            "False",
            "",
            &format!("Cluster version is {version}"),
        )
    }

    /// Accepts an upgrade now.
    pub fn upgrade_begins(self, version: &str) -> Self {
        let stamp = self.stamp();
        let mut history = self.history();
        history.insert(
            0,
            json!({
                "state": "Partial",
                "version": version,
                "image": format!("quay.a.example.org/release@{version}"),
                "startedTime": stamp,
                "completionTime": null,
                "verified": true,
            }),
        );
        self.change(
            "ClusterVersion",
            "version",
            json!({"status": {"desired": {"version": version}, "history": history}}),
        )
        .version_says(
            "Progressing",
            "True",
            "",
            &format!("Working towards {version}"),
        )
    }

    /// Completes the upgrade now.
    pub fn upgrade_ends(self) -> Self {
        let stamp = self.stamp();
        let mut history = self.history();
        let newest = history.first_mut().expect("an upgrade that began");
        *newest.pointer_mut("/state").expect("a state") = json!("Completed");
        *newest.pointer_mut("/completionTime").expect("a time") = json!(stamp);
        self.change(
            "ClusterVersion",
            "version",
            json!({"status": {"history": history}}),
        )
        .version_says("Progressing", "False", "", "Cluster version is new")
    }

    fn history(&self) -> Vec<Value> {
        let version = self.object("ClusterVersion", "version");
        let history = version.pointer("/status/history").and_then(Value::as_array);
        history.cloned().unwrap_or_default()
    }

    /// Sets a condition of the ClusterVersion.
    pub fn version_says(self, of: &str, status: &str, reason: &str, message: &str) -> Self {
        self.says("ClusterVersion", "version", of, status, reason, message)
    }

    /// Puts a ClusterOperator there, or sets some of its conditions: type, status, reason. The others
    /// are as they were; at first sight they are good. The message repeats the reason.
    pub fn operator(mut self, name: &str, conditions: &[(&str, &str, &str)]) -> Self {
        if !self.has("ClusterOperator", name) {
            let stamp = self.stamp();
            let first: Vec<Value> = GOOD
                .iter()
                .map(|good| {
                    let given = conditions.iter().find(|given| given.0 == good.0);
                    let (of, status, reason) = given.unwrap_or(good);
                    condition(of, status, reason, &format!("{reason} of {name}"), &stamp)
                })
                .collect();
            return self.put(json!({
                "kind": "ClusterOperator",
                "metadata": {"name": name},
                "status": {
                    "conditions": first,
                    "versions": [{"name": "operator", "version": "5.0.9"}],
                },
            }));
        }
        for (of, status, reason) in conditions {
            let message = format!("{reason} of {name}");
            self = self.says("ClusterOperator", name, of, status, reason, &message);
        }
        self
    }

    /// Sets a condition of any object; its time moves when the status changes.
    pub fn says(
        self,
        kind: &str,
        path: &str,
        of: &str,
        status: &str,
        reason: &str,
        message: &str,
    ) -> Self {
        let object = self.object(kind, path);
        let former = object.pointer("/status/conditions");
        let mut all = former
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let mut next = condition(of, status, reason, message, &self.stamp());
        match all
            .iter_mut()
            .find(|one| one.pointer("/type") == Some(&json!(of)))
        {
            Some(one) => {
                if one.pointer("/status") == next.pointer("/status") {
                    let since = one.pointer("/lastTransitionTime").cloned();
                    let place = next.pointer_mut("/lastTransitionTime");
                    *place.expect("a time") = since.unwrap_or_default();
                }
                *one = next;
            }
            None => all.push(next),
        }
        self.change(kind, path, json!({"status": {"conditions": all}}))
    }

    /// Puts a Ready node there.
    pub fn node(self, name: &str, role: &str) -> Self {
        let label = format!("node-role.kubernetes.io/{role}");
        let config = format!("rendered-{role}-1");
        self.put(json!({
            "kind": "Node",
            "metadata": {
                "name": name,
                "labels": {(label): "", "kubernetes.io/hostname": name},
                "annotations": {
                    (format!("{CONFIG}currentConfig")): config,
                    (format!("{CONFIG}desiredConfig")): config,
                    (format!("{CONFIG}state")): "Done",
                },
            },
            "spec": {},
            "status": {"nodeInfo": {"architecture": "amd64"}, "conditions": []},
        }))
        .says(
            "Node",
            name,
            "DiskPressure",
            "False",
            "KubeletHasNoDiskPressure",
            "",
        )
        .says(
            "Node",
            name,
            "Ready",
            "True",
            "KubeletReady",
            "kubelet is posting ready status",
        )
    }

    /// Sets an annotation of the machine-config operator on a node: `desiredConfig` and others.
    pub fn node_config(self, name: &str, annotation: &str, value: &str) -> Self {
        let annotation = format!("{CONFIG}{annotation}");
        self.change(
            "Node",
            name,
            json!({"metadata": {"annotations": {(annotation): value}}}),
        )
    }

    /// Lets a node be Ready or not.
    pub fn node_ready(self, name: &str, is_ready: bool) -> Self {
        let (status, reason) = if is_ready {
            ("True", "KubeletReady")
        } else {
            ("False", "KubeletNotReady")
        };
        self.says("Node", name, "Ready", status, reason, "")
    }

    /// Puts a running pod there, `namespace/name`, on master-0, with one container `main` that obeys
    /// every rule.
    pub fn pod(self, path: &str) -> Self {
        let (namespace, name) = path.split_once('/').expect("namespace/name");
        self.put(json!({
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "annotations": {
                    "openshift.io/required-scc": "restricted-v2",
                    "openshift.io/scc": "restricted-v2",
                },
            },
            "spec": {
                "nodeName": "master-0",
                "serviceAccountName": "main",
                "restartPolicy": "Always",
                "containers": [{
                    "name": "main",
                    "image": "quay.a.example.org/main",
                    "terminationMessagePolicy": "FallbackToLogsOnError",
                }],
            },
            "status": {
                "phase": "Running",
                "containerStatuses": [container("main", 0, &json!({"running": {}}))],
            },
        }))
    }

    /// Puts a pending pod there that has no node yet.
    pub fn pending_pod(self, path: &str) -> Self {
        let mut next = self.clone().pod(path).object("Pod", path).clone();
        merge(
            &mut next,
            json!({"spec": {"nodeName": null}, "status": null}),
        );
        merge(&mut next, json!({"status": {"phase": "Pending"}}));
        self.put(next)
    }

    /// Sets the state of a pod's container `main`: how often it was restarted, its state and its last
    /// one.
    pub fn container(self, path: &str, restarts: u64, state: &Value, last: &Value) -> Self {
        let mut status = container("main", restarts, state);
        merge(&mut status, json!({"lastState": last}));
        self.change(
            "Pod",
            path,
            json!({"status": {"containerStatuses": [status]}}),
        )
    }

    /// Adds an Event: its object (kind, `namespace/name`), reason and message. Its own name is made
    /// of both.
    pub fn event(self, kind: &str, path: &str, reason: &str, message: &str) -> Self {
        self.event_counted(kind, path, reason, message, 1)
    }

    /// Puts an Event there that happened many times, or changes its count.
    pub fn event_counted(
        self,
        kind: &str,
        path: &str,
        reason: &str,
        message: &str,
        count: u64,
    ) -> Self {
        let (namespace, name) = path.split_once('/').unwrap_or(("default", path));
        let stamp = self.stamp();
        let own = format!("{name}.{}", reason.to_lowercase());
        let event = json!({
            "kind": "Event",
            "metadata": {"name": own, "namespace": namespace},
            "involvedObject": {"kind": kind, "namespace": namespace, "name": name},
            "reason": reason,
            "message": message,
            "type": "Normal",
            "count": count,
            "firstTimestamp": stamp,
            "lastTimestamp": stamp,
            "source": {"component": "test"},
        });
        self.put(event)
    }

    /// Puts an Event of the end-to-end upgrade suite there: `UpgradeStarted`, `UpgradeComplete` and
    /// others.
    pub fn upgrade_event(self, reason: &str) -> Self {
        self.event(
            "ClusterVersion",
            "openshift-cluster-version/cluster",
            reason,
            "an upgrade",
        )
    }
}

fn condition(of: &str, status: &str, reason: &str, message: &str, since: &str) -> Value {
    json!({
        "type": of,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": since,
    })
}

fn container(name: &str, restarts: u64, state: &Value) -> Value {
    let is_running = state.get("running").is_some();
    json!({"name": name, "ready": is_running, "restartCount": restarts, "state": state})
}
