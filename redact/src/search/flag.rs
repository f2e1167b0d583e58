//! Arguments of a command line: which of them contains a secret, and which announces that the next one does.

use crate::forms;
use crate::names::{self, NameClass};
use std::ops::Range;

/// The longest name of a flag; a longer one is a sentence.
const NAME_MOST: usize = 128;

/// What an argument announces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FlagArgument {
    /// Nothing secret.
    Plain,
    /// A flag with a secret at this place.
    Secret(Range<usize>),
    /// A flag whose value is the next argument, and what its name announces.
    Announces(NameClass),
}

/// Judges an argument.
pub(crate) fn flag_argument(text: &str) -> FlagArgument {
    let name = text.trim_start_matches('-');
    if name.len() == text.len() && !text.contains('=') {
        return FlagArgument::Plain;
    }
    let (name, value) = match name.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (name, None),
    };
    // With a space, it is a line of a script.
    if name.len() > NAME_MOST || name.contains(char::is_whitespace) {
        return FlagArgument::Plain;
    }
    let class = names::class(name);
    match value {
        None if class >= NameClass::Possible => FlagArgument::Announces(class),
        Some(value) if !forms::is_kept(class, value) && !forms::is_count(name, value) => {
            FlagArgument::Secret(text.len() - value.len()..text.len())
        }
        _ => FlagArgument::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_tell_secrets() {
        for (text, expected) in [
            ("--token=abc", FlagArgument::Secret(8..11)),
            ("-password=x", FlagArgument::Secret(10..11)),
            ("--client-secret=a=b", FlagArgument::Secret(16..19)),
            ("TOKEN=abc", FlagArgument::Secret(6..9)),
            ("--Api_Key=x", FlagArgument::Secret(10..11)),
            ("--token", FlagArgument::Announces(NameClass::Secret)),
            ("--token=", FlagArgument::Plain),
            ("--token=$(TOKEN)", FlagArgument::Plain),
            ("--token-ttl=10m", FlagArgument::Plain),
            ("--max-tokens=4096", FlagArgument::Plain),
            ("--tls-private-key-file=/a", FlagArgument::Plain),
            ("token", FlagArgument::Plain),
            (
                "--kubeconfig=/etc/kubernetes/kubeconfig",
                FlagArgument::Plain,
            ),
            ("--authorization-mode=Node,RBAC", FlagArgument::Plain),
            ("--client-key", FlagArgument::Announces(NameClass::Possible)),
            ("--v=4", FlagArgument::Plain),
        ] {
            assert_eq!(flag_argument(text), expected, "{text}");
        }
    }
}
