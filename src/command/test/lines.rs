//! Owns the report that a person reads: what failed first, with its evidence and the command that shows
//! it. Refuses to break commands: they are there to be pasted.

use super::runs::{Ran, run_name};
use crate::command_error::CommandError;
use crate::screen::Screen;
use crate::spans::{Line, Style};
use crate::words::number;
use kubereel_monitortests::{CaseOutcome as Outcome, CaseVerdict as Verdict, RunReport};

mod case;
mod group;
mod header;

/// How wide the verdicts before names are.
const INDENT: usize = 9;

/// Prints the report of every recording.
pub(super) fn print(all: &[Ran], is_wide: bool, screen: &mut Screen) -> Result<(), CommandError> {
    for (place, ran) in all.iter().enumerate() {
        if place > 0 {
            screen.line("")?;
        }
        match &ran.report {
            Ok(report) => print_one(ran, report, is_wide, screen)?,
            // A single one is spoken of at the end, as any error is.
            Err(_) if all.len() == 1 => {}
            Err(error) => {
                let mut line = styled(Style::Strong, ran.name());
                line.push(Style::Plain, " · ");
                line.push(Style::Bad, "not read");
                line.push(Style::Plain, format!(": {}", error.message()));
                show(screen, &line, 0)?;
            }
        }
    }
    Ok(())
}

fn print_one(
    ran: &Ran,
    report: &RunReport,
    is_wide: bool,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    let reel = ran.name();
    let run = run_name(report, &reel);
    screen.aside(header::line(&reel, report))?;
    show(screen, &summary(ran, report), 0)?;
    let is_told =
        |verdict: &Verdict| verdict.is_flake() || matches!(verdict, Verdict::Fail | Verdict::Error);
    for verdict in Verdict::ALL.into_iter().filter(is_told) {
        for outcomes in by_rule(report, verdict) {
            case::print_rule(&run, verdict, &outcomes, is_wide, screen)?;
        }
    }
    group::unknown(&run, report, is_wide, screen)?;
    group::skipped(report, is_wide, screen)?;
    if is_wide {
        screen.line("")?;
        for outcome in of(report, Verdict::Pass) {
            let mut line = styled(Style::Good, word(Verdict::Pass));
            line.push(Style::Plain, tail(&outcome.name));
            show(screen, &line, INDENT)?;
        }
    }
    Ok(())
}

/// Gives the line with the recording's name and how many cases ended how.
fn summary(ran: &Ran, report: &RunReport) -> Line {
    let mut line = styled(Style::Strong, ran.name());
    for verdict in Verdict::ALL {
        let cases = report.count(verdict);
        if cases > 0 {
            line.push(Style::Plain, " · ");
            line.push(style(verdict), format!("{} {verdict}", number(cases)));
        }
    }
    line
}

fn of(report: &RunReport, verdict: Verdict) -> impl Iterator<Item = &Outcome> {
    let outcomes = report.outcomes.iter();
    outcomes.filter(move |one| one.verdict == verdict)
}

/// Gives the cases of a verdict, those of one rule together.
fn by_rule(report: &RunReport, verdict: Verdict) -> Vec<Vec<&Outcome>> {
    let mut rules: Vec<Vec<&Outcome>> = Vec::new();
    for outcome in of(report, verdict) {
        let same = rules.iter_mut().find(|cases| {
            let first = cases.first();
            first.is_some_and(|first| first.about.id == outcome.about.id)
        });
        match same {
            Some(cases) => cases.push(outcome),
            None => rules.push(vec![outcome]),
        }
    }
    rules
}

/// Gives a case's name without the monitor that it belongs to.
fn tail(name: &str) -> &str {
    let rest = name.strip_prefix("[Monitor:");
    let rest = rest.and_then(|rest| rest.split_once(']'));
    rest.map_or(name, |(_, rest)| rest.trim_start())
}

fn word(verdict: Verdict) -> String {
    let word = if verdict.is_flake() {
        "FLAKE".to_owned()
    } else {
        verdict.as_str().to_uppercase()
    };
    format!("{word:<INDENT$}")
}

const fn style(verdict: Verdict) -> Style {
    match verdict {
        Verdict::Fail | Verdict::Error => Style::Bad,
        Verdict::Flake | Verdict::FlakeJira | Verdict::FlakePermanent | Verdict::Unknown => {
            Style::Wary
        }
        Verdict::Pass => Style::Good,
        Verdict::Skipped => Style::Faint,
    }
}

fn styled(style: Style, text: impl AsRef<str>) -> Line {
    let mut line = Line::default();
    line.push(style, text);
    line
}

fn length<T>(list: &[T]) -> u64 {
    u64::try_from(list.len()).unwrap_or(u64::MAX)
}

fn show(screen: &mut Screen, line: &Line, hang: usize) -> Result<(), CommandError> {
    let rows = line.rows(screen.width(), hang, screen.paint());
    rows.iter().try_for_each(|row| screen.line(row))
}
