//! `kubereel tui`, which is also plain `kubereel REEL`: browses a reel in the terminal.

use crate::arguments;
use crate::command_error::{CommandError, Exit};
use crate::files;
use crate::screen::Console;
use kubereel_history::Moment;
use kubereel_tui::{
    Executable, Palette, ScreenFilterError, Theme, TuiError, TuiRequest, check_filter,
};
use std::path::PathBuf;

/// Browse a reel in the terminal: timeline, lanes, and the state at the cursor
///
/// Plain `kubereel REEL` does the same. It opens on the story of the recording and its problems; with --at,
/// --select or --filter, and where you were before, on the lanes. The title is an address, which is also printed on exit: --at
/// and --select lead back to the same place.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The reel: a file, a folder, an archive or a URL; default: $KUBEREEL, or the only one here
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// Start at this moment; default: the first problem, or the end of the recording
    #[arg(long, value_name = "TIME", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    at: Option<Moment>,
    /// Select this resource or object
    #[arg(long, value_name = "RESOURCE[/NAME]")]
    select: Option<String>,
    /// The namespace of the object, default: "default"; of a resource, show only the objects in it
    #[arg(short, long, value_name = "NS", value_parser = arguments::namespace, requires = "select")]
    namespace: Option<String>,
    /// Show only matching rows: words, /regex/, ns:NAME, kind:KIND, states such as bad and down, and in
    /// tables label:app=web and status.phase!=Running; ! negates a term
    #[arg(long, value_name = "FILTER", default_value = "", value_parser = filter)]
    filter: String,
    /// Do not resume the last position
    #[arg(long)]
    fresh: bool,
    /// Colour theme; default: detected from the terminal
    #[arg(long, value_name = "THEME")]
    theme: Option<Colors>,
}

/// The colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Colors {
    /// For a dark terminal
    Dark,
    /// For a bright terminal
    Light,
    /// Blue and orange instead of green and red
    ColorBlind,
    /// Without colours
    Mono,
}

/// Refuses what is no filter before a screen opens.
fn filter(text: &str) -> Result<String, ScreenFilterError> {
    check_filter(text).map(|()| text.to_owned())
}

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel run.reel
  kubereel run.reel --at 14:02 --select co/etcd
  kubereel tui run.reel --select pods/web-0 -n shop --theme light
  kubereel tui run.reel --select pods --filter 'ns:shop status.phase!=Running'

Keys:
{}
{}",
        kubereel_tui::keys_help(),
        arguments::forms_help()
    )
}

impl Args {
    /// Gives the filter: a resource of a namespace is a table of its objects in it.
    fn shown(&self) -> String {
        let is_list = |select: &String| !select.contains('/');
        let namespace = self.namespace.as_deref();
        match namespace.filter(|_| self.select.as_ref().is_some_and(is_list)) {
            Some(namespace) => format!("ns:{namespace} {}", self.filter)
                .trim_end()
                .to_owned(),
            None => self.filter.clone(),
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let located = files::find_reel(&args.reel)?;
    let file = located.path().to_owned();
    // A file that is not a reel is an error with hints here, before the screen opens.
    if !file.exists() {
        files::open_reel(&file)?;
    }
    let request = TuiRequest {
        path: files::named_path(&args.reel, &file),
        file: Some(file),
        damage: located.damage().map(str::to_owned),
        copies: Some(files::copy_folder()),
        at: args.at,
        select: args.select.clone(),
        namespace: args
            .namespace
            .clone()
            .unwrap_or_else(|| "default".to_owned()),
        filter: args.shown(),
        state_folder: arguments::state_folder(),
        zone: arguments::zone(),
        local_zone: arguments::local_zone(),
        is_fresh: args.fresh,
    };
    let left = kubereel_tui::run(request, theme(args.theme), executable()).map_err(|error| {
        let exit = match error {
            TuiError::Signal { .. } if error.is_interrupt() => Exit::Interrupted,
            TuiError::Signal { .. } => Exit::Terminated,
            TuiError::NotOpened { .. } => {
                // Opening it again explains it with hints. If that succeeds now, the error of the screen is reported.
                return match files::open_located(&args.reel, &located) {
                    Err(failed) => failed,
                    Ok(_) => CommandError::new(Exit::Reel, &error),
                };
            }
            _ => Exit::Io,
        };
        let failed = CommandError::new(exit, &error);
        match error {
            TuiError::NoTerminal | TuiError::DumbTerminal => {
                failed.hint("use a command that prints, such as kubereel info or kubereel get")
            }
            _ => failed,
        }
    })?;
    if let Some(address) = left {
        screen.aside(address)?;
    }
    Ok(Exit::Yes)
}

/// Finds this program, which judges reels in a process of its own, and the user's cache folder.
fn executable() -> Executable {
    // Where the system does not tell, the program is looked for by its name.
    let path = std::env::current_exe().unwrap_or_else(|_unknown| "kubereel".into());
    Executable {
        path,
        cache: files::cache_folder(),
    }
}

/// Decides the colours by what was asked for and what the terminal says of itself.
fn theme(asked: Option<Colors>) -> Theme {
    let palette = asked.map(|colors| match colors {
        Colors::Dark => Palette::Dark,
        Colors::Light => Palette::Light,
        Colors::ColorBlind => Palette::ColorBlind,
        Colors::Mono => Palette::Mono,
    });
    Theme::told(palette, |name| std::env::var(name).unwrap_or_default())
}
