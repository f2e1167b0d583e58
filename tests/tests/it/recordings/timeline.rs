//! The tables of a recording's timeline, as its README's authors wrote them.

use jiff::Timestamp;
use kubereel_format::RecordedAt;
use kubereel_tests::shared_data::shared_data;

/// One table: its heading and its rows' cells.
pub struct Section {
    pub heading: String,
    pub rows: Vec<Vec<String>>,
}

/// Reads the tables; `None`, said aloud, if the file is not there.
pub fn sections() -> Option<Vec<Section>> {
    let text = std::fs::read_to_string(shared_data("cvo-upgrade/timeline.md")?).unwrap();
    let mut sections: Vec<Section> = Vec::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            sections.push(Section {
                heading: heading.to_owned(),
                rows: Vec::new(),
            });
        }
        let Some(cells) = line
            .strip_prefix('|')
            .and_then(|line| line.strip_suffix('|'))
        else {
            continue;
        };
        let cells: Vec<String> = cells
            .split('|')
            .map(|cell| cell.trim().to_owned())
            .collect();
        // Headers and their rule have no time.
        if cells[0].starts_with(|letter: char| letter.is_ascii_digit()) {
            sections.last_mut().unwrap().rows.push(cells);
        }
    }
    Some(sections)
}

/// Reads a time of the recording's day.
pub fn time(cell: &str) -> RecordedAt {
    let time: Timestamp = format!("2026-11-21T{cell}Z").parse().unwrap();
    RecordedAt::from_micros(time.as_microsecond())
}
