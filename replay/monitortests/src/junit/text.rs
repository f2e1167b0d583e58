//! Owns the words inside a failure: every finding with its time, and the command that shows it. Refuses
//! more of them than a reader can hold.

use crate::evidence::{RunName, shown_by, told};
use crate::outcome::{Judged, Outcome, Verdict};
use kubereel_history::timetext;

/// How many findings are told one by one.
const FINDINGS_MOST: usize = 100;
/// How many letters of one finding are told.
const LETTERS_MOST: usize = 4000;

/// Gives the first line of a failure: what was found first, and how much more there is.
pub(super) fn headline(run: &RunName<'_>, outcome: &Outcome) -> String {
    if let (Verdict::Error, Some(why)) = (outcome.verdict, &outcome.why) {
        return format!("error: {}", short(why));
    }
    let mut evidence = outcome.evidence();
    let first = evidence.next();
    let first = first.map_or_else(String::new, |judged| short(&told(run, &judged.finding)));
    match evidence.count() {
        0 => first,
        more => format!("{first} (and {more} more)"),
    }
}

/// Gives the whole text of a failure.
pub(super) fn body(run: &RunName<'_>, outcome: &Outcome) -> String {
    let mut lines = Vec::new();
    let from = timetext::rfc3339(run.start);
    let to = timetext::rfc3339(run.end);
    lines.push(format!(
        "{} · rule {} · {from} – {to}",
        outcome.verdict, outcome.about.id
    ));
    lines.push(outcome.about.description.clone());
    if let Some(why) = &outcome.why {
        lines.push(short(why));
    }
    for judged in outcome.findings.iter().take(FINDINGS_MOST) {
        lines.push(String::new());
        lines.push(short(&told(run, &judged.finding)));
        lines.extend(excused(judged).map(|line| format!("    {line}")));
        lines.extend(shown_by(run, &judged.finding).map(|line| format!("    {line}")));
    }
    let more = outcome.findings.len().saturating_sub(FINDINGS_MOST);
    if more > 0 {
        lines.push(format!("\nand {more} more"));
    }
    for dark in outcome.dark.iter().take(FINDINGS_MOST) {
        let (from, to) = (run.written(dark.from), run.written(dark.to));
        lines.push(format!("not seen {from} – {to}: {}", dark.why));
    }
    lines.join("\n")
}

/// Tells by what a finding is excepted.
fn excused(judged: &Judged) -> Option<String> {
    let excuse = judged.excuse.as_ref()?;
    let words = [excuse.link.as_str(), excuse.why.as_str()];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    Some(format!(
        "excepted ({}): {} [{}]",
        excuse.state.as_str(),
        words.join(", "),
        excuse.written_at
    ))
}

/// Gives why a case has no verdict.
pub(super) fn why_not_judged(run: &RunName<'_>, outcome: &Outcome) -> String {
    match (outcome.verdict, outcome.dark.first()) {
        (Verdict::Unknown, Some(dark)) => {
            let (from, to) = (run.written(dark.from), run.written(dark.to));
            let more = match outcome.dark.len() {
                0 | 1 => String::new(),
                all => format!(" (and {} more times)", all - 1),
            };
            format!("unknown: not seen {from} – {to}: {}{more}", dark.why)
        }
        _ => outcome.why.clone().unwrap_or_default(),
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(LETTERS_MOST) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}
