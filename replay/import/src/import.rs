//! Owns an import from its first byte to the finished file. Refuses to leave a half one.

use crate::broken::{Broken, Problem};
use crate::error::ImportError;
use crate::lines::{Cut, Lines};
use crate::outcome::{Dropped, Imported};
use crate::part::Part;
use crate::resource::Resources;
use crate::secrets::Secrets;
use crate::sniff::{self, Form};
use crate::take::Take;
use crate::write::{Start, Writer};
use kubereel_format::RecordedAt;
use std::io::{BufRead, Read as _};
use std::path::Path;

/// The bytes with which some editors begin a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How an input is taken.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// The time of what does not say its own: lines without `ts`, objects, lists.
    pub at: Option<RecordedAt>,
    /// Whether the values of Secrets are taken out, as the recorder does.
    pub redact: bool,
    /// Whether a file of the reel's name is replaced.
    pub replace: bool,
    /// What the reel says of the program that wrote it, for example its version.
    pub program: String,
    /// What the reel says of the input, for example its name.
    pub source: String,
}

impl Options {
    /// Takes everything as it is.
    pub fn new(program: impl Into<String>, source: impl Into<String>) -> Self {
        Self {
            program: program.into(),
            source: source.into(),
            ..Self::default()
        }
    }
}

/// Makes a reel of an input.
///
/// `progress` is told how many bytes of the input are done, line by line. The file stands under its
/// name once it is complete; until then it is written beside it, and goes if the import fails.
///
/// # Errors
/// When the input cannot be read or holds nothing that can be taken, and when the reel cannot be
/// written. Broken lines do not stop it: see [`Imported::broken`].
pub fn import(
    mut input: impl BufRead,
    reel: &Path,
    options: &Options,
    mut progress: impl FnMut(u64),
) -> Result<Imported, ImportError> {
    let part = Part::begin(reel, options.replace)?;
    let start = sniff::beginning(&mut input).map_err(|source| ImportError::Read { source })?;
    let start = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&start);
    let form = sniff::form(start)?;
    let input = start.chain(input);
    let mut take = Take {
        writer: Writer::create(part.path(), first_words(options))?,
        resources: Resources::default(),
        secrets: Secrets::new(options.redact),
        broken: Broken::default(),
        dropped: Dropped::default(),
        bookmarks: 0,
        errors: 0,
        at: options.at,
    };
    match form {
        Form::Events => events(input, &mut take, &mut progress)?,
        Form::Objects | Form::Json | Form::Yaml => return Err(ImportError::NotRecognised),
    }
    end(take, part)
}

fn first_words(options: &Options) -> Start {
    Start {
        program: options.program.clone(),
        is_redacted: options.redact,
        provenance: format!("imported from {}", options.source),
    }
}

fn events(
    input: impl BufRead,
    take: &mut Take,
    progress: &mut impl FnMut(u64),
) -> Result<(), ImportError> {
    let mut lines = Lines::new(input);
    loop {
        let next = lines.next_line();
        let next = next.map_err(|source| ImportError::Read { source })?;
        let Some((number, cut)) = next else {
            return Ok(());
        };
        match cut {
            Cut::Whole(line) if line.trim_ascii().is_empty() => {}
            Cut::Whole(line) => take.line(number, line)?,
            Cut::TooLong => take.broken(number, Problem::TooLong),
        }
        progress(lines.bytes());
    }
}

fn end(take: Take, part: Part) -> Result<Imported, ImportError> {
    if take.writer.events() == 0 {
        return Err(ImportError::Nothing {
            broken: take.broken,
        });
    }
    let (from, to) = take.writer.span();
    let mut guessed: Vec<String> = take
        .resources
        .guessed()
        .map(kubereel_format::ResourceInfo::qualified)
        .collect();
    guessed.sort_unstable();
    guessed.dedup();
    let mut imported = Imported {
        events: take.writer.events(),
        resources: u64::try_from(take.resources.len()).unwrap_or(u64::MAX),
        from,
        to,
        broken: take.broken,
        bookmarks: take.bookmarks,
        errors: take.errors,
        dropped: take.dropped,
        secrets: take.secrets.counts(),
        guessed,
        file_bytes: 0,
    };
    let finished = take.writer.finish(imported.last_words())?;
    imported.file_bytes = finished.file_bytes;
    part.place()?;
    Ok(imported)
}
