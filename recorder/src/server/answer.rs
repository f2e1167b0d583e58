//! The recorder's only request, a GET, and its response as it arrives. This module does not
//! interpret bodies.

use super::failure::Failure;
use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_TYPE, ETAG, HeaderName, IF_NONE_MATCH, RETRY_AFTER,
};
use http::{HeaderMap, Request, Uri};
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use std::time::Duration;

/// The plain form of every document.
pub(crate) const JSON: &str = "application/json";

/// How many bytes of an error's body are read.
const MAX_ERROR_BODY: usize = 64 * 1024;

/// A server, and the credentials for it.
#[derive(Clone)]
pub(crate) struct ApiServer {
    client: Client,
    /// Increases with each new client.
    pub(crate) generation: u64,
    /// Scheme, host and port, without credentials.
    pub(crate) endpoint: String,
}

impl std::fmt::Debug for ApiServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("generation", &self.generation)
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

/// A GET.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Get<'a> {
    /// Path and query.
    pub(crate) target: &'a str,
    /// The `Accept` header.
    pub(crate) accept: &'a str,
    /// The `ETag` of the last response.
    pub(crate) etag: Option<&'a str>,
    /// The longest time for the head of the response, in seconds.
    pub(crate) patience_secs: u64,
}

impl<'a> Get<'a> {
    /// Requests JSON.
    pub(crate) const fn json(target: &'a str, patience_secs: u64) -> Self {
        Self {
            target,
            accept: JSON,
            etag: None,
            patience_secs,
        }
    }
}

/// A response whose body has not been read yet.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    /// The status code.
    pub(crate) status: u16,
    headers: HeaderMap,
    body: Body,
}

impl ApiServer {
    /// Takes a client of the server at an address.
    pub(crate) fn new(client: Client, generation: u64, address: &Uri) -> Self {
        Self {
            client,
            generation,
            endpoint: endpoint(address),
        }
    }

    /// Sends the request on a new connection.
    pub(crate) async fn get(&self, get: Get<'_>) -> Result<HttpAnswer, Failure> {
        let mut request = Request::get(get.target)
            .header(ACCEPT, get.accept)
            .header(ACCEPT_ENCODING, "identity")
            .header(CONNECTION, "close");
        if let Some(etag) = get.etag {
            request = request.header(IF_NONE_MATCH, etag);
        }
        let request = request
            .body(Body::empty())
            .map_err(|error| Failure::cut(&error))?;
        let answer = tokio::time::timeout(
            Duration::from_secs(get.patience_secs),
            self.client.send(request),
        )
        .await;
        let response = match answer {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(Failure::new(&error)),
            Err(_) => return Err(Failure::timeout(get.patience_secs)),
        };
        let (head, body) = response.into_parts();
        Ok(HttpAnswer {
            status: head.status.as_u16(),
            headers: head.headers,
            body,
        })
    }
}

impl HttpAnswer {
    fn header(&self, name: &HeaderName) -> &str {
        let value = self.headers.get(name).map(http::HeaderValue::to_str);
        value.and_then(Result::ok).unwrap_or("")
    }

    /// Returns the `Content-Type`.
    pub(crate) fn content_type(&self) -> &str {
        self.header(&CONTENT_TYPE)
    }

    /// Returns whether the body matches the request.
    pub(crate) fn is_json(&self) -> bool {
        self.content_type().starts_with(JSON)
    }

    /// Returns the `ETag`, if there is one.
    pub(crate) fn etag(&self) -> Option<String> {
        Some(self.header(&ETAG).to_owned()).filter(|etag| !etag.is_empty())
    }

    /// Returns the seconds of `Retry-After`, if there are any.
    pub(crate) fn retry_after_secs(&self) -> Option<u32> {
        self.header(&RETRY_AFTER).parse().ok()
    }

    /// Waits for the next bytes; `None` at a clean end.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>, Failure> {
        loop {
            match self.body.frame().await {
                None => return Ok(None),
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data()
                        && !bytes.is_empty()
                    {
                        return Ok(Some(bytes));
                    }
                }
                Some(Err(error)) => return Err(Failure::cut(&error)),
            }
        }
    }

    /// Reads the whole body, at most `max` bytes in at most `patience_secs`.
    pub(crate) async fn read(mut self, max: usize, patience_secs: u64) -> Result<Vec<u8>, Failure> {
        let reading = async {
            let mut bytes = Vec::new();
            while let Some(chunk) = self.chunk().await? {
                bytes.extend_from_slice(&chunk);
                if bytes.len() > max {
                    return Err(Failure {
                        kind: super::FailureKind::Transport,
                        words: format!("the answer is longer than {max} bytes"),
                    });
                }
            }
            Ok(bytes)
        };
        tokio::time::timeout(Duration::from_secs(patience_secs), reading)
            .await
            .unwrap_or_else(|_| Err(Failure::timeout(patience_secs)))
    }

    /// Reads the body of an error, as far as it is worth reporting.
    pub(crate) async fn read_error(mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let reading = async {
            while let Ok(Some(chunk)) = self.chunk().await {
                bytes.extend_from_slice(&chunk);
                if bytes.len() > MAX_ERROR_BODY {
                    break;
                }
            }
        };
        // The part that arrived in time is reported; the rest would not change the outcome.
        drop(tokio::time::timeout(Duration::from_secs(5), reading).await);
        bytes.truncate(MAX_ERROR_BODY);
        bytes
    }
}

/// Returns scheme, host and port of a server: an address may contain credentials too.
fn endpoint(address: &Uri) -> String {
    let scheme = address.scheme_str().unwrap_or("https");
    let usual = if scheme == "http" { 80 } else { 443 };
    let port = address.port_u16().unwrap_or(usual);
    format!("{scheme}://{}:{port}", address.host().unwrap_or(""))
}

/// Encodes a value for a query.
pub(crate) fn query_value(value: &str) -> String {
    let spell = |byte: u8| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    value.bytes().map(spell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_has_no_credentials_and_always_a_port() {
        for (address, expected) in [
            (
                "https://api.example:6443/path?x=1",
                "https://api.example:6443",
            ),
            ("https://user:word@api.example", "https://api.example:443"),
            ("http://[::1]/", "http://[::1]:80"),
        ] {
            let address: Uri = address.parse().expect("an address");
            assert_eq!(endpoint(&address), expected);
        }
    }

    #[test]
    fn spells_what_a_query_cannot_hold() {
        assert_eq!(query_value("eyJ2IjoibWV0YSJ9"), "eyJ2IjoibWV0YSJ9");
        assert_eq!(query_value("a b&c=d/é"), "a%20b%26c%3Dd%2F%C3%A9");
    }
}
