//! The list of problems, and the details of the selected one. A list that is not complete says so, and a
//! reel that was not examined is never called healthy.

use super::pen::{ScreenPen, columns, distinct};
use crate::answer::{Ink, problem_lines};
use crate::findings::JudgingState;
use crate::lane::LaneState;
use crate::layout::{broken, first_row};
use crate::model::{LanePass, OpenReel};
use crate::problem::{ProblemEntry, ProblemTally};
use crate::theme::StyleRole;
use crate::time::{clock_secs, clock_text, span_text};
use kubereel_history::counttext::{count, inflected};
use kubereel_history::{harmless, timetext};
use unicode_width::UnicodeWidthStr as _;

/// With fewer columns, time and kind show below the list only.
const NARROWEST_ROW: u16 = 60;
/// With fewer columns, the duration shows below the list only.
const NARROWEST_LONG: u16 = 100;

/// With fewer rows than this, only one says what the list lacks.
const LOW: u16 = 12;

/// Draws them.
pub(super) fn draw(open: &OpenReel, chosen: usize, pen: &mut ScreenPen<'_>) {
    let trouble = &open.trouble;
    let count = trouble.count();
    let counts = counts(open);
    let order = if trouble.is_by_time {
        "by time"
    } else {
        "by severity"
    };
    let width = usize::from(pen.area.width.saturating_sub(2));
    let mut top = draw_story(open, count == 0, pen);
    let does = if count == 0 {
        ""
    } else {
        " · enter goes there"
    };
    pen.head(top, &format!("PROBLEMS {counts} · {order}{does}"));
    top += 1;
    let missing = missing(open);
    let unknown = pen.theme.state(LaneState::Unknown);
    if !missing.is_empty() {
        // Where there is little room, the list matters more than why it is not whole.
        let most = if pen.area.height < LOW { 1 } else { 3 };
        let rows = broken(&missing, width);
        let is_cut = rows.len() > most;
        for row in rows.into_iter().take(most) {
            pen.text(1, top, row, unknown);
            top += 1;
        }
        if is_cut {
            pen.right(top - 1, "…", unknown);
        }
    }
    if let Some(words) = summary(open).filter(|_| count > 0) {
        let strong = pen.role(StyleRole::Strong);
        pen.text(1, top, &words, strong);
        top += 1;
    }
    if count == 0 {
        for (ink, words) in nothing(open) {
            let style = pen.theme.ink(ink);
            top = pen.wrapped(1, top, &words, style);
        }
        return;
    }
    let left = pen.area.height.saturating_sub(top);
    let below = (left * 2 / 5).clamp(left.min(4), 14);
    let height = left.saturating_sub(below);
    let first = first_row(chosen, count, height);
    let rows = (first..count).take(usize::from(height));
    let entries: Vec<(usize, &ProblemEntry)> = rows
        .filter_map(|row| Some((row, trouble.row(row)?)))
        .collect();
    let names: Vec<String> = entries
        .iter()
        .map(|(_, entry)| brief(open, entry))
        .collect();
    let columns = RowColumns::of(open, &entries, &names, pen.area.width);
    let names = distinct(&names, usize::from(columns.name));
    for (y, ((row, entry), name)) in (top..).zip(entries.iter().zip(&names)) {
        let is_chosen = *row == chosen;
        draw_row(open, entry, (y, name), &columns, is_chosen, pen);
    }
    if let Some(entry) = trouble.row(chosen) {
        details(open, entry, top + height, pen);
    }
}

/// Says how many problems there are, and what else the list has.
fn counts(open: &OpenReel) -> String {
    let Some(all) = &open.trouble.problems else {
        return "0".to_owned();
    };
    let ProblemTally { problems, others } = all.tally();
    let hidden = match all.rest {
        0 => String::new(),
        rest => format!(", {rest} not listed"),
    };
    match others {
        0 => format!("{problems}{hidden}"),
        others => {
            let findings = inflected(others, "finding", "findings");
            format!("{problems} · {others} other {findings}{hidden}")
        }
    }
}

/// Says what the list lacks; empty if nothing.
fn missing(open: &OpenReel) -> String {
    let pass = match &open.pass {
        LanePass::Under { done } => {
            let all = open.timeline.reel().end().0.max(1);
            let percent = done.saturating_mul(100) / all;
            format!("loading {percent}%, problems follow")
        }
        LanePass::Stopped => "operators, nodes and pods not loaded: x loads them".to_owned(),
        LanePass::Failed(why) => format!("loading failed, x retries: {why}"),
        LanePass::Done(_) => String::new(),
    };
    let judging = match &open.trouble.judging {
        JudgingState::Under(percent) => format!("rules running, {percent}%"),
        JudgingState::Stopped => "rules stopped, x runs them".to_owned(),
        JudgingState::Failed(why) => format!("rules failed, x retries: {why}"),
        JudgingState::Done(found) if found.unknown > 0 => {
            format!("{} unknown", count(found.unknown, "test"))
        }
        JudgingState::Done(_) => String::new(),
    };
    let until = open.rules_until().map_or_else(String::new, |until| {
        format!("rules run up to {}, x reruns", open.timeline.written(until))
    });
    // Most do not apply to the cluster: `kubereel test` names the reasons.
    let skipped = match &open.trouble.judging {
        JudgingState::Done(found) if found.skipped > 0 => {
            format!("{} skipped", count(found.skipped, "test"))
        }
        _ => String::new(),
    };
    let damaged = match open.unread_words() {
        Some(words) => words,
        None if open.timeline.reel().has_losses() => "the reel is damaged".to_owned(),
        None => String::new(),
    };
    let making = match (&open.trouble.problems, open.trouble.making) {
        (_, 0) => "",
        (None, _) => "listing …",
        (Some(_), _) => "updating …",
    };
    let all = [pass.as_str(), &judging, &until, &damaged, making];
    let all: Vec<&str> = all.into_iter().filter(|words| !words.is_empty()).collect();
    match (all.is_empty(), skipped.as_str()) {
        (true, _) => skipped,
        (false, "") => format!("incomplete: {}", all.join(" · ")),
        (false, _) => format!("incomplete: {} · {skipped}", all.join(" · ")),
    }
}

/// Says what was looked at, where nothing that went wrong stands at the top of the list.
fn summary(open: &OpenReel) -> Option<String> {
    let list = open.board().and_then(|board| board.list())?;
    let is_found = list.problems.iter().any(|problem| !problem.is_planned);
    (!is_found).then(|| list.summary())
}

/// Says why the list is empty, and what was looked at.
fn nothing(open: &OpenReel) -> Vec<(Ink, String)> {
    let is_judged = matches!(open.trouble.judging, JudgingState::Done(_));
    let list = open.board().and_then(|board| board.list());
    let (Some(_), Some(list)) = (&open.trouble.problems, list) else {
        return vec![(Ink::Faint, "no problems found so far".to_owned())];
    };
    let mut all = vec![(Ink::Strong, list.summary())];
    if is_judged {
        let until = open.rules_until().map_or_else(String::new, |until| {
            format!(" up to {}", open.timeline.written(until))
        });
        all.push((Ink::Plain, format!("no rule failed{until}")));
    }
    let limits = list.checked.limits().into_iter();
    all.extend(limits.map(|words| (Ink::Wary, words)));
    all.push((Ink::Faint, "enter shows the lanes".to_owned()));
    all
}

/// The story takes at most this part of the rows, unless there is nothing else to show.
const STORY_PART: u16 = 4;
/// This many rows it may take in any case.
const LEAST_STORY: u16 = 5;

/// Draws what the cluster was and what was done to it, as far as it is known; gives the row after it.
fn draw_story(open: &OpenReel, is_alone: bool, pen: &mut ScreenPen<'_>) -> u16 {
    let height = pen.area.height;
    let most = if is_alone {
        height / 2
    } else {
        (height / STORY_PART).max(LEAST_STORY)
    };
    if height < LOW {
        return 0;
    }
    let (start, end) = (open.timeline.start(), open.timeline.end());
    let zone = open.timeline.zone();
    let head = if start == end {
        format!("STORY · {}", zone.rfc3339_secs(start))
    } else {
        format!(
            "STORY · {} → {} · {}",
            zone.rfc3339_secs(start),
            zone.rfc3339_secs(end),
            span_text(end.micros_since(start))
        )
    };
    pen.head(0, &head);
    let rows = usize::from(most - 1);
    let mut lines = story_lines(open);
    let hidden = lines.len().saturating_sub(rows);
    // One row says what the others leave out: rollouts first.
    while hidden > 0 && lines.len() >= rows.max(2) {
        let last = lines.iter().rposition(|line| line.is_minor);
        lines.remove(last.unwrap_or(lines.len() - 1));
    }
    let mut y = 1;
    for StoryLine { ink, words, .. } in &lines {
        let style = pen.theme.ink(*ink);
        pen.text(1, y, words, style);
        y += 1;
    }
    if hidden > 0 {
        let faint = pen.role(StyleRole::Faint);
        let words = format!("… and {} more: kubereel story shows all", hidden + 1);
        pen.text(1, y, &words, faint);
        y += 1;
    }
    y
}

/// A line of the story.
struct StoryLine {
    ink: Ink,
    words: String,
    /// Whether it is the first to be left out.
    is_minor: bool,
}

impl StoryLine {
    const fn of(ink: Ink, words: String) -> Self {
        Self {
            ink,
            words,
            is_minor: false,
        }
    }
}

fn story_lines(open: &OpenReel) -> Vec<StoryLine> {
    let Some(story) = open.board().and_then(|board| board.story.as_deref()) else {
        let words = match &open.pass {
            LanePass::Under { done } => {
                let all = open.timeline.reel().end().0.max(1);
                let percent = done.saturating_mul(100) / all;
                format!("reading the recording, {percent}%: enter shows what is known")
            }
            _ => "the recording was not read".to_owned(),
        };
        return vec![StoryLine::of(Ink::Faint, words)];
    };
    let mut lines = vec![StoryLine::of(Ink::Strong, story.cluster.sentence())];
    for step in &story.steps {
        let took = step.to.map_or_else(String::new, |to| {
            let least = if step.is_older { "at least " } else { "" };
            format!(" ({least}{})", span_text(to.micros_since(step.from)))
        });
        let at = clock_secs(&open.timeline, step.from);
        let words = format!("{at}  {}{took}", harmless(&step.words));
        lines.push(StoryLine {
            is_minor: !step.rollouts.is_empty(),
            ..StoryLine::of(Ink::Plain, words)
        });
    }
    if let Some(why) = &story.unread {
        let words = format!(
            "installations and upgrades cannot be read: {}",
            harmless(why)
        );
        lines.push(StoryLine::of(Ink::Wary, words));
    } else if story.steps.is_empty() {
        let words = "no installation or upgrade was recorded, and no rollout began";
        lines.push(StoryLine::of(Ink::Faint, words.to_owned()));
    }
    lines
}

/// Names what a row is about as short as it can be named.
fn brief(open: &OpenReel, entry: &ProblemEntry) -> String {
    let subject = entry.subject.as_ref();
    subject.map_or_else(
        || entry.about.clone(),
        |subject| subject.brief(&open.timeline),
    )
}

/// How wide the columns of the list are.
struct RowColumns {
    clock: u16,
    /// The time since the start; 0 where there is no room for it.
    offset: u16,
    name: u16,
}

/// The fewest columns of the time since the start: most recordings are shorter than ten hours.
const LEAST_OFFSET: u16 = 9;

impl RowColumns {
    /// Gives each what it needs: a name two fifths of what is left at most.
    fn of(
        open: &OpenReel,
        entries: &[(usize, &ProblemEntry)],
        names: &[String],
        width: u16,
    ) -> Self {
        let times = entries.iter().map(|(_, entry)| clock(open, entry).width());
        let clock = columns(times.max().unwrap_or(0));
        let offsets = entries.iter().map(|(_, entry)| offset(open, entry).width());
        let offset = columns(offsets.max().unwrap_or(0)).max(LEAST_OFFSET);
        let has_long = width >= NARROWEST_LONG;
        let before = 3 + clock + 1 + 11 + if has_long { offset + 13 } else { 0 };
        let widest = names.iter().map(|name| name.width()).max().unwrap_or(0);
        let room = width.saturating_sub(before) * 2 / 5;
        Self {
            clock,
            offset: if has_long { offset } else { 0 },
            name: room.min(columns(widest)),
        }
    }
}

/// Gives the time at which it was first so.
fn clock(open: &OpenReel, entry: &ProblemEntry) -> String {
    let first = entry.first();
    first.map_or_else(String::new, |spot| {
        clock_text(&open.timeline, spot.place.at)
    })
}

fn draw_row(
    open: &OpenReel,
    entry: &ProblemEntry,
    (y, name): (u16, &str),
    columns: &RowColumns,
    is_chosen: bool,
    pen: &mut ScreenPen<'_>,
) {
    let faint = pen.role(StyleRole::Faint);
    let style = match (is_chosen, entry.is_minor()) {
        (true, _) => pen.role(StyleRole::Chosen),
        (false, false) => pen.role(StyleRole::Plain),
        (false, true) => faint,
    };
    let sign = if is_chosen { ">" } else { " " };
    pen.text(0, y, sign, style);
    let glyph = if entry.is_minor() {
        faint
    } else {
        pen.theme.state(entry.state)
    };
    pen.text(1, y, entry.glyph(), glyph);
    let width = pen.area.width;
    if width < NARROWEST_ROW {
        let end = pen.text(3, y, entry.kind.word(), faint);
        let words = format!("{}: {}", brief(open, entry), entry.words);
        pen.text(end + 1, y, &words, style);
        return;
    }
    pen.text(3, y, &clock(open, entry), faint);
    let mut x = 3 + columns.clock + 1;
    if columns.offset > 0 {
        pen.within(x, y, &offset(open, entry), columns.offset, faint);
        x += columns.offset + 1;
        pen.within(x, y, &entry.long(), 11, faint);
        x += 12;
    }
    pen.within(x, y, entry.kind.word(), 10, style);
    x += 11;
    pen.within(x, y, name, columns.name, style);
    pen.text(x + columns.name + 1, y, &entry.words, style);
}

fn offset(open: &OpenReel, entry: &ProblemEntry) -> String {
    let at = entry
        .first()
        .map_or(open.timeline.start(), |spot| spot.place.at);
    timetext::offset(at.micros_since(open.timeline.start()))
}

/// Draws all that is known of the thing that is chosen.
fn details(open: &OpenReel, entry: &ProblemEntry, top: u16, pen: &mut ScreenPen<'_>) {
    if top >= pen.area.height {
        return;
    }
    let at = entry
        .first()
        .map(|spot| open.timeline.written(spot.place.at));
    let head = format!(
        "{} · {} · {} · {}",
        entry.kind.word(),
        at.unwrap_or_default(),
        offset(open, entry),
        entry.long()
    );
    pen.head(top, &head);
    let width = usize::from(pen.area.width.saturating_sub(2));
    let lines = problem_lines(&open.timeline, entry);
    let rows = lines.iter().flat_map(|line| {
        let rows = broken(line.parts.first().map_or("", |(_, text)| text), width);
        let ink = line.parts.first().map_or(Ink::Plain, |(ink, _)| *ink);
        rows.into_iter().map(move |row| (ink, row))
    });
    let rows: Vec<(Ink, &str)> = rows.collect();
    let height = pen.area.height.saturating_sub(top + 1);
    let is_cut = rows.len() > usize::from(height);
    for (y, (ink, row)) in (top + 1..pen.area.height).zip(rows) {
        let style = pen.theme.ink(ink);
        pen.text(1, y, row, style);
        if is_cut && y + 1 == pen.area.height {
            pen.right(y, " …", style);
        }
    }
}
