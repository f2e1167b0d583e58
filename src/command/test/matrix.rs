//! Owns the table across recordings: rule by recording where these are few, else how often each rule
//! ended how.

use super::runs::Ran;
use crate::command_error::CommandError;
use crate::screen::Screen;
use crate::table::Table;
use kubereel_monitortests::{CaseVerdict as Verdict, RunReport};

/// How many recordings have a column of their own.
const COLUMNS_MOST: usize = 8;

/// Prints the table.
pub(super) fn print(all: &[Ran], screen: &mut Screen) -> Result<(), CommandError> {
    let reports: Vec<Option<&RunReport>> = all.iter().map(|ran| ran.report.as_ref().ok()).collect();
    let rules = rules(&reports);
    screen.line("")?;
    if rules.is_empty() {
        return screen.line("no rule failed, flaked or was unknown in any recording");
    }
    let is_narrow = all.len() <= COLUMNS_MOST;
    let mut table = Table::default();
    if is_narrow {
        let numbers = (1..=all.len()).map(|number| number.to_string());
        table.push(std::iter::once("RULE".to_owned()).chain(numbers).collect());
        for rule in rules {
            let cells = reports.iter().map(|report| cell(*report, rule).to_owned());
            table.push(std::iter::once(rule.to_owned()).chain(cells).collect());
        }
    } else {
        let verdicts = Verdict::ALL.map(|verdict| verdict.to_string().to_uppercase());
        let mut headers = vec!["RULE".to_owned()];
        headers.extend(verdicts);
        table.push(headers);
        for rule in rules {
            let ended = |verdict| {
                let same = reports.iter().flatten();
                same.filter(|report| report.verdict_of(rule) == Some(verdict))
                    .count()
            };
            let mut row = vec![rule.to_owned()];
            row.extend(Verdict::ALL.map(|verdict| match ended(verdict) {
                0 => ".".to_owned(),
                count => count.to_string(),
            }));
            table.push(row);
        }
    }
    table
        .lines()
        .iter()
        .try_for_each(|line| screen.line(line.trim_end()))?;
    if is_narrow {
        for (place, ran) in all.iter().enumerate() {
            let name = ran.name();
            let paint = screen.paint();
            let line = paint.faint(&format!("{} = {name}", place + 1));
            screen.line(line)?;
        }
    }
    Ok(())
}

/// Gives the rules that say something, in the order in which they ran.
fn rules<'a>(reports: &[Option<&'a RunReport>]) -> Vec<&'a str> {
    let mut rules: Vec<&str> = Vec::new();
    for report in reports.iter().flatten() {
        for outcome in &report.outcomes {
            let is_dull = matches!(outcome.verdict, Verdict::Pass | Verdict::Skipped);
            let rule = outcome.about.id.as_str();
            if !is_dull && !rules.contains(&rule) {
                rules.push(rule);
            }
        }
    }
    rules
}

fn cell(report: Option<&RunReport>, rule: &str) -> &'static str {
    let Some(report) = report else {
        return "not read";
    };
    match report.verdict_of(rule) {
        Some(Verdict::Fail) => "FAIL",
        Some(Verdict::Error) => "ERROR",
        Some(verdict) if verdict.is_flake() => "flake",
        Some(Verdict::Unknown) => "unknown",
        Some(Verdict::Pass) => "pass",
        _ => "-",
    }
}
