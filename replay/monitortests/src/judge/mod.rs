//! The monitortest that a rule makes: it watches objects while the reel is read, or looks at intervals
//! afterwards, and says what it found.

mod cases;
mod choose;
mod early;
mod finding;
mod intervals;
mod objects;
mod test;
mod values;

pub(crate) use test::RuleTest;
