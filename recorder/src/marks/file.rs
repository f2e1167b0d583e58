//! Owns the file that marks are appended to by whoever has no network: it is read on as it grows, a
//! line a mark. Refuses to follow links, to read pipes, and to write.

use super::desk::{Desk, MARK_BYTES, NotTaken};
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How often the file is looked at.
const EVERY_MILLIS: u64 = 500;

/// How many bytes one look reads.
const LOOK_BYTES: u64 = 64 * 1024;

/// A file that is read on.
#[derive(Debug)]
pub(crate) struct MarkFile {
    path: PathBuf,
    read: u64,
    /// The beginning of a line whose end has not come.
    rest: Vec<u8>,
    /// Whether the line is too long already.
    is_skipping: bool,
}

impl MarkFile {
    /// Reads a file from its beginning.
    pub(crate) const fn new(path: PathBuf) -> Self {
        Self {
            path,
            read: 0,
            rest: Vec::new(),
            is_skipping: false,
        }
    }

    /// Leaves out what the file holds already: an earlier run has taken it.
    pub(crate) fn from_end(path: PathBuf) -> Self {
        let read = std::fs::symlink_metadata(&path).map_or(0, |about| about.len());
        Self {
            read,
            ..Self::new(path)
        }
    }

    /// Gives the lines that came since the last look.
    fn look(&mut self) -> Vec<Vec<u8>> {
        // A file that cannot be read now may be readable at the next look.
        let bytes = self.read_on().unwrap_or_default();
        let mut lines = Vec::new();
        for byte in bytes {
            if byte == b'\n' {
                let line = std::mem::take(&mut self.rest);
                if !std::mem::take(&mut self.is_skipping) {
                    lines.push(line);
                }
            } else if self.rest.len() > MARK_BYTES {
                if !self.is_skipping {
                    tracing::warn!("a line of the file of marks is too long");
                }
                self.is_skipping = true;
            } else {
                self.rest.push(byte);
            }
        }
        lines
    }

    fn read_on(&mut self) -> std::io::Result<Vec<u8>> {
        let about = std::fs::symlink_metadata(&self.path)?;
        if !about.is_file() {
            return Ok(Vec::new());
        }
        if about.len() < self.read {
            // Another file in its place, or emptied.
            self.read = 0;
            self.rest.clear();
            self.is_skipping = false;
        }
        if about.len() == self.read {
            return Ok(Vec::new());
        }
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(self.read))?;
        let mut bytes = Vec::new();
        file.take(LOOK_BYTES).read_to_end(&mut bytes)?;
        self.read = self
            .read
            .saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        Ok(bytes)
    }

    /// Gives the last line, if nobody ended it.
    fn last(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.rest)
    }
}

/// Follows a file until the run is to stop, then looks once more.
pub(crate) async fn follow(mut file: MarkFile, desk: Arc<Desk>, mut stop: watch::Receiver<bool>) {
    loop {
        let is_last = *stop.borrow();
        // A thread of its own: a file may hang.
        let looking = tokio::task::spawn_blocking(move || {
            let mut lines = file.look();
            if is_last {
                lines.push(file.last());
            }
            (file, lines)
        });
        let Ok((looked, lines)) = looking.await else {
            return;
        };
        file = looked;
        for line in lines {
            match desk.take(&line).await {
                Ok(()) | Err(NotTaken::Empty) => {}
                Err(why) => tracing::warn!(why = why.words(), "a mark is left out"),
            }
        }
        if is_last {
            return;
        }
        let pause = Duration::from_millis(EVERY_MILLIS);
        // Whoever stops the run, or drops it, ends the pause.
        drop(tokio::time::timeout(pause, stop.wait_for(|stop| *stop)).await);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;
    use std::io::Write as _;

    fn append(path: &std::path::Path, text: &str) {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .expect("opened");
        file.write_all(text.as_bytes()).expect("written");
    }

    #[test]
    fn lines_come_once_and_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("marks");
        let mut file = MarkFile::new(path.clone());
        assert!(file.look().is_empty());
        append(&path, "one\ntw");
        assert_eq!(file.look(), [b"one".to_vec()]);
        append(&path, "o\nthree");
        assert_eq!(file.look(), [b"two".to_vec()]);
        assert!(file.look().is_empty());
        assert_eq!(file.last(), b"three");
    }

    #[test]
    fn a_file_that_shrinks_is_read_anew_and_long_lines_are_left_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("marks");
        append(&path, &format!("{}\nshort\n", "x".repeat(5_000)));
        let mut file = MarkFile::new(path.clone());
        assert_eq!(file.look(), [b"short".to_vec()]);
        std::fs::write(&path, "new\n").expect("written");
        assert_eq!(file.look(), [b"new".to_vec()]);
        let mut later = MarkFile::from_end(path.clone());
        assert!(later.look().is_empty());
        append(&path, "later\n");
        assert_eq!(later.look(), [b"later".to_vec()]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let secret = folder.path().join("secret");
        std::fs::write(&secret, "canary\n").expect("written");
        let path = folder.path().join("marks");
        std::os::unix::fs::symlink(&secret, &path).expect("linked");
        assert!(MarkFile::new(path).look().is_empty());
    }
}
