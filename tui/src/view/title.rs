//! Owns the lines that say where one is and how far that can be trusted.

use super::pen::Pen;
use crate::lane::{DarkSpan, LaneState};
use crate::model::{Judging, Model, Open, Pass};
use crate::theme::Role;
use kubereel_history::{harmless, timetext};
use unicode_width::UnicodeWidthStr as _;

/// Draws them.
pub(super) fn draw(model: &Model, open: &Open, pen: &mut Pen<'_>) {
    let plain = pen.role(Role::Plain);
    let strong = pen.role(Role::Strong);
    let faint = pen.role(Role::Faint);
    let at = open.place.written(&open.timeline);
    let offset = timetext::offset(open.place.at.micros_since(open.timeline.start()));
    let (word, state) = trust(open);
    let is_low = pen.area.height < 2;
    let trust_style = pen.theme.state(state);
    if is_low {
        let end = pen.text(0, 0, &at, strong);
        let end = pen.text(end + 1, 0, &offset, plain);
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
    end = pen.text(end + 2, 0, &at, strong);
    end = pen.text(end + 2, 0, &offset, plain);
    let rv = open
        .place
        .below
        .0
        .checked_sub(1)
        .map(|seq| format!("seq:{seq}"));
    end = pen.text(end + 2, 0, &rv.unwrap_or_default(), faint);
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
    let end = pen.text(0, 1, &format!("{} {word}", dot(state)), trust_style);
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
    right.push(known(open));
    let room = usize::from(pen.area.width.saturating_sub(end + 2));
    // What comes last matters most.
    while right.join("   ").width() > room {
        right.remove(0);
    }
    pen.right(1, &right.join("   "), plain);
}

/// Says what is wrong, or how far one is with finding it out.
fn known(open: &Open) -> String {
    match (&open.pass, open.board()) {
        (_, Some(_)) => {
            let trouble = &open.trouble;
            let judging = match &trouble.judging {
                Judging::Under(percent) => format!(" · judging {percent} %"),
                Judging::Stopped => " · not judged".to_owned(),
                Judging::Failed(_) => " · judging failed".to_owned(),
                Judging::Done(_) => String::new(),
            };
            let count = match &trouble.problems {
                Some(all) => (all.entries.len() + all.rest).to_string(),
                None => "…".to_owned(),
            };
            format!("problems {count}{judging}")
        }
        (Pass::Under { done }, _) => {
            let all = open.timeline.reel().end().0.max(1);
            format!("reading {}%, esc stops", done.saturating_mul(100) / all)
        }
        (Pass::Failed(_), _) => "reading failed: no lanes".to_owned(),
        _ => "reading stopped: no lanes".to_owned(),
    }
}

const fn dot(state: LaneState) -> &'static str {
    match state {
        LaneState::Good => "●",
        _ => "░",
    }
}

/// Says whether all is known at the cursor, of every resource.
fn trust(open: &Open) -> (String, LaneState) {
    let mut here = open
        .dark
        .iter()
        .filter(|dark| dark.span.contains(&open.place.at));
    if let Some(DarkSpan { span, why, .. }) = here.next() {
        let (from, to) = (
            open.timeline.written(span.start),
            open.timeline.written(span.end),
        );
        return (
            format!("unknown from {from} to {to}: {why}"),
            LaneState::Unknown,
        );
    }
    let reel = open.timeline.reel();
    let damages = reel.damage().len();
    let unread = open.board().map_or(0, |board| board.unread);
    if unread > 0 {
        return (
            format!("damaged: {unread} events cannot be read"),
            LaneState::Unknown,
        );
    }
    if damages > 0 {
        return (format!("damaged: {damages} places"), LaneState::Unknown);
    }
    let outage = open.timeline.outages().iter();
    let mut outage = outage.filter(|one| one.from <= open.place.at && open.place.at < one.to);
    if let Some(outage) = outage.next() {
        return (
            format!("no server: {}", harmless(&outage.error)),
            LaneState::Unknown,
        );
    }
    let is_imported = open.timeline.resources().iter().any(|info| {
        let coverage = open.timeline.coverage(info.id);
        coverage.is_some_and(|coverage| coverage.imported().is_some())
    });
    if is_imported {
        return (
            "imported: what it leaves out is not known".to_owned(),
            LaneState::Unknown,
        );
    }
    let blind = open.dark.iter().filter(|dark| dark.is_blind()).count();
    let gaps = open.dark.len().saturating_sub(blind);
    let told = [(gaps, "gap", "gaps"), (blind, "blind time", "blind times")]
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }))
        .collect::<Vec<_>>()
        .join(", ");
    let known = if told.is_empty() {
        "complete".to_owned()
    } else {
        format!("known here, {told} elsewhere")
    };
    (known, LaneState::Good)
}
