//! Owns how a line says when it came: seconds since 1970, whole or with a fraction, or RFC 3339.
//! Refuses times that no calendar has. What is finer than a microsecond is cut off.

use jiff::Timestamp;
use kubereel_format::RecordedAt;

const MICROS: i64 = 1_000_000;

/// How many digits of a fraction count.
const FRACTION: usize = 6;

/// Reads a JSON value as a time.
pub(crate) fn time(json: &str) -> Option<RecordedAt> {
    if json.starts_with('"') {
        let text: String = serde_json::from_str(json).ok()?;
        let at = text.parse::<Timestamp>().ok()?;
        return Some(RecordedAt::from_micros(at.as_microsecond()));
    }
    let micros = seconds(json)?;
    // The calendar's bounds are those of every reader.
    Timestamp::from_microsecond(micros).ok()?;
    Some(RecordedAt::from_micros(micros))
}

/// Reads a JSON number without an exponent, exactly.
fn seconds(number: &str) -> Option<i64> {
    let (is_negative, digits) = match number.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, number),
    };
    if digits.contains(['e', 'E']) {
        return scientific(number);
    }
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let micros = whole.parse::<i64>().ok()?.checked_mul(MICROS)?;
    let fraction = fraction.get(..FRACTION).unwrap_or(fraction);
    let micros = micros.checked_add(format!("{fraction:0<FRACTION$}").parse().ok()?)?;
    Some(if is_negative { -micros } else { micros })
}

/// Reads a JSON number as programs write large ones: `1.6782e9`.
fn scientific(number: &str) -> Option<i64> {
    let secs: f64 = number.parse().ok()?;
    let duration = jiff::SignedDuration::try_from_secs_f64(secs).ok()?;
    i64::try_from(duration.as_micros()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_rfc_3339_are_read_to_the_microsecond() {
        for (json, micros) in [
            ("1678262400", 1_678_262_400_000_000),
            ("1678262400.5", 1_678_262_400_500_000),
            ("1678262400.123456", 1_678_262_400_123_456),
            ("1678262400.1234569", 1_678_262_400_123_456),
            ("0.000001", 1),
            ("-1.25", -1_250_000),
            ("1.6782624e9", 1_678_262_400_000_000),
            ("\"2023-03-08T08:00:00Z\"", 1_678_262_400_000_000),
            ("\"2023-03-08T08:00:00.123456789Z\"", 1_678_262_400_123_456),
            ("\"2023-03-08T10:00:00+02:00\"", 1_678_262_400_000_000),
        ] {
            assert_eq!(time(json), Some(RecordedAt::from_micros(micros)), "{json}");
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for json in [
            "null",
            "true",
            "{}",
            "\"\"",
            "\"yesterday\"",
            "\"2023-03-08\"",
            "1e300",
            "99999999999999999999",
            "9223372036854775",
            "-",
        ] {
            assert_eq!(time(json), None, "{json}");
        }
    }
}
