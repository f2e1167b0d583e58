//! Owns how evidence becomes a finding: severity, reason and message. Refuses to look for evidence.

use super::choose::set_moment;
use crate::cel::{Fault, Slots, Val};
use crate::interval::Interval;
use crate::rule::{Check, Template, TemplatePart as Part, place};
use crate::verdict::{Finding, Scene, Severity, Subject};
use kubereel_format::{RecordedAt, Seq};
use std::fmt::Write as _;

/// How long a message may be, in characters.
const MAX_CHARS: usize = 4000;

/// When something was, and how often.
#[derive(Clone, Debug)]
pub(super) struct Span<'a> {
    pub(super) from: RecordedAt,
    /// When it ended; `None` if it did not.
    pub(super) to: Option<RecordedAt>,
    pub(super) count: Option<Val<'a>>,
    pub(super) seq: Option<Seq>,
}

impl Span<'_> {
    /// Gives the span of an interval.
    pub(super) const fn of(interval: &Interval) -> Self {
        Self {
            from: interval.from,
            to: interval.to,
            count: None,
            seq: interval.seq,
        }
    }
}

/// What a predicate saw, and what it is about.
pub(super) struct Evidence<'a> {
    pub(super) slots: Slots<'a>,
    pub(super) subject: Subject,
}

/// Makes a finding; and says what was wrong with the rule, if something was.
pub(super) fn finding<'a>(
    check: &'a Check,
    evidence: Evidence<'a>,
    span: Span<'a>,
    places: Val<'a>,
    also: &Val<'a>,
    scene: &Scene<'a>,
) -> (Finding, Option<String>) {
    let Evidence { mut slots, subject } = evidence;
    let to = span.to.unwrap_or(scene.intervals.end());
    set_moment(&mut slots, scene, span.from);
    slots.set(place::FROM, Some(Val::time(span.from)));
    slots.set(place::TO, Some(Val::time(to)));
    let duration = to.micros.saturating_sub(span.from.micros);
    slots.set(place::DURATION, Some(Val::Span(duration)));
    slots.set(place::COUNT, span.count);
    slots.set(place::PLACE, Some(places));
    slots.set(place::ALSO, Some(also.clone()));
    let mut wrong = None;
    let mut severity = check.severity;
    if let Some(flake_if) = &check.flake_if {
        match flake_if.truth(&slots) {
            Ok(true) => severity = Severity::Flake,
            // What is not known does not excuse.
            Ok(false) | Err(Fault::Absent { .. }) => {}
            Err(Fault::Wrong { what }) => wrong = Some(format!("`flakeIf`: {what}")),
        }
    }
    let mut written = |template: &'a Template| written(template, &slots, &mut wrong);
    let reason = check.reason.as_ref().map(&mut written).unwrap_or_default();
    let message = written(&check.message);
    let finding = Finding {
        subject,
        severity,
        from: span.from,
        to: span.to,
        reason,
        message,
        seq: span.seq,
    };
    (finding, wrong)
}

/// Fills in a text.
fn written<'a>(template: &'a Template, slots: &Slots<'a>, wrong: &mut Option<String>) -> String {
    let mut text = String::new();
    for part in &template.parts {
        match part {
            Part::Text(plain) => text.push_str(plain),
            Part::Cel(program) => match program.value(slots) {
                Ok(value) => {
                    // Writing to a text does not fail.
                    let _written = write!(text, "{value}");
                }
                Err(Fault::Absent { .. }) => text.push_str("(absent)"),
                Err(Fault::Wrong { what }) => {
                    text.push_str("(wrong)");
                    wrong.get_or_insert_with(|| format!("`{}`: {what}", program.text));
                }
            },
        }
    }
    if let Some((end, _)) = text.char_indices().nth(MAX_CHARS) {
        text.truncate(end);
        text.push('…');
    }
    text
}
