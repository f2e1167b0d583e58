//! `kubereel install`: the story of a cluster's first installation, shown as that of an upgrade.

use crate::arguments;
use crate::arguments::JsonOutput;
use crate::command::upgrade::{self, UpdateChoice};
use crate::command_error::{CommandError, Exit};
use crate::files;
use crate::screen::Console;
use kubereel_cluster::UpdateKind;
use kubereel_history::Moment;
use std::path::PathBuf;

/// Show how an OpenShift cluster was installed
///
/// Shows every operator in the order in which it reported its version, with the time at which it became
/// available; nodes in the order in which they joined; problems, also short ones; changes of the leader
/// of the cluster-version operator; stalls.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The reel: a file, a folder, an archive or a URL; default: $KUBEREEL, or the only one here
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// Show what was known at this moment
    #[arg(long, value_name = "TIME", default_value = "end", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    at: Moment,
    #[command(flatten)]
    output: JsonOutput,
}

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel install run.reel
  kubereel install run.reel --at +20m              how far it was at that moment
  kubereel install run.reel -o json | jq '.operators[] | [.name, .available]'

{}

{}",
        arguments::forms_help(),
        upgrade::EXITS
    )
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let timeline = files::open_reel(&args.reel)?;
    let which = UpdateChoice {
        kind: UpdateKind::Install,
        nth: None,
        is_list: false,
    };
    upgrade::answer(&timeline, which, args.at, args.output.is_json(), screen)
}
