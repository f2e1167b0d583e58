//! `kubereel upgrade`: the story of an upgrade, the state at a moment, or a list. What happened is derived by `history`.

use crate::arguments::{self, JsonOutput};
use crate::command::object_query;
use crate::command_error::{CommandError, Exit};
use crate::files;
use crate::screen::Console;
use crate::table::TextTable;
use crate::words::count;
use kubereel_cluster::{
    ClusterHistory, ClusterUpdate, PoolUpdates, UnreadVersions, UpdateKind, Updates,
};
use kubereel_history::{Certainty, Cut, Moment, QueryError, Timeline, timetext};
use page::{between, release};
use std::num::NonZeroUsize;
use std::path::PathBuf;

pub(crate) mod json;
mod nodes;
mod page;
mod status;

/// Show how an OpenShift cluster was upgraded
///
/// Shows the requests; every attempt to retrieve the payload, with its Pod and the condition of
/// `ClusterVersion`; operators in the order in which they moved, with their durations; problems, also
/// those too short for a poll to observe; nodes, with drain and reboot; stalls, and the slowest parts.
/// The default is the last upgrade of the reel.
///
/// With --at, shows what was known at that moment: the updated and the pending parts, by the rules of
/// `oc adm upgrade status`. Its estimate of the remaining time is not a measurement.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The reel: a file, a folder, an archive or a URL; default: $KUBEREEL, or the only one here
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// Show what was known at this moment
    #[arg(long, value_name = "TIME", default_value = "end", value_parser = arguments::read_moment, allow_hyphen_values = true)]
    at: Moment,
    /// Show the N-th upgrade of the reel; default: the last one
    #[arg(long, value_name = "N")]
    nth: Option<NonZeroUsize>,
    /// List the installation and all upgrades, a line each
    #[arg(long, conflicts_with = "nth")]
    list: bool,
    #[command(flatten)]
    output: JsonOutput,
}

/// The exit codes of both commands, in words.
pub(super) const EXITS: &str = "\
Exit codes: 0 found, whatever its outcome; 1 the reel proves that there was none; 4 unknown:
ClusterVersion was not recorded, or not at that moment.";

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel upgrade run.reel
  kubereel upgrade run.reel --at 14:31:40          how far it was at that moment
  kubereel upgrade run.reel --list
  kubereel upgrade run.reel --nth 1 -o json | jq '.operators[] | [.name, .took_secs]'

{}

{EXITS}",
        arguments::forms_help()
    )
}

/// Which story is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct UpdateChoice {
    pub(super) kind: UpdateKind,
    pub(super) nth: Option<NonZeroUsize>,
    pub(super) is_list: bool,
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let timeline = files::open_reel(&args.reel)?;
    let which = UpdateChoice {
        kind: UpdateKind::Upgrade,
        nth: args.nth,
        is_list: args.list,
    };
    answer(&timeline, which, args.at, args.output.is_json(), screen)
}

/// Answers a question about an open reel.
pub(super) fn answer(
    timeline: &Timeline,
    which: UpdateChoice,
    at: Moment,
    is_json: bool,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    let cut = arguments::resolve_at(timeline, at)?;
    let unread = UnreadVersions::default();
    let history = ClusterHistory::of_readable(timeline, &unread);
    let updates = history.updates(cut).map_err(unreadable)?;
    let certainty = certainty(timeline, cut);
    if !updates.is_seen {
        return Err(not_seen(timeline, which.kind, &certainty));
    }
    screen.aside(header(timeline, &updates, &certainty, screen))?;
    if which.is_list {
        print_list(timeline, &updates, is_json, screen)?;
    } else {
        let Some((number, update)) = pick(&updates, which)? else {
            // For programs there is no update to describe.
            if !is_json && updates.is_end_known {
                print_standing(history, which.kind, at, cut, screen)?;
            }
            let pools = history.pool_updates(cut).map_err(unreadable)?;
            return none(timeline, (&updates, &pools), which.kind, (cut, &certainty));
        };
        let story = history
            .upgrade_story(&updates, update, cut)
            .map_err(unreadable)?;
        let context = page::StoryContext {
            number,
            of: of_kind(&updates, which.kind).count(),
            is_known: updates.is_end_known,
            // A past moment is asked about for how it stood then. How fast an update is cannot be judged by a
            // state that may be over.
            status: if updates.is_end_known && (at != Moment::End || story.over.is_none()) {
                history.update_status(cut, None).map_err(unreadable)?
            } else {
                None
            },
        };
        if is_json {
            screen.json_line(&json::StoryOutput::of(&story, &context, &certainty))?;
        } else {
            page::print(timeline, &story, &context, screen)?;
        }
    }
    if timeline.is_damaged_between(None, Some(cut)) || unread.any() {
        screen.finish()?;
        return Err(CommandError::damaged("parts may be missing"));
    }
    Ok(if certainty.is_known() {
        Exit::Yes
    } else {
        Exit::Unknown
    })
}

fn unreadable(error: QueryError) -> CommandError {
    CommandError::reel(error).hint("to check the reel: kubereel verify REEL")
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

fn header(
    timeline: &Timeline,
    updates: &Updates,
    certainty: &Certainty,
    screen: &Console,
) -> String {
    let at = timeline.written(updates.now);
    let offset = timetext::offset(updates.now.micros_since(timeline.start()));
    let trust = if certainty.is_known() && !updates.is_end_known {
        "the last version cannot be read".to_owned()
    } else {
        object_query::trust(timeline, certainty)
    };
    let trust = if certainty.is_proven() && updates.is_end_known {
        screen.err_paint().good(&trust)
    } else {
        screen.err_paint().wary(&trust)
    };
    format!("as of {at} ({offset}) · ClusterVersion {trust}")
}

fn not_seen(timeline: &Timeline, kind: UpdateKind, certainty: &Certainty) -> CommandError {
    if timeline.reel().has_losses() {
        return CommandError::reel("no ClusterVersion in the readable part of the reel")
            .hint("to see where it is damaged: kubereel info REEL");
    }
    if let Certainty::BeforeFirst { first: Some(first) } = certainty {
        let message = "ClusterVersion was not observed yet at that moment";
        let first = timeline.written(*first);
        return CommandError::unknown(message).hint(format!("the first known state: --at {first}"));
    }
    if certainty.is_proven() {
        let message = "no ClusterVersion at that moment: no installation had begun";
        return CommandError::new(Exit::No, message).hint(format!(
            "the state at the end: kubereel {} REEL",
            kind.as_str()
        ));
    }
    if timeline.has_lost_records() {
        let message = "no ClusterVersion in the reel, which was recovered from a damaged one";
        return CommandError::unknown(message).hint("to see what is lost: kubereel info REEL");
    }
    CommandError::unknown(
        "no ClusterVersion in the reel: not an OpenShift cluster, or it was not recorded",
    )
    .hint("to see what was recorded: kubereel info REEL -o wide")
}

/// Gives the updates of a kind, with their number.
fn of_kind(updates: &Updates, kind: UpdateKind) -> impl Iterator<Item = (usize, &ClusterUpdate)> {
    let of_kind = updates.all.iter().filter(move |update| update.kind == kind);
    of_kind
        .enumerate()
        .map(|(place, update)| (place + 1, update))
}

fn pick(
    updates: &Updates,
    which: UpdateChoice,
) -> Result<Option<(usize, &ClusterUpdate)>, CommandError> {
    let Some(nth) = which.nth else {
        return Ok(of_kind(updates, which.kind).last());
    };
    let found = of_kind(updates, which.kind).find(|(number, _)| *number == nth.get());
    let all = of_kind(updates, which.kind).count();
    if found.is_none() && all > 0 {
        let message = format!("no upgrade {nth}: the reel has {}", count(all, "upgrade"));
        return Err(CommandError::usage(message).hint("to list them: kubereel upgrade REEL --list"));
    }
    Ok(found)
}

/// Prints how the cluster stood without an update.
fn print_standing(
    history: ClusterHistory<'_>,
    kind: UpdateKind,
    at: Moment,
    cut: Cut,
    screen: &mut Console,
) -> Result<(), CommandError> {
    // Workers may lag behind an upgrade that was complete before the recording.
    let status = history.update_status(cut, None).map_err(unreadable)?;
    let is_asked = kind == UpdateKind::Upgrade && at != Moment::End;
    if let Some(state) = status.filter(|status| status.is_updating || is_asked) {
        // JSON is about an update, and has none of this.
        status::print(history.timeline(), &state, None, screen)?;
    }
    Ok(())
}

/// Says that there was none.
fn none(
    timeline: &Timeline,
    (updates, pools): (&Updates, &PoolUpdates),
    kind: UpdateKind,
    (cut, certainty): (Cut, &Certainty),
) -> Result<Exit, CommandError> {
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
    let has_gaps = resource.is_ok_and(|info| {
        let mut unobserved = timeline.unobserved_within(info.id, (None, Some(cut)));
        unobserved.any(|span| !span.is_late())
    });
    let exit = if timeline.is_damaged_between(None, Some(cut)) {
        Exit::Reel
    } else if has_gaps || !certainty.is_known() {
        Exit::Unknown
    } else {
        Exit::No
    };
    let word = match kind {
        UpdateKind::Install => "installation",
        UpdateKind::Upgrade => "upgrade",
    };
    let but = if has_gaps {
        ", but the recording of ClusterVersion has gaps"
    } else {
        ""
    };
    let open = outdated_words(pools);
    let message = format!("no {word} was observed{but}: {version}{since}{open}");
    let error = CommandError::new(exit, message);
    if exit == Exit::Reel {
        return Err(error.hint("to see where the reel is damaged: kubereel info REEL"));
    }
    Err(match kind {
        UpdateKind::Upgrade if has_install => {
            error.hint("to show the installation: kubereel install REEL")
        }
        UpdateKind::Upgrade => {
            error.hint("to see its versions: kubereel history REEL clusterversion/version")
        }
        UpdateKind::Install => {
            error.hint("the recording began after it; to show upgrades: kubereel upgrade REEL")
        }
    })
}

/// Names the pools that are not updated.
fn outdated_words(pools: &PoolUpdates) -> String {
    let open = pools.all.iter().filter(|pool| pool.over().is_none());
    let words = open.map(|pool| {
        let (done, all) = (pool.updated, pool.machines);
        format!(
            "; MachineConfigPool {} reports {done} of {all} Nodes updated",
            pool.name
        )
    });
    words.collect::<Vec<String>>().concat()
}

/// Prints the list.
fn print_list(
    timeline: &Timeline,
    updates: &Updates,
    is_json: bool,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let mut rows: Vec<(Option<usize>, &ClusterUpdate)> = of_kind(updates, UpdateKind::Install)
        .map(|(_, update)| (None, update))
        .collect();
    rows.extend(
        of_kind(updates, UpdateKind::Upgrade).map(|(number, update)| (Some(number), update)),
    );
    rows.sort_by_key(|(_, update)| update.first);
    if is_json {
        return screen.json_line(&json::UpdateListOutput::of(&rows, updates));
    }
    let mut table = TextTable::with_headers(["NTH", "FROM", "TO", "BEGAN", "TOOK", "OUTCOME"]);
    for (number, update) in rows {
        let from = update.from.as_ref().map_or_else(|| "-".to_owned(), release);
        let asked = update.requests.last().map(|request| &request.release);
        let to = update.target.as_ref().or(asked);
        let end = update.end;
        let took = end.map_or_else(
            || format!("{}+", between(update.first, updates.until)),
            |end| between(update.first, end.mark.at),
        );
        let mut began = timeline.written(update.first.at);
        let mut least = "";
        if update.is_older {
            began.insert_str(0, "≤ ");
            least = "≥ ";
        }
        let outcome = match (end, update.accepted) {
            (Some(end), _) => end.how.as_str(),
            (None, _) if !updates.is_end_known => "end not observed",
            (None, None) if !update.is_older => "not accepted",
            (None, _) => "not complete",
        };
        table.push(vec![
            number.map_or_else(|| "install".to_owned(), |number| number.to_string()),
            from,
            to.map_or_else(|| "?".to_owned(), release),
            began,
            format!("{least}{took}"),
            outcome.to_owned(),
        ]);
    }
    screen.table(&table)?;
    Ok(())
}
