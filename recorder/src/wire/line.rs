//! Splits chunks into lines: a line may span many chunks, a chunk may contain many lines, and a
//! line may be longer than the longest piece.

use crate::number::len64;
use bytes::{Buf as _, Bytes};
use kubereel_format::MAX_BODY;

/// The longest line that is returned in one piece: the longest body and its envelope.
const MAX_LINE: usize = MAX_BODY + 1024;

/// A piece of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LinePiece {
    /// A whole line, without its newline.
    Line(Bytes),
    /// A part of a line that is too long for one piece.
    Part {
        /// The part.
        bytes: Bytes,
        /// The length of the line up to the end of this part.
        len_so_far: u64,
        /// Whether the line ends here.
        is_last: bool,
    },
}

/// Splits chunks into lines.
#[derive(Debug)]
pub(crate) struct LineSplitter {
    chunk: Bytes,
    pending: Vec<u8>,
    handed_out: u64,
    max_line: usize,
}

impl LineSplitter {
    /// Creates an empty splitter.
    pub(crate) fn new() -> Self {
        Self::with_max(MAX_LINE)
    }

    fn with_max(max_line: usize) -> Self {
        Self {
            chunk: Bytes::new(),
            pending: Vec::new(),
            handed_out: 0,
            max_line,
        }
    }

    /// Takes the next chunk. The caller must have taken all pieces of the one before.
    pub(crate) fn push(&mut self, chunk: Bytes) {
        self.chunk = chunk;
    }

    /// Returns the next piece; `None` when another chunk is needed.
    pub(crate) fn next_piece(&mut self) -> Option<LinePiece> {
        loop {
            if self.chunk.is_empty() {
                return None;
            }
            let room = self.max_line.saturating_sub(self.pending.len());
            let within = self.chunk.len().min(room.saturating_add(1));
            let newline = memchr::memchr(b'\n', self.chunk.get(..within).unwrap_or_default());
            let Some(end) = newline else {
                let part = self.chunk.split_to(self.chunk.len().min(room));
                self.pending.extend_from_slice(&part);
                if self.pending.len() < self.max_line {
                    return None;
                }
                return Some(self.part(false));
            };
            let rest = self.chunk.split_to(end);
            self.chunk.advance(1);
            if self.handed_out > 0 {
                self.pending.extend_from_slice(&rest);
                return Some(self.part(true));
            }
            let line = if self.pending.is_empty() {
                rest
            } else {
                self.pending.extend_from_slice(&rest);
                Bytes::from(std::mem::take(&mut self.pending))
            };
            if !line.is_empty() {
                return Some(LinePiece::Line(line));
            }
        }
    }

    fn part(&mut self, is_last: bool) -> LinePiece {
        let bytes = Bytes::from(std::mem::take(&mut self.pending));
        let len = len64(bytes.len());
        let len_so_far = self.handed_out.saturating_add(len);
        self.handed_out = if is_last { 0 } else { len_so_far };
        LinePiece::Part {
            bytes,
            len_so_far,
            is_last,
        }
    }

    /// Returns the bytes of the unfinished line in memory.
    pub(crate) fn buffered(&self) -> usize {
        self.pending.len()
    }

    /// Returns the rest when the stream has ended: a line without its newline, or a part of one.
    pub(crate) fn rest(&mut self) -> Option<LinePiece> {
        if self.handed_out > 0 {
            return Some(self.part(true));
        }
        if self.pending.is_empty() {
            return None;
        }
        Some(LinePiece::Line(Bytes::from(std::mem::take(
            &mut self.pending,
        ))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pieces(splitter: &mut LineSplitter, chunks: &[&[u8]]) -> Vec<LinePiece> {
        let mut out = Vec::new();
        for chunk in chunks {
            splitter.push(Bytes::copy_from_slice(chunk));
            while let Some(piece) = splitter.next_piece() {
                out.push(piece);
            }
        }
        out
    }

    fn line(text: &str) -> LinePiece {
        LinePiece::Line(Bytes::copy_from_slice(text.as_bytes()))
    }

    #[test]
    fn lines_and_chunks_need_not_agree() {
        let mut splitter = LineSplitter::new();
        assert_eq!(
            pieces(&mut splitter, &[b"a\nb\nc", b"", b"d", b"\n\n\r\n", b"e"]),
            [line("a"), line("b"), line("cd"), line("\r")]
        );
        assert_eq!(splitter.buffered(), 1);
        assert_eq!(splitter.rest(), Some(line("e")));
        assert_eq!(splitter.rest(), None);
    }

    #[test]
    fn a_long_line_comes_in_parts_and_the_next_one_whole() {
        let mut splitter = LineSplitter::with_max(4);
        let part = |text: &str, len_so_far, is_last| LinePiece::Part {
            bytes: Bytes::copy_from_slice(text.as_bytes()),
            len_so_far,
            is_last,
        };
        let expected = [
            part("abcd", 4, false),
            part("efgh", 8, false),
            part("ij", 10, true),
            line("kl"),
        ];
        assert_eq!(pieces(&mut splitter, &[b"abcdefghij\nkl\n"]), expected);
        assert_eq!(
            pieces(&mut splitter, &[b"abcd", b"\nx\n"]),
            [part("abcd", 4, false), part("", 4, true), line("x")]
        );
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_lines(text in "[ab\n]{0,60}", cuts in prop::collection::vec(0_usize..60, 0..8)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.push(0);
            cuts.push(bytes.len());
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            let mut splitter = LineSplitter::new();
            let mut out = pieces(&mut splitter, &chunks);
            out.extend(splitter.rest());
            let expected: Vec<LinePiece> = text.split('\n').filter(|part| !part.is_empty()).map(line).collect();
            prop_assert_eq!(out, expected);
        }
    }
}
