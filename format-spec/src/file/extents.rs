//! Owns the stream of sealed frames, cut into rows of equal size. Refuses to know what is in it.

use crate::limits::EXTENT;

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
    pub(crate) fn end(&self) -> u64 {
        let rest = self.part.len().saturating_add(self.pending.len());
        let whole = self
            .whole
            .saturating_mul(u64::try_from(EXTENT).unwrap_or_default());
        whole.saturating_add(u64::try_from(rest).unwrap_or_default())
    }

    /// Appends a frame.
    pub(crate) fn push(&mut self, frame: &[u8]) {
        self.pending.extend_from_slice(frame);
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
pub(crate) fn rows_of(offset: u64, len: u32) -> impl Iterator<Item = (u64, usize, usize)> {
    let size = u64::try_from(EXTENT).unwrap_or(u64::MAX);
    let end = offset.saturating_add(u64::from(len));
    (offset / size..end.div_ceil(size)).map(move |row| {
        let start = row.saturating_mul(size);
        let within =
            |at: u64| usize::try_from(at.saturating_sub(start).min(size)).unwrap_or(EXTENT);
        (row, within(offset), within(end))
    })
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
            frames.push((stream.end(), frame.clone()));
            stream.push(&frame);
            if number % 3 == 0 {
                rows.extend(stream.rows());
                stream.set_done();
                assert!(stream.rows().is_empty());
            }
        }
        rows.extend(stream.rows());
        assert!(rows.values().rev().skip(1).all(|row| row.len() == EXTENT));
        for (offset, frame) in frames {
            let len = u32::try_from(frame.len()).unwrap();
            let found: Vec<u8> = rows_of(offset, len)
                .flat_map(|(row, from, to)| rows[&row][from..to].to_vec())
                .collect();
            assert_eq!(found, frame);
        }
    }
}
