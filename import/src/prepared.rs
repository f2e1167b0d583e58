//! Prepares inputs: detects the format of each by its content, and its moment.

use crate::capture::Capture;
use crate::contents::{
    BYTE_ORDER_MARK, InputFacts, skip_byte_order_mark, take_capture, take_gathered,
    take_repository, take_text,
};
use crate::error::{BrokenReason, ImportError};
use crate::gather::{GatheredObjects, Gatherer};
use crate::importer::{Importer, ListContent};
use crate::input::{self, InputForm, unread};
use crate::meter::{CountedRead, Meter};
use crate::repository::Repository;
use kubereel_format::RecordedAt;
use kubereel_redact::Extra;
use kubereel_unpack::{PlainInput, SkippedEntries, UnpackLimits, walk_folder, walk_tar, walk_zip};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The largest decompressed size of an input, in bytes.
const MAX_BYTES: u64 = 1 << 40;

/// How many bytes of an input are read at once.
const BUFFER: usize = 256 * 1024;

/// How an input is imported.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ImportOptions {
    /// The time of lines without `ts`, of objects and of lists.
    pub at: Option<RecordedAt>,
    /// When the input was last modified: the time of objects and lists if `at` is not given.
    pub changed_at: Option<RecordedAt>,
    /// Whether secrets are redacted, as by the recorder.
    pub redact: bool,
    /// The user's redaction rules, besides the policy.
    pub redact_extra: Extra,
    /// Whether an existing file with the name of the reel is replaced.
    pub replace: bool,
    /// Whether the reel exists and is appended to.
    pub append: bool,
    /// The program in the reel's first note, for example its version.
    pub program: String,
    /// The description of the input in the reel's provenance, for example its name.
    pub source: String,
}

impl ImportOptions {
    /// Returns the defaults: everything is imported unchanged.
    pub fn new(program: impl Into<String>, source: impl Into<String>) -> Self {
        Self {
            program: program.into(),
            source: source.into(),
            ..Self::default()
        }
    }
}

/// The source of an input.
pub enum ImportContent<'a> {
    /// In a stream, such as stdin.
    Stream(Box<dyn BufRead + 'a>),
    /// In a file.
    File(File),
    /// In the files of a folder.
    Folder(PathBuf),
}

/// An input.
pub struct ImportInput<'a> {
    /// Its name for messages; may be empty.
    pub name: String,
    /// Its bytes.
    pub content: ImportContent<'a>,
    /// Its time, which has precedence over that of the options.
    pub at: Option<RecordedAt>,
    /// When it was last modified.
    pub changed_at: Option<RecordedAt>,
}

/// An input with its format and, if it has one, its moment.
pub(crate) struct PreparedInput<'a> {
    pub(crate) name: String,
    content: PreparedContent<'a>,
    /// The time of objects without one.
    listed_at: Option<RecordedAt>,
    /// The time of lines without one.
    at: Option<RecordedAt>,
    /// Whether the moment was not given: it is the modification time of the file, or the newest
    /// time inside.
    is_assumed: bool,
}

/// An input with a line for each event.
pub(crate) struct PreparedLines<'a> {
    pub(crate) name: String,
    pub(crate) form: InputForm,
    pub(crate) plain: PlainInput<'a>,
    /// The time of lines without one.
    pub(crate) at: Option<RecordedAt>,
}

enum PreparedContent<'a> {
    Text(InputForm, PlainInput<'a>),
    Gathered(GatheredObjects),
    Capture(Capture),
    Repository(Box<Repository>),
}

impl<'a> PreparedInput<'a> {
    pub(crate) fn open(
        input: ImportInput<'a>,
        options: &ImportOptions,
        folder: &Path,
        meter: &mut Meter<'_>,
    ) -> Result<Self, ImportError> {
        let at = input.at.or(options.at);
        let beside = (folder, at.or(input.changed_at));
        let name = input.name.clone();
        let content = match input.content {
            ImportContent::Folder(path) => prepare_folder(&name, &path, folder, meter)?,
            ImportContent::File(file) => {
                let counted = CountedRead {
                    inner: file.try_clone().map_err(unread)?,
                    read: Rc::clone(&meter.read),
                };
                let plain = PlainInput::open(BufReader::with_capacity(BUFFER, counted), MAX_BYTES);
                let plain = plain.map_err(unread)?;
                prepare_plain(&name, plain, Some(file), beside, meter)?
            }
            ImportContent::Stream(stream) => {
                let counted = CountedRead {
                    inner: stream,
                    read: Rc::clone(&meter.read),
                };
                let plain = PlainInput::open(BufReader::with_capacity(BUFFER, counted), MAX_BYTES);
                prepare_plain(&name, plain.map_err(unread)?, None, beside, meter)?
            }
        };
        let (listed_at, is_assumed) = match &content {
            // The modification times of a folder and an archive are those of the download.
            PreparedContent::Gathered(gathered) => (at.or(gathered.newest), at.is_none()),
            _ => (at.or(input.changed_at), at.is_none()),
        };
        Ok(Self {
            name,
            content,
            listed_at,
            at,
            is_assumed,
        })
    }

    /// Returns the moment of an input with objects of one moment.
    pub(crate) fn moment(&self) -> Option<RecordedAt> {
        match &self.content {
            PreparedContent::Text(form, _) if form.is_moment() => self.listed_at,
            PreparedContent::Gathered(_) => self.listed_at,
            _ => None,
        }
    }

    /// Returns whether it has a line for each event.
    pub(crate) const fn has_lines(&self) -> bool {
        matches!(
            &self.content,
            PreparedContent::Text(InputForm::Events | InputForm::Audit, _)
        )
    }

    /// Returns its lines; `None` if it does not have a line for each event.
    pub(crate) fn into_lines(self) -> Option<PreparedLines<'a>> {
        let PreparedContent::Text(form, mut plain) = self.content else {
            return None;
        };
        skip_byte_order_mark(&mut plain);
        Some(PreparedLines {
            name: self.name,
            form,
            plain,
            at: self.at,
        })
    }

    /// Returns whether it may repeat known states.
    pub(crate) const fn needs_tracking(&self) -> bool {
        match &self.content {
            PreparedContent::Text(form, _) => !matches!(form, InputForm::Events),
            _ => true,
        }
    }

    /// Imports it, as a list of its own or as a part of one from several inputs.
    pub(crate) fn take(
        self,
        part: ListPart,
        importer: &mut Importer,
        facts: &mut InputFacts,
        meter: &mut Meter<'_>,
    ) -> Result<(), ImportError> {
        importer.at = self.at;
        importer.listed_at = self.listed_at;
        importer.objects = 0;
        let is_moment = self.moment().is_some();
        if let (Some(at), Some(end), true) = (self.listed_at, importer.end, is_moment)
            && at < end
        {
            let name = self.name;
            return Err(ImportError::BeforeEnd { name, at, end });
        }
        importer.live.begin_input();
        importer.has_listed = false;
        let is_gathered = matches!(self.content, PreparedContent::Gathered(_));
        let list_at = self.listed_at.filter(|_| is_moment);
        if list_at.is_some() && part.is_first {
            importer.begin_list(is_gathered);
        }
        importer.lists.is_gathering = is_gathered;
        match self.content {
            PreparedContent::Gathered(gathered) => {
                let at = self.listed_at.ok_or(ImportError::NoTime)?;
                if self.is_assumed {
                    facts.gathered_at = Some(at);
                }
                take_gathered(gathered, importer, facts, at, meter)?;
            }
            PreparedContent::Text(form, plain) => {
                let taken = take_text(form, plain, importer, facts, meter);
                importer.current.is_partial |= cut(importer, taken)?;
                if importer.has_listed && self.is_assumed {
                    facts.is_time_assumed = true;
                    facts.assumed_at = self.listed_at;
                }
            }
            PreparedContent::Capture(capture) => take_capture(capture, importer, facts, meter)?,
            PreparedContent::Repository(repository) => {
                facts.formats.push("a git repository of resource-watch");
                facts.is_converted = true;
                take_repository(&repository, importer, meter)?;
            }
        }
        let has_moment = importer.current.content != ListContent::Events;
        if let Some(at) = list_at.filter(|_| part.is_last && has_moment) {
            let is_whole = importer.broken.count == importer.current.broken_before;
            importer.end_list(at, "", is_whole && !importer.current.is_partial)?;
        }
        Ok(())
    }
}

/// Notes where an input was cut off; everything before that place is valid.
pub(crate) fn cut(
    importer: &mut Importer,
    taken: Result<(), ImportError>,
) -> Result<bool, ImportError> {
    match taken {
        Err(ImportError::Unpack { source }) if source.is_damage() => {
            importer.broken(0, BrokenReason::damage(&source));
            Ok(true)
        }
        other => other.map(|()| false),
    }
}

/// Which part of a list an input is: inputs of one moment are one list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListPart {
    pub(crate) is_first: bool,
    pub(crate) is_last: bool,
}

impl ListPart {
    pub(crate) const WHOLE: Self = Self {
        is_first: true,
        is_last: true,
    };
}

/// Detects the content of a folder: a repository, or gathered files.
fn prepare_folder(
    name: &str,
    path: &Path,
    beside: &Path,
    meter: &mut Meter<'_>,
) -> Result<PreparedContent<'static>, ImportError> {
    if Repository::is_one(path) {
        let repository = Repository::open(path)?;
        return Ok(PreparedContent::Repository(Box::new(repository)));
    }
    let mut gatherer = Gatherer::new(beside)?;
    let walked = walk_folder(path, UnpackLimits::default(), |mut file| {
        let bytes = file.bytes;
        let taken = gatherer.take(&mut file);
        meter.read.set(meter.read.get().saturating_add(bytes));
        meter.tick();
        taken
    });
    gathered(gatherer, name, walked)
}

/// Makes the content of the files of a folder or an archive: those of a repository are its commits, not its last state.
fn gathered(
    mut gatherer: Gatherer,
    name: &str,
    walked: Result<SkippedEntries, ImportError>,
) -> Result<PreparedContent<'static>, ImportError> {
    if let Some(repository) = gatherer.take_repository() {
        // What an incomplete archive has of a repository is not known before all of it is there.
        let _skipped = walked?;
        let repository = repository.open()?;
        return Ok(PreparedContent::Repository(Box::new(repository)));
    }
    let objects = gatherer.finish(name, walked)?;
    if objects.len() == 0 {
        if let Some(name) = objects.reels.first() {
            return Err(ImportError::ReelInside { name: name.clone() });
        }
        return Err(ImportError::NoObjects {
            files: objects.files,
            broken: objects.broken,
        });
    }
    Ok(PreparedContent::Gathered(objects))
}

/// Detects the format of an input by its beginning.
fn prepare_plain<'a>(
    name: &str,
    mut plain: PlainInput<'a>,
    file: Option<File>,
    (beside, at): (&Path, Option<RecordedAt>),
    meter: &mut Meter<'_>,
) -> Result<PreparedContent<'a>, ImportError> {
    let start = plain.start();
    let start = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(start);
    let form = input::form(start)?;
    match form {
        InputForm::Tar => {
            let mut gatherer = Gatherer::new(beside)?;
            let walked = walk_tar(plain, UnpackLimits::default(), |mut file| {
                meter.tick();
                gatherer.take(&mut file)
            });
            gathered(gatherer, name, walked)
        }
        InputForm::Zip => {
            let is_capture = Capture::is_one(start);
            // Only a file can be read from its end, where the directory of the archive is.
            let file = match file.filter(|_| plain.layers().is_empty()) {
                Some(mut file) => {
                    file.seek(SeekFrom::Start(0)).map_err(unread)?;
                    file
                }
                None => spool(&mut plain, beside)?,
            };
            if is_capture {
                return Ok(PreparedContent::Capture(Capture::open(&file, beside, at)?));
            }
            let mut gatherer = Gatherer::new(beside)?;
            let walked = walk_zip(&file, UnpackLimits::default(), |mut file| {
                meter.tick();
                gatherer.take(&mut file)
            });
            gathered(gatherer, name, walked)
        }
        InputForm::GitBundle => {
            let repository = Repository::open_bundle(plain, beside)?;
            Ok(PreparedContent::Repository(Box::new(repository)))
        }
        form => Ok(PreparedContent::Text(form, plain)),
    }
}

/// Writes an input into an unnamed temporary file.
fn spool(plain: &mut PlainInput<'_>, folder: &Path) -> Result<File, ImportError> {
    let failed = |source| ImportError::Place {
        path: folder.to_owned(),
        source,
    };
    let mut file = tempfile::tempfile_in(folder).map_err(failed)?;
    loop {
        let piece = plain.fill_buf().map_err(unread)?;
        let len = piece.len();
        if len == 0 {
            break;
        }
        io::Write::write_all(&mut file, piece).map_err(failed)?;
        plain.consume(len);
    }
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    Ok(file)
}
