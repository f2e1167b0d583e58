//! Owns the answers that programs read: one JSON object.

use super::targets::Target;
use super::{Question, exit};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::field_text;
use crate::screen::Screen;
use kubereel_history::{Authors, WaitAnswer, WaitStep, WaitVerdict, timetext};
use serde_json::{Value, json};

/// Prints the answers.
pub(super) fn print(
    question: &Question,
    answers: &[(&Target<'_>, WaitAnswer)],
    screen: &mut Screen,
) -> Result<(), CommandError> {
    screen.line(r#"{"objects":["#)?;
    for (left, (target, waited)) in (0..answers.len()).rev().zip(answers) {
        let comma = if left == 0 { "" } else { "," };
        let object = written(question, target, waited);
        screen.line(format_args!("{object}{comma}"))?;
    }
    screen.line("]}")
}

fn written(question: &Question, target: &Target<'_>, waited: &WaitAnswer) -> Value {
    let answer = match exit(question, &waited.verdict) {
        Exit::Yes => "yes",
        Exit::Unknown => "unknown",
        _ => "no",
    };
    let (verdict, problem, failed_at) = match &waited.verdict {
        WaitVerdict::Met => ("met", None, None),
        WaitVerdict::NotMet => ("not met", None, None),
        WaitVerdict::Unknown => ("unknown", None, None),
        WaitVerdict::Refused { at, problem } => ("error", Some(problem), Some(*at)),
        WaitVerdict::Failed { goal, at } => ("failed", Some(goal), Some(*at)),
    };
    let guarantee = match (waited.missed.is_empty(), waited.is_imported) {
        (true, true) => "as imported",
        (true, false) => "exact",
        (false, _) => "may have missed states",
    };
    let missed: Vec<Value> = waited
        .missed
        .iter()
        .map(|missed| {
            json!({
                "from": timetext::rfc3339(missed.from),
                "to": timetext::rfc3339(missed.to),
                "why": missed.why.as_str(),
            })
        })
        .collect();
    let steps: Vec<Value> = waited.steps.iter().map(step).collect();
    json!({
        "resource": target.resource.qualified(),
        "namespace": target.namespace,
        "name": target.name,
        "from": timetext::rfc3339(target.span.from.at),
        "to": timetext::rfc3339(target.span.to.at),
        "answer": answer,
        "verdict": verdict,
        "problem": problem,
        "failed_at": failed_at.map(timetext::rfc3339),
        "guarantee": guarantee,
        "unchanged_gaps": waited.bridged_gaps,
        "missed": missed,
        "met": steps,
    })
}

fn step(step: &WaitStep) -> Value {
    let secs = |micros: u64| field_text::secs(i64::try_from(micros).unwrap_or(i64::MAX));
    let writers = match &step.authors {
        Authors::Unknown => None,
        known => Some(known.writers()),
    };
    let writers: Option<Vec<Value>> =
        writers.map(|writers| writers.iter().map(field_text::writer_json).collect());
    json!({
        "for": step.goal,
        "at": timetext::rfc3339(step.at),
        "since": timetext::rfc3339(step.since),
        "not_before": step.not_before.map(timetext::rfc3339),
        "until": step.until.map(timetext::rfc3339),
        "lasts_to_end": step.lasts_to_end,
        "seq": step.seq.map(|seq| seq.0),
        "rv": step.rv,
        "writers": writers,
        "met_secs": secs(step.met_micros),
        "longest_secs": secs(step.longest_micros),
    })
}
