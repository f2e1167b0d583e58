//! The expressions and the words of one rule: compiles them, and keeps every mistake with its place.

use super::file::YamlText;
use super::model::{
    ExpressionPlace, FACT_NAMES, INTERVAL_MEMBERS, Micros, ResourceName, RuleScope, Template,
    TemplatePart, TemplatePiece, pieces, place,
};
use super::source::{RuleMistake, RuleSource};
use crate::cel;
use crate::cel::{CompileError, Compiler, Program};
use regex::Regex;
use serde_json::Value;
use serde_saphyr::Location;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Compiles what one rule says. A text that is wrong becomes a mistake, and the rest of the rule is still read.
pub(super) struct RuleCompiler<'a> {
    source: &'a RuleSource<'a>,
    mistakes: Vec<RuleMistake>,
    scope: RuleScope,
    constants: &'a BTreeMap<String, Arc<Value>>,
}

impl<'a> RuleCompiler<'a> {
    pub(super) fn new(
        source: &'a RuleSource<'a>,
        constants: &'a BTreeMap<String, Arc<Value>>,
    ) -> Self {
        Self {
            source,
            mistakes: Vec::new(),
            scope: RuleScope::default(),
            constants,
        }
    }

    /// Sets the names that expressions may use from now on.
    pub(super) fn set_scope(&mut self, scope: RuleScope) {
        self.scope = scope;
    }

    /// Returns the names that expressions may use.
    pub(super) const fn scope(&self) -> &RuleScope {
        &self.scope
    }

    /// Returns a constant of the files.
    pub(super) fn constant(&self, name: &str) -> Option<&'a Value> {
        self.constants.get(name).map(AsRef::as_ref)
    }

    /// Returns all mistakes.
    pub(super) fn into_mistakes(self) -> Vec<RuleMistake> {
        self.mistakes
    }

    /// Keeps a mistake at a place.
    pub(super) fn wrong_at(
        &mut self,
        location: Location,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.mistakes.push(self.source.of(location, what, hint));
    }

    /// Keeps the mistake that a required field is missing.
    pub(super) fn missing(&mut self, location: Location, field: &str, hint: &str) {
        let what = format!("the field `{field}` is missing");
        self.wrong_at(location, what, hint);
    }

    /// Keeps a mistake about a text.
    pub(super) fn wrong(
        &mut self,
        text: &YamlText,
        what: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.mistakes.push(self.source.text(text, what, hint));
    }

    /// Compiles an expression.
    pub(super) fn cel(&mut self, text: &YamlText, stand: ExpressionPlace) -> Option<Program> {
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
    pub(super) fn template(&mut self, text: &YamlText, stand: ExpressionPlace) -> Option<Template> {
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
    pub(super) fn span(&mut self, text: &YamlText) -> Option<Micros> {
        let span = Micros::parse(text.value.trim());
        if span.is_none() {
            let what = format!("`{}` is not a duration", text.value);
            self.wrong(text, what, "write `90s`, `10m`, `1h30m` or `250ms`");
        }
        span
    }

    /// Compiles a regex that must match a whole text.
    pub(super) fn whole(&mut self, text: &YamlText) -> Option<Regex> {
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

    pub(super) fn maybe(
        &mut self,
        text: Option<&YamlText>,
        stand: ExpressionPlace,
    ) -> Option<Program> {
        text.and_then(|text| self.cel(text, stand))
    }

    pub(super) fn resource(&mut self, text: &YamlText) -> Option<ResourceName> {
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

    /// Takes words of intervals. A file may have any, but one that is almost a known one is a mistake.
    pub(super) fn almost_known(
        &mut self,
        texts: &[YamlText],
        what: &str,
        known: &[&str],
    ) -> Vec<String> {
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
}

fn words(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}
