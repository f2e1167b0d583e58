//! Columns aligned as kubectl does: three spaces between, at least six wide. Without colours: the width of a cell is
//! that of its text.

use kubereel_history::harmless;
use std::borrow::Cow;

/// Rows of cells under their headers.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextTable {
    rows: Vec<Vec<String>>,
    layout: ColumnLayout,
    /// How wide the columns of the rows were that were printed before.
    least: Vec<usize>,
}

/// How wide columns are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ColumnLayout {
    /// As in the tables of `kubectl get`.
    #[default]
    Table,
    /// As on the pages of `kubectl describe`: narrower, and each block of lines for itself.
    Page,
}

impl ColumnLayout {
    /// Gives the spaces between two columns.
    const fn between(self) -> usize {
        match self {
            Self::Table => 3,
            Self::Page => 2,
        }
    }

    /// Gives how wide a column is at least, with the space after it.
    const fn narrowest(self) -> usize {
        match self {
            Self::Table => 6,
            Self::Page => 0,
        }
    }
}

impl TextTable {
    /// Begins a table with its headers.
    pub(crate) fn with_headers<const N: usize>(headers: [&str; N]) -> Self {
        let mut table = Self::default();
        table.rows.push(headers.map(str::to_owned).to_vec());
        table
    }

    /// Begins a page of lines whose cells are aligned with those of the lines around them.
    pub(crate) fn page() -> Self {
        Self {
            rows: Vec::new(),
            layout: ColumnLayout::Page,
            least: Vec::new(),
        }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// Gives the lines and lets go of their rows: those that follow are aligned with them, as far as they fit.
    pub(crate) fn take_lines(&mut self) -> Vec<String> {
        let lines = self.lines();
        let rows: Vec<Vec<Cow<'_, str>>> = self.rows.iter().map(|row| cells(row)).collect();
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        self.least.resize(self.least.len().max(columns), 0);
        for (column, least) in self.least.iter_mut().enumerate() {
            let cells: Vec<Cell<'_>> = rows.iter().map(|row| Cell::of(row, column)).collect();
            let widths = widths(&cells, self.layout, *least).into_iter();
            *least = widths.fold(*least, usize::max);
        }
        drop(rows);
        self.rows.clear();
        lines
    }

    /// Gives the lines, aligned.
    ///
    /// The last cell of a line is not filled up. A tab within a cell begins another, as it does for
    /// kubectl: where lines below each other have one more cell, these are aligned among themselves.
    pub(crate) fn lines(&self) -> Vec<String> {
        let rows: Vec<Vec<Cow<'_, str>>> = self.rows.iter().map(|row| cells(row)).collect();
        let mut lines: Vec<String> = vec![String::new(); rows.len()];
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        for column in 0..columns {
            let cells: Vec<Cell<'_>> = rows.iter().map(|row| Cell::of(row, column)).collect();
            let least = self.least.get(column).copied().unwrap_or_default();
            let widths = widths(&cells, self.layout, least);
            for ((line, cell), width) in lines.iter_mut().zip(&cells).zip(widths) {
                match *cell {
                    Cell::Filled(text) => {
                        line.push_str(text);
                        line.extend(std::iter::repeat_n(' ', width - text.chars().count()));
                    }
                    Cell::Last(text) => line.push_str(text),
                    Cell::None => {}
                }
            }
        }
        lines
    }
}

/// What a row has in a column.
enum Cell<'a> {
    /// A cell with another after it.
    Filled(&'a str),
    Last(&'a str),
    None,
}

impl<'a> Cell<'a> {
    fn of(row: &'a [Cow<'_, str>], column: usize) -> Self {
        match row.get(column..) {
            None | Some([]) => Self::None,
            Some([last]) => Self::Last(last),
            Some([cell, ..]) => Self::Filled(cell),
        }
    }
}

fn cells(row: &[String]) -> Vec<Cow<'_, str>> {
    row.iter()
        .flat_map(|cell| cell.split(['\t', '\u{b}']))
        .map(harmless)
        .collect()
}

/// Gives the width of a column in each row.
///
/// Rows without a cell there part it. In a table, what comes after such a row is as wide as what came before, at
/// least.
fn widths(cells: &[Cell<'_>], layout: ColumnLayout, least: usize) -> Vec<usize> {
    let mut widths = Vec::with_capacity(cells.len());
    let mut widest = layout.narrowest().max(least);
    let is_parted = |cell: &Cell<'_>| !matches!(cell, Cell::Filled(_));
    for run in cells.split_inclusive(is_parted) {
        if layout == ColumnLayout::Page {
            widest = layout.narrowest();
        }
        for cell in run {
            if let Cell::Filled(text) = cell {
                widest = widest.max(text.chars().count() + layout.between());
            }
        }
        widths.extend(std::iter::repeat_n(widest, run.len()));
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(rows: &[&[&str]]) -> Vec<String> {
        let mut table = TextTable::default();
        for row in rows {
            table.push(row.iter().map(|&cell| cell.to_owned()).collect());
        }
        table.lines()
    }

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = TextTable::with_headers(["NAME", "AGE"]);
        table.push(vec!["étoile-1".to_owned(), "5s".to_owned()]);
        assert_eq!(table.lines(), ["NAME       AGE", "étoile-1   5s"]);
    }

    #[test]
    fn rows_that_follow_are_aligned_with_those_before() {
        let mut table = TextTable::with_headers(["NAME", "AGE"]);
        table.push(vec!["étoile-1".to_owned(), "5s".to_owned()]);
        assert_eq!(table.take_lines(), ["NAME       AGE", "étoile-1   5s"]);
        table.push(vec!["a".to_owned(), "6s".to_owned()]);
        assert_eq!(table.take_lines(), ["a          6s"]);
        table.push(vec!["longer-than-1".to_owned(), "7s".to_owned()]);
        table.push(vec!["b".to_owned(), "8s".to_owned()]);
        let expected = ["longer-than-1   7s", "b               8s"];
        assert_eq!(table.take_lines(), expected);
        assert!(table.take_lines().is_empty());
    }

    #[test]
    fn columns_are_six_wide_at_least() {
        assert_eq!(lines(&[&["a", "b", "c"]]), ["a     b     c"]);
    }

    #[test]
    fn an_empty_last_cell_leaves_the_space_before_it() {
        let expected = ["NAME   HOLDER   MESSAGE", "a      b        "];
        assert_eq!(
            lines(&[&["NAME", "HOLDER", "MESSAGE"], &["a", "b", ""]]),
            expected
        );
    }

    #[test]
    fn a_tab_begins_another_cell() {
        let rows: [&[&str]; 6] = [
            &["A", "MESSAGE"],
            &["1", "x\ty"],
            &["2", "long one\tz"],
            &["3", "none"],
            &["4", "s\tt"],
            &["5", ""],
        ];
        let expected = [
            "A     MESSAGE",
            "1     x          y",
            "2     long one   z",
            "3     none",
            "4     s          t",
            "5     ",
        ];
        assert_eq!(lines(&rows), expected);
    }

    #[test]
    fn each_block_of_a_page_is_aligned_for_itself() {
        let mut page = TextTable::page();
        for row in [
            &["Labels:", "a=b"][..],
            &["", "c=d"],
            &["Status:"],
            &["  IP:", "::1"],
            &["  Port:", "x", "1"],
        ] {
            page.push(row.iter().map(|&cell| cell.to_owned()).collect());
        }
        let expected = [
            "Labels:  a=b",
            "         c=d",
            "Status:",
            "  IP:    ::1",
            "  Port:  x  1",
        ];
        assert_eq!(page.lines(), expected);
    }

    #[test]
    fn what_a_terminal_would_obey_is_written_out_and_aligned() {
        assert_eq!(
            lines(&[&["NAME", "B"], &["a\u{7}\u{202e}\n", "x"]]),
            ["NAME              B", "a\\u0007\\u202e\\n   x"]
        );
    }
}
