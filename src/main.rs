//! The `kubereel` program: parses flags, calls a library, prints, chooses the exit code.

mod command;
mod command_error;
mod exit;

use clap::Parser as _;
use command_error::CommandError;
use exit::Exit;
use std::io::Write as _;
use std::process::ExitCode;

/// A flight recorder for Kubernetes and OpenShift clusters.
#[derive(Debug, clap::Parser)]
#[command(name = "kubereel", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Record(command::record::Args),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Nobody can be told when the terminal itself is gone.
            drop(error.print());
            let exit = if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Yes
            };
            return exit.into();
        }
    };
    match run(&cli.command) {
        Ok(exit) => exit.into(),
        Err(error) => {
            let mut stderr = std::io::stderr().lock();
            for (word, line) in error.lines() {
                drop(writeln!(stderr, "{word}: {line}"));
            }
            error.exit().into()
        }
    }
}

fn run(command: &Command) -> Result<Exit, CommandError> {
    match command {
        Command::Record(args) => command::record::run(args),
    }
}
