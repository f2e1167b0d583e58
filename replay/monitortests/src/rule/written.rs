//! Owns the shape of a rule file: which fields there are. Refuses their meaning: `read` finds that.

use crate::verdict::Phase;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_saphyr::Spanned;
use std::fmt;
use std::marker::PhantomData;

/// A text and where it stands.
pub(super) type Text = Spanned<String>;

/// The entries of a map, in the order of the file, and where their names stand.
#[derive(Debug)]
pub(super) struct Entries<V>(pub(super) Vec<(Text, V)>);

impl<V> Default for Entries<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Entries<V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Each<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for Each<V> {
            type Value = Entries<V>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Entries<V>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = from.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        from.deserialize_map(Each(PhantomData))
    }
}

/// A rule file.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub(super) constants: Entries<serde_json::Value>,
    #[serde(default)]
    pub(super) monitortests: Vec<Rule>,
}

/// A rule.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Rule {
    pub(super) id: Text,
    pub(super) monitor: Text,
    pub(super) junit: Text,
    pub(super) description: Text,
    pub(super) owner: Text,
    pub(super) origin: Text,
    pub(super) component: Option<Text>,
    pub(super) component_of: Option<Text>,
    #[serde(default)]
    pub(super) severity: Severity,
    #[serde(default)]
    pub(super) flake_only: bool,
    #[serde(default)]
    pub(super) lifecycle: Lifecycle,
    #[serde(default)]
    pub(super) when: Vec<When>,
    pub(super) objects: Option<Objects>,
    pub(super) intervals: Option<Intervals>,
    #[serde(default)]
    pub(super) related: Entries<Related>,
    #[serde(default)]
    pub(super) also: Entries<Intervals>,
    #[serde(default)]
    pub(super) per: Entries<Text>,
    #[serde(default)]
    pub(super) each: Entries<Text>,
    #[serde(default)]
    pub(super) unlisted: Unlisted,
    pub(super) expect: Spanned<Vec<Spanned<Check>>>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Severity {
    #[default]
    Fail,
    Flake,
}

/// Whether a verdict blocks.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Lifecycle {
    #[default]
    Blocking,
    Informing,
}

/// What the cluster was doing.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum During {
    Install,
    Upgrade,
    Stable,
}

impl From<During> for Phase {
    fn from(during: During) -> Self {
        match during {
            During::Install => Self::Install,
            During::Upgrade => Self::Upgrade,
            During::Stable => Self::Stable,
        }
    }
}

/// Without which the rule is skipped.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct When {
    pub(super) cel: Text,
    pub(super) otherwise: String,
}

/// Which objects are watched.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Objects {
    pub(super) resource: Text,
    pub(super) namespace: Option<Text>,
    pub(super) name: Option<Text>,
    #[serde(rename = "where")]
    pub(super) chosen: Option<Text>,
    pub(super) items: Option<Items>,
}

/// Which items of an object are watched.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Items {
    #[serde(rename = "in")]
    pub(super) list: Text,
    #[serde(rename = "as")]
    pub(super) name: Text,
    pub(super) key: Text,
}

/// Other objects.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Related {
    pub(super) resource: Text,
    #[serde(default)]
    pub(super) owned: bool,
    #[serde(default)]
    pub(super) owner: bool,
    pub(super) name: Option<Text>,
    pub(super) selected_by: Option<Text>,
    pub(super) selecting: Option<Text>,
    #[serde(rename = "where")]
    pub(super) chosen: Option<Text>,
    #[serde(default)]
    pub(super) anywhere: bool,
}

/// Which intervals are watched.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Intervals {
    #[serde(default)]
    pub(super) sources: Vec<String>,
    #[serde(default)]
    pub(super) reasons: Vec<String>,
    #[serde(default)]
    pub(super) locators: Vec<String>,
    #[serde(default)]
    pub(super) levels: Vec<Level>,
    #[serde(default)]
    pub(super) keys: Entries<Text>,
    #[serde(default)]
    pub(super) during: Vec<During>,
    #[serde(rename = "where")]
    pub(super) chosen: Option<Text>,
    #[serde(default)]
    pub(super) subject: Vec<Text>,
    #[serde(default)]
    pub(super) needs: Vec<Text>,
}

/// How bad an interval is.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) enum Level {
    Info,
    Warning,
    Error,
}

/// What happens to a value that is not listed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Unlisted {
    #[default]
    Keep,
    Drop,
    Junit(String),
}

/// What a finding is counted for.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum CountedPer {
    #[default]
    Subject,
    Case,
}

/// What is expected over time.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Check {
    pub(super) never: Option<Text>,
    pub(super) always: Option<Text>,
    pub(super) at_end: Option<Text>,
    pub(super) eventually: Option<Text>,
    pub(super) leads_to: Option<Spanned<LeadsTo>>,
    pub(super) until: Option<Spanned<Until>>,
    pub(super) stays: Option<Spanned<Stays>>,
    pub(super) at_most: Option<Spanned<AtMost>>,
    pub(super) flaps: Option<Spanned<Flaps>>,
    pub(super) highest: Option<Spanned<Highest>>,
    pub(super) total: Option<Spanned<Total>>,
    pub(super) for_at_least: Option<Text>,
    pub(super) within: Option<Text>,
    pub(super) since: Option<Text>,
    pub(super) counted_per: Option<Spanned<CountedPer>>,
    #[serde(default)]
    pub(super) during: Vec<During>,
    pub(super) severity: Option<Severity>,
    pub(super) flake_if: Option<Text>,
    pub(super) reason: Option<Text>,
    pub(super) message: Text,
}

/// One thing follows another.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct LeadsTo {
    pub(super) from: Text,
    pub(super) to: Text,
    pub(super) within: Text,
}

/// One thing holds until another begins.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Until {
    pub(super) hold: Text,
    pub(super) until: Text,
}

/// One thing holds for a time after another began.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Stays {
    pub(super) after: Text,
    pub(super) hold: Text,
    #[serde(rename = "for")]
    pub(super) span: Option<Text>,
}

/// Something begins no more often than that.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AtMost {
    pub(super) times: u64,
    pub(super) of: Text,
    #[serde(rename = "in")]
    pub(super) span: Option<Text>,
}

/// Something changes too often.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Flaps {
    pub(super) of: Text,
    pub(super) more_than: u64,
    #[serde(rename = "in")]
    pub(super) span: Option<Text>,
}

/// A number is too high.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Highest {
    pub(super) of: Text,
    pub(super) above: f64,
}

/// Something lasts too long in sum.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Total {
    pub(super) of: Text,
    pub(super) above: Text,
}
