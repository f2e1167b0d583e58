//! Scalars of YAML in the style in which kubectl prints them: a text is quoted where YAML 1.1 reads its plain form as
//! something else, and only there.

use super::number;
use serde_json::Value;

/// What YAML 1.1 reads as a bool, null or a number that is not written in digits.
const WORDS: [&str; 40] = [
    "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON", "n", "N", "no", "No",
    "NO", "false", "False", "FALSE", "off", "Off", "OFF", "", "~", "null", "Null", "NULL", ".nan",
    ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF",
    // As a key it merges another mapping. kubectl leaves it plain, and then reads something else back.
    "<<",
];

/// The style of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarStyle {
    /// As it is.
    Plain,
    /// Between `'`.
    SingleQuoted,
    /// Between `"`, with escapes.
    DoubleQuoted,
    /// Behind `|`, a line of the text on a line.
    Literal,
}

impl ScalarStyle {
    /// Chooses the style of a text that is a value.
    pub(super) fn of_value(text: &str) -> Self {
        Self::of(text, false)
    }

    /// Chooses the style of a text that is the name of a member: one line.
    pub(super) fn of_key(text: &str) -> Self {
        Self::of(text, true)
    }

    fn of(text: &str, is_key: bool) -> Self {
        if !text.chars().all(is_printable) {
            return Self::DoubleQuoted;
        }
        let ends_with_blank = text.ends_with(' ');
        if text.contains('\n') {
            // A reader drops blanks at the end of a line, or takes a line of blanks for an empty one.
            return if is_key || ends_with_blank || text.contains(" \n") {
                Self::DoubleQuoted
            } else {
                Self::Literal
            };
        }
        if is_resolved(text) {
            Self::DoubleQuoted
        } else if text.starts_with(' ') || ends_with_blank || has_indicator(text) {
            Self::SingleQuoted
        } else {
            Self::Plain
        }
    }
}

/// Tells whether a part of a plain text would be syntax.
fn has_indicator(text: &str) -> bool {
    let mut before = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let ends_word = letters.peek().is_none_or(|next| *next == ' ');
        let is_syntax = match letter {
            ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@'
            | '`' => before.is_none(),
            '?' | '-' => before.is_none() && ends_word,
            ':' => ends_word,
            '#' => before.is_none_or(|before| before == ' '),
            _ => false,
        };
        if is_syntax {
            return true;
        }
        before = Some(letter);
    }
    text.starts_with("---") || text.starts_with("...")
}

/// Tells whether a letter may stand outside double quotes: printable, in the basic plane, and not one of the rarer
/// line breaks.
fn is_printable(letter: char) -> bool {
    matches!(
        letter,
        '\n' | ' '..='~' | '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}'
    )
}

/// Tells whether YAML 1.1 reads a plain text as something that is not a text.
pub(super) fn is_resolved(text: &str) -> bool {
    if WORDS.contains(&text) {
        return true;
    }
    match text.bytes().next() {
        Some(b'.') => is_float(text),
        Some(b'+' | b'-' | b'0'..=b'9') => {
            // Digits may be grouped.
            let plain = text.replace('_', "");
            is_integer(&plain) || is_float(&plain) || is_sexagesimal(text) || is_timestamp(text)
        }
        _ => false,
    }
}

fn is_integer(text: &str) -> bool {
    let (sign, digits) = match text.strip_prefix(['+', '-']) {
        Some(digits) => (text.get(..1).unwrap_or_default(), digits),
        None => ("", text),
    };
    let lower = digits.to_ascii_lowercase();
    let (radix, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, lower.get(2..)),
        [b'0', b'o', ..] => (8, lower.get(2..)),
        [b'0', b'b', ..] => (2, lower.get(2..)),
        [b'0', _, ..] => (8, lower.get(1..)),
        _ => (10, Some(lower.as_str())),
    };
    let digits = digits.unwrap_or_default();
    if digits.starts_with(['+', '-']) {
        return false;
    }
    // What does not fit into 64 bits is a text.
    i64::from_str_radix(&format!("{sign}{digits}"), radix).is_ok()
        || sign.is_empty() && u64::from_str_radix(digits, radix).is_ok()
}

/// Tells whether a text is a decimal number, with a point or an exponent or without, in the range of 64 bits.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let unsigned = |text| str::strip_prefix(text, ['+', '-']).unwrap_or(text);
    let are_digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    let is_mantissa = match unsigned(mantissa).split_once('.') {
        Some((whole, part)) => {
            are_digits(whole) && are_digits(part) && !(whole.is_empty() && part.is_empty())
        }
        None => are_digits(unsigned(mantissa)) && !unsigned(mantissa).is_empty(),
    };
    let is_exponent = exponent.is_none_or(|exponent| {
        let digits = unsigned(exponent);
        !digits.is_empty() && are_digits(digits)
    });
    is_mantissa && is_exponent && text.parse().is_ok_and(f64::is_finite)
}

/// Tells whether a text is a number to the base of 60, as a time of day is in YAML 1.1.
fn is_sexagesimal(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let are_digits = |text: &str| {
        text.bytes()
            .all(|letter| letter.is_ascii_digit() || letter == b'_')
    };
    let (text, part) = text.split_once('.').unwrap_or((text, ""));
    let mut places = text.split(':');
    let first = places.next().unwrap_or_default();
    let mut count = 0;
    let are_places = places.all(|place| {
        count += 1;
        match place.as_bytes() {
            [unit] => unit.is_ascii_digit(),
            [ten, unit] => (b'0'..=b'5').contains(ten) && unit.is_ascii_digit(),
            _ => false,
        }
    });
    let begins = first.starts_with(|letter: char| letter.is_ascii_digit());
    begins && are_digits(first) && are_digits(part) && count > 0 && are_places
}

/// Tells whether a text is a date, or a date and a time, as YAML 1.1 writes them.
fn is_timestamp(text: &str) -> bool {
    let (date, time) = match text.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let year = parts.next().filter(|year| year.len() == 4);
    let (Some(year), Some(month), Some(day), None) =
        (year, parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let (Some(year), Some(month), Some(day)) = (number(year), one_or_two(month), one_or_two(day))
    else {
        return false;
    };
    let (Ok(month), Ok(day)) = (i8::try_from(month), i8::try_from(day)) else {
        return false;
    };
    let is_date =
        i16::try_from(year).is_ok_and(|year| jiff::civil::Date::new(year, month, day).is_ok());
    let is_time = match time {
        None => true,
        // A blank before the time, and no zone behind it.
        Some(time) if text.contains(' ') => is_time_of_day(time),
        Some(time) => without_zone(time).is_some_and(is_time_of_day),
    };
    is_date && is_time
}

fn number(text: &str) -> Option<u16> {
    let are_digits = text.bytes().all(|digit| digit.is_ascii_digit());
    are_digits.then(|| text.parse().ok()).flatten()
}

fn one_or_two(text: &str) -> Option<u16> {
    (text.len() <= 2).then(|| number(text)).flatten()
}

fn is_time_of_day(text: &str) -> bool {
    let (text, part) = text.split_once('.').unwrap_or((text, "0"));
    let parts: Vec<Option<u16>> = text.split(':').map(one_or_two).collect();
    let [Some(hour), Some(minute), Some(second)] = parts[..] else {
        return false;
    };
    let is_part = !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
    hour < 24 && minute < 60 && second < 60 && is_part
}

/// Removes `Z` or `+01:00` from the end of a time.
fn without_zone(text: &str) -> Option<&str> {
    if let Some(time) = text.strip_suffix('Z') {
        return Some(time);
    }
    let (time, zone) = text.split_at_checked(text.len().checked_sub(6)?)?;
    let (hours, minutes) = zone.strip_prefix(['+', '-'])?.split_once(':')?;
    let are_pairs = hours.len() == 2 && number(hours)? <= 24 && number(minutes)? < 60;
    are_pairs.then_some(time)
}

/// Writes a text in a style of one line.
pub(super) fn push_text(out: &mut String, text: &str, style: ScalarStyle) {
    match style {
        ScalarStyle::Plain => out.push_str(text),
        ScalarStyle::SingleQuoted => {
            out.extend(["'", text.replace('\'', "''").as_str(), "'"]);
        }
        ScalarStyle::DoubleQuoted | ScalarStyle::Literal => push_escaped(out, text),
    }
}

fn push_escaped(out: &mut String, text: &str) {
    out.push('"');
    for letter in text.chars() {
        push_escaped_letter(out, letter);
    }
    out.push('"');
}

fn push_escaped_letter(out: &mut String, letter: char) {
    let short = match letter {
        '\0' => Some('0'),
        '\u{7}' => Some('a'),
        '\u{8}' => Some('b'),
        '\t' => Some('t'),
        '\n' => Some('n'),
        '\u{b}' => Some('v'),
        '\u{c}' => Some('f'),
        '\r' => Some('r'),
        '\u{1b}' => Some('e'),
        '"' => Some('"'),
        '\\' => Some('\\'),
        '\u{85}' => Some('N'),
        '\u{2028}' => Some('L'),
        '\u{2029}' => Some('P'),
        _ => None,
    };
    let number = u32::from(letter);
    if let Some(short) = short {
        out.extend(['\\', short]);
    } else if is_printable(letter) {
        out.push(letter);
    } else {
        let (kind, digits) = match number {
            0..=0xff => ('x', 2),
            0x100..=0xffff => ('u', 4),
            _ => ('U', 8),
        };
        out.extend(['\\', kind]);
        let digit = |place: u32| char::from_digit(number >> (4 * place) & 0xf, 16);
        let digits = (0..digits).rev().filter_map(digit);
        out.extend(digits.map(|digit| digit.to_ascii_uppercase()));
    }
}

/// A line that is longer than this is broken at the next blank.
const WIDTH: usize = 80;

/// Writes a text in a style of one line as several lines, broken at blanks where kubectl breaks it. The first line
/// goes on at `column`; the others begin at `indent`, which is not written.
pub(super) fn folded(text: &str, style: ScalarStyle, column: usize, indent: usize) -> Vec<String> {
    let quote = match style {
        ScalarStyle::Plain => "",
        ScalarStyle::SingleQuoted => "'",
        ScalarStyle::DoubleQuoted | ScalarStyle::Literal => "\"",
    };
    let is_escaped = quote == "\"";
    let mut lines = Vec::new();
    let (mut line, mut begin) = (quote.to_owned(), column);
    let mut is_behind_blank = false;
    let mut letters = text.chars().enumerate().peekable();
    while let Some((place, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let is_inner = quote.is_empty() || (place > 0 && next.is_some());
        // A reader takes a break for one blank; of several, only escapes keep the others.
        let may_break = letter == ' ' && !is_behind_blank && is_inner;
        let may_break = may_break && (is_escaped || next != Some(' '));
        is_behind_blank = letter == ' ';
        if may_break && begin + line.chars().count() > WIDTH {
            lines.push(std::mem::take(&mut line));
            begin = indent;
            if next == Some(' ') {
                line.push('\\');
            }
        } else if is_escaped {
            push_escaped_letter(&mut line, letter);
        } else {
            line.push(letter);
            if letter == '\'' && !quote.is_empty() {
                line.push('\'');
            }
        }
    }
    line.push_str(quote);
    lines.push(line);
    lines
}

/// Writes what is not a text: null, a bool, a number, or an empty list or object.
pub(super) fn push_literal(out: &mut String, value: &Value) {
    match value {
        Value::Number(number) => out.push_str(&number::in_yaml(number)),
        Value::Object(_) => out.push_str("{}"),
        Value::Array(_) => out.push_str("[]"),
        other => out.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts, and what YAML 1.1 makes of their plain forms.
    const RESOLVED: [(&str, &[&str]); 6] = [
        (
            "bool",
            &[
                "y", "Y", "n", "N", "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off",
                "Off", "OFF", "true", "True", "TRUE", "false", "False", "FALSE",
            ],
        ),
        ("null", &["", "~", "null", "Null", "NULL"]),
        (
            "integer",
            &[
                "0",
                "1",
                "-1",
                "+1",
                "007",
                "012",
                "1_000",
                "0x1f",
                "0X1F",
                "-0x1f",
                "0o17",
                "0b101",
                "-0b1",
                "9223372036854775807",
                "18446744073709551615",
                "-9223372036854775808",
                "0x_f",
                "3_",
            ],
        ),
        (
            "float",
            &[
                "1.5",
                "1.",
                ".5",
                "-.5",
                "+1.5",
                "1e3",
                "1E3",
                "1e+3",
                "1.5e-3",
                "089",
                "1_0.5",
                "18446744073709551616",
                ".nan",
                ".NaN",
                ".inf",
                "-.Inf",
                "+.INF",
                "12e3",
            ],
        ),
        (
            "base 60",
            &[
                "12:30",
                "12:30:45",
                "1:5",
                "-1:30",
                "190:20:30.15",
                "0:0",
                "1_0:30",
            ],
        ),
        (
            "timestamp",
            &[
                "2026-11-21",
                "2026-1-2",
                "0000-01-01",
                "2026-11-21T14:00:00Z",
                "2026-11-21t14:00:00Z",
                "2026-11-21T14:00:00.123456789Z",
                "2026-11-21T14:00:00+01:00",
                "2026-11-21T4:5:6Z",
                "2026-11-21 14:00:00",
                "2026-11-21 14:00:00.5",
                "2024-02-29",
            ],
        ),
    ];

    /// Texts that stay texts without quotes.
    const PLAIN: [&str; 44] = [
        "10.1.0.8",
        "1.2.3",
        "10.1.0.0/16",
        "fd00::8",
        "a",
        "yES",
        "nO",
        "tRUE",
        "nULL",
        "NaN",
        "inf",
        ".",
        "..",
        "-a",
        "--",
        "+",
        "+a",
        "1a",
        "1e",
        "1e3e3",
        "e3",
        "0x",
        "0xg",
        "0b2",
        "0o8",
        "1 000",
        "1e999",
        "0x1ffffffffffffffff",
        "12:60",
        "a12:30",
        "100m",
        "64Mi",
        "2026-11",
        "2026-13-01",
        "2023-02-29",
        "2026-11-21T24:00:00Z",
        "2026-11-21T14:00:00",
        "2026-11-21 14:00:00Z",
        "26-11-21",
        "sha256:1",
        "a?",
        "a,b",
        "=",
        "a#b",
    ];

    #[test]
    fn plain_forms_that_yaml_reads_as_something_else_are_quoted_and_no_others() {
        for (kind, texts) in RESOLVED {
            for text in texts {
                assert!(is_resolved(text), "{text:?} is a {kind}");
                assert_eq!(
                    ScalarStyle::of_value(text),
                    ScalarStyle::DoubleQuoted,
                    "{text:?}"
                );
            }
        }
        for text in PLAIN {
            assert_eq!(ScalarStyle::of_value(text), ScalarStyle::Plain, "{text:?}");
        }
    }

    #[test]
    fn syntax_is_quoted_with_single_quotes_and_what_needs_escapes_with_double_quotes() {
        for (text, style, line) in [
            ("a: b", ScalarStyle::SingleQuoted, "'a: b'"),
            ("a:", ScalarStyle::SingleQuoted, "'a:'"),
            ("a #b", ScalarStyle::SingleQuoted, "'a #b'"),
            ("it's: so", ScalarStyle::SingleQuoted, "'it''s: so'"),
            ("'a'", ScalarStyle::SingleQuoted, "'''a'''"),
            ("{a}", ScalarStyle::SingleQuoted, "'{a}'"),
            ("*", ScalarStyle::SingleQuoted, "'*'"),
            ("- a", ScalarStyle::SingleQuoted, "'- a'"),
            ("-", ScalarStyle::SingleQuoted, "'-'"),
            ("--- a", ScalarStyle::SingleQuoted, "'--- a'"),
            (" a", ScalarStyle::SingleQuoted, "' a'"),
            ("a ", ScalarStyle::SingleQuoted, "'a '"),
            ("a\tb", ScalarStyle::DoubleQuoted, "\"a\\tb\""),
            ("a \nb", ScalarStyle::DoubleQuoted, "\"a \\nb\""),
            ("a\u{1}b", ScalarStyle::DoubleQuoted, "\"a\\x01b\""),
            ("\u{1f600}", ScalarStyle::DoubleQuoted, "\"\\U0001F600\""),
            ("\u{feff}", ScalarStyle::DoubleQuoted, "\"\\uFEFF\""),
            ("é", ScalarStyle::Plain, "é"),
        ] {
            assert_eq!(ScalarStyle::of_value(text), style, "{text:?}");
            let mut out = String::new();
            push_text(&mut out, text, style);
            assert_eq!(out, line, "{text:?}");
        }
        assert_eq!(ScalarStyle::of_value("a\nb"), ScalarStyle::Literal);
        assert_eq!(ScalarStyle::of_key("a\nb"), ScalarStyle::DoubleQuoted);
    }
}
