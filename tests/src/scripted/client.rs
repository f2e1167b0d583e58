//! A client that shows every byte of an answer and how it ended: the tests' eye on the server. It
//! does not interpret more of HTTP than where the head ends.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};

/// How the bytes stopped coming.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tail {
    /// FIN.
    Closed,
    /// RST.
    Reset,
    /// Nothing came for the client's patience, and the connection still stands.
    Silent,
}

/// An answer, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// Zero when no whole head arrived.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// Everything received behind the head, or everything when there is no whole head.
    pub raw: Vec<u8>,
}

impl Fetched {
    /// The first value of a header, named in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// The body, its chunks undone; what a cut left of it counts.
    pub fn body(&self) -> Vec<u8> {
        if self.header("transfer-encoding") == Some("chunked") {
            unchunked(&self.raw)
        } else {
            self.raw.clone()
        }
    }

    /// The body's whole lines, newlines included.
    pub fn lines(&self) -> Vec<Vec<u8>> {
        self.body()
            .split_inclusive(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect()
    }
}

/// A connection to look through.
#[derive(Debug)]
pub struct RawClient {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl RawClient {
    /// Connects; `patience` is how long a silence may last before a read gives up.
    ///
    /// # Errors
    ///
    /// When the connection is refused.
    pub fn connect(address: SocketAddr, patience: Duration) -> Result<Self> {
        let stream = TcpStream::connect(address).with_context(|| format!("connect {address}"))?;
        stream.set_read_timeout(Some(patience))?;
        Ok(Self {
            stream,
            unread: Vec::new(),
        })
    }

    /// Changes how long a silence may last.
    ///
    /// # Errors
    ///
    /// When the duration is zero.
    pub fn set_patience(&mut self, patience: Duration) -> Result<()> {
        Ok(self.stream.set_read_timeout(Some(patience))?)
    }

    /// Sends a GET without reading the answer.
    ///
    /// # Errors
    ///
    /// When the connection is gone.
    pub fn ask(&mut self, target: &str, headers: &[(&str, &str)]) -> Result<()> {
        let mut head = format!("GET {target} HTTP/1.1\r\nHost: scripted\r\n");
        for (name, value) in headers {
            for part in [name, ": ", value, "\r\n"] {
                head.push_str(part);
            }
        }
        head.push_str("\r\n");
        self.stream.write_all(head.as_bytes())?;
        Ok(())
    }

    /// Sends a GET and reads an answer to its announced or chunked end; the connection stays usable.
    ///
    /// # Errors
    ///
    /// When the answer does not end properly.
    pub fn get(&mut self, target: &str, headers: &[(&str, &str)]) -> Result<Fetched> {
        self.ask(target, headers)?;
        loop {
            let fetched = parse(&self.unread);
            if let Some(size) = complete(&fetched) {
                let behind = fetched.raw.get(size..).unwrap_or_default().to_vec();
                self.unread = behind;
                let mut fetched = fetched;
                fetched.raw.truncate(size);
                return Ok(fetched);
            }
            if let Some(tail) = self.read_more()? {
                bail!("{target}: {tail:?} after {} bytes", self.unread.len());
            }
        }
    }

    /// Reads until at least `count` whole lines of a chunked body are there.
    ///
    /// # Errors
    ///
    /// When they do not come.
    pub fn lines(&mut self, count: usize) -> Result<Vec<Vec<u8>>> {
        loop {
            let tail = self.read_more()?;
            // Only at the end of a chunk can there be more whole lines than before.
            if tail.is_none() && !self.unread.ends_with(b"\r\n") {
                continue;
            }
            let mut lines = parse(&self.unread).lines();
            lines.retain(|line| line.ends_with(b"\n"));
            if lines.len() >= count {
                return Ok(lines);
            }
            if let Some(tail) = tail {
                bail!("{tail:?} after {} of {count} lines", lines.len());
            }
        }
    }

    /// Reads until nothing more comes.
    ///
    /// # Errors
    ///
    /// When reading fails in a way that is no [`Tail`].
    pub fn rest(&mut self) -> Result<(Fetched, Tail)> {
        loop {
            if let Some(tail) = self.read_more()? {
                return Ok((parse(&self.unread), tail));
            }
        }
    }

    fn read_more(&mut self) -> Result<Option<Tail>> {
        let mut bytes = vec![0; 64 * 1024];
        match self.stream.read(&mut bytes) {
            Ok(0) => Ok(Some(Tail::Closed)),
            Ok(count) => {
                self.unread
                    .extend_from_slice(bytes.get(..count).unwrap_or_default());
                Ok(None)
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::TimedOut => Ok(Some(Tail::Silent)),
                ErrorKind::ConnectionReset => Ok(Some(Tail::Reset)),
                _ => Err(error.into()),
            },
        }
    }
}

/// The chunks of a chunked body, and whether its end was there.
///
/// # Errors
///
/// When a chunk's header is not a number or a chunk does not end with a line end.
pub fn chunks(raw: &[u8]) -> Result<(Vec<Vec<u8>>, bool)> {
    let (found, end) = split_chunks(raw)?;
    Ok((found, end.is_some()))
}

/// The chunks, and where the body ended if it did.
fn split_chunks(raw: &[u8]) -> Result<(Vec<Vec<u8>>, Option<usize>)> {
    let mut found = Vec::new();
    let mut rest = raw;
    loop {
        let Some(end) = rest.windows(2).position(|window| window == b"\r\n") else {
            return Ok((found, None));
        };
        let (header, behind) = rest.split_at(end);
        let size = usize::from_str_radix(std::str::from_utf8(header)?, 16)?;
        let content = behind.get(2..).unwrap_or_default();
        if size == 0 {
            let after = content.strip_prefix(b"\r\n");
            return Ok((found, after.map(|after| raw.len() - after.len())));
        }
        let Some((chunk, after)) = content.split_at_checked(size) else {
            found.push(content.to_vec());
            return Ok((found, None));
        };
        found.push(chunk.to_vec());
        if after.len() < 2 {
            return Ok((found, None));
        }
        ensure!(after.starts_with(b"\r\n"), "a chunk of {size} does not end");
        rest = after.get(2..).unwrap_or_default();
    }
}

/// The content of a chunked body, as far as it goes.
pub fn unchunked(raw: &[u8]) -> Vec<u8> {
    chunks(raw).map_or_else(|_| Vec::new(), |(chunks, _)| chunks.concat())
}

fn parse(bytes: &[u8]) -> Fetched {
    let end = bytes
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .map(|start| start + 4);
    let head = end.and_then(|end| {
        let (head, raw) = bytes.split_at_checked(end)?;
        Some((std::str::from_utf8(head).ok()?, raw))
    });
    let Some((head, raw)) = head else {
        return Fetched {
            status: 0,
            headers: Vec::new(),
            raw: bytes.to_vec(),
        };
    };
    let mut lines = head.split("\r\n");
    let status = lines
        .next()
        .and_then(|first| first.split(' ').nth(1))
        .and_then(|code| code.parse().ok())
        .unwrap_or(0);
    let headers = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    Fetched {
        status,
        headers,
        raw: raw.to_vec(),
    }
}

/// How long the body is, if all of it is there.
fn complete(fetched: &Fetched) -> Option<usize> {
    if fetched.status == 0 {
        return None;
    }
    if fetched.header("transfer-encoding") == Some("chunked") {
        return split_chunks(&fetched.raw).ok()?.1;
    }
    let length = match fetched.header("content-length") {
        Some(length) => length.parse().ok()?,
        None => 0,
    };
    (fetched.raw.len() >= length).then_some(length)
}
