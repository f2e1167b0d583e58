//! Owns `kubereel scan`: which secrets are left in a reel. Refuses to print one.

mod print;

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::redact_extra;
use crate::reel;
use crate::screen::Screen;
use crate::user_file;
use kubereel_scan::{Canaries, Options, Report, ScanError};
use std::path::{Path, PathBuf};

/// How much of a file of canaries is read.
const CANARY_BYTES: u64 = 16 * 1024 * 1024;

/// Search a reel for secrets: everything that the redaction policy covers, and your own words
///
/// It searches every byte of the decompressed objects, names, notes and documents, also in base64,
/// percent encoding and hexadecimal, and every byte of the file itself. A secret is never printed:
/// only its length and at most its first letters. Strings that look random and have no known form are
/// listed separately as high entropy; most of them are not secrets, and they count only with --strict.
/// An empty result proves that the reel has no secret of a known form, not that it has no secret.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel scan run.reel                              before it is published
  kubereel scan run.reel --canaries passwords.txt     search for these words, in any encoding
  kubereel scan run.reel --redact-extra own.yaml      with the rules of the recording
  kubereel scan run.reel --strict                     fail on high-entropy strings
  kubereel scan run.reel -o json | jq .found          for programs

Your own rules, for --redact-extra of record, import and scan, have a name and either a path
(of every kind, or of one: plural.group) or a regular expression that matches the secret:
  rules:
  - {name: pins, kind: widgets.acme.io, path: spec.doors.*.pin}
  - {name: licences, text: 'LIC-[0-9]{6}'}

Exit codes: 0 no known form of a secret was found; 1 a secret was found (with --strict also: a
high-entropy string); 4 none was found, but a part of the reel cannot be read.")]
pub(crate) struct Args {
    /// The reel
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// A word that the reel must not contain; visible to other users of this machine, prefer --canaries
    #[arg(long, value_name = "TEXT")]
    canary: Vec<String>,
    /// Words that the reel must not contain, one per line
    #[arg(long, value_name = "FILE")]
    canaries: Option<PathBuf>,
    /// File with additional redaction rules
    #[arg(long, value_name = "FILE")]
    redact_extra: Option<PathBuf>,
    /// Exit with 1 on high-entropy strings, too
    #[arg(long)]
    strict: bool,
    /// Output format; default: text
    #[arg(short, long, value_name = "FORM")]
    output: Option<Form>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    Json,
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, CommandError> {
    let mut words: Vec<Vec<u8>> = args
        .canary
        .iter()
        .map(|word| word.clone().into_bytes())
        .collect();
    if let Some(path) = &args.canaries {
        words.extend(read(path)?);
    }
    let canaries = Canaries::new(words).map_err(|error| CommandError::new(Exit::Usage, error))?;
    let extra = redact_extra::read(args.redact_extra.as_deref())?;
    let timeline = reel::open(&args.reel)?;
    let total = timeline.reel().end().0;
    let report = {
        let mut progress = Progress::begin("scanning", total, screen.is_err_terminal());
        let options = Options::new(canaries, extra);
        kubereel_scan::scan(timeline.reel(), &options, |done| progress.reached(done))
    };
    let report = report.map_err(|error| match error {
        ScanError::NoRandomness(_) | ScanError::Read { .. } => CommandError::new(Exit::Io, error),
        error => CommandError::new(Exit::Reel, error),
    })?;
    match args.output {
        Some(Form::Json) => print::json(&report, screen)?,
        None => print::page(&timeline, &report, screen)?,
    }
    Ok(verdict(&report, args.strict))
}

/// What was not read may hold anything: then the answer is not known.
const fn verdict(report: &Report, is_strict: bool) -> Exit {
    if report.total > 0 || is_strict && report.high_entropy_total > 0 {
        Exit::No
    } else if report.unread.is_empty() {
        Exit::Yes
    } else {
        Exit::Unknown
    }
}

fn read(path: &Path) -> Result<Vec<Vec<u8>>, CommandError> {
    let bytes = user_file::read(path, CANARY_BYTES)?;
    let lines = bytes.split(|byte| *byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    Ok(lines
        .filter(|line| !line.is_empty())
        .map(<[u8]>::to_vec)
        .collect())
}
