//! The HTTP server of `--listen`: `/metrics`, `/healthz`, `/readyz`, and `/mark`, which accepts a
//! mark.
//!
//! Invariants, because the kubelet's liveness probe must not be delayed by other callers:
//!
//! * connections are accepted at once. At the limit the oldest one is closed, never the newest: a
//!   probe sends its request as soon as it is connected, and is answered before as many others have
//!   connected as the limit allows;
//! * a connection answers one request, and ends within [`CALLER_SECS`] in any case;
//! * probes wait for nothing: they read counters. Marks wait for the queue, and have a limit of
//!   their own.
//!
//! The Prometheus text of the counters is made here. Labels that could grow without bound are not
//! allowed.

use crate::access::{AccessRefusal, StatusAccess};
use crate::health::{Health, RecorderStatus};
use crate::marks::{Desk, NotTaken};
use crate::number::len64;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{AbortHandle, JoinSet};

/// The longest request head, in bytes.
const MAX_HEAD: usize = 8 * 1024;

/// The longest request body of a mark, in bytes; the desk limits the mark itself.
const MAX_MARK_BODY: usize = 4 * 1024;

/// The longest duration of a connection, in seconds.
const CALLER_SECS: u64 = 5;

/// The largest number of connections.
const MAX_CALLERS: usize = 128;

/// The largest number of marks that are processed at once.
const MAX_MARKS: usize = 16;

/// The delay after a failure to accept a connection.
const ACCEPT_PAUSE_MILLIS: u64 = 100;

/// The counters that the page reports, and the desk that accepts marks.
#[derive(Clone, Debug)]
pub(crate) struct Front {
    /// The counters.
    pub(crate) health: Arc<Health>,
    /// Accepts marks.
    pub(crate) desk: Arc<Desk>,
}

/// The server's state.
#[derive(Debug)]
struct StatusPage {
    /// In a series, each reel has its own.
    front: watch::Receiver<Front>,
    access: StatusAccess,
    marks: Semaphore,
}

/// Serves until it is dropped.
#[expect(clippy::infinite_loop, reason = "it runs until its task is aborted")]
pub(crate) async fn serve(
    listener: TcpListener,
    front: watch::Receiver<Front>,
    access: StatusAccess,
) {
    let marks = Semaphore::new(MAX_MARKS);
    let page = Arc::new(StatusPage {
        front,
        access,
        marks,
    });
    let mut callers = Callers::default();
    loop {
        match listener.accept().await {
            Ok((stream, caller)) => {
                let page = Arc::clone(&page);
                callers.add(async move { page.attend(stream, caller.ip()).await });
            }
            Err(error) => {
                // Most likely out of file descriptors: the recording has precedence.
                tracing::warn!(%error, "cannot accept a caller of the status page");
                callers.close_oldest();
                tokio::time::sleep(Duration::from_millis(ACCEPT_PAUSE_MILLIS)).await;
            }
        }
    }
}

/// The connections, oldest first.
#[derive(Default)]
struct Callers {
    tasks: JoinSet<()>,
    by_age: VecDeque<AbortHandle>,
}

impl Callers {
    fn add(&mut self, caller: impl Future<Output = ()> + Send + 'static) {
        while self.tasks.try_join_next().is_some() {}
        if self.by_age.len() >= MAX_CALLERS {
            self.by_age.retain(|caller| !caller.is_finished());
        }
        if self.by_age.len() >= MAX_CALLERS {
            self.close_oldest();
        }
        self.by_age.push_back(self.tasks.spawn(caller));
    }

    fn close_oldest(&mut self) {
        if let Some(oldest) = self.by_age.pop_front() {
            oldest.abort();
        }
    }
}

impl StatusPage {
    /// Answers one request of a connection.
    async fn attend(&self, stream: TcpStream, caller: IpAddr) {
        let service = service_fn(|request| async move {
            let (status, text) = match self.answer(request, caller).await {
                Ok(text) => (StatusCode::OK, text),
                Err((status, text)) => (status, text),
            };
            Ok::<_, Infallible>(response(status, text))
        });
        let limit = Duration::from_secs(CALLER_SECS);
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limit)
            .max_buf_size(MAX_HEAD)
            .keep_alive(false)
            .serve_connection(TokioIo::new(stream), service);
        if let Ok(Err(error)) = tokio::time::timeout(limit, connection).await {
            tracing::debug!(%error, "a caller of the status page went away");
        }
    }

    async fn answer(
        &self,
        request: Request<Incoming>,
        caller: IpAddr,
    ) -> Result<String, (StatusCode, String)> {
        let (head, body) = request.into_parts();
        let owned = |(status, text): AccessRefusal| (status, text.to_owned());
        let (access, headers) = (&self.access, &head.headers);
        access.check_host(&head.uri, headers).map_err(owned)?;
        let front = self.front.borrow().clone();
        match (&head.method, head.uri.path()) {
            (&Method::POST, "/mark") => {
                access.check_mark(caller, headers).map_err(owned)?;
                self.take_mark(body, &front.desk).await
            }
            // Of HEAD, the connection sends the head only.
            (&Method::GET | &Method::HEAD, path) => {
                if path == "/metrics" {
                    access.check_metrics(headers).map_err(owned)?;
                }
                show(path, &front.health)
            }
            _ => {
                let only = "only GET, HEAD, and POST /mark\n";
                Err((StatusCode::METHOD_NOT_ALLOWED, only.to_owned()))
            }
        }
    }

    async fn take_mark(&self, body: Incoming, desk: &Desk) -> Result<String, (StatusCode, String)> {
        let refused = |status, words: &str| Err((status, format!("{words}\n")));
        if body.size_hint().lower() > len64(MAX_MARK_BODY) {
            return refused(StatusCode::PAYLOAD_TOO_LARGE, "the mark is too long");
        }
        let Ok(_place) = self.marks.try_acquire() else {
            return refused(StatusCode::SERVICE_UNAVAILABLE, "too many marks at once");
        };
        let body = match Limited::new(body, MAX_MARK_BODY).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                return refused(StatusCode::PAYLOAD_TOO_LARGE, "the mark is too long");
            }
            Err(_) => return refused(StatusCode::BAD_REQUEST, "the mark is cut off"),
        };
        match desk.take(&body).await {
            Ok(()) => Ok("marked\n".to_owned()),
            Err(why @ NotTaken::TooMany) => refused(StatusCode::TOO_MANY_REQUESTS, &why.words()),
            Err(why) => refused(StatusCode::BAD_REQUEST, &why.words()),
        }
    }
}

fn response(status: StatusCode, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

fn show(path: &str, health: &Health) -> Result<String, (StatusCode, String)> {
    let status = health.status();
    let unavailable = |words: String| Err((StatusCode::SERVICE_UNAVAILABLE, words));
    match path {
        "/metrics" => Ok(metrics(&status)),
        "/healthz" if is_healthy(&status) => Ok("ok\n".to_owned()),
        "/healthz" => unavailable(trouble(&status).unwrap_or_default() + "\n"),
        "/readyz" if is_ready(&status) => Ok("ok".to_owned() + &left_out(&status) + "\n"),
        "/readyz" => {
            let mut words = format!(
                "{} of {} resources complete, {} not covered; cluster: {}",
                status.resources_complete,
                status.resources,
                status.resources_not_covered,
                if status.is_out {
                    "its API does not answer"
                } else if status.is_reachable {
                    "answers"
                } else {
                    &status.trouble
                }
            );
            words += &left_out(&status);
            if let Some(trouble) = trouble(&status) {
                words.extend(["; ", &trouble]);
            }
            unavailable(words + "\n")
        }
        _ => Err((
            StatusCode::NOT_FOUND,
            "there is /metrics, /healthz, /readyz, and POST /mark\n".to_owned(),
        )),
    }
}

/// Writes the counters in the Prometheus text format.
fn metrics(status: &RecorderStatus) -> String {
    let mut lines = Vec::new();
    let mut family = |name: &str, kind: &str, help: &str, rows: &[(&str, f64)]| {
        lines.push(format!("# HELP kubereel_{name} {help}"));
        lines.push(format!("# TYPE kubereel_{name} {kind}"));
        for (labels, value) in rows {
            lines.push(format!("kubereel_{name}{labels} {value}"));
        }
    };
    family(
        "events_total",
        "counter",
        "Events appended to the reel by this run.",
        &[
            ("{type=\"ADDED\"}", float(status.added)),
            ("{type=\"MODIFIED\"}", float(status.modified)),
            ("{type=\"DELETED\"}", float(status.deleted)),
        ],
    );
    for (name, help, value) in counters(status) {
        family(name, "counter", help, &[("", float(value))]);
    }
    for (name, help, value) in gauges(status) {
        family(name, "gauge", help, &[("", value)]);
    }
    if let Some(micros) = status.probed_ago_micros {
        let help = "Time since the API last answered a probe.";
        family(
            "probe_age_seconds",
            "gauge",
            help,
            &[("", float(micros) / 1e6)],
        );
    }
    family(
        "resources",
        "gauge",
        "Resources by how they are recorded.",
        &[
            ("{state=\"complete\"}", float(status.resources_complete)),
            (
                "{state=\"behind\"}",
                float(status.resources.saturating_sub(status.resources_complete)),
            ),
            (
                "{state=\"not_covered\"}",
                float(status.resources_not_covered),
            ),
        ],
    );
    lines.push(String::new());
    lines.join("\n")
}

fn counters(status: &RecorderStatus) -> [(&'static str, &'static str, u64); 7] {
    [
        ("gaps_total", "Gaps recorded by this run.", status.gaps),
        (
            "odd_lines_total",
            "Lines that were no events, kept by this run.",
            status.odd_lines,
        ),
        (
            "connections_total",
            "List and watch requests answered in this run.",
            status.connections,
        ),
        (
            "expired_total",
            "Answers of this run by which a server had lost the history.",
            status.expired,
        ),
        (
            "outages_total",
            "Outages of the API seen by this run.",
            status.outages,
        ),
        (
            "budget_steps_total",
            "Steps taken in this run to keep the reel below its size: each leaves something out.",
            status.budget_steps,
        ),
        (
            "budget_dropped_total",
            "Records that were not written in this run because of these steps.",
            status.budget_dropped,
        ),
    ]
}

fn gauges(status: &RecorderStatus) -> [(&'static str, &'static str, f64); 7] {
    [
        ("file_bytes", "Size of the reel.", float(status.file_bytes)),
        (
            "max_bytes",
            "How large the reel may become; 0 without a limit.",
            float(status.max_bytes),
        ),
        (
            "queued_bytes",
            "Bytes received and not yet durable.",
            float(status.queued_bytes),
        ),
        (
            "lag_seconds",
            "Age of the oldest record that is not yet durable.",
            float(status.lag_micros) / 1e6,
        ),
        (
            "up",
            "Whether the cluster answers.",
            f64::from(u8::from(status.is_reachable && !status.is_out)),
        ),
        (
            "api_out",
            "Whether probes of the API fail at the moment.",
            f64::from(u8::from(status.is_out)),
        ),
        (
            "writable",
            "Whether the reel can be written.",
            f64::from(u8::from(status.write_trouble.is_empty())),
        ),
    ]
}

#[expect(
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "the text format knows only floats; 53 bits are enough for a counter"
)]
fn float(value: u64) -> f64 {
    value as f64
}

/// Returns whether the recorder works: it can write, and is not far behind.
fn is_healthy(status: &RecorderStatus) -> bool {
    trouble(status).is_none()
}

/// Returns why the recorder does not work.
fn trouble(status: &RecorderStatus) -> Option<String> {
    if !status.write_trouble.is_empty() {
        return Some(format!("not writing: {}", status.write_trouble));
    }
    let is_behind = status.lag_micros >= MAX_LAG_MICROS;
    is_behind.then(|| {
        let secs = status.lag_micros / 1_000_000;
        format!("behind: the oldest record that is not durable is {secs} s old")
    })
}

/// Returns how many resources the limits of the recorder leave out, as text; empty if there are
/// none.
fn left_out(status: &RecorderStatus) -> String {
    match status.resources_left_out {
        0 => String::new(),
        1 => "; 1 resource left out by the size or memory limit".to_owned(),
        count => format!("; {count} resources left out by the size or memory limit"),
    }
}

/// A recorder that is this far behind is not healthy.
const MAX_LAG_MICROS: u64 = 30_000_000;

/// Returns whether the recording is complete up to the present.
fn is_ready(status: &RecorderStatus) -> bool {
    is_healthy(status)
        && status.is_reachable
        && !status.is_out
        && status.resources > 0
        && status.resources_complete == status.resources
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::StatusToken;
    use crate::clock::Clock;
    use crate::health::ResourceCoverage;
    use crate::queue::{Queue, QueueEntry, QueueTake};
    use kubereel_format::Note;
    use std::net::SocketAddr;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    /// A running server.
    struct ServedPage {
        address: SocketAddr,
        queue: Arc<Queue>,
        _front: watch::Sender<Front>,
        _tasks: JoinSet<()>,
    }

    impl ServedPage {
        async fn start(access: StatusAccess) -> Self {
            let clock = Clock::start();
            let queue = Arc::new(Queue::new(1024 * 1024, clock, crate::queue::redactor()));
            let desk = Arc::new(Desk::new(Arc::clone(&queue), clock));
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("an address");
            let health = Arc::new(Health::new(clock, crate::queue::redactor()));
            let (front, seen) = watch::channel(Front { health, desk });
            let mut tasks = JoinSet::new();
            tasks.spawn(serve(listener, seen, access));
            Self {
                address,
                queue,
                _front: front,
                _tasks: tasks,
            }
        }

        async fn open(&self, sent: &[u8]) -> TcpStream {
            let mut stream = TcpStream::connect(self.address).await.expect("connected");
            stream.write_all(sent).await.expect("sent");
            stream
        }

        /// Returns all responses until the connection ends.
        async fn ask(&self, request: &str) -> String {
            let mut text = String::new();
            let mut stream = self.open(request.as_bytes()).await;
            stream.read_to_string(&mut text).await.expect("an answer");
            text
        }

        async fn code(&self, request: &str) -> String {
            let text = self.ask(request).await;
            text.split(' ').nth(1).unwrap_or_default().to_owned()
        }

        fn marks(&self) -> Vec<String> {
            let QueueTake::Some(entries) = self.queue.take(Duration::ZERO) else {
                return Vec::new();
            };
            let marks = entries.iter().map(|queued| match &queued.entry {
                QueueEntry::Note {
                    note: Note::Mark { text },
                    ..
                } => text.clone(),
                other => panic!("{other:?}"),
            });
            marks.collect()
        }
    }

    const HEALTHZ: &str = "GET /healthz HTTP/1.1\r\nhost: 10.0.0.7:9090\r\n\r\n";

    #[tokio::test]
    async fn answers_what_it_has() {
        let server = ServedPage::start(StatusAccess::default()).await;
        let text = server.ask("GET /metrics?x=1 HTTP/1.1\r\n\r\n").await;
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
        assert!(text.contains("kubereel_up 0"), "{text}");
        for (request, code) in [
            (HEALTHZ, "200"),
            ("GET /healthz HTTP/1.0\r\n\r\n", "200"),
            ("GET /readyz HTTP/1.1\r\n\r\n", "503"),
            ("GET / HTTP/1.1\r\n\r\n", "404"),
            ("GET /healthz HTTP/1.1\r\nhost: evil.example\r\n\r\n", "421"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "405"),
            ("nonsense\r\n\r\n", "400"),
        ] {
            assert_eq!(server.code(request).await, code, "{request:?}");
        }
        let head = server.ask("HEAD /healthz HTTP/1.1\r\n\r\n").await;
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(head.ends_with("\r\n\r\n"), "{head}");
        let huge = format!("GET /healthz HTTP/1.1\r\nx: {}", "y".repeat(MAX_HEAD));
        assert_eq!(server.code(&huge).await, "431");
        let twice = server.ask(&HEALTHZ.repeat(2)).await;
        assert_eq!(twice.matches("HTTP/1.1 ").count(), 1, "{twice}");
    }

    #[tokio::test]
    async fn takes_a_mark() {
        let server = ServedPage::start(StatusAccess::default()).await;
        let post = "POST /mark HTTP/1.1\r\nContent-Length: 13\r\n\r\ntests started";
        assert_eq!(server.code(post).await, "200");
        let chunked =
            "POST /mark HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n4\r\nover\r\n0\r\n\r\n";
        assert_eq!(server.code(chunked).await, "200");
        assert_eq!(server.marks(), ["tests started", "over"]);
        for (request, code) in [
            ("POST /mark HTTP/1.1\r\n\r\n", "400"),
            (
                "POST /mark HTTP/1.1\r\ncontent-length: 99999\r\n\r\n",
                "413",
            ),
            ("POST /mark HTTP/1.1\r\ncontent-length: 1\r\n\r\n ", "400"),
            (
                "POST /mark HTTP/1.1\r\norigin: http://x\r\ncontent-length: 1\r\n\r\nx",
                "403",
            ),
        ] {
            assert_eq!(server.code(request).await, code, "{request:?}");
            assert!(server.marks().is_empty(), "{request:?}");
        }
    }

    #[tokio::test]
    async fn a_token_guards_counters_and_marks_but_no_probe() {
        const POST: &str = "POST /mark HTTP/1.1\r\ncontent-length: 1\r\n";
        let sent = "authorization: Bearer 0123456789abcdef\r\n\r\n";
        let server = ServedPage::start(StatusAccess {
            token: StatusToken::parse("0123456789abcdef").ok(),
            ..StatusAccess::default()
        });
        let server = server.await;
        assert_eq!(server.code(HEALTHZ).await, "200");
        let get = "GET /metrics HTTP/1.1\r\n";
        assert_eq!(server.code(&format!("{get}\r\n")).await, "401");
        assert_eq!(server.code(&format!("{get}{sent}")).await, "200");
        assert_eq!(server.code(&format!("{POST}\r\nx")).await, "401");
        assert_eq!(server.code(&format!("{POST}{sent}x")).await, "200");
        assert_eq!(server.marks(), ["x"]);
    }

    #[tokio::test]
    async fn silent_and_slow_callers_do_not_delay_a_probe() {
        let server = ServedPage::start(StatusAccess::default()).await;
        let mut others = Vec::new();
        for number in 0..4 * MAX_CALLERS {
            others.push(match number % 3 {
                0 => server.open(b"").await,
                1 => server.open(b"GET /met").await,
                _ => {
                    server
                        .open(b"POST /mark HTTP/1.1\r\ncontent-length: 9\r\n\r\nx")
                        .await
                }
            });
        }
        let patience = Duration::from_secs(30);
        let answer = tokio::time::timeout(patience, server.code(HEALTHZ)).await;
        assert_eq!(answer.as_deref(), Ok("200"));
    }

    #[test]
    fn every_family_has_help_type_and_rows() {
        let status = RecorderStatus {
            added: 3,
            lag_micros: 250_000,
            outages: 2,
            probed_ago_micros: Some(1_500_000),
            resources: 7,
            resources_complete: 5,
            ..RecorderStatus::default()
        };
        let text = metrics(&status);
        assert!(text.contains("kubereel_events_total{type=\"ADDED\"} 3\n"));
        assert!(text.contains("kubereel_lag_seconds 0.25\n"));
        assert!(text.contains("kubereel_resources{state=\"behind\"} 2\n"));
        assert!(text.contains("kubereel_outages_total 2\n"));
        assert!(text.contains("kubereel_probe_age_seconds 1.5\n"));
        let families = text
            .lines()
            .filter(|line| line.starts_with("# TYPE "))
            .count();
        let helps = text
            .lines()
            .filter(|line| line.starts_with("# HELP "))
            .count();
        assert_eq!(families, helps);
        assert_eq!(families, 17);
    }

    #[test]
    fn answers_to_probes_name_the_reason() {
        let health = Health::new(Clock::start(), crate::queue::redactor());
        health.set_reachable(None);
        health.set_resource(1, Some(ResourceCoverage::Complete));
        let answer = |path, health: &Health| match show(path, health) {
            Ok(text) => (200, text),
            Err((status, text)) => (status.as_u16(), text),
        };
        assert_eq!(answer("/readyz", &health), (200, "ok\n".to_owned()));
        health.set_resource(2, Some(ResourceCoverage::LeftOut));
        health.set_resource(3, Some(ResourceCoverage::LeftOut));
        let text = "ok; 2 resources left out by the size or memory limit\n";
        assert_eq!(answer("/readyz", &health), (200, text.to_owned()));
        health.set_write_trouble("disk full");
        let text = "not writing: disk full\n";
        assert_eq!(answer("/healthz", &health), (503, text.to_owned()));
        let (status, text) = answer("/readyz", &health);
        assert_eq!(status, 503);
        assert!(text.ends_with("limit; not writing: disk full\n"), "{text}");
        let status = RecorderStatus {
            lag_micros: 31_500_000,
            ..RecorderStatus::default()
        };
        let text = "behind: the oldest record that is not durable is 31 s old";
        assert_eq!(trouble(&status).as_deref(), Some(text));
    }

    #[test]
    fn ready_means_complete_and_written() {
        let mut status = RecorderStatus {
            resources: 2,
            resources_complete: 2,
            is_reachable: true,
            ..RecorderStatus::default()
        };
        assert!(is_ready(&status));
        status.resources_complete = 1;
        assert!(!is_ready(&status) && is_healthy(&status));
        status.write_trouble = "disk full".into();
        assert!(!is_healthy(&status));
    }
}
