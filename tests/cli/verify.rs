//! `kubereel verify`: complete, incomplete, damaged, and what it says of each.

use super::run::{A, B, DEMO, Ran, Reel, assert_has, kubereel, pods_with_gap, program, run};
use crate::script::{Script, pod};
use kubereel_format::{EndCause, Note, OutageClass, RecordedAt};
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Pods from rv 10, with probes around them, one change that nobody recorded at 12, and an outage.
fn probed() -> Reel {
    Reel::write(|path| {
        let mut script = Script::begin(path);
        script.probed(9, 20);
        script.wait(10);
        let stream = script.watched("pods", "Pod", &["po"]);
        script.initial(stream, A, 9, &pod(A, 9, "x"));
        script.synced(stream, 10);
        script.wait(2000);
        script.probed(10, 20);
        script.modified(stream, A, 11, &pod(A, 11, "y"));
        script.wait(2000);
        script.probed(12, 20);
        script.modified(stream, A, 13, &pod(A, 13, "z"));
        script.outage("https://127.0.0.1:6443", OutageClass::Connect, 5000);
        script.probed(13, 20);
        script.wait(1500);
        script.bookmark(stream, 13);
        script.finish();
    })
}

#[test]
fn a_complete_reel_is_called_so_with_its_account_and_its_outages() {
    let reel = probed();
    let page = kubereel!("verify {reel}").ok();
    for words in [
        "integrity    all checksums match",
        "complete     1 of 1 resources",
        "  1 resource complete from 14:00:00.010Z to 14:00:10.510Z",
        "66.67 % · 2 of 3 explained by events of 1 resource · after 10 up to 13",
        "no event   12 · committed between 14:00:01.990Z and 14:00:04.010Z",
        "cannot be distinguished from missed changes",
        "API outages  1 · 5.0 s in all",
        "https://127.0.0.1:6443 · no connection · refused",
        "verdict      complete",
    ] {
        assert!(page.contains(words), "{words:?} not in\n{page}");
    }
    assert!(
        page.starts_with("verdict      complete: every change"),
        "{page}"
    );
    assert!(!page.contains("pods"), "{page}");
    let page = kubereel!("verify {reel} --all").ok();
    let row = "pods   complete from 14:00:00.010Z to 14:00:10.510Z";
    assert!(
        page.contains(row) && !page.contains("1 resource complete"),
        "{page}"
    );
}

#[test]
fn info_tells_the_same() {
    let reel = probed();
    let page = kubereel!("info {reel}").ok();
    for words in [
        "revisions      66.67 % explained · 2 of 3",
        "API outages    1 · 5.0s in all",
        "no connection · refused",
    ] {
        assert!(page.contains(words), "{words:?} not in\n{page}");
    }
    let info = kubereel!("info {reel} -o json").json();
    let proof = kubereel!("verify {reel} -o json").json();
    assert_eq!(info["accounts"], proof["accounts"]);
    assert_eq!(info["outages"], proof["outages"]["each"]);
}

#[test]
fn a_clock_that_was_set_back_is_named_as_info_names_it() {
    let reel = Reel::write(|path| {
        let mut script = Script::begin(path);
        let stream = script.watched("pods", "Pod", &["po"]);
        script.synced(stream, 10);
        script.set_back(3_000);
        script.note(Note::ClockStepped { micros: -3_000_000 });
        script.bookmark(stream, 13);
        script.finish();
    });
    let words = "1 step of the recorder's clock · times before and after one do not compare";
    for command in ["info", "verify"] {
        let page = kubereel!("{command} {reel}").ok();
        let mut lines = page.lines();
        let is_named = lines.any(|line| line.starts_with("clock  ") && line.ends_with(words));
        assert!(is_named, "{page}");
        let value = kubereel!("{command} {reel} -o json").json();
        assert_eq!(value["clock_steps"], 1, "{command}");
    }
    // What is later by its records is not before the start.
    kubereel!("wait {reel} pod/a --for=create").code(1);
    let page = kubereel(&["verify", probed().path()]).ok();
    assert!(!page.contains("clock"), "{page}");
}

#[test]
fn a_version_is_dated_by_the_probes_around_it() {
    let reel = probed();
    let told = kubereel!("history {reel} pod/a -n default -o json").json();
    let items = told["items"].as_array().expect("items");
    let version = items.iter().find(|item| item["rv"] == "11");
    let version = version.expect("the version");
    assert_eq!(version["at"], "2026-11-21T14:00:02.010Z");
    assert_eq!(version["committed_after"], "2026-11-21T14:00:01.990Z");
    assert_eq!(version["committed_before"], "2026-11-21T14:00:02.010Z");
}

#[test]
fn programs_get_the_same_as_json() {
    let reel = probed();
    let proof = kubereel!("verify {reel} -o json").json();
    assert_eq!(proof["verdict"], "complete");
    assert_eq!(proof["integrity"]["whole"], true);
    assert_eq!(proof["integrity"]["events"], 3);
    assert_eq!(proof["resources"][0]["state"], "complete");
    assert_eq!(proof["resources"][0]["to"], "2026-11-21T14:00:10.510Z");
    let account = &proof["accounts"][0];
    assert_eq!(account["explained"], 2);
    assert_eq!(account["unexplained"], 1);
    assert_eq!(account["ranges"][0]["first_rv"], "12");
    assert_eq!(proof["outages"]["count"], 1);
    assert_eq!(proof["outages"]["each"][0]["class"], "no connection");
    assert_eq!(proof["outages"]["each"][0]["failed_probes"], 5);
}

#[test]
fn a_gap_makes_a_reel_incomplete() {
    let reel = pods_with_gap();
    let ran = kubereel!("verify {reel}").code(1);
    for words in [
        "may miss up to 4 changes between 14:00:07.000Z and 14:00:12.000Z: the server lost its history",
        "deployments.apps   never listed completely",
        "  1 not recorded, not a loss: 1 same storage as another resource",
        "no account: the recorder did not probe",
        "verdict      incomplete: 1 resource in which changes may be missing; 1 resource never listed",
    ] {
        assert!(ran.out.contains(words), "{words:?} not in\n{}", ran.out);
    }
    let all = kubereel!("verify {reel} --all").code(1);
    let row = "events.events.k8s.io   not covered: same storage as another resource events";
    all.prints(row);
    let place = |words: &str| ran.out.find(words);
    assert_eq!(place("verdict"), Some(0), "what matters most comes first");
}

#[test]
fn a_damaged_copy_is_named_with_its_places_and_never_panics() {
    let demo = DEMO;
    let whole = std::fs::read(demo).expect("the demo");
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("copy.reel");
    let path = copy.to_str().expect("text");
    // The header apart, a byte anywhere: a damaged page in use is reported, a free one does no harm.
    let mut damaged = 0;
    for part in 1..8 {
        let mut bytes = whole.clone();
        let place = whole.len() * part / 8;
        bytes[place] ^= 0x55;
        std::fs::write(&copy, &bytes).expect("a copy");
        let ran = kubereel!("verify {path}");
        assert!(!ran.err.contains("panicked"), "{ran:#?}");
        if ran.code == Some(3) {
            damaged += 1;
            let told = format!("{}{}", ran.out, ran.err);
            assert_has(&told, "damaged");
        }
    }
    assert!(damaged >= 4, "{damaged} of 7 were found");
    std::fs::write(&copy, &whole[..whole.len() / 2]).expect("a copy");
    kubereel!("verify {path}").code(3).says("cut off");
    std::fs::write(&copy, b"{}").expect("a copy");
    kubereel!("verify {path}").code(3).says("not a reel");
}

#[test]
fn the_demo_is_whole() {
    let demo = DEMO;
    let ran = kubereel!("verify {demo}");
    ran.prints("all checksums match");
    assert_ne!(ran.code, Some(3), "{ran:#?}");
}

#[test]
fn a_reel_that_is_copied_while_it_is_recorded_is_judged_too() {
    let reel = Reel::write(|path| {
        let mut script = Script::begin(path);
        script.probed(9, 20);
        script.commit();
        assert!(script.now() > RecordedAt::default());
    });
    let ran = kubereel!("verify {reel}").code(1);
    ran.prints("nothing was recorded");
}

/// Starts a program whose output nobody reads, and gives its exit code.
fn unread(words: &[&str]) -> Option<i32> {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut program = program();
    program.args(words).stdin(Stdio::null()).stdout(writer);
    program
        .stderr(Stdio::null())
        .status()
        .expect("it runs")
        .code()
}

#[test]
fn the_exit_code_is_the_verdict_also_if_nobody_reads_the_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.reel");
    let mut bytes = std::fs::read(DEMO).expect("the demo");
    bytes.extend([7; 5000]);
    std::fs::write(&path, bytes).expect("written");
    let path = path.to_str().expect("text");
    for words in [
        &["verify", path][..],
        &["verify", path, "-o", "json"],
        &["verify", DEMO],
        &["test", DEMO],
        &["scan", DEMO],
        &["diff", DEMO, "--exit-code"],
        &[
            "wait",
            DEMO,
            "co/etcd",
            "--for",
            "condition=Available=False",
        ],
    ] {
        assert_eq!(unread(words), kubereel(words).code, "{words:?}");
    }
    assert_eq!(unread(&["verify", path]), Some(3));
    // What only prints has nothing more to do.
    assert_eq!(unread(&["events", DEMO, "-A"]), Some(0));
}

/// Compresses the demo; `None` without the program, which it says.
fn compressed(tool: &str) -> Option<Vec<u8>> {
    let output = Command::new(tool).args(["-c", DEMO]).output();
    let Ok(output) = output else {
        writeln!(std::io::stderr(), "skipped: no {tool}").expect("stderr");
        return None;
    };
    assert!(output.status.success(), "{tool}: {output:?}");
    Some(output.stdout)
}

#[test]
fn damage_of_the_file_around_a_reel_is_damage() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.reel.gz");
    let with_cache = |words: &[&str]| {
        run(program()
            .env("XDG_CACHE_HOME", folder.path().join("cache"))
            .current_dir(folder.path())
            .args(words))
    };
    let code = kubereel!("verify {DEMO}").code;
    let nodes = kubereel!("get {DEMO} nodes").out;
    let bytes = std::fs::metadata(DEMO).expect("the demo").len();
    for tool in ["gzip", "xz", "zstd"] {
        let Some(whole) = compressed(tool) else {
            continue;
        };
        let cut = whole[..whole.len() - 2].to_vec();
        let junk = [&whole[..], b"junk behind the end"].concat();
        let mut all = vec![(whole.clone(), code), (cut, Some(3)), (junk, Some(3))];
        if tool == "gzip" {
            // The checksum lies in front of the length.
            let mut flipped = whole.clone();
            let checksum = whole.len() - 6;
            flipped[checksum] ^= 1;
            all.push((flipped, Some(3)));
        }
        for (content, exit) in all {
            std::fs::write(&path, content).expect("written");
            let mentions = |ran: &Ran, words: &str| {
                let text = format!("{}{}", ran.out, ran.err);
                assert_eq!(text.contains(words), exit == Some(3), "{words} in {text}");
            };
            let damage = format!("the {tool} data is damaged after {bytes} decompressed bytes");
            let named = format!("the file that has the reel: {damage}");
            // The second time it would come from the cache.
            for _again in 0..2 {
                let verified = with_cache(&["verify", "run.reel.gz"]);
                assert_eq!(verified.code, exit, "{tool}: {verified:?}");
                mentions(&verified, &named);
            }
            mentions(&with_cache(&["info", "run.reel.gz"]), &named);
            let got = with_cache(&["get", "run.reel.gz", "nodes"]);
            mentions(&got, &format!("note: run.reel.gz: {damage}"));
            assert_eq!(got.out, nodes);
            if exit == Some(3) {
                let refused = with_cache(&["seal", "run.reel.gz", "new.reel"]).code(3);
                assert!(!refused.err.contains("cache"), "{refused:?}");
                refused.says("kubereel recover run.reel.gz NEW.reel");
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_without_a_writer_is_not_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pipe.reel");
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("mkfifo runs").success());
    let path = path.to_str().expect("text");
    for words in [
        &["verify", path][..],
        &["info", path],
        &["get", path, "pods"],
        &["seal", path],
        &["recover", path, "new.reel"],
        &["wait", path, "pod/a", "--for", "delete", "--follow"],
    ] {
        let ran = kubereel(words).code(3);
        ran.says("a pipe or a device");
    }
}

/// Pod `a` is `x`; no watch runs from 14:00:06 to 14:00:16, then its change to `late` and an Event are received.
fn pods_received_late() -> Reel {
    Reel::write(|path| {
        let mut script = Script::begin(path);
        let pods = script.resource("pods", "Pod", &["po"]);
        let events = script.resource("events", "Event", &["ev"]);
        script.wait(1000);
        let streams = [pods, events].map(|resource| script.connect(resource, None));
        script.initial(streams[0], A, 9, &pod(A, 9, "x"));
        for stream in streams {
            script.synced(stream, 10);
        }
        script.wait(5000);
        for stream in streams {
            script.bookmark(stream, 11);
            script.disconnect(stream, EndCause::Cut);
        }
        script.wait(10_000);
        let streams = [pods, events].map(|resource| script.connect(resource, Some(11)));
        script.modified(streams[0], A, 13, &pod(A, 13, "late"));
        let event =
            br#"{"kind":"Event","apiVersion":"v1","metadata":{"name":"b","namespace":"web"}}"#;
        script.added(streams[1], B, 14, event);
        script.wait(5000);
        for stream in streams {
            script.bookmark(stream, 15);
        }
        script.finish();
    })
}

#[test]
fn every_command_knows_that_changes_were_received_after_a_time_without_a_watch() {
    let reel = pods_received_late();
    let path = reel.path();
    let commands: [&[&str]; 7] = [
        &["top-writers", path],
        &["events", path, "-A"],
        &["intervals", path],
        &["grep", path, "^late$", "pod/a"],
        &["history", path, "pod/a"],
        &["get", path, "pods", "-A", "--watch"],
        &["diff", path, "-A"],
    ];
    let within = ["--from", "14:00:08", "--to", "14:00:12"];
    for command in commands {
        kubereel(&[command, &within].concat()).code(4);
    }
    kubereel(&[commands[0], &within].concat())
        .code(4)
        .says("changes of that time were received later");
    let after = ["--from", "14:00:08", "--to", "14:00:18"];
    for command in &commands[..6] {
        kubereel(&[*command, &after].concat()).code(0);
    }
}
