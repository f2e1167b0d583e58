//! What becomes of a screen when there is more of its reel: the cursor stays at the end if it stood there, and else
//! where it is; what is chosen, filtered, zoomed and unfolded stays so.

use super::opening::{marks, zoned};
use super::{choosing, messages, problems};
use crate::effect::Effect;
use crate::lane::{Board, all_dark, anomalies};
use crate::model::{LanePass, LiveReel, LiveState, Model, OpenReel, ReelState};
use crate::msg::Msg;
use crate::time::CursorPlace;
use kubereel_history::{Timeline, harmless};
use std::sync::Arc;

/// Takes in what the world says of a recording that goes on.
pub(super) fn heard(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let path = model.request.path.clone();
    let ReelState::Open(open) = &mut model.reel else {
        return Vec::new();
    };
    match msg {
        Msg::Live(state) => {
            set(open, state);
            let at = open.timeline.written(open.timeline.end());
            let word = match state {
                LiveState::Ended => format!("the recording ended at {at}"),
                LiveState::Unfinished => {
                    format!("the recording ends at {at}, unfinished: its recorder was killed")
                }
                LiveState::Live | LiveState::Lost => return Vec::new(),
            };
            model.word = Some(word);
            // What the rules found was true of what there was when the screen was opened.
            open.trouble.judge(open.timeline.end());
            return vec![Effect::Judge(path)];
        }
        Msg::NotFollowed(why) => {
            set(open, LiveState::Lost);
            model.word = Some(harmless(&why).into_owned());
        }
        Msg::Grown(timeline) => grow(open, &timeline),
        Msg::Regathered(board) => return regathered(open, board),
        _ => {}
    }
    Vec::new()
}

fn set(open: &mut OpenReel, state: LiveState) {
    let fresh = LiveReel {
        state,
        seen: open.timeline.reel().event_count(),
        wants_list: false,
    };
    open.live.get_or_insert(fresh).state = state;
}

/// Gives the place behind everything.
pub(super) fn end(timeline: &Timeline) -> CursorPlace {
    CursorPlace {
        below: timeline.reel().end(),
        at: timeline.end(),
    }
}

/// Notes whether the cursor is at the end: then everything was seen.
pub(super) fn look(open: &mut OpenReel) {
    let is_at_end = open.place == end(&open.timeline);
    if let Some(live) = open.live.as_mut().filter(|_| is_at_end) {
        live.seen = open.timeline.reel().event_count();
    }
}

fn grow(open: &mut OpenReel, timeline: &Arc<Timeline>) {
    let (old, last) = (open.bounds(), end(&open.timeline));
    let is_at_end = open.place == last;
    open.timeline = zoned(timeline, open.zone);
    let (bounds, now) = (open.bounds(), end(&open.timeline));
    if is_at_end {
        open.place = now;
    }
    if open.window == old {
        open.window = bounds;
    } else if is_at_end {
        open.window = open.window.moved(now.at.micros_since(last.at), bounds);
    }
    open.dark = all_dark(timeline);
    open.odd = anomalies(timeline, &[], &open.dark);
    open.marks = marks(timeline);
    // What was answered stays until it is answered anew.
    open.asked = std::array::from_fn(|_| None);
    open.density = None;
    open.picked_content = None;
    open.pins.renew(timeline);
    for unfolded in &mut open.lanes.unfolded {
        unfolded.is_old = true;
    }
    if open.filter.error().is_none() {
        let text = open.filter.text().to_owned();
        open.filter.write(&text, timeline.resources());
    }
    open.lanes.forget();
    messages::filtered(open);
}

/// Takes the lanes of what there is now, and lists what looks wrong.
fn regathered(open: &mut OpenReel, board: Arc<Board>) -> Vec<Effect> {
    open.pass = LanePass::Done(board);
    open.lanes.forget();
    messages::filtered(open);
    if open.selected.is_none() {
        choosing::first_row(open);
    }
    list_again(open)
}

/// Lists what looks wrong, or takes note that it is to be listed when the list that is being made is there.
fn list_again(open: &mut OpenReel) -> Vec<Effect> {
    let is_being_made = open.trouble.making > 0;
    match &mut open.live {
        Some(live) if is_being_made => {
            live.wants_list = true;
            Vec::new()
        }
        _ => problems::list(open),
    }
}

/// Lists once more what looks wrong, if there was more of the reel than the list knew that is there now.
pub(super) fn listed(open: &mut OpenReel) -> Vec<Effect> {
    let wants = open.live.as_mut();
    if wants.is_some_and(|live| std::mem::take(&mut live.wants_list)) {
        list_again(open)
    } else {
        Vec::new()
    }
}
