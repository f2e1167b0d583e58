//! Counts the bytes that were read of the inputs, and reports the count at intervals.

use crate::input::len_u64;
use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

/// Reports the number of bytes.
pub(crate) struct Meter<'a> {
    pub(crate) read: Rc<Cell<u64>>,
    pub(crate) report: &'a mut dyn FnMut(u64),
}

impl Meter<'_> {
    pub(crate) fn tick(&mut self) {
        (self.report)(self.read.get());
    }
}

/// A reader that counts bytes.
pub(crate) struct CountedRead<R> {
    pub(crate) inner: R,
    pub(crate) read: Rc<Cell<u64>>,
}

impl<R: Read> Read for CountedRead<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        self.read.set(self.read.get().saturating_add(len_u64(read)));
        Ok(read)
    }
}

impl<R: BufRead> BufRead for CountedRead<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.read
            .set(self.read.get().saturating_add(len_u64(amount)));
        self.inner.consume(amount);
    }
}
