//! Owns the columns of a resource at a moment, and an object's row in them. Refuses to align: a
//! screen knows its own width.

use super::builtin::Kind;
use super::cell::one_line;
use super::definition::Defined;
use super::part::Part;
use crate::moment::Cut;
use crate::query_error::QueryError;
use crate::timeline::Timeline;
use kubereel_format::{RecordedAt, ResourceInfo};
use serde_json::Value;

/// How much room there is for columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Only the columns that always show.
    Narrow,
    /// All columns.
    Wide,
}

/// The columns of a resource, as they were at a moment.
#[derive(Clone, Debug)]
pub struct Columns {
    from: Source,
    room: Room,
}

#[derive(Clone, Debug)]
enum Source {
    Builtin(&'static Kind),
    Defined(Vec<Defined>),
    NameAndAge,
}

impl Timeline {
    /// Gives the columns in which a resource's objects printed at a moment.
    ///
    /// # Errors
    /// When the reel is damaged where the resource's definition is, or the definition is none.
    pub fn columns(
        &self,
        resource: &ResourceInfo,
        cut: Cut,
        room: Room,
    ) -> Result<Columns, QueryError> {
        let from = match Kind::of(resource) {
            Some(kind) => Source::Builtin(kind),
            None => self
                .defined_columns(resource, cut)?
                .map_or(Source::NameAndAge, Source::Defined),
        };
        Ok(Columns { from, room })
    }
}

impl Columns {
    /// Gives the names of the columns, as they stand above them.
    pub fn names(&self) -> Vec<String> {
        match &self.from {
            Source::Builtin(kind) => self.shown(kind.names().map(|(name, is_wide)| {
                let name = name.to_owned();
                (name, is_wide)
            })),
            Source::Defined(columns) => self.shown(
                [("NAME".to_owned(), false)].into_iter().chain(
                    columns
                        .iter()
                        .map(|one| (one.name.to_uppercase(), one.is_wide)),
                ),
            ),
            Source::NameAndAge => vec!["NAME".to_owned(), "AGE".to_owned()],
        }
    }

    /// Gives the cells of an object, as of a moment, each fit for a line.
    pub fn row(&self, object: &Value, at: RecordedAt) -> Vec<String> {
        match &self.from {
            Source::Builtin(kind) => {
                let cells = kind.row(object, at).into_iter();
                self.shown(
                    cells
                        .zip(kind.names())
                        .map(|(cell, (_, is_wide))| (cell, is_wide)),
                )
            }
            Source::Defined(columns) => {
                let cells = columns
                    .iter()
                    .map(|one| (one.cell(object, at), one.is_wide));
                self.shown([(Part::of(object).name(), false)].into_iter().chain(cells))
            }
            Source::NameAndAge => vec![Part::of(object).name(), Part::of(object).age(at)],
        }
    }

    fn shown(&self, cells: impl Iterator<Item = (String, bool)>) -> Vec<String> {
        cells
            .filter(|(_, is_wide)| self.room == Room::Wide || !is_wide)
            .map(|(text, _)| one_line(&text))
            .collect()
    }
}
