//! Owns one probe: a consistent list of at most one object, and what its answer says. Refuses to ask
//! twice: what failed is told as it was.

use super::class;
use crate::server::{Failure, Get, Server};
use crate::watch::split::ListSplitter;
use crate::watch::version::Version;
use kubereel_format::OutageClass;
use serde::Deserialize;

/// What is listed, the first that the recorder may list: hardly a cluster has pod templates, so that
/// the answer is as short as one can be; every cluster has namespaces.
const PATHS: [&str; 2] = ["/api/v1/podtemplates", "/api/v1/namespaces"];

/// How long the head of an answer may take, in seconds, and its body once more.
const PATIENCE_SECS: u64 = 5;

/// The longest answer that is read, in bytes: it holds one object.
const MAX_ANSWER: usize = 8 * 1024 * 1024;

/// The most letters of an error's words that are told.
const MAX_WORDS: usize = 300;

/// What a probe found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The revision of the list, and the path that was asked; no revision if the list has none.
    Answered(Option<(Version, &'static str)>),
    /// Why there was no list.
    Failed(OutageClass, String),
}

/// Asks, and remembers what may be listed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Question {
    place: usize,
    is_proven: bool,
}

impl Question {
    /// Probes once; paths that were refused before any was answered are passed over.
    pub(super) async fn ask(&mut self, server: &Server) -> Found {
        loop {
            let path = PATHS.get(self.place).copied().unwrap_or(PATHS[0]);
            let (found, is_refused) = probe(server, path).await;
            self.is_proven |= matches!(found, Found::Answered(_));
            if !is_refused || self.is_proven {
                return found;
            }
            self.place += 1;
            if self.place >= PATHS.len() {
                self.place = 0;
                return found;
            }
        }
    }
}

/// Asks for one list, and tells whether it was refused for what it asks.
async fn probe(server: &Server, path: &'static str) -> (Found, bool) {
    // Without a resourceVersion the answer is as new as the storage itself.
    let target = format!("{path}?limit=1");
    let answer = match server.get(Get::json(&target, PATIENCE_SECS)).await {
        Ok(answer) => answer,
        Err(failure) => return (failed(&failure), false),
    };
    let status = answer.status;
    if let Some(class) = class::of_status(status) {
        let words = words(status, &answer.read_error().await);
        return (Found::Failed(class, words), matches!(status, 403 | 404));
    }
    let found = match answer.read(MAX_ANSWER, PATIENCE_SECS).await {
        Ok(bytes) => revision(&bytes, path),
        Err(failure) => failed(&failure),
    };
    (found, false)
}

fn failed(failure: &Failure) -> Found {
    Found::Failed(class::of_failure(failure), shortened(&failure.words))
}

/// Reads the revision of a list; what is no list comes from somebody else, a proxy for example.
fn revision(bytes: &[u8], path: &'static str) -> Found {
    let mut splitter = ListSplitter::new();
    splitter.push(bytes, &mut Vec::new());
    match splitter.finish() {
        Some(list) => Found::Answered(
            Version::parse(&list.version)
                .filter(|version| version.number().is_some())
                .map(|version| (version, path)),
        ),
        None => Found::Failed(
            OutageClass::Other,
            "the answer is no list of an API server".to_owned(),
        ),
    }
}

/// Says what an error's answer said.
fn words(status: u16, body: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Said {
        #[serde(default)]
        message: String,
    }
    let said = serde_json::from_slice::<Said>(body).map_or_else(
        |_| String::from_utf8_lossy(body).trim().to_owned(),
        |said| said.message,
    );
    let text = format!("HTTP {status}: {said}");
    shortened(text.trim_end_matches([':', ' ']))
}

fn shortened(words: &str) -> String {
    words.chars().take(MAX_WORDS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_list_tells_a_revision() {
        let list = br#"{"kind":"PodTemplateList","metadata":{"resourceVersion":"417"},"items":[]}"#;
        let expected = Some((Version::Number(417), PATHS[0]));
        assert_eq!(revision(list, PATHS[0]), Found::Answered(expected));
        let odd = br#"{"metadata":{"resourceVersion":"x1"},"items":[]}"#;
        assert_eq!(revision(odd, PATHS[0]), Found::Answered(None));
        for other in [&b"<html>"[..], b"", b"{\"metadata\":{\"resourceVer"] {
            let found = revision(other, PATHS[0]);
            assert!(
                matches!(found, Found::Failed(OutageClass::Other, _)),
                "{found:?}"
            );
        }
    }

    #[test]
    fn an_error_is_told_in_the_servers_words_and_not_at_length() {
        let status = br#"{"kind":"Status","message":"etcdserver: request timed out"}"#;
        assert_eq!(
            words(500, status),
            "HTTP 500: etcdserver: request timed out"
        );
        assert_eq!(words(503, b" no backend \n"), "HTTP 503: no backend");
        assert_eq!(words(502, b""), "HTTP 502");
        assert_eq!(words(502, &[b'x'; 5000]).len(), MAX_WORDS);
    }
}
