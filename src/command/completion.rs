//! `kubereel completion`: shell completions.

use crate::command_error::{CommandError, Exit};
use crate::screen::Console;
use clap::Command;
use clap_complete::Shell;
use std::io::Write as _;

/// Generate shell completions
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  source <(kubereel completion bash)
  kubereel completion zsh > \"${fpath[1]}/_kubereel\"
  kubereel completion fish > ~/.config/fish/completions/kubereel.fish")]
pub(crate) struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

/// Runs the command.
pub(crate) fn run(
    args: &Args,
    mut program: Command,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    // Into memory first: the generator panics when its output fails, and a pipe may be closed.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "kubereel", &mut script);
    screen
        .out()
        .write_all(&script)
        .map_err(|error| CommandError::output(&error))?;
    Ok(Exit::Yes)
}
