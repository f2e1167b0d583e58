//! Owns `kubereel describe`: everything about one object at a moment, on one page.

use crate::at;
use crate::command::asked::{Named, OneObject, exit_of};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::reel;
use crate::screen::Screen;
use kubereel_history::{Description, Held, Moment, State, Timeline};
use std::path::PathBuf;

mod json;
mod page;

/// Show everything about an object at a moment: owners, conditions, Events and recent changes
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The reel
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    #[command(flatten)]
    object: OneObject,
    /// Show the state at this time
    #[arg(long, value_name = "TIME", default_value = "end", value_parser = at::parse, allow_hyphen_values = true)]
    at: Moment,
    /// Show changes this many minutes before and after the moment
    #[arg(long, value_name = "MINUTES", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1440))]
    around: u16,
    /// Show at most this many versions before and after the moment
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    versions: u16,
    /// Output format; default: text
    #[arg(short, long, value_name = "FORM")]
    output: Option<Output>,
}

/// The form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    Json,
}

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel describe run.reel pod/web-0 -n shop --at 14:02:31
  kubereel describe run.reel co/etcd --at rv:118204 --around 30
  kubereel describe run.reel node/worker-1 -o json | jq '.conditions'

{}",
        at::forms_help()
    )
}

/// What is described, and when.
struct Subject<'a> {
    timeline: &'a Timeline,
    named: Named<'a>,
    state: &'a State,
    held: &'a Held,
    told: &'a Description,
    around_minutes: u16,
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, CommandError> {
    const MICROS_A_MINUTE: i64 = 60_000_000;
    let timeline = reel::open(&args.reel)?;
    let cut = at::resolve(&timeline, args.at)?;
    let named = args.object.find(&timeline, cut)?;
    let resource = named.resource;
    let (state, held) = named.at(&timeline, cut, screen)?;
    let around = i64::from(args.around) * MICROS_A_MINUTE;
    let told = timeline
        .describe(resource, &held, cut, around, usize::from(args.versions))
        .map_err(|error| CommandError::new(Exit::Reel, error))?;
    let subject = Subject {
        timeline: &timeline,
        named,
        state: &state,
        held: &held,
        told: &told,
        around_minutes: args.around,
    };
    match args.output {
        None => page::print(&subject, screen)?,
        Some(Output::Json) => json::print(&subject, screen)?,
    }
    Ok(exit_of(&state.certainty))
}
