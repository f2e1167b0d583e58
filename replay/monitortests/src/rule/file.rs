//! The shape of a rule file in YAML, and how YAML errors become mistakes.

use super::mask::MaskedText;
use super::model::{DuplicateItems, Unlisted};
use super::source::{RuleMistake, RuleSource};
use crate::applies::{AppliesTo, RuleClass};
use crate::cel;
use crate::interval::Level;
use crate::phase::Phase;
use crate::verdict::Severity;
use crate::yaml::{OneOrMany, yaml_words};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_saphyr::{Error, Location, Spanned};
use std::fmt;
use std::marker::PhantomData;

/// A text and where it stands.
pub(super) type YamlText = Spanned<String>;

/// The entries of a map, in the order of the file, and where their names stand.
#[derive(Debug)]
pub(super) struct YamlEntries<V>(pub(super) Vec<(YamlText, V)>);

impl<V> Default for YamlEntries<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for YamlEntries<V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct EntryVisitor<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for EntryVisitor<V> {
            type Value = YamlEntries<V>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<YamlEntries<V>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = from.next_entry()? {
                    entries.push(entry);
                }
                Ok(YamlEntries(entries))
            }
        }

        from.deserialize_map(EntryVisitor(PhantomData))
    }
}

/// Reads `true` or `false`. A text in quotes is none, which the reader of YAML would take.
fn boolean<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    struct BooleanVisitor;

    impl Visitor<'_> for BooleanVisitor {
        type Value = bool;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("true or false")
        }

        fn visit_bool<E>(self, value: bool) -> Result<bool, E> {
            Ok(value)
        }

        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<bool, E> {
            let what = format!("expected true or false, found the text \"{text}\"");
            Err(E::custom(what))
        }
    }

    from.deserialize_any(BooleanVisitor)
}

/// A rule file.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct YamlFile {
    #[serde(default)]
    pub(super) constants: YamlEntries<serde_json::Value>,
    #[serde(default)]
    pub(super) monitortests: Vec<YamlRule>,
}

/// A rule.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct YamlRule {
    /// Where it begins.
    #[serde(skip, default = "unknown_location")]
    pub(super) at: Location,
    /// Where its list of checks begins.
    #[serde(skip, default = "unknown_location")]
    pub(super) expect_at: Location,
    pub(super) id: Option<YamlText>,
    pub(super) monitor: Option<YamlText>,
    pub(super) junit: Option<YamlText>,
    pub(super) description: Option<YamlText>,
    pub(super) owner: Option<YamlText>,
    pub(super) origin: Option<YamlText>,
    #[serde(default)]
    pub(super) class: RuleClass,
    #[serde(default)]
    pub(super) applies_to: AppliesTo,
    pub(super) component: Option<YamlText>,
    pub(super) component_of: Option<YamlText>,
    #[serde(default)]
    pub(super) severity: Severity,
    #[serde(default, deserialize_with = "boolean")]
    pub(super) flake_only: bool,
    #[serde(default)]
    pub(super) lifecycle: RuleLifecycle,
    #[serde(default)]
    pub(super) when: Vec<YamlWhen>,
    pub(super) objects: Option<YamlObjects>,
    pub(super) intervals: Option<YamlIntervals>,
    #[serde(default)]
    pub(super) related: YamlEntries<YamlRelated>,
    #[serde(default)]
    pub(super) also: YamlEntries<YamlIntervals>,
    #[serde(default)]
    pub(super) per: YamlEntries<YamlText>,
    #[serde(default)]
    pub(super) each: YamlEntries<YamlText>,
    #[serde(default)]
    pub(super) unlisted: Option<Spanned<Unlisted>>,
    pub(super) expect: Option<Vec<YamlCheck>>,
}

/// Whether a verdict blocks.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum RuleLifecycle {
    #[default]
    Blocking,
    Informing,
}

/// Without which the rule is skipped.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct YamlWhen {
    pub(super) cel: YamlText,
    pub(super) otherwise: String,
}

/// Which objects are watched.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct YamlObjects {
    pub(super) resource: YamlText,
    pub(super) namespace: Option<YamlText>,
    pub(super) name: Option<YamlText>,
    #[serde(rename = "where")]
    pub(super) chosen: Option<YamlText>,
    pub(super) items: Option<YamlItems>,
}

/// Which items of an object are watched.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct YamlItems {
    #[serde(rename = "in")]
    pub(super) list: YamlText,
    #[serde(rename = "as")]
    pub(super) name: YamlText,
    pub(super) key: YamlText,
    #[serde(default)]
    pub(super) duplicates: DuplicateItems,
}

/// Other objects.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct YamlRelated {
    pub(super) resource: YamlText,
    #[serde(default, deserialize_with = "boolean")]
    pub(super) owned: bool,
    #[serde(default, deserialize_with = "boolean")]
    pub(super) owner: bool,
    pub(super) name: Option<YamlText>,
    pub(super) selected_by: Option<YamlText>,
    pub(super) selecting: Option<YamlText>,
    #[serde(rename = "where")]
    pub(super) chosen: Option<YamlText>,
    #[serde(default, deserialize_with = "boolean")]
    pub(super) anywhere: bool,
}

/// Which intervals are watched.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct YamlIntervals {
    #[serde(default)]
    pub(super) sources: Vec<YamlText>,
    #[serde(default)]
    pub(super) reasons: Vec<String>,
    #[serde(default)]
    pub(super) locators: Vec<YamlText>,
    #[serde(default)]
    pub(super) levels: Vec<YamlLevel>,
    #[serde(default)]
    pub(super) keys: YamlEntries<YamlText>,
    #[serde(default)]
    pub(super) during: OneOrMany<Phase>,
    #[serde(rename = "where")]
    pub(super) chosen: Option<YamlText>,
    #[serde(default)]
    pub(super) subject: Vec<YamlText>,
    #[serde(default)]
    pub(super) needs: Vec<YamlText>,
}

/// How bad an interval is.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) enum YamlLevel {
    Info,
    Warning,
    Error,
}

impl From<YamlLevel> for Level {
    fn from(level: YamlLevel) -> Self {
        match level {
            YamlLevel::Info => Self::Info,
            YamlLevel::Warning => Self::Warning,
            YamlLevel::Error => Self::Error,
        }
    }
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
pub(super) struct YamlCheck {
    /// Where it begins.
    #[serde(skip, default = "unknown_location")]
    pub(super) at: Location,
    pub(super) never: Option<YamlText>,
    pub(super) always: Option<YamlText>,
    pub(super) at_end: Option<YamlText>,
    pub(super) eventually: Option<YamlText>,
    pub(super) leads_to: Option<YamlLeadsTo>,
    pub(super) until: Option<YamlUntil>,
    pub(super) stays: Option<YamlStays>,
    pub(super) at_most: Option<YamlAtMost>,
    pub(super) flaps: Option<YamlFlaps>,
    pub(super) highest: Option<YamlHighest>,
    pub(super) total: Option<YamlTotal>,
    pub(super) for_at_least: Option<YamlText>,
    pub(super) within: Option<YamlText>,
    pub(super) since: Option<YamlText>,
    pub(super) counted_per: Option<Spanned<CountedPer>>,
    #[serde(default)]
    pub(super) during: OneOrMany<Phase>,
    pub(super) severity: Option<Severity>,
    pub(super) flake_if: Option<YamlText>,
    pub(super) reason: Option<YamlText>,
    pub(super) message: Option<YamlText>,
}

/// One thing follows another.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct YamlLeadsTo {
    pub(super) from: YamlText,
    pub(super) to: YamlText,
    pub(super) within: YamlText,
}

/// One thing holds until another begins.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct YamlUntil {
    pub(super) hold: YamlText,
    pub(super) until: YamlText,
}

/// One thing holds for a time after another began.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct YamlStays {
    pub(super) after: YamlText,
    pub(super) hold: YamlText,
    #[serde(rename = "for")]
    pub(super) span: Option<YamlText>,
}

/// Something begins no more often than that.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct YamlAtMost {
    pub(super) times: u64,
    pub(super) of: YamlText,
    #[serde(rename = "in")]
    pub(super) span: Option<YamlText>,
}

/// Something changes too often.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct YamlFlaps {
    pub(super) of: YamlText,
    pub(super) more_than: u64,
    #[serde(rename = "in")]
    pub(super) span: Option<YamlText>,
}

/// A number is too high.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct YamlHighest {
    pub(super) of: YamlText,
    pub(super) above: f64,
}

/// Something lasts too long in sum.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct YamlTotal {
    pub(super) of: YamlText,
    pub(super) above: YamlText,
}

fn unknown_location() -> Location {
    Location::UNKNOWN
}

/// Where the rules and checks of a file begin. They are read by themselves, because a [`Spanned`] struct is compiled for
/// each form in which it could come.
#[derive(Deserialize)]
struct YamlPlaces {
    #[serde(default)]
    monitortests: Vec<Spanned<YamlRulePlaces>>,
}

#[derive(Deserialize)]
struct YamlRulePlaces {
    expect: Option<Spanned<Vec<Spanned<IgnoredAny>>>>,
}

impl YamlFile {
    fn place(&mut self, places: YamlPlaces) {
        for (rule, place) in self.monitortests.iter_mut().zip(places.monitortests) {
            rule.at = place.referenced;
            if let (Some(checks), Some(places)) = (&mut rule.expect, place.value.expect) {
                rule.expect_at = places.referenced;
                for (check, place) in checks.iter_mut().zip(places.value) {
                    check.at = place.referenced;
                }
            }
        }
    }
}

/// The most mistakes of shape that are reported of a file.
const MAX_MISTAKES: usize = 100;

/// Reads a file; every mistake of its shape is kept. What is wrong is taken out of the text, line by line,
/// until the rest can be read, so that the mistakes of the rest are found as well. `None` if nothing can.
pub(super) fn read_yaml(
    source: &RuleSource<'_>,
    text: &str,
    mistakes: &mut Vec<RuleMistake>,
) -> Option<YamlFile> {
    // As in YAML 1.2 `y`, `no` and `on` are texts.
    let options = || serde_saphyr::options! { with_snippet: false, strict_booleans: true };
    let mut masked = MaskedText::new(text);
    for _ in 0..MAX_MISTAKES {
        let text = masked.text();
        if text.trim().is_empty() {
            return Some(YamlFile::default());
        }
        let read = serde_saphyr::from_str_with_options::<YamlFile>(&text, options());
        let read = read.and_then(|mut file| {
            file.place(serde_saphyr::from_str_with_options(&text, options())?);
            Ok(file)
        });
        let error = match read {
            Ok(file) => return Some(file),
            Err(error) => error,
        };
        mistakes.push(mistake(source, &error));
        // Where it is no YAML at all, what follows a mistake is a consequence of it.
        let is_yaml =
            serde_saphyr::from_str_with_options::<serde_json::Value>(&text, options()).is_ok();
        let location = error.location().filter(|_| is_yaml)?;
        let is_field = matches!(error.without_snippet(), Error::SerdeUnknownField { .. });
        if !masked.mask(location, is_field) {
            return None;
        }
    }
    None
}

fn mistake(source: &RuleSource<'_>, error: &Error) -> RuleMistake {
    let listed = |expected: &[&str]| format!("available here: {}", expected.join(", "));
    let (what, hint) = match error.without_snippet() {
        Error::SerdeUnknownField {
            field, expected, ..
        } => {
            let near = cel::nearest(field, expected.iter().copied());
            let hint = near.map_or_else(
                || listed(expected),
                |near| format!("did you mean `{near}`?"),
            );
            (format!("unknown field `{field}`"), hint)
        }
        Error::SerdeUnknownVariant {
            variant, expected, ..
        } => (format!("unknown value `{variant}`"), listed(expected)),
        Error::SerdeMissingField { field, .. } => (
            format!("the field `{field}` is missing"),
            "to list the fields: kubereel help rules".to_owned(),
        ),
        other => (
            format!("cannot be read: {}", yaml_words(other)),
            String::new(),
        ),
    };
    match error.location() {
        Some(location) => source.of(location, what, hint),
        None => source.at(1, 1, 1, what, hint),
    }
}
