//! Owns `kubereel verify`: is every byte of a reel as it was written, and is every change in it.
//! Refuses the judgement: `replay` makes it.

mod page;
mod resources;
mod revisions;

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::reel;
use crate::screen::Screen;
use kubereel_history::Verdict;
use std::path::PathBuf;

/// Check that a reel is whole and complete
///
/// It reads every byte: pages, indexes, objects and kept texts, and compares each with its checksum.
/// It prints the verdict first, then the problems, then a summary: for each resource the time span in
/// which every change is in the reel, what was read back from the server's history, and how many
/// changes a gap can have lost; how many revisions of the cluster's storage the events explain; and
/// the outages of the API. docs/verify.md describes what this proves and what it cannot.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel verify run.reel                          check integrity and completeness
  kubereel verify run.reel --all                    with a row for each complete resource
  kubereel verify run.reel && kubereel test run.reel
  kubereel verify run.reel -o json | jq .verdict    for programs
  kubereel verify run.reel -o json | jq '.resources[] | select(.state == \"incomplete\")'

Exit codes: 0 whole and complete; 1 whole, but changes may be missing; 3 damaged or unreadable.")]
pub(crate) struct Args {
    /// The reel
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// Show a row for every resource, also the complete ones; -o json always has everything
    #[arg(long)]
    all: bool,
    /// Output format; default: text
    #[arg(short, long, value_name = "FORM")]
    output: Option<Form>,
}

/// The form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Form {
    Json,
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, CommandError> {
    let timeline = reel::open(&args.reel)?;
    let integrity = {
        let total = timeline.reel().end().0;
        let mut progress = Progress::begin("reading", total, screen.is_err_terminal());
        timeline.integrity(|done| progress.reached(done))
    };
    let proof = timeline.proof(integrity);
    match args.output {
        Some(Form::Json) => screen.json(&proof)?,
        None => page::print(&timeline, &proof, args.all, screen)?,
    }
    Ok(match proof.verdict {
        Verdict::Complete => Exit::Yes,
        Verdict::Incomplete => Exit::No,
        _ => Exit::Reel,
    })
}
