//! Tests of `kubereel import`: accepted and refused input, and the output.

use super::run::{DEMO, Ran, Reel, assert_has, kubereel, pods_with_gap, program};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use tempfile::TempDir;

/// A folder with an input in it.
struct Input {
    folder: TempDir,
}

impl Input {
    fn new(bytes: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("in"), bytes).expect("written");
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("text").to_owned()
    }

    #[must_use]
    fn import(&self, flags: &[&str]) -> Ran {
        let (file, reel) = (self.text("in"), self.text("out.reel"));
        let mut args = vec!["import", &file, "-o", &reel];
        args.extend(flags);
        kubereel(&args)
    }

    fn export(&self) -> String {
        kubereel(&["export", &self.text("out.reel")]).ok()
    }

    /// Checks that nothing but the input is in the folder.
    #[track_caller]
    fn left_nothing(&self) {
        let names: Vec<_> = std::fs::read_dir(self.folder.path())
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        assert_eq!(names, ["in"]);
    }
}

fn line(ts: &str, kind: &str, object: &str) -> String {
    format!("{{\"ts\":{ts},\"type\":\"{kind}\",\"object\":{object}}}\n")
}

const POD: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"default","name":"a","uid":"u","resourceVersion":"7"}}"#;

#[test]
fn times_that_step_back_are_told_and_have_several_places() {
    let node = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","uid":"v","resourceVersion":"9"}}"#;
    let lines = |kind: &str, object: &str, times: [u32; 2]| {
        let times = times.map(|minute| format!("\"2026-11-23T10:{minute:02}:00Z\""));
        times.map(|at| line(&at, kind, object)).concat()
    };
    let pods = lines("MODIFIED", POD, [1, 8]);
    let nodes = lines("MODIFIED", node, [0, 9]);
    let input = Input::new([pods.as_str(), &nodes].concat());
    let said = input.import(&[]);
    assert!(
        said.err
            .contains("the times step back by more than 10 s 1 time"),
        "{said:#?}"
    );
    let reel = input.text("out.reel");
    let _refused = kubereel!("get {reel} pod/a --at 10:06")
        .code(2)
        .says("clock was set back");
    // The first part is the later one: its last time is not that of the last state.
    let later_first = Input::new(lines("MODIFIED", POD, [30, 40]) + &nodes);
    let _imported = later_first.import(&[]);
    let reel = later_first.text("out.reel");
    let last = kubereel!("get {reel} nodes");
    assert!(last.err.contains("at 10:09:00"), "{last:#?}");
    let once = kubereel!("get {reel} pod/a --at 10:35").code(0);
    assert!(once.err.contains("at 10:35:00"), "{once:#?}");
    let page = kubereel!("info {reel}").ok();
    let span = page.lines().find(|line| line.starts_with("recorded"));
    let span = span.expect("a line");
    assert!(
        span.contains("T10:00:00") && span.contains("10:40:00"),
        "{span}"
    );
    let in_order = Input::new([nodes.as_str(), &lines("DELETED", POD, [9, 9])].concat());
    let said = in_order.import(&[]);
    assert!(!said.err.contains("step back"), "{said:#?}");
}

#[test]
fn a_deletion_ends_an_object_without_a_uid() {
    let pod = |image: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"namespace":"a","name":"web"}},"spec":{{"image":"{image}"}}}}"#
        )
    };
    let lines = [
        line("\"2026-11-23T10:00:00Z\"", "ADDED", &pod("v1")),
        line("\"2026-11-23T10:01:00Z\"", "DELETED", &pod("v1")),
        line("\"2026-11-23T11:00:00Z\"", "ADDED", &pod("v2")),
    ];
    let input = Input::new(lines.concat());
    let _imported = input.import(&[]).ok();
    let reel = input.text("out.reel");
    let history = kubereel!("history {reel} pod/web -n a").ok();
    assert_has(&history, "── another object with this name ──");
    let compared = ["diff", &reel, "--from", "10:30", "--to", "11:00"];
    let compared = kubereel(&compared).out;
    assert_has(&compared, "created, first seen at 11:00");
    let between = kubereel!("get {reel} pod/web -n a --at 10:30");
    assert!(between.err.contains("to 10:01"), "{between:#?}");
}

#[test]
fn the_first_event_of_an_import_is_found_in_either_group() {
    let event = r#"{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"namespace":"default","name":"a.1","uid":"e","resourceVersion":"9"},"regarding":{"kind":"Pod","namespace":"default","name":"a","uid":"u"},"reason":"BackOff","note":"back-off","type":"Warning"}"#;
    let pod = line("\"2026-11-23T10:00:01Z\"", "ADDED", POD);
    let lines = pod + &line("\"2026-11-23T10:00:12Z\"", "ADDED", event);
    let input = Input::new(lines);
    let _said = input.import(&[]).ok();
    let reel = input.text("out.reel");
    let waited = kubereel!("wait {reel} pod/a --for=event=BackOff").ok();
    assert_has(&waited, "10:00:12");
    let problems = kubereel!("problems {reel}");
    assert!(
        problems.err.contains("not in the reel: Nodes"),
        "{problems:#?}"
    );
    assert!(!problems.err.contains("Events"), "{problems:#?}");
}

#[test]
fn an_export_of_an_import_of_an_export_is_the_same() {
    let reel = pods_with_gap();
    // It has a gap, and reports it.
    let lines = kubereel!("export {reel}").code(4).out;
    let input = Input::new(&lines);
    input
        .import(&[])
        .code(0)
        .says("6 events of 1 resource · 2026-11-21T14:00:");
    assert_eq!(input.export(), lines);
}

#[test]
fn an_object_that_no_command_could_read_is_left_out_and_named() {
    let pod = |name: &str, more: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","namespace":"n"}},"x":{more}}}"#
        )
    };
    let deep = [&*"[".repeat(200), &*"]".repeat(200)].concat();
    let items = [pod("a", "1"), pod("b", &deep), pod("c", "2")].join(",");
    let input = Input::new(format!(
        r#"{{"apiVersion":"v1","kind":"List","items":[{items}]}}"#
    ));
    let ran = input.import(&[]);
    assert!(ran.err.contains("recursion limit exceeded"), "{ran:#?}");
    let reel = input.text("out.reel");
    let names = kubereel!("get {reel} pods -A -o json").out;
    assert!(
        names.contains("\"a\"") && names.contains("\"c\""),
        "{names}"
    );
    let input =
        Input::new(pod("a", "1").replace("\"metadata\":{", "\"metadata\":\"hunter2\",\"y\":{"));
    let ran = input.import(&["--redact"]);
    assert!(ran.err.contains("invalid type: string"), "{ran:#?}");
    assert!(!ran.err.contains("hunter2"), "{ran:#?}");
}

#[test]
fn the_demo_is_the_same_cluster_after_the_journey() {
    let demo = DEMO;
    let lines = kubereel!("export {demo}").ok();
    let input = Input::new(&lines);
    let said = input.import(&[]).code(0).err;
    // Its Secrets were redacted when they were recorded.
    assert!(!said.contains("Secret"), "{said}");
    assert!(input.export() == lines, "the export differs");
    let reel = input.text("out.reel");
    let middle = lines.lines().nth(lines.lines().count() / 2);
    let middle = middle.and_then(|line| line.get(7..34)).expect("a ts");
    assert!(middle.ends_with('Z'), "{middle}");
    for question in [
        &["get", "co"][..],
        &["get", "po", "-A", "--at", middle, "-o", "json"],
        &["get", "deploy", "-A", "--at", "end", "-o", "wide"],
        &["get", "no", "-o", "yaml"],
    ] {
        let ask = |reel: &str| {
            let (command, rest) = question.split_first().expect("a command");
            let mut args = vec![*command, reel];
            args.extend(rest);
            kubereel(&args).out
        };
        let (before, after) = (ask(demo), ask(&reel));
        assert!(before.lines().count() > 3, "{question:?}: {before}");
        assert!(before == after, "{question:?} differs");
    }
}

#[test]
fn what_a_line_leaves_out_comes_from_its_object() {
    let odd = r#"{ "apiVersion":"apps/v1", "kind" : "Deployment","metadata":{"name":"d","namespace":"default"},"x":1e3 }"#;
    let input = Input::new(line("1678262400.25", "MODIFIED", odd));
    input.import(&[]).ok();
    let expected = format!(
        r#"{{"ts":"2023-03-08T08:00:00.250000Z","type":"MODIFIED","group":"apps","version":"v1","resource":"deployments","object":{odd}}}"#
    );
    assert_eq!(input.export(), format!("{expected}\n"));
    kubereel(&["get", &input.text("out.reel"), "deploy", "-o", "name"])
        .code(0)
        .says("as imported: completeness is unknown");
}

#[test]
fn broken_lines_are_named_and_the_rest_is_imported() {
    let mut bytes = line("1", "ADDED", POD).into_bytes();
    bytes.extend_from_slice(b"nonsense\n\n");
    bytes.extend_from_slice(b"{\"ts\":1,\"type\":\"ADDED\",\"object\":{\"a\":\"\xff\"}}\n");
    bytes.extend_from_slice(line("1", "CHANGED", POD).as_bytes());
    bytes.extend_from_slice(b"{\"ts\":1,\"type\":\"ADDED\"}\n");
    bytes.extend_from_slice(b"{\"ts\":1,\"object\":{}}\n");
    bytes.extend_from_slice(line("\"noon\"", "ADDED", POD).as_bytes());
    bytes.extend_from_slice(line("1", "ADDED", r#"{"metadata":{"name":"x"}}"#).as_bytes());
    bytes.extend_from_slice(line("1", "BOOKMARK", "{}").as_bytes());
    bytes.extend_from_slice(line("1", "ERROR", "{}").as_bytes());
    bytes.extend_from_slice(line("2", "DELETED", POD).trim_end().as_bytes());
    let input = Input::new(bytes);
    let ran = input.import(&[]).code(1);
    for words in [
        ":2: not JSON: ",
        ":4: not JSON: invalid unicode code point",
        ":5: unknown type \"CHANGED\"",
        ":6: object is missing",
        ":7: type is missing",
        ":8: ts is neither seconds nor RFC 3339: \"\\\"noon\\\"\"",
        ":9: apiVersion and kind are missing, and the line names no resource",
        "1 BOOKMARK line left out",
        "1 ERROR line left out: changes may be missing there",
        "2 events of 1 resource",
        "error: 7 lines could not be imported; the rest is in the reel",
    ] {
        assert!(ran.err.contains(words), "{words:?} not in {}", ran.err);
    }
    assert_eq!(input.export().lines().count(), 2);
    let info = kubereel(&["info", &input.text("out.reel")]).ok();
    assert_has(&info, "complete       not known: ");
    let wide = kubereel(&["info", &input.text("out.reel"), "-o", "wide"]).ok();
    assert!(wide.trim_end().ends_with("not known"), "{wide}");
    assert_has(&info, "broken lines 7 (2, 4, 5, 6, 7, 8, 9)");
}

#[test]
fn a_pipe_is_read_as_a_file_is() {
    let input = Input::new("");
    let mut child = program()
        .args(["import", "-", "-o", &input.text("out.reel")])
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin
        .write_all(line("1", "ADDED", POD).as_bytes())
        .expect("taken");
    drop(stdin);
    assert!(child.wait().expect("an end").success());
    assert_eq!(input.export().lines().count(), 1);
}

#[test]
fn what_is_no_recording_leaves_no_file() {
    for (bytes, words) in [
        (&b""[..], "the input is empty"),
        (b"BZh91AY", "| kubereel import - -o "),
        (
            b"\x28\xb5\x2f\xfd\x00",
            "cannot read the input: the zstd data is damaged after 0 decompressed bytes",
        ),
        (
            b"SQLite format 3\0",
            "this is an SQLite database, such as the state of k3s: not supported",
        ),
        (b"<!doctype html>", "hint: download the file itself"),
        (b"\x00\x01", "neither JSON nor YAML"),
        (
            b"hello",
            "neither JSON lines of events nor a list of objects",
        ),
        (b"{\"foo\":1}\n", ":1: type is missing"),
        (
            b"{\"type\":\"ADDED\",\"object\":{}}\n",
            "give the time of lines without ts with --at TIME",
        ),
    ] {
        let input = Input::new(bytes);
        let code = if words.contains("--at TIME") { 2 } else { 3 };
        input.import(&[]).code(code).says(words);
        input.left_nothing();
    }
    let reel = pods_with_gap();
    let input = Input::new(std::fs::read(reel.path()).expect("a reel"));
    input
        .import(&[])
        .code(2)
        .says("the input is already a reel");
    input.left_nothing();
}

#[test]
fn who_opens_a_recording_as_a_reel_is_told_of_import() {
    let input = Input::new(line("1", "ADDED", POD));
    let file = input.text("in");
    kubereel!("info {file}")
        .code(3)
        .says(&format!("kubereel import {file} -o NEW.reel"));
}

#[test]
fn what_the_recording_does_not_tell_is_unknown() {
    let input = Input::new(line("1", "ADDED", POD));
    input.import(&[]).ok();
    let reel = input.text("out.reel");
    kubereel!("get {reel} po/other").code(4).says("not found");
    kubereel!("get {reel} nodes").code(2).says("no resource");
    kubereel!("get {reel} po").code(0).says("as imported");
}

#[test]
fn every_question_can_be_asked_of_an_imported_reel() {
    let later = POD.replace(
        r#""resourceVersion":"7"}"#,
        r#""resourceVersion":"9"},"spec":{"x":1}"#,
    );
    let input = Input::new(line("1", "ADDED", POD) + &line("5", "MODIFIED", &later));
    input.import(&[]).ok();
    let reel = input.text("out.reel");
    for args in [
        &["get", &reel, "po/a", "--at", "rv:7"][..],
        &["history", &reel, "po/a"],
        &["describe", &reel, "po/a"],
        &["blame", &reel, "po/a"],
        &["diff", &reel, "--from", "start", "--to", "end", "po/a"],
        &["diff", &reel, "--from", "start", "--to", "end"],
    ] {
        let ran = kubereel(args).code(0);
        assert!(!ran.out.is_empty(), "{ran:#?}");
    }
}

#[test]
fn no_recorder_goes_on_with_an_imported_reel() {
    let input = Input::new(line("1", "ADDED", POD));
    input.import(&[]).ok();
    let reel = input.text("out.reel");
    let before = std::fs::read(&reel).expect("a reel");
    kubereel!("record -o {reel}")
        .code(3)
        .says("it was imported, and does not tell what it leaves out")
        .says("record into another file");
    assert!(
        std::fs::read(&reel).expect("a reel") == before,
        "it changed"
    );
}

#[test]
fn versions_side_by_side_are_named() {
    let other = POD.replace("v1", "v2");
    let input = Input::new(line("1", "ADDED", POD) + &line("2", "ADDED", &other));
    input
        .import(&[])
        .code(0)
        .says("recorded in several versions, get shows one at a time: pods");
}

#[test]
fn a_reel_that_is_there_stays() {
    let input = Input::new(line("1", "ADDED", POD));
    std::fs::write(input.path("out.reel"), "mine").expect("written");
    input.import(&[]).code(2).says("--force");
    assert_eq!(
        std::fs::read(input.path("out.reel")).expect("there"),
        b"mine"
    );
    input.import(&["--force"]).ok();
    assert_eq!(input.export().lines().count(), 1);
}

#[test]
fn secrets_are_counted_and_left_out_if_asked() {
    let secret = r#"{"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"default","name":"s","annotations":{"kubectl.kubernetes.io/last-applied-configuration":"Q0FOQVJZ"}},"data":{"k":"Q0FOQVJZ"},"stringData":{"l":"CANARY"}}"#;
    let lines =
        line("1", "ADDED", secret) + &line("2", "MODIFIED", secret) + &line("3", "ADDED", POD);
    let input = Input::new(&lines);
    input
        .import(&[])
        .code(0)
        .says("1 Secret with data: their values are in the reel; --redact removes them");
    let info = kubereel(&["info", &input.text("out.reel")]).ok();
    assert_has(&info, "Secrets with data 1: their values are in the reel");
    assert!(input.export().contains("CANARY"));
    input
        .import(&["--force", "--redact"])
        .code(0)
        .says("1 Secret with data: their values are not in the reel");
    let out = input.export();
    assert!(
        !out.contains("CANARY") && !out.contains("Q0FOQVJZ"),
        "{out}"
    );
    assert_eq!(out.lines().count(), 3);
    let info = kubereel(&["info", &input.text("out.reel")]).ok();
    assert_has(&info, "by policy 4");
    // What was redacted once is not counted as a value again.
    let again = Input::new(out);
    let said = again.import(&[]).code(0).err;
    assert!(!said.contains("Secret"), "{said}");
}

#[test]
fn a_line_longer_than_any_object_is_named() {
    let mut bytes = line("1", "ADDED", POD).into_bytes();
    bytes.extend_from_slice(b"{\"ts\":1,\"type\":\"ADDED\",\"object\":{\"a\":\"");
    bytes.resize(bytes.len() + 33 * 1024 * 1024, b'x');
    bytes.extend_from_slice(b"\"}}\n");
    bytes.extend_from_slice(line("2", "MODIFIED", POD).as_bytes());
    let input = Input::new(bytes);
    input.import(&[]).code(1).says(":2: longer than ");
    assert_eq!(input.export().lines().count(), 2);
}

#[test]
fn a_definition_in_the_input_names_its_resource() {
    let ox = r#"{"apiVersion":"g.io/v1","kind":"Ox","metadata":{"name":"o"}}"#;
    let lines = line("1", "ADDED", ox);
    let input = Input::new(&lines);
    input
        .import(&[])
        .code(0)
        .says("resource names guessed from kinds: oxs.g.io");
    let definition = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"oxen.g.io"},"spec":{"group":"g.io","scope":"Cluster","names":{"plural":"oxen","singular":"ox","kind":"Ox","shortNames":["bull"]}}}"#;
    let input = Input::new(lines + &line("2", "ADDED", definition));
    let said = input.import(&[]).code(0).err;
    assert!(!said.contains("names guessed"), "{said}");
    let ran = kubereel(&["get", &input.text("out.reel"), "bull", "-o", "name"]);
    assert_eq!(ran.ok(), "ox.g.io/o\n");
}

#[test]
fn a_list_is_one_moment() {
    let yaml = "\
apiVersion: v1
kind: List
items:
- apiVersion: config.openshift.io/v1
  kind: Infrastructure
  metadata: {name: etcd, creationTimestamp: \"2026-11-21T13:00:00Z\"}
";
    let input = Input::new(yaml);
    input
        .import(&["--at", "2026-11-21T14:00:00Z"])
        .code(0)
        .says("the objects were converted from YAML to JSON")
        .says("1 event of 1 resource · 2026-11-21T14:00:00.000Z – ");
    let reel = input.text("out.reel");
    let ran = kubereel!("get {reel} infrastructures --no-headers").code(0);
    let cells: Vec<&str> = ran.out.split_whitespace().collect();
    assert_eq!((cells.first(), cells.last()), (Some(&"etcd"), Some(&"60m")));
    kubereel!("get {reel} infrastructures --at 2026-11-21T13:59:59Z")
        .code(4)
        .says("their first known state: --at 14:00:00.000Z");
    input
        .import(&["--force"])
        .code(0)
        .says("override it with --at");
    input
        .import(&["--force", "--at", "noon"])
        .code(2)
        .says("RFC 3339");
}

#[test]
fn an_object_over_several_lines_is_exported_on_one() {
    let pod = POD.replace(',', ",\r\n  ");
    let list = format!("{{\n\"kind\":\"List\",\n\"items\":[\n{pod}\n]\n}}\n");
    let input = Input::new(list);
    input.import(&["--at", "2026-11-21T14:00:00Z"]).ok();
    let ran = kubereel(&["export", &input.text("out.reel")])
        .code(0)
        .says("1 multi-line object written on one line each");
    assert_eq!(ran.out.lines().count(), 1);
    let again = Input::new(&ran.out);
    again.import(&[]).ok();
    assert_eq!(again.export(), ran.out);
    ran.prints(&POD.replace(',', ",    "));
}

#[test]
fn a_list_from_a_pipe_needs_a_time() {
    let input = Input::new("");
    let mut child = program()
        .args(["import", "-", "-o", &input.text("out.reel")])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(POD.as_bytes()).expect("taken");
    drop(stdin);
    let ended = child.wait_with_output().expect("an end");
    assert_eq!(ended.status.code(), Some(2));
    let said = String::from_utf8(ended.stderr).expect("text");
    assert_has(&said, "hint: give it with --at");
    input.left_nothing();
}

#[test]
fn two_lists_are_two_moments_and_a_third_is_appended() {
    let pods = |names: &[&str]| {
        let items: Vec<String> = names
            .iter()
            .map(|name| {
                format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{name}","namespace":"default","uid":"{name}"}}}}"#)
            })
            .collect();
        format!(
            r#"{{"apiVersion":"v1","kind":"List","items":[{}]}}"#,
            items.join(",")
        )
    };
    let input = Input::new(pods(&["a", "b"]));
    let (second, third) = (input.text("second.json"), input.text("third.json"));
    std::fs::write(&second, pods(&["b", "c"])).expect("written");
    std::fs::write(&third, pods(&[])).expect("written");
    let reel = input.text("out.reel");
    let at = |minute: u8| format!("--at=2026-11-23T10:0{minute}:00Z");
    kubereel(&[
        "import",
        &second,
        &input.text("in"),
        "-o",
        &reel,
        &at(2),
        &at(1),
    ])
    .code(0)
    .says("1 object deleted, as a later list no longer has it")
    .says("1 object unchanged in a later list");
    let names = |moment: &str| kubereel!("get {reel} po -o name --at {moment}").ok();
    assert_eq!(names("10:01"), "pod/a\npod/b\n");
    assert_eq!(names("10:02"), "pod/b\npod/c\n");
    let history = kubereel!("history {reel} po/a").ok();
    assert_has(&history, "deleted: missing from a list, time unknown");
    let json = kubereel!("history {reel} po/a -o json").ok();
    assert_has(&json, r#""evidence":"listed""#);
    kubereel(&["import", &third, "-o", &reel, "--append", &at(0)])
        .code(2)
        .says("before the end of the reel");
    kubereel(&["import", &third, "-o", &reel, "--append", &at(3)])
        .code(0)
        .says("the empty list is taken to be of the resource of the lists before it")
        .says("2 objects missing from a later list, which is partial or may not cover their namespaces");
    kubereel!("get {reel} po -o name --at end")
        .code(4)
        .says("not listed again");
    assert_eq!(names("10:02"), "pod/b\npod/c\n", "what was there stays");
    kubereel!("verify {reel}").code(1);
    kubereel(&[
        "import",
        &input.text("in"),
        &second,
        "-o",
        &input.text("new.reel"),
        &at(4),
    ])
    .code(2)
    .says("have the same time")
    .says("hint: give each list its time");
    kubereel(&["import", &third, "-o", &input.text("none.reel"), "--append"])
        .code(2)
        .says("no reel to append to");
    let encrypted = input.text("out.reel.age");
    std::fs::write(&encrypted, "age-encryption.org/v1\n").expect("written");
    kubereel(&["import", &third, "-o", &encrypted, "--append", &at(4)])
        .code(3)
        .says("the reel is encrypted");
}

#[test]
fn cluster_operators_of_a_list_print_their_columns_without_a_definition() {
    let operator = r#"{"apiVersion":"config.openshift.io/v1","kind":"ClusterOperator","metadata":{"name":"etcd"},"status":{"versions":[{"name":"operator","version":"4.20.1"}],"conditions":[{"type":"Available","status":"True","lastTransitionTime":"2026-11-23T09:00:00Z"}]}}"#;
    let input = Input::new(operator);
    input.import(&["--at=2026-11-23T10:00:00Z"]).ok();
    let table = kubereel(&["get", &input.text("out.reel"), "co"]).ok();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let expected = [
        vec![
            "NAME",
            "VERSION",
            "AVAILABLE",
            "PROGRESSING",
            "DEGRADED",
            "SINCE",
        ],
        vec!["etcd", "4.20.1", "True", "60m"],
    ];
    assert_eq!(rows, expected);
}

#[test]
fn a_reel_is_read_wherever_it_lies() {
    use std::process::Command;
    let input = Input::new(line("1", "ADDED", POD));
    input.import(&[]).ok();
    let (reel, cache) = (input.text("out.reel"), input.text("cache"));
    let asked = |command: &[&str]| {
        let output = program()
            .env("XDG_CACHE_HOME", &cache)
            .args(command)
            .output()
            .expect("it runs");
        let words = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (
            output.status.code(),
            words(output.stdout),
            words(output.stderr),
        )
    };
    let expected = asked(&["get", &reel, "po", "-o", "name"]);
    assert_eq!(expected.0, Some(0));
    let made = |program: &str, args: &[&str]| {
        let done = Command::new(program).args(args).status();
        done.is_ok_and(|done| done.success())
    };
    let artifacts = input.text("artifacts");
    std::fs::create_dir_all(format!("{artifacts}/job")).expect("made");
    std::fs::copy(&reel, format!("{artifacts}/job/run.reel")).expect("copied");
    std::fs::write(format!("{artifacts}/build-log.txt"), "done").expect("written");
    let mut places = vec![artifacts.clone()];
    for (program, ending) in [("gzip", "gz"), ("xz", "xz"), ("zstd", "zst")] {
        if made(program, &["-kq", &reel]) {
            // As an object store delivers it: without the ending.
            let stripped = input.text(&format!("from-{program}"));
            std::fs::rename(format!("{reel}.{ending}"), &stripped).expect("renamed");
            places.push(stripped);
        }
    }
    let archive = input.text("artifacts.tar");
    if made("tar", &["-cf", &archive, "-C", &artifacts, "."]) {
        places.push(archive);
    }
    assert!(places.len() > 2, "gzip and tar are everywhere");
    for place in &places {
        for command in [
            &["get", place, "po", "-o", "name"][..],
            &["info", place],
            &["verify", place],
            &["history", place, "po/a"],
            &["export", place, "-o", "jsonl"],
            &["scan", place],
            &["problems", place],
            &["test", place],
        ] {
            let mut of_reel = command.to_vec();
            if let Some(path) = of_reel.get_mut(1) {
                *path = &reel;
            }
            let (found, expected) = (asked(command), asked(&of_reel));
            assert_eq!(found.0, expected.0, "{command:?}: {found:?}");
            if command.first() == Some(&"get") || command.first() == Some(&"export") {
                assert_eq!(found.1, expected.1, "{command:?}");
            }
        }
    }
    std::fs::copy(&reel, format!("{artifacts}/second")).expect("copied");
    let (code, _, err) = asked(&["info", &artifacts]);
    assert_eq!(code, Some(2), "{err}");
    assert!(
        err.starts_with("error: 2 reels in ")
            && err.contains(&format!(
                "hint: choose one: kubereel info {artifacts}/job/run.reel"
            )),
        "{err}"
    );
    std::fs::remove_dir_all(format!("{artifacts}/job")).expect("removed");
    std::fs::remove_file(format!("{artifacts}/second")).expect("removed");
    let (code, _, err) = asked(&["info", &artifacts]);
    assert_eq!(code, Some(3), "{err}");
    assert_has(&err, "hint: to convert a must-gather");
}

/// Imports a Deployment as it was at two moments, an hour apart.
fn imported_deployment(folder: &TempDir, status: Option<&serde_json::Value>) -> String {
    let files = ["1", "2"].map(|version| {
        let mut object = serde_json::json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {
                "name": "web", "namespace": "a", "uid": "u", "resourceVersion": version,
                "generation": status.map(|_status| 1),
            },
            "spec": {"replicas": 2},
        });
        if let (Some(status), Some(members)) = (status, object.as_object_mut()) {
            members.insert("status".to_owned(), status.clone());
        }
        let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": [object]});
        let path = folder.path().join(format!("{version}.json"));
        std::fs::write(&path, list.to_string()).expect("room");
        path.to_str().expect("text").to_owned()
    });
    let reel = folder.path().join("web.reel");
    let reel = reel.to_str().expect("text").to_owned();
    let [one, other] = &files;
    let times = [
        "--at",
        "2026-01-01T10:00:00Z",
        "--at",
        "2026-01-01T11:00:00Z",
    ];
    kubereel(&[&["import", one, other, "-o", &reel, "--force"], &times[..]].concat()).ok();
    reel
}

#[test]
fn a_workload_without_a_status_is_not_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    let bare = imported_deployment(&folder, None);
    let said = kubereel!("problems {bare}").out;
    assert!(!said.contains("ReplicasMissing"), "{said}");
    let story = kubereel!("story {bare}").out;
    assert_has(&story, "Nodes not recorded");
    // A server gives an empty status, and a generation, to a new object.
    let fresh = imported_deployment(&folder, Some(&serde_json::json!({})));
    let said = kubereel!("problems {fresh}").out;
    assert_has(&said, "ReplicasMissing");
}

/// A dump of one moment: all that is in it existed before.
#[test]
fn a_dump_has_no_changes_and_its_events_have_their_own_times() {
    let event = |name: &str, at: &str, reason: &str| {
        serde_json::json!({
            "apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": reason, "message": "text",
            "metadata": {"name": name, "namespace": "default", "uid": name},
            "involvedObject": {"kind": "Pod", "namespace": "default", "name": "web"},
            "lastTimestamp": at,
        })
    };
    let pod = serde_json::json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web", "namespace": "default", "uid": "web"},
    });
    let reel = Reel::import(&[
        event("a", "2026-11-20T10:00:05Z", "Second"),
        event("b", "2026-11-20T10:00:01Z", "First"),
        event("c", "2026-11-20T10:00:09Z", "Third"),
        pod,
    ]);
    for args in [
        &["events"][..],
        &["events", "--for", "pod/web", "-o", "wide"],
    ] {
        let page = kubereel(&[args, &[reel.path()]].concat()).ok();
        let places = ["First", "Second", "Third"].map(|reason| page.find(reason).expect(reason));
        assert!(places.is_sorted(), "{page}");
        assert!(
            page.contains("10:00:01.000Z") && page.contains("existed when"),
            "{page}"
        );
    }
    let page = kubereel!("describe {reel} pod/web").ok();
    let places = ["First", "Second", "Third"].map(|reason| page.find(reason).expect(reason));
    assert!(places.is_sorted(), "{page}");
    let writers = kubereel!("top-writers {reel}");
    let writers = writers.says("as imported: completeness is unknown").ok();
    assert!(writers.starts_with("0 changes"), "{writers}");
    let verified = kubereel!("verify {reel}").code(1).out;
    assert_has(&verified, "2 resources imported: completeness is unknown");
    let all = kubereel!("verify {reel} --all").code(1).out;
    assert_has(&all, "  pods     imported: completeness is unknown");
    let both = kubereel!("get {reel} pods,events");
    both.says("2 resources as imported: completeness is unknown")
        .ok();
}

#[test]
fn a_deletion_without_a_version_holds_at_later_ones() {
    let pod = |name: &str, version: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"namespace":"default","name":"{name}","uid":"u-{name}"{version}}}}}"#
        )
    };
    let versioned = |name, version: u8| pod(name, &format!(r#","resourceVersion":"{version}""#));
    let recording = [
        line(r#""2026-11-21T14:00:00Z""#, "ADDED", &versioned("a", 7)),
        line(r#""2026-11-21T14:00:10Z""#, "DELETED", &pod("a", "")),
        line(r#""2026-11-21T14:00:20Z""#, "ADDED", &versioned("b", 9)),
    ];
    let input = Input::new(recording.concat());
    input.import(&[]).code(0);
    let reel = input.text("out.reel");
    let at = |version: &str| kubereel!("get {reel} pods --at {version} -o name").ok();
    assert_eq!(at("rv:8"), "pod/a\n");
    assert_eq!(at("rv:9"), "pod/b\n");

    let input = Input::new(line(r#""2026-11-21T14:00:00Z""#, "ADDED", &pod("a", "")));
    input.import(&[]).code(0);
    kubereel(&["get", &input.text("out.reel"), "pods", "--at", "rv:7"])
        .code(2)
        .says("no object in the reel has a resourceVersion");
}

#[test]
fn what_changes_in_the_first_moment_is_counted_and_a_window_beyond_the_recording_adds_no_time() {
    let pod = |rv: u32| POD.replace("\"7\"", &format!("\"{rv}\""));
    let lines = [
        line("10", "ADDED", &pod(7)),
        line("10", "MODIFIED", &pod(8)),
        line("130", "MODIFIED", &pod(9)),
        line("130", "DELETED", &pod(10)),
    ];
    let input = Input::new(lines.concat());
    input.import(&[]).code(0).says("4 events of 1 resource");
    let reel = input.text("out.reel");
    for more in [
        &[][..],
        &[
            "--from",
            "1970-01-01T00:00:00Z",
            "--to",
            "1980-01-01T00:00:00Z",
        ],
    ] {
        let args = [&["top-writers", &reel, "-o", "json"], more].concat();
        let told: serde_json::Value = serde_json::from_str(&kubereel(&args).out).expect("JSON");
        assert_eq!(told["writes"], 3, "{told}");
        assert_eq!(told["resources"][0]["per_minute"], 1.5, "{told}");
        assert_eq!(told["end"], "1970-01-01T00:02:10.000Z", "{told}");
    }
}

/// A Pod since 09:00 whose image cannot be pulled.
const WAITING: &str = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-0","namespace":"web",
    "uid":"u1","resourceVersion":"10","creationTimestamp":"2026-01-01T09:00:00Z"},
    "spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]},
    "status":{"phase":"Pending","startTime":"2026-01-01T09:00:00Z",
        "conditions":[{"type":"Ready","status":"False","lastTransitionTime":"2026-01-01T09:00:00Z"}],
        "containerStatuses":[{"name":"c","ready":false,"restartCount":0,"image":"i","imageID":"",
            "state":{"waiting":{"reason":"ImagePullBackOff"}}}]}}"#;

/// Imports the Pod at 10:00 and at 12:00, by lists or events, and a Node at 20:00.
fn waiting(folder: &TempDir, has_events: bool) -> String {
    let path = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
    let list = |item: &str| format!(r#"{{"apiVersion":"v1","kind":"List","items":[{item}]}}"#);
    let node = r#"{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","uid":"u2","resourceVersion":"9"}}"#;
    let object = WAITING.replace('\n', " ");
    let event = format!(r#"{{"ts":"2026-01-01T10:00:00Z","type":"ADDED","object":{object}}}"#);
    let mut inputs = vec![("nodes.json", "20:00", list(node))];
    if has_events {
        inputs.push(("pods.jsonl", "12:00", event));
    } else {
        inputs.push(("pods-1.json", "10:00", list(&object)));
        inputs.push(("pods-2.json", "12:00", list(&object)));
    }
    let mut args = vec!["import".to_owned(), "-o".to_owned(), path("reel")];
    for (name, at, text) in inputs {
        std::fs::write(path(name), text).expect("written");
        args.extend([path(name), format!("--at=2026-01-01T{at}:00Z")]);
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    kubereel(&args).ok();
    path("reel")
}

#[test]
fn what_only_lists_show_is_not_known_after_the_last_of_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let reel = waiting(&folder, false);
    let json = |ran: Ran| -> serde_json::Value { serde_json::from_str(&ran.out).expect("JSON") };
    let problem = json(kubereel!("problems {reel} -o json"));
    let since = &problem["end_unknown_since"];
    assert_eq!(since, "2026-01-01T12:00:00.000Z", "{problem:#}");
    let history = json(kubereel!("history {reel} pod/web-0 -n web -o json").code(4));
    assert_eq!(history["items"][0]["held_secs"], 7200.0, "{history:#}");
    let ready = "--for=condition=Ready=False";
    for (at_least, code) in [("2h", 0), ("9h", 4)] {
        let at_least = format!("--for-at-least={at_least}");
        kubereel!("wait {reel} pod/web-0 -n web {ready} {at_least}").code(code);
    }
    kubereel!("intervals {reel}").code(4);
    kubereel!("get {reel} pods -A --at 12:00").code(0);
    kubereel!("get {reel} pods -A")
        .code(4)
        .says("not listed again");
    kubereel!("get {reel} nodes").code(0);
}

#[test]
fn what_events_show_stays_as_it_is_to_the_end_of_the_import() {
    let folder = tempfile::tempdir().expect("a folder");
    let reel = waiting(&folder, true);
    kubereel!("get {reel} pods -A").code(0);
    kubereel!("intervals {reel}").code(0);
}
