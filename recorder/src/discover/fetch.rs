//! Owns the single answers of a round: documents, the cluster's uid and version, its present revision.
//! Refuses to remember them.

use super::documents::{GroupVersion, Served, ServerVersion, legacy, server_version};
use super::revisions::Highest;
use crate::server::{Answer, Failure, FailureKind, Get, Server};
use crate::watch::split::ListSplitter;
use crate::watch::version::Version;
use std::cmp::Ordering;
use tokio::task::JoinSet;

/// How long one answer may take, in seconds.
pub(super) const PATIENCE_SECS: u64 = 20;

/// The longest discovery document that is read, in bytes.
const MAX_DOCUMENT: usize = 32 * 1024 * 1024;

/// How many documents are asked for at once.
const AT_ONCE: usize = 16;

/// Reads `/version`, and gives its bytes too.
pub(super) async fn version(server: &Server) -> Result<(ServerVersion, Vec<u8>), Failure> {
    let answer = server.get(Get::json("/version", PATIENCE_SECS)).await?;
    let bytes = document(answer, "/version").await?;
    let version = server_version(&bytes)
        .ok_or_else(|| odd("/version is not the version of an API server"))?;
    Ok((version, bytes))
}

/// Reads the uid of the namespace `kube-system`; empty if it cannot be seen.
pub(super) async fn uid(server: &Server) -> Result<String, Failure> {
    #[derive(serde::Deserialize)]
    struct Namespace {
        metadata: Meta,
    }
    #[derive(serde::Deserialize)]
    struct Meta {
        uid: String,
    }
    let path = "/api/v1/namespaces/kube-system";
    let answer = server.get(Get::json(path, PATIENCE_SECS)).await?;
    // A cluster that does not show it, or does not have it yet, has no name; it is still one.
    if matches!(answer.status, 403 | 404) {
        return Ok(String::new());
    }
    let bytes = document(answer, path).await?;
    let namespace = serde_json::from_slice::<Namespace>(&bytes);
    let uid = namespace.ok().map(|namespace| namespace.metadata.uid);
    uid.ok_or_else(|| odd("the namespace kube-system has no uid"))
}

/// Compares the present revision with the highest one seen, of the same resource: a lower one is
/// another history, on which a watch from the old version would be silent for ever.
pub(super) async fn has_fallen(server: &Server, seen: &Highest) -> bool {
    let now = revision_of(server, &seen.path).await;
    now.is_some_and(|now| now.order(&seen.version) == Some(Ordering::Less))
}

/// Reads the present revision of the cluster's own storage; `None` if it cannot be read.
pub(crate) async fn present_revision(server: &Server) -> Option<Version> {
    revision_of(server, "/api/v1/namespaces").await
}

async fn revision_of(server: &Server, path: &str) -> Option<Version> {
    // Without a resourceVersion the answer is as new as the storage itself.
    let path = format!("{path}?limit=1");
    let answer = server.get(Get::json(&path, PATIENCE_SECS)).await.ok()?;
    let bytes = document(answer, &path).await.ok()?;
    let mut splitter = ListSplitter::new();
    splitter.push(&bytes, &mut Vec::new());
    Version::parse(&splitter.finish()?.version)
}

/// The older document of a group version: what it says, and its bytes.
pub(super) type GroupVersionDocument = Result<(Vec<Served>, Vec<u8>), Failure>;

/// Reads the older documents of several group versions, some at a time, and gives them in order.
pub(super) async fn group_version_documents(
    server: &Server,
    versions: Vec<GroupVersion>,
) -> Vec<(GroupVersion, GroupVersionDocument)> {
    let mut out = Vec::new();
    for some in versions.chunks(AT_ONCE) {
        let mut tasks = JoinSet::new();
        for (place, version) in some.iter().cloned().enumerate() {
            let server = server.clone();
            tasks.spawn(async move {
                let answer = group_version_document(&server, &version).await;
                (place, version, answer)
            });
        }
        let mut answers = tasks.join_all().await;
        answers.sort_by_key(|(place, ..)| *place);
        let answers = answers.into_iter();
        out.extend(answers.map(|(_, version, answer)| (version, answer)));
    }
    out
}

async fn group_version_document(server: &Server, version: &GroupVersion) -> GroupVersionDocument {
    let path = legacy_path(version);
    let answer = server.get(Get::json(&path, PATIENCE_SECS)).await?;
    let bytes = document(answer, &path).await?;
    let resources = legacy(&bytes).ok_or_else(|| odd(&format!("{path} lists no resources")))?;
    Ok((resources, bytes))
}

/// Gives the path of the older document of a group version.
pub(super) fn legacy_path(version: &GroupVersion) -> String {
    if version.group.is_empty() {
        format!("/api/{}", version.version)
    } else {
        format!("/apis/{}/{}", version.group, version.version)
    }
}

/// Tells of an answer that is none.
pub(super) fn odd(words: &str) -> Failure {
    Failure {
        kind: FailureKind::Transport,
        words: words.to_owned(),
    }
}

/// Reads a document, or tells what came instead.
pub(super) async fn document(answer: Answer, path: &str) -> Result<Vec<u8>, Failure> {
    let status = answer.status;
    if status == 401 {
        let words = crate::watch::head::status(&answer.read_error().await).message;
        return Err(Failure {
            kind: FailureKind::Credentials,
            words: format!("{path}: 401 {words}"),
        });
    }
    if status != 200 {
        let body = answer.read_error().await;
        let words = crate::watch::head::status(&body).message;
        let words = if words.is_empty() {
            first_line(&body)
        } else {
            words
        };
        return Err(odd(format!("{path}: {status} {words}").trim_end()));
    }
    if !answer.is_json() {
        let kind = answer.content_type().to_owned();
        return Err(odd(&format!(
            "{path}: the answer is {kind:?}, not JSON: no API server"
        )));
    }
    answer.read(MAX_DOCUMENT, PATIENCE_SECS).await
}

fn first_line(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    text.lines()
        .next()
        .unwrap_or("")
        .chars()
        .take(200)
        .collect()
}
