//! The day of every test's reel: times of day become moments. It does not handle other days.

use kubereel_format::RecordedAt;

/// 2026-11-21T00:00:00Z.
const DAY_MICROS: i64 = 1_795_219_200_000_000;

/// Reads a time of day, `10:00:00` or `10:00:00.250`.
pub fn time(text: &str) -> RecordedAt {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let parts: Vec<i64> = whole
        .split(':')
        .map(|part| part.parse().expect("a number"))
        .collect();
    let [hours, minutes, secs] = parts.as_slice() else {
        panic!("{text} is not a time of day");
    };
    let micros: i64 = format!("{fraction:0<6}").parse().expect("a fraction");
    RecordedAt::from_micros(DAY_MICROS + ((hours * 60 + minutes) * 60 + secs) * 1_000_000 + micros)
}

#[test]
fn a_time_of_day_is_a_moment_of_the_day() {
    let text = kubereel_history::timetext::rfc3339_micros(time("10:05:40.25"));
    assert_eq!(text, "2026-11-21T10:05:40.250000Z");
}
