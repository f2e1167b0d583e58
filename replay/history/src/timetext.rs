//! Formats moments and durations, so that printed times can be given to `--at`. Times are in UTC,
//! because people in many time zones read a recording; another zone is used only on request, with
//! its offset.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use kubereel_format::RecordedAt;
use serde::{Serialize as _, Serializer};

const MICROS_PER_SEC: u64 = 1_000_000;

/// Formats a time as RFC 3339 in UTC, with milliseconds, or with microseconds if it has them.
pub fn rfc3339(at: RecordedAt) -> String {
    written(at, "%Y-%m-%dT%H:%M:%S")
}

/// Formats a time as RFC 3339 in UTC, always with microseconds: lines of equal width sort as text.
pub fn rfc3339_micros(at: RecordedAt) -> String {
    match Timestamp::from_microsecond(at.micros) {
        Ok(timestamp) => timestamp.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string(),
        Err(_) => rfc3339(at),
    }
}

/// Parses a time as in Kubernetes: RFC 3339, with or without a fraction.
pub fn parsed(text: &str) -> Option<RecordedAt> {
    let at: Timestamp = text.parse().ok()?;
    Some(RecordedAt::from_micros(at.as_microsecond()))
}

/// Formats a time as RFC 3339 in UTC, in whole seconds, as the Kubernetes API does.
pub fn rfc3339_secs(at: RecordedAt) -> String {
    match Timestamp::from_microsecond(at.micros) {
        Ok(timestamp) => timestamp.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        Err(_) => rfc3339(at),
    }
}

/// Formats the time of day in UTC, with milliseconds, or with microseconds if it has them.
pub fn time_of_day(at: RecordedAt) -> String {
    written(at, "%H:%M:%S")
}

/// Formats a time of a recording so that `--at` reads it as the same moment: the time of day if the
/// whole recording lies in one day, else date and time.
pub fn within(start: RecordedAt, end: RecordedAt, at: RecordedAt) -> String {
    ClockZone::UTC.within(start, end, at)
}

/// The zone of printed times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClockZone {
    /// `None` is UTC, which is printed with a `Z`.
    zone: Option<TimeZone>,
}

impl From<Option<&TimeZone>> for ClockZone {
    fn from(zone: Option<&TimeZone>) -> Self {
        Self {
            zone: zone.cloned(),
        }
    }
}

impl ClockZone {
    /// UTC.
    pub const UTC: Self = Self { zone: None };

    /// Formats a time as RFC 3339, with milliseconds, or with microseconds if it has them.
    pub fn rfc3339(&self, at: RecordedAt) -> String {
        self.written(at, "%Y-%m-%dT%H:%M:%S", true)
    }

    /// Formats a time as RFC 3339 in whole seconds.
    pub fn rfc3339_secs(&self, at: RecordedAt) -> String {
        let whole = at.micros.div_euclid(1_000_000).saturating_mul(1_000_000);
        let text = self.rfc3339(RecordedAt::from_micros(whole));
        text.replacen(".000", "", 1)
    }

    /// Formats the time of day, with milliseconds, or with microseconds if it has them.
    pub fn time_of_day(&self, at: RecordedAt) -> String {
        self.written(at, "%H:%M:%S", false)
    }

    /// Formats a time of a recording as [`within`] does.
    pub fn within(&self, start: RecordedAt, end: RecordedAt, at: RecordedAt) -> String {
        const DAY_MICROS: i64 = 24 * 3600 * 1_000_000;
        let day = |at: RecordedAt| {
            let local = at.micros.saturating_add(self.offset_micros(at));
            local.div_euclid(DAY_MICROS)
        };
        // On a day with a change of the clock, times of day occur twice.
        let is_short = end.micros_since(start) < DAY_MICROS;
        if is_short && day(start) == day(end) && day(at) == day(start) {
            self.time_of_day(at)
        } else {
            self.rfc3339(at)
        }
    }

    /// Returns the offset of the zone from UTC at a time, in microseconds.
    pub fn offset_micros(&self, at: RecordedAt) -> i64 {
        i64::from(self.offset(at).map_or(0, Offset::seconds)).saturating_mul(1_000_000)
    }

    /// Returns the name of the zone at a time: `UTC`, `CEST`, or `+05:30` for one without a name.
    pub fn name(&self, at: RecordedAt) -> String {
        match (&self.zone, Timestamp::from_microsecond(at.micros)) {
            (Some(zone), Ok(time)) => zone.to_offset_info(time).abbreviation().to_owned(),
            _ => "UTC".to_owned(),
        }
    }

    fn offset(&self, at: RecordedAt) -> Option<Offset> {
        let time = Timestamp::from_microsecond(at.micros).ok()?;
        Some(self.zone.as_ref()?.to_offset(time))
    }

    fn written(&self, at: RecordedAt, pattern: &str, has_day: bool) -> String {
        let (Some(offset), Ok(time)) = (self.offset(at), Timestamp::from_microsecond(at.micros))
        else {
            return written(at, pattern);
        };
        let whole = offset.to_datetime(time).strftime(pattern).to_string();
        let micros = at.micros.rem_euclid(1_000_000);
        let fraction = if micros % 1000 == 0 {
            format!("{:03}", micros / 1000)
        } else {
            format!("{micros:06}")
        };
        format!("{whole}.{fraction}{}", offset_text(offset, has_day))
    }
}

/// Formats an offset from UTC: `Z`, `+02` or `+05:30`; always with minutes where RFC 3339 requires
/// them.
fn offset_text(offset: Offset, is_whole: bool) -> String {
    let secs = offset.seconds();
    let sign = if secs < 0 { '-' } else { '+' };
    let minutes = secs.unsigned_abs() / 60;
    match (minutes / 60, minutes % 60) {
        (0, 0) => "Z".to_owned(),
        (hours, 0) if !is_whole => format!("{sign}{hours:02}"),
        (hours, rest) => format!("{sign}{hours:02}:{rest:02}"),
    }
}

fn written(at: RecordedAt, pattern: &str) -> String {
    let Ok(timestamp) = Timestamp::from_microsecond(at.micros) else {
        // Only a damaged or hostile file has such a time; the number is still exact.
        return format!("{} µs since 1970", at.micros);
    };
    let micros = at.micros.rem_euclid(1_000_000);
    let whole = timestamp.strftime(pattern);
    if micros % 1000 == 0 {
        format!("{whole}.{:03}Z", micros / 1000)
    } else {
        format!("{whole}.{micros:06}Z")
    }
}

/// Formats a distance from the start of a recording, in whole seconds: `+41m12s`, `-3s`.
pub fn offset(micros: i64) -> String {
    let sign = if micros < 0 { '-' } else { '+' };
    format!(
        "{sign}{}",
        span_parts(micros.unsigned_abs() / MICROS_PER_SEC, "")
    )
}

/// Formats a duration: `1h 29m 47s`, `12.5s`, `40ms`, `0s`.
pub fn span(micros: u64) -> String {
    let secs = micros / MICROS_PER_SEC;
    if secs >= 60 {
        return span_parts(secs, " ");
    }
    let millis = micros / 1000;
    if secs > 0 {
        let tenths = (millis % 1000) / 100;
        return format!("{secs}.{tenths}s");
    }
    match (millis, micros) {
        (0, 0) => "0s".to_owned(),
        (0, micros) => format!("{micros}µs"),
        (millis, _) => format!("{millis}ms"),
    }
}

fn span_parts(secs: u64, between: &str) -> String {
    let (hours, minutes, rest) = (secs / 3600, secs / 60 % 60, secs % 60);
    if hours > 0 {
        format!("{hours}h{between}{minutes:02}m{between}{rest:02}s")
    } else if minutes > 0 {
        format!("{minutes}m{between}{rest:02}s")
    } else {
        format!("{rest}s")
    }
}

/// Formats an age as in kubectl's AGE column: two units if the first is small.
pub fn age(secs: i64) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    const YEAR: u64 = 365 * DAY;
    let two = |whole: u64, unit: char, rest: u64, small: char| {
        if rest == 0 {
            format!("{whole}{unit}")
        } else {
            format!("{whole}{unit}{rest}{small}")
        }
    };
    // Clocks of server and recorder differ a little; a larger difference is not an age.
    let Ok(secs) = u64::try_from(secs) else {
        return if secs < -1 { "<invalid>" } else { "0s" }.to_owned();
    };
    match secs {
        _ if secs < 2 * MINUTE => format!("{secs}s"),
        _ if secs < 10 * MINUTE => two(secs / MINUTE, 'm', secs % MINUTE, 's'),
        _ if secs < 3 * HOUR => format!("{}m", secs / MINUTE),
        _ if secs < 8 * HOUR => two(secs / HOUR, 'h', secs % HOUR / MINUTE, 'm'),
        _ if secs < 2 * DAY => format!("{}h", secs / HOUR),
        _ if secs < 8 * DAY => two(secs / DAY, 'd', secs % DAY / HOUR, 'h'),
        _ if secs < 2 * YEAR => format!("{}d", secs / DAY),
        _ if secs < 8 * YEAR => two(secs / YEAR, 'y', secs % YEAR / DAY, 'd'),
        _ => format!("{}y", secs / YEAR),
    }
}

/// Serializes a time as RFC 3339.
pub(crate) struct Rfc3339;

/// Serializes a time as RFC 3339, or null.
pub(crate) struct OptionalRfc3339;

impl Rfc3339 {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes a reference"
    )]
    pub(crate) fn serialize<S: Serializer>(at: &RecordedAt, out: S) -> Result<S::Ok, S::Error> {
        rfc3339(*at).serialize(out)
    }
}

impl OptionalRfc3339 {
    #[expect(clippy::ref_option, reason = "serde passes a reference")]
    pub(crate) fn serialize<S: Serializer>(
        at: &Option<RecordedAt>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        at.map(rfc3339).serialize(out)
    }
}

#[cfg(feature = "schema")]
mod schema {
    use super::{OptionalRfc3339, Rfc3339};
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
    use std::borrow::Cow;

    impl JsonSchema for Rfc3339 {
        fn inline_schema() -> bool {
            true
        }

        fn schema_name() -> Cow<'static, str> {
            "Rfc3339".into()
        }

        fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
            json_schema!({"type": "string", "format": "date-time"})
        }
    }

    impl JsonSchema for OptionalRfc3339 {
        fn inline_schema() -> bool {
            true
        }

        fn schema_name() -> Cow<'static, str> {
            "OptionalRfc3339".into()
        }

        fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
            json_schema!({"type": ["string", "null"], "format": "date-time"})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_written_as_long_as_they_need_to_be() {
        let at = RecordedAt::from_micros(1_763_734_951_480_000);
        assert_eq!(rfc3339(at), "2025-11-21T14:22:31.480Z");
        let at = RecordedAt::from_micros(1_763_734_951_480_001);
        assert_eq!(time_of_day(at), "14:22:31.480001Z");
        let at = RecordedAt::from_micros(1_763_734_951_480_000);
        assert_eq!(rfc3339_micros(at), "2025-11-21T14:22:31.480000Z");
    }

    #[test]
    fn times_of_the_api_are_read_and_written() {
        let at = parsed("2025-11-21T14:22:31.480001Z");
        assert_eq!(at, Some(RecordedAt::from_micros(1_763_734_951_480_001)));
        assert_eq!(
            at.map(rfc3339_secs).as_deref(),
            Some("2025-11-21T14:22:31Z")
        );
        let before = RecordedAt::from_micros(-1);
        assert_eq!(rfc3339_secs(before), "1969-12-31T23:59:59Z");
        assert_eq!(parsed("yesterday"), None);
    }

    #[test]
    fn another_zone_is_written_with_its_offset() {
        let zone = |hours: i8, minutes: i32| {
            let offset =
                Offset::from_seconds(i32::from(hours) * 3600 + minutes * 60).expect("small");
            ClockZone::from(Some(&TimeZone::fixed(offset)))
        };
        let at = RecordedAt::from_micros(1_763_734_951_480_000);
        let day = |zone: &ClockZone| zone.within(at, at, at);
        assert_eq!(day(&ClockZone::UTC), "14:22:31.480Z");
        assert_eq!(day(&zone(0, 0)), "14:22:31.480Z");
        assert_eq!(day(&zone(2, 0)), "16:22:31.480+02");
        assert_eq!(day(&zone(-3, -30)), "10:52:31.480-03:30");
        let east = zone(5, 30);
        assert_eq!(east.rfc3339(at), "2025-11-21T19:52:31.480+05:30");
        assert_eq!(zone(2, 0).rfc3339_secs(at), "2025-11-21T16:22:31+02:00");
        assert_eq!(east.offset_micros(at), 19_800_000_000);
        assert_eq!(east.name(at), "+05:30");
        assert_eq!(ClockZone::UTC.name(at), "UTC");
    }

    #[test]
    fn a_day_of_a_recording_is_one_of_the_zone() {
        // 22:22:31Z to 23:22:31Z: in one day of UTC, and over midnight two hours to the east.
        let start = RecordedAt::from_micros(1_763_763_751_000_000);
        let end = RecordedAt::from_micros(1_763_767_351_000_000);
        let east = ClockZone::from(Some(&TimeZone::fixed(jiff::tz::offset(1))));
        assert_eq!(within(start, end, end), "23:22:31.000Z");
        assert_eq!(
            east.within(start, end, end),
            "2025-11-22T00:22:31.000+01:00"
        );
        assert_eq!(east.within(start, start, start), "23:22:31.000+01");
    }

    #[test]
    fn a_time_outside_the_calendar_is_still_written() {
        let text = rfc3339(RecordedAt::from_micros(i64::MAX));
        assert!(text.contains("since 1970"), "{text}");
    }

    #[test]
    fn offsets_and_spans_use_the_largest_unit_that_fits() {
        assert_eq!(offset(0), "+0s");
        assert_eq!(offset(2_472_999_999), "+41m12s");
        assert_eq!(offset(-3_000_000), "-3s");
        assert_eq!(offset(3_600_000_000), "+1h00m00s");
        assert_eq!(span(5_387_000_000), "1h 29m 47s");
        assert_eq!(span(12_540_000), "12.5s");
        assert_eq!(span(40_000), "40ms");
        assert_eq!(span(7), "7µs");
        assert_eq!(span(0), "0s");
    }

    #[test]
    fn ages_read_as_kubectl_writes_them() {
        let expected = [
            (-5, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (121, "2m1s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (10_860, "3h1m"),
            (28_800, "8h"),
            (172_800, "2d"),
            (180_000, "2d2h"),
            (691_200, "8d"),
            (63_072_000, "2y"),
            (63_158_400, "2y1d"),
            (252_288_000, "8y"),
        ];
        for (secs, text) in expected {
            assert_eq!(age(secs), text, "{secs} s");
        }
    }
}
