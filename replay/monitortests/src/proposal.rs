//! Exception entries for the failures of a run, for a person to edit.

use crate::exception::SubjectNames;
use crate::outcome::{CaseOutcome, JudgedFinding};
use kubereel_history::timetext;
use std::collections::BTreeSet;

/// What stands for the link that only a person can give.
const NO_LINK_YET: &str = "TO-BE-FILED";
/// How much of a message is matched, in characters.
const MESSAGE_LETTERS: usize = 200;

/// Writes a file of exceptions that covers the failures of some runs, each with its name.
pub fn proposed<'a>(runs: impl IntoIterator<Item = (&'a str, &'a [CaseOutcome])>) -> String {
    let mut text = String::from(
        "# Proposed for failures that no exception covers. Before use: say why, name the issue, widen\n\
         # names that are made anew each time with *, and take out what should go on failing.\n\
         exceptions:",
    );
    let mut known = BTreeSet::new();
    for (run, outcomes) in runs {
        for outcome in outcomes {
            let failures = outcome.findings.iter().filter(|judged| judged.is_failure());
            for judged in failures {
                let entry = entry(outcome, judged);
                if known.insert(entry.clone()) {
                    text.push_str(&about(run, judged));
                    text.push_str(&entry);
                }
            }
        }
    }
    if known.is_empty() {
        text.push_str(" []");
    }
    text.push('\n');
    text
}

/// Returns the line that tells what an entry was made of.
fn about(run: &str, judged: &JudgedFinding) -> String {
    let finding = &judged.finding;
    let said: String = finding.message.chars().take(MESSAGE_LETTERS).collect();
    let at = timetext::rfc3339(finding.from);
    let line = format!("{run}, {at}: {said}");
    let line = line
        .chars()
        .map(|letter| if is_plain(letter) { letter } else { ' ' });
    format!("\n  # {}", line.collect::<String>())
}

/// Returns whether YAML can hold a character as it is, and does not take it for the end of a line.
fn is_plain(letter: char) -> bool {
    !letter.is_control()
        && !matches!(
            letter,
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
        )
}

fn entry(outcome: &CaseOutcome, judged: &JudgedFinding) -> String {
    let finding = &judged.finding;
    let known = SubjectNames::of(&outcome.group, finding);
    let mut fields = vec![("rule", Some(quoted(&outcome.about.id)))];
    let text = |text: &str| (!text.is_empty()).then(|| quoted(text));
    let is_operator = known.operator.is_some();
    let name = (!is_operator && known.node != Some(finding.subject.name.as_str()))
        .then_some(finding.subject.name.as_str());
    fields.extend([
        ("operator", known.operator.and_then(text)),
        ("namespace", known.namespace.and_then(text)),
        ("name", name.and_then(text)),
        ("container", known.container.and_then(text)),
        ("node", known.node.and_then(text)),
        ("condition", known.condition.as_deref().and_then(text)),
    ]);
    if fields.iter().filter(|(_, value)| value.is_some()).count() == 1 {
        // Nothing else says what it is about.
        fields.push(("test", text(tail(&outcome.name))));
    }
    let reason = regex::escape(&finding.reason);
    let message = finding.reason.is_empty().then(|| pattern(&finding.message));
    fields.extend([
        ("reason", text(&reason)),
        ("message", message.as_deref().and_then(text)),
        ("state", Some("jira".to_owned())),
        ("link", Some(NO_LINK_YET.to_owned())),
    ]);
    let mut entry = String::new();
    let mut lead = "\n  - ";
    for (name, value) in fields {
        if let Some(value) = value {
            entry.extend([lead, name, ": ", &value]);
            lead = "\n    ";
        }
    }
    entry
}

/// Returns a case's name without what the report puts before it.
fn tail(name: &str) -> &str {
    let rest = name.strip_prefix("[Monitor:");
    let rest = rest.and_then(|rest| rest.split_once(']'));
    let rest = rest.map_or(name, |(_, rest)| rest);
    rest.strip_prefix("[Jira:")
        .and_then(|jira| jira.split_once("] "))
        .map_or(rest.trim_start(), |(_, rest)| rest)
}

/// Returns a regex for the begin of a message, with any number in the place of each: counts and times
/// change from run to run.
fn pattern(message: &str) -> String {
    let begin: String = message.chars().take(MESSAGE_LETTERS).collect();
    let mut pattern = String::from("^");
    let mut is_number = false;
    for letter in begin.chars() {
        if letter.is_ascii_digit() {
            if !is_number {
                pattern.push_str("[0-9]+");
            }
            is_number = true;
        } else {
            is_number = false;
            pattern.push_str(&regex::escape(letter.encode_utf8(&mut [0; 4])));
        }
    }
    pattern
}

/// Writes a text so that YAML reads it back: as JSON does, unless it is a plain word. What JSON holds and YAML does
/// not is escaped too.
fn quoted(text: &str) -> String {
    let is_of_word = |letter: char| letter.is_ascii_lowercase() || letter == '-';
    if text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.chars().all(is_of_word)
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&text)
    {
        return text.to_owned();
    }
    let json = serde_json::Value::from(text).to_string();
    let letters = json.chars().map(|letter| {
        if is_plain(letter) {
            letter.to_string()
        } else {
            format!("\\u{:04x}", u32::from(letter))
        }
    });
    letters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn what_yaml_cannot_hold_is_escaped() {
        for letter in [
            '\u{fffe}', '\u{ffff}', '\u{feff}', '\u{2028}', '\u{7f}', '\u{85}', '\u{1}',
        ] {
            let text = format!("a{letter}\"b");
            let file = format!("# x{letter}y\na: {}\n", quoted(&text));
            let comment = file.replacen(letter, " ", 1);
            let read = serde_saphyr::from_str::<BTreeMap<String, String>>(&comment);
            assert_eq!(read.expect("YAML").get("a"), Some(&text), "{letter:?}");
            assert!(!is_plain(letter));
        }
    }
}
