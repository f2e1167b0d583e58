//! Reads k8shark captures: a zip archive of polled lists and watch events, each compressed
//! separately.
//!
//! The folder `k8shark-capture/` in it contains `metadata.json`, `index.json.zst` (the polls of
//! each API path), `watch-index.json.zst` (its watch events) and the records
//! `records/DIGEST/NUMBER.json.zst`, where the digest is that of the path. A record contains its
//! path, so the digest is not needed: records are grouped by their folder.

use crate::document::json_error;
use crate::error::{BrokenReason, ImportError};
use crate::input::{MAX_JSON, len_u64, unread, whole};
use jiff::Timestamp;
use kubereel_format::RecordedAt;
use kubereel_unpack::{ArchiveFile, PlainInput, UnpackError, UnpackLimits, walk_zip};
use serde::Deserialize;
use serde_json::value::RawValue;

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

const ROOT: &str = "k8shark-capture/";

/// The supported versions of the format.
const VERSIONS: [u64; 2] = [1, 2];

/// The largest decompressed size of the records, in bytes.
const MAX_BYTES: u64 = 32 << 30;

#[derive(Deserialize)]
struct CaptureMetadata {
    format_version: u64,
    #[serde(default)]
    captured_at: Option<String>,
    #[serde(default)]
    captured_until: Option<String>,
}

/// The fields of a record that are read.
#[derive(Deserialize)]
struct CaptureRecord<'a> {
    #[serde(default)]
    captured_at: Option<String>,
    api_path: String,
    #[serde(default)]
    event_type: Option<String>,
    #[serde(default)]
    response_code: Option<u16>,
    #[serde(borrow, default)]
    response_body: Option<&'a RawValue>,
}

/// A record that waits for its order.
struct WaitingRecord {
    time: RecordedAt,
    /// The place in the archive: records of one time keep their order.
    name: String,
    at: u64,
    len: usize,
}

/// Writes the records of a capture into the temporary file.
struct RecordCollector {
    writer: BufWriter<File>,
    end: u64,
    /// When the capture began.
    started: Option<RecordedAt>,
    pending: Vec<(String, u64, usize, Option<RecordedAt>)>,
    broken: Vec<(String, BrokenReason)>,
}

impl RecordCollector {
    fn take(&mut self, one: &mut ArchiveFile<'_>) -> Result<(), ImportError> {
        let name = one.name.strip_prefix(ROOT).unwrap_or(one.name);
        let is_record = name.starts_with("records/");
        if !is_record && name != "metadata.json" {
            return Ok(());
        }
        let plain = PlainInput::open(BufReader::new(&mut *one.content), MAX_JSON).map_err(unread);
        let bytes = match plain.and_then(|plain| whole(plain, MAX_JSON)) {
            Ok(bytes) => bytes,
            Err(ImportError::Unpack { source }) => {
                let reason = BrokenReason::Unreadable(source.to_string());
                self.broken.push((name.to_owned(), reason));
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        if !is_record {
            self.started = read_metadata(&bytes)?;
            return Ok(());
        }
        let time = match serde_json::from_slice::<CaptureRecord<'_>>(&bytes) {
            Ok(record) => record.captured_at.as_deref().and_then(read_time),
            Err(error) => {
                let reason = BrokenReason::NotJson(json_error(&error));
                self.broken.push((name.to_owned(), reason));
                return Ok(());
            }
        };
        let at = self.end;
        self.end = self.end.saturating_add(len_u64(bytes.len()));
        if self.end > MAX_BYTES {
            return Err(UnpackError::TooLarge { limit: MAX_BYTES }.into());
        }
        self.writer.write_all(&bytes).map_err(waiting)?;
        self.pending.push((name.to_owned(), at, bytes.len(), time));
        Ok(())
    }
}

fn waiting(source: io::Error) -> ImportError {
    ImportError::Place {
        path: "a temporary file".into(),
        source,
    }
}

/// The resource of an API path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiPath {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) plural: String,
    pub(crate) namespace: Option<String>,
}

impl ApiPath {
    /// Parses the path of a list; `None` for other paths.
    pub(crate) fn parse(path: &str) -> Option<Self> {
        if path.contains('?') {
            return None;
        }
        let mut words = path.strip_prefix('/')?.split('/');
        let (group, version) = match words.next()? {
            "api" => ("", words.next()?),
            "apis" => (words.next()?, words.next()?),
            _ => return None,
        };
        let rest: Vec<&str> = words.collect();
        let (namespace, plural) = match rest.as_slice() {
            [plural] => (None, *plural),
            ["namespaces", namespace, plural] => (Some((*namespace).to_owned()), *plural),
            _ => return None,
        };
        Some(Self {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: plural.to_owned(),
            namespace,
        })
    }
}

/// The meaning of a record.
pub(crate) enum CaptureStep<'a> {
    /// A complete list of a resource.
    List {
        at: RecordedAt,
        path: ApiPath,
        body: &'a RawValue,
    },
    /// An event of a watch.
    Event {
        at: RecordedAt,
        path: ApiPath,
        kind: &'a str,
        object: &'a RawValue,
    },
    /// The resources of a group version.
    Discovery(&'a RawValue),
    /// A log, a schema, a table or an error.
    Other,
}

/// A capture whose records can be read in the order of time.
pub(crate) struct Capture {
    file: File,
    records: Vec<WaitingRecord>,
    /// Records that cannot be read, with their places.
    pub(crate) broken: Vec<(String, BrokenReason)>,
}

impl Capture {
    /// Returns whether a zip archive is a capture.
    pub(crate) fn is_one(start: &[u8]) -> bool {
        memchr::memmem::find(start, ROOT.as_bytes()).is_some()
    }

    /// Reads a capture; records without a time get that of the capture or the given one.
    /// Decompressed records go into an unnamed temporary file in a folder.
    pub(crate) fn open(
        zip: &File,
        folder: &Path,
        otherwise: Option<RecordedAt>,
    ) -> Result<Self, ImportError> {
        let file = tempfile::tempfile_in(folder).map_err(waiting)?;
        let mut collector = RecordCollector {
            writer: BufWriter::new(file.try_clone().map_err(waiting)?),
            end: 0,
            started: None,
            pending: Vec::new(),
            broken: Vec::new(),
        };
        let walked = walk_zip(zip, UnpackLimits::default(), |mut one| {
            collector.take(&mut one)
        });
        let mut broken = std::mem::take(&mut collector.broken);
        match walked {
            Ok(_) => {}
            Err(ImportError::Unpack { source }) if source.is_damage() => {
                let reason = BrokenReason::damage(&source);
                broken.push(("the capture".to_owned(), reason));
            }
            Err(error) => return Err(error),
        }
        collector.writer.flush().map_err(waiting)?;
        let otherwise = collector.started.or(otherwise);
        let mut records: Vec<WaitingRecord> = Vec::new();
        for (name, at, len, time) in collector.pending {
            // The first version of the format may leave a record without a time.
            match time.or(otherwise) {
                Some(time) => records.push(WaitingRecord {
                    time,
                    name,
                    at,
                    len,
                }),
                None => broken.push((name, BrokenReason::NoTime)),
            }
        }
        records.sort_by(|one, other| {
            let order = |record: &WaitingRecord| (record.time, number(&record.name));
            (order(one), &one.name).cmp(&(order(other), &other.name))
        });
        Ok(Self {
            file,
            records,
            broken,
        })
    }

    /// Passes the records on in the order of time, with their places.
    pub(crate) fn each(
        mut self,
        mut take: impl FnMut(&str, CaptureStep<'_>) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        let mut bytes = Vec::new();
        for record in &self.records {
            self.file
                .seek(SeekFrom::Start(record.at))
                .map_err(waiting)?;
            bytes.resize(record.len, 0);
            self.file.read_exact(&mut bytes).map_err(waiting)?;
            // Was read before.
            let Ok(parsed) = serde_json::from_slice::<CaptureRecord<'_>>(&bytes) else {
                continue;
            };
            take(&record.name, parsed.step(record.time))?;
        }
        Ok(())
    }
}

impl<'a> CaptureRecord<'a> {
    fn step(&'a self, at: RecordedAt) -> CaptureStep<'a> {
        let is_well = self
            .response_code
            .is_none_or(|code| (200..300).contains(&code));
        let Some(body) = self.response_body.filter(|_| is_well) else {
            return CaptureStep::Other;
        };
        match (ApiPath::parse(&self.api_path), self.event_type.as_deref()) {
            (Some(path), Some(kind)) => CaptureStep::Event {
                at,
                path,
                kind,
                object: body,
            },
            (Some(path), None) => CaptureStep::List { at, path, body },
            (None, None) if is_group_path(&self.api_path) => CaptureStep::Discovery(body),
            _ => CaptureStep::Other,
        }
    }
}

/// Returns whether a path names a group version: `/api/v1`, `/apis/apps/v1`.
fn is_group_path(path: &str) -> bool {
    let words = path.split('/').count();
    (path.starts_with("/api/") && words == 3) || (path.starts_with("/apis/") && words == 4)
}

fn read_metadata(bytes: &[u8]) -> Result<Option<RecordedAt>, ImportError> {
    let metadata: CaptureMetadata =
        serde_json::from_slice(bytes).map_err(|error| ImportError::Damaged {
            place: format!("{ROOT}metadata.json"),
            cause: error.to_string(),
        })?;
    if !VERSIONS.contains(&metadata.format_version) {
        return Err(ImportError::Unsupported {
            what: "a k8shark capture of a newer version of its format",
            instead: "capture it with a version of kshrk that writes version 1 or 2",
        });
    }
    let at = metadata.captured_at.or(metadata.captured_until);
    Ok(at.as_deref().and_then(read_time))
}

fn read_time(text: &str) -> Option<RecordedAt> {
    let at: Timestamp = text.parse().ok()?;
    Some(RecordedAt::from_micros(at.as_microsecond()))
}

/// Parses the number in a record's name.
fn number(name: &str) -> u64 {
    let name = name.rsplit('/').next().unwrap_or_default();
    let digits = name.split('.').next().unwrap_or_default();
    digits.parse().unwrap_or(u64::MAX)
}

/// A resource in discovery.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CapturedResource {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) singular_name: String,
    #[serde(default)]
    pub(crate) namespaced: bool,
    #[serde(default)]
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) short_names: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) categories: Option<Vec<String>>,
}

/// The resources of a group's version.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CapturedGroup {
    pub(crate) group_version: String,
    #[serde(default)]
    pub(crate) resources: Vec<CapturedResource>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_a_resource_or_something_else() {
        let parsed = |path: &str| {
            ApiPath::parse(path).map(|one| {
                format!(
                    "{}/{} {} {:?}",
                    one.group, one.version, one.plural, one.namespace
                )
            })
        };
        for (path, expected) in [
            ("/api/v1/nodes", Some("/v1 nodes None")),
            ("/api/v1/namespaces", Some("/v1 namespaces None")),
            (
                "/apis/apps/v1/namespaces/a/deployments",
                Some("apps/v1 deployments Some(\"a\")"),
            ),
            ("/api/v1/pods?as=Table", None),
            ("/api/v1/namespaces/a/pods/p/log", None),
            ("/api/v1", None),
            ("/apis", None),
            ("/openapi/v2", None),
            ("", None),
        ] {
            assert_eq!(parsed(path).as_deref(), expected, "{path}");
        }
        assert!(is_group_path("/api/v1") && is_group_path("/apis/apps/v1"));
        assert!(!is_group_path("/apis/apps") && !is_group_path("/openapi/v2"));
        assert!(number("records/ab/10.json.zst") > number("records/ab/9.json.zst"));
    }
}
