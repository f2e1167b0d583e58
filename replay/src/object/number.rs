//! Owns how kubectl writes a number: whole ones as they are, others as Go's encoder does. Refuses
//! more precision than a double has, as kubectl does.

use serde_json::Number;

/// Writes a number as kubectl prints it.
pub(crate) fn written(number: &Number) -> String {
    if let Some(whole) = number.as_i64() {
        return whole.to_string();
    }
    number.as_f64().map_or_else(|| number.to_string(), float)
}

/// Writes a double with the fewest digits that name it; very large and very small ones with an
/// exponent.
fn float(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) {
        let text = format!("{value:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, power) = exponent
            .strip_prefix('-')
            .map_or(('+', exponent), |power| ('-', power));
        // Small exponents keep one digit where Go would otherwise write a leading zero: e-07 is e-7.
        return format!(
            "{digits}e{sign}{power:0>width$}",
            width = if sign == '-' { 1 } else { 2 }
        );
    }
    format!("{value}")
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
}
