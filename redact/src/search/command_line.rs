//! A command line that an object has as lists of arguments.

use super::json::JsonText;
use crate::text::programs;
use std::ops::Range;

/// One argument of a command line.
#[derive(Clone, Debug)]
pub(super) struct CommandArgument<'a> {
    /// Where it begins in the line.
    from: usize,
    /// Its place in the object, with the quotes.
    pub(super) at: Range<usize>,
    /// The field of its list, and its number there.
    pub(super) field: &'a str,
    pub(super) item: usize,
}

/// The line, as a shell would read it.
pub(super) struct CommandLine<'a> {
    text: Vec<u8>,
    arguments: Vec<CommandArgument<'a>>,
}

impl<'a> CommandLine<'a> {
    /// Joins the lists of arguments.
    pub(super) fn read(json: JsonText<'_>, lists: &'a [(String, Range<usize>)]) -> Self {
        let mut line = Self {
            text: Vec::new(),
            arguments: Vec::new(),
        };
        for (field, list) in lists {
            let items = json.items(list.start).into_iter();
            let strings = items.filter(|at| json.starts_with(at, '"'));
            for (item, at) in strings.enumerate() {
                let Some(argument) = json.decoded(&at) else {
                    continue;
                };
                let from = line.text.len();
                line.text.extend(programs::as_word(argument.text()));
                line.text.push(b' ');
                line.arguments.push(CommandArgument {
                    from,
                    at,
                    field,
                    item,
                });
            }
        }
        line
    }

    /// Finds the passwords: the argument that contains each, and the place in it.
    pub(super) fn passwords(&self) -> Vec<(&CommandArgument<'a>, Range<usize>)> {
        let places = programs::passwords(&self.text).into_iter();
        let found = places.filter_map(|place| {
            let next = self
                .arguments
                .partition_point(|one| one.from <= place.start);
            let argument = self.arguments.get(next.checked_sub(1)?)?;
            let behind = self.arguments.get(next);
            let end = behind.map_or(self.text.len(), |one| one.from) - 1;
            let from = argument.from;
            Some((argument, place.start - from..end - from))
        });
        found.collect()
    }
}
