//! Allowed signers: a public key, or lines in the ALLOWED SIGNERS format of ssh-keygen(1).
//!
//! A key whose line has conditions that cannot be checked here (certificates, times of validity) is
//! refused, never accepted. A line that cannot be read, such as one with a key of a newer kind, allows nothing, and
//! says nothing about the keys of other lines: OpenSSH passes over it, too.

use ssh_key::PublicKey;
use ssh_key::authorized_keys::ConfigOpts;
use thiserror::Error;

/// A line of a list of signers cannot be read.
#[derive(Debug, Error)]
#[error("line {line} is neither a public key nor an allowed signer: {source}")]
pub struct SignersError {
    /// Its number, from 1.
    pub line: usize,
    /// The cause.
    pub source: SignerLineError,
}

/// Why a line of a list of signers cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SignerLineError {
    /// It has no key, or no options, of a known form.
    #[error(transparent)]
    Form(#[from] ssh_key::Error),
    /// The value of an option is not in quotation marks: OpenSSH refuses the line.
    #[error("the value of the option {0} is not in quotation marks")]
    Unquoted(String),
}

/// Why a key is not allowed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SignerRefusal {
    /// No line has it.
    NotListed,
    /// A line has it, but does not allow it here: the reason.
    NotAllowed(String),
}

/// The allowed keys.
#[derive(Clone, Debug)]
pub struct AllowedSigners {
    signers: Vec<AllowedSigner>,
    /// The number of the first line that cannot be read.
    unread: Option<usize>,
}

#[derive(Clone, Debug)]
struct AllowedSigner {
    /// The patterns of identities; none for a public key alone.
    principals: Option<String>,
    options: Vec<String>,
    key: PublicKey,
}

impl AllowedSigners {
    /// Parses a public key, or a file of allowed signers.
    ///
    /// # Errors
    /// When no line is either, although there are lines.
    pub fn parse(text: &str) -> Result<Self, SignersError> {
        let (mut signers, mut unread) = (Vec::new(), None);
        for (number, line) in text.lines().enumerate() {
            let line = line.trim_ascii();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let line_number = number.saturating_add(1);
            match AllowedSigner::parse(line) {
                Ok(signer) => signers.push(signer),
                Err(source) => {
                    unread.get_or_insert(SignersError {
                        line: line_number,
                        source,
                    });
                }
            }
        }
        match unread {
            Some(error) if signers.is_empty() => Err(error),
            unread => Ok(Self {
                signers,
                unread: unread.map(|error| error.line),
            }),
        }
    }

    /// Returns whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.signers.is_empty()
    }

    /// Finds a key that is allowed in a namespace, for an identity if there is one, and returns the
    /// identities of its line.
    pub(crate) fn find(
        &self,
        key: &PublicKey,
        namespace: &str,
        identity: Option<&str>,
    ) -> Result<Option<String>, SignerRefusal> {
        let mut refusal = None;
        for signer in &self.signers {
            if signer.key.key_data() != key.key_data() {
                continue;
            }
            match signer.refusal(namespace, identity) {
                None => return Ok(signer.principals.clone()),
                Some(reason) => refusal.get_or_insert(reason),
            };
        }
        let refusal = refusal.or_else(|| {
            let line = self.unread?;
            Some(format!(
                "line {line} cannot be read, and no other line has it"
            ))
        });
        Err(refusal.map_or(SignerRefusal::NotListed, SignerRefusal::NotAllowed))
    }
}

impl AllowedSigner {
    fn parse(line: &str) -> Result<Self, SignerLineError> {
        if let Ok(key) = PublicKey::from_openssh(line) {
            return Ok(Self {
                principals: None,
                options: Vec::new(),
                key,
            });
        }
        let (principals, rest) = match line.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"'),
            None => line.split_once([' ', '\t']),
        }
        .unwrap_or((line, ""));
        // The library parses options only before a key with a comment, and values without quotation marks, which OpenSSH
        // refuses.
        let rest = rest.trim_ascii();
        let (options, key) = match PublicKey::from_openssh(rest) {
            Ok(key) => (ConfigOpts::default(), key),
            Err(error) => {
                let (options, key) = split_unquoted(rest).ok_or(error)?;
                let key = PublicKey::from_openssh(key.trim_ascii())?;
                let options = ConfigOpts::new(options)?;
                if let Some(option) = options.iter().find(|option| has_unquoted_value(option)) {
                    return Err(SignerLineError::Unquoted(option.to_owned()));
                }
                (options, key)
            }
        };
        Ok(Self {
            principals: Some(principals.to_owned()),
            options: options.iter().map(str::to_owned).collect(),
            key,
        })
    }

    /// Returns why this line does not allow its key.
    fn refusal(&self, namespace: &str, identity: Option<&str>) -> Option<String> {
        if let Some(identity) = identity {
            let is_named = self
                .principals
                .as_ref()
                .is_some_and(|patterns| matches_list(patterns, identity));
            if !is_named {
                return Some(match &self.principals {
                    Some(patterns) => format!("it belongs to {patterns}, not to {identity}"),
                    None => format!("a public key alone has no identity such as {identity}"),
                });
            }
        }
        for option in &self.options {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let is_met = name.eq_ignore_ascii_case("namespaces")
                && matches_list(value.trim_matches('"'), namespace);
            if !is_met {
                return Some(format!("its line has the option {option}"));
            }
        }
        None
    }
}

/// Returns whether the value of an option is not in quotation marks.
fn has_unquoted_value(option: &str) -> bool {
    let is_quoted = |value: &str| value.len() > 1 && value.starts_with('"') && value.ends_with('"');
    option
        .split_once('=')
        .is_some_and(|(_, value)| !is_quoted(value))
}

/// Splits at the first blank outside of quotation marks.
fn split_unquoted(text: &str) -> Option<(&str, &str)> {
    let mut is_quoted = false;
    let place = text.find(|letter: char| {
        is_quoted ^= letter == '"';
        !is_quoted && letter.is_ascii_whitespace()
    })?;
    text.split_at_checked(place)
}

/// Matches a list of patterns as OpenSSH does: at least one must match, and none with an
/// exclamation mark.
fn matches_list(patterns: &str, text: &str) -> bool {
    let mut is_matched = false;
    for pattern in patterns.split(',') {
        match pattern.strip_prefix('!') {
            Some(pattern) if matches_pattern(pattern, text) => return false,
            Some(_) => {}
            None => is_matched |= matches_pattern(pattern, text),
        }
    }
    is_matched
}

/// Matches `*` and `?`. It backtracks to the last star only, so its time is bounded by the product
/// of the lengths.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut from, mut star) = (0, 0, None);
    while let Some(letter) = text.get(from) {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(one) if one == letter || *one == '?' => {
                at += 1;
                from += 1;
            }
            _ => match star {
                Some((behind, taken)) => {
                    star = Some((behind, taken + 1));
                    (at, from) = (behind + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern
        .get(at..)
        .unwrap_or_default()
        .iter()
        .all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLIC: &str =
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOpKbGPinFIKvvUe6a/qUCTBKZPMPyl4VrljYZ8m8GEo";

    fn refusal(line: &str, identity: Option<&str>) -> Option<SignerRefusal> {
        let key = PublicKey::from_openssh(PUBLIC).expect("a key");
        let signers = AllowedSigners::parse(&line.replace("KEY", PUBLIC)).expect("signers");
        signers.find(&key, "recording@kubereel", identity).err()
    }

    #[test]
    fn identities_are_patterns_as_in_openssh() {
        for (line, identity, is_allowed) in [
            ("KEY", None, true),
            ("KEY", Some("a@x.org"), false),
            ("a@x.org KEY", None, true),
            ("a@x.org KEY", Some("a@x.org"), true),
            ("a@x.org KEY", Some("A@x.org"), false),
            ("*@x.org,b KEY", Some("a@x.org"), true),
            ("*@x.org,!a@* KEY", Some("a@x.org"), false),
            ("?@x.* KEY", Some("a@x.org"), true),
            ("?@x.*g KEY", Some("ab@x.org"), false),
            ("*a*b*c* KEY", Some("xxaxxbxx"), false),
            ("\"a@x.org\" KEY", Some("a@x.org"), true),
            ("# a comment\n\na@x.org KEY", Some("a@x.org"), true),
        ] {
            let refusal = refusal(line, identity);
            assert_eq!(
                refusal.is_none(),
                is_allowed,
                "{line} {identity:?}: {refusal:?}"
            );
        }
    }

    #[test]
    fn options_that_are_not_met_or_not_known_refuse_the_key() {
        for (line, refused) in [
            ("a namespaces=\"recording@kubereel\" KEY", None),
            ("a namespaces=\"file,recording@*\" KEY", None),
            ("a namespaces=\"file\" KEY", Some("namespaces=\"file\"")),
            (
                "a valid-before=\"20200101\" KEY",
                Some("valid-before=\"20200101\""),
            ),
            ("a cert-authority KEY", Some("cert-authority")),
            ("a cert-authority KEY a comment", Some("cert-authority")),
            (
                "a namespaces=\"recording@kubereel\",cert-authority KEY",
                Some("cert-authority"),
            ),
            ("a\tnamespaces=\"recording@kubereel\"\tKEY a comment", None),
            ("a namespaces=\"file\" KEY\na KEY", None),
        ] {
            let said = refusal(line, Some("a"));
            let wanted = refused.map(|option| {
                SignerRefusal::NotAllowed(format!("its line has the option {option}"))
            });
            assert_eq!(said, wanted, "{line}");
        }
    }

    #[test]
    fn a_value_without_quotation_marks_is_refused_as_by_openssh() {
        for option in ["namespaces=git", "namespaces=", "valid-before=20990101"] {
            let line = format!("# a comment\nb {option} {PUBLIC}");
            let error = AllowedSigners::parse(&line).expect_err("refused");
            let words = format!("the value of the option {option} is not in quotation marks");
            let text = error.to_string();
            assert!(text.starts_with("line 2 is neither"), "{text}");
            assert!(text.ends_with(&words), "{text}");
        }
    }

    #[test]
    fn a_line_that_cannot_be_read_does_not_refuse_the_keys_of_others() {
        const OTHER: &str =
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB9dG4kjRhQTtWTVzd2t27+t0DEHBPW7iOD23TUiYLio";
        for line in [
            "a garbage",
            "a ssh-dss AAAAB3NzaC1kc3MAAACBAA==",
            "a ssh-future AAAACnNzaC1mdXR1cmUAAAABAA==",
            &format!("a namespaces=git {PUBLIC}"),
        ] {
            assert_eq!(refusal(&format!("{line}\na KEY"), Some("a")), None);
            let said = refusal(&format!("{line}\na {OTHER}"), Some("a"));
            let reason = "line 1 cannot be read, and no other line has it".to_owned();
            assert_eq!(said, Some(SignerRefusal::NotAllowed(reason)), "{line}");
        }
    }

    #[test]
    fn a_line_that_is_no_key_is_named() {
        let error = AllowedSigners::parse("# x\nno key at all").expect_err("refused");
        assert!(
            error.to_string().starts_with("line 2 is neither"),
            "{error}"
        );
        assert!(AllowedSigners::parse("\n").expect("empty").is_empty());
    }
}
