//! Owns how cases that failed or flaked are told: failures one by one, many flakes of a rule together.

use super::{INDENT, length, show, style, styled, tail, word};
use crate::command_error::CommandError;
use crate::screen::Screen;
use crate::spans::Style;
use crate::words::count;
use kubereel_monitortests::{Judged, Outcome, RunName, Verdict, shown_by, subject, when};

/// How many failed cases of one rule are told one by one; all in the wide form.
const CASES_SHOWN: usize = 3;
/// How many findings are shown together; all in the wide form.
const FINDINGS_SHOWN: usize = 3;
/// How many letters of a message are shown; all in the wide form.
const LETTERS_SHOWN: usize = 400;

/// Prints the cases of a rule.
pub(super) fn print_rule(
    run: &RunName<'_>,
    verdict: Verdict,
    outcomes: &[&Outcome],
    is_wide: bool,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    let one_by_one = if verdict.is_flake() { 1 } else { CASES_SHOWN };
    if let [first, ..] = outcomes
        && outcomes.len() > one_by_one
        && !is_wide
    {
        screen.line("")?;
        return print_many(run, first, outcomes, screen);
    }
    for outcome in outcomes {
        screen.line("")?;
        print_case(run, outcome, is_wide, screen)?;
    }
    Ok(())
}

/// Prints many cases of one rule together.
fn print_many(
    run: &RunName<'_>,
    first: &Outcome,
    outcomes: &[&Outcome],
    screen: &mut Screen,
) -> Result<(), CommandError> {
    let mut head = styled(style(first.verdict), word(first.verdict));
    let cases = count(length(outcomes), "case");
    head.push(Style::Strong, format!("{cases}: {}", first.about.junit));
    show(screen, &head, INDENT)?;
    let findings: Vec<&Judged> = outcomes.iter().flat_map(|one| one.evidence()).collect();
    let all = count(length(&findings), "finding");
    let mut about = format!("  {} · {all}", first.about.id);
    if first.verdict.is_flake() {
        about.push_str(" · ");
        about.push_str(why_flake(first));
    }
    show(screen, &styled(Style::Faint, about), 2)?;
    let groups: Vec<String> = outcomes.iter().filter_map(|one| group(one)).collect();
    if !groups.is_empty() {
        let groups = format!("  {}", groups.join(", "));
        show(screen, &styled(Style::Plain, groups), 2)?;
    }
    print_findings(run, &findings, false, screen)
}

/// Gives what a case is for, and how many findings it has if these are several.
fn group(outcome: &Outcome) -> Option<String> {
    let values: Vec<&str> = outcome.group.values().map(String::as_str).collect();
    if values.is_empty() {
        return None;
    }
    let name = values.join("/");
    Some(match outcome.evidence().count() {
        0 | 1 => name,
        findings => format!("{name} ({findings})"),
    })
}

fn print_case(
    run: &RunName<'_>,
    outcome: &Outcome,
    is_wide: bool,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    let mut head = styled(style(outcome.verdict), word(outcome.verdict));
    head.push(Style::Strong, tail(&outcome.name));
    show(screen, &head, INDENT)?;
    let evidence: Vec<&Judged> = outcome.evidence().collect();
    let mut about = format!("  {}", outcome.about.id);
    if !evidence.is_empty() {
        about.push_str(" · ");
        about.push_str(&count(length(&evidence), "finding"));
    }
    let excepted = outcome.findings.len().saturating_sub(evidence.len());
    if excepted > 0 {
        about.push_str(" · ");
        about.push_str(&excepted.to_string());
        about.push_str(" more excepted or less severe");
    }
    if outcome.verdict.is_flake() {
        about.push_str(" · ");
        about.push_str(why_flake(outcome));
    }
    show(screen, &styled(Style::Faint, about), 2)?;
    if let Some(why) = &outcome.why {
        show(screen, &styled(Style::Plain, format!("  {why}")), 4)?;
    }
    print_findings(run, &evidence, is_wide, screen)
}

fn why_flake(outcome: &Outcome) -> &'static str {
    match outcome.verdict {
        Verdict::FlakeJira => "excepted until an issue is closed",
        Verdict::FlakePermanent => "excepted permanently",
        _ if outcome.about.is_flake_only => "the rule never fails a run",
        _ => "below the threshold for a failure",
    }
}

fn print_findings(
    run: &RunName<'_>,
    findings: &[&Judged],
    is_wide: bool,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    let shown = if is_wide { usize::MAX } else { FINDINGS_SHOWN };
    for judged in findings.iter().take(shown) {
        print_finding(run, judged, is_wide, screen)?;
    }
    let more = findings.len().saturating_sub(shown);
    if more > 0 {
        let more = format!("  and {more} more: -o wide shows them");
        show(screen, &styled(Style::Faint, more), 2)?;
    }
    Ok(())
}

fn print_finding(
    run: &RunName<'_>,
    judged: &Judged,
    is_wide: bool,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    let finding = &judged.finding;
    let mut line = styled(Style::Plain, "  ");
    line.push(Style::Strong, when(run, finding));
    let about = subject(&finding.subject);
    if !about.is_empty() {
        line.push(Style::Plain, format!("  {about}"));
    }
    let mut message = finding.message.lines();
    let said = [finding.reason.as_str(), message.next().unwrap_or_default()];
    let said: Vec<&str> = said.into_iter().filter(|text| !text.is_empty()).collect();
    let said = said.join(": ");
    show(screen, &line, 4)?;
    if !said.is_empty() {
        let said = if is_wide { said } else { shortened(&said) };
        show(screen, &styled(Style::Plain, format!("    {said}")), 4)?;
    }
    if is_wide {
        for text in message {
            show(screen, &styled(Style::Plain, format!("    {text}")), 4)?;
        }
    } else if let more @ 1.. = message.count() {
        let more = count(u64::try_from(more).unwrap_or(0), "line");
        let more = format!("    and {more} more: -o wide shows them");
        show(screen, &styled(Style::Faint, more), 4)?;
    }
    if let Some(excuse) = &judged.excuse {
        let words = [excuse.link.as_str(), excuse.why.as_str()];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        let words = words.join(", ");
        let words = format!("    excepted: {words} ({})", excuse.written_at);
        show(screen, &styled(Style::Faint, words), 6)?;
    }
    if let Some(command) = shown_by(run, finding) {
        let command = screen.paint().faint(&command);
        screen.line(format!("    {command}"))?;
    }
    Ok(())
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LETTERS_SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}
