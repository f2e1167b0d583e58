//! Owns `kubereel import`: another tool's recording becomes a reel.

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::redact_extra;
use crate::screen::Screen;
use crate::target_file;
use jiff::Timestamp;
use kubereel_format::RecordedAt;
use kubereel_import::{ImportError, Imported, Options};
use kubereel_redact::Extra;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

mod explain;
mod tell;

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
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
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

fn parse_time(text: &str) -> Result<RecordedAt, String> {
    text.parse::<Timestamp>()
        .map(|at| RecordedAt::from_micros(at.as_microsecond()))
        .map_err(|_unread| "expected an RFC 3339 time such as 2026-11-21T14:02:31Z".to_owned())
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, CommandError> {
    let extra = redact_extra::read(args.redact_extra.as_deref())?;
    let imported = if args.file == Path::new("-") {
        let stdin = Source {
            name: "stdin".to_owned(),
            bytes: 0,
            changed_at: None,
        };
        import(args, extra, io::stdin().lock(), stdin, screen)
    } else {
        target_file::refuse_input(&args.file, &args.output)?;
        let (file, source) = open(&args.file)?;
        import(args, extra, file, source, screen)
    };
    match imported {
        Ok(imported) => tell::outcome(&args.output, &imported, screen),
        Err(error) => {
            if let ImportError::Nothing { broken } = &error {
                tell::broken(broken, screen)?;
            }
            Err(explain::error(&error, &args.file, &args.output))
        }
    }
}

/// What is known of an input beside its content.
struct Source {
    name: String,
    /// How long it is; 0 if nobody knows.
    bytes: u64,
    changed_at: Option<RecordedAt>,
}

fn import(
    args: &Args,
    extra: Extra,
    input: impl io::Read,
    source: Source,
    screen: &Screen,
) -> Result<Imported, ImportError> {
    let program = concat!(env!("CARGO_PKG_VERSION"), " (import)");
    let mut options = Options::new(program, source.name);
    options.at = args.at;
    options.changed_at = source.changed_at;
    options.redact = args.redact;
    options.redact_extra = extra;
    options.replace = args.force;
    let mut progress = Progress::begin("importing, bytes", source.bytes, screen.is_err_terminal());
    let input = BufReader::with_capacity(BUFFER_BYTES, input);
    kubereel_import::import(input, &args.output, &options, |done| progress.reached(done))
}

fn open(path: &Path) -> Result<(File, Source), CommandError> {
    let failed = |error: io::Error| {
        let path = path.display();
        CommandError::new(Exit::Io, format!("cannot read: {error}: {path}"))
    };
    let file = File::open(path).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    if about.is_dir() {
        let path = path.display();
        return Err(
            CommandError::new(Exit::Usage, format!("cannot read: is a directory: {path}"))
                .hint("give a file with JSON lines of events, or with objects"),
        );
    }
    // A pipe has no time of its own, and a system may keep none.
    let changed = about.modified().ok().filter(|_| about.is_file());
    let changed = changed.and_then(|at| Timestamp::try_from(at).ok());
    let name = path.file_name().unwrap_or(path.as_os_str());
    let source = Source {
        name: name.to_string_lossy().into_owned(),
        bytes: about.len(),
        changed_at: changed.map(|at| RecordedAt::from_micros(at.as_microsecond())),
    };
    Ok((file, source))
}
