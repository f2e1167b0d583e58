//! Owns what an import does about Secrets: it counts those with values, and takes the values out if
//! it is asked to. Refuses to judge other objects.

use kubereel_format::ResourceInfo;
use kubereel_redact::{Redactor, has_values};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The Secrets of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SecretCounts {
    /// The Secrets that came with values.
    pub with_data: u64,
    /// The events that brought them.
    pub events: u64,
    /// Whether their values were taken out.
    pub redacted: bool,
}

/// The Secrets while they come.
#[derive(Debug, Default)]
pub(crate) struct Secrets {
    redactor: Option<Redactor>,
    seen: BTreeSet<(String, String)>,
    events: u64,
}

impl Secrets {
    /// Begins.
    pub(crate) fn new(redact: bool) -> Self {
        Self {
            redactor: redact.then(Redactor::default),
            ..Self::default()
        }
    }

    /// Tells whether an object is a Secret, by either of its names.
    pub(crate) fn is_secret(resource: &ResourceInfo, api_version: &str, kind: &str) -> bool {
        let is_core = resource.group.is_empty() || api_version == "v1";
        is_core && (resource.plural == "secrets" || kind == "Secret")
    }

    /// Takes a Secret; `None` if its values are to be taken out and it cannot be read.
    pub(crate) fn take<'a>(
        &mut self,
        namespace: &str,
        name: &str,
        object: &'a [u8],
    ) -> Option<Cow<'a, [u8]>> {
        // What cannot be read may hold anything.
        if has_values(object).unwrap_or(true) {
            self.events = self.events.saturating_add(1);
            self.seen.insert((namespace.to_owned(), name.to_owned()));
        }
        match &self.redactor {
            None => Some(Cow::Borrowed(object)),
            Some(redactor) => redactor.secret(object).map(Cow::Owned),
        }
    }

    /// Sums up.
    pub(crate) fn counts(&self) -> SecretCounts {
        SecretCounts {
            with_data: u64::try_from(self.seen.len()).unwrap_or(u64::MAX),
            events: self.events,
            redacted: self.redactor.is_some(),
        }
    }
}
