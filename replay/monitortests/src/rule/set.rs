//! Owns the rules of some files: reading them together, because they share constants and must differ
//! in their ids. Refuses files as such: names and texts are given.

use super::explain::explained;
use super::mistake::{RuleErrors, RuleMistake};
use super::model::Rule;
use super::read::Reader;
use super::source::Source;
use super::written::File;
use super::yaml;
use crate::cel;
use crate::judge::RuleTest;
use crate::verdict::MonitorTest;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How long a rule file may be.
const MAX_FILE_BYTES: usize = 1 << 20;

/// The rules of some files.
#[derive(Clone, Debug, Default)]
pub struct RuleSet {
    pub(crate) rules: Vec<Rule>,
}

impl RuleSet {
    /// Reads files, each a name and a text.
    ///
    /// # Errors
    /// When anything is wrong with any of them: all that can be told is told at once.
    pub fn read<'a>(
        files: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, RuleErrors> {
        let mut mistakes = Vec::new();
        let mut parsed = Vec::new();
        for (name, text) in files {
            let source = Source::new(name, text);
            if text.len() > MAX_FILE_BYTES {
                let what = format!("the file has {} bytes", text.len());
                let hint = format!("at most {MAX_FILE_BYTES} are read: write several files");
                mistakes.push(source.at(1, 1, 1, what, hint));
                continue;
            }
            match yaml::file(&source, text) {
                Ok(file) => parsed.push((source, file)),
                Err(mistake) => mistakes.push(mistake),
            }
        }
        let constants = constants(&parsed, &mut mistakes);
        let mut ids = BTreeSet::new();
        let mut rules = Vec::new();
        for (source, file) in &parsed {
            for written in &file.monitortests {
                if !ids.insert(written.id.value.as_str()) {
                    let what = format!("the id `{}` is there twice", written.id.value);
                    mistakes.push(source.text(&written.id, what, "give each rule its own id"));
                }
                let mut reader = Reader::new(source, &constants);
                let rule = reader.rule(written);
                mistakes.append(&mut reader.mistakes);
                rules.extend(rule);
            }
        }
        if mistakes.is_empty() {
            Ok(Self { rules })
        } else {
            Err(RuleErrors { mistakes })
        }
    }

    /// Makes the monitortests, in the order of the files.
    pub fn tests(&self) -> Vec<Box<dyn MonitorTest>> {
        let tests = self.rules.iter().cloned().map(RuleTest::new);
        tests.map(boxed).collect()
    }

    /// Makes monitortests that read every field and ask every predicate at each event: the same
    /// verdicts, slowly. To compare with.
    pub fn naive_tests(&self) -> Vec<Box<dyn MonitorTest>> {
        let tests = self.rules.iter().cloned().map(RuleTest::naive);
        tests.map(boxed).collect()
    }

    /// Says in words what a rule does; `None` if there is no rule of that id.
    pub fn explain(&self, id: &str) -> Option<Vec<String>> {
        let rule = self.rules.iter().find(|rule| rule.about.id == id)?;
        Some(explained(rule))
    }

    /// Gives the ids, in the order of the files.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|rule| rule.about.id.as_str())
    }
}

fn constants(
    parsed: &[(Source<'_>, File)],
    mistakes: &mut Vec<RuleMistake>,
) -> BTreeMap<String, Arc<Value>> {
    let mut constants = BTreeMap::new();
    for (source, file) in parsed {
        for (name, value) in &file.constants.0 {
            if !cel::is_name(&name.value) {
                let what = format!("`{}` is no name of a constant", name.value);
                let hint = "letters, digits and `_`, a letter first";
                mistakes.push(source.text(name, what, hint));
            }
            let value = Arc::new(value.clone());
            if constants.insert(name.value.clone(), value).is_some() {
                let what = format!("the constant `{}` is there twice", name.value);
                mistakes.push(source.text(name, what, "a name is given once over all files"));
            }
        }
    }
    constants
}

fn boxed(test: RuleTest) -> Box<dyn MonitorTest> {
    Box::new(test)
}
