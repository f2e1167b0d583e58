//! Owns the line that says when an answer is from and how far it can be trusted.

use crate::screen::Paint;
use kubereel_history::{Certainty, State, Timeline, timetext};

/// Writes the line: `at 14:02:31.480Z (+41m12s, rv 118204) · complete`.
pub(crate) fn line(timeline: &Timeline, state: &State, rv: Option<u128>, paint: Paint) -> String {
    let at = timeline.written(state.at);
    let offset = timetext::offset(state.at.micros_since(timeline.start()));
    let rv = rv.map_or_else(String::new, |rv| format!(", rv {rv}"));
    let trust = trust(timeline, &state.certainty);
    let trust = if state.certainty.is_proven() {
        paint.good(&trust)
    } else {
        paint.wary(&trust)
    };
    format!("at {at} ({offset}{rv}) · {trust}")
}

/// Says how far a state can be trusted.
pub(crate) fn trust(timeline: &Timeline, certainty: &Certainty) -> String {
    let written = |at| timeline.written(at);
    match certainty {
        Certainty::Known { silent_since: None } => "complete".to_owned(),
        Certainty::Known {
            silent_since: Some(since),
        } => format!(
            "complete; last message from the server at {}",
            written(*since)
        ),
        Certainty::Imported { .. } => "as imported: completeness is unknown".to_owned(),
        Certainty::InsideGap { gap } => format!(
            "inside a gap {}–{}: may differ ({})",
            written(gap.from_time),
            written(gap.to_time),
            gap.cause.as_str()
        ),
        Certainty::Unobserved { from, to, reason } => {
            let to = to.map_or_else(|| "the end".to_owned(), written);
            format!(
                "not observed {}–{to}: may differ ({reason})",
                written(*from)
            )
        }
        Certainty::Blind { from, to: Some(to) } => format!(
            "no watch ran {}–{}: changes of that time were received later",
            written(*from),
            written(*to)
        ),
        Certainty::Blind { from, to: None } => {
            format!("no watch ran since {}: may differ", written(*from))
        }
        Certainty::Damaged { damage } => {
            format!(
                "the reel is damaged at {}: may differ ({})",
                damage.place, damage.cause
            )
        }
        Certainty::AfterLast { last } => {
            format!("after the last known state, {}: may differ", written(*last))
        }
        Certainty::NotCovered { reason, detail } => {
            format!("not recorded: {} {detail}", reason.as_str())
        }
        Certainty::BeforeFirst { .. } => "before the first known state".to_owned(),
    }
}
