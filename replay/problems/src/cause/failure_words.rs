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
        "could not resolve",
        "econnrefused",
        "ehostunreach",
        "etimedout",
        "failed to connect",
        "getaddrinfo",
        "host not found",
        "i/o timeout",
        "name or service not known",
        "name resolution",
        "network is unreachable",
        "no brokers",
        "no healthy upstream",
        "no route to host",
        "no such host",
        "nobrokersavailable",
        "unknownhostexception",
    ];
    has_any(words, &parts)
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
pub(crate) fn is_about_call(words: &str) -> bool {
    is_unreachable(words) || is_login_refused(words) || is_certificate_refused(words)
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
