//! Owns what becomes of a reel that was opened: where the cursor stands and what is selected first.
//! Refuses to open it.

use crate::effect::Effect;
use crate::lane::{all_dark, anomalies};
use crate::model::{
    Browse, Filtering, Jumps, List, Model, Open, Pane, Panel, Panes, Pass, Place, Playing, Reel,
    Request, Searches, Subject, Window,
};
use kubereel_format::RecordedAt;
use kubereel_replay::{Cut, Timeline, harmless};
use std::sync::Arc;

/// Takes a reel that was opened, or why it was not.
pub(super) fn opened(model: &mut Model, opened: Result<Arc<Timeline>, String>) -> Vec<Effect> {
    let timeline = match opened {
        Ok(timeline) => timeline,
        Err(error) => {
            model.reel = Reel::Failed(harmless(&error).into_owned());
            return Vec::new();
        }
    };
    let (place, word) = place(&timeline, &model.request);
    model.word = word;
    let bounds = Window::whole(timeline.start(), timeline.end());
    let dark = all_dark(&timeline);
    let mut open = Open {
        place,
        window: bounds,
        jumps: Jumps::default(),
        filter: Filtering::default(),
        namespace: None,
        browse: Browse::default(),
        list: List::Lanes,
        pane: Pane::List,
        panel: Panel::Yaml,
        scroll: 0,
        line: 0,
        field: None,
        searches: Searches::default(),
        selected: None,
        condition: None,
        has_conditions: false,
        pass: Pass::Under { done: 0 },
        lanes: Vec::new(),
        table: None,
        answer: None,
        asked: std::array::from_fn(|_| None),
        density: None,
        odd: anomalies(&timeline, &[], &dark),
        dark,
        playing: Playing {
            is_on: false,
            speed: 1,
            is_reverse: false,
        },
        panes: Panes::default(),
        has_changed_strip: false,
        timeline: Arc::clone(&timeline),
    };
    open.filter
        .write(&model.request.filter, timeline.resources());
    if let Some(error) = open.filter.error() {
        model.word = Some(format!("--filter: {error}"));
        open.filter.forgive();
    }
    open.take_namespace();
    if let Some(select) = &model.request.select {
        match selected(&timeline, select, &model.request.namespace) {
            Ok((list, subject)) => {
                open.list = list;
                open.selected = subject;
            }
            Err(error) => model.word = Some(error),
        }
    }
    model.reel = Reel::Open(Box::new(open));
    vec![Effect::Gather(timeline)]
}

fn place(timeline: &Timeline, request: &Request) -> (Place, Option<String>) {
    let start = Place::at(timeline, timeline.start());
    let Some(moment) = request.at else {
        return (start, None);
    };
    match timeline.resolve(moment) {
        Ok(cut) => (at_cut(timeline, cut), None),
        Err(error) => (start, Some(format!("--at: {error}"))),
    }
}

/// Gives the place of a moment; at a resourceVersion, behind the last event up to that version.
pub(super) fn at_cut(timeline: &Timeline, cut: Cut) -> Place {
    match cut {
        Cut::Arrival { below, wall } => Place {
            below,
            at: within(timeline, wall),
        },
        Cut::Revision(_) => {
            let below = timeline
                .cursor(kubereel_replay::Track::Everything, cut)
                .below();
            below.0.checked_sub(1).map_or_else(
                || Place::at(timeline, timeline.start()),
                |last| Place::behind(timeline, kubereel_format::Seq(last)),
            )
        }
    }
}

/// Gives the nearest time that the reel has.
pub(super) fn within(timeline: &Timeline, at: RecordedAt) -> RecordedAt {
    at.clamp(timeline.start(), timeline.end().max(timeline.start()))
}

fn selected(
    timeline: &Timeline,
    select: &str,
    namespace: &str,
) -> Result<(List, Option<Subject>), String> {
    let (resource, name) = match select.split_once('/') {
        Some((resource, name)) => (resource, Some(name)),
        None => (select, None),
    };
    let found = timeline.resources().find(resource);
    let info = found.map_err(|error| harmless(&format!("--select: {error}")).into_owned())?;
    let subject = name.map(|name| Subject {
        resource: info.id,
        namespace: if info.namespaced {
            namespace.to_owned()
        } else {
            String::new()
        },
        name: name.to_owned(),
    });
    let has_lane = matches!(
        info.plural.as_str(),
        "clusterversions" | "clusteroperators" | "machineconfigpools" | "nodes" | "pods"
    );
    let list = if subject.is_some() && has_lane {
        List::Lanes
    } else {
        List::Objects(info.id)
    };
    Ok((list, subject))
}
