//! The rules and exceptions that `kubereel test` runs with: those of the program and the user's files, which are bounded
//! before they are read; and how rules are listed and explained.

use super::RuleArgs;
use crate::arguments::WideFormat;
use crate::command_error::{CommandError, Exit};
use crate::files;
use crate::screen::{Console, Style, StyledLine};
use crate::table::TextTable;
use crate::words::{bytes, count};
use kubereel_format::RecordedAt;
use kubereel_history::{Timeline, nearest};
use kubereel_monitortests::{
    ExceptionSet, Facts, Glob, MonitorTest, MonitorTestInfo, RuleClass, RuleErrors, RuleSet,
    RunOptions, Selection, WrittenIn, builtin_rule_files,
};
use kubereel_problems::monitor_tests;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The most bytes of a file of rules or exceptions. People write them; generated ones can be split.
const FILE_BYTES: u64 = 10_000_000;

/// The most files in a folder of rules.
const RULE_FILES: u64 = 1_000;

/// The most bytes of all files in a folder of rules.
const RULE_BYTES: u64 = 50_000_000;

/// Where the format of rules is explained.
const RULES_HINT: &str = "the format of rules: kubereel help rules";

/// Rules and exceptions, ready for any number of runs.
pub(crate) struct Suite {
    pub(super) exceptions: ExceptionSet,
    /// What cluster it was, for files that do not say it.
    pub(super) cluster: Facts,
    own: RuleSet,
    selection: Selection,
    now: Option<RecordedAt>,
}

impl Suite {
    /// Reads the user's files.
    pub(super) fn read(rules: &RuleArgs, is_listing: bool) -> Result<Self, CommandError> {
        let builtin = ExceptionSet::builtin().map_err(CommandError::io)?;
        let exceptions = match &rules.exceptions {
            None => builtin,
            Some(path) => own_exceptions(path)?.then(builtin),
        };
        let own = own_rules(&rules.own)?;
        let mut cluster = Facts::default();
        for (name, value) in &rules.facts {
            cluster.set(name, value).map_err(CommandError::usage)?;
        }
        let names_rules = !rules.only.is_empty() || is_listing;
        let classes = if !rules.classes.is_empty() {
            rules.classes.clone()
        } else if rules.all || names_rules {
            Vec::new()
        } else {
            RuleClass::RUNTIME.to_vec()
        };
        Ok(Self {
            exceptions,
            cluster,
            own,
            selection: Selection {
                only: rules.only.clone(),
                skip: rules.skip.clone(),
                classes,
            },
            now: rules.now,
        })
    }

    /// Gives the chosen monitortests, new.
    pub(super) fn tests(&self) -> Vec<Box<dyn MonitorTest>> {
        let mut tests = self.every_test();
        tests.retain(|test| self.selection.has(test.about()));
        tests
    }

    /// Gives all monitortests, new. A rule of the user's takes the place of a built-in one of its id.
    pub(super) fn every_test(&self) -> Vec<Box<dyn MonitorTest>> {
        let own = self.own.tests();
        let mut tests = monitor_tests();
        tests.retain(|test| own.iter().all(|own| own.about().id != test.about().id));
        tests.extend(own);
        tests
    }

    /// Counts the rules that only their class leaves out.
    pub(super) fn unselected(&self) -> BTreeMap<RuleClass, usize> {
        let of_any_class = Selection {
            classes: Vec::new(),
            ..self.selection.clone()
        };
        let mut counts = BTreeMap::new();
        for test in self.every_test() {
            let about = test.about();
            if of_any_class.has(about) && !self.selection.has(about) {
                *counts.entry(about.class).or_default() += 1;
            }
        }
        counts
    }

    /// Holds the user's rules against what a recording has.
    pub(super) fn check(&self, timeline: &Timeline) -> Result<(), RuleErrors> {
        self.own.check(timeline)
    }

    /// Gives what a run is asked.
    pub(super) const fn asked(&self) -> RunOptions<'_> {
        RunOptions {
            selection: &self.selection,
            exceptions: &self.exceptions,
            now: self.now,
        }
    }

    /// Refuses a choice that leaves nothing, and a pattern that no rule matches: without the rule that it should have
    /// chosen a run would pass.
    pub(super) fn refuse_empty(&self) -> Result<(), CommandError> {
        let every = self.every_test();
        let mut patterns = self.selection.only.iter();
        let unmatched = patterns.find(|only| {
            let mut all = every.iter();
            !all.any(|test| Selection::is_meant(only, test.about()))
        });
        if let Some(only) = unmatched.map(Glob::as_str) {
            let error = CommandError::usage(format!("no rule matches --only {only:?}"));
            let ids = every.iter().map(|test| test.about().id.as_str());
            return Err(match nearest(only, ids).first() {
                Some(near) => error.hint(format!("did you mean {near}?")),
                None => error.hint("to list all rules: kubereel test --list"),
            });
        }
        if !self.tests().is_empty() {
            return Ok(());
        }
        Err(CommandError::usage("--only and --skip leave no rule")
            .hint("to list all rules: kubereel test --list")
            .hint("for several patterns, repeat the option: --only A --only B"))
    }
}

fn own_exceptions(path: &Path) -> Result<ExceptionSet, CommandError> {
    let (name, text) = read(path)?;
    ExceptionSet::read(&name, &text).map_err(|error| {
        CommandError::usage(error).hint(
            "docs/monitortests.md documents every field; --propose-exceptions FILE writes a draft",
        )
    })
}

/// Reads rule files and the rule files of folders, those of a folder from A to Z.
fn own_rules(given: &[PathBuf]) -> Result<RuleSet, CommandError> {
    if given.is_empty() {
        return Ok(RuleSet::default());
    }
    let mut all = Vec::new();
    for path in given {
        if path.is_dir() {
            all.extend(of_folder(path)?);
        } else {
            all.push(path.clone());
        }
    }
    if u64::try_from(all.len()).is_ok_and(|files| files > RULE_FILES) {
        let message = format!("cannot read rules: more than {}", count(RULE_FILES, "file"));
        return Err(CommandError::usage(message));
    }
    let mut left = RULE_BYTES;
    let mut files: Vec<(String, String)> = Vec::new();
    for path in all {
        let (name, text) = read(&path)?;
        let size = u64::try_from(text.len()).ok();
        left = size
            .and_then(|size| left.checked_sub(size))
            .ok_or_else(|| {
                let most = bytes(RULE_BYTES);
                CommandError::usage(format!("cannot read rules: larger than {most} in all"))
            })?;
        // The same file may be named, and lie in a folder that is named.
        if !files.iter().any(|(known, _)| *known == name) {
            files.push((name, text));
        }
    }
    let texts = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()));
    RuleSet::read(texts).map_err(|errors| mistakes("in rule files", &errors))
}

/// Makes the error of the mistakes in rules that a recording shows.
pub(super) fn misfit(reel: &str, errors: &RuleErrors) -> CommandError {
    mistakes(&format!("in rule files for the cluster of {reel}"), errors)
}

fn mistakes(place: &str, errors: &RuleErrors) -> CommandError {
    let mistakes = count(errors.mistakes.len(), "mistake");
    CommandError::usage(format!("{mistakes} {place}"))
        .details(errors)
        .hint(RULES_HINT)
}

/// Gives the rule files of a folder.
fn of_folder(folder: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let failed = |error| {
        let folder = folder.display();
        CommandError::usage(format!("cannot read rules: {error}: {folder}"))
    };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        if path.is_file() && matches!(ending, Some("yaml" | "yml")) {
            paths.push(path);
        }
        if u64::try_from(paths.len()).is_ok_and(|files| files > RULE_FILES) {
            let (most, folder) = (count(RULE_FILES, "file"), folder.display());
            let message = format!("cannot read rules: more than {most}: {folder}");
            return Err(CommandError::usage(message));
        }
    }
    if paths.is_empty() {
        let folder = folder.display();
        return Err(
            CommandError::usage(format!("no rule files (*.yaml) in {folder}")).hint(RULES_HINT),
        );
    }
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<(String, String), CommandError> {
    let text = files::read_text(path, FILE_BYTES)?;
    Ok((path.display().to_string(), text))
}

const LANGUAGE: [(WrittenIn, &str); 2] = [(WrittenIn::Yaml, "yaml"), (WrittenIn::Rust, "rust")];

fn language(about: &MonitorTestInfo) -> &'static str {
    let found = LANGUAGE.iter().find(|(way, _)| *way == about.written_in);
    found.map_or("", |(_, word)| word)
}

const fn severity(about: &MonitorTestInfo) -> &'static str {
    if about.is_flake_only { "flake" } else { "fail" }
}

/// Lists the chosen rules.
pub(super) fn list(
    suite: &Suite,
    form: Option<WideFormat>,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    let tests = suite.tests();
    if form == Some(WideFormat::Json) {
        let rules = tests
            .iter()
            .map(|test| RuleOutput::of(test.as_ref()))
            .collect();
        screen.json_line(&RuleListOutput { rules })?;
        return Ok(Exit::Yes);
    }
    let is_wide = form.is_some();
    let mut table = if is_wide {
        TextTable::with_headers(["RULE", "CLASS", "AT WORST", "IN", "OWNER", "NEEDS", "NAME"])
    } else {
        TextTable::with_headers(["RULE", "CLASS", "AT WORST", "NAME"])
    };
    for test in &tests {
        let about = test.about();
        let mut row = vec![about.id.clone(), about.class.as_str().to_owned()];
        row.push(severity(about).to_owned());
        if is_wide {
            row.extend([language(about).to_owned(), about.owner.clone()]);
            row.push(needs(test.as_ref()).join(","));
        }
        row.push(about.junit.clone());
        table.push(row);
    }
    screen.table(&table)?;
    Ok(Exit::Yes)
}

fn needs(test: &dyn MonitorTest) -> Vec<String> {
    let needs = test.needs();
    let mut all = needs.objects;
    for resource in needs.seen {
        if !all.contains(&resource) {
            all.push(resource);
        }
    }
    all
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RuleOutput<'a> {
    rule: &'a str,
    monitor: &'a str,
    name: &'a str,
    description: &'a str,
    owner: &'a str,
    origin: &'a str,
    class: &'static str,
    at_worst: &'static str,
    written_in: &'static str,
    needs: Vec<String>,
    in_words: Vec<String>,
}

/// The chosen rules, for programs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct RuleListOutput<'a> {
    rules: Vec<RuleOutput<'a>>,
}

impl<'a> RuleOutput<'a> {
    fn of(test: &'a dyn MonitorTest) -> Self {
        let about = test.about();
        Self {
            rule: &about.id,
            monitor: &about.monitor,
            name: &about.junit,
            description: &about.description,
            owner: &about.owner,
            origin: &about.origin,
            class: about.class.as_str(),
            at_worst: severity(about),
            written_in: language(about),
            needs: needs(test),
            in_words: test.in_words(),
        }
    }
}

/// Says in words what a rule does.
pub(super) fn explain(
    suite: &Suite,
    rule: &str,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    let tests = suite.every_test();
    let Some(test) = tests.iter().find(|test| test.about().id == rule) else {
        return Err(unknown(rule, &tests));
    };
    let about = test.about();
    let mut head = StyledLine::of(Style::Strong, &about.id);
    head.push(
        Style::Plain,
        format!(" · {} · {}", about.owner, language(about)),
    );
    screen.show(&head, 0)?;
    for text in [&about.junit, &about.description] {
        let line = StyledLine::of(Style::Plain, text);
        screen.show(&line, 0)?;
    }
    screen.line("")?;
    for words in test.in_words() {
        let line = StyledLine::of(Style::Plain, words);
        screen.show(&line, 2)?;
    }
    let at_worst = if about.is_flake_only {
        "flakes at worst, never fails a run"
    } else {
        "fails a run"
    };
    let needs = needs(test.as_ref());
    let needs = if needs.is_empty() {
        "intervals only".to_owned()
    } else {
        needs.join(", ")
    };
    let class = format!("{}: {}", about.class.as_str(), about.class.meaning());
    for (name, text) in [
        ("class", class.as_str()),
        ("at worst", at_worst),
        ("needs", &needs),
        ("monitor", &about.monitor),
        ("from", &about.origin),
    ] {
        let mut line = StyledLine::of(Style::Faint, format!("{name:<9}"));
        line.push(Style::Plain, text);
        screen.show(&line, 9)?;
    }
    Ok(Exit::Yes)
}

/// Prints the definition of a rule, as a file of its own.
pub(super) fn definition(
    suite: &Suite,
    rule: &str,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    let builtin = || RuleSet::read(builtin_rule_files()).ok();
    let own = suite.own.yaml(rule);
    if let Some(file) = own.or_else(|| builtin()?.yaml(rule)) {
        screen.line(file.trim_end())?;
        return Ok(Exit::Yes);
    }
    let tests = suite.every_test();
    if tests.iter().any(|test| test.about().id == rule) {
        let message = format!("rule {rule:?} has no YAML: it is written in Rust");
        return Err(CommandError::usage(message)
            .hint("to see what it does: kubereel test --explain RULE")
            .hint("to start a rule of your own: kubereel test --new-rule"));
    }
    Err(unknown(rule, &tests))
}

fn unknown(rule: &str, tests: &[Box<dyn MonitorTest>]) -> CommandError {
    let failed = CommandError::usage(format!("unknown rule {rule:?}"));
    let ids = tests.iter().map(|test| test.about().id.as_str());
    let near: Vec<&str> = ids
        .filter(|id| !rule.is_empty() && (id.contains(rule) || rule.contains(id)))
        .take(3)
        .collect();
    if near.is_empty() {
        failed.hint("to list all rules: kubereel test --list")
    } else {
        failed.hint(format!("did you mean {}?", near.join(" or ")))
    }
}
