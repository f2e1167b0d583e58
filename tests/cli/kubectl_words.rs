//! What users of kubectl type besides `get`, `describe` and `events`: `explain`, `api-resources`, `rollout`, what a
//! recording has no answer to, and the forms of TIME that are new to them.

use super::run::{A, DEMO, Reel, assert_has, kubereel};
use crate::script::{Script, pod, thing};
use kubereel_format::Note;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

fn widgets() -> Reel {
    let schema = json!({"type": "object", "description": "A widget.", "required": ["spec"], "properties": {
        "spec": {"type": "object", "description": "What is wanted.", "properties": {
            "mode": {"type": "string", "enum": ["Fast", "Slow"], "description": "How it works."},
            "ports": {"type": "array", "items": {"type": "object", "properties": {"number": {"type": "integer"}}}}}}}});
    Reel::import(&[
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.example.io", "uid": "d", "resourceVersion": "3"},
            "spec": {"group": "example.io", "scope": "Namespaced",
                "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "shortNames": ["wd"]},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}}),
        json!({"apiVersion": "example.io/v1", "kind": "Widget",
            "metadata": {"name": "w", "namespace": "shop", "uid": "w", "resourceVersion": "4"}, "spec": {"mode": "Fast"}}),
    ])
}

#[test]
fn fields_of_custom_resources_are_those_of_their_definition() {
    let reel = widgets();
    assert_eq!(
        kubereel!("explain {reel} widget.spec").ok(),
        "GROUP:      example.io\nKIND:       Widget\nVERSION:    v1\n\n\
         FIELD: spec <Object>\n\nDESCRIPTION:\n    What is wanted.\n\nFIELDS:\n\
         \x20 mode\t<string>\n  enum: Fast, Slow\n    How it works.\n\n\
         \x20 ports\t<[]Object>\n\n"
    );
    let all = kubereel!("explain {reel} wd --recursive").ok();
    assert_has(&all, "  spec\t<Object> -required-\n    mode\t<string>\n");
    assert_has(&all, "      number\t<integer>\n");
    let field = kubereel!("explain {reel} wd.spec.mode").ok();
    let values =
        "FIELD: mode <string>\nENUM:\n    Fast\n    Slow\n\nDESCRIPTION:\n    How it works.\n";
    assert_has(&field, values);
    let told = kubereel!("explain {reel} wd.spec.mode -o json").json();
    assert_eq!(told["type"], "string");
    assert_eq!(told["is_definition"], true);
    kubereel!("explain {reel} widgets.spec.mod")
        .code(2)
        .says("field \"mod\" does not exist in widgets.example.io")
        .says("did you mean mode?");
    kubereel!("explain {reel} wd --api-version=example.io/v2")
        .code(2)
        .says("it is recorded as example.io/v1");
}

#[test]
fn fields_of_the_kinds_of_kubernetes_are_known() {
    let page = kubereel!("explain {DEMO} pods.spec.containers").ok();
    for part in [
        "KIND:       Pod\nVERSION:    v1\n",
        "FIELD: containers <[]Container>",
        "the fields of pods in Kubernetes v1.",
        "  image\t<string>\n",
        "  livenessProbe\t<Probe>\n",
        "  name\t<string> -required-\n",
    ] {
        assert!(page.contains(part), "{part:?} not in {page}");
    }
    kubereel!("explain {DEMO} pods.spec.contaners")
        .code(2)
        .says("does not exist in pods of Kubernetes v1.")
        .says("did you mean containers?");
    kubereel!("explain {DEMO} podz")
        .code(2)
        .says("did you mean");
}

#[test]
fn fields_of_other_resources_are_those_that_occur() {
    let reel = Reel::write(|path| {
        let mut script = Script::begin(path);
        let stream = script.watched("gadgets.example.io", "Gadget", &[]);
        script.initial(stream, A, 9, &pod(A, 9, "x"));
        script.synced(stream, 10);
        script.finish();
    });
    let page = kubereel!("explain {reel} gadgets.metadata").ok();
    for part in [
        "No schema of gadgets.example.io is recorded.",
        "  name\t<string>\n",
    ] {
        assert!(page.contains(part), "{part:?} not in {page}");
    }
    kubereel!("explain {reel} gadgets.metadata.nmae")
        .code(2)
        .says("does not occur in")
        .says("did you mean name?");
}

#[test]
fn resources_are_listed_as_by_kubectl() {
    let table = kubereel!("api-resources {DEMO}").ok();
    assert!(
        table.starts_with("NAME ")
            && table.lines().any(|line| {
                line.split_whitespace()
                    .eq(["pods", "po", "v1", "true", "Pod"])
            }),
        "{table}"
    );
    let wide = kubereel!("api-resources {DEMO} -o wide --api-group=apps").ok();
    assert!(
        wide.lines()
            .next()
            .is_some_and(|line| line.contains("VERBS")),
        "{wide}"
    );
    assert!(
        wide.lines().skip(1).all(|line| line.contains("apps/v1")),
        "{wide}"
    );
    let names = kubereel!("api-resources {DEMO} -o name --namespaced=false").ok();
    assert!(
        names.lines().any(|name| name == "nodes") && !names.contains("pods\n"),
        "{names}"
    );
    let versions = kubereel!("api-versions {DEMO}").ok();
    assert!(
        versions.lines().any(|version| version == "apps/v1"),
        "{versions}"
    );
    let json = kubereel!("api-versions {DEMO} -o json").ok();
    assert_eq!(json.lines().count(), versions.lines().count());
    let apps = r#"{"api_version":"apps/v1","group":"apps","version":"v1"}"#;
    assert!(json.lines().any(|line| line == apps), "{json}");
    let first = kubereel!("api-resources {DEMO} -o json").ok();
    let first: Value = serde_json::from_str(first.lines().next().expect("a line")).expect("JSON");
    assert!(first["kind"].is_string() && first["verbs"].is_array());
}

#[test]
fn revisions_and_the_state_of_a_rollout() {
    let ran = kubereel!("rollout history {DEMO} deploy/web -n shop").code(0);
    assert!(
        ran.out
            .starts_with("deployment.apps/web \nREVISION   CHANGE-CAUSE"),
        "{ran:?}"
    );
    let one = kubereel!("rollout history {DEMO} deploy/web -n shop --revision=1").ok();
    assert!(
        one.starts_with("deployment.apps/web with revision #1\nPod Template:\n"),
        "{one}"
    );
    kubereel!("rollout history {DEMO} deploy/web -n shop --revision=77")
        .code(1)
        .says("revision 77");
    let json = kubereel!("rollout history {DEMO} deploy/web -n shop -o json").ok();
    let first: Value = serde_json::from_str(json.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first["revision"], 1);
    let of = [&first["resource"], &first["namespace"], &first["workload"]];
    assert_eq!(of, ["deployments.apps", "shop", "web"]);
    assert_eq!(first["template"], Value::Null);
    let one = kubereel!("rollout history {DEMO} deploy/web -n shop --revision=1 -o json").json();
    let containers = one.pointer("/template/spec/containers");
    assert!(containers.is_some_and(Value::is_array), "{one}");
    assert_eq!(
        kubereel!("rollout status {DEMO} deploy/web -n shop").ok(),
        "deployment \"web\" successfully rolled out\n"
    );
    let late = kubereel!("rollout status {DEMO} deploy/payments -n shop").code(1);
    late.prints("payments");
    let json = kubereel!("rollout status {DEMO} deploy/payments -n shop -o json").code(1);
    let json: Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(json["workload"], "payments");
    assert_eq!(json["message"].as_str(), Some(late.out.trim_end()));
    assert_ne!(json["status"], "complete");
    kubereel!("rollout status {DEMO} node/master-1")
        .code(2)
        .says("no rollouts");
}

#[test]
fn rollouts_of_several_workloads_and_of_a_revision() {
    let all = kubereel!("rollout status {DEMO} deploy -n shop").code(1);
    assert_eq!(all.out.lines().count(), 2, "{}", all.out);
    let chosen = |selector: &str| kubereel!("rollout status {DEMO} deploy -n shop -l {selector}");
    assert_eq!(chosen("!none").code(1).out, all.out);
    chosen("none=x").code(0).says("No resources found.");
    let histories = kubereel!("rollout history {DEMO} deploy -n shop").ok();
    assert_eq!(histories.matches("REVISION").count(), 2, "{histories}");
    let at_revision =
        |revision: u8| kubereel!("rollout status {DEMO} deploy/web -n shop --revision={revision}");
    at_revision(1).code(0);
    at_revision(3).code(1).says("at revision 1, not 3");
    kubereel!("rollout history {DEMO} deploy/none -n shop").code(1);
}

#[test]
fn what_a_recording_cannot_do_is_said_with_what_it_can() {
    kubereel!("logs run.reel pod/web-0")
        .code(4)
        .says("a recording does not contain logs of containers")
        .says("kubereel describe run.reel pod/NAME");
    kubereel!("delete pod web-0")
        .code(1)
        .says("a recording cannot be changed");
    kubereel!("rollout restart deploy/web")
        .code(1)
        .says("rollout history");
    kubereel!("lgos run.reel").code(2);
}

#[test]
fn a_mark_names_its_moment() {
    let reel = Reel::write(|path| {
        let mut script = Script::begin(path);
        let stream = script.watched("pods", "Pod", &["po"]);
        let a = thing("default", "a", "uid-a");
        script.initial(stream, a, 9, &pod(a, 9, "x"));
        script.synced(stream, 10);
        for (rv, text) in [(11, "tests started"), (12, "tests ended")] {
            script.wait(1000);
            script.note(Note::Mark {
                text: text.to_owned(),
            });
            script.wait(1000);
            script.modified(stream, a, rv, &pod(a, rv, "y"));
        }
        script.finish();
    });
    let version = |at: &str| {
        let rv = "jsonpath={.metadata.resourceVersion}";
        kubereel!("get {reel} pod/a --at '{at}' -o {rv}").ok()
    };
    assert_eq!(version("mark:tests started"), "9");
    assert_eq!(version("mark:ENDED"), "11");
    let ask = |at: &str| kubereel!("get {reel} pods --at '{at}'").code(2);
    ask("mark:tests")
        .says("2 marks have \"tests\"")
        .says("--at 2026-11-21T14:00:01.000Z or");
    ask("mark:tests startd").says("did you mean mark:tests started?");
}

#[test]
fn times_without_an_offset_are_read_in_a_zone() {
    let reel = super::run::pods_with_gap();
    let rv = |at: &str| {
        let rv = "jsonpath={.metadata.resourceVersion}";
        kubereel!("get {reel} pod/a {at} -o {rv}").ok()
    };
    assert_eq!(rv("--at '2026-11-21 16:00:05' --tz Etc/GMT-2"), "14");
    assert_eq!(rv("--tz=Etc/GMT-2 --at 16:00:05"), "14");
    assert_eq!(rv("--tz=Etc/GMT-2 --at 14:00:05Z"), "14");
    assert_eq!(rv("--at '2026-11-21 14:00:05'"), "14");
    kubereel!("get {reel} pods --tz Mars/Base")
        .code(2)
        .says("Europe/Berlin");
}

#[test]
fn writers_are_counted() {
    let told = kubereel!("top-writers {DEMO} -o json --limit 3").json();
    for list in ["resources", "managers", "objects"] {
        let counts: Vec<u64> = told[list]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|one| one["writes"].as_u64())
            .collect();
        assert_eq!(counts.len(), 3, "{list}");
        assert!(
            counts.is_sorted_by(|a, b| a >= b) && counts[0] > 0,
            "{list}: {counts:?}"
        );
    }
    let page = kubereel!("top-writers {DEMO} pods -n shop").ok();
    for title in ["RESOURCE", "MANAGER", "OBJECT"] {
        assert_has(&page, title);
    }
    let resources = kubereel!("top-writers {DEMO} pods -o json").json();
    assert_eq!(resources["resources"].as_array().expect("a list").len(), 1);
    assert_eq!(resources["resources"][0]["writes"], resources["writes"]);
    kubereel!("top-writers {DEMO} -n shpo")
        .code(1)
        .says("did you mean shop?");
}

#[test]
fn the_version_is_told_with_its_sources() {
    let told = kubereel!("version -o json").json();
    assert_eq!(told["version"], env!("CARGO_PKG_VERSION"));
    assert!(
        told["target"]
            .as_str()
            .is_some_and(|target| target.contains('-'))
    );
    assert!(
        told["format"]
            .as_str()
            .is_some_and(|format| format.contains('.'))
    );
    let yaml = kubereel!("version -o yaml -n shop").ok();
    let version = format!("version: {}\n", env!("CARGO_PKG_VERSION"));
    assert_has(&yaml, &version);
    let long = kubereel!("--version").ok();
    assert!(long.contains("commit") && long.contains("target"), "{long}");
    assert_eq!(long, kubereel!("version").ok(), "the formats, too");
}

#[test]
fn topics_and_schemas_are_printed() {
    assert!(kubereel!("help time").ok().contains("problem:1"));
    assert!(kubereel!("help exit-codes").ok().contains("130"));
    assert!(kubereel!("help filter").ok().contains("ns:shop"));
    assert!(kubereel!("help rules").ok().contains("CEL"));
    assert!(kubereel!("help get").ok().contains("Usage: kubereel get"));
    let schema = kubereel!("schema problems").json();
    assert_eq!(schema["title"], "kubereel problems -o json");
    assert!(
        kubereel!("schema")
            .ok()
            .lines()
            .any(|name| name == "test --list")
    );
    kubereel!("schema get").code(2).says("kubereel explain");
    kubereel!("schema problms")
        .code(2)
        .says("did you mean problems?");
}

/// Asks for completions as the script of bash does.
fn completed(words: &[&str]) -> Vec<String> {
    completed_with(words, &mut super::run::program())
}

fn completed_with(words: &[&str], program: &mut std::process::Command) -> Vec<String> {
    let index = words.len().to_string();
    let ran = program
        .env("KUBEREEL_COMPLETE", "bash")
        .env("_CLAP_COMPLETE_INDEX", index)
        .env("_CLAP_COMPLETE_COMP_TYPE", "9")
        .env("_CLAP_COMPLETE_SPACE", "true")
        .env("_CLAP_IFS", "\n")
        .args(["--", "kubereel"])
        .args(words)
        .output()
        .expect("the program runs");
    let out = String::from_utf8(ran.stdout).expect("text");
    out.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// Asks bash for the completions of a command line, whose words are those that bash makes of it.
fn completed_by_bash(words: &[&str]) -> Option<Vec<String>> {
    let folder = Path::new(env!("CARGO_BIN_EXE_kubereel")).parent()?;
    let line = words.concat();
    let quoted: Vec<String> = words
        .iter()
        .filter(|word| **word != " ")
        .map(|word| format!("'{word}'"))
        .collect();
    let script = format!(
        "PATH={}:$PATH; source <(kubereel completion bash); COMP_WORDBREAKS=$' \\t\\n:='; COMP_LINE='{line}'; \
         COMP_POINT=${{#COMP_LINE}}; COMP_WORDS=({}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_TYPE=9; \
         _kubereel_words_with_colons kubereel; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        folder.display(),
        quoted.join(" ")
    );
    // Without bash nobody completes with it.
    let ran = std::process::Command::new("bash")
        .args(["-c", &script])
        .output()
        .ok()?;
    let out = String::from_utf8(ran.stdout).expect("text");
    Some(out.lines().map(|line| line.trim_end().to_owned()).collect())
}

#[test]
fn bash_completes_behind_a_colon() {
    let begin = [
        "kubereel", " ", "get", " ", DEMO, " ", "pods", " ", "--at", " ",
    ];
    let complete = |more: &[&str]| completed_by_bash(&[&begin[..], more].concat());
    let Some(found) = complete(&["problem", ":"]) else {
        println!("skipped: no bash");
        return;
    };
    assert!(found.iter().any(|one| one == "1"), "{found:?}");
    let found = complete(&["upgrade", ":", "st"]).expect("bash");
    assert_eq!(found, ["start"]);
    let found = complete(&["star"]).expect("bash");
    assert_eq!(found, ["start"]);
    let marked = Reel::bookmarked();
    let begin = [
        "kubereel",
        " ",
        "get",
        " ",
        marked.path(),
        " ",
        "pods",
        " ",
        "--at",
        " ",
    ];
    let found = completed_by_bash(&[&begin[..], &["bookmark", ":", "be"]].concat());
    assert_eq!(found.expect("bash"), [r"before\ the\ crash"]);
}

#[test]
fn words_are_completed_from_the_reel() {
    let has = |words: &[&str], wanted: &str| {
        let found = completed(words);
        assert!(
            found.iter().any(|one| one == wanted),
            "{words:?}: {wanted:?} not in {found:?}"
        );
        found
    };
    has(&["ge"], "get");
    let schemas = has(&["schema", "p"], "problems");
    assert!(
        schemas.iter().all(|one| one.starts_with('p')),
        "{schemas:?}"
    );
    has(&["man", "comp"], "completion");
    has(&["events", DEMO, "--types", ""], "Warning");
    has(&["get", DEMO, "deploym"], "deployments");
    has(&["get", DEMO, "pods,no"], "pods,nodes");
    has(&["get", DEMO, "node/master"], "node/master-1");
    has(&["get", DEMO, "nodes", "master"], "master-1");
    has(&["get", DEMO, "pods", "-n", "sh"], "shop");
    has(&["describe", DEMO, "-n", "shop", "deploy/w"], "deploy/web");
    has(
        &["explain", DEMO, "pods.spec.contai"],
        "pods.spec.containers",
    );
    has(
        &["history", DEMO, "node/master-1", "--field", ".sta"],
        ".status",
    );
    has(&["get", DEMO, "pods", "--at", "problem:"], "problem:1");
    has(&["get", DEMO, "pods", "-o", "custom"], "custom-columns=");
    has(
        &["get", DEMO, "pods", "--sort-by", ".metadata.na"],
        ".metadata.name",
    );
    has(
        &["get", DEMO, "--sort-by", ".metadata.name", "deploym"],
        "deployments",
    );
    has(
        &["--tz", "local", "get", DEMO, "-Lapp", "nodes", "master"],
        "master-1",
    );
    let folder = tempfile::tempdir().expect("a folder");
    let kubeconfig = folder.path().join("config");
    let contexts =
        "contexts: [{name: east, context: {cluster: c}}, {name: west, context: {cluster: c}}]";
    std::fs::write(
        &kubeconfig,
        format!("apiVersion: v1\nkind: Config\n{contexts}\n"),
    )
    .expect("room");
    let kubeconfig = kubeconfig.to_str().expect("a path in UTF-8");
    let flag = ["record", "--kubeconfig", kubeconfig, "--context"];
    has(&[&flag[..], &["e"]].concat(), "east");
    has(&[&flag[..], &[""]].concat(), "west");
    let marked = Reel::bookmarked();
    let found = has(
        &["get", marked.path(), "pods", "--at", "bookmark:"],
        "bookmark:before the crash",
    );
    assert!(
        !found.iter().any(|one| one == "bookmark:"),
        "one without a note has no name: {found:?}"
    );
    let found = has(&["test", DEMO, "--only", "operator-"], "operator-available");
    assert!(
        found.iter().all(|id| id.starts_with("operator-")),
        "{found:?}"
    );
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            kubereel!("completion {shell}")
                .ok()
                .contains("KUBEREEL_COMPLETE"),
            "{shell}"
        );
    }
}

#[test]
fn words_are_completed_from_the_reel_that_is_not_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let complete = |words: &[&str], reel: Option<&str>| {
        let mut program = super::run::program();
        program.current_dir(folder.path()).env_remove("KUBEREEL");
        if let Some(reel) = reel {
            program.env("KUBEREEL", reel);
        }
        completed_with(words, &mut program)
    };
    let demo = std::fs::canonicalize(DEMO).expect("a path");
    let demo = demo.to_str().expect("text");
    assert_eq!(complete(&["get", "deploym"], None), [""; 0]);
    for words in [&["get", "deploym"][..], &["get", "-n", "shop", "deploym"]] {
        assert_eq!(complete(words, Some(demo)), ["deployments"], "{words:?}");
    }
    assert_eq!(
        complete(&["rollout", "history", "deploy/we", "-n", "sh"], Some(demo)),
        ["shop"]
    );
    assert_eq!(complete(&["ge"], Some(demo)), ["get"]);
    std::fs::copy(demo, folder.path().join("run.reel")).expect("copied");
    assert_eq!(complete(&["get", "nodes", "master-1"], None), ["master-1"]);
    assert_eq!(complete(&["get", "ru"], None), ["run.reel"]);
    assert_eq!(complete(&["get", "run.reel", "nod"], None), ["nodes"]);
}

#[test]
fn writers_are_those_of_the_histories() {
    let nodes = kubereel!("get {DEMO} nodes -o name").ok();
    let (mut writes, mut managers) = (0, BTreeMap::new());
    for node in nodes.lines() {
        let history = kubereel!("history {DEMO} {node} -o json").json();
        for version in history["items"].as_array().expect("versions") {
            if version["item"] != "version" || version["evidence"] == "initial" {
                continue;
            }
            writes += 1;
            let all = version["writers"].as_array().map_or(&[][..], Vec::as_slice);
            let mut names: Vec<&str> = all
                .iter()
                .filter_map(|one| one["manager"].as_str())
                .collect();
            names.dedup();
            // Of some it is not known.
            let names = if names.is_empty() { vec![""] } else { names };
            for name in names {
                *managers.entry(name.to_owned()).or_insert(0_u64) += 1;
            }
        }
    }
    let told = kubereel!("top-writers {DEMO} nodes -o json --limit 100").json();
    assert_eq!(told["writes"], writes);
    let counted = told["managers"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| {
            let name = one["manager"].as_str().expect("a name").to_owned();
            (name, one["writes"].as_u64().expect("a number"))
        });
    assert_eq!(counted.collect::<BTreeMap<_, _>>(), managers);
}

#[test]
fn hints_name_the_reel_and_the_object() {
    for (words, hint) in [
        (
            &["get", DEMO, "pods", "--raw", "/x"][..],
            format!("hint: to read an object: kubereel get {DEMO} RESOURCE/NAME -o json\n"),
        ),
        (
            &["wait", DEMO, "co/etcd", "--for=create", "-o", "yaml"],
            format!("hint: to print the object: kubereel get {DEMO} co/etcd -o yaml\n"),
        ),
        (
            &["events", DEMO, "-o", "jsonpath={.x}"],
            format!("hint: to print the object: kubereel get {DEMO} events -o 'jsonpath={{.x}}'\n"),
        ),
        (
            &["history", DEMO, "co"],
            format!(
                "hint: to list them: kubereel get {DEMO} clusteroperators.config.openshift.io -o name\n"
            ),
        ),
        (
            &["blame", DEMO, "etcd"],
            "error: no resource \"etcd\" in this reel".to_owned(),
        ),
        (
            &["events", DEMO, "--for", "payments"],
            "error: no resource \"payments\" in this reel".to_owned(),
        ),
        (&["help", "times"], "'time'".to_owned()),
    ] {
        kubereel(words).code(2).says(&hint);
    }
    kubereel!("get {DEMO} co --sort-by foo")
        .code(2)
        .says(&format!(
            "kubereel get {DEMO} clusteroperators.config.openshift.io -o yaml"
        ));
}

#[test]
fn a_mark_in_a_new_file_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("typo.marks");
    let file = file.to_str().expect("text");
    let mark = ["mark", "--file", file, "tests started"];
    kubereel(&mark).code(0).says("typo.marks was created");
    let ran = kubereel(&mark).code(0);
    assert_eq!(ran.err, "");
}

#[test]
fn a_mark_is_not_written_into_a_reel() {
    let folder = tempfile::tempdir().expect("a folder");
    let reel = folder.path().join("run.reel");
    std::fs::copy(DEMO, &reel).expect("copied");
    let reel = reel.to_str().expect("text");
    kubereel!("mark --file {reel} 'tests started'")
        .code(2)
        .says("run.reel.marks");
    let before = std::fs::read(DEMO).expect("read");
    assert_eq!(std::fs::read(reel).expect("read"), before);
}
