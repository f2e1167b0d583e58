//! Questions that need object bodies, and their answers as text for the screen.

mod changes;
mod choices;
mod differences;
mod document;
mod fields;
mod line;
mod object;
mod object_at;
mod question;
mod table;

pub(crate) use changes::{LEAST_MICROS, Nearby};
pub(crate) use choices::{Kind, Kinds, NEARBY_SECS, Namespaces};
pub(crate) use differences::Difference;
pub(crate) use document::{Document, document};
pub(crate) use line::{Ink, Line, Target};
pub(crate) use question::{
    Answer, FieldSearch, Found, Panel, Question, SLOTS, Search, answer, is_same_thing, not_answered,
};
pub(crate) use table::{Listing, MOST_ROWS, Order, Row, Table};
