//! Owns a stream of sealed frames, cut into rows of equal size. Refuses to know what is in it.

use super::directory::Span;
use super::guard::fenced;
use crate::limits::EXTENT;
use redb::ReadOnlyTable;

/// The writing end of the stream: what is durable of its last row, and what is not durable yet.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// The number of whole rows that are durable.
    whole: u64,
    /// The durable part of the row behind them.
    part: Vec<u8>,
    /// What comes behind that and is not durable yet.
    pending: Vec<u8>,
}

impl Stream {
    /// Goes on with a stream of so many bytes, the last of which are in `part`.
    pub(crate) fn resume(whole: u64, part: Vec<u8>) -> Self {
        Self {
            whole,
            part,
            pending: Vec::new(),
        }
    }

    /// Gives the offset at which the next frame will lie.
    fn end(&self) -> u64 {
        let rest = self.part.len().saturating_add(self.pending.len());
        let whole = self
            .whole
            .saturating_mul(u64::try_from(EXTENT).unwrap_or_default());
        whole.saturating_add(u64::try_from(rest).unwrap_or_default())
    }

    /// Appends a frame, and gives its place.
    pub(crate) fn push(&mut self, frame: &[u8]) -> Span {
        let offset = self.end();
        self.pending.extend_from_slice(frame);
        Span {
            offset,
            len: u32::try_from(frame.len()).unwrap_or(u32::MAX),
        }
    }

    /// Gives the rows that must be written for everything to be durable.
    pub(crate) fn rows(&self) -> Vec<(u64, Vec<u8>)> {
        if self.pending.is_empty() {
            return Vec::new();
        }
        let all = [&self.part[..], &self.pending[..]].concat();
        (self.whole..)
            .zip(all.chunks(EXTENT).map(<[u8]>::to_vec))
            .collect()
    }

    /// Takes note that everything is durable.
    pub(crate) fn set_done(&mut self) {
        self.part.append(&mut self.pending);
        let rows = self.part.len() / EXTENT;
        self.part.drain(..rows * EXTENT);
        self.whole = self
            .whole
            .saturating_add(u64::try_from(rows).unwrap_or_default());
    }
}

/// Gives the rows that a span of the stream touches: row number, and the bytes of it.
fn rows_of(span: Span) -> impl Iterator<Item = (u64, usize, usize)> {
    let size = u64::try_from(EXTENT).unwrap_or(u64::MAX);
    let Span { offset, len } = span;
    let end = offset.saturating_add(u64::from(len));
    (offset / size..end.div_ceil(size)).map(move |row| {
        let start = row.saturating_mul(size);
        let within =
            |at: u64| usize::try_from(at.saturating_sub(start).min(size)).unwrap_or(EXTENT);
        (row, within(offset), within(end))
    })
}

/// Reads a frame.
pub(crate) fn read(
    table: &ReadOnlyTable<u64, &'static [u8]>,
    span: Span,
    mut count_row: impl FnMut(),
) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    for (row, from, to) in rows_of(span) {
        count_row();
        let taken = fenced(|| {
            Ok::<_, redb::Error>(match table.get(row)? {
                Some(value) => value.value().get(from..to).map(<[u8]>::to_vec),
                None => None,
            })
        })?;
        bytes.append(&mut taken.ok_or_else(|| format!("extent {row} is missing or short"))?);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn what_is_pushed_is_found_again() {
        let mut stream = Stream::default();
        let mut rows = BTreeMap::new();
        let mut frames = Vec::new();
        for number in 0u8..40 {
            let frame = vec![number; usize::from(number) * 611 + 1];
            frames.push((stream.push(&frame), frame));
            if number % 3 == 0 {
                rows.extend(stream.rows());
                stream.set_done();
                assert!(stream.rows().is_empty());
            }
        }
        rows.extend(stream.rows());
        assert!(rows.values().rev().skip(1).all(|row| row.len() == EXTENT));
        for (span, frame) in frames {
            let found: Vec<u8> = rows_of(span)
                .flat_map(|(row, from, to)| rows[&row][from..to].to_vec())
                .collect();
            assert_eq!(found, frame);
        }
    }
}
