//! The way of a command line to an exit code.

use crate::cli::{Cli, Subcommand};
use crate::command_error::{CommandError, Exit};
use crate::default_reel::ReelLookup;
use crate::plugin::CalledAs;
use crate::screen::Console;
use crate::{arguments, cli, command, default_reel, files, kubectl_flags, redaction};
use clap::{CommandFactory as _, Parser as _};
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// Runs the command line of this process to its exit code.
pub fn main() -> ExitCode {
    redaction::take_panics();
    // A program without it dies without a word, as every program does by default.
    drop(kubereel_recorder::catch_file_limit());
    let mut given: Vec<OsString> = std::env::args_os().collect();
    if is_recording(&given) {
        // Before anything else: a job may end its observer at once. The command repeats it, and reports a failure.
        drop(kubereel_recorder::catch_signals());
    }
    match command::completion::answer(Cli::command, &given) {
        Ok(false) => {}
        Ok(true) => return Exit::Yes.into(),
        Err(error) => {
            drop(error.print());
            return Exit::Usage.into();
        }
    }
    let mut screen = Console::open();
    let called = CalledAs::of(&mut given);
    let words = cli::words(given.into_iter());
    redaction::take_addresses(&words, default_reel::named_by_variable().as_deref());
    arguments::take_zone(&words);
    if let Some(error) = command::unavailable::answer(&words) {
        return say(&error, &screen, called);
    }
    let words = match kubectl_flags::plain(words.clone(), &Cli::command()) {
        Ok(words) => words,
        Err(error) => {
            // The hints name the reel.
            default_reel::take_reel(&words, &Cli::command());
            return say(&error, &screen, called);
        }
    };
    let words = match ReelLookup::of_process().name_reel(words, &Cli::command()) {
        Ok(words) => words,
        Err(error) => return say(&error, &screen, called),
    };
    default_reel::take_reel(&words, &Cli::command());
    let cli = match Cli::try_parse_from(&words) {
        Ok(cli) => cli,
        Err(error) => {
            let known = cli::missing_resource(&error)
                .or_else(|| cli::unknown_command(&error, &words))
                .or_else(|| cli::unknown_flag(&error, &words))
                .or_else(|| cli::value_without_equals(&error, &words))
                .or_else(|| cli::no_whole_number(&error))
                .or_else(|| cli::format_is_file(&error, &words))
                .or_else(|| cli::command_behind_reel(&error, &words));
            if let Some(error) = known {
                return say(&error, &screen, called);
            }
            return say_parsed(&error, &words, &screen, called);
        }
    };
    files::encrypted::take_identity(cli.age_identity);
    if is_answered_by_exit(&cli.command) {
        screen.answer_without_reader();
    }
    let ended = run(&cli.command, &mut screen).and_then(|exit| screen.finish().map(|()| exit));
    match ended {
        Ok(exit) => exit.into(),
        Err(error) => say(&error, &screen, called),
    }
}

/// Tells whether a command line is that of a recorder.
fn is_recording(given: &[OsString]) -> bool {
    let command = given.get(1);
    command.is_some_and(|word| word == "record" || word == "observe")
}

/// The parser's advice after an error, in the place of which a hint is given.
const ADVICE: &str = "For more information, try '--help'.";

/// Prints what the parser of the command line says: help, or an error with a hint.
fn say_parsed(
    error: &clap::Error,
    words: &[OsString],
    screen: &Console,
    called: CalledAs,
) -> ExitCode {
    let text = error.render().to_string();
    // A closed terminal leaves no place for an error.
    if !error.use_stderr() {
        let shown = called.spoken(&text);
        drop(if shown == text {
            // In colours.
            error.print()
        } else {
            io::stdout().lock().write_all(shown.as_bytes())
        });
        return Exit::Yes.into();
    }
    let paint = screen.err_paint();
    let hint = format!(
        "{}: {}",
        paint.strong("hint"),
        cli::usage_hint(error, words)
    );
    let text = text.replace(ADVICE, &hint);
    let text = match text.strip_prefix("error") {
        Some(rest) => format!("{}{rest}", paint.bad("error")),
        None => text,
    };
    // An error quotes the command line.
    let text = redaction::public(&called.spoken(&text));
    drop(io::stderr().lock().write_all(text.as_bytes()));
    Exit::Usage.into()
}

/// Prints an error, and gives its exit code.
fn say(error: &CommandError, screen: &Console, called: CalledAs) -> ExitCode {
    let paint = screen.err_paint();
    let mut words = String::new();
    for line in error.detail_lines() {
        words.extend([&default_reel::with_given_reel(line), "\n"]);
    }
    for (word, line) in error.lines() {
        let word = match word {
            "error" => paint.bad(word),
            _ => paint.strong(word),
        };
        words.extend([&word, ": ", &default_reel::with_given_reel(line), "\n"]);
    }
    let words = redaction::public(&called.spoken(&words));
    drop(io::stderr().lock().write_all(words.as_bytes()));
    error.exit().into()
}

/// Tells whether the exit code of a command is its answer: a script asks for it, whatever reads the output.
const fn is_answered_by_exit(command: &Subcommand) -> bool {
    matches!(
        command,
        Subcommand::Verify(_)
            | Subcommand::Test(_)
            | Subcommand::Wait(_)
            | Subcommand::Scan(_)
            | Subcommand::Diff(_)
            | Subcommand::Rollout(_)
            | Subcommand::Upgrade(_)
            | Subcommand::Install(_)
    )
}

fn run(command: &Subcommand, screen: &mut Console) -> Result<Exit, CommandError> {
    match command {
        Subcommand::Record(args) => command::record::run(args),
        Subcommand::Observe(args) => Ok(command::observe::run(args)),
        Subcommand::Mark(args) => command::mark::run(args, screen),
        Subcommand::Tui(args) => command::tui::run(args, screen),
        Subcommand::Problems(args) => command::problems::run(args, screen),
        Subcommand::Story(args) => command::story::run(args, screen),
        Subcommand::Info(args) => command::info::run(args, screen),
        Subcommand::Get(args) => command::get::run(args, screen),
        Subcommand::Grep(args) => command::grep::run(args, screen),
        Subcommand::History(args) => command::history::run(args, screen),
        Subcommand::Diff(args) => command::diff::run(args, screen),
        Subcommand::Blame(args) => command::blame::run(args, screen),
        Subcommand::Describe(args) => command::describe::run(args, screen),
        Subcommand::Events(args) => command::events::run(args, screen),
        Subcommand::Explain(args) => command::explain::run(args, screen),
        Subcommand::ApiResources(args) => command::api_resources::run(args, screen),
        Subcommand::ApiVersions(args) => command::api_resources::run_versions(args, screen),
        Subcommand::Rollout(args) => command::rollout::run(args, screen),
        Subcommand::TopWriters(args) => command::top_writers::run(args, screen),
        Subcommand::Schema(args) => command::schema::run(args, screen),
        Subcommand::Topic(args) => command::topic::run(args, screen),
        Subcommand::Version(args) => command::version::run(args, screen),
        Subcommand::Intervals(args) => command::intervals::run(args, screen),
        Subcommand::Wait(args) => command::wait::run(args, screen),
        Subcommand::Upgrade(args) => command::upgrade::run(args, screen),
        Subcommand::Install(args) => command::install::run(args, screen),
        Subcommand::Test(args) => command::test::run(args, screen),
        Subcommand::Man(args) => command::man::run(args, Cli::command(), screen),
        Subcommand::Verify(args) => command::verify::run(args, screen),
        Subcommand::Sign(args) => command::sign::run(args, screen),
        Subcommand::Encrypt(args) => command::encrypt::run(args, screen),
        Subcommand::Decrypt(args) => command::encrypt::run_decrypt(args, screen),
        Subcommand::Recover(args) => command::recover::run(args, screen),
        Subcommand::Seal(args) => command::seal::run(args, screen),
        Subcommand::Scan(args) => command::scan::run(args, screen),
        Subcommand::Export(args) => command::export::run(args, screen),
        Subcommand::Import(args) => command::import::run(args, screen),
        Subcommand::Demo(args) => command::demo::run(args, screen),
        Subcommand::Completion(args) => command::completion::run(args, screen),
    }
}
