//! Owns the SHA-256 of a file, written as `sha256sum` does. Refuses to hold the file in memory.

use ring::digest::{Context, SHA256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// How many bytes are read at once.
const PART_BYTES: usize = 256 * 1024;

/// Gives the line that `sha256sum` prints for a file.
pub(super) fn sha256_line(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut context = Context::new(&SHA256);
    let mut part = vec![0; PART_BYTES];
    loop {
        let read = file.read(&mut part)?;
        if read == 0 {
            break;
        }
        context.update(part.get(..read).unwrap_or_default());
    }
    let mut line = String::new();
    for byte in context.finish().as_ref() {
        // A String takes everything.
        let _written = write!(line, "{byte:02x}");
    }
    let name = path.file_name().unwrap_or_default();
    Ok(format!("{line}  {}\n", name.to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_the_standard() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("x.reel");
        std::fs::write(&path, "abc").expect("written");
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  x.reel\n";
        assert_eq!(sha256_line(&path).expect("read"), expected);
    }
}
