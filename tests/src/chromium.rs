//! Headless Chromium, for tests of pages: what a browser makes of a file, as the document it ends with.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Once;

use anyhow::{Result, bail, ensure};

use crate::skipped::say_skipped;

/// Set to 1 where the absence of Chromium is a failure, as in CI.
const REQUIRE: &str = "KUBEREEL_REQUIRE_CHROMIUM";

const MISSING: &str = "no chromium to open pages with; Debian's package is called chromium";

/// The browser's patience in its own, virtual time, in milliseconds.
const VIRTUAL_MILLIS: u32 = 5_000;

/// The longest that one page may take, in seconds, before the browser is killed.
const PATIENCE_SECS: u32 = 120;

static SAID: Once = Once::new();

/// Returns whether a test must return because there is no Chromium, and reports it.
///
/// # Panics
///
/// When there is none and `KUBEREEL_REQUIRE_CHROMIUM` is 1.
#[must_use]
pub fn skipped() -> bool {
    let version = Command::new("chromium")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if version.is_ok_and(|status| status.success()) {
        return false;
    }
    let required = std::env::var_os(REQUIRE).is_some_and(|value| value == "1");
    assert!(!required, "{MISSING} ({REQUIRE} is set)");
    SAID.call_once(|| say_skipped(MISSING));
    true
}

/// Opens a file, lets its scripts run, and returns the document as HTML.
///
/// # Errors
///
/// When the browser fails or takes too long.
pub fn dump_dom(page: &Path) -> Result<String> {
    let profile = tempfile::tempdir()?;
    let output = Command::new("timeout")
        .args(["--kill-after=5", &PATIENCE_SECS.to_string(), "chromium"])
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
        ])
        .args(["--no-first-run", "--disable-background-networking"])
        .args(["--disable-component-update", "--disable-sync"])
        .args(["--disable-dev-shm-usage"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("--virtual-time-budget={VIRTUAL_MILLIS}"))
        .arg("--dump-dom")
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{}: {said}", output.status);
    let document = String::from_utf8(output.stdout)?;
    if document.trim().is_empty() {
        bail!("no document: {said}");
    }
    Ok(document)
}
