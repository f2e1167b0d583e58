//! `kubereel recover`: what can be read of a damaged reel as a new whole one, which says what is lost.

use crate::arguments::{JsonOutput, output_file};
use crate::command_error::{CommandError, Exit};
use crate::files;
use crate::outputs::outputs;
use crate::progress::ProgressReporter;
use crate::screen::Console;
use crate::words::{self, bytes, count};
use kubereel_format::{RecoverError, RecoverStats, recover};
use kubereel_history::{Timeline, harmless};
use std::path::PathBuf;

/// How many losses are listed one by one.
const LISTED: usize = 10;

/// Write what can be read of a damaged reel as a new one
///
/// Every command opens a damaged reel by itself and answers what it can. This command writes the
/// readable events and notes into a new file whose checksums all match, for example to share it or to
/// record on in it. The losses are marked in the new file: it does not claim completeness there, and
/// info and verify list them. The input is not changed, and an existing file is never overwritten.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel recover broken.reel whole.reel                recover what can be read
  kubereel recover cut.reel.gz whole.reel                from a compressed file without its end
  kubereel recover broken.reel whole.reel -o json | jq .lost_records
  kubereel verify whole.reel                             list the losses and the completeness

Exit codes: 0 everything was recovered; 1 something is lost, the rest was recovered; 3 nothing can
be read.")]
pub(crate) struct Args {
    /// The damaged reel: a file, a folder, an archive or a URL
    #[arg(value_name = "SRC")]
    source: PathBuf,
    /// The file to write; it must not exist
    #[arg(value_name = "DST", value_parser = output_file())]
    destination: PathBuf,
    #[command(flatten)]
    output: JsonOutput,
}

outputs! {
/// What was recovered, and what was not.
struct RecoverOutput<'a>(stats: &RecoverStats, losses: &'a [String]) {
    /// Events that were written.
    events: u64 = stats.events,
    /// Notes that were written, without those about losses.
    notes: u64 = stats.notes,
    /// Events of which only the object is lost; events that are lost whole are among `lost_records`.
    lost_events: u64 = stats.lost.events,
    /// All records of which something is lost, events and notes, as far as their number is known.
    lost_records: u64 = stats.lost.records,
    /// Whether more events may have followed at the end.
    end_lost: bool = stats.lost.is_end_lost,
    /// The losses as the new file lists them.
    losses: &'a [String] = losses,
    /// The bytes of the new file.
    file_bytes: u64 = stats.file_bytes,
}
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let damaged = files::open_reel(&args.source)?;
    let stats = {
        let total = damaged.reel().end().0;
        let mut progress = ProgressReporter::begin("recovering", total, screen.is_err_terminal());
        recover(damaged.reel(), &args.destination, |done| {
            progress.reached(done);
        })
        .map_err(explain)?
    };
    drop(damaged);
    let written = Timeline::open(&args.destination).map_err(|error| files::explain_open(&error))?;
    let lost = written.damaged().iter();
    let losses: Vec<String> = lost.map(|span| written.damage_words(span)).collect();
    if args.output.is_json() {
        screen.json(&RecoverOutput::of(&stats, &losses))?;
    } else {
        print(args, &stats, &losses, screen)?;
    }
    Ok(if losses.is_empty() {
        Exit::Yes
    } else {
        Exit::No
    })
}

fn print(
    args: &Args,
    stats: &RecoverStats,
    losses: &[String],
    screen: &mut Console,
) -> Result<(), CommandError> {
    let paint = screen.paint();
    let name = args.destination.display().to_string();
    screen.line(format!(
        "{}: {} and {} recovered, {}",
        harmless(&name),
        count(stats.events, "event"),
        count(stats.notes, "note"),
        bytes(stats.file_bytes)
    ))?;
    if losses.is_empty() {
        return screen.line(paint.good("nothing is lost"));
    }
    screen.line(paint.bad(&format!("lost: {}", words::losses(stats.lost))))?;
    for loss in losses.iter().take(LISTED) {
        screen.line(format!("  {}", harmless(loss)))?;
    }
    if losses.len() > LISTED {
        let rest = losses.len().saturating_sub(LISTED);
        screen.line(paint.faint(&format!("  {rest} more: kubereel info {name} -o json")))?;
    }
    Ok(())
}

fn explain(error: RecoverError) -> CommandError {
    match error {
        RecoverError::Exists { path } => {
            CommandError::usage(format!("{}: file exists", path.display()))
                .hint("choose another file; recover never overwrites one")
        }
        error => CommandError::io(error),
    }
}
