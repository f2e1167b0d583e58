//! A watch as JSON notices: whatever the chunks, one line is one notice.

use bytes::BytesMut;
use http_body_util::BodyExt as _;
use serde_json::Value;

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
