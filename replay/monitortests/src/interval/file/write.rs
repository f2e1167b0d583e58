//! How files of intervals are written: byte for byte as the OpenShift monitor does it, in Go's
//! JSON, with whole seconds. It does not handle fractions of seconds: readers of such files expect
//! none.

use crate::interval::{Display, Interval, Pairs};
use kubereel_format::RecordedAt;
use kubereel_history::timetext;
use std::cmp::Ordering;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Writes intervals as upstream's current generation, in upstream's order; no newline ends the file.
///
/// # Errors
/// When they cannot be written.
pub fn write_intervals<'a>(
    intervals: impl IntoIterator<Item = &'a Interval>,
    to: &mut dyn Write,
) -> io::Result<()> {
    let mut sorted: Vec<&Interval> = intervals.into_iter().collect();
    sorted.sort_by(|one, other| order(one, other));
    if sorted.is_empty() {
        return to.write_all(b"{\n    \"items\": []\n}");
    }
    to.write_all(b"{\n    \"items\": [\n")?;
    let mut text = String::new();
    let last = sorted.len().saturating_sub(1);
    for (place, interval) in sorted.into_iter().enumerate() {
        text.clear();
        item(interval, &mut text);
        text.push_str(if place == last { "\n" } else { ",\n" });
        to.write_all(text.as_bytes())?;
    }
    to.write_all(b"    ]\n}")
}

/// The order of files: from, to with what is open first, message, locator.
fn order(one: &Interval, other: &Interval) -> Ordering {
    let text = |interval: &Interval| interval.message.to_string().trim().to_owned();
    one.from
        .cmp(&other.from)
        .then_with(|| one.to.cmp(&other.to))
        .then_with(|| {
            if one.message == other.message {
                return Ordering::Equal;
            }
            text(one).cmp(&text(other))
        })
        .then_with(|| one.locator.cmp_text(&other.locator))
        .then_with(|| one.level.cmp(&other.level))
        .then_with(|| one.source.cmp(&other.source))
}

fn item(interval: &Interval, out: &mut String) {
    out.push_str("        {\n");
    member(out, 3, "level", interval.level.as_str());
    if !interval.source.as_str().is_empty() {
        member(out, 3, "source", interval.source.as_str());
    }
    if interval.display == Display::Drawn {
        out.push_str("            \"display\": true,\n");
    }
    out.push_str("            \"locator\": {\n");
    member(out, 4, "type", &interval.locator.kind);
    pairs(out, "keys", &interval.locator.keys);
    out.push_str("            },\n            \"message\": {\n");
    member(out, 4, "reason", &interval.message.reason);
    member(out, 4, "cause", &interval.message.cause);
    member(out, 4, "humanMessage", &interval.message.human);
    pairs(out, "annotations", &interval.message.annotations);
    out.push_str("            },\n");
    time(out, "from", Some(interval.from));
    out.push_str(",\n");
    time(out, "to", interval.to);
    out.push_str("\n        }");
}

fn member(out: &mut String, depth: usize, name: &str, value: &str) {
    for _ in 0..depth {
        out.push_str("    ");
    }
    quoted(out, name);
    out.push_str(": ");
    quoted(out, value);
    out.push_str(",\n");
}

fn pairs(out: &mut String, name: &str, pairs: &Pairs) {
    out.push_str("                ");
    quoted(out, name);
    if pairs.is_empty() {
        out.push_str(": {}\n");
        return;
    }
    out.push_str(": {\n");
    let last = pairs.len().saturating_sub(1);
    for (place, (name, value)) in pairs.iter().enumerate() {
        out.push_str("                    ");
        quoted(out, name);
        out.push_str(": ");
        quoted(out, value);
        out.push_str(if place == last { "\n" } else { ",\n" });
    }
    out.push_str("                }\n");
}

fn time(out: &mut String, name: &str, at: Option<RecordedAt>) {
    out.push_str("            ");
    quoted(out, name);
    out.push_str(": ");
    match at {
        Some(at) => quoted(out, &timetext::rfc3339_secs(at)),
        None => out.push_str("null"),
    }
}

/// Writes a text as Go's encoder does: it hides the letters of HTML, too.
fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                // A text takes what is written to it.
                if write!(out, "\\u{:04x}", u32::from(letter)).is_err() {
                    break;
                }
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::{IntervalMessage, Intervals, Level, Locator, Source, read_intervals};

    fn written(intervals: &[Interval]) -> String {
        let mut bytes = Vec::new();
        write_intervals(intervals, &mut bytes).expect("a list takes bytes");
        String::from_utf8(bytes).expect("UTF-8")
    }

    fn interval(secs: i64, to: Option<i64>, words: &str) -> Interval {
        let at = |secs: i64| RecordedAt::from_micros(secs * 1_000_000);
        Interval {
            level: Level::Error,
            source: Source::new("S"),
            locator: Locator::new("Pod", [("pod", "a"), ("namespace", "n")]),
            message: IntervalMessage::new(words).reason("R").cause(""),
            from: at(secs),
            to: to.map(at),
            ..Interval::default()
        }
    }

    #[test]
    fn a_file_reads_as_it_was_written() {
        let odd = "<a> & \"b\" \\ \n\t\u{1} \u{2028} é";
        let intervals = [
            interval(5, Some(5), odd),
            interval(5, None, "open"),
            interval(4, Some(9), ""),
        ];
        let text = written(&intervals);
        assert!(
            text.contains(r#"\u003ca\u003e \u0026 \"b\" \\ \n\t\u0001 \u2028 é"#),
            "{text}"
        );
        let read = read_intervals(text.as_bytes()).expect("what was written");
        let all: Vec<Interval> = intervals.to_vec();
        let expected = Intervals::new(all, read.start(), read.end());
        assert_eq!(read.all(), expected.all());
        assert_eq!(written(read.all()), text);
    }

    #[test]
    fn open_intervals_come_first_and_have_no_end() {
        let text = written(&[interval(5, Some(5), "b"), interval(5, None, "a")]);
        let open = text.find("\"to\": null").expect("an open one");
        let closed = text.find("\"to\": \"1970").expect("a closed one");
        assert!(open < closed, "{text}");
        assert_eq!(written(&[]), "{\n    \"items\": []\n}");
    }
}
