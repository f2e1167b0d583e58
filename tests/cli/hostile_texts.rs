//! Texts of a cluster that would command a terminal reach people written out, and programs as they
//! are.

use super::run::kubereel;
use serde_json::{Value, json};

/// Colours, a title, a bell, line ends, marks that turn the reading order, and commands of one byte.
const HOSTILE: &str =
    "\u{1b}[31mR\u{1b}]0;t\u{7}\r\nNEXT\u{202e}x\u{2066}y\u{9b}2J\u{200b}\u{2028}\u{7f}";

fn h(start: &str) -> String {
    format!("{start}{HOSTILE}")
}

fn line(second: u32, kind: &str, group: &str, resource: &str, object: &Value) -> String {
    let line = json!({
        "ts": format!("2026-01-01T00:00:{second:02}Z"), "type": kind, "group": group,
        "version": "v1", "resource": resource, "object": object,
    });
    format!("{line}\n")
}

fn pod(rv: u32, phase: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": h("p"), "namespace": h("n"), "uid": "u1", "resourceVersion": rv.to_string(),
            "labels": {h("l"): h("v")}, "annotations": {h("k"): h(phase)},
            "ownerReferences": [{"apiVersion": "v1", "kind": h("Own"), "name": h("o"), "uid": h("q")}],
            "managedFields": [{
                "manager": h("m"), "operation": "Update", "apiVersion": "v1",
                "time": format!("2026-01-01T00:00:{rv:02}Z"), "fieldsType": "FieldsV1",
                "fieldsV1": {"f:metadata": {"f:annotations": {format!("f:{}", h("k")): {}}}},
            }],
        },
        "spec": {"nodeName": h("node"), "containers": [{"name": h("c"), "image": h("i")}]},
        "status": {
            "phase": h(phase), "reason": h(phase), "message": h("said"),
            "conditions": [{"type": h("Ready"), "status": h(phase), "reason": h("r"),
                "message": h(phase)}],
        },
    })
}

fn jsonl() -> String {
    let event = json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": {"name": h("e"), "namespace": h("n"), "uid": "e1", "resourceVersion": "4"},
        "involvedObject": {"kind": "Pod", "name": h("p"), "namespace": h("n"), "uid": "u1"},
        "type": h("Warning"), "reason": h("Why"), "message": h("said"),
        "source": {"component": h("kubelet")}, "count": 2,
    });
    let odd = json!({
        "apiVersion": "x.io/v1", "kind": h("Odd"),
        "metadata": {"name": "odd", "uid": "o1", "resourceVersion": "5"}, "spec": {"x": h("y")},
    });
    [
        line(1, "ADDED", "", "pods", &pod(1, "A")),
        line(2, "MODIFIED", "", "pods", &pod(2, "B")),
        line(3, "ADDED", "", "events", &event),
        line(4, "ADDED", &h("x.io"), &h("odds"), &odd),
        line(5, "MODIFIED", "", "pods", &pod(6, "C")),
    ]
    .concat()
}

/// A folder, and the reel in it that the lines made.
struct Imported {
    _folder: tempfile::TempDir,
    reel: String,
}

fn import() -> Imported {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| {
        let path = folder.path().join(name);
        path.to_str().expect("text").to_owned()
    };
    let (lines, reel) = (path("lines.jsonl"), path("run.reel"));
    std::fs::write(&lines, jsonl()).expect("a file");
    kubereel!("import {lines} -o {reel}").ok();
    Imported {
        _folder: folder,
        reel,
    }
}

/// Checks that only letters and line ends came out, and no line end from within a text.
#[track_caller]
fn assert_harmless(said: &str, args: &[&str]) {
    let is_obeyed = |letter: char| {
        letter.is_control() && letter != '\n' || HOSTILE.contains(letter) && !letter.is_ascii()
    };
    assert!(!said.contains(is_obeyed), "{args:?}: {said:?}");
    assert!(
        !said.lines().any(|line| line.starts_with("NEXT")),
        "{args:?}: {said}"
    );
}

#[test]
fn no_text_of_a_reel_commands_a_terminal() {
    let imported = import();
    let (reel, pod, other) = (imported.reel.as_str(), h("pods/p"), h("pods/z"));
    let (namespace, label, field) = (h("n"), h("l"), h(".x"));
    let odd = h("odds");
    let asked: [&[&str]; 32] = [
        &["info", reel],
        &["info", reel, "-o", "wide"],
        &["get", reel, "pods", "-A", "--show-labels"],
        &["get", reel, "pods", "-A", "-o", "wide", "-L", &label],
        &["get", reel, "pods", "-A", "-o", "name"],
        &["get", reel, "pods", "-n", &field],
        &["get", reel, "events", "-A"],
        &["get", reel, &odd],
        &["get", reel, &other, "-n", &namespace],
        &["get", reel, &label],
        &["get", &other, "pods"],
        &["history", reel, &pod, "-n", &namespace],
        &[
            "history",
            reel,
            &pod,
            "-n",
            &namespace,
            "--show-managed-fields",
        ],
        &["history", reel, &other, "-n", &namespace],
        &["wait", reel, &pod, "-n", &namespace, "--for=create"],
        &["wait", reel, "pods", "-A", "--all", "--for=reason=none"],
        &["wait", reel, &other, "-n", &namespace, "--for=replaced"],
        &["diff", reel, "--from", "+0s"],
        &["diff", reel, "--from", "+1s", "--to", "end", "pods"],
        &["diff", reel, "--from", "+1s", &other, "-n", &namespace],
        &["describe", reel, &pod, "-n", &namespace],
        &["describe", reel, &odd, "odd"],
        &["blame", reel, &pod, "-n", &namespace],
        &["events", reel, "-A"],
        &["events", reel, "-A", "-o", "wide"],
        &["events", reel, "-n", &label],
        &["explain", reel, &odd],
        &["explain", reel, "pods", "--recursive"],
        &["api-resources", reel, "-o", "wide"],
        &["top-writers", reel],
        &["rollout", "history", reel, &pod, "-n", &namespace],
        &["import", &other, "-o", &other],
    ];
    for args in asked {
        let ran = kubereel(args);
        // The tab before a type is that of kubectl.
        assert_harmless(&ran.out.replace("\t<", " <"), args);
        assert_harmless(&ran.err, args);
        assert!(ran.out.len() + ran.err.len() > 20, "{args:?}: {ran:?}");
    }
}

#[test]
fn programs_get_every_character() {
    let imported = import();
    let (reel, pod_name, namespace) = (imported.reel.as_str(), h("pods/p"), h("n"));
    let get = ["get", reel, &pod_name, "-n", &namespace, "-o", "json"];
    let get = [&get[..], &["--show-managed-fields"]].concat();
    let object: Value = serde_json::from_str(&kubereel(&get).ok()).expect("JSON");
    assert_eq!(object, pod(6, "C"));
    let event = kubereel!("events {reel} -A -o json").json();
    assert_eq!(event.get("message"), Some(&json!(h("said"))));
    let exported = kubereel!("export {reel}").ok();
    let object = |line: &str| {
        let line: Value = serde_json::from_str(line).expect("JSON");
        line.get("object").expect("an object").to_string()
    };
    let objects = |lines: &str| lines.lines().map(object).collect::<Vec<_>>();
    assert_eq!(objects(&exported), objects(&jsonl()));
}
