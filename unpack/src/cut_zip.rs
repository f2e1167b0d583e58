//! Finds the whole files of a zip archive that was cut off: its directory, which lies at its end, is missing.
//!
//! Each file begins with a header. The length of a file is in that header, or behind the file beside its checksum,
//! where writers put it that do not know it before. A file counts as whole only if its checksum is right, so that a
//! wrong guess of its end is never taken for a file.
//!
//! The first file that is not whole ends the search: without its length nobody knows where the next one begins.

use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Take};

const HEADER: [u8; 4] = *b"PK\x03\x04";
/// The beginning of what follows a file whose length its header does not have.
const DESCRIPTOR: [u8; 4] = *b"PK\x07\x08";
const HEADER_BYTES: u64 = 30;
/// The bytes of a descriptor: its beginning, the checksum, the packed and the plain length.
const DESCRIPTOR_BYTES: u64 = 16;
const DESCRIPTOR_LEN: usize = 16;

const ENCRYPTED: u16 = 1;
/// The length and the checksum lie behind the file.
const WITH_DESCRIPTOR: u16 = 8;

/// How much is read at once, in bytes.
const PIECE: usize = 64 * 1024;
const PIECE_BYTES: u64 = 64 * 1024;

/// A file in the archive.
#[derive(Debug)]
pub(crate) struct PackedFile {
    pub(crate) name: String,
    /// Its length after decompression.
    pub(crate) bytes: u64,
    start: u64,
    packed: u64,
    method: PackMethod,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PackMethod {
    Stored,
    Deflated,
}

/// What the header of a file says.
struct FileHeader {
    name: String,
    method: PackMethod,
    /// The checksum and the packed length; `None` if they lie behind the file.
    known: Option<(u32, u64)>,
    start: u64,
}

/// The files of an archive, in their order, up to the first one that is not whole.
pub(crate) struct CutZip<'a> {
    file: &'a File,
    next: u64,
    end: u64,
    /// No file is longer than this after decompression.
    longest: u64,
}

impl<'a> CutZip<'a> {
    /// Begins at the beginning of an archive.
    pub(crate) fn open(file: &'a File, longest: u64) -> io::Result<Self> {
        Ok(Self {
            file,
            next: 0,
            end: file.metadata()?.len(),
            longest,
        })
    }

    /// Returns the next file that is whole.
    pub(crate) fn next(&mut self) -> io::Result<Option<PackedFile>> {
        let Some(header) = self.header()? else {
            return Ok(None);
        };
        let found = match (header.method, header.known) {
            (PackMethod::Stored, Some((crc, packed))) => self.stored(&header, crc, packed)?,
            (PackMethod::Stored, None) => self.stored_to_descriptor(&header)?,
            (PackMethod::Deflated, known) => self.deflated(&header, known)?,
        };
        let Some((packed, bytes)) = found else {
            return Ok(None);
        };
        let behind = header.start.saturating_add(packed);
        let descriptor = if header.known.is_some() {
            0
        } else {
            DESCRIPTOR_BYTES
        };
        self.next = behind.saturating_add(descriptor);
        Ok(Some(PackedFile {
            name: header.name,
            bytes,
            start: header.start,
            packed,
            method: header.method,
        }))
    }

    /// Returns the content of a file that was found.
    pub(crate) fn content(&self, found: &PackedFile) -> io::Result<Box<dyn Read + 'a>> {
        let packed = self.read_at(found.start, found.packed)?;
        Ok(match found.method {
            PackMethod::Stored => Box::new(packed),
            PackMethod::Deflated => Box::new(DeflateDecoder::new(packed)),
        })
    }

    fn read_at(&self, start: u64, bytes: u64) -> io::Result<BufReader<Take<&'a File>>> {
        let mut file = self.file;
        file.seek(SeekFrom::Start(start))?;
        Ok(BufReader::with_capacity(PIECE, file.take(bytes)))
    }

    /// Reads a few bytes; `None` if the archive ends before.
    fn bytes<const N: usize>(&self, start: u64) -> io::Result<Option<[u8; N]>> {
        let mut bytes = [0; N];
        match self.read_at(start, u64::MAX)?.read_exact(&mut bytes) {
            Ok(()) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn header(&self) -> io::Result<Option<FileHeader>> {
        let Some(bytes) = self.bytes::<30>(self.next)? else {
            return Ok(None);
        };
        let [
            s0,
            s1,
            s2,
            s3,
            _,
            _,
            f0,
            f1,
            m0,
            m1,
            _,
            _,
            _,
            _,
            c0,
            c1,
            c2,
            c3,
            p0,
            p1,
            p2,
            p3,
            _,
            _,
            _,
            _,
            n0,
            n1,
            x0,
            x1,
        ] = bytes;
        let flags = u16::from_le_bytes([f0, f1]);
        let method = match u16::from_le_bytes([m0, m1]) {
            0 => PackMethod::Stored,
            8 => PackMethod::Deflated,
            _ => return Ok(None),
        };
        if [s0, s1, s2, s3] != HEADER || flags & ENCRYPTED != 0 {
            return Ok(None);
        }
        let crc = u32::from_le_bytes([c0, c1, c2, c3]);
        let packed = u64::from(u32::from_le_bytes([p0, p1, p2, p3]));
        let known = (flags & WITH_DESCRIPTOR == 0).then_some((crc, packed));
        let name_bytes = u64::from(u16::from_le_bytes([n0, n1]));
        let extra_bytes = u64::from(u16::from_le_bytes([x0, x1]));
        let name_start = self.next.saturating_add(HEADER_BYTES);
        let mut name = Vec::new();
        self.read_at(name_start, name_bytes)?
            .read_to_end(&mut name)?;
        Ok(Some(FileHeader {
            name: String::from_utf8_lossy(&name).into_owned(),
            method,
            known,
            start: name_start
                .saturating_add(name_bytes)
                .saturating_add(extra_bytes),
        }))
    }

    /// Checks a file that is not compressed and whose length is known.
    fn stored(&self, header: &FileHeader, crc: u32, packed: u64) -> io::Result<Option<(u64, u64)>> {
        if header.start.saturating_add(packed) > self.end {
            return Ok(None);
        }
        let read = checked(&mut self.read_at(header.start, packed)?, self.longest)?;
        Ok(read
            .filter(|own| *own == (crc, packed))
            .map(|_| (packed, packed)))
    }

    /// Finds the end of a file that is not compressed: the first descriptor that has its length and its checksum.
    fn stored_to_descriptor(&self, header: &FileHeader) -> io::Result<Option<(u64, u64)>> {
        let mut read = self.read_at(header.start, self.end.saturating_sub(header.start))?;
        let mut crc = Crc::new();
        // The bytes from `passed` on of the content, of which the checksum is not made yet.
        let (mut window, mut passed) = (Vec::new(), 0_u64);
        loop {
            let before = window.len();
            (&mut read).take(PIECE_BYTES).read_to_end(&mut window)?;
            let is_end = window.len() == before;
            let mut done = 0;
            while let Some(found) = window.get(done..).and_then(descriptor_in) {
                let at = done + found;
                let Some(descriptor) = window.get(at..at + DESCRIPTOR_LEN) else {
                    break;
                };
                crc.update(window.get(done..at).unwrap_or_default());
                passed = passed.saturating_add(len_u64(at - done));
                done = at;
                if passed > self.longest {
                    return Ok(None);
                }
                if is_of(descriptor, crc.sum(), passed, passed) {
                    return Ok(Some((passed, passed)));
                }
                // It is a part of the content that looks like one.
                crc.update(window.get(done..=done).unwrap_or_default());
                passed = passed.saturating_add(1);
                done += 1;
            }
            if is_end {
                return Ok(None);
            }
            // A descriptor may lie across two pieces.
            let kept = window.len().saturating_sub(DESCRIPTOR_LEN).max(done);
            crc.update(window.get(done..kept).unwrap_or_default());
            passed = passed.saturating_add(len_u64(kept - done));
            if passed > self.longest {
                return Ok(None);
            }
            window.drain(..kept);
        }
    }

    /// Decompresses a file, which tells where it ends, and checks it.
    fn deflated(
        &self,
        header: &FileHeader,
        known: Option<(u32, u64)>,
    ) -> io::Result<Option<(u64, u64)>> {
        let packed = self.read_at(header.start, self.end.saturating_sub(header.start))?;
        let mut plain = DeflateDecoder::new(packed);
        let Some((crc, bytes)) = checked(&mut plain, self.longest)? else {
            return Ok(None);
        };
        let packed = plain.total_in();
        let is_right = if let Some(known) = known {
            known == (crc, packed)
        } else {
            let descriptor: Option<[u8; DESCRIPTOR_LEN]> =
                self.bytes(header.start.saturating_add(packed))?;
            descriptor.is_some_and(|own| is_of(&own, crc, packed, bytes))
        };
        Ok(is_right.then_some((packed, bytes)))
    }
}

#[expect(clippy::expect_used, reason = "no machine has longer memory")]
fn len_u64(len: usize) -> u64 {
    u64::try_from(len).expect("a length in memory has at most 64 bits")
}

fn descriptor_in(window: &[u8]) -> Option<usize> {
    let mut places = window.windows(DESCRIPTOR.len());
    places.position(|bytes| *bytes == DESCRIPTOR)
}

/// Returns whether a descriptor has these numbers.
fn is_of(descriptor: &[u8], crc: u32, packed: u64, bytes: u64) -> bool {
    let number = |place: usize| {
        let four = descriptor.get(place..place + 4)?.first_chunk().copied()?;
        Some(u32::from_le_bytes(four))
    };
    descriptor.starts_with(&DESCRIPTOR)
        && number(4) == Some(crc)
        && number(8).map(u64::from) == Some(packed)
        && number(12).map(u64::from) == Some(bytes)
}

/// Reads to the end and returns checksum and length; `None` if the data is cut off, damaged or too long.
fn checked(read: &mut impl Read, longest: u64) -> io::Result<Option<(u32, u64)>> {
    let (mut crc, mut bytes) = (Crc::new(), 0_u64);
    let mut piece = vec![0; PIECE];
    loop {
        match read.read(&mut piece) {
            Ok(0) => return Ok(Some((crc.sum(), bytes))),
            Ok(count) => {
                crc.update(piece.get(..count).unwrap_or_default());
                bytes = bytes.saturating_add(len_u64(count));
                if bytes > longest {
                    return Ok(None);
                }
            }
            Err(error) => {
                return match error.kind() {
                    io::ErrorKind::Interrupted => continue,
                    io::ErrorKind::InvalidInput
                    | io::ErrorKind::InvalidData
                    | io::ErrorKind::UnexpectedEof => Ok(None),
                    _ => Err(error),
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    const LONGEST: u64 = 1 << 20;

    /// Writes a file as writers do that do not know its length before.
    fn streamed(archive: &mut Vec<u8>, name: &str, method: u16, packed: &[u8], plain: &[u8]) {
        let mut crc = Crc::new();
        crc.update(plain);
        let len = |bytes: &[u8]| u32::try_from(bytes.len()).expect("short").to_le_bytes();
        archive.extend(HEADER);
        archive.extend([20, 0, 8, 0]);
        archive.extend(method.to_le_bytes());
        archive.extend([0; 16]);
        archive.extend(u16::try_from(name.len()).expect("short").to_le_bytes());
        archive.extend([0; 2]);
        archive.extend(name.as_bytes());
        archive.extend(packed);
        archive.extend(DESCRIPTOR);
        archive.extend(crc.sum().to_le_bytes());
        archive.extend(len(packed));
        archive.extend(len(plain));
    }

    fn deflated(plain: &[u8]) -> Vec<u8> {
        let level = flate2::Compression::default();
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), level);
        encoder.write_all(plain).expect("memory");
        encoder.finish().expect("memory")
    }

    /// Gives the files that are found, with their contents.
    fn found(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(archive).expect("room");
        let mut zip = CutZip::open(&file, LONGEST).expect("read");
        let mut all = Vec::new();
        while let Some(one) = zip.next().expect("read") {
            let mut content = Vec::new();
            zip.content(&one)
                .expect("read")
                .read_to_end(&mut content)
                .expect("read");
            assert_eq!(len_u64(content.len()), one.bytes);
            all.push((one.name, content));
        }
        all
    }

    #[test]
    fn the_whole_files_before_every_cut_are_found() {
        // The content of the second one has what looks like its end, and crosses pieces.
        let mut tricky = vec![7; PIECE - 9];
        tricky.extend(DESCRIPTOR);
        tricky.extend([0; 30]);
        let mut archive = Vec::new();
        let files = [
            ("a", 0, b"first".to_vec()),
            ("b", 0, tricky),
            ("c", 8, vec![1; 5_000]),
            ("d", 0, Vec::new()),
        ];
        let mut ends = Vec::new();
        for (name, method, plain) in &files {
            let packed = match method {
                0 => plain.clone(),
                _ => deflated(plain),
            };
            streamed(&mut archive, name, *method, &packed, plain);
            ends.push(archive.len());
        }
        let near = ends.iter().flat_map(|end| end.saturating_sub(40)..*end + 3);
        let cuts = near.chain([0, 1, 29, 30, PIECE, PIECE + 70]);
        for cut in cuts.filter(|cut| *cut <= archive.len()) {
            let whole = ends.iter().filter(|end| **end <= cut).count();
            let expected: Vec<_> = files
                .iter()
                .take(whole)
                .map(|(name, _, plain)| ((*name).to_owned(), plain.clone()))
                .collect();
            assert!(found(&archive[..cut]) == expected, "cut at {cut}");
        }
    }

    #[test]
    fn a_file_with_a_wrong_byte_is_not_whole() {
        for method in [0, 8] {
            let plain = b"some content that is long enough";
            let packed = match method {
                0 => plain.to_vec(),
                _ => deflated(plain),
            };
            let mut archive = Vec::new();
            streamed(&mut archive, "a", method, &packed, plain);
            assert_eq!(found(&archive).len(), 1);
            for at in 31..archive.len() {
                let mut wrong = archive.clone();
                wrong[at] ^= 0x10;
                let found = found(&wrong);
                // The bits behind the end of the compressed data mean nothing.
                let is_unused = method == 8 && at == 30 + packed.len();
                if is_unused && !found.is_empty() {
                    assert_eq!(found, [("a".to_owned(), plain.to_vec())]);
                } else {
                    assert_eq!(found, [], "method {method}, byte {at}");
                }
            }
        }
    }

    #[test]
    fn a_length_in_the_header_is_used() {
        let plain = b"stored with its length in front";
        let mut crc = Crc::new();
        crc.update(plain);
        let len = u32::try_from(plain.len()).expect("short").to_le_bytes();
        let mut archive = Vec::new();
        archive.extend(HEADER);
        archive.extend([20, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        archive.extend(crc.sum().to_le_bytes());
        archive.extend(len);
        archive.extend(len);
        archive.extend([1, 0, 0, 0, b'a']);
        archive.extend(plain);
        assert_eq!(found(&archive), [("a".to_owned(), plain.to_vec())]);
        archive.pop();
        assert_eq!(found(&archive), []);
    }
}
