//! Lists and single objects: snapshots of a revision, pages of them, and when they are too old or
//! too new. It does not handle label selectors and tables.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::fault::status_object;
use super::log::RequestHead;
use super::model::Model;
use super::model::{ObjectKey, Storage, Version};
use super::resource::Resource;
use super::resource::Target;
use super::wire::{Answer, Body, Line};

/// The answer to a request that is not granted.
pub(crate) type Refusal = Box<Answer>;

/// What of a resource a request is about.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    pub(crate) resource: Resource,
    pub(crate) version: String,
    namespace: Option<String>,
    name: Option<String>,
}

impl Scope {
    /// Reads the target and the selectors; the error is the server's refusal.
    pub(crate) fn new(
        target: &Target,
        asked: &RequestHead,
        resource: &Resource,
    ) -> Result<Self, Refusal> {
        let mut scope = Self {
            resource: resource.clone(),
            version: target.version.clone(),
            namespace: target.namespace.clone(),
            name: target.name.clone(),
        };
        let selectors = asked.parameter("fieldSelector").unwrap_or_default();
        for term in selectors.split(',').filter(|term| !term.is_empty()) {
            match term.split_once('=') {
                Some(("metadata.name", name)) => {
                    scope.name = Some(name.trim_start_matches('=').to_owned());
                }
                Some(("metadata.namespace", namespace)) => {
                    scope.namespace = Some(namespace.trim_start_matches('=').to_owned());
                }
                _ => return Err(refuse("field label not supported")),
            }
        }
        if asked
            .parameter("labelSelector")
            .is_some_and(|selector| !selector.is_empty())
        {
            return Err(refuse("label selectors are not served here"));
        }
        Ok(scope)
    }

    pub(crate) fn holds(&self, key: &ObjectKey) -> bool {
        self.namespace
            .as_ref()
            .is_none_or(|namespace| *namespace == key.namespace)
            && self.name.as_ref().is_none_or(|name| *name == key.name)
    }

    /// The members naming the type in objects of a watch.
    pub(crate) fn type_members(&self) -> String {
        self.resource.type_members(&self.version)
    }
}

/// A revision as a request names it: absent, malformed or a number.
pub(crate) fn revision_asked(asked: &RequestHead) -> Result<Option<u128>, Refusal> {
    match asked.parameter("resourceVersion") {
        None | Some("") => Ok(None),
        Some(text) => text
            .parse()
            .map(Some)
            .or(Err(refuse("Invalid value: resourceVersion"))),
    }
}

/// Where a page goes on: the snapshot's revision (none: whatever is current) and the last key sent.
#[derive(Debug, PartialEq, Eq)]
struct Continue {
    revision: Option<u128>,
    after: ObjectKey,
}

impl Continue {
    fn encode(&self) -> String {
        let revision = self
            .revision
            .map_or_else(|| "-1".to_owned(), |revision| revision.to_string());
        let ObjectKey { namespace, name } = &self.after;
        URL_SAFE_NO_PAD.encode(format!("{revision}\n{namespace}\n{name}"))
    }

    fn decode(token: &str) -> Option<Self> {
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()?;
        let mut parts = text.split('\n');
        let revision = match parts.next()? {
            "-1" => None,
            number => Some(number.parse().ok()?),
        };
        Some(Self {
            revision,
            after: ObjectKey {
                namespace: parts.next()?.to_owned(),
                name: parts.next()?.to_owned(),
            },
        })
    }
}

/// How long a list of a future revision waits for it before its 504.
pub(super) const FUTURE_LIST_WAIT: Duration = Duration::from_secs(3);

/// The list a request asks for.
pub(crate) fn answer(
    scope: &Scope,
    asked: &RequestHead,
    model: &Model,
    storage: &Storage,
) -> Answer {
    let (revision, after) = match snapshot(asked, model, storage) {
        Ok(found) => found,
        Err(refusal) => return *refusal,
    };
    let objects = storage.objects_at(revision);
    let start = after.map_or(Bound::Unbounded, Bound::Excluded);
    let mut left = objects
        .range((start, Bound::Unbounded))
        .filter(|(key, _)| scope.holds(key));
    let limit = asked
        .parameter("limit")
        .and_then(|limit| limit.parse().ok())
        .filter(|limit| *limit > 0)
        .unwrap_or(usize::MAX);
    let page: Vec<_> = left.by_ref().take(limit).collect();
    let remaining = left.count();
    let mut metadata = format!(r#""resourceVersion":"{revision}""#);
    if let Some((last, _)) = page.last().filter(|_| remaining > 0) {
        let token = Continue {
            revision: Some(revision),
            after: (*last).clone(),
        };
        metadata = format!(
            r#""continue":"{}","remainingItemCount":{remaining},{metadata}"#,
            token.encode()
        );
    }
    let commits = page.iter().map(|(_, version)| version.commit).collect();
    let bytes = document(scope, &metadata, &page);
    let mut answer = Answer::document(200, Vec::new());
    answer.body = Body::Document(Line {
        kind: "",
        revision: Some(revision),
        bytes,
        commits,
    });
    answer
}

/// The one object a path names.
pub(crate) fn single(scope: &Scope, storage: &Storage) -> Answer {
    let Some((_, version)) = storage.objects.iter().find(|(key, _)| scope.holds(key)) else {
        let message = format!(
            "{} \"{}\" not found",
            scope.resource.key(),
            scope.name.as_deref().unwrap_or_default()
        );
        return Answer::status(404, "NotFound", &message);
    };
    let revision = version.revision.to_string();
    let bytes = version
        .template
        .render(&scope.type_members(), &version.uid, &revision);
    Answer::document(200, bytes)
}

/// The revision to list and the key to start behind.
fn snapshot(
    asked: &RequestHead,
    model: &Model,
    storage: &Storage,
) -> Result<(u128, Option<ObjectKey>), Refusal> {
    if let Some(token) = asked
        .parameter("continue")
        .filter(|token| !token.is_empty())
    {
        let Some(token) = Continue::decode(token) else {
            return Err(refuse("continue key is not valid"));
        };
        let revision = token.revision.unwrap_or(model.revision);
        if revision < storage.list_floor || revision > model.revision {
            return Err(Box::new(expired_token(token)));
        }
        return Ok((revision, Some(token.after)));
    }
    let exact = match asked.parameter("resourceVersionMatch") {
        Some("Exact") => true,
        Some("NotOlderThan") | None => false,
        Some(_) => return Err(refuse("unknown resourceVersionMatch")),
    };
    match revision_asked(asked)? {
        None if asked.parameter("resourceVersionMatch").is_some() => Err(Box::new(Answer::status(
            422,
            "Invalid",
            "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
        ))),
        Some(revision) if revision > model.revision => Err(Box::new(too_large(
            revision,
            model.revision,
            FUTURE_LIST_WAIT,
        ))),
        Some(revision) if exact && revision < storage.list_floor => Err(Box::new(Answer::status(
            410,
            "Expired",
            "The resourceVersion for the provided list is too old.",
        ))),
        Some(revision) if exact => Ok((revision, None)),
        _ => Ok((model.revision, None)),
    }
}

fn document(scope: &Scope, metadata: &str, page: &[(&ObjectKey, &Version)]) -> Vec<u8> {
    let resource = &scope.resource;
    let api_version = resource.api_version(&scope.version);
    let kind = format!("{}List", resource.kind);
    let item_type = if resource.custom {
        scope.type_members()
    } else {
        String::new()
    };
    // Lists of custom resources come from a map, so their members are sorted: metadata last.
    let mut bytes = if resource.custom {
        format!(r#"{{"apiVersion":"{api_version}","items":["#)
    } else {
        format!(
            r#"{{"kind":"{kind}","apiVersion":"{api_version}","metadata":{{{metadata}}},"items":["#
        )
    }
    .into_bytes();
    for (nth, (_, version)) in page.iter().enumerate() {
        if nth > 0 {
            bytes.push(b',');
        }
        let revision = version.revision.to_string();
        bytes.extend_from_slice(&version.template.render(&item_type, &version.uid, &revision));
    }
    if resource.custom {
        bytes.extend_from_slice(
            format!(r#"],"kind":"{kind}","metadata":{{{metadata}}}}}"#).as_bytes(),
        );
    } else {
        bytes.extend_from_slice(b"]}");
    }
    bytes.push(b'\n');
    bytes
}

/// The refusal of a revision that is not there yet, as after a restore.
pub(crate) fn too_large(revision: u128, current: u128, wait: Duration) -> Answer {
    let message = format!("Timeout: Too large resource version: {revision}, current: {current}");
    let details = r#"{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":1}"#;
    let mut answer = Answer::document(504, status_object(504, "Timeout", &message, Some(details)));
    answer
        .headers
        .push(("Retry-After".to_owned(), "1".to_owned()));
    answer.wait = wait;
    answer
}

fn expired_token(token: Continue) -> Answer {
    let inconsistent = Continue {
        revision: None,
        after: token.after,
    };
    let body = format!(
        r#"{{"kind":"Status","apiVersion":"v1","metadata":{{"continue":"{}"}},"status":"Failure","message":"The provided continue parameter is too old to display a consistent list result.","reason":"Expired","code":410}}"#,
        inconsistent.encode()
    );
    Answer::document(410, body.into_bytes())
}

fn refuse(message: &str) -> Refusal {
    Box::new(Answer::status(400, "BadRequest", message))
}

/// The objects of a scope as they are now, in the order of their keys.
pub(crate) fn current<'a>(
    scope: &'a Scope,
    objects: &'a BTreeMap<ObjectKey, Version>,
) -> impl Iterator<Item = &'a Version> {
    objects
        .iter()
        .filter(|(key, _)| scope.holds(key))
        .map(|(_, version)| version)
}

#[cfg(test)]
mod tests {
    use super::{Continue, ObjectKey};

    #[test]
    fn continue_tokens_come_back() {
        for revision in [None, Some(u128::MAX)] {
            let token = Continue {
                revision,
                after: ObjectKey {
                    namespace: "a".to_owned(),
                    name: "b".to_owned(),
                },
            };
            assert_eq!(Continue::decode(&token.encode()), Some(token));
        }
    }
}
