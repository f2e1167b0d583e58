//! Frames: bytes with a checksum, compressed where that helps. The only module that uses zstd.
//!
//! A frame is one byte form ([`Form`]), the length of the raw bytes (u32), the XXH3-128 of the raw
//! bytes (16 bytes), then the payload up to the frame's end.
//!
//! Reading trusts nothing: the length is bounded by the caller before anything is allocated, decompression
//! stops at that length, and bytes leave only after their checksum matches. The checksum finds accidental
//! changes, not malice.
//!
//! Columns are joined as length and bytes, one after another, and must fill the bytes that hold them.

use crate::codec::varint::FieldReader;
use crate::codec::{CodecError, varint};
use crate::limits::{len64, place32};
use std::cell::RefCell;
use std::io::{self, BufRead, Read, Write as _};
use std::ops::Range;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64, xxh3_128};
use zstd::zstd_safe::{CCtx, DCtx, compress_bound, get_error_name};

/// The bytes of a frame before its payload.
pub(crate) const HEADER: usize = 1 + 4 + 16;

/// What a frame's payload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The raw bytes.
    Plain,
    /// One zstd frame.
    Zstd,
    /// What a [`BodyModel`](super::model::BodyModel) made of a block's bodies.
    Model,
    /// The same with larger tables.
    LargeModel,
    /// One zstd frame of a block's bodies whose hunks count pieces.
    Pieces,
    /// An index in the columns of [`packed_index`](super::packed_index).
    Index,
    /// One zstd frame of bodies that lie by object.
    ByObject,
}

impl Form {
    const ALL: [(Self, u8); 7] = [
        (Self::Plain, 0),
        (Self::Zstd, 1),
        (Self::Model, 2),
        (Self::Pieces, 3),
        (Self::Index, 4),
        (Self::LargeModel, 5),
        (Self::ByObject, 6),
    ];

    const fn byte(self) -> u8 {
        match self {
            Self::Plain => 0,
            Self::Zstd => 1,
            Self::Model => 2,
            Self::Pieces => 3,
            Self::Index => 4,
            Self::LargeModel => 5,
            Self::ByObject => 6,
        }
    }
}

/// What is at most so long, in bytes, is compressed and decompressed in one step.
const AT_ONCE: usize = 2 * 1024 * 1024;

/// The compression level of everything that stays: a good middle of speed and size.
pub(crate) const LEVEL_KEPT: i32 = 8;
/// The compression level of what is written once and read for long.
pub(crate) const LEVEL_SEALED: i32 = 19;
/// The compression level of what is rewritten soon.
pub(crate) const LEVEL_QUICK: i32 = 1;

fn library(what: &'static str) -> impl Fn(io::Error) -> CodecError {
    move |cause| CodecError::Library {
        what,
        cause: cause.to_string(),
    }
}

/// The largest window of a frame that is decompressed, as the power of two.
const WINDOW_LOG: u32 = 27;

/// The largest window of a frame that is decompressed, in MiB.
pub const ZSTD_WINDOW_MIB: u32 = 1 << (WINDOW_LOG - 20);

/// The library's words for a larger window; its error has no kind.
const WINDOW_TOO_LARGE: &str = "Frame requires too much memory for decoding";

/// Decompresses a file of zstd frames, as other programs write it.
///
/// A frame with a window of more than [`ZSTD_WINDOW_MIB`] fails with [`io::ErrorKind::OutOfMemory`].
///
/// # Errors
/// When there is no memory for the decompressor. What is damaged fails when it is read.
pub fn zstd_reader<'a>(input: impl BufRead + 'a) -> io::Result<impl Read + 'a> {
    let mut inner = zstd::stream::read::Decoder::with_buffer(input)?;
    inner.window_log_max(WINDOW_LOG)?;
    Ok(ZstdReader { inner })
}

struct ZstdReader<R> {
    inner: R,
}

impl<R: Read> Read for ZstdReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.inner.read(out).map_err(|error| {
            if error.to_string() == WINDOW_TOO_LARGE {
                return io::ErrorKind::OutOfMemory.into();
            }
            error
        })
    }
}

/// Makes a frame of `raw`. The reader must hold the same `prefix`.
pub(crate) fn pack(raw: &[u8], level: i32, prefix: &[u8]) -> Result<Vec<u8>, CodecError> {
    let packed = compress(raw, level, prefix)?;
    if packed.len() >= raw.len() {
        return with_header(Form::Plain, raw, raw);
    }
    with_header(Form::Zstd, raw, &packed)
}

/// Returns the form of a frame, if it has a known one.
pub(crate) fn form_of(frame: &[u8]) -> Option<Form> {
    let first = frame.first()?;
    let form = Form::ALL.iter().find(|(_, byte)| byte == first);
    form.map(|(form, _)| *form)
}

/// Makes a frame of a block's bodies whose hunks count pieces.
pub(crate) fn pack_pieces(raw: &[u8]) -> Result<Vec<u8>, CodecError> {
    with_header(Form::Pieces, raw, &compress(raw, LEVEL_SEALED, &[])?)
}

/// Makes a frame of bodies that lie by object. The reader must hold the same `prefix`.
pub(crate) fn pack_by_object(raw: &[u8], prefix: &[u8]) -> Result<Vec<u8>, CodecError> {
    with_header(Form::ByObject, raw, &compress(raw, LEVEL_SEALED, prefix)?)
}

/// Makes one zstd frame of some bytes.
pub(crate) fn compress(raw: &[u8], level: i32, prefix: &[u8]) -> Result<Vec<u8>, CodecError> {
    if prefix.is_empty() && raw.len() <= AT_ONCE && level <= LEVEL_KEPT {
        return deflate(raw, level);
    }
    let refused = library("cannot compress");
    let out = Vec::with_capacity(raw.len() / 4);
    let mut encoder =
        zstd::stream::write::Encoder::with_ref_prefix(out, level, prefix).map_err(&refused)?;
    encoder
        .set_pledged_src_size(Some(len64(raw.len())))
        .map_err(&refused)?;
    encoder.include_contentsize(false).map_err(&refused)?;
    encoder.include_checksum(false).map_err(&refused)?;
    encoder.write_all(raw).map_err(&refused)?;
    encoder.finish().map_err(&refused)
}

/// Makes one zstd frame of a few bytes, with the context of this thread.
fn deflate(raw: &[u8], level: i32) -> Result<Vec<u8>, CodecError> {
    let cannot = library("cannot compress");
    let refused = |code| cannot(io::Error::other(get_error_name(code)));
    let no_memory = || cannot(io::ErrorKind::OutOfMemory.into());
    COMPRESSOR.with_borrow_mut(|kept| {
        let context = match kept {
            Some(context) => context,
            None => kept.insert(CCtx::try_create().ok_or_else(no_memory)?),
        };
        let mut out = Vec::with_capacity(compress_bound(raw.len()));
        context
            .compress_using_dict(&mut out, raw, &[], level)
            .map_err(refused)?;
        Ok(out)
    })
}

/// Makes a frame whose payload encodes `raw`.
pub(crate) fn with_header(form: Form, raw: &[u8], payload: &[u8]) -> Result<Vec<u8>, CodecError> {
    let raw_len = u32::try_from(raw.len()).map_err(|_too_long| CodecError::Bound {
        what: "a frame's length",
        found: u128::from(len64(raw.len())),
        bound: u128::from(u32::MAX),
    })?;
    let mut out = Vec::with_capacity(HEADER.saturating_add(payload.len()));
    out.push(form.byte());
    out.extend_from_slice(&raw_len.to_le_bytes());
    out.extend_from_slice(&xxh3_128(raw).to_le_bytes());
    out.extend_from_slice(payload);
    Ok(out)
}

/// A frame's header, read, and its payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header<'a> {
    pub(crate) form: Form,
    /// The length of the raw bytes, which is within the bound.
    pub(crate) raw_len: usize,
    sum: &'a [u8],
    pub(crate) payload: &'a [u8],
}

impl<'a> Header<'a> {
    /// Reads the header of a frame whose raw bytes must be at most `max_raw`.
    pub(crate) fn of(frame: &'a [u8], max_raw: usize) -> Result<Self, CodecError> {
        let mut fields = FieldReader::new(frame, "a frame");
        let byte = fields.byte()?;
        let raw_len = u32_le(fields.bytes(4)?);
        let sum = fields.bytes(16)?;
        let len = place32(raw_len);
        if len > max_raw {
            return Err(CodecError::Bound {
                what: "a frame's length",
                found: u128::from(raw_len),
                bound: u128::from(len64(max_raw)),
            });
        }
        let form = Form::ALL.iter().find(|(_, known)| *known == byte);
        let form = form.ok_or(CodecError::Meaningless {
            what: "a frame's form",
            found: u64::from(byte),
        })?;
        Ok(Self {
            form: form.0,
            raw_len: len,
            sum,
            payload: fields.rest(),
        })
    }

    /// Checks what came out.
    pub(crate) fn check(&self, raw: &[u8]) -> Result<(), CodecError> {
        if raw.len() != self.raw_len || xxh3_128(raw).to_le_bytes() != *self.sum {
            return Err(CodecError::Checksum);
        }
        Ok(())
    }
}

/// Returns the raw bytes of a frame, which must be at most `max_raw`.
pub(crate) fn unpack(frame: &[u8], prefix: &[u8], max_raw: usize) -> Result<Vec<u8>, CodecError> {
    let header = Header::of(frame, max_raw)?;
    let raw = match header.form {
        Form::Plain => header.payload.to_vec(),
        Form::Zstd | Form::Pieces | Form::ByObject => {
            inflate(header.raw_len, header.payload, prefix)?
        }
        form @ (Form::Model | Form::LargeModel | Form::Index) => {
            return Err(CodecError::Meaningless {
                what: "the form of a frame that is not a sealed block's",
                found: u64::from(form.byte()),
            });
        }
    };
    header.check(&raw)?;
    Ok(raw)
}

fn u32_le(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |value, byte| value << 8 | u32::from(*byte))
}

thread_local! {
    /// Making a context takes a good part of what a block takes, so that each thread keeps one.
    static CONTEXT: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
    static COMPRESSOR: RefCell<Option<CCtx<'static>>> = const { RefCell::new(None) };
}

/// Decompresses one zstd frame to at most about `len` bytes, which the caller has bounded.
pub(crate) fn inflate(len: usize, payload: &[u8], prefix: &[u8]) -> Result<Vec<u8>, CodecError> {
    // A dictionary that begins with these bytes would be read as a trained one.
    if len > AT_ONCE || prefix.starts_with(&zstd::zstd_safe::MAGIC_DICTIONARY.to_le_bytes()) {
        return inflate_slowly(payload, prefix, len);
    }
    let refused = |code| library("cannot decompress")(io::Error::other(get_error_name(code)));
    CONTEXT.with_borrow_mut(|kept| {
        let context =
            match kept {
                Some(context) => context,
                None => kept.insert(DCtx::try_create().ok_or_else(|| {
                    library("cannot decompress")(io::ErrorKind::OutOfMemory.into())
                })?),
            };
        // The result is the window: nothing is stored twice, or copied. Bytes given as a dictionary are
        // what a prefix is, and leave nothing behind in the context.
        let mut raw = Vec::with_capacity(len);
        context
            .decompress_using_dict(&mut raw, payload, prefix)
            .map_err(refused)?;
        Ok(raw)
    })
}

/// A small header can name a large length: memory grows with what really comes out.
fn inflate_slowly(payload: &[u8], prefix: &[u8], len: usize) -> Result<Vec<u8>, CodecError> {
    let refused = library("cannot decompress");
    let decoder =
        zstd::stream::read::Decoder::with_ref_prefix(payload, prefix).map_err(&refused)?;
    let mut raw = Vec::new();
    decoder
        .single_frame()
        .take(len64(len).saturating_add(1))
        .read_to_end(&mut raw)
        .map_err(&refused)?;
    Ok(raw)
}

/// Packs many short texts that stay in memory, with one pair of contexts for all.
pub(crate) struct Packer {
    compressor: Option<zstd::bulk::Compressor<'static>>,
    decompressor: Option<zstd::bulk::Decompressor<'static>>,
}

/// A text in memory, compressed where that helps.
#[derive(Debug)]
pub(crate) struct PackedBody {
    bytes: Box<[u8]>,
    /// The text's length if `bytes` is compressed.
    raw_len: Option<usize>,
}

impl PackedBody {
    /// Keeps a text as it is.
    pub(crate) fn of(raw: &[u8]) -> Self {
        Self {
            bytes: raw.into(),
            raw_len: None,
        }
    }

    /// Returns the text, unless it is compressed.
    pub(crate) fn plain(&self) -> Option<&[u8]> {
        self.raw_len.is_none().then_some(&self.bytes)
    }

    /// Returns how many bytes it takes.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Writes it with some bytes in front and a checksum: memory does not change, a file may.
    pub(crate) fn encode(&self, head: &[u8]) -> Vec<u8> {
        let mut out = vec![0; 8];
        varint::put_len(&mut out, head.len());
        out.extend_from_slice(head);
        varint::put_len(
            &mut out,
            self.raw_len.map_or(0, |len| len.saturating_add(1)),
        );
        out.extend_from_slice(&self.bytes);
        let (sum, rest) = out.split_at_mut(8);
        sum.copy_from_slice(&xxh3_64(rest).to_le_bytes());
        out
    }

    /// Reads what [`Self::encode`] wrote: the bytes in front, and the text.
    pub(crate) fn decode(bytes: &[u8]) -> Result<(&[u8], Self), CodecError> {
        let mut fields = FieldReader::new(bytes, "a body in a temporary file");
        let sum = fields.bytes(8)?;
        if xxh3_64(fields.rest()).to_le_bytes() != *sum {
            return Err(CodecError::Checksum);
        }
        let head = fields.sized(bytes.len())?;
        let raw_len = fields.len_at_most(crate::limits::MAX_BODY.saturating_add(1))?;
        let packed = Self {
            bytes: fields.rest().into(),
            raw_len: raw_len.checked_sub(1),
        };
        Ok((head, packed))
    }
}

impl Packer {
    /// Texts shorter than this are kept as they are.
    const WORTH: usize = 512;

    /// Makes a packer. Without a compressor texts are kept as they are.
    pub(crate) fn new() -> Self {
        Self {
            compressor: zstd::bulk::Compressor::new(LEVEL_QUICK).ok(),
            decompressor: zstd::bulk::Decompressor::new().ok(),
        }
    }

    /// Packs a text.
    pub(crate) fn pack(&mut self, raw: &[u8]) -> PackedBody {
        let packed = self
            .compressor
            .as_mut()
            .filter(|_| raw.len() >= Self::WORTH)
            .and_then(|packer| packer.compress(raw).ok())
            .filter(|packed| packed.len() < raw.len());
        match packed {
            Some(bytes) => PackedBody {
                bytes: bytes.into(),
                raw_len: Some(raw.len()),
            },
            None => PackedBody::of(raw),
        }
    }

    /// Returns a packed text.
    pub(crate) fn unpack(&mut self, packed: &PackedBody) -> Result<Vec<u8>, CodecError> {
        let Some(len) = packed.raw_len else {
            return Ok(packed.bytes.to_vec());
        };
        match &mut self.decompressor {
            Some(decompressor) => decompressor.decompress(&packed.bytes, len),
            None => zstd::bulk::decompress(&packed.bytes, len),
        }
        .map_err(library("cannot decompress a body in memory"))
    }
}

pub(crate) fn join_columns<const N: usize>(columns: [&[u8]; N]) -> Vec<u8> {
    let mut out = Vec::with_capacity(columns.iter().map(|column| column.len() + 4).sum());
    for column in columns {
        varint::put_len(&mut out, column.len());
        out.extend_from_slice(column);
    }
    out
}

/// Returns the places of `N` columns, which must fill `bytes`.
pub(crate) fn column_places<const N: usize>(
    bytes: &[u8],
    what: &'static str,
) -> Result<[Range<usize>; N], CodecError> {
    let mut fields = FieldReader::new(bytes, what);
    let mut places = [const { 0..0 }; N];
    for place in &mut places {
        let len = fields.sized(bytes.len())?.len();
        let end = bytes.len() - fields.rest().len();
        *place = end - len..end;
    }
    fields.end()?;
    Ok(places)
}

/// Takes `N` columns apart, which must fill `bytes`.
pub(crate) fn split_columns<'a, const N: usize>(
    bytes: &'a [u8],
    what: &'static str,
) -> Result<[&'a [u8]; N], CodecError> {
    Ok(column_places(bytes, what)?.map(|place: Range<usize>| bytes.get(place).unwrap_or_default()))
}

/// A digest in the making: XXH3-128, as in frames.
#[derive(Default)]
pub(crate) struct Digest(Xxh3Default);

impl Digest {
    /// Takes in the next bytes.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the digest of all bytes so far.
    pub(crate) fn value(&self) -> u128 {
        self.0.digest128()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn raw_bytes_come_back(raw: Vec<u8>, prefix: Vec<u8>) {
            let frame = pack(&raw, LEVEL_KEPT, &prefix).unwrap();
            prop_assert_eq!(unpack(&frame, &prefix, raw.len()).unwrap(), raw);
        }

        #[test]
        fn one_changed_bit_is_noticed(raw in prop::collection::vec(0u8..4, 1..600), at: prop::sample::Index, bit in 0u8..8) {
            let mut frame = pack(&raw, LEVEL_QUICK, &[]).unwrap();
            let place = at.index(frame.len());
            frame[place] ^= 1 << bit;
            if let Ok(read) = unpack(&frame, &[], 1 << 20) {
                // zstd has bits that mean nothing; what comes out is right all the same.
                prop_assert_eq!(read, raw);
            }
        }

        #[test]
        fn packed_texts_come_back(raw in prop::collection::vec(0u8..5, 0..2000)) {
            let mut packer = Packer::new();
            let plain = PackedBody::of(&raw);
            prop_assert_eq!(plain.plain(), Some(&raw[..]));
            let packed = packer.pack(&raw);
            prop_assert_eq!(packed.plain().is_none(), packed.raw_len.is_some());
            prop_assert_eq!(packer.unpack(&packed).unwrap(), raw);
        }

        #[test]
        fn packed_texts_come_back_from_bytes(raw in prop::collection::vec(0u8..5, 0..2000), head: Vec<u8>, at: prop::sample::Index) {
            let mut packer = Packer::new();
            let mut bytes = packer.pack(&raw).encode(&head);
            let (front, packed) = PackedBody::decode(&bytes).unwrap();
            prop_assert_eq!(front, head);
            prop_assert_eq!(packer.unpack(&packed).unwrap(), raw);
            let place = at.index(bytes.len());
            bytes[place] ^= 1;
            prop_assert!(PackedBody::decode(&bytes).is_err());
        }

        #[test]
        fn any_bytes_are_survived(frame: Vec<u8>) {
            prop_assert!(PackedBody::decode(&frame).is_err());
            prop_assert!(unpack(&frame, &[], 1 << 16).is_err() || frame.len() >= HEADER);
        }
    }

    #[test]
    fn a_decompression_bomb_stops_at_its_bound() {
        let zeros = vec![0; 1 << 22];
        let mut frame = pack(&zeros, LEVEL_KEPT, &[]).unwrap();
        assert!(frame.len() < 1000);
        assert!(unpack(&frame, &[], zeros.len() - 1).is_err());
        frame[1..5].copy_from_slice(&16u32.to_le_bytes());
        assert!(unpack(&frame, &[], 1 << 20).is_err());
        // Long ones are read bit by bit, so that what comes out is what takes memory.
        let long = u32::try_from(zeros.len() - 1).unwrap();
        frame[1..5].copy_from_slice(&long.to_le_bytes());
        assert_eq!(unpack(&frame, &[], 1 << 23), Err(CodecError::Checksum));
    }

    #[test]
    fn long_frames_come_back_too() {
        let prefix: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
        for len in [AT_ONCE - 1, AT_ONCE, AT_ONCE + 1, 3 * AT_ONCE] {
            let raw: Vec<u8> = prefix.iter().copied().cycle().take(len).collect();
            let frame = pack(&raw, LEVEL_QUICK, &prefix).unwrap();
            assert_eq!(unpack(&frame, &prefix, len).unwrap(), raw, "{len}");
        }
    }

    #[test]
    fn a_prefix_that_looks_like_a_trained_dictionary_is_none() {
        let magic = zstd::zstd_safe::MAGIC_DICTIONARY.to_le_bytes();
        let prefix: Vec<u8> = magic
            .into_iter()
            .chain(0..200)
            .cycle()
            .take(5_000)
            .collect();
        let frame = pack(&prefix[3..], LEVEL_KEPT, &prefix).unwrap();
        assert!(frame.len() < 100);
        assert_eq!(unpack(&frame, &prefix, prefix.len()).unwrap(), prefix[3..]);
    }

    #[test]
    fn a_frame_does_not_feel_the_one_before() {
        let texts: Vec<Vec<u8>> = (1..6u32)
            .map(|step| {
                (0..9_000u32)
                    .flat_map(|at| (at * step).to_le_bytes())
                    .collect()
            })
            .collect();
        let frames: Vec<(Vec<u8>, &[u8])> = texts
            .iter()
            .zip(texts.iter().skip(1))
            .flat_map(|(raw, prefix)| [(raw, &prefix[..]), (raw, &[])])
            .map(|(raw, prefix)| (pack(raw, LEVEL_KEPT, prefix).unwrap(), prefix))
            .collect();
        for round in 0..3 {
            for (at, (frame, prefix)) in frames.iter().enumerate() {
                let mut hurt = frame.clone();
                let last = hurt.len() - 1 - round;
                hurt[last] ^= 0x55;
                let found = unpack(&hurt, prefix, 1 << 20);
                assert!(found.is_err() || found.unwrap() == texts[at / 2]);
                assert_eq!(unpack(frame, prefix, 1 << 20).unwrap(), texts[at / 2]);
            }
        }
    }

    #[test]
    fn a_wrong_prefix_is_noticed() {
        let prefix: Vec<u8> = (0..10_000u32).flat_map(u32::to_le_bytes).collect();
        let frame = pack(&prefix, LEVEL_KEPT, &prefix).unwrap();
        assert!(frame.len() < 1000);
        assert!(unpack(&frame, &prefix[4..], prefix.len()).is_err());
    }
}
