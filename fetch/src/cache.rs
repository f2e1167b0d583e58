//! The folder of downloads: complete files under the digest of their content, incomplete files and
//! metadata under the digest of the address.

use crate::error::FetchError;
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

/// The longest metadata file, in bytes.
const ENTRY_BYTES: u64 = 64 * 1024;

/// The metadata of the file behind an address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CacheEntry {
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
    /// Its length, if the server sent it.
    pub(crate) total: Option<u64>,
    /// The digest and the length of the complete file.
    pub(crate) complete: Option<(String, u64)>,
}

impl CacheEntry {
    /// Returns a validator by which a server can decide to send only the rest.
    pub(crate) fn validator(&self) -> Option<&String> {
        let strong = self.etag.as_ref().filter(|etag| !etag.starts_with("W/"));
        strong.or(self.last_modified.as_ref())
    }
}

/// The files of one address, locked against other processes.
#[derive(Debug)]
pub(crate) struct CachePlace {
    folder: PathBuf,
    key: String,
    _lock: File,
}

impl CachePlace {
    /// Creates the folder, and waits until no other process downloads the same address.
    pub(crate) fn open(folder: &Path, url: &str) -> Result<Self, FetchError> {
        let mut context = Context::new(&SHA256);
        context.update(url.as_bytes());
        let key = hex(context);
        let path = folder.join(format!("{key}.lock"));
        let opened = fs::create_dir_all(folder).and_then(|()| {
            let lock = File::create(&path)?;
            lock.lock()?;
            Ok(lock)
        });
        Ok(Self {
            folder: folder.to_owned(),
            key,
            _lock: opened.map_err(|source| FetchError::Write { path, source })?,
        })
    }

    fn own(&self, ending: &str) -> PathBuf {
        self.folder.join(format!("{}.{ending}", self.key))
    }

    /// Returns the metadata of the address; unreadable metadata counts as absent.
    pub(crate) fn entry(&self) -> CacheEntry {
        let mut text = Vec::new();
        let read = File::open(self.own("json"))
            .and_then(|file| file.take(ENTRY_BYTES).read_to_end(&mut text));
        let entry = read.ok().and_then(|_| serde_json::from_slice(&text).ok());
        entry.unwrap_or_default()
    }

    /// Stores the metadata of the address.
    pub(crate) fn note(&self, entry: &CacheEntry) -> Result<(), FetchError> {
        let path = self.own("json");
        let written = serde_json::to_vec(entry)
            .map_err(io::Error::from)
            .and_then(|text| fs::write(&path, text));
        written.map_err(|source| FetchError::Write { path, source })
    }

    /// Returns the complete file, if it still exists.
    pub(crate) fn complete(&self, entry: &CacheEntry) -> Option<PathBuf> {
        let (digest, bytes) = entry.complete.as_ref()?;
        let is_digest = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        let path = self.folder.join(format!("{digest}.reel"));
        let is_there = fs::metadata(&path).is_ok_and(|about| about.len() == *bytes);
        (is_digest && is_there).then_some(path)
    }

    /// Opens the incomplete file.
    pub(crate) fn part(&self) -> Result<DownloadPart, FetchError> {
        let path = self.own("part");
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .and_then(|file| Ok((file.metadata()?.len(), file)));
        match opened {
            Ok((bytes, file)) => Ok(DownloadPart { path, file, bytes }),
            Err(source) => Err(FetchError::Write { path, source }),
        }
    }

    /// Renames a complete download to its name, and stores its metadata.
    pub(crate) fn finish(
        &self,
        part: DownloadPart,
        mut entry: CacheEntry,
    ) -> Result<PathBuf, FetchError> {
        let DownloadPart {
            path,
            mut file,
            bytes,
        } = part;
        let failed = |source| FetchError::Write {
            path: path.clone(),
            source,
        };
        let mut context = Context::new(&SHA256);
        file.rewind().map_err(failed)?;
        let mut piece = vec![0; 256 * 1024];
        loop {
            let read = file.read(&mut piece).map_err(failed)?;
            let Some(read) = piece.get(..read).filter(|read| !read.is_empty()) else {
                break;
            };
            context.update(read);
        }
        let digest = hex(context);
        let whole = self.folder.join(format!("{digest}.reel"));
        drop(file);
        fs::rename(&path, &whole).map_err(failed)?;
        entry.complete = Some((digest, bytes));
        self.note(&entry)?;
        Ok(whole)
    }
}

fn hex(context: Context) -> String {
    let digest = context.finish();
    let digits = digest
        .as_ref()
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .filter_map(|digit| char::from_digit(u32::from(digit), 16))
        .collect()
}

/// An incomplete download.
#[derive(Debug)]
pub(crate) struct DownloadPart {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl DownloadPart {
    /// Returns its length.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Starts over.
    pub(crate) fn clear(&mut self) -> Result<(), FetchError> {
        self.bytes = 0;
        let cleared = self.file.set_len(0).and_then(|()| self.file.rewind());
        cleared.map_err(|source| self.failed(source))
    }

    /// Appends received bytes.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Result<(), FetchError> {
        let written = self
            .file
            .seek(io::SeekFrom::Start(self.bytes))
            .and_then(|_| self.file.write_all(piece));
        written.map_err(|source| self.failed(source))?;
        let len = u64::try_from(piece.len()).unwrap_or(u64::MAX);
        self.bytes = self.bytes.saturating_add(len);
        Ok(())
    }

    fn failed(&self, source: io::Error) -> FetchError {
        FetchError::Write {
            path: self.path.clone(),
            source,
        }
    }
}
