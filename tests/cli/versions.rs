//! A resource that is recorded in several API versions, one after the other, is one resource.

use super::run::{Reel, assert_has, kubereel};
use crate::script::{Script, Thing, thing};
use kubereel_format::{
    EndCause, EventType, Evidence, NotCoveredReason, Note, ResourceId, ResourceInfo,
};
use serde_json::{Value, json};

fn announce(script: &mut Script, id: u32, version: &str, plural: &str, kind: &str) -> ResourceId {
    let id = ResourceId(id);
    script.note(Note::Resource(ResourceInfo {
        namespaced: plural != "customresourcedefinitions",
        verbs: vec!["list".to_owned(), "watch".to_owned()],
        ..ResourceInfo::new(id, version, plural, kind)
    }));
    id
}

fn body(version: &str, kind: &str, of: Thing<'_>, rv: u128, x: &str) -> Vec<u8> {
    let object = json!({"apiVersion": version, "kind": kind, "spec": {"x": x}, "metadata": {
        "name": of.name, "namespace": of.namespace, "uid": of.uid, "resourceVersion": rv.to_string()}});
    object.to_string().into_bytes()
}

const fn gadget(uid: &str) -> Thing<'_> {
    Thing {
        namespace: "n",
        name: "g",
        uid,
    }
}

fn beta_gadget(rv: u128, x: &str) -> Vec<u8> {
    body("v.io/v1beta1", "Gadget", gadget("u1"), rv, x)
}

fn new_gadget(rv: u128, x: &str) -> Vec<u8> {
    body("v.io/v1", "Gadget", gadget("u2"), rv, x)
}

fn widget_body(version: &str, of: Thing<'_>, rv: u128) -> Vec<u8> {
    body(version, "Widget", of, rv, version)
}

/// Gadgets of v1beta1: `g` is one at 14:00:02, two at :03 and gone at :04. At :05 their definition is deleted, at :07
/// there are gadgets of v1: `g` is three at :08 and four at :09. Widgets are recorded as v1, and as v2 from :05 on.
/// Ghosts have a definition from :02 to :04.
fn versions() -> Reel {
    Reel::write(|path| {
        let mut script = Script::begin(path);
        let old = announce(&mut script, 0, "v.io/v1beta1", "gadgets", "Gadget");
        let widgets = announce(&mut script, 1, "a.ex.io/v1", "widgets", "Widget");
        let (group, plural) = ("apiextensions.k8s.io/v1", "customresourcedefinitions");
        let crds = announce(&mut script, 2, group, plural, "CustomResourceDefinition");
        let ghosts = announce(&mut script, 3, "v.io/v1", "ghosts", "Ghost");
        script.wait(1000);
        let all = [old, widgets, crds, ghosts].map(|id| script.connect(id, None));
        for stream in all {
            script.synced(stream, 10);
        }
        let [old, widgets, crds, _] = all;
        let definition = thing("", "ghosts.v.io", "d");
        let defined = |rv| body(group, "CustomResourceDefinition", definition, rv, "");
        let widget = thing("n", "w", "w");
        script.wait(1000);
        script.added(old, gadget("u1"), 11, &beta_gadget(11, "one"));
        let first = widget_body("a.ex.io/v1", widget, 12);
        script.added(widgets, widget, 12, &first);
        script.added(crds, definition, 13, &defined(13));
        script.wait(1000);
        script.modified(old, gadget("u1"), 14, &beta_gadget(14, "two"));
        script.wait(1000);
        script.deleted(old, gadget("u1"), 15, &beta_gadget(15, "two"));
        script.deleted(crds, definition, 16, &defined(16));
        script.wait(1000);
        script.disconnect(old, EndCause::Gone);
        script.not_covered("gadgets.v.io", NotCoveredReason::Gone, "CRD deleted");
        announce(&mut script, 1, "a.ex.io/v2", "widgets", "Widget");
        script.wait(1000);
        let second = widget_body("a.ex.io/v2", widget, 18);
        script.modified(widgets, widget, 18, &second);
        script.wait(1000);
        let new = announce(&mut script, 4, "v.io/v1", "gadgets", "Gadget");
        let new = script.connect(new, None);
        script.synced(new, 20);
        script.wait(1000);
        script.added(new, gadget("u2"), 21, &new_gadget(21, "three"));
        script.wait(1000);
        script.modified(new, gadget("u2"), 22, &new_gadget(22, "four"));
        script.wait(1000);
        script.finish();
    })
}

#[test]
fn changes_of_a_resource_are_those_of_all_its_recorded_versions() {
    let reel = versions();
    for name in ["gadgets/g", "gadgets.v1beta1.v.io/g", "gadgets.v1.v.io/g"] {
        let history = kubereel!("history {reel} {name} -n n").code(0);
        let history = history.says("5 versions").says("2 objects in sequence").out;
        assert_has(&history, "one → two");
        assert_has(&history, "three → four");
    }
    for value in ["one", "two", "three", "four"] {
        kubereel!("grep {reel} {value} gadgets").code(0);
    }
    let counted = kubereel!("top-writers {reel} gadgets -o json").out;
    let counted: Value = serde_json::from_str(&counted).expect("JSON");
    assert_eq!(counted["writes"], 5, "{counted}");
    assert_eq!(counted["resources"].as_array().map(Vec::len), Some(1));
    let widget = kubereel!("history {reel} widgets/w -n n").code(0);
    assert!(!widget.err.contains("in sequence"), "{}", widget.err);
    let watched = kubereel!("get {reel} gadgets -n n --watch --no-headers --from start").out;
    let events = watched.lines().map(|line| line.split_whitespace().nth(1));
    let events: Vec<&str> = events.flatten().collect();
    let expected = ["ADDED", "MODIFIED", "DELETED", "ADDED", "MODIFIED"];
    assert_eq!(events, expected);
}

#[test]
fn a_wait_goes_through_all_recorded_versions() {
    let reel = versions();
    let wait = |more: &str| kubereel!("wait {reel} gadgets/g -n n {more}");
    for (goal, met) in [
        ("--for=jsonpath={.spec.x}=one", "14:00:02.000Z"),
        ("--for=jsonpath={.spec.x}=three", "14:00:08.000Z"),
        ("--for=create", "14:00:02.000Z"),
        ("--for=delete --from 14:00:02.500", "14:00:04.000Z"),
    ] {
        let met = format!("gadget.v.io/g condition met at {met}\n");
        assert_eq!(wait(goal).code(0).out, met, "{goal:?}");
    }
    // Between the two, it may have existed.
    wait("--for=jsonpath={.spec.x}=zero")
        .code(4)
        .says("between 14:00:05.000Z and 14:00:07.000Z");
}

#[test]
fn the_version_of_a_resource_is_that_of_the_moment() {
    let reel = versions();
    for (version, moment, shown) in [
        ("v1", "14:00:03", "a.ex.io/v1"),
        ("v2", "14:00:07", "a.ex.io/v2"),
    ] {
        let name = format!("widgets.{version}.a.ex.io");
        let get = ["get", reel.path(), &name, "w", "-n", "n", "--at", moment];
        let at = kubereel(&[&get[..], &["-o", "jsonpath={.apiVersion}"]].concat());
        assert_eq!(at.ok(), shown);
        let explained = kubereel!("explain {reel} widgets --at {moment}").out;
        assert_has(&explained, &format!("VERSION:    {version}\n"));
    }
    kubereel!("get {reel} widgets.v3.a.ex.io")
        .code(2)
        .says("widgets.a.ex.io was recorded as v1 and v2, not as v3");
    let exported = kubereel!("export {reel}").out;
    let lines = exported.lines();
    let lines: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines.len(), 9);
    for line in lines {
        let own = line["object"]["apiVersion"].as_str();
        let own = own.and_then(|own| own.split('/').next_back());
        assert_eq!(line["version"].as_str(), own, "{line}");
    }
}

#[test]
fn a_deleted_definition_is_named() {
    let reel = versions();
    kubereel!("explain {reel} ghosts")
        .code(4)
        .says("ghosts.v.io was not defined at that time")
        .says("existed from 14:00:02.000Z to 14:00:04.000Z: --at 14:00:02.000Z");
}

/// Widgets `w`, deleted with the definition at 14:00:05, and `z`, whose deletion nothing shows; pods to the end.
fn unserved() -> Reel {
    Reel::write(|path| {
        let mut script = Script::begin(path);
        let widgets = announce(&mut script, 0, "a.ex.io/v1", "widgets", "Widget");
        let pods = announce(&mut script, 1, "v1", "pods", "Pod");
        let pods = script.connect(pods, None);
        script.synced(pods, 10);
        let stream = script.connect(widgets, None);
        let [w, z] = [thing("n", "w", "w"), thing("n", "z", "z")];
        for (widget, rv) in [(w, 8), (z, 9)] {
            script.initial(stream, widget, rv, &widget_body("a.ex.io/v1", widget, rv));
        }
        script.synced(stream, 10);
        script.wait(5000);
        script.disconnect(stream, EndCause::Gone);
        let (deleted, inferred) = (EventType::Deleted, Evidence::Inferred);
        let last = widget_body("a.ex.io/v1", w, 8);
        script.event(stream, deleted, inferred, w, 20, &last);
        script.not_covered("widgets.a.ex.io", NotCoveredReason::Gone, "");
        script.wait(5000);
        script.bookmark(pods, 30);
        script.finish();
    })
}

#[test]
fn a_resource_whose_definition_was_deleted_is_known_to_have_no_objects() {
    let reel = unserved();
    let ask = |words: &[&str]| {
        let (command, rest) = words.split_first().expect("a command");
        kubereel(&[&[*command, reel.path()], rest].concat())
    };
    for moment in ["14:00:07", "end"] {
        let listed = ask(&["get", "widgets", "-A", "--at", moment]).code(0);
        assert_eq!(listed.out, "");
        listed.says("no longer served").says("No resources found.");
        for name in ["widgets/w", "widgets/z"] {
            let named = ask(&["get", name, "-n", "n", "--at", moment]).code(1);
            named.says("not found at").says("no longer served");
            ask(&["describe", name, "-n", "n", "--at", moment]).code(1);
        }
    }
    ask(&["get", "widgets,pods", "-A"])
        .code(0)
        .says("widgets.a.ex.io");
    assert!(
        ask(&["get", "widgets", "-A", "--at", "14:00:04"])
            .ok()
            .contains('z')
    );
    let compared = ask(&["diff", "widgets", "-A", "--from", "14:00:02"]).code(0);
    compared.says("no longer served").says("2 objects differ");
    let all = ask(&["diff", "--from", "14:00:02", "-o", "json"]).ok();
    let all: Value = serde_json::from_str(&all).expect("JSON");
    assert_eq!(all["unknown"], json!([]), "{all}");
    assert_eq!(
        all["differences"].as_array().map(Vec::len),
        Some(2),
        "{all}"
    );
    let history = ask(&["history", "widgets/w", "-n", "n"]).code(0);
    history.prints("deleted: missing from a list");
    history.says("no longer served");
    ask(&["history", "widgets/z", "-n", "n"])
        .code(0)
        .says("no longer served");
}
