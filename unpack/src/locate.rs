//! Finds the reel of a path: the file, the decompressed file, or the only reel in a folder or an
//! archive.
//!
//! A decompressed reel goes into a cache folder under the digest of its source, where the next
//! command finds it. If the folder cannot be written, it goes into a temporary file, which exists
//! as long as its [`LocatedReel`].

use crate::compression::CompressionForm;
use crate::error::UnpackError;
use crate::plain::PlainInput;
use crate::walk::{SkippedEntries, UnpackLimits, list_folder, walk_tar, walk_zip};
use kubereel_format::{file_digest, is_reel_start};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempPath};
use thiserror::Error;

/// The offset of a tar archive's magic number.
const TAR_MARK: std::ops::Range<usize> = 257..262;

/// How many bytes identify a file.
const HEAD: u64 = 512;

/// The number of reels of an archive or a folder that are named.
const NAMED: usize = 100;

/// How many bytes are copied at once.
const PIECE: usize = 256 * 1024;

/// The cache of decompressed reels.
#[derive(Clone, Debug)]
pub struct ReelCache {
    /// The folder; `None` for temporary files only.
    pub folder: Option<PathBuf>,
    /// The largest reel, in bytes.
    pub reel_bytes: u64,
    /// The limit of all cached bytes; the newest reel stays in any case.
    pub all_bytes: u64,
}

/// A reel that can be opened.
#[derive(Debug)]
pub struct LocatedReel {
    path: PathBuf,
    temporary: Option<TempPath>,
    damage: Option<UnpackError>,
}

impl LocatedReel {
    /// Returns the file of the reel, which exists as long as this value.
    pub fn path(&self) -> &Path {
        self.temporary.as_deref().unwrap_or(&self.path)
    }

    /// Returns the damage of the compressed file or the archive that the reel was taken from: a failed checksum, a
    /// cut, or something else behind its end. The reel is what could be read.
    pub const fn damage(&self) -> Option<&UnpackError> {
        self.damage.as_ref()
    }
}

/// The reel of a path cannot be determined.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LocateError {
    /// It has more than one.
    #[error("{count} reels in {}", path.display())]
    Several {
        /// The folder or archive.
        path: PathBuf,
        /// The number of reels in it.
        count: usize,
        /// Their names, up to a limit.
        reels: Vec<String>,
        /// Whether they are files that can be opened by these names.
        are_files: bool,
    },
    /// It has none.
    #[error("no reel in {} ({found})", path.display())]
    None {
        /// The folder or file.
        path: PathBuf,
        /// The actual content.
        found: String,
    },
    /// It cannot be read, or is damaged.
    #[error("{}: {source}", path.display())]
    Unpack {
        /// The folder or file.
        path: PathBuf,
        /// The cause.
        source: UnpackError,
    },
    /// The decompressed reel cannot be written.
    #[error("{}: cannot decompress: {source}", path.display())]
    Write {
        /// The path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl From<UnpackError> for LocateError {
    fn from(source: UnpackError) -> Self {
        Self::Unpack {
            path: PathBuf::new(),
            source,
        }
    }
}

impl LocateError {
    /// Replaces the path in an error by the one of the request.
    fn at(self, asked: &Path) -> Self {
        match self {
            Self::Unpack { source, .. } => Self::Unpack {
                path: asked.to_owned(),
                source,
            },
            other => other,
        }
    }

    /// Puts the name that a user gave in the place of the path of a file that was made of it, such as a download.
    #[must_use]
    pub fn named(mut self, name: &Path) -> Self {
        match &mut self {
            Self::Several { path, .. } | Self::None { path, .. } | Self::Unpack { path, .. } => {
                name.clone_into(path);
            }
            Self::Write { .. } => {}
        }
        self
    }
}

/// Finds the reel of a path.
///
/// A file that is neither compressed nor an archive is returned unchanged, whatever its content.
/// `progress` receives the number of decompressed bytes.
///
/// # Errors
/// When there is no reel or more than one, when it cannot be read or is damaged, and when it cannot
/// be written decompressed.
pub fn locate(
    path: &Path,
    cache: &ReelCache,
    mut progress: impl FnMut(u64),
) -> Result<LocatedReel, LocateError> {
    let is_folder = fs::metadata(path).is_ok_and(|about| about.is_dir());
    if is_folder {
        return in_folder(path, cache, &mut progress).map_err(|error| error.at(path));
    }
    let Ok(head) = head_of(path) else {
        // The caller that opens it reports the error.
        return Ok(as_it_is(path));
    };
    if CompressionForm::of(&head).is_none() && archive_form(&head).is_none() {
        return Ok(as_it_is(path));
    }
    inside(path, cache, &mut progress).map_err(|error| error.at(path))
}

fn as_it_is(path: &Path) -> LocatedReel {
    LocatedReel {
        path: path.to_owned(),
        temporary: None,
        damage: None,
    }
}

fn head_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    // Opening a pipe would wait for a writer, and reading it would consume its data.
    if fs::metadata(path)?.is_file() {
        File::open(path)?.take(HEAD).read_to_end(&mut head)?;
    }
    Ok(head)
}

/// Names the format of an archive.
fn archive_form(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"PK\x03\x04") {
        return Some("zip");
    }
    (head.get(TAR_MARK) == Some(b"ustar")).then_some("tar")
}

/// Tells whether a file is one that a program was still writing when it ended, by its name: a seal, an import or the
/// end of a recording puts the complete one in the place of the reel beside it.
fn is_unfinished_copy(file: &Path) -> bool {
    let is_ending = |ending: &OsStr| ending == "part" || ending == "tmp";
    file.extension().is_some_and(is_ending)
}

/// Finds the reel among the files of a folder.
fn in_folder(
    root: &Path,
    cache: &ReelCache,
    progress: &mut dyn FnMut(u64),
) -> Result<LocatedReel, LocateError> {
    let (files, skipped) = list_folder(root, UnpackLimits::default())?;
    let mut reels = Vec::new();
    let mut unread = Vec::new();
    for file in files.iter().filter(|file| !is_unfinished_copy(file)) {
        // One file without read permission does not hide the reel beside it.
        let head = match head_of(file) {
            Ok(head) => head,
            Err(error) => {
                unread.push(format!("{}: {error}", file.display()));
                continue;
            }
        };
        let is_reel = is_reel_start(&head)
            || (CompressionForm::of(&head).is_some() && is_reel_inside(file).unwrap_or(false));
        if is_reel && reels.len() < NAMED {
            reels.push(file);
        }
    }
    match reels.as_slice() {
        [] => Err(LocateError::None {
            path: root.to_owned(),
            found: folder_words(files.len(), skipped, &unread),
        }),
        [reel] => locate(reel, cache, progress),
        several => Err(LocateError::Several {
            path: root.to_owned(),
            count: several.len(),
            reels: several
                .iter()
                .map(|one| one.display().to_string())
                .collect(),
            are_files: true,
        }),
    }
}

/// Describes a folder without a reel, and what in it was passed over.
fn folder_words(files: usize, skipped: SkippedEntries, unread: &[String]) -> String {
    let mut words = vec![match files {
        0 => "no files in it".to_owned(),
        1 => "1 file in it".to_owned(),
        more => format!("{more} files in it"),
    }];
    words.extend(match skipped.links {
        0 => None,
        1 => Some("1 symbolic link, which is not followed".to_owned()),
        more => Some(format!("{more} symbolic links, which are not followed")),
    });
    words.extend(match unread {
        [] => None,
        [one] => Some(format!("cannot read {one}")),
        [first, ..] => Some(format!(
            "cannot read {} of them, such as {first}",
            unread.len()
        )),
    });
    words.join("; ")
}

fn is_reel_inside(file: &Path) -> io::Result<bool> {
    let input = BufReader::new(File::open(file)?);
    Ok(is_reel_start(PlainInput::open(input, u64::MAX)?.start()))
}

/// Finds the reel inside a compressed file or an archive.
fn inside(
    path: &Path,
    cache: &ReelCache,
    progress: &mut dyn FnMut(u64),
) -> Result<LocatedReel, LocateError> {
    let unread = |source| UnpackError::Read {
        name: path.display().to_string(),
        source,
    };
    let digest = file_digest(path).map_err(unread)?;
    let begin = format!("{digest:032x}-");
    let folder = cache.folder.as_deref();
    if let Some(kept) = folder.and_then(|folder| kept_reel(folder, &begin)) {
        return Ok(as_it_is(&kept));
    }
    let file = File::open(path).map_err(unread)?;
    let mut copy = ReelCopy {
        cache,
        progress,
        done: 0,
        found: None,
        damage: None,
        names: Vec::new(),
        reels: 0,
    };
    let plain = PlainInput::open(BufReader::with_capacity(PIECE, &file), u64::MAX)
        .map_err(|error| unpack_error(path, error))?;
    let layers: Vec<&str> = plain.layers().iter().map(|form| form.as_str()).collect();
    let layers = layers.join(" and ");
    let limits = UnpackLimits {
        bytes: cache.reel_bytes.saturating_mul(2),
        ..UnpackLimits::default()
    };
    let mut found = match archive_form(plain.start()) {
        None if is_reel_start(plain.start()) => {
            copy.take("", plain)?;
            String::new()
        }
        None => content_words(plain.start()).to_owned(),
        Some("zip") if layers.is_empty() => {
            let walked: Result<_, LocateError> =
                walk_zip(&file, limits, |one| copy.look(one.name, one.content));
            copy.accept(walked)?;
            "a zip archive without one".to_owned()
        }
        Some("zip") => "a zip archive".to_owned(),
        Some(_) => {
            let walked: Result<_, LocateError> =
                walk_tar(plain, limits, |one| copy.look(one.name, one.content));
            copy.accept(walked)?;
            "a tar archive without one".to_owned()
        }
    };
    if !layers.is_empty() {
        found = format!("{layers}: {found}");
    }
    let none = LocateError::None {
        path: path.to_owned(),
        found,
    };
    if copy.reels > 1 {
        return Err(LocateError::Several {
            path: path.to_owned(),
            count: copy.reels,
            reels: copy.names,
            are_files: false,
        });
    }
    keep((copy.found.ok_or(none)?, copy.damage), &begin, cache)
}

/// The end of the name of a decompressed reel in the cache: the digest of its source and its length precede it.
const KEPT: &str = ".whole.reel";

/// Finds a decompressed reel in the cache; one of another length than its name has was cut off there.
fn kept_reel(folder: &Path, begin: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let is_it = |entry: &fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_str()?.strip_prefix(begin)?.strip_suffix(KEPT)?;
        let about = entry.metadata().ok()?;
        (about.is_file() && name.parse() == Ok(about.len())).then(|| entry.path())
    };
    entries.into_iter().find_map(|entry| is_it(&entry))
}

/// Names the content of a file that is not a reel.
fn content_words(start: &[u8]) -> &'static str {
    match start.trim_ascii_start().first() {
        None => "nothing in it",
        Some(b'{' | b'[') => "JSON",
        Some(_) => "something else",
    }
}

fn unpack_error(path: &Path, error: io::Error) -> UnpackError {
    UnpackError::of_io(error).unwrap_or_else(|source| UnpackError::Read {
        name: path.display().to_string(),
        source,
    })
}

/// The reels of an archive: the first one decompressed, the names of the others.
struct ReelCopy<'a> {
    cache: &'a ReelCache,
    progress: &'a mut dyn FnMut(u64),
    done: u64,
    found: Option<NamedTempFile>,
    damage: Option<UnpackError>,
    names: Vec<String>,
    reels: usize,
}

impl ReelCopy<'_> {
    /// Accepts the end of an archive: the reel before damage can be read, or is cut there.
    fn accept(&mut self, walked: Result<SkippedEntries, LocateError>) -> Result<(), LocateError> {
        match walked {
            Err(LocateError::Unpack { source, .. })
                if source.is_damage() && self.found.is_some() =>
            {
                self.damage.get_or_insert(source);
                Ok(())
            }
            walked => walked.map(drop),
        }
    }

    /// Takes a file if it is a reel.
    fn look(&mut self, name: &str, content: &mut dyn Read) -> Result<(), LocateError> {
        if is_unfinished_copy(Path::new(name)) {
            return Ok(());
        }
        let failed = |error| unpack_error(Path::new(name), error);
        let plain = PlainInput::open(BufReader::new(content), self.cache.reel_bytes);
        let plain = match plain {
            Ok(plain) => plain,
            // A damaged file beside the reel does not matter.
            Err(error) => match failed(error) {
                UnpackError::Damaged { .. }
                | UnpackError::TooManyLayers { .. }
                | UnpackError::TooMuchMemory { .. } => return Ok(()),
                error => return Err(error.into()),
            },
        };
        if is_reel_start(plain.start()) {
            self.take(name, plain)?;
        }
        Ok(())
    }

    fn take(&mut self, name: &str, mut plain: impl BufRead) -> Result<(), LocateError> {
        self.reels += 1;
        // An archive may have two files of one name.
        if self.names.len() < NAMED && !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
        if self.reels > 1 {
            return Ok(());
        }
        let mut file = self.file()?;
        let written = |file: &NamedTempFile, source| LocateError::Write {
            path: file.path().to_owned(),
            source,
        };
        loop {
            let piece = match plain.fill_buf() {
                Ok(piece) => piece,
                Err(error) => match unpack_error(Path::new(name), error) {
                    // A cut reel can be read up to the cut.
                    error if error.is_damage() && self.done > 0 => {
                        self.damage = Some(error);
                        break;
                    }
                    error => return Err(error.into()),
                },
            };
            let len = piece.len();
            if len == 0 {
                break;
            }
            self.done = self
                .done
                .saturating_add(u64::try_from(len).unwrap_or(u64::MAX));
            if self.done > self.cache.reel_bytes {
                let limit = self.cache.reel_bytes;
                return Err(UnpackError::TooLarge { limit }.into());
            }
            file.write_all(piece)
                .map_err(|error| written(&file, error))?;
            plain.consume(len);
            (self.progress)(self.done);
        }
        self.found = Some(file);
        Ok(())
    }

    /// Creates a file for the reel: in the cache if that can be written.
    fn file(&self) -> Result<NamedTempFile, LocateError> {
        let in_cache = |folder: &Path| {
            fs::create_dir_all(folder)?;
            NamedTempFile::new_in(folder)
        };
        if let Some(Ok(file)) = self.cache.folder.as_deref().map(in_cache) {
            return Ok(file);
        }
        NamedTempFile::new().map_err(|source| LocateError::Write {
            path: "a temporary file".into(),
            source,
        })
    }
}

/// Renames a decompressed reel to its name in the cache, and makes room for it there. That of a damaged file is not
/// kept: the next command finds the damage again.
fn keep(
    (file, damage): (NamedTempFile, Option<UnpackError>),
    begin: &str,
    cache: &ReelCache,
) -> Result<LocatedReel, LocateError> {
    let folder = cache.folder.as_deref();
    let folder = folder.filter(|folder| damage.is_none() && file.path().parent() == Some(folder));
    let about = file.as_file().metadata();
    let kept = folder.zip(about.ok());
    let kept = kept.map(|(folder, about)| folder.join(format!("{begin}{}{KEPT}", about.len())));
    let Some(kept) = kept else {
        return Ok(LocatedReel {
            path: PathBuf::new(),
            temporary: Some(file.into_temp_path()),
            damage,
        });
    };
    file.persist(&kept).map_err(|error| LocateError::Write {
        path: kept.clone(),
        source: error.error,
    })?;
    forget_oldest(&kept, cache.all_bytes);
    Ok(as_it_is(&kept))
}

/// Removes the oldest reels, and parts of reels, of a cache folder until it has at most `most`
/// bytes. The named newest one stays in any case. Files that cannot be removed only cost room.
pub fn forget_oldest(newest: &Path, most: u64) {
    drop(forget(newest, most));
}

fn forget(newest: &Path, most: u64) -> io::Result<()> {
    let Some(folder) = newest.parent() else {
        return Ok(());
    };
    let mut all = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let about = entry.metadata()?;
        let path = entry.path();
        let is_kept = |ending: &OsStr| ending == "reel" || ending == "part";
        if about.is_file() && path.extension().is_some_and(is_kept) {
            all.push((path != newest, about.modified()?, about.len(), path));
        }
    }
    // The newest comes first, then the most recently decompressed one.
    all.sort_by_key(|(is_other, made, ..)| (*is_other, std::cmp::Reverse(*made)));
    let mut sum = 0_u64;
    for (is_other, _, bytes, path) in all {
        sum = sum.saturating_add(bytes);
        if is_other && sum > most {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    const REEL: &[u8] = b"redb\x1a\x0a\xa9\x0d\x0a";
    const SEALED: &[u8] = b"\xd7KR\x8b\x01";

    fn cache(folder: &Path) -> ReelCache {
        ReelCache {
            folder: Some(folder.join("cache")),
            reel_bytes: 1 << 20,
            all_bytes: 3000,
        }
    }

    fn reel(fill: u8, len: usize) -> Vec<u8> {
        let mut bytes = REEL.to_vec();
        bytes.resize(len, fill);
        bytes
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).expect("memory");
        encoder.finish().expect("memory")
    }

    /// Makes a zip archive whose files are not compressed.
    fn zip_of(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
        let stored = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored);
        for (name, content) in files {
            writer.start_file(*name, stored).expect("memory");
            writer.write_all(content).expect("memory");
        }
        writer.finish().expect("memory").into_inner()
    }

    fn tar_of(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, content) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(u64::try_from(content.len()).expect("short"));
            builder
                .append_data(&mut header, name, content.as_slice())
                .expect("memory");
        }
        builder.into_inner().expect("memory")
    }

    fn located(path: &Path, folder: &Path) -> Result<Vec<u8>, LocateError> {
        let found = locate(path, &cache(folder), |_| {});
        found.map(|found| fs::read(found.path()).expect("it is there"))
    }

    #[test]
    fn a_reel_is_found_in_every_wrapping_whatever_its_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut sealed = SEALED.to_vec();
        sealed.resize(2000, 7);
        for whole in [reel(7, 2000), sealed] {
            let tar = tar_of(&[
                ("a/log.txt", b"hello".to_vec()),
                ("a/run.reel", whole.clone()),
            ]);
            let wrapped = tar_of(&[("a/run", gzip(&whole)), ("b.gz", gzip(b"text"))]);
            for bytes in [
                whole.clone(),
                gzip(&whole),
                gzip(&gzip(&whole)),
                tar.clone(),
                gzip(&tar),
                wrapped,
            ] {
                let path = folder.path().join("run");
                fs::write(&path, bytes).expect("written");
                for _again in 0..2 {
                    assert_eq!(located(&path, folder.path()).expect("found"), whole);
                }
            }
        }
    }

    #[test]
    fn a_folder_gives_its_reel_and_lists_several() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = folder.path().join("run");
        fs::create_dir_all(run.join("deep/er")).expect("made");
        fs::write(run.join("build.log"), "x").expect("written");
        let error = located(&run, folder.path()).expect_err("none");
        assert!(matches!(error, LocateError::None { .. }), "{error}");
        fs::write(run.join("deep/er/a.reel"), SEALED).expect("written");
        assert_eq!(located(&run, folder.path()).expect("found"), SEALED);
        fs::write(run.join("b.gz"), gzip(&reel(2, 900))).expect("written");
        let error = located(&run, folder.path()).expect_err("two");
        let LocateError::Several {
            reels, are_files, ..
        } = error
        else {
            panic!("{error}");
        };
        assert!(are_files);
        assert!(reels.iter().all(|one| Path::new(one).is_file()));
        assert_eq!(reels.len(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_without_a_reel_says_what_was_passed_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = folder.path().join("run");
        fs::create_dir(&run).expect("made");
        fs::write(folder.path().join("a.reel"), SEALED).expect("written");
        std::os::unix::fs::symlink("../a.reel", run.join("a.reel")).expect("a link");
        let error = located(&run, folder.path()).expect_err("none").to_string();
        assert!(error.contains("no files in it; 1 symbolic link"), "{error}");
        let unread = ["b.reel: denied".to_owned(), "c.reel: denied".to_owned()];
        assert_eq!(
            folder_words(3, SkippedEntries::default(), &unread),
            "3 files in it; cannot read 2 of them, such as b.reel: denied"
        );
    }

    #[test]
    fn what_is_damaged_too_large_or_something_else_says_so() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.reel");
        // Bytes that do not compress, so that half of the file is half of the reel.
        let noise: Vec<u8> = (0..40_000_u32)
            .map(|n| u8::try_from(n.wrapping_mul(2_654_435_761) >> 24).expect("a byte"))
            .collect();
        let whole = gzip(&[REEL, &noise].concat());
        fs::write(&path, &whole[..whole.len() / 2]).expect("written");
        let begin = located(&path, folder.path()).expect("its begin");
        assert!([REEL, &noise].concat().starts_with(&begin));
        assert!(begin.len() > 1_000, "{} bytes", begin.len());
        fs::remove_dir_all(folder.path().join("cache")).expect("removed");
        let tar = tar_of(&[("a.reel", reel(1, 20)), ("b.reel", reel(2, 20))]);
        for (bytes, words) in [
            (
                whole[..20].to_vec(),
                ": the gzip data is damaged after 0 decompressed bytes",
            ),
            (
                gzip(&reel(0, 2 << 20)),
                ": more than 1048576 bytes after decompression",
            ),
            (gzip(b"{\"ts\":1}"), "no reel in "),
            (gzip(&tar), "2 reels in "),
        ] {
            fs::write(&path, bytes).expect("written");
            let error = located(&path, folder.path()).expect_err(words).to_string();
            assert!(error.contains(words), "{error}");
        }
        let left = fs::read_dir(folder.path().join("cache")).map_or(0, Iterator::count);
        assert_eq!(left, 0, "files left in the cache");
    }

    #[test]
    fn data_that_needs_too_much_memory_is_not_called_damaged() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run");
        let with_crc = |bytes: &[u8]| {
            let mut crc = flate2::Crc::new();
            crc.update(bytes);
            [bytes, &crc.sum().to_le_bytes()].concat()
        };
        // A frame with a window of 2 GiB, and a block with a dictionary of 1 GiB.
        let zstd = b"\x28\xb5\x2f\xfd\x00\xa8\x01\x00\x00".to_vec();
        let block = with_crc(&[2, 0, 0x21, 1, 36, 0, 0, 0]);
        let xz = [&b"\xfd7zXZ\0"[..], &with_crc(&[0, 1]), &block].concat();
        for (bytes, limit) in [
            (zstd, "zstd data needs more than 128 MiB"),
            (xz, "xz data needs more than 256 MiB"),
        ] {
            fs::write(&path, bytes).expect("written");
            let error = located(&path, folder.path()).expect_err(limit);
            assert!(error.to_string().contains(limit), "{error}");
        }
    }

    /// Bytes that do not compress.
    fn noise() -> Vec<u8> {
        let mut state = 1_u64;
        let noise = (0..400_000).map(move |_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            u8::try_from(state >> 56).expect("a byte")
        });
        REEL.iter().copied().chain(noise).collect()
    }

    #[test]
    fn a_failed_check_of_compressed_data_is_damage_each_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.reel");
        let tar = tar_of(&[("run.reel", noise())]);
        for whole in [
            gzip(&noise()),
            gzip(&gzip(&noise())),
            gzip(&tar),
            tar_of(&[("run", gzip(&noise())), ("b", b"text".to_vec())]),
            zip_of(&[("run.reel", noise()), ("b", b"text".to_vec())]),
        ] {
            let found = |bytes: &[u8]| {
                fs::write(&path, bytes).expect("written");
                locate(&path, &cache(folder.path()), |_| {}).expect("found")
            };
            assert!(found(&whole).damage().is_none());
            let mut flipped = whole.clone();
            flipped[200_000] ^= 1;
            let cut = |bytes| whole[..whole.len() - bytes].to_vec();
            let mut wrong = vec![("a flipped bit", flipped)];
            match archive_form(&whole) {
                None => wrong.push(("a cut", cut(3))),
                // Its end is two blocks of zeros.
                Some("tar") => wrong.push(("no end", cut(1024))),
                Some(_) => wrong.push(("a cut", cut(30))),
            }
            // A zip archive is found from its end: what is behind it belongs to no file.
            if archive_form(&whole) != Some("zip") {
                wrong.push(("junk", [&whole[..], b"junk behind it"].concat()));
            }
            for (what, bytes) in wrong {
                for _again in 0..2 {
                    let found = found(&bytes);
                    let damage = found.damage().expect(what);
                    assert!(damage.is_damage(), "{what}: {damage}");
                    let read = fs::read(found.path()).expect("there");
                    assert!(read.starts_with(REEL), "{what}");
                }
            }
        }
    }

    #[test]
    fn a_file_that_a_killed_program_left_is_not_the_reel_of_a_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = folder.path().join("run");
        fs::create_dir(&run).expect("made");
        for name in [
            "a.reel",
            "a.reel.0123456789abcdef.part",
            "a.reel.tmp",
            "b.part",
        ] {
            fs::write(run.join(name), SEALED).expect("written");
        }
        assert_eq!(located(&run, folder.path()).expect("found"), SEALED);
        // By its name it is opened.
        assert_eq!(
            located(&run.join("b.part"), folder.path()).expect("found"),
            SEALED
        );
    }

    #[test]
    fn an_archive_has_no_reels_that_a_killed_program_left_and_names_each_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.tar");
        let files = ["a.reel.tmp", ".a.reel.part", "a.reel"].map(|name| (name, SEALED.to_vec()));
        fs::write(&path, tar_of(&files)).expect("written");
        assert_eq!(located(&path, folder.path()).expect("found"), SEALED);
        let files = ["a.reel", "a.reel"].map(|name| (name, SEALED.to_vec()));
        fs::write(&path, tar_of(&files)).expect("written");
        let error = located(&path, folder.path()).expect_err("two");
        assert!(error.to_string().starts_with("2 reels in "), "{error}");
        assert!(matches!(error, LocateError::Several { reels, .. } if reels == ["a.reel"]));
    }

    #[test]
    fn a_zip_archive_with_a_password_is_not_damaged() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.zip");
        let mut bytes = zip_of(&[("run.reel", SEALED.to_vec())]);
        // The flag of encryption, in the header of the file and in the directory.
        for (mark, flags) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
            let at = bytes.windows(4).position(|four| four == mark);
            bytes[at.expect("a header") + flags] |= 1;
        }
        fs::write(&path, bytes).expect("written");
        let error = located(&path, folder.path()).expect_err("no password");
        let text = error.to_string();
        assert!(
            !text.contains("damaged") && text.contains("Password required"),
            "{text}"
        );
    }

    #[test]
    fn a_reel_that_was_cut_off_in_the_cache_is_decompressed_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.gz");
        fs::write(&path, gzip(&reel(7, 2000))).expect("written");
        let found = locate(&path, &cache(folder.path()), |_| {}).expect("found");
        let (kept, whole) = (found.path().to_owned(), reel(7, 2000));
        for len in [2000, 1000, 0] {
            fs::write(&kept, &whole[..len]).expect("written");
            assert_eq!(located(&path, folder.path()).expect("found"), whole);
        }
        assert_eq!(fs::read(kept).expect("in the cache"), whole);
    }

    #[test]
    fn the_cache_keeps_within_its_bytes_and_is_not_needed() {
        let folder = tempfile::tempdir().expect("a folder");
        for fill in 0..5 {
            let path = folder.path().join(format!("{fill}.gz"));
            fs::write(&path, gzip(&reel(fill, 1400))).expect("written");
            assert_eq!(
                located(&path, folder.path()).expect("found"),
                reel(fill, 1400)
            );
        }
        let kept = fs::read_dir(folder.path().join("cache"))
            .expect("a cache")
            .count();
        assert_eq!(kept, 2);
        let none = ReelCache {
            folder: None,
            ..cache(folder.path())
        };
        let found = locate(&folder.path().join("0.gz"), &none, |_| {}).expect("found");
        let temporary = found.path().to_owned();
        assert_eq!(fs::read(&temporary).expect("there"), reel(0, 1400));
        drop(found);
        assert!(!temporary.exists());
    }
}
