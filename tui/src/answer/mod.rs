//! Questions that take bodies of the reel, and their answers, in words fit for the screen.

mod events;
mod history;
mod question;
mod table;
mod trust;
mod yaml;

pub(crate) use question::{Answer, Ink, Line, Question, answer, is_same_thing};
pub(crate) use table::Table;
