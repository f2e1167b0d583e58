//! Owns `kubereel get`: the state of objects at a moment, asked for in kubectl's words.

use crate::at;
use crate::command::{asked, unknown};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::reel;
use crate::screen::Screen;
use kubereel_format::ResourceInfo;
use kubereel_history::harmless;
use kubereel_history::{Certainty, Cut, Filter, Held, LabelSelector, Moment, State, Timeline};
use std::path::PathBuf;

mod absent;
mod columns;
pub(crate) mod header;
mod print;

/// Show objects as they were at a moment
///
/// Resources are named as for kubectl: plural, singular, short name, kind, plural.group or
/// plural.version.group.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The reel
    #[arg(value_name = "REEL")]
    pub(crate) reel: PathBuf,
    /// The question
    #[command(flatten)]
    pub(crate) question: Question,
}

/// What is asked of a reel.
#[derive(Debug, clap::Args)]
pub(crate) struct Question {
    /// The resource, with or without a name
    #[arg(value_name = "RESOURCE[/NAME]")]
    pub(crate) resource: String,
    /// Names of objects; all objects if none is given
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Namespace of the objects
    #[arg(short, long, value_name = "NS", default_value = "default")]
    pub(crate) namespace: String,
    /// List objects of all namespaces
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    pub(crate) all_namespaces: bool,
    /// Only objects whose labels match, as for kubectl: a=b,c!=d,e in (f,g),!h
    #[arg(short = 'l', long, value_name = "SELECTOR", default_value = "")]
    pub(crate) selector: LabelSelector,
    /// Show the state at this time
    #[arg(long, value_name = "TIME", default_value = "end", value_parser = at::parse, allow_hyphen_values = true)]
    pub(crate) at: Moment,
    /// Output format; default: a table
    #[arg(short, long, value_name = "FORM")]
    pub(crate) output: Option<Output>,
    /// Keep metadata.managedFields in JSON and YAML
    #[arg(long)]
    pub(crate) show_managed_fields: bool,
    /// Omit the header row
    #[arg(long)]
    pub(crate) no_headers: bool,
    #[command(flatten)]
    pub(crate) labels: Labels,
}

/// The columns of labels.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Labels {
    /// Show these labels as columns
    #[arg(short = 'L', long, value_name = "LABEL", value_delimiter = ',')]
    pub(crate) label_columns: Vec<String>,
    /// Show all labels as the last column
    #[arg(long)]
    pub(crate) show_labels: bool,
}

/// The form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Output {
    Json,
    Yaml,
    Name,
    /// A table with additional columns
    Wide,
}

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel get run.reel pods -A                          at the end of the recording
  kubereel get run.reel po -n web -l app=shop --at 14:02
  kubereel get run.reel deploy/shop -n web --at +12m30s -o yaml
  kubereel get run.reel clusteroperators --at rv:118204 -o json

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
    let (resource, names) = asked::names(&question.resource, &question.names)?;
    if !names.is_empty() && !question.selector.is_empty() {
        let both = "names cannot be combined with a label selector";
        return Err(CommandError::new(Exit::Usage, both));
    }
    let recorded = timeline
        .resources()
        .find(resource)
        .map_err(|error| unknown::explain(&error, timeline))?;
    let cut = at::resolve(timeline, question.at)?;
    let resource = timeline.resource_at(recorded, cut);
    let is_bound = resource.namespaced && !question.all_namespaces;
    let namespace = is_bound.then_some(question.namespace.as_str());
    let filter = Filter {
        namespace,
        names: &names,
    };
    let mut state = timeline.as_of(resource.id, cut, &filter);
    if !state.certainty.has_state() {
        return Err(unknown::state(timeline, resource, &state));
    }
    let held = std::mem::take(&mut state.objects);
    let mut held = timeline
        .labelled(held, cut, &question.selector)
        .map_err(|error| CommandError::new(Exit::Reel, error))?;
    // Named objects come in the order of the names, as from kubectl.
    held.sort_by_key(|held| names.iter().position(|name| *name == held.name));
    let rv = match cut {
        Cut::Revision(rv) => Some(rv),
        Cut::Arrival { .. } => state.rv,
    };
    screen.aside(header::line(timeline, &state, rv, screen.err_paint()))?;
    let answer = Answer {
        timeline,
        resource,
        state: &state,
        cut,
        held: &held,
        is_single: names.len() == 1
            && held.len() == 1
            && namespace.is_some() == resource.namespaced,
        shows_namespace: resource.namespaced && question.all_namespaces,
    };
    answer.print(question, screen)?;
    let absent = absent::names(&names, &held);
    if let Some(error) = absent::explain(&answer, &absent, namespace) {
        screen.finish()?;
        return Err(error);
    }
    if held.is_empty() {
        let place = namespace.map_or_else(String::new, |only| format!(" in {only} namespace"));
        screen.aside(format!("No resources found{}.", harmless(&place)))?;
    }
    Ok(match state.certainty {
        Certainty::Known { .. } | Certainty::Imported { .. } => Exit::Yes,
        Certainty::Damaged { .. } => Exit::Reel,
        _ => Exit::Unknown,
    })
}

/// What was found, and where.
struct Answer<'a> {
    timeline: &'a Timeline,
    resource: &'a ResourceInfo,
    state: &'a State,
    cut: Cut,
    held: &'a [Held],
    is_single: bool,
    shows_namespace: bool,
}
