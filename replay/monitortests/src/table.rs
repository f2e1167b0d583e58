//! Tables that are part of the program, in YAML.

use serde::de::DeserializeOwned;

/// Reads a table of the program.
///
/// By way of a JSON value: the reader of YAML would be compiled anew for each type in a table, and nobody reads where
/// in the program a mistake is.
#[expect(
    clippy::expect_used,
    reason = "the table is part of the program, and tests read it"
)]
pub(crate) fn read_table<T: DeserializeOwned>(yaml: &str) -> T {
    let value: serde_json::Value = serde_saphyr::from_str(yaml).expect("the table is YAML");
    serde_json::from_value(value).expect("the table has its form")
}
