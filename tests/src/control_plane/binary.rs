//! Where the control plane's binary is, and what a test does when there is none.
//!
//! It refuses to build it: that takes minutes and belongs to `tests/control-plane/build.sh`.

use std::path::PathBuf;
use std::sync::Once;

use anyhow::bail;

use crate::skipped::say_skipped;

/// Names the binary itself; set it to what `tests/control-plane/build.sh` prints.
const BINARY: &str = "KUBEREEL_CONTROL_PLANE";
/// Where `build.sh` keeps its binaries, if not in the user's cache folder.
const CACHE: &str = "KUBEREEL_CACHE";
/// With the value 1 a missing binary fails the tests that would else be skipped.
const REQUIRE: &str = "KUBEREEL_REQUIRE_CONTROL_PLANE";

const MISSING: &str =
    "no control plane binary; build it with tests/control-plane/build.sh (6 minutes)";

static SAID: Once = Once::new();

/// Finds the binary that `tests/control-plane/build.sh` made.
///
/// # Errors
/// When there is none, or the one named by `KUBEREEL_CONTROL_PLANE` does not exist.
pub fn find_binary() -> anyhow::Result<PathBuf> {
    if let Some(named) = std::env::var_os(BINARY) {
        let named = PathBuf::from(named);
        if !named.is_file() {
            bail!(
                "no such control plane binary, though {BINARY} names it: {}",
                named.display()
            );
        }
        return Ok(named);
    }
    let cache = std::env::var_os(CACHE).map(PathBuf::from).or_else(|| {
        std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/kubereel"))
    });
    // The link is followed once, so that a rebuild cannot change a running control plane's binary.
    match cache.map(|cache| cache.join("control-plane/current").canonicalize()) {
        Some(Ok(binary)) => Ok(binary),
        _ => bail!(MISSING),
    }
}

/// Tells whether a test must return because there is no binary, and says so, once and loudly.
///
/// # Panics
/// When there is no binary and `KUBEREEL_REQUIRE_CONTROL_PLANE` is 1, as in CI.
#[must_use]
pub fn skipped() -> bool {
    let Err(error) = find_binary() else {
        return false;
    };
    let required = std::env::var_os(REQUIRE).is_some_and(|value| value == "1");
    assert!(!required, "{error} ({REQUIRE} is set)");
    SAID.call_once(|| say_skipped(&error.to_string()));
    true
}
