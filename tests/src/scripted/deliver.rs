//! Owns the way of lines onto the wire: edits, chunks, gzip members and cuts, byte for byte.
//! Refuses to choose the lines.

use super::answer::Line;
use super::fault::{Cut, Edit, End, Fault, Pick, Place};
use super::gzip;
use super::log::Ending;
use super::oracle::Altered;
use super::settings::Chunking;
use super::wire::{Orders, Wire};

/// Chunks that wait together are written once they are this many bytes.
const WRITE_BYTES: usize = 64 * 1024;

/// Writes the body of one answer.
#[derive(Debug)]
pub(crate) struct Delivery {
    chunked: bool,
    chunking: Chunking,
    gzip: bool,
    edits: Vec<(Pick, Edit)>,
    cuts: Vec<Cut>,
    next_line: usize,
}

/// What one of the server's lines became.
#[derive(Debug)]
struct Edited {
    bytes: Vec<u8>,
    /// Where the line proper starts, behind what was put before it.
    start: usize,
    commits: Vec<usize>,
    /// The commits it should have told of.
    withheld: Vec<usize>,
    cut: Option<Cut>,
}

/// Lines edited and not yet written.
#[derive(Debug, Default)]
struct Waiting {
    bytes: Vec<u8>,
    commits: Vec<usize>,
    altered: Vec<Altered>,
    lines: usize,
}

/// A write that came to its end, with what is whole on the wire by then.
#[derive(Debug, Default)]
pub(crate) struct Delivered {
    pub(crate) commits: Vec<usize>,
    pub(crate) altered: Vec<Altered>,
    pub(crate) lines: usize,
    pub(crate) stopped: Option<Ending>,
}

impl Delivery {
    pub(crate) fn new(chunked: bool, chunking: Chunking, gzip: bool, faults: Vec<Fault>) -> Self {
        let mut delivery = Self {
            chunked,
            chunking,
            gzip,
            edits: Vec::new(),
            cuts: Vec::new(),
            next_line: 0,
        };
        for fault in faults {
            match fault {
                Fault::Edit(pick, edit) => delivery.edits.push((pick, edit)),
                Fault::Cut(cut) => delivery.cuts.push(cut),
                Fault::Chunking(chunking) => delivery.chunking = chunking,
                Fault::Answer(_)
                | Fault::Raw(..)
                | Fault::LongList(_)
                | Fault::Head(..)
                | Fault::Delay(_) => {}
            }
        }
        delivery
    }

    /// Whether some cut or edit may change the length of a document.
    pub(crate) fn alters(&self) -> bool {
        !self.edits.is_empty() || self.cuts.iter().any(|cut| cut.end == End::Finished)
    }

    /// Chooses between chunks and an announced length.
    pub(crate) fn set_chunked(&mut self, chunked: bool) {
        self.chunked = chunked;
    }

    /// How long an unaltered document is on the wire.
    pub(crate) fn document_len(&self, document: &[u8]) -> usize {
        if self.gzip {
            gzip::member(document).len()
        } else {
            document.len()
        }
    }

    /// Sends lines that wait together.
    pub(crate) async fn send(
        &mut self,
        lines: Vec<Line>,
        wire: &mut Wire,
        orders: &mut Orders,
    ) -> Delivered {
        let mut delivered = Delivered::default();
        let mut waiting = Waiting::default();
        for line in lines {
            let edited = self.edit(line);
            if let Some(cut) = &edited.cut {
                let flushed = self.flush(waiting, &mut delivered, wire, orders).await;
                let stopped = match flushed {
                    Ok(()) => {
                        self.send_cut(&edited, cut, &mut delivered, wire, orders)
                            .await
                    }
                    Err(ending) => ending,
                };
                delivered.stopped = Some(stopped);
                return delivered;
            }
            waiting.lines += 1;
            waiting.altered.extend(edited.altered());
            waiting.commits.extend(&edited.commits);
            if self.chunking != Chunking::PerLine {
                waiting.bytes.extend_from_slice(&edited.bytes);
                continue;
            }
            if !edited.bytes.is_empty() {
                waiting.bytes.extend_from_slice(&self.frame(&edited.bytes));
            }
            if waiting.bytes.len() >= WRITE_BYTES {
                let full = std::mem::take(&mut waiting);
                if let Err(ending) = self.flush(full, &mut delivered, wire, orders).await {
                    delivered.stopped = Some(ending);
                    return delivered;
                }
            }
        }
        if let Err(ending) = self.flush(waiting, &mut delivered, wire, orders).await {
            delivered.stopped = Some(ending);
        }
        delivered
    }

    /// The bytes that end the body.
    pub(crate) fn terminator(&self) -> &'static [u8] {
        if self.chunked { b"0\r\n\r\n" } else { b"" }
    }

    async fn flush(
        &self,
        waiting: Waiting,
        delivered: &mut Delivered,
        wire: &mut Wire,
        orders: &mut Orders,
    ) -> Result<(), Ending> {
        let bytes = &waiting.bytes;
        let framed = match self.chunking {
            Chunking::Bytes(size) if self.chunked => bytes
                .chunks(size.max(1))
                .flat_map(|piece| self.frame(piece))
                .collect(),
            Chunking::Together if !bytes.is_empty() => self.frame(bytes),
            _ => waiting.bytes,
        };
        wire.send(&framed, orders).await?;
        delivered.commits.extend(waiting.commits);
        delivered.altered.extend(waiting.altered);
        delivered.lines += waiting.lines;
        Ok(())
    }

    async fn send_cut(
        &self,
        edited: &Edited,
        cut: &Cut,
        delivered: &mut Delivered,
        wire: &mut Wire,
        orders: &mut Orders,
    ) -> Ending {
        let (bytes, whole) = self.cut_bytes(&edited.bytes, edited.start, cut);
        if let Err(ending) = wire.send(&bytes, orders).await {
            return ending;
        }
        if whole {
            delivered.commits.extend(&edited.commits);
            delivered.altered.extend(edited.altered());
            delivered.lines += 1;
        }
        Ending::Server(cut.end)
    }

    /// The bytes up to a cut, and whether the line proper is whole in them.
    fn cut_bytes(&self, bytes: &[u8], start: usize, cut: &Cut) -> (Vec<u8>, bool) {
        let (before, line) = bytes.split_at(start.min(bytes.len()));
        let mut sent = if before.is_empty() {
            Vec::new()
        } else {
            self.frame(before)
        };
        let framed = self.frame(line);
        let header = if self.chunked {
            framed
                .iter()
                .position(|byte| *byte == b'\n')
                .map_or(0, |end| end + 1)
        } else {
            0
        };
        let kept = match cut.place {
            Place::ChunkHeader(count) => count.min(header),
            Place::Line(count) if cut.end == End::Finished && self.chunked => {
                let short = line.get(..count.min(line.len())).unwrap_or_default();
                if !short.is_empty() {
                    sent.extend_from_slice(&self.frame(short));
                }
                return (sent, false);
            }
            Place::Line(count) => header + count.min(line.len()),
            Place::After => framed.len(),
        };
        sent.extend_from_slice(framed.get(..kept).unwrap_or(&framed));
        (sent, kept == framed.len())
    }

    /// One chunk, or the bytes themselves when the length was announced; a gzip member when so asked.
    fn frame(&self, content: &[u8]) -> Vec<u8> {
        let compressed = self.gzip.then(|| gzip::member(content));
        let content = compressed.as_deref().unwrap_or(content);
        if !self.chunked {
            return content.to_vec();
        }
        let mut chunk = format!("{:x}\r\n", content.len()).into_bytes();
        chunk.extend_from_slice(content);
        chunk.extend_from_slice(b"\r\n");
        chunk
    }

    fn edit(&mut self, line: Line) -> Edited {
        let number = self.next_line;
        self.next_line += 1;
        let picks = |pick: &Pick| match pick {
            Pick::Line(nth) => *nth == number,
            Pick::Revision(revision) => line.revision == Some(*revision),
            Pick::Type(kind) => *kind == line.kind,
            Pick::Every => true,
        };
        let cut = self.cuts.iter().find(|cut| picks(&cut.line)).cloned();
        let chosen: Vec<Edit> = self
            .edits
            .iter()
            .filter(|(pick, _)| picks(pick))
            .map(|(_, edit)| edit.clone())
            .collect();
        let mut before = Vec::new();
        let mut after = Vec::new();
        let mut bytes = line.bytes;
        let mut commits = line.commits;
        let mut withheld = Vec::new();
        for edit in chosen {
            let altered = match edit {
                Edit::Before(more) => {
                    before.extend(more);
                    continue;
                }
                Edit::After(more) => {
                    after.extend(more);
                    continue;
                }
                Edit::Twice => {
                    after.extend_from_slice(&bytes);
                    continue;
                }
                Edit::Replace(instead) => instead,
                Edit::Drop => Vec::new(),
                Edit::ResourceVersion(other) => {
                    with_resource_version(&bytes, line.revision, other.as_deref())
                }
                Edit::Type(kind) => replaced_once(
                    &bytes,
                    format!(r#""type":"{}""#, line.kind).as_bytes(),
                    format!(r#""type":"{kind}""#).as_bytes(),
                ),
            };
            withheld.append(&mut commits);
            bytes = altered;
        }
        let start = before.len();
        before.append(&mut bytes);
        before.append(&mut after);
        Edited {
            bytes: before,
            start,
            commits,
            withheld,
            cut,
        }
    }
}

impl Edited {
    fn altered(&self) -> impl Iterator<Item = Altered> {
        self.withheld.iter().map(|&sequence| Altered {
            sequence,
            bytes: self.bytes.clone(),
        })
    }
}

fn with_resource_version(bytes: &[u8], old: Option<u128>, new: Option<&str>) -> Vec<u8> {
    let Some(old) = old else {
        return bytes.to_vec();
    };
    let member = format!(r#""resourceVersion":"{old}""#);
    let other = new.map(|new| format!(r#""resourceVersion":"{new}""#));
    if let Some(other) = other {
        return replaced_once(bytes, member.as_bytes(), other.as_bytes());
    }
    let without = replaced_once(bytes, format!("{member},").as_bytes(), b"");
    if without.len() < bytes.len() {
        return without;
    }
    replaced_once(bytes, format!(",{member}").as_bytes(), b"")
}

fn replaced_once(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let found = bytes
        .windows(old.len().max(1))
        .position(|window| window == old);
    let Some(start) = found else {
        return bytes.to_vec();
    };
    let (before, rest) = bytes.split_at(start);
    let after = rest.get(old.len()..).unwrap_or_default();
    [before, new, after].concat()
}

#[cfg(test)]
mod tests {
    use super::with_resource_version;

    #[test]
    fn resource_versions_are_swapped_and_taken_out() {
        let line = br#"{"metadata":{"resourceVersion":"7","a":1}}"#;
        assert_eq!(
            with_resource_version(line, Some(7), Some("x")),
            br#"{"metadata":{"resourceVersion":"x","a":1}}"#
        );
        assert_eq!(
            with_resource_version(line, Some(7), None),
            br#"{"metadata":{"a":1}}"#
        );
        assert_eq!(
            with_resource_version(br#"{"a":1,"resourceVersion":"7"}"#, Some(7), None),
            br#"{"a":1}"#
        );
    }
}
