//! `kubereel explain`: the fields of a resource, from its recorded definition, the table of Kubernetes' own kinds, or
//! the objects themselves.

use crate::arguments;
use crate::command::object_query;
use crate::command_error::{CommandError, Exit};
use crate::files;
use crate::outputs::outputs;
use crate::screen::{Console, Style, StyledLine};
use crate::words::count;
use kubereel_format::ResourceInfo;
use kubereel_history::{
    Moment, ResourceSchema, SchemaField, SchemaSource, Timeline, definition_lives, harmless,
};
use std::path::PathBuf;

/// Describe the fields of a resource
///
/// The fields of custom resources come from their recorded definitions. Of the kinds of Kubernetes itself the
/// names and types of the fields are listed, without descriptions, in the version that kubereel knows. Of other
/// kinds whose definition is not recorded, the fields that the recorded objects have are listed.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The reel
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// The resource, and a field of it
    #[arg(value_name = "RESOURCE[.FIELD…]")]
    path: String,
    /// Show the names and types of all fields below
    #[arg(long)]
    recursive: bool,
    /// The group and version of the resource: apps/v1
    #[arg(long, value_name = "GROUP/VERSION")]
    api_version: Option<String>,
    /// Use the definition and the objects of this time
    #[arg(long, value_name = "TIME", default_value = "end", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    at: Moment,
    /// Output format; default: plaintext
    #[arg(short, long, value_name = "FORM")]
    output: Option<ExplainFormat>,
}

/// The output formats, with those of kubectl.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ExplainFormat {
    Json,
    #[value(alias = "plaintext-openapiv2")]
    Plaintext,
}

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel explain run.reel clusterversion.spec
  kubereel explain run.reel pods.spec.containers
  kubereel explain run.reel certificates --api-version=cert-manager.io/v1 --recursive

{}",
        arguments::forms_help()
    )
}

/// What is explained.
pub(crate) struct ExplainedField<'a> {
    resource: &'a ResourceInfo,
    path: Vec<&'a str>,
    source: SchemaSource,
    field: SchemaField<'a>,
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let timeline = files::open_reel(&args.reel)?;
    let cut = arguments::resolve_at(&timeline, args.at)?;
    let (resource, path) = resource_and_path(args, &timeline)?;
    let resource = timeline.resource_at(resource, cut);
    let schema = ResourceSchema::of(&timeline, resource, cut).map_err(CommandError::reel)?;
    let name = resource.qualified();
    let Some(schema) = schema else {
        return Err(absent(&timeline, resource));
    };
    let field = schema.field(&path).map_err(|(wrong, near)| {
        let message = match schema.source {
            SchemaSource::Definition => format!("field {wrong:?} does not exist in {name}"),
            SchemaSource::Builtin(version) => {
                format!("field {wrong:?} does not exist in {name} of Kubernetes {version}")
            }
            SchemaSource::Objects(objects) => {
                let objects = count(objects, "object");
                format!("field {wrong:?} does not occur in {objects} of {name}")
            }
        };
        let error = CommandError::usage(message);
        if near.is_empty() {
            error
        } else {
            error.hint(format!("did you mean {}?", near.join(" or ")))
        }
    })?;
    let explained = ExplainedField {
        resource,
        path,
        source: schema.source,
        field,
    };
    if args.output == Some(ExplainFormat::Json) {
        screen.json(&ExplainOutput::of(&explained))?;
    } else {
        print_field(args, &explained, screen)?;
    }
    Ok(Exit::Yes)
}

/// Makes the error of a resource without a schema: its definition may have existed at another time.
fn absent(timeline: &Timeline, resource: &ResourceInfo) -> CommandError {
    let name = resource.qualified();
    let lives = definition_lives(timeline, resource);
    let mut error = if lives.is_empty() {
        let message = format!("{name}: neither a definition nor an object was recorded");
        CommandError::unknown(message).hint("to see what was recorded: kubereel api-resources REEL")
    } else {
        CommandError::unknown(format!("{name} was not defined at that time"))
    };
    for life in &lives {
        let (from, to) = (timeline.begin_words(life), timeline.end_words(life));
        let at = timeline.written(life.from);
        error = error.hint(format!(
            "its definition existed from {from} to {to}: --at {at}"
        ));
    }
    error
}

/// Takes the words apart: the most of them that name a resource, and the path of a field.
fn resource_and_path<'a>(
    args: &'a Args,
    timeline: &'a Timeline,
) -> Result<(&'a ResourceInfo, Vec<&'a str>), CommandError> {
    let is_asked = |info: &ResourceInfo| {
        let version = args.api_version.as_deref();
        version.is_none_or(|version| info.api_version() == version)
    };
    let parts: Vec<&str> = args.path.split('.').collect();
    for count in (1..=parts.len()).rev() {
        let (name, path) = parts.split_at(count);
        let Ok(found) = timeline.resources().find(&name.join(".")) else {
            continue;
        };
        let all = timeline.resources().iter();
        let mut of_name = all.filter(|info| {
            info.id == found.id || info.plural == found.plural && args.api_version.is_some()
        });
        let Some(resource) = of_name.find(|info| is_asked(info)) else {
            let version = args.api_version.as_deref().unwrap_or_default();
            let message = format!("{} is not recorded as {version}", found.qualified());
            let hint = format!("it is recorded as {}", found.api_version());
            return Err(CommandError::usage(message).hint(hint));
        };
        return Ok((resource, path.to_vec()));
    }
    let name = parts.first().copied().unwrap_or_default();
    object_query::find_resource(timeline, name).map(|info| (info, Vec::new()))
}

outputs! {
/// A resource or a field of it.
struct ExplainOutput<'a>(explained: &'a ExplainedField<'_>) {
    group: &'a str = &explained.resource.group,
    version: &'a str = &explained.resource.version,
    kind: &'a str = &explained.resource.kind,
    path: Vec<&'a str> = explained.path.clone(),
    /// Whether this is the recorded definition; else these are fields of a kind of Kubernetes, or of recorded objects.
    is_definition: bool = explained.source == SchemaSource::Definition,
    /// The version of Kubernetes whose kind this is; null if the fields come from the recording.
    kubernetes_version: Option<&'static str> = match explained.source {
        SchemaSource::Builtin(version) => Some(version),
        SchemaSource::Definition | SchemaSource::Objects(_) => None,
    },
    r#type: String = explained.field.type_name(),
    description: &'a str = explained.field.description(),
    fields: Vec<FieldOutput<'a>> = {
        let fields = explained.field.members().into_iter();
        fields.map(|named| FieldOutput::of(explained.field, named)).collect()
    },
}

/// A field below.
struct FieldOutput<'a>(parent: SchemaField<'a>, named: (&'a str, SchemaField<'a>)) {
    name: &'a str = named.0,
    r#type: String = named.1.type_name(),
    required: bool = parent.requires(named.0),
    values: Vec<String> = named.1.values(),
    description: &'a str = named.1.description(),
}
}

/// How wide texts are, as for kubectl.
const WIDTH: usize = 80;

fn print_field(
    args: &Args,
    explained: &ExplainedField<'_>,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let resource = explained.resource;
    if !resource.group.is_empty() {
        screen.line(format!("GROUP:      {}", harmless(&resource.group)))?;
    }
    screen.line(format!("KIND:       {}", harmless(&resource.kind)))?;
    screen.line(format!("VERSION:    {}\n", harmless(&resource.version)))?;
    let field = explained.field;
    if let Some(name) = explained.path.last() {
        let title = format!("FIELD: {name} <{}>", field.type_name());
        screen.show(&StyledLine::of(Style::Plain, title), 0)?;
        let values = field.values();
        if !values.is_empty() {
            screen.line("ENUM:")?;
        }
        for value in values {
            text(&value, 4, screen)?;
        }
        screen.line("")?;
    }
    screen.line("DESCRIPTION:")?;
    match (field.description(), explained.source) {
        ("", SchemaSource::Definition) => text("<empty>", 4, screen)?,
        (words, SchemaSource::Definition) => text(words, 4, screen)?,
        (_, SchemaSource::Builtin(version)) => {
            let words = format!(
                "These are the fields of {} in Kubernetes {version}; a recording has no descriptions of them.",
                harmless(&resource.qualified())
            );
            text(&words, 4, screen)?;
        }
        (_, SchemaSource::Objects(objects)) => {
            let objects = count(objects, "object");
            let words = format!(
                "No schema of {} is recorded. These fields occur in {objects}; others may exist.",
                harmless(&resource.qualified())
            );
            text(&words, 4, screen)?;
        }
    }
    let members = field.members();
    if !members.is_empty() {
        screen.line("\nFIELDS:")?;
    }
    print_members(args, field, 2, screen)
}

fn print_members(
    args: &Args,
    field: SchemaField<'_>,
    indent: usize,
    screen: &mut Console,
) -> Result<(), CommandError> {
    // Definitions are trees; a hostile one is as deep as JSON may be.
    for (name, member) in field.members() {
        let required = if field.requires(name) {
            " -required-"
        } else {
            ""
        };
        let title = format!("{name}\t<{}>{required}", member.type_name());
        let space = " ".repeat(indent);
        let title = title
            .split('\t')
            .map(harmless)
            .collect::<Vec<_>>()
            .join("\t");
        screen.line(format!("{space}{title}"))?;
        let values = member.values();
        if !values.is_empty() {
            text(&format!("enum: {}", values.join(", ")), indent, screen)?;
        }
        if args.recursive {
            print_members(args, member, indent + 2, screen)?;
            continue;
        }
        if !member.description().is_empty() {
            text(member.description(), indent + 2, screen)?;
        }
        screen.line("")?;
    }
    Ok(())
}

/// Prints a text, its lines broken at words.
fn text(words: &str, indent: usize, screen: &mut Console) -> Result<(), CommandError> {
    let space = " ".repeat(indent);
    for line in words.lines() {
        let line = StyledLine::of(Style::Plain, line);
        for row in line.rows(Some(WIDTH - indent), 0, screen.paint()) {
            screen.line(format!("{space}{row}").trim_end())?;
        }
    }
    Ok(())
}
