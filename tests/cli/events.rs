//! `kubereel events`, `describe` and `man`, as a user runs them.

use super::run::{DEMO, Reel, assert_has, kubereel};
use crate::script::{Script, thing};
use kubereel_format::EndCause;
use serde_json::{Value, json};

#[test]
fn events_are_told_in_order_and_narrowed() {
    let all = kubereel!("events {DEMO} -A -o json").json_lines();
    assert!(all.len() > 100, "{}", all.len());
    assert!(all.is_sorted_by_key(|event| event["seq"].as_u64()));
    let warnings = kubereel!("events {DEMO} -A --types Warning -o json").json_lines();
    assert!(!warnings.is_empty() && warnings.len() < all.len());
    assert!(warnings.iter().all(|event| event["type"] == "Warning"));
    // A moment that is printed is one that can be asked for.
    let middle = warnings[warnings.len() / 2]["at"].as_str().expect("a time");
    let later = kubereel!("events {DEMO} -A --types Warning --from {middle} -o json").json_lines();
    let earlier = kubereel!("events {DEMO} -A --types Warning --to {middle} -o json").json_lines();
    // Its Event is in both.
    assert_eq!(later.len() + earlier.len(), warnings.len() + 1);
    assert_eq!(later[0]["at"], middle);
    let node = kubereel!("events {DEMO} --for node/master-1 -o json").json_lines();
    assert!(!node.is_empty());
    assert!(
        node.iter()
            .all(|event| event["regarding"]["name"] == "master-1")
    );
}

#[test]
fn those_about_an_object_are_found_in_all_namespaces() {
    let all = kubereel!("events {DEMO} -A -o json").json_lines();
    let event = all.iter().find(|event| {
        event["regarding"]["kind"] == "Pod" && event["regarding"]["namespace"] != "default"
    });
    let name = event.expect("about a Pod")["regarding"]["name"]
        .as_str()
        .expect("a name");
    let pod = format!("pod/{name}");
    let about = kubereel!("events {DEMO} -A --for {pod} -o json").json_lines();
    assert!(!about.is_empty());
    assert!(about.iter().all(|event| event["regarding"]["name"] == name));
    kubereel!("events {DEMO} -A --for pod/nothing-of-this-name")
        .code(1)
        .says("never observed");
}

#[test]
fn an_unknown_object_is_answered_with_the_nearest() {
    kubereel!("events {DEMO} --for nodse/master-1")
        .code(2)
        .says("nodes");
    kubereel!("describe {DEMO} node/master-9")
        .code(1)
        .says("did you mean master-");
    kubereel!("events {DEMO} --for node")
        .code(2)
        .says("node/NAME");
}

#[test]
fn a_description_has_everything_about_an_object() {
    let told = kubereel!("describe {DEMO} node/master-1 -o json").json();
    assert_eq!(told["name"], "master-1");
    let conditions = told["conditions"].as_array().expect("conditions");
    assert!(
        conditions
            .iter()
            .any(|condition| condition["type"] == "Ready")
    );
    assert!(!told["events"].as_array().expect("Events").is_empty());
    assert!(!told["around"].as_array().expect("versions").is_empty());
    let page = kubereel!("describe {DEMO} node/master-1").ok();
    for part in [
        "Name:               master-1",
        "Non-terminated Pods:",
        "Recorded",
        "Conditions",
        "Ready",
        "Changes within 10 minutes",
        "Events of the hour",
    ] {
        assert!(page.contains(part), "{part:?} not in {page}");
    }
}

#[test]
fn owners_are_followed_both_ways() {
    let list = kubereel!("get {DEMO} pods -A -o json").json();
    let owned = list["items"]
        .as_array()
        .expect("items")
        .iter()
        .find(|pod| pod["metadata"]["ownerReferences"][0]["kind"] == "ReplicaSet")
        .expect("a pod of a set");
    let meta = &owned["metadata"];
    let (name, namespace) = (
        meta["name"].as_str().expect("a name"),
        meta["namespace"].as_str().expect("a namespace"),
    );
    let set = meta["ownerReferences"][0]["name"].as_str().expect("a name");
    let told = |object: &str| -> Value {
        let out = kubereel!("describe {DEMO} {object} -n {namespace} -o json").ok();
        serde_json::from_str(&out).expect("JSON")
    };
    let pod = told(&format!("pod/{name}"));
    assert_eq!(pod["owners"][0]["name"], set);
    assert_eq!(pod["owners"][0]["exists"], true);
    assert_eq!(pod["owners"][1]["kind"], "Deployment");
    let set = told(&format!("replicaset/{set}"));
    let children = set["children"].as_array().expect("children");
    assert!(
        children
            .iter()
            .any(|child| child["name"] == name && child["controller"] == true)
    );
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let into = folder.path().join("man1");
    kubereel(&["man", "--into", into.to_str().expect("text")]).ok();
    for command in ["", "-record", "-get", "-history", "-describe", "-man"] {
        let page =
            std::fs::read_to_string(into.join(format!("kubereel{command}.1"))).expect("a page");
        assert!(page.contains(".SH SYNOPSIS"), "{command}");
    }
    assert!(into.join("kubereel-rollout-history.1").is_file());
    assert!(!into.join("kubereel-rollout-help.1").exists());
    let page = kubereel!("man rollout history").ok();
    assert_has(&page, "\\-\\-revision");
    let page = kubereel!("man history").ok();
    let at = |title: &str| page.find(&format!("\n.SH {title}\n")).expect(title);
    assert!(
        at("OPTIONS") < at("EXAMPLES") && at("EXAMPLES") < at("TIME"),
        "{page}"
    );
    assert!(
        page.contains("kubereel history run.reel co/etcd") && !page.contains(".SH EXTRA"),
        "{page}"
    );
    assert!(kubereel!("man").ok().contains(".SH \"EXIT CODES\""));
    kubereel!("man histroy").code(2).says("history");
}

#[test]
fn events_of_an_import_are_called_what_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let (lines, reel) = (folder.path().join("l.jsonl"), folder.path().join("i.reel"));
    let (lines, reel) = (lines.to_str().expect("text"), reel.to_str().expect("text"));
    let said = r#"{"ts":1763734951,"type":"ADDED","object":{"kind":"Event","apiVersion":"v1","metadata":{"name":"a.1","namespace":"web","uid":"u","resourceVersion":"5"},"involvedObject":{"kind":"Pod","name":"a","namespace":"web"},"reason":"BackOff","message":"m\u001b[31m","type":"Warning"}}"#;
    std::fs::write(lines, format!("{said}\n")).expect("a file");
    kubereel!("import {lines} -o {reel}").ok();
    let ran = kubereel!("events {reel} -n web")
        .code(0)
        .says("as imported");
    assert!(
        ran.out.contains("BackOff") && !ran.out.contains('\u{1b}'),
        "{ran:?}"
    );
    let ran = kubereel!("events {DEMO} -n kube-public")
        .code(0)
        .says("complete");
    assert_eq!(ran.out.lines().count(), 1);
}

#[test]
fn events_take_the_flags_of_kubectl() {
    let warnings = kubereel!("events {DEMO} -A --types warning -o json")
        .json_lines()
        .len();
    let all = kubereel!("events {DEMO} -A --types=Normal,Warning -o json")
        .json_lines()
        .len();
    assert!(warnings > 0 && warnings < all);
    let out = |args: &str| kubereel!("events {DEMO} {args}").ok();
    let table = out("-A --types=Warning");
    assert!(
        table.starts_with("TIME") && table.contains("NAMESPACE"),
        "{table}"
    );
    assert_eq!(
        out("-A --types=Warning --no-headers --watch")
            .lines()
            .count(),
        warnings
    );
    assert!(
        out("-n shop -o wide")
            .lines()
            .next()
            .is_some_and(|line| line.contains("SOURCE"))
    );
    assert!(
        out("-n shop -o name")
            .lines()
            .all(|line| line.starts_with("event/"))
    );
    let yaml = out("-n shop -o yaml");
    assert!(
        yaml.starts_with("---\napiVersion: v1\n") && yaml.contains("kind: Event"),
        "{yaml}"
    );
    // Columns are as wide as what is in them.
    for form in ["-A", "-A -o wide", "-A --watch"] {
        let table = kubereel!("events {DEMO} --types=Warning {form}").ok();
        let reason = table.find("REASON").expect("a header");
        let warning = table.find("TYPE").expect("a header");
        for line in table.lines().skip(1) {
            assert_eq!(line.get(warning..reason), Some("Warning   "), "{line}");
        }
    }
    kubereel!("events {DEMO} --types Warnings")
        .code(2)
        .says("Normal or Warning");
}

#[test]
fn what_was_never_there_is_said() {
    kubereel!("events {DEMO} -n shpo")
        .code(1)
        .says("namespace \"shpo\" was never observed")
        .says("did you mean shop?");
    kubereel!("events {DEMO} --for node/master-9")
        .code(1)
        .says("nodes/master-9 was never observed")
        .says("did you mean master-");
}

#[test]
fn an_event_of_both_groups_is_printed_once() {
    let event = |api_version: &str, name: &str, rv: u32| {
        json!({
            "kind": "Event", "apiVersion": api_version, "type": "Warning", "reason": "BackOff",
            "metadata": {
                "name": name, "namespace": "shop", "resourceVersion": rv.to_string(),
                "uid": format!("5f0c5a0e-0c5e-4a53-a9c5-1b6a3e2f0d{rv}"),
            },
        })
    };
    let reel = Reel::import(&[
        event("v1", "web-0.1", 10),
        event("events.k8s.io/v1", "web-0.1", 10),
        event("v1", "web-0.2", 11),
    ]);
    let events = kubereel!("events {reel} -A -o json").json_lines();
    assert_eq!(events.len(), 2, "{events:?}");
}

#[test]
fn an_event_that_was_received_late_is_not_dated_by_its_receipt() {
    let reel = Reel::write(|path| {
        let mut script = Script::begin(path);
        let stream = script.watched("events", "Event", &["ev"]);
        script.synced(stream, 1);
        script.wait(10_000);
        script.disconnect(stream, EndCause::Cut);
        script.wait(20_000);
        let stream = script.connect(stream.resource, Some(1));
        let body = r#"{"metadata":{"namespace":"shop","name":"late","uid":"late"},"involvedObject":{"kind":"Pod","namespace":"shop","name":"web"},"type":"Normal","reason":"R","message":"m"}"#;
        script.added(stream, thing("shop", "late", "late"), 2, body.as_bytes());
        script.wait(10_000);
        script.finish();
    });
    let ran = kubereel!("events {reel} -n shop").code(0);
    assert_has(
        &ran.out,
        "m (received late: between 14:00:10.000Z and 14:00:30.000Z)",
    );
    ran.says("1 line · complete · 1 received late");
    let events = kubereel!("events {reel} -n shop -o json").json_lines();
    assert_eq!(events[0]["not_before"], "2026-11-21T14:00:10.000Z");
}
