//! Owns how cases without a verdict are told: together, by what was not seen or why they were skipped.

use super::{INDENT, length, of, show, style, styled, tail, word};
use crate::command_error::CommandError;
use crate::screen::Screen;
use crate::spans::Style;
use crate::words::count;
use kubereel_monitortests::{Outcome, RunName, RunReport, Verdict};
use std::collections::BTreeMap;

/// How many times are shown; all in the wide form.
const TIMES_SHOWN: usize = 3;

/// Prints what is unknown.
pub(super) fn unknown(
    run: &RunName<'_>,
    report: &RunReport,
    is_wide: bool,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    let mut groups: BTreeMap<Vec<String>, Vec<&Outcome>> = BTreeMap::new();
    for outcome in of(report, Verdict::Unknown) {
        let dark = outcome.dark.iter().map(|dark| {
            let (from, to) = (run.written(dark.from), run.written(dark.to));
            format!("{from} – {to}  {}", dark.why)
        });
        groups.entry(dark.collect()).or_default().push(outcome);
    }
    for (dark, outcomes) in groups {
        let words = "no finding, but the observation is incomplete";
        group(Verdict::Unknown, words, &outcomes, is_wide, screen)?;
        let shown = if is_wide { usize::MAX } else { TIMES_SHOWN };
        for times in dark.iter().take(shown) {
            let times = format!("  not observed {times}");
            show(screen, &styled(Style::Plain, times), 4)?;
        }
        let more = dark.len().saturating_sub(shown);
        if more > 0 {
            let more = format!("  and {more} more times: -o wide shows them");
            show(screen, &styled(Style::Faint, more), 2)?;
        }
    }
    Ok(())
}

/// Prints what was not judged.
pub(super) fn skipped(
    report: &RunReport,
    is_wide: bool,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    let mut groups: BTreeMap<&str, Vec<&Outcome>> = BTreeMap::new();
    for outcome in of(report, Verdict::Skipped) {
        let why = outcome.why.as_deref().unwrap_or_default();
        groups.entry(why).or_default().push(outcome);
    }
    for (why, outcomes) in groups {
        group(Verdict::Skipped, why, &outcomes, is_wide, screen)?;
    }
    Ok(())
}

fn group(
    verdict: Verdict,
    words: &str,
    outcomes: &[&Outcome],
    is_wide: bool,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    screen.line("")?;
    let mut head = styled(style(verdict), word(verdict));
    let cases = count(length(outcomes), "case");
    head.push(Style::Plain, format!("{cases}: {words}"));
    show(screen, &head, INDENT)?;
    if is_wide {
        for outcome in outcomes {
            let name = format!("  {}", tail(&outcome.name));
            show(screen, &styled(Style::Faint, name), 4)?;
        }
        return Ok(());
    }
    let mut rules: Vec<&str> = outcomes.iter().map(|one| one.about.id.as_str()).collect();
    rules.dedup();
    let rules = format!("  {}", rules.join(", "));
    show(screen, &styled(Style::Faint, rules), 2)
}
