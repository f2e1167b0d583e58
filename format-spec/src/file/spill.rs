//! Keeps the last bodies of live objects in a temporary file when they exceed their memory.
//!
//! Invariants: the file has no name while it is used, so that a kill leaves nothing behind. All of
//! its content is in the reel as well; an appender that cannot read or write it starts over from
//! the reel. It is read only at places that [`SpillFile::push`] returned.

use crate::limits::place32;
use std::fs::File;
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How many bytes are written at once.
const BUFFER: usize = 1024 * 1024;

/// The bytes of replaced texts after which the file is written anew.
const GARBAGE: u64 = 64 * 1024 * 1024;

/// A place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpillPlace {
    pub(crate) offset: u64,
    pub(crate) len: u32,
}

/// A temporary file of texts.
#[derive(Debug)]
pub(crate) struct SpillFile {
    folder: PathBuf,
    file: BufWriter<File>,
    end: u64,
    live: u64,
}

impl SpillFile {
    /// Creates one in a folder: beside the reel, because a folder for temporary files is often in
    /// memory.
    pub(crate) fn create(folder: &Path) -> io::Result<Self> {
        Ok(Self {
            folder: folder.to_owned(),
            file: BufWriter::with_capacity(BUFFER, unnamed(folder)?),
            end: 0,
            live: 0,
        })
    }

    /// Returns an empty file for the live texts of this one.
    pub(crate) fn successor(&self) -> io::Result<Self> {
        Self::create(&self.folder)
    }

    /// Appends a text, which can be read after [`Self::flush`].
    pub(crate) fn push(&mut self, text: &[u8]) -> io::Result<SpillPlace> {
        let too_long = |_| io::Error::from(io::ErrorKind::FileTooLarge);
        let len = u32::try_from(text.len()).map_err(too_long)?;
        self.file.write_all(text)?;
        let place = SpillPlace {
            offset: self.end,
            len,
        };
        self.end = self.end.saturating_add(u64::from(len));
        self.live = self.live.saturating_add(u64::from(len));
        Ok(place)
    }

    /// Makes appended texts readable.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }

    /// Reads a text.
    pub(crate) fn read(&mut self, place: SpillPlace) -> io::Result<Vec<u8>> {
        let mut text = vec![0; place32(place.len)];
        let mut file = self.file.get_ref();
        file.seek(SeekFrom::Start(place.offset))?;
        let read = file.read_exact(&mut text);
        file.seek(SeekFrom::Start(self.end))?;
        read.map(|()| text)
    }

    /// Releases a text.
    pub(crate) fn forget(&mut self, place: SpillPlace) {
        self.live = self.live.saturating_sub(u64::from(place.len));
    }

    /// Returns whether most of the file is unused.
    pub(crate) fn is_mostly_garbage(&self) -> bool {
        self.end.saturating_sub(self.live) > self.live.max(GARBAGE)
    }
}

/// Creates a file without a name, which only this process can read.
pub(crate) fn unnamed(folder: &Path) -> io::Result<File> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let process = std::process::id();
    let path = folder.join(format!(".kubereel-{process}-{number}.tmp"));
    // A kill of a process with the same number left it between the next two steps.
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    // Until its name is removed, other programs could open it.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_and_the_file_has_no_name() {
        let folder = tempfile::tempdir().unwrap();
        let mut spill = SpillFile::create(folder.path()).unwrap();
        let texts: Vec<Vec<u8>> = (0..50_u8).map(|n| vec![n; usize::from(n) * 999]).collect();
        let mut places = Vec::new();
        for text in &texts {
            places.push(spill.push(text).unwrap());
            if text.len() % 7 == 0 {
                spill.flush().unwrap();
                let last = *places.last().unwrap();
                assert_eq!(spill.read(last).unwrap(), *text);
            }
        }
        spill.flush().unwrap();
        for (text, place) in texts.iter().zip(&places) {
            assert_eq!(spill.read(*place).unwrap(), *text);
        }
        let names = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(names, 0);
    }

    #[test]
    fn a_file_of_forgotten_texts_is_to_be_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let mut spill = SpillFile::create(folder.path()).unwrap();
        let text = vec![7; 1 << 20];
        let kept = spill.push(&text).unwrap();
        let mut rounds = 0;
        while !spill.is_mostly_garbage() {
            let place = spill.push(&text).unwrap();
            spill.forget(place);
            rounds += 1;
        }
        assert_eq!(rounds, GARBAGE / (1 << 20) + 1);
        spill.flush().unwrap();
        assert_eq!(spill.read(kept).unwrap(), text);
        let mut next = spill.successor().unwrap();
        let place = next.push(&text).unwrap();
        next.flush().unwrap();
        assert!(!next.is_mostly_garbage());
        assert_eq!(next.read(place).unwrap(), text);
    }
}
