//! The discovery documents of servers (aggregated discovery in two versions, and the older document
//! of each group version), and the requests for them, for the cluster's uid, its version and its
//! current revision.

use crate::discover::poll::HighestRevision;
use crate::server::{ApiServer, Failure, FailureKind, Get, HttpAnswer};
use crate::version::ResourceVersion;
use crate::wire::{self, ListSplitter};
use kubereel_format::{ResourceId, ResourceInfo};
use serde::Deserialize;
use std::cmp::Ordering;
use tokio::task::JoinSet;

/// The `Accept` header for the aggregated documents, new form first, plain form last.
pub(crate) const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// One group version, and whether its description is up to date.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GroupVersion {
    /// The API group; empty for the core group.
    pub(crate) group: String,
    pub(crate) version: String,
    /// Whether the server of the group version could not be reached.
    pub(crate) is_stale: bool,
}

/// The content of an aggregated document, in the server's order of preference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AggregatedDiscovery {
    pub(crate) versions: Vec<GroupVersion>,
    /// Their resources, which have no ids yet.
    pub(crate) served: Vec<ResourceInfo>,
}

#[derive(Deserialize)]
struct RawList {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    items: Vec<RawGroup>,
}

#[derive(Deserialize)]
struct RawGroup {
    #[serde(default)]
    metadata: RawName,
    #[serde(default)]
    versions: Vec<RawVersion>,
}

#[derive(Default, Deserialize)]
struct RawName {
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct RawVersion {
    version: String,
    #[serde(default)]
    resources: Vec<RawResource>,
    #[serde(default)]
    freshness: String,
}

#[derive(Deserialize)]
struct RawResource {
    resource: String,
    #[serde(default, rename = "responseKind")]
    response_kind: Option<RawKind>,
    #[serde(default)]
    scope: String,
    #[serde(default, rename = "singularResource")]
    singular: String,
    #[serde(default)]
    verbs: Vec<String>,
    #[serde(default, rename = "shortNames")]
    short_names: Vec<String>,
    #[serde(default)]
    categories: Vec<String>,
}

#[derive(Deserialize)]
struct RawKind {
    #[serde(default)]
    kind: String,
}

/// Reads an aggregated document; `None` if it is not one.
pub(crate) fn aggregated(bytes: &[u8]) -> Option<AggregatedDiscovery> {
    let list: RawList = serde_json::from_slice(bytes).ok()?;
    if list.kind != "APIGroupDiscoveryList" {
        return None;
    }
    let mut out = AggregatedDiscovery::default();
    for group in list.items {
        for version in group.versions {
            out.versions.push(GroupVersion {
                group: group.metadata.name.clone(),
                version: version.version.clone(),
                is_stale: version.freshness == "Stale",
            });
            for resource in version.resources {
                out.served.push(ResourceInfo {
                    id: ResourceId::default(),
                    group: group.metadata.name.clone(),
                    version: version.version.clone(),
                    plural: resource.resource,
                    singular: resource.singular,
                    kind: resource
                        .response_kind
                        .map(|kind| kind.kind)
                        .unwrap_or_default(),
                    short_names: resource.short_names,
                    categories: resource.categories,
                    namespaced: resource.scope == "Namespaced",
                    verbs: resource.verbs,
                    storage_hash: None,
                });
            }
        }
    }
    Some(out)
}

#[derive(Deserialize)]
struct RawLegacy {
    #[serde(default)]
    kind: String,
    #[serde(default, rename = "groupVersion")]
    group_version: String,
    #[serde(default)]
    resources: Vec<RawLegacyResource>,
}

#[derive(Deserialize)]
struct RawLegacyResource {
    name: String,
    #[serde(default, rename = "singularName")]
    singular: String,
    #[serde(default)]
    namespaced: bool,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    verbs: Vec<String>,
    #[serde(default, rename = "shortNames")]
    short_names: Option<Vec<String>>,
    #[serde(default)]
    categories: Option<Vec<String>>,
    #[serde(default, rename = "storageVersionHash")]
    storage_hash: String,
}

/// Reads the document of one group version; `None` if it is not one.
pub(crate) fn legacy(bytes: &[u8]) -> Option<Vec<ResourceInfo>> {
    let list: RawLegacy = serde_json::from_slice(bytes).ok()?;
    if list.kind != "APIResourceList" {
        return None;
    }
    let (group, version) = list
        .group_version
        .split_once('/')
        .unwrap_or(("", &list.group_version));
    let served = list.resources.into_iter().filter_map(|resource| {
        // `pods/log` is a subresource.
        if resource.name.contains('/') {
            return None;
        }
        Some(ResourceInfo {
            id: ResourceId::default(),
            group: group.to_owned(),
            version: version.to_owned(),
            plural: resource.name,
            singular: resource.singular,
            kind: resource.kind,
            short_names: resource.short_names.unwrap_or_default(),
            categories: resource.categories.unwrap_or_default(),
            namespaced: resource.namespaced,
            verbs: resource.verbs,
            storage_hash: Some(resource.storage_hash).filter(|hash| !hash.is_empty()),
        })
    });
    Some(served.collect())
}

#[derive(Deserialize)]
struct RawGroups {
    #[serde(default)]
    kind: String,
    #[serde(default)]
    groups: Vec<RawPlainGroup>,
    #[serde(default)]
    versions: Vec<String>,
}

#[derive(Deserialize)]
struct RawPlainGroup {
    name: String,
    #[serde(default)]
    versions: Vec<RawPlainVersion>,
    #[serde(default, rename = "preferredVersion")]
    preferred: Option<RawPlainVersion>,
}

#[derive(Deserialize)]
struct RawPlainVersion {
    version: String,
}

/// Reads the plain `/api` or `/apis`: the group versions, preferred ones first; `None` if it is
/// neither.
pub(crate) fn group_versions(bytes: &[u8]) -> Option<Vec<GroupVersion>> {
    let raw: RawGroups = serde_json::from_slice(bytes).ok()?;
    let new = |group: &str, version: String| GroupVersion {
        group: group.to_owned(),
        version,
        is_stale: false,
    };
    match raw.kind.as_str() {
        "APIVersions" => Some(raw.versions.into_iter().map(|name| new("", name)).collect()),
        "APIGroupList" => {
            let mut out = Vec::new();
            for group in raw.groups {
                let preferred = group.preferred.map(|preferred| preferred.version);
                out.extend(preferred.iter().map(|name| new(&group.name, name.clone())));
                for version in group.versions {
                    if Some(&version.version) != preferred.as_ref() {
                        out.push(new(&group.name, version.version));
                    }
                }
            }
            Some(out)
        }
        _ => None,
    }
}

/// The version numbers in `/version`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerVersion {
    /// The whole version, for example `v1.36.3`.
    pub(crate) git_version: String,
    /// Major and minor, if they are numbers.
    pub(crate) numbers: Option<(u32, u32)>,
}

impl ServerVersion {
    /// Returns whether servers of that version stream lists: on by default in 1.32, off in 1.33, on
    /// again from 1.34. With an unreadable version it is tried.
    pub(crate) fn can_watch_list(&self) -> bool {
        match self.numbers {
            Some((1, 33)) => false,
            Some(numbers) => numbers >= (1, 32),
            None => true,
        }
    }
}

/// Reads `/version`; `None` if it is not such a document.
pub(crate) fn server_version(bytes: &[u8]) -> Option<ServerVersion> {
    #[derive(Deserialize)]
    struct Raw {
        #[serde(rename = "gitVersion")]
        git_version: String,
        #[serde(default)]
        major: String,
        #[serde(default)]
        minor: String,
    }
    let raw: Raw = serde_json::from_slice(bytes).ok()?;
    // Some vendors spell the minor version "27+".
    let number = |text: &str| {
        text.trim_end_matches(|c: char| !c.is_ascii_digit())
            .parse::<u32>()
            .ok()
    };
    Some(ServerVersion {
        numbers: number(&raw.major).zip(number(&raw.minor)),
        git_version: raw.git_version,
    })
}

/// The longest time for a response, in seconds.
pub(super) const PATIENCE_SECS: u64 = 20;

/// The longest discovery document that is read, in bytes.
const MAX_DOCUMENT: usize = 32 * 1024 * 1024;

/// The number of documents that are requested at once.
const AT_ONCE: usize = 16;

/// Reads `/version`, and returns its bytes too.
pub(super) async fn version(server: &ApiServer) -> Result<(ServerVersion, Vec<u8>), Failure> {
    let answer = server.get(Get::json("/version", PATIENCE_SECS)).await?;
    let bytes = document(answer, "/version").await?;
    let version = server_version(&bytes)
        .ok_or_else(|| odd("/version is not the version of an API server"))?;
    Ok((version, bytes))
}

/// Reads the uid of the namespace `kube-system`; empty if it is not visible.
pub(super) async fn uid(server: &ApiServer) -> Result<String, Failure> {
    #[derive(serde::Deserialize)]
    struct Namespace {
        metadata: NamespaceMeta,
    }
    #[derive(serde::Deserialize)]
    struct NamespaceMeta {
        uid: String,
    }
    let path = "/api/v1/namespaces/kube-system";
    let answer = server.get(Get::json(path, PATIENCE_SECS)).await?;
    // A cluster that does not show the namespace, or does not have it yet, has no uid; it is still
    // a cluster.
    if matches!(answer.status, 403 | 404) {
        return Ok(String::new());
    }
    let bytes = document(answer, path).await?;
    let namespace = serde_json::from_slice::<Namespace>(&bytes);
    let uid = namespace.ok().map(|namespace| namespace.metadata.uid);
    uid.ok_or_else(|| odd("the namespace kube-system has no uid"))
}

/// Compares the current revision with the highest one seen of the same resource. A lower one
/// belongs to another history, on which a watch from the old version would stay silent forever.
pub(super) async fn has_fallen(server: &ApiServer, seen: &HighestRevision) -> bool {
    let now = revision_of(server, &seen.path).await;
    now.is_some_and(|now| now.order(&seen.version) == Some(Ordering::Less))
}

/// Reads the current revision of the cluster's own storage; `None` if it cannot be read.
pub(crate) async fn present_revision(server: &ApiServer) -> Option<ResourceVersion> {
    revision_of(server, "/api/v1/namespaces").await
}

async fn revision_of(server: &ApiServer, path: &str) -> Option<ResourceVersion> {
    // Without a resourceVersion the read is consistent: as new as the storage itself.
    let path = format!("{path}?limit=1");
    let answer = server.get(Get::json(&path, PATIENCE_SECS)).await.ok()?;
    let bytes = document(answer, &path).await.ok()?;
    let mut splitter = ListSplitter::new();
    splitter.push(&bytes, &mut Vec::new());
    ResourceVersion::parse(&splitter.finish()?.version)
}

/// The older document of a group version: its content and its bytes.
type GroupVersionDocument = Result<(Vec<ResourceInfo>, Vec<u8>), Failure>;

/// Reads the older documents of several group versions, some at a time, and returns them in order.
pub(super) async fn group_version_documents(
    server: &ApiServer,
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

async fn group_version_document(
    server: &ApiServer,
    version: &GroupVersion,
) -> GroupVersionDocument {
    let path = legacy_path(version);
    let answer = server.get(Get::json(&path, PATIENCE_SECS)).await?;
    let bytes = document(answer, &path).await?;
    let resources = legacy(&bytes).ok_or_else(|| odd(&format!("{path} lists no resources")))?;
    Ok((resources, bytes))
}

/// Returns the path of the older document of a group version.
pub(super) fn legacy_path(version: &GroupVersion) -> String {
    if version.group.is_empty() {
        format!("/api/{}", version.version)
    } else {
        format!("/apis/{}/{}", version.group, version.version)
    }
}

/// Describes a response that is not a document.
pub(super) fn odd(words: &str) -> Failure {
    Failure {
        kind: FailureKind::Transport,
        words: words.to_owned(),
    }
}

/// Reads a document, or returns the response instead.
pub(super) async fn document(answer: HttpAnswer, path: &str) -> Result<Vec<u8>, Failure> {
    let status = answer.status;
    if status == 401 {
        let words = wire::status(&answer.read_error().await).message;
        return Err(Failure {
            kind: FailureKind::Credentials,
            words: format!("{path}: 401 {words}"),
        });
    }
    if status != 200 {
        let body = answer.read_error().await;
        let words = wire::error_message(&body);
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

#[cfg(test)]
mod tests {
    use super::*;

    const V2: &str = r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[
      {"metadata":{"name":"apps","creationTimestamp":null},"versions":[{"version":"v1","resources":[
        {"resource":"deployments","responseKind":{"group":"apps","version":"v1","kind":"Deployment"},"scope":"Namespaced","singularResource":"deployment","verbs":["get","list","watch"],"shortNames":["deploy"],"categories":["all"],"subresources":[{"subresource":"scale","verbs":["get"]}]}],"freshness":"Current"}]},
      {"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale"}]}]}"#;

    #[test]
    fn reads_the_aggregated_form() {
        let document = aggregated(V2.as_bytes()).expect("a document");
        assert_eq!(document.served.len(), 1);
        let served = &document.served[0];
        assert_eq!(
            (served.group.as_str(), served.kind.as_str()),
            ("apps", "Deployment")
        );
        assert!(served.namespaced);
        assert_eq!(served.short_names, ["deploy"]);
        assert_eq!(
            document
                .versions
                .iter()
                .map(|version| version.is_stale)
                .collect::<Vec<_>>(),
            [false, true]
        );
        assert_eq!(aggregated(br#"{"kind":"APIGroupList","groups":[]}"#), None);
        assert_eq!(aggregated(b"<html>"), None);
    }

    #[test]
    fn reads_the_older_forms() {
        let served = legacy(br#"{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["list","watch"],"shortNames":["po"],"storageVersionHash":"xPOwRZ+Yhw8="},{"name":"pods/log","singularName":"","namespaced":true,"kind":"Pod","verbs":["get"]}]}"#).expect("a document");
        assert_eq!(served.len(), 1);
        assert_eq!(served[0].group, "");
        assert_eq!(served[0].storage_hash.as_deref(), Some("xPOwRZ+Yhw8="));
        let names = |bytes: &[u8]| -> Vec<String> {
            let versions = group_versions(bytes).expect("a document");
            versions
                .iter()
                .map(|v| format!("{}/{}", v.group, v.version))
                .collect()
        };
        assert_eq!(
            names(br#"{"kind":"APIVersions","versions":["v1"]}"#),
            ["/v1"]
        );
        assert_eq!(
            names(br#"{"kind":"APIGroupList","groups":[{"name":"a","versions":[{"groupVersion":"a/v1","version":"v1"},{"groupVersion":"a/v2","version":"v2"}],"preferredVersion":{"groupVersion":"a/v2","version":"v2"}}]}"#),
            ["a/v2", "a/v1"]
        );
    }

    #[test]
    fn knows_which_servers_stream_lists() {
        let can = |major: &str, minor: &str| {
            let text = format!(r#"{{"major":"{major}","minor":"{minor}","gitVersion":"v"}}"#);
            server_version(text.as_bytes())
                .expect("a version")
                .can_watch_list()
        };
        assert!(!can("1", "27+") && !can("1", "31") && !can("1", "33"));
        assert!(
            can("1", "32") && can("1", "34") && can("1", "36+") && can("2", "0") && can("", "")
        );
    }
}
