//! Owns the digest of a whole file, by which what was worked out of it is found again. Refuses to
//! tell whether the file is sound: opening it does.

use crate::codec::digest::Digest;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// How many bytes are read at once.
const PIECE: usize = 256 * 1024;

/// Gives the XXH3-128 of all bytes of a file: no change of it, not even damage, goes unnoticed.
///
/// It takes the same little memory for any length.
///
/// # Errors
/// When the file cannot be read.
pub fn file_digest(path: &Path) -> io::Result<u128> {
    let mut file = File::open(path)?;
    let mut piece = vec![0; PIECE];
    let mut digest = Digest::default();
    loop {
        let read = match file.read(&mut piece) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            return Ok(digest.value());
        }
        digest.take(piece.get(..read).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.reel");
        let mut bytes = vec![7_u8; PIECE * 2 + 3];
        let digest = |bytes: &[u8]| {
            std::fs::write(&path, bytes).expect("room");
            file_digest(&path).expect("it is there")
        };
        let whole = digest(&bytes);
        let mut at_once = Digest::default();
        at_once.take(&bytes);
        assert_eq!(whole, at_once.value());
        bytes[PIECE + 1] ^= 1;
        assert_ne!(digest(&bytes), whole);
        bytes[PIECE + 1] ^= 1;
        assert_ne!(digest(&bytes[1..]), whole);
        assert_eq!(digest(&bytes), whole);
        assert!(file_digest(&folder.path().join("none")).is_err());
    }
}
