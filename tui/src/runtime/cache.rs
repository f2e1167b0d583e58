//! The cached findings of reels: a file each, in the user's cache folder. It never fails: what cannot be
//! stored or read is computed again.
//!
//! A file is named by the digest of all bytes of the reel, the program's version, and the digest of
//! all bytes of the program. The program holds the built-in rules, those in YAML as well as those in
//! Rust, and the exceptions: nothing less tells when one of them changed.

use crate::findings::{self, Findings, MOST_BYTES};
use kubereel_format::file_digest;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use tempfile::NamedTempFile;

/// How many reels' findings are kept: those that were judged last.
const MOST_FILES: usize = 50;

/// The place of one reel's findings.
pub(super) struct CachePath {
    folder: PathBuf,
    name: String,
}

impl CachePath {
    /// Finds the place; `None` without a folder or a digest.
    pub(super) fn of(folder: Option<&Path>, program: &Path, reel: &Path) -> Option<Self> {
        let folder = folder?.join("findings");
        let (reel, program) = (file_digest(reel).ok()?, file_digest(program).ok()?);
        let version = env!("CARGO_PKG_VERSION");
        Some(Self {
            folder,
            name: format!("{reel:032x}-{version}-{program:032x}.json"),
        })
    }

    /// Reads the findings, if they are there and sound.
    pub(super) fn read(&self) -> Option<Findings> {
        let file = File::open(self.folder.join(&self.name)).ok()?;
        read_findings(file).ok()
    }

    /// Begins a file for findings; nothing is kept where none can be made.
    pub(super) fn begin(&self) -> Option<NamedTempFile> {
        fs::create_dir_all(&self.folder).ok()?;
        NamedTempFile::new_in(&self.folder).ok()
    }

    /// Keeps a file of findings, and lets go of the oldest.
    pub(super) fn keep(&self, file: NamedTempFile) {
        drop(self.try_keep(file));
    }

    fn try_keep(&self, file: NamedTempFile) -> std::io::Result<()> {
        // A concurrent reader sees the old file or the new one.
        file.persist(self.folder.join(&self.name))?;
        self.forget()
    }

    fn forget(&self) -> std::io::Result<()> {
        let mut all: Vec<(SystemTime, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let about = entry.metadata()?;
            if about.is_file() {
                all.push((about.modified()?, entry.path()));
            }
        }
        all.sort();
        let old = all.len().saturating_sub(MOST_FILES);
        for (_, path) in all.iter().take(old) {
            fs::remove_file(path)?;
        }
        Ok(())
    }
}

/// Reads what a run writes, of bounded length, or says why it cannot be taken.
pub(super) fn read_findings(from: impl Read) -> Result<Findings, String> {
    let mut from = BufReader::new(from.take(MOST_BYTES + 1));
    let mut json = serde_json::Deserializer::from_reader(&mut from);
    let found = findings::read(&mut json).and_then(|found| {
        let end = json.end();
        end.map_err(|error| format!("invalid findings: {error}"))?;
        Ok(found)
    });
    if from.get_ref().limit() == 0 {
        return Err(format!("more than {MOST_BYTES} bytes of findings"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    const SOUND: &[u8] =
        br#"{"runs": [{"trust": "recorded", "counts": {"pass": 3}, "cases": []}]}"#;

    impl CachePath {
        fn write(&self, bytes: &[u8]) {
            if let Some(mut file) = self.begin() {
                file.write_all(bytes).expect("room");
                self.keep(file);
            }
        }
    }

    /// A reel and a program, which may be any files.
    fn files(folder: &Path) -> (PathBuf, PathBuf) {
        let (reel, program) = (folder.join("a.reel"), folder.join("kubereel"));
        fs::write(&reel, "reel").expect("room");
        fs::write(&program, "program").expect("room");
        (reel, program)
    }

    #[test]
    fn what_was_kept_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let (reel, program) = files(folder.path());
        let cache = folder.path().join("none/yet");
        let place = CachePath::of(Some(&cache), &program, &reel).expect("a place");
        assert_eq!(place.read(), None);
        place.write(SOUND);
        assert_eq!(place.read().map(|found| found.judged), Some(3));
        for name in fs::read_dir(cache.join("findings")).expect("a folder") {
            let name = name.expect("a file").file_name();
            assert_eq!(name.to_string_lossy(), place.name);
        }
    }

    #[test]
    fn another_reel_or_program_has_another_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let (reel, program) = files(folder.path());
        let cache = Some(folder.path());
        let name = || CachePath::of(cache, &program, &reel).expect("a place").name;
        let first = name();
        assert!(first.contains(env!("CARGO_PKG_VERSION")), "{first}");
        fs::write(&reel, "reek").expect("room");
        let second = name();
        assert_ne!(first, second);
        fs::write(&program, "programme").expect("room");
        assert_ne!(second, name());
        assert!(CachePath::of(None, &program, &reel).is_none());
        assert!(CachePath::of(cache, &program, &folder.path().join("no.reel")).is_none());
    }

    #[test]
    fn a_broken_file_is_not_taken_and_written_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let (reel, program) = files(folder.path());
        let place = CachePath::of(Some(folder.path()), &program, &reel).expect("a place");
        let long = vec![b' '; usize::try_from(MOST_BYTES).expect("it fits") + 2];
        for broken in [&SOUND[..SOUND.len() - 2], b"\x00", b"", &long] {
            place.write(broken);
            assert_eq!(place.read(), None);
        }
        place.write(SOUND);
        assert!(place.read().is_some());
    }

    #[test]
    fn a_folder_that_cannot_be_written_keeps_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let (reel, program) = files(folder.path());
        // A file stands where the folder would be.
        fs::write(folder.path().join("findings"), "").expect("room");
        let place = CachePath::of(Some(folder.path()), &program, &reel).expect("a place");
        place.write(SOUND);
        assert_eq!(place.read(), None);
    }

    #[test]
    fn the_oldest_go() {
        let folder = tempfile::tempdir().expect("a folder");
        let (reel, program) = files(folder.path());
        let mut places = Vec::new();
        for number in 0..MOST_FILES + 5 {
            fs::write(&reel, number.to_string()).expect("room");
            let place = CachePath::of(Some(folder.path()), &program, &reel).expect("a place");
            place.write(SOUND);
            let path = place.folder.join(&place.name);
            let secs = u64::try_from(number).expect("small") * 10;
            let at = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(secs);
            File::open(path)
                .and_then(|file| file.set_modified(at))
                .expect("its owner may");
            places.push(place);
        }
        // The last one was still new when it was written.
        let kept = places.iter().filter(|place| place.read().is_some());
        assert_eq!(kept.count(), MOST_FILES);
        assert!(places[0].read().is_none() && places[4].read().is_none());
        assert!(places[5].read().is_some());
    }
}
