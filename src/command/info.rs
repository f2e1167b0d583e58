//! Owns `kubereel info`: what is in a reel, and is it whole.

use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::reel;
use crate::screen::Screen;
use kubereel_history::Timeline;
use std::io::Write as _;
use std::path::PathBuf;

mod outside;
mod page;
mod rows;
mod trouble;

/// Show the contents of a reel, and whether it is whole
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel info run.reel
  kubereel info run.reel -o wide                  every resource in a row of its own
  kubereel info run.reel -o json | jq .events     for programs")]
pub(crate) struct Args {
    /// The reel
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// Output format; wide adds a table of all resources
    #[arg(short, long, value_name = "FORM")]
    output: Option<Form>,
}

/// The form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Form {
    Json,
    Wide,
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, CommandError> {
    let timeline = reel::open(&args.reel)?;
    show(&timeline, args.output, screen)
}

/// Shows what is in an open reel.
pub(crate) fn show(
    timeline: &Timeline,
    form: Option<Form>,
    screen: &mut Screen,
) -> Result<Exit, CommandError> {
    let summary = timeline.summary();
    if form == Some(Form::Json) {
        screen.json(&summary)?;
    } else {
        let page = page::lines(timeline, &summary, form == Some(Form::Wide), screen);
        for line in page {
            writeln!(screen.out(), "{line}").map_err(|error| CommandError::output(&error))?;
        }
    }
    if summary.damage.is_empty() {
        Ok(Exit::Yes)
    } else {
        Ok(Exit::Reel)
    }
}
