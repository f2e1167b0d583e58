//! Runs of monitortests over reels that the tests write: verdicts, exceptions, JUnit, rows.

mod exceptions;
mod junit;
mod labels;
mod rows;
#[path = "../../../../history/tests/it/script.rs"]
#[expect(
    dead_code,
    reason = "shared with the tests of the library, which use all of it"
)]
mod script;
mod verdicts;
