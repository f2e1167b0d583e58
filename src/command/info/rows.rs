//! Owns how a labelled line of parts is broken at a width: between its parts, later rows under the
//! first part. Refuses to break a part: the terminal does.

use unicode_width::UnicodeWidthStr;

const BETWEEN: &str = " · ";

/// Writes the parts behind a label of so many columns; one row without a width.
pub(super) fn rows(
    label: &str,
    label_width: usize,
    parts: &[&str],
    width: Option<usize>,
) -> Vec<String> {
    let mut rows = Vec::new();
    let mut row = label.to_owned();
    let mut used = seen_width(label).max(label_width);
    for (place, part) in parts.iter().enumerate() {
        let wide = seen_width(part);
        if place > 0 && width.is_some_and(|width| used + BETWEEN.width() + wide > width) {
            let next = " ".repeat(label_width);
            rows.push(std::mem::replace(&mut row, next));
            used = label_width;
        } else if place > 0 {
            row.push_str(BETWEEN);
            used += BETWEEN.width();
        }
        row.push_str(part);
        used += wide;
    }
    rows.push(row);
    rows
}

/// Counts columns without the colours, which are all that is left of escape sequences here.
fn seen_width(text: &str) -> usize {
    let mut pieces = text.split('\u{1b}');
    let first = pieces.next().map_or(0, UnicodeWidthStr::width);
    let later = pieces.map(|piece| piece.split_once('m').map_or(0, |(_, text)| text.width()));
    first + later.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_break_between_parts_only() {
        let parts = ["one", "two", "a longer part"];
        let all = "label   one · two · a longer part";
        assert_eq!(rows("label   ", 8, &parts, None), [all]);
        assert_eq!(rows("label   ", 8, &parts, Some(33)), [all]);
        assert_eq!(
            rows("label   ", 8, &parts, Some(32)),
            ["label   one · two", "        a longer part"]
        );
        assert_eq!(
            rows("label   ", 8, &parts, Some(10)),
            ["label   one", "        two", "        a longer part"]
        );
    }

    #[test]
    fn colours_take_no_room() {
        let label = "\u{1b}[1mlabel\u{1b}[0m ";
        let parts = ["\u{1b}[1;31mred\u{1b}[0m", "two"];
        let row = [label, parts[0], BETWEEN, parts[1]].concat();
        assert_eq!(rows(label, 6, &parts, Some(15)), [row]);
        assert_eq!(rows(label, 6, &parts, Some(14)).len(), 2);
    }
}
