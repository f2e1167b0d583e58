//! Owns how a value is written within a line. Refuses line ends, and more letters than anybody reads.

use kubereel_history::harmless;
use serde_json::Value;

/// Writes a value in so many letters as a line can hold.
pub(super) fn short(value: &Value) -> String {
    const MOST: usize = 120;
    let text = value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned);
    let text = harmless(&text);
    if text.chars().count() <= MOST {
        return text.into_owned();
    }
    text.chars().take(MOST).chain(['…']).collect()
}
