//! Owns what a name says about its value: fields, environment variables. Refuses values.

/// The endings of the names of fields whose text is a secret, without dashes, in small letters.
const FIELD_ENDINGS: [&str; 16] = [
    "password",
    "passwd",
    "passphrase",
    "passwordhash",
    "clientsecret",
    "webhooksecret",
    "httpsecret",
    "secretaccesskey",
    "accesstoken",
    "refreshtoken",
    "bearertoken",
    "sessiontoken",
    "authtoken",
    "apitoken",
    "apikey",
    "privatekey",
];

/// Names of fields that are secret only if nothing stands before them.
const FIELDS: [&str; 12] = [
    "token",
    "auth",
    "identitytoken",
    "pullsecret",
    "accountkey",
    "secretkey",
    "userdata",
    "userdatabase64",
    "networkdata",
    "networkdatabase64",
    "dockerconfigjson",
    "cabundlekey",
];

/// What in the name of an environment variable says that it is a secret.
const VARIABLE_PARTS: [&str; 8] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "KEY",
    "CREDENTIAL",
    "AUTH",
];

/// Tells whether a field's text is a secret, by its name.
pub(crate) fn is_secret_field(name: &str) -> bool {
    // Longer names than that are no names of fields.
    // Those with a colon are lists of who owns which field.
    if name.len() > 64 || name.len() < 4 || name.contains(':') {
        return false;
    }
    let last = name.as_bytes().last().map(u8::to_ascii_lowercase);
    // Most fields end otherwise: they cost one look.
    if !matches!(
        last,
        Some(b'd' | b'e' | b'h' | b't' | b'y' | b'n' | b'a' | b'4')
    ) {
        return false;
    }
    let bare: String = name
        .chars()
        .filter(|letter| !matches!(letter, '-' | '_'))
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    FIELDS.contains(&bare.as_str()) || FIELD_ENDINGS.iter().any(|ending| bare.ends_with(ending))
}

/// What is to be done with the value of an environment variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    /// Nothing.
    Plain,
    /// It is a secret.
    Secret,
    /// It may be a URL with a user and a password.
    Proxy,
}

/// Judges an environment variable by its name and value.
pub(crate) fn variable(name: &str, value: &str) -> Variable {
    let name = name.to_ascii_uppercase();
    if name.ends_with("_PROXY") {
        return Variable::Proxy;
    }
    let is_named = VARIABLE_PARTS.iter().any(|part| name.contains(part));
    if is_named && !is_harmless(&name, value) {
        Variable::Secret
    } else {
        Variable::Plain
    }
}

/// Tells whether a value says nothing, wherever it stands: nothing, yes or no, a reference, or in a
/// variable of that name, a path.
fn is_harmless(name: &str, value: &str) -> bool {
    let is_place = ["FILE", "PATH", "DIR"]
        .iter()
        .any(|end| name.ends_with(end));
    let is_path =
        value.starts_with('/') && !value.contains(|one: char| one.is_whitespace() || one == '=');
    value.is_empty()
        || value.eq_ignore_ascii_case("true")
        || value.eq_ignore_ascii_case("false")
        || is_reference(value)
        || is_place && is_path
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_fields_tell_secrets() {
        for name in [
            "password",
            "adminPassword",
            "client_secret",
            "clientSecret",
            "token",
            "privateKey",
            "userDataBase64",
            "auth",
            "API-KEY",
        ] {
            assert!(is_secret_field(name), "{name}");
        }
        for name in [
            "name",
            "key",
            "secretName",
            "tokenExpirationSeconds",
            "authorization",
            "f:password",
            "passwordSecretRef",
            "tolerations",
        ] {
            assert!(!is_secret_field(name), "{name}");
        }
    }

    #[test]
    fn names_of_variables_tell_secrets() {
        for (name, value, expected) in [
            ("DB_PASSWORD", "x", Variable::Secret),
            ("aws_secret_access_key", "x", Variable::Secret),
            ("GITHUB_TOKEN", "$(OTHER)", Variable::Plain),
            ("GITHUB_TOKEN", "$(OTHER)x", Variable::Secret),
            ("USE_AUTH", "true", Variable::Plain),
            ("TLS_KEY_FILE", "/etc/tls/key.pem", Variable::Plain),
            ("TLS_KEY", "/etc/tls/key.pem", Variable::Secret),
            ("HTTPS_PROXY", "http://a:b@c", Variable::Proxy),
            ("https_proxy", "", Variable::Proxy),
            ("HOME", "/root", Variable::Plain),
        ] {
            assert_eq!(variable(name, value), expected, "{name}={value}");
        }
    }
}
