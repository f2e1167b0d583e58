//! The way from a rule's text to a rule: required fields, and fields that exclude each other. Every
//! mistake is kept, with its place.

use super::checks::CheckReader;
use super::compiler::RuleCompiler;
use super::file::{
    RuleLifecycle, YamlEntries, YamlIntervals, YamlObjects, YamlRelated, YamlRule, YamlText,
    YamlWhen,
};
use super::model::{
    Component, ExpressionPlace, IntervalSelector, ItemSource, ListedValues, MonitorRule,
    ObjectSelector, RelatedBy, RelatedObjects, RuleCondition, RuleScope, Unlisted, Watch,
};
use super::source::{RuleMistake, RuleSource};
use crate::cel;
use crate::cel::Program;
use crate::interval::{LOCATOR_KEYS, LOCATOR_TYPES, source};
use crate::verdict::{MonitorTestInfo, WrittenIn};
use serde_json::Value;
use serde_saphyr::Spanned;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The monitor test, the owner and the origin of a rule that names none.
const OWN_MONITOR: &str = "own-rules";
const OWN_OWNER: &str = "own";
const OWN_ORIGIN: &str = "own rule";

/// A field that tells how other objects are found, and what it makes.
type RelatedField<'a> = (
    &'a Option<YamlText>,
    ExpressionPlace,
    fn(Program) -> RelatedBy,
);

/// Reads one rule of a file.
pub(super) struct RuleReader<'a> {
    compiler: RuleCompiler<'a>,
}

impl<'a> RuleReader<'a> {
    pub(super) fn new(
        source: &'a RuleSource<'a>,
        constants: &'a BTreeMap<String, Arc<Value>>,
    ) -> Self {
        Self {
            compiler: RuleCompiler::new(source, constants),
        }
    }

    /// Reads the rule, and adds its mistakes to those of other rules.
    pub(super) fn read(
        mut self,
        written: &YamlRule,
        mistakes: &mut Vec<RuleMistake>,
    ) -> Option<MonitorRule> {
        let rule = self.rule(written);
        mistakes.extend(self.compiler.into_mistakes());
        rule
    }

    fn rule(&mut self, written: &YamlRule) -> Option<MonitorRule> {
        let scope = self.names(written);
        self.compiler.set_scope(scope);
        let id = self.id(written);
        let (objects, intervals) = (&written.objects, &written.intervals);
        let watch = match (objects, intervals) {
            (Some(objects), None) => self
                .objects(objects, &written.related)
                .map(|objects| Watch::Objects(Box::new(objects))),
            (None, Some(intervals)) => {
                if let Some((name, _)) = written.related.0.first() {
                    self.compiler
                        .wrong(name, "`related` is for rules over objects", "use `also`");
                }
                let choice = self.choice(intervals);
                Some(Watch::Intervals(Box::new(choice)))
            }
            _ => {
                let what = "a rule watches either `objects` or `intervals`";
                self.compiler.wrong(&id, what, "give exactly one of them");
                None
            }
        };
        let watches_objects = objects.is_some();
        let when = self.when(&written.when);
        let also = self.also(&written.also);
        let stand = if watches_objects {
            ExpressionPlace::ObjectPer
        } else {
            ExpressionPlace::Interval
        };
        let mut per = Vec::new();
        for (name, cel) in &written.per.0 {
            if let Some(program) = self.compiler.cel(cel, stand) {
                per.push((name.value.clone(), program));
            }
        }
        let each = self.each(written);
        self.places(written);
        let component = self.component(written);
        let checks = CheckReader::new(&mut self.compiler, watches_objects, written.severity);
        let checks = checks.all(written);
        Some(MonitorRule {
            about: about(written, &id.value),
            component,
            when,
            watch: watch?,
            also,
            per,
            each,
            unlisted: self.unlisted(written),
            checks,
            scope: self.compiler.scope().clone(),
        })
    }

    fn names(&mut self, written: &YamlRule) -> RuleScope {
        let items = written
            .objects
            .as_ref()
            .and_then(|objects| objects.items.as_ref());
        let given = items.map(|items| &items.name);
        let given = given
            .into_iter()
            .chain(written.related.0.iter().map(|(name, _)| name));
        let mut seen: Vec<&str> = Vec::new();
        for name in given {
            if !cel::is_name(&name.value) {
                let what = format!("`{}` is not a variable name", name.value);
                self.compiler
                    .wrong(name, what, "letters, digits and `_`, a letter first");
            } else if RuleScope::is_taken(&name.value) || seen.contains(&name.value.as_str()) {
                let what = format!("the name `{}` is taken", name.value);
                self.compiler.wrong(name, what, "choose another one");
            }
            seen.push(&name.value);
        }
        RuleScope {
            item: items
                .map(|items| items.name.value.clone())
                .unwrap_or_default(),
            related: names(&written.related),
            also: names(&written.also),
            places: names(&written.per),
        }
    }

    /// Reads the id; one that is missing is empty, at the place of the rule.
    fn id(&mut self, rule: &YamlRule) -> YamlText {
        let Some(id) = &rule.id else {
            let hint = "lower-case letters, digits and dashes";
            self.compiler.missing(rule.at, "id", hint);
            return Spanned::new(String::new(), rule.at, rule.at);
        };
        let is_good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if id.value.is_empty() || !id.value.chars().all(is_good) {
            let what = format!("`{}` is not an id", id.value);
            self.compiler
                .wrong(id, what, "lower-case letters, digits and dashes");
        }
        id.clone()
    }

    fn objects(
        &mut self,
        written: &YamlObjects,
        related: &YamlEntries<YamlRelated>,
    ) -> Option<ObjectSelector> {
        let resource = self.compiler.resource(&written.resource);
        let namespace = written
            .namespace
            .as_ref()
            .and_then(|text| self.compiler.whole(text));
        let name = written
            .name
            .as_ref()
            .and_then(|text| self.compiler.whole(text));
        let chosen = self
            .compiler
            .maybe(written.chosen.as_ref(), ExpressionPlace::Object);
        let items = written.items.as_ref().map(|items| {
            let list = self.compiler.cel(&items.list, ExpressionPlace::Object);
            let key = self.compiler.cel(&items.key, ExpressionPlace::ObjectPer);
            Some(ItemSource {
                list: list?,
                key: key?,
                duplicates: items.duplicates,
            })
        });
        let related = related
            .0
            .iter()
            .filter_map(|(name, related)| self.related(name, related));
        let related = related.collect();
        Some(ObjectSelector {
            resource: resource?,
            namespace,
            name,
            chosen,
            items: items.flatten(),
            related,
        })
    }

    fn related(&mut self, name: &YamlText, written: &YamlRelated) -> Option<RelatedObjects> {
        let resource = self.compiler.resource(&written.resource);
        let mut ways = Vec::new();
        if written.owned {
            ways.push(RelatedBy::Owned);
        }
        if written.owner {
            ways.push(RelatedBy::Owner);
        }
        let mut count = ways.len();
        let texts: [RelatedField<'_>; 4] = [
            (&written.name, ExpressionPlace::Object, RelatedBy::Name),
            (
                &written.selected_by,
                ExpressionPlace::Object,
                RelatedBy::SelectedBy,
            ),
            (
                &written.selecting,
                ExpressionPlace::Object,
                RelatedBy::Selecting,
            ),
            (
                &written.chosen,
                ExpressionPlace::RelatedObjects,
                RelatedBy::Where,
            ),
        ];
        for (text, stand, by) in texts {
            count += usize::from(text.is_some());
            ways.extend(self.compiler.maybe(text.as_ref(), stand).map(by));
        }
        if count != 1 {
            let what = format!("`{}` has {count} ways to find objects", name.value);
            let hint = "give exactly one of owned, owner, name, selectedBy, selecting, where";
            self.compiler.wrong(name, what, hint);
        }
        Some(RelatedObjects {
            name: name.value.clone(),
            resource: resource?,
            by: ways.pop()?,
            is_anywhere: written.anywhere,
        })
    }

    fn choice(&mut self, written: &YamlIntervals) -> IntervalSelector {
        let mut keys = Vec::new();
        for (key, regex) in &written.keys.0 {
            self.compiler
                .almost_known(std::slice::from_ref(key), "locator key", &LOCATOR_KEYS);
            if let Some(regex) = self.compiler.whole(regex) {
                keys.push((key.value.clone(), regex));
            }
        }
        let subject = written
            .subject
            .iter()
            .filter_map(|text| self.compiler.cel(text, ExpressionPlace::Interval));
        let subject = subject.collect();
        let needs = written
            .needs
            .iter()
            .filter_map(|text| self.compiler.resource(text));
        let needs = needs.collect();
        IntervalSelector {
            sources: self
                .compiler
                .almost_known(&written.sources, "source", &source::ALL),
            reasons: written.reasons.clone(),
            locators: self
                .compiler
                .almost_known(&written.locators, "locator type", &LOCATOR_TYPES),
            levels: written.levels.iter().map(|&level| level.into()).collect(),
            keys,
            during: written.during.0.clone(),
            chosen: self
                .compiler
                .maybe(written.chosen.as_ref(), ExpressionPlace::Interval),
            subject,
            needs,
        }
    }

    fn also(&mut self, written: &YamlEntries<YamlIntervals>) -> BTreeMap<String, IntervalSelector> {
        let mut also = BTreeMap::new();
        for (name, intervals) in &written.0 {
            if !cel::is_name(&name.value) {
                let what = format!("`{}` is not a name", name.value);
                self.compiler
                    .wrong(name, what, "letters, digits and `_`, a letter first");
            }
            if let Some(subject) = intervals.subject.first() {
                self.compiler
                    .wrong(subject, "`also` has no `subject`", "leave it out");
            }
            let choice = self.choice(intervals);
            also.insert(name.value.clone(), choice);
        }
        also
    }

    fn when(&mut self, written: &[YamlWhen]) -> Vec<RuleCondition> {
        let mut all = Vec::new();
        for when in written {
            if let Some(is_met) = self.compiler.cel(&when.cel, ExpressionPlace::RuleCondition) {
                all.push(RuleCondition {
                    is_met,
                    otherwise: when.otherwise.clone(),
                });
            }
        }
        all
    }

    fn each(&mut self, written: &YamlRule) -> BTreeMap<String, ListedValues> {
        let mut each = BTreeMap::new();
        for (place, listed) in &written.each.0 {
            if !written
                .per
                .0
                .iter()
                .any(|(name, _)| name.value == place.value)
            {
                let what = format!("`per` does not define the place `{}`", place.value);
                self.compiler.wrong(place, what, "add it to `per`");
            }
            let constant = self.compiler.constant(&listed.value);
            let values = match (listed.value.as_str(), constant) {
                ("operators", _) => Some(ListedValues::Operators),
                ("namespaces", _) => Some(ListedValues::Namespaces),
                ("nodes", _) => Some(ListedValues::Nodes),
                (_, Some(value)) => texts(value).map(ListedValues::Listed),
                _ => None,
            };
            if let Some(values) = values {
                each.insert(place.value.clone(), values);
            } else {
                let what = format!("`{}` is not a list of values", listed.value);
                let hint =
                    "`operators`, `namespaces`, `nodes`, or a constant that is a list of texts";
                self.compiler.wrong(listed, what, hint);
            }
        }
        if written.each.0.len() > 1 {
            let what = "`each` lists the values of more than one place";
            if let Some((place, _)) = written.each.0.get(1) {
                self.compiler.wrong(
                    place,
                    what,
                    "list one place; cases of the others come as they are seen",
                );
            }
        }
        each
    }

    fn unlisted(&mut self, written: &YamlRule) -> Unlisted {
        let Some(spanned) = &written.unlisted else {
            return Unlisted::default();
        };
        let mut wrong = |what, hint| {
            self.compiler.wrong_at(spanned.referenced, what, hint);
        };
        if written.each.0.is_empty() {
            wrong("`unlisted` without `each`", "add `each`, or leave it out");
        }
        if let Unlisted::Junit(name) = &spanned.value {
            if name.trim().is_empty() {
                wrong("the case has no name", "write `{junit: NAME}`");
            } else if name.contains(['{', '}']) {
                let hint =
                    "one case stands for all values that are not listed: name it without `{`";
                wrong("the name of one case cannot have places", hint);
            }
        }
        spanned.value.clone()
    }

    /// Checks the places in the name against those of `per`.
    fn places(&mut self, written: &YamlRule) {
        // A name that is not given is made of the places.
        let Some(junit) = &written.junit else {
            return;
        };
        if junit.value.trim().is_empty() {
            self.compiler.wrong(
                junit,
                "the name is empty",
                "write a name, or leave `junit` out",
            );
        }
        let mut rest = junit.value.as_str();
        let mut used = Vec::new();
        while let Some((_, behind)) = rest.split_once('{') {
            let Some((place, after)) = behind.split_once('}') else {
                self.compiler.wrong(junit, "unclosed `{`", "write `{NAME}`");
                return;
            };
            used.push(place);
            rest = after;
        }
        let per: Vec<&str> = written
            .per
            .0
            .iter()
            .map(|(name, _)| name.value.as_str())
            .collect();
        for place in &used {
            let is_component = *place == "component"
                && (written.component.is_some() || written.component_of.is_some());
            if !is_component && !per.contains(place) {
                let what = format!("`per` does not define the place `{place}` of the name");
                let hint = if *place == "component" {
                    "give `component` or `componentOf`".to_owned()
                } else {
                    format!("add `{place}: CEL` to `per`")
                };
                self.compiler.wrong(junit, what, hint);
            }
        }
        for (place, _) in &written.per.0 {
            if !used.contains(&place.value.as_str()) {
                let what = format!("the name does not use the place `{}`", place.value);
                let hint = "cases of one name would be one case: add it to `junit`";
                self.compiler.wrong(place, what, hint);
            }
        }
    }

    fn component(&mut self, written: &YamlRule) -> Component {
        match (&written.component, &written.component_of) {
            (None, None) => Component::None,
            (Some(component), None) => Component::Text(component.value.clone()),
            (None, Some(of)) if ["operator", "namespace"].contains(&of.value.as_str()) => {
                if !written.per.0.iter().any(|(name, _)| name.value == of.value) {
                    let what = format!("`per` does not define the place `{}`", of.value);
                    self.compiler.wrong(of, what, "add it to `per`");
                }
                if of.value == "operator" {
                    Component::OfOperator
                } else {
                    Component::OfNamespace
                }
            }
            (None, Some(of)) => {
                let what = format!("there is no component table for `{}`", of.value);
                self.compiler.wrong(of, what, "`operator` or `namespace`");
                Component::None
            }
            (Some(component), Some(_)) => {
                let what = "`component` and `componentOf` exclude each other";
                self.compiler
                    .wrong(component, what, "leave one of them out");
                Component::None
            }
        }
    }
}

/// Returns the names of entries.
fn names<T>(entries: &YamlEntries<T>) -> Vec<String> {
    let entries = entries.0.iter();
    entries.map(|(name, _)| name.value.clone()).collect()
}

/// Returns a list of texts, if a value is one.
fn texts(value: &Value) -> Option<Vec<String>> {
    let texts = value.as_array()?.iter();
    texts.map(|text| text.as_str().map(str::to_owned)).collect()
}

fn about(written: &YamlRule, id: &str) -> MonitorTestInfo {
    let given = |text: &Option<YamlText>, otherwise: &str| {
        let text = text.as_ref().map(|text| text.value.clone());
        text.unwrap_or_else(|| otherwise.to_owned())
    };
    let words = id.replace('-', " ");
    let places = written.per.0.iter();
    let places: Vec<String> = places
        .map(|(name, _)| format!(" for {0} {{{0}}}", name.value))
        .collect();
    MonitorTestInfo {
        id: id.to_owned(),
        monitor: given(&written.monitor, OWN_MONITOR),
        junit: given(&written.junit, &format!("{words}{}", places.concat())),
        description: given(&written.description, &words),
        owner: given(&written.owner, OWN_OWNER),
        origin: given(&written.origin, OWN_ORIGIN),
        is_flake_only: written.flake_only,
        is_informing: written.lifecycle == RuleLifecycle::Informing,
        class: written.class,
        applies_to: written.applies_to.clone(),
        written_in: WrittenIn::Yaml,
    }
}
