//! The list of problems, and the details of the selected one. A list that is not complete says so, and a
//! reel that was not examined is never called healthy.

use super::pen::{ScreenPen, broken, first_row};
use crate::answer::Ink;
use crate::findings::{FindingVerdict, Findings, JudgingState};
use crate::lane::LaneState;
use crate::model::{LanePass, OpenReel};
use crate::problem::ProblemEntry;
use crate::theme::StyleRole;
use kubereel_history::timetext;

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
    let rest = trouble.problems.as_ref().map_or(0, |all| all.rest);
    let more = match rest {
        0 => String::new(),
        rest => format!(" of {}", count + rest),
    };
    let order = if trouble.is_by_time {
        "by time"
    } else {
        "by severity"
    };
    pen.head(0, &format!("PROBLEMS {count}{more} · {order} · o sorts"));
    let width = usize::from(pen.area.width.saturating_sub(2));
    let mut top = 1;
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
    if count == 0 {
        let faint = pen.role(StyleRole::Faint);
        for row in broken(nothing(open), width) {
            pen.text(1, top, row, faint);
            top += 1;
        }
        return;
    }
    let left = pen.area.height.saturating_sub(top);
    let below = (left * 2 / 5).clamp(left.min(4), 14);
    let height = left.saturating_sub(below);
    let first = first_row(chosen, count, height);
    for (y, row) in (top..top + height).zip(first..count) {
        if let Some(entry) = trouble.row(row) {
            draw_row(open, entry, y, row == chosen, pen);
        }
    }
    if let Some(entry) = trouble.row(chosen) {
        details(open, entry, top + height, pen);
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
        JudgingState::Done(found) => unjudged(found),
    };
    let unread = open.board().map_or(0, |board| board.unread);
    let damaged = match unread {
        0 if open.timeline.reel().damage().is_empty() => String::new(),
        0 => "the reel is damaged".to_owned(),
        count => format!("{count} unreadable events"),
    };
    let making = match (&open.trouble.problems, open.trouble.making) {
        (_, 0) => "",
        (None, _) => "listing …",
        (Some(_), _) => "updating …",
    };
    let all = [pass.as_str(), &judging, &damaged, making];
    let all: Vec<&str> = all.into_iter().filter(|words| !words.is_empty()).collect();
    if all.is_empty() {
        String::new()
    } else {
        format!("incomplete: {}", all.join(" · "))
    }
}

/// Says which rules could not tell; empty if all could.
fn unjudged(found: &Findings) -> String {
    match (found.unknown, found.skipped) {
        (0, 0) => String::new(),
        (0, skipped) => format!("{skipped} tests skipped (not recorded)"),
        (unknown, 0) => format!("{unknown} tests unknown"),
        (unknown, skipped) => {
            format!("{unknown} tests unknown, {skipped} skipped (not recorded)")
        }
    }
}

/// Says why the list is empty.
fn nothing(open: &OpenReel) -> &'static str {
    let is_judged = matches!(open.trouble.judging, JudgingState::Done(_));
    match (&open.trouble.problems, open.board(), is_judged) {
        (Some(_), Some(_), true) => {
            "no problems: no recorded object shows a sign of one, no rule failed, no gap hides anything"
        }
        _ => "no problems found so far",
    }
}

fn draw_row(
    open: &OpenReel,
    entry: &ProblemEntry,
    y: u16,
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
        let words = format!("{}: {}", entry.about, entry.words);
        pen.text(end + 1, y, &words, style);
        return;
    }
    let time = entry
        .first()
        .map(|spot| timetext::time_of_day(spot.place.at));
    let mut x = pen.text(3, y, &time.unwrap_or_default(), faint) + 1;
    if width >= NARROWEST_LONG {
        pen.within(x, y, &offset(open, entry), 9, faint);
        x += 10;
        pen.within(x, y, &entry.long(), 11, faint);
        x += 12;
    }
    pen.within(x, y, entry.kind.word(), 10, style);
    x += 11;
    let room = width.saturating_sub(x) * 2 / 5;
    let end = pen.within(x, y, &entry.about, room, style);
    let end = end.max(if width >= NARROWEST_LONG {
        x + room
    } else {
        end
    });
    pen.text(end + 1, y, &entry.words, style);
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
    let lines = lines(entry);
    let rows = lines
        .iter()
        .flat_map(|(ink, line)| broken(line, width).into_iter().map(|row| (*ink, row)));
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

fn lines(entry: &ProblemEntry) -> Vec<(Ink, String)> {
    let mut all = vec![
        (Ink::Strong, entry.about.clone()),
        (Ink::Plain, entry.words.clone()),
    ];
    if entry.is_young {
        all.push((Ink::Faint, "during installation".to_owned()));
    } else if entry.is_planned {
        all.push((Ink::Faint, "planned: a Node was drained".to_owned()));
    }
    all.extend(entry.causes.iter().map(|cause| (Ink::Wary, cause.clone())));
    for said in &entry.said {
        let does = match said.verdict {
            FindingVerdict::Fail => "fails",
            FindingVerdict::Flake => "flakes",
        };
        let words = format!("rule {} {does}: {}", said.rule, said.test);
        all.push((Ink::Wary, words));
        for line in said.lines.iter().filter(|line| **line != entry.words) {
            all.push((Ink::Plain, line.clone()));
        }
    }
    let count = entry.others.len() + entry.more_others;
    if count > 0 {
        all.push((Ink::Strong, format!("and {count} more:")));
        all.extend(entry.others.iter().map(|other| (Ink::Plain, other.clone())));
    }
    all
}
