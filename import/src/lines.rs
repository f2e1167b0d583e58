//! Owns the cutting of an input into lines, a bounded one at a time. Refuses to keep a line that is
//! longer than an object with its event can be: it is skipped, and said to be too long.

use kubereel_format::MAX_BODY;
use std::io::{self, BufRead};

/// The longest line: an object of the greatest length and a kilobyte for each other member's name.
pub(crate) const MAX_LINE: usize = MAX_BODY + 64 * 1024;

/// A line of the input.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Cut<'a> {
    /// Its bytes, without the line's end.
    Whole(&'a [u8]),
    /// It is too long; its bytes are gone.
    TooLong,
}

/// The lines of an input.
pub(crate) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
    bytes: u64,
    max: usize,
}

impl<R: BufRead> Lines<R> {
    /// Begins with the first line.
    pub(crate) const fn new(input: R) -> Self {
        Self::with_max(input, MAX_LINE)
    }

    const fn with_max(input: R, max: usize) -> Self {
        Self {
            input,
            line: Vec::new(),
            number: 0,
            bytes: 0,
            max,
        }
    }

    /// Gives the next line and its number; `None` at the end.
    pub(crate) fn next_line(&mut self) -> io::Result<Option<(u64, Cut<'_>)>> {
        self.line.clear();
        let mut is_long = false;
        let mut is_any = false;
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                break;
            }
            is_any = true;
            let end = memchr::memchr(b'\n', buffer);
            let piece = buffer
                .get(..end.unwrap_or(buffer.len()))
                .unwrap_or_default();
            is_long |= self.line.len().saturating_add(piece.len()) > self.max;
            if is_long {
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(piece);
            }
            let used = piece.len() + usize::from(end.is_some());
            self.input.consume(used);
            self.bytes = self
                .bytes
                .saturating_add(u64::try_from(used).unwrap_or(u64::MAX));
            if end.is_some() {
                break;
            }
        }
        if !is_any {
            return Ok(None);
        }
        self.number += 1;
        let cut = if is_long {
            Cut::TooLong
        } else {
            Cut::Whole(&self.line)
        };
        Ok(Some((self.number, cut)))
    }

    /// Gives how many bytes of the input are done.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn cut(input: &[u8], buffer: usize, max: usize) -> Vec<Option<Vec<u8>>> {
        let mut lines = Lines::with_max(BufReader::with_capacity(buffer, input), max);
        let mut all = Vec::new();
        while let Some((number, cut)) = lines.next_line().expect("memory") {
            all.push(match cut {
                Cut::Whole(line) => Some(line.to_vec()),
                Cut::TooLong => None,
            });
            assert_eq!(usize::try_from(number), Ok(all.len()));
        }
        assert_eq!(usize::try_from(lines.bytes()), Ok(input.len()));
        all
    }

    #[test]
    fn lines_are_whole_whatever_the_buffer() {
        for buffer in 1..12 {
            let lines = cut(b"ab\n\ncdefg\nhi", buffer, 5);
            let expected = ["ab", "", "cdefg", "hi"].map(|line| Some(line.as_bytes().to_vec()));
            assert_eq!(lines, expected);
            let lines = cut(b"ab\ncdefgh\nhi\n", buffer, 5);
            let expected = [Some(b"ab".to_vec()), None, Some(b"hi".to_vec())];
            assert_eq!(lines, expected);
            assert!(cut(b"", buffer, 5).is_empty());
        }
    }
}
