//! Forms that no server sends, and objects that cannot be read.

use crate::{redacted, redactor};
use kubereel_redact::ResourceType;

#[test]
fn nothing_hides_behind_odd_forms() {
    let secret = ResourceType::new("", "secrets");
    for text in [
        r#"{"d\u0061ta":{"k":"CANARY"}}"#,
        r#"{"data":{"k":"CANARY"},"data":{"k":"CANARY"}}"#,
        r#"{"Data":{"k":"CANARY"},"STRINGDATA":{"k":"CANARY"}}"#,
        r#"{"data":"CANARY"}"#,
        r#"{"data":["CANARY"]}"#,
        r#"{"data":{"k":{"deep":["CANARY"]}}}"#,
        r#"{"data":{"k":"CANARY","k":"CANARY"}}"#,
        r#"{ "data" : { "k" : "CANARY" } } "#,
        r#"{"metadata":{"annotations":{"kubectl.kubernetes.io/last-\u0061pplied-configuration":"CANARY"}}}"#,
        r#"{"data":{"k":"redacted by kubereel: 6 bytes, CANARY0000000000"}}"#,
        r#"{"data":{"k":"redacted by kubereel: 6 bytes, 0123456789abcdef CANARY"}}"#,
    ] {
        let redacted = redacted(&secret, text);
        assert!(!redacted.contains("CANARY"), "{redacted}");
    }
}

#[test]
fn escapes_that_no_server_writes_hide_nothing() {
    let event = ResourceType::new("", "events");
    for (text, gone) in [
        (r#"{"m":"http:\/\/user:canary@host"}"#, "canary"),
        (r#"{"m":"p\u0061ssword=canary-1"}"#, "canary"),
        (
            r#"{"m":"-----BEGIN PRIVATE\u0020KEY-----canary"}"#,
            "canary",
        ),
        (
            r#"{"m":"\u0065yJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJj.c2ln"}"#,
            "Jzd",
        ),
        (
            r#"{"spec":{"containers":[{"\u0065nv":[{"n\u0061me":"TOKEN","value":"canary"}]}]}}"#,
            "canary",
        ),
        (
            r#"{"env":[{"name":"TOKEN","value":"a","value":"canary"}]}"#,
            "canary",
        ),
        (
            r#"{"env":[{"name":"A","name":"TOKEN","value":"canary"}]}"#,
            "canary",
        ),
        (r#"{"env":[{"name":"TOKEN","value":["canary"]}]}"#, "canary"),
        (
            r#"{"sha256~canarycanarycanary":"a key of an object"}"#,
            "canary",
        ),
    ] {
        let redacted = redacted(&event, text);
        assert!(!redacted.contains(gone), "{redacted}");
    }
}

#[test]
fn without_secrets_nothing_changes() {
    let secret = ResourceType::new("", "secrets");
    for text in [
        r#"{"metadata":{"name":"s"},"data":null}"#,
        r#"{ "metadata" : {"annotations":null} , "data" : {} }"#,
        r#"{"data":{"a":""},"x":1e3,"n":100000000000000000000000000000001}"#,
        "{}",
    ] {
        assert_eq!(redacted(&secret, text), text);
    }
}

#[test]
fn of_a_kind_with_secrets_nothing_unreadable_is_kept() {
    let redactor = redactor();
    for text in [
        "",
        "{",
        r#"{"data":{"k":"CANARY"}"#,
        "{} {}",
        "{\"a\" 1}",
        "\u{1}",
    ] {
        for plural in ["secrets", "configmaps"] {
            let subject = ResourceType::new("", plural);
            assert_eq!(redactor.object(&subject, text.as_bytes()), None, "{text}");
        }
        let events = ResourceType::new("", "events");
        let kept = redactor.object(&events, text.as_bytes()).unwrap();
        assert_eq!(&*kept, text.as_bytes());
    }
    let secrets = ResourceType::new("", "secrets");
    assert_eq!(redactor.object(&secrets, b"{\"a\":\"\xff\"}"), None);
    let events = ResourceType::new("", "events");
    let kept = redactor
        .object(&events, b"{\"a\":\"\xff password=canary-1")
        .unwrap();
    assert!(!String::from_utf8_lossy(&kept).contains("canary"));
}

#[test]
fn depth_ends_the_reading_and_not_the_program() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let redactor = redactor();
    let kept = redactor
        .object(&ResourceType::new("", "secrets"), deep.as_bytes())
        .unwrap();
    assert!(kept.len() < 1000, "what is deep is replaced whole");
    assert!(
        redactor
            .object(&ResourceType::new("", "pods"), deep.as_bytes())
            .is_some()
    );
    let kinds = format!(
        "{}{}",
        r#"{"kind":"Secret","a":"#.repeat(150),
        "1".to_owned() + &"}".repeat(150)
    );
    assert!(
        redactor
            .object(&ResourceType::new("", "pods"), kinds.as_bytes())
            .is_some()
    );
}
