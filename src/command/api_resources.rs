//! `kubereel api-resources`: the recorded resources, as kubectl lists those of a server.

use crate::arguments::JsonLinesOutput;
use crate::command_error::{CommandError, Exit};
use crate::files;
use crate::outputs::outputs;
use crate::screen::Console;
use crate::table::TextTable;
use clap::ArgAction;
use kubereel_format::ResourceInfo;
use kubereel_history::Timeline;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// List the recorded resources
///
/// These are the resources of the server's discovery that can be listed and watched; others have no objects.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel api-resources run.reel
  kubereel api-resources run.reel -o wide
  kubereel api-resources run.reel --namespaced=false --api-group=config.openshift.io
  kubereel api-resources run.reel --verbs=list,delete -o name")]
pub(crate) struct Args {
    /// The reel
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// Only resources that have a namespace, or with =false those that have none
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    namespaced: Option<bool>,
    /// Only resources of this group
    #[arg(long, value_name = "GROUP")]
    api_group: Option<String>,
    /// Only resources of all of these categories
    #[arg(long, value_name = "CATEGORY", value_delimiter = ',')]
    categories: Vec<String>,
    /// Only resources that have all of these verbs
    #[arg(long, value_name = "VERB", value_delimiter = ',')]
    verbs: Vec<String>,
    /// Sort by name or kind; default: by group and name
    #[arg(long, value_name = "COLUMN")]
    sort_by: Option<SortColumn>,
    /// Omit the header row
    #[arg(long)]
    no_headers: bool,
    /// Output format; default: a table
    #[arg(short, long, value_name = "FORM")]
    output: Option<ListFormat>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum SortColumn {
    Name,
    Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ListFormat {
    Wide,
    Name,
    Json,
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let timeline = files::open_reel(&args.reel)?;
    // Of a resource that was recorded in two versions, the last one.
    let mut by_name: BTreeMap<(&str, &str), &ResourceInfo> = BTreeMap::new();
    for info in timeline
        .resources()
        .iter()
        .filter(|info| is_asked(args, info))
    {
        by_name.insert((&info.group, &info.plural), info);
    }
    let mut all: Vec<&ResourceInfo> = by_name.into_values().collect();
    match args.sort_by {
        None => {}
        Some(SortColumn::Name) => all.sort_by_key(|info| &info.plural),
        Some(SortColumn::Kind) => all.sort_by_key(|info| &info.kind),
    }
    match args.output {
        Some(ListFormat::Name) => {
            let mut table = TextTable::default();
            for info in &all {
                table.push(vec![info.qualified()]);
            }
            screen.table(&table)?;
        }
        Some(ListFormat::Json) => {
            for info in all {
                screen.json_line(&ApiResourceOutput::of(info))?;
            }
        }
        form => screen.table(&table(args, &all, form.is_some()))?,
    }
    ended(&timeline, screen)
}

fn is_asked(args: &Args, info: &ResourceInfo) -> bool {
    let has_all = |asked: &[String], own: &[String]| asked.iter().all(|one| own.contains(one));
    args.namespaced.is_none_or(|asked| asked == info.namespaced)
        && args
            .api_group
            .as_ref()
            .is_none_or(|asked| *asked == info.group)
        && has_all(&args.categories, &info.categories)
        && has_all(&args.verbs, &info.verbs)
}

fn table(args: &Args, all: &[&ResourceInfo], is_wide: bool) -> TextTable {
    let mut table = TextTable::default();
    let mut titles = vec!["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"];
    if is_wide {
        titles.extend(["VERBS", "CATEGORIES"]);
    }
    if !args.no_headers {
        table.push(titles.into_iter().map(str::to_owned).collect());
    }
    for info in all {
        let mut row = vec![
            info.plural.clone(),
            info.short_names.join(","),
            info.api_version(),
            info.namespaced.to_string(),
            info.kind.clone(),
        ];
        if is_wide {
            row.extend([info.verbs.join(","), info.categories.join(",")]);
        }
        table.push(row);
    }
    table
}

outputs! {
/// A recorded resource.
struct ApiResourceOutput<'a>(info: &'a ResourceInfo) {
    name: &'a str = &info.plural,
    singular: &'a str = &info.singular,
    short_names: &'a [String] = &info.short_names,
    group: &'a str = &info.group,
    version: &'a str = &info.version,
    namespaced: bool = info.namespaced,
    kind: &'a str = &info.kind,
    verbs: &'a [String] = &info.verbs,
    categories: &'a [String] = &info.categories,
}

/// A recorded version of an API group.
struct ApiVersionOutput<'a>(info: &'a ResourceInfo, api_version: String) {
    /// The group and the version, as in `apiVersion` of an object.
    api_version: String = api_version,
    /// The group; empty for the core group.
    group: &'a str = &info.group,
    version: &'a str = &info.version,
}
}

/// List the recorded API groups and versions
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  kubereel api-versions run.reel
  kubereel api-versions run.reel -o json | jq -r .group | sort -u")]
pub(crate) struct VersionArgs {
    /// The reel
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    #[command(flatten)]
    output: JsonLinesOutput,
}

/// Runs `kubereel api-versions`.
pub(crate) fn run_versions(args: &VersionArgs, screen: &mut Console) -> Result<Exit, CommandError> {
    let timeline = files::open_reel(&args.reel)?;
    let infos = timeline.resources().iter();
    let versions: BTreeMap<String, &ResourceInfo> =
        infos.map(|info| (info.api_version(), info)).collect();
    let mut table = TextTable::default();
    for (version, info) in versions {
        if args.output.is_json() {
            screen.json_line(&ApiVersionOutput::of(info, version))?;
        } else {
            table.push(vec![version]);
        }
    }
    screen.table(&table)?;
    ended(&timeline, screen)
}

/// Ends a list of resources, of which some may be unreadable.
fn ended(timeline: &Timeline, screen: &mut Console) -> Result<Exit, CommandError> {
    let Some(exit) = Exit::of_loss(timeline).filter(|_| timeline.has_lost_records()) else {
        return Ok(Exit::Yes);
    };
    screen.finish()?;
    Err(
        CommandError::new(exit, "records are lost, resources may be missing")
            .hint("to see what is lost: kubereel info REEL"),
    )
}
