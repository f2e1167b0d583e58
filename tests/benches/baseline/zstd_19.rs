//! What finished reels are compared with: `zstd -19 --long=27` over the lines of a recording.

use anyhow::Result;
use std::io::{self, Write};

/// Counts bytes and drops them.
#[derive(Debug, Default)]
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self
            .0
            .saturating_add(u64::try_from(bytes.len()).map_err(io::Error::other)?);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the length of what `write` writes, compressed.
pub(crate) fn zstd_19(write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<u64> {
    let mut encoder = zstd::stream::write::Encoder::new(Counted::default(), 19)?;
    encoder.long_distance_matching(true)?;
    encoder.window_log(27)?;
    write(&mut encoder)?;
    Ok(encoder.finish()?.0)
}
