//! Owns the way from a rule's text to a rule: what is required, what excludes what, what is compiled.
//! Refuses to guess: what it does not understand is a mistake with a place.

use super::mistake::RuleMistake;
use super::model::{
    Choice, Component, Each, Found, Items, Objects, Related, ResourceName, Rule, Unlisted, Watch,
    When,
};
use super::scope::{Scope, Stand};
use super::source::Source;
use super::span::Micros;
use super::template::{self, Part, Piece, Template};
use super::written::{self, Entries, Text};
use crate::cel::{self, CompileError, Compiler, Program};
use crate::interval::Level;
use crate::verdict::{About, Severity, WrittenIn};
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A field that tells how other objects are found, and what it makes.
type Way<'a> = (&'a Option<Text>, Stand, fn(Program) -> Found);

/// Reads the rules of a file.
pub(super) struct Reader<'a> {
    pub(super) source: &'a Source<'a>,
    pub(super) mistakes: Vec<RuleMistake>,
    pub(super) scope: Scope,
    constants: &'a BTreeMap<String, Arc<Value>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(source: &'a Source<'a>, constants: &'a BTreeMap<String, Arc<Value>>) -> Self {
        Self {
            source,
            mistakes: Vec::new(),
            scope: Scope::default(),
            constants,
        }
    }

    /// Reads a rule; its mistakes are kept.
    pub(super) fn rule(&mut self, written: &written::Rule) -> Option<Rule> {
        self.scope = self.names(written);
        self.id(&written.id);
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
                self.wrong(&written.id, what, "give exactly one of them");
                None
            }
        };
        let watches_objects = objects.is_some();
        let when = self.when(&written.when);
        let also = self.also(&written.also);
        let stand = if watches_objects {
            Stand::ObjectPer
        } else {
            Stand::Interval
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
        let severity = severity(written.severity);
        let checks = self.checks(written, watches_objects, severity);
        Some(Rule {
            about: about(written),
            is_informing: written.lifecycle == written::Lifecycle::Informing,
            component,
            when,
            watch: watch?,
            also,
            per,
            each,
            unlisted: match &written.unlisted {
                written::Unlisted::Keep => Unlisted::Keep,
                written::Unlisted::Drop => Unlisted::Drop,
                written::Unlisted::Junit(junit) => Unlisted::Junit(junit.clone()),
            },
            checks,
            scope: self.scope.clone(),
        })
    }

    /// Keeps a mistake.
    pub(super) fn wrong(&mut self, text: &Text, what: impl Into<String>, hint: impl Into<String>) {
        self.mistakes.push(self.source.text(text, what, hint));
    }

    /// Compiles an expression.
    pub(super) fn cel(&mut self, text: &Text, stand: Stand) -> Option<Program> {
        match self.compiled(&text.value, stand) {
            Ok(program) => Some(program),
            Err(error) => {
                self.mistakes.push(self.source.cel(text, 0, error));
                None
            }
        }
    }

    fn compiled(&self, text: &str, stand: Stand) -> Result<Program, CompileError> {
        let compiler = Compiler {
            variables: self.scope.all(),
            readable: self.scope.readable(stand),
            why_not: &|name| Scope::why_not(name, stand),
            constants: self.constants,
        };
        compiler.compile(text)
    }

    /// Compiles a text with expressions in it.
    pub(super) fn template(&mut self, text: &Text, stand: Stand) -> Option<Template> {
        let mut parts = Vec::new();
        let mut is_good = true;
        for piece in template::pieces(&text.value) {
            match piece {
                Piece::Text(text) => parts.push(Part::Text(text.to_owned())),
                Piece::Cel(cel, begin) => match self.compiled(cel, stand) {
                    Ok(program) => parts.push(Part::Cel(program)),
                    Err(error) => {
                        self.mistakes.push(self.source.cel(text, begin, error));
                        is_good = false;
                    }
                },
                Piece::Open(at) => {
                    let error = CompileError {
                        at: 0,
                        width: 2,
                        what: "this `${` is not closed".to_owned(),
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
    pub(super) fn span(&mut self, text: &Text) -> Option<Micros> {
        let span = Micros::parse(text.value.trim());
        if span.is_none() {
            let what = format!("`{}` is no span of time", text.value);
            self.wrong(text, what, "write `90s`, `10m`, `1h30m` or `250ms`");
        }
        span
    }

    /// Compiles a regex that must match a whole text.
    fn whole(&mut self, text: &Text) -> Option<Regex> {
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

    fn names(&mut self, written: &written::Rule) -> Scope {
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
                let what = format!("`{}` is no name of a variable", name.value);
                self.wrong(name, what, "letters, digits and `_`, a letter first");
            } else if Scope::is_taken(&name.value) || seen.contains(&name.value.as_str()) {
                let what = format!("the name `{}` is taken", name.value);
                self.wrong(name, what, "choose another one");
            }
            seen.push(&name.value);
        }
        Scope {
            item: items
                .map(|items| items.name.value.clone())
                .unwrap_or_default(),
            related: written
                .related
                .0
                .iter()
                .map(|(name, _)| name.value.clone())
                .collect(),
        }
    }

    fn id(&mut self, id: &Text) {
        let is_good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if id.value.is_empty() || !id.value.chars().all(is_good) {
            let what = format!("`{}` is no id", id.value);
            self.wrong(id, what, "lower-case letters, digits and dashes");
        }
    }

    fn resource(&mut self, text: &Text) -> Option<ResourceName> {
        let (plural, group) = text.value.split_once('.').unwrap_or((&text.value, ""));
        let is_good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-".contains(c);
        if plural.is_empty() || !text.value.chars().all(is_good) || text.value.ends_with('.') {
            let what = format!("`{}` is no resource", text.value);
            let hint = "write the plural name, and the group behind a dot: `deployments.apps`";
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
        written: &written::Objects,
        related: &Entries<written::Related>,
    ) -> Option<Objects> {
        let resource = self.resource(&written.resource);
        let namespace = written.namespace.as_ref().and_then(|text| self.whole(text));
        let name = written.name.as_ref().and_then(|text| self.whole(text));
        let chosen = self.maybe(written.chosen.as_ref(), Stand::Object);
        let items = written.items.as_ref().map(|items| {
            let list = self.cel(&items.list, Stand::Object);
            let key = self.cel(&items.key, Stand::ObjectPer);
            Some(Items {
                list: list?,
                key: key?,
            })
        });
        let related = related
            .0
            .iter()
            .filter_map(|(name, related)| self.related(name, related));
        let related = related.collect();
        Some(Objects {
            resource: resource?,
            namespace,
            name,
            chosen,
            items: items.flatten(),
            related,
        })
    }

    fn maybe(&mut self, text: Option<&Text>, stand: Stand) -> Option<Program> {
        text.and_then(|text| self.cel(text, stand))
    }

    fn related(&mut self, name: &Text, written: &written::Related) -> Option<Related> {
        let resource = self.resource(&written.resource);
        let mut ways = Vec::new();
        if written.owned {
            ways.push(Found::Owned);
        }
        if written.owner {
            ways.push(Found::Owner);
        }
        let mut count = ways.len();
        let texts: [Way<'_>; 4] = [
            (&written.name, Stand::Object, Found::Name),
            (&written.selected_by, Stand::Object, Found::SelectedBy),
            (&written.selecting, Stand::Object, Found::Selecting),
            (&written.chosen, Stand::Related, Found::Where),
        ];
        for (text, stand, by) in texts {
            count += usize::from(text.is_some());
            ways.extend(self.maybe(text.as_ref(), stand).map(by));
        }
        if count != 1 {
            let what = format!("`{}` is found in {count} ways", name.value);
            let hint = "give exactly one of owned, owner, name, selectedBy, selecting, where";
            self.wrong(name, what, hint);
        }
        Some(Related {
            name: name.value.clone(),
            resource: resource?,
            by: ways.pop()?,
            is_anywhere: written.anywhere,
        })
    }

    fn choice(&mut self, written: &written::Intervals) -> Choice {
        let mut keys = Vec::new();
        for (key, regex) in &written.keys.0 {
            if let Some(regex) = self.whole(regex) {
                keys.push((key.value.clone(), regex));
            }
        }
        let subject = written
            .subject
            .iter()
            .filter_map(|text| self.cel(text, Stand::Interval));
        let subject = subject.collect();
        let needs = written.needs.iter().filter_map(|text| self.resource(text));
        let needs = needs.collect();
        let level = |level: &written::Level| match level {
            written::Level::Info => Level::Info,
            written::Level::Warning => Level::Warning,
            written::Level::Error => Level::Error,
        };
        Choice {
            sources: written.sources.clone(),
            reasons: written.reasons.clone(),
            locators: written.locators.clone(),
            levels: written.levels.iter().map(level).collect(),
            keys,
            during: written.during.iter().map(|&during| during.into()).collect(),
            chosen: self.maybe(written.chosen.as_ref(), Stand::Interval),
            subject,
            needs,
        }
    }

    fn also(&mut self, written: &Entries<written::Intervals>) -> BTreeMap<String, Choice> {
        let mut also = BTreeMap::new();
        for (name, intervals) in &written.0 {
            if !cel::is_name(&name.value) {
                let what = format!("`{}` is no name", name.value);
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

    fn when(&mut self, written: &[written::When]) -> Vec<When> {
        let mut all = Vec::new();
        for when in written {
            if let Some(is_met) = self.cel(&when.cel, Stand::When) {
                all.push(When {
                    is_met,
                    otherwise: when.otherwise.clone(),
                });
            }
        }
        all
    }

    fn each(&mut self, written: &written::Rule) -> BTreeMap<String, Each> {
        let mut each = BTreeMap::new();
        for (place, listed) in &written.each.0 {
            if !written
                .per
                .0
                .iter()
                .any(|(name, _)| name.value == place.value)
            {
                let what = format!("the place `{}` is not in `per`", place.value);
                self.wrong(place, what, "`per` says what a place is");
            }
            let constant = self.constants.get(&listed.value);
            let values = match (listed.value.as_str(), constant) {
                ("operators", _) => Some(Each::Operators),
                ("namespaces", _) => Some(Each::Namespaces),
                ("nodes", _) => Some(Each::Nodes),
                (_, Some(value)) => texts(value).map(Each::Listed),
                _ => None,
            };
            if let Some(values) = values {
                each.insert(place.value.clone(), values);
            } else {
                let what = format!("`{}` is no list of values", listed.value);
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

    /// Checks the places in the name against those of `per`.
    fn places(&mut self, written: &written::Rule) {
        let mut rest = written.junit.value.as_str();
        let mut used = Vec::new();
        while let Some((_, behind)) = rest.split_once('{') {
            let Some((place, after)) = behind.split_once('}') else {
                self.wrong(
                    &written.junit,
                    "this `{` is not closed",
                    "a place is `{NAME}`",
                );
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
                let what = format!("the place `{place}` of the name is not in `per`");
                let hint = if *place == "component" {
                    "give `component` or `componentOf`".to_owned()
                } else {
                    format!("add `{place}: CEL` to `per`")
                };
                self.wrong(&written.junit, what, hint);
            }
        }
        for (place, _) in &written.per.0 {
            if !used.contains(&place.value.as_str()) {
                let what = format!("the name has no place `{}`", place.value);
                let hint = "cases of one name would be one case: write it into `junit`";
                self.wrong(place, what, hint);
            }
        }
    }

    fn component(&mut self, written: &written::Rule) -> Component {
        match (&written.component, &written.component_of) {
            (None, None) => Component::None,
            (Some(component), None) => Component::Text(component.value.clone()),
            (None, Some(of)) if ["operator", "namespace"].contains(&of.value.as_str()) => {
                if !written.per.0.iter().any(|(name, _)| name.value == of.value) {
                    let what = format!("the place `{}` is not in `per`", of.value);
                    self.wrong(of, what, "`per` says what a place is");
                }
                if of.value == "operator" {
                    Component::OfOperator
                } else {
                    Component::OfNamespace
                }
            }
            (None, Some(of)) => {
                let what = format!("no table tells the component of `{}`", of.value);
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

/// Gives a list of texts, if a value is one.
fn texts(value: &Value) -> Option<Vec<String>> {
    let texts = value.as_array()?.iter();
    texts.map(|text| text.as_str().map(str::to_owned)).collect()
}

pub(super) const fn severity(written: written::Severity) -> Severity {
    match written {
        written::Severity::Fail => Severity::Fail,
        written::Severity::Flake => Severity::Flake,
    }
}

fn about(written: &written::Rule) -> About {
    About {
        id: written.id.value.clone(),
        monitor: written.monitor.value.clone(),
        junit: written.junit.value.clone(),
        description: written.description.value.clone(),
        owner: written.owner.value.clone(),
        origin: written.origin.value.clone(),
        is_flake_only: written.flake_only,
        written_in: WrittenIn::Yaml,
    }
}
