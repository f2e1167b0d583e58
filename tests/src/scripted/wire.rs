//! One accepted socket: reading heads, writing bytes under orders, and ending it in every way TCP
//! knows. It does not know what the bytes mean.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::sync::watch;

use super::cluster::Settings;
use super::fault::{Canned, End, json_type, status_object};
use super::log::{Ending, Exchange, Pulse, RequestHead};
use super::model::Model;
use super::resource::{Route, Target};
use super::stream::{Stream, WatchOpening};
use super::{discovery, list};

/// A socket with a client at its other end.
#[derive(Debug)]
pub(crate) struct Wire {
    stream: TcpStream,
    unread: Vec<u8>,
}

/// What a write happens under: whose answer it is, who may end it, how long the client may not read.
#[derive(Debug)]
pub(crate) struct Orders {
    pub(crate) exchange: Arc<Exchange>,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) ordered: watch::Receiver<Option<End>>,
    pub(crate) stall_limit: Option<Duration>,
}

impl Orders {
    /// An order that was given and not yet obeyed.
    pub(crate) fn given(&self) -> Option<End> {
        *self.ordered.borrow()
    }

    /// Waits for any order.
    pub(crate) async fn awaited(&mut self) -> End {
        self.one_of(&[End::Finished, End::Closed, End::Reset, End::Silent])
            .await
    }

    /// Waits for an order that does not even let the line end.
    async fn abrupt(&mut self) -> End {
        self.one_of(&[End::Closed, End::Reset, End::Silent]).await
    }

    /// Waits for one of these orders; others are as good as none.
    async fn one_of(&mut self, ends: &[End]) -> End {
        loop {
            let given = *self.ordered.borrow_and_update();
            if let Some(end) = given.filter(|end| ends.contains(end)) {
                return end;
            }
            if self.ordered.changed().await.is_err() {
                // The server is being dropped; so is the socket.
                return End::Reset;
            }
        }
    }
}

impl Wire {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            unread: Vec::new(),
        }
    }

    /// The next request, its body skipped; nothing when the client is gone or talks nonsense.
    pub(crate) async fn request(&mut self) -> Option<RequestHead> {
        let end = loop {
            if let Some(end) = head_end(&self.unread) {
                break end;
            }
            if self.unread.len() > HEAD_BYTES_MAX || !self.read_more().await {
                return None;
            }
        };
        let head: Vec<u8> = self.unread.drain(..end).collect();
        let asked = parse_head(&head)?;
        let body: usize = match asked.header("content-length") {
            Some(length) => length.parse().ok()?,
            None => 0,
        };
        while self.unread.len() < body {
            if !self.read_more().await {
                return None;
            }
        }
        self.unread.drain(..body);
        Some(asked)
    }

    async fn read_more(&mut self) -> bool {
        let mut bytes = [0; 4096];
        loop {
            if self.stream.readable().await.is_err() {
                return false;
            }
            match self.stream.try_read(&mut bytes) {
                Ok(count) => {
                    self.unread
                        .extend_from_slice(bytes.get(..count).unwrap_or_default());
                    return count > 0;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => return false,
            }
        }
    }

    /// Waits until the client is gone; what it sends meanwhile is kept for later.
    pub(crate) async fn client_gone(&mut self) {
        while self.read_more().await {}
    }

    /// Writes all the bytes, or says what kept it from doing so.
    pub(crate) async fn send(&mut self, bytes: &[u8], orders: &mut Orders) -> Result<(), Ending> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.stream.try_write(rest) {
                Ok(count) => {
                    rest = rest.get(count..).unwrap_or_default();
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.writable(orders).await?;
                }
                Err(_) => return Err(Ending::Client),
            }
        }
        Ok(())
    }

    /// Waits for room in the socket.
    async fn writable(&mut self, orders: &mut Orders) -> Result<(), Ending> {
        orders.pulse.beat();
        let patience = orders.stall_limit;
        let stalled = async {
            match patience {
                Some(limit) => tokio::time::sleep(limit).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            end = orders.abrupt() => Err(Ending::Server(end)),
            room = self.stream.writable() => room.or(Err(Ending::Client)),
            () = stalled => Err(Ending::Server(End::Closed)),
        }
    }

    /// Carries an ending out by giving the socket up; says what it came to.
    pub(crate) async fn end(mut self, end: End, orders: &mut Orders) -> Ending {
        let mut end = end;
        if end == End::Silent {
            let now = Instant::now();
            orders
                .exchange
                .note(|progress| progress.silent_since = Some(now));
            orders.pulse.beat();
            tokio::select! {
                () = self.client_gone() => return Ending::Client,
                ordered = orders.one_of(&[End::Closed, End::Reset]) => end = ordered,
            }
        }
        if end == End::Reset {
            self.reset();
        }
        Ending::Server(end)
    }

    /// Closes the connection with a reset.
    pub(crate) fn reset(self) {
        // Failing means that the socket is already gone, which is as good.
        self.stream.set_zero_linger().ok();
    }
}

/// A head longer than this is not one.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;

/// Where the head ends in what was read so far, its blank line included.
pub(crate) fn head_end(bytes: &[u8]) -> Option<usize> {
    bytes
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .map(|start| start + 4)
}

/// Reads a head; nothing when it is none.
pub(crate) fn parse_head(bytes: &[u8]) -> Option<RequestHead> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut lines = text.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let method = first.next()?.to_owned();
    let target = first.next()?.to_owned();
    if first.next()? != "HTTP/1.1" {
        return None;
    }
    let headers = lines
        .take_while(|line| !line.is_empty())
        .map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        })
        .collect::<Option<Vec<_>>>()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    Some(RequestHead {
        method,
        path: path.to_owned(),
        query: parse_query(query),
        headers,
        target: target.clone(),
    })
}

fn parse_query(query: &str) -> Vec<(String, String)> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        })
        .collect()
}

/// Undoes percent encoding; what is not well encoded stands for itself.
pub(crate) fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let escaped = (first == b'%')
            .then(|| tail.split_first_chunk::<2>())
            .flatten()
            .and_then(|(digits, after)| {
                let digits = std::str::from_utf8(digits).ok()?;
                Some((u8::from_str_radix(digits, 16).ok()?, after))
            });
        match (first, escaped) {
            (_, Some((byte, after))) => {
                bytes.push(byte);
                rest = after;
            }
            (b'+', None) => {
                bytes.push(b' ');
                rest = tail;
            }
            (byte, None) => {
                bytes.push(byte);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The status line and the headers, with the blank line.
pub(crate) fn response_head(status: u16, headers: &[(String, String)]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason_phrase(status));
    for (name, value) in headers {
        head.push_str(name);
        head.push_str(": ");
        head.push_str(value);
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    head.into_bytes()
}

fn reason_phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        410 => "Gone",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => "Unnamed",
    }
}

/// The most a stored block can hold.
const STORED_BLOCK_MAX: usize = 0xffff;

/// One complete gzip member whose content is `content`.
pub(crate) fn member(content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let mut blocks = content.chunks(STORED_BLOCK_MAX).peekable();
    if blocks.peek().is_none() {
        bytes.extend_from_slice(&[1, 0, 0, 0xff, 0xff]);
    }
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        bytes.push(u8::from(blocks.peek().is_none()));
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&(!length).to_le_bytes());
        bytes.extend_from_slice(block);
    }
    bytes.extend_from_slice(&crc32(content).to_le_bytes());
    let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |mut crc, &byte| {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 * (crc & 1));
        }
        crc
    })
}

/// FNV-1a over 64 bits.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The quoted tag of a document.
pub(crate) fn of(document: &[u8]) -> String {
    format!("\"{:016X}\"", fnv1a(document))
}

/// A line or a document, with the commits a client knows once it has it whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// The watch event's type; empty for documents.
    pub(crate) kind: &'static str,
    pub(crate) revision: Option<u128>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) commits: Vec<usize>,
}

/// What follows the head.
#[derive(Debug)]
pub(crate) enum Body {
    Document(Line),
    /// Lines that wait already, and where more come from unless it is over.
    Lines(Vec<Line>, Option<Box<Stream>>),
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Body,
    /// A wait the server itself makes before answering.
    pub(crate) wait: Duration,
}

impl Answer {
    pub(crate) fn document(status: u16, bytes: Vec<u8>) -> Self {
        Self {
            status,
            headers: vec![json_type()],
            body: Body::Document(Line {
                kind: "",
                revision: None,
                bytes,
                commits: Vec::new(),
            }),
            wait: Duration::ZERO,
        }
    }

    /// A JSON `Status`.
    pub(crate) fn status(code: u16, reason: &str, message: &str) -> Self {
        Self::document(code, status_object(code, reason, message, None))
    }

    /// Go's answer to a path nobody serves.
    pub(crate) fn no_such_path() -> Self {
        Canned::text(404, "404 page not found\n").into()
    }
}

impl From<Canned> for Answer {
    fn from(canned: Canned) -> Self {
        Self {
            headers: canned.headers,
            ..Self::document(canned.status, canned.body)
        }
    }
}

/// Answers a request as a healthy server would.
pub(crate) fn to(asked: &RequestHead, model: &Model, settings: &Settings, flap: bool) -> Answer {
    if let Some(token) = &settings.token
        && asked.header("authorization") != Some(format!("Bearer {token}").as_str())
    {
        return Answer::status(401, "Unauthorized", "Unauthorized");
    }
    if asked.method != "GET" {
        return Answer::status(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        );
    }
    match Route::of(&asked.path) {
        Some(Route::Health) => Canned::text(200, "ok").into(),
        Some(Route::Version) => Answer::document(200, discovery::version(settings)),
        Some(Route::Discovery(page)) => discovery::answer(&page, asked, model, settings, flap),
        Some(Route::Resource(target)) => resource(&target, asked, model, settings),
        None => Answer::no_such_path(),
    }
}

fn resource(target: &Target, asked: &RequestHead, model: &Model, settings: &Settings) -> Answer {
    let found = model.resources.get(&target.key).filter(|resource| {
        resource.versions.contains(&target.version)
            && (resource.namespaced || target.namespace.is_none())
    });
    let Some((resource, storage)) =
        found.and_then(|resource| Some((resource, model.storage_of(resource)?)))
    else {
        return Answer::no_such_path();
    };
    let verb = match (asked.is_watch(), target.name.is_some()) {
        (true, _) => "watch",
        (false, false) => "list",
        (false, true) => "get",
    };
    if !resource.allows(verb) {
        return Answer::status(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        );
    }
    let scope = match list::Scope::new(target, asked, resource) {
        Ok(scope) => scope,
        Err(refusal) => return *refusal,
    };
    match verb {
        "watch" => match Stream::open(scope, asked, model, storage, settings) {
            WatchOpening::Refused(answer) => *answer,
            WatchOpening::Lines(lines, stream) => Answer {
                body: Body::Lines(lines, stream),
                ..Answer::document(200, Vec::new())
            },
        },
        "list" => list::answer(&scope, asked, model, storage),
        _ => list::single(&scope, storage),
    }
}

#[cfg(test)]
mod http_tests {
    use super::{decode, head_end, parse_head};

    #[test]
    fn reads_target_query_and_headers() {
        let bytes = b"GET /api/v1/pods?watch=true&fieldSelector=metadata.name%3Da+b HTTP/1.1\r\nHost: x\r\nACCEPT:  a, b \r\n\r\nrest";
        let end = head_end(bytes).expect("there is a blank line");
        let asked = parse_head(&bytes[..end]).expect("it is a head");
        assert_eq!(asked.path, "/api/v1/pods");
        assert!(asked.is_watch());
        assert_eq!(asked.parameter("fieldSelector"), Some("metadata.name=a b"));
        assert_eq!(asked.header("accept"), Some("a, b"));
    }

    #[test]
    fn leaves_bad_escapes_alone() {
        assert_eq!(decode("%zz%4"), "%zz%4");
        assert_eq!(decode("%41%"), "A%");
    }
}

#[cfg(test)]
mod gzip_tests {
    use super::{crc32, member};

    #[test]
    fn crc_of_the_check_string() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn an_empty_member_is_the_known_bytes() {
        assert_eq!(member(b"").len(), 10 + 5 + 8);
        assert_eq!(member(&vec![7; 70_000]).len(), 10 + 2 * 5 + 70_000 + 8);
    }
}
