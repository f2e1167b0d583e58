//! Owns the small HTTP server of `--listen`: `/metrics`, `/healthz`, `/readyz`. Refuses everything
//! else, request bodies, and slow callers.

use super::counters::Health;
use super::text;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// The most bytes of a request head.
const MAX_HEAD: usize = 8 * 1024;

/// How long a caller may take, in all.
const CALLER_SECS: u64 = 5;

/// How many callers are served at once.
const MAX_CALLERS: usize = 16;

/// Serves until it is dropped.
pub(crate) async fn serve(listener: TcpListener, health: Arc<Health>) {
    let callers = Arc::new(Semaphore::new(MAX_CALLERS));
    loop {
        let Ok(permit) = Arc::clone(&callers).acquire_owned().await else {
            return;
        };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file descriptors, most likely: the recording goes before.
                tracing::warn!(%error, "cannot accept a caller of the status page");
                tokio::time::sleep(Duration::from_secs(1)).await;
                continue;
            }
        };
        let health = Arc::clone(&health);
        tokio::spawn(async move {
            let answer = answer(stream, &health);
            if let Ok(Err(error)) =
                tokio::time::timeout(Duration::from_secs(CALLER_SECS), answer).await
            {
                tracing::debug!(%error, "a caller of the status page went away");
            }
            drop(permit);
        });
    }
}

async fn answer(mut stream: TcpStream, health: &Health) -> std::io::Result<()> {
    let mut head = Vec::new();
    let mut part = [0_u8; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < MAX_HEAD {
        let read = stream.read(&mut part).await?;
        if read == 0 {
            return Ok(());
        }
        head.extend_from_slice(part.get(..read).unwrap_or_default());
    }
    let (status, body) = page(&head, health);
    let response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; version=0.0.4; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(response.as_bytes()).await?;
    stream.shutdown().await
}

fn page(head: &[u8], health: &Health) -> (&'static str, String) {
    const OK: &str = "200 OK";
    const UNAVAILABLE: &str = "503 Service Unavailable";
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let mut words = line.split(' ');
    let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    if method != "GET" {
        return ("405 Method Not Allowed", "only GET\n".into());
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
            "there is /metrics, /healthz, /readyz\n".into(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;

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

    #[tokio::test]
    async fn answers_over_a_socket() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let server = tokio::spawn(serve(listener, Arc::new(Health::new(Clock::start()))));
        let mut stream = TcpStream::connect(address).await.expect("a connection");
        stream
            .write_all(b"GET /metrics HTTP/1.1\r\n\r\n")
            .await
            .expect("sent");
        let mut text = String::new();
        stream.read_to_string(&mut text).await.expect("an answer");
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
        assert!(text.contains("kubereel_up 0"), "{text}");
        server.abort();
    }
}
