//! Owns the cluster version's words for operators that take too long: who is named, and after how many
//! minutes. Refuses operators that nobody knows: then the words were not understood.

use crate::known::known_operators;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// After how many minutes the cluster version complains of an operator.
const USUAL_MINUTES: u32 = 30;

/// The operator that rolls the nodes, and its minutes.
const NODES: (&str, u32) = ("machine-config", 90);

static LONGER: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled("waiting on.*which is longer than expected"));
static NODES_LONGER: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled("machine-config over 90 minutes"));
static NAMES: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled(".*waiting on (.+) over 30 minutes"));

fn compiled(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

/// Gives after how many minutes an operator is too slow.
pub(super) fn minutes(operator: &str) -> u32 {
    if operator == NODES.0 {
        NODES.1
    } else {
        USUAL_MINUTES
    }
}

/// Gives the operators that a message names.
///
/// # Errors
/// What is not understood of it, in words.
pub(super) fn named(message: &str) -> Result<Vec<String>, String> {
    let is_match =
        |regex: &Option<Regex>| regex.as_ref().is_some_and(|regex| regex.is_match(message));
    if !is_match(&LONGER) {
        return Err("it does not say who is waited for longer than expected".to_owned());
    }
    let mut operators = BTreeSet::new();
    if is_match(&NODES_LONGER) {
        operators.insert(NODES.0.to_owned());
    }
    let names = NAMES.as_ref().and_then(|names| names.captures(message));
    if let Some(names) = names.as_ref().and_then(|found| found.get(1)) {
        for name in names.as_str().split(',') {
            operators.insert(name.trim().to_owned());
        }
    }
    let unknown: Vec<&str> = operators
        .iter()
        .map(String::as_str)
        .filter(|name| !known_operators().any(|known| known == *name))
        .collect();
    if !unknown.is_empty() {
        return Err(format!("nobody knows the operators {}", unknown.join(", ")));
    }
    if operators.is_empty() {
        return Err("it names no operator".to_owned());
    }
    Ok(operators.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_found_in_every_form() {
        let told = |detail: &str| named(&format!("Working towards 4.22.0: 1 of 9 done, {detail}"));
        let names = |names: &[&str]| Ok(names.iter().map(|&name| name.to_owned()).collect());
        for (detail, expected) in [
            (
                "waiting on etcd over 30 minutes which is longer than expected",
                names(&["etcd"]),
            ),
            (
                "waiting on dns, etcd over 30 minutes which is longer than expected",
                names(&["dns", "etcd"]),
            ),
            (
                "waiting on etcd over 30 minutes and machine-config over 90 minutes which is longer than expected",
                names(&["etcd", "machine-config"]),
            ),
            (
                "waiting on machine-config over 90 minutes which is longer than expected",
                names(&["machine-config"]),
            ),
        ] {
            assert_eq!(told(detail), expected, "{detail}");
        }
    }

    #[test]
    fn what_is_not_understood_says_why() {
        for (message, why) in [
            ("waiting on etcd", "longer than expected"),
            (
                "waiting on etcd over 40 minutes which is longer than expected",
                "names no operator",
            ),
            (
                "waiting on web, etcd over 30 minutes which is longer than expected",
                "operators web",
            ),
        ] {
            let error = named(message).expect_err("not understood");
            assert!(error.contains(why), "{error}");
        }
    }
}
