//! Owns the YAML that people read: who and when in columns before it.

use crate::command_error::CommandError;
use crate::field_text::{self, HANG};
use crate::screen::Screen;
use crate::spans::{Line, Style};
use kubereel_history::{Blame, BlameSource, BlamedObject, Timeline, yaml_lines};

/// Where less is left for the YAML beside the names, its later rows begin further left.
const NARROWEST_YAML: usize = 48;
/// A name longer than this does not widen the column.
const WIDEST_NAME: usize = 32;

/// Prints an object with who set its fields.
pub(super) fn print(
    timeline: &Timeline,
    blamed: &BlamedObject,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    let cells: Vec<(String, String)> = blamed
        .fields
        .iter()
        .map(|field| (who(field), when(timeline, field)))
        .collect();
    let widest = |texts: &mut dyn Iterator<Item = &String>| {
        texts.map(|text| text.chars().count()).max().unwrap_or(0)
    };
    let name_width = widest(&mut cells.iter().map(|(who, _)| who)).min(WIDEST_NAME);
    let time_width = widest(&mut cells.iter().map(|(_, when)| when));
    // Later rows begin where the YAML does, unless that leaves them little room.
    let gutter = name_width + time_width + 6;
    let has_room = screen
        .width()
        .is_none_or(|width| width.saturating_sub(gutter) >= NARROWEST_YAML);
    let hang = if has_room { gutter } else { HANG };
    for line in yaml_lines(&blamed.object) {
        let cell = line.field.and_then(|at| cells.get(at));
        let is_recorded = line
            .field
            .and_then(|at| blamed.fields.get(at))
            .is_some_and(|field| matches!(field.source, BlameSource::Recorded { .. }));
        let (who, when) = cell.map_or(("", ""), |(who, when)| (who, when));
        let mut row = Line::default();
        let style = match line.field {
            None => Style::Plain,
            Some(_) if is_recorded => Style::Good,
            Some(_) => Style::Faint,
        };
        row.push(style, format!("{who:<name_width$}  {when:<time_width$}"));
        row.push(Style::Faint, "  │ ");
        row.push(Style::Plain, line.text);
        let rows = row.rows(screen.width(), hang, screen.paint());
        rows.iter()
            .try_for_each(|row| screen.line(row.trim_end()))?;
    }
    Ok(())
}

fn who(field: &Blame) -> String {
    if field.writers.is_empty() {
        "-".to_owned()
    } else {
        field_text::managers(&field.writers)
    }
}

fn when(timeline: &Timeline, field: &Blame) -> String {
    let Some(at) = field.source.at() else {
        return "-".to_owned();
    };
    let at = timeline.written(at);
    match field.source {
        BlameSource::ManagedFields { .. } => format!("≤ {at}"),
        _ if field.may_be_older => format!("~ {at}"),
        _ => format!("  {at}"),
    }
}
