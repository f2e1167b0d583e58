//! Rules of the user, read from a YAML file. They only add to what the policy redacts.
//!
//! Invariants of the file, which is untrusted: the number of rules and the size of each compiled
//! pattern are bounded, a pattern matches neither the empty text nor a mark, and no error quotes
//! the file, because it may contain secrets.

use crate::mark::hex;
use crate::path::PathPattern;
use crate::secret_fields::ResourceType;
use crate::yaml::YamlMistake;
use regex::bytes::{Regex, RegexBuilder};
use ring::digest;
use serde::Deserialize;
use serde_saphyr::{Location, Spanned};
use thiserror::Error;

/// The size limit of a compiled pattern, in bytes.
const PATTERN_BYTES: usize = 1024 * 1024;

/// The largest number of rules.
const RULES_MOST: usize = 200;

/// The bytes of the digest that are shown.
const DIGEST_BYTES: usize = 8;

/// An error in a file of rules.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}:{line}:{column}: {what}")]
#[non_exhaustive]
pub struct ExtraError {
    /// The file's name.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// The character in the line, from 1.
    pub column: u64,
    /// The error.
    pub what: String,
}

/// The rules of the user.
#[derive(Clone, Debug, Default)]
pub struct Extra {
    pub(crate) places: Vec<PlaceRule>,
    pub(crate) texts: Vec<(String, Regex)>,
    digest: String,
}

/// A rule for a place in objects.
#[derive(Clone, Debug)]
pub(crate) struct PlaceRule {
    /// The resource: plural and group; any if `None`.
    resource: Option<(String, String)>,
    /// The name of the rule, and its place.
    pub(crate) place: (String, PathPattern),
}

impl PlaceRule {
    /// Returns whether the rule applies to a resource.
    pub(crate) fn is_for(&self, resource: &ResourceType<'_>) -> bool {
        self.resource.as_ref().is_none_or(|(name, group)| {
            group == resource.group
                && (name.eq_ignore_ascii_case(resource.plural)
                    || name.eq_ignore_ascii_case(resource.kind))
        })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExtraRuleFile {
    rules: Vec<Spanned<ExtraRuleEntry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExtraRuleEntry {
    name: Spanned<String>,
    #[serde(default)]
    kind: Option<Spanned<String>>,
    #[serde(default)]
    path: Option<Spanned<String>>,
    #[serde(default)]
    text: Option<Spanned<String>>,
}

impl Extra {
    /// Reads a file; `file` is its name in errors.
    ///
    /// # Errors
    ///
    /// If it is not YAML of that form, or a path or pattern in it is invalid.
    pub fn read(file: &str, text: &str) -> Result<Self, ExtraError> {
        let wrong = |line, column, what| ExtraError {
            file: file.to_owned(),
            line,
            column,
            what,
        };
        let read: ExtraRuleFile = serde_saphyr::from_str(text).map_err(|error| {
            let mistake = YamlMistake::of(&error);
            wrong(
                mistake.line.max(1),
                mistake.column.max(1),
                mistake.kind.to_owned(),
            )
        })?;
        let tag = digest::digest(&digest::SHA256, text.as_bytes());
        let mut extra = Self {
            digest: hex(tag.as_ref().get(..DIGEST_BYTES).unwrap_or_default()),
            ..Self::default()
        };
        for rule in read.rules {
            let taken = extra.take(rule.value, rule.referenced);
            taken.map_err(|(at, what): LocatedMistake| wrong(at.line(), at.column(), what))?;
        }
        Ok(extra)
    }

    fn take(&mut self, rule: ExtraRuleEntry, at: Location) -> Result<(), LocatedMistake> {
        let name = rule.name.value;
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if name.is_empty() || name.len() > 60 || !name.bytes().all(is_name) {
            let what = "a name has letters, digits, dashes and underscores, at most 60".to_owned();
            return Err((rule.name.referenced, what));
        }
        if self.count() >= RULES_MOST {
            return Err((at, format!("more than {RULES_MOST} rules")));
        }
        match (rule.path, rule.text) {
            (Some(path), None) => {
                let pattern = PathPattern::read(&path.value).map_err(|_unclosed| {
                    let what = "a path has keys separated by dots, such as spec.users.*.pin, where * is also any item of a list; a key with dots or brackets needs double quotes";
                    (path.referenced, what.to_owned())
                })?;
                let resource = rule.kind.map(resource_of).transpose()?;
                let place = (name, pattern);
                self.places.push(PlaceRule { resource, place });
            }
            (None, Some(text)) => {
                if let Some(kind) = rule.kind {
                    let what = "`text` applies to every kind: remove `kind`".to_owned();
                    return Err((kind.referenced, what));
                }
                self.texts.push((name, compile(&text)?));
            }
            _ => {
                let what = "a rule needs either `path` or `text` (a regular expression)";
                return Err((at, what.to_owned()));
            }
        }
        Ok(())
    }

    /// Returns the number of rules.
    pub fn count(&self) -> usize {
        self.places.len() + self.texts.len()
    }

    /// Returns the beginning of the file's digest; empty without a file.
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

/// The error, and its place.
type LocatedMistake = (Location, String);

/// The kinds of the core group; their plurals end in `s` or `es`.
#[rustfmt::skip]
const CORE: [&str; 17] = [
    "Binding", "ComponentStatus", "ConfigMap", "Endpoints", "Event", "LimitRange", "Namespace", "Node",
    "PersistentVolume", "PersistentVolumeClaim", "Pod", "PodTemplate", "ReplicationController", "ResourceQuota",
    "Secret", "Service", "ServiceAccount",
];

/// Reads the plural or kind of a rule, and its group.
fn resource_of(kind: Spanned<String>) -> Result<(String, String), LocatedMistake> {
    if let Some((name, group)) = kind.value.split_once('.') {
        return Ok((name.to_owned(), group.to_owned()));
    }
    let is_core = CORE.iter().any(|core| {
        ["", "s", "es"]
            .iter()
            .any(|ending| format!("{core}{ending}").eq_ignore_ascii_case(&kind.value))
    });
    // Such a rule would never apply, and nothing would say so.
    if !is_core {
        let what = "`kind` needs its group, such as widgets.acme.io; only kinds of the core group have none";
        return Err((kind.referenced, what.to_owned()));
    }
    Ok((kind.value, String::new()))
}

fn compile(text: &Spanned<String>) -> Result<Regex, LocatedMistake> {
    let wrong = |what| (text.referenced, what);
    let pattern = RegexBuilder::new(&text.value)
        .size_limit(PATTERN_BYTES)
        .build()
        .map_err(|error| {
            let words = error.to_string();
            let last = words.lines().last().unwrap_or_default();
            wrong(format!(
                "not a regular expression: {}",
                last.trim_start_matches("error: ")
            ))
        })?;
    if pattern.is_match(b"") {
        return Err(wrong(
            "the expression matches the empty text, and so every text".to_owned(),
        ));
    }
    // Otherwise a mark would count as a secret again.
    if pattern.is_match(b"redacted by kubereel: 12 bytes, 0123456789abcdef")
        || pattern.is_match(b"redacted-by-kubereel-12-bytes-0123456789abcdef")
    {
        return Err(wrong(
            "the expression matches the marks of kubereel".to_owned(),
        ));
    }
    Ok(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_rules() {
        let extra = Extra::read(
            "own.yaml",
            "rules:\n- name: pins\n  kind: widgets.acme.io\n  path: spec.pin\n- name: licences\n  text: 'LIC-[0-9]{6}'\n",
        )
        .expect("rules");
        assert_eq!(extra.count(), 2);
        assert_eq!(extra.digest().len(), 16);
        assert!(extra.places[0].is_for(&ResourceType::new("acme.io", "widgets")));
        assert!(extra.places[0].is_for(&ResourceType::new("acme.io", "").with_kind("Widgets")));
        assert!(!extra.places[0].is_for(&ResourceType::new("", "widgets")));
        for kind in [
            "ConfigMap",
            "configmaps",
            "Endpoints",
            "endpoints",
            "componentstatuses",
            "event",
        ] {
            let text = format!("rules:\n- {{name: x, kind: {kind}, path: data}}\n");
            assert!(Extra::read("own.yaml", &text).is_ok(), "{kind}");
        }
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (text, line, words) in [
            ("rules:\n- name: x\n", 2, "either `path` or `text`"),
            (
                "rules:\n- name: x\n  text: '(a'\n",
                3,
                "not a regular expression",
            ),
            (
                "rules:\n- name: x\n  text: 'a*'\n",
                3,
                "matches the empty text",
            ),
            (
                "rules:\n- name: x\n  text: '[a-z]'\n",
                3,
                "marks of kubereel",
            ),
            (
                "rules:\n- name: x\n  text: '(a{1000}){1000}'\n",
                3,
                "not a regular expression",
            ),
            ("rules:\n- name: a b\n  text: X1\n", 2, "a name has"),
            ("rules:\n- name: x\n  path: a..b\n", 3, "a path has"),
            (
                "rules:\n- name: x\n  path: a.b[*].c\n",
                3,
                "any item of a list",
            ),
            (
                "rules:\n- name: x\n  kind: Widget\n  path: a\n",
                3,
                "needs its group, such as widgets.acme.io",
            ),
            (
                "rules:\n- name: x\n  kind: y\n  text: X1\n",
                3,
                "remove `kind`",
            ),
            ("rules:\n- name: x\n  file: y\n", 3, "unknown field"),
            ("rules: 7\n", 1, ""),
            ("rules: canary-of-a-rule\n", 1, "wrong type"),
            (
                "rules:\n- name: x\n  text: [canary-of-a-rule]\n",
                3,
                "wrong type",
            ),
            ("rules:\n- name: x\n  text: \"canary-of-a-rule\n", 4, ""),
        ] {
            let error = Extra::read("own.yaml", text).expect_err(text);
            assert_eq!(error.line, line, "{error}");
            assert!(error.what.contains(words), "{error}");
            assert!(!error.what.contains("canary"), "{error}");
        }
    }
}
