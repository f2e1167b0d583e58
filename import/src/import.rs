//! Owns an import from its first byte to the finished file. Refuses to leave a half one.

use crate::broken::Broken;
use crate::error::ImportError;
use crate::outcome::{Dropped, Imported};
use crate::part::Part;
use crate::resource::Resources;
use crate::secrets::Secrets;
use crate::sniff::{self, Form};
use crate::take::Take;
use crate::write::{Start, Writer};
use kubereel_format::{RecordedAt, ResourceInfo};
use kubereel_redact::Extra;
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
    /// When the input was last changed: the time of objects and lists if `at` is not given.
    pub changed_at: Option<RecordedAt>,
    /// Whether secrets are taken out, as the recorder does.
    pub redact: bool,
    /// What is taken out beside what the policy takes out.
    pub redact_extra: Extra,
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
        secrets: Secrets::new(options)?,
        broken: Broken::default(),
        dropped: Dropped::default(),
        bookmarks: 0,
        errors: 0,
        at: options.at,
        listed_at: options.at.or(options.changed_at),
        has_listed: false,
        objects: 0,
    };
    match form {
        Form::Events => take.all_lines(input, &mut progress, Take::line)?,
        Form::Objects => take.all_lines(input, &mut progress, Take::document)?,
        Form::Json => take.all_json(input, &mut progress)?,
        Form::Yaml => take.all_yaml(input, &mut progress)?,
    }
    let mut imported = end(&mut take, form, options)?;
    let mut said = imported.last_words();
    said.extend(take.secrets.account());
    let finished = take.writer.finish(said)?;
    imported.file_bytes = finished.file_bytes;
    part.place()?;
    Ok(imported)
}

fn first_words(options: &Options) -> Start {
    Start {
        program: options.program.clone(),
        is_redacted: options.redact,
        provenance: format!("imported from {}", options.source),
    }
}

/// Sums up, unless nothing was taken.
fn end(take: &mut Take, form: Form, options: &Options) -> Result<Imported, ImportError> {
    let broken = std::mem::take(&mut take.broken);
    if take.writer.events() == 0 {
        return Err(ImportError::Nothing { broken });
    }
    let (from, to) = take.writer.span();
    let mut guessed: Vec<String> = names(take.resources.guessed());
    guessed.dedup();
    let all = names(take.resources.iter());
    let again = all.iter().zip(all.iter().skip(1));
    let again = again.filter(|(before, after)| before == after);
    let mut several_versions: Vec<String> = again.map(|(name, _)| name.clone()).collect();
    several_versions.dedup();
    let is_assumed = take.has_listed && options.at.is_none();
    Ok(Imported {
        events: take.writer.events(),
        resources: u64::try_from(take.writer.resources()).unwrap_or(u64::MAX),
        from,
        to,
        assumed_at: take.listed_at.filter(|_| is_assumed),
        converted: form == Form::Yaml,
        broken,
        bookmarks: take.bookmarks,
        errors: take.errors,
        dropped: std::mem::take(&mut take.dropped),
        secrets: take.secrets.counts(),
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
