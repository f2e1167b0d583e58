//! What keys do with problems: steps, jumps, the order, a retry. An effect lists them.

use super::opening::zoned;
use super::{growing, lane_rows, messages, moving};
use crate::effect::Effect;
use crate::findings::JudgingState;
use crate::lane::{Board, LaneGroup, LaneSubject};
use crate::layout::layout;
use crate::model::{
    ActiveScreen, ChosenRow, LanePass, List, Model, OpenReel, ReelState, ToldProblem,
};
use crate::msg::{KeyAction, Msg};
use crate::problem::{ProblemEntry, ProblemKind, ProblemOccurrence, ProblemStep, Problems};
use crate::subject::NamedObject;
use crate::time::TimeDirection;
use kubereel_format::ResourceId;
use std::sync::Arc;

/// From this rank on, rows are not problems: the recording misses something, or it was normal.
const MISSING_RANK: u8 = 4;

/// Takes in what the world says of problems.
pub(super) fn heard(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let ReelState::Open(open) = &mut model.reel else {
        return Vec::new();
    };
    match msg {
        Msg::Judging(judging) => return judged(open, judging),
        Msg::Listed(problems) => {
            open.trouble.making = open.trouble.making.saturating_sub(1);
            if let ActiveScreen::Problems(row) = &mut model.screen {
                *row = same_row(open, *row, &problems);
            }
            open.trouble.problems = Some(problems);
            lane_rows::arrange(open);
            retell(open);
            if let Some(moment) = open.awaited.take() {
                model.word = moving::to_moment(open, moment);
            }
            if std::mem::take(&mut open.is_awaiting) {
                to_first(open, matches!(model.screen, ActiveScreen::Problems(_)));
            }
            return growing::listed(open);
        }
        Msg::NotListed(why) => {
            open.trouble.making = open.trouble.making.saturating_sub(1);
            model.word = Some(format!("problems cannot be listed: {why}"));
        }
        _ => {}
    }
    Vec::new()
}

/// Gives the row of the list in which the chosen thing stands from now on.
fn same_row(open: &OpenReel, row: usize, new: &Problems) -> usize {
    let Some(chosen) = open.trouble.row(row) else {
        return row;
    };
    let is_it = |at: &usize| {
        new.entries.get(*at).is_some_and(|entry| {
            (&entry.about, &entry.words) == (&chosen.about, &chosen.words)
                && entry.first().map(|spot| spot.from) == chosen.first().map(|spot| spot.from)
        })
    };
    let found = if open.trouble.is_by_time {
        new.by_time.iter().position(is_it)
    } else {
        (0..new.entries.len()).find(|at| is_it(at))
    };
    found.unwrap_or(row)
}

/// Puts the cursor at the first problem of the list, if there is one that matters; nobody has moved it
/// yet, so this is no jump. On the first screen it is selected, too.
fn to_first(open: &mut OpenReel, is_selected: bool) {
    let Some(problems) = open.trouble.problems.clone() else {
        return;
    };
    let first = problems.entries.first();
    let Some(entry) = first.filter(|entry| entry.rank() < MISSING_RANK) else {
        return;
    };
    if let Some(spot) = entry.first() {
        moving::stand(open, spot.place);
    }
    if is_selected {
        show_entry(open, entry);
        tell(open, entry);
    }
}

/// Lets the panel tell of a problem until something else is selected.
fn tell(open: &mut OpenReel, entry: &ProblemEntry) {
    open.told = Some(ToldProblem {
        entry: Arc::new(entry.clone()),
        over: open.selected.clone(),
    });
    open.scroll = 0;
    open.line = 0;
}

/// Takes note that the user did something: who moved stays where they are.
pub(super) fn stop_awaiting(model: &mut Model, act: KeyAction) {
    let is_looking = matches!(
        model.screen,
        ActiveScreen::Problems(_) | ActiveScreen::Help(..)
    ) && matches!(
        act,
        KeyAction::Rows(_) | KeyAction::ProblemOrder | KeyAction::Help | KeyAction::Again
    );
    if let ReelState::Open(open) = &mut model.reel
        && !is_looking
    {
        open.is_awaiting = false;
        open.awaited = None;
    }
}

/// Reports the same problem in the words of the list that is there now: its times may be those of
/// another zone.
fn retell(open: &mut OpenReel) {
    let Some(told) = &mut open.told else {
        return;
    };
    let entries = open.trouble.problems.iter().flat_map(|all| &all.entries);
    let key = |entry: &ProblemEntry| {
        let first = entry.first().map(ProblemOccurrence::key);
        (entry.kind, entry.about.clone(), first)
    };
    let own = key(&told.entry);
    let same = entries.into_iter().find(|entry| key(entry) == own);
    if let Some(same) = same.filter(|same| **same != *told.entry) {
        told.entry = Arc::new(same.clone());
    }
}

/// Shows times in UTC, or in local time; gives the words, and what is to be made anew.
pub(super) fn step_zone(open: &mut OpenReel) -> (String, Vec<Effect>) {
    let Some(local) = open.local_zone else {
        let words = "the zone of this machine is not known: --tz NAME gives one";
        return (words.to_owned(), Vec::new());
    };
    open.zone = match open.zone {
        Some(_) => None,
        None => Some(local),
    };
    open.timeline = zoned(&open.timeline, open.zone);
    // What was answered has its times in the other zone.
    open.asked = std::array::from_fn(|_| None);
    let words = match (open.zone, local.iana_name()) {
        (None, _) => "times in UTC".to_owned(),
        (Some(_), Some(name)) => format!("times in {name}"),
        (Some(_), None) => format!("times in {}", open.timeline.zone().name(open.place.at)),
    };
    (words, list(open))
}

/// Tells why the selected object is as it is: of its problems, that which is nearest to the cursor.
fn explain(open: &mut OpenReel) -> Option<String> {
    if open.told().is_some() {
        open.told = None;
        return None;
    }
    let Some(selected) = open.selected.clone() else {
        return Some("nothing selected".to_owned());
    };
    let Some(problems) = open.trouble.problems.clone() else {
        return Some(format!("problems are not known yet{}", doubt(open)));
    };
    let here = open.place.at;
    let own = problems.entries.iter();
    let own = own.filter(|entry| entry.subject.as_ref() == Some(&selected));
    let apart = |entry: &&ProblemEntry| {
        let spots = entry.spots.iter().map(|spot| {
            let is_within = spot.from <= here && spot.to.is_none_or(|to| here <= to);
            if is_within {
                0
            } else {
                here.micros_since(spot.from).saturating_abs()
            }
        });
        spots.min()
    };
    let Some(entry) = own.min_by_key(apart) else {
        let name = selected.written(&open.timeline);
        return Some(format!("no problem of {name}{}", doubt(open)));
    };
    tell(open, entry);
    None
}

/// Takes in how far the monitortests are; lists anew when they end.
fn judged(open: &mut OpenReel, judging: JudgingState) -> Vec<Effect> {
    let is_under = matches!(judging, JudgingState::Under(_));
    // How far it was is overtaken by how it ended.
    if is_under && !matches!(open.trouble.judging, JudgingState::Under(_)) {
        return Vec::new();
    }
    open.trouble.judging = judging;
    if is_under { Vec::new() } else { list(open) }
}

/// Lists what looks wrong, of what is known; while the pass runs, that is too little.
pub(super) fn list(open: &mut OpenReel) -> Vec<Effect> {
    if matches!(open.pass, LanePass::Under { .. }) {
        return Vec::new();
    }
    open.trouble.making += 1;
    vec![Effect::List(
        Arc::clone(&open.timeline),
        open.board().cloned(),
        open.trouble.judging.findings().cloned(),
    )]
}

/// Does what a key of the list means.
pub(super) fn act(model: &mut Model, act: KeyAction) -> Vec<Effect> {
    let layout = layout(model);
    let ReelState::Open(open) = &mut model.reel else {
        return Vec::new();
    };
    match act {
        KeyAction::Problems => model.screen = ActiveScreen::Problems(0),
        KeyAction::ProblemOrder => {
            open.trouble.is_by_time = !open.trouble.is_by_time;
            if let ActiveScreen::Problems(row) = &mut model.screen {
                *row = 0;
            }
        }
        KeyAction::Again => return again(model),
        KeyAction::First => {
            let problems = open.trouble.problems.as_ref();
            let is_found = problems.is_some_and(|problems| problems.first.is_some());
            if is_found && matches!(model.screen, ActiveScreen::Problems(_)) {
                model.screen = ActiveScreen::Main;
            }
            model.word = Some(first(open));
        }
        KeyAction::Explain => {
            model.word = explain(open);
            if open.told().is_some() {
                messages::show_panel_pane(open, layout);
            }
        }
        _ => {}
    }
    Vec::new()
}

/// Begins again what was stopped or failed: the pass, the monitortests.
fn again(model: &mut Model) -> Vec<Effect> {
    let path = model.request.path.clone();
    let ReelState::Open(open) = &mut model.reel else {
        return Vec::new();
    };
    let mut effects = Vec::new();
    if matches!(open.pass, LanePass::Stopped | LanePass::Failed(_)) {
        effects.extend(pass_again(open));
    }
    let is_ended = matches!(
        open.trouble.judging,
        JudgingState::Stopped | JudgingState::Failed(_)
    );
    if is_ended || open.rules_until().is_some() {
        open.trouble.judge(open.timeline.end());
        effects.push(Effect::Judge(path));
    }
    if effects.is_empty() {
        model.word = Some("nothing to retry".to_owned());
    }
    effects
}

/// Begins the pass again.
pub(super) fn pass_again(open: &mut OpenReel) -> Vec<Effect> {
    open.pass = LanePass::Under { done: 0 };
    vec![Effect::Gather(Arc::clone(&open.timeline))]
}

/// Goes to the thing in a row of the list.
pub(super) fn to_row(open: &mut OpenReel, row: usize) {
    if let Some(at) = open.trouble.at_row(row) {
        to(open, at, 0);
    }
}

/// Goes to one time of a thing, and to what it is about.
pub(super) fn to(open: &mut OpenReel, at: usize, spot: usize) -> Option<String> {
    let problems = Arc::clone(open.trouble.problems.as_ref()?);
    let entry = problems.entries.get(at)?;
    let place = entry.spots.get(spot)?.place;
    show_entry(open, entry);
    if entry.subject.is_some() {
        messages::reveal(open);
    }
    moving::jump(open, place);
    tell(open, entry);
    Some(format!("{}: {}", entry.about, entry.words))
}

/// Goes to what the chosen test found: from the cursor on, else first; gives the words, and `None` if no test is
/// chosen.
pub(super) fn to_test(open: &mut OpenReel) -> Option<String> {
    let LaneSubject::Rule(rule) = open.chosen_plain()?.subject.clone() else {
        return None;
    };
    let problems = open.trouble.problems.clone()?;
    let here = (open.place.at, open.place.below);
    let is_of_it = |step: &&ProblemStep| {
        let entry = problems.entries.get(step.entry);
        entry.is_some_and(|entry| entry.said.iter().any(|own| *own.rule == *rule))
    };
    let mut all = problems.steps.iter().filter(is_of_it);
    let first = all.clone().next();
    match all.find(|step| step.key > here).or(first) {
        Some(step) => to(open, step.entry, step.spot),
        None => Some(format!(
            "test {rule}: its findings are of no moment of the recording"
        )),
    }
}

/// Selects what a problem is about: an object, or the API server's lane.
fn show_entry(open: &mut OpenReel, entry: &ProblemEntry) {
    if let Some(subject) = entry.subject.clone() {
        show(open, subject);
    } else if entry.kind == ProblemKind::Outage {
        open.list = List::Lanes;
        open.condition = None;
        let server = ChosenRow::Lane(LaneSubject::Server);
        open.lanes.chosen = Some((server, open.selected.clone()));
    }
}

/// Selects an object: its lane, or its row in the table of its resource.
pub(super) fn show(open: &mut OpenReel, subject: NamedObject) {
    let board = open.board();
    if board.is_some_and(|board| has_lane(board, &subject)) {
        open.list = List::Lanes;
    } else if open.list != List::Objects(subject.resource) {
        objects(open, subject.resource);
    }
    open.selected = Some(subject);
    open.condition = None;
}

/// Tells whether an object has a lane.
pub(super) fn has_lane(board: &Board, subject: &NamedObject) -> bool {
    // Pods have too many lanes to be looked through one by one.
    let of_it = board.lanes.iter().filter(|lane| lane.condition.is_none());
    let mut of_it = of_it.filter(|lane| lane.subject.resource() == Some(subject.resource));
    let is_pod = of_it
        .clone()
        .next()
        .is_some_and(|lane| lane.group == LaneGroup::Pods);
    is_pod || of_it.any(|lane| lane.subject.is(subject))
}

pub(super) fn objects(open: &mut OpenReel, resource: ResourceId) {
    open.list = List::Objects(resource);
    open.table = None;
    open.answer = None;
}

/// Steps to the next or the previous time at which something was wrong; gives the words.
pub(super) fn step(open: &mut OpenReel, way: TimeDirection) -> String {
    let Some(problems) = open.trouble.problems.clone() else {
        return format!("problems are not known yet{}", doubt(open));
    };
    let here = (open.place.at, open.place.below);
    let steps = &problems.steps;
    // Several records of one list share its end: a step goes from the one that the panel shows.
    let is_told = |step: &ProblemStep| {
        let entry = problems.entries.get(step.entry);
        let spot = entry.and_then(|entry| entry.spots.get(step.spot));
        step.key == here
            && spot.is_some_and(ProblemOccurrence::is_of_list)
            && entry == open.told().map(AsRef::as_ref)
    };
    let told = steps.iter().position(is_told);
    let found = match way {
        TimeDirection::Next => {
            let next = told.map(|at| at + 1);
            steps.get(next.unwrap_or_else(|| steps.partition_point(|step| step.key <= here)))
        }
        TimeDirection::Previous => {
            let before = told.unwrap_or_else(|| steps.partition_point(|step| step.key < here));
            before.checked_sub(1).and_then(|at| steps.get(at))
        }
    };
    let Some(ProblemStep { entry, spot, .. }) = found.copied() else {
        let word = way.word();
        return format!("no {word} problem{}", doubt(open));
    };
    let together = steps
        .iter()
        .filter(|step| Some(step.key) == found.map(|one| one.key));
    let others = together.count().saturating_sub(1);
    let words = to(open, entry, spot).unwrap_or_default();
    match others {
        0 => words,
        others => format!("{words} (and {others} more at this moment)"),
    }
}

/// Goes to what went wrong first; gives the words.
fn first(open: &mut OpenReel) -> String {
    let doubt = doubt(open);
    let Some(problems) = open.trouble.problems.clone() else {
        return format!("the first problem is not known yet{doubt}");
    };
    let Some(first) = problems.first else {
        let is_gap = |kind: ProblemKind| matches!(kind, ProblemKind::Gap | ProblemKind::Damage);
        let has_gaps = problems.entries.iter().any(|entry| is_gap(entry.kind));
        let gaps = if has_gaps {
            ", but parts of it are missing"
        } else {
            ""
        };
        return format!("no problems in this reel{gaps}{doubt}");
    };
    let words = to(open, first.entry, 0).unwrap_or_default();
    format!("{}{doubt}: {words}", first.why)
}

/// Says what is not known yet of problems.
fn doubt(open: &OpenReel) -> &'static str {
    match (&open.pass, &open.trouble.judging) {
        (LanePass::Under { .. }, _) => ": still loading",
        (LanePass::Stopped | LanePass::Failed(_), _) => " (not loaded: p x loads it)",
        (_, JudgingState::Under(_)) => " (rules still running)",
        (_, JudgingState::Stopped | JudgingState::Failed(_)) => " (rules not run: p x)",
        _ if open.rules_until().is_some() => " (rules not run on the latest: p x)",
        _ => "",
    }
}
