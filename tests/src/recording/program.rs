//! Owns where the `kubereel` program under test comes from. Refuses a stale one.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context as _, Result, anyhow, ensure};

/// Names another program to test.
const PROGRAM: &str = "KUBEREEL_BIN";

static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();

/// The program: the one `KUBEREEL_BIN` names, else the workspace's, built first.
///
/// Cargo builds the binary of another package for its own tests only, so that what lies beside
/// these tests may be old. It is built with the features of the whole workspace, as
/// `cargo test --workspace` has built it already.
///
/// # Errors
///
/// When it cannot be built.
pub fn program() -> Result<PathBuf> {
    BUILT
        .get_or_init(|| build().map_err(|error| format!("{error:#}")))
        .clone()
        .map_err(|error| anyhow!(error))
}

fn build() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os(PROGRAM) {
        return Ok(path.into());
    }
    let test = std::env::current_exe()?;
    let folder = test
        .ancestors()
        .find(|folder| folder.join("deps").is_dir())
        .context("the tests lie in no target folder")?;
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .args(["build", "--quiet", "--workspace", "--bin", "kubereel"]);
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    // What cargo says to this test is not what it says at a shell; dependencies whose build scripts
    // look at it would be built anew, each time.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&*name);
        }
    }
    let output = cargo.output().context("cargo build")?;
    ensure!(
        output.status.success(),
        "cargo build: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(folder.join(format!("kubereel{}", std::env::consts::EXE_SUFFIX)))
}
