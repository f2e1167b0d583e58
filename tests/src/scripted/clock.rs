//! Owns the scripted server's only looks at the wall clock: the `Date` header and `creationTimestamp`.
//! Refuses to time anything; order and delays are measured with `Instant` elsewhere.

use jiff::{SignedDuration, Timestamp};

#[expect(
    clippy::disallowed_methods,
    reason = "this is the module the wall clock is read in"
)]
fn now(skew_secs: i64) -> Timestamp {
    Timestamp::now().saturating_add_secs(skew_secs)
}

/// Moves a moment without ever failing: a skew too large for the calendar is ignored.
trait SaturatingSecs {
    fn saturating_add_secs(self, secs: i64) -> Self;
}

impl SaturatingSecs for Timestamp {
    fn saturating_add_secs(self, secs: i64) -> Self {
        self.checked_add(SignedDuration::from_secs(secs))
            .unwrap_or(self)
    }
}

/// The value of a `Date` header, wrong by `skew_secs`.
pub(crate) fn http_date(skew_secs: i64) -> String {
    now(skew_secs)
        .strftime("%a, %d %b %Y %H:%M:%S GMT")
        .to_string()
}

/// The value of a `creationTimestamp`, cut to whole seconds as API servers do.
pub(crate) fn creation_timestamp() -> String {
    now(0).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
