//! Owns a reel whose every text is hostile: commands, bells, marks that turn the reading order, wide
//! letters, letters that join the one before. Refuses any of these without one of each.

use super::script::{Script, thing};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Colours, a title, a bell, line ends, marks, commands of one byte, wide and joining letters.
pub(super) const HOSTILE: &str = "\u{1b}[31mR\u{1b}]0;owned\u{7}\r\n\u{202e}x\u{2066}\u{9b}2J\u{200b}\u{2028}\u{7f}日本語e\u{301}\u{301}각👩\u{200d}👩\u{200d}👧🇩🇪";

pub(super) fn h(start: &str) -> String {
    format!("{start}{HOSTILE}")
}

fn condition(kind: &str, status: &str) -> Value {
    json!({"type": kind, "status": status, "reason": h("Why"), "message": h("said"), h("k"): h("v")})
}

fn meta(name: &str, namespace: &str, rv: u128) -> Value {
    json!({
        "name": name, "namespace": namespace, "uid": format!("u-{name}"),
        "resourceVersion": rv.to_string(),
        "labels": {h("l"): h("v")}, "annotations": {h("k"): h(&rv.to_string())},
        "ownerReferences": [{"apiVersion": "v1", "kind": h("Own"), "name": h("o"), "uid": h("q")}],
        "managedFields": [{
            "manager": h("m"), "operation": "Update", "apiVersion": "v1",
            "time": "2026-11-21T14:00:00Z", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:metadata": {"f:annotations": {format!("f:{}", h("k")): {}}}},
        }],
    })
}

fn definition(odd_group: &str) -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": meta(&h("odds."), "", 2),
        "spec": {"group": odd_group, "scope": "Namespaced",
            "names": {"plural": "odds", "singular": h("odd"), "kind": h("Odd"), "listKind": h("OddList")},
            "versions": [{"name": "v1", "served": true, "storage": true, "additionalPrinterColumns": [
                {"name": h("Col"), "type": "string", "jsonPath": ".spec.x", "description": h("d")},
            ]}]},
    })
}

/// Writes the reel, in a file with a hostile name.
pub(super) fn hostile(folder: &Path) -> PathBuf {
    let path = folder.join(format!("{}.reel", h("r").replace('/', "")));
    let mut script = Script::begin(&path);
    let names = (h("m"), h("p"), h("n"), h("e"));
    let (node, pod, space, event) = (&*names.0, &*names.1, &*names.2, &*names.3);
    let odd_group = format!("x{HOSTILE}.io");
    let resources = [
        ("nodes".to_owned(), "Node".to_owned()),
        ("pods".to_owned(), "Pod".to_owned()),
        ("events".to_owned(), "Event".to_owned()),
        (
            "clusteroperators.config.openshift.io".to_owned(),
            "ClusterOperator".to_owned(),
        ),
        (
            "clusterversions.config.openshift.io".to_owned(),
            "ClusterVersion".to_owned(),
        ),
        (format!("odds.{odd_group}"), h("Odd")),
        (
            "customresourcedefinitions.apiextensions.k8s.io".to_owned(),
            "CustomResourceDefinition".to_owned(),
        ),
    ];
    let streams = resources.map(|(name, kind)| {
        let resource = script.resource(&name, &kind, &[]);
        script.connect(resource, None)
    });
    let [nodes, pods, events, operators, versions, odds, definitions] = streams;
    for stream in streams {
        script.synced(stream, 1);
    }
    let definition = definition(&odd_group);
    let name = format!("odds.{odd_group}");
    script.added(definitions, thing("", &name, "crd"), 2, &bytes(&definition));
    for (rv, status) in [(3_u128, "True"), (10, "False"), (20, &*h("Unknown"))] {
        let object = json!({"apiVersion": "v1", "kind": "Node", "metadata": meta(node, "", rv),
            "status": {"conditions": [condition("Ready", status)]}});
        script.modified(nodes, thing("", node, "no"), rv, &bytes(&object));
        let conditions = [
            condition("Available", status),
            condition("Degraded", status),
        ];
        let object = json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator",
            "metadata": meta(node, "", rv + 1), "status": {"conditions": conditions,
            "versions": [{"name": "operator", "version": h("4.21")}]}});
        script.modified(operators, thing("", node, "co"), rv + 1, &bytes(&object));
        let object = json!({"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion",
            "metadata": meta("version", "", rv + 2), "status": {
            "desired": {"version": h(&rv.to_string()), "image": h("i")},
            "history": [{"state": if status == "True" {"Completed"} else {"Partial"}, "version": h(&rv.to_string()),
                "startedTime": "2026-11-21T14:00:00Z", "completionTime": null}],
            "conditions": [condition("Available", "True"), condition("Failing", status)]}});
        script.modified(
            versions,
            thing("", "version", "cv"),
            rv + 2,
            &bytes(&object),
        );
        let object = json!({"apiVersion": "v1", "kind": "Pod", "metadata": meta(pod, space, rv + 3),
            "spec": {"nodeName": h("node"), "containers": [{"name": h("c"), "image": h("i")}]},
            "status": {"phase": if rv == 20 {"Failed"} else {"Pending"}, "reason": h("r"), "message": h("said"),
            "conditions": [condition("Ready", status)],
            "containerStatuses": [{"name": h("c"), "ready": false, "restartCount": 3,
                "state": {"waiting": {"reason": h("CrashLoopBackOff"), "message": h("m")}}}]}});
        script.modified(pods, thing(space, pod, "po"), rv + 3, &bytes(&object));
        let object = json!({"apiVersion": "v1", "kind": "Event", "metadata": meta(event, space, rv + 4),
            "involvedObject": {"kind": "Pod", "name": pod, "namespace": space, "uid": "po"},
            "type": "Warning", "reason": h("Why"), "message": h("said"),
            "source": {"component": h("kubelet")}, "count": rv, "lastTimestamp": "2026-11-21T14:00:00Z"});
        script.modified(events, thing(space, event, "ev"), rv + 4, &bytes(&object));
        let object = json!({"apiVersion": format!("{odd_group}/v1"), "kind": h("Odd"),
            "metadata": meta(pod, space, rv + 5), "spec": {"x": h(&rv.to_string())}});
        script.modified(odds, thing(space, pod, "od"), rv + 5, &bytes(&object));
        script.wait(20_000);
    }
    script.finish();
    path
}

fn bytes(object: &Value) -> Vec<u8> {
    object.to_string().into_bytes()
}
