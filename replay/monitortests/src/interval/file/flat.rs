//! How the flat texts of old files read: `key/value` words, then words for people, then how often.
//! It does not handle words whose key is none, such as an image's address.

use crate::interval::{IntervalMessage, Locator, SharedTexts};

/// The type of a locator, by the first of these keys that it has.
const KINDS: [(&str, &str); 16] = [
    ("e2e-test", "E2ETest"),
    ("alert", "Alert"),
    ("backend-disruption-name", "Disruption"),
    ("disruption", "Disruption"),
    ("clusteroperator", "ClusterOperator"),
    ("clusterversion", "ClusterVersion"),
    ("container", "Container"),
    ("pod", "Pod"),
    ("machine", "Machine"),
    ("deployment", "Deployment"),
    ("daemonset", "DaemonSet"),
    ("statefulset", "StatefulSet"),
    ("metrics-path", "MetricsEndpoint"),
    ("metric", "CloudMetrics"),
    ("server", "APIServer"),
    ("node", "Node"),
];

/// Reads a flat locator.
pub(super) fn locator(text: &str, words: &mut SharedTexts) -> Locator {
    let mut keys = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (word, after) = next_word(rest);
        if let Some((key, value)) = split(&word) {
            let key = if key == "ns" { "namespace" } else { key };
            keys.push((key.to_owned(), value.to_owned()));
        }
        rest = after.trim_start();
    }
    let has = |key: &str| keys.iter().any(|(known, _)| known == key);
    let kind = KINDS.iter().find(|(key, _)| has(key));
    Locator {
        kind: words.kept(kind.map_or("", |(_, kind)| kind)),
        keys: words.pairs(keys.iter().map(|(key, value)| (&**key, &**value))),
    }
}

/// Reads a flat message: the words of annotations lead.
pub(super) fn message(text: &str, words: &mut SharedTexts) -> IntervalMessage {
    let mut annotations = Vec::new();
    let mut rest = text.trim_start();
    while let Some((key, value, after)) = leading(rest) {
        annotations.push((key, value));
        rest = after.trim_start();
    }
    if let Some((human, count)) = counted(rest) {
        rest = human;
        if !annotations.iter().any(|(name, _)| *name == "count") {
            annotations.push(("count", count));
        }
    }
    let annotations = words.pairs(annotations);
    let of = |name: &str| annotations.get(name).cloned().unwrap_or_default();
    IntervalMessage {
        reason: of("reason"),
        cause: of("cause"),
        human: words.kept(rest),
        annotations,
    }
}

/// Takes the count off the words of an Event: `… (21 times)`.
fn counted(text: &str) -> Option<(&str, &str)> {
    let (human, count) = text.strip_suffix(" times)")?.rsplit_once(" (")?;
    let is_number = !count.is_empty() && count.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then_some((human, count))
}

fn leading(text: &str) -> Option<(&str, &str, &str)> {
    let (word, after) = text.split_once(' ').unwrap_or((text, ""));
    let (key, value) = split(word)?;
    Some((key, value, after))
}

/// Takes a word apart; of letters, digits and dashes is a key.
fn split(word: &str) -> Option<(&str, &str)> {
    let (key, value) = word.split_once('/')?;
    let is_key = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    (!key.is_empty() && key.chars().all(is_key)).then_some((key, value))
}

/// Returns the next word, and what follows. A value in quotes may hold blanks, and loses the
/// quotes.
fn next_word(text: &str) -> (String, &str) {
    let end = text.find(' ').unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    let Some((key, _)) = word.split_once("/\"") else {
        return (word.to_owned(), after);
    };
    let Some((_, quoted)) = text.split_once("/\"") else {
        return (word.to_owned(), after);
    };
    let mut value = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => {
                let after = quoted.get(at + 1..).unwrap_or_default();
                return (format!("{key}/{value}"), after);
            }
            '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
            letter => value.push(letter),
        }
    }
    // No closing quote: these are no quotes.
    (word.to_owned(), after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_locator_is_taken_apart() {
        let mut words = SharedTexts::default();
        let pod = locator("ns/web pod/a-0 node/ uid/7 container/c", &mut words);
        assert_eq!(&*pod.kind, "Container");
        assert_eq!(pod.get("namespace"), Some("web"));
        assert_eq!(pod.get("node"), Some(""));
        let test = locator(
            "e2e-test/\"[sig-a] b/c \\\"d\\\" e\" jUnitSuite/x",
            &mut words,
        );
        assert_eq!(test.get("e2e-test"), Some("[sig-a] b/c \"d\" e"));
        assert_eq!(test.get("jUnitSuite"), Some("x"));
        assert_eq!(&*test.kind, "E2ETest");
        for odd in ["", " ", "/", "a/\"b", "\"", "key/", "é/ü a b/c d"] {
            drop(locator(odd, &mut words));
        }
    }

    #[test]
    fn an_old_message_begins_with_annotations() {
        let mut words = SharedTexts::default();
        let text = "condition/Degraded status/True reason/Broken changed: quay.io/a is gone";
        let said = message(text, &mut words);
        assert_eq!(&*said.reason, "Broken");
        assert_eq!(said.annotation("condition"), Some("Degraded"));
        assert_eq!(&*said.human, "changed: quay.io/a is gone");
        let said = message("quay.io/a is gone", &mut words);
        assert!(said.annotations.is_empty());
    }

    #[test]
    fn an_old_message_ends_with_its_count() {
        let mut words = SharedTexts::default();
        let said = message("reason/BackOff Back-off (quay.io/a) (21 times)", &mut words);
        assert_eq!(said.annotation("count"), Some("21"));
        assert_eq!(&*said.human, "Back-off (quay.io/a)");
        for none in [
            "it broke (many times)",
            "it broke ( times)",
            " times)",
            "x (3 times) y",
        ] {
            let said = message(none, &mut words);
            assert_eq!(said.annotation("count"), None, "{none}");
            assert_eq!(&*said.human, none.trim_start(), "{none}");
        }
    }
}
