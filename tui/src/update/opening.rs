//! The first state of a reel that was opened: from the command line, else from the last session.

use super::{marking, moving, problems};
use crate::answer::{Panel, SortOrder};
use crate::effect::Effect;
use crate::keep::{BookmarkStore, Bookmarks, SavedSession, SavedState};
use crate::lane::{all_dark, anomalies, can_have_lanes};
use crate::model::{
    ActiveScreen, BrowseState, CompareState, FilterState, Grouping, LaneList, LanePass, List,
    Model, OpenReel, Pane, PanelReading, Panes, Pins, Playing, ProblemsState, ReelState, Searches,
    TimelineMark, TransitionLog, TuiRequest,
};
use crate::subject::NamedObject;
use crate::time::{CursorPlace, JumpHistory, ViewWindow};
use jiff::tz::TimeZone;
use kubereel_format::{Note, RecordedAt, ResourceInfo};
use kubereel_history::timetext::ClockZone;
use kubereel_history::{Moment, Timeline, harmless};
use std::sync::Arc;

/// Takes a reel that was opened, or why it was not.
pub(super) fn opened(model: &mut Model, opened: Result<Arc<Timeline>, String>) -> Vec<Effect> {
    let timeline = match opened {
        Ok(timeline) => timeline,
        Err(error) => {
            model.reel = ReelState::Failed(harmless(&error).into_owned());
            // The command line has room for the hints.
            model.is_over = true;
            return Vec::new();
        }
    };
    let kept = model.kept.take();
    let place = place(&timeline, &model.request, kept.as_deref());
    let mut open = fresh(&timeline, &place, kept.as_deref(), &model.request);
    model.word = place.err();
    open.filter
        .write(&model.request.filter, timeline.resources());
    if let Some(error) = open.filter.error() {
        model.word = Some(format!("--filter: {error}"));
        open.filter.forgive();
    }
    open.take_namespace();
    if let Some(words) = &open.bookmarks.words {
        model.word = Some(words.clone());
    }
    let session = kept.and_then(|kept| kept.session);
    if session.is_none() && is_plain(&model.request) {
        model.screen = ActiveScreen::Problems(0);
    }
    if let Some(session) = session {
        open.is_awaiting = false;
        restore(&mut open, &session, &model.request);
        if model.request.at.is_none() && model.word.is_none() {
            model.word = Some("last session restored: g goes to the start, Z shows all".to_owned());
        }
    }
    if let Some(select) = &model.request.select
        && let Err(error) = choose(&mut open, select, &model.request.namespace)
    {
        model.word = Some(error);
    }
    model.reel = ReelState::Open(Box::new(open));
    begun(timeline, &model.request)
}

/// Returns a reel without a selection.
fn fresh(
    timeline: &Arc<Timeline>,
    place: &Result<Option<CursorPlace>, String>,
    kept: Option<&SavedState>,
    request: &TuiRequest,
) -> OpenReel {
    let place = place.as_ref().ok().copied().flatten();
    // At the end all is known; the first problem is gone to once there is a list.
    let end = CursorPlace {
        below: timeline.reel().end(),
        at: timeline.end(),
    };
    let bounds = ViewWindow::whole(timeline.start(), timeline.end());
    let dark = all_dark(timeline);
    OpenReel {
        place: place.unwrap_or(end),
        window: bounds,
        jumps: JumpHistory::default(),
        filter: FilterState::default(),
        namespace: None,
        browse: BrowseState::default(),
        list: List::Lanes,
        pane: Pane::List,
        panel: Panel::Yaml,
        scroll: 0,
        reading: PanelReading::default(),
        line: 0,
        field: None,
        searches: Searches::default(),
        selected: None,
        condition: None,
        pass: LanePass::Under { done: 0 },
        trouble: ProblemsState::begin(timeline.end()),
        lanes: LaneList::default(),
        pins: Pins::default(),
        table: None,
        answer: None,
        asked: std::array::from_fn(|_| None),
        density: None,
        compared: CompareState::default(),
        zone: request.zone,
        local_zone: request.zone.or(request.local_zone),
        id: kept.map_or_else(String::new, |kept| kept.id.clone()),
        shelf: kept.map_or_else(
            || BookmarkStore::of(&request.path, "", None),
            |kept| kept.shelf.clone(),
        ),
        bookmarks: kept.map_or_else(Bookmarks::default, |kept| kept.bookmarks.clone()),
        odd: anomalies(timeline, &[], &dark),
        dark,
        playing: Playing::default(),
        picked: None,
        picked_content: None,
        panes: Panes::default(),
        stream: TransitionLog::default(),
        marks: marks(timeline),
        told: None,
        is_awaiting: place.is_none(),
        awaited: request.at.filter(|at| moving::is_told_by_pass(*at)),
        hidden: None,
        standing: None,
        live: None,
        timeline: zoned(timeline, request.zone),
    }
}

/// Gives a reel whose times are written in a zone.
pub(super) fn zoned(timeline: &Arc<Timeline>, zone: Option<&TimeZone>) -> Arc<Timeline> {
    let zone = ClockZone::from(zone);
    if *timeline.zone() == zone {
        Arc::clone(timeline)
    } else {
        Arc::new(timeline.in_zone(zone))
    }
}

/// Gives the marks of a recording, in order.
pub(super) fn marks(timeline: &Timeline) -> Vec<TimelineMark> {
    let notes = timeline.reel().notes().iter();
    let marks = notes.filter_map(|entry| match &entry.note {
        Note::Mark { text } => Some(TimelineMark {
            at: entry.stamp.wall,
            text: harmless(text).into_owned(),
        }),
        _ => None,
    });
    marks.collect()
}

/// Tells whether nothing says what to show first: then that is the story.
const fn is_plain(request: &TuiRequest) -> bool {
    request.at.is_none() && request.select.is_none() && request.filter.is_empty()
}

/// Gives what is to be done with a reel that is open: the pass, and the monitortests.
fn begun(timeline: Arc<Timeline>, request: &TuiRequest) -> Vec<Effect> {
    vec![
        Effect::Gather(timeline),
        Effect::Judge(request.path.clone()),
    ]
}

/// Gives the place that is asked for; `None` if none is, or only the pass over the reel tells it.
fn place(
    timeline: &Timeline,
    request: &TuiRequest,
    kept: Option<&SavedState>,
) -> Result<Option<CursorPlace>, String> {
    let asked = request.at.filter(|at| !moving::is_told_by_pass(*at));
    let Some(moment) = asked else {
        return Ok(None);
    };
    if let Moment::Bookmark(name) = moment {
        let all = kept.map_or(&[][..], |kept| &kept.bookmarks.all);
        let one = marking::bookmarked(all, name.as_str());
        let one = one.map_err(|word| format!("--at: {word}"))?;
        return Ok(Some(one.place(timeline)));
    }
    let cut = timeline.resolve_within(moment);
    let cut = cut.map_err(|error| format!("--at: {error}"))?;
    Ok(Some(CursorPlace::of(timeline, cut)))
}

/// Selects what `--select` and `-n` name, and lists where it can be seen.
pub(super) fn choose(open: &mut OpenReel, select: &str, namespace: &str) -> Result<(), String> {
    let (info, subject) = selected(&open.timeline, select, namespace)?;
    let has_lane = subject.as_ref().is_some_and(|subject| match open.board() {
        Some(board) => problems::has_lane(board, subject),
        None => can_have_lanes(&open.timeline, info),
    });
    let list = if has_lane {
        List::Lanes
    } else {
        List::Objects(info.id)
    };
    if open.list != list {
        open.table = None;
    }
    open.list = list;
    open.selected = subject;
    open.condition = None;
    Ok(())
}

/// Lists the object of `--select` in the table of its resource, if the pass made no lane of it.
pub(super) fn list_without_lane(open: &mut OpenReel) {
    if open.list == List::Lanes
        && let Some(subject) = open.selected.clone()
        && !open.pins.has(&subject)
        && let Some(board) = open.board()
        && !problems::has_lane(board, &subject)
    {
        problems::objects(open, subject.resource);
    }
}

/// Gives what `--select` means: a resource, and perhaps one of its objects.
fn selected<'a>(
    timeline: &'a Timeline,
    select: &str,
    namespace: &str,
) -> Result<(&'a ResourceInfo, Option<NamedObject>), String> {
    let (resource, name) = match select.split_once('/') {
        Some((resource, name)) => (resource, Some(name)),
        None => (select, None),
    };
    let found = timeline.resources().find(resource);
    let info = found.map_err(|error| harmless(&format!("--select: {error}")).into_owned())?;
    let subject = name.map(|name| NamedObject {
        resource: info.id,
        namespace: if info.namespaced {
            namespace.to_owned()
        } else {
            String::new()
        },
        name: name.to_owned(),
    });
    Ok((info, subject))
}

/// The panels that are gone back to.
const PANELS: [Panel; 9] = [
    Panel::Yaml,
    Panel::History,
    Panel::Events,
    Panel::Nearby,
    Panel::Diff,
    Panel::Blame,
    Panel::Owners,
    Panel::Conditions,
    Panel::Raw,
];

/// What a session names the log of transitions; no resource is called so.
const STREAM: &str = ":transitions";

/// Gives what is left behind.
pub(crate) fn left(open: &OpenReel) -> SavedSession {
    let (select, namespace) = open.chosen();
    let list = match open.list {
        List::Lanes | List::Stream => None,
        List::Objects(resource) => open.timeline.resources().get(resource),
    };
    SavedSession {
        at: open.place.written(&open.timeline),
        window_from_micros: open.window.from.micros,
        window_micros: open.window.micros,
        select,
        namespace,
        condition: open.condition.as_deref().map(str::to_owned),
        filter: open.filter.text().to_owned(),
        list: match open.list {
            List::Stream => STREAM.to_owned(),
            _ => list.map_or_else(String::new, ResourceInfo::qualified),
        },
        only_namespace: open.namespace.clone(),
        is_changed_first: open.browse.order == SortOrder::Changed,
        shares: Some(open.panes.shares()),
        panel: name(open.panel),
        grouping: grouping_name(open.lanes.grouping),
        pins: open
            .pins
            .lanes()
            .iter()
            .filter_map(|lane| Some(open.select_of(lane.subject.object()?)))
            .collect(),
        speed: open.playing.speed,
        is_reverse: open.playing.is_reverse,
        is_local_time: open.zone.is_some(),
        ..SavedSession::default()
    }
}

fn name(panel: Panel) -> String {
    format!("{panel:?}").to_lowercase()
}

fn grouping_name(grouping: Grouping) -> String {
    format!("{grouping:?}").to_lowercase()
}

/// Goes back to where one was.
fn restore(open: &mut OpenReel, session: &SavedSession, request: &TuiRequest) {
    if request.at.is_none() {
        let moment: Option<Moment> = session.at.parse().ok();
        let cut = moment.and_then(|moment| open.timeline.resolve(moment).ok());
        if let Some(cut) = cut {
            open.place = CursorPlace::of(&open.timeline, cut);
        }
        if session.window_micros > 0 {
            let window = ViewWindow {
                from: RecordedAt::from_micros(session.window_from_micros),
                micros: session.window_micros,
            };
            let bounds = open.bounds();
            // Zooming to its own length brings any length within bounds.
            let window = window.zoomed(window.from, window.micros, bounds);
            open.window = window;
        }
    }
    let is_address = request.at.is_some() || request.select.is_some();
    // They would hide what an address names, or narrow what it shows.
    if request.filter.is_empty() && !is_address {
        let timeline = Arc::clone(&open.timeline);
        open.filter.write(&session.filter, timeline.resources());
        // What another version wrote may not be read by this one.
        open.filter.forgive();
        open.namespace.clone_from(&session.only_namespace);
    }
    if request.select.is_none() {
        let mut groupings = Grouping::ALL.into_iter();
        let grouping = groupings.find(|own| grouping_name(*own) == session.grouping);
        open.lanes.grouping = grouping.unwrap_or_default();
        let chosen = if session.select.is_empty() {
            Ok(())
        } else {
            choose(open, &session.select, &session.namespace)
        };
        if chosen.is_ok() {
            open.condition = session.condition.as_deref().map(Into::into);
        }
        open.list = if session.list == STREAM {
            List::Stream
        } else {
            List::Lanes
        };
        if let Ok(info) = open.timeline.resources().find(&session.list)
            && !session.list.is_empty()
        {
            open.list = List::Objects(info.id);
        }
    }
    let timeline = Arc::clone(&open.timeline);
    for (select, namespace) in &session.pins {
        let found = selected(&timeline, select, namespace);
        if let Ok((_, Some(subject))) = found
            && !open.pins.has(&subject)
        {
            open.pins.toggle(&timeline, &subject);
        }
    }
    if session.is_changed_first {
        open.browse.order = SortOrder::Changed;
    }
    if let Some((rows, columns)) = session.shares {
        open.panes = Panes::of(rows, columns);
    }
    let panel = PANELS.into_iter().find(|own| name(*own) == session.panel);
    open.panel = panel.unwrap_or_default();
    if moving::SPEEDS.contains(&session.speed) {
        open.playing.speed = session.speed;
    }
    open.playing.is_reverse = session.is_reverse;
    if session.is_local_time && open.zone.is_none() {
        open.zone = open.local_zone;
        open.timeline = zoned(&open.timeline, open.zone);
    }
}
