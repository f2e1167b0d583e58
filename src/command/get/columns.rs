//! Owns the answer in columns: those of the resource's definition at the moment, else name and age.

use super::{Answer, Output, Question};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::screen::Screen;
use crate::table::Table;
use kubereel_replay::{Column, Form, Held, QueryError, timetext};

impl Answer<'_> {
    /// Prints a row for each object.
    pub(super) fn print_columns(
        &self,
        question: &Question,
        screen: &mut Screen,
    ) -> Result<(), CommandError> {
        if self.held.is_empty() {
            return Ok(());
        }
        let is_wide = question.output == Some(Output::Wide);
        let mut columns = self
            .timeline
            .columns(self.resource, self.cut)
            .map_err(|error| CommandError::new(Exit::Reel, error))?;
        let is_defined = !columns.is_empty();
        columns.retain(|column| is_wide || !column.is_wide);
        let mut table = Table::default();
        if !question.no_headers {
            table.push(self.headers(is_defined.then_some(columns.as_slice())));
        }
        let rows = self.each(screen, |held| {
            let mut row = vec![held.name.clone()];
            if self.shows_namespace {
                row.insert(0, held.namespace.clone());
            }
            if is_defined {
                row.extend(self.cells(held, &columns)?);
            } else {
                row.push(self.age(held)?);
            }
            Ok(row)
        })?;
        for row in rows {
            table.push(row);
        }
        table.lines().iter().try_for_each(|line| screen.line(line))
    }

    fn headers(&self, columns: Option<&[Column]>) -> Vec<String> {
        let first = if self.shows_namespace {
            &["NAMESPACE", "NAME"][..]
        } else {
            &["NAME"]
        };
        let mut headers: Vec<String> = first.iter().map(|&name| name.to_owned()).collect();
        match columns {
            Some(columns) => headers.extend(columns.iter().map(|one| one.name.to_uppercase())),
            None => headers.push("AGE".to_owned()),
        }
        headers
    }

    fn cells(&self, held: &Held, columns: &[Column]) -> Result<Vec<String>, QueryError> {
        let form = Form::default();
        let object = self.timeline.object(held.seq, self.resource, form)?;
        let at = self.state.at;
        Ok(columns
            .iter()
            .map(|column| column.cell(&object, at))
            .collect())
    }

    fn age(&self, held: &Held) -> Result<String, QueryError> {
        let meta = self.timeline.meta(held.seq)?;
        Ok(meta.created.map_or_else(
            || "<unknown>".to_owned(),
            |created| timetext::age(self.state.at.micros_since(created).div_euclid(1_000_000)),
        ))
    }
}
