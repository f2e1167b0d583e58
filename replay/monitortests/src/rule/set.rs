//! The rules of some files, read at once: ids are unique over all files, and constants are shared by them.

use super::explain::explained;
use super::file::{YamlFile, YamlRule, read_yaml};
use super::model::MonitorRule;
use super::read::RuleReader;
use super::source::{RuleErrors, RuleMistake, RuleSource, line_of};
use super::text::RuleText;
use crate::cel;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

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
                let reader = RuleReader::new(source, &constants);
                rules.extend(reader.read(written, &mut mistakes));
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
