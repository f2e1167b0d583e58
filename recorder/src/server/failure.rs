//! Describes a request without a response: the chain of causes in one line, and whether new
//! credentials could help.

use crate::server::client::{is_about_credentials, unquoted};
use std::error::Error;
use std::fmt;

/// A request got no response, or the response broke off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The kind of failure.
    pub(crate) kind: FailureKind,
    /// The causes, outermost first.
    pub(crate) words: String,
}

/// The kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// No connection, or it broke.
    Transport,
    /// One side did not accept the other.
    Tls,
    /// No credentials could be obtained.
    Credentials,
    /// The response timed out.
    Timeout,
}

/// Phrases of the TLS library for a certificate that was not accepted.
const TLS_WORDS: [&str; 4] = ["certificate", "fatal alert", "handshake", "TLS"];

/// What the library says of a connection that was cut, as by the end of the server's process.
const CUT_OFF: &str = "without sending TLS close_notify";

impl FailureKind {
    /// Reads the kind of a failure that is not about credentials.
    fn of_words(words: &str) -> Self {
        let words = words.replace(CUT_OFF, "");
        if TLS_WORDS.iter().any(|word| words.contains(word)) {
            Self::Tls
        } else {
            Self::Transport
        }
    }
}

impl Failure {
    /// Describes an error of the client.
    pub(crate) fn new(error: &kube::Error) -> Self {
        let words = chain(error);
        let kind = if is_about_credentials(error) {
            FailureKind::Credentials
        } else {
            FailureKind::of_words(&words)
        };
        Self { kind, words }
    }

    /// Describes a response that was cut off.
    pub(crate) fn cut(error: &(dyn Error + 'static)) -> Self {
        Self {
            kind: FailureKind::Transport,
            words: chain(error),
        }
    }

    /// Describes a response that does not match the request.
    pub(crate) const fn other(words: String) -> Self {
        Self {
            kind: FailureKind::Transport,
            words,
        }
    }

    /// Describes a response that did not arrive within `secs` seconds.
    pub(crate) fn timeout(secs: u64) -> Self {
        Self {
            kind: FailureKind::Timeout,
            words: format!("no answer within {secs} s"),
        }
    }

    /// Returns whether a client with new credentials could succeed.
    pub(crate) const fn may_need_new_client(&self) -> bool {
        matches!(self.kind, FailureKind::Tls | FailureKind::Credentials)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

/// Joins an error and its sources. Text that one error repeats of the next is written once, and
/// credentials that an error may quote are left out.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(own) = unquoted(error) {
            // The errors around it may repeat its text.
            let text = error.to_string();
            for outer in &mut words {
                let kept = outer
                    .split_once(text.as_str())
                    .map_or("", |(before, _)| before);
                *outer = kept.to_owned();
            }
            words.push(own);
            break;
        }
        words.push(error.to_string());
        next = error.source();
    }
    let mut line = String::new();
    for (place, word) in words.iter().enumerate() {
        let is_repeated = words.iter().skip(place + 1).any(|later| later == word);
        let trimmed = words
            .get(place + 1)
            .and_then(|inner| word.strip_suffix(inner.as_str()))
            .unwrap_or(word)
            .trim_end_matches([':', ' ']);
        if is_repeated || trimmed.is_empty() {
            continue;
        }
        if !line.is_empty() {
            line.push_str(": ");
        }
        line.push_str(trimmed);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Layer(&'static str, Option<Box<Layer>>);

    impl fmt::Display for Layer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Layer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            let inner: &Layer = self.1.as_deref()?;
            Some(inner)
        }
    }

    #[test]
    fn what_may_quote_a_credential_is_said_in_other_words() {
        let canary = "canary".repeat(3);
        let plugin = std::process::Command::new("sh")
            .args(["-c", &format!("echo {canary} >&2; exit 3")])
            .output()
            .expect("a shell");
        let failed = kube::client::AuthError::AuthExecRun {
            cmd: format!("TOKEN={canary} plugin"),
            out: Box::new(plugin),
        };
        let refreshed = kube::Error::Service(Box::new(failed));
        let failure = Failure::new(&refreshed);
        assert_eq!(failure.kind, FailureKind::Credentials);
        let expected = "ServiceError: the credential plugin failed: exit status: 3";
        assert_eq!(failure.words, expected);
        let proxy = format!("ftp://user:{canary}@proxy:21");
        let unsupported = kube::Error::ProxyProtocolUnsupported {
            proxy_url: Box::new(proxy.parse().expect("a URL")),
        };
        assert!(!chain(&unsupported).contains("canary"));
    }

    #[test]
    fn a_connection_that_is_cut_is_not_a_certificate_that_is_refused() {
        let cut = "client error (SendRequest): connection error: peer closed connection without sending TLS \
            close_notify: https://docs.rs/rustls/latest/rustls/manual/_03_howto/index.html#unexpected-eof";
        assert_eq!(FailureKind::of_words(cut), FailureKind::Transport);
        let refused = "client error (Connect): invalid peer certificate: UnknownIssuer";
        assert_eq!(FailureKind::of_words(refused), FailureKind::Tls);
    }

    #[test]
    fn says_each_cause_once() {
        let inner = Layer("Connection refused", None);
        let middle = Layer(
            "tcp connect error: Connection refused",
            Some(Box::new(inner)),
        );
        let outer = Layer("client error (Connect)", Some(Box::new(middle)));
        let expected = "client error (Connect): tcp connect error: Connection refused";
        assert_eq!(chain(&outer), expected);
    }
}
