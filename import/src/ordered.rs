//! Takes the inputs in the order of their times: lists as moments, and the lines of events and of
//! audit logs merged.
//!
//! Invariants:
//!
//! * Lists of one moment are one list: nothing comes between them.
//! * The lines of an input keep their order. A line whose time steps back comes with the line before
//!   it, and so does one without a readable time.
//! * Inputs are streams: of each input with lines, one line is in memory.
//! * A repository, a capture and a trace cannot be interrupted. What is given before one is taken
//!   before it.

use crate::audit::AuditRecord;
use crate::contents::InputFacts;
use crate::document::{self, EventLine};
use crate::error::{BrokenReason, ImportError};
use crate::importer::Importer;
use crate::input::{InputForm, InputLine, InputLines, unread};
use crate::meter::Meter;
use crate::prepared::{ListPart, PreparedInput, cut};
use kubereel_format::RecordedAt;
use kubereel_unpack::PlainInput;
use serde_json::value::RawValue;
use std::iter::Peekable;

/// Takes all inputs.
pub(crate) fn take_all(
    inputs: Vec<PreparedInput<'_>>,
    importer: &mut Importer,
    facts: &mut InputFacts,
    meter: &mut Meter<'_>,
) -> Result<(), ImportError> {
    let is_several = inputs.len() > 1;
    let mut timed = TimedInputs::default();
    for (place, input) in inputs.into_iter().enumerate() {
        if input.has_lines() {
            timed.lines.extend(input.into_lines(place, is_several));
        } else if input.moment().is_some() {
            timed.lists.push((place, input));
        } else {
            std::mem::take(&mut timed).take(is_several, importer, facts, meter)?;
            importer.enter(&input.name, is_several);
            input.take(ListPart::WHOLE, importer, facts, meter)?;
        }
    }
    timed.take(is_several, importer, facts, meter)
}

/// Inputs that are taken in the order of their times, with the places in which they were given.
#[derive(Default)]
struct TimedInputs<'a> {
    lists: Vec<(usize, PreparedInput<'a>)>,
    lines: Vec<LineInput<'a>>,
}

impl TimedInputs<'_> {
    fn take(
        mut self,
        is_several: bool,
        importer: &mut Importer,
        facts: &mut InputFacts,
        meter: &mut Meter<'_>,
    ) -> Result<(), ImportError> {
        let is_timed = self.lists.len() + self.lines.len() > 1;
        for input in &mut self.lines {
            if input.form == InputForm::Audit {
                facts.formats.push("an audit log");
            }
            input.is_timed = is_timed;
            input.advance(importer)?;
        }
        self.lists.sort_by_key(|(_, input)| input.moment());
        let mut lists = self.lists.into_iter().peekable();
        loop {
            let line = self.lines.iter_mut().filter(|one| one.next.is_some());
            let line = line.min_by_key(|one| (one.due, one.place));
            let list = lists.peek().map(|(place, input)| (input.moment(), *place));
            match (line, list) {
                (Some(line), list) if list.is_none_or(|list| (line.due, line.place) < list) => {
                    line.take(importer)?;
                    line.advance(importer)?;
                    meter.tick();
                }
                (_, Some((moment, _))) => {
                    let lists = MomentLists {
                        moment,
                        lists: &mut lists,
                    };
                    lists.take(is_several, importer, facts, meter)?;
                }
                (_, None) => return Ok(()),
            }
        }
    }
}

/// The lists of one moment, and those of later ones.
struct MomentLists<'a, I: Iterator> {
    moment: Option<RecordedAt>,
    lists: &'a mut Peekable<I>,
}

impl<'b, I: Iterator<Item = (usize, PreparedInput<'b>)>> MomentLists<'_, I> {
    /// Takes the lists of the moment, as one list.
    fn take(
        self,
        is_several: bool,
        importer: &mut Importer,
        facts: &mut InputFacts,
        meter: &mut Meter<'_>,
    ) -> Result<(), ImportError> {
        let is_same = |(_, input): &(usize, PreparedInput<'b>)| input.moment() == self.moment;
        let mut before: Option<String> = None;
        while let Some((_, input)) = self.lists.next_if(is_same) {
            let part = ListPart {
                is_first: before.is_none(),
                is_last: !self.lists.peek().is_some_and(is_same),
            };
            let name = input.name.clone();
            importer.enter(&name, is_several);
            input.take(part, importer, facts, meter)?;
            if let Some(at) = self.moment.filter(|_| importer.current.has_overlap) {
                return Err(ImportError::SameTime {
                    first: before.unwrap_or_default(),
                    second: name,
                    at,
                });
            }
            before = Some(name);
        }
        Ok(())
    }
}

/// An input with a line for each event.
pub(crate) struct LineInput<'a> {
    /// Its name for broken parts; empty if it is the only input.
    name: String,
    /// The place in which it was given.
    place: usize,
    form: InputForm,
    lines: InputLines<PlainInput<'a>>,
    /// The time of lines without one.
    at: Option<RecordedAt>,
    /// Whether the times of its lines are needed.
    is_timed: bool,
    /// The number of the next line; `None` at the end.
    next: Option<u64>,
    /// The latest time up to the next line.
    due: Option<RecordedAt>,
}

impl<'a> LineInput<'a> {
    pub(crate) const fn new(
        name: String,
        place: usize,
        form: InputForm,
        plain: PlainInput<'a>,
        at: Option<RecordedAt>,
    ) -> Self {
        Self {
            name,
            place,
            form,
            lines: InputLines::new(plain),
            at,
            is_timed: false,
            next: None,
            due: None,
        }
    }

    /// Goes to the next line that is not empty.
    fn advance(&mut self, importer: &mut Importer) -> Result<(), ImportError> {
        self.next = None;
        let read = loop {
            match self.lines.next_line() {
                Ok(Some((_, InputLine::Whole(line)))) if line.trim_ascii().is_empty() => {}
                Ok(Some((number, _))) => break Ok(Some(number)),
                Ok(None) => break Ok(None),
                Err(error) => break Err(unread(error)),
            }
        };
        match read {
            Ok(next) => self.next = next,
            Err(error) => {
                importer.enter(&self.name, true);
                cut(importer, Err(error))?;
            }
        }
        if self.is_timed && self.next.is_some() {
            self.due = self.due.max(self.time());
        }
        Ok(())
    }

    /// Returns the time of the next line; `None` if it has none that can be read.
    fn time(&self) -> Option<RecordedAt> {
        let InputLine::Whole(line) = self.lines.current() else {
            return None;
        };
        if self.form == InputForm::Audit {
            return AuditRecord::parse(line).ok()?.at();
        }
        let ts = EventLine::parse(line).ok()?.ts.map(RawValue::get);
        ts.and_then(document::time).or(self.at)
    }

    /// Imports the next line.
    fn take(&self, importer: &mut Importer) -> Result<(), ImportError> {
        let number = self.next.unwrap_or_default();
        importer.enter(&self.name, true);
        importer.at = self.at;
        match self.lines.current() {
            InputLine::Whole(line) if self.form == InputForm::Audit => {
                importer.audit_line(number, line)
            }
            InputLine::Whole(line) => importer.line(number, line),
            InputLine::TooLong => {
                importer.broken(number, BrokenReason::TooLong);
                Ok(())
            }
        }
    }
}
