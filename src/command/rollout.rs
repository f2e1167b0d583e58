//! `kubereel rollout`: the revisions of a workload, and how far its rollout was at a moment.

use crate::arguments::{self, JsonOutput};
use crate::command::object_query::ObjectArgs;
use crate::command_error::{CommandError, Exit};
use crate::files;
use crate::outputs::outputs;
use crate::screen::{Console, Style, StyledLine};
use crate::table::TextTable;
use kubereel_history::{Moment, Revision, RolloutState, Timeline, harmless, name_of, timetext};
use std::path::PathBuf;

/// Show the revisions of a workload, and how far its rollout was
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel rollout history run.reel deployment/web -n shop
  kubereel rollout history run.reel deployment/web -n shop --revision=2
  kubereel rollout status run.reel deployment/web -n shop --at 14:02")]
pub(crate) struct Args {
    #[command(subcommand)]
    action: RolloutAction,
}

#[derive(Debug, clap::Subcommand)]
enum RolloutAction {
    History(HistoryArgs),
    Status(StatusArgs),
}

/// List the revisions of a workload that were recorded, also those that were removed later
#[derive(Debug, clap::Args)]
#[command(after_help = history_help())]
struct HistoryArgs {
    /// The reel
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    #[command(flatten)]
    object: ObjectArgs,
    /// Show the Pod template of this revision
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    revision: Option<i64>,
    /// Revisions up to this time
    #[arg(long, value_name = "TIME", default_value = "end", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    at: Moment,
    #[command(flatten)]
    output: JsonOutput,
}

fn history_help() -> String {
    format!(
        "\
Examples:
  kubereel rollout history run.reel deployment/web -n shop
  kubereel rollout history run.reel ds/node-exporter -n monitoring --revision=3

{}",
        arguments::forms_help()
    )
}

/// Say how far the rollout of a workload was at a moment: exit code 0 if it was complete, 1 if not
#[derive(Debug, clap::Args)]
#[command(after_help = status_help())]
struct StatusArgs {
    /// The reel
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    #[command(flatten)]
    object: ObjectArgs,
    /// Show the state at this time
    #[arg(long, value_name = "TIME", default_value = "end", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    at: Moment,
    /// kubectl's; the state of a moment does not change.
    #[arg(short, long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    watch: Option<bool>,
    /// Likewise.
    #[arg(long, hide = true)]
    timeout: Option<String>,
}

fn status_help() -> String {
    format!(
        "\
Examples:
  kubereel rollout status run.reel deployment/web -n shop --at 14:02
  kubereel wait run.reel deployment/web -n shop --for=condition=Available

{}",
        arguments::forms_help()
    )
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    match &args.action {
        RolloutAction::History(args) => history(args, screen),
        RolloutAction::Status(args) => status(args, screen),
    }
}

fn history(args: &HistoryArgs, screen: &mut Console) -> Result<Exit, CommandError> {
    let timeline = files::open_reel(&args.reel)?;
    let cut = arguments::resolve_at(&timeline, args.at)?;
    let named = args.object.find(&timeline, cut)?;
    let (state, held) = named.at(&timeline, cut, screen)?;
    let resource = named.resource;
    let revisions = Revision::all(&timeline, resource, &held, cut).map_err(CommandError::reel)?;
    let Some(revisions) = revisions else {
        return Err(no_rollout(&named.written()));
    };
    let asked = args.revision.filter(|asked| *asked != 0);
    let all: Vec<&Revision> = revisions
        .iter()
        .filter(|one| asked.is_none_or(|asked| one.number == asked))
        .collect();
    if let Some(asked) = asked.filter(|_| all.is_empty()) {
        let message = format!("revision {asked} of {} was not recorded", named.written());
        return Err(CommandError::new(Exit::No, message)
            .hint("without --revision, all revisions are listed"));
    }
    if args.output.is_json() {
        for revision in all {
            screen.json_line(&RevisionOutput::of(revision))?;
        }
        return Ok(super::object_query::exit_of(&state.certainty));
    }
    let name = name_of(resource, &held.name);
    if let (Some(asked), Some(revision)) = (asked, all.first()) {
        screen.line(harmless(&format!("{name} with revision #{asked}")))?;
        let mut page = TextTable::page();
        revision
            .page()
            .iter()
            .for_each(|line| page.push(line.indented()));
        for line in page.lines() {
            screen.show(&StyledLine::of(Style::Plain, line.trim_end()), 4)?;
        }
    } else {
        screen.line(harmless(&format!("{name} ")))?;
        screen.table(&table(&timeline, &all))?;
    }
    Ok(super::object_query::exit_of(&state.certainty))
}

fn table(timeline: &Timeline, revisions: &[&Revision]) -> TextTable {
    let mut table =
        TextTable::with_headers(["REVISION", "CHANGE-CAUSE", "FIRST SEEN", "NAME", "IMAGES"]);
    for revision in revisions {
        table.push(vec![
            revision.number.to_string(),
            revision
                .cause
                .clone()
                .unwrap_or_else(|| "<none>".to_owned()),
            timeline.written(revision.first_seen),
            revision.name.clone(),
            revision.images().join(","),
        ]);
    }
    table
}

fn no_rollout(name: &str) -> CommandError {
    CommandError::usage(format!("{name} has no rollouts"))
        .hint("Deployments, DaemonSets and StatefulSets have revisions")
}

outputs! {
/// A revision of a workload.
struct RevisionOutput<'a>(revision: &'a Revision) {
    revision: i64 = revision.number,
    change_cause: Option<&'a str> = revision.cause.as_deref(),
    first_seen: String = timetext::rfc3339(revision.first_seen),
    seq: u64 = revision.seq.0,
    /// The `ReplicaSet` or `ControllerRevision` that holds it.
    name: &'a str = &revision.name,
    images: Vec<String> = revision.images(),
}
}

fn status(args: &StatusArgs, screen: &mut Console) -> Result<Exit, CommandError> {
    let timeline = files::open_reel(&args.reel)?;
    let cut = arguments::resolve_at(&timeline, args.at)?;
    let named = args.object.find(&timeline, cut)?;
    let (state, held) = named.at(&timeline, cut, screen)?;
    let form = kubereel_history::ObjectForm::default();
    let object = timeline.object(held.seq, named.resource, form);
    let object = object.map_err(CommandError::reel)?;
    let Some(rollout) = RolloutState::of(named.resource, &object) else {
        return Err(no_rollout(&named.written()));
    };
    screen.line(harmless(rollout.words()))?;
    let exit = match rollout {
        RolloutState::Complete(_) => Exit::Yes,
        RolloutState::Underway(_) | RolloutState::Failed(_) => Exit::No,
    };
    Ok(exit.worse(super::object_query::exit_of(&state.certainty)))
}
