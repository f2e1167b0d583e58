//! Values that are references, kinds whose names are secrets.

/// Tells whether a value is one reference to a variable, as Kubernetes spells it.
pub(crate) fn is_reference(value: &str) -> bool {
    value
        .strip_prefix("$(")
        .and_then(|rest| rest.strip_suffix(')'))
        .is_some_and(|name| {
            name.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        })
}

/// Tells whether objects of a kind have a token for a name.
pub(crate) fn has_secret_name(kind: &str) -> bool {
    [
        "OAuthAccessToken",
        "OAuthAuthorizeToken",
        "UserOAuthAccessToken",
    ]
    .iter()
    .any(|one| one.eq_ignore_ascii_case(kind))
}
