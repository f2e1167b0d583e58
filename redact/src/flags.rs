//! Owns secrets in the arguments of a program: `--token=…`, `--password …`. Refuses whole scripts: those
//! are texts.

use crate::forms;
use crate::names::{self, NameClass};
use std::ops::Range;

/// A longer name of a flag is a sentence.
const NAME_MOST: usize = 128;

/// What an argument says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// Nothing secret.
    Plain,
    /// A flag with a secret, which stands there.
    Secret(Range<usize>),
    /// A flag whose value is the next argument, and what its name says of it.
    Announces(NameClass),
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
    if name.len() > NAME_MOST || name.contains(char::is_whitespace) {
        return Argument::Plain;
    }
    let class = names::class(name);
    match value {
        None if class >= NameClass::Possible => Argument::Announces(class),
        Some(value) if !forms::is_kept(class, value) => {
            Argument::Secret(text.len() - value.len()..text.len())
        }
        _ => Argument::Plain,
    }
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
            ("--token", Argument::Announces(NameClass::Secret)),
            ("--token=", Argument::Plain),
            ("--token=$(TOKEN)", Argument::Plain),
            ("--token-ttl=10m", Argument::Plain),
            ("--tls-private-key-file=/a", Argument::Plain),
            ("token", Argument::Plain),
            ("--kubeconfig=/etc/kubernetes/kubeconfig", Argument::Plain),
            ("--authorization-mode=Node,RBAC", Argument::Plain),
            ("--client-key", Argument::Announces(NameClass::Possible)),
            ("--v=4", Argument::Plain),
        ] {
            assert_eq!(argument(text), expected, "{text}");
        }
    }
}
