//! Owns how requests and the attempts to fetch their payload are printed.

use super::page::{Page, image, lasting, shortened};
use crate::command_error::CommandError;
use crate::spans::{Line, Style};
use crate::words::count;
use kubereel_format::RecordedAt;
use kubereel_history::{HowRequestEnded, Retrieval, Told, UpgradeStory, VersionPod};

/// How many attempts are shown one by one; JSON has all.
const SHOWN: usize = 40;

/// Prints what was asked for.
pub(super) fn requests(page: &mut Page<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    let requests = &story.update.requests;
    let Some(first) = requests.first() else {
        return Ok(());
    };
    // One request that was accepted needs no list.
    let is_plain = requests.len() == 1
        && first
            .end
            .is_some_and(|end| end.how == HowRequestEnded::Accepted)
        && !first.is_forced;
    if is_plain && story.retrievals.attempts.len() < 2 {
        return Ok(());
    }
    page.title("Requests", "")?;
    for request in requests {
        let mut line = Line::default();
        line.push(Style::Strong, format!("  {}", page.at(request.asked)));
        let version = if request.release.version.is_empty() {
            "no version".to_owned()
        } else {
            request.release.version.clone()
        };
        line.push(Style::Plain, format!("  {version}"));
        if !request.release.image.is_empty() {
            line.push(Style::Plain, format!(", {}", image(&request.release.image)));
        }
        if request.is_forced {
            line.push(Style::Wary, ", forced");
        }
        line.push(Style::Faint, format!(", generation {}", request.generation));
        match request.end {
            Some(end) => {
                let style = match end.how {
                    HowRequestEnded::Accepted => Style::Good,
                    HowRequestEnded::Replaced | HowRequestEnded::Withdrawn => Style::Wary,
                };
                line.push(Style::Plain, " · ");
                line.push(style, end.how.as_str());
                line.push(
                    Style::Plain,
                    format!(" {}", page.timeline.written(end.mark.at)),
                );
            }
            None => line.push(Style::Wary, " · not accepted"),
        }
        let hang = page.time_width() + 4;
        page.line(&line, hang)?;
    }
    Ok(())
}

/// Prints the attempts to fetch the payload, if there were any that tell something.
pub(super) fn attempts(page: &mut Page<'_>, story: &UpgradeStory) -> Result<(), CommandError> {
    let retrievals = &story.retrievals;
    let attempts = &retrievals.attempts;
    let failed = attempts.iter().filter(|one| one.has_failed()).count();
    let risks = &story.update.accepted_risks;
    // What was accepted as a risk is told with the release.
    let is_new = |warning: &&Told| risks.is_empty() || !warning.message.ends_with(risks.as_str());
    let warnings: Vec<&Told> = retrievals.warnings.iter().filter(is_new).collect();
    let is_open = attempts.iter().any(|one| one.end.is_none());
    if failed == 0 && retrievals.counted_only == 0 && warnings.is_empty() && !is_open {
        return Ok(());
    }
    let amount = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let mut more = format!(
        "{}, {failed} failed",
        count(amount(attempts.len()), "attempt")
    );
    if retrievals.counted_only > 0 {
        more.extend([format!(
            ", {} more known only from the count of an Event",
            retrievals.counted_only
        )]);
    }
    page.title("Payload", &more)?;
    let pods = attempts.iter().filter_map(|one| one.pod.as_ref());
    let pod_width = pods.map(|pod| pod.name.len()).max().unwrap_or(6).min(24);
    let width = page.time_width();
    page.headers(&format!(
        "  {:<width$}  {:<7} {:<pod_width$} CAUSE · when ClusterVersion reported it",
        "BEGAN", "TOOK", "POD"
    ))?;
    let mut last: Option<(&str, &str)> = None;
    let skipped = attempts.len().saturating_sub(SHOWN);
    for (place, attempt) in attempts.iter().enumerate() {
        // The first ones and the last tell most.
        if place >= SHOWN - 1 && place + 1 < attempts.len() {
            continue;
        }
        if skipped > 0 && place + 1 == attempts.len() {
            let mut line = Line::default();
            line.push(Style::Faint, format!("  … {skipped} more: -o json"));
            page.line(&line, 2)?;
        }
        let cause = attempt.cause();
        let is_again = cause.is_some() && cause == last;
        last = cause;
        one(page, attempt, cause, is_again, story.now, pod_width)?;
    }
    for warning in warnings {
        let mut line = Line::default();
        line.push(Style::Strong, format!("  {}", page.at(warning.mark)));
        line.push(Style::Wary, format!("  {}: ", warning.reason));
        line.push(Style::Plain, shortened(&warning.message));
        let hang = page.time_width() + 4;
        page.line(&line, hang)?;
    }
    Ok(())
}

fn one(
    page: &mut Page<'_>,
    attempt: &Retrieval,
    cause: Option<(&str, &str)>,
    is_again: bool,
    now: RecordedAt,
    pod_width: usize,
) -> Result<(), CommandError> {
    let mut line = Line::default();
    let end = attempt.end.as_ref().map(|end| end.mark);
    let shown = attempt.began.or(end);
    let at = shown.map_or_else(String::new, |mark| page.at(mark));
    line.push(Style::Strong, format!("  {at}"));
    let took = attempt.began.map_or_else(
        || "?".to_owned(),
        |began| {
            let to = end.map_or(now, |end| end.at);
            let micros = u64::try_from(to.micros_since(began.at)).unwrap_or_default();
            lasting(micros, end.is_some())
        },
    );
    let pod = attempt.pod.as_ref();
    let name = pod.map_or("no Pod", |pod| pod.name.as_str());
    line.push(Style::Plain, format!("  {took:<7} {name:<pod_width$}"));
    match (&attempt.end, cause) {
        (Some(_), Some(_)) if is_again => line.push(Style::Bad, " same cause"),
        (Some(_), Some((word, message))) => {
            line.push(Style::Bad, format!(" {word}: "));
            line.push(Style::Plain, shortened(message));
        }
        (Some(_), None) => line.push(Style::Good, " loaded"),
        (None, _) => line.push(Style::Wary, " end not observed"),
    }
    if attempt.has_failed() {
        match &attempt.told {
            Some(told) => {
                let at = page.timeline.written(told.mark.at);
                line.push(Style::Faint, format!(" · reported {at}"));
            }
            None => line.push(Style::Faint, " · not reported"),
        }
    }
    let hang = page.time_width() + 4;
    page.line(&line, hang)?;
    pod.map_or(Ok(()), |pod| states(page, pod, hang))
}

/// Prints what a Pod went through, each state once: how often, and when first.
fn states(page: &mut Page<'_>, pod: &VersionPod, hang: usize) -> Result<(), CommandError> {
    let mut words: Vec<(&str, usize, RecordedAt)> = Vec::new();
    for state in &pod.states {
        match words.iter_mut().find(|(word, _, _)| *word == state.word) {
            Some((_, times, _)) => *times += 1,
            None => words.push((&state.word, 1, state.mark.at)),
        }
    }
    // The way of every Pod that fails at once is told by its cause.
    if words.iter().all(|(_, times, _)| *times == 1) {
        return Ok(());
    }
    let parts: Vec<String> = words
        .into_iter()
        .map(|(word, times, at)| {
            let at = page.timeline.written(at);
            if times > 1 {
                format!("{word} {times} times from {at}")
            } else {
                format!("{word} {at}")
            }
        })
        .collect();
    let mut line = Line::default();
    let indent = " ".repeat(hang);
    line.push(Style::Faint, format!("{indent}{}", parts.join(", ")));
    page.line(&line, hang)
}
