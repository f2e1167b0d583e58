//! Owns what the UI must know of the executable that it is part of. Refuses to find it out: the binary
//! does.

use std::path::PathBuf;

/// The executable that the UI is part of, and where it may keep what it found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executable {
    /// Its file: `PATH test -o json --progress json -- REEL` judges a reel.
    pub path: PathBuf,
    /// The folder for what can be found again; without one, nothing is kept.
    pub cache: Option<PathBuf>,
}
