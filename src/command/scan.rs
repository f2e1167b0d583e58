//! `kubereel scan`: the secrets that are left in a reel. Never prints one.

use crate::arguments::JsonOutput;
use crate::command_error::{CommandError, Exit};
use crate::outputs::outputs;
use crate::progress::ProgressReporter;
use crate::screen::Console;
use crate::table::TextTable;
use crate::words::{Amount as _, bytes, count, number};
use crate::{files, redaction};
use kubereel_history::{Timeline, harmless, timetext};
use kubereel_scan::{
    Canaries, FindingPlace, ScanError, ScanFinding, ScanOptions, ScanReport, UnreadPart,
};
use serde::Serialize;
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
    /// The reel: a file, a folder, an archive or a URL; default: $KUBEREEL, or the only one here
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
    #[command(flatten)]
    output: JsonOutput,
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let mut words: Vec<Vec<u8>> = args
        .canary
        .iter()
        .map(|word| word.clone().into_bytes())
        .collect();
    if let Some(path) = &args.canaries {
        words.extend(read_words(path)?);
    }
    let canaries = Canaries::new(words).map_err(CommandError::usage)?;
    let extra = redaction::read_rules(args.redact_extra.as_deref())?;
    // The scan opens the file again: one that was decrypted, copied or unpacked stays until the scan ends.
    let local = files::locate_reel(&args.reel)?;
    let timeline = files::open_located(&args.reel, &local)?;
    let total = timeline.reel().end().0;
    let report = {
        let mut progress = ProgressReporter::begin("scanning", total, screen.is_err_terminal());
        let options = ScanOptions::new(canaries, extra);
        kubereel_scan::scan(timeline.reel(), &options, |done| progress.reached(done))
    };
    let report = report.map_err(|error| match error {
        ScanError::NoRandomness(_) | ScanError::Read { .. } => CommandError::io(error),
        error => CommandError::reel(error),
    })?;
    if args.output.is_json() {
        screen.json(&ScanOutput::of(&report))?;
    } else {
        print_page(&timeline, &report, screen)?;
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

fn read_words(path: &Path) -> Result<Vec<Vec<u8>>, CommandError> {
    let words = canaries(&files::read(path, CANARY_BYTES)?);
    if words.is_empty() {
        // A scan for nothing would pass.
        let name = path.display();
        return Err(CommandError::usage(format!("no word in the file: {name}"))
            .hint("write each word on a line of its own"));
    }
    Ok(words)
}

/// Reads a word a line. Editors put a mark before the first and leave blanks behind others.
fn canaries(bytes: &[u8]) -> Vec<Vec<u8>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii_end)
        .filter(|line| !line.is_empty())
        .map(<[u8]>::to_vec)
        .collect()
}

outputs! {
/// The result of a scan.
struct ScanOutput<'a>(report: &'a ScanReport) {
    verdict: &'static str = match (report.total, report.unread.is_empty()) {
        (0, true) => "no-known-secret",
        (0, false) => "unknown",
        _ => "secrets",
    },
    total: u64 = report.total,
    found: Vec<ScanFindingOutput<'a>> = report.found.iter().map(ScanFindingOutput::of).collect(),
    high_entropy_total: u64 = report.high_entropy_total,
    high_entropy: Vec<ScanFindingOutput<'a>> =
        report.high_entropy.iter().map(ScanFindingOutput::of).collect(),
    unread: Vec<UnreadOutput<'a>> = report.unread.iter().map(UnreadOutput::of).collect(),
    objects: u64 = report.objects,
    decompressed_bytes: u64 = report.decompressed_bytes,
    file_bytes: u64 = report.file_bytes,
    canaries: u64 = report.canaries,
}
}

outputs! {
/// A part that could not be read.
struct UnreadOutput<'a>(part: &'a UnreadPart) {
    /// The place and the cause.
    words: &'a str = &part.words,
    /// The number of unreadable events, notes or texts, as far as it is known.
    count: u64 = part.count,
}
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ScanFindingOutput<'a> {
    rule: &'a str,
    form: &'a str,
    place: &'static str,
    seq: Option<u64>,
    at: Option<String>,
    object: Option<&'a str>,
    path: &'a str,
    offset: u64,
    bytes: usize,
    begin: &'a str,
}

impl<'a> ScanFindingOutput<'a> {
    fn of(found: &'a ScanFinding) -> Self {
        let (place, seq, at, object) = match &found.place {
            FindingPlace::Object { seq, at, object } => {
                ("object", Some(*seq), Some(*at), Some(object))
            }
            FindingPlace::Name { object } => ("name", None, None, Some(object)),
            FindingPlace::Note { seq, at } => ("note", Some(*seq), Some(*at), None),
            FindingPlace::Kept { seq, at } => ("kept", Some(*seq), Some(*at), None),
            _ => ("file", None, None, None),
        };
        Self {
            rule: &found.rule,
            form: found.form,
            place,
            seq: seq.map(|seq| seq.0),
            at: at.map(timetext::rfc3339),
            object: object.map(String::as_str),
            path: &found.path,
            offset: found.offset,
            bytes: found.len,
            begin: &found.begin,
        }
    }
}

/// How many finds people are shown.
const SHOWN: usize = 40;

/// Prints what was found, then what that means.
fn print_page(
    timeline: &Timeline,
    report: &ScanReport,
    screen: &mut Console,
) -> Result<(), CommandError> {
    print_findings(timeline, &report.found, report.total, screen)?;
    let paint = screen.err_paint();
    for unread in &report.unread {
        let mut text = format!("not read: {}", harmless(&unread.words));
        if unread.count > 0 {
            text = format!("{text} ({} unread)", number(unread.count));
        }
        screen.aside(paint.bad(&text))?;
    }
    let searched = [
        count(report.objects, "object"),
        format!("{} decompressed", bytes(report.decompressed_bytes)),
        format!("{} in the file", bytes(report.file_bytes)),
        count(report.canaries, "canary").replace("canarys", "canaries"),
    ];
    screen.aside(format!("searched {}", searched.join(" · ")))?;
    let verdict = if report.total > 0 {
        paint.bad(&count(report.total, "secret in the reel"))
    } else if report.unread.is_empty() {
        paint.good("no known form of a secret was found")
    } else {
        paint.wary("unknown: no known form of a secret was found in the readable part")
    };
    if report.high_entropy_total > 0 {
        let text = format!(
            "high entropy, mostly not secrets: {}",
            count(report.high_entropy_total, "string")
        );
        screen.aside(paint.wary(&text))?;
        print_findings(
            timeline,
            &report.high_entropy,
            report.high_entropy_total,
            screen,
        )?;
    }
    screen.aside(verdict)
}

fn print_findings(
    timeline: &Timeline,
    found: &[ScanFinding],
    total: u64,
    screen: &mut Console,
) -> Result<(), CommandError> {
    if found.is_empty() {
        return Ok(());
    }
    let mut table = TextTable::with_headers(["TIME", "WHERE", "PATH", "RULE", "SECRET"]);
    for one in found.iter().take(SHOWN) {
        table.push(row(timeline, one));
    }
    screen.table(&table)?;
    let rest = total.saturating_sub(SHOWN.get());
    if rest > 0 {
        screen.line(format!("and {} more: -o json", number(rest)))?;
    }
    Ok(())
}

fn row(timeline: &Timeline, found: &ScanFinding) -> Vec<String> {
    let (time, place) = match &found.place {
        FindingPlace::Object { at, object, .. } => (timeline.written(*at), object.clone()),
        FindingPlace::Name { object } => (String::new(), format!("name of {object}")),
        FindingPlace::Note { seq, at } => (timeline.written(*at), format!("note {}", seq.0)),
        FindingPlace::Kept { seq, at } => {
            (timeline.written(*at), format!("content of note {}", seq.0))
        }
        _ => (String::new(), format!("the file, byte {}", found.offset)),
    };
    let rule = if found.form.is_empty() {
        found.rule.clone()
    } else {
        format!("{} ({})", found.rule, found.form)
    };
    let secret = format!("{}… {}", found.begin, count(found.len, "byte"));
    let texts = [time, place, found.path.clone(), rule, secret];
    texts
        .iter()
        .map(|text| harmless(text).into_owned())
        .collect()
}
