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
    /// What a Status is about. Of other kinds, the member may be anything.
    #[serde(borrow, default)]
    details: Option<&'a RawValue>,
    #[serde(borrow, default)]
    items: Option<Vec<&'a RawValue>>,
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
    /// Returns whether the object is gone: its deletion was requested, and no finalizer or grace
    /// period delays it.
    fn is_gone(&self) -> bool {
        self.deletion_timestamp.is_some()
            && self.deletion_grace_period_seconds.unwrap_or(0) == 0
            && self.finalizers.as_ref().is_none_or(Vec::is_empty)
    }
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
        target: AuditTarget,
        /// Its uid; empty if the response does not have it.
        uid: String,
        /// The user and the request.
        words: String,
    },
    /// A change without a body.
    Words {
        at: RecordedAt,
        /// The user and the request.
        words: String,
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
        let words = event.words(target);
        if let Some(uid) = event.deleted_uid(kind, target) {
            let target = target.to_owned_target();
            return Ok(Self::Gone {
                at,
                target,
                uid,
                words,
            });
        }
        if is_routine {
            return Ok(Self::Routine);
        }
        Ok(Self::Words { at, words })
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
        let body = self.request_object.filter(|_| has_options);
        // A body that cannot be read has no options.
        let options = body.and_then(|body| serde_json::from_str::<RequestOptions>(body.get()).ok());
        let options = options.unwrap_or_default();
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
        if !target.subresource.is_empty() && target.subresource != "status" {
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
            let kind = match (kind, of.metadata.is_gone()) {
                (_, true) => EventType::Deleted,
                (EventType::Deleted, false) if of.metadata.deletion_timestamp.is_some() => {
                    EventType::Modified
                }
                (kind, false) => kind,
            };
            (kind, raw)
        };
        if let Some(items) = &of.items {
            return items
                .iter()
                .map(|item| Ok(judged(item, &shape(item)?)))
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
        let details = of.details.map(RawValue::get);
        let details = details.and_then(|text| serde_json::from_str::<StatusDetails>(text).ok());
        Some(details.unwrap_or_default().uid)
    }

    /// Describes the user and the request.
    fn words(&self, target: &ObjectRef<'_>) -> String {
        let mut resource = target.resource.clone().into_owned();
        if !target.api_group.is_empty() {
            resource.push('.');
            resource.push_str(&target.api_group);
        }
        if !target.name.is_empty() {
            resource.push('/');
            resource.push_str(&target.name);
        }
        if !target.subresource.is_empty() {
            resource.push_str(" --subresource=");
            resource.push_str(&target.subresource);
        }
        if !target.namespace.is_empty() {
            resource.push_str(" -n ");
            resource.push_str(&target.namespace);
        }
        let user = if self.user.username.is_empty() {
            "somebody"
        } else {
            &self.user.username
        };
        format!("{user}: {} {resource}", self.verb)
    }
}

impl ObjectRef<'_> {
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
            AuditRecord::Gone { words, .. } => format!("gone: {words}"),
            AuditRecord::Words { words, .. } => words,
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
