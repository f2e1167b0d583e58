//! Owns the allow-list of `ConfigMaps`: whose values are kept. Refuses all others: a `ConfigMap` holds
//! what somebody wanted to configure, and that is a password often enough.

use crate::certificates::is_only_certificates;
use crate::forms::{self, ValueForm};
use crate::names::{self, NameClass};
use serde::Deserialize;

/// Namespace, name, key (or its beginning, before `*`), and why it is kept.
const KEPT: [(&str, &str, &str, &str); 7] = [
    (
        "kube-system",
        "extension-apiserver-authentication",
        "requestheader-*",
        "names of headers and of the proxies that may send them",
    ),
    (
        "kube-system",
        "kube-apiserver-legacy-service-account-token-tracking",
        "since",
        "a date",
    ),
    (
        "kube-system",
        "bootstrap",
        "status",
        "how far an installation is",
    ),
    (
        "openshift-config",
        "admin-acks",
        "*",
        "which upgrades an administrator agreed to",
    ),
    (
        "openshift-config-managed",
        "admin-gates",
        "*",
        "what an administrator must agree to before an upgrade",
    ),
    (
        "openshift-machine-config-operator",
        "machine-config-osimageurl",
        "*",
        "the release and its images",
    ),
    (
        "openshift-machine-config-operator",
        "coreos-bootimages",
        "*",
        "the public list of images that machines start from",
    ),
];

/// What is read of a `ConfigMap` before its values.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Identity {
    #[serde(default)]
    metadata: Names,
}

#[derive(Debug, Default, Deserialize)]
struct Names {
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    uid: String,
}

impl Identity {
    /// Reads it; what cannot be read is nobody.
    pub(crate) fn read(object: &str) -> Self {
        serde_json::from_str(object).unwrap_or_default()
    }

    /// Gives the uid.
    pub(crate) fn uid(&self) -> &str {
        &self.metadata.uid
    }

    /// Tells whether a value of `data` is kept.
    pub(crate) fn keeps(&self, key: &str, value: &str) -> bool {
        let is_listed = KEPT.iter().any(|(namespace, name, pattern, _)| {
            *namespace == self.metadata.namespace
                && *name == self.metadata.name
                && match pattern.strip_suffix('*') {
                    Some(begin) => key.starts_with(begin),
                    None => key == *pattern,
                }
        });
        is_listed || is_only_certificates(value) || is_plain(key, value)
    }
}

/// Words that say how something went or is set, which no key of a `ConfigMap` makes a secret.
const WORDS: [&str; 24] = [
    "abandoned",
    "always",
    "complete",
    "completed",
    "critical",
    "debug",
    "default",
    "disabled",
    "enabled",
    "error",
    "failed",
    "inprogress",
    "info",
    "json",
    "managed",
    "never",
    "normal",
    "pending",
    "removed",
    "running",
    "succeeded",
    "text",
    "unmanaged",
    "warning",
];

/// Tells whether a value is kept by what it is: of a form that is no secret, or YAML of such values only.
fn is_plain(key: &str, value: &str) -> bool {
    let class = names::class(key);
    let is_text_of_words = || match forms::form(value) {
        ValueForm::Nothing | ValueForm::Location | ValueForm::Name | ValueForm::Number => true,
        ValueForm::Word => WORDS
            .iter()
            .any(|word| value.trim().eq_ignore_ascii_case(word)),
        ValueForm::Other => false,
    };
    class <= NameClass::Related && (is_text_of_words() || forms::is_plain_yaml(value))
        || class > NameClass::Related && forms::is_kept(class, value) && is_text_of_words()
        || class == NameClass::Possible && forms::is_plain_yaml(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_listed_is_kept() {
        let of = |namespace: &str, name: &str| {
            Identity::read(&format!(
                r#"{{"metadata":{{"namespace":"{namespace}","name":"{name}"}}}}"#
            ))
        };
        let gates = of("openshift-config-managed", "admin-gates");
        assert!(gates.keeps("ack-4.18", "a text"));
        assert!(!of("default", "admin-gates").keeps("ack-4.18", "a text"));
        let headers = of("kube-system", "extension-apiserver-authentication");
        assert!(headers.keeps("requestheader-allowed-names", "[]"));
        assert!(!headers.keeps("client-ca-file", "no certificate"));
        let certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
        assert!(Identity::read("{").keeps("ca.crt", certificate));
        assert!(!Identity::read("{").keeps("ca.crt", "x"));
        for (.., why) in KEPT {
            assert!(!why.is_empty());
        }
    }
}
