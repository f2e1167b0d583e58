//! What the words of an error say about the kind of failure; they are in lower case.

fn has_any(words: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| words.contains(part))
}

/// Returns whether somebody may not do something.
pub(super) fn is_forbidden(words: &str) -> bool {
    let parts = [
        "forbidden",
        "unauthorized",
        "cannot list",
        "cannot get",
        "cannot create",
    ];
    has_any(words, &parts)
}

/// Returns whether the name of a host could not be resolved.
pub(super) fn is_unresolved(words: &str) -> bool {
    let parts = [
        "could not resolve",
        "enotfound",
        "getaddrinfo",
        "host not found",
        "name or service not known",
        "name resolution",
        "no such host",
        "server misbehaving",
        "translate host name",
        "unknownhostexception",
        "unresolved address",
    ];
    has_any(words, &parts)
}

/// Returns whether an address could not be reached.
pub(super) fn is_unreachable(words: &str) -> bool {
    let parts = [
        "bad gateway",
        "cannot connect",
        "can't connect",
        "connection refused",
        "connection reset",
        "connection timed out",
        "connection to server",
        "could not connect",
        "econnrefused",
        "ehostunreach",
        "etimedout",
        "failed to connect",
        "i/o timeout",
        "network is unreachable",
        "no brokers",
        "no healthy upstream",
        "no route to host",
        "nobrokersavailable",
    ];
    is_unresolved(words) || has_any(words, &parts)
}

/// Returns whether a program answered that something behind it does not work.
fn is_bad_answer(words: &str) -> bool {
    let parts = [
        "service unavailable",
        "statuscode: 50",
        "status code 50",
        "status code: 50",
        "gateway timeout",
        "upstream",
        " 502",
        " 503",
        " 504",
    ];
    has_any(words, &parts)
}

/// Returns whether a registry refused the credentials for an image.
pub(super) fn is_pull_refused(words: &str) -> bool {
    let parts = [
        "401",
        "authentication required",
        "authorization failed",
        "failed to authorize",
        "incorrect username or password",
        "unauthorized",
    ];
    has_any(words, &parts)
}

/// Returns whether a proxy was called in vain.
pub(super) fn is_about_proxy(words: &str) -> bool {
    has_any(
        words,
        &["proxyconnect", "proxy authentication", "via proxy"],
    )
}

/// Returns whether a program may not use files or devices as the user that it runs as.
pub(super) fn is_about_user(words: &str) -> bool {
    let parts = [
        "eacces",
        "operation not permitted",
        "ownership",
        "permission denied",
        "read-only file system",
        "user that owns",
    ];
    has_any(words, &parts)
}

/// Returns whether something took longer than it may.
pub(super) fn is_timeout(words: &str) -> bool {
    has_any(words, &["deadline exceeded", "timed out", "timeout"])
}

/// Returns whether a request was denied by a policy.
pub(super) fn is_denied(words: &str) -> bool {
    has_any(words, &["denied", "violat", "disallowed", "not allowed"])
}

/// Returns whether the answer of another program refused a request for who made it.
pub(super) fn is_refused(words: &str) -> bool {
    let parts = [
        "statuscode: 403",
        "status code: 403",
        "code: 403",
        "not authorized",
        "accessdenied",
        "permission denied",
    ];
    is_forbidden(words) || is_login_refused(words) || has_any(words, &parts)
}

/// Returns whether a Node has no network because of the program that makes it.
pub(crate) fn is_about_network_plugin(words: &str) -> bool {
    has_any(
        words,
        &["network plugin", "networkpluginnotready", "cni plugin"],
    )
}

/// Returns whether a login was refused.
pub(super) fn is_login_refused(words: &str) -> bool {
    let parts = [
        "authentication failed",
        "authentication failure",
        "access denied",
        "login failed",
        "invalid credentials",
        "invalid password",
        "wrongpass",
        "unauthorized",
    ];
    has_any(words, &parts)
}

/// Returns whether a certificate was refused.
pub(super) fn is_certificate_refused(words: &str) -> bool {
    has_any(words, &["x509", "certificate", "tls handshake"])
}

/// Returns whether a call of another program failed.
pub(super) fn is_about_call(words: &str) -> bool {
    is_unreachable(words)
        || is_bad_answer(words)
        || is_login_refused(words)
        || is_certificate_refused(words)
}

/// Returns whether the API server does not serve a kind.
pub(super) fn is_about_missing_kind(words: &str) -> bool {
    let parts = [
        "no matches for kind",
        "could not find the requested resource",
        "doesn't have a resource type",
    ];
    has_any(words, &parts)
}
