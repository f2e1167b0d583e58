//! Owns how a mark is left for a recorder: one request to its status page, or one line at the end of its
//! file. Refuses to wait long, and to make folders.

use super::desk::MARK_BYTES;
use crate::health::StatusToken;
use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;
use thiserror::Error;

/// How long the recorder may take to answer.
const PATIENCE_SECS: u64 = 5;

/// The most bytes of an answer.
const ANSWER_BYTES: u64 = 4096;

/// Where a recorder takes marks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkPlace {
    /// Its status page.
    Page {
        /// The address.
        address: SocketAddr,
        /// The token of the page, if it asks for one.
        token: Option<StatusToken>,
    },
    /// The file that it follows.
    File(PathBuf),
}

/// A mark could not be left.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MarkError {
    /// There is no word in it, or too many.
    #[error("a mark is between one and {MARK_BYTES} bytes, not {bytes}")]
    Length {
        /// How long it is.
        bytes: usize,
    },
    /// Nobody answers at the address, or breaks off.
    #[error("no recorder answers at {address}: {source}")]
    Unanswered {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The recorder does not take it.
    #[error("the recorder at {address} answers: {answer}")]
    Refused {
        /// The address.
        address: SocketAddr,
        /// What it says.
        answer: String,
    },
    /// The file cannot be written.
    #[error("cannot append to the file of marks: {source}: {path}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Leaves a mark.
///
/// # Errors
///
/// If it is empty or too long, if the recorder does not take it, or if the file cannot be written.
pub fn leave_mark(place: &MarkPlace, text: &str) -> Result<(), MarkError> {
    // One line: what ends a line would end the mark.
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
            let said = if body.trim().is_empty() { head } else { body };
            Err(MarkError::Refused {
                address: *address,
                answer: said.lines().next().unwrap_or("nothing").to_owned(),
            })
        }
        MarkPlace::File(path) => append(path, line).map_err(|source| MarkError::File {
            path: path.clone(),
            source,
        }),
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

fn append(path: &PathBuf, line: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    // One write: two that append at once do not mix their lines.
    file.write_all(format!("{line}\n").as_bytes())
}
