//! `kubereel top-writers`: who writes most, by resource, manager and object.

use crate::arguments::{self, JsonOutput};
use crate::command::object_query::{self, ChangeTrust, SearchedNamespaceArgs};
use crate::command_error::{CommandError, Exit};
use crate::field_text;
use crate::files;
use crate::outputs::outputs;
use crate::progress::ProgressReporter;
use crate::screen::{Console, Style, StyledLine};
use crate::table::TextTable;
use crate::words::{bytes, count, number};
use kubereel_format::{ObjectId, RecordedAt, ResourceId, ResourceInfo, Seq};
use kubereel_history::{
    ActivityQuestion, Cut, Moment, Timeline, WriteActivity, WriteCount, harmless, name_of, timetext,
};
use std::path::PathBuf;

/// Count who writes most: by resource, by manager, by object
///
/// Creations, updates and deletions are counted, with the sizes of the objects. Managers are the field managers
/// that the server notes; deletions name none.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The reel
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// Only changes of this resource
    #[arg(value_name = "RESOURCE")]
    resource: Option<String>,
    #[command(flatten)]
    namespace: SearchedNamespaceArgs,
    /// Only changes from this moment on
    #[arg(long, value_name = "TIME", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    from: Option<Moment>,
    /// Only changes up to this moment
    #[arg(long, value_name = "TIME", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    to: Option<Moment>,
    /// Show this many of each; 0 for all
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    limit: usize,
    #[command(flatten)]
    output: JsonOutput,
}

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel top-writers run.reel
  kubereel top-writers run.reel --from 14:02 --to 14:10 --limit 20
  kubereel top-writers run.reel pods -n web
  kubereel top-writers run.reel -o json | jq -r '.managers[] | [.writes, .manager] | @tsv'

Exit codes:
  0  counted
  3  the reel is damaged; what can be read was counted
  4  changes may be missing

{}",
        arguments::forms_help()
    )
}

/// The counts, and the time that they are of.
pub(crate) struct CountedWrites<'a> {
    timeline: &'a Timeline,
    activity: &'a WriteActivity,
    limit: usize,
    minutes: f64,
    time: std::ops::Range<RecordedAt>,
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let timeline = files::open_reel(&args.reel)?;
    let (from, to) = arguments::bounds(&timeline, args.from, args.to)?;
    let resource = args.resource.as_deref();
    let resource = resource
        .map(|name| object_query::find_resource(&timeline, name))
        .transpose()?;
    let namespace = args.namespace.observed(&timeline)?;
    let end = timeline.reel().end();
    let place = |cut: Option<Cut>, none: Seq| match cut {
        None => Ok(none),
        Some(Cut::Arrival { below, .. }) => Ok(below),
        Some(Cut::Revision(_)) => Err(CommandError::usage(
            "a resourceVersion cannot limit the count: expected a time",
        )),
    };
    let asked = ActivityQuestion {
        resources: resource.map(|info| timeline.resources().namesake_ids(info.id)),
        namespace,
        from: place(arguments::first_change(&timeline, args.from, from), Seq(0))?,
        to: place(to, end)?,
    };
    let mut progress = ProgressReporter::begin("counting", end.0, screen.is_err_terminal());
    let activity = timeline.write_activity(&asked, |seq| progress.reached(seq.0));
    // A time outside of the recording has no changes to count.
    let wall = |cut: Option<Cut>, none| match cut {
        Some(Cut::Arrival { wall, .. }) => wall.max(timeline.start()).min(timeline.end()),
        _ => none,
    };
    let counted_time = wall(from, timeline.start())..wall(to, timeline.end());
    let micros = counted_time.end.micros_since(counted_time.start);
    let counted = CountedWrites {
        timeline: &timeline,
        activity: &activity,
        limit: args.limit,
        minutes: field_text::secs(micros) / 60.0,
        time: counted_time,
    };
    if args.output.is_json() {
        screen.json(&TopWritersOutput::of(&counted))?;
    } else {
        print(&counted, screen)?;
    }
    if activity.unreadable > 0 || timeline.is_damaged_between(from, to) {
        screen.finish()?;
        return Err(CommandError::damaged("changes are missing"));
    }
    let counted = timeline.resources().iter();
    let resources = asked.resources.as_ref();
    let is_asked = |info: &&ResourceInfo| resources.is_none_or(|only| only.contains(&info.id));
    let counted = counted.filter(is_asked).map(|info| info.id);
    let trust = ChangeTrust::of(&timeline, counted, (from, to));
    let gaps = "changes may be missing: kubereel verify names the gaps";
    screen.aside(trust.words(&timeline, gaps))?;
    Ok(trust.exit())
}

/// Gives those who wrote most, the most first.
fn most<K: Clone>(
    counts: impl IntoIterator<Item = (K, WriteCount)>,
    limit: usize,
) -> Vec<(K, WriteCount)> {
    let mut all: Vec<(K, WriteCount)> = counts.into_iter().collect();
    // Stable: of equal counts, the first name comes first.
    all.sort_by_key(|(_, count)| std::cmp::Reverse((count.writes, count.bytes)));
    if limit > 0 {
        all.truncate(limit);
    }
    all
}

impl CountedWrites<'_> {
    fn resources(&self) -> Vec<(ResourceId, WriteCount)> {
        let counts = self.activity.resources.iter();
        most(counts.map(|(id, count)| (*id, *count)), self.limit)
    }

    fn managers(&self) -> Vec<(&String, WriteCount)> {
        let counts = self.activity.managers.iter();
        most(counts.map(|(name, count)| (name, *count)), self.limit)
    }

    fn objects(&self) -> Vec<(ObjectId, WriteCount)> {
        let counts = self.activity.objects.iter();
        most(counts.map(|(id, count)| (*id, *count)), self.limit)
    }

    fn info(&self, id: ResourceId) -> Option<&ResourceInfo> {
        self.timeline.resources().get(id)
    }

    fn resource_name(&self, id: ResourceId) -> String {
        self.info(id)
            .map(ResourceInfo::qualified)
            .unwrap_or_default()
    }

    fn per_minute(&self, count: WriteCount) -> f64 {
        if self.minutes > 0.0 {
            let tenths =
                f64::from(u32::try_from(count.writes).unwrap_or(u32::MAX)) / self.minutes * 10.0;
            tenths.round() / 10.0
        } else {
            0.0
        }
    }

    /// A recording of one moment has no rate.
    fn per_minute_text(&self, count: WriteCount) -> String {
        if self.minutes > 0.0 {
            self.per_minute(count).to_string()
        } else {
            "-".to_owned()
        }
    }
}

fn print(counted: &CountedWrites<'_>, screen: &mut Console) -> Result<(), CommandError> {
    let all = counted.activity.all;
    let title = format!("{} · {}", count(all.writes, "change"), bytes(all.bytes));
    screen.show(&StyledLine::of(Style::Strong, title), 0)?;
    if all.writes == 0 {
        return screen.line("objects that existed when the recording started are not changes");
    }
    let resources = counted.resources().into_iter();
    let resources = resources.map(|(id, count)| (counted.resource_name(id), count));
    print_table(counted, "RESOURCE", resources.collect(), screen)?;
    let managers = counted.managers().into_iter().map(|(name, count)| {
        let name = if name.is_empty() { "<unknown>" } else { name };
        (name.to_owned(), count)
    });
    print_table(counted, "MANAGER", managers.collect(), screen)?;
    let objects = counted.objects().into_iter().map(|(id, count)| {
        let name = counted.timeline.key_of(id).map(|key| {
            let name = counted
                .info(key.resource)
                .map(|info| name_of(info, key.name));
            let place = match key.namespace {
                "" => String::new(),
                namespace => format!(" in {namespace}"),
            };
            format!("{}{place}", name.unwrap_or_default())
        });
        (name.unwrap_or_default(), count)
    });
    print_table(counted, "OBJECT", objects.collect(), screen)
}

fn print_table(
    counted: &CountedWrites<'_>,
    title: &str,
    rows: Vec<(String, WriteCount)>,
    screen: &mut Console,
) -> Result<(), CommandError> {
    screen.line("")?;
    let mut table = TextTable::with_headers(["CHANGES", "SHARE", "PER MINUTE", "SIZE", title]);
    for (name, count) in rows {
        let all = counted.activity.all.writes;
        let share = (count.writes * 100 + all / 2).checked_div(all);
        table.push(vec![
            number(count.writes),
            format!("{}%", share.unwrap_or_default()),
            counted.per_minute_text(count),
            bytes(count.bytes),
            harmless(&name).into_owned(),
        ]);
    }
    screen.table(&table)
}

outputs! {
/// Who writes most.
struct TopWritersOutput<'a>(counted: &'a CountedWrites<'_>) {
    /// The begin of the counted time.
    start: String = timetext::rfc3339(counted.time.start),
    /// Its end.
    end: String = timetext::rfc3339(counted.time.end),
    writes: u64 = counted.activity.all.writes,
    bytes: u64 = counted.activity.all.bytes,
    resources: Vec<ResourceWritesOutput> = {
        let all = counted.resources().into_iter();
        all.map(|(id, count)| ResourceWritesOutput::of(counted, id, count)).collect()
    },
    /// An empty name stands for changes of which the manager is not known.
    managers: Vec<ManagerWritesOutput<'a>> = {
        let all = counted.managers().into_iter();
        all.map(|(name, count)| ManagerWritesOutput::of(counted, name, count)).collect()
    },
    objects: Vec<ObjectWritesOutput<'a>> = {
        let all = counted.objects().into_iter();
        all.map(|(id, count)| ObjectWritesOutput::of(counted, id, count)).collect()
    },
}

/// The changes of a resource.
struct ResourceWritesOutput(counted: &CountedWrites<'_>, id: ResourceId, count: WriteCount) {
    resource: String = counted.resource_name(id),
    writes: u64 = count.writes,
    bytes: u64 = count.bytes,
    per_minute: f64 = counted.per_minute(count),
}

/// The changes by a manager.
struct ManagerWritesOutput<'a>(counted: &CountedWrites<'_>, name: &'a str, count: WriteCount) {
    manager: &'a str = name,
    writes: u64 = count.writes,
    bytes: u64 = count.bytes,
    per_minute: f64 = counted.per_minute(count),
}

/// The changes of an object.
struct ObjectWritesOutput<'a>(counted: &'a CountedWrites<'_>, id: ObjectId, count: WriteCount) {
    resource: String = {
        let key = counted.timeline.key_of(id);
        key.map(|key| counted.resource_name(key.resource)).unwrap_or_default()
    },
    namespace: &'a str = counted.timeline.key_of(id).map_or("", |key| key.namespace),
    name: &'a str = counted.timeline.key_of(id).map_or("", |key| key.name),
    writes: u64 = count.writes,
    bytes: u64 = count.bytes,
    per_minute: f64 = counted.per_minute(count),
}
}
