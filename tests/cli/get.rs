//! Tests of `kubereel get`: moments, selections, formats, and the output when there is no certain
//! answer.

use super::run::{DEMO, Reel, pods_with_gap};
use crate::script::{Script, Stream, pod, thing};
use kubereel_format::{Note, ResourceInfo};
use serde_json::{Value, json};

#[test]
fn flow_schemas_are_in_the_order_in_which_they_are_matched() {
    let names = |more: &str| -> Vec<String> {
        let out = kubereel!("get {DEMO} flowschemas {more}").ok();
        let rows = out.lines().filter(|line| !line.starts_with("NAME"));
        rows.map(|row| row.split_whitespace().next().unwrap_or_default().to_owned())
            .collect()
    };
    // The server sorts the rows of its table, and nothing else.
    let table = names("");
    assert_eq!(table.first().map(String::as_str), Some("exempt"));
    assert_eq!(table.last().map(String::as_str), Some("catch-all"));
    assert_eq!(names("-o wide"), table);
    let by_name = names("-o name");
    assert!(by_name.is_sorted(), "{by_name:?}");
    assert_eq!(names("exempt catch-all"), ["exempt", "catch-all"]);
    assert_eq!(names("catch-all exempt"), ["catch-all", "exempt"]);
}

#[test]
fn short_names_and_categories_are_those_of_the_moment() {
    let reel = Reel::write(|path| {
        let mut script = Script::begin(path);
        let id = script.resource("widgets.example.io", "Widget", &["wd"]);
        let described = |shorts: &[&str], categories: &[&str]| {
            let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
            Note::Resource(ResourceInfo {
                short_names: owned(shorts),
                categories: owned(categories),
                verbs: owned(&["list", "watch"]),
                ..ResourceInfo::new(id, "example.io/v1", "widgets", "Widget")
            })
        };
        script.note(described(&["wd"], &["all"]));
        let stream = script.connect(id, None);
        let widget = thing("default", "w", "uid-1");
        script.initial(stream, widget, 11, &pod(widget, 11, "x"));
        script.synced(stream, 11);
        script.wait(5000);
        script.note(described(&["wx"], &[]));
        script.wait(5000);
        script.finish();
    });
    for (names, at, is_found) in [
        ("all", "+3s", true),
        ("all", "end", false),
        ("wd", "+3s", true),
        ("wx", "end", true),
    ] {
        let ran = kubereel!("get {reel} {names} -o name --at {at}");
        assert_eq!(
            ran.out.contains("/w\n"),
            is_found,
            "{names} {at}: {}",
            ran.err
        );
    }
}

#[test]
fn columns_read_as_kubectl_prints_them() {
    let reel = pods_with_gap();
    let ran = kubereel!("get {reel} pods -A --at 14:00:05").code(0);
    assert_eq!(
        ran.out,
        "NAMESPACE   NAME   READY   STATUS   RESTARTS   AGE\n\
         default     a      0/0              0          60m\n\
         web         b      0/0              0          60m\n"
    );
    assert_eq!(ran.err, "at 14:00:05.000Z (+5s, rv 14) · complete\n");
    let out = kubereel!("get {reel} po -n web --at +5s --no-headers").ok();
    assert_eq!(out, "b     0/0         0     60m\n");
    let labels = "-L x.io/tier,app --show-labels";
    assert_eq!(
        kubereel!("get {reel} po -n web --at +5s {labels}").ok(),
        "NAME   READY   STATUS   RESTARTS   AGE   TIER   APP   LABELS\n\
         b      0/0              0          60m          y     app=y\n"
    );
    let ran = kubereel!("get {reel} Pod -n web").code(0);
    assert_eq!(ran.out, "");
    ran.says("No resources found in web namespace.");
}

#[test]
fn each_moment_gives_the_version_that_held() {
    let reel = pods_with_gap();
    for (moment, version) in [
        ("14:00:02", "9"),
        ("14:00:05", "14"),
        ("2026-11-21T14:00:06Z", "14"),
        ("+4999ms", "9"),
        ("-10s", "14"),
        ("rv:13", "9"),
        ("rv:14", "14"),
        ("rv:30", "25"),
        ("end", "31"),
        ("now", "31"),
        ("2026-11-21 14:00:05", "14"),
        ("2026-11-21T14:00:05", "14"),
        ("1795269605", "14"),
    ] {
        let object = kubereel!("get {reel} pod/a --at '{moment}' -o json").json();
        assert_eq!(object["metadata"]["resourceVersion"], version, "{moment}");
    }
}

#[test]
fn one_object_is_printed_as_kubectl_prints_it() {
    let reel = pods_with_gap();
    let out = kubereel!("get {reel} pods a --at rv:14 -o json").ok();
    let expected = r#"{
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "creationTimestamp": "2026-11-21T13:00:00Z",
        "labels": {
            "app": "y"
        },
        "name": "a",
        "namespace": "default",
        "resourceVersion": "14",
        "uid": "uid-a"
    },
    "spec": {
        "a": "\u003cb\u003e",
        "z": 1
    }
}
"#;
    assert_eq!(out, expected);
    let yaml = kubereel!("get {reel} pods a --at rv:14 -o yaml").ok();
    assert!(
        yaml.starts_with("apiVersion: v1\nkind: Pod\nmetadata:\n  creation"),
        "{yaml}"
    );
    assert!(!yaml.contains("managedFields"), "{yaml}");
    assert_eq!(
        kubereel!("get {reel} pods a -o json --show-managed-fields").json()["metadata"]["managedFields"]
            [0]["manager"],
        "kubelet"
    );
}

#[test]
fn several_objects_are_a_list() {
    let reel = pods_with_gap();
    let list = kubereel!("get {reel} pods -A --at rv:14 -o json").json();
    assert_eq!(list["kind"], "List");
    assert_eq!(list["apiVersion"], "v1");
    assert_eq!(list["metadata"], json!({"resourceVersion": ""}));
    assert_eq!(list["items"].as_array().map(Vec::len), Some(2));
    let list = kubereel!("get {reel} pods -o json").json();
    assert_eq!(list["items"].as_array().map(Vec::len), Some(1));
    let list = kubereel!("get {reel} pods -o json -n x --at end").json();
    assert_eq!(list["items"], json!([]));
}

#[test]
fn names_are_printed_with_their_kind() {
    let reel = pods_with_gap();
    let out = kubereel!("get {reel} pods -A --at rv:12 -o name").ok();
    assert_eq!(out, "pod/a\npod/b\n");
}

#[test]
fn named_objects_come_in_the_order_of_the_names() {
    let reel = pods_with_gap();
    for (names, expected) in [("a b", "pod/a\npod/b\n"), ("b a", "pod/b\npod/a\n")] {
        let out = kubereel!("get {reel} pods {names} -A --at rv:12 -o name").ok();
        assert_eq!(out, expected);
    }
}

#[test]
fn labels_select() {
    let reel = pods_with_gap();
    let name =
        |selector: &str| kubereel!("get {reel} pods -A --at rv:12 -o name -l '{selector}'").ok();
    assert_eq!(name("app=x"), "pod/a\n");
    assert_eq!(name("app in (y, z)"), "pod/b\n");
    assert_eq!(name("app,app!=x"), "pod/b\n");
    assert_eq!(name("!app"), "");
}

/// Writes a reel of three objects of each resource, of which the second cannot be read; a second later, all
/// have another label.
fn with_unreadable(resources: &[(&str, &str)]) -> Reel {
    Reel::write(|path| {
        let mut script = Script::begin(path);
        let streams: Vec<Stream> = resources
            .iter()
            .map(|(resource, kind)| {
                let id = script.resource(resource, kind, &[]);
                script.connect(id, None)
            })
            .collect();
        for (rv, app) in [(4, "w"), (5, "x")] {
            for stream in &streams {
                for name in ["a", "b", "c"] {
                    let one = thing("default", name, name);
                    let body = match name {
                        "b" => format!("no JSON {rv}").into_bytes(),
                        _ => pod(one, 4, app),
                    };
                    if app == "w" {
                        script.initial(*stream, one, rv, &body);
                    } else {
                        script.modified(*stream, one, rv, &body);
                    }
                }
                if app == "w" {
                    script.synced(*stream, rv);
                }
            }
            script.wait(1000);
        }
        script.finish();
    })
}

#[test]
fn every_command_names_an_object_that_it_cannot_read_and_shows_the_others() {
    let reel = with_unreadable(&[("pods", "Pod"), ("deployments.apps", "Deployment")]);
    let ask = |command: &str, objects: &str, more: &str| {
        let kind = if objects == "pods" {
            "pod"
        } else {
            "deployment.apps"
        };
        let words = format!("error: cannot read {kind}/b in default: record ");
        let ran = kubereel!("{command} {reel} {objects} -l app=x {more}");
        let ran = ran.code(3).says(&words);
        assert_eq!(ran.err.matches("cannot read").count(), 1, "{ran:#?}");
        ran.out
    };
    let described = ask("describe", "pods", "-o json");
    let described = serde_json::Deserializer::from_str(&described).into_iter::<Value>();
    let names = described.map(|one| one.expect("JSON")["name"].clone());
    assert_eq!(names.collect::<Vec<_>>(), ["a", "c"]);
    let waited = ask("wait", "pods", "--for=create --from 14:00:01.500");
    assert_eq!(waited.lines().count(), 2, "{waited}");
    let status = ask("rollout status", "deployments", "");
    assert_eq!(status.lines().count(), 2, "{status}");
    let revisions = ask("rollout history", "deployments", "");
    assert_eq!(
        revisions.matches("deployment.apps/").count(),
        2,
        "{revisions}"
    );
    let between = "--from 14:00:00 --to 14:00:01 -o json";
    let differing = ask("diff", "pods", between);
    let differing: Value = serde_json::from_str(&differing).expect("JSON");
    assert_eq!(differing["differences"].as_array().map(Vec::len), Some(2));
    let watched = kubereel!("get {reel} pods -l app=x --watch -o name")
        .code(3)
        .says("cannot read pod/b in default: record ");
    assert_eq!(watched.out, "pod/a\npod/c\n");
}

#[test]
fn an_object_that_cannot_be_read_hides_no_other_one() {
    let reel = with_unreadable(&[("pods", "Pod")]);
    let words = "error: cannot read pod/b in default: record ";
    let get = |more: &str| {
        let ran = kubereel!("get {reel} pods {more}");
        ran.code(3).says(words).out
    };
    for more in ["", "-o wide", "--sort-by .metadata.name"] {
        let out = get(more);
        let names: Vec<&str> = out
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        assert_eq!(names, ["NAME", "a", "c"], "{more:?}");
    }
    let list: Value = serde_json::from_str(&get("-o json")).expect("JSON");
    assert_eq!(list["items"].as_array().map(Vec::len), Some(2));
    // Whether it is selected is not known.
    assert_eq!(get("-l app=x -o name"), "pod/a\npod/c\n");
    let named = get("--field-selector metadata.name=c -o name");
    assert_eq!(named, "pod/c\n");
    let ran = kubereel!("get {reel} pod b");
    let expected = "NAME   READY   STATUS   RESTARTS   AGE\n";
    assert_eq!(ran.code(3).says(words).out, expected);
}

#[test]
fn a_moment_inside_a_gap_says_so_and_ends_with_its_own_code() {
    let reel = pods_with_gap();
    for moment in ["14:00:09", "rv:20"] {
        let ran = kubereel!("get {reel} pods -o name --at {moment}")
            .code(4)
            .says("inside a gap 14:00:07.000Z–14:00:12.000Z: may differ");
        assert_eq!(ran.out, "pod/a\n", "{moment}");
    }
    kubereel!("get {reel} pods --at 14:00:12").code(0);
}

#[test]
fn what_is_not_known_is_not_guessed() {
    let reel = pods_with_gap();
    let ran = kubereel!("get {reel} pods --at +0s")
        .code(4)
        .says("error: pods are not known at 14:00:00.000Z yet")
        .says("--at 14:00:01.000Z");
    assert_eq!(ran.out, "");
    kubereel!("get {reel} deployments")
        .code(4)
        .says("no complete list was received");
    kubereel!("get {reel} events.events.k8s.io")
        .code(4)
        .says("same storage as another resource")
        .says("hint: events");
    kubereel!("get {reel} pods --at 15:30")
        .code(2)
        .says("--at: 2026-11-21T15:30:00.000Z is outside of the recording")
        .says("2026-11-21T14:00:00.000Z to 2026-11-21T14:00:15.000Z")
        .says("hint: --at end\n");
}

#[test]
fn a_name_that_is_not_there_ends_with_no_and_says_when_it_was() {
    let reel = pods_with_gap();
    let ran = kubereel!("get {reel} pods b -n web -o json")
        .code(1)
        .says(r#"error: pods "b" not found at 14:00:15.000Z"#)
        .says(r#"hint: "b" existed from 14:00:03.000Z to 14:00:07.000Z"#);
    assert_eq!(ran.out, "");
    kubereel!("get {reel} pods/b --at 14:00:05")
        .code(1)
        .says("-n web");
    let ran = kubereel!("get {reel} pods a b -o name").code(1);
    assert_eq!(ran.out, "pod/a\n");
    kubereel!("get {reel} pods/b -n web --at 14:00:09").code(4);
}

#[test]
fn custom_resources_print_the_columns_of_their_definition_at_the_moment() {
    let definition = |columns: &str| {
        format!(
            r#"{{"spec":{{"versions":[{{"name":"v1","additionalPrinterColumns":[{columns}]}}]}}}}"#
        )
    };
    let state = r#"{"name":"State","type":"string","jsonPath":".spec.state"}"#;
    let size = r#"{"name":"Size","type":"integer","jsonPath":".spec.size","priority":1}"#;
    let reel = Reel::write(|path| {
        let mut script = Script::begin(path);
        let definitions = "customresourcedefinitions.apiextensions.k8s.io";
        let stream = script.watched(definitions, "CustomResourceDefinition", &["crd"]);
        let what = thing("", "widgets.example.io", "uid-d");
        script.initial(stream, what, 1, definition(state).as_bytes());
        script.synced(stream, 2);
        let of_widgets = script.watched("widgets.example.io", "Widget", &["wd"]);
        let widget = br#"{"metadata":{"name":"a","creationTimestamp":"2026-11-21T14:00:00Z"},"spec":{"state":"up","size":3}}"#;
        script.initial(of_widgets, thing("default", "a", "uid-w"), 3, widget);
        script.synced(of_widgets, 3);
        script.wait(1000);
        let both = definition(&format!("{state},{size}"));
        script.modified(stream, what, 4, both.as_bytes());
        script.wait(1000);
        script.modified(stream, what, 5, definition("").as_bytes());
        script.finish();
    });
    let get = |at: &str, more: &str| kubereel!("get {reel} wd --at {at} {more}").ok();
    assert_eq!(get("14:00:00.5", "-o wide"), "NAME   STATE\na      up\n");
    assert_eq!(get("14:00:01", ""), "NAME   STATE\na      up\n");
    let expected = "NAME   STATE   SIZE\na      up      3\n";
    assert_eq!(get("14:00:01", "-o wide"), expected);
    assert_eq!(get("14:00:02", ""), "NAME   AGE\na      2s\n");
}

#[test]
fn the_start_is_the_first_known_state() {
    let reel = pods_with_gap();
    let ran = kubereel!("get {reel} pods --at start -o name").code(0);
    assert_eq!(ran.out, "pod/a\n");
    ran.says("at 14:00:01.000Z");
}

#[test]
fn forms_are_those_of_kubectl() {
    let reel = pods_with_gap();
    let run = |more: &str| kubereel!("get {reel} pods -A --at 14:00:05 {more}");
    let pods = |more: &str| run(more).ok();
    assert_eq!(pods("-o jsonpath={.items[*].metadata.name}"), "a b");
    assert_eq!(
        pods("-o custom-columns=N:.metadata.name,X:.spec.none"),
        "N     X\na     <none>\nb     <none>\n"
    );
    assert_eq!(
        pods("-o name --sort-by {.metadata.resourceVersion}"),
        "pod/b\npod/a\n"
    );
    run("--sort-by .metadata.nmae")
        .code(2)
        .says("none of the pods has this field");
    assert_eq!(
        pods("-o name --field-selector metadata.namespace!=web"),
        "pod/a\n"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let template = file("t", "{range .items[*]}{.metadata.name};{end}\n");
    assert_eq!(pods(&format!("-o jsonpath-file={template}")), "a;b;");
    let columns = file("c", "N\n.metadata.name\n");
    assert_eq!(
        pods(&format!("-o custom-columns-file={columns} --no-headers")),
        "a\nb\n"
    );
    let manifest = file(
        "m.yaml",
        "kind: Pod\napiVersion: v1\nmetadata: {name: b, namespace: web}\n",
    );
    assert_eq!(
        kubereel!("get {reel} -f {manifest} --at 14:00:05 -o name").ok(),
        "pod/b\n"
    );
    assert_eq!(
        kubereel!("get {reel} pods nothing --ignore-not-found").ok(),
        ""
    );
}

#[test]
fn several_resources_are_tables_whose_names_say_which() {
    let reel = pods_with_gap();
    let ran = kubereel!("get {reel} pods,deployments -A --no-headers")
        .code(4)
        .says("error: deployments.apps are not known");
    assert_eq!(ran.out, "default   pod/a   0/0         0     60m\n");
    kubereel!("get {reel} all -A").code(4);
    kubereel!("get {reel} pod/a deployments")
        .code(2)
        .says("names are given in two forms");
}

#[test]
fn a_watch_prints_each_change_with_its_time_and_what_may_be_missing() {
    let reel = pods_with_gap();
    let watch = |more: &str| kubereel!("get {reel} pods -A --watch {more}");
    let ran = watch("").code(4).says("changes may be missing");
    assert_eq!(
        ran.out,
        "TIME            EVENT      NAMESPACE   NAME   READY   STATUS   RESTARTS   AGE\n\
         14:00:01.000Z   ADDED      default     a      0/0              0          60m\n\
         14:00:03.000Z   ADDED      web         b      0/0              0          60m\n\
         14:00:05.000Z   MODIFIED   default     a      0/0              0          60m\n\
         14:00:07.000Z   DELETED    web         b      0/0              0          60m\n\
         14:00:12.000Z   MODIFIED   default     a      0/0              0          60m\n\
         14:00:15.000Z   MODIFIED   default     a      0/0              0          60m\n"
    );
    let out = watch("-o json").out;
    assert_eq!(out.lines().count(), 6, "an object a line");
    for line in out.lines() {
        let object: Value = serde_json::from_str(line).expect("an object");
        assert_eq!(object["kind"], "Pod");
    }
    // What no longer matches is deleted for who watches it.
    let out = watch("-l app=x -o custom-columns=N:.metadata.name --to 14:00:06").out;
    assert_eq!(
        out,
        "TIME            EVENT     N\n14:00:01.000Z   ADDED     a\n14:00:05.000Z   DELETED   a\n"
    );
}

#[test]
fn problems_and_upgrades_are_moments() {
    let at = |moment: &str| kubereel!("get {DEMO} clusterversion --at {moment} -o name");
    at("problem:1").code(0);
    at("problem:99")
        .code(2)
        .says("no problem 99: the list ends with problem");
    at("upgrade:start").code(0);
    at("upgrade:end").code(0);
    let reel = pods_with_gap();
    kubereel!("get {reel} pods --at upgrade:start")
        .code(4)
        .says("no upgrade was recorded");
}

#[test]
fn a_namespace_that_never_was_is_said() {
    kubereel!("get {DEMO} pods -n shpo")
        .code(0)
        .says("No resources found in shpo namespace.")
        .says("namespace \"shpo\" was never observed")
        .says("did you mean shop?");
    let known = kubereel!("get {DEMO} daemonsets -n shop").code(0);
    assert!(!known.err.contains("never observed"), "{}", known.err);
}

#[test]
fn rows_of_several_kinds_are_those_of_kubectl() {
    let rows = kubereel!("get {DEMO} nodes,ns --no-headers").ok();
    assert!(
        rows.contains("namespace/") && !rows.contains("\n\n"),
        "{rows}"
    );
    let default = json!({"storageclass.kubernetes.io/is-default-class": "true"});
    let reel = Reel::import(&[json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "provisioner": "p",
        "metadata": {"name": "fast", "uid": "f", "resourceVersion": "3", "annotations": default}})]);
    let row = kubereel!("get {reel} sc --show-kind --no-headers").out;
    let row = row.trim_start_matches("storageclass.storage.k8s.io/");
    assert!(row.starts_with("fast (default)"), "{row}");
    for name in ["po/crash/x", "/x", "po/"] {
        let words = if name == "po/crash/x" {
            "more than one slash in \"po/crash/x\": expected RESOURCE/NAME"
        } else {
            "a resource and its names must not be empty"
        };
        kubereel!("get {DEMO} {name}").code(2).says(words);
        kubereel!("describe {DEMO} {name}").code(2).says(words);
        kubereel!("history {DEMO} {name}").code(2).says(words);
    }
}

#[test]
fn what_kubectl_takes_is_taken() {
    let plain = kubereel!("get {DEMO} pods -n shop --no-headers").ok();
    for line in [
        "get REEL pods -n shop --no-headers=true",
        "-n shop get REEL pods --no-headers",
        "--tz UTC get REEL pods --no-headers --namespace=shop",
        "get REEL pods -n shop --no-headers --watch=false",
        "get REEL pods -n shop --no-headers --allow-missing-template-keys=true",
    ] {
        let words = line.replace("REEL", DEMO);
        let out = kubereel!("{words}").ok();
        assert_eq!(out, plain, "{line}");
    }
    let out = kubereel!("get {DEMO} pods -n shop --show-kind --no-headers").ok();
    assert!(out.lines().all(|line| line.starts_with("pod/")), "{out}");
    let names = "jsonpath-as-json={.items[*].metadata.name}";
    let list = kubereel!("get {DEMO} deploy -n shop -o {names}").json();
    assert_eq!(list, serde_json::json!(["payments", "web"]));
    let watched = |flag: &str| kubereel!("get {DEMO} nodes {flag} --from -1s --no-headers").ok();
    let (all, only) = (watched("--watch"), watched("--watch-only"));
    assert_eq!(watched("-w --watch-only"), only);
    assert!(all.len() > only.len() && !only.contains("ADDED"), "{only}");
    kubereel!("get {DEMO} pods --context prod")
        .code(2)
        .says("kubectl's --context has no counterpart here");
}

#[test]
fn a_bookmark_of_the_screen_is_a_moment() {
    let reel = Reel::bookmarked();
    let at = |at: &str| kubereel!("get {reel} deployments -A --at '{at}'");
    let by_record = at("seq:600");
    for name in ["bookmark:before the crash", "bookmark:BEFORE"] {
        let by_name = at(name);
        assert_eq!(by_name.err, by_record.err, "{name}");
        assert_eq!(by_name.out, by_record.out, "{name}");
    }
    by_record.code(0);
    at("bookmark:befor the crash")
        .code(2)
        .says("did you mean bookmark:before the crash?");
    kubereel!("get {DEMO} pods --at bookmark:before")
        .code(2)
        .says("key m on the screen");
}

#[test]
fn paths_that_do_not_fit_fail_and_templates_have_managed_fields() {
    let get = |form: &str| kubereel!("get {DEMO} nodes -o {form}");
    get("jsonpath={.items[99].metadata.name}")
        .code(1)
        .says("the list has");
    get("custom-columns=NAME:.metadata.name[0]")
        .code(1)
        .says("the value is not a list");
    assert_eq!(get("jsonpath={.items[*].metadata.nothing}").ok(), "");
    // As for kubectl, only whole objects are shown without them.
    let manager = get("jsonpath={.items[0].metadata.managedFields[0].manager}").ok();
    assert!(!manager.is_empty());
    assert!(!get("json").ok().contains("managedFields"));
}

#[test]
fn a_field_selector_that_cannot_match_says_so() {
    let get = |selector: &str| kubereel!("get {DEMO} pods -A --field-selector {selector} -o name");
    get("spec.containers[0].name=etcd")
        .code(2)
        .says("no items of lists");
    let ran = get("status.phas=Running").code(0);
    ran.says("none of the objects has the field \"status.phas\"");
    let ran = get("status.phase=Nowhere").code(0);
    assert!(!ran.err.contains("has the field"), "{}", ran.err);
}

#[test]
fn a_watch_of_what_was_never_observed_says_so() {
    let watch = |words: &str| kubereel!("get {DEMO} {words} --watch");
    watch("pod/nothing -n shop")
        .code(1)
        .says("was never observed in shop namespace");
    watch("pods -n nowhere").code(1).says("nowhere");
}

#[test]
fn the_changes_of_a_watch_have_their_event_in_json_too() {
    let plain = kubereel!("get {DEMO} pods -n shop --watch -o json").json_lines();
    let events =
        kubereel!("get {DEMO} pods -n shop --watch -o json --output-watch-events").json_lines();
    let objects: Vec<&Value> = events.iter().map(|event| &event["object"]).collect();
    assert_eq!(objects, plain.iter().collect::<Vec<_>>());
    let deleted = |event: &&Value| event["type"] == "DELETED";
    assert!(events.iter().filter(deleted).count() > 0);
}
