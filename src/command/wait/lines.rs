//! Owns the lines that people read: kubectl's, each with the moment, and below it how sure it is.

use super::Question;
use super::targets::Target;
use crate::command_error::CommandError;
use crate::field_text;
use crate::screen::Screen;
use kubereel_history::harmless;
use kubereel_history::{
    Missed, MissedWhy, Timeline, WaitStep, WaitVerdict, Waited, name_of, timetext,
};

/// How many times of which nothing is known are named one by one; JSON has all.
const SHOWN_MISSED: usize = 5;

/// What is said where the order of changes to objects of several resources decides.
const ORDER: &str =
    "the order is exact within a resource; between resources it is the order of arrival";

/// Prints the answers: what was met to stdout, all else to stderr.
pub(super) fn print(
    timeline: &Timeline,
    question: &Question,
    answers: &[(&Target<'_>, Waited)],
    screen: &mut Screen,
) -> Result<(), CommandError> {
    for (target, waited) in answers {
        let name = name_of(target.resource, &target.name);
        for step in &waited.steps {
            let line = met(timeline, &name, step, waited, question);
            screen.line(harmless(&line))?;
            screen.aside(harmless(&format!("  {}", held(timeline, step))))?;
        }
        if let Some(line) = verdict(timeline, question, target, waited, &name) {
            if question.never && waited.verdict == WaitVerdict::NotMet {
                screen.line(harmless(&line))?;
            } else {
                screen.aside(harmless(&line))?;
            }
        }
        let place = if question.which.all_namespaces && !target.namespace.is_empty() {
            format!("-n {} · ", target.namespace)
        } else {
            String::new()
        };
        let line = format!("  {place}{}", guarantee(timeline, waited));
        screen.aside(harmless(&line))?;
    }
    if spans_resources(question, answers) {
        screen.aside(ORDER)?;
    }
    Ok(())
}

/// Tells whether what came when matters between resources.
fn spans_resources(question: &Question, answers: &[(&Target<'_>, Waited)]) -> bool {
    let mut resources = answers.iter().map(|(target, _)| target.resource.id);
    let first = resources.next();
    let has_others = resources.any(|id| Some(id) != first);
    let goals = || question.goals.iter().chain(&question.fail_on);
    let has = |is_momentary| goals().any(|goal| goal.is_momentary() == is_momentary);
    let has_both = has(true) && has(false);
    (has_others && question.sequential) || has_both
}

fn met(
    timeline: &Timeline,
    name: &str,
    step: &WaitStep,
    waited: &Waited,
    question: &Question,
) -> String {
    let at = timeline.written(step.at);
    let is_many = question.goals.len() > 1 || waited.steps.len() > 1;
    let which = if is_many {
        format!(" ({})", step.goal)
    } else {
        String::new()
    };
    format!("{name} condition met at {at}{which}")
}

/// Says by whom it was met, since when, and for how long.
fn held(timeline: &Timeline, step: &WaitStep) -> String {
    let mut parts = Vec::new();
    let offset = timetext::offset(step.at.micros_since(timeline.start()));
    parts.push(offset);
    if step.at != step.since {
        parts.push(format!("since {}", timeline.written(step.since)));
    }
    if let Some(before) = step.not_before {
        let (before, since) = (timeline.written(before), timeline.written(step.since));
        parts.push(format!(
            "between {before} (last seen not met) and {since} (first seen met)"
        ));
    }
    if !step.rv.is_empty() {
        parts.push(format!("rv {}", step.rv));
    }
    let writers = step.authors.writers();
    if !writers.is_empty() {
        parts.push(format!("by {}", field_text::managers(writers)));
    }
    let (total, longest) = (step.met_micros, step.longest_micros);
    // What is met at a moment only, as an Event is, does not last.
    if total > 0 {
        if let Some(until) = step.until {
            parts.push(format!("until {}", timeline.written(until)));
        } else if step.lasts_to_end {
            parts.push("to the end".to_owned());
        }
        let all = timetext::span(total);
        parts.push(if total == longest {
            format!("met for {all}")
        } else {
            let longest = timetext::span(longest);
            format!("met for {all} in total, {longest} at the longest")
        });
    }
    parts.join(" · ")
}

fn verdict(
    timeline: &Timeline,
    question: &Question,
    target: &Target<'_>,
    waited: &Waited,
    name: &str,
) -> Option<String> {
    Some(match &waited.verdict {
        WaitVerdict::Met if question.never => {
            format!("error: {name} met the condition, despite --never")
        }
        WaitVerdict::Met => return None,
        WaitVerdict::NotMet if question.never => format!("{name} condition never met"),
        WaitVerdict::NotMet if question.timeout == Some(0) => {
            format!("error: condition not met for {name}")
        }
        WaitVerdict::NotMet => {
            let to = timeline.written(target.span.to.at);
            let resource = &target.resource.plural;
            let name = &target.name;
            format!(
                "error: timed out waiting for the condition on {resource}/{name}: not met by {to}"
            )
        }
        WaitVerdict::Unknown => {
            format!("error: unknown whether {name} met the condition: it may have, unobserved")
        }
        WaitVerdict::Refused { at, problem } => {
            format!("error: {name} at {}: {problem}", timeline.written(*at))
        }
        WaitVerdict::Failed { goal, at } => {
            format!(
                "error: {name} met {goal} at {} first",
                timeline.written(*at)
            )
        }
    })
}

/// Says how far the answer can be trusted.
pub(super) fn guarantee(timeline: &Timeline, waited: &Waited) -> String {
    if waited.missed.is_empty() {
        if waited.is_imported {
            return "as imported: completeness is unknown".to_owned();
        }
        return exact(waited.bridged_gaps).to_owned();
    }
    let shown = waited.missed.iter().take(SHOWN_MISSED);
    let mut parts: Vec<String> = shown.map(|missed| missing(timeline, missed)).collect();
    let rest = waited.missed.len().saturating_sub(SHOWN_MISSED);
    if rest > 0 {
        parts.push(format!("and {rest} more times: -o json"));
    }
    parts.join("; ")
}

const fn exact(bridged_gaps: usize) -> &'static str {
    match bridged_gaps {
        0 => "exact: every recorded change seen",
        1 => "exact: unchanged across the gap",
        _ => "exact: unchanged across the gaps",
    }
}

fn missing(timeline: &Timeline, missed: &Missed) -> String {
    let (from, to) = (timeline.written(missed.from), timeline.written(missed.to));
    if missed.from == missed.to {
        return format!("not known at {from} ({})", missed.why.as_str());
    }
    match missed.why {
        MissedWhy::Gap => format!("may have missed states between {from} and {to}"),
        MissedWhy::NotObserved => format!("not observed between {from} and {to}"),
        MissedWhy::RecordingEnded => format!("recording ends at {from}"),
        MissedWhy::Unreadable => format!("unreadable between {from} and {to}"),
        MissedWhy::Redacted => format!("value redacted between {from} and {to}"),
    }
}
