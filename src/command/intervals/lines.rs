//! Owns the lines that people read: when, how long, how bad, who says it, about what, and what. Refuses
//! keys that only programs need, unless they are asked for.

use super::opened::Opened;
use crate::command::history::lines::show;
use crate::command_error::CommandError;
use crate::screen::Screen;
use crate::spans::{Line, Style};
use kubereel_history::timetext;
use kubereel_monitortests::{Interval, Intervals, Level, Locator, source};
use std::collections::BTreeMap;

/// Keys that say nothing to a person.
const HIDDEN: [&str; 4] = ["uid", "mirror-uid", "hmsg", "row"];
/// Annotations that stand elsewhere in the line.
const TOLD: [&str; 9] = [
    "reason",
    "cause",
    "condition",
    "status",
    "constructed",
    "from",
    "to",
    "holder",
    "previousHolder",
];

/// Prints intervals, in their order.
pub(super) fn print(
    opened: &Opened,
    asked: &[&Interval],
    is_wide: bool,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    let intervals = &opened.intervals;
    let time_width = asked
        .iter()
        .map(|one| when(intervals, one).len())
        .max()
        .unwrap_or(0);
    let source_width = asked.iter().map(|one| one.source.as_str().chars().count());
    let columns = Columns {
        time: time_width.max("TIME".len()),
        lasts: 12,
        source: source_width.max().unwrap_or(0).max("SOURCE".len()),
        is_wide,
    };
    screen.line(columns.headers())?;
    for one in asked {
        show(screen, &columns.line(intervals, one))?;
    }
    Ok(())
}

struct Columns {
    time: usize,
    lasts: usize,
    source: usize,
    is_wide: bool,
}

impl Columns {
    fn headers(&self) -> String {
        let Self {
            time,
            lasts,
            source,
            ..
        } = *self;
        format!(
            "{:<time$}   {:<lasts$}   LEVEL     {:<source$}   WHAT",
            "TIME", "LASTS", "SOURCE"
        )
    }

    fn line(&self, intervals: &Intervals, one: &Interval) -> Line {
        let Self {
            time,
            lasts,
            source,
            ..
        } = *self;
        let mut line = Line::default();
        line.push(Style::Strong, format!("{:<time$}   ", when(intervals, one)));
        let length = length(intervals, one);
        let style = if one.to.is_none() {
            Style::Wary
        } else {
            Style::Plain
        };
        line.push(style, format!("{length:<lasts$}   "));
        let is_gap = one.source.as_str() == source::RECORDING_GAP;
        let style = match one.level {
            _ if is_gap => Style::Wary,
            Level::Info => Style::Plain,
            Level::Warning => Style::Wary,
            Level::Error => Style::Bad,
        };
        line.push(style, format!("{:<7}   ", one.level.as_str()));
        line.push(Style::Plain, format!("{:<source$}   ", one.source.as_str()));
        let about = if self.is_wide {
            one.locator.to_string()
        } else {
            short(&one.locator)
        };
        line.push(Style::Strong, about);
        line.push(Style::Plain, "  ");
        line.push(Style::Plain, words(one, self.is_wide));
        line
    }
}

fn when(intervals: &Intervals, one: &Interval) -> String {
    timetext::within(intervals.start(), intervals.end(), one.from)
}

/// Gives how long it lasts: nothing for an instant, and for what is open, until the end of the run.
fn length(intervals: &Intervals, one: &Interval) -> String {
    let micros = one.micros(intervals.end());
    let span = timetext::span(u64::try_from(micros).unwrap_or(0));
    match one.to {
        None => format!("{span} open"),
        Some(_) if one.is_instant() => "-".to_owned(),
        Some(_) => span,
    }
}

fn short(locator: &Locator) -> String {
    let keys = locator.keys.iter();
    let keys = keys.filter(|(key, _)| !HIDDEN.contains(&key.as_ref()));
    let keys = keys.map(|(key, value)| (key.as_ref(), value.as_ref()));
    Locator::new(&locator.kind, keys).to_string()
}

fn words(one: &Interval, is_wide: bool) -> String {
    let message = &one.message;
    if is_wide {
        return message.to_string();
    }
    let human = message.human.trim();
    let mut said: Vec<String> = Vec::new();
    // Upstream's words for a version's condition begin with the condition.
    if !human.starts_with("changed to ") && !human.starts_with("stayed in ") {
        if let Some(condition) = message.annotation("condition") {
            let status = message.annotation("status").unwrap_or_default();
            said.push(format!("{condition}={status}"));
        }
        said.push(match message.cause.as_ref() {
            "" => message.reason.to_string(),
            cause => format!("{} ({cause})", message.reason),
        });
    }
    said.push(human.to_owned());
    said.retain(|part| !part.is_empty());
    let rest: BTreeMap<&str, &str> = message
        .annotations
        .iter()
        .map(|(name, value)| (name.as_ref(), value.as_ref()))
        .filter(|(name, value)| !TOLD.contains(name) && !value.is_empty())
        .filter(|(name, _)| !name.ends_with("Timestamp"))
        .collect();
    let mut text = said.join(": ");
    if !rest.is_empty() {
        let rest: Vec<String> = rest
            .into_iter()
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        text.push_str(if text.is_empty() { "" } else { " " });
        text.push('(');
        text.push_str(&rest.join(", "));
        text.push(')');
    }
    text
}
