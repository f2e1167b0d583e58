//! Owns `kubereel diff`: what differs between two moments, object by object and field by field.

use crate::at;
use crate::command::asked;
use crate::command::get::header;
use crate::command::unknown;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::reel;
use crate::screen::Screen;
use crate::words::count;
use kubereel_history::{
    Asked, Certainty, Cut, Differing, Field, Filter, LabelSelector, Moment, Scope, State, Timeline,
    differing,
};
use std::collections::BTreeSet;
use std::path::PathBuf;

mod everything;
mod json;
mod lines;

/// Show the differences between two moments: created, deleted and changed objects, field by field
///
/// Without a resource, all resources are compared, in all namespaces unless -n names one. Fields are
/// written as they are shown: `.status.conditions[Degraded].status`. metadata.managedFields and
/// metadata.resourceVersion are omitted by default.
#[derive(Debug, clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The reel
    #[arg(value_name = "REEL")]
    reel: PathBuf,
    #[command(flatten)]
    question: Question,
}

/// What is asked of a reel.
#[derive(Debug, clap::Args)]
pub(crate) struct Question {
    /// The resource, with or without a name; all resources if none is given
    #[arg(value_name = "RESOURCE[/NAME]")]
    resource: Option<String>,
    /// Names of objects; all objects if none is given
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// The first moment
    #[arg(long, value_name = "TIME", value_parser = at::parse, allow_hyphen_values = true)]
    from: Moment,
    /// The second moment
    #[arg(long, value_name = "TIME", default_value = "end", value_parser = at::parse, allow_hyphen_values = true)]
    to: Moment,
    /// Only this namespace
    #[arg(short, long, value_name = "NS")]
    namespace: Option<String>,
    /// All namespaces, as without -n
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    all_namespaces: bool,
    /// Only objects whose labels match at either moment, as for kubectl
    #[arg(short = 'l', long, value_name = "SELECTOR", default_value = "")]
    selector: LabelSelector,
    /// Only this field and those below it; may be given more than once
    #[arg(long = "field", value_name = "FIELD")]
    fields: Vec<Field>,
    /// Compare metadata.managedFields too
    #[arg(long)]
    show_managed_fields: bool,
    /// End with exit code 1 if anything differs
    #[arg(long)]
    exit_code: bool,
    /// Output format; default: text
    #[arg(short, long, value_name = "FORM")]
    output: Option<Output>,
}

/// The form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Output {
    Json,
}

fn after_help() -> String {
    format!(
        "\
Examples:
  kubereel diff run.reel --from 14:02 --to 14:05
  kubereel diff run.reel clusteroperators --from 14:02 --field .status.conditions
  kubereel diff run.reel deploy/shop -n web --from +10m --to +12m
  kubereel diff run.reel nodes --from rv:4000 --to rv:9000 --exit-code -o json

{}",
        at::forms_help()
    )
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, CommandError> {
    let timeline = reel::open(&args.reel)?;
    answer(&timeline, &args.question, screen)
}

/// Two states of one resource.
struct Pair<'a> {
    before: Asked<'a>,
    after: Asked<'a>,
    states: (State, State),
}

/// One of the two moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    From,
    To,
}

impl Pair<'_> {
    const fn state(&self, end: End) -> &State {
        match end {
            End::From => &self.states.0,
            End::To => &self.states.1,
        }
    }
}

/// Two moments and what is known at them.
struct Compared<'a> {
    pairs: Vec<Pair<'a>>,
    /// Resources that have no state at one of the moments, and why.
    unknown: Vec<(String, Certainty)>,
}

/// Answers a question about an open reel.
pub(crate) fn answer(
    timeline: &Timeline,
    question: &Question,
    screen: &mut Screen,
) -> Result<Exit, CommandError> {
    let cuts = (
        at::resolve(timeline, question.from)?,
        at::resolve(timeline, question.to)?,
    );
    let compared = match &question.resource {
        Some(resource) => one_resource(timeline, question, resource, cuts, screen)?,
        None => everything::compared(timeline, question, cuts, screen)?,
    };
    let scope = Scope {
        fields: question.fields.clone(),
        shows_managed_fields: question.show_managed_fields,
        shows_resource_version: false,
    };
    let found = walk(timeline, question, &compared, &scope, screen)?;
    let certainties = compared
        .pairs
        .iter()
        .flat_map(|pair| [&pair.states.0.certainty, &pair.states.1.certainty])
        .chain(compared.unknown.iter().map(|(_, certainty)| certainty));
    let is_damaged = |certainty: &&Certainty| matches!(certainty, Certainty::Damaged { .. });
    Ok(if certainties.clone().any(|one| is_damaged(&one)) {
        Exit::Reel
    } else if certainties.clone().any(|one| !one.is_known()) {
        Exit::Unknown
    } else if question.exit_code && found > 0 {
        Exit::No
    } else {
        Exit::Yes
    })
}

fn one_resource<'a>(
    timeline: &'a Timeline,
    question: &Question,
    resource: &str,
    cuts: (Cut, Cut),
    screen: &mut Screen,
) -> Result<Compared<'a>, CommandError> {
    let (resource, names) = asked::names(resource, &question.names)?;
    if !names.is_empty() && !question.selector.is_empty() {
        let both = "names cannot be combined with a label selector";
        return Err(CommandError::new(Exit::Usage, both));
    }
    let found = timeline
        .resources()
        .find(resource)
        .map_err(|error| unknown::explain(&error, timeline))?;
    let pair = pair(timeline, question, found, cuts, &names)?;
    for (word, asked, state) in [
        ("from", pair.before, &pair.states.0),
        ("to", pair.after, &pair.states.1),
    ] {
        if !state.certainty.has_state() {
            return Err(unknown::state(timeline, asked.resource, state));
        }
        let rv = match asked.cut {
            Cut::Revision(rv) => Some(rv),
            Cut::Arrival { .. } => state.rv,
        };
        let line = header::line(timeline, state, rv, screen.err_paint());
        let line = line.strip_prefix("at ").unwrap_or(&line);
        screen.aside(format!("{word:<4} {line}"))?;
    }
    for name in &names {
        let is_there = |state: &State| state.objects.iter().any(|held| held.name == *name);
        if !is_there(&pair.states.0) && !is_there(&pair.states.1) {
            return Err(nowhere(timeline, question, &pair, name));
        }
    }
    Ok(Compared {
        pairs: vec![pair],
        unknown: Vec::new(),
    })
}

/// Says that a name is at neither moment.
fn nowhere(timeline: &Timeline, question: &Question, pair: &Pair<'_>, name: &str) -> CommandError {
    let resource = pair.after.resource;
    let is_known = pair.states.0.certainty.is_known() && pair.states.1.certainty.is_known();
    let exit = if !timeline.reel().damage().is_empty() {
        Exit::Reel
    } else if is_known {
        Exit::No
    } else {
        Exit::Unknown
    };
    let qualified = resource.qualified();
    let mut error = CommandError::new(
        exit,
        format!("{qualified}/{name} not found at either moment"),
    );
    let namespace = if resource.namespaced {
        question.namespace.as_deref()
    } else {
        Some("")
    };
    let namespace = namespace.or_else(|| timeline.namespace_of(resource.id, name));
    for life in timeline.lives(resource.id, namespace.unwrap_or_default(), name) {
        let to = life
            .to
            .map_or_else(|| "the end".to_owned(), |to| timeline.written(to));
        let from = timeline.written(life.from);
        error = error.hint(format!("{name:?} existed from {from} to {to}"));
    }
    let near = timeline.nearest_names(resource.id, namespace.unwrap_or_default(), name);
    let near: Vec<String> = near.into_iter().filter(|near| near != name).collect();
    if !near.is_empty() {
        error = error.hint(format!("did you mean {}?", near.join(" or ")));
    }
    error
}

/// Asks for both states of a resource.
fn pair<'a>(
    timeline: &'a Timeline,
    question: &Question,
    found: &'a kubereel_format::ResourceInfo,
    cuts: (Cut, Cut),
    names: &[String],
) -> Result<Pair<'a>, CommandError> {
    let asked = |cut: Cut| {
        let resource = timeline.resource_at(found, cut);
        let filter = Filter {
            namespace: question
                .namespace
                .as_deref()
                .filter(|_| resource.namespaced),
            names,
        };
        let state = timeline.as_of(resource.id, cut, &filter);
        (Asked { resource, cut }, state)
    };
    let ((before, mut old), (after, mut new)) = (asked(cuts.0), asked(cuts.1));
    if !question.selector.is_empty() {
        let chosen = |state: &State, cut: Cut| {
            timeline
                .labelled(state.objects.clone(), cut, &question.selector)
                .map_err(|error| CommandError::new(Exit::Reel, error))
        };
        let either: BTreeSet<(String, String)> = [chosen(&old, cuts.0)?, chosen(&new, cuts.1)?]
            .into_iter()
            .flatten()
            .map(|held| (held.namespace, held.name))
            .collect();
        let is_chosen = |held: &kubereel_history::Held| {
            either.contains(&(held.namespace.clone(), held.name.clone()))
        };
        old.objects.retain(is_chosen);
        new.objects.retain(is_chosen);
    }
    Ok(Pair {
        before,
        after,
        states: (old, new),
    })
}

/// One object that differs, and how.
struct Found<'a> {
    pair: &'a Pair<'a>,
    differing: Differing,
    changes: Vec<kubereel_history::Change>,
}

/// Reads and prints what differs; gives how many objects do.
fn walk(
    timeline: &Timeline,
    question: &Question,
    compared: &Compared<'_>,
    scope: &Scope,
    screen: &mut Screen,
) -> Result<u64, CommandError> {
    let all: Vec<(&Pair<'_>, Differing)> = compared
        .pairs
        .iter()
        .flat_map(|pair| {
            let differing = differing(&pair.states.0, &pair.states.1);
            differing.into_iter().map(move |one| (pair, one))
        })
        .collect();
    let total = u64::try_from(all.len()).unwrap_or(u64::MAX);
    let mut progress = Progress::begin("comparing", total, screen.is_err_terminal());
    let mut printed = json::Printer::begin(timeline, question, compared, screen)?;
    let mut found = 0;
    for (done, (pair, differing)) in (1u64..).zip(all) {
        progress.reached(done);
        let changes = timeline
            .changes_between(&differing.fate, pair.before, pair.after, scope)
            .map_err(|error| CommandError::new(Exit::Reel, error))?;
        let is_whole = scope.fields.is_empty()
            && !matches!(differing.fate, kubereel_history::Fate::Changed { .. });
        if changes.is_empty() && !is_whole {
            continue;
        }
        found += 1;
        let one = Found {
            pair,
            differing,
            changes,
        };
        match question.output {
            None => lines::print(timeline, &one, screen)?,
            Some(Output::Json) => printed.push(timeline, &one, screen)?,
        }
    }
    printed.end(screen)?;
    let known = if compared.unknown.is_empty() {
        ""
    } else {
        " where both states are known"
    };
    screen.aside(match found {
        0 => format!("nothing differs{known}"),
        1 => format!("1 object differs{known}"),
        found => format!("{} differ{known}", count(found, "object")),
    })?;
    Ok(found)
}
