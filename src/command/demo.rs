//! Owns `kubereel demo`: a walk through a recording with the commands that a user would type, run
//! by their own code.

use super::get::{self, Labels, Question};
use super::info;
use crate::command_error::CommandError;
use crate::demo_reel::DEMO_REEL;
use crate::exit::Exit;
use crate::reel;
use crate::screen::Screen;
use kubereel_format::RecordedAt;
use kubereel_replay::{DegradedSpell, LabelSelector, Moment, Timeline, timetext};
use std::path::{Path, PathBuf};

/// Walk through a recording that the program carries
///
/// Shows what is in it, then one operator before and after it went wrong.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel demo
  kubereel demo --save demo.reel     keeps the recording, to ask it more
  kubereel demo run.reel             the same walk through another recording")]
pub(crate) struct Args {
    /// Another reel to walk through
    #[arg(value_name = "REEL")]
    reel: Option<PathBuf>,
    /// Write the carried recording to this file
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
        screen.line(format!("saved {path}; ask it: kubereel info {path}"))?;
        return Ok(Exit::Yes);
    }
    let failed = |error: std::io::Error| {
        CommandError::new(
            Exit::Surroundings,
            format!("cannot unpack the recording: {error}"),
        )
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
        CommandError::new(Exit::Surroundings, format!("cannot write: {error}: {path}"))
    })
}

fn walk(timeline: &Timeline, name: &str, screen: &mut Screen) -> Result<Exit, CommandError> {
    let paint = screen.paint();
    let shout = |words: &str| paint.strong(&format!("$ kubereel {words}"));
    screen.line("A reel holds every watch event of a cluster. What is in this one?")?;
    screen.line("")?;
    screen.line(shout(&format!("info {name}")))?;
    let whole = info::show(timeline, None, screen)?;
    screen.line("")?;
    let spells = timeline
        .degraded_spells()
        .map_err(|error| CommandError::new(Exit::Reel, error))?;
    let Some(spell) = longest(&spells, timeline.end()) else {
        screen.line("No operator went from well to degraded in it.")?;
        return Ok(whole);
    };
    let lasted = spell.to.map_or_else(
        || "and was still so at the end".to_owned(),
        |to| {
            let micros = u64::try_from(to.micros_since(spell.from)).unwrap_or(0);
            format!("for {}", timetext::span(micros))
        },
    );
    let from = timeline.written(spell.from);
    screen.line(format!(
        "At {from} the operator {} became degraded, {lasted}. Before, and then:",
        spell.name
    ))?;
    let before = timeline.reel().stamp(spell.before);
    let before = before.map_or(spell.from, |stamp| stamp.wall);
    for at in [before, spell.from] {
        let question = question(&spell.name, at);
        let words = format!(
            "get {name} {} --at {}",
            question.resource,
            timeline.written(at)
        );
        screen.line("")?;
        screen.line(shout(&words))?;
        get::answer(timeline, &question, screen)?;
    }
    screen.line("")?;
    screen.line("Keep the recording and ask it more:")?;
    screen.line("  kubereel demo --save demo.reel")?;
    let operator = &spell.name;
    screen.line(format!(
        "  kubereel get demo.reel co/{operator} -o yaml --at {from}"
    ))?;
    screen.line(format!("  kubereel get demo.reel pods -A --at {from}"))?;
    screen.line("  kubereel export demo.reel -o jsonl | head")?;
    Ok(whole)
}

/// Finds the spell that lasted longest; one that did not end lasted to the end.
fn longest(spells: &[DegradedSpell], end: RecordedAt) -> Option<&DegradedSpell> {
    let lasted = |spell: &DegradedSpell| spell.to.unwrap_or(end).micros_since(spell.from);
    spells
        .iter()
        .max_by_key(|spell| (lasted(spell), std::cmp::Reverse(spell.began)))
}

/// Asks for one operator at one moment, as `kubereel get` would.
fn question(operator: &str, at: RecordedAt) -> Question {
    Question {
        resource: format!("clusteroperators/{operator}"),
        names: Vec::new(),
        namespace: "default".to_owned(),
        all_namespaces: false,
        selector: LabelSelector::default(),
        at: Moment::Time(at),
        output: None,
        show_managed_fields: false,
        no_headers: false,
        labels: Labels::default(),
    }
}
