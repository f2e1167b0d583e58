//! The fault matrix: every fault that a recorder must survive, the tests that show it, and what they
//! measured last. `docs/faults.md` is made of it.
//!
//! # To add a row, or a test to a row
//!
//! 1. In `scripted.rs`, `process.rs` or `real.rs` (the three parts of the list), find the fault's row,
//!    or write `row("fault", EXPECTED, &[TEST, …])`, where a test is `real(FILE, FUNCTION)`,
//!    `scripted(FILE, FUNCTION)` or `unit(FILE, FUNCTION)`, by what it is played on; paths begin at the
//!    workspace. `.but("…")` says what a test leaves open. A row without expectation and tests is open,
//!    and the page says so, with its remark.
//! 2. Let the test call [`crate::claims::Claims::read`], `against` and `check`: it fails if anything is
//!    lost or claimed falsely, and leaves its counts for the table.
//! 3. `UPDATE=1 cargo test -p kubereel-tests --test it fault_matrix` writes `docs/faults.md`, with the
//!    counts of the tests that ran on this machine. Without `UPDATE` it says what is not as it should be.

mod process;
mod real;
mod row;
mod scripted;

pub use row::is_test;
pub use row::{Expected, Place, Row, Test};
pub use row::{Measured, MeasuredAll};
pub use row::{counts, page};

/// A part of the list.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// Its heading.
    pub title: &'static str,
    /// Its rows.
    pub rows: &'static [Row],
}

/// The whole list.
pub const PARTS: [Part; 3] = [
    Part {
        title: "What servers and networks do",
        rows: scripted::ROWS,
    },
    Part {
        title: "What happens to the recorder itself",
        rows: process::ROWS,
    },
    Part {
        title: "What happens to a control plane",
        rows: real::ROWS,
    },
];
