//! Owns the file while it is not finished: it stands beside its final name, and goes if the import
//! fails. Refuses to take the place of a file unless told to.

use crate::error::ImportError;
use kubereel_format::{OpenError, Reel};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// A reel in the making.
#[derive(Debug)]
pub(crate) struct Part {
    path: PathBuf,
    target: PathBuf,
    replaces: bool,
}

impl Part {
    /// Makes room for a reel.
    pub(crate) fn begin(target: &Path, replaces: bool) -> Result<Self, ImportError> {
        check_free(target, replaces)?;
        let path = with_ending(target, ".part");
        remove_leftover(&path)?;
        Ok(Self {
            path,
            target: target.to_owned(),
            replaces,
        })
    }

    /// Gives the name under which it is written.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the finished file its name.
    pub(crate) fn place(self) -> Result<(), ImportError> {
        check_free(&self.target, self.replaces)?;
        std::fs::rename(&self.path, &self.target).map_err(|source| ImportError::Place {
            path: self.target.clone(),
            source,
        })
    }
}

fn check_free(target: &Path, replaces: bool) -> Result<(), ImportError> {
    // A dangling link is in the way as well.
    if !replaces && target.symlink_metadata().is_ok() {
        return Err(ImportError::Exists {
            path: target.to_owned(),
        });
    }
    Ok(())
}

impl Drop for Part {
    fn drop(&mut self) {
        // It is gone if it got its name.
        drop(std::fs::remove_file(&self.path));
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path.file_name().unwrap_or_default());
    name.push(ending);
    path.with_file_name(name)
}

/// Removes what an import left behind that was killed; what another one writes, or what is no reel,
/// stays and is in the way.
fn remove_leftover(path: &Path) -> Result<(), ImportError> {
    let is_empty = |path: &Path| path.metadata().is_ok_and(|file| file.len() == 0);
    match Reel::open(path) {
        Err(OpenError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(OpenError::NotAReel { .. }) if !is_empty(path) => Err(ImportError::Exists {
            path: path.to_owned(),
        }),
        Err(error @ OpenError::InUse { .. }) => Err(error.into()),
        _ => std::fs::remove_file(path).map_err(|source| ImportError::Place {
            path: path.to_owned(),
            source,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_an_import_left_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a.reel");
        let leftover = folder.path().join("a.reel.part");
        std::fs::write(&leftover, "").expect("written");
        drop(Part::begin(&target, false).expect("an empty file goes"));
        assert!(!leftover.exists());
        std::fs::write(&leftover, "mine").expect("written");
        let error = Part::begin(&target, false).expect_err("in the way");
        assert!(matches!(error, ImportError::Exists { path } if path == leftover));
        assert_eq!(std::fs::read(&leftover).expect("still there"), b"mine");
    }

    #[test]
    fn what_a_killed_import_left_goes_and_what_a_running_one_writes_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a.reel");
        let leftover = folder.path().join("a.reel.part");
        let running = kubereel_format::Appender::create(&leftover).expect("a reel");
        let error = Part::begin(&target, false).expect_err("in use");
        assert!(
            matches!(error, ImportError::Create(OpenError::InUse { .. })),
            "{error}"
        );
        assert!(leftover.exists());
        drop(running);
        drop(Part::begin(&target, false).expect("nobody writes it"));
        assert!(!leftover.exists());
    }

    #[test]
    fn a_file_stays_unless_it_is_to_be_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = folder.path().join("a.reel");
        std::fs::write(&target, "old").expect("written");
        assert!(Part::begin(&target, false).is_err());
        let part = Part::begin(&target, true).expect("told to");
        std::fs::write(part.path(), "new").expect("written");
        part.place().expect("placed");
        assert_eq!(std::fs::read(&target).expect("there"), b"new");
        assert!(!folder.path().join("a.reel.part").exists());
    }
}
