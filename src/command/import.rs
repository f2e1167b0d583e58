//! `kubereel import`: converts another tool's recording to a reel, and reports what was and was not imported.

use crate::command_error::{CommandError, Exit};
use crate::progress::ProgressReporter;
use crate::screen::Console;
use crate::words::{Amount as _, bytes, count};
use crate::{arguments, files, redaction};
use jiff::Timestamp;
use kubereel_format::{OpenError, RecordedAt};
use kubereel_history::{harmless, timetext};
use kubereel_import::{BrokenParts, BrokenReason, ImportError, ImportOptions, Imported};
use kubereel_redact::Extra;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

/// How much of the input is read at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// Convert another tool's recording to a reel
///
/// Takes JSON lines of watch events, the form that `kubereel export` writes: {"ts","type","group",
/// "version","resource","object"}. A ts is seconds or RFC 3339. Without group, version or resource,
/// they are derived from the object's apiVersion and kind. The bytes of the object, the type and the
/// order are not changed.
///
/// Takes objects and lists of objects as well, in JSON or YAML, as kubectl and oc write them: they
/// are recorded at one moment, given by --at. The format is detected from the content.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel import events.jsonl -o run.reel
  zstd -dc events.jsonl.zst | kubereel import - -o run.reel
  kubereel import events.jsonl -o run.reel --redact    without secrets
  kubectl get pods,nodes -A -o json | kubereel import - -o now.reel --at $(date -u +%FT%TZ)

Exit codes: 0 everything was imported; 1 broken parts were omitted, the rest was imported;
2 nothing can be imported, no reel was written.")]
pub(crate) struct Args {
    /// The recording; - reads stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Output reel
    #[arg(short, long, value_name = "REEL")]
    output: PathBuf,
    /// Time of objects in a file, and of lines without ts, as RFC 3339; default: for objects in a file, the
    /// modification time of the file
    #[arg(long, value_name = "TIME", value_parser = arguments::read_time)]
    at: Option<RecordedAt>,
    /// Redact secrets, as `kubereel record` does
    #[arg(long)]
    redact: bool,
    /// With --redact, also apply the redaction rules in this file; see `kubereel help scan`
    #[arg(long, value_name = "FILE", requires = "redact")]
    redact_extra: Option<PathBuf>,
    /// Overwrite an existing reel
    #[arg(long)]
    force: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let extra = redaction::read_rules(args.redact_extra.as_deref())?;
    let imported = if args.file == Path::new("-") {
        let stdin = InputSource {
            name: "stdin".to_owned(),
            bytes: 0,
            changed_at: None,
        };
        import(args, extra, io::stdin().lock(), stdin, screen)
    } else {
        files::refuse_input(&args.file, &args.output)?;
        let (file, source) = open(&args.file)?;
        import(args, extra, file, source, screen)
    };
    match imported {
        Ok(imported) => print_outcome(&args.output, &imported, screen),
        Err(error) => {
            if let ImportError::Nothing { broken } = &error {
                print_broken(broken, screen)?;
            }
            Err(explain(&error, &args.file, &args.output))
        }
    }
}

/// Properties of an input besides its content.
struct InputSource {
    name: String,
    /// Its length in bytes; 0 if unknown.
    bytes: u64,
    changed_at: Option<RecordedAt>,
}

fn import(
    args: &Args,
    extra: Extra,
    input: impl io::Read,
    source: InputSource,
    screen: &Console,
) -> Result<Imported, ImportError> {
    let program = concat!(env!("CARGO_PKG_VERSION"), " (import)");
    let mut options = ImportOptions::new(program, source.name);
    options.at = args.at;
    options.changed_at = source.changed_at;
    options.redact = args.redact;
    options.redact_extra = extra;
    options.replace = args.force;
    let mut progress =
        ProgressReporter::begin("importing, bytes", source.bytes, screen.is_err_terminal());
    let input = BufReader::with_capacity(BUFFER_BYTES, input);
    kubereel_import::import(input, &args.output, &options, |done| progress.reached(done))
}

fn open(path: &Path) -> Result<(File, InputSource), CommandError> {
    let failed = |error: io::Error| files::cannot_read(&error, path);
    let file = File::open(path).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    if about.is_dir() {
        let path = path.display();
        return Err(
            CommandError::usage(format!("cannot read: is a directory: {path}"))
                .hint("give a file with JSON lines of events, or with objects"),
        );
    }
    // A pipe has no time of its own, and a system may keep none.
    let changed = about.modified().ok().filter(|_| about.is_file());
    let changed = changed.and_then(|at| Timestamp::try_from(at).ok());
    let name = path.file_name().unwrap_or(path.as_os_str());
    let source = InputSource {
        name: name.to_string_lossy().into_owned(),
        bytes: about.len(),
        changed_at: changed.map(|at| RecordedAt::from_micros(at.as_microsecond())),
    };
    Ok((file, source))
}

/// The form of a line, for hints.
const LINE: &str = r#"expected lines of the form {"ts","type","group","version","resource","object"}, as written by kubereel export"#;

/// Makes the error of an import without a reel.
fn explain(error: &ImportError, file: &Path, reel: &Path) -> CommandError {
    let target = reel;
    let (file, reel) = (file.display(), reel.display());
    match error {
        ImportError::Empty | ImportError::NotRecognised | ImportError::Binary { .. } => {
            CommandError::usage(format!("{error}: {file}")).hint(LINE)
        }
        ImportError::Yaml { .. } | ImportError::TooLong { .. } => {
            CommandError::usage(format!("{error}: {file}"))
                .hint("write one object per line: kubectl get RESOURCE -A -o json | jq -c .items[]")
        }
        ImportError::NoTime => CommandError::usage(format!("{error}: {file}"))
            .hint("give it with --at, for example --at 2026-11-21T14:02:31Z"),
        ImportError::Compressed { program, .. } => CommandError::usage(format!("{error}: {file}"))
            .hint(format!("{program} {file} | kubereel import - -o {reel}")),
        ImportError::Reel => CommandError::usage(format!("{error}: {file}"))
            .hint(format!("to see its contents: kubereel info {file}")),
        ImportError::Nothing { broken } => {
            let failed = CommandError::usage(format!("{error}: {file}"));
            let is_timeless = broken
                .first
                .iter()
                .all(|one| one.problem == BrokenReason::NoTime);
            if is_timeless && broken.count > 0 {
                failed.hint("give the time of lines without ts with --at TIME")
            } else {
                failed.hint(LINE)
            }
        }
        ImportError::Exists { path } if path == target => {
            CommandError::usage(error).hint("choose another file, or overwrite it with --force")
        }
        ImportError::Exists { .. } => CommandError::usage(error)
            .hint("the import writes to that file until it is complete: move it away"),
        ImportError::Create(OpenError::InUse { .. }) => {
            CommandError::io(error).hint("another import is writing it: wait until it ends")
        }
        ImportError::Create(OpenError::Io { source, .. })
            if source.kind() == io::ErrorKind::NotFound =>
        {
            CommandError::io(error).hint("create the directory first, or choose another file")
        }
        ImportError::Read { .. } => CommandError::io(format!("{error}: {file}")),
        _ => CommandError::io(error),
    }
}

/// Prints the result of an import; the exit code shows whether all of the input was imported.
fn print_outcome(
    reel: &Path,
    imported: &Imported,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    let paint = screen.err_paint();
    print_broken(&imported.broken, screen)?;
    for (counted, what) in [
        (imported.bookmarks, "BOOKMARK line left out"),
        (
            imported.errors,
            "ERROR line left out: changes may be missing there",
        ),
    ] {
        if counted > 0 {
            screen.aside(count(counted, what))?;
        }
    }
    if imported.dropped.count > 0 {
        let names = imported.dropped.names.iter();
        let names: Vec<String> = names
            .map(|(name, times)| format!("{name:?} {times}"))
            .collect();
        let dropped = count(imported.dropped.count, "field");
        screen.aside(format!(
            "{dropped} not recognized and dropped: {}",
            names.join(", ")
        ))?;
    }
    for (what, names) in [
        ("resource names guessed from kinds", &imported.guessed),
        (
            "recorded in several versions, get shows one at a time",
            &imported.several_versions,
        ),
    ] {
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(|one| escaped(one)).collect();
            screen.aside(format!("{what}: {}", names.join(", ")))?;
        }
    }
    if imported.converted {
        screen.aside("the objects were converted from YAML to JSON")?;
    }
    if let Some(at) = imported.assumed_at {
        let at = timetext::rfc3339(at);
        let text = format!(
            "the time of the objects is the modification time of the file, {at}; override it with --at"
        );
        screen.aside(paint.wary(&text))?;
    }
    let secrets = imported.secrets;
    if secrets.with_data > 0 {
        let counted = count(secrets.with_data, "Secret with data");
        screen.aside(if secrets.redacted {
            format!("{counted}: their values are not in the reel")
        } else {
            paint.wary(&format!(
                "{counted}: their values are in the reel; --redact removes them"
            ))
        })?;
    }
    screen.aside(format!(
        "{}: {} of {} · {} – {} · {}",
        harmless(&reel.display().to_string()),
        count(imported.events, "event"),
        count(imported.resources, "resource"),
        timetext::rfc3339(imported.from),
        timetext::rfc3339(imported.to),
        bytes(imported.file_bytes)
    ))?;
    if imported.broken.count == 0 {
        return Ok(Exit::Yes);
    }
    let lines = count(imported.broken.count, imported.broken.counted.as_str());
    Err(CommandError::new(
        Exit::No,
        format!("{lines} could not be imported; the rest is in the reel"),
    ))
}

/// Names the lines that could not be taken.
fn print_broken(broken: &BrokenParts, screen: &mut Console) -> Result<(), CommandError> {
    for one in &broken.first {
        let what = broken.counted.as_str();
        screen.aside(format!(
            "{what} {}: {}",
            one.number,
            harmless(&one.problem.to_string())
        ))?;
    }
    let named = broken.first.len();
    let rest = broken.count.saturating_sub(named.get());
    if rest > 0 {
        screen.aside(format!("and {} more", count(rest, broken.counted.as_str())))?;
    }
    Ok(())
}

fn escaped(word: &str) -> String {
    word.escape_debug().to_string()
}
