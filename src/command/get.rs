//! `kubereel get`: the state of objects at a moment, asked for and printed as by kubectl.

use crate::command::object_query::{self, AS_IMPORTED, TargetObject};
use crate::command::selection::{ObjectSelection, SelectedResource, SelectionArgs};
use crate::command::unreadable::UnreadableObjects;
use crate::command_error::{CommandError, Exit};
use crate::progress::ProgressReporter;
use crate::screen::Console;
use crate::table::TextTable;
use crate::words::count;
use crate::{arguments, files};
pub(crate) use form::COMPLETIONS;
use form::{GetFormat, ObjectPrinter};
use kubereel_history::{
    Certainty, Cut, FieldSelector, ListForm, ListWriter, Moment, ObjectForm, ObjectVersion,
    QueryError, ResourceColumns, ResourceSnapshot, SortField, SortKey, Timeline, harmless, name_of,
    sort_by_keys, write_folded_yaml, write_json,
};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::PathBuf;

mod form;
mod watch;

/// Show objects as they were at a moment
///
/// Resources are named as for kubectl: plural, singular, short name, kind, plural.group or
/// plural.version.group; several with commas; or a category, such as all.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help(), group = clap::ArgGroup::new("watching").multiple(true))]
#[expect(clippy::struct_excessive_bools, reason = "flags are booleans")]
pub(crate) struct Args {
    /// The reel: a file, a folder, an archive or a URL; default: $KUBEREEL, or the only one here
    #[arg(value_name = "REEL")]
    pub(crate) reel: PathBuf,
    #[command(flatten)]
    pub(crate) which: SelectionArgs,
    /// Only objects whose fields match: status.phase=Running; any field of the object
    #[arg(
        long,
        value_name = "SELECTOR",
        default_value = "",
        conflicts_with = "filename"
    )]
    pub(crate) field_selector: FieldSelector,
    /// Show the state at this time
    #[arg(long, value_name = "TIME", default_value = "end", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    pub(crate) at: Moment,
    /// Show the state at --from, and then each change up to --to, with its time; -o json writes an object a line. A
    /// reel that is being recorded is followed
    #[arg(short, long, group = "watching", conflicts_with_all = ["at", "filename"])]
    pub(crate) watch: bool,
    /// As --watch, without the state at --from
    #[arg(long, group = "watching", conflicts_with_all = ["at", "filename"])]
    pub(crate) watch_only: bool,
    /// Where --watch begins; default: start
    #[arg(long, value_name = "TIME", requires = "watching", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    pub(crate) from: Option<Moment>,
    /// Where --watch ends; default: the end; a reel that is being recorded is followed without one
    #[arg(long, value_name = "TIME", requires = "watching", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    pub(crate) to: Option<Moment>,
    /// Output format; default: a table. One of json, yaml, name, wide, jsonpath=TEMPLATE, jsonpath-file=FILE,
    /// custom-columns=NAME:PATH,…, custom-columns-file=FILE
    #[arg(short, long, value_name = "FORM", value_parser = form::read)]
    pub(crate) output: Option<GetFormat>,
    /// Sort by this field: .metadata.name
    #[arg(long, value_name = "PATH")]
    pub(crate) sort_by: Option<SortField>,
    /// Succeed where a named object does not exist
    #[arg(long)]
    pub(crate) ignore_not_found: bool,
    /// Keep metadata.managedFields in JSON and YAML
    #[arg(long)]
    pub(crate) show_managed_fields: bool,
    /// Omit the header row
    #[arg(long)]
    pub(crate) no_headers: bool,
    /// Show the resource before each name
    #[arg(long)]
    pub(crate) show_kind: bool,
    #[command(flatten)]
    pub(crate) labels: LabelArgs,
    #[command(flatten)]
    watch_form: WatchArgs,
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

/// How the changes of --watch are written.
#[derive(Clone, Debug, Default, clap::Args)]
struct WatchArgs {
    /// With --watch and -o json or yaml: write {"type": …, "object": …}, as every row of the table has its event
    #[arg(long, requires = "watching")]
    output_watch_events: bool,
}

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel get run.reel pods -A                          at the end of the recording
  kubereel get run.reel po,deploy -n web -l app=shop --at 14:02
  kubereel get run.reel all -n web --at +12m30s
  kubereel get run.reel deploy/shop svc/shop -n web -o yaml
  kubereel get run.reel pods -A --field-selector status.phase!=Running --sort-by .spec.nodeName
  kubereel get run.reel pods -A -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName
  kubereel get run.reel pods -n web --watch --from 14:02 --to 14:05
  kubereel get run.reel pods -A --watch --from now       what changes while it is recorded
  kubereel get run.reel clusteroperators --at rv:118204 -o json

{}
{}",
        arguments::STATE_EXITS,
        arguments::forms_help()
    )
}

impl Args {
    fn selection(&self) -> ObjectSelection<'_> {
        self.which.selection(!self.field_selector.is_empty())
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    if args.watch || args.watch_only {
        return watch::follow(args, screen);
    }
    let timeline = files::open_reel(&args.reel)?;
    answer(&timeline, args, screen)
}

/// Answers a question about an open reel.
pub(crate) fn answer(
    timeline: &Timeline,
    args: &Args,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    let printer = ObjectPrinter::of(args.output.as_ref())?;
    let cut = arguments::resolve_at(timeline, args.at)?;
    let targets = args.selection().resources(timeline, cut)?;
    let mut answers = Vec::new();
    let mut exit = Exit::Yes;
    for target in &targets {
        match GetAnswer::of(timeline, args, target, cut) {
            Ok(answer) => answers.push(answer),
            Err(error) if targets.len() == 1 => return Err(error),
            Err(error) => {
                exit = exit.worse(error.exit());
                screen.aside(format!("error: {}", error.message()))?;
            }
        }
    }
    for line in headers(timeline, &answers, screen) {
        screen.aside(line)?;
    }
    let is_several = targets.len() > 1;
    print(timeline, args, &printer, &answers, is_several, screen)?;
    for answer in &answers {
        exit = exit.worse(answer.unreadable.report(screen)?);
    }
    let not_found = answers.iter().filter(|_| !args.ignore_not_found);
    for error in not_found.filter_map(|answer| answer.not_found(timeline)) {
        if answers.len() == 1 {
            screen.finish()?;
            return Err(error);
        }
        exit = exit.worse(error.exit());
        screen.aside(format!("error: {}", error.message()))?;
    }
    let is_named = targets.iter().any(|target| !target.names.is_empty());
    if !is_named && answers.iter().all(GetAnswer::is_empty) {
        let namespace = targets
            .first()
            .and_then(|target| target.namespace.as_deref());
        let place = namespace.map_or_else(String::new, |only| format!(" in {only} namespace"));
        screen.aside(format!("No resources found{}.", harmless(&place)))?;
        if let Some(field) = answers.iter().find_map(|one| one.absent_field.as_ref()) {
            let words = format!("hint: none of the objects has the field {field:?}");
            screen.aside(harmless(&words))?;
        }
        // Who mistypes a namespace learns it here.
        let unknown = namespace.map(|only| object_query::known_namespace(timeline, only));
        if let Some(Err(error)) = unknown {
            for (_, line) in error.lines() {
                screen.aside(format!("hint: {}", harmless(line)))?;
            }
        }
    }
    Ok(answers.iter().fold(exit, |exit, answer| {
        exit.worse(object_query::exit_of(&answer.state.certainty))
    }))
}

/// Says when the states are from and how certain they are; those that are complete together.
fn headers(timeline: &Timeline, answers: &[GetAnswer<'_>], screen: &Console) -> Vec<String> {
    let header = |answer: &GetAnswer<'_>| {
        object_query::header(timeline, &answer.state, answer.cut, screen.err_paint())
    };
    if let [answer] = answers {
        return vec![header(answer)];
    }
    let is_proven = |answer: &&GetAnswer<'_>| answer.state.certainty.is_proven();
    let is_imported =
        |answer: &&GetAnswer<'_>| matches!(answer.state.certainty, Certainty::Imported { .. });
    let paint = screen.err_paint();
    let together = |those: Vec<&GetAnswer<'_>>, trust: String| {
        let at = timeline.written(those.first()?.state.at);
        let resources = count(those.len(), "resource");
        Some(format!("at {at} · {resources} {trust}"))
    };
    let proven = answers.iter().filter(is_proven).collect();
    let imported = answers.iter().filter(is_imported).collect();
    let others = answers
        .iter()
        .filter(|answer| !is_proven(answer) && !is_imported(answer));
    let others =
        others.map(|answer| format!("{} {}", answer.target.resource.qualified(), header(answer)));
    together(proven, paint.good("complete"))
        .into_iter()
        .chain(together(imported, paint.wary(AS_IMPORTED)))
        .chain(others)
        .collect()
}

/// What was found of one resource, and where.
struct GetAnswer<'a> {
    target: &'a SelectedResource<'a>,
    state: ResourceSnapshot,
    cut: Cut,
    held: Vec<ObjectVersion>,
    /// A field of the selector that none of the objects has.
    absent_field: Option<String>,
    unreadable: UnreadableObjects,
}

/// How many objects of a list are held at once. Each batch reads the blocks anew in which its objects
/// lie.
const AT_ONCE: usize = 16_384;

impl<'a> GetAnswer<'a> {
    fn of(
        timeline: &Timeline,
        args: &Args,
        target: &'a SelectedResource<'a>,
        cut: Cut,
    ) -> Result<Self, CommandError> {
        let (cut, mut state) = target.state(timeline, args.at, cut)?;
        let held = std::mem::take(&mut state.objects);
        let mut answer = Self {
            target,
            state,
            cut,
            held,
            absent_field: None,
            unreadable: UnreadableObjects::default(),
        };
        answer.select(timeline, args);
        answer.sort(timeline, args)?;
        Ok(answer)
    }

    /// Tells whether there is nothing, not even what cannot be read.
    fn is_empty(&self) -> bool {
        self.held.is_empty() && self.unreadable.is_empty()
    }

    /// Keeps the objects that match the selectors.
    fn select(&mut self, timeline: &Timeline, args: &Args) {
        let resource = self.target.resource;
        let held = std::mem::take(&mut self.held);
        let unreadable = &self.unreadable;
        self.held = unreadable.labelled(timeline, resource, held, self.cut, &args.which.selector);
        if args.field_selector.is_empty() {
            return;
        }
        let are_selected = read(
            timeline,
            self.target,
            &self.held,
            self.cut,
            ObjectForm::default(),
            &mut |_| {},
            |_, object| {
                let selector = &args.field_selector;
                (selector.matches(&object), selector.absent_field(&object))
            },
        );
        let mut absent = are_selected.iter().flatten().map(|(_, absent)| absent);
        let first = absent.clone().next();
        if absent.all(Option::is_some) {
            self.absent_field = first.cloned().flatten();
        }
        let are_selected = are_selected.into_iter();
        let are_selected = are_selected.map(|one| one.map(|(is_selected, _)| is_selected));
        let held = std::mem::take(&mut self.held);
        self.held = unreadable.selected(resource, held, are_selected);
    }

    /// Puts the objects in the order in which they are shown.
    fn sort(&mut self, timeline: &Timeline, args: &Args) -> Result<(), CommandError> {
        let target = self.target;
        let held = &mut self.held;
        // Named objects come in the order of the names, as from kubectl.
        let names = &target.names;
        held.sort_by_key(|held| names.iter().position(|name| *name == held.name));
        let is_table = matches!(args.output, None | Some(GetFormat::Wide));
        let of_table =
            SortField::of_table(target.resource).filter(|_| is_table && names.is_empty());
        if let Some(field) = args.sort_by.as_ref().or(of_table.as_ref()) {
            let keys = read(
                timeline,
                target,
                held,
                self.cut,
                ObjectForm::default(),
                &mut |_| {},
                |_, object| field.of(&object),
            );
            // One that cannot be read is named where it would be printed.
            let keys = keys
                .into_iter()
                .map(|key| key.unwrap_or_else(|_unreadable| field.of(&Value::Null)));
            let mut sorted: Vec<(SortKey, ObjectVersion)> =
                keys.zip(std::mem::take(held)).collect();
            // A path with a typing error must not look like an order.
            if args.sort_by.is_some()
                && sorted.len() > 1
                && !sorted.iter().any(|(key, _)| key.is_there())
            {
                let resource = target.resource.qualified();
                let message = format!("--sort-by: none of the {resource} has this field");
                let all = if target.resource.namespaced {
                    " -A"
                } else {
                    ""
                };
                let hint =
                    format!("to see their fields: kubereel get REEL {resource}{all} -o yaml");
                return Err(CommandError::usage(message).hint(hint));
            }
            sort_by_keys(&mut sorted);
            *held = sorted.into_iter().map(|(_, held)| held).collect();
        }
        Ok(())
    }

    /// Makes something of each of some objects that can be read, in the form in which it is shown.
    fn each<T: Send>(
        &self,
        timeline: &Timeline,
        some: &[ObjectVersion],
        form: ObjectForm,
        screen: &Console,
        make: impl Fn(&ObjectVersion, Value) -> T + Sync,
    ) -> Vec<T> {
        let mut progress = ProgressReporter::begin("reading", some.len(), screen.is_err_terminal());
        let mut reached = |done| progress.reached(done);
        let objects = read(
            timeline,
            self.target,
            some,
            self.cut,
            form,
            &mut reached,
            make,
        );
        let resource = self.target.resource;
        let both = some.iter().zip(objects);
        both.filter_map(|(held, made)| self.unreadable.readable(resource, held, made))
            .collect()
    }

    /// Makes the error of names that were not found.
    fn not_found(&self, timeline: &Timeline) -> Option<CommandError> {
        let is_absent = |name: &&String| !self.held.iter().any(|held| held.name == **name);
        let absent: Vec<&String> = self.target.names.iter().filter(is_absent).collect();
        if absent.is_empty() {
            return None;
        }
        let quoted: Vec<String> = absent.iter().map(|name| format!("{name:?}")).collect();
        let at = timeline.written(self.state.at);
        let resource = self.target.resource.qualified();
        let exit = object_query::exit_of_absence([&self.state.certainty]);
        let message = format!("{resource} {} not found at {at}", quoted.join(", "));
        let error = CommandError::new(exit, message);
        let explain = |error, name: &String| {
            let target = TargetObject {
                resource: self.target.resource,
                namespace: self.target.namespace.as_deref().unwrap_or_default(),
                name: name.clone(),
            };
            target.explained(error, timeline)
        };
        Some(absent.into_iter().fold(error, explain))
    }
}

/// Makes something of each object; an error for one that cannot be read.
fn read<T: Send>(
    timeline: &Timeline,
    target: &SelectedResource<'_>,
    held: &[ObjectVersion],
    cut: Cut,
    form: ObjectForm,
    reached: &mut dyn FnMut(u64),
    make: impl Fn(&ObjectVersion, Value) -> T + Sync,
) -> Vec<Result<T, QueryError>> {
    timeline.read_each(held, cut, reached, |held, body| {
        let object = form.of(body, target.resource);
        let object = object.map_err(|source| QueryError::Body {
            seq: held.seq,
            source,
        })?;
        Ok(make(held, object))
    })
}

/// Prints the answers in the form that was asked for.
fn print(
    timeline: &Timeline,
    args: &Args,
    printer: &ObjectPrinter,
    answers: &[GetAnswer<'_>],
    is_several: bool,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let form = printer.object_form(args.show_managed_fields);
    let is_named = answers.iter().any(|answer| !answer.target.names.is_empty());
    let is_empty = answers.iter().all(|answer| answer.held.is_empty());
    match printer {
        ObjectPrinter::Table | ObjectPrinter::Custom(_) => {
            return print_tables(timeline, args, printer, answers, is_several, screen);
        }
        ObjectPrinter::Name => {
            for answer in answers {
                for held in &answer.held {
                    screen.line(harmless(&name_of(answer.target.resource, &held.name)))?;
                }
            }
            return Ok(());
        }
        _ if is_named && is_empty => return Ok(()),
        _ => {}
    }
    // One object by its name is itself, and not a list of one.
    if let [answer] = answers
        && let [one] = answer.held.as_slice()
        && answer.target.names.len() == 1
        && answer.target.namespace.is_some() == answer.target.resource.namespaced
    {
        let one = std::slice::from_ref(one);
        let objects = answer.each(timeline, one, form, screen, |_, object| object);
        return objects
            .iter()
            .try_for_each(|object| print_value(object, printer, screen));
    }
    let list_form = match printer {
        ObjectPrinter::Yaml => ListForm::Yaml,
        ObjectPrinter::Template(template, is_json) => {
            let mut items = Vec::new();
            for answer in answers {
                items.extend(answer.each(timeline, &answer.held, form, screen, |_, object| object));
            }
            let list = json!({
                "apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items,
            });
            return form::write_template(template, *is_json, &list, screen.out());
        }
        _ => ListForm::Json,
    };
    let failed = |error| CommandError::output(&error);
    let mut list = ListWriter::begin(list_form, screen.out()).map_err(failed)?;
    for answer in answers {
        // Some at a time, so that a large state needs no large memory.
        for some in answer.held.chunks(AT_ONCE) {
            let items = answer.each(timeline, some, form, screen, |_, object| {
                list_form.item(object)
            });
            for item in items {
                list.item(&item.map_err(failed)?, screen.out())
                    .map_err(failed)?;
            }
        }
    }
    list.end(screen.out()).map_err(failed)
}

fn print_value(
    value: &Value,
    printer: &ObjectPrinter,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let written = match printer {
        ObjectPrinter::Yaml => {
            let mut text = String::new();
            write_folded_yaml(&mut text, value).map_err(CommandError::io)?;
            screen.out().write_all(text.as_bytes())
        }
        ObjectPrinter::Template(template, is_json) => {
            return form::write_template(template, *is_json, value, screen.out());
        }
        _ => write_json(screen.out(), value),
    };
    written.map_err(|error| CommandError::output(&error))
}

/// Prints a table for each resource, with a blank line between; where there are several, names say of
/// which resource they are.
fn print_tables(
    timeline: &Timeline,
    args: &Args,
    printer: &ObjectPrinter,
    answers: &[GetAnswer<'_>],
    is_several: bool,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let is_custom = matches!(printer, ObjectPrinter::Custom(_));
    let labels = args.label_columns();
    let mut table = TextTable::default();
    for (place, answer) in answers
        .iter()
        .filter(|one| !one.held.is_empty())
        .enumerate()
    {
        if place > 0 && !is_custom {
            screen.table(&std::mem::take(&mut table))?;
            if !args.no_headers {
                screen.line("")?;
            }
        }
        let resource = answer.target.resource;
        let columns = ResourceColumns::of(timeline, resource, answer.cut, args.room())
            .map_err(CommandError::reel)?;
        let row = |namespace: &str, cells: Vec<String>, labels: Vec<String>| -> Vec<String> {
            let namespace = answer.target.shows_namespace.then(|| namespace.to_owned());
            namespace.into_iter().chain(cells).chain(labels).collect()
        };
        match printer {
            _ if args.no_headers => {}
            ObjectPrinter::Custom(_) if place > 0 => {}
            ObjectPrinter::Custom(custom) => table.push(custom.names()),
            _ => table.push(row("NAMESPACE", columns.names(), labels.names())),
        }
        // Events have no column of their names.
        let has_name = columns.names().first().is_some_and(|name| name == "NAME");
        let shows_kind = has_name && (is_several || args.show_kind);
        let at = answer.state.at;
        let form = printer.object_form(args.show_managed_fields);
        let rows = answer.each(timeline, &answer.held, form, screen, |held, object| {
            if let ObjectPrinter::Custom(custom) = printer {
                return custom.row(&object).map_err(form::mismatch);
            }
            let mut cells = columns.row(&object, at);
            if let Some(name) = cells.first_mut().filter(|_| shows_kind) {
                *name = harmless(&name_of(resource, name)).into_owned();
            }
            Ok(row(&held.namespace, cells, labels.row(&object)))
        });
        for row in rows {
            table.push(row?);
        }
    }
    screen.table(&table)
}
