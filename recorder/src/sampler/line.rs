//! Owns one line of the Prometheus text form: which metric, its labels, its value, as the server spelt
//! them. Refuses numbers: a reader makes them of the text.

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample<'a> {
    /// The metric's name.
    pub(super) name: &'a str,
    /// Its labels, without braces.
    pub(super) labels: &'a str,
    /// The value.
    pub(super) value: &'a str,
}

/// Reads a line; comments and what is no sample give nothing.
pub(super) fn sample(line: &str) -> Option<Sample<'_>> {
    let line = line.trim();
    let end = line.find(|letter: char| letter == '{' || letter.is_whitespace())?;
    let (name, rest) = line.split_at(end);
    if name.is_empty() || name.starts_with('#') {
        return None;
    }
    let (labels, rest) = match rest.strip_prefix('{') {
        None => ("", rest),
        Some(rest) => {
            let end = closing_brace(rest)?;
            (rest.get(..end)?, rest.get(end + 1..)?)
        }
    };
    // A time may follow; the recorder's own counts.
    let value = rest.split_whitespace().next()?;
    Some(Sample {
        name,
        labels,
        value,
    })
}

/// Finds the brace that ends the labels: one outside of quotes.
fn closing_brace(text: &str) -> Option<usize> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            b'}' if !is_quoted => return Some(place),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_name_labels_and_a_value() {
        for (line, expected) in [
            ("up 1", Some(("up", "", "1"))),
            (
                "a_total{b=\"c\"} 1.5e+06 123",
                Some(("a_total", "b=\"c\"", "1.5e+06")),
            ),
            (
                "a{b=\"}\\\"}\",c=\"d\"} NaN\r",
                Some(("a", "b=\"}\\\"}\",c=\"d\"", "NaN")),
            ),
            ("# TYPE up gauge", None),
            ("a{b=\"c} 1", None),
            ("alone", None),
            ("a{b=\"c\"}", None),
            ("", None),
        ] {
            let found = sample(line).map(|one| (one.name, one.labels, one.value));
            assert_eq!(found, expected, "{line:?}");
        }
    }
}
