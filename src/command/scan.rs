//! Owns `kubereel scan`: which secrets are left in a reel. Refuses to print one.

mod print;

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::redact_extra;
use crate::reel;
use crate::screen::Screen;
use crate::user_file;
use kubereel_scan::{Canaries, ScanError, ScanOptions, ScanReport};
use std::path::{Path, PathBuf};

/// How much of a file of canaries is read.
const CANARY_BYTES: u64 = 16 * 1024 * 1024;

/// Look for secrets in a reel: all that the redaction policy takes out, and words of your own
///
/// It searches every byte: of objects, names, notes and documents as they are once decompressed, in
/// base64, percent encoding and hexadecimal too, and of the file as it stands. A secret is never
/// printed: its first letters at most, and its length. Strings that look random and have no known
/// form are listed apart as high entropy; most of them are no secrets, and only --strict makes them
/// count. That nothing was found proves that no secret of a known form is there, not that none is.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel scan run.reel                              is it fit to be published?
  kubereel scan run.reel --canaries passwords.txt     are these words in it, in any encoding?
  kubereel scan run.reel --redact-extra own.yaml      with the rules it was recorded with
  kubereel scan run.reel --strict                     fail on high-entropy strings, too
  kubereel scan run.reel -o json | jq .found          for programs

Rules of one's own, for --redact-extra of record, import and scan, have a name and either a path
(of every kind, or of one: plural.group) or a regular expression that is met by the secret:
  rules:
  - {name: pins, kind: widgets.acme.io, path: spec.doors.*.pin}
  - {name: licences, text: 'LIC-[0-9]{6}'}

Exit codes: 0 no known form of a secret was found; 1 a secret was found (with --strict also: a
high-entropy string); 4 none was found, but not all of the reel can be read.")]
pub(crate) struct Args {
    /// The reel
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// A word that must not be in it; others on this machine can see it, so rather use --canaries
    #[arg(long, value_name = "TEXT")]
    canary: Vec<String>,
    /// Words that must not be in it, one a line
    #[arg(long, value_name = "FILE")]
    canaries: Option<PathBuf>,
    /// Rules beside those of the policy
    #[arg(long, value_name = "FILE")]
    redact_extra: Option<PathBuf>,
    /// Exit with 1 also if there are high-entropy strings
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
        let options = ScanOptions::new(canaries, extra);
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
const fn verdict(report: &ScanReport, is_strict: bool) -> Exit {
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
