//! `kubereel rollout`: the revisions of a workload, and how far its rollout was at a moment.

use crate::arguments::{self, JsonLinesOutput};
use crate::command::object_query::{self, TargetObject};
use crate::command::selection::SelectionArgs;
use crate::command::unreadable::UnreadableObjects;
use crate::command_error::{CommandError, Exit};
use crate::files;
use crate::outputs::outputs;
use crate::screen::{Console, Style, StyledLine};
use crate::table::TextTable;
use kubereel_format::ResourceInfo;
use kubereel_history::{
    Cut, Moment, ObjectForm, ObjectVersion, QueryError, Revision, RolloutState, Timeline, harmless,
    name_of, timetext,
};
use serde_json::Value;
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

/// Shows each of the selected workloads at a moment.
fn each_workload<T>(
    which: &SelectionArgs,
    timeline: &Timeline,
    at: Moment,
    screen: &mut Console,
    read: impl Fn(&Timeline, &FoundWorkload<'_>) -> Result<T, QueryError>,
    mut show: impl FnMut(&mut Console, &FoundWorkload<'_>, T) -> Result<Exit, CommandError>,
) -> Result<Exit, CommandError> {
    let cut = arguments::resolve_at(timeline, at)?;
    let selection = which.selection(false);
    let unreadable = UnreadableObjects::default();
    let mut exit = Exit::Yes;
    let mut shown = 0_usize;
    for target in selection.resources(timeline, cut)? {
        let (cut, state) = target.state(timeline, at, cut)?;
        let resource = target.resource;
        let objects = state.objects.clone();
        let mut held = unreadable.labelled(timeline, resource, objects, cut, &which.selector);
        held.sort_by_key(|held| target.names.iter().position(|name| *name == held.name));
        screen.aside(object_query::header(
            timeline,
            &state,
            cut,
            screen.err_paint(),
        ))?;
        for held in &held {
            let workload = FoundWorkload {
                resource,
                held,
                cut,
                is_first: shown == 0,
            };
            let read = read(timeline, &workload);
            if let Some(read) = unreadable.readable(resource, held, read) {
                exit = exit.worse(show(screen, &workload, read)?);
                shown += 1;
            }
        }
        exit = exit.worse(object_query::exit_of(&state.certainty));
        let absent = target
            .names
            .iter()
            .find(|name| !held.iter().any(|held| held.name == **name));
        if let Some(name) = absent {
            let named = TargetObject {
                resource: target.resource,
                namespace: target.namespace.as_deref().unwrap_or_default(),
                name: name.clone(),
            };
            unreadable.report(screen)?;
            screen.finish()?;
            return Err(named.absent(timeline, &state));
        }
    }
    if shown == 0 && unreadable.is_empty() {
        selection.say_none(timeline, screen)?;
    }
    Ok(exit.worse(unreadable.report(screen)?))
}

/// A workload, and its version at a moment.
struct FoundWorkload<'a> {
    resource: &'a ResourceInfo,
    held: &'a ObjectVersion,
    cut: Cut,
    /// Whether it is the first of several.
    is_first: bool,
}

impl FoundWorkload<'_> {
    /// Writes it as messages name it.
    fn written(&self) -> String {
        format!("{}/{}", self.resource.qualified(), self.held.name)
    }
}

/// List the revisions of workloads that were recorded, also those that were removed later
#[derive(Debug, clap::Args)]
#[command(after_help = history_help())]
struct HistoryArgs {
    /// The reel
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    #[command(flatten)]
    workloads: SelectionArgs,
    /// Show the Pod template of this revision
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    revision: Option<i64>,
    /// Revisions up to this time
    #[arg(long, value_name = "TIME", default_value = "end", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    at: Moment,
    #[command(flatten)]
    output: JsonLinesOutput,
}

fn history_help() -> String {
    format!(
        "\
Examples:
  kubereel rollout history run.reel deployment/web -n shop
  kubereel rollout history run.reel deployments -n shop -l app=web
  kubereel rollout history run.reel ds/node-exporter -n monitoring --revision=3

{}",
        arguments::forms_help()
    )
}

/// Show the status of the rollouts of workloads at a moment: exit code 0 if all were complete, 1 if not
#[derive(Debug, clap::Args)]
#[command(after_help = status_help())]
struct StatusArgs {
    /// The reel
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    #[command(flatten)]
    workloads: SelectionArgs,
    /// Fail if a Deployment is not at this revision
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 0,
        allow_hyphen_values = true
    )]
    revision: i64,
    /// Show the state at this time
    #[arg(long, value_name = "TIME", default_value = "end", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    at: Moment,
    #[command(flatten)]
    output: JsonLinesOutput,
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
    let read = |timeline: &Timeline, workload: &FoundWorkload<'_>| {
        Revision::all(timeline, workload.resource, workload.held, workload.cut)
    };
    each_workload(
        &args.workloads,
        &timeline,
        args.at,
        screen,
        read,
        |screen, workload, revisions| {
            print_history(args, &timeline, workload, revisions, screen)?;
            Ok(Exit::Yes)
        },
    )
}

fn print_history(
    args: &HistoryArgs,
    timeline: &Timeline,
    workload: &FoundWorkload<'_>,
    revisions: Option<Vec<Revision>>,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let Some(revisions) = revisions else {
        return Err(no_rollout(&workload.written()));
    };
    let asked = args.revision.filter(|asked| *asked != 0);
    let all: Vec<&Revision> = revisions
        .iter()
        .filter(|one| asked.is_none_or(|asked| one.number == asked))
        .collect();
    if let Some(asked) = asked.filter(|_| all.is_empty()) {
        let message = format!(
            "revision {asked} of {} was not recorded",
            workload.written()
        );
        return Err(CommandError::new(Exit::No, message)
            .hint("without --revision, all revisions are listed"));
    }
    if args.output.is_json() {
        return all.into_iter().try_for_each(|revision| {
            let template = asked.map(|_| revision.template());
            let (resource, held) = (workload.resource, workload.held);
            screen.json_line(&RevisionOutput::of(resource, held, revision, template))
        });
    }
    if !workload.is_first {
        screen.line("")?;
    }
    let name = name_of(workload.resource, &workload.held.name);
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
        return Ok(());
    }
    screen.line(harmless(&format!("{name} ")))?;
    screen.table(&table(timeline, &all))
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
struct RevisionOutput<'a>(
    resource: &ResourceInfo,
    held: &'a ObjectVersion,
    revision: &'a Revision,
    template: Option<&'a Value>
) {
    /// The resource of the workload.
    resource: String = resource.qualified(),
    /// The namespace of the workload.
    namespace: &'a str = &held.namespace,
    /// The name of the workload.
    workload: &'a str = &held.name,
    revision: i64 = revision.number,
    change_cause: Option<&'a str> = revision.cause.as_deref(),
    first_seen: String = timetext::rfc3339(revision.first_seen),
    seq: u64 = revision.seq.0,
    /// The `ReplicaSet` or `ControllerRevision` that holds it.
    name: &'a str = &revision.name,
    images: Vec<String> = revision.images(),
    /// The Pod template, if the revision was asked for.
    template: Option<&'a Value> = template,
}

/// The rollout of a workload at a moment.
struct StatusOutput<'a>(
    resource: &ResourceInfo,
    held: &'a ObjectVersion,
    rollout: &'a RolloutState
) {
    /// The resource of the workload.
    resource: String = resource.qualified(),
    /// The namespace of the workload.
    namespace: &'a str = &held.namespace,
    /// The name of the workload.
    workload: &'a str = &held.name,
    /// `complete`, `in progress`, `failed` (its deadline is over), or `manual` (Pods are replaced when a user
    /// deletes them).
    status: &'static str = match rollout {
        RolloutState::Complete(_) => "complete",
        RolloutState::Underway(_) => "in progress",
        RolloutState::Failed(_) => "failed",
        RolloutState::Manual(_) => "manual",
    },
    /// The words of `kubectl rollout status`.
    message: &'a str = rollout.words(),
}
}

fn status(args: &StatusArgs, screen: &mut Console) -> Result<Exit, CommandError> {
    let timeline = files::open_reel(&args.reel)?;
    let read = |timeline: &Timeline, workload: &FoundWorkload<'_>| {
        timeline.object(workload.held.seq, workload.resource, ObjectForm::default())
    };
    each_workload(
        &args.workloads,
        &timeline,
        args.at,
        screen,
        read,
        |screen, workload, object| print_status(args, workload, &object, screen),
    )
}

/// The annotation with the revision of a Deployment.
const REVISION: &str = "deployment.kubernetes.io/revision";

fn print_status(
    args: &StatusArgs,
    workload: &FoundWorkload<'_>,
    object: &Value,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    let Some(rollout) = RolloutState::of(workload.resource, object) else {
        return Err(no_rollout(&workload.written()));
    };
    let annotations = object
        .get("metadata")
        .and_then(|metadata| metadata.get("annotations"));
    let revision = args.revision;
    let own = annotations
        .and_then(|all| all.get(REVISION))
        .and_then(Value::as_str);
    if let Some(own) = own.filter(|own| revision > 0 && *own != revision.to_string()) {
        let message = format!(
            "{} was at revision {}, not {revision}",
            workload.written(),
            harmless(own)
        );
        return Err(CommandError::new(Exit::No, message)
            .hint("to list the revisions: kubereel rollout history REEL RESOURCE/NAME"));
    }
    if args.output.is_json() {
        screen.json_line(&StatusOutput::of(
            workload.resource,
            workload.held,
            &rollout,
        ))?;
    } else {
        screen.line(harmless(rollout.words()))?;
    }
    Ok(match rollout {
        RolloutState::Complete(_) => Exit::Yes,
        RolloutState::Underway(_) | RolloutState::Failed(_) | RolloutState::Manual(_) => Exit::No,
    })
}
