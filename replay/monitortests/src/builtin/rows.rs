//! The JUnit names of the OpenShift monitor that need only API objects and Events: how each is judged
//! here, or why it is not. The names are data, in `rows.yaml`.

use crate::applies::{AppliesTo, RuleClass};
use crate::table::read_table;
use crate::verdict::{MonitorTestInfo, WrittenIn};
use serde::Deserialize;
use std::sync::LazyLock;

/// How an upstream name is judged here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum UpstreamMethod {
    /// By a rule in YAML.
    #[default]
    Yaml,
    /// In Rust.
    Rust {
        /// Why the rule language cannot express it.
        because: String,
    },
    /// Not at all.
    NotPossible {
        /// The reason.
        because: String,
    },
}

/// One JUnit name of the OpenShift monitor.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpstreamRow {
    /// Its number; names of one kind share a number.
    pub number: u8,
    /// The id of the monitor test here; if there is none, the id that it would have.
    pub id: String,
    /// The upstream monitor test, the word of `[Monitor:…]`.
    pub monitor: String,
    /// The name in JUnit, with places such as `{operator}`.
    pub junit: String,
    /// How it is judged here.
    #[serde(default)]
    pub way: UpstreamMethod,
    /// What the monitor test in Rust is about; rules in YAML say it themselves.
    #[serde(default)]
    class: RuleClass,
    /// To which clusters the monitor test in Rust applies; rules in YAML say it themselves.
    #[serde(default, rename = "appliesTo")]
    applies_to: AppliesTo,
    /// The intended differences from upstream; may be empty.
    #[serde(default)]
    pub differs: String,
}

static ROWS: LazyLock<Vec<UpstreamRow>> = LazyLock::new(|| read_table(include_str!("rows.yaml")));

/// Returns all rows, by number.
pub fn rows() -> &'static [UpstreamRow] {
    &ROWS
}

/// Describes a monitor test in Rust by its row, and by what the row does not say.
#[expect(
    clippy::expect_used,
    reason = "the ids are constants, and a test makes every monitor test"
)]
pub(super) fn info(id: &str, owner: &str, origin: &str, description: &str) -> MonitorTestInfo {
    let row = rows().iter().find(|row| row.id == id).expect("a row");
    MonitorTestInfo {
        id: id.to_owned(),
        monitor: row.monitor.clone(),
        junit: row.junit.clone(),
        description: description.to_owned(),
        owner: owner.to_owned(),
        origin: format!("openshift/origin {origin}"),
        is_flake_only: false,
        is_informing: false,
        class: row.class,
        applies_to: row.applies_to.clone(),
        written_in: WrittenIn::Rust,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::builtin_rule_files;
    use crate::rule::RuleSet;
    use std::collections::BTreeSet;

    #[test]
    fn every_row_in_yaml_has_its_rule() {
        let rules = RuleSet::read(builtin_rule_files());
        let rules = rules.unwrap_or_else(|errors| panic!("{errors}"));
        let ids: BTreeSet<&str> = rules.ids().collect();
        for row in rows() {
            let is_yaml = row.way == UpstreamMethod::Yaml;
            assert_eq!(ids.contains(row.id.as_str()), is_yaml, "{}", row.id);
        }
        assert!(rows().is_sorted_by_key(|row| row.number));
    }
}
