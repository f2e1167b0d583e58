//! Owns the spelling of sizes that users give: `100MB`, `1.5GiB`, `none`. Refuses what is smaller than
//! it may be.

use kubereel_recorder::{LEAST_MAX_BYTES, LEAST_MAX_MEMORY, default_max_memory};

/// How large something may become, in bytes; `None` without a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MaxSize(pub(crate) Option<u64>);

/// The units, longest spelling first.
const UNITS: [(&str, u64); 11] = [
    ("kib", 1 << 10),
    ("mib", 1 << 20),
    ("gib", 1 << 30),
    ("ki", 1 << 10),
    ("mi", 1 << 20),
    ("gi", 1 << 30),
    ("kb", 1_000),
    ("mb", 1_000_000),
    ("gb", 1_000_000_000),
    ("m", 1_000_000),
    ("g", 1_000_000_000),
];

/// Reads a limit of the reel's size.
pub(crate) fn parse(text: &str) -> Result<MaxSize, String> {
    at_least(text, "a reel", LEAST_MAX_BYTES)
}

/// Reads a limit of memory; `auto` takes the control group's.
pub(crate) fn parse_memory(text: &str) -> Result<MaxSize, String> {
    if text.trim().eq_ignore_ascii_case("auto") {
        // A smaller group's recorder is limited to the least that it can work with.
        let max = default_max_memory().map(|max| max.max(LEAST_MAX_MEMORY));
        return Ok(MaxSize(max));
    }
    at_least(text, "the memory of a recorder", LEAST_MAX_MEMORY)
}

fn at_least(text: &str, what: &str, least: u64) -> Result<MaxSize, String> {
    let spelt = text.trim().to_ascii_lowercase();
    if spelt == "none" || spelt == "0" {
        return Ok(MaxSize(None));
    }
    let unread = || "expected a size such as 100MB, 64MiB, 2GB or none".to_owned();
    let (number, unit) = UNITS
        .iter()
        .find_map(|(name, unit)| spelt.strip_suffix(name).map(|number| (number, *unit)))
        .unwrap_or((&spelt, 1));
    let bytes = times(number.trim(), unit).ok_or_else(unread)?;
    if bytes < least {
        let least = least / 1_000_000;
        return Err(format!("the limit of {what} must be at least {least}MB"));
    }
    Ok(MaxSize(Some(bytes)))
}

/// Multiplies a decimal number, with at most three digits behind its point.
fn times(number: &str, unit: u64) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || part.len() > 3 || !is_number(whole) || !is_number(part) {
        return None;
    }
    let thousandths: u64 = format!("{part:0<3}").parse().ok()?;
    let whole: u64 = whole.parse().ok()?;
    let part = unit.checked_mul(thousandths)? / 1_000;
    whole.checked_mul(unit)?.checked_add(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_of_memory_has_a_least_of_its_own_and_may_be_automatic() {
        assert_eq!(parse_memory("256MB"), Ok(MaxSize(Some(256_000_000))));
        assert_eq!(parse_memory("none"), Ok(MaxSize(None)));
        assert!(parse_memory("100MB").is_err_and(|why| why.contains("at least 128MB")));
        let auto = parse_memory("auto").expect("always a limit or none");
        assert!(auto.0.is_none_or(|max| max >= LEAST_MAX_MEMORY));
        assert!(parse("auto").is_err());
    }

    #[test]
    fn sizes_are_spelt_as_people_do() {
        for (text, bytes) in [
            ("100MB", 100_000_000),
            ("100 mb", 100_000_000),
            ("64MiB", 64 << 20),
            ("64Mi", 64 << 20),
            ("1.5GB", 1_500_000_000),
            ("2g", 2_000_000_000),
            ("8000000", 8_000_000),
        ] {
            assert_eq!(parse(text), Ok(MaxSize(Some(bytes))), "{text}");
        }
        assert_eq!(parse("none"), Ok(MaxSize(None)));
        assert_eq!(parse("0"), Ok(MaxSize(None)));
        for text in [
            "",
            "MB",
            "-1MB",
            "1e9",
            "1.2345GB",
            "7MB",
            "99999999999GiB",
            "ten",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
