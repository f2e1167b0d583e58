//! Any bytes as an object of several kinds, and as a text: redacted without a panic, JSON stays
//! JSON, and a second redaction changes nothing.
#![no_main]

use kubereel_redact::{Extra, Redactor, ResourceType};
use std::sync::LazyLock;

static REDACTOR: LazyLock<Redactor> =
    LazyLock::new(|| Redactor::new(Extra::default()).expect("random bytes"));

fn is_json(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok() && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for subject in [
        ResourceType::new("", "pods"),
        ResourceType::new("", "secrets"),
        ResourceType::new("", "configmaps"),
        ResourceType::new("oauth.openshift.io", "oauthaccesstokens"),
        ResourceType::new("config.openshift.io", "proxies"),
    ] {
        if let Some(once) = REDACTOR.object(&subject, bytes) {
            assert!(is_json(&once) || !is_json(bytes), "still JSON");
            if is_json(bytes) {
                let twice = REDACTOR.object(&subject, &once).expect("readable as before");
                assert_eq!(twice, once, "a second time");
            }
        }
    }
    let _text = REDACTOR.text(bytes);
});
