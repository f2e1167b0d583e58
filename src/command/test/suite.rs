//! Which rules and exceptions a command runs with: those of the program, and the user's files. Files are
//! bounded before they are read; a wrong one ends the command.

use super::{FactName, Rules};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::screen::Screen;
use crate::user_file;
use crate::words::{bytes, count};
use kubereel_format::RecordedAt;
use kubereel_monitortests::{Asked, ExceptionSet, Facts, MonitorTest, RuleSet, Selection, builtin};
use std::fs;
use std::path::{Path, PathBuf};

/// The most bytes of a file of rules or exceptions. People write them; generated ones can be split.
const FILE_BYTES: u64 = 10_000_000;

/// The most files in a folder of rules.
const RULE_FILES: u64 = 1_000;

/// The most bytes of all files in a folder of rules.
const RULE_BYTES: u64 = 50_000_000;

/// Rules and exceptions, ready for any number of runs.
pub(super) struct Suite {
    pub(super) exceptions: ExceptionSet,
    /// What cluster it was, for files that do not say it.
    pub(super) told: Facts,
    own: RuleSet,
    selection: Selection,
    now: Option<RecordedAt>,
}

impl Suite {
    /// Reads the user's files.
    pub(super) fn read(rules: &Rules, screen: &mut Screen) -> Result<Self, CommandError> {
        let builtin =
            ExceptionSet::builtin().map_err(|error| CommandError::new(Exit::Io, error))?;
        let exceptions = match &rules.exceptions {
            None => builtin,
            Some(path) => own_exceptions(path)?.then(builtin),
        };
        let own = match &rules.folder {
            None => RuleSet::default(),
            Some(folder) => own_rules(folder, screen)?,
        };
        Ok(Self {
            exceptions,
            told: told(&rules.facts),
            own,
            selection: Selection {
                only: rules.only.clone(),
                skip: rules.skip.clone(),
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
        let mut tests = builtin();
        tests.retain(|test| own.iter().all(|own| own.about().id != test.about().id));
        tests.extend(own);
        tests
    }

    /// Gives what a run is asked.
    pub(super) const fn asked(&self) -> Asked<'_> {
        Asked {
            selection: &self.selection,
            exceptions: &self.exceptions,
            now: self.now,
        }
    }

    /// Refuses a choice that leaves nothing.
    pub(super) fn refuse_empty(&self) -> Result<(), CommandError> {
        if !self.tests().is_empty() {
            return Ok(());
        }
        Err(
            CommandError::new(Exit::Usage, "no rule matches --only and --skip")
                .hint("to list all rules: kubereel test --list"),
        )
    }
}

fn told(facts: &[(FactName, String)]) -> Facts {
    let mut told = Facts::default();
    for (name, value) in facts {
        let field = match name {
            FactName::Topology => &mut told.topology,
            FactName::Platform => &mut told.platform,
            FactName::Network => &mut told.network,
            FactName::Architecture => &mut told.architecture,
            FactName::Version => &mut told.version,
            FactName::FromVersion => &mut told.from_version,
        };
        *field = Some(value.clone());
    }
    told
}

fn own_exceptions(path: &Path) -> Result<ExceptionSet, CommandError> {
    let (name, text) = read(path)?;
    ExceptionSet::read(&name, &text).map_err(|error| {
        CommandError::new(Exit::Usage, error).hint(
            "docs/monitortests.md documents every field; --propose-exceptions FILE writes a draft",
        )
    })
}

/// Reads the rule files of a folder, from A to Z.
fn own_rules(folder: &Path, screen: &mut Screen) -> Result<RuleSet, CommandError> {
    let mut left = RULE_BYTES;
    let mut files = Vec::new();
    for path in paths(folder)? {
        let (name, text) = read(&path)?;
        let Some(rest) = u64::try_from(text.len())
            .ok()
            .and_then(|len| left.checked_sub(len))
        else {
            let (most, folder) = (bytes(RULE_BYTES), folder.display());
            let message = format!("cannot read rules: larger than {most} in all: {folder}");
            return Err(CommandError::new(Exit::Usage, message));
        };
        left = rest;
        files.push((name, text));
    }
    if files.is_empty() {
        let folder = folder.display();
        return Err(
            CommandError::new(Exit::Usage, format!("no rule files (*.yaml) in {folder}"))
                .hint("the format of rules: docs/rules.md"),
        );
    }
    let texts = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()));
    RuleSet::read(texts).map_err(|errors| {
        for line in errors.to_string().lines() {
            // What cannot be said here is said in short below.
            drop(screen.aside(line));
        }
        let mistakes = u64::try_from(errors.mistakes.len()).unwrap_or(u64::MAX);
        CommandError::new(
            Exit::Usage,
            format!("{} in rule files", count(mistakes, "mistake")),
        )
        .hint("the format of rules: docs/rules.md")
    })
}

fn paths(folder: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let failed = |error| {
        let folder = folder.display();
        CommandError::new(Exit::Usage, format!("cannot read rules: {error}: {folder}"))
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
            return Err(CommandError::new(Exit::Usage, message));
        }
    }
    paths.sort();
    Ok(paths)
}

fn read(path: &Path) -> Result<(String, String), CommandError> {
    // A file that the user named and that cannot be read is a wrong file of rules or exceptions.
    let text = user_file::read_text(path, FILE_BYTES)
        .map_err(|error| CommandError::new(Exit::Usage, error.message()))?;
    Ok((path.display().to_string(), text))
}
