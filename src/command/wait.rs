//! Owns `kubereel wait`: when, in a recording, what `kubectl wait` waits for was met. Refuses to judge:
//! `replay` does.

use crate::at;
use crate::command::unknown;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::reel;
use crate::screen::Screen;
use kubereel_history::{
    FieldSelector, GoalError, Instant, LabelSelector, Moment, Timeline, WaitFor, WaitQuestion,
    WaitVerdict, Waited,
};
use std::num::NonZeroU64;
use std::path::PathBuf;

mod json;
mod lines;
mod manifests;
mod targets;

use targets::Target;

/// How long a negative timeout is, as for kubectl: a week.
const WEEK_MICROS: i64 = 168 * 3600 * 1_000_000;

/// Find when, in a recording, a condition was met, as kubectl wait waits for it
///
/// --for takes what kubectl takes: create, delete, condition=NAME[=STATUS] and
/// jsonpath=EXPR[=VALUE]. The state at the start is evaluated first. Several conditions are waited for
/// one after the other, creation first.
///
/// Without gaps the answer is exact, stronger than that of kubectl wait, which may miss a short state.
/// With gaps the answer lists the times in which states may have been missed; a condition that was not
/// observed but may have been met in them is unknown (exit code 4), not false.
///
/// Unlike kubectl, objects are evaluated independently, and objects that are created in the time span
/// are included (not for deletion, which is waited for only on objects that exist at the start).
/// --timeout is recorded time without a default. Additional conditions: reason=REASON (of a condition
/// or a waiting container), event=REASON (of an Event about the object) and replaced (by another
/// object with the same name).
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
    #[command(flatten)]
    which: Which,
    /// Condition to wait for; may be given more than once
    #[arg(long = "for", value_name = "CONDITION", required = true, value_parser = read_goal)]
    goals: Vec<WaitFor>,
    /// Succeed when any of the conditions is met
    #[arg(long)]
    or: bool,
    /// Fail if this condition is met first; may be given more than once
    #[arg(long, value_name = "CONDITION", value_parser = read_goal)]
    fail_on: Vec<WaitFor>,
    /// Succeed if the condition is never met
    #[arg(long)]
    never: bool,
    /// Wait for the N-th time that the last condition is met
    #[arg(long, value_name = "N", default_value = "1")]
    nth: NonZeroU64,
    /// Wait until the last condition is met for this long without interruption: 40s, 5m
    #[arg(long, value_name = "DURATION", value_parser = read_length)]
    for_at_least: Option<i64>,
    /// Evaluate objects one after the other, each from the moment the previous one was met, as kubectl does
    #[arg(long)]
    sequential: bool,
    /// Search from this moment; default: the first list of the resource
    #[arg(long, visible_alias = "since", value_name = "TIME", value_parser = at::parse, allow_hyphen_values = true)]
    from: Option<Moment>,
    /// Search up to this moment
    #[arg(long, visible_alias = "until-time", value_name = "TIME", default_value = "end", value_parser = at::parse, allow_hyphen_values = true)]
    to: Moment,
    /// Maximum recorded time to search: 0 evaluates only the start, a negative value means a week
    #[arg(long, value_name = "DURATION", value_parser = read_timeout, allow_hyphen_values = true)]
    timeout: Option<i64>,
    /// Output format; default: text
    #[arg(short, long, value_name = "FORM")]
    output: Option<Output>,
}

/// Which objects are waited for.
#[derive(Debug, clap::Args)]
struct Which {
    /// The objects: RESOURCE/NAME…, RESOURCE NAME…, or RESOURCE with -l, --field-selector or --all
    #[arg(value_name = "RESOURCE[/NAME]", required_unless_present = "filename")]
    objects: Vec<String>,
    /// The objects of a manifest, in YAML or JSON: a file, a directory, or - for stdin; may be given more
    /// than once
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["objects", "selector", "field_selector", "all", "all_namespaces"])]
    filename: Vec<PathBuf>,
    /// Namespace of the objects; default: "default", or the namespace in the manifest
    #[arg(short, long, value_name = "NS")]
    namespace: Option<String>,
    /// Select objects in all namespaces
    #[arg(short = 'A', long, conflicts_with = "namespace")]
    all_namespaces: bool,
    /// All objects whose labels match when they first exist: a=b,c!=d,e in (f,g),!h
    #[arg(short = 'l', long, value_name = "SELECTOR", default_value = "")]
    selector: LabelSelector,
    /// All objects whose fields match when they first exist: status.phase=Running
    #[arg(long, value_name = "SELECTOR", default_value = "")]
    field_selector: FieldSelector,
    /// All objects
    #[arg(long)]
    all: bool,
}

impl Which {
    fn namespace(&self) -> &str {
        self.namespace.as_deref().unwrap_or("default")
    }
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
  kubereel wait run.reel pod/web-0 -n shop --for=condition=Ready
  kubereel wait run.reel co --all --for=condition=Degraded --never
  kubereel wait run.reel pods -l app=shop -n shop --for=delete --from 14:02 --timeout 5m
  kubereel wait run.reel pod/web-0 -n shop --for=jsonpath='{{.status.phase}}'=Failed --fail-on=delete
  kubereel wait run.reel co/etcd --for=condition=Available=False --for-at-least 40s -o json
  kubereel wait run.reel -f shop.yaml --for=create

{}",
        at::forms_help()
    )
}

fn read_goal(text: &str) -> Result<WaitFor, String> {
    text.parse().map_err(|error: GoalError| match error {
        GoalError::Unrecognized { .. } => format!(
            "{error}; expected create, delete, condition=NAME[=STATUS], jsonpath=EXPR[=VALUE], reason=REASON, event=REASON or replaced"
        ),
        _ => error.to_string(),
    })
}

/// Reads a length of time as kubectl writes it: `30s`, `1h5m`, `0`.
fn read_timeout(text: &str) -> Result<i64, String> {
    let wrong = || format!("expected a duration such as 30s or 5m: {text:?}");
    if text == "0" {
        return Ok(0);
    }
    let (length, is_negative) = text
        .strip_prefix('-')
        .map_or((text, false), |rest| (rest, true));
    // The grammar of TIME has lengths too: after a plus sign.
    let read = format!("+{length}").parse::<Moment>();
    match read {
        Ok(Moment::AfterStart { .. }) if is_negative => Ok(WEEK_MICROS),
        Ok(Moment::AfterStart { micros }) => i64::try_from(micros).ok().ok_or_else(wrong),
        _ => Err(wrong()),
    }
}

fn read_length(text: &str) -> Result<i64, String> {
    match read_timeout(text)? {
        length if text.starts_with('-') => Err(format!(
            "expected a duration that is not negative: {text:?}, {length}"
        )),
        length => Ok(length),
    }
}

/// Runs the command.
pub(crate) fn run(args: &Args, screen: &mut Screen) -> Result<Exit, CommandError> {
    let timeline = reel::open(&args.reel)?;
    answer(&timeline, &args.question, screen)
}

/// Answers a question about an open reel.
pub(crate) fn answer(
    timeline: &Timeline,
    question: &Question,
    screen: &mut Screen,
) -> Result<Exit, CommandError> {
    let all = question.goals.iter().chain(&question.fail_on);
    if question.for_at_least.is_some() && all.clone().any(WaitFor::is_momentary) {
        return Err(CommandError::new(
            Exit::Usage,
            "--for-at-least requires a condition that lasts: an Event has no duration",
        ));
    }
    let mut targets = targets::find(timeline, question)?;
    if targets.is_empty() {
        return none_matched(timeline, question, screen);
    }
    let mut answers = Vec::new();
    let mut reached: Option<Instant> = None;
    for target in &mut targets {
        if let Some(reached) = reached
            && question.sequential
        {
            // One deadline holds for all.
            target.span.from = reached.min(target.span.to);
        }
        let waited = timeline.wait(&WaitQuestion {
            resource: target.resource,
            namespace: &target.namespace,
            name: &target.name,
            goals: &question.goals,
            is_any: question.or,
            fail_on: &question.fail_on,
            span: target.span,
            nth: question.nth.get(),
            at_least_micros: question
                .for_at_least
                .and_then(|micros| u64::try_from(micros).ok())
                .unwrap_or(0),
        });
        reached = Some(waited.reached);
        answers.push(waited);
    }
    let answers: Vec<(&Target<'_>, Waited)> = targets.iter().zip(answers).collect();
    match question.output {
        None => lines::print(timeline, question, &answers, screen)?,
        Some(Output::Json) => json::print(question, &answers, screen)?,
    }
    let is_damaged = answers.iter().any(|(_, waited)| waited.has_unreadable);
    if is_damaged || !timeline.reel().damage().is_empty() {
        screen.finish()?;
        return Err(
            CommandError::new(Exit::Reel, "the reel is damaged, versions are missing")
                .hint("to see where: kubereel info REEL"),
        );
    }
    let exits: Vec<Exit> = answers
        .iter()
        .map(|(_, waited)| exit(question, &waited.verdict))
        .collect();
    let has = |exit| exits.contains(&exit);
    Ok(if has(Exit::No) {
        Exit::No
    } else if has(Exit::Unknown) {
        Exit::Unknown
    } else {
        Exit::Yes
    })
}

/// Gives how the wait for one object ends.
const fn exit(question: &Question, verdict: &WaitVerdict) -> Exit {
    match verdict {
        WaitVerdict::Met if question.never => Exit::No,
        WaitVerdict::NotMet if question.never => Exit::Yes,
        WaitVerdict::Met => Exit::Yes,
        WaitVerdict::Unknown => Exit::Unknown,
        WaitVerdict::NotMet | WaitVerdict::Refused { .. } | WaitVerdict::Failed { .. } => Exit::No,
    }
}

/// Says that nothing was chosen: to wait for its deletion is to have waited enough.
fn none_matched(
    timeline: &Timeline,
    question: &Question,
    screen: &mut Screen,
) -> Result<Exit, CommandError> {
    let is_known = targets::are_known(timeline, question)?;
    let is_gone = question.goals.iter().any(WaitFor::is_deletion);
    if is_gone && is_known && !question.never {
        if question.output.is_some() {
            json::print(question, &[], screen)?;
        }
        screen.aside("no matching resources found: nothing to delete")?;
        return Ok(Exit::Yes);
    }
    let exit = if is_known { Exit::No } else { Exit::Unknown };
    let error = CommandError::new(exit, "no matching resources found");
    Err(error.hint("to list the objects of a moment: kubereel get REEL RESOURCE -A --at TIME"))
}

/// Finds a resource by the name that somebody gave it.
fn resource<'a>(
    timeline: &'a Timeline,
    name: &str,
) -> Result<&'a kubereel_format::ResourceInfo, CommandError> {
    timeline
        .resources()
        .find(name)
        .map_err(|error| unknown::explain(&error, timeline))
}
