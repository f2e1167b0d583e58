//! `kubereel story`: a reel on one page of text, to be pasted into a bug.

use crate::arguments::JsonOutput;
use crate::command::object_query;
use crate::command::problems::{self, ProblemOutput, installation_words};
use crate::command_error::{CommandError, Exit};
use crate::default_reel::with_given_reel;
use crate::files;
use crate::outputs::outputs;
use crate::screen::{Console, Style, StyledLine};
use crate::words::{count, duration, number};
use kubereel_history::{Timeline, harmless, timetext};
use kubereel_problems::{
    CheckedReel, ClusterPortrait, ClusterStory, Problem, ProblemList, StoryStep, UnknownEnd,
    WorkloadRollout,
};
use std::path::PathBuf;

/// Tell what happened to a cluster, on one page
///
/// Says what the cluster was, what was done to it (installation, upgrades, rollouts), what went wrong in
/// order of time with causes and durations, and what had not recovered at the end. Made to be pasted into
/// a bug; upgrade, install and problems have the details.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The reel: a file, a folder, an archive or a URL; default: $KUBEREEL, or the only one here
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    #[command(flatten)]
    output: JsonOutput,
}

const AFTER_HELP: &str = "\
Examples:
  kubereel story run.reel
  kubereel story run.reel -o json | jq .cluster

Exit codes:
  0  problems are listed, or none was found and nothing is known to be missing
  3  the reel is damaged; what can be read was looked at
  4  none was found, but changes may be missing in the reel

Errors: kubereel --help";

/// Where the rows of a broken line begin.
const HANG: usize = 12;
/// The most problems of the text.
const MOST_PROBLEMS: usize = 12;
/// The most steps of the text.
const MOST_STEPS: usize = 10;

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let timeline = files::open_reel(&args.reel)?;
    let list = problems::find(&timeline, screen);
    let story = ClusterStory::of(&timeline, list);
    if args.output.is_json() {
        screen.json(&ClusterStoryOutput::of(&timeline, &story))?;
    } else {
        for line in text(&timeline, &story) {
            screen.show(&StyledLine::of(Style::Plain, line), HANG)?;
        }
    }
    if object_query::is_imported(&timeline) {
        screen.aside(object_query::AS_IMPORTED)?;
    }
    if story.unread.is_some() {
        screen.finish()?;
        return Err(CommandError::damaged("parts may be missing"));
    }
    problems::exit_of(&timeline, &story.list, screen)
}

fn recorded_line(timeline: &Timeline) -> String {
    if !timeline.is_dated() {
        return "Recorded:   unknown: no record can be read".to_owned();
    }
    if timeline.start() == timeline.end() {
        let at = timetext::rfc3339_secs(timeline.start());
        return format!("Recorded:   {at}, one moment");
    }
    format!(
        "Recorded:   {} → {} ({})",
        timetext::rfc3339_secs(timeline.start()),
        timetext::rfc3339_secs(timeline.end()),
        duration(timeline.end().micros_since(timeline.start()))
    )
}

/// Writes the story as lines of text.
pub(crate) fn text(timeline: &Timeline, story: &ClusterStory) -> Vec<String> {
    let mut lines = vec![
        format!("Cluster:    {}", story.cluster.sentence()),
        recorded_line(timeline),
        String::new(),
        "Operations:".to_owned(),
    ];
    let hidden = story.steps.len().saturating_sub(MOST_STEPS);
    lines.extend(
        story
            .steps
            .iter()
            .take(MOST_STEPS)
            .map(|step| step_line(timeline, step)),
    );
    if hidden > 0 {
        lines.push(format!("  … {} more", number(hidden)));
    }
    if let Some(why) = &story.unread {
        let why = harmless(why);
        lines.push(format!(
            "  not all installations and upgrades can be read: {why}"
        ));
    } else if story.steps.is_empty() && timeline.has_lost_records() {
        lines.push("  no installation, upgrade or rollout in what can be read".to_owned());
    } else if story.steps.is_empty() {
        lines.push("  no installation or upgrade was recorded, and no rollout began".to_owned());
    }
    lines.extend([String::new(), "Problems:".to_owned()]);
    let mut listed: Vec<&Problem> = story.list.roots().take(MOST_PROBLEMS).collect();
    listed.sort_by_key(|problem| problem.from);
    lines.extend(
        listed
            .iter()
            .flat_map(|problem| with_consequences(timeline, story, problem)),
    );
    if story.list.checked.is_empty() && timeline.has_lost_records() {
        lines.push("  not known: no resource can be read".to_owned());
    } else if story.list.checked.is_empty() {
        lines.push("  not known: no resource was recorded".to_owned());
    } else if listed.is_empty() && has_losses(timeline) {
        lines.push("  no problem was found in what can be read".to_owned());
    } else if listed.is_empty() {
        lines.push("  no problem was found".to_owned());
    }
    if let Some(noise) = &story.list.installation {
        lines.push(installation_words(timeline, noise));
    }
    let all = story.list.problems.iter();
    let planned = all.filter(|problem| problem.is_planned).count();
    let rest = story.list.roots().count() - listed.len();
    if rest > 0 {
        let all = with_given_reel("kubereel problems REEL");
        lines.push(format!("  … {} more: {all}", number(rest)));
    }
    lines.push(String::new());
    lines.push(ending(timeline, story, &listed));
    if planned > 0 {
        lines.push(format!(
            "Planned:    {} while Nodes were drained or rebooted",
            count(planned, "disruption")
        ));
    }
    let (list, checked) = (&story.list, &story.list.checked);
    lines.push(if checked.is_empty() {
        format!("Checked:    {}", list.summary())
    } else {
        format!("Checked:    {}; {}", checked.amount(), list.found())
    });
    let limits = checked.limits().into_iter();
    lines.extend(limits.map(|line| format!("            {}", with_given_reel(&line))));
    lines
}

/// Returns whether damage took a part of the recording, here or before the reel was recovered.
fn has_losses(timeline: &Timeline) -> bool {
    timeline.reel().has_losses() || timeline.has_lost_records()
}

/// Returns whether changes of a resource up to the end may be missing.
fn is_end_unobserved(timeline: &Timeline) -> bool {
    let mut resources = timeline.resources().iter();
    resources.any(|info| timeline.unknown_since(info.id, None).is_some())
}

/// Returns whether everything is known that had not recovered at the end.
fn is_end_known(timeline: &Timeline, list: &ProblemList) -> bool {
    let mut unknown = list.problems.iter().filter_map(|one| one.unknown_end);
    !list.checked.is_empty()
        && !has_losses(timeline)
        && !is_end_unobserved(timeline)
        && unknown.next().is_none()
}

/// Says what had not recovered at the end.
fn ending(timeline: &Timeline, story: &ClusterStory, listed: &[&Problem]) -> String {
    let open = first_labels(story.list.open());
    match open.as_str() {
        "" if story.list.checked.is_empty() => "At the end: not known".to_owned(),
        "" if has_losses(timeline) => {
            "At the end: not known, as parts of the reel cannot be read".to_owned()
        }
        "" if listed.iter().any(|problem| problem.to.is_none()) => {
            "At the end: whether all of it had recovered was not observed".to_owned()
        }
        "" if is_end_unobserved(timeline) => {
            "At the end: not known, as changes before it may be missing".to_owned()
        }
        "" if listed.is_empty() => "At the end: no open problem".to_owned(),
        "" => {
            let all = story.list.roots();
            match first_labels(all.filter(|problem| problem.ends_by_deletion)).as_str() {
                "" => "At the end: all of it had recovered".to_owned(),
                labels => {
                    format!("At the end: no open problem; deleted without recovery: {labels}")
                }
            }
        }
        open => format!("At the end: not recovered: {open}"),
    }
}

/// Lists the objects of the first problems, and counts the others.
fn first_labels<'a>(problems: impl Iterator<Item = &'a Problem>) -> String {
    let labels = problems.map(|problem| harmless(&problem.object.label()).into_owned());
    let mut labels: Vec<String> = labels.collect();
    let more = labels.len().saturating_sub(MOST_PROBLEMS);
    labels.truncate(MOST_PROBLEMS);
    if more > 0 {
        labels.push(format!("and {more} more"));
    }
    labels.join(", ")
}

/// Words a problem and what it led to.
fn with_consequences(timeline: &Timeline, story: &ClusterStory, problem: &Problem) -> Vec<String> {
    let mut lines = problem_lines(timeline, problem);
    let all = &story.list.problems;
    let root = all.iter().position(|one| one == problem);
    // A consequence is listed after what explains it: one pass follows all chains.
    let mut explained: Vec<usize> = root.into_iter().collect();
    for (rank, other) in all.iter().enumerate() {
        if other
            .consequence_of
            .is_some_and(|by| explained.contains(&by))
        {
            explained.push(rank);
            lines.push(format!("            led to: {}", other.sentence()));
        }
    }
    lines
}

fn step_line(timeline: &Timeline, step: &StoryStep) -> String {
    let took = step.to.map_or_else(String::new, |to| {
        let least = if step.is_older { "at least " } else { "" };
        format!(" ({least}{})", duration(to.micros_since(step.from)))
    });
    let at = timeline.written(step.from);
    format!("  {at}  {}{took}", harmless(&step.words))
}

fn problem_lines(timeline: &Timeline, problem: &Problem) -> Vec<String> {
    let took = match (problem.to, problem.unknown_end) {
        (None, Some(UnknownEnd::Unobserved(_))) => "end not observed".to_owned(),
        (None, Some(UnknownEnd::Unreported(_))) => "end not reported".to_owned(),
        (None, None) => "to the end".to_owned(),
        (Some(to), _) => {
            let least = if problem.is_older { "at least " } else { "" };
            format!("for {least}{}", duration(to.micros_since(problem.from.at)))
        }
    };
    let from = problem.begin(timeline);
    let times = [took].into_iter().chain(problem.frequency());
    let times = times.chain(problem.more_times(timeline));
    let times = times.collect::<Vec<_>>().join(", ");
    let mut lines = vec![format!("  {from}  {} [{times}]", problem.sentence())];
    let words = ["possible cause: ", "or: "];
    for (words, cause) in words.iter().zip(&problem.causes) {
        let at = timeline.written(cause.at.at);
        lines.push(format!("            {words}{at} {}", cause.words()));
    }
    lines
}

outputs! {
/// The story, for programs.
struct ClusterStoryOutput(timeline: &Timeline, story: &ClusterStory) {
    cluster: ClusterOutput = ClusterOutput::of(&story.cluster),
    from: String = timetext::rfc3339(timeline.start()),
    to: String = timetext::rfc3339(timeline.end()),
    /// Whether another tool made the recording, whose completeness is unknown.
    is_imported: bool = object_query::is_imported(timeline),
    /// Why not all installations and upgrades can be read.
    unread: Option<String> = story.unread.clone(),
    steps: Vec<StepOutput> = story.steps.iter().map(StepOutput::of).collect(),
    problems: Vec<ProblemOutput> = (1..)
        .zip(&story.list.problems)
        .map(|(rank, problem)| ProblemOutput::of(rank, timeline, problem))
        .collect(),
    not_recovered: Vec<String> = story
        .list
        .open()
        .map(|problem| problem.object.label())
        .collect(),
    /// Whether all that had not recovered is known: otherwise more may belong to `not_recovered`.
    is_end_known: bool = is_end_known(timeline, &story.list),
    checked: CheckedOutput = CheckedOutput::of(&story.list.checked),
}

/// What the cluster was, for programs.
struct ClusterOutput(cluster: &ClusterPortrait) {
    openshift: Option<String> = cluster.openshift.clone(),
    kubernetes: Vec<String> = cluster.kubernetes.clone(),
    platform: Option<String> = cluster.platform.clone(),
    /// The number of Nodes at the end that can be read.
    nodes: usize = cluster.node_count,
    /// Whether Nodes were recorded.
    are_nodes_recorded: bool = cluster.are_nodes_recorded,
    /// Whether there may be more Nodes than can be read.
    has_unreadable_nodes: bool = cluster.has_unreadable_nodes,
    roles: std::collections::BTreeMap<String, usize> = cluster.nodes.clone(),
}

/// Something that was done to the cluster, for programs.
struct StepOutput(step: &StoryStep) {
    from: String = timetext::rfc3339(step.from),
    to: Option<String> = step.to.map(timetext::rfc3339),
    is_older: bool = step.is_older,
    message: String = step.words.clone(),
    rollouts: Vec<RolloutOutput> = step.rollouts.iter().map(RolloutOutput::of).collect(),
}

/// A rollout of a workload, for programs.
struct RolloutOutput(rollout: &WorkloadRollout) {
    kind: String = rollout.workload.kind.clone(),
    namespace: String = rollout.workload.namespace.clone(),
    name: String = rollout.workload.name.clone(),
    from: String = timetext::rfc3339(rollout.from),
    to: Option<String> = rollout.to.map(timetext::rfc3339),
    is_older: bool = rollout.is_older,
    outcome: &'static str = rollout.outcome.as_str(),
}

/// What was looked at, for programs.
struct CheckedOutput(checked: &CheckedReel) {
    events: u64 = checked.events,
    resources: usize = checked.resources,
    /// Events whose objects cannot be read; lost records are not among them.
    unreadable_events: u64 = checked.unreadable,
    /// Whether records are lost.
    has_lost_records: bool = checked.has_lost_records,
    resources_that_may_miss_changes: Vec<String> = checked.unobserved.clone(),
    resources_not_in_the_reel: Vec<&'static str> = checked.absent.clone(),
}
}
