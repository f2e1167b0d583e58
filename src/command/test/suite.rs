//! Owns which rules and exceptions a command runs with: what the program carries, and the user's files.
//! Refuses to go on with a file that is wrong.

use super::Rules;
use crate::command_error::CommandError;
use crate::exit::Exit;
use kubereel_format::RecordedAt;
use kubereel_monitortests::{Asked, ExceptionSet, MonitorTest, Selection, builtin};
use std::fs;
use std::path::Path;

/// Rules and exceptions, ready for any number of runs.
pub(super) struct Suite {
    pub(super) exceptions: ExceptionSet,
    selection: Selection,
    now: Option<RecordedAt>,
}

impl Suite {
    /// Reads the user's files.
    pub(super) fn read(rules: &Rules) -> Result<Self, CommandError> {
        let builtin = ExceptionSet::builtin()
            .map_err(|error| CommandError::new(Exit::Surroundings, error))?;
        let exceptions = match &rules.exceptions {
            None => builtin,
            Some(path) => own_exceptions(path)?.then(builtin),
        };
        Ok(Self {
            exceptions,
            selection: Selection {
                only: rules.only.clone(),
                skip: rules.skip.clone(),
            },
            now: rules.now,
        })
    }

    /// Gives the chosen monitortests, new.
    pub(super) fn tests(&self) -> Vec<Box<dyn MonitorTest>> {
        let mut tests = Self::every_test();
        tests.retain(|test| self.selection.has(test.about()));
        tests
    }

    /// Gives all monitortests, new.
    pub(super) fn every_test() -> Vec<Box<dyn MonitorTest>> {
        builtin()
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
            CommandError::new(Exit::Usage, "no rule is left by --only and --skip")
                .hint("kubereel test --list names all of them"),
        )
    }
}

fn own_exceptions(path: &Path) -> Result<ExceptionSet, CommandError> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|error| {
        CommandError::new(
            Exit::Usage,
            format!("cannot read exceptions: {error}: {name}"),
        )
    })?;
    ExceptionSet::read(&name, &text).map_err(|error| {
        CommandError::new(Exit::Usage, error).hint(
            "docs/monitortests.md has every field; --propose-exceptions FILE writes some to edit",
        )
    })
}
