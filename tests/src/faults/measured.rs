//! Owns the counts that tests leave behind: a small file each, in the target folder, by the test's
//! name. Refuses to let them decide anything: they are shown.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

/// What became of the changes of one test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measured {
    /// In the reel as they came.
    pub recorded: usize,
    /// In the reel, read back.
    pub reconstructed: usize,
    /// Missing, and declared so.
    pub declared: usize,
    /// Missing, and nothing says so.
    pub lost: usize,
}

/// What all tests measured, by their names.
pub type MeasuredAll = BTreeMap<String, Measured>;

impl Measured {
    /// Leaves the counts under the name of the test that runs on this thread.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn leave(self) -> Result<()> {
        let thread = std::thread::current();
        let name = thread.name().and_then(|path| path.rsplit("::").next());
        let Some(name) = name.filter(|name| *name != "main") else {
            return Ok(());
        };
        self.leave_as(name)
    }

    /// Leaves the counts under the name of a test.
    ///
    /// # Errors
    /// When they cannot be written.
    fn leave_as(self, name: &str) -> Result<()> {
        let folder = folder()?;
        std::fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{name}.json"));
        std::fs::write(&path, serde_json::to_vec(&self)?)
            .with_context(|| format!("write {}", path.display()))
    }

    /// Everything that tests left on this machine.
    ///
    /// # Errors
    /// When a file is none of ours.
    pub fn all() -> Result<MeasuredAll> {
        let mut all = MeasuredAll::new();
        let Ok(files) = std::fs::read_dir(folder()?) else {
            return Ok(all);
        };
        for file in files {
            let path = file?.path();
            let name = path
                .file_stem()
                .map(|name| name.to_string_lossy().into_owned());
            let bytes = std::fs::read(&path)?;
            let measured = serde_json::from_slice(&bytes)
                .with_context(|| format!("read {}", path.display()))?;
            all.insert(name.unwrap_or_default(), measured);
        }
        Ok(all)
    }
}

/// Beside the tests' own programs.
fn folder() -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let target = test.ancestors().find(|folder| folder.join("deps").is_dir());
    let target = target.context("the tests lie in no target folder")?;
    Ok(target.join("fault-matrix"))
}
