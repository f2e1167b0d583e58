//! Owns `kubereel demo`: a walk through a recording with the commands that a user would type, run
//! by their own code.

use super::{diff, get, history, info};
use crate::command_error::CommandError;
use crate::demo_reel::DEMO_REEL;
use crate::exit::Exit;
use crate::reel;
use crate::screen::Screen;
use clap::Parser as _;
use kubereel_format::RecordedAt;
use kubereel_history::{DegradedSpell, Timeline, timetext};
use std::path::{Path, PathBuf};

/// Run example queries on an included recording
///
/// Shows its contents, then an operator before and after it became degraded, the writer of the
/// condition, and the other changes.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel demo
  kubereel demo --save demo.reel     save the recording for other commands
  kubereel demo run.reel             run the same queries on another reel")]
pub(crate) struct Args {
    /// Reel to query instead of the included one
    #[arg(value_name = "REEL")]
    reel: Option<PathBuf>,
    /// Write the included recording to this file
    #[arg(long, value_name = "FILE", conflicts_with = "reel")]
    save: Option<PathBuf>,
}

/// The name by which the printed commands call the carried recording.
const DEMO_NAME: &str = "demo.reel";

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, CommandError> {
    if let Some(path) = &args.reel {
        let timeline = reel::open(path)?;
        return walk(&timeline, &path.display().to_string(), screen);
    }
    if let Some(path) = &args.save {
        save(DEMO_REEL, path)?;
        let path = path.display();
        screen.line(format!("saved {path}; next: kubereel info {path}"))?;
        return Ok(Exit::Yes);
    }
    let failed = |error: std::io::Error| {
        CommandError::new(Exit::Io, format!("cannot unpack the recording: {error}"))
    };
    let folder = tempfile::tempdir().map_err(failed)?;
    let path = folder.path().join(DEMO_NAME);
    std::fs::write(&path, DEMO_REEL).map_err(failed)?;
    let timeline = reel::open(&path)?;
    walk(&timeline, DEMO_NAME, screen)
}

fn save(carried: &[u8], path: &Path) -> Result<(), CommandError> {
    let written = std::fs::File::create_new(path)
        .and_then(|mut file| std::io::Write::write_all(&mut file, carried));
    written.map_err(|error| {
        let path = path.display();
        CommandError::new(Exit::Io, format!("cannot write: {error}: {path}"))
    })
}

fn walk(timeline: &Timeline, name: &str, screen: &mut Screen) -> Result<Exit, CommandError> {
    let paint = screen.paint();
    let shout = |words: &str| paint.strong(&format!("$ kubereel {words}"));
    screen.line("A reel contains every watch event of a cluster. The contents of this one:")?;
    screen.line("")?;
    screen.line(shout(&format!("info {name}")))?;
    let whole = info::show(timeline, None, screen)?;
    screen.line("")?;
    let spells = timeline
        .degraded_spells()
        .map_err(|error| CommandError::new(Exit::Reel, error))?;
    let Some(spell) = longest(&spells, timeline.end()) else {
        screen.line("No operator became degraded in it.")?;
        return Ok(whole);
    };
    let lasted = spell.to.map_or_else(
        || "and still was at the end".to_owned(),
        |to| {
            let micros = u64::try_from(to.micros_since(spell.from)).unwrap_or(0);
            format!("for {}", timetext::span(micros))
        },
    );
    let operator = format!("co/{}", spell.name);
    let before = timeline.reel().stamp(spell.before);
    let before = timeline.written(before.map_or(spell.from, |stamp| stamp.wall));
    let from = timeline.written(spell.from);
    let to = timeline.written(spell.to.unwrap_or(timeline.end()));
    screen.line(format!(
        "At {from} the operator {} became degraded, {lasted}. Before, and then:",
        spell.name
    ))?;
    let mut asked = Asked { name, screen };
    for at in [&before, &from] {
        asked.ask("get", &[&operator, "--at", at], |question, screen| {
            get::answer(timeline, question, screen)
        })?;
    }
    asked.say("Every change of its Degraded condition, its writer and how long it lasted:")?;
    let field = ".status.conditions[Degraded]";
    let words = [&operator, "--field", field, "--from", &before, "--to", &to];
    asked.ask("history", &words, |question, screen| {
        history::answer(timeline, question, screen)
    })?;
    asked.say("All changes of it between these two moments:")?;
    let words = [&operator, "--from", &before, "--to", &from];
    asked.ask("diff", &words, |question, screen| {
        diff::answer(timeline, question, screen)
    })?;
    asked.say("Save the recording with `kubereel demo --save demo.reel`, then for example:")?;
    screen.line(format!(
        "  kubereel describe demo.reel {operator} --at {from}"
    ))?;
    screen.line(format!(
        "  kubereel events demo.reel -A --types Warning --from {before} --to {to}"
    ))?;
    screen.line(format!(
        "  kubereel get demo.reel pods -A -o wide --at {from}"
    ))?;
    Ok(whole)
}

/// The recording that the walk asks.
struct Asked<'a> {
    name: &'a str,
    screen: &'a mut Screen,
}

/// A command's question, read from the words that are shown.
#[derive(clap::Parser)]
struct Words<Question: clap::Args> {
    #[command(flatten)]
    question: Question,
}

impl Asked<'_> {
    fn say(&mut self, words: &str) -> Result<(), CommandError> {
        self.screen.line("")?;
        self.screen.line(words)
    }

    /// Shows a command, and answers it as the command would.
    fn ask<Question: clap::Args>(
        &mut self,
        command: &str,
        words: &[&str],
        answer: impl FnOnce(&Question, &mut Screen) -> Result<Exit, CommandError>,
    ) -> Result<(), CommandError> {
        let paint = self.screen.paint();
        let shown = format!("$ kubereel {command} {} {}", self.name, words.join(" "));
        self.screen.line("")?;
        self.screen.line(paint.strong(&shown))?;
        let read = Words::<Question>::try_parse_from([&[command], words].concat());
        let read = read.map_err(|error| CommandError::new(Exit::Usage, error))?;
        answer(&read.question, self.screen)?;
        Ok(())
    }
}

/// Finds the spell that lasted longest; one that did not end lasted to the end.
fn longest(spells: &[DegradedSpell], end: RecordedAt) -> Option<&DegradedSpell> {
    let lasted = |spell: &DegradedSpell| spell.to.unwrap_or(end).micros_since(spell.from);
    spells
        .iter()
        .max_by_key(|spell| (lasted(spell), std::cmp::Reverse(spell.began)))
}
