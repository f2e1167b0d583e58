//! The words of a problem: what they name, quote and hint at.

use super::failure_words::is_about_missing_kind;
use crate::collect::Collected;
use crate::problem::Problem;
use kubereel_history::field::{items, text};
use serde_json::Value;
use std::collections::BTreeSet;

/// Members of paths that say nothing about what they are for.
const COMMON_MEMBERS: [&str; 11] = [
    "containers",
    "data",
    "image",
    "initContainers",
    "metadata",
    "name",
    "spec",
    "stringData",
    "template",
    "value",
    "values",
];
/// The first letters of a word that say what it is about.
const STEM: usize = 6;
/// A name in a message that is shorter than this may be any word.
pub(super) const SHORTEST_NAME: usize = 4;
/// A word of a member that is shorter than this may be part of any other.
const SHORTEST_HINT: usize = 5;

/// What a problem, its signs and the Events about their objects say.
pub(super) struct ProblemWords {
    /// All of it, in lower case.
    text: String,
    /// The words that may be names.
    tokens: BTreeSet<String>,
    /// The container that the problem is about.
    container: Option<String>,
}

impl ProblemWords {
    pub(super) fn of(problem: &Problem, found: &Collected) -> Self {
        let mut text = format!("{} {}", problem.reason, problem.message);
        for sign in &problem.signs {
            text = format!("{text} {}", sign.message);
            let own = &sign.object;
            for event in found.events.of(&own.kind, &own.namespace, &own.name) {
                text = format!("{text} {}", event.message);
            }
        }
        let split = |c: char| !(c.is_alphanumeric() || c == '-');
        let tokens = text
            .split(|c: char| split(c) && c != '.')
            .chain(text.split(split))
            .map(|token| token.trim_matches('.'))
            .filter(|token| token.len() >= SHORTEST_NAME)
            .map(str::to_owned)
            .collect();
        let container = problem.message.strip_prefix("container ");
        let container = container.and_then(|rest| rest.split(' ').next());
        Self {
            text: text.to_lowercase(),
            tokens,
            container: container.map(str::to_owned),
        }
    }

    /// Returns all words, in lower case.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the container that the problem is about.
    pub(super) fn container(&self) -> Option<&str> {
        self.container.as_deref()
    }

    /// Returns the accounts that the words name as users: `system:serviceaccount:NAMESPACE:NAME`.
    pub(super) fn accounts(&self) -> BTreeSet<(String, String)> {
        let users = self.text.split("system:serviceaccount:").skip(1);
        users
            .filter_map(|user| {
                let (namespace, rest) = user.split_once(':')?;
                let is_end = |c: char| !(c.is_alphanumeric() || c == '-' || c == '.');
                Some((namespace.to_owned(), rest.split(is_end).next()?.to_owned()))
            })
            .collect()
    }

    /// Returns whether the words of the problem name the last member of a field's path, such as a
    /// key of a `ConfigMap`.
    pub(super) fn name_field(&self, path: &str) -> bool {
        let last = path.rsplit(['[', '"']).find(|part| part.len() > 1);
        let last = last.unwrap_or_default().trim_end_matches(']');
        // A plain path: its last member.
        let last = if path.ends_with(']') {
            last
        } else {
            path.rsplit('.').next().unwrap_or_default()
        };
        path.starts_with("data") && self.name(last)
    }

    /// Returns whether the words of the problem have a word of the last members of a field's path.
    pub(super) fn hint_at(&self, path: &str) -> bool {
        if path.starts_with("metadata") {
            return false;
        }
        let mut members: Vec<&str> = path.split(|c: char| !c.is_alphanumeric()).collect();
        members.retain(|member| !COMMON_MEMBERS.contains(member));
        let last = members.iter().rev().take(3);
        last.flat_map(|member| words_of(member))
            .filter(|word| word.len() >= SHORTEST_HINT)
            .any(|word| self.text.contains(word.get(..STEM).unwrap_or(&word)))
    }

    /// Returns whether the words of the problem hold a value that a change wrote or took away.
    pub(super) fn hold_value(&self, value: Option<&Value>) -> bool {
        let text = value.and_then(Value::as_str).unwrap_or_default();
        text.len() >= SHORTEST_NAME && self.text.contains(&text.to_lowercase())
    }

    /// Returns whether a path is of a container that is not the one that fails.
    pub(super) fn is_of_other_container(&self, path: &str) -> bool {
        let own = self.container();
        own.is_some_and(|own| {
            let of_container = path.split_once("ontainers[").map(|(_, rest)| rest);
            of_container.is_some_and(|rest| rest.split(']').next() != Some(own))
        })
    }

    /// Returns whether a name among the words can be that of an object of a kind: the words say so for data.
    pub(super) fn mean_kind(&self, kind: &str) -> bool {
        !["ConfigMap", "Secret"].contains(&kind) || self.text.contains(&kind.to_lowercase())
    }

    pub(super) fn name(&self, name: &str) -> bool {
        name.len() >= SHORTEST_NAME && self.tokens.contains(name)
    }

    /// Returns whether the words of the problem miss the kind that a definition defines.
    pub(super) fn miss_kind_of(&self, definition: &Value) -> bool {
        let says = |field: &str| {
            let word = text(definition, field).to_lowercase();
            !word.is_empty() && self.text.contains(&word)
        };
        is_about_missing_kind(&self.text)
            && says("/spec/group")
            && (says("/spec/names/kind") || says("/spec/names/plural"))
    }

    /// Returns whether the words of the problem name the group of an `APIService`, whose name is `VERSION.GROUP`.
    pub(super) fn name_api(&self, name: &str) -> bool {
        let group = name.split_once('.').map_or("", |(_, group)| group);
        group.contains('.') && self.text.contains(group)
    }

    /// Returns whether the scheduler finds a resource insufficient that a workload's Pods request.
    pub(super) fn miss_room_for(&self, body: &Value) -> bool {
        let is_short = |resource: &String| {
            let words = format!("insufficient {}", resource.to_lowercase());
            self.text.contains(&words)
        };
        let containers = items(body, "/spec/template/spec/containers").iter();
        let mut requests =
            containers.filter_map(|one| one.pointer("/resources/requests")?.as_object());
        requests.any(|requests| requests.keys().any(is_short))
    }
}

/// Splits a member's name into its words, in lower case: `terminationGrace` into two.
fn words_of(member: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut was_lower = false;
    for letter in member.chars() {
        let begins = letter.is_uppercase() && was_lower || words.is_empty();
        was_lower = letter.is_lowercase();
        let lower = letter.to_ascii_lowercase();
        match words.last_mut().filter(|_| !begins) {
            Some(word) => word.push(lower),
            None => words.push(lower.to_string()),
        }
    }
    words
}
