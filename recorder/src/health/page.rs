//! Owns the small HTTP server of `--listen`: `/metrics`, `/healthz`, `/readyz`, and `/mark`, which takes
//! a word from this machine. Refuses everything else, long bodies, browsers, and slow callers.

use super::counters::Health;
use super::text;
use crate::marks::{Desk, NotTaken};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

/// The most bytes of a request head.
const MAX_HEAD: usize = 8 * 1024;

/// The most bytes of a mark's request body; the desk says how long a mark may be.
const MAX_MARK_BODY: usize = 4 * 1024;

/// How long a caller may take, in all.
const CALLER_SECS: u64 = 5;

/// How many callers are served at once.
const MAX_CALLERS: usize = 16;

/// What the page speaks of, and where it takes marks to.
#[derive(Clone, Debug)]
pub(crate) struct Front {
    /// The counters.
    pub(crate) health: Arc<Health>,
    /// Takes marks.
    pub(crate) desk: Arc<Desk>,
}

/// Serves until it is dropped.
pub(crate) async fn serve(listener: TcpListener, front: watch::Receiver<Front>) {
    let callers = Arc::new(Semaphore::new(MAX_CALLERS));
    loop {
        let Ok(permit) = Arc::clone(&callers).acquire_owned().await else {
            return;
        };
        let (stream, caller) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, most likely: the recording goes before.
                tracing::warn!(%error, "cannot accept a caller of the status page");
                tokio::time::sleep(Duration::from_secs(1)).await;
                continue;
            }
        };
        let front = front.borrow().clone();
        tokio::spawn(async move {
            let answer = answer(stream, caller.ip(), &front.health, &front.desk);
            if let Ok(Err(error)) =
                tokio::time::timeout(Duration::from_secs(CALLER_SECS), answer).await
            {
                tracing::debug!(%error, "a caller of the status page went away");
            }
            drop(permit);
        });
    }
}

async fn answer(
    mut stream: TcpStream,
    caller: IpAddr,
    health: &Health,
    desk: &Desk,
) -> std::io::Result<()> {
    let mut request = Vec::new();
    let head_end = loop {
        let end = request.windows(4).position(|end| end == b"\r\n\r\n");
        if let Some(end) = end {
            break end + 4;
        }
        if request.len() >= MAX_HEAD {
            break request.len();
        }
        if !read_more(&mut stream, &mut request).await? {
            return Ok(());
        }
    };
    let body = request.split_off(head_end);
    let (status, text) = if request.starts_with(b"POST /mark ") {
        match mark_length(&request, caller) {
            Ok(length) => take_mark(&mut stream, body, length, desk).await?,
            Err((status, why)) => (status, why.to_owned()),
        }
    } else {
        page(&request, health)
    };
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; version=0.0.4; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    );
    stream.write_all(response.as_bytes()).await?;
    stream.shutdown().await
}

async fn read_more(stream: &mut TcpStream, into: &mut Vec<u8>) -> std::io::Result<bool> {
    let mut part = [0_u8; 1024];
    let read = stream.read(&mut part).await?;
    into.extend_from_slice(part.get(..read).unwrap_or_default());
    Ok(read > 0)
}

/// Gives the length of a mark, or why it is not taken.
fn mark_length(head: &[u8], caller: IpAddr) -> Result<usize, (&'static str, &'static str)> {
    const FORBIDDEN: &str = "403 Forbidden";
    if !caller.to_canonical().is_loopback() {
        return Err((FORBIDDEN, "marks are taken from this machine only\n"));
    }
    let head = String::from_utf8_lossy(head);
    let header = |name: &str| {
        head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.trim()
                .eq_ignore_ascii_case(name)
                .then(|| value.trim().to_owned())
        })
    };
    // A page in a browser may post here without asking anybody; it says where it comes from.
    if header("origin").is_some() || header("referer").is_some() {
        return Err((FORBIDDEN, "marks are not taken from browsers\n"));
    }
    let length = header("content-length").and_then(|length| length.parse().ok());
    let length: usize = length.ok_or(("411 Length Required", "how long is the mark?\n"))?;
    if length > MAX_MARK_BODY {
        return Err(("413 Content Too Large", "the mark is too long\n"));
    }
    Ok(length)
}

async fn take_mark(
    stream: &mut TcpStream,
    mut body: Vec<u8>,
    length: usize,
    desk: &Desk,
) -> std::io::Result<(&'static str, String)> {
    while body.len() < length {
        if !read_more(stream, &mut body).await? {
            return Ok(("400 Bad Request", "the mark is cut off\n".into()));
        }
    }
    body.truncate(length);
    Ok(match desk.take(&body).await {
        Ok(()) => ("200 OK", "marked\n".into()),
        Err(why @ NotTaken::TooMany) => ("429 Too Many Requests", why.words() + "\n"),
        Err(why) => ("400 Bad Request", why.words() + "\n"),
    })
}

fn page(head: &[u8], health: &Health) -> (&'static str, String) {
    const OK: &str = "200 OK";
    const UNAVAILABLE: &str = "503 Service Unavailable";
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let mut words = line.split(' ');
    let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    if method != "GET" {
        let only = "only GET, and POST /mark\n";
        return ("405 Method Not Allowed", only.into());
    }
    let path = target.split('?').next().unwrap_or("");
    let status = health.status();
    match path {
        "/metrics" => (OK, text::metrics(&status)),
        "/healthz" if text::is_healthy(&status) => (OK, "ok\n".into()),
        "/healthz" => (
            UNAVAILABLE,
            format!("not writing: {}\n", status.write_trouble),
        ),
        "/readyz" if text::is_ready(&status) => (OK, "ok\n".into()),
        "/readyz" => (
            UNAVAILABLE,
            format!(
                "{} of {} resources complete; cluster: {}\n",
                status.resources_complete,
                status.resources,
                if status.is_reachable {
                    "answers"
                } else {
                    &status.trouble
                }
            ),
        ),
        _ => (
            "404 Not Found",
            "there is /metrics, /healthz, /readyz, and POST /mark\n".into(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::entry::Entry;
    use crate::quota::{Queue, Taken};
    use kubereel_format::Note;

    fn get(path: &str) -> (&'static str, String) {
        let health = Health::new(Clock::start());
        page(
            format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes(),
            &health,
        )
    }

    #[test]
    fn knows_three_pages() {
        assert_eq!(get("/metrics?x=1").0, "200 OK");
        assert_eq!(get("/healthz").0, "200 OK");
        assert_eq!(get("/readyz").0, "503 Service Unavailable");
        assert_eq!(get("/").0, "404 Not Found");
        let health = Health::new(Clock::start());
        for garbage in [&b""[..], b"POST /metrics HTTP/1.1", b"\xff\xfe\r\n"] {
            assert_eq!(page(garbage, &health).0, "405 Method Not Allowed");
        }
    }

    async fn asked(request: &str) -> (String, Arc<Queue>) {
        let clock = Clock::start();
        let queue = Arc::new(Queue::new(1024 * 1024, clock, crate::scrub::redactor()));
        let desk = Arc::new(Desk::new(Arc::clone(&queue), clock));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let health = Arc::new(Health::new(clock));
        let (_front, seen) = watch::channel(Front { health, desk });
        let server = tokio::spawn(serve(listener, seen));
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut text = String::new();
        stream.read_to_string(&mut text).await.expect("an answer");
        server.abort();
        (text, queue)
    }

    fn marks(queue: &Queue) -> Vec<String> {
        let Taken::Some(entries) = queue.take(Duration::ZERO) else {
            return Vec::new();
        };
        let marks = entries.iter().map(|queued| match &queued.entry {
            Entry::Note {
                note: Note::Mark { text },
                ..
            } => text.clone(),
            other => panic!("{other:?}"),
        });
        marks.collect()
    }

    #[tokio::test]
    async fn answers_over_a_socket() {
        let (text, _) = asked("GET /metrics HTTP/1.1\r\n\r\n").await;
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
        assert!(text.contains("kubereel_up 0"), "{text}");
    }

    #[tokio::test]
    async fn takes_a_mark() {
        let post = "POST /mark HTTP/1.1\r\nContent-Length: 13\r\n\r\ntests started";
        let (text, queue) = asked(post).await;
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
        assert_eq!(marks(&queue), ["tests started"]);
    }

    #[tokio::test]
    async fn takes_no_other_post() {
        for (request, code) in [
            ("POST /mark HTTP/1.1\r\n\r\n", "411"),
            (
                "POST /mark HTTP/1.1\r\ncontent-length: 99999\r\n\r\n",
                "413",
            ),
            ("POST /mark HTTP/1.1\r\ncontent-length: 1\r\n\r\n ", "400"),
            (
                "POST /mark HTTP/1.1\r\norigin: http://x\r\ncontent-length: 1\r\n\r\nx",
                "403",
            ),
            (
                "POST /metrics HTTP/1.1\r\ncontent-length: 1\r\n\r\nx",
                "405",
            ),
        ] {
            let (text, queue) = asked(request).await;
            let answered = text.split(' ').nth(1);
            assert_eq!(answered, Some(code), "{request:?}: {text}");
            assert!(marks(&queue).is_empty(), "{request:?}");
        }
        let elsewhere: IpAddr = "10.0.0.1".parse().expect("an address");
        let refused = mark_length(
            b"POST /mark HTTP/1.1\r\ncontent-length: 1\r\n\r\n",
            elsewhere,
        );
        assert_eq!(refused.map_err(|(status, _)| status), Err("403 Forbidden"));
    }
}
