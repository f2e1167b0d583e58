//! A decompressed input whose beginning can be examined.

use crate::compression::CompressionForm;
use crate::error::UnpackError;
use std::io::{self, BufRead, BufReader, Cursor, Read};

/// How many bytes of an input can be examined before it is read.
pub const LOOKED_AT: usize = 256 * 1024;

/// The largest number of layers of compression.
const LAYERS: usize = 3;

/// How much is read at once.
const BUFFER: usize = 64 * 1024;

/// A decompressed input.
pub struct PlainInput<'a> {
    start: Cursor<Vec<u8>>,
    rest: Box<dyn BufRead + 'a>,
    layers: Vec<CompressionForm>,
}

impl<'a> PlainInput<'a> {
    /// Removes all layers of compression, and reads the beginning of the content.
    ///
    /// # Errors
    /// When it cannot be read or is damaged at its beginning, has too many layers, or is compressed
    /// and has more than `most` bytes inside.
    pub fn open(input: impl BufRead + 'a, most: u64) -> io::Result<Self> {
        let mut input = Self::peek(Box::new(input), Vec::new())?;
        while let Some(form) = CompressionForm::of(input.start()) {
            let mut layers = std::mem::take(&mut input.layers);
            if layers.len() >= LAYERS {
                return Err(UnpackError::TooManyLayers { limit: LAYERS }.into());
            }
            layers.push(form);
            let inner = CountedOutput {
                inner: form.decompress(input)?,
                form,
                bytes: 0,
                most,
            };
            input = Self::peek(Box::new(BufReader::with_capacity(BUFFER, inner)), layers)?;
        }
        Ok(input)
    }

    fn peek(mut rest: Box<dyn BufRead + 'a>, layers: Vec<CompressionForm>) -> io::Result<Self> {
        let mut start = Vec::new();
        let limit = u64::try_from(LOOKED_AT).unwrap_or(u64::MAX);
        let read = rest.by_ref().take(limit).read_to_end(&mut start);
        // Data before the damage can be examined; reading on returns the error again.
        match read {
            Ok(_) => {}
            Err(error) if start.is_empty() => return Err(error),
            Err(error) => rest = Box::new(BufReader::new(FailingReader(Some(error)))),
        }
        Ok(Self {
            start: Cursor::new(start),
            rest,
            layers,
        })
    }

    /// Returns the beginning: everything, or [`LOOKED_AT`] bytes.
    pub fn start(&self) -> &[u8] {
        self.start.get_ref()
    }

    /// Returns how it was compressed, the outermost form first.
    pub fn layers(&self) -> &[CompressionForm] {
        &self.layers
    }
}

impl Read for PlainInput<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.start.read(out)?;
        if read > 0 || out.is_empty() {
            return Ok(read);
        }
        self.rest.read(out)
    }
}

impl BufRead for PlainInput<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start.position() < u64::try_from(self.start.get_ref().len()).unwrap_or(u64::MAX) {
            return self.start.fill_buf();
        }
        self.rest.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        if self.start.position() < u64::try_from(self.start.get_ref().len()).unwrap_or(u64::MAX) {
            self.start.consume(amount);
        } else {
            self.rest.consume(amount);
        }
    }
}

/// A reader that fails once, and then is at its end.
struct FailingReader(Option<io::Error>);

impl Read for FailingReader {
    fn read(&mut self, _out: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// The output of a decompressor, counted, with errors that name the place.
struct CountedOutput<'a> {
    inner: Box<dyn Read + 'a>,
    form: CompressionForm,
    bytes: u64,
    most: u64,
}

impl Read for CountedOutput<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self.inner.read(out) {
            Ok(read) => {
                let len = u64::try_from(read).unwrap_or(u64::MAX);
                self.bytes = self.bytes.saturating_add(len);
                if self.bytes > self.most {
                    return Err(UnpackError::TooLarge { limit: self.most }.into());
                }
                Ok(read)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            // The error of an inner layer stays unchanged.
            Err(error) => Err(match UnpackError::of_io(error) {
                Ok(error) => error,
                Err(source) => match self.form.most_mib() {
                    Some(limit_mib) if source.kind() == io::ErrorKind::OutOfMemory => {
                        UnpackError::TooMuchMemory {
                            form: self.form,
                            limit_mib,
                        }
                    }
                    _ => UnpackError::Damaged {
                        form: self.form,
                        bytes: self.bytes,
                        source,
                    },
                },
            }
            .into()),
        }
    }
}
