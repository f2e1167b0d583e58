//! Questions that take bodies of the reel, and their answers, in words fit for the screen.

mod blame;
mod compare;
mod conditions;
mod diff;
mod document;
mod events;
mod field_change;
mod here;
mod history;
mod kinds;
mod line;
mod namespaces;
mod nearby;
mod owners;
mod question;
mod raw;
mod search;
mod short;
mod table;
mod trust;
mod yaml;

pub(crate) use document::{Document, document};
pub(crate) use kinds::{Kind, Kinds, NEARBY_SECS};
pub(crate) use line::{Ink, Line, Target};
pub(crate) use namespaces::Namespaces;
pub(crate) use nearby::{LEAST_MICROS, Nearby};
pub(crate) use question::{Answer, Question, SLOTS, answer, is_same_thing, not_answered};
pub(crate) use table::{Listing, MOST_ROWS, Row, Table};
