//! Downloads the file of an address: finds the reel, downloads it, and resumes after a cut.

use crate::address::{Place, ReelAddress, StoredObject, public_url};
use crate::cache::{CacheEntry, CachePlace, DownloadPart};
use crate::client::FetchClient;
use crate::error::FetchError;
use crate::listing::{is_reel_name, list_below};
use http::{HeaderMap, Response};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;
use ureq::Body;
use url::Url;

/// The number of attempts without progress.
const TRIES: u32 = 3;

/// How many bytes are read at once.
const PIECE: usize = 64 * 1024;

/// The cache of downloads.
#[derive(Clone, Debug)]
pub struct FetchOptions {
    /// The folder; `None` for temporary files only.
    pub folder: Option<PathBuf>,
    /// The largest download, in bytes.
    pub most_bytes: u64,
    /// The delay after an attempt without progress; it doubles.
    pub retry_wait: Duration,
    /// The meaning of an address in a bucket.
    pub wanted: WantedFile,
}

/// The meaning of an address in a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WantedFile {
    /// The reel of that name, or the only reel below it.
    Reel,
    /// The file of exactly that name.
    Any,
}

/// The progress of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchProgress {
    /// The number of objects that were listed.
    Listed(u64),
    /// The received bytes, and the total.
    Downloaded {
        /// The received bytes.
        done: u64,
        /// The total, if the server sent it.
        total: Option<u64>,
    },
}

/// A downloaded file.
#[derive(Debug)]
pub struct FetchedFile {
    path: PathBuf,
    /// Removes the folder of the file.
    _temporary: Option<TempDir>,
}

impl FetchedFile {
    /// Returns the file, which exists as long as this value.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Downloads the file of an address, or finds it in the cache; the server is asked whether the file
/// changed.
///
/// # Errors
/// When there is no reel or more than one and a reel is requested, and when the file cannot be
/// downloaded.
pub fn fetch(
    client: &FetchClient,
    address: &ReelAddress,
    options: &FetchOptions,
    mut progress: impl FnMut(FetchProgress),
) -> Result<FetchedFile, FetchError> {
    let url = match address.place() {
        Place::File(url) => url.clone(),
        Place::Object(object) => {
            let found = match options.wanted {
                WantedFile::Any => object.clone(),
                WantedFile::Reel => choose(client, object, |files| {
                    progress(FetchProgress::Listed(files));
                })?,
            };
            let path = std::iter::once(found.bucket.as_str()).chain(found.name.split('/'));
            client.in_store(path)
        }
    };
    // A folder that cannot be written is as good as none.
    let cached = options.folder.as_deref();
    let cached = cached.and_then(|folder| CachePlace::open(folder, url.as_str()).ok());
    let (place, temporary) = if let Some(place) = cached {
        (place, None)
    } else {
        let folder = tempfile::tempdir().map_err(|source| FetchError::Write {
            path: "a temporary folder".into(),
            source,
        })?;
        (CachePlace::open(folder.path(), url.as_str())?, Some(folder))
    };
    let path = Download {
        client,
        url: &url,
        options,
        entry: place.entry(),
        place,
        is_chunked: false,
        progress: &mut progress,
    }
    .run()?;
    Ok(FetchedFile {
        path,
        _temporary: temporary,
    })
}

/// Finds the only reel below a name in a bucket.
fn choose(
    client: &FetchClient,
    object: &StoredObject,
    listed: impl FnMut(u64),
) -> Result<StoredObject, FetchError> {
    if is_reel_name(&object.name) {
        return Ok(object.clone());
    }
    let mut below = list_below(client, object, listed)?;
    let address = || object.words();
    match (below.reels.len(), below.files) {
        // A file may have any name; if it does not exist either, its own response is the error.
        (0, 0) if object.name.is_empty() => Err(FetchError::NotFound { address: address() }),
        (0, 0) => Ok(object.clone()),
        (0, files) => Err(FetchError::NoReel {
            address: address(),
            files,
        }),
        (1, _) => Ok(below.reels.swap_remove(0)),
        _ => Err(FetchError::Several {
            address: address(),
            reels: below.reels.iter().map(StoredObject::words).collect(),
        }),
    }
}

/// The meaning of a response for the part that was downloaded before.
enum Answer {
    /// The complete file in the cache is current.
    Unchanged,
    /// The response has the whole file.
    Whole,
    /// The response continues the part.
    Rest,
    /// The part belongs to another file.
    OtherFile,
    /// The server may succeed later.
    Later(u16),
}

/// How a body ended.
enum BodyEnd {
    Complete,
    Cut(io::Error),
}

struct Download<'a> {
    client: &'a FetchClient,
    url: &'a Url,
    options: &'a FetchOptions,
    place: CachePlace,
    entry: CacheEntry,
    /// Whether the end of the body shows that it is whole, although it has no declared length.
    is_chunked: bool,
    progress: &'a mut dyn FnMut(FetchProgress),
}

impl Download<'_> {
    fn run(mut self) -> Result<PathBuf, FetchError> {
        let mut complete = self.place.complete(&self.entry);
        if complete.is_none() {
            self.entry.complete = None;
        }
        let mut part = self.place.part()?;
        if self.entry.validator().is_none() || part.bytes() > self.options.most_bytes {
            part.clear()?;
        }
        let (mut idle, mut begun) = (0, 0);
        loop {
            let before = part.bytes();
            let tried = self
                .client
                .get(self.url, &self.headers(complete.is_some(), before));
            let ended = match tried {
                Ok(response) => match self.answer(&response, before)? {
                    Answer::Unchanged => match complete {
                        Some(path) => return Ok(path),
                        None => return Err(self.status(304)),
                    },
                    Answer::Later(status) if idle + 1 >= TRIES => return Err(self.status(status)),
                    Answer::Later(status) => {
                        BodyEnd::Cut(io::Error::other(format!("HTTP status {status}")))
                    }
                    Answer::OtherFile => {
                        part.clear()?;
                        begun += 1;
                        if begun >= TRIES {
                            return Err(FetchError::Changing {
                                address: public_url(self.url),
                            });
                        }
                        continue;
                    }
                    Answer::Whole => {
                        part.clear()?;
                        begun += 1;
                        // It is of another file than the one that is coming.
                        complete = None;
                        self.begin(response.headers())?;
                        self.receive(response.into_body(), &mut part)?
                    }
                    Answer::Rest => self.receive(response.into_body(), &mut part)?,
                },
                // A server that never responded is not retried.
                Err(error) if before == 0 => return Err(error),
                Err(FetchError::Connect { source, .. }) => BodyEnd::Cut(io::Error::other(source)),
                Err(error) => return Err(error),
            };
            let BodyEnd::Cut(source) = ended else {
                if self.is_chunked {
                    self.entry.total = Some(part.bytes());
                }
                return self.place.finish(part, self.entry);
            };
            let is_further = part.bytes() > before && self.entry.validator().is_some();
            idle = if is_further { 0 } else { idle + 1 };
            if idle >= TRIES || begun > TRIES {
                return Err(FetchError::Cut {
                    address: public_url(self.url),
                    done: part.bytes(),
                    total: self.entry.total,
                    source,
                });
            }
            if idle > 0 {
                thread::sleep(self.options.retry_wait * idle);
            }
        }
    }

    fn status(&self, status: u16) -> FetchError {
        let address = public_url(self.url);
        match status {
            404 | 410 => FetchError::NotFound { address },
            status => FetchError::Status { address, status },
        }
    }

    fn headers(&self, is_complete: bool, bytes: u64) -> Vec<(&'static str, String)> {
        // Objects that are stored compressed must arrive as they are stored, with a length and in
        // ranges.
        let mut headers = vec![("accept-encoding", "gzip".to_owned())];
        if is_complete {
            // A connection that ended too early may have cut a file of unknown length: it is downloaded again.
            if self.entry.total.is_none() {
                return headers;
            }
            if let Some(etag) = &self.entry.etag {
                headers.push(("if-none-match", etag.clone()));
            } else if let Some(date) = &self.entry.last_modified {
                headers.push(("if-modified-since", date.clone()));
            }
        } else if let Some(validator) = self.entry.validator().filter(|_| bytes > 0) {
            headers.push(("range", format!("bytes={bytes}-")));
            headers.push(("if-range", validator.clone()));
        }
        headers
    }

    fn answer(&self, response: &Response<Body>, bytes: u64) -> Result<Answer, FetchError> {
        let headers = response.headers();
        match response.status().as_u16() {
            200 => {
                let kind = text(headers, "content-type").unwrap_or_default();
                if kind.starts_with("text/html") {
                    return Err(FetchError::WebPage {
                        address: public_url(self.url),
                    });
                }
                Ok(Answer::Whole)
            }
            206 => {
                let range = text(headers, "content-range").and_then(|range| content_range(&range));
                let fits = range.is_some_and(|(from, total)| {
                    from == bytes
                        && (total.is_none()
                            || self.entry.total.is_none()
                            || total == self.entry.total)
                });
                Ok(if fits {
                    Answer::Rest
                } else {
                    Answer::OtherFile
                })
            }
            304 => Ok(Answer::Unchanged),
            416 if bytes > 0 => Ok(Answer::OtherFile),
            status @ (408 | 429 | 500..=599) => Ok(Answer::Later(status)),
            status => Err(self.status(status)),
        }
    }

    /// Notes the metadata of a file whose download begins.
    fn begin(&mut self, headers: &HeaderMap) -> Result<(), FetchError> {
        self.entry = CacheEntry {
            etag: text(headers, "etag"),
            last_modified: text(headers, "last-modified"),
            total: text(headers, "content-length").and_then(|length| length.parse().ok()),
            complete: None,
        };
        self.is_chunked = self.entry.total.is_none()
            && text(headers, "transfer-encoding").is_some_and(|coding| coding.contains("chunked"));
        if self
            .entry
            .total
            .is_some_and(|total| total > self.options.most_bytes)
        {
            return Err(self.too_large());
        }
        self.place.note(&self.entry)
    }

    fn too_large(&self) -> FetchError {
        FetchError::TooLarge {
            address: public_url(self.url),
            limit: self.options.most_bytes,
        }
    }

    fn receive(&mut self, body: Body, part: &mut DownloadPart) -> Result<BodyEnd, FetchError> {
        let mut body = body.into_reader();
        let mut piece = vec![0; PIECE];
        loop {
            let read = match body.read(&mut piece) {
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Ok(BodyEnd::Cut(error)),
            };
            let Some(read) = piece.get(..read).filter(|read| !read.is_empty()) else {
                break;
            };
            part.push(read)?;
            if part.bytes() > self.options.most_bytes {
                part.clear()?;
                return Err(self.too_large());
            }
            (self.progress)(FetchProgress::Downloaded {
                done: part.bytes(),
                total: self.entry.total,
            });
        }
        Ok(match self.entry.total {
            Some(total) if total > part.bytes() => {
                BodyEnd::Cut(io::ErrorKind::UnexpectedEof.into())
            }
            // More than the whole file: the parts are of different files.
            Some(total) if total < part.bytes() => {
                part.clear()?;
                BodyEnd::Cut(io::ErrorKind::InvalidData.into())
            }
            _ => BodyEnd::Complete,
        })
    }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.to_owned())
}

/// Parses `bytes FROM-TO/TOTAL`.
fn content_range(text: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let (from, _) = range.split_once('-')?;
    Some((from.parse().ok()?, total.parse().ok()))
}
