//! The wall clock, and how Kubernetes writes it down.

use jiff::Timestamp;

/// Reads the wall clock.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the clock: the players stamp what they write with the time of writing"
)]
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// Writes a time as `metav1.Time`: whole seconds, UTC.
pub fn seconds(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Writes a time as `metav1.MicroTime`: six digits after the point, UTC.
pub fn micros(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_kubernetes_does() {
        let at: Timestamp = "2026-03-04T05:06:07.080910Z".parse().unwrap();
        assert_eq!(seconds(at), "2026-03-04T05:06:07Z");
        assert_eq!(micros(at), "2026-03-04T05:06:07.080910Z");
        assert_eq!(
            micros("2026-03-04T05:06:07Z".parse().unwrap()),
            "2026-03-04T05:06:07.000000Z"
        );
    }
}
