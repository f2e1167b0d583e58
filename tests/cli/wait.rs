//! `kubereel wait`: when something was met, and how sure that is.

use super::run::{A, DEMO, Reel, assert_has, pods_with_gap};
use crate::script::{Script, pod, thing};
use kubereel_format::{
    Appender, EndCause, NotCoveredReason, Note, ResourceId, ResourceInfo, SessionId, Stamp,
};
use serde_json::Value;

const APP: &str = "--for=jsonpath={.metadata.labels.app}";

#[test]
fn the_moment_can_be_pasted_after_at() {
    let reel = pods_with_gap();
    let ran = kubereel!("wait {reel} pod/a {APP}=y").code(0);
    assert_eq!(ran.out, "pod/a condition met at 14:00:05.000Z\n");
    // It is met until the gap, and may be in it.
    ran.says("+5s · rv 14 · until between 14:00:07.000Z (last known met) and 14:00:12.000Z (first seen not met) · met for at least 2.0s")
        .says("exact: no gaps before it");
    let label = |at: &str| {
        let pod = kubereel!("get {reel} pod/a -o json --at {at}").json();
        pod["metadata"]["labels"]["app"].clone()
    };
    assert_eq!(label("14:00:05.000Z"), "y");
    assert_eq!(label("14:00:04.999999Z"), "x");
}

#[test]
fn what_a_gap_may_hide_is_unknown_and_what_it_brought_has_bounds() {
    let reel = pods_with_gap();
    let ran = kubereel!("wait {reel} po a {APP}=z").code(0);
    let between = "between 14:00:07.000Z and 14:00:12.000Z";
    assert_eq!(ran.out, format!("pod/a condition met {between}\n"));
    ran.says("between 14:00:07.000Z (last seen not met) and 14:00:12.000Z (first seen met)")
        .says("may have missed states between 14:00:07.000Z and 14:00:12.000Z");
    let never_seen = format!("{APP}=q");
    let ran = kubereel!("wait {reel} pod/a {never_seen}").code(4);
    assert_eq!(ran.out, "");
    ran.says("unknown whether pod/a met the condition")
        .says("may have missed states between 14:00:07.000Z and 14:00:12.000Z");
    kubereel!("wait {reel} pod/a {never_seen} --to 14:00:06")
        .code(1)
        .says("timed out waiting for the condition on pods/a: not met by 14:00:06.000Z");
    kubereel!("wait {reel} pod/a {never_seen} --never").code(4);
    let out = kubereel!("wait {reel} pod/a {never_seen} --never --until-time 14:00:06").ok();
    assert_eq!(out, "pod/a condition never met\n");
    let seen = format!("{APP}=x");
    kubereel!("wait {reel} pod/a {seen} --never").code(1);
    kubereel!("wait {reel} pod/a {seen} --to 15:00").code(0);
    kubereel!("wait {reel} pod/a {seen} --from 14:00:13 --to 15:00")
        .code(4)
        .says("recording ends at");
    kubereel!("wait {reel} pod/a {seen} --to +100ms")
        .code(4)
        .says("pods was first observed at 14:00:01.000Z, after the time span");
    kubereel!("wait {reel} pod/a {seen} --from start")
        .code(0)
        .says("not observed between");
}

#[test]
fn timeouts_are_recorded_time() {
    let reel = pods_with_gap();
    let timed = |timeout: &str| {
        let goal = format!("{APP}=y");
        kubereel!("wait {reel} pod/a {goal} --timeout '{timeout}'")
    };
    timed("0").code(1).says("condition not met for pod/a");
    timed("3s").code(1).says("timed out");
    timed("4s").code(0);
    timed("-1s").code(0);
    // Nothing is known of the time behind the recording.
    let never = format!("{APP}=q --from 14:00:12");
    for more in ["", "--never"] {
        kubereel!("wait {reel} pod/a {never} --timeout 1h {more}")
            .code(4)
            .says("recording ends at");
    }
    for timeout in ["", "5", "+5s", "--5s", "soon"] {
        timed(timeout).code(2).says("expected a duration");
    }
    let held = |secs: &str| {
        let goal = format!("{APP}=x");
        kubereel!("wait {reel} pod/a {goal} --for-at-least {secs} --to 14:00:06")
    };
    let out = held("3s").ok();
    assert_eq!(out, "pod/a condition met at 14:00:04.000Z\n");
    held("5s").code(1);
}

#[test]
fn objects_are_chosen_as_for_kubectl() {
    let reel = pods_with_gap();
    let created = |args: &str| kubereel!("wait {reel} pods --for=create {args}");
    let a = "pod/a condition met at 14:00:01.000Z\n";
    let b = "pod/b condition met at 14:00:03.000Z\n";
    let all = created("-A --all").code(0);
    assert_eq!(all.out, format!("{a}{b}"));
    all.says("-n web · exact");
    assert_eq!(created("-A -l app=y").ok(), b);
    assert_eq!(created("-A --field-selector metadata.name!=b").ok(), a);
    assert_eq!(created("--all").ok(), a);
    created("-l app=none")
        .code(1)
        .says("no matching resources found");
    kubereel!("wait {reel} pods -n web --all --for=delete")
        .code(0)
        .says("no matching resources found");
    // Creation comes first, wherever it stands.
    let out = kubereel!("wait {reel} pod/b -n web --for=delete --for=create").ok();
    let created = "pod/b condition met at 14:00:03.000Z (create)\n";
    let expected = format!("{created}pod/b condition met at 14:00:07.000Z (delete)\n");
    assert_eq!(out, expected);
    let ran = kubereel!("wait {reel} pod/a pod/a --for=delete --sequential --to 14:00:06").code(1);
    assert_eq!(ran.err.matches("timed out waiting").count(), 2, "{ran:?}");
}

#[test]
fn what_was_received_late_was_met_and_lasted_between_two_times() {
    // The recorder is paused from 14:00:02 to 14:00:12; what it receives right after that may be older.
    let reel = Reel::write(|path| {
        let mut script = Script::begin(path);
        let stream = script.watched("pods", "Pod", &["po"]);
        script.synced(stream, 10);
        script.wait(1000);
        script.added(stream, A, 11, &pod(A, 11, "x"));
        script.wait(1000);
        script.pause(10_000);
        script.wait(500);
        script.modified(stream, A, 12, &pod(A, 12, "y"));
        script.wait(10_000);
        script.modified(stream, A, 13, &pod(A, 13, "z"));
        script.wait(1000);
        script.bookmark(stream, 20);
        script.finish();
    });
    let late = "between 14:00:02.000Z and 14:00:12.500Z";
    let ran = kubereel!("wait {reel} pod/a {APP}=y").code(0);
    assert_eq!(ran.out, format!("pod/a condition met {late}\n"));
    ran.says("met for at least 10.0s")
        .says("no gaps in the searched time, but changes were received late");
    let ran = kubereel!("wait {reel} pod/a {APP}=y -o json");
    let waited = ran.json();
    let object = &waited["objects"][0];
    assert_eq!(object["guarantee"], "received late");
    assert_eq!(object["met"][0]["not_before"], "2026-11-21T14:00:02.000Z");
    assert_eq!(object["met"][0]["at"], "2026-11-21T14:00:12.500Z");
    let never = format!("{APP}=q");
    kubereel!("wait {reel} pod/a {never} --never").code(0);
    let history = kubereel!("history {reel} pod/a").ok();
    assert_has(&history, &format!("{late} · writer unknown · lasted"));
    assert_has(&history, "lasted between 1.0s and 11.5s");
    assert_has(&history, "lasted between 10.0s and 20.5s");
}

#[test]
fn manifests_name_objects() {
    let reel = pods_with_gap();
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let pod = |name: &str, namespace: &str| {
        format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}{namespace}}}\n")
    };
    let both = write(
        "both.yaml",
        &format!("{}---\n{}", pod("a", ""), pod("b", ", namespace: web")),
    );
    let ran = kubereel!("wait {reel} -f {both} --for=create").code(0);
    let a = "pod/a condition met at 14:00:01.000Z\n";
    let b = "pod/b condition met at 14:00:03.000Z\n";
    assert_eq!(ran.out, format!("{a}{b}"));
    kubereel!("wait {reel} -f {both} -n shop --for=create")
        .code(2)
        .says("the namespace of b is web, which does not match -n shop")
        .says("hint: use -n web, or omit -n");
    write("notes.txt", "not a manifest");
    let all = folder.path().display().to_string();
    assert_eq!(kubereel!("wait {reel} -f {all} --for=create").out, ran.out);
    let other = write(
        "other.yaml",
        "apiVersion: example.com/v1\nkind: Pod\nmetadata: {name: a}\n",
    );
    kubereel!("wait {reel} -f {other} --for=create")
        .code(2)
        .says("pod.example.com");
    let broken = write("broken.yaml", "apiVersion: [");
    kubereel!("wait {reel} -f {broken} --for=create")
        .code(2)
        .says("broken.yaml: invalid YAML: ");
    kubereel!("wait {reel} -f https://example.com/a.yaml --for=create")
        .code(2)
        .says("download it first");
    kubereel!("wait {reel} -f absent.yaml --for=create")
        .code(2)
        .says("absent.yaml: no such file or directory");
    kubereel!("wait {reel} pod/a -f {both} --for=create").code(2);
}

#[test]
fn the_deletion_of_what_never_existed_is_said_to_be_none() {
    let ran = kubereel!("wait {DEMO} pod/nope -n shop --for=delete").code(0);
    let expected = "pods/nope was never observed in shop namespace: nothing to delete\n";
    assert_eq!(ran.out, expected);
    let json = kubereel!("wait {DEMO} pod/nope -n shop --for=delete -o json").ok();
    assert!(json.contains(r#""is_observed":false"#));
}

#[test]
fn sequential_waits_begin_where_the_one_before_was_met() {
    let reel = pods_with_gap();
    kubereel!("wait {reel} pod/a deploy/x --for=delete --sequential")
        .code(4)
        .says("between resources it is the order of arrival")
        .says("not observed");
    // Side by side `b` was met before; after `a`, it is there no more.
    let wait = |more: &str| kubereel!("wait {reel} pods -A --all --to 14:00:16 {APP}=y {more}");
    let side_by_side = wait("").code(0);
    let expected = "pod/a condition met at 14:00:05.000Z\npod/b condition met at 14:00:03.000Z\n";
    assert_eq!(side_by_side.out, expected);
    let sequential = wait("--sequential").code(0);
    let expected = "pod/a condition met at 14:00:05.000Z\npod/b condition met at 14:00:05.000Z\n";
    assert_eq!(sequential.out, expected);
}

#[test]
fn json_has_stable_names() {
    let reel = pods_with_gap();
    let goal = format!("{APP}=z");
    let said = kubereel!("wait {reel} pod/a {goal} -o json").json();
    let pod = &said["objects"][0];
    assert_eq!(pod["resource"], "pods");
    assert_eq!(pod["answer"], "yes");
    assert_eq!(pod["verdict"], "met");
    assert_eq!(pod["guarantee"], "may have missed states");
    assert_eq!(pod["missed"][0]["why"], "gap");
    assert_eq!(pod["from"], "2026-11-21T14:00:01.000Z");
    let met = &pod["met"][0];
    assert_eq!(met["at"], "2026-11-21T14:00:12.000Z");
    assert_eq!(met["not_before"], "2026-11-21T14:00:07.000Z");
    assert_eq!(met["rv"], "25");
    assert_eq!(met["until"], Value::Null);
    assert_eq!(met["met_secs"], 3.0);
}

#[test]
fn the_demo_operator_was_degraded_when_its_history_says() {
    let said = kubereel!("wait {DEMO} co/image-registry --for=condition=degraded -o json").json();
    let met = &said["objects"][0]["met"][0];
    let field = ".status.conditions[Degraded].status";
    let history = kubereel!("history {DEMO} co/image-registry --field {field} -o json").json();
    let items = history["items"].as_array().expect("items");
    let turned = items.iter().find(|item| {
        let changes = item["changes"].as_array();
        changes.is_some_and(|changes| changes.iter().any(|change| change["new"] == "True"))
    });
    let turned = turned.expect("it was degraded");
    assert_eq!((&met["at"], &met["rv"]), (&turned["at"], &turned["rv"]));
    assert_eq!(met["writers"], turned["writers"]);
    kubereel!("wait {DEMO} co --all --for=condition=Degraded --never")
        .code(1)
        .says("image-registry met the condition, despite --never");
    // What no object has may be a misspelled name.
    kubereel!("wait {DEMO} co --all --for=condition=Degradd --never")
        .code(0)
        .says("note: no object has a condition Degradd at")
        .says("did you mean Degraded?");
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let reel = pods_with_gap();
    let refused = |args: &str, words: &str| {
        kubereel!("wait {reel} {args}").code(2).says(words);
    };
    refused("pod/a", "--for");
    refused("pod/a --for=ready", "unrecognized condition: \"ready\"");
    refused(
        "pod/a --for=condition=",
        "must be followed by the type of a condition",
    );
    refused("pod/a --for=jsonpath={.a}=", "one =VALUE");
    refused("pod/a --for=jsonpath={.a[x]}", "at letter 4, \"[x]}\"");
    refused("pod/a --for=create --nth 0", "--nth");
    refused("zebras/a --for=create", "zebras");
    refused("pods --for=create", "no object given");
    refused("pods a --all --for=create", "names cannot be combined");
    refused(
        "pods --all -l a=b --for=create",
        "cannot be combined with -l",
    );
    refused("pods pod/a --for=create", "in two forms");
    refused("pod/ --for=create", "must not be empty");
    refused("pod/a -A --for=create", "cannot be combined with -A");
    refused(
        "pods --field-selector a --for=create",
        "not a field selector",
    );
    refused(
        "pod/a --for=create --from 14:00:09 --to 14:00:02",
        "--to 14:00:02.000Z is before --from 14:00:09.000Z",
    );
    refused("pod/a --for=event=A --for-at-least 1s", "--for-at-least");
    kubereel!("wait {reel} pod/c --for=condition=Ready")
        .code(4)
        .says("pods/c was never observed");
    kubereel!("wait {reel} pod/b --for=condition=Ready")
        .code(4)
        .says("in another namespace: use -n web");
    kubereel!("wait {reel} pod/a --for=jsonpath=.metadata=x")
        .code(1)
        .says("pod/a at 14:00:01.000Z: the JSONPath leads to a list or a map");
    kubereel!("wait {reel} pod/a --for=event=Killing")
        .code(4)
        .says("not observed between");
    kubereel!("wait {reel} events.events.k8s.io --all --for=create").code(4);
}

#[test]
fn an_imported_recording_proves_no_absence() {
    let folder = Reel::write(|path| {
        let lines = r#"{"ts":"2026-11-21T14:00:00Z","type":"ADDED","object":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default","uid":"u","resourceVersion":"5"},"data":{"k":"v"}}}"#;
        std::fs::write(path.with_extension("jsonl"), lines).expect("room");
    });
    let lines = folder.path().replace(".reel", ".jsonl");
    kubereel!("import {lines} -o {folder}").code(0);
    let out = kubereel!("wait {folder} cm/a --for=jsonpath=.data.k=v").code(0);
    out.says("as imported: completeness is unknown");
    kubereel!("wait {folder} cm/a --for=jsonpath=.data.k=w").code(4);
    // It was deleted only if somebody said so.
    kubereel!("wait {folder} cm/b --for=delete").code(4);
}

#[test]
fn nothing_is_known_outside_of_the_recording() {
    for (from, to) in [("22:00", "23:00"), ("23:55", "23:59"), ("22:00", "23:30")] {
        let absent = "--for=condition=Absent=Never";
        for line in [
            format!("wait {DEMO} co/etcd {absent}"),
            format!("wait {DEMO} co/etcd {absent} --never"),
            format!("history {DEMO} co/etcd"),
            format!("events {DEMO} -A"),
            format!("top-writers {DEMO}"),
        ] {
            let ran = kubereel!("{line} --from {from} --to {to}").code(4);
            assert!(!ran.err.contains("exact"), "{ran:#?}");
        }
    }
    // What does not exist in the recording may have existed before.
    kubereel!("wait {DEMO} ns/none --for=delete --from 22:00 --to 23:00").code(4);
    // Within the recording the same questions have an answer.
    kubereel!("events {DEMO} -A --from start --to end").code(0);
    kubereel!("top-writers {DEMO} --from start --to end").code(0);
}

#[test]
fn a_resource_that_is_not_recorded_yet_is_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("live.reel");
    let mut recorder = Appender::create(&path).expect("a reel");
    let at = |secs: i64| Stamp::from_micros((1_700_000_000 + secs) * 1_000_000, 0);
    let started = Note::SessionStarted {
        session: SessionId(0),
        recorder: "0.1".to_owned(),
        at: at(0).wall,
        redaction_policy: 1,
    };
    recorder.append_note(at(0), started).expect("appended");
    let text = "a minute later".to_owned();
    recorder
        .append_note(at(60), Note::Mark { text })
        .expect("appended");
    recorder.commit().expect("committed");
    let reel = path.to_str().expect("text");
    let follow = "--for=create --follow --timeout 50ms";
    kubereel!("wait {reel} pod/x {follow}")
        .code(4)
        .says("note: waiting for what is not recorded yet: no resource \"pod\" in this reel")
        .says("error: timed out: no resource \"pod\" in this reel");
    // What is wrong in the question does not become right.
    kubereel!("wait {reel} pod/x --all {follow}").code(2);
    kubereel!("wait {reel} pod/x --for=create").code(4);
    drop(recorder);
}

#[test]
fn objects_from_before_a_definition_got_another_scope_are_found() {
    let reel = Reel::write(|path| {
        let mut script = Script::begin(path);
        let widget = thing("n1", "w", "uid-1");
        let old = script.resource("widgets.example.io", "Widget", &[]);
        let stream = script.connect(old, None);
        script.synced(stream, 10);
        script.wait(1000);
        script.added(stream, widget, 11, &pod(widget, 11, "x"));
        script.wait(1000);
        script.deleted(stream, widget, 12, &pod(widget, 12, "x"));
        script.disconnect(stream, EndCause::Gone);
        script.not_covered("widgets.example.io", NotCoveredReason::Gone, "CRD deleted");
        script.wait(1000);
        let new = ResourceId(7);
        script.note(Note::Resource(ResourceInfo {
            namespaced: false,
            verbs: vec!["list".to_owned(), "watch".to_owned()],
            ..ResourceInfo::new(new, "example.io/v1", "widgets", "Widget")
        }));
        let stream = script.connect(new, None);
        script.synced(stream, 20);
        script.wait(1000);
        let widget = thing("", "w", "uid-2");
        script.added(stream, widget, 21, &pod(widget, 21, "x"));
        script.wait(1000);
        script.finish();
    });
    let reel = reel.path();
    let history = |place: &str| {
        let ran = kubereel!("history {reel} widget/w -o json {place}").ok();
        let answer: Value = serde_json::from_str(&ran).expect("JSON");
        let items = answer["items"].as_array().expect("a list").len();
        (answer["namespace"].as_str().map(str::to_owned), items)
    };
    assert_eq!(history("-n n1"), (Some("n1".to_owned()), 2));
    assert_eq!(history("").1, 1);
    let created = kubereel!("wait {reel} widget/w -n n1 --for=create").ok();
    assert!(
        created.ends_with("condition met at 14:00:01.000Z\n"),
        "{created}"
    );
    let deleted = kubereel!("wait {reel} widget/w -n n1 --for=delete --from 14:00:01").ok();
    assert!(
        deleted.ends_with("condition met at 14:00:02.000Z\n"),
        "{deleted}"
    );
}
