//! Exports a reel as JSON lines: one event a line, the object last, its bytes as recorded. Notes
//! are not exported: information that the lines do not contain is counted for the caller.

use crate::select::ResourceTable;
use crate::timeline::Timeline;
use crate::timetext;
use kubereel_format::{ObjectId, ReadError, ResourceId, ResourceInfo, Seq};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use thiserror::Error;

/// The result of an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// The number of lines.
    pub lines: u64,
    /// The number of objects that were recorded over several lines; in the output, spaces replace
    /// their line ends.
    pub unwrapped: u64,
    /// Why the first unreadable event is not in the output; nothing if all are.
    pub unread: Option<ReadError>,
}

/// An export could not continue.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Write(#[from] io::Error),
    /// An event belongs to a resource that the reel does not describe.
    #[error("event {seq}: the resource of object {object} is not described in the reel")]
    UnknownResource {
        /// The event.
        seq: Seq,
        /// The number of its object.
        object: ObjectId,
    },
}

impl Exported {
    /// Writes every event as a line of JSON, in the order of arrival.
    ///
    /// `progress` receives the last processed record, after each event.
    ///
    /// # Errors
    /// When the output cannot be written. Damage of the reel is not an error: see [`Exported`].
    pub fn write_jsonl(
        timeline: &Timeline,
        out: &mut impl Write,
        mut progress: impl FnMut(Seq),
    ) -> Result<Self, ExportError> {
        let mut exported = Self::default();
        let resources = timeline.resources();
        let prefixes: BTreeMap<ResourceId, LinePrefix<'_>> = resources
            .iter()
            .map(|info| (info.id, LinePrefix::of(resources, info)))
            .collect();
        for event in timeline.reel().scan() {
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    exported.unread.get_or_insert(error);
                    continue;
                }
            };
            let seq = event.head.seq;
            let object = event.head.object;
            let resource = timeline.key_of(object).map(|key| key.resource);
            let prefix = resource
                .and_then(|resource| prefixes.get(&resource))
                .ok_or(ExportError::UnknownResource { seq, object })?;
            let ts = timetext::rfc3339_micros(event.head.stamp.wall);
            let kind = event.head.kind.as_str();
            let prefix = prefix.of_event(resources, seq, &event.body);
            write!(out, r#"{{"ts":"{ts}","type":"{kind}",{prefix},"object":"#)?;
            exported.unwrapped += u64::from(write_on_one_line(out, &event.body)?);
            out.write_all(b"}\n")?;
            exported.lines += 1;
            progress(seq);
        }
        Ok(exported)
    }
}

/// Writes an object, and returns whether it spanned several lines.
///
/// A raw line end in JSON is always white space between tokens: strings escape it.
fn write_on_one_line(out: &mut impl Write, body: &[u8]) -> io::Result<bool> {
    let mut from = 0;
    for end in memchr::memchr2_iter(b'\n', b'\r', body) {
        out.write_all(body.get(from..end).unwrap_or_default())?;
        out.write_all(b" ")?;
        from = end + 1;
    }
    out.write_all(body.get(from..).unwrap_or_default())?;
    Ok(from > 0)
}

/// The members of a line that name the resource.
enum LinePrefix<'a> {
    /// All lines of the resource share them.
    Same(String),
    /// The version changed while the resource was followed: that of each body counts.
    Several(&'a ResourceInfo),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VersionedBody<'a> {
    #[serde(borrow, default)]
    api_version: Cow<'a, str>,
}

impl<'a> LinePrefix<'a> {
    fn of(resources: &ResourceTable, info: &'a ResourceInfo) -> Self {
        let mut descriptions = resources.descriptions(info.id);
        if descriptions.all(|one| one.version == info.version) {
            Self::Same(prefix(info, &info.version))
        } else {
            Self::Several(info)
        }
    }

    fn of_event(&self, resources: &ResourceTable, seq: Seq, body: &[u8]) -> Cow<'_, str> {
        match self {
            Self::Same(prefix) => Cow::Borrowed(prefix),
            Self::Several(info) => {
                let read: Option<VersionedBody<'_>> = serde_json::from_slice(body).ok();
                let own = read.as_ref().map_or("", |body| body.api_version.as_ref());
                let own = own.rsplit('/').next().filter(|own| !own.is_empty());
                // Items of a list have none.
                let described = resources.described(info.id, seq).unwrap_or(info);
                Cow::Owned(prefix(info, own.unwrap_or(&described.version)))
            }
        }
    }
}

fn prefix(info: &ResourceInfo, version: &str) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    format!(
        r#""group":{},"version":{},"resource":{}"#,
        quoted(&info.group),
        quoted(version),
        quoted(&info.plural)
    )
}
