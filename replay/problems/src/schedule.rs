//! Schedules of `CronJobs`: when a run is due, as the controller of `CronJobs` reads them (robfig/cron). What
//! it would refuse has no schedule here.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use kubereel_format::RecordedAt;

/// A run that is due later than this is not looked for.
const MOST_DAYS: u16 = 400;

/// A range of a field, and the names that its numbers have.
struct FieldRange {
    first: u32,
    last: u32,
    names: &'static [&'static str],
}

const MINUTES: FieldRange = FieldRange {
    first: 0,
    last: 59,
    names: &[],
};
const HOURS: FieldRange = FieldRange {
    first: 0,
    last: 23,
    names: &[],
};
const DAYS: FieldRange = FieldRange {
    first: 1,
    last: 31,
    names: &[],
};
const MONTHS: FieldRange = FieldRange {
    first: 1,
    last: 12,
    names: &[
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ],
};
const WEEKDAYS: FieldRange = FieldRange {
    first: 0,
    last: 6,
    names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
};

/// The numbers that a field takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FieldValues {
    /// A bit for each number.
    bits: u64,
    /// Whether it is `*`: such a day does not count beside the other field for days.
    is_any: bool,
}

/// When runs are due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CronSchedule {
    /// At the times that five fields name.
    Fields(CronFields),
    /// Each time after this number of seconds, from the last run or from the creation of the `CronJob`.
    Every(i64),
}

/// The fields of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CronFields {
    minutes: FieldValues,
    hours: FieldValues,
    days: FieldValues,
    months: FieldValues,
    weekdays: FieldValues,
}

impl FieldValues {
    fn parse(text: &str, range: &FieldRange) -> Option<Self> {
        let mut values = Self {
            bits: 0,
            is_any: false,
        };
        for item in text.split(',') {
            let (item, step) = match item.split_once('/') {
                Some((item, step)) => (item, Some(step.parse::<usize>().ok()?)),
                None => (item, None),
            };
            let is_any = item == "*" || item == "?";
            let (first, last) = match item.split_once('-') {
                _ if is_any => (range.first, range.last),
                Some((first, last)) => (range.number(first)?, range.number(last)?),
                None if step.is_some() => (range.number(item)?, range.last),
                None => (range.number(item)?, range.number(item)?),
            };
            let step = step.unwrap_or(1);
            if step == 0 || first > last {
                return None;
            }
            values.is_any |= is_any && step == 1;
            for number in (first..=last).step_by(step) {
                values.bits |= 1 << number;
            }
        }
        Some(values)
    }

    const fn has(self, number: u32) -> bool {
        (self.bits >> number) & 1 == 1
    }
}

impl FieldRange {
    fn number(&self, text: &str) -> Option<u32> {
        let lower = text.to_ascii_lowercase();
        let named = self.names.iter().position(|name| *name == lower);
        let number = match named {
            Some(at) => u32::try_from(at).ok()? + self.first,
            None => text.parse().ok()?,
        };
        (self.first..=self.last).contains(&number).then_some(number)
    }
}

impl CronSchedule {
    /// Reads a schedule.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = match text.trim() {
            "@yearly" | "@annually" => "0 0 1 1 *",
            "@monthly" => "0 0 1 * *",
            "@weekly" => "0 0 * * 0",
            "@daily" | "@midnight" => "0 0 * * *",
            "@hourly" => "0 * * * *",
            text => text,
        };
        if let Some(interval) = text.strip_prefix("@every ") {
            return interval_secs(interval).map(Self::Every);
        }
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields.as_slice() else {
            return None;
        };
        Some(Self::Fields(CronFields {
            minutes: FieldValues::parse(minutes, &MINUTES)?,
            hours: FieldValues::parse(hours, &HOURS)?,
            days: FieldValues::parse(days, &DAYS)?,
            months: FieldValues::parse(months, &MONTHS)?,
            weekdays: FieldValues::parse(weekdays, &WEEKDAYS)?,
        }))
    }

    /// Returns whether it means the same in every time zone: those differ by whole and half hours.
    pub(crate) fn is_same_everywhere(&self) -> bool {
        let Self::Fields(fields) = self else {
            return true;
        };
        let any_day = [fields.days, fields.months, fields.weekdays];
        let half_hour = (0..30).all(|at| fields.minutes.has(at) == fields.minutes.has(at + 30));
        half_hour && fields.hours.is_any && any_day.iter().all(|field| field.is_any)
    }

    /// Returns whether a run is due at a time in any life of a `CronJob`.
    pub(crate) fn is_due(&self, zone: &TimeZone, at: RecordedAt) -> bool {
        let before = RecordedAt::from_micros(at.micros.saturating_sub(1));
        match self {
            Self::Fields(fields) => fields.next_after(zone, before) == Some(at),
            Self::Every(_) => true,
        }
    }

    /// Returns when the next run after a time is due. An interval counts from `start`.
    pub(crate) fn next_after(
        &self,
        zone: &TimeZone,
        start: RecordedAt,
        after: RecordedAt,
    ) -> Option<RecordedAt> {
        match self {
            Self::Fields(fields) => fields.next_after(zone, after),
            Self::Every(secs) => {
                let step = secs.checked_mul(1_000_000)?;
                let passed = after.micros_since(start).max(0) / step;
                let due = step.checked_mul(passed + 1)?;
                start.micros.checked_add(due).map(RecordedAt::from_micros)
            }
        }
    }
}

/// Reads an interval as Go writes it (`1h30m`), in whole seconds; one that is shorter is a second.
fn interval_secs(text: &str) -> Option<i64> {
    // The units of Go: others, such as days, its parser refuses.
    let is_go = |c: char| c.is_ascii_digit() || ".hmsunµμ".contains(c);
    let interval: SignedDuration = text.chars().all(is_go).then(|| text.parse().ok())??;
    Some(interval.as_secs().max(1))
}

impl CronFields {
    /// Returns when the next run after a time is due. A time that a change of the clocks skips or repeats is
    /// passed over.
    fn next_after(&self, zone: &TimeZone, after: RecordedAt) -> Option<RecordedAt> {
        let begin = Timestamp::from_microsecond(after.micros).ok()?;
        let mut day = zone.to_datetime(begin).date();
        for _ in 0..MOST_DAYS {
            if self.is_on(day)
                && let Some(found) = self.first_on(day, zone, begin)
            {
                return Some(RecordedAt::from_micros(found.as_microsecond()));
            }
            day = day.tomorrow().ok()?;
        }
        None
    }

    fn is_on(&self, day: Date) -> bool {
        let number = |value: i8| u32::try_from(value).unwrap_or_default();
        if !self.months.has(number(day.month())) {
            return false;
        }
        let by_day = self.days.has(number(day.day()));
        let by_weekday = self
            .weekdays
            .has(number(day.weekday().to_sunday_zero_offset()));
        // One of two lists of days is enough.
        if self.days.is_any || self.weekdays.is_any {
            by_day && by_weekday
        } else {
            by_day || by_weekday
        }
    }

    fn first_on(&self, day: Date, zone: &TimeZone, begin: Timestamp) -> Option<Timestamp> {
        let hours = (0..24_i8).filter(|hour| self.hours.has(hour.unsigned_abs().into()));
        let mut times = hours.flat_map(|hour| {
            let minutes =
                (0..60_i8).filter(|minute| self.minutes.has(minute.unsigned_abs().into()));
            minutes.map(move |minute| day.at(hour, minute, 0, 0))
        });
        times.find_map(|time| {
            let at = zone.to_ambiguous_timestamp(time).unambiguous().ok()?;
            (at > begin).then_some(at)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubereel_history::timetext;

    /// Returns the next run after a time.
    fn next(schedule: &str, zone: &str, after: &str) -> Option<String> {
        let zone = TimeZone::get(zone).ok()?;
        let after = timetext::parsed(after)?;
        let start = timetext::parsed("2026-11-23T08:00:00Z")?;
        let found = CronSchedule::parse(schedule)?.next_after(&zone, start, after)?;
        Some(timetext::rfc3339_secs(found))
    }

    #[test]
    fn the_next_run_follows_each_form_of_a_schedule() {
        // 2026-11-23 is a Monday.
        let after = "2026-11-23T10:07:30Z";
        for (schedule, expected) in [
            ("* * * * *", "2026-11-23T10:08:00Z"),
            ("*/15 * * * *", "2026-11-23T10:15:00Z"),
            ("5/20 * * * *", "2026-11-23T10:25:00Z"),
            ("7 * * * *", "2026-11-23T11:07:00Z"),
            ("0 0 * * *", "2026-11-24T00:00:00Z"),
            ("@daily", "2026-11-24T00:00:00Z"),
            ("@midnight", "2026-11-24T00:00:00Z"),
            ("@hourly", "2026-11-23T11:00:00Z"),
            ("@weekly", "2026-11-29T00:00:00Z"),
            ("@monthly", "2026-12-01T00:00:00Z"),
            ("@yearly", "2027-01-01T00:00:00Z"),
            ("@annually", "2027-01-01T00:00:00Z"),
            // From 08:00 on.
            ("@every 1h30m", "2026-11-23T11:00:00Z"),
            ("@every 90m", "2026-11-23T11:00:00Z"),
            ("@every 1.5h", "2026-11-23T11:00:00Z"),
            ("@every 100ms", "2026-11-23T10:07:31Z"),
            ("30 9-11,20 * * mon-fri", "2026-11-23T10:30:00Z"),
            ("0 3 * * SUN", "2026-11-29T03:00:00Z"),
            // One of two lists of days is enough; a step is a list.
            ("0 0 1 * 2", "2026-11-24T00:00:00Z"),
            ("0 0 */2 * 3", "2026-11-25T00:00:00Z"),
            ("0 0 1 feb ?", "2027-02-01T00:00:00Z"),
        ] {
            let found = next(schedule, "UTC", after);
            assert_eq!(found.as_deref(), Some(expected), "{schedule}");
        }
    }

    #[test]
    fn a_time_zone_moves_the_runs_and_a_skipped_hour_has_none() {
        let zone = "Europe/Berlin";
        let found = next("0 6 * * *", zone, "2026-11-23T10:00:00Z");
        assert_eq!(found.as_deref(), Some("2026-11-24T05:00:00Z"));
        // The clocks go from 02:00 to 03:00 on 2026-03-29.
        let found = next("30 2 * * *", zone, "2026-03-28T12:00:00Z");
        assert_eq!(found.as_deref(), Some("2026-03-30T00:30:00Z"));
    }

    #[test]
    fn what_the_controller_would_refuse_is_no_schedule() {
        for text in [
            "",
            "* * * *",
            "60 * * * *",
            "* * * * 7",
            "*/0 * * * *",
            "9-3 * * * *",
            "@every",
            "@every 1d",
            "@every 1 hour",
            "@every -5m",
            "@every 5",
            "@reboot",
            "@Daily",
            "TZ=UTC 0 0 * * *",
            "x * * * *",
        ] {
            assert_eq!(CronSchedule::parse(text), None, "{text}");
        }
        // A day that no year has is never due.
        assert_eq!(next("0 0 31 2 *", "UTC", "2026-11-23T10:00:00Z"), None);
    }

    #[test]
    fn only_what_repeats_each_half_hour_is_the_same_everywhere() {
        let is_same = |text| CronSchedule::parse(text).is_some_and(|one| one.is_same_everywhere());
        assert!(is_same("* * * * *") && is_same("*/15 * * * *") && is_same("@every 5m"));
        assert!(!is_same("0 * * * *") && !is_same("*/15 3 * * *") && !is_same("* * 1 * *"));
    }
}
