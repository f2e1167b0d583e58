//! Forms of values that are not secrets.
//!
//! A value under a name that announces a secret is kept only if it has one of these forms. The form
//! depends on the value alone. A random value of the same length has none of these forms in
//! practice: every word consists of pairs of letters that occur in words (`is_word`), and numbers
//! are short.

use crate::names::{self, NameClass};
use std::ops::RangeInclusive;

/// A longer value has no form.
const VALUE_MOST: usize = 300;

/// The form of a value, ordered from one that secrets never have to one that they may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ValueForm {
    /// Nothing, a boolean, a reference to another value, or a placeholder of a template.
    Nothing,
    /// An image with its digest, a URL without credentials, or an absolute path below a usual
    /// folder.
    Location,
    /// A path, a file's name, an image, a digest, a version, a duration, a quantity with a unit, a time, an
    /// address, or a name of two or more words.
    Name,
    /// A short number.
    Number,
    /// A single word.
    Word,
    /// Anything else.
    Other,
}

/// Returns whether a value may be kept under a name of a class.
pub(crate) fn is_kept(class: NameClass, value: &str) -> bool {
    match class {
        NameClass::Plain => true,
        NameClass::Related => !is_opaque(value),
        NameClass::Nested => form(value) <= ValueForm::Word || value.contains(char::is_whitespace),
        NameClass::Mentions => form(value) <= ValueForm::Number,
        NameClass::Possible => form(value) <= ValueForm::Name,
        NameClass::Secret => form(value) <= ValueForm::Location,
    }
}

/// Returns whether a value is a count: a short number under a plural.
pub(crate) fn is_count(name: &str, value: &str) -> bool {
    names::is_plural(name) && form(value) == ValueForm::Number
}

/// Returns whether a field of YAML or JSON with a plain name may be kept where everything else is
/// redacted.
pub(crate) fn is_plain_field(key: &str) -> bool {
    let is_byte = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    key.len() <= 80 && key.bytes().all(is_byte) && !is_opaque(key)
}

/// Returns whether a text is YAML in which every line is a field or an item with a value that has a
/// form.
pub(crate) fn is_plain_yaml(text: &str) -> bool {
    let mut fields = 0_usize;
    text.contains('\n')
        && text.lines().all(|line| {
            let mut line = line.trim();
            while let Some(item) = line.strip_prefix("- ") {
                line = item.trim_start();
            }
            if line.is_empty() || line == "---" || line == "-" {
                return true;
            }
            let (key, value) = match line.split_once(": ") {
                Some((key, value)) => (key, value),
                None => match line.strip_suffix(':') {
                    Some(key) => (key, ""),
                    None => ("", line),
                },
            };
            fields += usize::from(!key.is_empty());
            let key = unquoted(key);
            let value = unquoted(value);
            let is_name = key.is_empty()
                || !key.contains(char::is_whitespace) && form(key) <= ValueForm::Word;
            is_name && form(value) <= ValueForm::Word && is_kept(names::class(key), value)
        })
        && fields > 0
}

fn unquoted(text: &str) -> &str {
    let text = text.trim();
    ['"', '\'']
        .iter()
        .find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote))
        .unwrap_or(text)
}

/// Returns the form of a value.
pub(crate) fn form(value: &str) -> ValueForm {
    let value = value.trim();
    if is_nothing(value) {
        return ValueForm::Nothing;
    }
    if value.len() > VALUE_MOST || value.bytes().any(|byte| byte.is_ascii_whitespace()) {
        return ValueForm::Other;
    }
    if is_digested_image(value) || is_url(value) || is_usual_path(value) {
        return ValueForm::Location;
    }
    let is_name = is_digest(value)
        || is_path(value)
        || is_file_name(value)
        || is_version(value)
        || is_quantity(value)
        || is_time(value)
        || is_address(value)
        || is_image(value)
        || is_switch(value)
        || is_name(value);
    if is_name {
        ValueForm::Name
    } else if is_short_number(value) {
        ValueForm::Number
    } else if is_word(value) || is_known(value) {
        ValueForm::Word
    } else {
        ValueForm::Other
    }
}

fn is_nothing(value: &str) -> bool {
    const WORDS: [&str; 14] = [
        "true",
        "false",
        "yes",
        "no",
        "on",
        "off",
        "null",
        "nil",
        "none",
        "undefined",
        "<none>",
        "{}",
        "[]",
        "~",
    ];
    value.is_empty()
        || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
        || is_reference(value)
        || is_placeholder(value)
}

/// `${NAME}`, `{{ .Values.name }}`, `$NAME/path`.
fn is_placeholder(value: &str) -> bool {
    let is_variable = |byte: &u8| byte.is_ascii_uppercase() || *byte == b'_';
    if let Some(rest) = value.strip_prefix('$') {
        let len = rest.bytes().take_while(|byte| is_variable(byte)).count();
        let path = rest.get(len..).unwrap_or_default();
        if len >= 3 && (path.is_empty() || path.starts_with('/') && is_path(path)) {
            return true;
        }
    }
    let inner = value
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
        .or_else(|| {
            let inner = value.strip_prefix("{{")?.strip_suffix("}}")?;
            Some(inner.trim_matches(['-', ' ']))
        });
    let is_name =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'$');
    inner.is_some_and(|inner| {
        !inner.is_empty()
            && inner
                .split(' ')
                .all(|word| word.len() <= 64 && word.bytes().all(is_name))
            && !is_opaque(inner)
    })
}

/// Returns whether a value looks like random bytes: long, without separators, of mixed characters.
pub(crate) fn is_opaque(value: &str) -> bool {
    let value = value.trim();
    if value.len() < 20 || form(value) < ValueForm::Other {
        return false;
    }
    value
        .split(|one: char| !(one.is_ascii_alphanumeric() || matches!(one, '+' | '/' | '=' | '_')))
        .any(|run| {
            let digits = run.bytes().filter(u8::is_ascii_digit).count();
            let capitals = run.bytes().filter(u8::is_ascii_uppercase).count();
            let small = run.bytes().filter(u8::is_ascii_lowercase).count();
            let is_hex = run.len() >= 32 && run.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hex
                || run.len() >= 20
                    && digits > 0
                    && capitals > 1
                    && small > 1
                    && !run.split(['/', '_', '=']).all(is_atom)
        })
}

/// For each letter, the letters that follow it in words of English and of the Kubernetes API.
const PAIRS: [&str; 26] = [
    "abcdefgiklmnoprstuvwxyz", // a
    "abcdefijlmnorsuy",
    "abcdefhiklnorstuy",
    "abcdefgiklmnoprsuvwy",
    "abcdefgilmnopqrstuvwxy", // e
    "abcdefilorstuy",
    "aeghilnoprstuy",
    "aefilmnortuy",
    "abcdefgklmnopqrstvxz", // i
    "aeou",
    "aeilnosuy",
    "abcdefgiklmopstuvy",
    "abdegiklmnoprsuy", // m
    "abcdefgiklmnoprstuvxy",
    "abcdefghiklmnoprstuvwxy", // o
    "adeghiloprstuy",
    "u",
    "abcdefghiklmnoprstuvwy", // r
    "acefhiklmnopqrstuwy",
    "abcdefhilmnoprstuvwyz",
    "abcdefgilmnoprstx", // u
    "aeilnosy",
    "aehinorsy",
    "abceimpty", // x
    "aeilmnopst",
    "aeiloz",
];

/// Words with digits, and abbreviations that are spelled letter by letter.
#[rustfmt::skip]
const KNOWN: [&str; 51] = [
    "aes128", "aes256", "amd64", "arm64", "base64", "chacha20", "crd", "crds", "crt", "csr", "ec2", "ecdhe", "ecdsa",
    "el7", "el8", "es256", "healthz", "htpasswd", "http2", "https", "i18n", "ipv4", "ipv6", "jks", "json", "k8s",
    "livez", "md5", "oauth2", "p12", "pkcs12", "pkcs8", "poly1305", "ppc64le", "readyz", "rhel7", "rhel8", "rhel9",
    "rs256", "s390x", "s3", "sha1", "sha256", "sha384", "sha512", "tls12", "ubi8", "ubi9", "utf8", "x509", "x86",
];

/// The longest run of letters that counts as one word.
const WORD_MOST: usize = 24;

/// Returns whether a text is one word, or several in `camelCase`.
pub(crate) fn is_word(text: &str) -> bool {
    if text.is_empty()
        || text.len() > 2 * WORD_MOST
        || !text.bytes().all(|byte| byte.is_ascii_alphabetic())
    {
        return false;
    }
    // Parts of camel case: random letters change their case in about half of the places.
    let mut parts = 0_usize;
    let mut part = String::new();
    let mut is_all = true;
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let begins = byte.is_ascii_uppercase()
            && at > 0
            && (bytes.get(at - 1).is_some_and(u8::is_ascii_lowercase)
                || bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase));
        if begins {
            is_all &= is_letters(&part);
            part.clear();
            parts += 1;
        }
        part.push(char::from(byte.to_ascii_lowercase()));
    }
    is_all && is_letters(&part) && (parts == 0 || parts * 4 <= text.len())
}

/// Returns whether small letters consist of pairs that occur in words, with a vowel among every
/// few.
fn is_letters(part: &str) -> bool {
    let bytes = part.as_bytes();
    if bytes.len() > WORD_MOST {
        return false;
    }
    let is_unusual = |pair: &&[u8]| {
        let [one, other] = pair else { return true };
        let row = usize::from(one.wrapping_sub(b'a'));
        !PAIRS
            .get(row)
            .is_some_and(|row| row.as_bytes().contains(other))
    };
    // Compound words: `localhost`, `configmaps`.
    let is_paired = bytes.windows(2).filter(is_unusual).count() <= bytes.len() / 7;
    let mut run = 0_usize;
    let mut longest = 0_usize;
    for byte in bytes {
        run = if matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u' | b'y') {
            0
        } else {
            run + 1
        };
        longest = longest.max(run);
    }
    // Short words may be acronyms: `etcd`, `tls`.
    bytes.len() <= 3 || is_paired && longest <= 4 && (longest < bytes.len() || bytes.len() <= 4)
}

/// A part of a name: a word, a short number, a version prefix, or a known word with digits.
pub(crate) fn is_atom(text: &str) -> bool {
    let is_api_version = || {
        let rest = text.strip_prefix('v').unwrap_or_default();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (number, stage) = rest.split_at(digits);
        (1..=3).contains(&number.len())
            && (stage.is_empty()
                || stage
                    .strip_prefix("alpha")
                    .or_else(|| stage.strip_prefix("beta"))
                    .is_some_and(|stage| is_digits(stage, 0..=2)))
    };
    text.is_empty() || is_digits(text, 0..=4) || is_word(text) || is_api_version() || is_known(text)
}

fn is_known(text: &str) -> bool {
    KNOWN.iter().any(|known| text.eq_ignore_ascii_case(known))
}

/// A feature gate: `NodeSwap=false`.
fn is_switch(value: &str) -> bool {
    let switch = value.split_once('=');
    switch.is_some_and(|(name, value)| is_word(name) && matches!(value, "true" | "false"))
}

fn is_digits(text: &str, len: RangeInclusive<usize>) -> bool {
    len.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn atoms_are_plain(text: &str, separators: &[char]) -> bool {
    text.split(separators).all(is_atom)
}

/// Names of objects, labels, hosts: at least two words, joined by `-`, `.`, `_`, `:` or `/`.
fn is_name(value: &str) -> bool {
    let separators: &[char] = &['-', '.', '_', ':', '/', ','];
    let words = value
        .split(separators)
        .filter(|one| one.len() >= 2 && is_word(one));
    let long = value
        .split(separators)
        .map(str::len)
        .filter(|len| *len >= 3);
    // One of the known words with digits, or a version of an API.
    let is_known = is_atom(value)
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic());
    // Single letters and pairs of letters could be random.
    is_known
        || words.count() >= 2
            && long.sum::<usize>() * 2 >= value.len()
            && atoms_are_plain(value, separators)
}

/// The folders below which paths of programs lie.
#[rustfmt::skip]
const FOLDERS: [&str; 22] = [
    "app", "bin", "certs", "config", "data", "dev", "etc", "home", "host", "lib", "mnt", "opt", "proc", "root", "run",
    "sbin", "secrets", "srv", "sys", "tmp", "usr", "var",
];

/// A path below a usual folder, or of at least two steps.
fn is_usual_path(value: &str) -> bool {
    let Some(rest) = value.strip_prefix('/') else {
        return false;
    };
    let (first, after) = rest.split_once('/').unwrap_or((rest, ""));
    if after.is_empty() {
        return false;
    }
    if is_path(value) {
        return true;
    }
    // The name of a host or cluster in it may not be a word.
    let separators: &[char] = &['/', '-', '.', '_'];
    let (plain, other): (Vec<&str>, Vec<&str>) =
        after.split(separators).partition(|one| is_atom(one));
    let len: usize = other.iter().map(|one| one.len()).sum();
    let is_short = |one: &&str| {
        one.len() <= 12
            && one
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    FOLDERS.contains(&first)
        && other.iter().all(is_short)
        && len * 4 <= value.len()
        && plain.iter().filter(|one| one.len() >= 3).count() >= 3
}

/// An absolute path, or a relative one that begins with `./` or `../`.
fn is_path(value: &str) -> bool {
    let is_rooted = value.starts_with('/') || value.starts_with("./") || value.starts_with("../");
    let rest = value.trim_start_matches(['.', '/']);
    let separators: &[char] = &['/', '-', '.', '_', '@', '*'];
    let words = rest
        .split(separators)
        .filter(|one| one.len() >= 2 && is_word(one))
        .count();
    is_rooted && (rest.is_empty() || words >= 1) && atoms_are_plain(rest, separators)
}

#[rustfmt::skip]
const EXTENSIONS: [&str; 26] = [
    "cer", "cfg", "conf", "crt", "csr", "db", "env", "ini", "jks", "json", "jwks", "key", "kubeconfig", "log", "p12",
    "pem", "properties", "pub", "sh", "sock", "toml", "txt", "xml", "yaml", "yml", "zip",
];

/// A file's name with a known extension, and folders before it.
fn is_file_name(value: &str) -> bool {
    let Some((stem, extension)) = value.rsplit_once('.') else {
        return false;
    };
    EXTENSIONS.contains(&extension)
        && stem
            .split(['/', '-', '.', '_'])
            .any(|one| one.len() >= 2 && is_word(one))
        && atoms_are_plain(stem, &['/', '-', '.', '_'])
}

/// A digest: its algorithm and hexadecimal digits.
fn is_digest(value: &str) -> bool {
    [("sha256:", 64), ("sha512:", 128)]
        .iter()
        .any(|(prefix, digits)| {
            value.strip_prefix(prefix).is_some_and(|hex| {
                hex.len() == *digits
                    && hex
                        .bytes()
                        .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
            })
        })
}

fn is_digested_image(value: &str) -> bool {
    value
        .split_once('@')
        .is_some_and(|(image, digest)| is_digest(digest) && is_image(image))
}

/// A repository on a host with a dot, a port or the name `localhost`, optionally with a tag.
fn is_image(value: &str) -> bool {
    let value = value.strip_prefix("docker://").unwrap_or(value);
    let Some((host, path)) = value.split_once('/') else {
        return false;
    };
    let (path, tag) = match path.rsplit_once(':') {
        Some((path, tag)) => (path, tag),
        None => (path, "latest"),
    };
    let is_tag = tag.split(['-', '.', '_']).all(is_release_atom) && tag.len() <= 128;
    let is_repository = |byte: u8| {
        byte.is_ascii_lowercase()
            || byte.is_ascii_digit()
            || matches!(byte, b'-' | b'.' | b'_' | b'/')
    };
    is_host(host)
        && !host.ends_with(':')
        && (host.contains(['.', ':']) || host == "localhost")
        && !path.is_empty()
        && path.bytes().all(is_repository)
        && path.split(['-', '.', '_', '/']).all(is_short_atom)
        && is_tag
}

/// A part of the name of a repository: plain, or as short as `amp21`.
fn is_short_atom(text: &str) -> bool {
    is_atom(text) || text.len() <= 8
}

/// A part of a version: plain, a date and time, or a short hash.
fn is_release_atom(text: &str) -> bool {
    is_short_atom(text) || is_digits(text, 0..=14)
}

/// `4.18.3`, `v1.31.0-rc.2+6f3e2a1`, `4.8.0-0.nightly-2021-07-31-065602`.
fn is_version(value: &str) -> bool {
    let bare = value.strip_prefix('v').unwrap_or(value);
    let numbers = bare.split(['-', '+']).next().unwrap_or_default();
    let rest = bare.get(numbers.len()..).unwrap_or_default();
    let count = numbers.split('.').count();
    let are_numbers = numbers.split('.').all(|one| is_digits(one, 1..=5));
    let parts = rest
        .split(['-', '+', '.', '_'])
        .filter(|one| !one.is_empty());
    // At most a few random parts: the longest real versions consist of a date, a hash and words.
    let hashes = parts.clone().filter(|one| !is_atom(one)).count();
    are_numbers
        && (2..=4).contains(&count)
        && value.len() <= 80
        && hashes <= 4
        && parts.into_iter().all(is_release_atom)
}

/// A number with a unit: `10m`, `1h30m`, `512Mi`, `20%`.
fn is_quantity(value: &str) -> bool {
    const UNITS: [&str; 26] = [
        "ns", "us", "ms", "s", "m", "h", "d", "w", "y", "k", "M", "G", "T", "P", "E", "Ki", "Mi",
        "Gi", "Ti", "Pi", "Ei", "%", "MB", "GB", "KB", "B",
    ];
    let mut rest = value.strip_prefix('-').unwrap_or(value);
    let mut parts = 0;
    while !rest.is_empty() {
        let digits = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_digit() || *byte == b'.')
            .count();
        let (number, after) = rest.split_at(digits);
        let letters = after
            .bytes()
            .take_while(|byte| byte.is_ascii_alphabetic() || *byte == b'%')
            .count();
        let (unit, after) = after.split_at(letters);
        if !(1..=12).contains(&number.len()) || !UNITS.contains(&unit) || parts > 4 {
            return false;
        }
        parts += 1;
        rest = after;
    }
    parts > 0
}

/// A date, or a time as RFC 3339 writes it.
fn is_time(value: &str) -> bool {
    let shape: String = value
        .chars()
        .map(|one| if one.is_ascii_digit() { '0' } else { one })
        .collect();
    let shape = shape.strip_suffix('Z').unwrap_or(&shape);
    let (shape, fraction) = shape.split_once('.').unwrap_or((shape, ""));
    matches!(shape, "0000-00-00" | "0000-00-00T00:00:00")
        && fraction.len() <= 9
        && fraction.bytes().all(|byte| byte == b'0')
}

/// An address of IP, with a length of its prefix or a port.
fn is_address(value: &str) -> bool {
    let bare = match value.rsplit_once('/') {
        Some((bare, bits)) if is_digits(bits, 0..=5) => bare,
        _ => value,
    };
    bare.parse::<std::net::IpAddr>().is_ok() || bare.parse::<std::net::SocketAddr>().is_ok()
}

/// The name of a host with a port; parts of it may be as random as the name of a cluster.
fn is_host(text: &str) -> bool {
    let (host, port) = text.rsplit_once(':').unwrap_or((text, ""));
    let is_label = |label: &str| {
        !label.is_empty()
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
            && label.split(['-', '_']).all(is_short_atom)
    };
    is_address(text) || is_digits(port, 0..=5) && host.split('.').all(is_label)
}

/// A URL without user, query and fragment, with a path of plain words.
fn is_url(value: &str) -> bool {
    let Some((scheme, rest)) = value.split_once("://") else {
        return false;
    };
    let (host, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let is_scheme = (2..=12).contains(&scheme.len())
        && scheme.bytes().all(|byte| {
            byte.is_ascii_lowercase() || matches!(byte, b'+' | b'-') || byte.is_ascii_digit()
        });
    is_scheme
        && !rest.contains(['@', '?', '#', '%'])
        && (is_host(host) || host.is_empty() && scheme != "http" && scheme != "https")
        && atoms_are_plain(path, &['/', '-', '.', '_', ':'])
}

fn is_short_number(value: &str) -> bool {
    let digits = value.strip_prefix('-').unwrap_or(value);
    is_digits(digits, 1..=5)
}

/// Returns whether a value is one reference to a variable, as Kubernetes spells it.
fn is_reference(value: &str) -> bool {
    value
        .strip_prefix("$(")
        .and_then(|rest| rest.strip_suffix(')'))
        .is_some_and(|name| {
            name.bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        })
}

/// Public content: certificates and public keys.
const PUBLIC: [&str; 4] = [
    "CERTIFICATE",
    "PUBLIC KEY",
    "RSA PUBLIC KEY",
    "EC PUBLIC KEY",
];

/// Returns whether a line begins or ends public content.
fn is_bound(line: &str, bound: &str) -> bool {
    let what = line
        .strip_prefix("-----")
        .and_then(|line| line.strip_prefix(bound))
        .and_then(|line| line.strip_suffix("-----"));
    what.is_some_and(|what| PUBLIC.contains(&what))
}

/// Returns whether a text consists of certificates and public keys, with at most comments between
/// them.
pub(crate) fn is_only_certificates(text: &str) -> bool {
    let mut is_inside = false;
    let mut count = 0_usize;
    for line in text.lines().map(str::trim) {
        match (is_inside, line) {
            (false, line) if is_bound(line, "BEGIN ") => is_inside = true,
            (true, line) if is_bound(line, "END ") => {
                is_inside = false;
                count += 1;
            }
            (false, "") => {}
            (false, comment) if comment.starts_with('#') => {}
            (true, line) if line.bytes().all(is_digit) => {}
            _ => return false,
        }
    }
    count > 0 && !is_inside
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;

    #[test]
    fn values_have_forms() {
        let digest = "3e9a9708a3b2b94d2b7f8f9a3a29a7d8e4e8b9f3d4a4e2c7d1c5a1f0e9b8c7d6";
        let image = format!("quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:{digest}");
        for (expected, values) in [
            (
                ValueForm::Nothing,
                vec![
                    "",
                    "true",
                    "False",
                    "null",
                    "$(TOKEN)",
                    "${TOKEN}",
                    "{{ .Values.token }}",
                    "none",
                ],
            ),
            (
                ValueForm::Location,
                vec![
                    &image,
                    "https://oauth-openshift.apps.ci-ln-5ylibmb.example.com/oauth/token",
                    "unix:///var/run/crio/crio.sock",
                    "/etc/tls/key.pem",
                    "/var/run/secrets/kubernetes.io/serviceaccount/token",
                ],
            ),
            (
                ValueForm::Name,
                vec![
                    "oauth-openshift",
                    "v1beta1",
                    "system:serviceaccount:openshift-etcd:installer-sa",
                    "kubernetes.io/hostname",
                    "tls.crt",
                    "server-key.pem",
                    "4.18.3",
                    "v1.31.0-rc.2+6f3e2a1",
                    "4.8.0-0.nightly-2021-07-31-065602",
                    "1h30m",
                    "512Mi",
                    "10.0.0.1",
                    "10.128.0.0/14",
                    "2026-11-21T14:02:31Z",
                    "registry.redhat.io/3scale-amp21/apicast-gateway:1.4-2",
                    "openshift-config/pull-secret",
                    "/healthz",
                    "4.8.0-202107302324.p0.git.7f3081b.assembly.stream-7f3081b",
                    "APIPriorityAndFairness=true",
                    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
                ],
            ),
            (ValueForm::Number, vec!["8443", "0", "-1"]),
            (
                ValueForm::Word,
                vec!["info", "RollingUpdate", "Succeeded", "json", "HTTPS"],
            ),
            (
                ValueForm::Other,
                vec![
                    "hunter2",
                    "Tr0ub4dor&3",
                    "correct horse",
                    "123456",
                    "a1b2c3d4e5f6",
                    "0b1f9cc6-6a5e-4d0b-9d0e-9f3a4a0a8a11",
                    "qXvZkRtPw",
                    "https://user:pw@host.example/",
                    "https://hooks.example/services/T00/B00/x8Kq2mZ7",
                    "wJalrXUtnFEMIbPxRfiCYz/K7MDENG",
                    "/9j/4AAQSkZJRgABAQ",
                    "4.18.3-wJalrXUtnFEMIK7MDENGbPxRfiCY",
                    "8b1a9953c4611296a827abf8c47804d7",
                    "Bearer abc",
                ],
            ),
        ] {
            for value in values {
                assert_eq!(form(value), expected, "{value}");
            }
        }
    }

    #[test]
    fn random_bytes_beside_a_secret_go_and_the_rest_stays() {
        for value in [
            "wJalrXUtnFEMI0K7MDENGbPxRfiCYz01",
            "8b1a9953c4611296a827abf8c47804d7",
            "x:wJalrXUtnFEMI0K7MDENGbPxRfiCYz01",
        ] {
            assert!(is_opaque(value), "{value}");
        }
        for value in [
            "builder-dockercfg-x7k2p",
            "0b1f9cc6-6a5e-4d0b-9d0e-9f3a4a0a8a11",
            "some words of a description, no more",
            "system:serviceaccount:a:b",
        ] {
            assert!(!is_opaque(value), "{value}");
        }
    }

    /// One in 5,000 random values of 20 characters consists of pairs of letters that occur in
    /// words; far fewer are kept under a name that may be a secret's. The values are the same in
    /// every run.
    #[test]
    fn random_values_have_no_form() {
        const VALUES: usize = 20_000;
        let letters = ('a'..='z').chain('A'..='Z').chain('0'..='9');
        let alphanumeric: Vec<char> = letters.collect();
        let with = |more: &str| [alphanumeric.clone(), more.chars().collect()].concat();
        let hexadecimal = "0123456789abcdef".chars().collect();
        let mut runner = TestRunner::deterministic();
        for (alphabet, least) in [
            (alphanumeric.clone(), 20),
            (with("+/"), 20),
            (with("-_"), 20),
            (hexadecimal, 24),
        ] {
            let one = prop::sample::select(alphabet.clone());
            let values = prop::collection::vec(one, least..=48);
            let (mut with_form, mut kept) = (0, Vec::new());
            for _ in 0..VALUES {
                let value = values.new_tree(&mut runner).unwrap().current();
                let value: String = value.into_iter().collect();
                with_form += usize::from(form(&value) != ValueForm::Other);
                if is_kept(NameClass::Possible, &value) {
                    kept.push(value);
                }
            }
            assert!(with_form <= VALUES / 5000, "{with_form} of {alphabet:?}");
            assert!(kept.is_empty(), "{kept:?}");
        }
    }

    const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
    const END: &str = "-----END CERTIFICATE-----";

    #[test]
    fn a_key_beside_a_certificate_is_no_certificate() {
        let certificate = format!("{BEGIN}\nMIIB+/=\nAAAA\n{END}\n");
        assert!(is_only_certificates(&certificate));
        assert!(is_only_certificates(&format!(
            "# root\n{certificate}\n{certificate}"
        )));
        let public = certificate.replace("CERTIFICATE", "RSA PUBLIC KEY");
        assert!(is_only_certificates(&public));
        for text in [
            String::new(),
            certificate.replace("CERTIFICATE", "PRIVATE KEY"),
            "# nothing".to_owned(),
            format!("{certificate}-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\n"),
            format!("{certificate}password: x"),
            format!("{BEGIN}\nMIIB"),
            format!("{BEGIN}\nuser: x\n{END}"),
        ] {
            assert!(!is_only_certificates(&text), "{text}");
        }
    }
}
