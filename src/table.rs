//! Owns columns as kubectl aligns them: three spaces between, none at the end. Refuses colours: a
//! cell's width is its text's.

/// Rows of cells under their headers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

const BETWEEN: usize = 3;

impl Table {
    /// Begins a table with its headers.
    pub(crate) fn with_headers<const N: usize>(headers: [&str; N]) -> Self {
        let mut table = Self::default();
        table.rows.push(headers.map(str::to_owned).to_vec());
        table
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// Gives the lines, aligned.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut widths: Vec<usize> = Vec::new();
        for row in &self.rows {
            for (at, cell) in row.iter().enumerate() {
                let width = cell.chars().count();
                match widths.get_mut(at) {
                    Some(widest) => *widest = width.max(*widest),
                    None => widths.push(width),
                }
            }
        }
        self.rows
            .iter()
            .map(|row| {
                let mut line = String::new();
                for (cell, width) in row.iter().zip(&widths) {
                    let padded = width + BETWEEN;
                    let cell = format!("{cell:<padded$}");
                    line.push_str(&cell);
                }
                line.trim_end().to_owned()
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::with_headers(["NAME", "AGE"]);
        table.push(vec!["étoile-1".to_owned(), "5s".to_owned()]);
        assert_eq!(table.lines(), ["NAME       AGE", "étoile-1   5s"]);
    }
}
