//! How long a call is tried again, and after which answers.

use std::time::Duration;

use http::StatusCode;

use super::request::RestError;

/// What a caller bears before it gives up.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Tries again for this long after the first try.
    pub total: Duration,
    /// Takes "not found" for "not there yet": a namespace or a definition that is still to come.
    pub until_found: bool,
}

impl Patience {
    /// The longest pause between two tries.
    const LONGEST_PAUSE: Duration = Duration::from_millis(400);

    /// Bears outages only.
    pub const fn outages(total: Duration) -> Self {
        Self {
            total,
            until_found: false,
        }
    }

    /// Bears outages, and waits for what the call needs to come into being.
    pub const fn until_found(total: Duration) -> Self {
        Self {
            total,
            until_found: true,
        }
    }

    /// Pause before try number `attempt + 1`: 10 ms, doubling.
    pub(super) fn pause(attempt: u32) -> Duration {
        let doubled =
            Duration::from_millis(10).saturating_mul(2_u32.saturating_pow(attempt.min(10)));
        doubled.min(Self::LONGEST_PAUSE)
    }

    /// Whether a later try can end otherwise.
    pub(super) fn bears(self, error: &RestError) -> bool {
        match error {
            RestError::Unreachable { .. } | RestError::TooSlow { .. } => true,
            RestError::Refused { status, reason, .. } => match *status {
                StatusCode::TOO_MANY_REQUESTS
                | StatusCode::INTERNAL_SERVER_ERROR
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT => true,
                StatusCode::NOT_FOUND => self.until_found,
                // A Pod is forbidden until its namespace has the default ServiceAccount.
                StatusCode::FORBIDDEN => self.until_found && reason == "Forbidden",
                _ => false,
            },
            RestError::NoPath { .. } | RestError::NoServer { .. } | RestError::NotJson { .. } => {
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Verb;
    use super::*;

    fn refused(status: u16, reason: &str) -> RestError {
        RestError::Refused {
            verb: Verb::Post,
            path: "/".to_owned(),
            status: StatusCode::from_u16(status).unwrap(),
            reason: reason.to_owned(),
            message: String::new(),
        }
    }

    #[test]
    fn outages_are_borne_and_refusals_are_not() {
        let patience = Patience::outages(Duration::from_secs(1));
        for (status, reason) in [(429, "TooManyRequests"), (500, "InternalError"), (503, "")] {
            assert!(patience.bears(&refused(status, reason)), "{status}");
        }
        for (status, reason) in [(404, "NotFound"), (409, "AlreadyExists"), (422, "Invalid")] {
            assert!(!patience.bears(&refused(status, reason)), "{status}");
        }
    }

    #[test]
    fn what_is_still_to_come_is_waited_for_when_asked() {
        let patience = Patience::until_found(Duration::from_secs(1));
        assert!(patience.bears(&refused(404, "NotFound")));
        assert!(patience.bears(&refused(403, "Forbidden")));
        assert!(!patience.bears(&refused(422, "Invalid")));
    }

    #[test]
    fn pauses_grow_and_stay_short() {
        assert_eq!(Patience::pause(1), Duration::from_millis(20));
        assert!(Patience::pause(3) > Patience::pause(2));
        assert_eq!(Patience::pause(60), Patience::LONGEST_PAUSE);
    }
}
