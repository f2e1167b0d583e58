//! The report of `kubereel test` that a person reads: failures first, with their evidence and the command that shows it;
//! a table across recordings; exceptions without an effect. Commands are not broken at the width: they are pasted.

use super::run::{TestRun, run_name};
use super::suite::Suite;
use crate::command::object_query::AS_IMPORTED;
use crate::command_error::CommandError;
use crate::screen::{Console, Style, StyledLine};
use crate::table::TextTable;
use crate::words::{count, duration, inflected, number};
use kubereel_history::{cut, harmless, timetext};
use kubereel_monitortests::{
    CaseOutcome, CaseVerdict, Exception, JudgedFinding, MonitorTest, OmittedRule, RuleClass,
    RunKind, RunName, RunReport, RunTrust, Uses, shown_by, subject, when,
};
use std::collections::BTreeMap;

/// How wide the verdicts before names are.
const INDENT: usize = 9;

/// What a report shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReportDetail {
    /// All findings, and the names of all cases.
    pub(super) is_wide: bool,
    /// The rules that do not apply, by their ids.
    pub(super) names_omitted: bool,
}

/// Prints the report of every recording.
pub(super) fn print(
    all: &[TestRun],
    detail: ReportDetail,
    screen: &mut Console,
) -> Result<(), CommandError> {
    for (place, ran) in all.iter().enumerate() {
        if place > 0 {
            screen.line("")?;
        }
        match &ran.report {
            Ok(report) => print_one(ran, report, detail, screen)?,
            // A single one is spoken of at the end, as any error is.
            Err(_) if all.len() == 1 => {}
            Err(error) => {
                let mut line = StyledLine::of(Style::Strong, harmless(&ran.name()));
                line.push(Style::Plain, " · ");
                line.push(Style::Bad, "not read");
                line.push(Style::Plain, format!(": {}", error.message()));
                screen.show(&line, 0)?;
            }
        }
    }
    Ok(())
}

fn print_one(
    ran: &TestRun,
    report: &RunReport,
    detail: ReportDetail,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let is_wide = detail.is_wide;
    let reel = ran.name();
    let run = run_name(report, &reel);
    screen.aside(header(&reel, report))?;
    screen.show(&summary(ran, report), 0)?;
    let is_told = |verdict: &CaseVerdict| {
        verdict.is_flake() || matches!(verdict, CaseVerdict::Fail | CaseVerdict::Error)
    };
    for class in RuleClass::ALL {
        let of_class = report.outcomes.iter();
        let told = of_class.filter(|one| one.about.class == class && is_told(&one.verdict));
        let told: Vec<&CaseOutcome> = told.collect();
        if told.is_empty() {
            continue;
        }
        screen.line("")?;
        screen.show(&class_line(class, &told), 0)?;
        for verdict in CaseVerdict::ALL.into_iter().filter(is_told) {
            for outcomes in by_rule(&told, verdict) {
                print_rule(&run, verdict, &outcomes, is_wide, screen)?;
            }
        }
    }
    print_unknown(&run, report, is_wide, screen)?;
    print_skipped(report, is_wide, screen)?;
    print_omitted(report, detail.names_omitted, screen)?;
    if is_wide {
        screen.line("")?;
        for outcome in of(report, CaseVerdict::Pass) {
            let mut line = StyledLine::of(Style::Good, word(CaseVerdict::Pass));
            line.push(Style::Plain, tail(&outcome.name));
            screen.show(&line, INDENT)?;
        }
    }
    Ok(())
}

/// Gives the line with the recording's name and how many cases ended how.
fn summary(ran: &TestRun, report: &RunReport) -> StyledLine {
    let mut line = StyledLine::of(Style::Strong, harmless(&ran.name()));
    for verdict in CaseVerdict::ALL {
        let cases = report.count(verdict);
        if cases > 0 {
            line.push(Style::Plain, " · ");
            line.push(style(verdict), format!("{} {verdict}", number(cases)));
        }
    }
    line
}

/// Gives the heading of a class: how many of its cases ended how.
fn class_line(class: RuleClass, outcomes: &[&CaseOutcome]) -> StyledLine {
    let mut line = StyledLine::of(Style::Strong, class.as_str().to_uppercase());
    for verdict in CaseVerdict::ALL {
        let cases = outcomes.iter().filter(|one| one.verdict == verdict);
        let cases = cases.count();
        if cases > 0 {
            line.push(Style::Plain, " · ");
            line.push(style(verdict), format!("{cases} {verdict}"));
        }
    }
    line
}

fn of(report: &RunReport, verdict: CaseVerdict) -> impl Iterator<Item = &CaseOutcome> {
    let outcomes = report.outcomes.iter();
    outcomes.filter(move |one| one.verdict == verdict)
}

/// Gives the cases of a verdict, those of one rule together.
fn by_rule<'a>(outcomes: &[&'a CaseOutcome], verdict: CaseVerdict) -> Vec<Vec<&'a CaseOutcome>> {
    let mut rules: Vec<Vec<&CaseOutcome>> = Vec::new();
    for &outcome in outcomes.iter().filter(|one| one.verdict == verdict) {
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

fn word(verdict: CaseVerdict) -> String {
    let word = if verdict.is_flake() {
        "FLAKE".to_owned()
    } else {
        verdict.as_str().to_uppercase()
    };
    format!("{word:<INDENT$}")
}

const fn style(verdict: CaseVerdict) -> Style {
    match verdict {
        CaseVerdict::Fail | CaseVerdict::Error => Style::Bad,
        CaseVerdict::Flake
        | CaseVerdict::FlakeJira
        | CaseVerdict::FlakePermanent
        | CaseVerdict::Unknown => Style::Wary,
        CaseVerdict::Pass => Style::Good,
        CaseVerdict::Skipped => Style::Faint,
    }
}

/// How many failed cases of one rule are printed one by one; the wide form prints all.
const CASES_SHOWN: usize = 3;
/// How many findings are shown together; all in the wide form.
const FINDINGS_SHOWN: usize = 3;
/// How many letters of a message are shown; all in the wide form.
const LETTERS_SHOWN: usize = 400;

/// Prints the cases of a rule.
fn print_rule(
    run: &RunName<'_>,
    verdict: CaseVerdict,
    outcomes: &[&CaseOutcome],
    is_wide: bool,
    screen: &mut Console,
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
    first: &CaseOutcome,
    outcomes: &[&CaseOutcome],
    screen: &mut Console,
) -> Result<(), CommandError> {
    let mut head = StyledLine::of(style(first.verdict), word(first.verdict));
    let cases = count(outcomes.len(), "case");
    head.push(Style::Strong, format!("{cases}: {}", first.about.junit));
    screen.show(&head, INDENT)?;
    let findings: Vec<&JudgedFinding> = outcomes.iter().flat_map(|one| one.evidence()).collect();
    let all = count(findings.len(), "finding");
    let mut about = format!("  {} · {all}", first.about.id);
    if first.verdict.is_flake() {
        about.push_str(" · ");
        about.push_str(why_flake(first));
    }
    screen.show(&StyledLine::of(Style::Faint, about), 2)?;
    let groups: Vec<String> = outcomes.iter().filter_map(|one| group_name(one)).collect();
    if !groups.is_empty() {
        let groups = format!("  {}", groups.join(", "));
        screen.show(&StyledLine::of(Style::Plain, groups), 2)?;
    }
    print_findings(run, &findings, false, screen)
}

/// Gives what a case is for, and how many findings it has if these are several.
fn group_name(outcome: &CaseOutcome) -> Option<String> {
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
    outcome: &CaseOutcome,
    is_wide: bool,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let mut head = StyledLine::of(style(outcome.verdict), word(outcome.verdict));
    head.push(Style::Strong, tail(&outcome.name));
    screen.show(&head, INDENT)?;
    let evidence: Vec<&JudgedFinding> = outcome.evidence().collect();
    let mut about = format!("  {}", outcome.about.id);
    if !evidence.is_empty() {
        about.push_str(" · ");
        about.push_str(&count(evidence.len(), "finding"));
    }
    let excepted = outcome.findings.len().saturating_sub(evidence.len());
    if excepted > 0 {
        about.push_str(" · ");
        about.push_str(&excepted.to_string());
        about.push_str(" more excepted or less severe");
    }
    if let Some(words) = outcome.not_kept_words() {
        about.push_str(" · ");
        about.push_str(&words);
    }
    if outcome.verdict.is_flake() {
        about.push_str(" · ");
        about.push_str(why_flake(outcome));
    }
    screen.show(&StyledLine::of(Style::Faint, about), 2)?;
    if let Some(why) = &outcome.why {
        screen.show(&StyledLine::of(Style::Plain, format!("  {why}")), 4)?;
    }
    print_findings(run, &evidence, is_wide, screen)
}

fn why_flake(outcome: &CaseOutcome) -> &'static str {
    match outcome.verdict {
        CaseVerdict::FlakeJira => "excepted until an issue is closed",
        CaseVerdict::FlakePermanent => "excepted permanently",
        _ if outcome.about.is_flake_only => "the rule never fails a run",
        _ if outcome.not_kept > 0 => "not all objects were judged",
        _ => "below the threshold for a failure",
    }
}

fn print_findings(
    run: &RunName<'_>,
    findings: &[&JudgedFinding],
    is_wide: bool,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let shown = if is_wide { usize::MAX } else { FINDINGS_SHOWN };
    for judged in findings.iter().take(shown) {
        print_finding(run, judged, is_wide, screen)?;
    }
    let more = findings.len().saturating_sub(shown);
    if more > 0 {
        let more = format!("  and {more} more: -o wide shows them");
        screen.show(&StyledLine::of(Style::Faint, more), 2)?;
    }
    Ok(())
}

fn print_finding(
    run: &RunName<'_>,
    judged: &JudgedFinding,
    is_wide: bool,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let finding = &judged.finding;
    let mut line = StyledLine::of(Style::Plain, "  ");
    line.push(Style::Strong, when(run, judged));
    let about = subject(&finding.subject);
    if !about.is_empty() {
        line.push(Style::Plain, format!("  {about}"));
    }
    let mut message = finding.message.lines();
    let said = [finding.reason.as_str(), message.next().unwrap_or_default()];
    let said: Vec<&str> = said.into_iter().filter(|text| !text.is_empty()).collect();
    let said = said.join(": ");
    screen.show(&line, 4)?;
    if !said.is_empty() {
        let said = if is_wide {
            said
        } else {
            cut(&said, LETTERS_SHOWN).into_owned()
        };
        screen.show(&StyledLine::of(Style::Plain, format!("    {said}")), 4)?;
    }
    if is_wide {
        for text in message {
            screen.show(&StyledLine::of(Style::Plain, format!("    {text}")), 4)?;
        }
    } else if let more @ 1.. = message.count() {
        let more = count(more, "line");
        let more = format!("    and {more} more: -o wide shows them");
        screen.show(&StyledLine::of(Style::Faint, more), 4)?;
    }
    if let Some(excuse) = &judged.excuse {
        let words = [excuse.link.as_str(), excuse.why.as_str()];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        let words = words.join(", ");
        let words = format!("    excepted: {words} ({})", excuse.written_at);
        screen.show(&StyledLine::of(Style::Faint, words), 6)?;
    }
    if let Some(command) = shown_by(run, finding) {
        let command = screen.paint().faint(&command);
        screen.line(format!("    {command}"))?;
    }
    Ok(())
}

/// How many times are shown; all in the wide form.
const TIMES_SHOWN: usize = 3;

/// Prints what is unknown.
fn print_unknown(
    run: &RunName<'_>,
    report: &RunReport,
    is_wide: bool,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let mut groups: BTreeMap<Vec<String>, Vec<&CaseOutcome>> = BTreeMap::new();
    for outcome in of(report, CaseVerdict::Unknown) {
        let dark = outcome.dark.iter().map(|dark| {
            let (from, to) = (run.written(dark.from), run.written(dark.to));
            format!("not observed {from} – {to}  {}", dark.why)
        });
        let mut dark: Vec<String> = dark.collect();
        if dark.is_empty() {
            dark.extend(outcome.why.clone());
        }
        groups.entry(dark).or_default().push(outcome);
    }
    for (dark, outcomes) in groups {
        let words = "no finding, but the observation is incomplete";
        print_group(CaseVerdict::Unknown, words, &outcomes, is_wide, screen)?;
        let shown = if is_wide { usize::MAX } else { TIMES_SHOWN };
        for times in dark.iter().take(shown) {
            let times = format!("  {times}");
            screen.show(&StyledLine::of(Style::Plain, times), 4)?;
        }
        let more = dark.len().saturating_sub(shown);
        if more > 0 {
            let more = format!("  and {more} more times: -o wide shows them");
            screen.show(&StyledLine::of(Style::Faint, more), 2)?;
        }
    }
    Ok(())
}

/// Prints what was not judged.
fn print_skipped(
    report: &RunReport,
    is_wide: bool,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let mut groups: BTreeMap<&str, Vec<&CaseOutcome>> = BTreeMap::new();
    for outcome in of(report, CaseVerdict::Skipped) {
        let why = outcome.why.as_deref().unwrap_or_default();
        groups.entry(why).or_default().push(outcome);
    }
    for (why, outcomes) in groups {
        print_group(CaseVerdict::Skipped, why, &outcomes, is_wide, screen)?;
    }
    Ok(())
}

/// Prints how many rules do not apply to the cluster, and of how many that is not known.
fn print_omitted(
    report: &RunReport,
    names_rules: bool,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let (unknown, not): (Vec<&OmittedRule>, Vec<&OmittedRule>) = report
        .omitted
        .iter()
        .partition(|omitted| omitted.why.is_unknown());
    let cluster = match report.facts.release() {
        // What cannot be read, or is lost, may be of OpenShift.
        _ if !report.facts.is_openshift()
            && report.unread.is_empty()
            && !report.has_lost_records =>
        {
            "this cluster, which is not OpenShift".to_owned()
        }
        Some(release) if report.facts.is_openshift() => format!("OpenShift {release}"),
        _ => "this cluster".to_owned(),
    };
    let lines = [
        (
            &not,
            format!(
                "{} {} not apply to {cluster}",
                count(not.len(), "rule"),
                inflected(not.len(), "does", "do")
            ),
        ),
        (
            &unknown,
            format!(
                "{} {} not judged: the recording does not tell what cluster it was",
                count(unknown.len(), "rule"),
                inflected(unknown.len(), "was", "were")
            ),
        ),
    ];
    let lines = lines.into_iter().filter(|(rules, _)| !rules.is_empty());
    for (place, (rules, mut words)) in lines.enumerate() {
        if place == 0 {
            screen.line("")?;
        }
        if !names_rules {
            words.push_str(" (--all lists them)");
        }
        screen.show(&StyledLine::of(Style::Faint, words), 0)?;
        if names_rules {
            for omitted in rules {
                let line = format!("  {}: {}", omitted.about.id, omitted.why);
                screen.show(&StyledLine::of(Style::Faint, line), 4)?;
            }
        }
    }
    Ok(())
}

/// Says how many rules were left out by their class alone.
pub(super) fn print_unselected(suite: &Suite, screen: &mut Console) -> Result<(), CommandError> {
    for (class, rules) in suite.unselected() {
        let (class, rules) = (class.as_str(), count(rules, "rule"));
        screen.aside(format!(
            "{rules} of class {class} not run: --all runs all classes"
        ))?;
    }
    Ok(())
}

fn print_group(
    verdict: CaseVerdict,
    words: &str,
    outcomes: &[&CaseOutcome],
    is_wide: bool,
    screen: &mut Console,
) -> Result<(), CommandError> {
    screen.line("")?;
    let mut head = StyledLine::of(style(verdict), word(verdict));
    let cases = count(outcomes.len(), "case");
    head.push(Style::Plain, format!("{cases}: {words}"));
    screen.show(&head, INDENT)?;
    if is_wide {
        for outcome in outcomes {
            let name = format!("  {}", tail(&outcome.name));
            screen.show(&StyledLine::of(Style::Faint, name), 4)?;
        }
        return Ok(());
    }
    let mut rules: Vec<&str> = outcomes.iter().map(|one| one.about.id.as_str()).collect();
    rules.dedup();
    let rules = format!("  {}", rules.join(", "));
    screen.show(&StyledLine::of(Style::Faint, rules), 2)
}

/// Gives the line.
fn header(reel: &str, report: &RunReport) -> String {
    let mut parts = vec![reel.to_owned()];
    parts.push(match report.span() {
        Some((start, end)) => {
            let to = timetext::within(start, end, end);
            let length = duration(end.micros_since(start));
            format!("{} – {to} ({length})", timetext::rfc3339(start))
        }
        None => "unknown time".to_owned(),
    });
    parts.extend(what_was_done(report));
    let facts = report.facts.last();
    parts.extend(facts.platform.clone());
    parts.extend(facts.topology.clone());
    parts.push(trust(report.trust).to_owned());
    parts.join(" · ")
}

fn what_was_done(report: &RunReport) -> Option<String> {
    let facts = report.facts.last();
    let versions = (facts.from_version.as_deref(), facts.version.as_deref());
    match (report.kind, versions) {
        (RunKind::Stable, (_, version)) => {
            let installed = report.facts.installed();
            let is_install = installed.is_some_and(|at| at > report.start);
            version.map(|version| {
                if is_install {
                    format!("installation of {version}")
                } else {
                    version.to_owned()
                }
            })
        }
        (RunKind::Upgrade, (Some(from), Some(to))) => Some(format!("upgrade {from} → {to}")),
        (RunKind::FailedUpgrade, (Some(from), Some(to))) => {
            Some(format!("failed upgrade {from} → {to}"))
        }
        (kind, _) => Some(kind.as_str().to_owned()),
    }
}

const fn trust(trust: RunTrust) -> &'static str {
    match trust {
        RunTrust::Recorded => "cases are unknown where changes may be missing",
        RunTrust::Imported => AS_IMPORTED,
        RunTrust::Intervals => "a file of intervals: rules that read objects are skipped",
        RunTrust::Damaged => "damaged: unreadable parts are unknown",
    }
}

/// How many recordings have a column of their own.
const COLUMNS_MOST: usize = 8;

/// Prints the table.
pub(super) fn print_matrix(all: &[TestRun], screen: &mut Console) -> Result<(), CommandError> {
    let reports: Vec<Option<&RunReport>> = all.iter().map(|ran| ran.report.as_ref().ok()).collect();
    let rules = notable_rules(&reports);
    screen.line("")?;
    if rules.is_empty() {
        return screen.line("no rule failed, flaked or was unknown in any recording");
    }
    let is_narrow = all.len() <= COLUMNS_MOST;
    let mut table = TextTable::default();
    if is_narrow {
        let numbers = (1..=all.len()).map(|number| number.to_string());
        table.push(std::iter::once("RULE".to_owned()).chain(numbers).collect());
        for rule in rules {
            let cells = reports.iter().map(|report| cell(*report, rule).to_owned());
            table.push(std::iter::once(rule.to_owned()).chain(cells).collect());
        }
    } else {
        let verdicts = CaseVerdict::ALL.map(|verdict| verdict.to_string().to_uppercase());
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
            row.extend(CaseVerdict::ALL.map(|verdict| match ended(verdict) {
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
fn notable_rules<'a>(reports: &[Option<&'a RunReport>]) -> Vec<&'a str> {
    let mut rules: Vec<&str> = Vec::new();
    for report in reports.iter().flatten() {
        for outcome in &report.outcomes {
            let is_dull = matches!(outcome.verdict, CaseVerdict::Pass | CaseVerdict::Skipped);
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
        Some(CaseVerdict::Fail) => "FAIL",
        Some(CaseVerdict::Error) => "ERROR",
        Some(verdict) if verdict.is_flake() => "flake",
        Some(CaseVerdict::Unknown) => "unknown",
        Some(CaseVerdict::Pass) => "pass",
        _ => "-",
    }
}

/// Why an exception is reported.
pub(crate) enum IdleReason {
    /// It covered nothing although a rule of it ran.
    Unused,
    /// It has expired; the number of findings that it would have covered.
    Expired { findings: u64 },
}

/// Finds the user's exceptions that did nothing.
pub(super) fn idle_exceptions<'a>(
    suite: &'a Suite,
    all: &[TestRun],
) -> Vec<(&'a Exception, IdleReason)> {
    let mut uses = Uses::default();
    for report in all.iter().filter_map(|ran| ran.report.as_ref().ok()) {
        uses.add(&report.uses);
    }
    let ids = |tests: Vec<Box<dyn MonitorTest>>| {
        let ids = tests.iter().map(|test| test.about().id.clone());
        ids.collect::<Vec<String>>()
    };
    let (ran, known) = (ids(suite.tests()), ids(suite.every_test()));
    let own = suite.exceptions.all().iter().enumerate();
    let own = own.filter(|(_, exception)| !exception.is_builtin);
    let idle = own.filter_map(|(place, exception)| {
        let count = |counts: &[u64]| counts.get(place).copied().unwrap_or(0);
        let findings = count(&uses.too_late);
        if findings > 0 {
            return Some((exception, IdleReason::Expired { findings }));
        }
        let could_cover = ran.iter().any(|rule| exception.is_about(rule));
        let is_known = known.iter().any(|rule| exception.is_about(rule));
        // What was left out by the choice of rules is not unused.
        (count(&uses.covered) == 0 && (could_cover || !is_known))
            .then_some((exception, IdleReason::Unused))
    });
    idle.collect()
}

/// Says which exceptions did nothing.
pub(super) fn print_idle(
    suite: &Suite,
    all: &[TestRun],
    screen: &mut Console,
) -> Result<(), CommandError> {
    for (exception, idle) in idle_exceptions(suite, all) {
        let at = exception.written_at();
        let words = match idle {
            IdleReason::Unused => "unused exception: it matches no finding".to_owned(),
            IdleReason::Expired { findings } => format!(
                "expired exception: it would have covered {}",
                count(findings, "finding")
            ),
        };
        screen.aside(format!("{at}: {words}"))?;
    }
    Ok(())
}
