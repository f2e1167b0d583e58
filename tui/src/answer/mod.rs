//! Questions that need object bodies, and their answers as text for the screen.

mod changes;
mod choices;
mod differences;
mod document;
mod fields;
mod line;
mod object;
mod object_at;
mod problem;
mod question;
mod table;

pub(crate) use changes::{LEAST_MICROS, MOST_READ, MOST_READ_STANDING, NearbyQuery};
pub(crate) use choices::{NEARBY_SECS, NamespaceChoices, ResourceChoice, ResourceChoices};
pub(crate) use differences::{Difference, REWRITTEN, UNREADABLE};
pub(crate) use document::{ScreenDocument, document, suggested_name};
pub(crate) use line::{Ink, LineTarget, PanelLine};
pub(crate) use problem::problem_lines;
pub(crate) use question::{
    FieldSearch, Panel, SLOTS, ScreenAnswer, ScreenQuestion, ScreenSearch, SearchResult, answer,
    is_same_thing, not_answered,
};
pub(crate) use table::{MOST_ROWS, ObjectRow, ObjectTable, SortOrder, TableQuery};
