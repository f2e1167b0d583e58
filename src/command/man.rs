//! `kubereel man`: the manual pages, from the definitions of the command line.

use crate::command_error::{CommandError, Exit};
use crate::screen::Console;
use clap::Command;
use clap_mangen::Man;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Print a manual page, or write all of them into a folder
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel man | man -l -                             the page of kubereel
  kubereel man history | man -l -                     the page of a subcommand
  kubereel man --into ~/.local/share/man/man1         all pages, for man kubereel-history")]
pub(crate) struct Args {
    /// The subcommand; default: kubereel itself
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
    /// Write the page of every command into this folder; created if it does not exist
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    into: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(
    args: &Args,
    program: Command,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    let pages = pages(program);
    if let Some(folder) = &args.into {
        write_all(folder, &pages)
            .map_err(|error| CommandError::io(format!("{}: {error}", folder.display())))?;
        let count = pages.len();
        let pages = crate::words::count(count, "page");
        screen.aside(format!("{pages} written to {}", folder.display()))?;
        return Ok(Exit::Yes);
    }
    let wanted = match &args.command {
        None => "kubereel".to_owned(),
        Some(name) => format!("kubereel-{name}"),
    };
    let Some((_, page)) = pages.iter().find(|(name, _)| *name == wanted) else {
        let names: Vec<&str> = pages
            .iter()
            .filter_map(|(name, _)| name.strip_prefix("kubereel-"))
            .collect();
        return Err(
            CommandError::usage("unknown command").hint(format!("use one of {}", names.join(", ")))
        );
    };
    let written = rendered(page).and_then(|page| screen.out().write_all(&page));
    written.map_err(|error| CommandError::output(&error))?;
    Ok(Exit::Yes)
}

/// Gives the name of each page, and what it is about.
fn pages(program: Command) -> Vec<(String, Command)> {
    let mut root = program.disable_help_subcommand(true);
    root.build();
    let mut pages = vec![("kubereel".to_owned(), root.clone())];
    for command in root.get_subcommands() {
        let name = format!("kubereel-{}", command.get_name());
        // What this machine's environment holds is no part of a manual.
        let command = command
            .clone()
            .mut_args(|arg| arg.hide_env_values(true))
            .display_name(&name)
            .version(env!("CARGO_PKG_VERSION"));
        pages.push((name, command));
    }
    pages
}

// Into memory first: a pipe may be closed.
fn rendered(command: &Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}

fn write_all(folder: &Path, pages: &[(String, Command)]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, command) in pages {
        fs::write(folder.join(format!("{name}.1")), rendered(command)?)?;
    }
    Ok(())
}
