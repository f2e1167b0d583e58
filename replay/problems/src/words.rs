//! Problems and causes in words, the same on every screen and in every file.

use crate::problem::{Cause, Problem};
use kubereel_history::{ChangeKind, harmless};
use serde_json::Value;

/// The most letters of one value.
const MOST_LETTERS: usize = 120;
/// The most letters of a message in one line.
const MOST_MESSAGE: usize = 400;

/// Shortens a text to one line of a number of letters.
pub fn shortened(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = harmless(&line).into_owned();
    if line.chars().count() <= most {
        return line;
    }
    let kept: String = line.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// Writes a value in one short line.
pub fn value_text(value: &Value) -> String {
    let text = match value {
        Value::String(text) => format!("{text:?}"),
        other => other.to_string(),
    };
    shortened(&text, MOST_LETTERS)
}

impl Problem {
    /// Gives the message in one line.
    pub fn message_line(&self) -> String {
        shortened(&self.message, MOST_MESSAGE)
    }

    /// Gives what was wrong in one line: object, reason, message.
    pub fn sentence(&self) -> String {
        let object = harmless(&self.object.label()).into_owned();
        let reason = shortened(&self.reason, MOST_LETTERS);
        match self.message_line().as_str() {
            "" => format!("{object}: {reason}"),
            message => format!("{object}: {reason}: {message}"),
        }
    }
}

impl Cause {
    /// Gives what changed: `ConfigMap web/settings data.MODE: "fast" → "broken"`.
    pub fn sentence(&self) -> String {
        let object = harmless(&self.object.label()).into_owned();
        if self.field.is_empty() {
            return match self.change {
                ChangeKind::Removed => format!("{object} was deleted"),
                _ => format!("{object} was created"),
            };
        }
        let field = harmless(&self.field).into_owned();
        match (&self.old, &self.new) {
            (Some(old), Some(new)) => {
                format!(
                    "{object} {field}: {} → {}",
                    value_text(old),
                    value_text(new)
                )
            }
            (Some(old), None) => format!("{object} {field} was removed: {}", value_text(old)),
            (None, Some(new)) => format!("{object} {field} was added: {}", value_text(new)),
            (None, None) => format!("{object} {field} changed"),
        }
    }
}
