//! A rule after reading and checking: everything compiled, nothing left that its text could get wrong.

use crate::cel::Program;
use crate::interval::{Level, source};
use crate::phase::Phase;
use crate::verdict::{MonitorTestInfo, Severity};
use kubereel_format::{ResourceInfo, qualified};
use kubereel_history::timetext;
use regex::Regex;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A rule.
#[derive(Clone, Debug)]
pub(crate) struct MonitorRule {
    pub(crate) about: MonitorTestInfo,
    pub(crate) component: Component,
    pub(crate) when: Vec<RuleCondition>,
    pub(crate) watch: Watch,
    pub(crate) also: BTreeMap<String, IntervalSelector>,
    /// The places of cases, and what they are.
    pub(crate) per: Vec<(String, Program)>,
    /// The values of a place for which there is always a case.
    pub(crate) each: BTreeMap<String, ListedValues>,
    pub(crate) unlisted: Unlisted,
    pub(crate) checks: Vec<RuleCheck>,
    pub(crate) scope: RuleScope,
}

/// Where the component of a case comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Component {
    None,
    Text(String),
    OfOperator,
    OfNamespace,
}

/// Without which a rule is skipped.
#[derive(Clone, Debug)]
pub(crate) struct RuleCondition {
    pub(crate) is_met: Program,
    pub(crate) otherwise: String,
}

/// What is watched.
#[derive(Clone, Debug)]
pub(crate) enum Watch {
    Objects(Box<ObjectSelector>),
    Intervals(Box<IntervalSelector>),
}

/// A resource by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ResourceName {
    pub(crate) group: String,
    pub(crate) plural: String,
}

impl ResourceName {
    /// Returns whether a recorded resource is it.
    pub(crate) fn is_it(&self, info: &ResourceInfo) -> bool {
        self.plural == info.plural && self.group == info.group
    }

    /// Writes it as rules do: `pods`, `deployments.apps`.
    pub(crate) fn text(&self) -> String {
        qualified(&self.plural, &self.group)
    }
}

/// Which objects.
#[derive(Clone, Debug)]
pub(crate) struct ObjectSelector {
    pub(crate) resource: ResourceName,
    pub(crate) namespace: Option<Regex>,
    pub(crate) name: Option<Regex>,
    pub(crate) chosen: Option<Program>,
    pub(crate) items: Option<ItemSource>,
    /// In the order of the scope's names.
    pub(crate) related: Vec<RelatedObjects>,
}

/// Which items.
#[derive(Clone, Debug)]
pub(crate) struct ItemSource {
    pub(crate) list: Program,
    pub(crate) key: Program,
    pub(crate) duplicates: DuplicateItems,
}

/// What several items of one key mean.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DuplicateItems {
    /// The key is wrong: it must tell items apart.
    #[default]
    Error,
    /// The first is the item.
    First,
}

/// Other objects.
#[derive(Clone, Debug)]
pub(crate) struct RelatedObjects {
    pub(crate) name: String,
    pub(crate) resource: ResourceName,
    pub(crate) by: RelatedBy,
    pub(crate) is_anywhere: bool,
}

/// How other objects are found.
#[derive(Clone, Debug)]
pub(crate) enum RelatedBy {
    /// They name the object as their owner.
    Owned,
    /// The object names them as its owner.
    Owner,
    Name(Program),
    SelectedBy(Program),
    Selecting(Program),
    Where(Program),
}

/// Which intervals.
#[derive(Clone, Debug, Default)]
pub(crate) struct IntervalSelector {
    pub(crate) sources: Vec<String>,
    pub(crate) reasons: Vec<String>,
    pub(crate) locators: Vec<String>,
    pub(crate) levels: Vec<Level>,
    pub(crate) keys: Vec<(String, Regex)>,
    pub(crate) during: Vec<Phase>,
    pub(crate) chosen: Option<Program>,
    pub(crate) subject: Vec<Program>,
    pub(crate) needs: Vec<ResourceName>,
}

/// The values of a place that have a case in every run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ListedValues {
    Operators,
    Namespaces,
    Nodes,
    Listed(Vec<String>),
}

/// What happens to a value that is not listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unlisted {
    #[default]
    Keep,
    Drop,
    Junit(String),
}

/// What is expected.
#[derive(Clone, Debug)]
pub(crate) struct RuleCheck {
    pub(crate) expected: Expectation,
    pub(crate) during: Vec<Phase>,
    pub(crate) severity: Severity,
    pub(crate) flake_if: Option<Program>,
    pub(crate) reason: Option<Template>,
    pub(crate) message: Template,
}

/// An operator over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckOperator {
    Never,
    Always,
    AtEnd,
    Eventually,
    LeadsTo,
    Until,
    Stays,
    AtMost,
    Flaps,
    Highest,
    Total,
}

impl CheckOperator {
    /// Returns the field of a check that names it.
    pub(crate) const fn field(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Always => "always",
            Self::AtEnd => "atEnd",
            Self::Eventually => "eventually",
            Self::LeadsTo => "leadsTo",
            Self::Until => "until",
            Self::Stays => "stays",
            Self::AtMost => "atMost",
            Self::Flaps => "flaps",
            Self::Highest => "highest",
            Self::Total => "total",
        }
    }
}

/// An operator over time with its operands.
#[derive(Clone, Debug)]
pub(crate) struct Expectation {
    pub(crate) operator: CheckOperator,
    /// The predicate, or the first of two; with `highest` the value.
    pub(crate) first: Program,
    /// With `leadsTo`, `until` and `stays`: the second predicate.
    pub(crate) second: Option<Program>,
    /// `forAtLeast`, `within`, `for`, `in`; with `total` the bound of the sum.
    pub(crate) span: Option<Micros>,
    /// With `atMost` and `flaps`: how often is allowed.
    pub(crate) times: u64,
    /// With `highest`: the bound of the value.
    pub(crate) above: f64,
    /// With `eventually`: from when on.
    pub(crate) since: Option<Program>,
    /// Whether the whole case is counted, not each subject.
    pub(crate) per_case: bool,
}

impl Expectation {
    /// Returns the predicates, in the order of their signals.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &Program> {
        std::iter::once(&self.first).chain(&self.second)
    }

    /// Returns the time in microseconds, none if it is not given.
    pub(crate) fn micros(&self) -> Option<i64> {
        self.span.map(|span| span.0)
    }

    /// Returns the time in microseconds, zero if it is not given.
    pub(crate) fn least_micros(&self) -> i64 {
        self.span.unwrap_or_default().0
    }
}

/// The variables that every rule knows, by their places; those of `related` follow.
pub(crate) mod place {
    pub(crate) const OBJECT: usize = 0;
    pub(crate) const OLD: usize = 1;
    pub(crate) const FORMER: usize = 2;
    pub(crate) const ACTION: usize = 3;
    pub(crate) const AT: usize = 4;
    pub(crate) const ITEM: usize = 5;
    pub(crate) const OLD_ITEM: usize = 6;
    pub(crate) const INTERVAL: usize = 7;
    pub(crate) const FACTS: usize = 8;
    pub(crate) const PHASE: usize = 9;
    pub(crate) const ALSO: usize = 10;
    pub(crate) const PLACE: usize = 11;
    pub(crate) const FROM: usize = 12;
    pub(crate) const TO: usize = 13;
    pub(crate) const DURATION: usize = 14;
    pub(crate) const COUNT: usize = 15;
    pub(crate) const APPEARED: usize = 16;
    pub(crate) const STARTED: usize = 17;
    pub(crate) const OTHER: usize = 18;
    pub(crate) const RELATED: usize = 19;
}

/// Their names; the item has the name that the rule gives it.
const NAMES: [&str; place::RELATED] = [
    "object", "old", "former", "action", "at", "", "oldItem", "interval", "facts", "phase", "also",
    "place", "from", "to", "duration", "count", "appeared", "started", "other",
];

/// Where in a rule an expression stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpressionPlace {
    /// `when`.
    RuleCondition,
    /// `where` and `items` of objects, and `related`'s `name` and selectors.
    Object,
    /// `related`'s `where`.
    RelatedObjects,
    /// A predicate of a check of objects.
    ObjectCheck,
    /// `since`.
    Since,
    /// `per` of objects.
    ObjectPer,
    /// A message, reason or `flakeIf` of objects.
    ObjectEvidence,
    /// `where` and `subject` of intervals, and `per`.
    Interval,
    /// A predicate of a check of intervals.
    IntervalCheck,
    /// The same of a check that counts.
    ObjectCount,
    /// A message, reason or `flakeIf` of intervals.
    IntervalEvidence,
    /// The same of a check that counts.
    IntervalCount,
    /// The same where the finding is that no interval came.
    MissingEvidence,
}

/// The variables of a rule.
#[derive(Clone, Debug, Default)]
pub(crate) struct RuleScope {
    /// The name of an item; empty without items.
    pub(crate) item: String,
    /// The names of related objects.
    pub(crate) related: Vec<String>,
    /// The names of other intervals.
    pub(crate) also: Vec<String>,
    /// The names of the places of cases.
    pub(crate) places: Vec<String>,
}

/// The members of `facts`, from A to Z.
pub(crate) const FACT_NAMES: &str = "architecture fromVersion history infrastructureTopology installed ipStack \
                                     masters network platform topology upgrades version workers";

/// The members of `interval`, from A to Z.
pub(crate) const INTERVAL_MEMBERS: &str = "annotations cause duration from inUpgrade instant keys level locator \
                                           message open reason source to type";

/// The values of variables that have few.
const WORDS: [(&str, &[&str]); 2] = [
    ("action", &["appeared", "changed", "gone"]),
    ("phase", &["install", "upgrade", "stable"]),
];

impl RuleScope {
    /// Returns the values that a variable may have, if they are few.
    pub(crate) fn words(name: &str) -> Option<&'static [&'static str]> {
        let found = WORDS.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, words)| *words)
    }

    /// Returns the names of all variables by place; an empty one is none.
    pub(crate) fn all(&self) -> Vec<String> {
        let mut names: Vec<String> = NAMES.iter().map(|&name| name.to_owned()).collect();
        if let Some(item) = names.get_mut(place::ITEM) {
            item.clone_from(&self.item);
        }
        names.extend(self.related.iter().cloned());
        names
    }

    /// Returns whether a name is one that rules give a meaning themselves.
    pub(crate) fn is_taken(name: &str) -> bool {
        name == "constants" || (!name.is_empty() && NAMES.contains(&name))
    }

    /// Returns the names that may be read somewhere.
    pub(crate) fn readable(&self, stand: ExpressionPlace) -> Vec<String> {
        let fixed: &[&str] = match stand {
            ExpressionPlace::RuleCondition => &["facts", "also"],
            ExpressionPlace::RelatedObjects => &["object", "other"],
            ExpressionPlace::ObjectCheck => &["object", "old", "former", "action", "at"],
            ExpressionPlace::Since => &["object", "appeared", "started"],
            ExpressionPlace::Object | ExpressionPlace::ObjectPer => &["object"],
            ExpressionPlace::ObjectEvidence | ExpressionPlace::ObjectCount => &[
                "object", "old", "former", "action", "at", "from", "to", "duration", "place",
                "facts", "phase", "also",
            ],
            ExpressionPlace::Interval => &["interval", "facts", "phase"],
            ExpressionPlace::IntervalCheck => &["interval", "facts", "phase", "also", "place"],
            ExpressionPlace::IntervalEvidence | ExpressionPlace::IntervalCount => &[
                "interval", "facts", "phase", "also", "place", "from", "to", "duration",
            ],
            ExpressionPlace::MissingEvidence => {
                &["facts", "phase", "also", "place", "from", "to", "duration"]
            }
        };
        let mut names: Vec<String> = fixed.iter().map(|&name| name.to_owned()).collect();
        if matches!(
            stand,
            ExpressionPlace::ObjectCount | ExpressionPlace::IntervalCount
        ) {
            names.push("count".to_owned());
        }
        let sees_items = matches!(
            stand,
            ExpressionPlace::ObjectCheck
                | ExpressionPlace::Since
                | ExpressionPlace::ObjectPer
                | ExpressionPlace::ObjectEvidence
                | ExpressionPlace::ObjectCount
        );
        let sees_change = matches!(
            stand,
            ExpressionPlace::ObjectCheck
                | ExpressionPlace::ObjectEvidence
                | ExpressionPlace::ObjectCount
        );
        if sees_items && !self.item.is_empty() {
            names.push(self.item.clone());
            if sees_change {
                names.push("oldItem".to_owned());
            }
        }
        if sees_change {
            names.extend(self.related.iter().cloned());
        }
        names
    }

    /// Says why a known variable cannot be read somewhere, and what to do.
    pub(crate) fn why_not(name: &str, stand: ExpressionPlace) -> Option<&'static str> {
        match (name, stand) {
            (
                "facts" | "phase" | "also" | "place",
                ExpressionPlace::ObjectCheck | ExpressionPlace::Object,
            ) => Some("predicates over objects cannot read it: use `when`, `during` or `flakeIf`"),
            ("phase", ExpressionPlace::RuleCondition) => {
                Some("it is undefined at the end of a run: use `during`")
            }
            ("object", ExpressionPlace::RuleCondition) => {
                Some("`when` is about the whole run: use `where`, or `never` with a condition")
            }
            ("object", _) => Some("this rule watches intervals: read `interval`"),
            ("interval", ExpressionPlace::MissingEvidence) => {
                Some("a missing interval has no fields: read `place`, `from` or `facts`")
            }
            ("interval", _) => Some("this rule watches objects: read `object`"),
            ("oldItem", _) => Some("it exists only in rules with `items`"),
            (
                "count",
                ExpressionPlace::ObjectEvidence
                | ExpressionPlace::IntervalEvidence
                | ExpressionPlace::MissingEvidence,
            ) => Some("only atMost, flaps, highest and total count"),
            _ => None,
        }
    }
}

/// A span of time in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Micros(pub(crate) i64);

impl Micros {
    /// Reads numbers with units, the larger units first.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        const UNITS: [(&str, i64); 5] = [
            ("d", 86_400_000_000),
            ("h", 3_600_000_000),
            ("ms", 1_000),
            ("m", 60_000_000),
            ("s", 1_000_000),
        ];
        let mut rest = text;
        let mut sum = 0_i64;
        let mut last = i64::MAX;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit())?;
            let (number, behind) = rest.split_at_checked(digits)?;
            let number: i64 = number.parse().ok()?;
            let (unit, micros) = UNITS.iter().find(|(unit, _)| behind.starts_with(unit))?;
            if *micros >= last {
                return None;
            }
            last = *micros;
            sum = sum.checked_add(number.checked_mul(*micros)?)?;
            rest = behind.get(unit.len()..)?;
        }
        (!text.is_empty()).then_some(Self(sum))
    }

    /// Writes it for people.
    pub(crate) fn words(self) -> String {
        timetext::span(self.0.unsigned_abs())
    }
}

/// A part of a text.
#[derive(Clone, Debug)]
pub(crate) enum TemplatePart {
    Text(String),
    Cel(Program),
}

/// A text with expressions in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Template {
    pub(crate) parts: Vec<TemplatePart>,
    /// How it was written.
    pub(crate) text: String,
}

/// A part of a template's text, before its expressions are compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TemplatePiece<'a> {
    Text(&'a str),
    /// The expression and its place in the text, in characters.
    Cel(&'a str, usize),
    /// A `${` at that place that no `}` ends.
    Open(usize),
}

/// Takes a template apart.
pub(super) fn pieces(text: &str) -> Vec<TemplatePiece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut at = 0;
    while let Some((before, behind)) = rest.split_once("${") {
        if !before.is_empty() {
            pieces.push(TemplatePiece::Text(before));
        }
        let begin = at + before.chars().count() + 2;
        let Some((inner, after)) = until_closed(behind) else {
            pieces.push(TemplatePiece::Open(begin - 2));
            return pieces;
        };
        pieces.push(TemplatePiece::Cel(inner, begin));
        at = begin + inner.chars().count() + 1;
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(TemplatePiece::Text(rest));
    }
    pieces
}

/// Parts a text at the brace that ends an expression: not one in a text or of a map.
fn until_closed(text: &str) -> Option<(&str, &str)> {
    let mut open = 0_usize;
    let mut quote = None;
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        if let Some(end) = quote {
            if is_escaped {
                is_escaped = false;
            } else if c == '\\' {
                is_escaped = true;
            } else if c == end {
                quote = None;
            }
            continue;
        }
        match c {
            '"' | '\'' => quote = Some(c),
            '{' => open += 1,
            '}' if open == 0 => {
                let inner = text.get(..at)?;
                return Some((inner, text.get(at + 1..)?));
            }
            '}' => open -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the resources that must have been seen for intervals to be there.
pub(crate) fn seen_for(choice: &IntervalSelector) -> Vec<String> {
    let mut seen: Vec<String> = choice.needs.iter().map(ResourceName::text).collect();
    if seen.is_empty() {
        for source in &choice.sources {
            let made_of = source::made_of(source).iter();
            seen.extend(made_of.map(|&resource| resource.to_owned()));
        }
    }
    seen.sort();
    seen.dedup();
    seen
}

#[cfg(test)]
mod span_tests {
    use super::*;

    #[test]
    fn spans_are_read() {
        let expected = [
            ("90s", Some(90_000_000)),
            ("1h30m", Some(5_400_000_000)),
            ("250ms", Some(250_000)),
            ("1m250ms", Some(60_250_000)),
            ("0s", Some(0)),
            ("", None),
            ("10", None),
            ("m", None),
            ("10m1h", None),
            ("1m1m", None),
            ("-1m", None),
            ("1.5m", None),
            ("99999999999999999999s", None),
            ("9223372036854775807h", None),
        ];
        for (text, micros) in expected {
            assert_eq!(Micros::parse(text), micros.map(Micros), "{text}");
        }
    }
}

#[cfg(test)]
mod template_tests {
    use super::*;

    #[test]
    fn expressions_end_at_their_own_brace() {
        assert_eq!(
            pieces(r#"a ${b["}"]}${{"x": 1}.x} c ${d"#),
            [
                TemplatePiece::Text("a "),
                TemplatePiece::Cel(r#"b["}"]"#, 4),
                TemplatePiece::Cel(r#"{"x": 1}.x"#, 13),
                TemplatePiece::Text(" c "),
                TemplatePiece::Open(27),
            ]
        );
        assert_eq!(pieces("plain"), [TemplatePiece::Text("plain")]);
        assert_eq!(pieces(""), []);
    }
}
