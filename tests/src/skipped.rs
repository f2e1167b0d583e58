//! The one way in which a test reports that it did not run.

use std::io::Write as _;

/// Reports on stderr, past the test runner's capture, that a test did not run.
///
/// # Panics
/// When stderr is closed: a skipped test must be visible.
pub fn say_skipped(reason: &str) {
    let said = writeln!(std::io::stderr().lock(), "\nskipped: {reason}\n");
    assert!(said.is_ok(), "a skipped test says so, but stderr is closed");
}

/// Asks for the tests that take long.
const SLOW: &str = "KUBEREEL_SLOW";

/// Returns whether the tests that take long were requested: a test that repeats the same does it more often then.
pub fn slow_tests_requested() -> bool {
    std::env::var_os(SLOW).is_some()
}

/// Returns whether a slow test must be skipped because slow tests were not requested; reports it.
///
/// # Panics
/// When stderr is closed.
pub fn skipped_as_slow(what: &str) -> bool {
    if slow_tests_requested() {
        return false;
    }
    say_skipped(&format!(
        "{what}: it takes long; set {SLOW}=1 to run it, or `just soak`"
    ));
    true
}
