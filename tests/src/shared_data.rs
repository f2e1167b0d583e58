//! Where recordings of others lie that tests may read in place. It does not copy anything of them,
//! and to pass over their absence in silence.

use crate::skipped::say_skipped;
use std::path::{Path, PathBuf};

/// Names the folder if it does not lie beside the project.
const VARIABLE: &str = "KUBEREEL_SHARED_DATA";

/// Returns the path of a shared file; `None`, reported, if it is not there.
pub fn shared_data(file: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let folder = std::env::var_os(VARIABLE).map_or_else(beside, PathBuf::from);
    let path = folder.join(file);
    if path.exists() {
        return Some(path);
    }
    say_skipped(&format!(
        "no {file} in the shared data; {VARIABLE} names another folder"
    ));
    None
}
