//! Owns `kubereel blame`: an object as YAML with, beside each field, who set it last and when.

use crate::at;
use crate::command::asked::{OneObject, exit_of};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::reel;
use crate::screen::Screen;
use kubereel_history::{Moment, Timeline};
use std::path::PathBuf;

mod json;
mod lines;

/// Show who set each field of an object last, and when
///
/// The time is that of the event that brought the value. For values older than the recording it is
/// the time that the object's managedFields give for the field's manager, after a ≤: the value was
/// set then or before. A ~ marks times before which versions may be missing: the value may be older
/// and set by another manager. A - means unknown.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The reel
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    #[command(flatten)]
    question: Question,
}

/// What is asked of a reel.
#[derive(Debug, clap::Args)]
pub(crate) struct Question {
    #[command(flatten)]
    object: OneObject,
    /// Show the state at this time
    #[arg(long, value_name = "TIME", default_value = "end", value_parser = at::parse, allow_hyphen_values = true)]
    at: Moment,
    /// Output format; default: annotated YAML
    #[arg(short, long, value_name = "FORM")]
    output: Option<Output>,
}

/// The form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Output {
    Json,
}

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel blame run.reel co/etcd
  kubereel blame run.reel deploy shop -n web --at 14:02
  kubereel blame run.reel node/worker-0 -o json | jq '.fields[] | select(.source == \"recorded\")'

{}",
        at::forms_help()
    )
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, CommandError> {
    let timeline = reel::open(&args.reel)?;
    answer(&timeline, &args.question, screen)
}

/// Answers a question about an open reel.
pub(crate) fn answer(
    timeline: &Timeline,
    question: &Question,
    screen: &mut Screen,
) -> Result<Exit, CommandError> {
    let cut = at::resolve(timeline, question.at)?;
    let named = question.object.find(timeline, cut)?;
    let (state, held) = named.at(timeline, cut, screen)?;
    let blamed = timeline
        .blame(named.resource, &held)
        .map_err(|error| CommandError::new(Exit::Reel, error))?;
    match question.output {
        None => lines::print(timeline, &blamed, screen)?,
        Some(Output::Json) => json::print(&named, &state, &blamed, screen)?,
    }
    if !blamed.unreadable.is_empty() {
        screen.finish()?;
        return Err(
            CommandError::new(Exit::Reel, "the reel is damaged, versions are missing")
                .hint("to see where: kubereel info REEL"),
        );
    }
    Ok(exit_of(&state.certainty))
}
