//! The compression formats: their first bytes, and their decompressors with bounded windows.

use flate2::bufread::MultiGzDecoder;
use kubereel_format::{ZSTD_WINDOW_MIB, zstd_reader};
use lzma_rust2::XzReader;
use std::io::{self, BufRead, Read};

/// The most memory of an xz decompressor: `xz -9` needs 64 MiB.
const XZ_MIB: u32 = 256;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CompressionForm {
    /// RFC 1952.
    Gzip,
    /// RFC 8878.
    Zstd,
    /// The `.xz` file format.
    Xz,
}

impl CompressionForm {
    /// Recognizes a format by its first bytes.
    pub fn of(start: &[u8]) -> Option<Self> {
        [
            (&b"\x1f\x8b\x08"[..], Self::Gzip),
            (b"\x28\xb5\x2f\xfd", Self::Zstd),
            (b"\xfd7zXZ\x00", Self::Xz),
        ]
        .into_iter()
        .find(|(magic, _)| start.starts_with(magic))
        .map(|(_, form)| form)
    }

    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
        }
    }

    /// Returns the most memory of its decompressor, in MiB; `None` if it needs little.
    pub(crate) const fn most_mib(self) -> Option<u32> {
        match self {
            Self::Gzip => None,
            Self::Zstd => Some(ZSTD_WINDOW_MIB),
            Self::Xz => Some(XZ_MIB),
        }
    }

    /// Decompresses a stream to its end; the stream may consist of several concatenated ones.
    pub(crate) fn decompress<'a>(self, input: impl BufRead + 'a) -> io::Result<Box<dyn Read + 'a>> {
        Ok(match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(input)),
            Self::Zstd => Box::new(zstd_reader(input)?),
            Self::Xz => Box::new(XzReader::new_mem_limit(input, true, XZ_MIB * 1024)),
        })
    }
}
