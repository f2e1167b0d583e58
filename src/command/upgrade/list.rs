//! Owns the list of a reel's installation and upgrades.

use super::json;
use super::page::{between, release};
use super::{Output, of_kind};
use crate::command_error::CommandError;
use crate::screen::Screen;
use crate::table::Table;
use kubereel_cluster::{ClusterUpdate, UpdateKind, Updates};
use kubereel_history::Timeline;

/// Prints the list.
pub(super) fn print(
    timeline: &Timeline,
    updates: &Updates,
    output: Option<Output>,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    let mut rows: Vec<(Option<usize>, &ClusterUpdate)> = of_kind(updates, UpdateKind::Install)
        .map(|(_, update)| (None, update))
        .collect();
    rows.extend(
        of_kind(updates, UpdateKind::Upgrade).map(|(number, update)| (Some(number), update)),
    );
    rows.sort_by_key(|(_, update)| update.first);
    if output == Some(Output::Json) {
        return json::list(&rows, updates, screen);
    }
    let mut table = Table::with_headers(["NTH", "FROM", "TO", "BEGAN", "TOOK", "OUTCOME"]);
    for (number, update) in rows {
        let from = update.from.as_ref().map_or_else(|| "-".to_owned(), release);
        let asked = update.requests.last().map(|request| &request.release);
        let to = update.target.as_ref().or(asked);
        let end = update.end;
        let took = end.map_or_else(
            || format!("{}+", between(update.first, updates.now)),
            |end| between(update.first, end.mark.at),
        );
        let outcome = match (end, update.accepted) {
            (Some(end), _) => end.how.as_str(),
            (None, None) if !update.is_older => "not accepted",
            (None, _) => "not complete",
        };
        table.push(vec![
            number.map_or_else(|| "install".to_owned(), |number| number.to_string()),
            from,
            to.map_or_else(|| "?".to_owned(), release),
            timeline.written(update.first.at),
            took,
            outcome.to_owned(),
        ]);
    }
    for line in table.lines() {
        screen.line(line)?;
    }
    Ok(())
}
