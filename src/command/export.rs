//! `kubereel export`: every event of a reel in another format.

use crate::command_error::{CommandError, Exit};
use crate::files;
use crate::progress::ProgressReporter;
use crate::screen::Console;
use crate::words::{self, count};
use kubereel_format::{Loss, LossCounts, Seq};
use kubereel_history::{ExportError, Exported, ReelSummary, ResourceSummary, Timeline, harmless};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

/// Write every event of a reel, in the order of arrival
///
/// A line is {"ts","type","group","version","resource","object"}, the object last, its bytes as the
/// server sent them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel export run.reel -o jsonl events.jsonl
  kubereel export run.reel -o jsonl | jq -r 'select(.resource == \"pods\") | .type'")]
pub(crate) struct Args {
    /// The reel: a file, a folder, an archive or a URL; default: $KUBEREEL, or the only one here
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// Output format; jsonl is one JSON object per line
    #[arg(short, long, value_name = "FORM", default_value = "jsonl")]
    output: ExportFormat,
    /// Output file, or - for stdout; default: stdout
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ExportFormat {
    Jsonl,
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let local = files::locate_reel(&args.reel)?;
    let timeline = files::open_located(&args.reel, &local)?;
    let ExportFormat::Jsonl = args.output;
    let is_err_terminal = screen.is_err_terminal();
    let file = args.file.as_ref().filter(|file| file.as_os_str() != "-");
    let exported = match file {
        None => write(
            &timeline,
            screen.out(),
            is_err_terminal,
            CommandError::output,
        )?,
        Some(path) => {
            let failed = |error: &io::Error| files::cannot_write(error, path);
            files::refuse_input(&args.reel, path)?;
            let mut file = files::create_of((&local, &args.reel), path, args.force)?;
            let mut out = BufWriter::new(&mut file);
            let exported = write(&timeline, &mut out, is_err_terminal, failed)?;
            out.flush().map_err(|error| failed(&error))?;
            drop(out);
            file.persist()?;
            exported
        }
    };
    say_what_is_missing(&timeline, &exported, screen)
}

fn write(
    timeline: &Timeline,
    out: &mut impl Write,
    is_err_terminal: bool,
    cannot_write: impl Fn(&io::Error) -> CommandError,
) -> Result<Exported, CommandError> {
    let total = timeline.reel().end().0;
    let mut progress = ProgressReporter::begin("exporting", total, is_err_terminal);
    Exported::write_jsonl(timeline, out, |Seq(done)| progress.reached(done)).map_err(|error| {
        match error {
            ExportError::Write(error) => cannot_write(&error),
            error => CommandError::reel(error),
        }
    })
}

/// Says on stderr what the lines cannot say themselves.
fn say_what_is_missing(
    timeline: &Timeline,
    exported: &Exported,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    let summary = ReelSummary::of(timeline);
    let gaps: usize = summary.resources.iter().map(|one| one.gaps.len()).sum();
    let is_unobserved = |one: &&ResourceSummary| !one.gaps.is_empty() || !one.unseen.is_empty();
    let unobserved: Vec<&str> = summary
        .resources
        .iter()
        .filter(is_unobserved)
        .map(|one| one.resource.as_str())
        .collect();
    let paint = screen.err_paint();
    let mut said = vec![count(exported.lines, "event")];
    if exported.unwrapped > 0 {
        let objects = count(exported.unwrapped, "multi-line object");
        said.push(format!("{objects} written on one line each"));
    }
    if gaps > 0 {
        let gaps = count(gaps, "gap of the recording");
        said.push(paint.wary(&format!("{gaps} not in the output")));
    }
    if summary.odd_lines > 0 {
        let odd = count(summary.odd_lines, "line without an event");
        said.push(format!("{odd} omitted"));
    }
    screen.aside(said.join(" · "))?;
    if !unobserved.is_empty() {
        let named = harmless(&unobserved.join(", ")).into_owned();
        screen.aside(paint.wary(&format!("changes may be missing for {named}")))?;
        screen.aside("hint: to see when and why: kubereel verify REEL")?;
    }
    let reel = timeline.reel();
    let unread = exported.unread.as_ref().map(ToString::to_string);
    let mut damage = reel.damage().iter();
    let damage = damage.find(|one| one.loss != Loss::Nothing);
    let damage = damage.map(|one| format!("{}: {}", one.place, one.cause));
    let lost = words::losses(LossCounts {
        events: reel.event_count().saturating_sub(exported.lines),
        ..reel.losses()
    });
    let Some(first) = unread.or(damage).filter(|_| !lost.is_empty()) else {
        return Ok(if unobserved.is_empty() {
            Exit::Yes
        } else {
            Exit::Unknown
        });
    };
    Err(CommandError::reel(format!(
        "the reel is damaged, events are missing: {lost}, the first: {first}"
    )))
}
