//! Owns the answer in columns, as kubectl would have printed it at the moment.

use super::{Answer, Output, Question};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::screen::Screen;
use crate::table::Table;
use kubereel_history::{ColumnRoom, LabelColumns, ObjectForm, ResourceColumns};

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
        let room = match question.output {
            Some(Output::Wide) => ColumnRoom::Wide,
            _ => ColumnRoom::Narrow,
        };
        let columns = ResourceColumns::of(self.timeline, self.resource, self.cut, room)
            .map_err(|error| CommandError::new(Exit::Reel, error))?;
        let labels = LabelColumns {
            own: question.labels.label_columns.clone(),
            shows_all: question.labels.show_labels,
        };
        let mut table = Table::default();
        if !question.no_headers {
            table.push(self.row("NAMESPACE", columns.names(), labels.names()));
        }
        let rows = self.each(self.held, screen, ObjectForm::default(), |held, object| {
            let cells = columns.row(&object, self.state.at);
            self.row(&held.namespace, cells, labels.row(&object))
        })?;
        for row in rows {
            table.push(row);
        }
        table.lines().iter().try_for_each(|line| screen.line(line))
    }

    fn row(&self, namespace: &str, cells: Vec<String>, labels: Vec<String>) -> Vec<String> {
        let namespace = self.shows_namespace.then(|| namespace.to_owned());
        namespace.into_iter().chain(cells).chain(labels).collect()
    }
}
