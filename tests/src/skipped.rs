//! The one way in which a test says that it did not run.

use std::io::Write as _;

/// Says on stderr, past the test runner's capture, that a test passes by not running.
///
/// # Panics
/// When stderr is closed: a skipped test must be seen.
pub fn say_skipped(reason: &str) {
    let said = writeln!(std::io::stderr().lock(), "\nskipped: {reason}\n");
    assert!(said.is_ok(), "a skipped test says so, but stderr is closed");
}
