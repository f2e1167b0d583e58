//! Reads audit logs of kube-apiserver: the user and the request, and, if the audit policy logs
//! bodies, the object.
//!
//! A response body is the object as the server stored it. A request body is not: it may be a patch,
//! or lack fields that the server adds. So only a response body makes a version, and a change
//! without one makes a mark. A request that failed changed nothing, and neither did a dry run, which
//! is answered as the real request is.

use crate::document::{ImportedHead, json_error, time};
use crate::error::BrokenReason;
use crate::existing_objects::number;
use kubereel_format::{EventType, RecordedAt};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// An event of an audit log.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuditEvent<'a> {
    #[serde(borrow, default)]
    stage: Cow<'a, str>,
    #[serde(borrow, default, rename = "requestURI")]
    request_uri: Cow<'a, str>,
    #[serde(borrow, default)]
    verb: Cow<'a, str>,
    #[serde(borrow, default)]
    user: AuditUser<'a>,
    #[serde(borrow, default)]
    object_ref: Option<ObjectRef<'a>>,
    #[serde(default)]
    response_status: Option<ResponseStatus>,
    #[serde(borrow, default)]
    request_object: Option<&'a RawValue>,
    #[serde(borrow, default)]
    response_object: Option<&'a RawValue>,
    #[serde(borrow, default)]
    stage_timestamp: Option<&'a RawValue>,
    #[serde(borrow, default)]
    request_received_timestamp: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
struct AuditUser<'a> {
    #[serde(borrow, default)]
    username: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ObjectRef<'a> {
    #[serde(borrow, default)]
    resource: Cow<'a, str>,
    #[serde(borrow, default)]
    namespace: Cow<'a, str>,
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    api_group: Cow<'a, str>,
    #[serde(borrow, default)]
    api_version: Cow<'a, str>,
    #[serde(borrow, default)]
    subresource: Cow<'a, str>,
}

/// A version of an object in the storage.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StoredVersion {
    pub(crate) uid: String,
    pub(crate) version: u128,
}

impl StoredVersion {
    /// Returns the smallest version of the object.
    pub(crate) fn first(&self) -> Self {
        Self {
            uid: self.uid.clone(),
            version: 0,
        }
    }
}

#[derive(Debug, Deserialize)]
struct ResponseStatus {
    #[serde(default)]
    code: u16,
}

/// The options in a request body: that of a deletion has nothing else, and an Eviction those of its
/// deletion.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestOptions {
    #[serde(default)]
    dry_run: Option<Vec<String>>,
    #[serde(default)]
    grace_period_seconds: Option<i64>,
    #[serde(default)]
    propagation_policy: Option<String>,
    #[serde(default)]
    orphan_dependents: Option<bool>,
    #[serde(default)]
    delete_options: Option<DeleteOptions>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DeleteOptions {
    #[serde(default)]
    dry_run: Option<Vec<String>>,
}

/// The fields of a response body that describe the object.
#[derive(Debug, Default, Deserialize)]
struct AnswerShape<'a> {
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
    #[serde(default)]
    metadata: AnswerMetadata,
    /// Of kinds that are not read further, it may be anything.
    #[serde(borrow, default)]
    spec: Option<&'a RawValue>,
    #[serde(borrow, default)]
    status: Option<&'a RawValue>,
    /// What a Status is about. Of other kinds, the member may be anything.
    #[serde(borrow, default)]
    details: Option<&'a RawValue>,
    #[serde(borrow, default)]
    items: Option<Vec<&'a RawValue>>,
}

/// The fields of Namespaces and Pods that delay a deletion.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnswerSpec {
    #[serde(default)]
    finalizers: Option<Vec<String>>,
    #[serde(default)]
    node_name: Option<String>,
    #[serde(default)]
    termination_grace_period_seconds: Option<i64>,
}

#[derive(Debug, Default, Deserialize)]
struct AnswerStatus {
    #[serde(default)]
    phase: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct StatusDetails {
    #[serde(default)]
    uid: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AnswerMetadata {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    deletion_timestamp: Option<String>,
    #[serde(default)]
    deletion_grace_period_seconds: Option<i64>,
    #[serde(default)]
    finalizers: Option<Vec<String>>,
}

impl AnswerMetadata {
    fn has_finalizers(&self) -> bool {
        self.finalizers.as_ref().is_some_and(|all| !all.is_empty())
    }
}

impl AnswerShape<'_> {
    fn spec(&self) -> AnswerSpec {
        parsed(self.spec)
    }

    /// Returns whether the object is gone: its deletion was requested, and no finalizer or grace
    /// period delays it. A Namespace has its own finalizers.
    fn is_gone(&self, target: &ObjectRef<'_>) -> bool {
        let has_own = || self.spec().finalizers.is_some_and(|all| !all.is_empty());
        self.metadata.deletion_timestamp.is_some()
            && self.metadata.deletion_grace_period_seconds.unwrap_or(0) == 0
            && !self.metadata.has_finalizers()
            && !(target.is_core("namespaces") && has_own())
    }

    /// Returns whether the deletion of this object, as it was before, was done at once. The server adds finalizers to
    /// delete dependents first or to orphan them, and gives Pods that run a grace period.
    fn goes_at_once(&self, target: &ObjectRef<'_>, options: &RequestOptions) -> bool {
        let policy = options.propagation_policy.as_deref();
        let is_delayed = options.orphan_dependents == Some(true)
            || policy.is_some_and(|policy| policy != "Background")
            || self.metadata.has_finalizers();
        if is_delayed || !target.is_core("pods") {
            return !is_delayed;
        }
        let spec = self.spec();
        let phase = parsed::<AnswerStatus>(self.status).phase;
        let grace = options.grace_period_seconds;
        grace.or(spec.termination_grace_period_seconds) == Some(0)
            || spec.node_name.is_none_or(|name| name.is_empty())
            || phase.is_some_and(|phase| matches!(phase.as_str(), "Succeeded" | "Failed"))
    }
}

/// Reads a member that may be anything.
fn parsed<'a, T: Default + Deserialize<'a>>(json: Option<&'a RawValue>) -> T {
    json.and_then(|json| serde_json::from_str(json.get()).ok())
        .unwrap_or_default()
}

/// The resource of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AuditTarget {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) plural: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// A request without the body of its object.
#[derive(Debug)]
pub(crate) struct AuditRequest {
    pub(crate) target: AuditTarget,
    user: String,
    verb: String,
    subresource: String,
}

impl AuditRequest {
    /// Describes the user and the request. The name is that of the target as it may be stored.
    pub(crate) fn words(&self, name: &str) -> String {
        let target = &self.target;
        let mut words = format!("{}: {} {}", self.user, self.verb, target.plural);
        for (before, word) in [
            (".", target.group.as_str()),
            ("/", name),
            (" --subresource=", &self.subresource),
            (" -n ", &target.namespace),
        ] {
            if !word.is_empty() {
                words.push_str(before);
                words.push_str(word);
            }
        }
        words
    }
}

/// The meaning of an audit event.
#[derive(Debug)]
pub(crate) enum AuditRecord<'a> {
    /// Objects as they were stored.
    Bodies {
        at: RecordedAt,
        target: AuditTarget,
        bodies: Vec<(EventType, &'a RawValue)>,
    },
    /// An object was deleted, and its last body is not in the log.
    Gone {
        at: RecordedAt,
        /// Its uid; empty if the response does not have it.
        uid: String,
        request: AuditRequest,
    },
    /// A change without a body.
    Words {
        at: RecordedAt,
        request: AuditRequest,
    },
    /// It changed nothing.
    Read,
    /// A request that failed.
    Failed,
    /// A request that was tried and not carried out.
    DryRun,
    /// An earlier stage of a request; a later stage has more information.
    Stage,
    /// A renewal of a Lease or an Event without its body: too frequent to be useful.
    Routine,
}

impl<'a> AuditRecord<'a> {
    /// Returns the time of a change.
    pub(crate) const fn at(&self) -> Option<RecordedAt> {
        match self {
            Self::Bodies { at, .. } | Self::Gone { at, .. } | Self::Words { at, .. } => Some(*at),
            Self::Read | Self::Failed | Self::DryRun | Self::Stage | Self::Routine => None,
        }
    }

    /// Returns the version of an object that the change made; of a deletion, one behind all.
    pub(crate) fn version(&self) -> Option<StoredVersion> {
        let (uid, version) = match self {
            Self::Bodies { bodies, .. } => {
                let [(_, body)] = bodies.as_slice() else {
                    return None;
                };
                let head = ImportedHead::parse(body.get().as_bytes()).ok()?;
                (head.uid.into_owned(), number(&head.resource_version)?)
            }
            Self::Gone { uid, .. } => (uid.clone(), u128::MAX),
            _ => return None,
        };
        (!uid.is_empty()).then_some(StoredVersion { uid, version })
    }

    /// Moves the change to a time before which it was done, if its own is later.
    pub(crate) fn done_before(mut self, latest: RecordedAt) -> Self {
        if let Self::Bodies { at, .. } | Self::Gone { at, .. } | Self::Words { at, .. } = &mut self
        {
            *at = latest.min(*at);
        }
        self
    }

    /// Reads an audit event.
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, BrokenReason> {
        let event: AuditEvent<'a> = serde_json::from_slice(bytes)
            .map_err(|error| BrokenReason::NotAnAuditEvent(json_error(&error)))?;
        if event.stage != "ResponseComplete" {
            return Ok(Self::Stage);
        }
        let kind = match event.verb.as_ref() {
            "create" => EventType::Added,
            "update" | "patch" => EventType::Modified,
            "delete" | "deletecollection" => EventType::Deleted,
            _ => return Ok(Self::Read),
        };
        let Some(target) = &event.object_ref else {
            return Ok(Self::Read);
        };
        let code = event
            .response_status
            .as_ref()
            .map_or(0, |status| status.code);
        if !(200..300).contains(&code) {
            return Ok(Self::Failed);
        }
        if event.is_dry_run(target) {
            return Ok(Self::DryRun);
        }
        let stamp = event.stage_timestamp.or(event.request_received_timestamp);
        let stamp = stamp.map(RawValue::get).ok_or(BrokenReason::NoTime)?;
        let at = time(stamp).ok_or_else(|| BrokenReason::BadTime(stamp.to_owned()))?;
        let bodies = event.bodies(kind, target)?;
        if !bodies.is_empty() {
            let target = target.to_owned_target();
            return Ok(Self::Bodies { at, target, bodies });
        }
        // Reviews and the like are created but not stored.
        if target.name.is_empty() && kind == EventType::Added && event.response_object.is_some() {
            return Ok(Self::Read);
        }
        let is_routine = matches!(
            target.resource.as_ref(),
            "leases" | "events" | "tokenreviews" | "subjectaccessreviews"
        );
        let request = event.request(target);
        if let Some(uid) = event.deleted_uid(kind, target) {
            return Ok(Self::Gone { at, uid, request });
        }
        if is_routine {
            return Ok(Self::Routine);
        }
        Ok(Self::Words { at, request })
    }
}

impl<'a> AuditEvent<'a> {
    /// Returns whether the request was a dry run. Clients write that into the query of the address,
    /// and for a deletion into the body.
    fn is_dry_run(&self, target: &ObjectRef<'_>) -> bool {
        let (_, query) = self.request_uri.split_once('?').unwrap_or_default();
        let mut parameters = query.split('&').filter_map(|one| one.split_once('='));
        if parameters.any(|(name, value)| name == "dryRun" && !value.is_empty()) {
            return true;
        }
        let has_options = matches!(self.verb.as_ref(), "delete" | "deletecollection")
            || target.subresource == "eviction";
        let options: RequestOptions = parsed(self.request_object.filter(|_| has_options));
        let of_deletion = options.delete_options.unwrap_or_default();
        [options.dry_run, of_deletion.dry_run]
            .into_iter()
            .flatten()
            .any(|stages| !stages.is_empty())
    }

    /// Returns the objects of a response.
    fn bodies(
        &self,
        kind: EventType,
        target: &ObjectRef<'_>,
    ) -> Result<Vec<(EventType, &'a RawValue)>, BrokenReason> {
        let Some(answer) = self.response_object else {
            return Ok(Vec::new());
        };
        // A Scale, a Binding or an Eviction is not the object of the path.
        let is_object = matches!(
            target.subresource.as_ref(),
            "" | "status" | "finalize" | "ephemeralcontainers" | "resize" | "approval"
        );
        if !is_object {
            return Ok(Vec::new());
        }
        let shape = |raw: &'a RawValue| -> Result<AnswerShape<'a>, BrokenReason> {
            serde_json::from_str(raw.get())
                .map_err(|error| BrokenReason::NotAnAuditEvent(json_error(&error)))
        };
        let of = shape(answer)?;
        if of.kind == "Status" {
            return Ok(Vec::new());
        }
        let judged = |raw: &'a RawValue, of: &AnswerShape<'_>| {
            let kind = match (kind, of.is_gone(target)) {
                (_, true) => EventType::Deleted,
                (EventType::Deleted, false) if of.metadata.deletion_timestamp.is_some() => {
                    EventType::Modified
                }
                (kind, false) => kind,
            };
            (kind, raw)
        };
        // The server answers with the list from before the deletion.
        if let Some(items) = &of.items {
            let options: RequestOptions = parsed(self.request_object);
            return items
                .iter()
                .map(|item| match shape(item)? {
                    of if of.goes_at_once(target, &options) => Ok((kind, *item)),
                    _ => Ok((EventType::Modified, *item)),
                })
                .collect();
        }
        // A reviewed object has no name and is not stored.
        if of.metadata.name.as_ref().is_none_or(String::is_empty) {
            return Ok(Vec::new());
        }
        Ok(vec![judged(answer, &of)])
    }

    /// Returns the uid of the object, which may be empty, if the response means that it is gone.
    fn deleted_uid(&self, kind: EventType, target: &ObjectRef<'_>) -> Option<String> {
        let is_deletion = kind == EventType::Deleted
            && self.verb == "delete"
            && target.subresource.is_empty()
            && !target.name.is_empty();
        let answer = self.response_object.filter(|_| is_deletion)?;
        let of: AnswerShape<'_> = serde_json::from_str(answer.get()).ok()?;
        if of.kind != "Status" {
            return None;
        }
        Some(parsed::<StatusDetails>(of.details).uid)
    }

    fn request(&self, target: &ObjectRef<'_>) -> AuditRequest {
        let user = match self.user.username.as_ref() {
            "" => "an unnamed user",
            user => user,
        };
        AuditRequest {
            target: target.to_owned_target(),
            user: user.to_owned(),
            verb: self.verb.clone().into_owned(),
            subresource: target.subresource.clone().into_owned(),
        }
    }
}

impl ObjectRef<'_> {
    /// Returns whether it is of a resource of the core group.
    fn is_core(&self, plural: &str) -> bool {
        self.api_group.is_empty() && self.resource == plural
    }

    fn to_owned_target(&self) -> AuditTarget {
        AuditTarget {
            group: self.api_group.clone().into_owned(),
            version: self.api_version.clone().into_owned(),
            plural: self.resource.clone().into_owned(),
            namespace: self.namespace.clone().into_owned(),
            name: self.name.clone().into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn event(verb: &str, code: u16, answer: Option<Value>) -> String {
        let mut event = json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "stage": "ResponseComplete", "verb": verb,
            "user": {"username": "jane"},
            "objectRef": {"resource": "deployments", "apiGroup": "apps", "apiVersion": "v1", "namespace": "web", "name": "api"},
            "responseStatus": {"code": code},
            "stageTimestamp": "2026-11-23T10:00:00.5Z",
        });
        if let Some(answer) = answer {
            event["responseObject"] = answer;
        }
        event.to_string()
    }

    fn summary(text: &str) -> String {
        match AuditRecord::parse(text.as_bytes()).expect("an audit event") {
            AuditRecord::Bodies { bodies, target, .. } => {
                let kinds: Vec<String> =
                    bodies.iter().map(|(kind, _)| format!("{kind:?}")).collect();
                format!("{} {}", target.plural, kinds.join(" "))
            }
            AuditRecord::Gone { request, .. } => {
                format!("gone: {}", request.words(&request.target.name))
            }
            AuditRecord::Words { request, .. } => request.words(&request.target.name),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn an_answers_body_is_a_version_and_without_one_there_are_words() {
        let object = json!({"kind": "Deployment", "metadata": {"name": "api"}});
        let pending = json!({"kind": "Deployment", "metadata": {"name": "api", "deletionTimestamp": "x", "finalizers": ["a"]}});
        let gone = json!({"kind": "Deployment", "metadata": {"name": "api", "deletionTimestamp": "x", "deletionGracePeriodSeconds": 0}});
        let status = json!({"kind": "Status", "status": "Success", "metadata": {}});
        let list = json!({"kind": "DeploymentList", "metadata": {}, "items": [object, pending]});
        for (text, words) in [
            (
                event("create", 201, Some(object.clone())),
                "deployments Added",
            ),
            (
                event("patch", 200, Some(object.clone())),
                "deployments Modified",
            ),
            (
                event("update", 200, Some(gone.clone())),
                "deployments Deleted",
            ),
            (event("delete", 200, Some(pending)), "deployments Modified"),
            (event("delete", 200, Some(gone)), "deployments Deleted"),
            (
                event("deletecollection", 200, Some(list)),
                "deployments Deleted Modified",
            ),
            (
                event("delete", 200, Some(status)),
                "gone: jane: delete deployments.apps/api -n web",
            ),
            (
                event("patch", 200, None),
                "jane: patch deployments.apps/api -n web",
            ),
            (
                event("delete", 200, None),
                "jane: delete deployments.apps/api -n web",
            ),
            (event("patch", 409, Some(object)), "Failed"),
            (event("get", 200, None), "Read"),
            (
                event("patch", 200, None).replace("ResponseComplete", "RequestReceived"),
                "Stage",
            ),
            (
                event("patch", 200, None).replace("deployments", "leases"),
                "Routine",
            ),
        ] {
            assert_eq!(summary(&text), words, "{text}");
        }
        let broken = AuditRecord::parse(b"{\"stage\":1}")
            .expect_err("broken")
            .to_string();
        assert!(
            broken.starts_with("not an event of an audit log: "),
            "{broken}"
        );
    }

    /// An event of a resource of the core group.
    fn core(text: &str, plural: &str) -> String {
        text.replace("deployments", plural)
            .replace("\"apiGroup\":\"apps\",", "")
    }

    #[test]
    fn a_deletion_that_is_delayed_is_a_change() {
        let namespace = |finalizers: Value| json!({"kind": "Namespace", "metadata": {"name": "web", "deletionTimestamp": "x"}, "spec": {"finalizers": finalizers}});
        let item = |more: Value, status: Value| json!({"metadata": {"name": "p"}, "spec": more, "status": status});
        let running = || {
            item(
                json!({"nodeName": "n", "terminationGracePeriodSeconds": 30}),
                json!({"phase": "Running"}),
            )
        };
        let held = json!({"metadata": {"name": "p", "finalizers": ["a"]}});
        let items = json!({"kind": "PodList", "metadata": {}, "items": [
            running(), held, item(json!({}), json!({})), item(json!({"nodeName": "n"}), json!({"phase": "Failed"})),
        ]});
        let collection = |plural: &str, options: Value, items: &Value| {
            let text = event("deletecollection", 200, Some(items.clone()));
            let mut event: Value = serde_json::from_str(&core(&text, plural)).expect("JSON");
            event["requestObject"] = options;
            event.to_string()
        };
        let on = |subresource: &str, text: &str| {
            text.replace(
                "\"objectRef\":{",
                &format!("\"objectRef\":{{\"subresource\":\"{subresource}\","),
            )
        };
        let put = |answer: Value| core(&event("update", 200, Some(answer)), "namespaces");
        let delete = core(
            &event("delete", 200, Some(namespace(json!(["kubernetes"])))),
            "namespaces",
        );
        let one = json!({"kind": "PodList", "metadata": {}, "items": [running()]});
        let config =
            json!({"kind": "ConfigMapList", "metadata": {}, "items": [item(json!(7), json!(8))]});
        for (text, words) in [
            (delete, "namespaces Modified"),
            (
                on("status", &put(namespace(json!(["kubernetes"])))),
                "namespaces Modified",
            ),
            (
                on("finalize", &put(namespace(json!([])))),
                "namespaces Deleted",
            ),
            (
                on("ephemeralcontainers", &event("patch", 200, Some(running()))),
                "deployments Modified",
            ),
            (
                collection("pods", json!({}), &items),
                "pods Modified Modified Deleted Deleted",
            ),
            (
                collection("pods", json!({"gracePeriodSeconds": 0}), &one),
                "pods Deleted",
            ),
            (
                collection("configmaps", json!({}), &config),
                "configmaps Deleted",
            ),
            (
                collection(
                    "configmaps",
                    json!({"propagationPolicy": "Foreground"}),
                    &config,
                ),
                "configmaps Modified",
            ),
        ] {
            assert_eq!(summary(&text), words, "{text}");
        }
    }

    #[test]
    fn a_dry_run_is_not_a_change() {
        let object = json!({"kind": "Deployment", "metadata": {"name": "api"}});
        let status = json!({"kind": "Status", "status": "Success", "metadata": {}});
        let with = |text: String, member: &str, value: Value| {
            let mut event: Value = serde_json::from_str(&text).expect("JSON");
            event[member] = value;
            event.to_string()
        };
        let uri = |query: &str| {
            json!(format!(
                "/apis/apps/v1/namespaces/web/deployments/api{query}"
            ))
        };
        let deletion = || event("delete", 200, Some(status.clone()));
        let options = |of: Value| with(deletion(), "requestObject", of);
        let patch = || event("patch", 200, Some(object.clone()));
        let list = json!({"kind": "DeploymentList", "metadata": {}, "items": [object]});
        let collection = event("deletecollection", 200, Some(list));
        let eviction = event("create", 201, Some(status.clone())).replace(
            "\"objectRef\":{",
            "\"objectRef\":{\"subresource\":\"eviction\",",
        );
        let evicted = |of: Value| {
            with(
                eviction.clone(),
                "requestObject",
                json!({"deleteOptions": of}),
            )
        };
        for (text, words) in [
            (
                with(patch(), "requestURI", uri("?dryRun=All&fieldManager=x")),
                "DryRun",
            ),
            (
                with(patch(), "requestURI", uri("?fieldManager=x&dryRun=All")),
                "DryRun",
            ),
            (with(collection, "requestURI", uri("?dryRun=All")), "DryRun"),
            (
                options(json!({"kind": "DeleteOptions", "dryRun": ["All"]})),
                "DryRun",
            ),
            (evicted(json!({"dryRun": ["All"]})), "DryRun"),
            (
                with(patch(), "requestURI", uri("?fieldManager=dryRun")),
                "deployments Modified",
            ),
            (
                with(patch(), "requestURI", uri("?dryRun=")),
                "deployments Modified",
            ),
            (
                with(patch(), "requestObject", json!({"dryRun": ["All"]})),
                "deployments Modified",
            ),
            (
                options(json!({"kind": "DeleteOptions", "dryRun": []})),
                "gone: jane: delete deployments.apps/api -n web",
            ),
            (
                options(json!("unread")),
                "gone: jane: delete deployments.apps/api -n web",
            ),
            (
                evicted(json!({})),
                "jane: create deployments.apps/api --subresource=eviction -n web",
            ),
        ] {
            assert_eq!(summary(&text), words, "{text}");
        }
    }
}
