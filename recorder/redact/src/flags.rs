//! Owns secrets in the arguments of a program: `--token=…`, `--password …`. Refuses whole scripts: those
//! are texts.

use crate::named::is_reference;
use std::ops::Range;

/// The last word of a flag whose value is a secret.
const LAST_WORDS: [&str; 9] = [
    "token",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "credential",
    "credentials",
    "auth",
    "pass",
];

/// The last two words of such a flag.
const LAST_PAIRS: [(&str, &str); 5] = [
    ("api", "key"),
    ("access", "key"),
    ("secret", "key"),
    ("private", "key"),
    ("encryption", "key"),
];

/// What an argument says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// Nothing secret.
    Plain,
    /// A flag with a secret, which stands there.
    Secret(Range<usize>),
    /// A flag whose secret is the next argument.
    Announces,
}

/// Judges an argument.
pub(crate) fn argument(text: &str) -> Argument {
    let name = text.trim_start_matches('-');
    if name.len() == text.len() && !text.contains('=') {
        return Argument::Plain;
    }
    let (name, value) = match name.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (name, None),
    };
    // With a space in it, it is a line of a script.
    if name.contains(char::is_whitespace) || !is_secret(name) {
        return Argument::Plain;
    }
    match value {
        None => Argument::Announces,
        Some(value) if is_worth(value) => Argument::Secret(text.len() - value.len()..text.len()),
        Some(_) => Argument::Plain,
    }
}

/// Tells whether the value of such a flag is more than nothing, yes or no, or a reference.
pub(crate) fn is_worth(value: &str) -> bool {
    !value.is_empty() && !is_reference(value) && value != "true" && value != "false"
}

fn is_secret(flag: &str) -> bool {
    if flag.len() > 128 {
        return false;
    }
    let flag = flag.to_ascii_lowercase();
    let mut words = flag.rsplit(['-', '_', '.']);
    let last = words.next().unwrap_or_default();
    let before = words.next().unwrap_or_default();
    LAST_WORDS.contains(&last)
        || LAST_PAIRS.contains(&(before, last))
        || matches!(
            last,
            "apikey" | "accesskey" | "secretkey" | "privatekey" | "clientsecret"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_tell_secrets() {
        for (text, expected) in [
            ("--token=abc", Argument::Secret(8..11)),
            ("-password=x", Argument::Secret(10..11)),
            ("--client-secret=a=b", Argument::Secret(16..19)),
            ("TOKEN=abc", Argument::Secret(6..9)),
            ("--Api_Key=x", Argument::Secret(10..11)),
            ("--token", Argument::Announces),
            ("--token=", Argument::Plain),
            ("--token=$(TOKEN)", Argument::Plain),
            ("--token-ttl=10m", Argument::Plain),
            ("--tls-private-key-file=/a", Argument::Plain),
            ("token", Argument::Plain),
            ("--v=4", Argument::Plain),
        ] {
            assert_eq!(argument(text), expected, "{text}");
        }
    }
}
