//! The outputs of an observer: `artifacts/` and `junit/` below its output folder, `metadata.json`
//! in it, and the reel's SHA-256 in the format of `sha256sum`. A file of another program is never
//! overwritten; failures to write are reported.

use crate::observer::report::{ObserverReport, junit, metadata, page, summary};
use jiff::Timestamp;
use kubereel_format::RecordedAt;
use kubereel_redact::Redactor;
use ring::digest::{Context, SHA256};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// The folder of the reel and its reports.
const ARTIFACTS: &str = "artifacts";

/// The folder of the JUnit file.
const JUNIT: &str = "junit";

/// How many observers may begin in one folder in one second.
const NAMES: u32 = 100;

/// The files of one observer.
#[derive(Clone, Debug)]
pub(super) struct ObserverFolder {
    folder: PathBuf,
    /// The common part of all names, without an extension.
    stem: String,
    /// The name of the JUnit file.
    junit: String,
    metadata: PathBuf,
}

impl ObserverFolder {
    /// Chooses unused names, and creates the folders.
    pub(super) fn claim(folder: &Path, at: RecordedAt) -> io::Result<Self> {
        for name in [ARTIFACTS, JUNIT] {
            fs::create_dir_all(folder.join(name))?;
        }
        let began = Timestamp::from_microsecond(at.micros).unwrap_or_default();
        let day = began.strftime("%Y%m%d-%H%M%S").to_string();
        let minute = began.strftime("%Y%m%d-%H%M").to_string();
        for number in 1..=NAMES {
            let stem = match number {
                1 => format!("kubereel-{day}"),
                number => format!("kubereel-{day}-{number}"),
            };
            let summary = folder.join(ARTIFACTS).join(format!("{stem}-summary.txt"));
            // Creating this file reserves the name.
            match OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(summary)
            {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            let output = Self {
                folder: folder.to_owned(),
                junit: Self::junit_name(folder, &minute, &stem)?,
                metadata: Self::metadata_path(folder, &stem)?,
                stem,
            };
            return Ok(output);
        }
        let words = format!("{NAMES} observers began here in this second");
        Err(io::Error::new(io::ErrorKind::AlreadyExists, words))
    }

    /// Finds an unused name of the form that `TestGrid` reads: context, minute, thread.
    fn junit_name(folder: &Path, minute: &str, stem: &str) -> io::Result<String> {
        for thread in 1..=NAMES {
            let name = format!("junit_kubereel_{minute}_{thread:02}.xml");
            if is_made(&folder.join(JUNIT).join(&name))? {
                return Ok(name);
            }
        }
        Ok(format!("junit_{stem}.xml"))
    }

    /// Prow reads one name; a second observer in the same folder takes another one.
    fn metadata_path(folder: &Path, stem: &str) -> io::Result<PathBuf> {
        let usual = folder.join("metadata.json");
        if is_made(&usual)? {
            return Ok(usual);
        }
        Ok(folder.join(format!("metadata-{stem}.json")))
    }

    /// Returns the reel's path.
    pub(super) fn reel(&self) -> PathBuf {
        self.artifact(&format!("{}.reel", self.stem))
    }

    /// Returns the reel's path, relative to the output folder.
    pub(super) fn reel_name(&self) -> String {
        format!("{ARTIFACTS}/{}.reel", self.stem)
    }

    /// Returns the file to which job steps without a network append marks.
    pub(super) fn marks(folder: &Path) -> PathBuf {
        folder.join(ARTIFACTS).join("kubereel.marks")
    }

    fn artifact(&self, name: &str) -> PathBuf {
        self.folder.join(ARTIFACTS).join(name)
    }

    /// Writes all outputs, the most important first, and returns the failures.
    pub(super) fn write(&self, report: &ObserverReport, redactor: &Redactor) -> Vec<String> {
        // Redacted before the page encodes it: no search finds a secret in the base64 of a whole
        // page.
        let text = redactor.words(&summary(report)).into_owned();
        let name = format!("{}-summary.txt", self.stem);
        let page = page(&text, &name);
        let files = [
            (self.metadata.clone(), metadata(report)),
            (self.folder.join(JUNIT).join(&self.junit), junit(report)),
            (self.artifact(&name), text),
            (
                self.artifact(&format!("custom-link-{}.html", self.stem)),
                page,
            ),
        ];
        let mut failed = Vec::new();
        for (path, text) in files {
            // The notes are redacted; an error of the system, or a path, may not be.
            if let Err(error) = replace(&path, &redactor.words(&text)) {
                failed.push(format!("cannot write: {error}: {}", path.display()));
            }
        }
        failed
    }

    /// Writes the digest of the reel beside it.
    pub(super) fn write_digest(&self) -> io::Result<()> {
        let reel = self.reel();
        let line = sha256_line(&reel)?;
        replace(&self.artifact(&format!("{}.reel.sha256", self.stem)), &line)
    }
}

/// Creates a file; returns `false` if it exists.
fn is_made(path: &Path) -> io::Result<bool> {
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Replaces the content of a file atomically: a kill leaves the old content or the new one.
///
/// On a full disk the text is written into the room of the old file, if it fits: the old content
/// would be wrong. No file is left empty.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    let fresh = path.with_file_name(name);
    let replaced = fs::write(&fresh, text).and_then(|()| fs::rename(&fresh, path));
    let Err(error) = replaced else {
        return Ok(());
    };
    // It may not exist, and a failure cannot be handled.
    drop(fs::remove_file(&fresh));
    let replaced = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => overwrite(path, text),
        _ => Err(error),
    };
    if replaced.is_err() && fs::metadata(path).is_ok_and(|facts| facts.len() == 0) {
        drop(fs::remove_file(path));
    }
    replaced
}

/// The unit in which the room of a file is counted, in bytes.
#[cfg(unix)]
const BLOCK_BYTES: u64 = 512;

/// Overwrites a file with a text, without new room on the disk.
#[cfg(unix)]
fn overwrite(path: &Path, text: &str) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let full = || io::Error::from(io::ErrorKind::StorageFull);
    let mut file = OpenOptions::new().write(true).open(path)?;
    let room = file.metadata()?.blocks().saturating_mul(BLOCK_BYTES);
    let len = u64::try_from(text.len()).map_err(|_longer| full())?;
    if len > room {
        return Err(full());
    }
    file.write_all(text.as_bytes())?;
    file.set_len(len)
}

#[cfg(not(unix))]
fn overwrite(_path: &Path, _text: &str) -> io::Result<()> {
    Err(io::ErrorKind::StorageFull.into())
}

/// How many bytes are read at once.
const PART_BYTES: usize = 256 * 1024;

/// Returns the line that `sha256sum` prints for a file.
fn sha256_line(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut context = Context::new(&SHA256);
    let mut part = vec![0; PART_BYTES];
    loop {
        let read = file.read(&mut part)?;
        if read == 0 {
            break;
        }
        context.update(part.get(..read).unwrap_or_default());
    }
    let mut line = String::new();
    for byte in context.finish().as_ref() {
        // Writing to a String cannot fail.
        let _written = write!(line, "{byte:02x}");
    }
    let name = path.file_name().unwrap_or_default();
    Ok(format!("{line}  {}\n", name.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_the_standard() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.reel");
        fs::write(&path, "abc").expect("written");
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  x.reel\n";
        assert_eq!(sha256_line(&path).expect("read"), expected);
    }
}
