//! `kubereel demo`: example commands on the included recording, run by the code of those commands.

use super::{diff, get, history, info};
use crate::command::object_query::ChangeTrust;
use crate::command_error::{CommandError, Exit};
use crate::files;
use crate::screen::Console;
use crate::shell_words::shell_word;
use crate::words::duration;
use clap::Parser as _;
use kubereel_cluster::{ClusterHistory, DegradedSpell, StateKind};
use kubereel_format::{RecordedAt, ResourceInfo};
use kubereel_history::{ReelSummary, Timeline};
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
    /// Overwrite an existing file
    #[arg(long, requires = "save")]
    force: bool,
}

/// The name by which the printed commands call the carried recording.
const DEMO_NAME: &str = "demo.reel";

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    if let Some(path) = &args.reel {
        let timeline = files::open_reel(path)?;
        return walk(&timeline, &files::shown(path), screen);
    }
    if let Some(path) = &args.save {
        let mut file = files::create(path, args.force)?;
        let written = std::io::Write::write_all(&mut file, DEMO_REEL);
        written.map_err(|error| files::cannot_write(&error, path))?;
        file.persist()?;
        let (path, pasted) = (path.display(), shell_word(path.as_os_str()));
        screen.line(format!("saved {path}; next: kubereel info {pasted}"))?;
        return Ok(Exit::Yes);
    }
    let failed =
        |error: std::io::Error| CommandError::io(format!("cannot unpack the recording: {error}"));
    let folder = tempfile::tempdir().map_err(failed)?;
    let path = folder.path().join(DEMO_NAME);
    std::fs::write(&path, DEMO_REEL).map_err(failed)?;
    let timeline = files::open_reel(&path)?;
    walk(&timeline, DEMO_NAME, screen)
}

fn walk(timeline: &Timeline, name: &str, screen: &mut Console) -> Result<Exit, CommandError> {
    let paint = screen.paint();
    let shout = |words: &str| paint.strong(&format!("$ kubereel {words}"));
    screen.line("A reel contains every watch event of a cluster. The contents of this one:")?;
    screen.line("")?;
    screen.line(shout(&format!("info {name}")))?;
    let whole = info::show(
        timeline,
        &ReelSummary::of(timeline),
        Path::new(name),
        None,
        screen,
    )?;
    screen.line("")?;
    let spells = ClusterHistory::of(timeline)
        .degraded_spells()
        .map_err(CommandError::reel)?;
    let Some(spell) = longest(&spells, timeline.end()) else {
        screen.line(none_degraded(timeline))?;
        return Ok(whole);
    };
    let lasted = spell.to.map_or_else(
        || "and still was at the end".to_owned(),
        |to| {
            let micros = to.micros_since(spell.from);
            format!("for {}", duration(micros))
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
    let mut walk = DemoWalk { name, screen };
    for at in [&before, &from] {
        walk.ask("get", &[&operator, "--at", at], |args, screen| {
            get::answer(timeline, args, screen)
        })?;
    }
    walk.say("Every change of its Degraded condition, its writer and how long it lasted:")?;
    let field = ".status.conditions[Degraded]";
    let words = [&operator, "--field", field, "--from", &before, "--to", &to];
    walk.ask("history", &words, |args, screen| {
        history::answer(timeline, args, screen)
    })?;
    walk.say("All changes of it between these two moments:")?;
    let words = [&operator, "--from", &before, "--to", &from];
    walk.ask("diff", &words, |args, screen| {
        diff::answer(timeline, args, screen)
    })?;
    walk.say("Save the recording with `kubereel demo --save demo.reel`, then for example:")?;
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
struct DemoWalk<'a> {
    name: &'a str,
    screen: &'a mut Console,
}

/// A command's args, read from the words that are shown.
#[derive(clap::Parser)]
struct DemoWords<Args: clap::Args> {
    #[command(flatten)]
    args: Args,
}

impl DemoWalk<'_> {
    fn say(&mut self, words: &str) -> Result<(), CommandError> {
        self.screen.line("")?;
        self.screen.line(words)
    }

    /// Shows a command, and answers it as the command would.
    fn ask<Args: clap::Args>(
        &mut self,
        command: &str,
        words: &[&str],
        answer: impl FnOnce(&Args, &mut Console) -> Result<Exit, CommandError>,
    ) -> Result<(), CommandError> {
        let paint = self.screen.paint();
        let shown = format!("$ kubereel {command} {} {}", self.name, words.join(" "));
        self.screen.line("")?;
        self.screen.line(paint.strong(&shown))?;
        let read = DemoWords::<Args>::try_parse_from([&[command, self.name], words].concat());
        let read = read.map_err(CommandError::usage)?;
        answer(&read.args, self.screen)?;
        Ok(())
    }
}

/// Says that no operator became degraded, as far as the recording knows.
fn none_degraded(timeline: &Timeline) -> &'static str {
    if timeline.reel().has_losses() {
        return "No operator became degraded in the readable part of it.";
    }
    let operators = StateKind::Operator.resource();
    let is_operator = |info: &&ResourceInfo| {
        operators.is_some_and(|(group, plural)| info.group == group && info.plural == plural)
    };
    let recorded = timeline.resources().iter().filter(is_operator);
    let trust = ChangeTrust::of(timeline, recorded.map(|info| info.id), (None, None));
    if trust.exit() == Exit::Unknown {
        "No operator became degraded in it, as far as it was observed."
    } else {
        "No operator became degraded in it."
    }
}

/// Finds the spell that lasted longest; one that did not end lasted to the end.
fn longest(spells: &[DegradedSpell], end: RecordedAt) -> Option<&DegradedSpell> {
    let lasted = |spell: &DegradedSpell| spell.to.unwrap_or(end).micros_since(spell.from);
    spells
        .iter()
        .max_by_key(|spell| (lasted(spell), std::cmp::Reverse(spell.began)))
}

/// The bytes of the demo reel; made by `just demo-reel`.
const DEMO_REEL: &[u8] = include_bytes!("../../testdata/demo.reel");

#[cfg(test)]
mod tests {
    use super::DEMO_REEL;
    use kubereel_format::{Note, Reel};

    /// What the program may grow by for its demo.
    const BYTES_MOST: usize = 600_000;
    /// What makes it worth a look.
    const EVENTS_LEAST: u64 = 3_000;

    /// What the scenario hides in Secrets, and what keys, tokens and paths look like.
    const FORBIDDEN: [&str; 8] = [
        "canary-",
        "PRIVATE KEY",
        "Bearer ",
        // The beginnings of a token, of a key and of a canary, in base64.
        "eyJhbGciOi",
        "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVk",
        "Y2FuYXJ5",
        "/tmp/",
        "/home/",
    ];

    fn open() -> Reel {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("demo.reel");
        std::fs::write(&path, DEMO_REEL).expect("it is written");
        Reel::open(&path).expect("it opens")
    }

    fn refuse(text: &str, place: &str) {
        for forbidden in FORBIDDEN {
            assert!(!text.contains(forbidden), "{forbidden:?} in {place}");
        }
    }

    #[test]
    fn it_is_whole_and_small() {
        let reel = open();
        assert!(reel.is_finished());
        assert!(reel.damage().is_empty(), "{:?}", reel.damage());
        assert!(
            reel.event_count() >= EVENTS_LEAST,
            "{} events",
            reel.event_count()
        );
        assert!(DEMO_REEL.len() <= BYTES_MOST, "{} bytes", DEMO_REEL.len());
    }

    #[test]
    fn it_tells_no_secret_and_no_path() {
        let reel = open();
        let mut read = 0;
        for event in reel.scan() {
            let event = event.expect("an event");
            let text = String::from_utf8_lossy(&event.body);
            refuse(&text, &format!("{:?}", event.head));
            read += 1;
        }
        assert_eq!(read, reel.event_count());
        for entry in reel.notes() {
            let said = format!("{:?}", entry.note);
            refuse(&said, &said);
            if let Note::Document { blobs, .. } | Note::OddLine { blobs, .. } = &entry.note {
                for blob in blobs {
                    let bytes = reel.blob(*blob).expect("a blob");
                    refuse(&String::from_utf8_lossy(&bytes), &said);
                }
            }
        }
    }
}
