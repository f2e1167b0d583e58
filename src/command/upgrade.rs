//! Owns `kubereel upgrade`: the story of an upgrade. Refuses to find out what happened: `replay` does.

use crate::at;
use crate::command::get::header;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::reel;
use crate::screen::Screen;
use crate::words::count;
use kubereel_cluster::{ClusterHistory, ClusterUpdate, UpdateKind, Updates};
use kubereel_history::{Certainty, Cut, Moment, QueryError, Timeline, timetext};
use std::num::NonZeroUsize;
use std::path::PathBuf;

mod json;
mod json_status;
mod list;
mod nodes;
mod operators;
mod page;
mod payload;
mod rest;
mod status;
mod trouble;

/// Tell how an OpenShift cluster was upgraded
///
/// What was asked for and when; every attempt to fetch the payload, with its Pod and what
/// `ClusterVersion` said then; operators in the order in which they moved, and how long each took; what
/// was not well meanwhile, also the spells that no poll would have seen; nodes, drained and rebooted;
/// where nothing moved, and what took longest. The last upgrade of the reel unless --nth says which.
///
/// With --at, what was known at that moment: what is updated and what is waited for, judged by the
/// rules of `oc adm upgrade status`. Its estimate is called one: it is no measurement.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The reel
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// Tell what was known at this moment
    #[arg(long, value_name = "TIME", default_value = "end", value_parser = at::parse, allow_hyphen_values = true)]
    at: Moment,
    /// Show the N-th upgrade of the reel; default: the last one
    #[arg(long, value_name = "N")]
    nth: Option<NonZeroUsize>,
    /// List the installation and all upgrades, a line each
    #[arg(long, conflicts_with = "nth")]
    list: bool,
    /// Output format; default: text
    #[arg(short, long, value_name = "FORM")]
    output: Option<Output>,
}

/// The form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Output {
    /// One JSON object; docs/upgrade.md names its fields
    Json,
}

/// The exit codes of both commands, in words.
pub(super) const EXITS: &str = "\
Exit codes: 0 the story is told, whatever came of it; 1 the reel shows that there was none; 4 the reel
does not tell: ClusterVersion was not recorded, or not at that moment.";

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel upgrade run.reel
  kubereel upgrade run.reel --at 14:31:40          how far it was then, and what it waited for
  kubereel upgrade run.reel --list
  kubereel upgrade run.reel --nth 1 -o json | jq '.operators[] | [.name, .took_secs]'

{}

{EXITS}",
        at::forms_help()
    )
}

/// Which story is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Which {
    pub(super) kind: UpdateKind,
    pub(super) nth: Option<NonZeroUsize>,
    pub(super) is_list: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, CommandError> {
    let timeline = reel::open(&args.reel)?;
    let which = Which {
        kind: UpdateKind::Upgrade,
        nth: args.nth,
        is_list: args.list,
    };
    answer(&timeline, which, args.at, args.output, screen)
}

/// Answers a question about an open reel.
pub(super) fn answer(
    timeline: &Timeline,
    which: Which,
    at: Moment,
    output: Option<Output>,
    screen: &mut Screen,
) -> Result<Exit, CommandError> {
    let cut = at::resolve(timeline, at)?;
    let updates = ClusterHistory::of(timeline)
        .updates(cut)
        .map_err(unreadable)?;
    let certainty = certainty(timeline, cut);
    if !updates.is_seen {
        return Err(not_seen(timeline, &certainty));
    }
    screen.aside(head(timeline, &updates, &certainty, screen))?;
    if which.is_list {
        list::print(timeline, &updates, output, screen)?;
    } else {
        let Some((number, update)) = pick(&updates, which)? else {
            return none(timeline, &updates, which.kind, at, cut, &certainty, screen);
        };
        let story = ClusterHistory::of(timeline)
            .upgrade_story(&updates, update, cut)
            .map_err(unreadable)?;
        let asked = page::Asked {
            number,
            of: of_kind(&updates, which.kind).count(),
            // A past moment is asked about for how it stood then.
            status: if at != Moment::End || story.over.is_none() {
                ClusterHistory::of(timeline)
                    .update_status(cut, None)
                    .map_err(unreadable)?
            } else {
                None
            },
        };
        match output {
            None => page::print(timeline, &story, &asked, screen)?,
            Some(Output::Json) => json::print(&story, &asked, &certainty, screen)?,
        }
    }
    if !timeline.reel().damage().is_empty() {
        screen.finish()?;
        return Err(
            CommandError::new(Exit::Reel, "the reel is damaged, parts may be missing")
                .hint("kubereel info REEL says where"),
        );
    }
    Ok(if certainty.is_known() {
        Exit::Yes
    } else {
        Exit::Unknown
    })
}

fn unreadable(error: QueryError) -> CommandError {
    CommandError::new(Exit::Reel, error).hint("kubereel info REEL says whether the reel is whole")
}

/// Judges how far what `ClusterVersion` said up to a moment can be trusted.
fn certainty(timeline: &Timeline, cut: Cut) -> Certainty {
    let found = timeline
        .resources()
        .find("clusterversions.config.openshift.io");
    found.map_or(Certainty::BeforeFirst { first: None }, |resource| {
        let resource = timeline.resource_at(resource, cut);
        timeline.certainty(resource.id, cut)
    })
}

fn head(timeline: &Timeline, updates: &Updates, certainty: &Certainty, screen: &Screen) -> String {
    let at = timeline.written(updates.now);
    let offset = timetext::offset(updates.now.micros_since(timeline.start()));
    let trust = header::trust(timeline, certainty);
    let trust = if certainty.is_proven() {
        screen.err_paint().good(&trust)
    } else {
        screen.err_paint().wary(&trust)
    };
    format!("as of {at} ({offset}) · ClusterVersion {trust}")
}

fn not_seen(timeline: &Timeline, certainty: &Certainty) -> CommandError {
    if !timeline.reel().damage().is_empty() {
        return CommandError::new(
            Exit::Reel,
            "the reel holds no ClusterVersion, as far as it can be read",
        )
        .hint("kubereel info REEL says where it is damaged");
    }
    if let Certainty::BeforeFirst { first: Some(first) } = certainty {
        let message = "ClusterVersion was not seen yet at that moment";
        let first = timeline.written(*first);
        return CommandError::new(Exit::Unknown, message)
            .hint(format!("it is first known at {first}"));
    }
    CommandError::new(
        Exit::Unknown,
        "the reel holds no ClusterVersion: no OpenShift cluster, or it was not recorded",
    )
    .hint("kubereel info REEL says what was recorded; kubereel history follows any object")
}

/// Gives the updates of a kind, with their number.
fn of_kind(updates: &Updates, kind: UpdateKind) -> impl Iterator<Item = (usize, &ClusterUpdate)> {
    let of_kind = updates.all.iter().filter(move |update| update.kind == kind);
    of_kind
        .enumerate()
        .map(|(place, update)| (place + 1, update))
}

fn pick(updates: &Updates, which: Which) -> Result<Option<(usize, &ClusterUpdate)>, CommandError> {
    let Some(nth) = which.nth else {
        return Ok(of_kind(updates, which.kind).last());
    };
    let found = of_kind(updates, which.kind).find(|(number, _)| *number == nth.get());
    let all = of_kind(updates, which.kind).count();
    if found.is_none() && all > 0 {
        let all = u64::try_from(all).unwrap_or(u64::MAX);
        let message = format!("no upgrade {nth}: the reel holds {}", count(all, "upgrade"));
        return Err(
            CommandError::new(Exit::Usage, message).hint("kubereel upgrade REEL --list names them")
        );
    }
    Ok(found)
}

/// Says that there was none, and how the cluster stood.
fn none(
    timeline: &Timeline,
    updates: &Updates,
    kind: UpdateKind,
    at: Moment,
    cut: Cut,
    certainty: &Certainty,
    screen: &mut Screen,
) -> Result<Exit, CommandError> {
    // Workers may lag behind an upgrade that was complete before the recording.
    let status = ClusterHistory::of(timeline)
        .update_status(cut, None)
        .map_err(unreadable)?;
    let is_asked = kind == UpdateKind::Upgrade && at != Moment::End;
    if let Some(state) = status.filter(|status| status.is_updating || is_asked) {
        status::print(timeline, &state, screen)?;
    }
    let version = if updates.version.is_empty() {
        "version unknown".to_owned()
    } else {
        format!("version {}", updates.version)
    };
    let since = updates.completed.map_or_else(String::new, |completed| {
        format!(
            ", complete since {} by its own clock",
            timetext::rfc3339(completed)
        )
    });
    let has_install =
        kind == UpdateKind::Upgrade && of_kind(updates, UpdateKind::Install).count() > 0;
    let resource = timeline
        .resources()
        .find("clusterversions.config.openshift.io");
    let has_gaps = resource.is_ok_and(|info| !timeline.is_fully_observed(info.id));
    let exit = if !timeline.reel().damage().is_empty() {
        Exit::Reel
    } else if has_gaps || !certainty.is_known() {
        Exit::Unknown
    } else {
        Exit::No
    };
    let word = kind.as_str();
    let message = if has_gaps {
        format!(
            "no {word} was seen, but the recording of ClusterVersion has gaps: {version}{since}"
        )
    } else {
        format!("no {word} was seen: {version}{since}")
    };
    let error = CommandError::new(exit, message);
    if exit == Exit::Reel {
        return Err(error.hint("the reel is damaged: kubereel info REEL says where"));
    }
    Err(match kind {
        UpdateKind::Upgrade if has_install => {
            error.hint("kubereel install REEL tells of the installation")
        }
        UpdateKind::Upgrade => {
            error.hint("kubereel history REEL clusterversion/version shows what it said")
        }
        UpdateKind::Install => {
            error.hint("the recording began after it; kubereel upgrade REEL tells of upgrades")
        }
    })
}
