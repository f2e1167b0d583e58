//! What cannot be answered ends in a clear message, a hint and its own exit code.

use super::run::{A, DEMO, Reel, assert_has, kubereel, pods_with_gap, program, run};
use crate::script::{Script, pod};
use std::io::Read as _;
use std::process::Stdio;

fn file(bytes: &[u8]) -> Reel {
    Reel::write(|path| std::fs::write(path, bytes).expect("a file"))
}

#[test]
fn a_missing_file_is_named() {
    kubereel!("info /nowhere/run.reel")
        .code(3)
        .says("error: /nowhere/run.reel: no such file or directory\n")
        .says("hint: to record one: kubereel record -o FILE");
}

#[test]
fn a_missing_input_ends_as_a_missing_reel_and_a_missing_file_of_an_option_as_wrong_usage() {
    let folder = tempfile::tempdir().expect("a folder");
    let (no, new) = (folder.path().join("absent"), folder.path().join("new.reel"));
    let (no, new) = (no.to_str().expect("text"), new.to_str().expect("text"));
    for args in [
        &["info", no][..],
        &["story", no],
        &["seal", no],
        &["recover", no, new],
        &["scan", no],
        &["import", no, "-o", new],
        &["encrypt", no, "-r", RECIPIENT],
        &["decrypt", no, new, "-i", DEMO],
    ] {
        let ran = kubereel(args).code(3).says(": no such file or directory");
        assert!(ran.err.contains(no), "{args:?}: {ran:#?}");
    }
    for args in [
        &["scan", DEMO, "--redact-extra", no][..],
        &["scan", DEMO, "--canaries", no],
        &["import", DEMO, "-o", new, "--redact", "--redact-extra", no],
        &["record", "-o", new, "--redact-extra", no],
        &["verify", DEMO, "--signer", no],
        &["sign", DEMO, "-k", no],
        &["encrypt", DEMO, new, "-R", no],
        &["get", DEMO, "-f", no],
        &["test", DEMO, "--rules", no],
        &["test", DEMO, "--exceptions", no],
    ] {
        let ran = kubereel(args).code(2).says(": no such file or directory");
        assert!(ran.err.contains(no), "{args:?}: {ran:#?}");
    }
}

#[test]
fn a_reel_is_not_written_to_stdout() {
    for args in [
        &["recover", DEMO, "-"][..],
        &["seal", DEMO, "-"],
        &["encrypt", DEMO, "-", "-r", RECIPIENT],
        &["decrypt", DEMO, "-", "-i", DEMO],
        &["import", DEMO, "-o", "-"],
        &["record", "-o", "-"],
    ] {
        kubereel(args).code(2).says(": cannot write to stdout; ");
    }
}

/// A recipient, as age-keygen prints it.
const RECIPIENT: &str = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p";

#[test]
fn the_help_of_an_option_has_its_limits() {
    for (args, limit, help) in [
        (
            &["describe", DEMO, "co/etcd", "--around", "1441"][..],
            "1..=1440",
            "1 to 1440",
        ),
        (
            &["record", "-o", "never.reel", "--max-size", "7MB"],
            "at least 8MB",
            "at least 8MB",
        ),
        (
            &["record", "-o", "never.reel", "--max-memory", "9MB"],
            "at least 128MB",
            "at least 128MB",
        ),
        (
            &["record", "-o", "never.reel", "--for", "1d"],
            "in h, m and s",
            "in hours, minutes and seconds",
        ),
    ] {
        let _ran = kubereel(args).code(2).says(limit);
        let out = kubereel(&[args[0], "--help"]).ok();
        let words: Vec<_> = out.split_whitespace().collect();
        assert!(words.join(" ").contains(help), "{help}: {out}");
    }
}

#[test]
fn a_file_that_is_no_reel_is_told_what_it_is() {
    for (bytes, words) in [
        (&b""[..], "not a reel (the file is empty)"),
        (b"PK\x03\x04and so on", ": the zip archive is damaged"),
        (b"\x1f\x8b\x08\x00", ": the gzip data is damaged after 0 "),
        (
            b"\x28\xb5\x2f\xfd....",
            ": the zstd data is damaged after 0 ",
        ),
        (
            b"{\"type\":\"ADDED\"}\n",
            "not a reel (starts with \"{\": JSON)",
        ),
        (b"SQLite format 3\0", "not a reel (an SQLite database)"),
        (b"some words that are no recording at all", "not a reel"),
    ] {
        let reel = file(bytes);
        for command in [
            &["info", reel.path()][..],
            &["get", reel.path(), "pods"],
            &["export", reel.path(), "-o", "jsonl"],
            &["demo", reel.path()],
            &["history", reel.path(), "pods/a"],
            &["diff", reel.path(), "--from", "start"],
            &["blame", reel.path(), "pods/a"],
        ] {
            let ran = kubereel(command).code(3).says("error: ").says(words);
            assert!(ran.err.contains("hint: "), "{ran:#?}");
        }
    }
}

#[test]
fn what_cannot_be_read_at_any_place_is_no_reel() {
    let folder = tempfile::tempdir().expect("a folder");
    let socket = folder.path().join("socket");
    let _socket = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
    for path in ["/dev/null", socket.to_str().expect("text")] {
        kubereel!("info {path}")
            .code(3)
            .says(": not a reel (a pipe or a device)");
    }
}

#[test]
fn a_folder_is_no_reel() {
    let folder = tempfile::tempdir().expect("a folder");
    kubereel(&["info", folder.path().to_str().expect("text")])
        .code(3)
        .says("error: ");
}

#[test]
fn a_truncated_reel_says_what_is_missing_at_any_length() {
    let whole = pods_with_gap();
    let bytes = std::fs::read(whole.path()).expect("a reel");
    for part in [1, 2, 3, 5, 9] {
        let cut = file(bytes.get(..bytes.len() * part / 10).expect("shorter"));
        let ran = kubereel!("info {cut}");
        assert_eq!(ran.code, Some(3), "{part}/10: {ran:#?}");
        let there = format!(
            "cut off: {} of {} bytes are there",
            bytes.len() * part / 10,
            bytes.len()
        );
        assert!(ran.out.contains(&there), "{part}/10: {ran:#?}");
        let ran = kubereel!("verify {cut}");
        assert_eq!(ran.code, Some(3), "{part}/10: {ran:#?}");
        assert!(
            ran.out.starts_with("verdict      damaged: "),
            "{part}/10: {ran:#?}"
        );
    }
}

#[test]
fn a_damaged_reel_is_never_taken_for_a_whole_one() {
    let whole = pods_with_gap();
    let bytes = std::fs::read(whole.path()).expect("a reel");
    let commands = |path: &str| {
        [
            "info",
            "export -o jsonl",
            "get pods -A -o json --at rv:31",
            "demo",
            "history pods/a -o json",
            "diff pods --from rv:9 --to rv:14",
            "blame pods/a --at rv:31",
        ]
        .map(|words| {
            let mut words = words.split(' ').map(str::to_owned).collect::<Vec<_>>();
            words.insert(1, path.to_owned());
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            kubereel(&words)
        })
    };
    let sound = commands(whole.path());
    let mut refused = 0;
    // A page at a time is overwritten, as a bad disk or a bad transfer would.
    for start in (0..bytes.len()).step_by(1999) {
        let mut bad = bytes.clone();
        for byte in bad.iter_mut().skip(start).take(700) {
            *byte ^= 0x5a;
        }
        let bad = file(&bad);
        for (ran, sound) in commands(bad.path()).into_iter().zip(&sound) {
            assert!(!ran.err.contains("panicked"), "{start}: {ran:#?}");
            if ran.code == Some(3) {
                refused += 1;
            } else {
                // What was overwritten was not in use.
                assert_eq!(ran.code, sound.code, "{start}: {ran:#?}");
                assert_eq!(
                    ran.out.replace(bad.path(), whole.path()),
                    sound.out,
                    "{start}"
                );
            }
        }
    }
    assert!(refused > 20, "{refused} answers were refused");
}

#[test]
fn a_damaged_demo_is_told_as_a_whole_one_only_where_the_damage_does_not_show() {
    let commands: [&[&str]; 3] = [&["events", "-A"], &["upgrade"], &["install"]];
    let run = |path: &str, words: &[&str]| kubereel(&[&words[..1], &[path], &words[1..]].concat());
    let sound = commands.map(|words| run(DEMO, words).ok());
    let bytes = std::fs::read(DEMO).expect("the demo");
    let mut refused = [0; 3];
    for start in (0..bytes.len()).step_by(bytes.len() / 24) {
        let mut bad = bytes.clone();
        for byte in bad.iter_mut().skip(start).take(60) {
            *byte ^= 0x5a;
        }
        let bad = file(&bad);
        for ((words, sound), refused) in commands.iter().zip(&sound).zip(&mut refused) {
            let ran = run(bad.path(), words);
            if ran.code == Some(3) {
                *refused += 1;
            } else {
                // What was overwritten was not in use.
                assert_eq!(ran.code, Some(0), "{words:?} {start}: {}", ran.err);
                assert_eq!(ran.out, *sound, "{words:?} {start}");
            }
        }
    }
    assert!(
        refused.iter().all(|count| *count > 10),
        "answers were refused: {refused:?}"
    );
}

#[test]
fn a_reel_that_is_being_recorded_is_read_as_a_copy() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("live.reel");
    let mut script = Script::begin(&path);
    let stream = script.watched("pods", "Pod", &[]);
    script.synced(stream, 1);
    script.added(stream, A, 2, &pod(A, 2, "x"));
    script.commit();
    let path = path.to_str().expect("text");
    let read = kubereel!("get {path} pods -o name");
    assert_eq!(
        read.says("is being recorded: this is a copy").ok(),
        "pod/a\n"
    );
    let copy = folder.path().join("copy.reel");
    std::fs::copy(path, &copy).expect("a copy");
    let copy = copy.to_str().expect("text");
    let out = kubereel!("get {copy} pods -o name").ok();
    assert_eq!(out, "pod/a\n");
    drop(script);
    // A child that another test is starting holds the lock, too, until it executes its program.
    let mut runs = std::iter::repeat_with(|| kubereel!("info {path}")).take(100);
    let ended = runs
        .find(|ran| !ran.err.contains("being recorded"))
        .expect("the lock is free");
    assert!(ended.ok().contains("not finished"));
}

#[test]
fn a_moment_that_is_none_lists_the_forms() {
    let reel = pods_with_gap();
    for moment in ["yesterday", "rv:x", "+12", "25:00", ""] {
        kubereel!("get {reel} pods --at '{moment}'")
            .code(2)
            .says("error: ")
            .says("+12m30s")
            .says("rv:12345");
    }
    kubereel!("get {reel} pods --at seq:999")
        .code(2)
        .says("no record 999");
}

#[test]
fn a_time_that_ends_before_it_begins_is_refused() {
    for command in [
        &["history", DEMO, "co/etcd"][..],
        &["events", DEMO, "-A"],
        &["diff", DEMO],
    ] {
        for (from, to) in [("+40s", "+10s"), ("end", "start"), ("rv:3000", "rv:400")] {
            let args = [command, &["--from", from, "--to", to]].concat();
            let ran = kubereel(&args).code(2).says("error: --to ");
            let _ran = ran.says(" is before --from ");
        }
        let args = [command, &["--from", "+10s", "--to", "+40s"]].concat();
        kubereel(&args).ok();
    }
    for command in [
        &["get", DEMO, "pods", "-n", "shop", "--watch"][..],
        &["intervals", DEMO],
        &["wait", DEMO, "pods", "--all", "--for=create"],
    ] {
        let args = [command, &["--from", "+40s", "--to", "+10s"]].concat();
        let ran = kubereel(&args).code(2).says("error: --to 23:");
        assert!(ran.out.is_empty(), "{ran:#?}");
    }
}

#[test]
fn a_moment_outside_of_the_recording_is_refused() {
    kubereel!("get {DEMO} co --at rv:99999999")
        .code(2)
        .says("error: --at: rv 99999999 is outside of the recording: the last recorded one is rv ")
        .says("hint: --at end");
    for (flag, time, hint) in [
        ("--from", "+2h", "hint: --from start\n"),
        ("--to", "+2h", "hint: --to end\n"),
    ] {
        let from = if flag == "--to" {
            &["--from", "start"][..]
        } else {
            &[]
        };
        let args = [&["diff", DEMO, flag, time], from].concat();
        kubereel(&args).code(2).says(hint);
    }
}

#[test]
fn a_time_of_this_machines_zone_outside_of_the_recording_gets_the_option_for_it() {
    let shown = kubereel!("get {DEMO} co --at +30s").code(0).err;
    let time = shown.strip_prefix("at ").and_then(|rest| rest.get(..8));
    let (hour, rest) = time.and_then(|time| time.split_once(':')).expect("a time");
    // A zone that is 14 hours ahead.
    let hour = (hour.parse::<u32>().expect("an hour") + 14) % 24;
    let time = format!("{hour:02}:{rest}");
    let ask = |zone: &str| {
        let mut program = program();
        let program = program.env("TZ", zone);
        let ran = run(program.args(["get", DEMO, "co", "--at", &time])).code(2);
        ran.err.contains("add --tz local")
    };
    assert!(ask("Pacific/Kiritimati"));
    assert!(!ask("UTC"));
}

#[test]
fn a_namespace_that_was_never_observed_is_named_by_every_command() {
    for command in [
        &["diff", DEMO, "--from", "start"][..],
        &["intervals", DEMO],
        &["grep", DEMO, "payments"],
        &["events", DEMO],
        &["top-writers", DEMO],
        &["describe", DEMO, "pods"],
        &["describe", DEMO, "pod/web"],
        &["history", DEMO, "pod/web"],
        &["blame", DEMO, "pod/web"],
        &["get", DEMO, "pod/web"],
        &["rollout", "status", DEMO, "deployments"],
        &["wait", DEMO, "pods", "--all", "--for=delete"],
        &["wait", DEMO, "pod/web", "--for=delete"],
        &["events", DEMO, "--for", "pod/web"],
    ] {
        let ran = kubereel(&[command, &["-n", "shpo"]].concat()).code(1);
        let ran =
            ran.says("error: namespace \"shpo\" was never observed\nhint: did you mean shop?");
        assert!(ran.out.is_empty(), "{ran:#?}");
    }
    // As kubectl, with a hint.
    let ran = kubereel!("get {DEMO} pods -n shpo").code(0);
    let _ran = ran.says("No resources found in shpo namespace.\nhint: namespace \"shpo\"");
    // Every cluster has it.
    let _ran = kubereel!("grep {DEMO} nowhere-to-be-found -n default").code(1);
}

#[test]
fn what_was_not_found_ends_alike_in_every_command() {
    let listed = serde_json::json!({"apiVersion": "v1", "kind": "Service", "metadata": {
        "name": "db", "namespace": "a", "resourceVersion": "7", "uid": "u"}});
    let imported = Reel::import(&[listed]);
    for (reel, namespace, code) in [(imported.path(), "a", 4), (DEMO, "shop", 1)] {
        for command in [
            &["get", reel, "services/svc"][..],
            &["describe", reel, "services/svc"],
            &["blame", reel, "services/svc"],
            &["history", reel, "services/svc"],
            &["diff", reel, "services/svc", "--from", "end"],
        ] {
            let args = [command, &["-n", namespace]].concat();
            let _ran = kubereel(&args).code(code).says("error: services");
        }
    }
}

#[test]
fn hints_name_the_reel_so_that_they_can_be_pasted() {
    let mut bytes = std::fs::read(DEMO).expect("the demo");
    let middle = bytes.len() / 2;
    bytes[middle..middle + 4_000].fill(0);
    let folder = tempfile::tempdir().expect("a folder");
    let damaged = |name: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, &bytes).expect("room");
        path.to_str().expect("text").to_owned()
    };
    let (one, two) = (damaged("it is a.reel"), damaged("b.reel"));
    let pasted = format!("kubereel info '{one}'\n");
    let _ran = kubereel!("test '{one}' {two}").code(3).says(&pasted);
    let gap = pods_with_gap();
    let out = kubereel!("story {gap}").out;
    assert_has(&out, &format!("kubereel info {}\n", gap.path()));
    let whole = kubereel!("story {DEMO}").ok();
    let checked = whole.lines().find(|line| line.starts_with("Checked:    "));
    let checked = checked.expect("what was checked");
    assert!(
        checked.ends_with(" resources; 5 problems (1 a consequence)"),
        "{checked}"
    );
}

#[test]
fn a_command_that_does_not_exist_gets_the_nearest() {
    kubereel!("gte {DEMO}")
        .code(2)
        .says("error: unknown command \"gte\"\nhint: did you mean get?");
    kubereel!("rollout histroy {DEMO}")
        .code(2)
        .says("hint: did you mean history?");
    let man = kubereel!("man foo").code(2);
    let _man = man.says("error: unknown command \"foo\"\nhint: to list the commands");
    kubereel!("man rollout histroy")
        .code(2)
        .says("hint: did you mean rollout history?");
}

#[test]
fn a_name_that_names_nothing_gets_the_nearest() {
    kubereel!("describe {DEMO} pod/payments")
        .code(1)
        .says("was never observed in default namespace\nhint: \"payments-")
        .says("exists in another namespace: use -n shop");
    let ran = kubereel!("events {DEMO} --for pod/nope -A").code(1);
    let ran = ran.says("error: pods/nope was never observed in any namespace");
    assert!(ran.out.is_empty(), "{ran:#?}");
    kubereel!("get {DEMO} co/etdc")
        .code(1)
        .says("not found at")
        .says("hint: did you mean etcd?");
    kubereel!("diff {DEMO} pods,co --from start --to end")
        .code(2)
        .says("only one resource is supported");
}

#[test]
fn an_unknown_resource_gets_the_nearest_names() {
    let reel = pods_with_gap();
    kubereel!("get {reel} pdos")
        .code(2)
        .says(r#"error: no resource "pdos" in this reel"#)
        .says("hint: did you mean pods?");
    // A name of kubectl is not taken for a mistyped other one.
    kubereel!("get {reel} pdb").code(2).says(
        "error: no resource \"pdb\" in this reel: it has no poddisruptionbudgets.policy\n\
             hint: to list its resources: kubereel api-resources ",
    );
    kubereel!("get {reel}").code(2).says(&format!(
        "error: no resource is named\nhint: to list the resources: kubereel api-resources {}",
        reel.path()
    ));
    kubereel!("get {reel} zebras")
        .code(2)
        .says(&format!("kubereel info {} -o wide", reel.path()));
    kubereel!("get {reel} deployments.v1beta1.apps")
        .code(2)
        .says("hint: use deployments.apps");
}

#[test]
fn a_file_for_the_output_format_gets_the_way_to_write_one() {
    kubereel!("seal {DEMO} -o new.reel").code(2).says(&format!(
        "error: -o is the output format, not a file: new.reel\n\
         hint: to write another file, name it behind the reel: kubereel seal {DEMO} new.reel\n",
    ));
    kubereel!("info --output a/b {DEMO}").code(2).says(
        "error: -o is the output format, not a file: a/b\n\
         hint: to write to a file: kubereel info ... > a/b\n",
    );
    for other in ["yamll", "jsonpath={.a"] {
        let ran = kubereel!("get {DEMO} pods -o {other}");
        assert_eq!(ran.code, Some(2), "{ran:#?}");
        assert!(!ran.err.contains("not a file"), "{ran:#?}");
    }
}

#[test]
fn words_that_make_no_sense_are_wrong_usage() {
    let reel = pods_with_gap();
    for args in [
        &["get", reel.path(), "pods/a", "b"][..],
        &["get", reel.path(), "pods/"],
        &["get", reel.path(), "/a"],
        &["get", reel.path(), "pods", "a", "-l", "app=x"],
        &["get", reel.path(), "pods", "-l", "app in"],
        &["get", reel.path(), "pods", "-o", "jsonpath={.a"],
        &["get", reel.path(), "pods", "-o", "custom-columns=A"],
        &["get", reel.path(), "pods", "-o", "go-template={{.}}"],
        &["get", reel.path(), "pods", "--sort-by", "{"],
        &["get", reel.path(), "pods", "--from", "start"],
        &["get", reel.path(), "pods,deployments", "--watch"],
        &["get", reel.path()],
        &["nonsense"],
        &["export", reel.path(), "-o", "parquet"],
    ] {
        let ran = kubereel(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {ran:#?}");
        assert!(ran.err.starts_with("error: "), "{args:?}: {ran:#?}");
    }
    assert!(kubereel!("--help").ok().contains("Exit codes:"));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for args in [
        &["export", DEMO, "-o", "jsonl"][..],
        &["history", DEMO, "node/worker-0", "-o", "json"],
        &["diff", DEMO, "--from", "+13s"],
        &["events", DEMO, "-A"],
    ] {
        let mut child = program()
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let mut out = child.stdout.take().expect("piped");
        let mut first = [0u8; 10];
        out.read_exact(&mut first).expect("a beginning");
        drop(out);
        let ended = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(
            !said.contains("error") && !said.contains("panicked"),
            "{args:?}: {said}"
        );
        assert!(
            args[0] != "export" || ended.status.code() == Some(0),
            "{:?}",
            ended.status
        );
    }
}

#[test]
fn completions_come_for_each_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = kubereel!("completion {shell}").ok();
        assert!(script.contains("kubereel"), "{shell}");
        assert!(script.contains("KUBEREEL_COMPLETE"), "{shell}");
    }
}

#[test]
fn an_observer_with_an_invalid_command_line_ends_with_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    for (flags, words) in [
        (
            &["--redact-extra", "/nowhere/rules.yaml"][..],
            "/nowhere/rules.yaml: no such file or directory",
        ),
        (
            &["--listen", "0", "--status-token-file", "/nowhere/token"],
            "/nowhere/token",
        ),
        (&["--log", "a=b=c"], "cannot read the log filter"),
    ] {
        let mut observe = program();
        observe.args(["observe", "--output-dir", "."]).args(flags);
        run(observe.current_dir(folder.path())).code(2).says(words);
    }
    let files = std::fs::read_dir(folder.path()).expect("a folder");
    assert_eq!(files.count(), 0);
}

#[test]
fn an_unknown_flag_is_named_with_what_the_command_has() {
    for command in [
        "events",
        "intervals",
        "history",
        "grep",
        "diff",
        "wait",
        "top-writers",
    ] {
        kubereel!("{command} {DEMO} --at 23:21:30")
            .code(2)
            .says("error: unknown flag: --at\n")
            .says("hint: to limit the time: --from TIME --to TIME\n");
    }
    let ran = kubereel!("get {DEMO} pods --limit 3")
        .code(2)
        .says("error: unknown flag: --limit\n")
        .says("hint: to list the flags: kubereel get --help\n");
    assert!(!ran.err.contains("-- --"), "{ran:#?}");
    kubereel!("get {DEMO} pods --namespaec web")
        .code(2)
        .says("hint: did you mean --namespace?\n");
}

#[test]
fn an_empty_namespace_is_refused() {
    let with = |words: &[&str]| kubereel(&[words, &["-n", ""]].concat());
    for words in [
        &["get", DEMO, "pods"][..],
        &["events", DEMO],
        &["diff", DEMO, "--from", "+30s"],
        &["intervals", DEMO],
        &["top-writers", DEMO],
        &["history", DEMO, "deploy/web"],
    ] {
        with(words).code(2).says("a namespace has a name");
    }
}

#[test]
fn what_is_asked_outside_of_the_recording_was_not_observed() {
    let outside = "not observed outside of the recording";
    for words in [
        &["history", DEMO, "co/etcd", "--from", "+5m"][..],
        &["history", DEMO, "co/etcd", "--from", "-5m", "--to", "+2s"],
        &["grep", DEMO, "x", "--from", "+5m"],
        &["get", DEMO, "pods", "-A", "--watch", "--from", "+5m"],
        &["get", DEMO, "co", "--watch", "--from", "-5m", "--to", "+1s"],
        &["wait", DEMO, "co/etcd", "--for=delete", "--from", "+5m"],
        &["wait", DEMO, "co/etcd", "--for=delete", "--to", "-5m"],
    ] {
        kubereel(words).code(4).says(outside);
    }
    kubereel!("wait {DEMO} co/etcd --for=delete --from +5s --to +2s")
        .code(2)
        .says("is before --from");
}

#[test]
fn a_wrong_command_line_has_a_hint_that_can_be_pasted() {
    for (ran, hint) in [
        (kubereel!("get {DEMO} pods --at foo"), "kubereel help time"),
        (kubereel!("get {DEMO} pods -o wid"), "kubereel get --help"),
        (kubereel!("diff {DEMO}"), "kubereel diff --help"),
        (
            kubereel!("import - -o a.reel --at 12:00"),
            "hint: give the date, the time and the zone: 2026-11-21T14:02:31Z or",
        ),
        (
            kubereel!("{DEMO} get pods -n shop"),
            &format!("hint: the command comes before the reel: kubereel get {DEMO} pods -n shop"),
        ),
        (
            kubereel!("{DEMO} pods"),
            &format!("hint: the command comes before the reel: kubereel get {DEMO} pods"),
        ),
        (kubereel!("intervals {DEMO} --lasting 3s"), "--lasting=3s"),
    ] {
        ran.code(2).says(hint);
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::copy(DEMO, folder.path().join("demo.reel")).expect("copied");
    let near = folder.path().join("dem.reel");
    kubereel(&["info", near.to_str().expect("text")])
        .code(3)
        .says("demo.reel?");
    let ran = run(program().args(["story"]).env("KUBEREEL", "nofile"));
    ran.code(3).says("$KUBEREEL");
}

#[test]
fn a_reel_of_no_cluster_answers_no_question() {
    let reel = Reel::write(|path| Script::begin(path).finish());
    let reel = reel.path();
    for ran in [
        kubereel!("get {reel} pods"),
        kubereel!("history {reel} pods/a"),
        kubereel!("grep {reel} a"),
        kubereel!("top-writers {reel}"),
        kubereel!("events {reel}"),
        kubereel!("wait {reel} pod/a --for=delete"),
    ] {
        let ran = ran.code(4);
        assert!(!ran.err.contains("complete"), "{ran:?}");
    }
}
