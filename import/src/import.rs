//! Runs an import from its first byte to the finished file: the order of its inputs, and the
//! summary.
//!
//! Invariants:
//!
//! * The reel gets its name when it is complete, and a failed import leaves no file. A reel to
//!   which the import appends is not changed before that.
//! * Inputs are taken in the order of their times. Lists of one moment are one list, and must not
//!   share an object.
//! * A damaged input is imported up to the damage, and reported with its place.

use crate::carried::CarriedReel;
use crate::contents::InputFacts;
use crate::error::{BrokenParts, BrokenUnit, ImportError};
use crate::existing_objects::ExistingObjects;
use crate::importer::{CurrentList, Importer};
use crate::input::len_u64;
use crate::meter::Meter;
use crate::ordered::take_all;
use crate::outcome::{DroppedMembers, Imported, ListCounts};
use crate::prepared::{ImportContent, ImportInput, ImportOptions, PreparedInput};
use crate::resources::InputResources;
use crate::secrets::SecretRedaction;
use crate::writer::{ImportWriter, PartFile, ReelStart};
use kubereel_format::ResourceInfo;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Makes a reel of an input.
///
/// `progress` receives the number of bytes read. The reel is written beside its name, gets the name
/// when it is complete, and is removed if the import fails.
///
/// # Errors
/// When the input cannot be read or contains nothing that can be imported, and when the reel cannot
/// be written. Broken lines do not end the import: see [`Imported::broken`].
pub fn import<'a>(
    input: impl BufRead + 'a,
    reel: &Path,
    options: &ImportOptions,
    progress: impl FnMut(u64),
) -> Result<Imported, ImportError> {
    let input = ImportInput {
        name: String::new(),
        content: ImportContent::Stream(Box::new(input)),
        at: options.at,
        changed_at: options.changed_at,
    };
    import_all(vec![input], reel, options, progress)
}

/// Makes a reel of several inputs, or appends them to one.
///
/// Lists, lines of events and audit logs are taken in the order of their times; what a later list no longer has is a
/// deletion. Other inputs are taken whole, in the order given.
///
/// # Errors
/// As [`import`]; also when two lists of the same time have an object in common, or one is older than the reel's end.
pub fn import_all(
    inputs: Vec<ImportInput<'_>>,
    reel: &Path,
    options: &ImportOptions,
    mut progress: impl FnMut(u64),
) -> Result<Imported, ImportError> {
    let mut part = if options.append {
        PartFile::copy_of(reel)?
    } else {
        PartFile::begin(reel, options.replace)?
    };
    let folder = match reel.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let read_bytes = Rc::new(Cell::new(0));
    let mut meter = Meter {
        read: Rc::clone(&read_bytes),
        report: &mut progress,
    };
    let is_several = inputs.len() > 1;
    let mut prepared = Vec::new();
    for input in inputs {
        prepared.push(PreparedInput::open(input, options, &folder, &mut meter)?);
    }
    let secrets = SecretRedaction::new(options.redact.then_some(&options.redact_extra))?;
    let carried = options
        .append
        .then(|| CarriedReel::read(part.path()))
        .transpose()?;
    let mut importer = importer(&mut part, options, carried, secrets)?;
    importer.is_tracking =
        options.append || is_several || prepared.iter().any(PreparedInput::needs_tracking);
    if is_several {
        importer.broken.counted = BrokenUnit::Parts;
    }
    let mut facts = InputFacts::default();
    take_all(prepared, &mut importer, &mut facts, &mut meter)?;
    let mut outcome = end(&mut importer, &facts)?;
    let mut notes = outcome.notes();
    notes.extend(importer.secrets.account());
    let finished = importer.writer.finish(notes)?;
    outcome.file_bytes = finished.file_bytes;
    part.place()?;
    Ok(outcome)
}

/// Begins the reel, or continues one.
fn importer(
    part: &mut PartFile,
    options: &ImportOptions,
    carried: Option<CarriedReel>,
    secrets: SecretRedaction,
) -> Result<Importer, ImportError> {
    let start = ReelStart {
        program: options.program.clone(),
        is_redacted: options.redact,
        provenance: format!("imported from {}", options.source),
    };
    let mut resources = InputResources::default();
    let mut live = ExistingObjects::default();
    let mut end = None;
    let writer = match carried {
        None => ImportWriter::create(part, start)?,
        Some(carried) => {
            resources.carry(carried.resources);
            live = carried.live;
            end = Some(carried.end);
            ImportWriter::resume(part, start, carried.used)?
        }
    };
    Ok(Importer {
        writer,
        resources,
        secrets,
        broken: BrokenParts::default(),
        dropped: DroppedMembers::default(),
        lists: ListCounts::default(),
        bookmarks: 0,
        errors: 0,
        live,
        list_versions: BTreeMap::new(),
        is_tracking: false,
        current: CurrentList::default(),
        at: None,
        listed_at: None,
        has_listed: false,
        end,
        input: String::new(),
        objects: 0,
        item: 0,
        yaml_line: 0,
    })
}

/// Returns the summary; an error if nothing was imported.
fn end(importer: &mut Importer, facts: &InputFacts) -> Result<Imported, ImportError> {
    let broken = std::mem::take(&mut importer.broken);
    let is_empty = importer.writer.events() == 0 && importer.lists.audit.marks == 0;
    if is_empty {
        // Lists without objects are a valid result: there were no objects.
        let is_answer = broken.count == 0 && importer.lists.lists > 0;
        if !is_answer {
            return Err(ImportError::Nothing { broken });
        }
        importer
            .writer
            .reach(importer.listed_at.unwrap_or_default())?;
    }
    let (from, to) = importer.writer.span();
    let mut guessed: Vec<String> = names(importer.resources.guessed());
    guessed.dedup();
    let all = names(importer.resources.iter());
    let again = all.iter().zip(all.iter().skip(1));
    let again = again.filter(|(before, after)| before == after);
    let mut several_versions: Vec<String> = again.map(|(name, _)| name.clone()).collect();
    several_versions.dedup();
    Ok(Imported {
        events: importer.writer.events(),
        resources: len_u64(importer.writer.resources()),
        from,
        to,
        assumed_at: facts.assumed_at.filter(|_| facts.is_time_assumed),
        gathered_at: facts.gathered_at,
        formats: facts.formats.clone(),
        converted: facts.is_converted,
        broken,
        files: facts.files,
        lists: importer.lists,
        bookmarks: importer.bookmarks,
        errors: importer.errors,
        dropped: std::mem::take(&mut importer.dropped),
        secrets: importer.secrets.counts(),
        guessed,
        several_versions,
        steps_back: importer.writer.steps_back(),
        file_bytes: 0,
    })
}

fn names<'a>(resources: impl Iterator<Item = &'a ResourceInfo>) -> Vec<String> {
    let mut names: Vec<String> = resources.map(ResourceInfo::qualified).collect();
    names.sort_unstable();
    names
}
