//! Owns the forms of an answer on stdout: names, JSON and YAML as kubectl prints them.

use super::{Answer, Output, Question};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::screen::Screen;
use kubereel_history::harmless;
use kubereel_history::{
    ListForm, ListWriter, ObjectForm, ObjectVersion, QueryError, name_of, write_json, write_yaml,
};
use serde_json::Value;
use std::io::Write as _;

/// How many objects of a list are held at once. Each batch reads the blocks anew in which its objects
/// lie.
const AT_ONCE: usize = 16_384;

impl Answer<'_> {
    /// Prints the answer in the form that was asked for.
    pub(super) fn print(
        &self,
        question: &Question,
        screen: &mut Screen,
    ) -> Result<(), CommandError> {
        match question.output {
            None | Some(Output::Wide) => self.print_columns(question, screen),
            Some(Output::Name) => self
                .held
                .iter()
                .try_for_each(|held| screen.line(harmless(&name_of(self.resource, &held.name)))),
            Some(form @ (Output::Json | Output::Yaml)) => {
                let asked_for_names = !question.names.is_empty() || question.resource.contains('/');
                if asked_for_names && self.held.is_empty() {
                    return Ok(());
                }
                self.print_objects(question, form, screen)
            }
        }
    }

    /// Prints the object, or the list of all: some at a time, so that a large state needs no large
    /// memory.
    fn print_objects(
        &self,
        question: &Question,
        output: Output,
        screen: &mut Screen,
    ) -> Result<(), CommandError> {
        let form = ObjectForm {
            shows_managed_fields: question.show_managed_fields,
        };
        if let ([one], true) = (self.held, self.is_single) {
            let held = std::slice::from_ref(one);
            let objects = self.each(held, screen, form, |_, object| object)?;
            return objects
                .iter()
                .try_for_each(|object| print_value(object, output, screen));
        }
        let list_form = if output == Output::Yaml {
            ListForm::Yaml
        } else {
            ListForm::Json
        };
        let failed = |error| CommandError::output(&error);
        let mut list = ListWriter::begin(list_form, screen.out()).map_err(failed)?;
        for some in self.held.chunks(AT_ONCE) {
            let items = self.each(some, screen, form, |_, object| list_form.item(object))?;
            for item in items {
                list.item(&item.map_err(failed)?, screen.out())
                    .map_err(failed)?;
            }
        }
        list.end(screen.out()).map_err(failed)
    }

    /// Makes something of each object, in the form in which it is shown.
    pub(super) fn each<T: Send>(
        &self,
        held: &[ObjectVersion],
        screen: &Screen,
        form: ObjectForm,
        make: impl Fn(&ObjectVersion, Value) -> T + Sync,
    ) -> Result<Vec<T>, CommandError> {
        let total = u64::try_from(held.len()).unwrap_or(u64::MAX);
        let mut progress = Progress::begin("reading", total, screen.is_err_terminal());
        let mut reached = |done| progress.reached(done);
        let rows = self
            .timeline
            .read_each(held, self.cut, &mut reached, |held, body| {
                let object = form.of(body, self.resource);
                let object = object.map_err(|source| QueryError::Body {
                    seq: held.seq,
                    source,
                })?;
                Ok(make(held, object))
            });
        rows.map_err(|error| CommandError::new(Exit::Reel, error))
    }
}

fn print_value(value: &Value, form: Output, screen: &mut Screen) -> Result<(), CommandError> {
    let written = if form == Output::Yaml {
        let mut text = String::new();
        write_yaml(&mut text, value).map_err(|error| CommandError::new(Exit::Io, error))?;
        screen.out().write_all(text.as_bytes())
    } else {
        write_json(screen.out(), value)
    };
    written.map_err(|error| CommandError::output(&error))
}
