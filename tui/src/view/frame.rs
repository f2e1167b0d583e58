//! The frame: title, body, footer and help. What lists, lanes and panels look like is theirs.

use super::pen::{ScreenPen, columns};
use super::{lanes, lists, panel, problems, stream, time};
use crate::findings::JudgingState;
use crate::keymap::{bindings, has_meaning};
use crate::lane::{DarkSpan, LaneState, dark_periods};
use crate::layout::{
    HELP_DOES, HELP_TOP, HelpLine, Layout, SMALLEST, broken, help_lines, last_help_line, layout,
};
use crate::model::{
    ActiveScreen, LanePass, List, LiveState, MOST_WRITTEN_BYTES, Model, OpenReel, ReelState,
};
use crate::problem::ProblemTally;
use crate::theme::StyleRole;
use crate::time::{SelectionCounts, TimeSelection, span_text};
use kubereel_history::counttext::{count, inflected};
use kubereel_history::{harmless, timetext};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::borrow::Cow;
use unicode_width::UnicodeWidthStr as _;

/// Draws the screen.
pub(crate) fn view(model: &Model, frame: &mut Frame<'_>) {
    let area = frame.area();
    let mut pen = ScreenPen {
        buffer: frame.buffer_mut(),
        theme: model.theme,
        area,
    };
    let (columns, rows) = SMALLEST;
    if area.width < columns || area.height < rows {
        draw_too_small(&mut pen);
        return;
    }
    let layout = layout(model);
    match &model.reel {
        ReelState::Opening => {
            let path = harmless(&model.request.path.display().to_string()).into_owned();
            message(
                &mut pen,
                &[format!("opening {path} …"), "esc quits".to_owned()],
            );
        }
        ReelState::Failed(error) => message(&mut pen, std::slice::from_ref(error)),
        ReelState::Open(open) => whole(model, open, &layout, &mut pen),
    }
}

/// Says how large the terminal has to be, in as many words as it has room for.
fn draw_too_small(pen: &mut ScreenPen<'_>) {
    let (columns, rows) = SMALLEST;
    let (width, height) = (pen.area.width, pen.area.height);
    let least = format!("{columns}x{rows}");
    let all = [
        format!("terminal is {width}x{height}, minimum is {least}"),
        format!("minimum is {least}"),
        least,
    ];
    let fits = |words: &&String| broken(words, usize::from(width)).len() <= usize::from(height);
    let words = all.iter().find(fits).or(all.last());
    let style = pen.role(StyleRole::Strong);
    pen.wrapped(0, 0, words.map_or("", String::as_str), style);
}

fn message(pen: &mut ScreenPen<'_>, lines: &[String]) {
    let strong = pen.role(StyleRole::Strong);
    let width = usize::from(pen.area.width.saturating_sub(3).max(1));
    let rows = lines.iter().flat_map(|line| {
        let letters: Vec<char> = line.chars().collect();
        let rows: Vec<String> = letters
            .chunks(width)
            .map(|row| row.iter().collect())
            .collect();
        rows
    });
    for (row, line) in (1_u16..).zip(rows) {
        pen.text(2, row, &line, strong);
    }
}

fn whole(model: &Model, open: &OpenReel, layout: &Layout, pen: &mut ScreenPen<'_>) {
    draw_title(model, open, &mut pen.on(layout.title));
    time::draw(open, layout, &mut pen.on(layout.time));
    let both = layout.body;
    match &model.screen {
        ActiveScreen::Help(first, of) => draw_help(*first, of, &mut pen.on(both)),
        ActiveScreen::Kinds(choice) => lists::draw_resources(open, choice, &mut pen.on(both)),
        ActiveScreen::Namespaces(choice) => lists::draw_namespaces(open, choice, &mut pen.on(both)),
        ActiveScreen::Compare(at) => lists::draw_differences(open, *at, &mut pen.on(both)),
        ActiveScreen::Bookmarks(at) => lists::draw_bookmarks(open, *at, &mut pen.on(both)),
        ActiveScreen::Problems(at) => problems::draw(open, *at, &mut pen.on(both)),
        _ => {
            match open.list {
                List::Lanes => lanes::draw(open, layout, &mut pen.on(layout.list)),
                List::Stream => stream::draw(open, &mut pen.on(layout.list)),
                List::Objects(_) => lists::draw_objects(open, &mut pen.on(layout.list)),
            }
            if let Some(border) = layout.border {
                let style = pen.role(StyleRole::Faint);
                let mut pen = pen.on(border);
                for y in 0..border.height {
                    pen.text(0, y, "│", style);
                }
            }
            panel::draw(open, &mut pen.on(layout.panel));
            panel::draw_standing(open, &mut pen.on(layout.standing));
            if let ActiveScreen::GoTo(choice) = &model.screen {
                lists::draw_palette(open, choice, &mut pen.on(both));
            }
        }
    }
    let above = Rect {
        y: layout.foot.y.saturating_sub(1),
        ..layout.foot
    };
    draw_filter_error(model, open, &mut pen.on(above));
    draw_foot(model, open, &mut pen.on(layout.foot));
}

/// Draws them.
fn draw_title(model: &Model, open: &OpenReel, pen: &mut ScreenPen<'_>) {
    let plain = pen.role(StyleRole::Plain);
    let strong = pen.role(StyleRole::Strong);
    let faint = pen.role(StyleRole::Faint);
    let at = open.place.written(&open.timeline);
    let offset = timetext::offset(open.place.at.micros_since(open.timeline.start()));
    let (word, state) = trust_at_cursor(open);
    let is_low = pen.area.height < 2;
    let trust_style = pen.theme.state(state);
    if is_low {
        let end = pen.text(0, 0, &at, strong);
        let end = pen.text(end + 1, 0, &offset, plain);
        let live = live_words(open, pen).map(|(words, style)| pen.text(end + 1, 0, &words, style));
        let end = live.unwrap_or(end);
        let room = pen.area.width.saturating_sub(end + 3);
        let word = brief_trust(&word, room);
        pen.text(end + 1, 0, &format!("{} {word}", dot(state)), trust_style);
        return;
    }
    let file = model
        .request
        .path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let file = harmless(&file.unwrap_or_default()).into_owned();
    let mut end = pen.within(0, 0, &file, pen.area.width / 3, faint);
    end = pen.text(end + 2, 0, &open.timeline.written(open.place.at), strong);
    let zone = open.timeline.zone().name(open.place.at);
    // The name of a zone without one is its offset, which is shown already.
    if !zone.starts_with(['+', '-']) {
        end = pen.text(end + 1, 0, &zone, plain);
    }
    end = pen.text(end + 2, 0, &offset, plain);
    let record = open.place.below.0.checked_sub(1);
    let record = record.map(|seq| format!("seq:{seq}")).unwrap_or_default();
    // Where records share a time, the number says which one.
    let style = if at == record { strong } else { faint };
    end = pen.text(end + 2, 0, &record, style);
    let playing = if open.playing.is_on {
        let arrow = if open.playing.is_reverse {
            "◀"
        } else {
            "▶"
        };
        format!("{arrow} {}x", open.playing.speed)
    } else {
        let arrow = if open.playing.is_reverse {
            "◁"
        } else {
            "▷"
        };
        format!("{arrow} {}x", open.playing.speed)
    };
    let style = if open.playing.is_on { strong } else { faint };
    pen.text(end + 2, 0, &playing, style);
    let live = live_words(open, pen).map(|(words, style)| pen.text(0, 1, &words, style) + 2);
    let trust = format!("{} {word}", dot(state));
    let end = pen.text(live.unwrap_or(0), 1, &trust, trust_style);
    let mut right = Vec::new();
    let board = open.board();
    if let Some(board) = board.filter(|board| !board.releases.is_empty()) {
        right.push(board.releases.join(" → "));
    }
    let here = board.and_then(|board| {
        let mut stages = board.stages.iter();
        stages.find(|stage| stage.span.contains(&open.place.at))
    });
    right.extend(here.map(|stage| stage.name.clone()));
    right.push(progress_words(open));
    let room = usize::from(pen.area.width.saturating_sub(end + 2));
    // What comes last matters most.
    while right.join("   ").width() > room {
        right.remove(0);
    }
    pen.right(1, &right.join("   "), plain);
}

/// Shows whether the recording continues, and how many events came since the cursor was at its end.
fn live_words(open: &OpenReel, pen: &ScreenPen<'_>) -> Option<(String, Style)> {
    let live = open.live?;
    let (sign, style) = match live.state {
        LiveState::Live => ("◉", pen.theme.state(LaneState::Good)),
        LiveState::Ended => ("■", pen.role(StyleRole::Strong)),
        LiveState::Unfinished | LiveState::Lost => ("■", pen.theme.state(LaneState::Unknown)),
    };
    let mut words = format!("{sign} {}", live.state.word());
    let unseen = live.unseen(open.timeline.reel().event_count());
    if unseen > 0 {
        words = format!("{words} · {unseen} new: G");
    }
    Some((words, style))
}

/// Says what is wrong, or how far one is with finding it out.
fn progress_words(open: &OpenReel) -> String {
    match (&open.pass, open.board()) {
        (_, Some(_)) => {
            let trouble = &open.trouble;
            let judging = match &trouble.judging {
                JudgingState::Under(percent) => format!(" · rules {percent}%"),
                JudgingState::Stopped => " · rules not run".to_owned(),
                JudgingState::Failed(_) => " · rules failed".to_owned(),
                JudgingState::Done(_) => String::new(),
            };
            let count = match &trouble.problems {
                Some(all) => match all.tally() {
                    ProblemTally {
                        problems,
                        others: 0,
                    } => problems.to_string(),
                    ProblemTally { problems, others } => format!("{problems} +{others}"),
                },
                None => "…".to_owned(),
            };
            format!("problems {count}{judging}")
        }
        (LanePass::Under { done }, _) => {
            let all = open.timeline.reel().end().0.max(1);
            format!("loading {}%", done.saturating_mul(100) / all)
        }
        (LanePass::Failed(_), _) => "loading failed: no lanes".to_owned(),
        _ => "loading stopped: no lanes".to_owned(),
    }
}

const fn dot(state: LaneState) -> &'static str {
    match state {
        LaneState::Good => "●",
        _ => "░",
    }
}

/// What an import is called, from the longest to the shortest: cut, the longest reads like "complete".
const IMPORTED: [&str; 3] = [
    "imported: completeness unknown",
    "imported: unknown",
    "imported",
];

/// Chooses shorter words where those of an import do not fit into `room` columns.
fn brief_trust(words: &str, room: u16) -> &str {
    if words != IMPORTED[0] {
        return words;
    }
    let fits = |words: &&str| words.width() <= usize::from(room);
    let found = IMPORTED.into_iter().find(fits);
    found.unwrap_or(IMPORTED[2])
}

/// Says whether all is known at the cursor, of every resource.
fn trust_at_cursor(open: &OpenReel) -> (String, LaneState) {
    let mut here = open.dark.iter().filter(|dark| dark.holds(open.place.at));
    if let Some(dark) = here.next() {
        let DarkSpan {
            span, why, only, ..
        } = dark;
        let from = open.timeline.written(span.start);
        let when = if dark.is_behind_end(&open.timeline) {
            format!("from {from} on")
        } else {
            // What nothing ended is unknown to the end, and not behind it.
            let to = span.end.min(open.timeline.end());
            format!("from {from} to {}", open.timeline.written(to))
        };
        let of = only.as_ref().map(|only| format!("{only}: "));
        let of = of.unwrap_or_default();
        return (format!("unknown {when}: {of}{why}"), LaneState::Unknown);
    }
    let reel = open.timeline.reel();
    let damages = reel.damage().len();
    if let Some(unread) = open.unread_words() {
        return (format!("damaged: {unread}"), LaneState::Unknown);
    }
    if damages > 0 {
        let words = if reel.has_losses() {
            format!("damaged in {damages} places")
        } else {
            "the file is damaged; nothing is lost".to_owned()
        };
        return (words, LaneState::Unknown);
    }
    let outage = open.timeline.outages().iter();
    let mut outage = outage.filter(|one| one.from <= open.place.at && open.place.at < one.to);
    if let Some(outage) = outage.next() {
        return (
            format!("API server unavailable: {}", harmless(&outage.error)),
            LaneState::Unknown,
        );
    }
    if open.timeline.resources().iter().next().is_none() {
        return ("nothing was observed".to_owned(), LaneState::Unknown);
    }
    let is_imported = open.timeline.resources().iter().any(|info| {
        let coverage = open.timeline.coverage(info.id);
        coverage.is_some_and(|coverage| coverage.imported().is_some())
    });
    if is_imported {
        return (IMPORTED[0].to_owned(), LaneState::Unknown);
    }
    let (mut blind, mut gaps) = (0_usize, 0_usize);
    for dark in dark_periods(&open.dark) {
        *(if dark.is_blind() {
            &mut blind
        } else {
            &mut gaps
        }) += 1;
    }
    let told = [
        (gaps, "gap", "gaps"),
        (blind, "unwatched period", "unwatched periods"),
    ]
    .into_iter()
    .filter(|(count, ..)| *count > 0)
    .map(|(count, one, many)| format!("{count} {}", inflected(count, one, many)))
    .collect::<Vec<_>>()
    .join(", ");
    let known = if told.is_empty() {
        "complete".to_owned()
    } else {
        format!("complete here, {told} elsewhere")
    };
    (known, LaneState::Good)
}

/// Says how a filter is written.
fn filter_hint(open: &OpenReel) -> &'static str {
    match open.list {
        List::Lanes | List::Stream => "words /regex/ ns:x kind:pod bad down !not",
        List::Objects(_) => "words /regex/ ns:x label:app=web status.phase!=Running !not",
    }
}

/// Draws what is wrong with the filter that is being written, above the prompt.
fn draw_filter_error(model: &Model, open: &OpenReel, pen: &mut ScreenPen<'_>) {
    if let (ActiveScreen::Filter(_), Some(error)) = (&model.screen, open.filter.error()) {
        let style = pen.theme.state(LaneState::Bad);
        let blank = " ".repeat(usize::from(pen.area.width));
        pen.text(0, 0, &blank, style);
        pen.text(0, 0, error, style);
    }
}

/// Draws it.
fn draw_foot(model: &Model, open: &OpenReel, pen: &mut ScreenPen<'_>) {
    let bar = pen.role(StyleRole::Bar);
    let strong = pen.role(StyleRole::Strong);
    let faint = pen.role(StyleRole::Faint);
    let prompt = match &model.screen {
        ActiveScreen::GoTo(choice) => Some((
            ":",
            &choice.text,
            "14:02  +5m  end  pods  co/etcd  deploy web  upgrade  theme light",
        )),
        ActiveScreen::Note(noting) => Some(("◆", &noting.text, "note (optional) · enter saves")),
        ActiveScreen::SaveAs(saving) => Some((
            "save to ",
            &saving.text,
            "a file or folder · enter saves, esc cancels",
        )),
        ActiveScreen::Filter(text) => Some(("/", text, filter_hint(open))),
        ActiveScreen::Seek { text, .. } => Some(("/", text, open.reading.hint.as_str())),
        ActiveScreen::Kinds(choice) => Some((
            "b ",
            &choice.text,
            "type to filter  enter lists  tab sorts  esc back",
        )),
        ActiveScreen::Namespaces(choice) => Some((
            "u ",
            &choice.text,
            "type to filter  enter selects  esc back",
        )),
        _ => None,
    };
    if let Some((sign, text, hint)) = prompt {
        draw_prompt(sign, text, hint, pen);
        return;
    }
    if let Some(word) = &model.word {
        draw_word(&harmless(word), pen);
        return;
    }
    if let Some(now) = &open.searches.now {
        let far = match now.done {
            (_, 0) => String::new(),
            (done, all) => format!("{done} of {all} · "),
        };
        let words = format!("searching for {}: {far}esc stops", now.words);
        pen.text(0, 0, &words, strong);
        return;
    }
    if let Some(content) = open.picked_content {
        draw_selection(open, content, pen);
        return;
    }
    let mut x = 0;
    let narrowing = open.narrowing();
    if !narrowing.is_empty() {
        let filter = format!("/{} ", harmless(&narrowing));
        x = pen.within(0, 0, &filter, pen.area.width / 3, bar) + 1;
    }
    if open.list == List::Stream && !open.stream.wanted.is_empty() {
        // While something is looked for, these keys mean that.
        let search = format!("search {} ", harmless(&open.stream.wanted));
        x = pen.within(x, 0, &search, pen.area.width / 3, bar) + 1;
        x = pen.text(x, 0, "n N", strong);
        x = pen.text(x + 1, 0, "match", faint) + 2;
    }
    let rows = bindings().filter(|row| has_meaning(row.place, &model.screen));
    for row in rows.filter(|row| !row.brief.is_empty()) {
        let width = row.shown.width() + row.brief.width() + 3;
        if usize::from(x) + width > usize::from(pen.area.width) + 2 {
            continue;
        }
        x = pen.text(x, 0, row.shown, strong);
        x = pen.text(x + 1, 0, row.brief, faint) + 2;
    }
}

/// Draws a text that is being written, its end always in sight, and how to write it.
fn draw_prompt(sign: &str, text: &str, hint: &str, pen: &mut ScreenPen<'_>) {
    let strong = pen.role(StyleRole::Strong);
    let bar = pen.role(StyleRole::Bar);
    let end = pen.text(0, 0, sign, strong);
    let room = pen.area.width.saturating_sub(end + 1);
    let shown = harmless(text);
    let end = pen.text(end, 0, &tail(&shown, usize::from(room)), strong);
    let end = pen.text(end, 0, " ", bar);
    if text.len() < MOST_WRITTEN_BYTES {
        let faint = pen.role(StyleRole::Faint);
        pen.text(end + 2, 0, hint, faint);
    } else {
        let full = format!(" full: at most {MOST_WRITTEN_BYTES} bytes");
        let style = pen.theme.state(LaneState::Bad);
        pen.right(0, &full, style);
    }
}

/// Cuts a text at its beginning, so that `room` columns hold it.
fn tail(text: &str, room: usize) -> Cow<'_, str> {
    if text.width() <= room {
        return Cow::Borrowed(text);
    }
    let ends = text
        .char_indices()
        .map(|(at, _)| text.get(at..).unwrap_or_default());
    let mut ends = ends.filter(|end| end.width() < room);
    Cow::Owned(format!("…{}", ends.next().unwrap_or_default()))
}

/// The most rows that a message takes.
const WORD_ROWS: u16 = 6;

/// Draws a message; what is too long for one row takes rows above it.
fn draw_word(word: &str, pen: &mut ScreenPen<'_>) {
    let style = pen.role(StyleRole::Strong);
    let width = usize::from(pen.area.width);
    let rows = columns(broken(word, width).len());
    let rows = rows.min(WORD_ROWS).min(pen.area.bottom());
    let area = Rect {
        y: pen.area.bottom() - rows,
        height: rows,
        ..pen.area
    };
    let mut pen = pen.on(area);
    let (blank, plain) = (" ".repeat(width), pen.role(StyleRole::Plain));
    for row in 0..rows {
        pen.text(0, row, &blank, plain);
    }
    pen.wrapped(0, 0, word, style);
}

/// Says what lies in the span of time that is selected, and what can be done with it.
fn draw_selection(open: &OpenReel, content: SelectionCounts, pen: &mut ScreenPen<'_>) {
    let (strong, plain) = (pen.role(StyleRole::Strong), pen.role(StyleRole::Plain));
    let long = span_text(content.span.micros);
    let mut x = pen.text(0, 0, &long, strong);
    let (events, changes) = (content.events, content.changes);
    for count in [count(events, "event"), count(changes, "change")] {
        x = pen.text(x, 0, &format!(" · {count}"), plain);
    }
    let is_fixed = open.picked.is_some_and(TimeSelection::is_fixed);
    let first = ("V", if is_fixed { "restarts" } else { "sets the end" });
    x += 2;
    for (key, does) in [first, ("enter", "zooms"), ("esc", "cancels")] {
        let end = usize::from(x) + key.len() + does.len() + 1;
        if end <= usize::from(pen.area.width) {
            x = pen.text(x, 0, key, strong);
            let faint = pen.role(StyleRole::Faint);
            x = pen.text(x + 1, 0, does, faint) + 2;
        }
    }
}

/// Draws it from a line on.
fn draw_help(first: usize, of: &ActiveScreen, pen: &mut ScreenPen<'_>) {
    pen.head(0, "KEYS · esc back, ↓ more");
    let mut x = 1;
    for state in LaneState::ALL {
        let style = pen.theme.state(state);
        x = pen.text(x, 1, state.glyph(), style) + 1;
        let plain = pen.role(StyleRole::Plain);
        x = pen.text(x, 1, state.word(), plain) + 2;
    }
    let lines = help_lines(of, pen.area.width);
    // The screen may have grown since it was scrolled.
    let first = first.min(last_help_line(of, pen.area));
    for (y, line) in (HELP_TOP..pen.area.height).zip(lines.iter().skip(first)) {
        match line {
            HelpLine::Head(words) => pen.head(y, words),
            HelpLine::Keys(keys, does) => {
                let strong = pen.role(StyleRole::Strong);
                pen.within(1, y, keys, HELP_DOES - 2, strong);
                let plain = pen.role(StyleRole::Plain);
                pen.text(HELP_DOES, y, does, plain);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_import_never_reads_like_a_complete_recording() {
        for (room, words) in [
            (30, "imported: completeness unknown"),
            (29, "imported: unknown"),
            (16, "imported"),
            (3, "imported"),
        ] {
            assert_eq!(brief_trust(IMPORTED[0], room), words);
        }
        assert_eq!(brief_trust("complete", 3), "complete");
    }
}
