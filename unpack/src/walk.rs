//! Visits the regular files of a folder, a tar or a zip archive, one after another, within limits.

use crate::cut_zip::CutZip;
use crate::error::UnpackError;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use tar::{Archive, EntryType};
use zip::ZipArchive;
use zip::result::ZipError;

/// The longest name in a tar archive.
const MAX_NAME: u64 = 64 * 1024;

/// The deepest nesting of folders.
const MAX_DEPTH: usize = 64;

/// The longest quotation of the input in a message, in bytes.
const QUOTED: usize = 200;

/// The limits of an archive or a folder.
#[derive(Clone, Copy, Debug)]
pub struct UnpackLimits {
    /// The number of files.
    pub files: u64,
    /// The bytes of all files.
    pub bytes: u64,
}

impl Default for UnpackLimits {
    /// Returns limits that admit the largest must-gathers.
    fn default() -> Self {
        Self {
            files: 2_000_000,
            bytes: 256 << 30,
        }
    }
}

/// A file of an archive or a folder.
pub struct ArchiveFile<'a> {
    /// Its name, for display only: as a path it could lead anywhere.
    pub name: &'a str,
    /// Its length, according to the archive.
    pub bytes: u64,
    /// Its content.
    pub content: &'a mut dyn Read,
}

/// What was skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkippedEntries {
    /// Links, which are never followed.
    pub links: u64,
    /// Devices, pipes and other things without content.
    pub special: u64,
}

/// What is left of the limits.
struct Allowance {
    limits: UnpackLimits,
    files: u64,
    bytes: u64,
}

impl Allowance {
    const fn new(limits: UnpackLimits) -> Self {
        Self {
            limits,
            files: 0,
            bytes: 0,
        }
    }

    fn count_file(&mut self) -> Result<(), UnpackError> {
        self.files = self.files.saturating_add(1);
        if self.files > self.limits.files {
            return Err(UnpackError::TooManyFiles {
                limit: self.limits.files,
            });
        }
        Ok(())
    }
}

/// The content of a file, counted.
struct CountedContent<'a, R> {
    inner: R,
    allowance: &'a mut Allowance,
    name: &'a str,
    /// The archive whose rest is lost if this file cannot be read; `None` if other files can still
    /// be read.
    form: Option<&'static str>,
}

impl<R: Read> Read for CountedContent<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(out) {
            Ok(read) => {
                let read_bytes = u64::try_from(read).unwrap_or(u64::MAX);
                self.allowance.bytes = self.allowance.bytes.saturating_add(read_bytes);
                if self.allowance.bytes > self.allowance.limits.bytes {
                    let limit = self.allowance.limits.bytes;
                    return Err(UnpackError::TooLarge { limit }.into());
                }
                Ok(read)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
            Err(source) => Err(match self.form {
                Some(form) => damaged(form, self.name, source),
                None => unreadable(self.name, source),
            }
            .into()),
        }
    }
}

/// Makes the error of a file beside which others can be read.
fn unreadable(name: &str, source: io::Error) -> UnpackError {
    let name = quoted(name);
    match source.kind() {
        // So decompressors report damaged data; anything else is the disk.
        ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::UnexpectedEof => {
            UnpackError::DamagedFile { name, source }
        }
        _ => UnpackError::Read { name, source },
    }
}

/// Makes the error of a place in an archive; the source is the decompressor's error.
fn damaged(form: &'static str, after: &str, source: io::Error) -> UnpackError {
    UnpackError::DamagedArchive {
        form,
        after: quoted(after),
        source,
    }
}

fn quoted(name: &str) -> String {
    let end = name.floor_char_boundary(QUOTED);
    name.get(..end).unwrap_or_default().to_owned()
}

/// A tar archive that is read: the reader of archives does not report that the end is missing.
struct TarInput<R> {
    inner: R,
    is_at_end: bool,
}

impl<R: Read> Read for TarInput<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        self.is_at_end |= read == 0 && !out.is_empty();
        Ok(read)
    }
}

impl<R: Read> TarInput<R> {
    /// Reads what is behind the end of the archive, which is zeros; a decompressor compares its checksum at its end.
    fn read_rest(&mut self, last: &str, allowance: &mut Allowance) -> Result<(), UnpackError> {
        let failed = |kind, why| damaged("tar", last, io::Error::new(kind, why));
        if self.is_at_end {
            return Err(failed(ErrorKind::UnexpectedEof, "it has no end"));
        }
        let mut rest = CountedContent {
            inner: &mut self.inner,
            allowance,
            name: last,
            form: Some("tar"),
        };
        let mut piece = vec![0; REST_PIECE];
        loop {
            let read = match rest.read(&mut piece) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => {
                    return Err(UnpackError::of_io(error)
                        .unwrap_or_else(|error| damaged("tar", last, error)));
                }
            };
            if piece.iter().take(read).any(|byte| *byte != 0) {
                return Err(failed(
                    ErrorKind::InvalidData,
                    "something is behind its end",
                ));
            }
        }
    }
}

/// How many bytes behind the end of a tar archive are read at once.
const REST_PIECE: usize = 64 * 1024;

/// Visits the files of a tar archive, which is read to the end of the input: only there a decompressor compares its
/// checksum.
///
/// # Errors
/// When the archive is damaged, has no end, has something behind its end or exceeds the limits, and when `visit`
/// fails.
pub fn walk_tar<E: From<UnpackError>>(
    input: impl Read,
    limits: UnpackLimits,
    mut visit: impl FnMut(ArchiveFile<'_>) -> Result<(), E>,
) -> Result<SkippedEntries, E> {
    let mut skipped = SkippedEntries::default();
    let mut allowance = Allowance::new(limits);
    let mut input = TarInput {
        inner: input,
        is_at_end: false,
    };
    let mut archive = Archive::new(&mut input);
    let mut last = String::new();
    // The name of the next entry, from the extended header before it. Names are read here because
    // the library reads them whole, at any length.
    let mut long_name: Option<String> = None;
    let entries = archive
        .entries()
        .map_err(|error| damaged("tar", &last, error))?
        .raw(true);
    for entry in entries {
        let entry = entry.map_err(|error| damaged("tar", &last, error))?;
        allowance.count_file()?;
        let kind = entry.header().entry_type();
        match kind {
            EntryType::GNULongName | EntryType::XHeader => {
                let mut text = Vec::new();
                let read = entry.take(MAX_NAME).read_to_end(&mut text);
                read.map_err(|error| damaged("tar", &last, error))?;
                if kind == EntryType::XHeader {
                    if pax_value(&text, b"size").is_some() {
                        let error = io::Error::other("a file of more than 8 GiB");
                        return Err(damaged("tar", &last, error).into());
                    }
                    long_name = pax_value(&text, b"path").or(long_name);
                } else {
                    let name = text.split(|byte| *byte == 0).next().unwrap_or_default();
                    long_name = Some(String::from_utf8_lossy(name).into_owned());
                }
            }
            EntryType::Regular | EntryType::Continuous => {
                let own = || String::from_utf8_lossy(&entry.path_bytes()).into_owned();
                last = long_name.take().unwrap_or_else(own);
                // Old archives store folders as files whose name ends in a slash.
                if last.ends_with('/') {
                    continue;
                }
                let bytes = entry.size();
                let mut content = CountedContent {
                    inner: entry,
                    allowance: &mut allowance,
                    name: &last,
                    form: Some("tar"),
                };
                visit(ArchiveFile {
                    name: &last,
                    bytes,
                    content: &mut content,
                })?;
            }
            EntryType::Directory | EntryType::XGlobalHeader => long_name = None,
            EntryType::Symlink | EntryType::Link => {
                long_name = None;
                skipped.links = skipped.links.saturating_add(1);
            }
            EntryType::GNULongLink => {}
            _ => {
                long_name = None;
                skipped.special = skipped.special.saturating_add(1);
            }
        }
    }
    input.read_rest(&last, &mut allowance)?;
    Ok(skipped)
}

/// Finds a value in an extended header: records of `LENGTH KEY=VALUE`, each with a line end.
fn pax_value(header: &[u8], key: &[u8]) -> Option<String> {
    let mut rest = header;
    while !rest.is_empty() {
        let blank = rest.iter().position(|byte| *byte == b' ')?;
        let length: usize = str::from_utf8(rest.get(..blank)?).ok()?.parse().ok()?;
        let record = rest.get(blank + 1..length.checked_sub(1)?)?;
        if let Some(value) = record
            .strip_prefix(key)
            .and_then(|rest| rest.strip_prefix(b"="))
        {
            return Some(String::from_utf8_lossy(value).into_owned());
        }
        rest = rest.get(length..)?;
    }
    None
}

/// Visits the files of a zip archive; of one without its directory, which lies at its end, those that are whole.
///
/// # Errors
/// When the archive is damaged, encrypted or exceeds the limits, and when `visit` fails.
pub fn walk_zip<E: From<UnpackError>>(
    file: &File,
    limits: UnpackLimits,
    mut visit: impl FnMut(ArchiveFile<'_>) -> Result<(), E>,
) -> Result<SkippedEntries, E> {
    let mut skipped = SkippedEntries::default();
    let mut allowance = Allowance::new(limits);
    let mut last = String::new();
    let failed = |last: &str, error: ZipError| match error {
        ZipError::Io(error) => damaged("zip", last, error),
        ZipError::UnsupportedArchive(_) | ZipError::CompressionMethodNotSupported(_) => {
            UnpackError::UnsupportedZip {
                after: quoted(last),
                reason: error.to_string(),
            }
        }
        error => damaged("zip", last, io::Error::other(error)),
    };
    let mut archive = match ZipArchive::new(file) {
        Ok(archive) => archive,
        Err(error) => {
            let last = walk_cut_zip(file, &mut allowance, visit)?;
            let last = last.as_deref();
            return Err(failed(last.unwrap_or("its files, where its directory is"), error).into());
        }
    };
    for number in 0..archive.len() {
        allowance.count_file()?;
        let entry = archive
            .by_index(number)
            .map_err(|error| failed(&last, error))?;
        if entry.is_dir() {
            continue;
        }
        if entry.is_symlink() {
            skipped.links = skipped.links.saturating_add(1);
            continue;
        }
        last = entry
            .name()
            .map_err(|error| failed(&last, error))?
            .into_owned();
        let bytes = entry.size();
        let mut content = CountedContent {
            inner: entry,
            allowance: &mut allowance,
            name: &last,
            form: None,
        };
        visit(ArchiveFile {
            name: &last,
            bytes,
            content: &mut content,
        })?;
    }
    Ok(skipped)
}

/// Visits the whole files of a zip archive that was cut off, and returns the name of the last one.
fn walk_cut_zip<E: From<UnpackError>>(
    file: &File,
    allowance: &mut Allowance,
    mut visit: impl FnMut(ArchiveFile<'_>) -> Result<(), E>,
) -> Result<Option<String>, E> {
    let mut last: Option<String> = None;
    let failed =
        |last: &Option<String>, error| damaged("zip", last.as_deref().unwrap_or(""), error);
    let mut archive =
        CutZip::open(file, allowance.limits.bytes).map_err(|error| failed(&last, error))?;
    while let Some(found) = archive.next().map_err(|error| failed(&last, error))? {
        allowance.count_file()?;
        if !found.name.ends_with('/') {
            let inner = archive
                .content(&found)
                .map_err(|error| failed(&last, error))?;
            let mut content = CountedContent {
                inner,
                allowance,
                name: &found.name,
                form: None,
            };
            visit(ArchiveFile {
                name: &found.name,
                bytes: found.bytes,
                content: &mut content,
            })?;
        }
        last = Some(found.name);
    }
    Ok(last)
}

/// Visits the files of a folder and of the folders in it, in the order of their names.
///
/// # Errors
/// When a file or a folder cannot be read, when the limits are exceeded, and when `visit` fails.
pub fn walk_folder<E: From<UnpackError>>(
    root: &Path,
    limits: UnpackLimits,
    mut visit: impl FnMut(ArchiveFile<'_>) -> Result<(), E>,
) -> Result<SkippedEntries, E> {
    let mut allowance = Allowance::new(limits);
    let (files, skipped) = files_below(root, &mut allowance)?;
    for path in files {
        let name = path
            .strip_prefix(root)
            .unwrap_or(&path)
            .to_string_lossy()
            .into_owned();
        let unread = |source| UnpackError::Read {
            name: name.clone(),
            source,
        };
        let file = File::open(&path).map_err(unread)?;
        let bytes = file.metadata().map_err(unread)?.len();
        let mut content = CountedContent {
            inner: file,
            allowance: &mut allowance,
            name: &name,
            form: None,
        };
        visit(ArchiveFile {
            name: &name,
            bytes,
            content: &mut content,
        })?;
    }
    Ok(skipped)
}

/// Lists the regular files below a folder, in the order of their names.
pub(crate) fn list_folder(
    root: &Path,
    limits: UnpackLimits,
) -> Result<(Vec<PathBuf>, SkippedEntries), UnpackError> {
    files_below(root, &mut Allowance::new(limits))
}

fn files_below(
    root: &Path,
    allowance: &mut Allowance,
) -> Result<(Vec<PathBuf>, SkippedEntries), UnpackError> {
    let mut files = Vec::new();
    let mut skipped = SkippedEntries::default();
    let mut folders = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let unread = |source| UnpackError::Read {
            name: folder.display().to_string(),
            source,
        };
        for entry in fs::read_dir(&folder).map_err(unread)? {
            let entry = entry.map_err(unread)?;
            allowance.count_file()?;
            // For a link, these are the metadata of the link itself.
            let kind = entry.file_type().map_err(unread)?;
            if kind.is_symlink() {
                skipped.links = skipped.links.saturating_add(1);
            } else if kind.is_dir() {
                if depth >= MAX_DEPTH {
                    let source = io::Error::other(format!("more than {MAX_DEPTH} folders deep"));
                    return Err(unread(source));
                }
                folders.push((entry.path(), depth + 1));
            } else if kind.is_file() {
                files.push(entry.path());
            } else {
                skipped.special = skipped.special.saturating_add(1);
            }
        }
    }
    files.sort_unstable();
    Ok((files, skipped))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: UnpackLimits = UnpackLimits {
        files: 10,
        bytes: 1000,
    };

    fn tar_of(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (name, content) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(u64::try_from(content.len()).expect("short"));
            header.set_mode(0o644);
            // Hostile archives have such names; the library refuses to write them.
            if name.starts_with("..") {
                header.as_gnu_mut().expect("gnu").name[..name.len()]
                    .copy_from_slice(name.as_bytes());
                header.set_cksum();
                builder.append(&header, *content).expect("memory");
            } else {
                builder
                    .append_data(&mut header, name, *content)
                    .expect("memory");
            }
        }
        builder.into_inner().expect("memory")
    }

    fn read_all(
        tar: &[u8],
        limits: UnpackLimits,
    ) -> (Vec<(String, usize)>, Result<SkippedEntries, UnpackError>) {
        let mut seen = Vec::new();
        let outcome = walk_tar(tar, limits, |file| {
            let mut content = Vec::new();
            let read = file.content.read_to_end(&mut content);
            seen.push((file.name.to_owned(), content.len()));
            read.map(drop)
                .map_err(|error| UnpackError::of_io(error).expect("ours"))
        });
        (seen, outcome)
    }

    #[test]
    fn names_of_any_length_and_kind_are_only_shown() {
        let long = "x".repeat(300);
        let tar = tar_of(&[("a", b"1"), (&long, b"22"), ("../../etc/passwd", b"333")]);
        let (seen, outcome) = read_all(&tar, LIMITS);
        assert_eq!(outcome.expect("sound"), SkippedEntries::default());
        let expected = [
            ("a".to_owned(), 1),
            (long, 2),
            ("../../etc/passwd".to_owned(), 3),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn links_are_counted_and_not_followed() {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(EntryType::Symlink);
        header.set_size(0);
        builder
            .append_link(&mut header, "a", "/etc/passwd")
            .expect("memory");
        let tar = builder.into_inner().expect("memory");
        let (seen, outcome) = read_all(&tar, LIMITS);
        assert!(seen.is_empty());
        assert_eq!(outcome.expect("sound").links, 1);
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("file"), "x").expect("written");
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.path(), folder.path().join("loop")).expect("linked");
        let mut seen = Vec::new();
        let walked = walk_folder(folder.path(), LIMITS, |file| {
            seen.push(file.name.to_owned());
            Ok::<_, UnpackError>(())
        });
        assert_eq!(seen, ["file"]);
        assert_eq!(walked.expect("read").links, u64::from(cfg!(unix)));
    }

    #[test]
    fn what_is_cut_off_names_the_last_file() {
        let tar = tar_of(&[("a", &[1; 600]), ("b", &[2; 300])]);
        let (seen, outcome) = read_all(&tar[..1700], LIMITS);
        assert_eq!(
            seen,
            [("a".to_owned(), 600), ("b".to_owned(), 0)]
                .get(..seen.len())
                .unwrap_or_default()
        );
        let error = outcome.expect_err("cut");
        assert!(error.is_damage());
        assert!(
            error
                .to_string()
                .starts_with("the tar archive is damaged behind "),
            "{error}"
        );
    }

    #[test]
    fn the_end_of_an_archive_is_checked() {
        let tar = tar_of(&[("a", b"1"), ("b", b"2")]);
        let gzip = |bytes: &[u8]| {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            io::Write::write_all(&mut encoder, bytes).expect("memory");
            encoder.finish().expect("memory")
        };
        let mut flipped = gzip(&tar);
        let checksum = flipped.len() - 8;
        flipped[checksum] ^= 1;
        let corrupt = "gzip data is damaged after 3072 decompressed bytes: corrupt gzip stream does not have a matching";
        for (bytes, words) in [
            (tar.clone(), ""),
            ([&tar[..], &[0; 10_000]].concat(), ""),
            (gzip(&tar), ""),
            (
                tar[..2048].to_vec(),
                "the tar archive is damaged behind b: it has no end",
            ),
            (
                tar.repeat(2),
                "the tar archive is damaged behind b: something is behind its end",
            ),
            (flipped, corrupt),
        ] {
            let plain = crate::PlainInput::open(&bytes[..], 1 << 20).expect("a beginning");
            let mut seen = 0;
            let outcome = walk_tar(plain, UnpackLimits::default(), |_| {
                seen += 1;
                Ok::<_, UnpackError>(())
            });
            let error = outcome.err();
            let found = error.as_ref().map(ToString::to_string).unwrap_or_default();
            assert!(
                found.contains(words) && found.is_empty() == words.is_empty(),
                "{found}"
            );
            assert_eq!(seen, 2, "{found}");
            assert_eq!(
                error.is_some_and(|error| error.is_corrupt()),
                words == corrupt
            );
        }
    }

    #[test]
    fn files_and_bytes_have_limits() {
        let tar = tar_of(&[("a", &[1; 600]), ("b", &[2; 600])]);
        let (_, outcome) = read_all(&tar, LIMITS);
        assert!(matches!(
            outcome,
            Err(UnpackError::TooLarge { limit: 1000 })
        ));
        let (_, outcome) = read_all(&tar, UnpackLimits { files: 1, ..LIMITS });
        assert!(matches!(
            outcome,
            Err(UnpackError::TooManyFiles { limit: 1 })
        ));
    }
}
