//! `kubereel scan`, and what redaction leaves: canaries go in, none comes out.

use super::run::{Reel, assert_has, kubereel};
use crate::script::Script;
use kubereel_format::Note;
use std::path::Path;

/// One line of events.
fn line(kind: &str, resource: &str, object: &str) -> String {
    format!(
        r#"{{"ts":1,"type":"ADDED","group":"","version":"v1","resource":"{resource}","object":{{"apiVersion":"v1","kind":"{kind}","metadata":{{"name":"a","namespace":"n","uid":"u"}},{object}}}}}"#
    )
}

/// Writes an input with a canary in several places.
#[rustfmt::skip]
fn planted(folder: &Path) -> String {
    let input = folder.join("events.jsonl");
    let text = [
        line("Secret", "secrets", r#""data":{"k":"eWVsbG93LWNhbmFyeS1iaXJk"}"#),
        line("ConfigMap", "configmaps", r#""data":{"k":"yellow-canary-bird-9fQ2x7LmZ4"}"#),
        line("Pod", "pods", r#""spec":{"containers":[{"env":[{"name":"API_TOKEN","value":"yellow-canary-bird"}]}]}"#),
        line("Event", "events", r#""message":"got http://bob:yellow-canary-bird@proxy, pin LIC-123456""#),
    ];
    std::fs::write(&input, text.join("\n")).expect("written");
    input.to_str().expect("text").to_owned()
}

fn import(folder: &Path, input: &str, more: &[&str]) -> String {
    let reel = folder.join(format!("{}.reel", more.len()));
    let reel = reel.to_str().expect("text").to_owned();
    let args = [&["import", input, "-o", &reel][..], more].concat();
    kubereel(&args).code(0);
    reel
}

#[test]
fn the_mark_of_a_redacted_value_is_not_a_secret() {
    let reel = Reel::write(|path| {
        let mut script = Script::begin(path);
        let text = "password=redacted-by-kubereel-14-bytes-23f794ef3f4b79bb done";
        script.note(Note::Mark {
            text: text.to_owned(),
        });
        script.finish();
    });
    kubereel(&["scan", reel.path()]).code(0);
}

#[test]
fn what_redaction_left_has_no_known_secret_and_what_it_did_not_see_has() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = planted(folder.path());
    let as_it_was = import(folder.path(), &input, &[]);
    let ran = kubereel!("scan {as_it_was} --canary yellow-canary-bird")
        .code(1)
        .says("secrets in the reel");
    for words in [
        "secret ",
        "config-map",
        "variable",
        "url-credentials",
        "canary 1 (plain)",
        "canary 1 (base64)",
        ".spec.containers[0].env[0].value",
        "secrets/a -n n",
    ] {
        assert!(ran.out.contains(words), "{words}: {ran:#?}");
    }
    assert!(!ran.out.contains("yellow-canary"), "{ran:#?}");

    let redacted = import(folder.path(), &input, &["--redact"]);
    let canaries = folder.path().join("canaries.txt");
    std::fs::write(&canaries, "yellow-canary-bird\r\n\nanother-canary\n").expect("written");
    let canaries = canaries.to_str().expect("text");
    let ran = kubereel!("scan {redacted} --canaries {canaries}")
        .code(0)
        .says("no known form of a secret was found")
        .says("2 canaries");
    assert_eq!(ran.out, "");
    let raw = std::fs::read(&redacted).expect("a reel");
    assert!(!String::from_utf8_lossy(&raw).contains("canary"));
    let out = kubereel!("export {redacted}").ok();
    assert!(
        !out.contains("canary") && !out.contains("Y2FuYXJ5"),
        "{out}"
    );
    let page = kubereel!("info {redacted}").ok();
    assert_has(&page, "by policy 4");
    assert_has(&page, "4 values replaced");
    assert!(!page.contains("canary"), "{page}");
}

#[test]
fn no_key_and_no_name_that_is_a_secret_or_a_canary_is_printed() {
    const TOKEN: &str = "ghp_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2";
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("events.jsonl");
    let encoded = "eWVsbG93LWNhbmFyeS1iaXJk";
    let texts = [
        line(
            "ConfigMap",
            "configmaps",
            &format!(r#""data":{{"{TOKEN}":"x"}}"#),
        ),
        line(
            "Widget",
            "widgets",
            &format!(r#""spec":{{"{TOKEN}":"kX4tQ9wZ1bN7mV3cP8sJ5h"}}"#),
        ),
        line(
            "ConfigMap",
            "configmaps",
            r#""data":{"x-yellow-canary-bird":"foo"}"#,
        )
        .replace(r#""name":"a""#, r#""name":"my-yellow-canary-bird-cm""#)
        .replace(
            r#""namespace":"n""#,
            r#""namespace":"of-yellow-canary-bird""#,
        )
        .replace(r#""uid":"u""#, r#""uid":"v""#),
        line(
            "Gadget",
            "yellow-canary-birds",
            &format!(r#""spec":{{"{encoded}":{{"password":"foo bar"}}}}"#),
        ),
    ];
    std::fs::write(&input, texts.join("\n")).expect("written");
    let reel = import(folder.path(), input.to_str().expect("text"), &[]);
    for more in [&[][..], &["-o", "json"]] {
        let args = [&["scan", &reel, "--canary", "yellow-canary-bird"][..], more].concat();
        let ran = kubereel(&args).code(1);
        for words in [
            ".data['redacted-by-kubereel-40-bytes-",
            "my-…-cm -n of-…",
            ".data['x-…']",
            "gh",
        ] {
            assert!(ran.out.contains(words), "{words}: {ran:#?}");
        }
        for secret in [TOKEN, "yellow-canary", encoded, "aB3d"] {
            assert!(
                !ran.out.contains(secret) && !ran.err.contains(secret),
                "{secret}: {ran:#?}"
            );
        }
    }
}

#[test]
fn canaries_are_read_as_editors_write_them_and_none_is_a_mistake() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = planted(folder.path());
    let reel = import(folder.path(), &input, &[]);
    let canaries = folder.path().join("canaries.txt");
    let path = canaries.to_str().expect("text");
    for text in ["\u{feff}yellow-canary-bird\n", "yellow-canary-bird \t\r\n"] {
        std::fs::write(&canaries, text).expect("written");
        let ran = kubereel!("scan {reel} --canaries {path}").code(1);
        ran.prints("canary 1 (plain)");
    }
    for text in ["", "\u{feff}\n \n"] {
        std::fs::write(&canaries, text).expect("written");
        let _ran = kubereel!("scan {reel} --canaries {path}")
            .code(2)
            .says("error: no word in the file: ");
    }
}

#[test]
fn rules_of_ones_own_are_applied_and_sought() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = planted(folder.path());
    let rules = folder.path().join("own.yaml");
    std::fs::write(&rules, "rules:\n- {name: licences, text: 'LIC-[0-9]{6}'}\n").expect("written");
    let rules = rules.to_str().expect("text");
    let without = import(folder.path(), &input, &["--redact"]);
    let out = kubereel!("scan {without} --redact-extra {rules} -o json")
        .code(1)
        .out;
    assert!(
        out.contains(r#""rule": "licences""#) && out.contains(r#""path": ".message""#),
        "{out}"
    );
    let with = import(
        folder.path(),
        &input,
        &["--redact", "--redact-extra", rules],
    );
    let out = kubereel!("scan {with} --redact-extra {rules} -o json").ok();
    assert_has(&out, r#""verdict": "no-known-secret""#);
    let page = kubereel!("info {with}").ok();
    assert_has(&page, "1 extra rules (");
}

#[test]
fn of_a_damaged_reel_nobody_says_that_nothing_was_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = planted(folder.path());
    let reel = import(folder.path(), &input, &["--redact"]);
    let mut bytes = std::fs::read(&reel).expect("a reel");
    let frame = bytes
        .windows(4)
        .position(|four| four == [0x28, 0xb5, 0x2f, 0xfd])
        .expect("a compressed frame");
    // Of less damage nothing is lost.
    for byte in &mut bytes[frame..] {
        *byte ^= 0x55;
    }
    std::fs::write(&reel, bytes).expect("written");
    let ran = kubereel!("scan {reel}");
    // Damage may be such that the file does not open at all.
    assert!(matches!(ran.code, Some(3 | 4)), "{ran:#?}");
    assert!(
        !ran.err.contains("clean") && !ran.err.contains("\nno known form"),
        "{ran:#?}"
    );
}

#[test]
fn high_entropy_is_listed_apart_and_counts_only_when_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join("events.jsonl");
    let hex = "ghp_canarycanarycanarycanarycanary012345"
        .bytes()
        .fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    let random = r#""message":"unit vQ7pL2mZ9kT4wX8rB3nY6c started""#;
    std::fs::write(&input, line("Event", "events", random)).expect("written");
    let reel = import(folder.path(), input.to_str().expect("text"), &["--redact"]);
    let ran = kubereel!("scan {reel}")
        .code(0)
        .says("no known form of a secret was found")
        .says("high entropy, mostly not secrets: 1 string");
    assert!(
        ran.out.contains("high-entropy") && ran.out.contains(".message"),
        "{ran:#?}"
    );
    assert!(!ran.out.contains("vQ7pL"), "{ran:#?}");
    kubereel!("scan {reel} --strict").code(1);
    let out = kubereel!("scan {reel} -o json").ok();
    assert_has(&out, r#""high_entropy_total": 1"#);

    std::fs::write(
        &input,
        line("Event", "events", &format!(r#""message":"{hex}""#)),
    )
    .expect("written");
    let reel = import(
        folder.path(),
        input.to_str().expect("text"),
        &["--redact", "--force"],
    );
    let ran = kubereel!("scan {reel}").code(1);
    ran.prints("github-token (hex)");
}

#[test]
fn mistakes_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = planted(folder.path());
    let reel = import(folder.path(), &input, &["--redact"]);
    kubereel!("scan {reel} --canary abc")
        .code(2)
        .says("canary 1 is too short: 3 bytes");
    let rules = folder.path().join("own.yaml");
    std::fs::write(&rules, "rules:\n- {name: a, text: '('}\n").expect("written");
    let rules = rules.to_str().expect("text");
    for args in [
        &["scan", &reel, "--redact-extra", rules][..],
        &["record", "-o", "never.reel", "--redact-extra", rules],
    ] {
        kubereel(args)
            .code(2)
            .says("own.yaml:2:")
            .says("not a regular expression");
    }
    kubereel!("scan {reel} --canaries absent.txt")
        .code(2)
        .says("absent.txt: no such file or directory");
}
