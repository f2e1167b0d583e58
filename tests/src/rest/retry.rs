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
