//! How reports write times (in UTC), spans, and words of others.

use jiff::Timestamp;
use kubereel_format::{RecordedAt, harmless};

/// Writes a moment as RFC 3339 in UTC.
pub(super) fn time(at: RecordedAt) -> String {
    Timestamp::from_microsecond(at.micros).map_or_else(
        |_| format!("{} µs since 1970", at.micros),
        |moment| moment.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string(),
    )
}

/// Writes a length in seconds.
pub(super) fn secs(micros: i64) -> String {
    let tenths = micros.max(0) / 100_000;
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// Escapes a text for the inside of an XML element or attribute, without what XML has no place for.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let lines: Vec<_> = text.split('\n').map(harmless).collect();
    for letter in lines.join("\n").chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_said_is_markup() {
        assert_eq!(
            escaped("<a b=\"c\">&'\u{1b}[31m\u{0}\u{ffff}\n"),
            "&lt;a b=&quot;c&quot;&gt;&amp;&#39;\\u001b[31m\\u0000\u{fffd}\n"
        );
    }

    #[test]
    fn times_are_utc_and_spans_are_seconds() {
        assert_eq!(
            time(RecordedAt::from_micros(1_250_000)),
            "1970-01-01T00:00:01.250Z"
        );
        assert_eq!(secs(1_250_000), "1.2");
        assert_eq!(secs(-5), "0.0");
    }
}
