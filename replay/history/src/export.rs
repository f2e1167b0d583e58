//! Owns the JSON lines that a reel exports: one event a line, the object last, its bytes as
//! recorded. Refuses notes: what the lines cannot say is counted, so that a caller can say it.

use crate::timeline::Timeline;
use crate::timetext;
use kubereel_format::{Event, ReadError, ResourceId, ResourceInfo, Seq};
use std::collections::BTreeMap;
use std::io::{self, Write};
use thiserror::Error;

/// What an export wrote, and what it could not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// The lines written.
    pub lines: u64,
    /// How many objects were recorded over several lines; in a line, spaces stand for their line ends.
    pub unwrapped: u64,
    /// The places that could not be read; their events are not in the output.
    pub unread: Vec<ReadError>,
}

/// An export had to stop.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Write(#[from] io::Error),
    /// An event belongs to a resource that the reel does not describe.
    #[error("event {seq} is of resource {resource}, which the reel does not describe")]
    UnknownResource {
        /// The event.
        seq: Seq,
        /// The resource's number.
        resource: ResourceId,
    },
}

impl Timeline {
    /// Writes every event as a line of JSON, in the order of arrival.
    ///
    /// `progress` is told how many records are done, every so often.
    ///
    /// # Errors
    /// When the output cannot be written. Damage of the reel does not stop it: see [`Exported`].
    pub fn export_jsonl(
        &self,
        out: &mut impl Write,
        mut progress: impl FnMut(Seq),
    ) -> Result<Exported, ExportError> {
        let mut exported = Exported::default();
        let prefixes: BTreeMap<ResourceId, String> = self
            .resources()
            .iter()
            .map(|info| (info.id, prefix(info)))
            .collect();
        for event in self.reel().scan(Seq(0)) {
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    exported.unread.push(error);
                    continue;
                }
            };
            let seq = event.head.seq;
            let resource = self.resource_of(&event);
            let prefix = prefixes
                .get(&resource)
                .ok_or(ExportError::UnknownResource { seq, resource })?;
            let ts = timetext::rfc3339_micros(event.head.stamp.wall);
            let kind = event.head.kind.as_str();
            write!(out, r#"{{"ts":"{ts}","type":"{kind}",{prefix},"object":"#)?;
            exported.unwrapped += u64::from(write_on_one_line(out, &event.body)?);
            out.write_all(b"}\n")?;
            exported.lines += 1;
            progress(seq);
        }
        Ok(exported)
    }

    fn resource_of(&self, event: &Event) -> ResourceId {
        usize::try_from(event.head.object.0)
            .ok()
            .and_then(|at| self.reel().objects().get(at))
            .map_or(ResourceId(u32::MAX), |object| object.key.resource)
    }
}

/// Writes an object, and tells whether it went over several lines.
///
/// In JSON a line end is white space between words: within a string it cannot stand.
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

/// Writes the members that all lines of a resource share.
fn prefix(info: &ResourceInfo) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    format!(
        r#""group":{},"version":{},"resource":{}"#,
        quoted(&info.group),
        quoted(&info.version),
        quoted(&info.plural)
    )
}
