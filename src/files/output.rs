//! Files that commands write.
//!
//! Invariants:
//! * A file appears under its name when it is whole: a full disk or a kill leaves the file of before, or none.
//! * Another file is replaced only with `--force`, and one that the command reads, or a reel that is being
//!   recorded, never.
//! * Devices and pipes are written to as they are.

use super::encrypted;
use super::{cannot_write, exists, refuse_input, refuse_recorded};
use crate::command_error::CommandError;
use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use tempfile::{Builder, NamedTempFile};

/// The permissions of files that anyone may read; the umask takes some away.
pub(crate) const PUBLIC: u32 = 0o666;

/// A file that is being written.
pub(crate) struct OutputFile<'a> {
    sink: OutputSink,
    name: &'a Path,
    replaces: bool,
    bytes: u64,
}

enum OutputSink {
    /// It gets its name, with links followed, at the end.
    Whole(NamedTempFile, PathBuf),
    /// A device or a pipe.
    Stream(File),
}

impl<'a> OutputFile<'a> {
    /// Begins a file; `mode` without the bits of the umask. While it is written, its name is `.NAME.XXXXXX.part`.
    #[cfg_attr(not(unix), expect(unused_variables, reason = "only Unix has modes"))]
    pub(crate) fn create(name: &'a Path, replaces: bool, mode: u32) -> Result<Self, CommandError> {
        let failed = |error: io::Error| cannot_write(&error, name);
        let found = fs::metadata(name).ok().filter(|found| !found.is_file());
        if found.as_ref().is_some_and(|found| !is_stream(found)) {
            let message = format!("{}: cannot write: not a regular file", name.display());
            return Err(CommandError::usage(message).hint("choose another output file"));
        }
        if found.is_some() {
            let stream = OpenOptions::new().write(true).open(name).map_err(failed)?;
            return Ok(Self {
                sink: OutputSink::Stream(stream),
                name,
                replaces,
                bytes: 0,
            });
        }
        refuse_overwriting(name, replaces)?;
        // What a link means is written, and the link stays.
        let target = fs::canonicalize(name).unwrap_or_else(|_| name.to_owned());
        let folder = target.parent().filter(|folder| *folder != Path::new(""));
        let mut prefix = OsString::from(".");
        prefix.push(target.file_name().unwrap_or_default());
        prefix.push(".");
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(".part");
        #[cfg(unix)]
        builder.permissions(fs::Permissions::from_mode(mode));
        let file = builder
            .tempfile_in(folder.unwrap_or(Path::new(".")))
            .map_err(|error| failed(without_path(error)))?;
        Ok(Self {
            sink: OutputSink::Whole(file, target),
            name,
            replaces,
            bytes: 0,
        })
    }

    /// Sets mode 0640: the owner writes, the group reads.
    pub(crate) fn share_with_group(&self) -> io::Result<()> {
        #[cfg(unix)]
        if let OutputSink::Whole(file, _) = &self.sink {
            file.as_file()
                .set_permissions(fs::Permissions::from_mode(0o640))?;
        }
        Ok(())
    }

    /// Gives the file its name, and its length.
    pub(crate) fn persist(self) -> Result<u64, CommandError> {
        let failed = |error: io::Error| cannot_write(&error, self.name);
        let (file, target) = match self.sink {
            OutputSink::Whole(file, target) => (file, target),
            OutputSink::Stream(_) => return Ok(self.bytes),
        };
        // A recorder may have begun meanwhile.
        refuse_overwriting(self.name, self.replaces)?;
        file.as_file().sync_all().map_err(failed)?;
        let persisted = if self.replaces {
            file.persist(&target)
        } else {
            file.persist_noclobber(&target)
        };
        match persisted {
            Ok(_) => Ok(self.bytes),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                Err(exists(self.name))
            }
            Err(error) => Err(failed(error.error)),
        }
    }
}

impl Write for OutputFile<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.sink {
            OutputSink::Whole(file, _) => file.as_file_mut().write(bytes)?,
            OutputSink::Stream(file) => file.write(bytes)?,
        };
        let bytes = u64::try_from(written).map_err(io::Error::other)?;
        self.bytes = self.bytes.saturating_add(bytes);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns whether something takes bytes one after another.
#[cfg(unix)]
fn is_stream(found: &Metadata) -> bool {
    found.file_type().is_fifo() || found.file_type().is_char_device()
}

#[cfg(not(unix))]
fn is_stream(_found: &Metadata) -> bool {
    false
}

fn refuse_overwriting(name: &Path, replaces: bool) -> Result<(), CommandError> {
    if !replaces && fs::symlink_metadata(name).is_ok() {
        return Err(exists(name));
    }
    if let Some(identity) = encrypted::identity_file() {
        refuse_input(&identity, name)?;
    }
    refuse_recorded(name)
}

/// An error of the temporary file has its name, which means nothing to users.
fn without_path(error: io::Error) -> io::Error {
    let own = error.get_ref().and_then(|own| own.source());
    let own = own.and_then(|own| own.downcast_ref::<io::Error>());
    match own.and_then(io::Error::raw_os_error) {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_when_it_is_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let write = |replaces: bool, is_ended: bool| {
            let mut file = OutputFile::create(&path, replaces, PUBLIC).expect("a file");
            file.write_all(b"new").expect("written");
            if is_ended {
                assert_eq!(file.persist().expect("named"), 3);
            }
        };
        let there = || fs::read_dir(folder.path()).expect("a folder").count();
        write(false, false);
        assert_eq!(there(), 0);
        fs::write(&path, "before").expect("written");
        write(true, false);
        assert_eq!(fs::read(&path).expect("there"), b"before");
        assert!(OutputFile::create(&path, false, PUBLIC).is_err());
        write(true, true);
        assert_eq!(fs::read(&path).expect("there"), b"new");
        assert_eq!(there(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_and_what_it_means_is_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&path, "before").expect("written");
        std::os::unix::fs::symlink(&path, &link).expect("a link");
        let mut file = OutputFile::create(&link, true, PUBLIC).expect("a file");
        file.write_all(b"new").expect("written");
        file.persist().expect("named");
        assert_eq!(fs::read_link(&link).expect("a link"), path);
        assert_eq!(fs::read(&path).expect("there"), b"new");
    }
}
