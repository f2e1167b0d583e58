//! The objects of a resource at a moment: kubectl's columns, and when each row last changed. Widths belong
//! to the view.

use super::object_at::trust;
use crate::filter::{FilterCandidate, FilterQuery};
use crate::lane::LaneState;
use crate::subject::{NamedObject, ResourceEvents};
use crate::time::CursorPlace;
use kubereel_cluster::StateKind;
use kubereel_format::{RecordedAt, ResourceId, ResourceInfo, Seq};
use kubereel_history::{
    ColumnRoom, ObjectFilter, ObjectForm, ObjectVersion, ResourceColumns, Timeline, harmless,
};
use std::cmp::Reverse;
use std::sync::Arc;

/// How a list is sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SortOrder {
    /// By name.
    #[default]
    Name,
    /// What changed last comes first.
    Changed,
}

impl SortOrder {
    /// Gives the other one.
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Name => Self::Changed,
            Self::Changed => Self::Name,
        }
    }

    /// Gives the words for it.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Name => "by name",
            Self::Changed => "by last change",
        }
    }
}

/// The most rows of a table: each is a body to read.
pub(crate) const MOST_ROWS: usize = 2_000;

/// Which objects a table lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableQuery {
    /// The resource.
    pub(crate) resource: ResourceId,
    /// The namespace; all of them if none.
    pub(crate) namespace: Option<String>,
    /// How they are sorted.
    pub(crate) order: SortOrder,
    /// What they have to pass before they are listed.
    pub(crate) filter: Arc<FilterQuery>,
}

/// A row.
#[derive(Clone, Debug)]
pub(crate) struct ObjectRow {
    /// The object.
    pub(crate) subject: NamedObject,
    /// Its cells.
    pub(crate) cells: Vec<String>,
    /// Its state at the moment; `None` if its kind has none.
    pub(crate) health: Option<LaneState>,
    /// When the version came.
    pub(crate) changed: RecordedAt,
}

impl ObjectRow {
    /// Tells whether a filter lets it through, as far as no body is needed.
    pub(crate) fn passes(&self, query: &FilterQuery) -> bool {
        let seen = FilterCandidate {
            resource: Some(self.subject.resource),
            namespace: &self.subject.namespace,
            texts: self.cells.iter().map(String::as_str),
        };
        query.admits(&seen, |state| self.health == Some(state))
    }
}

/// The objects of a resource at a moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct ObjectTable {
    /// The resource's name.
    pub(crate) name: String,
    /// The names of the columns.
    pub(crate) columns: Vec<String>,
    /// The rows.
    pub(crate) rows: Vec<ObjectRow>,
    /// How many rows were left out, of those that pass.
    pub(crate) rest: usize,
    /// How many objects there are, whether they pass or not.
    pub(crate) all: usize,
    /// What is wrong with the knowledge of the moment.
    pub(crate) trust: Option<String>,
    /// Why there are no rows, and where there are some; empty if there are rows.
    pub(crate) absent: String,
}

/// Reads the table.
pub(super) fn read(timeline: &Timeline, listing: &TableQuery, place: CursorPlace) -> ObjectTable {
    let mut table = ObjectTable {
        name: String::new(),
        columns: Vec::new(),
        rows: Vec::new(),
        rest: 0,
        all: 0,
        trust: None,
        absent: String::new(),
    };
    let Some(info) = timeline.resources().get(listing.resource) else {
        table.trust = Some("the reel knows no such resource".to_owned());
        return table;
    };
    let info = timeline.resource_at(info, place.cut());
    table.name = harmless(&info.qualified()).into_owned();
    let filter = ObjectFilter {
        namespace: listing.namespace.as_deref().filter(|_| info.namespaced),
        names: &[],
    };
    let mut state = timeline.as_of(info.id, place.cut(), &filter);
    table.trust = trust(timeline, &state.certainty);
    let has_state = state.certainty.has_state();
    let columns = match ResourceColumns::of(timeline, info, place.cut(), ColumnRoom::Narrow) {
        Ok(columns) => columns,
        Err(error) => {
            table.trust = Some(harmless(&error.to_string()).into_owned());
            return table;
        }
    };
    let shows_namespaces = info.namespaced && listing.namespace.is_none();
    if shows_namespaces {
        table.columns.push("NAMESPACE".to_owned());
    }
    table.columns.extend(columns.names());
    if listing.order == SortOrder::Changed {
        state.objects.sort_by_key(|held| Reverse(held.seq));
    }
    table.all = state.objects.len();
    let is_narrowed = !listing.filter.is_empty();
    let rows = RowReader {
        timeline,
        info,
        columns: &columns,
        listing,
        place,
    };
    // Without a filter, only listed objects need their bodies.
    let most = if is_narrowed { table.all } else { MOST_ROWS };
    let asked = state.objects.get(..most.min(table.all)).unwrap_or_default();
    let read = timeline.read_each(asked, place.cut(), &mut |_| {}, |held, body| {
        Ok(rows.row(held, body))
    });
    let read = asked.iter().zip(read);
    let read = read.filter_map(|(held, row)| row.unwrap_or_else(|error| rows.unread(held, &error)));
    let mut read: Vec<ObjectRow> = read.collect();
    table.rest = read.len().saturating_sub(MOST_ROWS);
    read.truncate(MOST_ROWS);
    if !is_narrowed {
        table.rest = table.all - read.len();
    }
    table.rows = read;
    if state.objects.is_empty() {
        table.absent = absent(timeline, info, listing, place, has_state);
    }
    table
}

/// What rows are made with.
struct RowReader<'a> {
    timeline: &'a Timeline,
    info: &'a ResourceInfo,
    columns: &'a ResourceColumns,
    listing: &'a TableQuery,
    place: CursorPlace,
}

impl RowReader<'_> {
    /// Makes a row of a body; `None` if it does not pass.
    fn row(&self, held: &ObjectVersion, body: &[u8]) -> Option<ObjectRow> {
        let object = match ObjectForm::default().of(body, self.info) {
            Ok(object) => object,
            Err(error) => return self.unread(held, &error),
        };
        if !self.listing.filter.admits_body(&object) {
            return None;
        }
        let health = StateKind::of_resource(self.info).whole(&object);
        let cells = self.columns.row(&object, self.place.at);
        self.passed(held, cells, health.map(|(health, _)| health))
    }

    /// Makes a row of what cannot be read; whether its labels and fields pass is not known.
    fn unread(&self, held: &ObjectVersion, error: &dyn std::fmt::Display) -> Option<ObjectRow> {
        if self.listing.filter.is_deep() {
            return None;
        }
        let cells = vec![held.name.clone(), format!("cannot be read: {error}")];
        self.passed(held, cells, Some(LaneState::Unknown))
    }

    fn passed(
        &self,
        held: &ObjectVersion,
        mut cells: Vec<String>,
        health: Option<LaneState>,
    ) -> Option<ObjectRow> {
        if self.info.namespaced && self.listing.namespace.is_none() {
            cells.insert(0, held.namespace.clone());
        }
        let harmless = cells.iter().map(|cell| harmless(cell).into_owned());
        let row = ObjectRow {
            cells: harmless.collect(),
            health,
            subject: NamedObject {
                resource: self.listing.resource,
                namespace: held.namespace.clone(),
                name: held.name.clone(),
            },
            changed: CursorPlace::behind(self.timeline, held.seq).at,
        };
        row.passes(&self.listing.filter).then_some(row)
    }
}

/// Says that there are none, and which key leads to where there are some.
fn absent(
    timeline: &Timeline,
    info: &ResourceInfo,
    listing: &TableQuery,
    place: CursorPlace,
    has_state: bool,
) -> String {
    let at = place.written(timeline);
    let namespace = listing.namespace.as_deref().filter(|_| info.namespaced);
    let within = namespace.map_or_else(String::new, |only| {
        format!(" in namespace {}", harmless(only))
    });
    let what = format!("{}{within}", harmless(&info.qualified()));
    let events = ResourceEvents {
        timeline,
        resource: info.id,
        namespace,
    };
    let when = |seq: Seq| timeline.written(CursorPlace::behind(timeline, seq).at);
    let (before, after) = (events.previous(place.below), events.next(place.below));
    let lead = match (before, after) {
        (None, Some(seq)) => format!("first at {}: press .", when(seq)),
        (Some(_), Some(seq)) => format!("next at {}: press .", when(seq)),
        (Some(seq), None) => format!("last at {}: press ,", when(seq)),
        (None, None) => "none in this reel".to_owned(),
    };
    if has_state {
        format!("no {what} at {at} ({lead})")
    } else {
        format!("{what} at {at}: unknown ({lead})")
    }
}
