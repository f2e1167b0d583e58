//! `kubereel man`: the manual pages, from the definitions of the command line.

use crate::command_error::{CommandError, Exit};
use crate::screen::Console;
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Print a manual page, or write all of them into a folder
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel man | man -l -                             the page of kubereel
  kubereel man history | man -l -                     the page of a subcommand
  kubereel man rollout history | man -l -             the page of a subcommand of a subcommand
  kubereel man --into ~/.local/share/man/man1         all pages, for man kubereel-history")]
pub(crate) struct Args {
    /// The subcommand; default: kubereel itself
    #[arg(value_name = "COMMAND")]
    command: Vec<String>,
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
    let names = std::iter::once("kubereel").chain(args.command.iter().map(String::as_str));
    let wanted = names.collect::<Vec<_>>().join("-");
    let Some((_, page)) = pages.iter().find(|(name, _)| *name == wanted) else {
        let names = pages.iter().map(|(_, page)| page.get_bin_name());
        let names = names
            .flatten()
            .filter_map(|name| name.strip_prefix("kubereel "));
        return Err(CommandError::unknown_command(
            &args.command.join(" "),
            names,
        ));
    };
    let written = rendered(page).and_then(|page| screen.out().write_all(&page));
    written.map_err(|error| CommandError::output(&error))?;
    Ok(Exit::Yes)
}

/// Gives the name of each page, and what it is about.
fn pages(program: Command) -> Vec<(String, Command)> {
    let mut root = program.disable_help_subcommand(true);
    root.build();
    let commands = with_subcommands(&root).into_iter();
    let page = |(names, command): (Vec<String>, Command)| {
        let name = names.join("-");
        if names.len() == 1 {
            return (name, command);
        }
        // What this machine's environment holds is no part of a manual.
        let command = command
            .mut_args(|arg| arg.hide_env_values(true))
            .display_name(&name)
            .version(env!("CARGO_PKG_VERSION"));
        (name, command)
    };
    commands.map(page).collect()
}

/// Gives a command and all that are below it, each with the words that call it; without hidden ones.
pub(crate) fn with_subcommands(command: &Command) -> Vec<(Vec<String>, Command)> {
    let name = command.get_name().to_owned();
    let mut all = vec![(vec![name.clone()], command.clone())];
    let shown = |one: &&Command| !one.is_hide_set() && one.get_name() != "help";
    for below in command.get_subcommands().filter(shown) {
        for (mut names, command) in with_subcommands(below) {
            names.insert(0, name.clone());
            all.push((names, command));
        }
    }
    all
}

// Into memory first: a pipe may be closed.
fn rendered(command: &Command) -> io::Result<Vec<u8>> {
    let notes = command.get_after_long_help().or(command.get_after_help());
    let notes = notes.map(ToString::to_string).unwrap_or_default();
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if command.get_arguments().any(|arg| !arg.is_hide_set()) {
        man.render_options_section(&mut page)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    let mut roff = Roff::new();
    for (title, lines) in sections(&notes) {
        roff.control("SH", [title.as_str()]);
        roff.control("nf", []);
        for line in lines {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
    roff.to_writer(&mut page)?;
    man.render_version_section(&mut page)?;
    Ok(page)
}

/// Takes what stands below a help apart: "Examples:" and the like become sections of their own.
fn sections(notes: &str) -> Vec<(String, Vec<&str>)> {
    let mut sections: Vec<(String, Vec<&str>)> = Vec::new();
    for line in notes.lines() {
        let title = line
            .strip_suffix(':')
            .filter(|title| !title.starts_with(' '));
        match (title, sections.last_mut()) {
            (Some(title), _) => {
                let title = title.trim_end_matches(" is one of").to_uppercase();
                sections.push((title, Vec::new()));
            }
            (None, Some((_, lines))) if !line.is_empty() => lines.push(line),
            (None, _) => {}
        }
    }
    sections
}

fn write_all(folder: &Path, pages: &[(String, Command)]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (name, command) in pages {
        fs::write(folder.join(format!("{name}.1")), rendered(command)?)?;
    }
    Ok(())
}
