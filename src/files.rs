//! The files that users name: reels that are opened, wherever they lie inside of them, small files that are read whole, files that are written.
//! A command never writes over its own input, and over another file only if it is told to by `--force`.

use crate::command_error::CommandError;
use crate::progress::ProgressReporter;
use crate::words;
use kubereel_format::OpenError;
use kubereel_history::Timeline;
use kubereel_unpack::{LocateError, LocatedReel, ReelCache};
use std::fs::{self, File};
use std::io::{self, IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};

/// The most bytes of a reel that is decompressed.
const DECOMPRESSED_BYTES: u64 = 16 << 30;

/// The most bytes of decompressed reels that are kept.
const CACHE_BYTES: u64 = 4 << 30;

/// How many reels of a folder or an archive an error names.
const NAMED: usize = 10;

/// Opens a reel for questions: a file, or the one inside of a compressed file, an archive or a folder.
pub(crate) fn open_reel(path: &Path) -> Result<Timeline, CommandError> {
    let located = locate_reel(path)?;
    // An open file stays readable where its temporary name is taken away.
    Timeline::open(located.path()).map_err(|error| explain_open(&error))
}

/// Finds the reel that a path means; one that is compressed is decompressed.
pub(crate) fn locate_reel(path: &Path) -> Result<LocatedReel, CommandError> {
    let cache = ReelCache {
        folder: cache_folder().map(|folder| folder.join("reels")),
        reel_bytes: DECOMPRESSED_BYTES,
        all_bytes: CACHE_BYTES,
    };
    let is_terminal = io::stderr().is_terminal();
    let mut progress = ProgressReporter::begin("decompressing, bytes", 0_u64, is_terminal);
    let located = kubereel_unpack::locate(path, &cache, |done| progress.reached(done));
    drop(progress);
    located.map_err(|error| explain_locate(&error))
}

/// Finds the user's folder for what can be made again.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    let folder = |name: &str| {
        let folder = std::env::var_os(name).map(PathBuf::from);
        // A folder that depends on where one stands would be another one each time.
        folder.filter(|folder| folder.is_absolute())
    };
    let cache = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")));
    cache.map(|cache| cache.join("kubereel"))
}

fn explain_locate(error: &LocateError) -> CommandError {
    match error {
        LocateError::Several {
            reels, are_files, ..
        } => {
            let mut failed = CommandError::usage(error);
            for reel in reels.iter().take(NAMED) {
                failed = failed.hint(if *are_files {
                    format!("choose one: {reel}")
                } else {
                    format!("take one out of the archive: {reel}")
                });
            }
            if reels.len() > NAMED {
                failed = failed.hint(format!("and {} more", reels.len() - NAMED));
            }
            failed
        }
        LocateError::None { path, .. } => CommandError::reel(error).hint(format!(
            "to convert a must-gather, lists of objects or other recordings: kubereel import {} -o NEW.reel",
            path.display()
        )),
        LocateError::Unpack { source, .. } if source.is_damage() => {
            CommandError::reel(error).hint("the rest of the file is missing or damaged: copy or download it again")
        }
        LocateError::Unpack { .. } => CommandError::reel(error),
        _ => CommandError::io(error),
    }
}

/// Makes the error of a reel that does not open, with a hint.
pub(crate) fn explain_open(error: &OpenError) -> CommandError {
    let failed = CommandError::reel(error);
    match error {
        OpenError::InUse { path } => {
            let path = path.display();
            failed
                .hint("wait until its recorder has ended, or stop it with Ctrl-C (SIGINT)")
                .hint(format!("or read a copy: cp {path} copy.reel; it opens like the reel of a killed recorder"))
        }
        OpenError::NotAReel { path, found } if found.contains("JSON") => {
            let path = path.display();
            failed.hint(format!("to convert JSON lines of events or lists of objects: kubereel import {path} -o NEW.reel"))
        }
        OpenError::NotAReel { .. } => {
            failed.hint("expected a file written by kubereel record or kubereel import")
        }
        OpenError::UnknownFormat { .. } => {
            failed.hint("use the version of kubereel that recorded it")
        }
        OpenError::CutOff { .. } => {
            failed.hint("the end of the file is missing: copy or download it again")
        }
        OpenError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => {
            failed.hint("to record one: kubereel record -o FILE; to try one: kubereel demo")
        }
        _ => failed,
    }
}

/// Reads a file of at most `limit` bytes.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, CommandError> {
    let failed = |error: io::Error| cannot_read(&error, path);
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    let read = file.take(limit.saturating_add(1)).read_to_end(&mut bytes);
    if u64::try_from(read.map_err(failed)?).is_ok_and(|read| read <= limit) {
        return Ok(bytes);
    }
    let (limit, path) = (words::bytes(limit), path.display());
    let message = format!("cannot read: larger than {limit}: {path}");
    Err(CommandError::usage(message))
}

/// Reads a file of at most `limit` bytes as UTF-8.
pub(crate) fn read_text(path: &Path, limit: u64) -> Result<String, CommandError> {
    String::from_utf8(read(path, limit)?).map_err(|error| {
        let (error, path) = (error.utf8_error(), path.display());
        CommandError::usage(format!("cannot read: {error}: {path}"))
    })
}

/// Makes the error of a file that cannot be read.
pub(crate) fn cannot_read(error: &io::Error, path: &Path) -> CommandError {
    CommandError::io(format!("cannot read: {error}: {}", path.display()))
}

/// Makes the error of a file that cannot be written.
pub(crate) fn cannot_write(error: &io::Error, path: &Path) -> CommandError {
    CommandError::io(format!("cannot write: {error}: {}", path.display()))
}

/// Refuses to write to the file that is read.
pub(crate) fn refuse_input(input: &Path, output: &Path) -> Result<(), CommandError> {
    let is_same = match (fs::canonicalize(input), fs::canonicalize(output)) {
        (Ok(input), Ok(output)) => input == output && input.is_file(),
        // What is not there yet is no input.
        _ => false,
    };
    if is_same {
        let output = output.display();
        return Err(
            CommandError::usage(format!("the output is the input file: {output}"))
                .hint("choose another output file"),
        );
    }
    Ok(())
}

/// Makes the error of a file that exists.
pub(crate) fn exists(path: &Path) -> CommandError {
    CommandError::usage(format!("file exists: {}", path.display()))
        .hint("choose another file, or overwrite it with --force")
}

/// Makes a file. One that is there already is replaced only by force; a device or a pipe is written to.
pub(crate) fn create(path: &Path, replaces: bool) -> Result<File, CommandError> {
    if !replaces && path.is_file() {
        return Err(exists(path));
    }
    File::create(path).map_err(|error| cannot_write(&error, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        fs::write(&path, "12345").expect("written");
        assert_eq!(read(&path, 5).expect("read"), b"12345");
        let refused = |result: Result<Vec<u8>, CommandError>| {
            let error = result.expect_err("refused");
            error.lines().first().map(|(_, line)| (*line).to_owned())
        };
        let said = refused(read(&path, 4)).unwrap_or_default();
        assert!(said.contains("larger than 4 B: "), "{said}");
        #[cfg(target_os = "linux")]
        {
            let said = refused(read(Path::new("/dev/zero"), 1_000_000)).unwrap_or_default();
            assert!(said.contains("larger than 1.0 MB: "), "{said}");
        }
        fs::write(&path, b"\xff").expect("written");
        assert!(read_text(&path, 4).is_err());
    }
}
