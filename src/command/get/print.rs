//! Owns the forms of an answer on stdout: names, JSON and YAML as kubectl prints them.

use super::{Answer, Output, Question};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::harmless::harmless;
use crate::progress::Progress;
use crate::screen::Screen;
use kubereel_replay::{Form, Held, QueryError, list_of, name_of, write_json, write_yaml};
use serde_json::Value;
use std::io::Write as _;

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
                let value = self.value(question, screen)?;
                print_value(&value, form, screen)
            }
        }
    }

    /// Gives the object, or the list of all.
    fn value(&self, question: &Question, screen: &Screen) -> Result<Value, CommandError> {
        let form = Form {
            shows_managed_fields: question.show_managed_fields,
        };
        let mut objects = self.each(screen, form, |_, object| object)?;
        let single = if self.is_single && objects.len() == 1 {
            objects.pop()
        } else {
            None
        };
        Ok(single.unwrap_or_else(|| list_of(objects)))
    }

    /// Makes something of each object, in the form in which it is shown.
    pub(super) fn each<T: Send>(
        &self,
        screen: &Screen,
        form: Form,
        make: impl Fn(&Held, Value) -> T + Sync,
    ) -> Result<Vec<T>, CommandError> {
        let total = u64::try_from(self.held.len()).unwrap_or(u64::MAX);
        let mut progress = Progress::begin("reading", total, screen.is_err_terminal());
        let mut reached = |done| progress.reached(done);
        let rows = self
            .timeline
            .read_each(self.held, self.cut, &mut reached, |held, body| {
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
        write_yaml(&mut text, value)
            .map_err(|error| CommandError::new(Exit::Surroundings, error))?;
        screen.out().write_all(text.as_bytes())
    } else {
        write_json(screen.out(), value)
    };
    written.map_err(|error| CommandError::output(&error))
}
