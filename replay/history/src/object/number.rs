//! Formats numbers as kubectl does: integers unchanged, others as Go's encoder writes a double.

use serde_json::Number;

/// Formats a number as kubectl does.
pub(crate) fn written(number: &Number) -> String {
    if let Some(whole) = number.as_i64() {
        return whole.to_string();
    }
    number.as_f64().map_or_else(|| number.to_string(), float)
}

/// Formats a double with the fewest digits that identify it; very large and very small ones with an
/// exponent.
fn float(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, power) = exponent
            .strip_prefix('-')
            .map_or(('+', exponent), |power| ('-', power));
        // Small exponents have one digit where Go would write a leading zero: e-07 is e-7.
        return format!(
            "{digits}e{sign}{power:0>width$}",
            width = if sign == '-' { 1 } else { 2 }
        );
    }
    format!("{value}")
}

/// Formats a number as Go prints a value: with an exponent from seven digits on.
pub(crate) fn printed(number: &Number) -> String {
    if let Some(whole) = number.as_i64() {
        return whole.to_string();
    }
    let Some(value) = number.as_f64() else {
        return number.to_string();
    };
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let power: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&power) {
        return format!("{value}");
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.unsigned_abs())
}

/// Formats a number as kubectl does in YAML, which it makes of JSON: what is whole there stays whole.
pub(super) fn in_yaml(number: &Number) -> String {
    let json = written(number);
    if json.parse::<i64>().is_ok() || json.parse::<u64>().is_ok() {
        json
    } else {
        printed(number)
    }
}

/// Formats a number as a column of doubles does: integers on the wire stay integers.
pub(crate) fn double(number: &Number) -> String {
    let Some(double) = number.as_f64().and_then(Number::from_f64) else {
        return number.to_string();
    };
    match written(&double).parse::<i64>() {
        Ok(whole) => whole.to_string(),
        Err(_) => printed(&double),
    }
}

/// Returns a number without its fraction; `None` if it is too large.
pub(crate) fn truncated(number: &Number) -> Option<i64> {
    let whole = || format!("{:.0}", number.as_f64()?.trunc()).parse().ok();
    number.as_i64().or_else(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_go_writes_them() {
        for (json, text) in [
            ("0", "0"),
            ("-7", "-7"),
            ("9223372036854775807", "9223372036854775807"),
            ("9223372036854775808", "9223372036854776000"),
            ("1.0", "1"),
            ("-0.0", "-0"),
            ("0.1", "0.1"),
            ("1e3", "1000"),
            ("1.5e300", "1.5e+300"),
            ("1e21", "1e+21"),
            ("123456789012345678901", "123456789012345680000"),
            ("0.000001", "0.000001"),
            ("0.0000001", "1e-7"),
            ("1.5e-10", "1.5e-10"),
        ] {
            let number: Number = serde_json::from_str(json).expect(json);
            assert_eq!(written(&number), text, "{json}");
        }
    }

    #[test]
    fn numbers_print_as_go_prints_values() {
        for (json, text) in [
            ("0", "0"),
            ("1000000", "1000000"),
            ("-0.0", "-0"),
            ("1.5", "1.5"),
            ("100000.0", "100000"),
            ("1e6", "1e+06"),
            ("123456789.5", "1.234567895e+08"),
            ("12345678901234567890", "1.2345678901234567e+19"),
            ("1e300", "1e+300"),
            ("0.0001", "0.0001"),
            ("0.000012345", "1.2345e-05"),
            ("-1e-7", "-1e-07"),
        ] {
            let number: Number = serde_json::from_str(json).expect(json);
            assert_eq!(printed(&number), text, "{json}");
        }
    }

    #[test]
    fn numbers_in_yaml_are_those_of_json_or_have_an_exponent() {
        for (json, text) in [
            ("7", "7"),
            ("1e6", "1000000"),
            ("1.0", "1"),
            ("0.5", "0.5"),
            ("1234567.5", "1.2345675e+06"),
            ("1e21", "1e+21"),
            ("0.00001", "1e-05"),
        ] {
            let number: Number = serde_json::from_str(json).expect(json);
            assert_eq!(in_yaml(&number), text, "{json}");
        }
    }

    #[test]
    fn columns_of_doubles_keep_whole_numbers_whole() {
        for (json, text) in [
            ("7", "7"),
            ("1000000", "1000000"),
            ("1e6", "1000000"),
            ("1e20", "1e+20"),
            ("9007199254740993", "9007199254740992"),
            ("1000000.5", "1.0000005e+06"),
            ("0.1", "0.1"),
            ("-0.0", "0"),
        ] {
            let number: Number = serde_json::from_str(json).expect(json);
            assert_eq!(double(&number), text, "{json}");
        }
    }

    #[test]
    fn fractions_are_cut_off() {
        for (json, whole) in [
            ("7", Some(7)),
            ("1.9", Some(1)),
            ("-1.9", Some(-1)),
            ("1e3", Some(1000)),
            ("1e30", None),
        ] {
            let number: Number = serde_json::from_str(json).expect(json);
            assert_eq!(truncated(&number), whole, "{json}");
        }
    }
}
