//! Owns how operators are printed: in the order in which they moved.

use super::page::{Page, between, lasting, span};
use crate::command_error::CommandError;
use crate::spans::{Line, Style};
use kubereel_history::{OperatorMove, UpdateKind, UpgradeStory};

/// Prints the operators.
pub(super) fn print(page: &mut Page<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    let all = &story.operators;
    if all.is_empty() {
        return Ok(());
    }
    let is_install = story.update.kind == UpdateKind::Install;
    let there: Vec<&OperatorMove> = all.iter().filter(|one| one.was_there).collect();
    let moved = all.iter().filter(|one| one.moved.is_some()).count();
    let mut more = if is_install {
        format!("{moved} of {} reported the version", all.len())
    } else {
        format!("{moved} of {} moved", all.len() - there.len())
    };
    if !there.is_empty() {
        more.extend([format!(", {} already had the version", there.len())]);
    }
    page.title("Operators", &more)?;
    let width = page.time_width();
    if is_install {
        page.headers(&format!(
            "  {:<width$}  {:<width$}  OPERATOR",
            "REPORTED", "AVAILABLE"
        ))?;
    } else {
        page.headers(&format!(
            "  {:<width$}  {:<8}{:<8}OPERATOR",
            "MOVED", "WAITED", "TOOK"
        ))?;
    }
    let origin = story.update.accepted.unwrap_or(story.update.first);
    for one in all.iter().filter(|one| !one.was_there) {
        let mut line = Line::default();
        let moved = one
            .moved
            .map_or_else(|| format!("{:<width$}", "not yet"), |moved| page.at(moved));
        let style = if one.moved.is_some() {
            Style::Strong
        } else {
            Style::Wary
        };
        line.push(style, format!("  {moved}  "));
        if is_install {
            let available = one.available.map_or_else(
                || format!("{:<width$}", "not yet"),
                |available| page.at(available),
            );
            line.push(Style::Plain, format!("{available}  {}", one.name));
        } else {
            // One that moved without being seen to begin is not one that waits.
            let none = if one.moved.is_some() { "?" } else { "-" };
            let waited = one
                .began
                .map_or_else(|| none.to_owned(), |began| between(origin, began.at));
            let took = one.took_micros(story.now);
            let took = took.map_or_else(
                || none.to_owned(),
                |micros| lasting(micros, one.moved.is_some()),
            );
            line.push(Style::Plain, format!("{waited:<8}{took:<8}{}", one.name));
        }
        notes(one, story, &mut line);
        page.line(&line, width + 20)?;
    }
    let is_unclear = |one: &&OperatorMove| one.moved.is_some() && one.began.is_none();
    if !is_install && all.iter().any(|one| is_unclear(&one)) {
        page.headers("  ?: not observed Progressing before its version changed")?;
    }
    Ok(())
}

fn notes(one: &OperatorMove, story: &UpgradeStory, line: &mut Line) {
    // An installation has no budget for one operator: all of them begin at once.
    if story.update.kind == UpdateKind::Upgrade && one.is_over_budget(story.now) {
        let budget = span(one.budget_micros());
        line.push(Style::Bad, format!(" · over its {budget}"));
    }
    if one.moved.is_none() && one.began.is_some() {
        line.push(Style::Wary, " · updating");
    }
    if !one.is_of_payload {
        line.push(Style::Faint, " · not of the payload");
    }
}
