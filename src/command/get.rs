//! `kubereel get`: the state of objects at a moment, asked for and printed as by kubectl.

use crate::command::object_query::{self, TargetObject};
use crate::command_error::{CommandError, Exit};
use crate::progress::ProgressReporter;
use crate::screen::Console;
use crate::table::TextTable;
use crate::{arguments, files};
use kubereel_format::ResourceInfo;
use kubereel_history::{
    Certainty, ColumnRoom, Cut, LabelColumns, LabelSelector, ListForm, ListWriter, Moment,
    ObjectFilter, ObjectForm, ObjectVersion, QueryError, ResourceColumns, ResourceSnapshot,
    Timeline, harmless, name_of, write_json, write_yaml,
};
use serde_json::Value;
use std::io::Write as _;
use std::path::PathBuf;

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
    #[arg(long, value_name = "TIME", default_value = "end", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    pub(crate) at: Moment,
    /// Output format; default: a table
    #[arg(short, long, value_name = "FORM")]
    pub(crate) output: Option<GetFormat>,
    /// Keep metadata.managedFields in JSON and YAML
    #[arg(long)]
    pub(crate) show_managed_fields: bool,
    /// Omit the header row
    #[arg(long)]
    pub(crate) no_headers: bool,
    #[command(flatten)]
    pub(crate) labels: LabelArgs,
}

/// The columns of labels.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct LabelArgs {
    /// Show these labels as columns
    #[arg(short = 'L', long, value_name = "LABEL", value_delimiter = ',')]
    pub(crate) label_columns: Vec<String>,
    /// Show all labels as the last column
    #[arg(long)]
    pub(crate) show_labels: bool,
}

/// The form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum GetFormat {
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
        arguments::forms_help()
    )
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let timeline = files::open_reel(&args.reel)?;
    answer(&timeline, args, screen)
}

/// Answers a question about an open reel.
pub(crate) fn answer(
    timeline: &Timeline,
    args: &Args,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    let (resource, names) = object_query::names(&args.resource, &args.names)?;
    if !names.is_empty() && !args.selector.is_empty() {
        let both = "names cannot be combined with a label selector";
        return Err(CommandError::usage(both));
    }
    let recorded = object_query::find_resource(timeline, resource)?;
    let cut = arguments::resolve(timeline, args.at)?;
    let resource = timeline.resource_at(recorded, cut);
    let is_bound = resource.namespaced && !args.all_namespaces;
    let namespace = is_bound.then_some(args.namespace.as_str());
    let filter = ObjectFilter {
        namespace,
        names: &names,
    };
    let mut state = timeline.as_of(resource.id, cut, &filter);
    if !state.certainty.has_state() {
        return Err(object_query::no_state(timeline, resource, &state));
    }
    let held = std::mem::take(&mut state.objects);
    let mut held = timeline
        .labelled(held, cut, &args.selector)
        .map_err(CommandError::reel)?;
    // Named objects come in the order of the names, as from kubectl.
    held.sort_by_key(|held| names.iter().position(|name| *name == held.name));
    screen.aside(object_query::header(
        timeline,
        &state,
        cut,
        screen.err_paint(),
    ))?;
    let answer = GetAnswer {
        timeline,
        resource,
        state: &state,
        cut,
        held: &held,
        is_single: names.len() == 1
            && held.len() == 1
            && namespace.is_some() == resource.namespaced,
        shows_namespace: resource.namespaced && args.all_namespaces,
    };
    answer.print(args, screen)?;
    if let Some(error) = answer.not_found(&names, namespace) {
        screen.finish()?;
        return Err(error);
    }
    if held.is_empty() {
        let place = namespace.map_or_else(String::new, |only| format!(" in {only} namespace"));
        screen.aside(format!("No resources found{}.", harmless(&place)))?;
    }
    Ok(match state.certainty {
        Certainty::Known { .. } | Certainty::ReadBack { .. } | Certainty::Imported { .. } => {
            Exit::Yes
        }
        Certainty::Damaged { .. } => Exit::Reel,
        _ => Exit::Unknown,
    })
}

/// What was found, and where.
struct GetAnswer<'a> {
    timeline: &'a Timeline,
    resource: &'a ResourceInfo,
    state: &'a ResourceSnapshot,
    cut: Cut,
    held: &'a [ObjectVersion],
    is_single: bool,
    shows_namespace: bool,
}

/// How many objects of a list are held at once. Each batch reads the blocks anew in which its objects
/// lie.
const AT_ONCE: usize = 16_384;

impl GetAnswer<'_> {
    /// Prints the answer in the form that was asked for.
    fn print(&self, args: &Args, screen: &mut Console) -> Result<(), CommandError> {
        match args.output {
            None | Some(GetFormat::Wide) => self.print_columns(args, screen),
            Some(GetFormat::Name) => self
                .held
                .iter()
                .try_for_each(|held| screen.line(harmless(&name_of(self.resource, &held.name)))),
            Some(form @ (GetFormat::Json | GetFormat::Yaml)) => {
                let asked_for_names = !args.names.is_empty() || args.resource.contains('/');
                if asked_for_names && self.held.is_empty() {
                    return Ok(());
                }
                self.print_objects(args, form, screen)
            }
        }
    }

    /// Prints the object, or the list of all: some at a time, so that a large state needs no large
    /// memory.
    fn print_objects(
        &self,
        args: &Args,
        output: GetFormat,
        screen: &mut Console,
    ) -> Result<(), CommandError> {
        let form = ObjectForm {
            shows_managed_fields: args.show_managed_fields,
        };
        if let ([one], true) = (self.held, self.is_single) {
            let held = std::slice::from_ref(one);
            let objects = self.each(held, screen, form, |_, object| object)?;
            return objects
                .iter()
                .try_for_each(|object| print_value(object, output, screen));
        }
        let list_form = if output == GetFormat::Yaml {
            ListForm::Yaml
        } else {
            ListForm::Json
        };
        let failed = |error| CommandError::output(&error);
        let mut list = ListWriter::begin(list_form, screen.out()).map_err(failed)?;
        for some in self.held.chunks(AT_ONCE) {
            let items = self.each(some, screen, form, |_, object| list_form.item(object))?;
            for item in items {
                list.item(&item.map_err(failed)?, screen.out())
                    .map_err(failed)?;
            }
        }
        list.end(screen.out()).map_err(failed)
    }

    /// Makes something of each object, in the form in which it is shown.
    fn each<T: Send>(
        &self,
        held: &[ObjectVersion],
        screen: &Console,
        form: ObjectForm,
        make: impl Fn(&ObjectVersion, Value) -> T + Sync,
    ) -> Result<Vec<T>, CommandError> {
        let total = held.len();
        let mut progress = ProgressReporter::begin("reading", total, screen.is_err_terminal());
        let mut reached = |done| progress.reached(done);
        let rows = self
            .timeline
            .read_each(held, self.cut, &mut reached, |held, body| {
                let object = form.of(body, self.resource);
                let object = object.map_err(|source| QueryError::Body {
                    seq: held.seq,
                    source,
                })?;
                Ok(make(held, object))
            });
        rows.map_err(CommandError::reel)
    }
}

impl GetAnswer<'_> {
    /// Makes the error of names that were not found.
    fn not_found(&self, names: &[String], namespace: Option<&str>) -> Option<CommandError> {
        let is_absent = |name: &&String| !self.held.iter().any(|held| held.name == **name);
        let absent: Vec<&String> = names.iter().filter(is_absent).collect();
        if absent.is_empty() {
            return None;
        }
        let quoted: Vec<String> = absent.iter().map(|name| format!("{name:?}")).collect();
        let at = self.timeline.written(self.state.at);
        let resource = self.resource.qualified();
        let exit = match self.state.certainty {
            Certainty::Known { .. } | Certainty::ReadBack { .. } => Exit::No,
            Certainty::Damaged { .. } => Exit::Reel,
            _ => Exit::Unknown,
        };
        let message = format!("{resource} {} not found at {at}", quoted.join(", "));
        let error = CommandError::new(exit, message);
        let explain = |error, name: &String| {
            let target = TargetObject {
                resource: self.resource,
                namespace: namespace.unwrap_or_default(),
                name: name.clone(),
            };
            target.explained(error, self.timeline)
        };
        Some(absent.into_iter().fold(error, explain))
    }
}

fn print_value(value: &Value, form: GetFormat, screen: &mut Console) -> Result<(), CommandError> {
    let written = if form == GetFormat::Yaml {
        let mut text = String::new();
        write_yaml(&mut text, value).map_err(CommandError::io)?;
        screen.out().write_all(text.as_bytes())
    } else {
        write_json(screen.out(), value)
    };
    written.map_err(|error| CommandError::output(&error))
}

impl GetAnswer<'_> {
    /// Prints a row for each object.
    fn print_columns(&self, args: &Args, screen: &mut Console) -> Result<(), CommandError> {
        if self.held.is_empty() {
            return Ok(());
        }
        let room = match args.output {
            Some(GetFormat::Wide) => ColumnRoom::Wide,
            _ => ColumnRoom::Narrow,
        };
        let columns = ResourceColumns::of(self.timeline, self.resource, self.cut, room)
            .map_err(CommandError::reel)?;
        let labels = LabelColumns {
            own: args.labels.label_columns.clone(),
            shows_all: args.labels.show_labels,
        };
        let mut table = TextTable::default();
        if !args.no_headers {
            table.push(self.row("NAMESPACE", columns.names(), labels.names()));
        }
        let rows = self.each(self.held, screen, ObjectForm::default(), |held, object| {
            let cells = columns.row(&object, self.state.at);
            self.row(&held.namespace, cells, labels.row(&object))
        })?;
        for row in rows {
            table.push(row);
        }
        screen.table(&table)
    }

    fn row(&self, namespace: &str, cells: Vec<String>, labels: Vec<String>) -> Vec<String> {
        let namespace = self.shows_namespace.then(|| namespace.to_owned());
        namespace.into_iter().chain(cells).chain(labels).collect()
    }
}
