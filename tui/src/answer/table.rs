//! Owns the table of a resource at a moment: kubectl's columns, and how long ago each row changed.
//! Refuses widths: the view knows its own.

use super::trust::trust;
use crate::model::{EventsOf, Order, Place, Subject};
use kubereel_format::{RecordedAt, ResourceId, ResourceInfo, Seq};
use kubereel_replay::{Filter, Form, Room, Timeline, harmless};
use std::cmp::Reverse;

/// How many rows a table has at most: nobody scrolls further, and each is a body to read.
const MOST_ROWS: usize = 2_000;

/// Which objects are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listing {
    /// The resource.
    pub(crate) resource: ResourceId,
    /// The namespace; all of them if none.
    pub(crate) namespace: Option<String>,
    /// How they are sorted.
    pub(crate) order: Order,
}

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
    /// Why there are no rows, and where there are some; empty if there are rows.
    pub(crate) absent: String,
}

/// Reads the table.
pub(super) fn read(timeline: &Timeline, listing: &Listing, place: Place) -> Table {
    let mut table = Table {
        name: String::new(),
        columns: Vec::new(),
        rows: Vec::new(),
        rest: 0,
        trust: None,
        absent: String::new(),
    };
    let Some(info) = timeline.resources().get(listing.resource) else {
        table.trust = Some("the reel knows no such resource".to_owned());
        return table;
    };
    let info = timeline.resource_at(info, place.cut());
    table.name = harmless(&info.qualified()).into_owned();
    let filter = Filter {
        namespace: listing.namespace.as_deref().filter(|_| info.namespaced),
        names: &[],
    };
    let mut state = timeline.as_of(info.id, place.cut(), &filter);
    table.trust = trust(timeline, &state.certainty);
    let has_state = state.certainty.has_state();
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
    if listing.order == Order::Changed {
        state.objects.sort_by_key(|held| Reverse(held.seq));
    }
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
                resource: listing.resource,
                namespace: held.namespace.clone(),
                name: held.name.clone(),
            },
            changed: Place::behind(timeline, held.seq).at,
        });
    }
    table.rest = state.objects.len().saturating_sub(MOST_ROWS);
    if state.objects.is_empty() {
        table.absent = absent(timeline, info, listing, place, has_state);
    }
    table
}

/// Says that there are none, and which key leads to where there are some.
fn absent(
    timeline: &Timeline,
    info: &ResourceInfo,
    listing: &Listing,
    place: Place,
    has_state: bool,
) -> String {
    let at = place.written(timeline);
    let namespace = listing.namespace.as_deref().filter(|_| info.namespaced);
    let within = namespace.map_or_else(String::new, |only| {
        format!(" in namespace {}", harmless(only))
    });
    let what = format!("{}{within}", harmless(&info.qualified()));
    let events = EventsOf {
        timeline,
        resource: info.id,
        namespace,
    };
    let when = |seq: Seq| timeline.written(Place::behind(timeline, seq).at);
    let (before, after) = (events.previous(place.below), events.next(place.below));
    let lead = match (before, after) {
        (None, Some(seq)) => format!("first one at {}: press .", when(seq)),
        (Some(_), Some(seq)) => format!("next one at {}: press .", when(seq)),
        (Some(seq), None) => format!("the last one until {}: press ,", when(seq)),
        (None, None) => "there never was one in this reel".to_owned(),
    };
    if has_state {
        format!("no {what} at {at} ({lead})")
    } else {
        format!("what {what} there were at {at} is not known ({lead})")
    }
}
