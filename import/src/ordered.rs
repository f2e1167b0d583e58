//! Takes the inputs in the order of their times: lists as moments, and the lines of events and of
//! audit logs merged.
//!
//! Invariants:
//!
//! * Lists of one moment are one list: nothing comes between them.
//! * The lines of an input keep their order. A line whose time steps back comes with the line before
//!   it, and so does one without a readable time.
//! * Inputs are streams: of each input with lines, one line is in memory, and of audit logs those
//!   that wait for earlier versions.
//! * A repository, a capture and a trace cannot be interrupted. What is given before one is taken
//!   before it.

use crate::audit::{AuditRecord, StoredVersion};
use crate::contents::InputFacts;
use crate::document::{self, EventLine};
use crate::error::{BrokenReason, ImportError};
use crate::existing_objects::ListConflict;
use crate::importer::Importer;
use crate::input::{InputForm, InputLine, InputLines, unread};
use crate::meter::Meter;
use crate::prepared::{ListPart, PreparedInput, PreparedLines, cut};
use crate::reorder::{ReorderWindow, WaitingLine};
use kubereel_format::RecordedAt;
use kubereel_unpack::PlainInput;
use serde_json::value::RawValue;
use std::iter::{self, Peekable};
use std::rc::Rc;

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
            let lines = input.into_lines();
            let lines = lines.map(|lines| LineInput::new(lines, place, is_several));
            timed.lines.extend(lines);
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
        let audits = self
            .lines
            .iter()
            .filter(|one| one.source.form == InputForm::Audit);
        let audits = audits.count();
        facts.formats.extend(iter::repeat_n("an audit log", audits));
        let mut window = (audits > 0).then(ReorderWindow::default);
        let is_timed = audits > 0 || self.lists.len() + self.lines.len() > 1;
        for input in &mut self.lines {
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
                    line.take(importer, window.as_mut())?;
                    line.advance(importer)?;
                    meter.tick();
                }
                (_, Some((moment, _))) => {
                    if let Some(window) = &mut window {
                        release(window, importer, true)?;
                    }
                    let lists = MomentLists {
                        moment,
                        lists: &mut lists,
                    };
                    lists.take(is_several, importer, facts, meter)?;
                }
                (_, None) => break,
            }
        }
        match &mut window {
            Some(window) => release(window, importer, true),
            None => Ok(()),
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
            if let Some((at, conflict)) = self.moment.zip(importer.current.conflict) {
                return Err(match conflict {
                    ListConflict::Shared => ImportError::SameTime {
                        first: before.unwrap_or_default(),
                        second: name,
                        at,
                    },
                    ListConflict::SeveralStates => ImportError::SeveralStates { name, at },
                    ListConflict::Older { version, before } => ImportError::OutOfOrder {
                        name,
                        at,
                        version,
                        before,
                    },
                });
            }
            before = Some(name);
        }
        Ok(())
    }
}

/// An input with a line for each event.
struct LineInput<'a> {
    source: Rc<LineSource>,
    /// The place in which it was given.
    place: usize,
    lines: InputLines<PlainInput<'a>>,
    /// Whether the times of its lines are needed.
    is_timed: bool,
    next: Option<NextLine>,
    /// The latest time up to the next line.
    due: Option<RecordedAt>,
}

/// What the lines of an input have in common.
#[derive(Debug)]
struct LineSource {
    /// Its name for broken parts; empty if it is the only input.
    name: String,
    form: InputForm,
    /// The time of lines without one.
    at: Option<RecordedAt>,
}

/// The next line of an input.
struct NextLine {
    number: u64,
    /// Its time, if it has one that can be read.
    at: Option<RecordedAt>,
    /// The version that it wrote, in an audit log.
    version: Option<StoredVersion>,
}

impl<'a> LineInput<'a> {
    fn new(lines: PreparedLines<'a>, place: usize, is_several: bool) -> Self {
        let source = LineSource {
            name: if is_several {
                lines.name
            } else {
                String::new()
            },
            form: lines.form,
            at: lines.at,
        };
        Self {
            source: Rc::new(source),
            place,
            lines: InputLines::new(lines.plain),
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
        let number = match read {
            Ok(number) => number,
            Err(error) => {
                importer.enter(&self.source.name, true);
                cut(importer, Err(error))?;
                None
            }
        };
        let Some(number) = number else {
            return Ok(());
        };
        let (at, version) = match self.lines.current() {
            InputLine::Whole(line) if self.is_timed => self.source.place(line),
            _ => (None, None),
        };
        self.due = self.due.max(at);
        self.next = Some(NextLine {
            number,
            at,
            version,
        });
        Ok(())
    }

    /// Imports the next line, or lets it wait for earlier versions.
    fn take(
        &mut self,
        importer: &mut Importer,
        window: Option<&mut ReorderWindow<LineSource>>,
    ) -> Result<(), ImportError> {
        let Some(next) = self.next.take() else {
            return Ok(());
        };
        match (self.lines.current(), window, next.at) {
            (InputLine::TooLong, ..) => {
                importer.enter(&self.source.name, true);
                importer.broken(next.number, BrokenReason::TooLong);
                Ok(())
            }
            (InputLine::Whole(line), Some(window), Some(at)) => {
                window.push(WaitingLine {
                    source: Rc::clone(&self.source),
                    number: next.number,
                    bytes: line.to_vec(),
                    at,
                    version: next.version,
                });
                release(window, importer, false)
            }
            (InputLine::Whole(line), ..) => self.source.take(importer, next.number, line, None),
        }
    }
}

/// Imports the lines that have waited long enough, or all.
fn release(
    window: &mut ReorderWindow<LineSource>,
    importer: &mut Importer,
    is_end: bool,
) -> Result<(), ImportError> {
    while let Some(line) = window.pop(is_end) {
        line.source
            .take(importer, line.number, &line.bytes, Some(line.at))?;
    }
    Ok(())
}

impl LineSource {
    /// Returns the time of a line, and the version that it wrote.
    fn place(&self, line: &[u8]) -> (Option<RecordedAt>, Option<StoredVersion>) {
        if self.form == InputForm::Audit {
            let record = AuditRecord::parse(line).ok();
            return record.map_or((None, None), |record| (record.at(), record.version()));
        }
        let line = EventLine::parse(line).ok();
        let ts = line.and_then(|line| line.ts).map(RawValue::get);
        (ts.and_then(document::time).or(self.at), None)
    }

    /// Imports a line that was done at a time at the latest.
    fn take(
        &self,
        importer: &mut Importer,
        number: u64,
        line: &[u8],
        latest: Option<RecordedAt>,
    ) -> Result<(), ImportError> {
        importer.enter(&self.name, true);
        importer.at = self.at;
        match (self.form, latest) {
            (InputForm::Audit, Some(latest)) => importer.audit_line_before(number, line, latest),
            (InputForm::Audit, None) => importer.audit_line(number, line),
            _ => importer.line(number, line),
        }
    }
}
