//! The way from a rule's text to a rule: required fields, fields that exclude each other, and compiled
//! expressions. Reports every mistake, each with its place.

use super::explain::explained;
use super::file::{
    CountedPer, RuleLifecycle, YamlCheck, YamlEntries, YamlFile, YamlIntervals, YamlObjects,
    YamlRelated, YamlRule, YamlText, YamlWhen, read_yaml,
};
use super::model::{
    CheckOperator, Component, Expectation, ExpressionPlace, FACT_NAMES, INTERVAL_MEMBERS,
    IntervalSelector, ItemSource, ListedValues, Micros, MonitorRule, ObjectSelector, RelatedBy,
    RelatedObjects, ResourceName, RuleCheck, RuleCondition, RuleScope, Template, TemplatePart,
    TemplatePiece, Unlisted, Watch, pieces, place,
};
use super::source::{RuleErrors, RuleMistake, RuleSource, line_of};
use super::text::RuleText;
use crate::cel;
use crate::cel::{CompileError, Compiler, Program};
use crate::interval::{LOCATOR_KEYS, LOCATOR_TYPES, source};
use crate::verdict::{MonitorTestInfo, Severity, WrittenIn};
use regex::Regex;
use serde_json::Value;
use serde_saphyr::{Location, Spanned};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The monitor test, the owner and the origin of a rule that names none.
const OWN_MONITOR: &str = "own-rules";
const OWN_OWNER: &str = "own";
const OWN_ORIGIN: &str = "own rule";

/// How long a rule file may be.
const MAX_FILE_BYTES: usize = 1 << 20;

/// The rules of some files.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    rules: Vec<MonitorRule>,
    /// Of each rule, its text.
    texts: Vec<RuleText>,
    constants: BTreeMap<String, Arc<Value>>,
}

impl RuleSet {
    /// Reads files, each a name and a text.
    ///
    /// # Errors
    /// When anything is wrong with any of them: all mistakes at once.
    pub fn read<'a>(
        files: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, RuleErrors> {
        let mut mistakes = Vec::new();
        let mut parsed = Vec::new();
        let mut texts = Vec::new();
        for (name, text) in files {
            let source = RuleSource::new(name, text);
            if text.len() > MAX_FILE_BYTES {
                let what = format!("the file has {} bytes", text.len());
                let hint = format!("at most {MAX_FILE_BYTES} are allowed: write several files");
                mistakes.push(source.at(1, 1, 1, what, hint));
                continue;
            }
            let file = read_yaml(&source, text, &mut mistakes);
            if let Some(file) = file {
                let first = |rule: &YamlRule| line_of(rule.at);
                let next = file.monitortests.iter().skip(1).map(first).map(Some);
                for (rule, end) in file.monitortests.iter().zip(next.chain([None])) {
                    texts.push(RuleText::of(name, text, first(rule), end));
                }
                parsed.push((source, file));
            }
        }
        let constants = constants(&parsed, &mut mistakes);
        let mut ids = BTreeSet::new();
        let mut rules = Vec::new();
        for (source, file) in &parsed {
            for written in &file.monitortests {
                if let Some(id) = &written.id
                    && !ids.insert(id.value.as_str())
                {
                    let what = format!("duplicate id `{}`", id.value);
                    mistakes.push(source.text(id, what, "give each rule its own id"));
                }
                let mut reader = RuleReader::new(source, &constants);
                let rule = reader.rule(written);
                mistakes.append(&mut reader.mistakes);
                rules.extend(rule);
            }
        }
        if mistakes.is_empty() {
            Ok(Self {
                rules,
                texts,
                constants,
            })
        } else {
            Err(RuleErrors { mistakes })
        }
    }

    /// Returns the rules, in the order of the files.
    pub(crate) fn rules(&self) -> &[MonitorRule] {
        &self.rules
    }

    /// Returns the rules, each with its text.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&MonitorRule, &RuleText)> {
        self.rules.iter().zip(&self.texts)
    }

    /// Returns a file with a rule alone, and the constants that it reads: a starting point for one's own;
    /// `None` if no rule has that id.
    pub fn yaml(&self, id: &str) -> Option<String> {
        let (_, text) = self.texts().find(|(rule, _)| rule.about.id == id)?;
        let rule = text.lines().join("\n");
        let is_read = |name: &str| {
            rule.contains(&format!("constants.{name}")) || rule.contains(&format!(": {name}\n"))
        };
        let constants = self.constants.iter().filter(|(name, _)| is_read(name));
        let constants: Vec<String> = constants
            .map(|(name, value)| format!("  {name}: {value}\n"))
            .collect();
        let mut file = constants.concat();
        if !file.is_empty() {
            file.insert_str(0, "constants:\n");
        }
        Some(format!("{file}monitortests:\n{}\n", rule.trim_end()))
    }

    /// Describes what a rule does; `None` if no rule has that id.
    pub fn explain(&self, id: &str) -> Option<Vec<String>> {
        let rule = self.rules.iter().find(|rule| rule.about.id == id)?;
        Some(explained(rule))
    }

    /// Returns the ids, in the order of the files.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|rule| rule.about.id.as_str())
    }
}

fn constants(
    parsed: &[(RuleSource<'_>, YamlFile)],
    mistakes: &mut Vec<RuleMistake>,
) -> BTreeMap<String, Arc<Value>> {
    let mut constants = BTreeMap::new();
    for (source, file) in parsed {
        for (name, value) in &file.constants.0 {
            if !cel::is_name(&name.value) {
                let what = format!("`{}` is not a constant name", name.value);
                let hint = "letters, digits and `_`, a letter first";
                mistakes.push(source.text(name, what, hint));
            }
            let before = constants.insert(name.value.clone(), Arc::new(value.clone()));
            // Rules that `--explain RULE -o yaml` printed each bring the constants that they read.
            if before.is_some_and(|before| *before != *value) {
                let what = format!("constant `{}` has two values", name.value);
                let hint = "constants are shared by all files: rename one of them";
                mistakes.push(source.text(name, what, hint));
            }
        }
    }
    constants
}

/// A field that tells how other objects are found, and what it makes.
type RelatedField<'a> = (
    &'a Option<YamlText>,
    ExpressionPlace,
    fn(Program) -> RelatedBy,
);

/// Reads the rules of a file.
struct RuleReader<'a> {
    source: &'a RuleSource<'a>,
    mistakes: Vec<RuleMistake>,
    scope: RuleScope,
    constants: &'a BTreeMap<String, Arc<Value>>,
}

impl<'a> RuleReader<'a> {
    fn new(source: &'a RuleSource<'a>, constants: &'a BTreeMap<String, Arc<Value>>) -> Self {
        Self {
            source,
            mistakes: Vec::new(),
            scope: RuleScope::default(),
            constants,
        }
    }

    /// Reads a rule; its mistakes are kept.
    fn rule(&mut self, written: &YamlRule) -> Option<MonitorRule> {
        self.scope = self.names(written);
        let id = self.id(written);
        let (objects, intervals) = (&written.objects, &written.intervals);
        let watch = match (objects, intervals) {
            (Some(objects), None) => self
                .objects(objects, &written.related)
                .map(|objects| Watch::Objects(Box::new(objects))),
            (None, Some(intervals)) => {
                if let Some((name, _)) = written.related.0.first() {
                    self.wrong(name, "`related` is for rules over objects", "use `also`");
                }
                let choice = self.choice(intervals);
                Some(Watch::Intervals(Box::new(choice)))
            }
            _ => {
                let what = "a rule watches either `objects` or `intervals`";
                self.wrong(&id, what, "give exactly one of them");
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
            if let Some(program) = self.cel(cel, stand) {
                per.push((name.value.clone(), program));
            }
        }
        let each = self.each(written);
        self.places(written);
        let component = self.component(written);
        let checks = self.checks(written, watches_objects, written.severity);
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
            scope: self.scope.clone(),
        })
    }

    /// Keeps a mistake.
    fn wrong(&mut self, text: &YamlText, what: impl Into<String>, hint: impl Into<String>) {
        self.mistakes.push(self.source.text(text, what, hint));
    }

    /// Compiles an expression.
    fn cel(&mut self, text: &YamlText, stand: ExpressionPlace) -> Option<Program> {
        match self.compiled(&text.value, stand) {
            Ok(program) => Some(program),
            Err(error) => {
                self.mistakes.push(self.source.cel(text, 0, error));
                None
            }
        }
    }

    fn compiled(&self, text: &str, stand: ExpressionPlace) -> Result<Program, CompileError> {
        let compiler = Compiler {
            variables: self.scope.all(),
            readable: self.scope.readable(stand),
            why_not: &|name| RuleScope::why_not(name, stand),
            words: &RuleScope::words,
            constants: self.constants,
        };
        let program = compiler.compile(text)?;
        for (variable, known, what) in [
            (place::FACTS, FACT_NAMES.split(' ').collect(), "fact"),
            (
                place::INTERVAL,
                INTERVAL_MEMBERS.split(' ').collect(),
                "member of `interval`:",
            ),
            (place::ALSO, words(&self.scope.also), "member of `also`:"),
            (
                place::PLACE,
                words(&self.scope.places),
                "member of `place`:",
            ),
        ] {
            let known: Vec<&str> = known;
            let Some(name) = program.unknown_member(variable, &known) else {
                continue;
            };
            let before = text.split(&name).next().unwrap_or_default();
            let hint = match cel::nearest(&name, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if known.is_empty() => "the rule defines none".to_owned(),
                None => format!("available here: {}", known.join(", ")),
            };
            return Err(CompileError {
                at: before.chars().count(),
                width: name.chars().count(),
                what: format!("unknown {what} `{name}`"),
                hint,
            });
        }
        Ok(program)
    }

    /// Compiles a text with expressions in it.
    fn template(&mut self, text: &YamlText, stand: ExpressionPlace) -> Option<Template> {
        let mut parts = Vec::new();
        let mut is_good = true;
        for piece in pieces(&text.value) {
            match piece {
                TemplatePiece::Text(text) => parts.push(TemplatePart::Text(text.to_owned())),
                TemplatePiece::Cel(cel, begin) => match self.compiled(cel, stand) {
                    Ok(program) => parts.push(TemplatePart::Cel(program)),
                    Err(error) => {
                        self.mistakes.push(self.source.cel(text, begin, error));
                        is_good = false;
                    }
                },
                TemplatePiece::Open(at) => {
                    let error = CompileError {
                        at: 0,
                        width: 2,
                        what: "unclosed `${`".to_owned(),
                        hint: "end the expression with `}`".to_owned(),
                    };
                    self.mistakes.push(self.source.cel(text, at, error));
                    is_good = false;
                }
            }
        }
        is_good.then(|| Template {
            parts,
            text: text.value.clone(),
        })
    }

    /// Reads a span of time.
    fn span(&mut self, text: &YamlText) -> Option<Micros> {
        let span = Micros::parse(text.value.trim());
        if span.is_none() {
            let what = format!("`{}` is not a duration", text.value);
            self.wrong(text, what, "write `90s`, `10m`, `1h30m` or `250ms`");
        }
        span
    }

    /// Compiles a regex that must match a whole text.
    fn whole(&mut self, text: &YamlText) -> Option<Regex> {
        // As it is first, so that an error speaks of what is written.
        let compiled =
            cel::regex(&text.value).and_then(|_| cel::regex(&format!("^(?:{})$", text.value)));
        match compiled {
            Ok(regex) => Some(regex),
            Err(what) => {
                self.wrong(text, what, "");
                None
            }
        }
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
                self.wrong(name, what, "letters, digits and `_`, a letter first");
            } else if RuleScope::is_taken(&name.value) || seen.contains(&name.value.as_str()) {
                let what = format!("the name `{}` is taken", name.value);
                self.wrong(name, what, "choose another one");
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
            self.missing(rule.at, "id", hint);
            return Spanned::new(String::new(), rule.at, rule.at);
        };
        let is_good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if id.value.is_empty() || !id.value.chars().all(is_good) {
            let what = format!("`{}` is not an id", id.value);
            self.wrong(id, what, "lower-case letters, digits and dashes");
        }
        id.clone()
    }

    /// Keeps the mistake that a required field is missing.
    fn missing(&mut self, location: Location, field: &str, hint: &str) {
        let what = format!("the field `{field}` is missing");
        self.mistakes.push(self.source.of(location, what, hint));
    }

    fn resource(&mut self, text: &YamlText) -> Option<ResourceName> {
        let (plural, group) = text.value.split_once('.').unwrap_or((&text.value, ""));
        let is_good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-".contains(c);
        if plural.is_empty() || !text.value.chars().all(is_good) || text.value.ends_with('.') {
            let what = format!("`{}` is not a resource", text.value);
            let hint = "write PLURAL or PLURAL.GROUP: `pods`, `deployments.apps`";
            self.wrong(text, what, hint);
            return None;
        }
        Some(ResourceName {
            group: group.to_owned(),
            plural: plural.to_owned(),
        })
    }

    fn objects(
        &mut self,
        written: &YamlObjects,
        related: &YamlEntries<YamlRelated>,
    ) -> Option<ObjectSelector> {
        let resource = self.resource(&written.resource);
        let namespace = written.namespace.as_ref().and_then(|text| self.whole(text));
        let name = written.name.as_ref().and_then(|text| self.whole(text));
        let chosen = self.maybe(written.chosen.as_ref(), ExpressionPlace::Object);
        let items = written.items.as_ref().map(|items| {
            let list = self.cel(&items.list, ExpressionPlace::Object);
            let key = self.cel(&items.key, ExpressionPlace::ObjectPer);
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

    fn maybe(&mut self, text: Option<&YamlText>, stand: ExpressionPlace) -> Option<Program> {
        text.and_then(|text| self.cel(text, stand))
    }

    fn related(&mut self, name: &YamlText, written: &YamlRelated) -> Option<RelatedObjects> {
        let resource = self.resource(&written.resource);
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
            ways.extend(self.maybe(text.as_ref(), stand).map(by));
        }
        if count != 1 {
            let what = format!("`{}` has {count} ways to find objects", name.value);
            let hint = "give exactly one of owned, owner, name, selectedBy, selecting, where";
            self.wrong(name, what, hint);
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
            self.almost_known(std::slice::from_ref(key), "locator key", &LOCATOR_KEYS);
            if let Some(regex) = self.whole(regex) {
                keys.push((key.value.clone(), regex));
            }
        }
        let subject = written
            .subject
            .iter()
            .filter_map(|text| self.cel(text, ExpressionPlace::Interval));
        let subject = subject.collect();
        let needs = written.needs.iter().filter_map(|text| self.resource(text));
        let needs = needs.collect();
        IntervalSelector {
            sources: self.almost_known(&written.sources, "source", &source::ALL),
            reasons: written.reasons.clone(),
            locators: self.almost_known(&written.locators, "locator type", &LOCATOR_TYPES),
            levels: written.levels.iter().map(|&level| level.into()).collect(),
            keys,
            during: written.during.0.clone(),
            chosen: self.maybe(written.chosen.as_ref(), ExpressionPlace::Interval),
            subject,
            needs,
        }
    }

    /// Takes words of intervals. A file may have any, but one that is almost a known one is a mistake.
    fn almost_known(&mut self, texts: &[YamlText], what: &str, known: &[&str]) -> Vec<String> {
        for text in texts {
            let name = &text.value;
            if !known.contains(&name.as_str())
                && let Some(near) = cel::nearest(name, known.iter().copied())
            {
                let what = format!("unknown {what} `{name}`");
                self.wrong(text, what, format!("did you mean `{near}`?"));
            }
        }
        texts.iter().map(|text| text.value.clone()).collect()
    }

    fn also(&mut self, written: &YamlEntries<YamlIntervals>) -> BTreeMap<String, IntervalSelector> {
        let mut also = BTreeMap::new();
        for (name, intervals) in &written.0 {
            if !cel::is_name(&name.value) {
                let what = format!("`{}` is not a name", name.value);
                self.wrong(name, what, "letters, digits and `_`, a letter first");
            }
            if let Some(subject) = intervals.subject.first() {
                self.wrong(subject, "`also` has no `subject`", "leave it out");
            }
            let choice = self.choice(intervals);
            also.insert(name.value.clone(), choice);
        }
        also
    }

    fn when(&mut self, written: &[YamlWhen]) -> Vec<RuleCondition> {
        let mut all = Vec::new();
        for when in written {
            if let Some(is_met) = self.cel(&when.cel, ExpressionPlace::RuleCondition) {
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
                self.wrong(place, what, "add it to `per`");
            }
            let constant = self.constants.get(&listed.value);
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
                self.wrong(listed, what, hint);
            }
        }
        if written.each.0.len() > 1 {
            let what = "`each` lists the values of more than one place";
            if let Some((place, _)) = written.each.0.get(1) {
                self.wrong(
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
            let mistake = self.source.of(spanned.referenced, what, hint);
            self.mistakes.push(mistake);
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
            self.wrong(
                junit,
                "the name is empty",
                "write a name, or leave `junit` out",
            );
        }
        let mut rest = junit.value.as_str();
        let mut used = Vec::new();
        while let Some((_, behind)) = rest.split_once('{') {
            let Some((place, after)) = behind.split_once('}') else {
                self.wrong(junit, "unclosed `{`", "write `{NAME}`");
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
                self.wrong(junit, what, hint);
            }
        }
        for (place, _) in &written.per.0 {
            if !used.contains(&place.value.as_str()) {
                let what = format!("the name does not use the place `{}`", place.value);
                let hint = "cases of one name would be one case: add it to `junit`";
                self.wrong(place, what, hint);
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
                    self.wrong(of, what, "add it to `per`");
                }
                if of.value == "operator" {
                    Component::OfOperator
                } else {
                    Component::OfNamespace
                }
            }
            (None, Some(of)) => {
                let what = format!("there is no component table for `{}`", of.value);
                self.wrong(of, what, "`operator` or `namespace`");
                Component::None
            }
            (Some(component), Some(_)) => {
                let what = "`component` and `componentOf` exclude each other";
                self.wrong(component, what, "leave one of them out");
                Component::None
            }
        }
    }
}

fn words(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
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

/// The operators that only rules over objects have.
const FOR_OBJECTS: [CheckOperator; 3] = [
    CheckOperator::Until,
    CheckOperator::Stays,
    CheckOperator::Flaps,
];

/// An operator of a check with its operands, as they are written.
#[derive(Clone, Copy)]
struct YamlOperator<'y> {
    operator: CheckOperator,
    first: &'y YamlText,
    second: Option<&'y YamlText>,
    span: Option<&'y YamlText>,
    times: u64,
    above: f64,
}

impl<'y> YamlOperator<'y> {
    const fn new(operator: CheckOperator, first: &'y YamlText, span: Option<&'y YamlText>) -> Self {
        Self {
            operator,
            first,
            second: None,
            span,
            times: 0,
            above: 0.0,
        }
    }

    fn with(self, second: &'y YamlText) -> Self {
        Self {
            second: Some(second),
            ..self
        }
    }

    /// Finds the operators that a check has.
    fn all(check: &'y YamlCheck) -> Vec<Self> {
        let at_least = check.for_at_least.as_ref();
        let plain = [
            (CheckOperator::Never, &check.never, at_least),
            (CheckOperator::Always, &check.always, at_least),
            (CheckOperator::AtEnd, &check.at_end, None),
            (
                CheckOperator::Eventually,
                &check.eventually,
                check.within.as_ref(),
            ),
        ];
        let plain = plain
            .into_iter()
            .filter_map(|(operator, first, span)| Some(Self::new(operator, first.as_ref()?, span)));
        let mut all: Vec<Self> = plain.collect();
        all.extend(check.leads_to.as_ref().map(|value| {
            Self::new(CheckOperator::LeadsTo, &value.from, Some(&value.within)).with(&value.to)
        }));
        all.extend(
            check
                .until
                .as_ref()
                .map(|value| Self::new(CheckOperator::Until, &value.hold, None).with(&value.until)),
        );
        all.extend(check.stays.as_ref().map(|value| {
            Self::new(CheckOperator::Stays, &value.after, value.span.as_ref()).with(&value.hold)
        }));
        all.extend(check.at_most.as_ref().map(|value| Self {
            times: value.times,
            ..Self::new(CheckOperator::AtMost, &value.of, value.span.as_ref())
        }));
        all.extend(check.flaps.as_ref().map(|value| Self {
            times: value.more_than,
            ..Self::new(CheckOperator::Flaps, &value.of, value.span.as_ref())
        }));
        all.extend(check.highest.as_ref().map(|value| Self {
            above: value.above,
            ..Self::new(CheckOperator::Highest, &value.of, None)
        }));
        let total = check.total.as_ref();
        all.extend(
            total.map(|value| Self::new(CheckOperator::Total, &value.of, Some(&value.above))),
        );
        all
    }
}

/// Makes the message of a check that has none: what is expected.
fn usual_message(operands: YamlOperator<'_>) -> Template {
    let predicate: Vec<&str> = operands.first.value.split_whitespace().collect();
    let text = format!(
        "against `{}: {}`",
        operands.operator.field(),
        predicate.join(" ")
    );
    Template {
        parts: vec![TemplatePart::Text(text.clone())],
        text,
    }
}

/// The operators that count something, or measure it.
const COUNTING: &[CheckOperator] = &[
    CheckOperator::AtMost,
    CheckOperator::Flaps,
    CheckOperator::Highest,
    CheckOperator::Total,
];

/// Returns where the predicates of a check stand, and where its message does.
fn places_of(operator: CheckOperator, watches_objects: bool) -> (ExpressionPlace, ExpressionPlace) {
    let counts = COUNTING.contains(&operator);
    match (watches_objects, operator) {
        (true, _) if counts => (ExpressionPlace::ObjectCheck, ExpressionPlace::ObjectCount),
        (true, _) => (
            ExpressionPlace::ObjectCheck,
            ExpressionPlace::ObjectEvidence,
        ),
        (false, CheckOperator::Eventually) => (
            ExpressionPlace::IntervalCheck,
            ExpressionPlace::MissingEvidence,
        ),
        (false, _) if counts => (
            ExpressionPlace::IntervalCheck,
            ExpressionPlace::IntervalCount,
        ),
        (false, _) => (
            ExpressionPlace::IntervalCheck,
            ExpressionPlace::IntervalEvidence,
        ),
    }
}

/// Fields of checks, where they are given, and the operators that they go with.
fn fields(written: &YamlCheck) -> [(&'static str, Option<Location>, &'static [CheckOperator]); 4] {
    use CheckOperator::{Always, Eventually, Never};
    let place = |text: &Option<YamlText>| text.as_ref().map(|text| text.referenced);
    let counted = written.counted_per.as_ref();
    [
        ("forAtLeast", place(&written.for_at_least), &[Never, Always]),
        ("within", place(&written.within), &[Eventually]),
        ("since", place(&written.since), &[Eventually]),
        (
            "countedPer",
            counted.map(|counted| counted.referenced),
            COUNTING,
        ),
    ]
}

impl RuleReader<'_> {
    /// Reads the checks of a rule.
    fn checks(
        &mut self,
        rule: &YamlRule,
        watches_objects: bool,
        usual: Severity,
    ) -> Vec<RuleCheck> {
        let Some(expect) = &rule.expect else {
            let hint = "a list of checks, such as `- never: object.status.phase == \"Failed\"`";
            self.missing(rule.at, "expect", hint);
            return Vec::new();
        };
        if expect.is_empty() {
            let what = "the rule has no checks";
            let mistake = self.source.of(rule.expect_at, what, "add a check");
            self.mistakes.push(mistake);
        }
        expect
            .iter()
            .filter_map(|check| self.check(check, watches_objects, usual))
            .collect()
    }

    fn check(
        &mut self,
        written: &YamlCheck,
        watches_objects: bool,
        usual: Severity,
    ) -> Option<RuleCheck> {
        let operators = YamlOperator::all(written);
        if operators.len() != 1 {
            let what = format!("the check has {} operators", operators.len());
            let hint = "give exactly one of never, always, atEnd, eventually, leadsTo, until, stays, \
                        atMost, flaps, highest, total";
            let mistake = self.source.of(written.at, what, hint);
            self.mistakes.push(mistake);
        }
        let operands = *operators.first()?;
        let operator = operands.operator;
        for (field, location, with) in fields(written) {
            if let Some(location) = location.filter(|_| !with.contains(&operator)) {
                let what = format!("`{field}` has no meaning with `{}`", operator.field());
                let with: Vec<&str> = with.iter().map(|operator| operator.field()).collect();
                let hint = format!("it goes with {}", with.join(", "));
                self.mistakes.push(self.source.of(location, what, hint));
            }
        }
        if !watches_objects && FOR_OBJECTS.contains(&operator) {
            let what = format!("`{}` is for rules over objects", operator.field());
            let hint = "over intervals there are never, always, atEnd, eventually, leadsTo, atMost, \
                        highest and total";
            let mistake = self.source.of(written.at, what, hint);
            self.mistakes.push(mistake);
        }
        let (stand, evidence) = places_of(operator, watches_objects);
        let expected = self.expected(written, operands, stand);
        let flake_if = written.flake_if.as_ref();
        let flake_if = flake_if.map(|text| self.cel(text, evidence));
        let reason = written.reason.as_ref();
        let reason = reason.map(|text| self.template(text, evidence));
        let message = match &written.message {
            Some(message) => self.template(message, evidence),
            None => Some(usual_message(operands)),
        };
        Some(RuleCheck {
            expected: expected?,
            during: written.during.0.clone(),
            severity: written.severity.unwrap_or(usual),
            flake_if: flake_if.flatten(),
            reason: reason.flatten(),
            message: message?,
        })
    }

    fn expected(
        &mut self,
        written: &YamlCheck,
        operands: YamlOperator<'_>,
        place: ExpressionPlace,
    ) -> Option<Expectation> {
        let span = operands.span.map(|text| self.span(text));
        let first = self.cel(operands.first, place);
        let second = operands.second.map(|text| self.cel(text, place));
        let since = written.since.as_ref();
        let since = since.map(|text| self.cel(text, ExpressionPlace::Since));
        // What is written and wrong is a mistake; what is not written is none.
        let (span, second, since) = match (span, second, since) {
            (Some(None), ..) | (_, Some(None), _) | (.., Some(None)) => return None,
            (span, second, since) => (span.flatten(), second.flatten(), since.flatten()),
        };
        if !operands.above.is_finite() {
            self.wrong(operands.first, "`above` is not a number", "write a number");
        }
        let counted = written.counted_per.as_ref();
        Some(Expectation {
            operator: operands.operator,
            first: first?,
            second,
            span,
            times: operands.times,
            above: operands.above,
            since,
            per_case: counted.is_some_and(|per| per.value == CountedPer::Case),
        })
    }
}
