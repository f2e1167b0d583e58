//! What holds for every object.

use crate::{redactor, same_shape};
use kubereel_redact::{Extra, Redactor, ResourceType};
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
        let once = redactor.object(&ResourceType::new("", "pods"), text.as_bytes()).unwrap();
        let after: Value = serde_json::from_slice(&once).unwrap();
        // What is no text under `data` of a nested Secret or in a JSON web key becomes one; keys never hold
        // secrets here.
        if ["Secret", "API_TOKEN", "kty"].iter().all(|word| !text.contains(word)) {
            prop_assert!(same_shape(&value, &after), "{} {}", value, after);
        }
    }

    #[test]
    fn the_quick_way_and_the_slow_way_find_the_same(subject in subject(), value in value()) {
        // With a rule of the user's own every text is searched, and every object walked over.
        let rule = "rules:\n- {name: never, text: 'never-in-any-text-[0-9]{30}'}\n";
        let slow = Redactor::new(Extra::read("own.yaml", rule).unwrap()).unwrap();
        let text = value.to_string();
        prop_assert_eq!(
            redactor().findings(&subject, text.as_bytes()),
            slow.findings(&subject, text.as_bytes())
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
