//! Owns the table of a resource at a moment: kubectl's columns, and how long ago each row changed.
//! Refuses widths: the view knows its own.

use super::trust::trust;
use crate::model::{Place, Subject};
use kubereel_format::{RecordedAt, ResourceId};
use kubereel_replay::{Filter, Form, Room, Timeline, harmless};

/// How many rows a table has at most: nobody scrolls further, and each is a body to read.
const MOST_ROWS: usize = 2_000;

/// A row.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The object.
    pub(crate) subject: Subject,
    /// Its cells.
    pub(crate) cells: Vec<String>,
    /// When the version came.
    pub(crate) changed: RecordedAt,
}

/// The objects of a resource at a moment.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// The resource's name.
    pub(crate) name: String,
    /// The names of the columns.
    pub(crate) columns: Vec<String>,
    /// The rows.
    pub(crate) rows: Vec<Row>,
    /// How many rows were left out.
    pub(crate) rest: usize,
    /// What is wrong with the knowledge of the moment.
    pub(crate) trust: Option<String>,
    /// Whether there is a state to show at all.
    pub(crate) has_state: bool,
}

/// Reads the table.
pub(super) fn read(timeline: &Timeline, resource: ResourceId, place: Place) -> Table {
    let mut table = Table {
        name: String::new(),
        columns: Vec::new(),
        rows: Vec::new(),
        rest: 0,
        trust: None,
        has_state: false,
    };
    let Some(info) = timeline.resources().get(resource) else {
        table.trust = Some("the reel knows no such resource".to_owned());
        return table;
    };
    let info = timeline.resource_at(info, place.cut());
    table.name = harmless(&info.qualified()).into_owned();
    let state = timeline.as_of(info.id, place.cut(), &Filter::default());
    table.trust = trust(timeline, &state.certainty);
    table.has_state = state.certainty.has_state();
    let columns = match timeline.columns(info, place.cut(), Room::Narrow) {
        Ok(columns) => columns,
        Err(error) => {
            table.trust = Some(harmless(&error.to_string()).into_owned());
            return table;
        }
    };
    if info.namespaced {
        table.columns.push("NAMESPACE".to_owned());
    }
    table.columns.extend(columns.names());
    for held in state.objects.iter().take(MOST_ROWS) {
        let mut cells = Vec::new();
        if info.namespaced {
            cells.push(held.namespace.clone());
        }
        match timeline.object(held.seq, info, Form::default()) {
            Ok(object) => cells.extend(columns.row(&object, place.at)),
            Err(error) => cells.extend([held.name.clone(), error.to_string()]),
        }
        let harmless = cells.iter().map(|cell| harmless(cell).into_owned());
        table.rows.push(Row {
            cells: harmless.collect(),
            subject: Subject {
                resource,
                namespace: held.namespace.clone(),
                name: held.name.clone(),
            },
            changed: Place::behind(timeline, held.seq).at,
        });
    }
    table.rest = state.objects.len().saturating_sub(MOST_ROWS);
    table
}
