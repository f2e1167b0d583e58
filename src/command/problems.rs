//! `kubereel problems`: what was wrong in a reel, ranked, and which changes may have caused it.

use crate::arguments::JsonLinesOutput;
use crate::command::object_query;
use crate::command_error::{CommandError, Exit};
use crate::default_reel::with_given_reel;
use crate::files;
use crate::progress::ProgressReporter;
use crate::screen::{Console, Style, StyledLine};
use crate::words::{count, inflected};
use kubereel_history::{Timeline, harmless, timetext};
use kubereel_problems::{Cause, InstallationNoise, Problem, ProblemList, problems};
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

/// Show what went wrong, and what may have caused it
///
/// Lists each problem once, the most important first: what is broken, from when to when, in the object's
/// own words. Under each problem stand the changes that may have caused it, the likeliest first: the
/// field, the old and the new value, and the manager that wrote it. A cause is a candidate and not a
/// proof. What is normal while a cluster is being installed is one line at the end.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The reel: a file, a folder, an archive or a URL; default: $KUBEREEL, or the only one here
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    /// Show the first N problems; 0 for all
    #[arg(long, value_name = "N")]
    first: Option<usize>,
    #[command(flatten)]
    output: JsonLinesOutput,
}

const AFTER_HELP: &str = "\
Examples:
  kubereel problems run.reel
  kubereel problems run.reel --first 3
  kubereel problems run.reel -o json | jq 'select(.class == \"fault\") | [.from, .kind, .name, .reason]'

Classes:
  fault        something stopped working
  disruption   something was unavailable for a while
  upgrade      an installation or an upgrade does not go on

Exit codes:
  0  problems are listed, or none was found and nothing is known to be missing
  3  the reel is damaged; what can be read was looked at
  4  none was found, but changes may be missing in the reel

Errors: kubereel --help";

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Console) -> Result<Exit, CommandError> {
    let timeline = files::open_reel(&args.reel)?;
    let list = find(&timeline, screen);
    let all = list.problems.len();
    let most = args.first.filter(|first| *first > 0).unwrap_or(all);
    for (at, problem) in list.problems.iter().enumerate().take(most) {
        if args.output.is_json() {
            screen.json_line(&ProblemOutput::of(at + 1, &timeline, problem))?;
        } else {
            show(&timeline, at + 1, problem, screen)?;
        }
    }
    if let Some(noise) = &list.installation {
        let rank = list.problems.len() + 1;
        if args.output.is_json() {
            screen.json_line(&ProblemOutput::of_installation(rank, &timeline, noise))?;
        } else {
            let words = installation_words(&timeline, noise);
            screen.show(&StyledLine::of(Style::Faint, words), HANG)?;
        }
    }
    let checked = &list.checked;
    screen.aside(list.summary())?;
    for line in checked.limits() {
        screen.aside(line)?;
    }
    if object_query::is_imported(&timeline) {
        screen.aside(object_query::AS_IMPORTED)?;
    }
    exit_of(&timeline, &list, screen)
}

/// Gives the exit code: nothing was found only counts where everything was seen.
pub(crate) fn exit_of(
    timeline: &Timeline,
    list: &ProblemList,
    screen: &mut Console,
) -> Result<Exit, CommandError> {
    let checked = &list.checked;
    if checked.unreadable > 0 || timeline.reel().has_losses() {
        screen.finish()?;
        return Err(CommandError::damaged("parts may be missing"));
    }
    Ok(
        if list.problems.is_empty() && (checked.is_empty() || !checked.unobserved.is_empty()) {
            Exit::Unknown
        } else {
            Exit::Yes
        },
    )
}

/// Finds the problems of a reel, and shows how far that is.
pub(crate) fn find(timeline: &Timeline, screen: &Console) -> ProblemList {
    let end = timeline.reel().end().0;
    let mut progress = ProgressReporter::begin("reading", end, screen.is_err_terminal());
    problems(timeline, |seq| progress.reached(seq.0))
}

const HANG: usize = 4;

fn show(
    timeline: &Timeline,
    rank: usize,
    problem: &Problem,
    screen: &mut Console,
) -> Result<(), CommandError> {
    let mut head = StyledLine::of(Style::Strong, format!("{rank:>3} "));
    let style = if problem.is_planned {
        Style::Faint
    } else {
        Style::Bad
    };
    head.push(style, harmless(&problem.object.label()));
    head.push(style, format!("  {}", harmless(&problem.reason)));
    head.push(Style::Faint, format!("  [{}]", problem.class.as_str()));
    if problem.is_planned {
        head.push(Style::Faint, "  planned: a drain, a reboot or an eviction");
    }
    if problem.is_planned {
        head.push(Style::Faint, format!("  {}", problem.times(timeline)));
        return screen.show(&head, HANG);
    }
    screen.show(&head, HANG)?;
    screen.show(&indented(Style::Plain, &problem.times(timeline)), HANG)?;
    if !problem.message.is_empty() {
        screen.show(&indented(Style::Plain, &problem.message_line()), HANG)?;
    }
    let others = shown_by(timeline, problem);
    if !others.is_empty() {
        let names = others.iter().take(MOST_NAMES).map(ShownObject::label);
        let names = names.collect::<Vec<String>>().join(", ");
        // Only the first of many are kept: how many more there are is not known.
        let more = if others.len() > MOST_NAMES {
            " and others"
        } else {
            ""
        };
        let words = format!("shown by {names}{more}");
        screen.show(&indented(Style::Plain, &words), HANG)?;
    }
    if let Some(by) = problem.consequence_of {
        let words = format!("{} problem {}", problem.consequence_words(), by + 1);
        screen.show(&indented(Style::Plain, &words), HANG)?;
    }
    for cause in &problem.causes {
        screen.show(&cause_line(timeline, cause), HANG)?;
    }
    if problem.causes.is_empty() && problem.consequence_of.is_none() {
        let words = "no recorded change before it explains it";
        screen.show(&indented(Style::Faint, words), HANG)?;
    }
    Ok(())
}

/// How many of the objects that show a problem are named.
const MOST_NAMES: usize = 3;

/// An object whose versions show a problem of another one, as a Pod shows that of its Deployment.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ShownObject {
    kind: String,
    namespace: String,
    name: String,
}

impl ShownObject {
    /// Writes the object as the lines of problems do: `Pod shop/web-0`.
    fn label(&self) -> String {
        let label = match self.namespace.as_str() {
            "" => format!("{} {}", self.kind, self.name),
            namespace => format!("{} {namespace}/{}", self.kind, self.name),
        };
        harmless(&label).into_owned()
    }
}

/// Gives the objects that show a problem, the first first, but the one that it is about.
fn shown_by(timeline: &Timeline, problem: &Problem) -> Vec<ShownObject> {
    let objects = problem.shown_by.iter().filter_map(|id| {
        let key = timeline.key_of(*id)?;
        Some(ShownObject {
            kind: timeline.resources().get(key.resource)?.kind.clone(),
            namespace: key.namespace.to_owned(),
            name: key.name.to_owned(),
        })
    });
    let about = &problem.object;
    let is_other = |shown: &ShownObject| {
        (&shown.kind, &shown.namespace, &shown.name) != (&about.kind, &about.namespace, &about.name)
    };
    let mut all: Vec<ShownObject> = Vec::new();
    for shown in objects.filter(is_other) {
        if !all.contains(&shown) {
            all.push(shown);
        }
    }
    all
}

fn indented(style: Style, text: &str) -> StyledLine {
    StyledLine::of(Style::Plain, " ".repeat(HANG)).and(style, text)
}

/// Words a cause in a line.
pub(crate) fn cause_line(timeline: &Timeline, cause: &Cause) -> StyledLine {
    let mut line = indented(Style::Wary, "possible cause: ");
    line.push(Style::Plain, format!("{}  ", timeline.written(cause.at.at)));
    line.push(Style::Strong, cause.written());
    line.push(Style::Faint, format!(" ({})", cause.relation()));
    line
}

/// Sums up what is normal while a cluster is being installed.
pub(crate) fn installation_words(timeline: &Timeline, noise: &InstallationNoise) -> String {
    let until = noise
        .completed
        .map_or("the end of the reel".to_owned(), |at| timeline.written(at));
    format!(
        "  - installation: {} until {until} that {} normal while a cluster is being installed; its course: {}",
        count(noise.count, "sign"),
        inflected(noise.count, "is", "are"),
        with_given_reel("kubereel install REEL"),
    )
}

/// A problem, for programs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ProblemOutput {
    rank: usize,
    kind: String,
    namespace: String,
    name: String,
    reason: String,
    message: String,
    class: &'static str,
    from: String,
    reason_from: String,
    message_from: String,
    to: Option<String>,
    end_unknown_since: Option<String>,
    since: Option<String>,
    is_older_than_reel: bool,
    ends_by_deletion: bool,
    is_planned: bool,
    consequence_of: Option<usize>,
    count: u64,
    /// The objects that show it, the first first, if it is about another one.
    shown_by: Vec<ShownObject>,
    causes: Vec<CauseOutput>,
}

/// A change that may have caused a problem, for programs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CauseOutput {
    kind: String,
    namespace: String,
    name: String,
    at: String,
    seq: u64,
    change: &'static str,
    field: Option<String>,
    old: Option<Value>,
    new: Option<Value>,
    by: Option<String>,
    via: String,
    through: Vec<String>,
}

impl ProblemOutput {
    pub(crate) fn of(rank: usize, timeline: &Timeline, problem: &Problem) -> Self {
        Self {
            rank,
            kind: problem.object.kind.clone(),
            namespace: problem.object.namespace.clone(),
            name: problem.object.name.clone(),
            reason: problem.reason.clone(),
            message: problem.message.clone(),
            class: problem.class.as_str(),
            from: timetext::rfc3339(problem.from.at),
            reason_from: timetext::rfc3339(problem.reason_from.at),
            message_from: timetext::rfc3339(problem.message_from.at),
            to: problem.to.map(timetext::rfc3339),
            end_unknown_since: problem
                .unknown_end
                .map(|end| timetext::rfc3339(end.since())),
            since: problem.since.map(timetext::rfc3339),
            is_older_than_reel: problem.is_older,
            ends_by_deletion: problem.ends_by_deletion,
            is_planned: problem.is_planned,
            consequence_of: problem.consequence_of.map(|by| by + 1),
            count: problem.count,
            shown_by: shown_by(timeline, problem),
            causes: problem.causes.iter().map(CauseOutput::of).collect(),
        }
    }

    fn of_installation(rank: usize, timeline: &Timeline, noise: &InstallationNoise) -> Self {
        Self {
            rank,
            kind: noise.object.kind.clone(),
            namespace: noise.object.namespace.clone(),
            name: noise.object.name.clone(),
            reason: "NormalWhileInstalling".to_owned(),
            message: "signs that are normal while a cluster is being installed".to_owned(),
            class: "upgrade",
            from: timetext::rfc3339(noise.from),
            reason_from: timetext::rfc3339(noise.from),
            message_from: timetext::rfc3339(noise.from),
            to: Some(timetext::rfc3339(noise.completed.unwrap_or(timeline.end()))),
            end_unknown_since: None,
            since: None,
            is_older_than_reel: false,
            ends_by_deletion: false,
            is_planned: true,
            consequence_of: None,
            count: noise.count,
            shown_by: Vec::new(),
            causes: Vec::new(),
        }
    }
}

impl CauseOutput {
    fn of(cause: &Cause) -> Self {
        Self {
            kind: cause.object.kind.clone(),
            namespace: cause.object.namespace.clone(),
            name: cause.object.name.clone(),
            at: timetext::rfc3339(cause.at.at),
            seq: cause.at.seq.0,
            change: match (cause.field.as_str(), cause.change) {
                ("", kubereel_history::ChangeKind::Removed) => "deleted",
                ("", _) => "created",
                _ => cause.change.as_str(),
            },
            field: Some(cause.field.clone()).filter(|field| !field.is_empty()),
            old: cause.old.clone(),
            new: cause.new.clone(),
            by: Some(cause.by.join(", ")).filter(|by| !by.is_empty()),
            via: cause.via.clone(),
            through: cause
                .chain
                .iter()
                .map(kubereel_problems::ProblemObject::label)
                .collect(),
        }
    }
}
