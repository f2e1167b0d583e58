//! One call: sent, answered, tried again within its [`Patience`].

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::BytesMut;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use jiff::Timestamp;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};

use super::Target;

/// Connections to the API servers of one cluster; calls go to the one that answered last.
#[derive(Clone)]
pub struct Rest {
    clients: Arc<[kube::Client]>,
    current: Arc<AtomicUsize>,
}

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Reads.
    Get,
    /// Creates.
    Post,
    /// Replaces.
    Put,
    /// Changes a part.
    Patch,
    /// Deletes.
    Delete,
}

/// The body of a call and how the server shall read it.
#[derive(Debug, Clone)]
pub enum Body {
    /// None.
    Empty,
    /// A document.
    Json(Value),
    /// A JSON merge patch.
    Merge(Value),
    /// A strategic merge patch; built-in kinds only.
    Strategic(Value),
    /// A server-side apply configuration.
    Apply(Value),
}

/// One call.
#[derive(Debug, Clone)]
pub struct Call {
    /// What it does.
    pub verb: Verb,
    /// Path and query.
    pub path: String,
    /// What it carries.
    pub body: Body,
}

/// What came back for a call that went well.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The server's document.
    pub body: Value,
    /// How many tries it took; 1 when the first went well.
    pub attempts: u32,
}

/// Why a call did not go well.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestError {
    /// The server said no.
    #[error("{verb:?} {path}: {status} {reason}: {message}")]
    Refused {
        /// What was tried.
        verb: Verb,
        /// Where.
        path: String,
        /// The HTTP status.
        status: StatusCode,
        /// The reason of the server's Status, or empty.
        reason: String,
        /// Its message, or the start of the body.
        message: String,
    },
    /// No answer came.
    #[error("{verb:?} {path}: no answer")]
    Unreachable {
        /// What was tried.
        verb: Verb,
        /// Where.
        path: String,
        /// Why.
        #[source]
        source: BoxError,
    },
    /// No answer came in time.
    #[error("{verb:?} {path}: no answer within {} s", Rest::ANSWER_WITHIN.as_secs())]
    TooSlow {
        /// What was tried.
        verb: Verb,
        /// Where.
        path: String,
    },
    /// The answer was no JSON.
    #[error("{path}: answer is not JSON")]
    NotJson {
        /// Where.
        path: String,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// There is no server to ask.
    #[error("no API server for {path}")]
    NoServer {
        /// Where.
        path: String,
    },
    /// The object has no place in the API.
    #[error("no path for {target}")]
    NoPath {
        /// The object.
        target: Target,
    },
}

impl RestError {
    /// The HTTP status, when there was an answer.
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// Whether the server could not answer, rather than would not.
    pub fn is_outage(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::TooSlow { .. })
            || self.status() == Some(StatusCode::SERVICE_UNAVAILABLE)
    }

    /// Whether the object is not there.
    pub fn is_not_found(&self) -> bool {
        self.status() == Some(StatusCode::NOT_FOUND)
    }

    /// Whether the object of this name is another one by now: the uid in the call is not its own.
    pub fn is_about_another(&self) -> bool {
        matches!(
            self,
            Self::Refused { status: StatusCode::UNPROCESSABLE_ENTITY | StatusCode::CONFLICT, message, .. }
                if message.contains("uid") || message.contains("UID")
        )
    }

    /// Whether the object was changed since it was read.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Refused { reason, .. } if reason == "Conflict")
    }

    /// Whether an object of this name is there already.
    pub fn is_already_there(&self) -> bool {
        matches!(self, Self::Refused { reason, .. } if reason == "AlreadyExists")
    }
}

impl Rest {
    /// How long one try may take: a paused server must not hold a player for ever.
    const ANSWER_WITHIN: Duration = Duration::from_secs(5);

    /// Speaks through these clients, one for each API server.
    ///
    /// Their own retries should be off, or they are invisible here.
    pub fn new(clients: Vec<kube::Client>) -> Self {
        Self {
            clients: clients.into(),
            current: Arc::default(),
        }
    }

    /// The client to use now, and its number.
    fn client(&self, path: &str) -> Result<(usize, kube::Client), RestError> {
        let current = self.current.load(Ordering::Relaxed);
        let client = self.clients.get(current).cloned();
        client
            .map(|client| (current, client))
            .ok_or_else(|| RestError::NoServer {
                path: path.to_owned(),
            })
    }

    /// Turns to the next server, unless somebody did so meanwhile.
    fn turn_from(&self, server: usize) {
        let next = (server + 1) % self.clients.len().max(1);
        // Losing the race is as good as winning it.
        self.current
            .compare_exchange(server, next, Ordering::Relaxed, Ordering::Relaxed)
            .unwrap_or_default();
    }

    /// Sends a call until it is answered for good or the patience is over.
    ///
    /// # Errors
    ///
    /// The last try's error.
    pub async fn send(&self, call: &Call, patience: Patience) -> Result<Answer, RestError> {
        let began = Instant::now();
        let mut attempts = 0;
        loop {
            attempts += 1;
            let error = match self.send_once(call).await {
                Ok(body) => return Ok(Answer { body, attempts }),
                Err(error) => error,
            };
            // The answer to an earlier try was lost, and that try had done it.
            let was_done = match call.verb {
                Verb::Post => error.is_already_there(),
                Verb::Delete => error.is_not_found(),
                Verb::Get | Verb::Put | Verb::Patch => false,
            };
            if attempts > 1 && was_done {
                return Ok(Answer {
                    body: Value::Null,
                    attempts,
                });
            }
            let pause = Patience::pause(attempts);
            if !patience.bears(&error) || began.elapsed() + pause > patience.total {
                return Err(error);
            }
            sleep(pause).await;
        }
    }

    /// Sends a call once.
    ///
    /// # Errors
    ///
    /// Whatever is not a 2xx with a JSON body.
    pub async fn send_once(&self, call: &Call) -> Result<Value, RestError> {
        let path = call.path.clone();
        let verb = call.verb;
        let (server, client) = self.client(&path)?;
        let answer = match timeout(Self::ANSWER_WITHIN, exchange(&client, call)).await {
            Ok(Ok((status, bytes))) if status.is_success() => {
                return serde_json::from_slice(&bytes)
                    .map_err(|source| RestError::NotJson { path, source });
            }
            Ok(Ok((status, bytes))) => Err(refusal(verb, path, status, &bytes)),
            Ok(Err(source)) => Err(RestError::Unreachable { verb, path, source }),
            Err(_elapsed) => Err(RestError::TooSlow { verb, path }),
        };
        self.turn_if_down(server, answer)
    }

    fn turn_if_down<T>(&self, server: usize, answer: Result<T, RestError>) -> Result<T, RestError> {
        if answer.as_ref().is_err_and(RestError::is_outage) {
            self.turn_from(server);
        }
        answer
    }

    /// Opens a watch: the path and query of a collection, without `watch=true`.
    ///
    /// # Errors
    ///
    /// No answer, or a refusal.
    pub async fn watch(&self, path: &str) -> Result<Watching, RestError> {
        let call = Call {
            verb: Verb::Get,
            path: format!("{path}&watch=true"),
            body: Body::Empty,
        };
        let (server, client) = self.client(path)?;
        let answer = match timeout(Self::ANSWER_WITHIN, open(&client, &call)).await {
            Ok(Ok((status, body))) if status.is_success() => return Ok(Watching::new(body)),
            Ok(Ok((status, _body))) => Err(refusal(Verb::Get, call.path, status, &[])),
            Ok(Err(source)) => Err(RestError::Unreachable {
                verb: Verb::Get,
                path: call.path,
                source,
            }),
            Err(_elapsed) => Err(RestError::TooSlow {
                verb: Verb::Get,
                path: call.path,
            }),
        };
        self.turn_if_down(server, answer)
    }
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

async fn open(
    client: &kube::Client,
    call: &Call,
) -> Result<(StatusCode, kube::client::Body), BoxError> {
    let response = client.send(call.to_request()?).await?;
    Ok((response.status(), response.into_body()))
}

async fn exchange(
    client: &kube::Client,
    call: &Call,
) -> Result<(StatusCode, bytes::Bytes), BoxError> {
    let (status, body) = open(client, call).await?;
    Ok((status, body.collect().await?.to_bytes()))
}

impl Call {
    fn to_request(&self) -> Result<Request<kube::client::Body>, http::Error> {
        let method = match self.verb {
            Verb::Get => Method::GET,
            Verb::Post => Method::POST,
            Verb::Put => Method::PUT,
            Verb::Patch => Method::PATCH,
            Verb::Delete => Method::DELETE,
        };
        let (content_type, value) = match &self.body {
            Body::Empty => (None, None),
            Body::Json(value) => (Some("application/json"), Some(value)),
            Body::Merge(value) => (Some("application/merge-patch+json"), Some(value)),
            Body::Strategic(value) => (Some("application/strategic-merge-patch+json"), Some(value)),
            Body::Apply(value) => (Some("application/apply-patch+yaml"), Some(value)),
        };
        let mut request = Request::builder().method(method).uri(&self.path);
        if let Some(content_type) = content_type {
            request = request.header(http::header::CONTENT_TYPE, content_type);
        }
        let bytes = value
            .map(|value| value.to_string().into_bytes())
            .unwrap_or_default();
        request.body(kube::client::Body::from(bytes))
    }
}

/// Turns an answer that is no success into an error with the server's own words.
fn refusal(verb: Verb, path: String, status: StatusCode, body: &[u8]) -> RestError {
    let told: Value = serde_json::from_slice(body).unwrap_or_default();
    let message = told["message"].as_str().map_or_else(
        || String::from_utf8_lossy(body).chars().take(200).collect(),
        ToOwned::to_owned,
    );
    let reason = told["reason"].as_str().unwrap_or_default().to_owned();
    RestError::Refused {
        verb,
        path,
        status,
        reason,
        message,
    }
}

/// Reads the wall clock.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the clock: the players stamp what they write with the time of writing"
)]
pub fn now() -> Timestamp {
    Timestamp::now()
}

/// Writes a time as `metav1.Time`: whole seconds, UTC.
pub fn seconds(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Writes a time as `metav1.MicroTime`: six digits after the point, UTC.
pub fn micros(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

/// One line of a watch.
#[derive(Debug, Clone)]
pub struct Notice {
    /// `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`.
    pub what: String,
    /// The object.
    pub object: Value,
}

/// An open watch.
pub struct Watching {
    body: kube::client::Body,
    pending: BytesMut,
}

impl Watching {
    pub(super) fn new(body: kube::client::Body) -> Self {
        Self {
            body,
            pending: BytesMut::new(),
        }
    }

    /// Waits for the next notice.
    ///
    /// `None` when the stream is over, cut, or says what is no notice: the caller asks again.
    pub async fn next(&mut self) -> Option<Notice> {
        loop {
            if let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
                let line = self.pending.split_to(end + 1);
                let mut told: Value = serde_json::from_slice(&line).ok()?;
                let what = told["type"].as_str()?.to_owned();
                return Some(Notice {
                    what,
                    object: told["object"].take(),
                });
            }
            let frame = self.body.frame().await?.ok()?;
            if let Ok(data) = frame.into_data() {
                self.pending.extend_from_slice(&data);
            }
        }
    }
}

/// What a caller bears before it gives up.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Tries again for this long after the first try.
    pub total: Duration,
    /// Takes "not found" for "not there yet": a namespace or a definition that is still to come.
    pub until_found: bool,
}

impl Patience {
    /// The longest pause between two tries.
    const LONGEST_PAUSE: Duration = Duration::from_millis(400);

    /// Bears outages only.
    pub const fn outages(total: Duration) -> Self {
        Self {
            total,
            until_found: false,
        }
    }

    /// Bears outages, and waits for what the call needs to come into being.
    pub const fn until_found(total: Duration) -> Self {
        Self {
            total,
            until_found: true,
        }
    }

    /// Pause before try number `attempt + 1`: 10 ms, doubling.
    pub(super) fn pause(attempt: u32) -> Duration {
        let doubled =
            Duration::from_millis(10).saturating_mul(2_u32.saturating_pow(attempt.min(10)));
        doubled.min(Self::LONGEST_PAUSE)
    }

    /// Whether a later try can end otherwise.
    pub(super) fn bears(self, error: &RestError) -> bool {
        match error {
            RestError::Unreachable { .. } | RestError::TooSlow { .. } => true,
            RestError::Refused { status, reason, .. } => match *status {
                StatusCode::TOO_MANY_REQUESTS
                | StatusCode::INTERNAL_SERVER_ERROR
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT => true,
                StatusCode::NOT_FOUND => self.until_found,
                // A Pod is forbidden until its namespace has the default ServiceAccount.
                StatusCode::FORBIDDEN => self.until_found && reason == "Forbidden",
                _ => false,
            },
            RestError::NoPath { .. } | RestError::NoServer { .. } | RestError::NotJson { .. } => {
                false
            }
        }
    }
}

#[cfg(test)]
mod clock_tests {
    use super::*;

    #[test]
    fn times_are_written_as_kubernetes_does() {
        let at: Timestamp = "2026-03-04T05:06:07.080910Z".parse().unwrap();
        assert_eq!(seconds(at), "2026-03-04T05:06:07Z");
        assert_eq!(micros(at), "2026-03-04T05:06:07.080910Z");
        assert_eq!(
            micros("2026-03-04T05:06:07Z".parse().unwrap()),
            "2026-03-04T05:06:07.000000Z"
        );
    }
}

#[cfg(test)]
mod retry_tests {
    use super::super::Verb;
    use super::*;

    fn refused(status: u16, reason: &str) -> RestError {
        RestError::Refused {
            verb: Verb::Post,
            path: "/".to_owned(),
            status: StatusCode::from_u16(status).unwrap(),
            reason: reason.to_owned(),
            message: String::new(),
        }
    }

    #[test]
    fn outages_are_borne_and_refusals_are_not() {
        let patience = Patience::outages(Duration::from_secs(1));
        for (status, reason) in [(429, "TooManyRequests"), (500, "InternalError"), (503, "")] {
            assert!(patience.bears(&refused(status, reason)), "{status}");
        }
        for (status, reason) in [(404, "NotFound"), (409, "AlreadyExists"), (422, "Invalid")] {
            assert!(!patience.bears(&refused(status, reason)), "{status}");
        }
    }

    #[test]
    fn what_is_still_to_come_is_waited_for_when_asked() {
        let patience = Patience::until_found(Duration::from_secs(1));
        assert!(patience.bears(&refused(404, "NotFound")));
        assert!(patience.bears(&refused(403, "Forbidden")));
        assert!(!patience.bears(&refused(422, "Invalid")));
    }

    #[test]
    fn pauses_grow_and_stay_short() {
        assert_eq!(Patience::pause(1), Duration::from_millis(20));
        assert!(Patience::pause(3) > Patience::pause(2));
        assert_eq!(Patience::pause(60), Patience::LONGEST_PAUSE);
    }
}
