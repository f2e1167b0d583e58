//! What others install: the observer of OpenShift CI's step registry, the manifests for a cluster, and
//! what the Containerfile says. Each is held against the rules of those who will read it.

mod image;
mod kubernetes;
mod registry;

use std::path::{Path, PathBuf};

/// A file or folder of the project.
fn of_project(path: &str) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests).join(path)
}
