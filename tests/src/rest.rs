//! The few verbs the players need, over a [`kube::Client`]: objects are plain JSON.
//!
//! Paths, retries and watch lines. It does not hide anything: a retry is counted in the answer, and
//! a refusal comes back with the server's own reason.
//!
//! One call: sent, answered, tried again within its [`Patience`].
//!
//! Which object is meant: its kind, namespace and name, and the path that follows from them.

#![expect(
    clippy::indexing_slicing,
    reason = "reading a field of a JSON value never panics, and only documents made here are written to"
)]

use bytes::BytesMut;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt as _;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// Connections to the API servers of one cluster; calls go to the one that answered last.
#[derive(Clone)]
pub struct Rest {
    clients: Arc<[kube::Client]>,
    current: Arc<AtomicUsize>,
}

/// The action of a call.
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
    /// The action.
    pub verb: Verb,
    /// Path and query.
    pub path: String,
    /// The body.
    pub body: Body,
}

/// The response of a successful call.
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
    /// The server refused.
    #[error("{verb:?} {path}: {status} {reason}: {message}")]
    Refused {
        /// The call.
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
        /// The call.
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
        /// The call.
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
    /// There is no server.
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
        let call = Call::get(format!("{path}&watch=true"));
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
    /// Reads a path.
    pub fn get(path: impl Into<String>) -> Self {
        Self::of(Verb::Get, path, Body::Empty)
    }

    /// Creates a document in a collection.
    pub fn post(path: impl Into<String>, document: Value) -> Self {
        Self::of(Verb::Post, path, Body::Json(document))
    }

    /// Changes an object.
    pub fn patch(path: impl Into<String>, body: Body) -> Self {
        Self::of(Verb::Patch, path, body)
    }

    /// Makes a call of its parts.
    pub fn of(verb: Verb, path: impl Into<String>, body: Body) -> Self {
        Self {
            verb,
            path: path.into(),
            body,
        }
    }

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

/// Turns an unsuccessful response into an error with the server's message.
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
    fn new(body: kube::client::Body) -> Self {
        Self {
            body,
            pending: BytesMut::new(),
        }
    }

    /// Waits for the next watch line.
    ///
    /// `None` when the stream is over, cut, or has a line that is not a watch event: the caller
    /// opens another one.
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

/// How long a caller retries.
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
    fn pause(attempt: u32) -> Duration {
        let doubled =
            Duration::from_millis(10).saturating_mul(2_u32.saturating_pow(attempt.min(10)));
        doubled.min(Self::LONGEST_PAUSE)
    }

    /// Whether a later try can end otherwise.
    fn bears(self, error: &RestError) -> bool {
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
        let expected = "2026-03-04T05:06:07.000000Z";
        assert_eq!(micros("2026-03-04T05:06:07Z".parse().unwrap()), expected);
    }
}

#[cfg(test)]
mod retry_tests {
    use super::Verb;
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

/// Names one object of the API.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Target {
    /// Group and version as in `apiVersion`.
    pub api_version: String,
    /// The kind as in `kind`.
    pub kind: String,
    /// The namespace; `None` for objects of the cluster.
    pub namespace: Option<String>,
    /// The object's name.
    pub name: String,
}

impl Target {
    /// Names an object of a namespace.
    pub fn namespaced(api_version: &str, kind: &str, namespace: &str, name: &str) -> Self {
        Self {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: Some(namespace.to_owned()),
            name: name.to_owned(),
        }
    }

    /// Names an object of the cluster.
    pub fn cluster_wide(api_version: &str, kind: &str, name: &str) -> Self {
        Self {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: None,
            name: name.to_owned(),
        }
    }

    /// Names the object that a document is; `None` when it lacks a kind or a name.
    pub fn of(object: &Value) -> Option<Self> {
        Some(Self {
            api_version: object["apiVersion"].as_str()?.to_owned(),
            kind: object["kind"].as_str()?.to_owned(),
            namespace: object["metadata"]["namespace"]
                .as_str()
                .map(ToOwned::to_owned),
            name: object["metadata"]["name"].as_str()?.to_owned(),
        })
    }

    /// Where this kind is served; `None` for a kind the players do not know.
    pub fn kind(&self) -> Option<&'static Kind> {
        kind_of(&self.api_version, &self.kind)
    }

    /// The path of the collection the object is in.
    pub fn collection_path(&self) -> Option<String> {
        let kind = self.kind()?;
        let root = if kind.api_version.contains('/') {
            "/apis"
        } else {
            "/api"
        };
        match (kind.namespaced, &self.namespace) {
            (true, Some(namespace)) => Some(format!(
                "{root}/{}/namespaces/{namespace}/{}",
                kind.api_version, kind.plural
            )),
            (false, None) => Some(format!("{root}/{}/{}", kind.api_version, kind.plural)),
            _ => None,
        }
    }

    /// The path of the object itself.
    pub fn path(&self) -> Option<String> {
        self.collection_path()
            .map(|collection| format!("{collection}/{}", self.name))
    }

    /// The path of the object itself.
    ///
    /// # Errors
    ///
    /// The players do not know the kind.
    pub fn require_path(&self) -> Result<String, RestError> {
        self.path().ok_or_else(|| self.no_path())
    }

    /// The path of the collection the object is in.
    ///
    /// # Errors
    ///
    /// The players do not know the kind.
    pub fn require_collection_path(&self) -> Result<String, RestError> {
        self.collection_path().ok_or_else(|| self.no_path())
    }

    fn no_path(&self) -> RestError {
        let target = self.clone();
        RestError::NoPath { target }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(out, "{} {namespace}/{}", self.kind, self.name),
            None => write!(out, "{} {}", self.kind, self.name),
        }
    }
}

/// Where a kind is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    /// Group and version as in `apiVersion`.
    pub api_version: &'static str,
    /// The kind as in `kind`.
    pub kind: &'static str,
    /// The name in the path.
    pub plural: &'static str,
    /// Whether its objects live in a namespace.
    pub namespaced: bool,
}

const fn namespaced(api_version: &'static str, kind: &'static str, plural: &'static str) -> Kind {
    Kind {
        api_version,
        kind,
        plural,
        namespaced: true,
    }
}

const fn cluster_wide(api_version: &'static str, kind: &'static str, plural: &'static str) -> Kind {
    Kind {
        api_version,
        kind,
        plural,
        namespaced: false,
    }
}

const CONFIG: &str = "config.openshift.io/v1";
const RBAC: &str = "rbac.authorization.k8s.io/v1";
const MACHINE_CONFIG: &str = "machineconfiguration.openshift.io/v1";

const KINDS: &[Kind] = &[
    cluster_wide("v1", "Namespace", "namespaces"),
    cluster_wide("v1", "Node", "nodes"),
    namespaced("v1", "Pod", "pods"),
    namespaced("v1", "Event", "events"),
    namespaced("v1", "LimitRange", "limitranges"),
    cluster_wide("v1", "PersistentVolume", "persistentvolumes"),
    namespaced("v1", "PersistentVolumeClaim", "persistentvolumeclaims"),
    namespaced("v1", "ReplicationController", "replicationcontrollers"),
    namespaced("v1", "ResourceQuota", "resourcequotas"),
    namespaced("v1", "ConfigMap", "configmaps"),
    namespaced("v1", "Secret", "secrets"),
    namespaced("v1", "Service", "services"),
    namespaced("v1", "ServiceAccount", "serviceaccounts"),
    namespaced("apps/v1", "Deployment", "deployments"),
    namespaced("apps/v1", "DaemonSet", "daemonsets"),
    namespaced("apps/v1", "ReplicaSet", "replicasets"),
    namespaced("apps/v1", "StatefulSet", "statefulsets"),
    namespaced("batch/v1", "CronJob", "cronjobs"),
    namespaced("batch/v1", "Job", "jobs"),
    cluster_wide(
        "certificates.k8s.io/v1",
        "CertificateSigningRequest",
        "certificatesigningrequests",
    ),
    namespaced("discovery.k8s.io/v1", "EndpointSlice", "endpointslices"),
    namespaced(RBAC, "Role", "roles"),
    namespaced(RBAC, "RoleBinding", "rolebindings"),
    cluster_wide(RBAC, "ClusterRole", "clusterroles"),
    cluster_wide(RBAC, "ClusterRoleBinding", "clusterrolebindings"),
    namespaced("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies"),
    cluster_wide("storage.k8s.io/v1", "StorageClass", "storageclasses"),
    cluster_wide("storage.k8s.io/v1", "VolumeAttachment", "volumeattachments"),
    cluster_wide("apiregistration.k8s.io/v1", "APIService", "apiservices"),
    cluster_wide(
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
    ),
    cluster_wide(
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicy",
        "validatingadmissionpolicies",
    ),
    cluster_wide(
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicyBinding",
        "validatingadmissionpolicybindings",
    ),
    namespaced(
        "autoscaling/v2",
        "HorizontalPodAutoscaler",
        "horizontalpodautoscalers",
    ),
    namespaced("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets"),
    namespaced("coordination.k8s.io/v1", "Lease", "leases"),
    cluster_wide("scheduling.k8s.io/v1", "PriorityClass", "priorityclasses"),
    cluster_wide(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
    ),
    cluster_wide(CONFIG, "ClusterVersion", "clusterversions"),
    cluster_wide(CONFIG, "ClusterOperator", "clusteroperators"),
    cluster_wide(CONFIG, "Infrastructure", "infrastructures"),
    cluster_wide(CONFIG, "Network", "networks"),
    cluster_wide(CONFIG, "FeatureGate", "featuregates"),
    cluster_wide(MACHINE_CONFIG, "MachineConfigPool", "machineconfigpools"),
    cluster_wide(MACHINE_CONFIG, "MachineConfig", "machineconfigs"),
    namespaced("machine.openshift.io/v1beta1", "Machine", "machines"),
    namespaced("route.openshift.io/v1", "Route", "routes"),
];

/// Looks a kind up by its `kind` alone, among those that only one group has.
pub fn kind_named(kind: &str) -> Option<&'static Kind> {
    let mut named = KINDS.iter().filter(|known| known.kind == kind);
    named.next().filter(|_| named.next().is_none())
}

/// Looks a kind up by its `apiVersion` and `kind`.
pub fn kind_of(api_version: &str, kind: &str) -> Option<&'static Kind> {
    KINDS
        .iter()
        .find(|known| known.api_version == api_version && known.kind == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_follow_the_kind() {
        let pod = Target::namespaced("v1", "Pod", "shop", "web");
        assert_eq!(pod.path().unwrap(), "/api/v1/namespaces/shop/pods/web");
        let operator = Target::cluster_wide("config.openshift.io/v1", "ClusterOperator", "etcd");
        let expected = "/apis/config.openshift.io/v1/clusteroperators/etcd";
        assert_eq!(operator.path().unwrap(), expected);
        assert_eq!(
            Target::cluster_wide("v1", "Pod", "no-namespace").path(),
            None
        );
        assert_eq!(Target::cluster_wide("v1", "Unheard", "of").path(), None);
    }

    #[test]
    fn no_kind_is_listed_twice() {
        for (index, kind) in KINDS.iter().enumerate() {
            assert!(
                !KINDS[..index]
                    .iter()
                    .any(|other| other.kind == kind.kind && other.api_version == kind.api_version),
                "{kind:?}"
            );
        }
    }
}
