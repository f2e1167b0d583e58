//! Owns what kind of failure a probe met. Refuses the words: the note carries those beside it.

use crate::server::{Failure, FailureKind};
use kubereel_format::OutageClass;

/// Words by which the client tells that a name has no address.
const NAME_WORDS: [&str; 2] = ["dns error", "failed to lookup address"];

/// Words by which the client tells that no connection came about.
const CONNECT_WORDS: [&str; 3] = ["(Connect)", "tcp connect error", "tunnel error"];

/// Judges a probe that got no answer, or whose answer broke off.
pub(super) fn of_failure(failure: &Failure) -> OutageClass {
    let says = |words: &[&str]| words.iter().any(|word| failure.words.contains(word));
    match failure.kind {
        FailureKind::Timeout => OutageClass::Timeout,
        FailureKind::Credentials => OutageClass::Credentials,
        FailureKind::Tls => OutageClass::Tls,
        FailureKind::Transport if says(&NAME_WORDS) => OutageClass::Name,
        FailureKind::Transport if says(&CONNECT_WORDS) => OutageClass::Connect,
        FailureKind::Transport => OutageClass::Cut,
    }
}

/// Judges an answer by its status code; `None` for an answer in order.
pub(super) const fn of_status(status: u16) -> Option<OutageClass> {
    match status {
        200 => None,
        401 | 403 => Some(OutageClass::Credentials),
        429 => Some(OutageClass::Busy),
        500..=599 => Some(OutageClass::Server),
        _ => Some(OutageClass::Other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_fall_into_classes_by_what_the_client_says() {
        let class = |kind, words: &str| {
            of_failure(&Failure {
                kind,
                words: words.to_owned(),
            })
        };
        for (words, expected) in [
            (
                "client error (Connect): dns error: failed to lookup address information",
                OutageClass::Name,
            ),
            (
                "client error (Connect): tcp connect error: Connection refused (os error 111)",
                OutageClass::Connect,
            ),
            (
                "client error (SendRequest): connection closed before message completed",
                OutageClass::Cut,
            ),
            ("connection reset by peer", OutageClass::Cut),
        ] {
            assert_eq!(class(FailureKind::Transport, words), expected, "{words}");
        }
        assert_eq!(class(FailureKind::Tls, "(Connect)"), OutageClass::Tls);
        assert_eq!(class(FailureKind::Timeout, ""), OutageClass::Timeout);
        assert_eq!(
            class(FailureKind::Credentials, ""),
            OutageClass::Credentials
        );
    }

    #[test]
    fn answers_fall_into_classes_by_their_status() {
        assert_eq!(of_status(200), None);
        for (status, expected) in [
            (401, OutageClass::Credentials),
            (403, OutageClass::Credentials),
            (429, OutageClass::Busy),
            (500, OutageClass::Server),
            (503, OutageClass::Server),
            (504, OutageClass::Server),
            (404, OutageClass::Other),
            (302, OutageClass::Other),
        ] {
            assert_eq!(of_status(status), Some(expected), "{status}");
        }
    }
}
