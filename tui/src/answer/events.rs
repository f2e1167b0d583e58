//! Owns the Events about an object, newest first. Refuses those after the moment: nobody knew them.

use super::line::{Ink, Line};
use crate::model::{Place, Subject};
use kubereel_history::{EventQuestion, Regarding, Timeline, harmless};

/// How many Events show.
const MOST: usize = 200;

/// Reads the lines.
pub(super) fn read(timeline: &Timeline, subject: &Subject, place: Place) -> Vec<Line> {
    let Some(info) = timeline.resources().get(subject.resource) else {
        return vec![Line::of(Ink::Wary, "the reel knows no such resource")];
    };
    if timeline.event_resources().is_empty() {
        return vec![Line::of(Ink::Wary, "Events were not recorded")];
    }
    let about = Regarding {
        kind: info.kind.clone(),
        namespace: subject.namespace.clone(),
        name: subject.name.clone(),
        uid: String::new(),
        api_version: String::new(),
    };
    let question = EventQuestion {
        to: Some(place.cut()),
        about: Some(about),
        ..EventQuestion::default()
    };
    let mut lines = Vec::new();
    let mut unread = 0_usize;
    for logged in timeline.event_log(question) {
        let Ok(logged) = logged else {
            unread += 1;
            continue;
        };
        let said = &logged.said;
        let ink = if said.severity == "Warning" {
            Ink::Wary
        } else {
            Ink::Plain
        };
        let times = if said.count > 1 {
            format!(" ×{}", said.count)
        } else {
            String::new()
        };
        let at = timeline.written(logged.at);
        let head = Line::of(Ink::Faint, format!("{at}  "))
            .and(ink, format!("{}{times}  ", harmless(&said.reason)))
            .and(Ink::Plain, harmless(&said.message));
        lines.push(Line {
            aside: harmless(&said.component).into_owned(),
            ..head
        });
    }
    lines.reverse();
    lines.truncate(MOST);
    if unread > 0 {
        lines.insert(
            0,
            Line::of(Ink::Wary, format!("{unread} Events cannot be read")),
        );
    }
    if lines.is_empty() {
        let words = format!("no Events about {} by then", subject.written(timeline));
        lines.push(Line::of(Ink::Faint, words));
    }
    lines
}
