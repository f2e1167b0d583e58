//! Owns the comparison of all resources: which of them have a state at both moments. Refuses to fail
//! for one of them: what is not known is named.

use super::{Compared, End, Pair, Question, pair};
use crate::command::get::header;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::screen::Screen;
use crate::words::count;
use kubereel_format::{RecordedAt, ResourceInfo};
use kubereel_history::{Certainty, Cut, Timeline, timetext};
use std::collections::BTreeMap;

/// How many resources are named one by one.
const NAMED: usize = 5;

/// Asks for both states of every resource.
pub(super) fn compared<'a>(
    timeline: &'a Timeline,
    question: &Question,
    cuts: (Cut, Cut),
    screen: &mut Screen,
) -> Result<Compared<'a>, CommandError> {
    // A resource that was recorded in several versions is one resource.
    let resources: BTreeMap<String, &ResourceInfo> = timeline
        .resources()
        .iter()
        .filter(|info| info.namespaced || question.namespace.is_none())
        .map(|info| (info.qualified(), info))
        .collect();
    let mut pairs = Vec::new();
    let mut unknown = Vec::new();
    for (name, info) in resources {
        let pair = pair(timeline, question, info, cuts, &[])?;
        let without = [&pair.states.0, &pair.states.1]
            .into_iter()
            .find(|state| !state.certainty.has_state());
        match without.map(|state| state.certainty.clone()) {
            Some(certainty) => unknown.push((name, certainty)),
            None => pairs.push(pair),
        }
    }
    if pairs.is_empty() {
        return Err(nothing_known(timeline));
    }
    say(timeline, End::From, cuts.0, &pairs, screen)?;
    say(timeline, End::To, cuts.1, &pairs, screen)?;
    if !unknown.is_empty() {
        let names = unknown.iter().map(|(name, _)| name.as_str());
        let line = format!("not known at both moments: {}", named(names, unknown.len()));
        screen.aside(screen.err_paint().wary(&line))?;
    }
    Ok(Compared { pairs, unknown })
}

fn nothing_known(timeline: &Timeline) -> CommandError {
    if !timeline.reel().damage().is_empty() {
        return CommandError::new(
            Exit::Reel,
            "no resource is known at both moments in the readable part of the reel",
        )
        .hint("to see where it is damaged: kubereel info REEL");
    }
    let error = CommandError::new(Exit::Unknown, "no resource is known at both moments");
    let first = timeline
        .first_complete()
        .and_then(|seq| timeline.reel().stamp(seq));
    match first {
        Some(first) => {
            let first = timeline.written(first.wall);
            error.hint(format!("the first complete list was received at {first}"))
        }
        None => error,
    }
}

/// Gives the time of a moment: of a resourceVersion, the latest of any resource.
fn wall(timeline: &Timeline, end: End, cut: Cut, pairs: &[Pair<'_>]) -> RecordedAt {
    match cut {
        Cut::Arrival { wall, .. } => wall,
        Cut::Revision(_) => {
            let times = pairs.iter().map(|pair| pair.state(end).at);
            times.max().unwrap_or(timeline.start())
        }
    }
}

/// Says when a moment was and how far the states there can be trusted.
fn say(
    timeline: &Timeline,
    end: End,
    cut: Cut,
    pairs: &[Pair<'_>],
    screen: &mut Screen,
) -> Result<(), CommandError> {
    let at = wall(timeline, end, cut, pairs);
    let word = match end {
        End::From => "from",
        End::To => "to",
    };
    let mut unsure: BTreeMap<&str, Vec<&Pair<'_>>> = BTreeMap::new();
    for pair in pairs {
        if let Some(kind) = kind(&pair.state(end).certainty) {
            unsure.entry(kind).or_default().push(pair);
        }
    }
    let paint = screen.err_paint();
    let offset = timetext::offset(at.micros_since(timeline.start()));
    let mut line = format!("{word:<4} {} ({offset})", timeline.written(at));
    if unsure.is_empty() {
        let amount = u64::try_from(pairs.len()).unwrap_or(u64::MAX);
        let all = format!("{}, complete", count(amount, "resource"));
        line = format!("{line} · {}", paint.good(&all));
    }
    for (kind, whose) in unsure {
        let names = whose.iter().map(|pair| pair.after.resource.qualified());
        let names: Vec<String> = names.collect();
        let text = match whose.as_slice() {
            [only] => {
                let trust = header::trust(timeline, &only.state(end).certainty);
                format!("{}: {trust}", names.concat())
            }
            whose if whose.len() == pairs.len() => kind.to_owned(),
            whose => format!(
                "{kind}: {}",
                named(names.iter().map(String::as_str), whose.len())
            ),
        };
        line = format!("{line} · {}", paint.wary(&text));
    }
    screen.aside(line)
}

/// Says in a few words why a state may differ; `None` if it is proven.
const fn kind(certainty: &Certainty) -> Option<&'static str> {
    match certainty {
        Certainty::Known { .. } => None,
        Certainty::Imported { .. } => Some("as imported: completeness is unknown"),
        Certainty::InsideGap { .. } => Some("inside a gap"),
        Certainty::Unobserved { .. } => Some("not observed"),
        Certainty::Blind { .. } => Some("no watch ran"),
        Certainty::Damaged { .. } => Some("the reel is damaged"),
        Certainty::AfterLast { .. } => Some("after the last known state"),
        Certainty::NotCovered { .. } | Certainty::BeforeFirst { .. } => Some("not known"),
    }
}

fn named<'a>(names: impl Iterator<Item = &'a str>, total: usize) -> String {
    let shown: Vec<&str> = names.take(NAMED).collect();
    let rest = total.saturating_sub(shown.len());
    let shown = shown.join(", ");
    if rest == 0 {
        shown
    } else {
        format!("{shown} and {rest} more")
    }
}
