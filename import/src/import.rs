//! An import from its first byte to the finished file, and what becomes of each line and object: an event in the reel,
//! a count, or a broken part.
//!
//! Invariants:
//!
//! * An object's bytes are not changed, unless secrets are to be redacted or the input is YAML.
//! * A broken part is counted and the rest goes on; only a reel that cannot be written ends an import early.
//! * The reel gets its name when it is complete, and no file stays behind a failed import.

use crate::document::{self, DocumentShape, EventLine, ImportedHead, json_error};
use crate::error::{BrokenParts, BrokenReason, BrokenUnit, ImportError};
use crate::input::{
    self, InputForm, InputLine, InputLines, MAX_JSON, MAX_YAML, len_u64, unread, whole, yaml,
};
use crate::outcome::{DroppedMembers, Imported};
use crate::resources::{ImportedDefinition, InputResources, ResourceQuery};
use crate::secrets::SecretRedaction;
use crate::writer::{ImportWriter, ImportedEvent, PartFile, ReelStart};
use kubereel_format::{AppendError, EventType, MAX_BODY, RecordedAt, ResourceInfo};
use kubereel_redact::Extra;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::io::{BufRead, Read};
use std::path::Path;

/// The bytes with which some editors begin a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// How an input is imported.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ImportOptions {
    /// The time of lines without `ts`, of objects and of lists.
    pub at: Option<RecordedAt>,
    /// When the input was last changed: the time of objects and lists if `at` is not given.
    pub changed_at: Option<RecordedAt>,
    /// Whether secrets are taken out, as the recorder does.
    pub redact: bool,
    /// The user's rules for redaction, beside the policy.
    pub redact_extra: Extra,
    /// Whether a file of the reel's name is replaced.
    pub replace: bool,
    /// The program in the reel's first note, for example its version.
    pub program: String,
    /// The description of the input in the reel's provenance, for example its name.
    pub source: String,
}

impl ImportOptions {
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
/// `progress` receives the number of bytes read, after each line. The reel is written beside its name, gets the name
/// when it is complete, and is removed if the import fails.
///
/// # Errors
/// When the input cannot be read or holds nothing that can be taken, and when the reel cannot be
/// written. Broken lines do not stop it: see [`Imported::broken`].
pub fn import(
    mut input: impl BufRead,
    reel: &Path,
    options: &ImportOptions,
    mut progress: impl FnMut(u64),
) -> Result<Imported, ImportError> {
    let part = PartFile::begin(reel, options.replace)?;
    let start = input::beginning(&mut input).map_err(|source| ImportError::Read { source })?;
    let start = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&start);
    let form = input::form(start)?;
    let input = start.chain(input);
    let mut importer = Importer {
        writer: ImportWriter::create(part.path(), first_words(options))?,
        resources: InputResources::default(),
        secrets: SecretRedaction::new(options.redact.then_some(&options.redact_extra))?,
        broken: BrokenParts::default(),
        dropped: DroppedMembers::default(),
        bookmarks: 0,
        errors: 0,
        at: options.at,
        listed_at: options.at.or(options.changed_at),
        has_listed: false,
        objects: 0,
    };
    match form {
        InputForm::Events => importer.all_lines(input, &mut progress, Importer::line)?,
        InputForm::Objects => importer.all_lines(input, &mut progress, Importer::document)?,
        InputForm::Json => importer.all_json(input, &mut progress)?,
        InputForm::Yaml => importer.all_yaml(input, &mut progress)?,
    }
    let mut outcome = end(&mut importer, form, options)?;
    let mut notes = outcome.notes();
    notes.extend(importer.secrets.account());
    let finished = importer.writer.finish(notes)?;
    outcome.file_bytes = finished.file_bytes;
    part.place()?;
    Ok(outcome)
}

fn first_words(options: &ImportOptions) -> ReelStart {
    ReelStart {
        program: options.program.clone(),
        is_redacted: options.redact,
        provenance: format!("imported from {}", options.source),
    }
}

/// Sums up; an error if nothing was imported.
fn end(
    importer: &mut Importer,
    form: InputForm,
    options: &ImportOptions,
) -> Result<Imported, ImportError> {
    let broken = std::mem::take(&mut importer.broken);
    if importer.writer.events() == 0 {
        return Err(ImportError::Nothing { broken });
    }
    let (from, to) = importer.writer.span();
    let mut guessed: Vec<String> = names(importer.resources.guessed());
    guessed.dedup();
    let all = names(importer.resources.iter());
    let again = all.iter().zip(all.iter().skip(1));
    let again = again.filter(|(before, after)| before == after);
    let mut several_versions: Vec<String> = again.map(|(name, _)| name.clone()).collect();
    several_versions.dedup();
    let is_assumed = importer.has_listed && options.at.is_none();
    Ok(Imported {
        events: importer.writer.events(),
        resources: len_u64(importer.writer.resources()),
        from,
        to,
        assumed_at: importer.listed_at.filter(|_| is_assumed),
        converted: form == InputForm::Yaml,
        broken,
        bookmarks: importer.bookmarks,
        errors: importer.errors,
        dropped: std::mem::take(&mut importer.dropped),
        secrets: importer.secrets.counts(),
        guessed,
        several_versions,
        file_bytes: 0,
    })
}

fn names<'a>(resources: impl Iterator<Item = &'a ResourceInfo>) -> Vec<String> {
    let mut names: Vec<String> = resources.map(ResourceInfo::qualified).collect();
    names.sort_unstable();
    names
}

/// How deep lists may stand in lists.
const DEPTH: usize = 8;

/// The ending of a list's kind.
const LIST: &str = "List";

/// What a list says of its items.
#[derive(Clone, Copy, Debug, Default)]
struct ListType<'a> {
    api_version: &'a str,
    kind: &'a str,
}

/// The state of one import.
struct Importer {
    writer: ImportWriter,
    resources: InputResources,
    secrets: SecretRedaction,
    broken: BrokenParts,
    dropped: DroppedMembers,
    bookmarks: u64,
    errors: u64,
    /// The time of lines without one.
    at: Option<RecordedAt>,
    /// The time of objects that stand there without an event.
    listed_at: Option<RecordedAt>,
    /// Whether an object used that time.
    has_listed: bool,
    /// How many objects were met where lines do not count.
    objects: u64,
}

/// Why a part of the input is not in the reel.
enum PartRefusal {
    /// It is broken; the rest may be well.
    Broken(BrokenReason),
    /// Nothing more can be written.
    Fatal(AppendError),
}

impl From<BrokenReason> for PartRefusal {
    fn from(problem: BrokenReason) -> Self {
        Self::Broken(problem)
    }
}

impl From<AppendError> for PartRefusal {
    fn from(error: AppendError) -> Self {
        match error {
            AppendError::BodyTooLong { .. } => Self::Broken(BrokenReason::TooLong),
            AppendError::NameTooLong { what, .. } => Self::Broken(BrokenReason::LongName(what)),
            error => Self::Fatal(error),
        }
    }
}

impl Importer {
    /// Takes a line of events.
    fn line(&mut self, number: u64, bytes: &[u8]) -> Result<(), ImportError> {
        let outcome = EventLine::parse(bytes)
            .map_err(PartRefusal::from)
            .and_then(|line| self.event(&line));
        self.settle(number, outcome)
    }

    /// Notes that a part of the input is broken.
    fn broken(&mut self, number: u64, problem: BrokenReason) {
        self.broken.push(number, problem);
    }

    /// Notes what is broken; what is fatal ends the import.
    fn settle(&mut self, number: u64, outcome: Result<(), PartRefusal>) -> Result<(), ImportError> {
        match outcome {
            Ok(()) => Ok(()),
            Err(PartRefusal::Broken(problem)) => {
                self.broken(number, problem);
                Ok(())
            }
            Err(PartRefusal::Fatal(error)) => Err(error.into()),
        }
    }

    /// Takes an event.
    fn event(&mut self, line: &EventLine<'_>) -> Result<(), PartRefusal> {
        let kind = match line.kind.as_deref() {
            Some("ADDED") => EventType::Added,
            Some("MODIFIED") => EventType::Modified,
            Some("DELETED") => EventType::Deleted,
            Some("BOOKMARK") => {
                self.bookmarks += 1;
                return Ok(());
            }
            Some("ERROR") => {
                self.errors += 1;
                return Ok(());
            }
            Some(other) => return Err(BrokenReason::UnknownType(other.to_owned()).into()),
            None => return Err(BrokenReason::NoType.into()),
        };
        let object = line.object.ok_or(BrokenReason::NoObject)?.get().as_bytes();
        let ts = line.ts.map(RawValue::get).filter(|ts| *ts != "null");
        let at = match ts {
            Some(ts) => document::time(ts).ok_or_else(|| BrokenReason::BadTime(ts.to_owned()))?,
            None => self.at.ok_or(BrokenReason::NoTime)?,
        };
        let named = ResourceQuery {
            group: line.group.as_deref(),
            version: line.version.as_deref(),
            plural: line.resource.as_deref(),
            ..ResourceQuery::default()
        };
        self.object(at, kind, &named, object)?;
        for name in &line.others {
            self.dropped.push(name);
        }
        Ok(())
    }

    /// Takes an object; `named` is what is known of its resource from elsewhere.
    fn object(
        &mut self,
        at: RecordedAt,
        kind: EventType,
        named: &ResourceQuery<'_>,
        object: &[u8],
    ) -> Result<(), PartRefusal> {
        if object.len() > MAX_BODY {
            return Err(BrokenReason::TooLong.into());
        }
        let head = ImportedHead::parse(object)?;
        let or = |own: &Cow<'_, str>, other: &str| {
            if own.is_empty() {
                other.to_owned()
            } else {
                own.clone().into_owned()
            }
        };
        let api_version = or(&head.api_version, named.api_version);
        let kind_name = or(&head.kind, named.kind);
        let query = ResourceQuery {
            api_version: &api_version,
            kind: &kind_name,
            namespaced: !head.namespace.is_empty(),
            ..*named
        };
        let info = self.resources.find(&query)?;
        let id = info.id;
        let is_secret = SecretRedaction::is_secret(info, &api_version, &kind_name);
        let is_definition =
            (info.group.as_str(), info.plural.as_str()) == ImportedDefinition::RESOURCE;
        let names_cluster = info.group.is_empty() && info.plural == "namespaces";
        let secrets = &mut self.secrets;
        if is_secret {
            secrets.count(&head.namespace, &head.name, object);
        }
        let body = secrets
            .object(info, &api_version, &kind_name, object)
            .ok_or(BrokenReason::UnreadableSecret)?;
        let name = secrets
            .name(info, &api_version, &kind_name, &head.name, &head.uid)
            .into_owned();
        if let Some(info) = self.resources.take_news(id) {
            self.writer.announce(at, info)?;
        }
        if names_cluster && head.name == "kube-system" && !head.uid.is_empty() {
            self.writer.cluster(at, &head.uid)?;
        }
        self.writer.event(&ImportedEvent {
            at,
            kind,
            resource: id,
            namespace: &head.namespace,
            name: &name,
            uid: &head.uid,
            resource_version: &head.resource_version,
            body: &body,
        })?;
        if is_definition && kind != EventType::Deleted {
            self.learn(at, object)?;
        }
        Ok(())
    }

    fn learn(&mut self, at: RecordedAt, object: &[u8]) -> Result<(), PartRefusal> {
        let Some(definition) = ImportedDefinition::read(object) else {
            return Ok(());
        };
        for id in self.resources.learn(definition) {
            if let Some(info) = self.resources.take_news(id) {
                self.writer.announce(at, info)?;
            }
        }
        Ok(())
    }

    /// Takes an input line by line.
    fn all_lines(
        &mut self,
        input: impl BufRead,
        progress: &mut impl FnMut(u64),
        take: impl Fn(&mut Self, u64, &[u8]) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        let mut lines = InputLines::new(input);
        while let Some((number, cut)) = lines.next_line().map_err(unread)? {
            match cut {
                InputLine::Whole(line) if line.trim_ascii().is_empty() => {}
                InputLine::Whole(line) => take(self, number, line)?,
                InputLine::TooLong => self.broken(number, BrokenReason::TooLong),
            }
            progress(lines.bytes());
        }
        Ok(())
    }

    /// Takes JSON documents, one after the other.
    fn all_json(
        &mut self,
        input: impl Read,
        progress: &mut impl FnMut(u64),
    ) -> Result<(), ImportError> {
        self.broken.counted = BrokenUnit::Objects;
        let bytes = whole(input, MAX_JSON)?;
        let mut documents = serde_json::Deserializer::from_slice(&bytes).into_iter::<&RawValue>();
        while let Some(document) = documents.next() {
            match document {
                Ok(document) => self.document(0, document.get().as_bytes())?,
                Err(error) => {
                    let number = self.objects.saturating_add(1);
                    self.broken(number, BrokenReason::Rest(error.to_string()));
                    return Ok(());
                }
            }
            progress(len_u64(documents.byte_offset()));
        }
        Ok(())
    }

    /// Takes YAML documents, as JSON.
    fn all_yaml(
        &mut self,
        input: impl Read,
        progress: &mut impl FnMut(u64),
    ) -> Result<(), ImportError> {
        self.broken.counted = BrokenUnit::Objects;
        let bytes = whole(input, MAX_YAML)?;
        let documents = yaml(&bytes)?;
        if !documents
            .iter()
            .any(|one| one.is_object() || one.is_array())
        {
            return Err(ImportError::NotRecognised);
        }
        for document in documents {
            self.document(0, document.to_string().as_bytes())?;
            progress(len_u64(bytes.len()));
        }
        Ok(())
    }

    /// Takes a document: all that stands in one line, or in one place of a longer text.
    fn document(&mut self, number: u64, bytes: &[u8]) -> Result<(), ImportError> {
        self.nested(number, bytes, ListType::default(), 0)
    }

    fn nested(
        &mut self,
        number: u64,
        bytes: &[u8],
        listed: ListType<'_>,
        depth: usize,
    ) -> Result<(), ImportError> {
        let bytes = bytes.trim_ascii();
        if bytes.starts_with(b"[") {
            return self.items(number, bytes, listed, depth);
        }
        let shape = match DocumentShape::of(bytes) {
            Ok(shape) => shape,
            Err(problem) => {
                let number = self.count(number);
                self.broken(number, problem);
                return Ok(());
            }
        };
        if shape.is_event {
            let number = self.count(number);
            return self.line(number, bytes);
        }
        let list_of = shape.kind.strip_suffix(LIST);
        if let Some(items) = shape.items
            && items.get().starts_with('[')
            && (list_of.is_some() || shape.kind.is_empty())
        {
            let listed = match list_of {
                Some(kind) if !kind.is_empty() => ListType {
                    api_version: &shape.api_version,
                    kind,
                },
                _ => ListType::default(),
            };
            return self.items(number, items.get().as_bytes(), listed, depth);
        }
        let number = self.count(number);
        let named = ResourceQuery {
            api_version: listed.api_version,
            kind: listed.kind,
            ..ResourceQuery::default()
        };
        let at = self.listed_at.ok_or(ImportError::NoTime)?;
        self.has_listed = true;
        let outcome = self.object(at, EventType::Added, &named, bytes);
        self.settle(number, outcome)
    }

    fn items(
        &mut self,
        number: u64,
        array: &[u8],
        listed: ListType<'_>,
        depth: usize,
    ) -> Result<(), ImportError> {
        let problem = match serde_json::from_slice::<Vec<&RawValue>>(array) {
            Ok(_) if depth >= DEPTH => {
                BrokenReason::NotAnObject(format!("more than {DEPTH} lists in lists"))
            }
            Ok(items) => {
                for item in items {
                    self.nested(number, item.get().as_bytes(), listed, depth + 1)?;
                }
                return Ok(());
            }
            Err(error) => BrokenReason::NotJson(json_error(&error)),
        };
        let number = self.count(number);
        self.broken(number, problem);
        Ok(())
    }

    /// Gives the number of what comes next: its line's, or its own.
    const fn count(&mut self, line: u64) -> u64 {
        match self.broken.counted {
            BrokenUnit::Lines => line,
            BrokenUnit::Objects => {
                self.objects += 1;
                self.objects
            }
        }
    }
}
