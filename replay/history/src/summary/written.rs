//! Owns how a summary writes times and ends. Refuses sums.

use crate::timetext;
use kubereel_format::{RecordedAt, SessionEnd};
use serde::Serializer;

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
pub(crate) fn rfc3339<S: Serializer>(at: &RecordedAt, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(&timetext::rfc3339(*at))
}

#[expect(clippy::ref_option, reason = "serde passes a reference")]
pub(crate) fn rfc3339_or_none<S: Serializer>(
    at: &Option<RecordedAt>,
    out: S,
) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => out.serialize_some(&timetext::rfc3339(*at)),
        None => out.serialize_none(),
    }
}

/// Gives the seconds between two times, to the microsecond.
pub(super) fn secs_between(from: RecordedAt, to: RecordedAt) -> f64 {
    jiff::SignedDuration::from_micros(to.micros_since(from)).as_secs_f64()
}

/// Says how a recorder run ended.
pub(super) fn session_end(end: Option<&SessionEnd>) -> String {
    match end {
        Some(SessionEnd::Signal(signal)) => format!("ended by {signal}"),
        Some(SessionEnd::Finished) => "finished".to_owned(),
        Some(SessionEnd::Failed(error)) => format!("failed: {error}"),
        None => "killed".to_owned(),
    }
}
