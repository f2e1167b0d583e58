//! The policy: one entry point for objects, one for texts, one for names.
//!
//! Invariants:
//!
//! * An object that cannot be parsed is dropped whole if its kind has secret fields.
//! * Redaction is idempotent: the result is searched again until nothing is found. After [`ROUNDS`]
//!   searches, each text with another finding is replaced whole, so that this ends.
//! * Nothing that leaves this module contains a secret: a finding has at most a fourth of it, and
//!   at most four letters.

use crate::credentials::KnownCredentials;
use crate::extra::Extra;
use crate::mark::{self, Edit, Marker, RuleName, is_mark};
use crate::path::PathStep;
use crate::search::field_rules::FieldRules;
use crate::search::json;
use crate::search::known_parts::KnownParts;
use crate::search::object::{self, FoundInObject};
use crate::search::scope::TextScope;
use crate::search::text::{self, SearchContext};
use crate::secret_fields::{self, FieldAction, ResourceType};
use crate::text::places;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// The version of the policy, stored in the first note of a session. Policy 1 redacted the values
/// of Secrets only; policy 2 had fewer names, kept values in `managedFields`, and redacted images
/// and paths under names with AUTH or KEY; policy 3 kept the rest of a password with blanks.
pub const POLICY: u32 = 4;

/// How often an object is searched for secrets in parts of its texts: a replacement may uncover
/// another secret.
const ROUNDS: usize = 4;

/// How often it is searched for texts to replace whole. Once is enough, unless a text is the name
/// of a field.
const WHOLE_ROUNDS: usize = 4;

/// The system returned no random bytes, without which the hashes of marks could be guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the system returned no random bytes")]
pub struct NoRandomness;

/// A secret that the policy would replace, without the secret itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedactionFinding {
    /// The rule.
    pub rule: String,
    /// The path in the object, with the keys replaced that contain a secret; empty in a text.
    pub path: String,
    /// The offset in the searched bytes.
    pub at: usize,
    /// The length in bytes.
    pub len: usize,
    /// Its first letters: at most four, and at most a fourth of it.
    pub begin: String,
}

impl From<Edit> for RedactionFinding {
    fn from(edit: Edit) -> Self {
        Self {
            rule: edit.rule.into_owned(),
            path: edit.path,
            at: edit.place.start,
            len: edit.hint.len,
            begin: edit.hint.begin,
        }
    }
}

/// The policy, with the key of one run. Clones share key and counts.
#[derive(Clone, Debug)]
pub struct Redactor {
    marker: Marker,
    extra: Arc<Extra>,
    counts: Counts,
}

impl Redactor {
    /// Creates the policy of a run, with the rules of the user.
    ///
    /// # Errors
    ///
    /// If no key can be drawn.
    pub fn new(extra: Extra) -> Result<Self, NoRandomness> {
        Ok(Self {
            marker: Marker::random().ok_or(NoRandomness)?,
            extra: Arc::new(extra),
            counts: Counts::default(),
        })
    }

    /// Creates a redactor for another recording of the same run: with the same key, so that equal
    /// secrets have equal marks in both, and with its own counts.
    #[must_use]
    pub fn next(&self) -> Self {
        Self {
            marker: self.marker.clone(),
            extra: Arc::clone(&self.extra),
            counts: Counts::default(),
        }
    }

    /// Returns an object without its secrets; `None` if its kind has secrets and the object cannot
    /// be read: then no part of it may be stored.
    pub fn object<'a>(
        &self,
        resource: &ResourceType<'_>,
        object: &'a [u8],
    ) -> Option<Cow<'a, [u8]>> {
        let mut body = Cow::Borrowed(object);
        for round in 0..ROUNDS + WHOLE_ROUNDS {
            let Some(mut edits) = self.search(resource, &body, false) else {
                return (!self.is_closed(resource)).then(|| match body {
                    Cow::Borrowed(bytes) => self.text(bytes),
                    Cow::Owned(bytes) => Cow::Owned(self.text(&bytes).into_owned()),
                });
            };
            if edits.is_empty() {
                break;
            }
            if round >= ROUNDS {
                edits = json::whole_strings(&body, edits, &self.marker);
            }
            self.counts.add(&edits);
            body = Cow::Owned(mark::apply(&body, &edits));
        }
        Some(body)
    }

    /// Returns a text without the credentials that this process has read, and without secrets of a
    /// known form. Every text that leaves the process passes here.
    pub fn text<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        let mut body = self.without_known(text);
        for _ in 0..ROUNDS {
            let edits = self.search_text(&body, false);
            if edits.is_empty() {
                return body;
            }
            self.counts.add(&edits);
            body = Cow::Owned(mark::apply(&body, &edits));
        }
        if self.search_text(&body, false).is_empty() {
            body
        } else {
            Cow::Owned(self.marker.word(&body).into_bytes())
        }
    }

    /// Returns a string without secrets, as [`Redactor::text`] does.
    pub fn words<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.text(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// Returns the name of an object in a reel, which differs from its own name if that is a
    /// secret.
    pub fn name<'a>(&self, resource: &ResourceType<'_>, name: &'a str, uid: &str) -> Cow<'a, str> {
        if !self.hides_names(resource) {
            return self.words(name);
        }
        if name.is_empty() || is_mark(name.as_bytes()) {
            return Cow::Borrowed(name);
        }
        Cow::Owned(mark::name_of(uid).unwrap_or_else(|| self.marker.word(name.as_bytes())))
    }

    /// Returns whether the names of a resource's objects are secrets.
    pub fn hides_names(&self, resource: &ResourceType<'_>) -> bool {
        secret_fields::of(resource)
            .iter()
            .any(|place| place.action == FieldAction::Name)
    }

    /// Returns whether a resource has fields that are secret by their place. No part of its objects
    /// that cannot be parsed may be stored.
    pub fn is_closed(&self, resource: &ResourceType<'_>) -> bool {
        let is_secret = |action| !matches!(action, FieldAction::Url);
        secret_fields::of(resource)
            .iter()
            .any(|place| is_secret(place.action))
            || self.extra.places.iter().any(|rule| rule.is_for(resource))
    }

    /// Finds what the policy would replace in an object.
    pub fn findings(&self, resource: &ResourceType<'_>, object: &[u8]) -> Vec<RedactionFinding> {
        let edits = match self.search(resource, object, true) {
            Some(edits) => edits,
            None => self.search_text(object, true),
        };
        edits.into_iter().map(RedactionFinding::from).collect()
    }

    /// Finds what the policy would replace in a text.
    pub fn text_findings(&self, text: &[u8]) -> Vec<RedactionFinding> {
        let edits = self.search_text(text, true);
        edits.into_iter().map(RedactionFinding::from).collect()
    }

    /// Returns the number of replacements of each rule so far.
    pub fn counts(&self) -> Vec<Count> {
        self.counts.all()
    }

    /// Describes the policy and its replacements in one line.
    pub fn account(&self) -> String {
        let mut text = format!("policy {POLICY}");
        if self.extra.count() > 0 {
            let (count, digest) = (self.extra.count(), self.extra.digest());
            let _written = write!(text, ", {count} extra rules ({digest})");
        }
        let counts = self.counts();
        let values = counts
            .iter()
            .fold(0_u64, |sum, one| sum.saturating_add(one.values));
        let _written = write!(text, ", {values} values replaced");
        for (place, count) in counts.iter().enumerate() {
            let before = if place == 0 { ":" } else { "," };
            let _written = write!(text, "{before} {} {}", count.rule, count.values);
        }
        text
    }

    /// Returns the rules of the user.
    pub fn extra(&self) -> &Extra {
        &self.extra
    }

    fn without_known<'a>(&self, text: &'a [u8]) -> Cow<'a, [u8]> {
        let context = self.context(false);
        let found = KnownCredentials::of_process().find(text).into_iter();
        let edits: Vec<Edit> = found
            .filter_map(|place| context.edit(text, place, "own-credential"))
            .collect();
        if edits.is_empty() {
            return Cow::Borrowed(text);
        }
        self.counts.add(&edits);
        Cow::Owned(mark::apply(text, &edits))
    }

    /// Writes a place in an object without secrets.
    pub(crate) fn path_text(&self, steps: &[PathStep<'_>]) -> String {
        self.context(true).path_text(steps)
    }

    fn context(&self, has_paths: bool) -> SearchContext<'_> {
        SearchContext {
            marker: &self.marker,
            extra: &self.extra.texts,
            has_paths,
            is_command: false,
        }
    }

    fn search(
        &self,
        resource: &ResourceType<'_>,
        object: &[u8],
        has_paths: bool,
    ) -> Option<Vec<Edit>> {
        let text = std::str::from_utf8(object).ok()?;
        let rules = FieldRules::of(resource, &self.extra.places);
        let parts = if self.extra.count() == 0 && !rules.need_identity() {
            KnownParts::of(resource, text)
        } else {
            KnownParts::default()
        };
        let found = self.search_besides(text, &rules, &parts, has_paths)?;
        let mut effects = found.effects.iter();
        if found.edits.is_empty() && !effects.any(|at| parts.begin_at(*at)) {
            parts.remember(found.effects);
            return Some(found.edits);
        }
        if parts.known().is_empty() {
            return Some(found.edits);
        }
        // What is replaced, or announced beside it, may concern a part that was passed over.
        let all = self.search_besides(text, &rules, &KnownParts::default(), has_paths)?;
        Some(all.edits)
    }

    /// Searches an object without its known parts.
    fn search_besides(
        &self,
        text: &str,
        rules: &FieldRules<'_>,
        parts: &KnownParts,
        has_paths: bool,
    ) -> Option<FoundInObject> {
        let object = text.as_bytes();
        let context = self.context(has_paths);
        let suspicious = places(object, &self.extra.texts, parts.known());
        let is_plain = suspicious
            .as_ref()
            .is_some_and(|found| found.texts.is_empty() && !found.has_fields);
        // Without a suspicion only what is nested too deep is replaced, and credentials of this
        // process in a text that is not JSON.
        if is_plain
            && rules.is_empty()
            && !object::may_be_deep(object)
            && KnownCredentials::of_process().find(object).is_empty()
        {
            return Some(FoundInObject {
                edits: Vec::new(),
                effects: parts.broken(text),
            });
        }
        let scope = suspicious.as_ref().map_or(TextScope::All, TextScope::At);
        object::find(context, rules.clone(), scope, text, parts.known())
    }

    fn search_text(&self, text: &[u8], has_paths: bool) -> Vec<Edit> {
        let context = self.context(has_paths);
        if context.suspects(text, 0) {
            text::find(context, text, 0)
        } else {
            Vec::new()
        }
    }
}

/// The replacements of one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The rule.
    pub rule: String,
    /// The number of its replacements.
    pub values: u64,
}

/// The counts of one run, shared by the clones of its redactor.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts(Arc<Mutex<BTreeMap<RuleName, u64>>>);

impl Counts {
    /// Counts replacements.
    pub(crate) fn add(&self, edits: &[Edit]) {
        if edits.is_empty() {
            return;
        }
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for edit in edits {
            let count = counts.entry(edit.rule.clone()).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// Returns the counts by rule.
    pub(crate) fn all(&self) -> Vec<Count> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        counts
            .iter()
            .map(|(rule, values)| Count {
                rule: rule.to_string(),
                values: *values,
            })
            .collect()
    }
}
