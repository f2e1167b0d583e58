//! The `kubereel` program: parses flags, calls a library, prints, chooses the exit code.

mod at;
mod byte_size;
mod cli;
mod command;
mod command_error;
mod demo_reel;
mod exit;
mod field_text;
mod progress;
mod public_words;
mod redact_extra;
mod reel;
#[cfg(test)]
mod reference;
mod screen;
mod spans;
mod table;
mod target_file;
mod user_file;
mod words;

use clap::Parser as _;
use cli::{Cli, Command};
use command_error::CommandError;
use exit::Exit;
use screen::Screen;
use std::io::{self, Write as _};
use std::process::ExitCode;

fn main() -> ExitCode {
    public_words::take_panics();
    let cli = match Cli::try_parse_from(cli::words(std::env::args_os())) {
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
    let mut screen = Screen::open();
    let ended = run(&cli.command, &mut screen).and_then(|exit| screen.finish().map(|()| exit));
    match ended {
        Ok(exit) => exit.into(),
        Err(error) => {
            let paint = screen.err_paint();
            let mut words = String::new();
            for (word, line) in error.lines() {
                let word = match word {
                    "error" => paint.bad(word),
                    _ => paint.strong(word),
                };
                words.extend([&word, ": ", line, "\n"]);
            }
            let words = public_words::public(&words);
            drop(io::stderr().lock().write_all(words.as_bytes()));
            error.exit().into()
        }
    }
}

fn run(command: &Command, screen: &mut Screen) -> Result<Exit, CommandError> {
    match command {
        Command::Record(args) => command::record::run(args),
        Command::Observe(args) => Ok(command::observe::run(args)),
        Command::Mark(args) => command::mark::run(args),
        Command::Tui(args) => command::tui::run(args, screen),
        Command::Info(args) => command::info::run(args, screen),
        Command::Get(args) => command::get::run(args, screen),
        Command::History(args) => command::history::run(args, screen),
        Command::Diff(args) => command::diff::run(args, screen),
        Command::Blame(args) => command::blame::run(args, screen),
        Command::Describe(args) => command::describe::run(args, screen),
        Command::Events(args) => command::events::run(args, screen),
        Command::Intervals(args) => command::intervals::run(args, screen),
        Command::Wait(args) => command::wait::run(args, screen),
        Command::Upgrade(args) => command::upgrade::run(args, screen),
        Command::Install(args) => command::install::run(args, screen),
        Command::Test(args) => command::test::run(args, screen),
        Command::Man(args) => command::man::run(args, screen),
        Command::Verify(args) => command::verify::run(args, screen),
        Command::Scan(args) => command::scan::run(args, screen),
        Command::Export(args) => command::export::run(args, screen),
        Command::Import(args) => command::import::run(args, screen),
        Command::Demo(args) => command::demo::run(args, screen),
        Command::Completion(args) => command::completion::run(args, screen),
    }
}
