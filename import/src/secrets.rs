//! Secrets during an import: counts Secrets with values, and redacts on request.

use crate::audit::AuditTarget;
use crate::input::len_u64;
use kubereel_format::{REDACTION_PREFIX, ResourceInfo};
use kubereel_redact::Extra;
use kubereel_redact::{NoRandomness, Redactor, ResourceType, has_values};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The Secrets of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecretCounts {
    /// The number of Secrets with values.
    pub with_data: u64,
    /// The number of events with them.
    pub events: u64,
    /// Whether their values were redacted.
    pub redacted: bool,
}

/// Counts and redacts while the input is read.
#[derive(Debug, Default)]
pub(crate) struct SecretRedaction {
    redactor: Option<Redactor>,
    seen: BTreeSet<(String, String)>,
    events: u64,
}

impl SecretRedaction {
    /// Redacts under the policy and the given extra rules, or only counts.
    ///
    /// # Errors
    ///
    /// If no key for the marks can be drawn.
    pub(crate) fn new(redact: Option<&Extra>) -> Result<Self, NoRandomness> {
        let redactor = redact.map(|extra| Redactor::new(extra.clone()));
        Ok(Self {
            redactor: redactor.transpose()?,
            ..Self::default()
        })
    }

    /// Returns whether an object is a Secret, by either of its names.
    pub(crate) fn is_secret(resource: &ResourceInfo, api_version: &str, kind: &str) -> bool {
        let is_core = resource.group.is_empty() || api_version == "v1";
        is_core && (resource.plural == "secrets" || kind == "Secret")
    }

    /// Counts a Secret that comes with values.
    pub(crate) fn count(&mut self, namespace: &str, name: &str, object: &[u8]) {
        // Unreadable data may contain anything.
        if has_values(object).unwrap_or(true) {
            self.events = self.events.saturating_add(1);
            self.seen.insert((namespace.to_owned(), name.to_owned()));
        }
    }

    /// Returns an object as it may be stored; `None` if secrets must be redacted and it cannot be
    /// read.
    ///
    /// An object may name another kind than its line: the redaction rules of both apply.
    pub(crate) fn object<'a>(
        &self,
        resource: &ResourceInfo,
        api_version: &str,
        kind: &str,
        object: &'a [u8],
    ) -> Option<Cow<'a, [u8]>> {
        let Some(redactor) = &self.redactor else {
            return Some(Cow::Borrowed(object));
        };
        let [named, own] = subjects(resource, api_version, kind);
        let body = redactor.object(&named, object)?;
        if own.group == named.group {
            return Some(body);
        }
        let own = redactor.object(&own, &body)?.into_owned();
        Some(Cow::Owned(own))
    }

    /// Returns a text as it may be stored.
    pub(crate) fn text(&self, words: &str) -> String {
        match &self.redactor {
            Some(redactor) => {
                String::from_utf8_lossy(&redactor.text(words.as_bytes())).into_owned()
            }
            None => words.to_owned(),
        }
    }

    /// Returns the name of an object in the reel.
    pub(crate) fn name<'a>(
        &self,
        resource: &ResourceInfo,
        api_version: &str,
        kind: &str,
        name: &'a str,
        uid: &str,
    ) -> Cow<'a, str> {
        let Some(redactor) = &self.redactor else {
            return Cow::Borrowed(name);
        };
        let subjects = subjects(resource, api_version, kind);
        let hiding = subjects.iter().find(|one| redactor.hides_names(one));
        redactor.name(hiding.unwrap_or(&ResourceType::default()), name, uid)
    }

    /// Returns the name that a request has, as it may be stored.
    pub(crate) fn requested_name<'a>(&self, target: &'a AuditTarget) -> Cow<'a, str> {
        match &self.redactor {
            Some(redactor) => {
                let resource = ResourceType::new(&target.group, &target.plural);
                redactor.name(&resource, &target.name, "")
            }
            None => Cow::Borrowed(&target.name),
        }
    }

    /// Describes the redactions, if redaction was requested.
    pub(crate) fn account(&self) -> Option<String> {
        let redactor = self.redactor.as_ref()?;
        Some(format!("{REDACTION_PREFIX}{}", redactor.account()))
    }

    /// Returns the summary.
    pub(crate) fn counts(&self) -> SecretCounts {
        SecretCounts {
            with_data: len_u64(self.seen.len()),
            events: self.events,
            redacted: self.redactor.is_some(),
        }
    }
}

/// Returns the types of an object: as its line names it, and as it names itself.
fn subjects<'a>(
    resource: &'a ResourceInfo,
    api_version: &'a str,
    kind: &'a str,
) -> [ResourceType<'a>; 2] {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    [
        ResourceType::new(&resource.group, &resource.plural).with_kind(kind),
        ResourceType::new(group, &resource.plural).with_kind(kind),
    ]
}
