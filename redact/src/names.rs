//! Classifies names by whether they announce a secret.
//!
//! One list applies to fields, labels, annotations, environment variables, flags, parameters,
//! elements of XML and keys in texts. A name is split into words first, so that `apiKey`,
//! `api_key`, `API-KEY` and `apikey` are the same name. The last word describes the value
//! (`tokenTtl` is a duration, not a token); the words before it describe its owner.

use crate::memo::Memo;

/// What a name announces about its value, in ascending order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NameClass {
    /// Nothing about secrets.
    #[default]
    Plain,
    /// A property of a secret, such as its name, file or lifetime.
    Related,
    /// A field of an unknown name below a name that is a secret: `password: {current: {clear: …}}`.
    Nested,
    /// A secret is mentioned, and the last word is unknown: `TOKEN_FOR_BOB`, `AUTH_MAX`.
    Mentions,
    /// A secret, or the name of an object that contains it: `secret`, `auth`, `credentials`,
    /// `someKey`.
    Possible,
    /// A secret: `password`, `token`, `apiKey`.
    Secret,
}

/// Words whose value is a secret.
#[rustfmt::skip]
const SECRETS: [&str; 19] = [
    "password", "passwd", "passphrase", "passcode", "pwd", "psk", "dsn", "jwt", "cookie", "token", "pincode",
    "htpasswd", "dockerconfigjson", "dockercfg", "connectionstring", "connstring", "connstr",
    "masterauth", "primaryauth",
];

/// Words that announce a secret only at the end of a name: elsewhere they mean other things.
const SECRETS_AT_END: [&str; 4] = ["pass", "pw", "pin", "otp"];

/// Compound words, recognized by their end.
#[rustfmt::skip]
const SECRET_ENDS: [&str; 20] = [
    "password", "passwd", "passphrase", "pwd", "token", "cookie", "secret", "apikey", "appkey", "accesskey",
    "secretkey", "privatekey", "privkey", "accountkey", "signingkey", "encryptionkey", "masterkey", "sharedkey",
    "sessionkey", "storagekey",
];

/// Words that end in `pass` and do not announce a secret.
const NO_PASS: [&str; 6] = [
    "bypass",
    "compass",
    "encompass",
    "overpass",
    "surpass",
    "trespass",
];

/// Words whose value is a secret, or the name of an object with a secret.
#[rustfmt::skip]
const POSSIBLE: [&str; 10] = [
    "secret", "credential", "cred", "auth", "oauth", "authorization", "kubeconfig", "authkey", "sshkey", "licensekey",
];

/// Words before `secret` with which it is a value, not the name of a Secret.
#[rustfmt::skip]
const BEFORE_SECRET: [&str; 22] = [
    "access", "api", "app", "bot", "client", "consumer", "cookie", "csrf", "hmac", "hook", "http", "jwt", "master",
    "nextauth", "oauth", "oidc", "session", "shared", "signing", "state", "totp", "webhook",
];

/// Words before `key` with which it is a secret.
#[rustfmt::skip]
const BEFORE_KEY: [&str; 34] = [
    "access", "account", "aes", "api", "app", "auth", "consumer", "cookie", "crypto", "decryption", "deploy",
    "encryption", "function", "host", "hmac", "ingestion", "instrumentation", "integration", "jwt", "license",
    "licence", "master", "private", "priv", "recovery", "registration", "secret", "session", "shared", "signing",
    "ssh", "storage", "subscription", "unseal",
];

/// Words before `key` with which it is not a secret: selectors, places in a map, public keys.
#[rustfmt::skip]
const BEFORE_PUBLIC_KEY: [&str; 42] = [
    "annotation", "artifact", "authorized", "cache", "column", "condition", "config", "dedup", "entry", "field",
    "foreign", "group", "hash", "header", "index", "item", "json", "known", "label", "lookup", "map", "match",
    "merge", "message", "metadata", "metric", "node", "object", "partition", "patch", "primary", "property", "pub",
    "public", "resource", "routing", "row", "selector", "sort", "tag", "taint", "topology",
];

/// Last words for an encoding or a variant of a value. The word before them decides.
#[rustfmt::skip]
const NEUTRAL: [&str; 46] = [
    "a", "b", "backup", "base", "bytes", "content", "contents", "current", "data", "default", "dev", "encoded",
    "encrypted", "env", "hash", "hashed", "hex", "input", "json", "latest", "live", "literal", "main", "new", "next",
    "old", "override", "param", "parameter", "pem", "plain", "plaintext", "previous", "primary", "prod", "production",
    "raw", "secondary", "stage", "staging", "str", "string", "test", "text", "val", "value",
];

/// Last words for a property of a secret.
#[rustfmt::skip]
const RELATED: &[&str] = &[
    "account", "accounts", "addr", "address", "affinity", "age", "alg", "algorithm", "algorithms", "allowed", "api",
    "apis", "arn", "at", "attempts", "audience", "audiences", "authority", "backend", "bits", "bucket", "change",
    "changed", "class", "cleanup", "condition", "conditions", "config", "configmap", "configuration", "configured",
    "controller", "count", "created", "description", "digest", "dir", "directory", "disabled", "domain", "domains",
    "driver", "duration", "email", "enabled", "enable", "endpoint", "endpoints", "engine", "error", "errors", "event",
    "events", "exists", "expiration", "expires", "expiry", "field", "fields", "file", "filename", "files",
    "fingerprint", "folder", "for", "format", "generation", "generator", "group", "groups", "header", "headers",
    "host", "hostname", "hours", "id", "ids", "image", "info", "interval", "issuer", "issuers", "kind", "kinds",
    "label", "labels", "length", "level", "lifetime", "limit", "limits", "list", "location", "max", "maximum",
    "message", "metadata", "method", "methods", "min", "minimum", "minutes", "mode", "modes", "mount", "mounts",
    "name", "names", "namespace", "namespaces", "operator", "optional", "option", "options", "order", "path", "paths",
    "phase", "plugin", "plugins", "policy", "policies", "port", "prefix", "priority", "projection", "protocol",
    "provider", "providers", "provisioner", "quota", "rate", "reason", "ref", "reference", "references", "refresh",
    "refs", "region", "renewal", "replicas", "request", "requested", "requests", "required", "requirement",
    "requirements", "resource", "resources", "response", "result", "retries", "retry", "review", "revision", "role",
    "roles", "rotation", "rule", "rules", "samesite", "schema", "scheme", "scope", "scopes", "seconds", "secure",
    "selector", "selectors", "server", "service", "services", "signer", "size", "source", "sources", "spec", "state",
    "status", "store", "stores", "strategy", "subject", "suffix", "syncer", "target", "template", "tenant",
    "threshold", "time", "timeout", "timestamp", "title", "tls", "total", "ttl", "type", "types", "uid", "updated",
    "uri", "uris", "url", "urls", "usage", "usages", "user", "username", "users", "validation", "validity",
    "verified", "verify", "version", "versions", "volume", "webhook", "window",
];

/// Fields whose value belongs to the name of the field above: `password: {value: …}`.
#[rustfmt::skip]
const VALUES: [&str; 16] = [
    "content", "contents", "data", "default", "defaultvalue", "inline", "literal", "plain", "plaintext", "string",
    "stringval", "stringvalue", "text", "val", "value", "values",
];

/// Fields with the name of a neighbouring value.
#[rustfmt::skip]
const NAMES: [&str; 14] = [
    "name", "key", "parameter", "variable", "var", "option", "header", "property", "attribute", "setting", "argument",
    "envname", "parametername", "parameterkey",
];

/// The longest part of a name that is judged: its end.
const NAME_MOST: usize = 160;

/// Returns whether a field contains the value of a neighbour that names it, or of the field above.
pub(crate) fn is_value_field(key: &str) -> bool {
    is_one(key, &VALUES) || key.eq_ignore_ascii_case("parameterValue")
}

/// Returns whether a field contains the name of a neighbouring value.
pub(crate) fn is_name_field(key: &str) -> bool {
    is_one(key, &NAMES)
}

/// Returns whether a name is a plural: then a short number is a count.
pub(crate) fn is_plural(name: &str) -> bool {
    name.ends_with(['s', 'S']) && !name.ends_with("ss") && !name.ends_with("SS")
}

fn is_one(key: &str, list: &[&str]) -> bool {
    (3..=13).contains(&key.len()) && list.iter().any(|one| key.eq_ignore_ascii_case(one))
}

/// Returns what a name announces about its value.
pub(crate) fn class(name: &str) -> NameClass {
    if may_announce(name.as_bytes()) {
        CLASSES.with(|classes| classes.get(name.as_bytes(), || by_words(name)))
    } else {
        NameClass::Plain
    }
}

/// Returns whether a name announces secrets in the fields below it, too: one that is a secret, and `credentials`.
pub(crate) fn has_secrets_below(name: &str, class: NameClass) -> bool {
    let is_end = |end: &str| {
        let at = name.len().checked_sub(end.len());
        at.and_then(|at| name.get(at..))
            .is_some_and(|last| last.eq_ignore_ascii_case(end))
    };
    class == NameClass::Secret || class == NameClass::Possible && is_end("credentials")
}

/// Returns what a field announces whose own name announces nothing, below a name for which [`has_secrets_below`] is
/// true: as much as the names in a row, `password.current`. The fields below a plural are names of its items.
pub(crate) fn class_below(above: &str, key: &str) -> NameClass {
    if above.eq_ignore_ascii_case("stringData") {
        return NameClass::Secret;
    }
    if is_name_field(key) {
        return NameClass::Plain;
    }
    let is_of_items = is_plural(above) && class(above) == NameClass::Secret;
    match class(&format!("{above}.{}", key.replace('/', "."))) {
        class if class <= NameClass::Related || is_of_items => class,
        _ => NameClass::Nested,
    }
}

thread_local! {
    static CLASSES: Memo<NameClass> = Memo::of_names();
}

/// Sequences of three letters; every name that announces a secret contains one of them. `_` is
/// anything but a letter.
const TRIGRAMS: [&[u8; 3]; 22] = [
    b"pas", b"pwd", b"psk", b"dsn", b"jwt", b"coo", b"sec", b"tok", b"key", b"cre", b"aut", b"bec",
    b"be_", b"str", b"pw_", b"pin", b"otp", b"cfg", b"gjs", b"rda", b"kda", b"k_d",
];

/// Further sequences: of `user-data`, `docker_config_json`, and of signatures in queries.
const MORE_TRIGRAMS: [&[u8; 3]; 3] = [b"r_d", b"g_j", b"sig"];

const LETTER_BITS: u32 = 5;
const CODE_MASK: u32 = (1 << (3 * LETTER_BITS)) - 1;
const TABLE_WORDS: usize = 1 << (3 * LETTER_BITS - 6);

static TABLE: [u64; TABLE_WORDS] = table();

#[expect(
    clippy::indexing_slicing,
    clippy::as_conversions,
    reason = "codes are below the table's size, and constants cannot call `from`"
)]
const fn table() -> [u64; TABLE_WORDS] {
    let mut table = [0; TABLE_WORDS];
    let mut at = 0;
    while at < TRIGRAMS.len() + MORE_TRIGRAMS.len() {
        let letters = if at < TRIGRAMS.len() {
            TRIGRAMS[at]
        } else {
            MORE_TRIGRAMS[at - TRIGRAMS.len()]
        };
        let mut code = next(0, letters[0]);
        code = next(code, letters[1]);
        code = next(code, letters[2]);
        table[(code >> 6) as usize] |= 1 << (code & 63);
        at += 1;
    }
    table
}

#[expect(
    clippy::as_conversions,
    reason = "a byte fits, and constants cannot call `from`"
)]
const fn next(code: u32, byte: u8) -> u32 {
    let letter = if byte.is_ascii_alphabetic() {
        (byte & 31) as u32
    } else {
        0
    };
    (code << LETTER_BITS | letter) & CODE_MASK
}

fn is_hit(code: u32) -> bool {
    let word = usize::try_from(code >> 6).ok().and_then(|at| TABLE.get(at));
    word.is_some_and(|word| word >> (code & 63) & 1 == 1)
}

/// The prefilter, which rejects most names, and texts without a name that announces a secret.
pub(crate) fn may_announce(name: &[u8]) -> bool {
    let mut code = 0;
    name.iter().chain(b"_").any(|byte| {
        code = next(code, *byte);
        is_hit(code)
    })
}

/// Returns the sequences of three letters of which every name that announces a secret contains one,
/// in names and in texts; `_` matches anything but a letter, also the end.
pub(crate) fn trigrams() -> impl Iterator<Item = [u8; 3]> {
    TRIGRAMS
        .iter()
        .chain(&MORE_TRIGRAMS)
        .map(|letters| **letters)
}

/// Returns the places in a text where a name that announces a secret may be: each is at most two
/// bytes behind a byte of it.
pub(crate) fn places(text: &[u8]) -> impl Iterator<Item = usize> {
    let mut code = 0;
    text.iter()
        .chain(b"_")
        .enumerate()
        .filter_map(move |(at, byte)| {
            code = next(code, *byte);
            is_hit(code).then(|| at.saturating_sub(1))
        })
}

fn by_words(name: &str) -> NameClass {
    let name = match name.rsplit_once('/') {
        Some((_, rest)) if !rest.is_empty() => rest,
        _ => name,
    };
    let from = name.len().saturating_sub(NAME_MOST);
    let from = (from..name.len()).find(|at| name.is_char_boundary(*at));
    let words = split(name.get(from.unwrap_or(0)..).unwrap_or_default());
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    if is_data(&words) {
        return NameClass::Secret;
    }
    while let [first @ .., last] = words.as_slice()
        && NEUTRAL.contains(last)
        && !is_connection_string(&words)
        && !first.is_empty()
    {
        words.pop();
    }
    let Some((last, before)) = words.split_last() else {
        return NameClass::Plain;
    };
    match judge(before, last, true) {
        Some(class) => return class,
        // `publicKey`, `topologyKey`: the words before describe the key.
        None if *last == "key" => return NameClass::Plain,
        None => {}
    }
    let is_mentioned = (0..before.len()).any(|at| {
        let (before, word) = before.split_at(at);
        word.first()
            .is_some_and(|word| judge(before, word, false).is_some())
    });
    match is_mentioned {
        true if RELATED.contains(last) => NameClass::Related,
        true => NameClass::Mentions,
        false => NameClass::Plain,
    }
}

/// Judges a word with the words before it.
fn judge(before: &[&str], word: &str, is_last: bool) -> Option<NameClass> {
    let one = match word {
        _ if word.ends_with("ss") => word,
        _ => word.strip_suffix('s').unwrap_or(word),
    };
    let previous = before.last().copied().unwrap_or_default();
    let is_string =
        matches!(one, "string" | "str") && matches!(previous, "connection" | "connect" | "conn");
    let is_docker = one == "json" && before.ends_with(&["docker", "config"]);
    if SECRETS.contains(&one) || is_string || is_docker {
        return Some(NameClass::Secret);
    }
    if is_last
        && (SECRETS_AT_END.contains(&one) || one.ends_with("pass") && !NO_PASS.contains(&one))
    {
        return Some(NameClass::Secret);
    }
    if one == "secret" && BEFORE_SECRET.contains(&previous) {
        return Some(NameClass::Secret);
    }
    if one == "key" {
        return match previous {
            "" => None,
            _ if BEFORE_PUBLIC_KEY.contains(&previous) => None,
            _ if BEFORE_KEY.contains(&previous) => Some(NameClass::Secret),
            _ => Some(NameClass::Possible),
        };
    }
    if POSSIBLE.contains(&one) || one == "config" && previous == "kube" {
        return Some(NameClass::Possible);
    }
    let is_end = SECRET_ENDS.iter().any(|end| one.ends_with(end));
    is_end.then_some(NameClass::Secret)
}

fn is_connection_string(words: &[&str]) -> bool {
    matches!(
        words,
        [.., "connection" | "connect" | "conn", "string" | "str"]
    ) || matches!(words, [.., "docker", "config", "json"])
}

/// `userData`, `networkDataBase64`: data for the first boot of a machine; `stringData`: the values of a Secret.
fn is_data(words: &[&str]) -> bool {
    matches!(
        words,
        ["user" | "network" | "string", "data"]
            | ["user" | "network", "data", "base"]
            | ["userdata" | "networkdata" | "userdatabase" | "networkdatabase"]
            | ["userdata" | "networkdata", "base"]
    )
}

/// Splits a name into words, in small letters and without digits: at everything but letters, and
/// where a capital begins a word.
fn split(name: &str) -> Vec<String> {
    let bytes = name.as_bytes();
    let mut words: Vec<String> = Vec::new();
    let mut is_inside = false;
    for (at, byte) in bytes.iter().enumerate() {
        if !byte.is_ascii_alphabetic() {
            is_inside = false;
            continue;
        }
        let after_small = at
            .checked_sub(1)
            .and_then(|at| bytes.get(at))
            .is_some_and(u8::is_ascii_lowercase);
        // The plural of an acronym does not begin a word: `APIs`.
        let is_small = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_lowercase);
        let before_small =
            is_small(at + 1) && (bytes.get(at + 1) != Some(&b's') || is_small(at + 2));
        let begins = byte.is_ascii_uppercase() && (after_small || before_small);
        if !is_inside || begins {
            words.push(String::new());
        }
        is_inside = true;
        if let Some(word) = words.last_mut() {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words_however_they_are_written() {
        for name in [
            "apiKey", "api_key", "API-KEY", "ApiKey", "api.key", "APIKey", "api key2",
        ] {
            assert_eq!(split(name), ["api", "key"], "{name}");
        }
        assert_eq!(split("OAuthAPIs"), ["o", "auth", "apis"]);
        assert_eq!(split("DB2_PASSWORD_1"), ["db", "password"]);
    }

    #[test]
    fn names_tell_secrets() {
        for (expected, names) in [
            (
                NameClass::Secret,
                "password adminPassword db_passwd MYSQL_PWD pgpass DB_PASS db-pw passphrase wifiPsk SENTRY_DSN cookie \
                 session-cookie jwt token accessToken GITHUB_TOKEN_1 clientSecret client_secret HTTP_SECRET apiKey \
                 api_key APIKEY access_key AWS_SECRET_ACCESS_KEY private-key encryptionKey passwordHash \
                 connectionString ConnectionStrings CONNECTION_STRING userData userDataBase64 .dockerconfigjson \
                 dockerConfigJson PASSWORD_PROD tokens pin acme.io/api-token X-Api-Key secretKey tokenValue masterauth stringData",
            ),
            (
                NameClass::Possible,
                "secret pullSecret credentials AWS_CREDENTIALS auth OAUTH OAuth kubeconfig KUBE_CONFIG Authorization \
                 someKey tls.key SSL_KEY",
            ),
            (
                NameClass::Mentions,
                "TOKEN_FOR_BOB AUTH_MAX_X passwordThing",
            ),
            (
                NameClass::Related,
                "secretName tokenSecretRef secretKeyRef TOKEN_FILE PASSWORD_PATH tokenExpirationSeconds \
                 token-ttl authMode AUTH_TYPE OAUTH_IMAGE credentialsMode session-cookie-name authorization-mode \
                 provisioner-secret-name KUBECONFIG_PATH tokenId",
            ),
            (
                NameClass::Plain,
                "key name publicKey ssh_public_key topologyKey labelKey keyRef passthrough bypass author authentication \
                 tolerations sha256 monkey keyboard namespace tokenizer containers condition auth.acme.io/name database",
            ),
        ] {
            for name in names.split_whitespace() {
                assert_eq!(class(name), expected, "{name}");
            }
        }
    }

    #[test]
    fn the_quick_look_passes_every_name_that_the_slow_one_knows() {
        let words = SECRETS
            .iter()
            .chain(&SECRETS_AT_END)
            .chain(&SECRET_ENDS)
            .chain(&POSSIBLE);
        for word in words {
            for name in [
                (*word).to_owned(),
                word.to_uppercase(),
                format!("a_{word}"),
                format!("{word}2"),
            ] {
                assert!(may_announce(name.as_bytes()), "{name}");
                assert!(class(&name) >= NameClass::Possible, "{name}");
            }
        }
        for name in [
            "user-data",
            "userData",
            "network_data",
            "docker_config_json",
            "connection-string",
            "conn_str",
            "kube-config",
        ] {
            assert!(may_announce(name.as_bytes()), "{name}");
        }
        for name in [
            "containers",
            "metadata",
            "image",
            "lastTransitionTime",
            "restartPolicy",
        ] {
            assert!(!may_announce(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn every_list_is_of_words_as_they_are_split() {
        for word in NEUTRAL.iter().chain(RELATED).chain(&BEFORE_PUBLIC_KEY) {
            assert_eq!(split(word), [*word], "{word}");
        }
    }
}
