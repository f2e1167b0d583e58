//! Owns `kubereel history`: every version of an object, who wrote it, and what changed.

use crate::at;
use crate::command::asked::{Named, OneObject};
use crate::command::get::header;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::reel;
use crate::screen::Screen;
use crate::words::count;
use kubereel_history::harmless;
use kubereel_history::{
    Certainty, Field, History, HistoryItem, HistoryQuestion, Moment, Scope, Timeline,
};
use std::path::PathBuf;

pub(crate) mod json;
pub(crate) mod lines;

/// Show every version of an object: its time, its writers and its changes
///
/// Fields are written as they are shown: `.status.conditions[Degraded].status`. Lists are matched by the
/// keys of their items, long texts are compared word by word. metadata.managedFields and
/// metadata.resourceVersion are omitted by default.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The reel
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    #[command(flatten)]
    question: Question,
}

/// What is asked of a reel.
#[derive(Debug, clap::Args)]
pub(crate) struct Question {
    #[command(flatten)]
    object: OneObject,
    /// Only versions that change this field or one below it; may be given more than once
    #[arg(long = "field", value_name = "FIELD")]
    fields: Vec<Field>,
    /// Only versions after this moment
    #[arg(long, value_name = "TIME", value_parser = at::parse, allow_hyphen_values = true)]
    from: Option<Moment>,
    /// Only versions up to this moment
    #[arg(long, value_name = "TIME", value_parser = at::parse, allow_hyphen_values = true)]
    to: Option<Moment>,
    /// Compare metadata.managedFields too
    #[arg(long)]
    show_managed_fields: bool,
    /// Output format; default: text
    #[arg(short, long, value_name = "FORM")]
    output: Option<Output>,
}

/// The form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Output {
    Json,
}

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel history run.reel co/etcd
  kubereel history run.reel co/etcd --field .status.conditions
  kubereel history run.reel deploy shop -n web --field .spec.replicas --from 14:02 --to +30m
  kubereel history run.reel node/worker-0 -o json | jq '.items[].writers'

{}",
        at::forms_help()
    )
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, CommandError> {
    let timeline = reel::open(&args.reel)?;
    answer(&timeline, &args.question, screen)
}

/// Answers a question about an open reel.
pub(crate) fn answer(
    timeline: &Timeline,
    question: &Question,
    screen: &mut Screen,
) -> Result<Exit, CommandError> {
    let (from, to) = at::bounds(timeline, question.from, question.to)?;
    let end = at::resolve(timeline, question.to.unwrap_or(Moment::End))?;
    let named = question.object.find(timeline, end)?;
    let resource = named.resource;
    if timeline
        .lives(resource.id, named.namespace, &named.name)
        .is_empty()
    {
        return Err(named.never_seen(timeline));
    }
    let history = timeline.history(HistoryQuestion {
        resource,
        namespace: named.namespace,
        name: &named.name,
        scope: Scope {
            fields: question.fields.clone(),
            shows_managed_fields: question.show_managed_fields,
            shows_resource_version: false,
        },
        from,
        to,
    });
    let certainty = timeline.certainty(resource.id, end);
    let head = head(timeline, &named, &history, &certainty);
    screen.aside(harmless(&head))?;
    let tally = match question.output {
        None => lines::print(timeline, history, screen)?,
        Some(Output::Json) => json::print(timeline, &named, &certainty, history, screen)?,
    };
    say_the_rest(timeline, question, &tally, screen)?;
    // Versions that are shown stand; a bound that nobody knows of leaves open which are missing.
    let bounds = from.into_iter().chain(to);
    let is_known = |cut| timeline.certainty(resource.id, cut).is_known();
    Ok(if bounds.into_iter().all(is_known) {
        Exit::Yes
    } else {
        Exit::Unknown
    })
}

/// What was shown.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    versions: usize,
    /// Versions that change what was asked for, first ones left out.
    changing: usize,
    shown: usize,
    unreadable: usize,
    /// Whether a version held anything of what was asked for, or changed it.
    has_field: bool,
}

impl Tally {
    fn take(&mut self, item: &HistoryItem) {
        match item {
            HistoryItem::Version(version) => {
                self.shown += 1;
                let changes = version.changes.as_ref();
                let is_first = version.place != kubereel_history::Place::Later;
                let is_changing = changes.is_some_and(|changes| !changes.is_empty());
                self.changing += usize::from(is_changing && !is_first);
                self.has_field |= is_changing;
            }
            HistoryItem::Gap(_) | HistoryItem::Unobserved(_) => {}
            HistoryItem::Unreadable { .. } => self.unreadable += 1,
        }
    }
}

fn amount(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn head(
    timeline: &Timeline,
    named: &Named<'_>,
    history: &History<'_>,
    certainty: &Certainty,
) -> String {
    let mut parts = vec![
        named.written(),
        count(amount(history.versions()), "version"),
    ];
    let lives = timeline.lives(named.resource.id, named.namespace, &named.name);
    if lives.len() > 1 {
        parts.push(format!(
            "{} in sequence",
            count(amount(lives.len()), "object")
        ));
    }
    if history.gaps() > 0 {
        parts.push(count(amount(history.gaps()), "gap"));
    }
    let is_proven = matches!(certainty, Certainty::Known { .. });
    if history.gaps() == 0 || !is_proven {
        parts.push(header::trust(timeline, certainty));
    }
    parts.join(" · ")
}

/// Says what the versions cannot say themselves.
fn say_the_rest(
    timeline: &Timeline,
    question: &Question,
    tally: &Tally,
    screen: &mut Screen,
) -> Result<(), CommandError> {
    if !question.fields.is_empty() {
        let fields: Vec<String> = question.fields.iter().map(ToString::to_string).collect();
        let fields = harmless(&fields.join(" or ")).into_owned();
        let line = format!(
            "{} of {} change {fields}",
            tally.changing,
            count(amount(tally.versions), "version")
        );
        screen.aside(line)?;
        if tally.shown > 0 && !tally.has_field && question.from.is_none() {
            screen.aside(format!("hint: no version has {fields}"))?;
        }
    } else if tally.shown == 0 && tally.unreadable == 0 {
        screen.aside("no version in this time span")?;
    }
    if tally.unreadable > 0 || !timeline.reel().damage().is_empty() {
        screen.finish()?;
        return Err(
            CommandError::new(Exit::Reel, "the reel is damaged, versions are missing")
                .hint("to see where: kubereel info REEL"),
        );
    }
    Ok(())
}
