//! Owns what there is to choose from, resources and namespaces, and what choosing does. Refuses to
//! count: answers bring that.

use super::refresh;
use crate::answer::{Kind, Question};
use crate::model::{Choice, List, Model, Open, Pane, Reel, Screen};
use crate::msg::Act;
use kubereel_format::ResourceId;

/// Gives the resources that the letters leave.
pub(crate) fn kinds<'a>(open: &'a Open, choice: &Choice) -> Vec<&'a Kind> {
    let all = open.browse.kinds.iter().flat_map(|kinds| &kinds.rows);
    all.filter(|kind| choice.leaves(&kind.name)).collect()
}

/// Gives the namespaces that the letters leave, with their objects; `None` stands for all of them.
pub(crate) fn namespaces<'a>(open: &'a Open, choice: &Choice) -> Vec<Option<&'a (String, usize)>> {
    let rows = open.browse.namespaces.iter().flat_map(|all| &all.rows);
    let rows = rows.filter(|(name, _)| choice.leaves(name)).map(Some);
    let all = choice.text.trim().is_empty().then_some(None);
    all.into_iter().chain(rows).collect()
}

/// Asks for what a screen has to choose from.
pub(super) fn question(open: &Open, screen: &Screen) -> Option<Question> {
    match screen {
        Screen::Kinds(_) => Some(Question::Kinds(open.browse.kinds_order, open.place)),
        Screen::Namespaces(_) => counted(open).map(|id| Question::Namespaces(id, open.place)),
        _ => None,
    }
}

/// Gives the resource whose objects are counted in namespaces: the one listed, else pods.
fn counted(open: &Open) -> Option<ResourceId> {
    match open.list {
        List::Objects(resource) => Some(resource),
        List::Lanes => open
            .timeline
            .resources()
            .find("pods")
            .ok()
            .map(|info| info.id),
    }
}

/// Opens a list to choose from; gives a word where there is nothing to choose.
pub(super) fn browse(model: &mut Model, act: Act) {
    let Reel::Open(open) = &mut model.reel else {
        return;
    };
    if act == Act::Kinds {
        open.browse.kinds = None;
        model.screen = Screen::Kinds(Choice::default());
        return;
    }
    let info = counted(open).and_then(|id| open.timeline.resources().get(id));
    match info {
        Some(info) if info.namespaced => {
            open.browse.namespaces = None;
            model.screen = Screen::Namespaces(Choice::default());
        }
        Some(info) => {
            let name = info.qualified();
            model.word = Some(format!("{name} have no namespaces"));
        }
        None => model.word = Some("no pods were recorded: b lists something else".to_owned()),
    }
}

/// Stands at what is listed, once there is something to choose from.
pub(super) fn settle(model: &mut Model) {
    let Reel::Open(open) = &mut model.reel else {
        return;
    };
    match &mut model.screen {
        Screen::Kinds(choice) => {
            let listed = match open.list {
                List::Objects(resource) => Some(resource),
                List::Lanes => open.selected.as_ref().map(|subject| subject.resource),
            };
            let all = kinds(open, choice);
            let at = all.iter().position(|kind| Some(kind.resource) == listed);
            choice.at = at.unwrap_or(0);
        }
        Screen::Namespaces(choice) => {
            let all = namespaces(open, choice);
            let at = all
                .iter()
                .position(|row| row.map(|row| &row.0) == open.namespace.as_ref());
            choice.at = at.unwrap_or(0);
        }
        _ => {}
    }
}

/// Lists the objects of the resource that is chosen.
pub(super) fn list(open: &mut Open, choice: &Choice) {
    let Some(resource) = kinds(open, choice).get(choice.at).map(|kind| kind.resource) else {
        return;
    };
    list_resource(open, resource);
}

/// Lists the objects of a resource.
pub(super) fn list_resource(open: &mut Open, resource: ResourceId) {
    open.list = List::Objects(resource);
    open.pane = Pane::List;
    open.selected = None;
    open.condition = None;
    open.table = None;
    open.answer = None;
}

/// Takes the namespace that is chosen.
pub(super) fn take_namespace(open: &mut Open, choice: &Choice) {
    let rows = namespaces(open, choice);
    let Some(row) = rows.get(choice.at) else {
        return;
    };
    open.namespace = row.map(|row| row.0.clone());
    refresh::filtered(open);
}

/// Turns the order round of what is listed; gives a word where nothing is.
pub(super) fn order(open: &mut Open, screen: &Screen) -> Option<String> {
    match (screen, open.list) {
        (Screen::Kinds(_), _) => open.browse.kinds_order = open.browse.kinds_order.other(),
        (Screen::Namespaces(_), _) => {}
        (_, List::Objects(_)) => open.browse.order = open.browse.order.other(),
        (_, List::Lanes) => {
            return Some("lanes have an order of their own: b lists objects".to_owned());
        }
    }
    None
}
