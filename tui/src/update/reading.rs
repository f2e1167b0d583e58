//! Owns what the panel shows, and where its lines lead. Refuses to read bodies: answers do.

use super::{moving, opening, refresh};
use crate::answer::{Answer, Target};
use crate::model::{List, Open, Pane, Panel, Place, Subject};
use kubereel_format::Seq;

/// Shows something of the object.
pub(super) fn show(open: &mut Open, panel: Panel) {
    if open.panel == panel && panel == Panel::Diff {
        // Once more: back to the version before.
        open.reading.other = None;
    }
    if open.panel != panel {
        open.panel = panel;
        open.scroll = 0;
        open.line = 0;
        open.reading.matches.clear();
    }
}

/// Gives where the line leads at which the keys are.
fn target(open: &Open) -> Option<&Target> {
    match &open.answer {
        Some(Answer::Lines(_, lines, _)) => lines.get(open.line)?.target.as_ref(),
        _ => None,
    }
}

/// Tells whether the line leads somewhere at which the keys are.
pub(super) fn leads(open: &Open) -> bool {
    open.pane == Pane::Panel && target(open).is_some()
}

/// Goes where that line leads, or marks its version; gives a word for it.
pub(super) fn follow(open: &mut Open) -> Option<String> {
    match target(open).cloned()? {
        Target::Object(subject) => {
            let words = subject.written(&open.timeline);
            go_to(open, subject);
            Some(words)
        }
        Target::Moment(seq, subject) => {
            go_back_to(open, seq, subject);
            None
        }
        Target::Version(seq) => {
            let subject = open.selected.clone()?;
            let at = open.timeline.written(Place::behind(&open.timeline, seq).at);
            Some(if open.reading.mark(&subject, seq) {
                format!("marked the version of {at}: D shows what differs from the one here")
            } else {
                "no version is marked: D compares with the one before".to_owned()
            })
        }
    }
}

/// Selects an object, and lists it if it has no row.
fn go_to(open: &mut Open, subject: Subject) {
    let resource = subject.resource;
    if open.namespace.is_some() && open.namespace.as_ref() != Some(&subject.namespace) {
        open.namespace = None;
        refresh::filtered(open);
    }
    open.selected = Some(subject);
    open.condition = None;
    if open.row().is_none() {
        open.list = List::Objects(resource);
        open.table = None;
    }
}

/// Goes to an object and to the moment at which it changed.
fn go_back_to(open: &mut Open, seq: Seq, subject: Subject) {
    let place = Place::behind(&open.timeline, seq);
    open.selected = Some(subject);
    let (select, namespace) = open.chosen();
    // What was recorded can be named.
    drop(opening::choose(open, &select, &namespace));
    show(open, Panel::Yaml);
    open.pane = Pane::List;
    open.field = None;
    moving::jump(open, place);
}
