//! Questions that take bodies of the reel, and their answers, in words fit for the screen.

mod compare;
mod events;
mod field_change;
mod history;
mod kinds;
mod namespaces;
mod nearby;
mod question;
mod search;
mod short;
mod table;
mod trust;
mod yaml;

pub(crate) use kinds::{Kind, Kinds, NEARBY_SECS};
pub(crate) use namespaces::Namespaces;
pub(crate) use nearby::{LEAST_MICROS, Nearby, target};
pub(crate) use question::{Answer, Ink, Line, Question, SLOTS, answer, is_same_thing};
pub(crate) use table::{Listing, MOST_ROWS, Row, Table};
