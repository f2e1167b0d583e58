//! etcd's JSON gateway: the requests, and the answers' shape.
//!
//! The gateway writes 64-bit numbers as strings, bytes as base64, and leaves out what is zero.

use anyhow::{Context as _, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde::Deserialize;

/// From the first key on, to the end of the key space; base64 of one zero byte.
const EVERY_KEY: &str = "AA==";

/// One line of a watch.
#[derive(Debug, Deserialize)]
pub(super) struct Line {
    pub(super) result: Option<WatchResponse>,
    pub(super) error: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct WatchResponse {
    #[serde(default)]
    pub(super) created: bool,
    #[serde(default)]
    pub(super) canceled: bool,
    #[serde(default)]
    pub(super) compact_revision: Option<String>,
    #[serde(default)]
    pub(super) cancel_reason: Option<String>,
    #[serde(default)]
    pub(super) events: Vec<Event>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Event {
    /// Missing for PUT.
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) kv: KeyValue,
}

#[derive(Debug, Deserialize)]
pub(super) struct KeyValue {
    key: String,
    mod_revision: String,
    /// How often the key was written since it was created; missing for DELETE.
    version: Option<String>,
}

impl KeyValue {
    pub(super) fn key(&self) -> anyhow::Result<String> {
        let bytes = STANDARD.decode(&self.key).context("a key is no base64")?;
        String::from_utf8(bytes).context("a key is no UTF-8")
    }

    pub(super) fn mod_revision(&self) -> anyhow::Result<u64> {
        self.mod_revision
            .parse()
            .with_context(|| format!("revision {:?}", self.mod_revision))
    }

    pub(super) fn is_first_version(&self) -> bool {
        self.version.as_deref() == Some("1")
    }
}

#[derive(Debug, Deserialize)]
struct RangeResponse {
    header: Header,
}

#[derive(Debug, Deserialize)]
struct Header {
    revision: String,
}

/// The revision of the last change of any key.
pub(super) async fn current_revision(endpoint: &str) -> anyhow::Result<u64> {
    let range = serde_json::json!({
        "key": EVERY_KEY, "range_end": EVERY_KEY, "keys_only": true, "limit": "1",
    });
    let body = post(endpoint, "/v3/kv/range", &range)
        .await?
        .collect()
        .await?
        .to_bytes();
    let answer: RangeResponse = serde_json::from_slice(&body)
        .with_context(|| format!("etcd said {:?}", String::from_utf8_lossy(&body)))?;
    let revision = answer.header.revision;
    revision
        .parse()
        .with_context(|| format!("revision {revision:?}"))
}

/// Opens a watch of every key; the body streams one [`Line`] a line.
pub(super) async fn watch(endpoint: &str, start_revision: u64) -> anyhow::Result<Incoming> {
    let create = serde_json::json!({"create_request": {
        "key": EVERY_KEY, "range_end": EVERY_KEY, "start_revision": start_revision.to_string(),
    }});
    post(endpoint, "/v3/watch", &create).await
}

async fn post(endpoint: &str, path: &str, body: &serde_json::Value) -> anyhow::Result<Incoming> {
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let request = http::Request::post(format!("{endpoint}{path}"))
        .body(Full::new(Bytes::from(serde_json::to_vec(body)?)))?;
    let answer = client
        .request(request)
        .await
        .with_context(|| format!("etcd at {endpoint}"))?;
    ensure!(
        answer.status().is_success(),
        "etcd answered {} to {path}",
        answer.status()
    );
    Ok(answer.into_body())
}
