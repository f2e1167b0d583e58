//! What holds for every object.

use crate::{redactor, same_shape};
use kubereel_redact::Subject;
use proptest::prelude::*;
use serde_json::{Map, Value};

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
        Just("spec".to_owned()),
        "[a-z]{1,6}",
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
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(key(), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn subject() -> impl Strategy<Value = Subject<'static>> {
    prop_oneof![
        Just(Subject::new("", "pods")),
        Just(Subject::new("", "secrets")),
        Just(Subject::new("", "configmaps")),
        Just(Subject::new("oauth.openshift.io", "oauthaccesstokens")),
        Just(Subject::new("config.openshift.io", "proxies")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

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
        let once = redactor.object(&Subject::new("", "pods"), text.as_bytes()).unwrap();
        let after: Value = serde_json::from_slice(&once).unwrap();
        // A value under `data` of a nested Secret that is no text becomes one; keys never hold secrets here.
        if !text.contains("Secret") && !text.contains("API_TOKEN") {
            prop_assert!(same_shape(&value, &after), "{} {}", value, after);
        }
    }

    #[test]
    fn bytes_of_any_kind_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let redactor = redactor();
        for subject in [Subject::new("", "secrets"), Subject::new("", "pods")] {
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
