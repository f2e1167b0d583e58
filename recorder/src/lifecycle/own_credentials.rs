//! Which values of a kubeconfig, of the files that it names and of the environment are credentials of this
//! process: they are remembered, so that no word that leaves it holds them.
//!
//! Whatever a user entry holds is a credential unless its field is known to be public: a field that a
//! newer client or a typing error brings is not trusted. What a plugin or the pod's service account
//! gives is remembered by the client, from the header of each request.

use kube::config::{AuthInfo, Kubeconfig};
use kubereel_redact::KnownCredentials;
use serde_json::Value;
use std::path::Path;

/// Fields of a user that are public: names of users, of groups and of files, and certificates.
const PUBLIC_OF_USER: [&str; 9] = [
    "username",
    "tokenFile",
    "client-certificate",
    "client-certificate-data",
    "as",
    "as-uid",
    "as-groups",
    "as-user-extra",
    "extensions",
];

/// Fields of an authentication provider that are public.
const PUBLIC_OF_PROVIDER: [&str; 7] = [
    "cmd-path",
    "expiry",
    "expiry-key",
    "token-key",
    "idp-issuer-url",
    "client-id",
    "idp-certificate-authority",
];

/// Fields of a credential plugin that are public; its arguments and environment are not.
const PUBLIC_OF_EXEC: [&str; 6] = [
    "apiVersion",
    "command",
    "drop_env",
    "interactiveMode",
    "installHint",
    "provideClusterInfo",
];

/// Variables that may hold the address of a proxy.
const PROXY_VARIABLES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];

/// Remembers the credentials of a kubeconfig.
pub(super) fn remember(kubeconfig: &Kubeconfig) {
    let known = KnownCredentials::of_process();
    for cluster in kubeconfig.clusters.iter().flat_map(|named| &named.cluster) {
        for url in [&cluster.server, &cluster.proxy_url].into_iter().flatten() {
            known.remember_url(url);
        }
    }
    for user in kubeconfig
        .auth_infos
        .iter()
        .flat_map(|named| &named.auth_info)
    {
        remember_user(known, user);
    }
}

/// Remembers the passwords of the proxies that the environment names: they hold for every kubeconfig
/// that names none.
pub(super) fn remember_environment() {
    for name in PROXY_VARIABLES {
        if let Ok(url) = std::env::var(name) {
            KnownCredentials::of_process().remember_url(&url);
        }
    }
}

fn remember_user(known: &KnownCredentials, user: &AuthInfo) {
    // The form in which a kubeconfig is written: it has the secrets in plain text.
    let Ok(Value::Object(fields)) = serde_json::to_value(user) else {
        return;
    };
    if let (Some(name), Some(Value::String(password))) = (&user.username, fields.get("password")) {
        known.remember_login(name.as_bytes(), password.as_bytes());
    }
    for (name, value) in &fields {
        match (name.as_str(), value) {
            ("exec", Value::Object(exec)) => {
                for (name, value) in exec {
                    match (name.as_str(), value) {
                        ("env", Value::Array(variables)) => {
                            for value in variables.iter().filter_map(|one| one.get("value")) {
                                remember_texts(known, value);
                            }
                        }
                        (name, value) if !PUBLIC_OF_EXEC.contains(&name) => {
                            remember_texts(known, value);
                        }
                        _ => {}
                    }
                }
            }
            ("auth-provider", provider) => {
                let config = provider.get("config").and_then(Value::as_object);
                for (name, value) in config.into_iter().flatten() {
                    if !PUBLIC_OF_PROVIDER.contains(&name.as_str()) {
                        remember_texts(known, value);
                    }
                }
            }
            (name, value) if !PUBLIC_OF_USER.contains(&name) => remember_texts(known, value),
            _ => {}
        }
    }
}

/// Remembers every text within a value. A flag keeps its name, and a path of a file that is there is not
/// a secret.
fn remember_texts(known: &KnownCredentials, value: &Value) {
    match value {
        Value::String(text) => {
            let text = match text.split_once('=') {
                Some((flag, value)) if flag.starts_with('-') => value,
                None if text.starts_with('-') && !text.starts_with("-----") => return,
                _ => text,
            };
            if !(text.starts_with('/') && Path::new(text).exists()) {
                known.remember(text.as_bytes());
            }
        }
        Value::Array(values) => {
            for value in values {
                remember_texts(known, value);
            }
        }
        Value::Object(fields) => {
            for value in fields.values() {
                remember_texts(known, value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
