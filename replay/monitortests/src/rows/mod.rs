//! Verdicts as rows that a database can search: a line of JSON for each run and case.

mod row;

pub use row::{Row, RowOrigin};
