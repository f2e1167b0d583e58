//! Owns what follows from the model whenever it changed: which rows show, how many events came when,
//! and what must be asked. Refuses choices.

use super::browsing;
use super::{lane_rows, picking};
use crate::answer::{Answer, LEAST_MICROS, Listing, Nearby, Question};
use crate::effect::Effect;
use crate::filter::Seen;
use crate::layout::layout;
use crate::model::{List, Model, Open, Panel, Reel};
use kubereel_history::Density;
use std::sync::Arc;

/// Brings everything up to date, and gives what must be asked.
pub(super) fn refresh(model: &mut Model) -> Vec<Effect> {
    let layout = layout(model);
    let (cells, has_panel) = (layout.cells(), layout.panel.height > 0);
    let Reel::Open(open) = &mut model.reel else {
        return Vec::new();
    };
    let is_fresh = open
        .density
        .as_ref()
        .is_some_and(|(window, of, _)| (*window, *of) == (open.window, cells));
    if !is_fresh && cells > 0 {
        let span = open.window.from..open.window.end();
        let density = Density::of(&open.timeline, span, usize::from(cells), None);
        open.density = Some((open.window, cells, density));
    }
    lane_rows::refresh(open, &layout);
    picking::refresh(open);
    let wanted = [
        table(open),
        panel(open, cells).filter(|_| has_panel),
        browsing::question(open, &model.screen),
    ];
    let mut effects = Vec::new();
    for (asked, wanted) in open.asked.iter_mut().zip(wanted) {
        if *asked != wanted {
            if let Some(question) = &wanted {
                effects.push(Effect::Ask(Arc::clone(&open.timeline), question.clone()));
            }
            *asked = wanted;
        }
    }
    effects
}

pub(super) fn table(open: &Open) -> Option<Question> {
    match open.list {
        List::Lanes => None,
        List::Objects(resource) => {
            let listing = Listing {
                resource,
                namespace: open.namespace.clone(),
                order: open.browse.order,
                filter: Arc::clone(open.sieve(resource)),
            };
            Some(Question::Table(listing, open.place))
        }
    }
}

pub(super) fn panel(open: &Open, cells: u16) -> Option<Question> {
    if open.panel == Panel::Nearby {
        let asked = Nearby {
            micros: open.window.cell_micros(cells).max(LEAST_MICROS),
            filter: open.filter.text().to_owned(),
            namespace: open.namespace.clone(),
        };
        return Some(Question::Nearby(asked, open.place));
    }
    let subject = open.selected.clone()?;
    Some(match open.panel {
        Panel::Between => Question::Between(subject, open.compared.a, open.place),
        Panel::Yaml | Panel::Nearby => Question::Yaml(subject, open.place),
        Panel::History => Question::History(subject, open.place),
        Panel::Events => Question::Events(subject, open.place),
        Panel::Diff => {
            let other = open.reading.other_of(&subject);
            Question::Diff(subject, open.place, other)
        }
        Panel::Blame => Question::Blame(subject, open.place),
        Panel::Owners => Question::Owners(subject, open.place),
        Panel::Conditions => Question::Conditions(subject, open.place),
        Panel::Raw => Question::Raw(subject, open.place),
    })
}

/// Finds the rows that the filter leaves.
pub(super) fn filtered(open: &mut Open) {
    lane_rows::arrange(open);
    let query = open.filter.query();
    if let Some(view) = &mut open.table {
        let rows = view.table.rows.iter().enumerate().filter(|(_, row)| {
            let texts = row.cells.iter().map(String::as_str);
            let seen = Seen {
                resource: row.subject.resource,
                namespace: &row.subject.namespace,
                texts,
            };
            // A table has no states; the words are looked for as they are.
            query.admits(&seen, |state| row.says(state.word()))
        });
        view.rows = rows.map(|(at, _)| at).collect();
        view.measure();
    }
}

/// Gives how many lines an answer has.
pub(super) fn line_count(answer: &Answer) -> usize {
    match answer {
        Answer::Table(_, table) => table.rows.len(),
        Answer::Lines(_, lines, _) => lines.len(),
        Answer::Kinds(_, kinds) => kinds.rows.len(),
        Answer::Namespaces(_, namespaces) => namespaces.rows.len(),
    }
}
