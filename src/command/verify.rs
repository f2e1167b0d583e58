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
use kubereel_history::{Integrity, Proof, ReelVerdict};
use std::path::PathBuf;

/// Prove that a reel is whole and complete, or say what is not
///
/// It reads every byte: pages, indexes, objects and kept texts, each against its checksum. It gives
/// the verdict first, then what is wrong, then the rest in few lines. It
/// says of each resource from when to when every change is in the reel, what was read back from the
/// server's history, and how many changes a gap can have lost; how many revisions of the cluster's
/// storage the events explain; and when the API was out. docs/verify.md says what this proves and
/// what it cannot.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel verify run.reel                          is it whole, is it complete?
  kubereel verify run.reel --all                    with a row for each complete resource
  kubereel verify run.reel && kubereel test run.reel
  kubereel verify run.reel -o json | jq .verdict    for programs
  kubereel verify run.reel -o json | jq '.resources[] | select(.state == \"incomplete\")'

Exit codes: 0 whole and complete; 1 whole, but changes may be missing; 3 damaged, or not to be read.")]
pub(crate) struct Args {
    /// The reel
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// A row for each resource, the complete ones too; -o json always has everything
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
        Integrity::read(&timeline, |done| progress.reached(done))
    };
    let proof = Proof::of(&timeline, integrity);
    match args.output {
        Some(Form::Json) => screen.json(&proof)?,
        None => page::print(&timeline, &proof, args.all, screen)?,
    }
    Ok(match proof.verdict {
        ReelVerdict::Complete => Exit::Yes,
        ReelVerdict::Incomplete => Exit::No,
        _ => Exit::Reel,
    })
}
