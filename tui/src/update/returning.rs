//! Owns going back to where one was: what was left is taken up again, but for what the command line
//! says otherwise. Refuses what the reel does not have: then it is as in the beginning.

use super::opening;
use crate::keep::Session;
use crate::model::{Grouping, List, Open, Order, Panel, Panes, Request, Window};
use kubereel_format::RecordedAt;
use kubereel_history::Moment;

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

/// Gives what is left behind.
pub(crate) fn left(open: &Open) -> Session {
    let (select, namespace) = open.chosen();
    let list = match open.list {
        List::Lanes => None,
        List::Objects(resource) => open.timeline.resources().get(resource),
    };
    Session {
        at: open.place.written(&open.timeline),
        window_from_micros: open.window.from.micros,
        window_micros: open.window.micros,
        select,
        namespace,
        condition: open.condition.as_deref().map(str::to_owned),
        filter: open.filter.text().to_owned(),
        list: list.map_or_else(String::new, kubereel_format::ResourceInfo::qualified),
        only_namespace: open.namespace.clone(),
        is_changed_first: open.browse.order == Order::Changed,
        shares: Some(open.panes.shares()),
        panel: name(open.panel),
        grouping: grouping_name(open.lanes.grouping),
        pins: open
            .pins
            .lanes()
            .iter()
            .map(|lane| open.select_of(&lane.subject))
            .collect(),
        speed: open.playing.speed,
        is_reverse: open.playing.is_reverse,
        ..Session::default()
    }
}

fn name(panel: Panel) -> String {
    format!("{panel:?}").to_lowercase()
}

fn grouping_name(grouping: Grouping) -> String {
    format!("{grouping:?}").to_lowercase()
}

/// Goes back to where one was.
pub(super) fn restore(open: &mut Open, session: &Session, request: &Request) {
    if request.at.is_none() {
        let moment: Option<Moment> = session.at.parse().ok();
        let cut = moment.and_then(|moment| open.timeline.resolve(moment).ok());
        if let Some(cut) = cut {
            open.place = opening::at_cut(&open.timeline, cut);
        }
        if session.window_micros > 0 {
            let window = Window {
                from: RecordedAt::from_micros(session.window_from_micros),
                micros: session.window_micros,
            };
            let bounds = open.bounds();
            // Zooming to its own length brings any length within bounds.
            let window = window.zoomed(window.from, window.micros, bounds);
            open.window = window;
        }
    }
    if request.filter.is_empty() {
        let timeline = std::sync::Arc::clone(&open.timeline);
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
            opening::choose(open, &session.select, &session.namespace)
        };
        if chosen.is_ok() {
            open.condition = session.condition.as_deref().map(Into::into);
        }
        open.list = List::Lanes;
        if let Ok(info) = open.timeline.resources().find(&session.list)
            && !session.list.is_empty()
        {
            open.list = List::Objects(info.id);
        }
    }
    let timeline = std::sync::Arc::clone(&open.timeline);
    for (select, namespace) in &session.pins {
        let found = opening::selected(&timeline, select, namespace);
        if let Ok((_, Some(subject))) = found
            && !open.pins.has(&subject)
        {
            open.pins.toggle(&timeline, &subject);
        }
    }
    if session.is_changed_first {
        open.browse.order = Order::Changed;
    }
    if let Some((rows, columns)) = session.shares {
        open.panes = Panes::of(rows, columns);
    }
    let panel = PANELS.into_iter().find(|own| name(*own) == session.panel);
    open.panel = panel.unwrap_or_default();
    if super::moving::SPEEDS.contains(&session.speed) {
        open.playing.speed = session.speed;
    }
    open.playing.is_reverse = session.is_reverse;
}
