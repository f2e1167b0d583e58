//! Properties of every object: hostile forms hide no secret, and random objects keep their shape
//! and lose their secrets.

use crate::{redacted, redactor, same_shape};
use kubereel_redact::{Extra, RedactionFinding, Redactor, ResourceType};
use proptest::prelude::*;
use serde_json::{Map, Value};

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
fn texts_that_uncover_another_finding_with_each_search_end_as_marks() {
    let pod = ResourceType::new("", "pods");
    // Each replacement removes the `>` that ended the value before the next name.
    let found_by_fuzzing =
        r#""ab[auth1=5[[%0A>$a+authtauBauss%0%0A>$a+authtauBauss%0A%0z.A%0z..$C|n""#;
    redacted(&pod, found_by_fuzzing);
    for deep in [1, 5, 20] {
        let text = "auth1=5[%0A>$a".repeat(deep);
        redacted(
            &pod,
            &format!(r#"{{"{text}":"{text}","b":["{text}",{{"c":"plain"}}]}}"#),
        );
        let once = redactor().text(text.as_bytes()).into_owned();
        assert_eq!(redactor().text(&once), once.as_slice(), "{text}");
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

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,20}",
        "[A-Za-z0-9+/=_-]{0,60}",
        Just("password=hunter2, and more".to_owned()),
        Just("-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----".to_owned()),
        Just("eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJl".to_owned()),
        Just("cGFzc3dvcmQ6IGh1bnRlcjIgYW5kIG1vcmU=".to_owned()),
        Just("http%3A%2F%2Fuser%3Apass%40host".to_owned()),
        Just("http://user:pw@host/?token=abcdef".to_owned()),
        Just(r#"{"kind":"Secret","data":{"k":"QQ=="}}"#.to_owned()),
        Just("--token".to_owned()),
        Just("hunter2x".to_owned()),
        Just("a:\n- name: API_TOKEN\n  value: |\n    hunter2x\n    more\n".to_owned()),
        Just("kind: Secret\ndata:\n  a: aHVudGVyMng=\n  b: {c: d}\n".to_owned()),
        Just("<a><password>hunter2x</password></a>".to_owned()),
        "(name|value|password|tokens|kind|data|- |\\{|\\[){1,3}: ?[|>\"'a-z{\\[ ]{0,4}(\n|,| ){1,2}( |-|[a-z]){0,6}",
        "(password|token|auth|Bearer|sha256~|AKIA|\\$2y\\$)[=: \"~]{1,3}[A-Za-z0-9%]{0,30}",
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("data".to_owned()),
        Just("metadata".to_owned()),
        Just("annotations".to_owned()),
        Just("env".to_owned()),
        Just("name".to_owned()),
        Just("value".to_owned()),
        Just("kind".to_owned()),
        Just("args".to_owned()),
        Just("password".to_owned()),
        Just("apiKey".to_owned()),
        Just("secret".to_owned()),
        Just("default".to_owned()),
        Just("managedFields".to_owned()),
        Just("fieldsV1".to_owned()),
        Just("f:tokens".to_owned()),
        Just(r#"v:"hunter2x""#.to_owned()),
        Just(r#"k:{"name":"API_TOKEN","value":"hunter2x"}"#.to_owned()),
        Just("spec".to_owned()),
        Just("fieldsV1".to_owned()),
        Just("managedFields".to_owned()),
        Just("f:password".to_owned()),
        Just("v:\"hunter2hunter\"".to_owned()),
        Just("connection string".to_owned()),
        Just("kty".to_owned()),
        Just("d".to_owned()),
        Just("kubectl.kubernetes.io/last-applied-configuration".to_owned()),
        Just("to\\ken".to_owned()),
        "[a-z]{1,6}",
        "[a-z./ -]{0,3}(token|pass|user data|pw)[ A-Z./:-]{0,4}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        word().prop_map(Value::String),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::Bool),
        Just(Value::Null),
        Just(Value::String("Secret".to_owned())),
        Just(Value::String("API_TOKEN".to_owned())),
        Just(Value::String("HTTPS_PROXY".to_owned())),
        Just(Value::String("RSA".to_owned())),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(key(), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn subject() -> impl Strategy<Value = ResourceType<'static>> {
    prop_oneof![
        Just(ResourceType::new("", "pods")),
        Just(ResourceType::new("", "secrets")),
        Just(ResourceType::new("", "configmaps")),
        Just(ResourceType::new("oauth.openshift.io", "oauthaccesstokens")),
        Just(ResourceType::new("config.openshift.io", "proxies")),
    ]
}

/// A policy that searches every text and walks over every object: with a rule of the user, all is suspicious, and no part
/// is taken for known.
fn slow() -> Redactor {
    let rule = "rules:\n- {name: never, text: 'never-in-any-text-[0-9]{30}'}\n";
    Redactor::new(Extra::read("own.yaml", rule).unwrap()).unwrap()
}

/// What a policy finds, without the hashes of marks in paths: each policy has its own key.
fn found(policy: &Redactor, subject: &ResourceType<'_>, text: &str) -> Vec<RedactionFinding> {
    let mut findings = policy.findings(subject, text.as_bytes());
    for finding in &mut findings {
        let parts = finding.path.split("-bytes-");
        let parts = parts.enumerate().map(|(place, part)| match place {
            0 => part,
            _ => part.get(16..).unwrap_or(part),
        });
        finding.path = parts.collect();
    }
    findings
}

/// Objects of a few parts, each of them again and again: at the same place, at another one, and beside other parts.
fn versions() -> impl Strategy<Value = Vec<Value>> {
    let part = (value(), any::<bool>()).prop_map(|(value, is_list)| {
        let long = "long enough to be known again, by its bytes and its path";
        if is_list {
            serde_json::json!([value, long])
        } else {
            serde_json::json!({"a": value, "b": long})
        }
    });
    prop::collection::vec(part, 2..5).prop_flat_map(|parts| {
        let leaf = prop_oneof![
            4 => prop::sample::select(parts),
            1 => word().prop_map(Value::String),
            1 => prop::sample::select(vec!["--password", "mysql", "TOKEN", "Secret", "--token=abcdefgh1"])
                .prop_map(Value::from),
        ];
        let object = leaf.prop_recursive(2, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..4).prop_map(Value::Array),
                prop::collection::btree_map(key(), inner, 1..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
            ]
        });
        let object = prop::collection::btree_map(key(), object, 1..4);
        let object = object.prop_map(|map| Value::Object(map.into_iter().collect()));
        prop::collection::vec(object, 2..6)
    })
}

#[test]
fn a_part_that_had_no_secret_has_one_where_something_else_announces_it() {
    let pod = ResourceType::new("", "pods");
    let quick = redactor();
    let part = r#"{"words":"hunter-2-in-a-part-that-is-long-enough-to-be-known"}"#;
    let list = r#"["plain","-phunter-2-in-a-part-that-is-long-enough-to-be-known"]"#;
    let program = r#"["mysql","--host=database.shop.svc.cluster.local","--compress"]"#;
    let owned = r#"{"managedFields":[{"fieldsV1":{"f:spec":{"f:words":{"v:\"hunter-2\"":{}}}}}]}"#;
    for (harmless, harmful) in [
        (
            format!(r#"{{"a":[{{"name":"A","value":{part}}}]}}"#),
            format!(r#"{{"a":[{{"name":"TOKEN","value":{part}}}]}}"#),
        ),
        (
            format!(r#"{{"spec":{{"args":{list},"command":["sh"]}}}}"#),
            format!(r#"{{"spec":{{"args":{list},"command":["mysql"]}}}}"#),
        ),
        (
            format!(r#"{{"spec":{{"command":{program}}}}}"#),
            format!(r#"{{"spec":{{"command":{program},"args":["-phunter-2"]}}}}"#),
        ),
        (
            format!(r#"{{"a":[{{"kind":"ConfigMaps","data":{part}}}]}}"#),
            format!(r#"{{"a":[{{"kind":"Secret","data":{part}}}]}}"#),
        ),
        (
            format!(r#"{{"env":[{{"name":"A","value":"hunter-2"}}],"metadata":{owned}}}"#),
            format!(r#"{{"env":[{{"name":"TOKEN","value":"hunter-2"}}],"metadata":{owned}}}"#),
        ),
    ] {
        for _ in 0..2 {
            assert_eq!(quick.findings(&pod, harmless.as_bytes()), [], "{harmless}");
        }
        let found = quick.findings(&pod, harmful.as_bytes());
        assert!(!found.is_empty(), "{harmful}");
        assert_eq!(found, slow().findings(&pod, harmful.as_bytes()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_known_of_other_objects_hides_nothing(subject in subject(), versions in versions()) {
        let (quick, slow) = (redactor(), slow());
        for version in versions.iter().chain(&versions) {
            let text = version.to_string();
            prop_assert_eq!(found(&quick, &subject, &text), found(&slow, &subject, &text));
            let once = quick.object(&subject, text.as_bytes()).unwrap().into_owned();
            prop_assert!(slow.findings(&subject, &once).is_empty());
        }
    }

    #[test]
    fn a_second_time_changes_nothing(subject in subject(), value in value()) {
        let redactor = redactor();
        let text = value.to_string();
        let once = redactor.object(&subject, text.as_bytes()).unwrap().into_owned();
        let twice = redactor.object(&subject, &once).unwrap().into_owned();
        prop_assert_eq!(String::from_utf8_lossy(&twice), String::from_utf8_lossy(&once));
        prop_assert!(redactor.findings(&subject, &once).is_empty());
    }

    #[test]
    fn an_object_keeps_its_shape(value in value()) {
        let redactor = redactor();
        let text = value.to_string();
        let once = redactor.object(&ResourceType::new("", "pods"), text.as_bytes()).unwrap();
        let after: Value = serde_json::from_slice(&once).unwrap();
        // Values that are not texts, under `data` of a nested Secret or in a JSON web key, become
        // texts; keys never contain secrets here.
        if ["Secret", "API_TOKEN", "kty"].iter().all(|word| !text.contains(word)) {
            prop_assert!(same_shape(&value, &after), "{} {}", value, after);
        }
    }

    #[test]
    fn the_quick_way_and_the_slow_way_find_the_same(subject in subject(), value in value()) {
        let text = value.to_string();
        prop_assert_eq!(
            found(&redactor(), &subject, &text),
            found(&slow(), &subject, &text)
        );
    }

    #[test]
    fn bytes_of_any_kind_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let redactor = redactor();
        for subject in [ResourceType::new("", "secrets"), ResourceType::new("", "pods")] {
            if let Some(kept) = redactor.object(&subject, &bytes) {
                let kept = kept.into_owned();
                prop_assert_eq!(&*redactor.object(&subject, &kept).unwrap(), &kept[..]);
            }
        }
    }

    #[test]
    fn a_text_without_a_suspicion_is_the_same_bytes(text in "[a-z ,.]{0,200}") {
        let redactor = redactor();
        prop_assert!(matches!(redactor.words(&text), std::borrow::Cow::Borrowed(_)));
    }
}
