//! Marks: texts of users and jobs in the timeline, such as "tests started". They arrive over the
//! status page or in a file that is followed as it grows; `kubereel mark` writes either.
//!
//! A mark is one line, bounded in length and number. The file is never written by the recorder, and
//! links and pipes are not followed. Secrets are replaced at the queue, as in all notes.

use crate::access::StatusToken;
use crate::clock::Clock;
use crate::number::len64;
use crate::queue::{Queue, QueueEntry};
use kubereel_format::{Note, REEL_START_BYTES, is_reel_start};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use thiserror::Error;
use tokio::sync::watch;

/// The longest mark, in bytes.
pub(crate) const MARK_BYTES: usize = 512;

/// How many marks one run accepts.
const MARKS: u32 = 10_000;

/// Accepts marks.
#[derive(Debug)]
pub(crate) struct Desk {
    queue: Arc<Queue>,
    clock: Clock,
    taken: AtomicU32,
}

/// Why a mark was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotTaken {
    /// It is empty.
    Empty,
    /// It is longer than [`MARK_BYTES`].
    TooLong,
    /// The run has reached [`MARKS`].
    TooMany,
}

impl NotTaken {
    /// Returns the reason as text.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Empty => "a mark is a word or more".to_owned(),
            Self::TooLong => format!("a mark is at most {MARK_BYTES} bytes"),
            Self::TooMany => format!("a run takes at most {MARKS} marks"),
        }
    }
}

impl Desk {
    /// Creates a desk.
    pub(crate) fn new(queue: Arc<Queue>, clock: Clock) -> Self {
        Self {
            queue,
            clock,
            taken: AtomicU32::new(0),
        }
    }

    /// Accepts a mark.
    pub(crate) async fn take(&self, bytes: &[u8]) -> Result<(), NotTaken> {
        let text = one_line(bytes)?;
        let taken = self.taken.fetch_add(1, Ordering::Relaxed);
        if taken >= MARKS {
            // The counter stops at the limit: it must not wrap to zero.
            self.taken.store(MARKS, Ordering::Relaxed);
            return Err(NotTaken::TooMany);
        }
        // Redacted by itself, as in the reel: within a line of the log a secret can look like other text.
        tracing::info!(mark = self.queue.redacted(&text), "a mark");
        let entry = QueueEntry::Note {
            stamp: self.clock.stamp(),
            note: Note::Mark { text },
        };
        self.queue.push(entry).await;
        Ok(())
    }
}

/// Joins the text into one line.
fn one_line(bytes: &[u8]) -> Result<String, NotTaken> {
    if bytes.len() > MARK_BYTES {
        return Err(NotTaken::TooLong);
    }
    let text = String::from_utf8_lossy(bytes);
    let spaced: String = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    match spaced.trim() {
        "" => Err(NotTaken::Empty),
        words => Ok(words.to_owned()),
    }
}

/// The interval at which the file is read.
const EVERY_MILLIS: u64 = 500;

/// The longest part that is read at once, in bytes.
const LOOK_BYTES: u64 = 64 * 1024;

/// A file that is followed.
#[derive(Debug)]
pub(crate) struct MarkFile {
    path: PathBuf,
    read: u64,
    /// The beginning of an unfinished line.
    rest: Vec<u8>,
    /// Whether the unfinished line is too long already.
    is_skipping: bool,
}

impl MarkFile {
    /// Follows a file from its beginning.
    pub(crate) const fn new(path: PathBuf) -> Self {
        Self {
            path,
            read: 0,
            rest: Vec::new(),
            is_skipping: false,
        }
    }

    /// Skips the current content of the file: an earlier run has taken it.
    pub(crate) fn from_end(path: PathBuf) -> Self {
        let read = std::fs::symlink_metadata(&path).map_or(0, |about| about.len());
        Self {
            read,
            ..Self::new(path)
        }
    }

    /// Returns the lines since the last call.
    fn look(&mut self) -> Vec<Vec<u8>> {
        // A file that cannot be read now may be readable next time.
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

    fn read_on(&mut self) -> io::Result<Vec<u8>> {
        let about = std::fs::symlink_metadata(&self.path)?;
        if !about.is_file() {
            return Ok(Vec::new());
        }
        if about.len() < self.read {
            // Another file has its path, or it was truncated.
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
        self.read = self.read.saturating_add(len64(bytes.len()));
        Ok(bytes)
    }

    /// Returns the last line, if it has no line end.
    fn last(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.rest)
    }
}

/// Follows a file until the run stops, then reads it once more.
pub(crate) async fn follow(mut file: MarkFile, desk: Arc<Desk>, mut stop: watch::Receiver<bool>) {
    loop {
        let is_last = *stop.borrow();
        // A separate thread: a file system may hang.
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
        // Stopping or dropping the run ends the pause.
        drop(tokio::time::timeout(pause, stop.wait_for(|stop| *stop)).await);
    }
}

/// The longest time for the recorder's response.
const PATIENCE_SECS: u64 = 5;

/// The longest response that is read, in bytes.
const ANSWER_BYTES: u64 = 4096;

/// Where a recorder accepts marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkPlace {
    /// Its status page.
    Page {
        /// The address.
        address: SocketAddr,
        /// The token of the page, if it requires one.
        token: Option<StatusToken>,
    },
    /// The file that it follows.
    File(PathBuf),
}

/// A mark could not be delivered.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MarkError {
    /// It is empty, or too long.
    #[error("a mark is between one and {MARK_BYTES} bytes, not {bytes}")]
    Length {
        /// Its length.
        bytes: usize,
    },
    /// The address does not respond, or the connection broke.
    #[error("no recorder answers at {address}: {source}")]
    Unanswered {
        /// The address.
        address: SocketAddr,
        /// The cause.
        source: io::Error,
    },
    /// The recorder refused the mark.
    #[error("the recorder at {address} answers: {answer}")]
    Refused {
        /// The address.
        address: SocketAddr,
        /// The response text.
        answer: String,
    },
    /// The file is a reel: a line at its end would damage it.
    #[error("{path}: a mark cannot be appended to a reel", path = path.display())]
    Reel {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error("{path}: cannot append to the file of marks: {source}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Delivers a mark.
///
/// # Errors
///
/// If the mark is empty or too long, if the recorder refuses it, or if the file cannot be written.
pub fn leave_mark(place: &MarkPlace, text: &str) -> Result<(), MarkError> {
    // One line: a line end inside would end the mark.
    let line = text.replace(char::is_control, " ");
    let line = line.trim();
    if line.is_empty() || line.len() > MARK_BYTES {
        return Err(MarkError::Length { bytes: line.len() });
    }
    match place {
        MarkPlace::Page { address, token } => {
            let answer =
                post(*address, token.as_ref(), line).map_err(|source| MarkError::Unanswered {
                    address: *address,
                    source,
                })?;
            let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
            if head.split(' ').nth(1) == Some("200") {
                return Ok(());
            }
            let reason_text = if body.trim().is_empty() { head } else { body };
            Err(MarkError::Refused {
                address: *address,
                answer: reason_text.lines().next().unwrap_or("nothing").to_owned(),
            })
        }
        MarkPlace::File(path) => {
            if is_reel(path) {
                return Err(MarkError::Reel { path: path.clone() });
            }
            append(path, line).map_err(|source| MarkError::File {
                path: path.clone(),
                source,
            })
        }
    }
}

fn post(address: SocketAddr, token: Option<&StatusToken>, line: &str) -> io::Result<String> {
    let patience = Duration::from_secs(PATIENCE_SECS);
    let mut stream = TcpStream::connect_timeout(&address, patience)?;
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    let authorization = token.map_or_else(String::new, |token| {
        format!("authorization: {}\r\n", token.header())
    });
    let request = format!(
        "POST /mark HTTP/1.1\r\nhost: {address}\r\n{authorization}content-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{line}",
        line.len()
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES).read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Returns whether a file begins as a reel; one that cannot be read does not.
fn is_reel(path: &Path) -> bool {
    // A pipe would block until somebody writes into it.
    if !std::fs::metadata(path).is_ok_and(|about| about.is_file()) {
        return false;
    }
    let mut start = Vec::new();
    let read = File::open(path)
        .and_then(|file| file.take(len64(REEL_START_BYTES)).read_to_end(&mut start));
    read.is_ok() && is_reel_start(&start)
}

fn append(path: &PathBuf, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    // A single write: two writers that append at once do not mix their lines.
    file.write_all(format!("{line}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;

    #[test]
    fn a_mark_is_one_short_line() {
        let expected = Ok("tests started".to_owned());
        assert_eq!(one_line(b" tests\tstarted\r\n"), expected);
        assert_eq!(one_line(b" \n"), Err(NotTaken::Empty));
        assert_eq!(one_line(&[b'x'; 513]), Err(NotTaken::TooLong));
        assert_eq!(one_line(b"\xff"), Ok("\u{fffd}".to_owned()));
    }

    #[tokio::test]
    async fn a_run_takes_so_many_and_no_more() {
        let clock = Clock::start();
        let queue = Arc::new(Queue::new(
            64 * 1024 * 1024,
            clock,
            crate::queue::redactor(),
        ));
        let desk = Desk::new(Arc::clone(&queue), clock);
        for _ in 0..MARKS {
            desk.take(b"x").await.expect("room");
        }
        assert_eq!(desk.take(b"x").await, Err(NotTaken::TooMany));
        assert_eq!(desk.take(b"x").await, Err(NotTaken::TooMany));
    }

    fn append(path: &Path, text: &str) {
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

    #[test]
    fn a_mark_is_not_appended_to_a_reel() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run.reel");
        let appender = kubereel_format::Appender::create(&path).expect("a reel");
        drop(appender);
        let before = std::fs::read(&path).expect("read");
        let place = MarkPlace::File(path.clone());
        let refused = leave_mark(&place, "tests started");
        assert!(
            matches!(refused, Err(MarkError::Reel { .. })),
            "{refused:?}"
        );
        assert_eq!(std::fs::read(&path).expect("read"), before);
        let marks = folder.path().join("run.reel.marks");
        leave_mark(&MarkPlace::File(marks.clone()), "tests started").expect("appended");
        assert_eq!(std::fs::read(&marks).expect("read"), b"tests started\n");
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
